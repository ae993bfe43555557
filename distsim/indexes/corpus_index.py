"""Queries of an index by words: counts, positions, concordances, n-grams."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import chain, pairwise, zip_longest
from os import PathLike
from typing import Any, NamedTuple, TypeVar, get_args, overload
from warnings import warn

import numpy as np

from distsim import storage
from distsim.base.arguments import (
    AnyPath,
    Matching,
    Order,
    Paths,
    Texts,
    check_opened,
    one_or_many_paths,
    one_or_many_texts,
    one_path,
    one_text,
    shown,
    whole_number,
)
from distsim.base.errors import EarlierVersionWarning, ParameterError
from distsim.base.parallel import Progress, Run, no_progress
from distsim.base.results import Results
from distsim.corpus.documents import source_of_texts
from distsim.corpus.inflections import language_of
from distsim.corpus.kernels import render_phrases
from distsim.indexes import phrase_walk
from distsim.indexes.build import (
    BuildReport,
    IndexOptions,
    add_to_index,
    build_index,
    sum_of_sentences,
)
from distsim.indexes.concordance import ContextReader, Sample, parse_context
from distsim.indexes.indexed_text import IndexedText
from distsim.indexes.queries import (
    LONGEST_GAP,
    MATCHING_STEPS,
    MATCHINGS,
    MAX_MATCHES,
    CompiledQuery,
    gapped_query,
    matches,
)
from distsim.indexes.query_compiler import compile_query
from distsim.indexes.shard import Shard, damaged
from distsim.indexes.written import find_words
from distsim.kernels.compiled import frozen

ORDERS: tuple[str, ...] = get_args(Order)
_CACHED_WORDS = 1 << 17
_FEW_SPANS = 4096  # that are sorted at once
_MAX_TOKENS, _MAX_WIDTH = 255, 1 << 20
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


class CorpusIndex(IndexedText):
    """An opened index: counts, positions, contexts and concordances of phrases.

    Methods that take a phrase take any number of phrases too and then return as many answers;
    `phrase in index` tells whether one occurs, and iterating gives the words. Phrases pass
    through the index's normaliser, and are found whichever way the text was cut into tokens
    (`don't` as `don 't` or as `do n't`).

    n_tokens: tokens in the corpus, sentence boundaries not counted. corpus: the fingerprint
    of the words and their counts. An index is pickled by its path and opened again from there.

    >>> from distsim import CorpusIndex
    >>> index = CorpusIndex.open(index.path)
    >>> index.count("the rabbit"), index.count(["alice", "zeppelin"]).tolist()
    (22, [397, 0])
    >>> "mock turtle" in index, len(index) > 0
    (True, True)
    """

    def __init__(self, artifact: storage.Artifact) -> None:
        """Make an index of an artifact; users call `open`, `build` or `from_texts`.

        Arguments:
            artifact: of the index.

        Raises:
            ParameterError: `artifact` is none.
            ArtifactError: the arrays contradict each other.
        """
        check_opened(artifact, storage.Artifact, self)
        super().__init__(artifact)
        self.report = BuildReport()  # of building it or adding to it, in this process

    @classmethod
    def open(cls, path: AnyPath) -> "CorpusIndex":
        """Return the opened index at a path; arrays are memory-mapped.

        Arguments:
            path: its folder.

        Raises:
            ArtifactError: there is no index of a readable version at `path`.
            ParameterError: `path` is no path.

        Warns:
            EarlierVersionWarning: words of it are in other forms than those of today's indexes.
        """
        index = cls(storage.Artifact(one_path(path), storage.INDEX))
        if index.options.normaliser.is_old:
            warn(
                f"{index.path}: an earlier version built it, whose words keep curly apostrophes, "
                "ligatures and soft hyphens as written and some apostrophes uncut; phrases are "
                "looked up in all these forms: build it again to have one of each",
                EarlierVersionWarning,
                stacklevel=2,
            )
        return index

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
            one_or_many_paths(corpus, "corpus"), path, options,
            force=force, run=Run(jobs, memory, progress), notice=notice,
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
        report = build_index(
            [source_of_texts(texts, metadata)], path, options or IndexOptions("text"),
            force=force, run=Run(jobs, memory, progress),
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
            self.home, corpus, again=again, as_is=as_is, run=Run(jobs, memory, progress),
            notice=notice,
        )  # fmt: skip
        index = self.open(self.home)
        index.report = report
        return index

    def __enter__(self) -> "CorpusIndex":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

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

    @property
    def n_sources(self) -> int:
        """Number of files that were read; a file counts each time it was read."""
        return len(self.sources)

    @cached_property
    def language(self) -> str:
        """The name of the inflections of the text's language; see `distsim.corpus.inflections`."""
        return language_of(self.vocabulary.word_hashes()[1:], self.word_counts()[1:])

    @overload
    def words(self, phrase: str) -> list[str]: ...
    @overload
    def words(self, phrase: Iterable[str]) -> list[list[str]]: ...
    def words(self, phrase: Texts) -> list[str] | list[list[str]]:
        """Return the words by which a phrase is looked up; where it may be cut in several ways,
        those that occur most.

        Arguments:
            phrase: words separated by spaces.

        Raises:
            ParameterError: the phrase is empty, or no text.
        """
        return _each(phrase, self._words)

    def looked_up(
        self, tokens: Sequence[str], touching: Sequence[bool]
    ) -> Iterator[tuple[int, Sequence[tuple[str, ...]]]]:
        """Yield (number of tokens, rows of words that they may be) of tokens that belong together.

        The rows that occur most between the words beside them come first; each token is in one.

        Arguments:
            tokens: of a text, as it was cut.
            touching: whether each stands right behind the one before.
        """
        lookup = self.lookup
        pieces = [lookup.normal(token) for token in tokens]
        clusters = list(lookup.clusters(pieces, touching))
        before: tuple[str, ...] = ()
        for (n, readings), following in zip_longest(clusters, clusters[1:]):
            behind = following[1][0][:1] if following else ()
            best = self._by_count(readings, before, behind)
            before = best[0][-1:] or before
            yield n, best

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
        if isinstance(phrase, str):
            return self._count(phrase)
        return self._counts(one_or_many_texts(phrase, "phrase"))

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
        return _each(phrase, lambda text: self._phrase_spans(text)[:, 0])

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
                over 64 tokens long or over 10 million.
        """
        whole_number(longest_gap, "`longest_gap`", 1)
        return _each(
            pattern,
            lambda text: self.query(gapped_query(text, longest_gap), matching="all"),
            "pattern",
        )

    def query(self, query: str, *, matching: Matching = "shortest") -> np.ndarray:
        """Return the spans that match a query by pattern, int64[m, 2], begin ascending.

        Such as `take []{0,3} (account|note)`, `run*` or `/colou?r/`; the language is that of
        distsim.indexes.query_language.

        Arguments:
            query: the pattern.
            matching: of the matches with the same first token the `shortest` (as CQP's strategy
                `traditional`), the `longest`, or `all`.

        Raises:
            ParameterError: it is outside the query language, has over 10 million matches, or takes
                too long.

        >>> index.query("mock turt*").shape
        (56, 2)
        """
        if matching not in MATCHINGS:
            choices = ", ".join(MATCHINGS)
            raise ParameterError(f"`matching` is {matching!r}, choose one of {choices}")
        compiled = self.compiled(one_text(query, "query"), lambda: compile_query(self.whole, query))

        def of_shards(part: CompiledQuery, which: int) -> np.ndarray:
            parts, room = [], MAX_MATCHES
            n_positions = max(1, sum(shard.n_positions for shard in self.shards))
            steps_each = (1 + MATCHING_STEPS / n_positions) / compiled.n_queries
            for shard in self.shards:
                spans = shard.query(part, which, room, int(steps_each * shard.n_positions))
                if spans is None:
                    raise ParameterError(
                        f"{query!r}: takes too long in this index: name rarer words, or repeat less"
                    )
                spans += shard.first_position
                parts.append(spans)
                room -= len(spans)
                if room < 0:
                    raise ParameterError(
                        f"{query!r}: over {MAX_MATCHES:,} matches: name more words"
                    )
            return parts[0] if len(parts) == 1 else np.concatenate(parts)

        return matches(compiled, matching, of_shards, self.document_edges)

    @overload
    def concordance(
        self, phrase: str, *, k: int | None = ..., width: int | str = ..., order: Order | str = ...,
        sample: int | Sample | None = ..., gapped: bool = ..., query: bool = ...,
        matching: Matching = ...,
    ) -> Results[ConcordanceLine]: ...  # fmt: skip
    @overload
    def concordance(
        self, phrase: Iterable[str], *, k: int | None = ..., width: int | str = ...,
        order: Order | str = ..., sample: int | Sample | None = ..., gapped: bool = ...,
        query: bool = ..., matching: Matching = ...,
    ) -> list[Results[ConcordanceLine]]: ...  # fmt: skip
    def concordance(
        self,
        phrase: Texts,
        *,
        k: int | None = None,
        width: int | str = 10,
        order: Order | str = "corpus",
        sample: int | Sample | None = None,
        gapped: bool = False,
        query: bool = False,
        matching: Matching = "shortest",
    ) -> Results[ConcordanceLine] | list[Results[ConcordanceLine]]:
        """Return the concordance lines of a phrase: its occurrences with the words around them.

        Arguments:
            k: number of lines, the first of the order; all where None.
            width: tokens shown on either side within the sentence; or text across sentences, within
                the document: `s` (the whole sentence), `p` (the paragraph), `20`, or `5:10` tokens.
            order: `corpus`, or by the words on the `left` (nearest first) or the `right`, or by up
                to three places: `1L,2L,1R` is by the first and second word on the left, then by
                the first on the right.
            sample: number of occurrences to take, evenly spaced in the corpus, before ordering; or
                a `Sample`, which may be random.
            gapped: the phrase is a pattern as in `gapped`.
            query: the phrase is a query as in `query`.
            matching: matches of a query with the same first token, as in `query`.
            phrase: words separated by spaces.

        Raises:
            ParameterError: the order, sample, gapped phrase or query is not valid.
        """
        if order not in ORDERS and sort_places(order) is None:
            raise ParameterError(
                f"`order` is {order!r}, choose one of {', '.join(ORDERS)}, or up to three places "
                "such as 1L,2L,1R"
            )
        if isinstance(width, str):
            parse_context(width)
        else:
            whole_number(width, "`width`", 0, _MAX_WIDTH)
        if k is not None:
            whole_number(k, "`k`", 0)
        return _each(
            phrase,
            lambda text: self.lines(
                self.spans(
                    text,
                    k=k,
                    width=10 if isinstance(width, str) else width,
                    order=order,
                    sample=sample,
                    gapped=gapped,
                    query=query,
                    matching=matching,
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
        whole_number(before, "`before`", 0, _MAX_WIDTH)
        whole_number(after, "`after`", 0, _MAX_WIDTH)
        return _each(phrase, lambda text: self._neighbourhoods(text, before, after))

    def beside(
        self, phrase: str, window: int, *, by_side: bool = False, narrow: int = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the counted words beside a phrase: (features, counts).

        features: uint32, family * n_words + word, ascending. counts: uint32, or uint64 where one
        is larger.

        Arguments:
            phrase: words separated by spaces.
            window: tokens on either side.
            by_side: one family for either side, not one for every position.
            narrow: with `by_side`, tokens on either side that are counted by positions too.
        """
        whole_number(window, "`window`", 1, _MAX_WIDTH)
        spans = (window, narrow) if by_side else (0, window)
        parts = [
            shard.beside(ids, *spans, self.n_words)
            for ids in self._id_readings(phrase)
            for shard in self.shards
        ]
        if len(parts) == 1:
            return parts[0]
        features, numbers = np.unique(np.concatenate([f for f, _ in parts]), return_inverse=True)
        counts = np.zeros(features.size, np.uint64)
        np.add.at(counts, numbers, np.concatenate([n for _, n in parts]))
        is_small = counts.max(initial=0) <= np.iinfo(np.uint32).max
        return features, counts.astype(np.uint32) if is_small else counts

    def ngrams(
        self, *, shortest: int = 1, longest: int = 5, min_count: int = 1
    ) -> Iterator[tuple[str, int]]:
        """Yield every phrase of shortest..longest words that occurs min_count times, and its count.

        In index order: by the ids of the words, a phrase before its continuations.

        Arguments:
            shortest, longest: tokens.
            min_count: phrases that occur less often are left out.
        """
        whole_number(shortest, "`shortest`", 1, _MAX_TOKENS)
        whole_number(longest, "`longest`", shortest, _MAX_TOKENS)
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
        sample: int | Sample | None = None,
        gapped: bool = False,
        query: bool = False,
        matching: Matching = "shortest",
    ) -> np.ndarray:
        """Return the spans of the lines of a concordance, int64[m, 2], half-open positions.

        Arguments:
            phrase: words separated by spaces; `_` for a gap if `gapped`, a pattern if `query`.
            k: number of lines, the first of the order; all where None.
            width: tokens on either side of a line.
            order: `corpus`, `left`, `right`, or up to three places such as `1L,1R`.
            sample: number of occurrences to take, evenly spaced in the corpus; or a `Sample`.
            gapped: the phrase has gaps.
            query: the phrase is a query by pattern.
            matching: matches of a query with the same first token, as in `query`.
        """
        if k is not None:
            whole_number(k, "`k`", 0)
        if query:
            spans = self.query(phrase, matching=matching)
        elif gapped:
            spans = self.gapped(phrase)
        else:
            spans = self._phrase_spans(phrase, k if order == "corpus" and sample is None else None)
        if sample is not None:
            spans = (sample if isinstance(sample, Sample) else Sample(sample)).of(spans)
        if order == "corpus":
            return spans[:k]
        chosen = sort_places(order)
        if chosen is None:
            chosen = [-n if order == "left" else n for n in range(1, width + 1)]
        if k is not None:
            spans = self._first_spans(spans, chosen, k)
        left, right = self.around(spans, max(map(abs, chosen), default=0))
        columns = [left[:, place] if place < 0 else right[:, place - 1] for place in chosen]
        beside = np.column_stack(columns) if columns else np.empty((len(spans), 0), np.uint32)
        ordered: np.ndarray = spans[self._alphabetical(beside)][:k]
        return ordered

    def lines(self, spans: np.ndarray, *, width: int | str = 10) -> Results[ConcordanceLine]:
        """Return the concordance lines of spans, with the text around them.

        Arguments:
            spans: int64[n, 2], begin and end.
            width: as in `concordance`.
        """
        reader = ContextReader(self, parse_context(width)) if isinstance(width, str) else None
        left, right = self.around(spans, 0 if isinstance(width, str) else width)
        owners, sources, line_numbers = self._places(spans)
        documents = self.documents_at(spans[:, 0])
        word = cache(self.vocabulary.word)
        lines: dict[int, ConcordanceLine] = {}
        for row in np.argsort(spans[:, 0], kind="stable").tolist():  # unpacks each text once
            (begin, end), shard = spans[row].tolist(), self.shards[owners[row]]
            first = begin - shard.first_position
            node = shard.words_at(first, first + end - begin)
            if node.max(initial=0) >= self.n_words:
                raise damaged()
            if reader is not None:
                before, text, after = reader.sides(begin, end)
            else:
                sides = left[row].tolist(), node.tolist(), right[row].tolist()
                parts = [[word(word_id) for word_id in side if word_id] for side in sides]
                before, text, after = self._written(shard, first, parts, word)
            source, line = self.source(int(sources[row])), int(line_numbers[row])
            lines[row] = ConcordanceLine(source, line, before, text, after, documents[row])
        return Results(map(lines.__getitem__, range(len(spans))))

    def _places(self, spans: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (shard, source, line) of each span, by number, int64."""
        owners = self._owners(spans[:, 0])
        sources, lines = np.zeros((2, len(spans)), np.int64)
        for number, shard in enumerate(self.shards):
            mine = owners == number
            sources[mine], lines[mine] = shard.places(spans[mine, 0] - shard.first_position)
        return owners, sources, lines

    def documents_at(self, positions: np.ndarray) -> list[str]:
        """Return the ids of the documents at positions, int64.

        Arguments:
            positions: integers.
        """
        return self.metadata.ids(np.searchsorted(self.document_edges, positions, "right") - 1)

    def _written(
        self, shard: Shard, first: int, parts: list[list[str]], word: Callable[[int], str]
    ) -> list[str]:
        """Return words before, of and behind a place, as they were written where that is known.

        Arguments:
            first: the place in the shard.
            parts: the words.
            word: returns the word with an id.
        """
        plain = [" ".join(part) for part in parts]
        if shard.written is None:
            return plain
        at = shard.sentence_starts.dtype.type(first)
        sentence = int(np.searchsorted(shard.sentence_starts, at, "right")) - 1
        begin = int(shard.sentence_starts[sentence])
        shown = first - len(parts[0])
        earlier = [word(word_id) for word_id in shard.words_at(begin, shown).tolist()]
        try:
            text, _ = shard.written.passage(sentence, sentence + 1)
            text_and_spans = find_words(text, [*earlier, *chain(*parts)], self.options)
        except ValueError:
            raise damaged(self.path) from None
        if text_and_spans is None:
            return plain
        written, spans = text_and_spans
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

    def _words_at(
        self, places: np.ndarray, before: int, after: int, owners: np.ndarray
    ) -> np.ndarray:
        """Return the words around places in the corpus, uint32[n, before + after].

        Arguments:
            places: int64[n]. owners: the number of the shard of each.
            before, after: words; 0 beyond the sentence's edges.
        """
        rows = np.empty((len(places), before + after), np.uint32)
        for number, shard in enumerate(self.shards):
            mine = owners == number
            inside = (places[mine] - shard.first_position).astype(np.uint32)
            rows[mine] = shard.neighbourhoods(inside, before, after, self.n_words)
        return rows

    def _owners(self, places: np.ndarray) -> np.ndarray:
        """Return the number of the shard of each place, int64."""
        starts = [shard.first_position for shard in self.shards]
        return np.searchsorted(starts, places, "right") - 1

    def words_from(self, places: np.ndarray, length: int) -> np.ndarray:
        """Return the words from places on, uint32[n, length]; 0 from the sentence's end on.

        Arguments:
            places: int64[n], in the corpus.
            length: words.
        """
        return self._words_at(places, 0, length, self._owners(places))

    def around(self, spans: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the words (before, after) corpus spans, uint32[n, width] each.

        Arguments:
            spans: int64[n, 2], begin and end.
            width: words on either side; 0 beyond the sentence's edges.
        """
        owners = self._owners(spans[:, 0])
        return (
            self._words_at(spans[:, 0], width, 0, owners),
            self._words_at(spans[:, 1], 0, width, owners),
        )

    def _column(self, spans: np.ndarray, place: int) -> np.ndarray:
        """Return the word at a place beside each span, uint32, 0 beyond the sentence's edge.

        Arguments:
            place: -1 is right before it, 1 right behind.
        """
        before, behind = self.around(spans, abs(place))
        column: np.ndarray = before[:, place] if place < 0 else behind[:, place - 1]
        return column

    def _first_spans(self, spans: np.ndarray, places: Sequence[int], k: int) -> np.ndarray:
        """Return the k spans that come first by the words at some places, and few others.

        By the words at the first place alone; by those at the next one where words are the same.

        Arguments:
            spans: int64[m, 2], ascending.
            places: -1 is right before a span, 1 right behind.
        """
        first = [np.empty(0, np.int64)]
        tied = np.arange(len(spans))
        for place in places:
            if tied.size <= k or tied.size <= _FEW_SPANS:
                break
            words = self._column(spans[tied], place)
            counts = np.bincount(words, minlength=self.n_words)
            ids = np.flatnonzero(counts)
            ids = ids[np.argsort(np.array(self.vocabulary.words(ids), object), kind="stable")]
            last = int(np.searchsorted(np.cumsum(counts[ids]), k))
            is_before = np.zeros(counts.size, np.bool_)
            is_before[ids[:last]] = True
            first.append(tied[is_before[words]])
            k -= first[-1].size
            tied_word = ids[min(last, ids.size - 1)]
            tied = tied[words == tied_word]
            if tied_word == 0 and _is_one_way(places):  # beyond a sentence's edge is nothing
                tied = tied[:k]
                break
        else:
            tied = tied[:k]
        chosen: np.ndarray = spans[np.sort(np.concatenate([*first, tied]))]
        return chosen

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
        parts = []
        for ids in self._id_readings(phrase):
            for shard in self.shards:
                suffixes = shard.positions(ids).astype(np.uint32)
                rows = shard.neighbourhoods(suffixes, before, ids.size + after, self.n_words)
                parts.append(np.delete(rows, np.s_[before : before + ids.size], axis=1))
        return np.concatenate(parts)


@overload
def _each(texts: str, answer: Callable[[str], T], argument: str = ...) -> T: ...
@overload
def _each(texts: Iterable[str], answer: Callable[[str], T], argument: str = ...) -> list[T]: ...
def _each(texts: Texts, answer: Callable[[str], T], argument: str = "phrase") -> T | list[T]:
    """Return the answer for one text, or a list of answers for many."""
    answers = [answer(text) for text in one_or_many_texts(texts, argument)]
    return answers[0] if isinstance(texts, str) else answers


def _is_one_way(places: Sequence[int]) -> bool:
    """Return whether each place is farther from a span than those before, on the same side."""
    return all(abs(b) > abs(a) and (a > 0) == (b > 0) for a, b in pairwise(places))


def sort_places(order: str) -> list[int] | None:
    """Return the places of an order such as `1L,2L,1R`, below 0 on the left; None if it is none.

    Arguments:
        order: a list of places, or the name of an order.

    >>> sort_places("1L,2L,1R"), sort_places("left")
    ([-1, -2, 1], None)
    """
    if re.fullmatch(r"[1-9]\d?[LR](,[1-9]\d?[LR]){0,2}", one_text(order, "`order`")) is None:
        return None
    return [int(place[:-1]) * (-1 if place[-1] == "L" else 1) for place in order.split(",")]


def has_text_of(index: storage.Artifact, table: storage.Artifact) -> bool:
    """Return whether a table was signed from the present text of an index.

    Words and their counts are compared, and the sentences where both have their checksum.

    Arguments:
        index: a corpus index.
        table: a table of signatures.
    """
    sums = {sum_of_sentences(artifact.made_from) for artifact in (index, table)} - {None}
    corpora: set[str] = {artifact.parameters["corpus"] for artifact in (index, table)}
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


def opened_index(index: CorpusIndex | AnyPath) -> CorpusIndex:
    """Return the index that is meant: itself, or that at a path.

    Arguments:
        index: an index or its path.

    Raises:
        ArtifactError: there is no index at the path.
        ParameterError: it is something else.
    """
    if isinstance(index, CorpusIndex):
        return index
    if isinstance(index, str | PathLike) and index != "":
        return CorpusIndex.open(index)
    raise ParameterError(f"index: is {shown(index)}, wanted an index or the path of one")
