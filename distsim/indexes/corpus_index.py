"""Queries of an index by words: counts, positions, concordances, n-grams."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, pairwise
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args, overload
from warnings import warn

import numpy as np

from distsim import storage
from distsim.base.arguments import (
    AnyPath,
    Paths,
    Texts,
    check_opened,
    one_or_many_texts,
    one_path,
    one_text,
    shown,
    whole_number,
)
from distsim.base.choices import Order
from distsim.base.errors import ParameterError
from distsim.base.parallel import Progress, no_progress
from distsim.base.results import Results
from distsim.corpus.documents import source_of_texts
from distsim.corpus.kernels.text import render_phrases
from distsim.corpus.vocabulary import Vocabulary
from distsim.indexes import phrase_walk
from distsim.indexes.build import (
    BuildReport,
    IndexOptions,
    add_to_index,
    build_index,
    build_index_of_sources,
    sum_of_sentences,
)
from distsim.indexes.indexed_text import IndexedText
from distsim.indexes.layers import Layers
from distsim.indexes.metadata import Metadata
from distsim.indexes.queries import LONGEST_GAP, MAX_MATCHES, compile_query, gapped_query
from distsim.indexes.shard import Shard, damaged
from distsim.indexes.written import find_words
from distsim.kernels.compiled import frozen

ORDERS: tuple[str, ...] = get_args(Order)
_CACHED_WORDS = 1 << 17
_LONGEST, _WIDEST = 255, 1 << 20
T = TypeVar("T")


class ConcordanceLine(NamedTuple):
    """An occurrence in its sentence.

    source, line: file, and line in it. left, node, right: as written where the index keeps the
    text, else as normalised words. document: id of the document, its number from 1 where none was
    given.

    >>> line = index.concordance("mock turtle", k=1)[0]
    >>> line.node, line.right
    ('Mock Turtle', '’s Story')
    """

    source: str
    line: int
    left: str
    node: str
    right: str
    document: str = ""


class CorpusIndex:
    """An opened index: counts, positions, contexts and concordances of phrases.

    Methods that take a phrase take any number of phrases too and then return as many answers;
    `phrase in index` tells whether one occurs, and iterating gives the words. Phrases pass
    through the index's normaliser; in an index of running text a piece that is no word of the
    index is cut as the text was (`don't` is found as `don 't`).

    n_tokens: tokens in the corpus, sentence boundaries not counted. corpus: the fingerprint
    of the words and their counts. An index is pickled by its path and opened again from there.

    >>> from distsim import CorpusIndex
    >>> index = CorpusIndex.open(index.path)
    >>> index.count("the rabbit"), index.count(["alice", "zeppelin"]).tolist()
    (22, [397, 0])
    >>> "mock turtle" in index, len(index) > 0
    (True, True)
    """

    def __init__(self, text: IndexedText) -> None:
        """Make an index of indexed text that is open; users call `open`, `build` or `from_texts`.

        Arguments:
            text: the opened arrays of tokens, suffixes and words.

        Raises:
            ParameterError: `text` is not an IndexedText.
        """
        check_opened(text, IndexedText, self)
        self._indexed = text
        self.path = text.path
        self.checksum = text.checksum
        self.options = text.options
        self.n_tokens = text.n_tokens
        self.report = BuildReport()  # of building it or adding to it, in this process

    @classmethod
    def open(cls, path: AnyPath) -> "CorpusIndex":
        """Return the opened index at a path; arrays are memory-mapped.

        Arguments:
            path: its folder.

        Raises:
            ArtifactError: there is no index of a readable version at `path`.
            ParameterError: `path` is no path.
        """
        return cls(IndexedText(storage.Artifact(one_path(path), storage.INDEX)))

    @classmethod
    def build(
        cls,
        corpus: Paths,
        path: AnyPath,
        *,
        options: IndexOptions | None = None,
        force: bool = False,
        jobs: int | None = None,
        progress: Progress = no_progress,
        memory: int | None = None,
        notice: Callable[[str], object] = warn,
    ) -> "CorpusIndex":
        """Return the opened index of files, folders or standard input (`-`), written to `path`.

        Arguments:
            corpus: paths of texts, compressed or not; `-` is standard input.
            path: folder of the index.
            options: how the text becomes an index.
            force: replace an index that exists at `path`, and what was signed into it.
            jobs: threads, all cores where None; the result does not depend on it.
            progress: called with the stage and the number of tokens.
            memory: bytes, half of what is free where None.
            notice: called with a sentence where the text does not fit `options`.

        Raises:
            InputError: a source is missing, unreadable or not UTF-8, or there is no token in all.
            ArtifactError: something is at `path` already, or it is being written.

        Returns the index, opened; its `report` has the result of building it.
        """
        report = build_index(
            corpus, path, options, force=force, jobs=jobs, progress=progress,
            memory=memory, notice=notice,
        )  # fmt: skip
        index = cls.open(path)
        index.report = report
        return index

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[Any],
        path: AnyPath,
        *,
        metadata: Iterable[Any] | None = None,
        options: IndexOptions | None = None,
        force: bool = False,
        jobs: int | None = None,
        progress: Progress = no_progress,
        memory: int | None = None,
    ) -> "CorpusIndex":
        """Return the opened index of texts, a document each, written to `path`.

        The index has the bytes of that of a file `texts` with a blank line behind each document.

        Arguments:
            texts: a list, a generator, a column of pandas or polars; or rows with a field `text`,
                as dicts, of `datasets` or of a frame, whose other fields are metadata. They are
                read once and need not fit into memory.
            metadata: the fields of each text: dicts, or a frame. `id` is the document's id.
            path: folder of the index.
            options: running text (`IndexOptions("text")`) where None.
            force: replace an index that exists at `path`, and what was signed into it.
            jobs: threads, all cores where None; the result does not depend on it.
            progress: called with the stage and the number of tokens.
            memory: bytes, half of what is free where None.

        Raises:
            InputError: there is no token in all.
            ArtifactError: something is at `path` already, or it is being written.
            ParameterError: one of the texts is none; its number is told; or there are more texts
                than rows of metadata, or fewer.

        >>> CorpusIndex.from_texts(["Hello, Alice.", "Alice ran."], folder / "x").count("alice")
        2
        """
        report = build_index_of_sources(
            [source_of_texts(texts, metadata)], path, options or IndexOptions("text"), force=force,
            jobs=jobs, progress=progress, memory=memory,
        )  # fmt: skip
        index = cls.open(path)
        index.report = report
        return index

    def add(
        self,
        corpus: Paths,
        *,
        again: bool = False,
        as_is: bool = False,
        jobs: int | None = None,
        progress: Progress = no_progress,
        memory: int | None = None,
        notice: Callable[[str], object] = warn,
    ) -> "CorpusIndex":
        """Return the index opened again after adding text to it; this object does not change.

        Files whose text the index has already are passed over, unless `again`; the new one's
        `report` names them.

        Arguments:
            corpus: files and folders.
            again: add what the index has already, too.
            as_is: take text that looks like HTML, XML, JSON or a table.
            jobs: threads, all cores where None; the result does not depend on it.
            progress: called with the stage and the number of tokens.
            memory: bytes, half of what is free where None.
            notice: called with a sentence where the text does not fit the index's options.

        Raises:
            InputError: a source is missing, unreadable or not UTF-8, or is a file of the index that
                has grown.
            ArtifactError: the index is being written.
            ParameterError: this is a selection of documents.
        """
        if self.home is None:
            raise ParameterError("some documents of an index take no text: add it to the index")
        report = add_to_index(
            self.home, corpus, again=again, as_is=as_is, jobs=jobs, progress=progress,
            memory=memory, notice=notice,
        )  # fmt: skip
        index = self.open(self.home)
        index.report = report
        return index

    def close(self) -> None:
        """Release the index's arrays; it cannot be queried any more."""
        self._indexed.close()

    def __enter__(self) -> "CorpusIndex":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return CorpusIndex, (self._indexed,)

    def __repr__(self) -> str:
        return f"<CorpusIndex {self._indexed!r}>"

    def __contains__(self, phrase: object) -> bool:
        """Return whether a phrase occurs."""
        return self.count(one_text(phrase, "phrase")) > 0

    def __len__(self) -> int:
        """Return the number of distinct words that occur."""
        return int(np.count_nonzero(self.word_counts()[1:]))

    def __iter__(self) -> Iterator[str]:
        """Yield the distinct words that occur, in order of their first appearance."""
        for number in np.flatnonzero(self.word_counts()[1:]).tolist():
            yield self.vocabulary.word(number + 1)

    def select(
        self, *, where: str | Iterable[str] = (), documents: Iterable[Any] | None = None
    ) -> "CorpusIndex":
        """Return the index of some documents: counts, contexts and all others are of them alone.

        Positions and word ids stay those of the whole index.

        Arguments:
            where: filters on the fields of documents, one or several of which all must hold:
                `year=1850..1900`, `genre=novel|drama`, `author=*` for any author.
            documents: ids of documents, or a mask: true or false for each document.

        Raises:
            ParameterError: there is no such field, value or document, or no document fits.

        >>> index.select(documents=["1"]).n_tokens == index.n_tokens
        True
        """
        filters = one_or_many_texts(where, "where")
        if not filters and documents is None:
            return self
        if documents is not None and not hasattr(documents, "__len__"):
            documents = list(documents)
        return CorpusIndex(self._indexed.select(filters, documents))

    def other_documents(self) -> "CorpusIndex":
        """Return the index of the documents that are not selected.

        Raises:
            ParameterError: all are selected.
        """
        return CorpusIndex(self._indexed.others())

    @property
    def metadata(self) -> Metadata:
        """The documents: ids and fields, of one index."""
        return self._indexed.metadata

    @property
    def has_ids(self) -> bool:
        """Whether documents were given ids."""
        return self._indexed.has_ids

    def field_groups(self, field: str) -> tuple[list[Any], np.ndarray]:
        """Return (values of a field, ascending, a date's year; for each document which, or -1).

        Arguments:
            field: of documents.

        Raises:
            ParameterError: there is no such field.
        """
        return self._indexed.field_groups(field)

    @property
    def document_edges(self) -> np.ndarray:
        """Where each document begins, and where the last one ends, int64 positions."""
        return self._indexed.document_edges

    @property
    def document_lengths(self) -> np.ndarray:
        """Tokens in each document, int64; also of documents that are not selected."""
        return self._indexed.document_lengths

    @property
    def kept_documents(self) -> np.ndarray | None:
        """Which documents are selected, bool; None where all are."""
        return self._indexed.kept_documents

    @property
    def home(self) -> Path | None:
        """The folder of an index and of the table inside it; None of a selection of documents."""
        return self._indexed.home

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters in the manifest."""
        return self._indexed.parameters

    @property
    def corpus(self) -> str:
        """The fingerprint of the words and their counts."""
        return self._indexed.corpus

    @property
    def text_checksum(self) -> str:
        """A checksum of all sentences, whatever their order; all text is read for it once."""
        return self._indexed.text_checksum

    @property
    def shards(self) -> list[Shard]:
        """The shards, in order of the text.

        Raises:
            ParameterError: the index was closed.
        """
        return self._indexed.shards

    @property
    def vocabulary(self) -> Vocabulary:
        """The words and their ids."""
        return self._indexed.vocabulary

    @property
    def layers(self) -> Layers | None:
        """The lemmas and tags of an annotated text, None of others."""
        return self._indexed.layers

    @property
    def n_words(self) -> int:
        """Distinct words, plus one for the sentence boundary: ids are below it."""
        return len(self.vocabulary)

    @property
    def n_sources(self) -> int:
        """Number of files that were read; a file counts each time it was read."""
        return len(self.sources)

    @property
    def sources(self) -> list[str]:
        """Names of the files that were read."""
        return self._indexed.sources

    def word_counts(self) -> np.ndarray:
        """Return how often each word occurs, uint64 by id; entry 0 counts the sentences."""
        return phrase_walk.word_counts(self.shards, self.n_words)

    @overload
    def words(self, phrase: str) -> list[str]: ...
    @overload
    def words(self, phrase: Iterable[str]) -> list[list[str]]: ...
    def words(self, phrase: Texts) -> list[str] | list[list[str]]:
        """Return the words by which a phrase is looked up.

        Arguments:
            phrase: words separated by spaces.

        Raises:
            ParameterError: the phrase is empty, or no text.
        """
        return _each(phrase, self._indexed.words)

    @overload
    def count(self, phrase: str) -> int: ...
    @overload
    def count(self, phrase: Iterable[str]) -> np.ndarray: ...
    def count(self, phrase: Texts) -> int | np.ndarray:
        """Return how often a phrase occurs within sentences, overlaps included; int64 for many.

        Arguments:
            phrase: words separated by spaces, or a sequence of phrases.

        Raises:
            ParameterError: a phrase is empty, or no text.
        """
        counts = self._indexed.counts(one_or_many_texts(phrase, "phrase"))
        return int(counts[0]) if isinstance(phrase, str) else counts

    @overload
    def positions(self, phrase: str) -> np.ndarray: ...
    @overload
    def positions(self, phrase: Iterable[str]) -> list[np.ndarray]: ...
    def positions(self, phrase: Texts) -> np.ndarray | list[np.ndarray]:
        """Return the positions of a phrase in the corpus, int64, ascending.

        A position counts the tokens and sentence boundaries before the phrase.

        Arguments:
            phrase: words separated by spaces, or a sequence of phrases.
        """
        return _each(phrase, self._indexed.positions)

    @overload
    def gapped(self, pattern: str, *, longest_gap: int = ...) -> np.ndarray: ...
    @overload
    def gapped(self, pattern: Iterable[str], *, longest_gap: int = ...) -> list[np.ndarray]: ...
    def gapped(
        self, pattern: Texts, *, longest_gap: int = LONGEST_GAP
    ) -> np.ndarray | list[np.ndarray]:
        """Return the spans that match phrases with gaps, int64[m, 2], begin ascending.

        In `take _ into account` each `_` stands for 1 to `longest_gap` tokens of one
        sentence; every pair of a first and a last token is one match.

        Arguments:
            pattern: the phrase, `_` for a gap; or many.
            longest_gap: maximum length of a gap, in tokens.

        Raises:
            ParameterError: the pattern has no gap, or no word on one side of it; or the matches are
                over 63 tokens long or over 10 million.
        """
        whole_number(longest_gap, "`longest_gap`", 1)
        return _each(pattern, lambda one: self.query(gapped_query(one, longest_gap)), "pattern")

    def query(self, query: str) -> np.ndarray:
        """Return the spans that match a query by pattern, int64[m, 2], begin ascending.

        Such as `take []{0,3} (account|note)`, `run*` or `/colou?r/`. Every pair of a first and a
        last token is one match.

        Arguments:
            query: the pattern; or many.

        Raises:
            ParameterError: it is outside the query language, or has over 10 million matches.

        >>> index.query("mock turt*").shape
        (56, 2)
        """
        whole = self._indexed.whole
        compiled = whole.compiled(
            one_text(query, "query"), lambda: compile_query(CorpusIndex(whole), query)
        )
        found, room = [], MAX_MATCHES
        for shard in self.shards:
            found.append(shard.query(compiled, room) + shard.first_position)
            room -= len(found[-1])
            if room < 0:
                raise ParameterError(f"{query!r}: over {MAX_MATCHES:,} matches: name more words")
        return np.concatenate(found)

    @overload
    def concordance(
        self, phrase: str, *, k: int | None = ..., width: int = ..., order: Order | str = ...,
        sample: int | None = ..., gapped: bool = ..., query: bool = ...,
    ) -> Results[ConcordanceLine]: ...  # fmt: skip
    @overload
    def concordance(
        self, phrase: Iterable[str], *, k: int | None = ..., width: int = ...,
        order: Order | str = ..., sample: int | None = ..., gapped: bool = ...,
        query: bool = ...,
    ) -> list[Results[ConcordanceLine]]: ...  # fmt: skip
    def concordance(
        self,
        phrase: Texts,
        *,
        k: int | None = None,
        width: int = 10,
        order: Order | str = "corpus",
        sample: int | None = None,
        gapped: bool = False,
        query: bool = False,
    ) -> Results[ConcordanceLine] | list[Results[ConcordanceLine]]:
        """Return the concordance lines of a phrase: its occurrences with the words around them.

        Arguments:
            k: number of lines, the first of the order; all where None.
            width: tokens shown on either side.
            order: `corpus`, or by the words on the `left` (nearest first) or the `right`, or by up
                to three places: `1L,2L,1R` is by the first and second word on the left, then by
                the first on the right.
            sample: number of occurrences to take, evenly spaced in the corpus, before ordering.
            gapped: the phrase is a pattern as in `gapped`.
            query: the phrase is a query as in `query`.
            phrase: words separated by spaces.

        Raises:
            ParameterError: the order, sample, gapped phrase or query is not valid.
        """
        if order not in ORDERS and sort_places(order) is None:
            raise ParameterError(
                f"`order` is {order!r}, choose one of {', '.join(ORDERS)}, or up to three places "
                "such as 1L,2L,1R"
            )
        whole_number(width, "`width`", 0, _WIDEST)
        if k is not None:
            whole_number(k, "`k`", 0)
        if sample is not None:
            whole_number(sample, "`sample`", 1)
        return _each(
            phrase,
            lambda one: self.lines(
                self.spans(
                    one, k=k, width=width, order=order, sample=sample, gapped=gapped, query=query
                ),
                width=width,
            ),
        )

    @overload
    def neighbourhoods(self, phrase: str, before: int, after: int) -> np.ndarray: ...
    @overload
    def neighbourhoods(
        self, phrase: Iterable[str], before: int, after: int
    ) -> list[np.ndarray]: ...
    def neighbourhoods(
        self, phrase: Texts, before: int, after: int
    ) -> np.ndarray | list[np.ndarray]:
        """Return the words around each occurrence of a phrase, uint32 ids [n, before + after].

        The first `before` columns are the words before the phrase, nearest last; the other columns
        are the words after it. Ids beyond the sentence's edge are 0. The order of rows is not
        defined. For a sequence of phrases a list of such arrays is returned.

        Arguments:
            phrase: words separated by spaces, or a sequence of such phrases.
            before: words before each occurrence, 0 or more.
            after: words after each occurrence, 0 or more.
        """
        whole_number(before, "`before`", 0, _WIDEST)
        whole_number(after, "`after`", 0, _WIDEST)
        return _each(phrase, lambda one: self._neighbourhoods(one, before, after))

    def beside(
        self, phrase: str, window: int, *, sides: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the counted words beside a phrase: (features, counts).

        features: uint32, family * n_words + word, ascending. counts: uint32, or uint64 where one
        is larger.

        Arguments:
            phrase: words separated by spaces.
            window: tokens on either side.
            sides: one family for either side, not one for every position.
        """
        ids, _ = self._indexed.ids([phrase])
        parts = [shard.beside(ids, window, sides, self.n_words) for shard in self.shards]
        if len(parts) == 1:
            return parts[0]
        features, numbers = np.unique(np.concatenate([f for f, _ in parts]), return_inverse=True)
        counts = np.zeros(features.size, np.uint64)
        np.add.at(counts, numbers, np.concatenate([n for _, n in parts]))
        narrow = counts.max(initial=0) <= np.iinfo(np.uint32).max
        return features, counts.astype(np.uint32) if narrow else counts

    def ngrams(
        self, *, shortest: int = 1, longest: int = 5, min_count: int = 1
    ) -> Iterator[tuple[str, int]]:
        """Yield every phrase of shortest..longest words that occurs min_count times, and its count.

        In index order: by the ids of the words, a phrase before its continuations.

        Arguments:
            shortest, longest: tokens.
            min_count: phrases that occur less often are left out.
        """
        whole_number(shortest, "`shortest`", 1, _LONGEST)
        whole_number(longest, "`longest`", shortest, _LONGEST)
        whole_number(min_count, "`min_count`", 1)
        return self._ngrams(shortest, longest, min_count)

    def _ngrams(self, shortest: int, longest: int, min_count: int) -> Iterator[tuple[str, int]]:
        for chunk in phrase_walk.walk(self.shards, self.n_words, longest):
            runs = [
                (length, *chunk.runs(length, min_count)) for length in range(shortest, longest + 1)
            ]
            lows = np.concatenate([low for _, low, _ in runs])
            highs = np.concatenate([high for _, _, high in runs])
            lengths = np.concatenate([np.full(low.size, n, np.int64) for n, low, _ in runs])
            order = np.lexsort((lengths, lows))
            text, ends = self.render(chunk.rows, lows[order], lengths[order], 0)
            phrases = text.tobytes()
            counts = (highs - lows)[order].tolist()
            begin = 0
            for end, count in zip(ends[1:].tolist(), counts, strict=True):
                yield phrases[begin:end].decode(errors="replace"), count
                begin = end

    def render(
        self, rows: np.ndarray, numbers: np.ndarray, lengths: np.ndarray, first: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the text of rows[number, first:first + length] for each number and length.

        Returns (UTF-8 uint8, end to end; offsets int64[len(numbers) + 1]).

        Arguments:
            rows: uint32[m, n], word ids.
            numbers: int64[k], rows of `rows`.
            lengths: int64[k], tokens of each text.
            first: the column where each begins.
        """
        text, ends = render_phrases(
            frozen(rows.reshape(-1)),
            frozen(numbers * rows.shape[1] + first),
            frozen(lengths),
            self.vocabulary.text,
            self.vocabulary.offsets,
        )
        if ends.size == 0:
            raise damaged()
        return text, ends

    def spans(
        self,
        phrase: str,
        *,
        k: int | None = None,
        width: int = 10,
        order: Order | str = "corpus",
        sample: int | None = None,
        gapped: bool = False,
        query: bool = False,
    ) -> np.ndarray:
        """Return the spans of the lines of a concordance, int64[m, 2], half-open positions.

        Arguments:
            phrase: words separated by spaces; `_` for a gap if `gapped`, a pattern if `query`.
            k: number of lines, the first of the order; all where None.
            width: tokens on either side of a line.
            order: `corpus`, `left`, `right`, or up to three places such as `1L,1R`.
            sample: number of occurrences to take, evenly spaced in the corpus.
            gapped: the phrase has gaps.
            query: the phrase is a query by pattern.
        """
        if query:
            spans = self.query(phrase)
        elif gapped:
            spans = self.gapped(phrase)
        else:
            begins = self._indexed.positions(
                phrase, k if order == "corpus" and not sample else None
            )
            spans = np.column_stack([begins, begins + self._indexed.ids([phrase])[0].size])
        if sample is not None and sample < len(spans):
            spans = spans[np.arange(sample) * len(spans) // sample]
        if order == "corpus":
            return spans[:k]
        chosen = sort_places(order)
        farthest = width if chosen is None else max(abs(place) for place in chosen)
        left, right = self.around(spans, farthest)
        if chosen is not None:
            columns = [left[:, place] if place < 0 else right[:, place - 1] for place in chosen]
            beside = np.column_stack(columns)
        else:
            beside = left[:, ::-1] if order == "left" else right
        ordered: np.ndarray = spans[self._alphabetical(beside)][:k]
        return ordered

    def lines(self, spans: np.ndarray, *, width: int = 10) -> Results[ConcordanceLine]:
        """Return the concordance lines of spans, with up to `width` tokens on either side.

        Arguments:
            spans: int64[n, 2], begin and end.
            width: tokens on either side.
        """
        left, right = self.around(spans, width)
        owners = self._owners(spans)
        documents = self.documents_at(spans[:, 0])
        lines = Results[ConcordanceLine]()
        for number, (begin, end), before, after, document in zip(
            owners.tolist(), spans.tolist(), left, right, documents, strict=True
        ):
            shard = self.shards[number]
            first = begin - shard.first_position
            node = shard.words_at(first, first + end - begin)
            sources, line_numbers = shard.places(np.array([first]))
            if node.max(initial=0) >= self.n_words:
                raise damaged()
            source = self.source(int(sources[0]))
            parts = [[self.vocabulary.word(one) for one in words.tolist() if one]
                     for words in (before, node, after)]  # fmt: skip
            shown = self._written(shard, first, parts) or [" ".join(part) for part in parts]
            lines.append(ConcordanceLine(source, int(line_numbers[0]), *[*shown, document]))
        return lines

    def documents_at(self, positions: np.ndarray) -> list[str]:
        """Return the ids of the documents at positions, int64.

        Arguments:
            positions: integers.
        """
        return self._indexed.document_ids(
            np.searchsorted(self.document_edges, positions, "right") - 1
        )

    def _written(self, shard: Shard, first: int, parts: list[list[str]]) -> list[str] | None:
        """Return words before, of and behind a place as they were written, None if unknown.

        first: the place in the shard.
        """
        if shard.written is None:
            return None
        at = shard.sentence_starts.dtype.type(first)
        sentence = int(np.searchsorted(shard.sentence_starts, at, "right")) - 1
        begin = int(shard.sentence_starts[sentence])
        shown = first - len(parts[0])
        earlier = [self.vocabulary.word(one) for one in shard.words_at(begin, shown).tolist()]
        try:
            text, _ = shard.written.passage(sentence, sentence + 1)
            found = find_words(text, [*earlier, *chain(*parts)], self.options)
        except ValueError:
            raise damaged(self.path) from None
        if found is None:
            return None
        written, spans = found
        place = first - begin
        edges = (
            spans[shown - begin][0], spans[place][0],
            spans[place + len(parts[1]) - 1][1], spans[-1][1],
        )  # fmt: skip
        return [" ".join(written[a:b].split()) for a, b in pairwise(edges)]

    def following(self, spans: np.ndarray) -> np.ndarray:
        """Return the id of the word after each span, uint32; 0 at a sentence's end.

        Arguments:
            spans: int64[m, 2], half-open positions.
        """
        return self.around(spans, 1)[1][:, 0]

    def source(self, number: int) -> str:
        """Return the name of a file that the corpus was read from.

        Arguments:
            number: of the file, from 0.
        """
        sources = self.sources
        if number >= len(sources):
            raise damaged()
        return sources[number]

    def _owners(self, spans: np.ndarray) -> np.ndarray:
        """Return the number of the shard of each span.

        Arguments:
            spans: int64[m, 2], half-open positions.
        """
        starts = [shard.first_position for shard in self.shards]
        return np.searchsorted(starts, spans[:, 0], "right") - 1

    def around(self, spans: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the words (before, after) corpus spans, uint32[n, width] each.

        Arguments:
            spans: int64[n, 2], begin and end.
            width: words on either side; 0 beyond the sentence's edges.
        """
        left = np.empty((len(spans), width), np.uint32)
        right = np.empty((len(spans), width), np.uint32)
        owners = self._owners(spans)
        for number, shard in enumerate(self.shards):
            mine = owners == number
            inside = (spans[mine] - shard.first_position).astype(np.uint32)
            left[mine] = shard.neighbourhoods(inside[:, 0], width, 0, self.n_words)
            right[mine] = shard.neighbourhoods(inside[:, 1], 0, width, self.n_words)
        return left, right

    def _alphabetical(self, rows: np.ndarray) -> np.ndarray:
        """Return the order of rows of word ids by the words' text, column by column."""
        ids, inverse = np.unique(rows, return_inverse=True)
        ranks = np.empty(ids.size, np.int64)
        ranks[np.argsort(np.array(self.vocabulary.words(ids), object), kind="stable")] = np.arange(
            ids.size
        )
        keys = ranks[inverse].reshape(rows.shape)
        return np.lexsort(keys.T[::-1]) if rows.shape[1] else np.arange(len(rows))

    def _neighbourhoods(self, phrase: str, before: int, after: int) -> np.ndarray:
        ids, _ = self._indexed.ids([phrase])
        parts = []
        for shard in self.shards:
            suffixes = shard.positions(ids).astype(np.uint32)
            rows = shard.neighbourhoods(suffixes, before, ids.size + after, self.n_words)
            parts.append(np.delete(rows, np.s_[before : before + ids.size], axis=1))
        return np.concatenate(parts)


@overload
def _each(given: str, answer: Callable[[str], T], argument: str = ...) -> T: ...
@overload
def _each(given: Iterable[str], answer: Callable[[str], T], argument: str = ...) -> list[T]: ...
def _each(given: Texts, answer: Callable[[str], T], argument: str = "phrase") -> T | list[T]:
    """Return the answer for one text, or a list of answers for many."""
    answers = [answer(one) for one in one_or_many_texts(given, argument)]
    return answers[0] if isinstance(given, str) else answers


def sort_places(order: str) -> list[int] | None:
    """Return the places of an order such as `1L,2L,1R`, below 0 on the left; None if it is none.

    Arguments:
        order: a list of places, or the name of an order.

    >>> sort_places("1L,2L,1R"), sort_places("left")
    ([-1, -2, 1], None)
    """
    if re.fullmatch(r"[1-9]\d?[LR](,[1-9]\d?[LR]){0,2}", order) is None:
        return None
    return [int(one[:-1]) * (-1 if one[-1] == "L" else 1) for one in order.split(",")]


def has_text_of(index: storage.Artifact, table: storage.Artifact) -> bool:
    """Return whether a table was signed from the present text of an index.

    Words and their counts are compared, and the sentences where both have their checksum.

    Arguments:
        index: a corpus index.
        table: a table of signatures.
    """
    sums = {sum_of_sentences(one.made_from) for one in (index, table)} - {None}
    corpora: set[str] = {one.parameters["corpus"] for one in (index, table)}
    return len(corpora) == 1 and len(sums) < 2


def knows_text_of(index: storage.Artifact, table: storage.Artifact) -> bool:
    """Return whether a table was signed from an index's text, or from its text before it grew.

    An index of before its earlier texts were kept is given the benefit of doubt.

    Arguments:
        index: a corpus index.
        table: a table of signatures.
    """
    corpus = table.parameters["corpus"]
    if corpus == index.parameters["corpus"]:
        return has_text_of(index, table)
    return corpus in index.parameters.get("earlier", (corpus,))


def opened_index(given: CorpusIndex | AnyPath) -> CorpusIndex:
    """Return the index that is meant: itself, or that at a path.

    Arguments:
        given: an index or its path.

    Raises:
        ArtifactError: there is no index at the path.
        ParameterError: it is something else.
    """
    if isinstance(given, CorpusIndex):
        return given
    if isinstance(given, str | PathLike) and given != "":
        return CorpusIndex.open(given)
    raise ParameterError(f"index: is {shown(given)}, wanted an index or the path of one")
