"""The text of an index, or of some of its documents: words, shards, and positions of phrases.

`CorpusIndex` is such a text and asks it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from pathlib import Path
from threading import Lock
from typing import Any, Self

import numpy as np

from distsim import storage
from distsim.base.arguments import one_or_many_texts, one_text, shown
from distsim.base.errors import ParameterError, counted
from distsim.corpus.query import Lookup, Reading
from distsim.corpus.tokeniser import variants
from distsim.corpus.vocabulary import Vocabulary, hash_texts
from distsim.indexes import phrase_walk
from distsim.indexes.build import (
    IndexOptions,
    corpus_fingerprint,
    read_names,
    sum_of_sentences,
    text_checksum,
)
from distsim.indexes.layers import PLURALS, Layers
from distsim.indexes.metadata import Metadata
from distsim.indexes.queries import CompiledQuery
from distsim.indexes.saved_filters import filters_of
from distsim.indexes.selected_shard import LayerShard, SelectedShard
from distsim.indexes.shard import Shard, damaged
from distsim.indexes.word_patterns import WordLines
from distsim.kernels.arrays import each_once
from distsim.kernels.compiled import frozen
from distsim.kernels.suffixes import hash_sentences
from distsim.storage import checksum_of_settings

_CACHED_WORDS = 1 << 20
_KEPT_QUERIES = 2  # of 9 bytes a word
_OF_ALL_DOCUMENTS = {"parameters", "corpus", "text_checksum"}  # not of a selection
_OF_WORDS = {*_OF_ALL_DOCUMENTS, "lookup", "layers"}  # not of lemmas or tags


class IndexedText:
    """The text of an index in one folder, or of some of its documents; arrays are memory-mapped.

    Positions, word ids and places are those of the whole index. Pickled by its path, with the
    documents of a selection, and opened again from there.

    Attributes:
        checksum: identifies the index, or the selection.
        options: how the text became an index.
        n_tokens: in the corpus, sentence boundaries not counted.
        kept_documents: which documents are selected, bool; None where all are.
        layer: what the tokens are: `word`, `lemma`, `tag`, `upos` or `relation`.

    Arguments:
        artifact: of the index.

    Raises:
        ArtifactError: the arrays contradict each other.
    """

    def __init__(self, artifact: storage.Artifact) -> None:
        self._artifact = artifact
        self._whole: Self | None = None  # of a selection
        self._worded: Self | None = None  # of a text of lemmas or tags, that of the words
        self.layer = "word"
        self.kept_documents: np.ndarray | None = None
        self.path = artifact.path
        self.checksum = artifact.checksum
        with storage.understood(artifact.path):
            self.options = IndexOptions.from_manifest(artifact.parameters)
            n_shards = max(1, storage.stored_count(artifact.parameters, "shards"))
            self.n_tokens = storage.stored_count(artifact.parameters["counts"], "tokens")
            str(artifact.parameters["corpus"])
        self._closed = False
        self._vocabulary = Vocabulary.read(artifact, "vocabulary/")
        try:
            self._sources: list[str] = read_names(artifact.array("sources"))
        except ValueError:
            raise damaged(self.path) from None
        sizes = {"words": len(self._vocabulary), "all sources": len(self._sources)}
        self._shards: list[Shard] = []
        position = 0
        for number in range(n_shards):
            shard = Shard.open(artifact, number, position, sizes)
            if shard.word_starts.size - 1 > len(self._vocabulary):
                raise damaged(self.path)
            self._shards.append(shard)
            position += shard.tokens.size
        self._id_of_piece: dict[str, int] = {}
        self._compiled: dict[str, CompiledQuery] = {}
        self._compiling = Lock()
        self._lines: dict[str, WordLines] = {}
        self._compiling_lines = Lock()

    @property
    def n_words(self) -> int:
        """Distinct words, plus one for the sentence boundary: ids are below it."""
        return len(self.vocabulary)

    def word_counts(self) -> np.ndarray:
        """Return how often each word occurs, uint64 by id; entry 0 counts the sentences."""
        return phrase_walk.word_counts(self.shards, self.n_words)

    def readings(self, phrase: str) -> list[tuple[str, ...]]:
        """Return the rows of words that a phrase may be in this text, which may be cut variously.

        Arguments:
            phrase: words separated by spaces.

        Raises:
            ParameterError: the phrase is empty.

        >>> index.readings("Alice’s cat")
        [('alice', "'s", 'cat')]
        """
        return self.lookup.readings(phrase)

    def _of_documents(self, kept: np.ndarray) -> Self:
        """Return the text of some documents of this whole index; it shares what is open.

        kept: bool, for each document whether it is among them; one at least.
        """
        edges, lengths = self.document_edges, self.document_lengths
        selected = object.__new__(type(self))
        shared = {k: v for k, v in vars(self).items() if k not in _OF_ALL_DOCUMENTS}
        vars(selected).update(shared)
        selected._whole, selected.kept_documents = self, kept
        selected.checksum = checksum_of_settings(
            [self.checksum, storage.checksum_of_array(np.packbits(kept))]
        )
        selected.n_tokens = int(lengths[kept].sum())
        selected._shards = []
        for shard in self.shards:
            last = shard.first_position + shard.tokens.size
            first = int(np.searchsorted(edges, shard.first_position, "right")) - 1
            stop = int(np.searchsorted(edges[:-1], last))
            begins = np.maximum(edges[first:stop] - shard.first_position, 0)
            selected._shards.append(SelectedShard(shard, begins, kept[first:stop]))
        return selected

    def of_layer(self, layer: str) -> Self:
        """Return the index whose tokens are the lemmas, or the tags, of this one's words.

        Counts, phrases, collocates and keywords of it are those of lemmas or tags; positions,
        sentences and documents are the same. It takes no queries by pattern and has no text.

        Arguments:
            layer: `lemma`, `tag`, `upos` or `relation`; `word` is this index.

        Raises:
            ParameterError: the text is not annotated, or has no such layer.
        """
        if layer == self.layer:
            return self
        layers = self.layers
        if layers is None or layer not in layers.names:
            raise ParameterError(
                f"{self.path}: has no {PLURALS.get(layer, layer)}: index annotated text (CoNLL-U, "
                "as distsim annotate writes it, vertical files, or TEI with lemmas), or ask by word"
            )
        if self.kept_documents is not None:
            return self.whole.of_layer(layer)._of_documents(self.kept_documents)
        view = object.__new__(type(self))
        vars(view).update({k: v for k, v in vars(self).items() if k not in _OF_WORDS})
        view._worded, view.layer = self, layer
        view.checksum = checksum_of_settings([self.checksum, layer])
        if layer != "lemma":
            normaliser = replace(self.options.normaliser, lower=False)
            view.options = replace(self.options, normaliser=normaliser)
        view._vocabulary = layers.vocabularies[layer]
        ids, n_ids = layers.of(layer), len(view._vocabulary)
        view._shards = [LayerShard(shard, ids, n_ids) for shard in self.shards]
        view._id_of_piece, view._compiled, view._lines = {}, {}, {}
        return view

    def __reduce__(self) -> tuple[Any, ...]:
        if self._whole is None and self._worded is not None:
            return _layer, (self._worded, self.layer)
        if self._whole is None:
            return type(self), (self._artifact,)
        return _selection, (self._whole, self.kept_documents)

    def __repr__(self) -> str:
        at = f"at {str(self.path)!r}"
        if self.kept_documents is not None:
            n = int(np.count_nonzero(self.kept_documents))
            at = f"in {counted(n, 'document')} of {str(self.path)!r}"
        return f"<{type(self).__name__} of {counted(self.n_tokens, 'token')} {at}>"

    def close(self) -> None:
        """Release the index's arrays; it cannot be queried any more."""
        self._closed = True
        self._shards = []
        if self._whole is not None:
            self._whole.close()

    @property
    def home(self) -> Path | None:
        """The folder of an index and of the table inside it; None of a selection, or of lemmas."""
        return self.path if self._whole is None and self._worded is None else None

    @property
    def worded(self) -> Self:
        """The index whose tokens are the words."""
        if self._worded is None:
            return self
        kept = self.kept_documents
        return self._worded if kept is None else self._worded._of_documents(kept)

    @property
    def whole(self) -> Self:
        """The index of all documents."""
        return self if self._whole is None else self._whole

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The parameters in the manifest, of a selection with the counts of its documents."""
        parameters = self._artifact.parameters
        if self.kept_documents is None:
            return parameters
        counts = {
            **dict.fromkeys(parameters["counts"], 0),
            "tokens": self.n_tokens,
            "sentences": sum(shard.sentence_lengths().size for shard in self.shards),
            "documents": int(np.count_nonzero(self.kept_documents)),
        }
        return parameters | {"counts": counts, "earlier": []}

    @cached_property
    def corpus(self) -> str:
        """The fingerprint of the words and their counts."""
        if self.kept_documents is None:
            return str(self._artifact.parameters["corpus"])
        counts = phrase_walk.word_counts(self.shards, len(self.vocabulary))
        sentences = self.parameters["counts"]["sentences"]
        hashes = self.vocabulary.word_hashes()[1:]
        return corpus_fingerprint(hashes, counts[1:], self.n_tokens, sentences)

    @property
    def shards(self) -> list[Shard]:
        """The shards, in order of the text.

        Raises:
            ParameterError: the index was closed.
        """
        if self._closed:
            raise ParameterError(f"{self.path}: the index was closed: open it again")
        return self._shards

    @cached_property
    def text_checksum(self) -> str:
        """A checksum of all sentences, whatever their order and the division into shards.

        Of a selection, and of an index of an earlier version, all text is read for it once.
        """
        stored = self._artifact.made_from
        if self._whole is None and sum_of_sentences(stored) is not None:
            return stored
        hashes = frozen(self.vocabulary.word_hashes())
        tokens = (
            shard.tokens[shard.inside] if isinstance(shard, SelectedShard) else shard.tokens
            for shard in self.shards
        )  # fmt: skip
        return text_checksum(
            sum(int(hash_sentences(frozen(shard_tokens), hashes)) for shard_tokens in tokens)
        )

    @cached_property
    def layers(self) -> Layers | None:
        """The lemmas and tags of an annotated text, None of others."""
        if self.shards[0].analyses is None:
            return None
        return Layers.open(self._artifact, len(self.vocabulary))

    def word_lines(self, attribute: str) -> WordLines:
        """Return the words, lemmas or tags as lines that regular expressions search.

        Arguments:
            attribute: `word`, or the name of a layer.
        """
        if self._whole is not None:
            return self._whole.word_lines(attribute)
        with self._compiling_lines:
            if attribute not in self._lines:
                vocabulary = self.vocabulary
                if attribute != "word" and self.layers is not None:
                    vocabulary = self.layers.vocabularies[attribute]
                self._lines[attribute] = WordLines(vocabulary.text, vocabulary.offsets)
            return self._lines[attribute]

    def compiled(self, query: str, make: Callable[[], CompiledQuery]) -> CompiledQuery:
        """Return a compiled query; the last few queries are cached.

        Arguments:
            query: text in the query language.
            make: function that compiles it.
        """
        if self._whole is not None:
            return self._whole.compiled(query, make)
        with self._compiling:
            if query not in self._compiled:
                self._compiled[query] = make()
                for old in list(self._compiled)[:-_KEPT_QUERIES]:
                    del self._compiled[old]
            return self._compiled[query]

    @cached_property
    def metadata(self) -> Metadata:
        """The documents: ids and fields, by number."""
        manifest = self._artifact.manifest
        return Metadata(self.path, manifest["parameters"], manifest["arrays"])

    @cached_property
    def document_edges(self) -> np.ndarray:
        """Where each document begins, and where the last one ends, int64 positions."""
        begins, end = [], 0
        for shard in self.shards:
            first = shard.document_starts.astype(np.int64)
            if first.size and first.max() >= shard.sentence_starts.size:
                raise damaged(self.path)
            begins.append(shard.sentence_starts[first].astype(np.int64) + shard.first_position)
            end = shard.first_position + shard.n_positions
        edges = np.concatenate([*begins, [end]])
        if edges[0] != 0 or np.diff(edges).min() <= 0:
            raise damaged(self.path)
        return edges

    @cached_property
    def has_line_paragraphs(self) -> bool:
        """Whether a paragraph is a line of a document: in running text, if no blank lines divide
        it into documents."""
        documents = self.metadata
        is_divided = len(documents) > len(self.sources)
        is_divided &= not (documents.fields or documents.has_ids or self._has_records)
        return self.parameters["format"] == "text" and not is_divided

    @property
    def _has_records(self) -> bool:
        """Whether a reader of files made the documents."""
        return bool(self.parameters.get("file_format"))

    @cached_property
    def paragraph_edges(self) -> np.ndarray:
        """Where each paragraph begins, and where the last one ends, int64 positions.

        In annotated text the sentences of a paragraph have one line number; a document without
        such sentences is a paragraph, and so is one of other text without lines as paragraphs.
        """
        edges, shards = self.document_edges, self.shards
        is_annotated = shards[0].analyses is not None
        if not (is_annotated or self.has_line_paragraphs):
            return edges
        starts = np.concatenate(
            [shard.sentence_starts.astype(np.int64) + shard.first_position for shard in shards]
        )
        lines = np.concatenate([shard.sentence_lines for shard in shards])
        begins = np.diff(lines.astype(np.int64), prepend=-1) != 0
        if is_annotated:
            owners = np.searchsorted(edges, starts, "right") - 1
            is_one_of_many = ~begins & ~np.isin(starts, edges)
            begins &= np.bincount(owners[is_one_of_many], minlength=edges.size)[owners] > 0
        elif self._has_records or self.metadata.has_ids:
            # All lines of a record have its number.
            begins[1:] |= np.concatenate([_line_ends(self, shard) for shard in shards])[:-1]
        return np.union1d(starts[begins], edges)

    @cached_property
    def document_lengths(self) -> np.ndarray:
        """Tokens in each document, int64; also of documents that are not selected."""
        firsts, n_sentences = [], 0
        for shard in self.shards:
            firsts.append(shard.document_starts.astype(np.int64) + n_sentences)
            n_sentences += shard.sentence_starts.size
        sentences = np.diff(np.concatenate([*firsts, [n_sentences]]))
        lengths: np.ndarray = np.diff(self.document_edges) - sentences
        if lengths.min() <= 0:
            raise damaged(self.path)
        return lengths

    def select(
        self,
        *,
        where: str | Iterable[str] = (),
        documents: Iterable[Any] | None = None,
        subcorpus: str | None = None,
    ) -> Self:
        """Return the index of some documents: counts, contexts and all others are of them alone.

        Positions and word ids stay those of the whole index.

        Arguments:
            where: filters on the fields of documents, one or several of which all must hold:
                `year=1850..1900`, `genre=novel|drama`, `author=*` for any author.
            documents: ids of documents, or a mask: true or false for each document.
            subcorpus: the name of a part that was saved (`save_subcorpus`); what else is asked for
                holds, too.

        Raises:
            ParameterError: there is no such field, value or document, or no document fits.

        >>> index.select(documents=["1"]).n_tokens == index.n_tokens
        True
        """
        filters = [*one_or_many_texts(where, "where")]
        if subcorpus is not None:
            return self._of_subcorpus(subcorpus).select(where=filters, documents=documents)
        if not filters and documents is None:
            return self
        if documents is not None and not hasattr(documents, "__len__"):
            if not isinstance(documents, Iterable):
                raise ParameterError(
                    f"`documents`: is {shown(documents)}, wanted ids or a mask of documents"
                )
            documents = list(documents)
        mask = self._document_mask(filters, documents)
        if self.kept_documents is not None:
            mask = mask & self.kept_documents
        return self._selected(mask, filters)

    def _of_subcorpus(self, name: str) -> Self:
        """Return the index of what is left of a saved part; removal may take ids and fields."""
        filters, ids = filters_of(self.path, name)
        mask = self.metadata.where_left(filters)
        if ids is not None:
            numbers = self.metadata.numbers(ids)
            mask &= np.isin(np.arange(mask.size), numbers)
        try:
            return self.select(documents=mask)
        except ParameterError:
            chosen_by = ", ".join(filters) or "ids"
            raise ParameterError(
                f"{self.path}: no document fits the subcorpus {name!r} ({chosen_by}): save it anew "
                "or remove it"
            ) from None

    def other_documents(self) -> Self:
        """Return the index of the documents that are not selected.

        Raises:
            ParameterError: all are selected.
        """
        if self.kept_documents is None:
            raise ParameterError(
                f"{self.path}: all documents are selected: none is left to compare"
            )
        return self._selected(~self.kept_documents, ["the others"])

    def _selected(self, mask: np.ndarray, conditions: Sequence[str]) -> Self:
        """Return the text of some documents.

        mask: bool, by document. conditions: how they were asked for, for the message.
        """
        if not mask.any():
            fields = dict.fromkeys(condition.partition("=")[0].strip() for condition in conditions)
            described = "; ".join(filter(None, map(self.metadata.described, fields)))
            of_part = "" if self.kept_documents is None else " of the selected part"
            raise ParameterError(
                f"{self.path}: no document{of_part} fits {', '.join(conditions) or '`documents`'}"
                f"{f' ({described})' * bool(described)}: choose others"
            )
        return self.whole._of_documents(mask)

    def field_groups(self, field: str) -> tuple[list[Any], np.ndarray]:
        """Return (values of a field, ascending, a date's year; for each document which, or -1).

        Arguments:
            field: of documents.

        Raises:
            ParameterError: there is no such field.
        """
        return self.metadata.groups(field)

    @property
    def has_ids(self) -> bool:
        """Whether documents were given ids."""
        return self.metadata.has_ids

    def _document_mask(self, filters: Sequence[str], documents: Any) -> np.ndarray:
        """Return which documents fit all filters and are among `documents`, bool[n documents].

        Arguments:
            filters: conditions on the documents' fields, such as `year=1850..1900`.
            documents: ids of documents, or a mask of bool; None allows all.

        Raises:
            ParameterError: a document or a field does not exist.
        """
        metadata = self.metadata
        if len(metadata) != self.document_edges.size - 1:
            raise damaged(self.path)
        mask = metadata.where(filters) if filters else np.ones(len(metadata), bool)
        if documents is None:
            return mask
        listed = np.asarray(documents)
        if listed.dtype == bool:
            if listed.shape != mask.shape:
                raise ParameterError(
                    f"`documents`: a mask of {counted(listed.size, 'value')}, the index has "
                    f"{counted(mask.size, 'document')}: give one for each"
                )
            mask &= listed
            return mask
        ids = [str(document) for document in documents]
        numbers = metadata.numbers(ids)
        if np.any(numbers < 0):
            unknown = ids[int(np.flatnonzero(numbers < 0)[0])]
            raise ParameterError(
                f"{self.path}: no document has the id {unknown!r}: check `documents`"
            )
        chosen = np.zeros(mask.size, bool)
        chosen[numbers] = True
        mask &= chosen
        return mask

    @property
    def vocabulary(self) -> Vocabulary:
        """The words and their ids."""
        return self._vocabulary

    @property
    def sources(self) -> list[str]:
        """Names of the files that were read; a file occurs each time it was read."""
        return self._sources

    @cached_property
    def lookup(self) -> Lookup:
        """The tokens by which phrases are looked up."""
        return Lookup(
            self.options.normaliser, self.options.text_format, self._has,
            variants=self._variants, has_joined=self.layers is not None,
        )  # fmt: skip

    def _has(self, token: str) -> bool:
        """Return whether a text is a token of the index."""
        return self.vocabulary.number(token) >= 0

    def _variants(self) -> dict[str, list[str]]:
        """Return the words of an index of an earlier version by what they would be today."""
        today = replace(self.options.normaliser, fold_variants=True)
        text = self.vocabulary.text
        is_first = np.zeros(256, bool)  # bytes with which a variant begins, or the dot of i̇
        is_first[[0xCC, *{chr(code).encode()[0] for code in variants()}]] = True
        places = np.flatnonzero(is_first[text])
        numbers = each_once(np.searchsorted(self.vocabulary.offsets, places, "right") - 1)
        words: dict[str, list[str]] = {}
        for word in self.vocabulary.words(numbers):
            if (folded := today.token(word)) != word:
                words.setdefault(folded, []).append(word)
        return words

    def _words(self, phrase: str) -> list[str]:
        """Return the words by which a phrase is looked up; of several, those that occur most.

        Arguments:
            phrase: words separated by spaces.
        """
        return list(self._by_count(self.lookup.readings(phrase))[0])

    def _by_count(
        self, readings: Sequence[Reading], before: Reading = (), behind: Reading = ()
    ) -> Sequence[Reading]:
        """Return rows of words, those that occur most first: between words beside them, or at all.

        Arguments:
            readings: of a phrase.
            before, behind: the word before it and behind it, of a text.
        """
        if len(readings) == 1:
            return readings
        alone = between = self._counts_of([self._ids(reading) for reading in readings])
        if before or behind:
            rows = [self._ids([*before, *reading, *behind]) for reading in readings]
            between = self._counts_of(rows)
        return [readings[n] for n in np.lexsort((-alone, -between)).tolist()]

    def _id_readings(self, phrase: str) -> list[np.ndarray]:
        """Return the word ids of each way in which a phrase may stand in the text, int64.

        Those of unknown words are -1.

        Arguments:
            phrase: words separated by spaces.

        Raises:
            ParameterError: the phrase is empty.
        """
        return [self._ids(reading) for reading in self.lookup.readings(phrase)]

    def _ids(self, words: Sequence[str]) -> np.ndarray:
        return self.vocabulary.find(hash_texts([word.encode() for word in words]))

    def _count(self, phrase: str) -> int:
        """Return how often one phrase occurs.

        Arguments:
            phrase: words separated by spaces.

        Raises:
            ParameterError: the phrase is empty.
        """
        known, total = self._id_of_piece, 0
        for reading in self.lookup.readings(phrase):
            ids = [known[word] if word in known else self._learned(word) for word in reading]
            total += sum(shard.count(ids) for shard in self.shards)
        return total

    def _learned(self, piece: str) -> int:
        """Return the id of a word as it is in the text, and keep it."""
        if len(self._id_of_piece) >= _CACHED_WORDS:
            self._id_of_piece.clear()
        number = self._id_of_piece[piece] = self.vocabulary.number(piece)
        return number

    def _counts(self, phrases: Sequence[str]) -> np.ndarray:
        """Return how often each phrase occurs, int64.

        Arguments:
            phrases: words separated by spaces.

        Raises:
            ParameterError: a phrase is empty.
        """
        lookup = self.lookup
        pieces = [lookup.pieces(one_text(phrase, "phrase")) for phrase in phrases]
        self._learn({piece for split in pieces for piece in split if lookup.only_itself(piece)})
        owners: list[int] = []
        readings: list[np.ndarray] = []
        for number, (phrase, split) in enumerate(zip(phrases, pieces, strict=True)):
            if not split:
                at = f" (number {number + 1} of {len(phrases)})" if len(phrases) > 1 else ""
                raise ParameterError(f"the phrase is empty{at}: give at least one word")
            if all(map(lookup.only_itself, split)):
                readings_of_phrase = [
                    np.array([self._id_of_piece[piece] for piece in split], np.int64)
                ]
            else:
                readings_of_phrase = self._id_readings(phrase)
            readings += readings_of_phrase
            owners += [number] * len(readings_of_phrase)
        total = np.zeros(len(phrases), np.int64)
        np.add.at(total, owners, self._counts_of(readings))
        return total

    def _learn(self, pieces: set[str]) -> None:
        """Look up the ids of pieces that can only be themselves."""
        missing = sorted(piece for piece in pieces if piece not in self._id_of_piece)
        if len(self._id_of_piece) + len(missing) > _CACHED_WORDS:
            self._id_of_piece.clear()
            missing = sorted(pieces)
        self._id_of_piece.update(zip(missing, self._ids(missing).tolist(), strict=True))

    def _counts_of(self, readings: Sequence[np.ndarray]) -> np.ndarray:
        """Return how often each row of word ids occurs, int64."""
        total = np.zeros(len(readings), np.int64)
        if readings:
            ids, stops = np.concatenate(readings), np.cumsum([reading.size for reading in readings])
            for shard in self.shards:
                total += shard.counts(ids, stops)
        return total

    def _phrase_spans(self, phrase: str, first: int | None = None) -> np.ndarray:
        """Return where a phrase is, int64[m, 2], half-open positions, ascending.

        Arguments:
            phrase: words separated by spaces.
            first: maximum number of spans; None: all.
        """
        readings = self._id_readings(phrase)
        spans, n = [np.empty((0, 2), np.int64)], 0
        for shard in self.shards:
            if first is not None and n >= first:
                break
            spans_of_shards = [np.empty((0, 2), np.int64)]
            for ids in readings:
                begins = shard.positions(ids)
                if first is not None and first - n < begins.size:
                    begins = np.partition(begins, first - n)[: first - n]
                begins.sort()
                spans_of_shards.append(np.empty((begins.size, 2), np.int64))
                for edge in range(2):
                    spans_of_shards[-1][:, edge] = begins + (edge * ids.size + shard.first_position)
            if len(readings) == 1:
                of_shard = spans_of_shards[-1]
            else:
                of_shard = np.concatenate(spans_of_shards)
                of_shard = of_shard[np.argsort(of_shard[:, 0], kind="stable")]
            of_shard = of_shard[: None if first is None else first - n]
            n += len(of_shard)
            spans.append(of_shard)
        return spans[1] if len(spans) == 2 else np.concatenate(spans)

    def span_blocks(self, phrase: str) -> Iterator[tuple[int, np.ndarray]]:
        """Yield (number of the shard, spans in it, int64[m, 2]) of a phrase, a part at a time.

        Arguments:
            phrase: words separated by spaces.

        Raises:
            ParameterError: the phrase is empty.
        """
        readings = self._id_readings(phrase)
        for number, shard in enumerate(self.shards):
            for ids in readings:
                for positions, _ in shard.occurrences(ids, np.array([ids.size])):
                    begins = np.sort(positions)
                    yield number, np.column_stack([begins, begins + ids.size])

    def overlaps_itself(self, phrase: str) -> bool:
        """Return whether an occurrence of a phrase begins within another one.

        Arguments:
            phrase: words separated by spaces.
        """
        readings = [ids.tolist() for ids in self._id_readings(phrase)]
        joined = [
            np.array(first + second[len(first) - shift :], np.int64)
            for first, second in product(readings, repeat=2)
            for shift in range(1 if first is second else 0, len(first))
            if first[shift:][: len(second)] == second[: len(first) - shift]
        ]
        return bool(self._counts_of(joined).any())


def _line_ends(index: IndexedText, shard: Shard) -> np.ndarray:
    """Return whether a line ends behind each sentence of a shard, bool; false without the text."""
    if shard.written is None:
        return np.zeros(shard.sentence_starts.size, np.bool_)
    try:
        return shard.written.line_ends()
    except ValueError:
        raise damaged(index.path) from None


def _layer(worded: IndexedText, layer: str) -> IndexedText:
    return worded.of_layer(layer)


def _selection(whole: IndexedText, kept: np.ndarray) -> IndexedText:
    return whole._of_documents(kept)
