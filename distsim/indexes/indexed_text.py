"""The text of one index folder: its words, its shards, and positions of phrases.

What `CorpusIndex` asks.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from distsim import storage
from distsim.base.arguments import one_text, utf8_phrase
from distsim.base.errors import ParameterError
from distsim.corpus.query import split_phrase
from distsim.corpus.vocabulary import Vocabulary, hash_texts
from distsim.indexes.build import (
    IndexOptions,
    read_names,
    sum_of_sentences,
    text_checksum,
)
from distsim.indexes.layers import Layers
from distsim.indexes.metadata import Metadata
from distsim.indexes.queries import CompiledQuery
from distsim.indexes.shard import Shard, damaged
from distsim.kernels.compiled import frozen
from distsim.kernels.suffixes import hash_sentences

_CACHED_WORDS = 1 << 20
_KEPT_QUERIES = 2  # of 9 bytes a word


class IndexedText:
    """The text of an index in one folder; its arrays are memory-mapped.

    path, checksum, parameters, options, n_tokens, corpus: as CorpusIndex has them. Pickled by its
    path and opened again from there.

    Arguments:
        artifact: of the index.

    Raises:
        ArtifactError: the arrays contradict each other.
    """

    def __init__(self, artifact: storage.Artifact) -> None:
        self._artifact = artifact
        self.path = artifact.path
        self.checksum = artifact.checksum
        self.parameters = artifact.parameters
        with storage.understood(artifact.path):
            self.options = IndexOptions.from_manifest(artifact.parameters)
            n_shards = max(1, storage.counted(artifact.parameters, "shards"))
            self.n_tokens = storage.counted(artifact.parameters["counts"], "tokens")
            self.corpus = str(artifact.parameters["corpus"])
        self._closed = False
        self._vocabulary = Vocabulary(
            *(
                artifact.array(f"vocabulary/{part}", dtype)
                for part, dtype in zip(Vocabulary.PARTS, Vocabulary.DTYPES, strict=True)
            )
        )
        self._shards: list[Shard] = []
        position = 0
        for number in range(n_shards):
            shard = Shard.open(artifact, number, position)
            if shard.word_starts.size - 1 > len(self._vocabulary):
                raise damaged(self.path)
            self._shards.append(shard)
            position += shard.tokens.size
        try:
            self._sources: list[str] = read_names(artifact.array("sources"))
        except ValueError:
            raise damaged(self.path) from None
        self._ids_of_piece: dict[str, tuple[int, ...]] = {}
        self._compiled: dict[str, CompiledQuery] = {}
        self._compiling = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return IndexedText, (self._artifact,)

    def __repr__(self) -> str:
        return f"of {self.n_tokens:,} tokens at {str(self.path)!r}"

    def close(self) -> None:
        """Release the arrays."""
        self._closed = True
        self._shards = []

    @property
    def home(self) -> Path | None:
        """The folder of its own table, to which text is added."""
        return self.path

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
        """Checksum of all sentences, independent of their order and of the division into shards.

        An index of an older version does not store it; its text is then read.
        """
        stored = self._artifact.made_from
        if sum_of_sentences(stored) is not None:
            return stored
        hashes = frozen(self.vocabulary.word_hashes())
        sums = (int(hash_sentences(frozen(shard.tokens), hashes)) for shard in self.shards)
        return text_checksum(sum(sums))

    @cached_property
    def layers(self) -> Layers | None:
        """The lemmas and tags of an annotated text, None of others."""
        if self.shards[0].analyses is None:
            return None
        layers = Layers(self._artifact.array)
        if not layers.is_sound(len(self.vocabulary)):
            raise damaged(self.path)
        return layers

    def compiled(self, query: str, make: Callable[[], CompiledQuery]) -> CompiledQuery:
        """Return a compiled query; the last few queries are cached.

        Arguments:
            query: text in the query language.
            make: function that compiles it.
        """
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

    @property
    def whole(self) -> "IndexedText":
        """The text of all documents of the index."""
        return self

    @property
    def kept_documents(self) -> np.ndarray | None:
        """Which documents count, bool; None where all do."""
        return None

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
    def document_lengths(self) -> np.ndarray:
        """Tokens in each document, int64."""
        firsts, n_sentences = [], 0
        for shard in self.shards:
            firsts.append(shard.document_starts.astype(np.int64) + n_sentences)
            n_sentences += shard.sentence_starts.size
        sentences = np.diff(np.concatenate([*firsts, [n_sentences]]))
        lengths: np.ndarray = np.diff(self.document_edges) - sentences
        if lengths.min() <= 0:
            raise damaged(self.path)
        return lengths

    def select(self, filters: Sequence[str], documents: Any) -> "IndexedText":
        """Return the text of some documents.

        Arguments:
            filters: `FIELD=VALUES` each; a document must fit all.
            documents: ids, or a mask: true or false for each document; None: no limit.
        """
        return self.selected(self.document_mask(filters, documents), filters)

    def selected(self, mask: np.ndarray, filters: Sequence[str]) -> "IndexedText":
        """Return the text of some documents.

        Arguments:
            mask: bool, by document. filters: how they were asked for, for the message.

        Raises:
            ParameterError: there are none.
        """
        from distsim.indexes.selection import SelectedText

        if not mask.any():
            fields = dict.fromkeys(one.partition("=")[0].strip() for one in filters)
            described = "; ".join(filter(None, map(self.metadata.described, fields)))
            raise ParameterError(
                f"{self.path}: no document fits {', '.join(filters) or '`documents`'}"
                f"{f' ({described})' * bool(described)}: choose others"
            )
        return SelectedText(self, mask)

    def field_groups(self, field: str) -> tuple[list[Any], np.ndarray]:
        """Return the values of a field, and the number of each document's value.

        Arguments:
            field: name of a field of the documents' metadata.
        """
        return self.metadata.groups(field)

    @property
    def has_ids(self) -> bool:
        """Whether documents were given ids."""
        return self.metadata.has_ids

    def document_ids(self, numbers: np.ndarray) -> list[str]:
        """Return the ids of documents, by number.

        numbers: int64, from 0.
        """
        return self.metadata.ids(numbers)

    def others(self) -> "IndexedText":
        """Return the text of the documents that are not selected.

        Raises:
            ParameterError: all documents are selected.
        """
        raise ParameterError(f"{self.path}: all documents are selected: none is left to compare")

    def document_mask(self, filters: Sequence[str], documents: Any) -> np.ndarray:
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
        given = np.asarray(documents)
        if given.dtype == bool:
            if given.shape != mask.shape:
                raise ParameterError(
                    f"`documents`: a mask of {given.size:,} values, the index has "
                    f"{mask.size:,} documents: give one for each"
                )
            mask &= given
            return mask
        ids = [str(one) for one in documents]
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

    def words(self, phrase: str) -> list[str]:
        """Return the words by which a phrase is looked up.

        Arguments:
            phrase: words separated by spaces.
        """
        return split_phrase(phrase, self.options.normaliser, self.known_pieces())

    def known_pieces(self) -> Callable[[str], bool]:
        """Return a function that tells whether a piece of a phrase is one token of the index.

        It takes a piece (str) and returns bool. Pieces that are no token are split further.
        """
        if self.options.text_format == "lines":
            return lambda piece: True
        return self.has_piece

    def has_piece(self, piece: str) -> bool:
        """Return whether a piece of a phrase is a word of the index.

        Arguments:
            piece: text without white space.
        """
        return bool(self.vocabulary.find(hash_texts([piece.encode()]))[0] >= 0)

    def ids(self, phrases: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return (word ids end to end int64, -1 where unknown; where each phrase ends int64).

        Arguments:
            phrases: words separated by spaces.

        Raises:
            ParameterError: a phrase is empty.
        """
        known = self._ids_of_piece
        normalise = self.options.normaliser.characters
        pieces = [normalise(one_text(phrase, "phrase")).split() for phrase in phrases]
        new = {piece for split in pieces for piece in split if piece not in known}
        if new:
            if len(known) + len(new) > _CACHED_WORDS:
                known.clear()
                new = {piece for split in pieces for piece in split}
            self._learn(sorted(new))
        ids: list[int] = []
        stops = []
        for number, split in enumerate(pieces):
            if not split:
                at = f" (number {number + 1} of {len(phrases)})" if len(phrases) > 1 else ""
                raise ParameterError(f"the phrase is empty{at}: give at least one word")
            for piece in split:
                ids += known[piece]
            stops.append(len(ids))
        return np.array(ids, np.int64), np.array(stops, np.int64)

    def _learn(self, pieces: list[str]) -> None:
        hashes = hash_texts([utf8_phrase(piece) for piece in pieces])
        found = self.vocabulary.find(hashes)
        cuts = self.options.text_format == "text" or self.options.normaliser.drops
        is_known = self.known_pieces()
        for piece, number in zip(pieces, found.tolist(), strict=True):
            if number >= 0 or not cuts:
                self._ids_of_piece[piece] = (number,)
                continue
            words = split_phrase(piece, self.options.normaliser, is_known)
            numbers = self.vocabulary.find(hash_texts([word.encode() for word in words]))
            self._ids_of_piece[piece] = tuple(numbers.tolist())

    def counts(self, phrases: Sequence[str]) -> np.ndarray:
        """Return how often each phrase occurs, int64.

        Arguments:
            phrases: words separated by spaces.
        """
        ids, stops = self.ids(phrases)
        total = np.zeros(stops.size, np.int64)
        for shard in self.shards:
            total += shard.counts(ids, stops)
        return total

    def positions(self, phrase: str, first: int | None = None) -> np.ndarray:
        """Return the positions of a phrase, int64, ascending; only the `first` ones if given.

        Arguments:
            phrase: words separated by spaces.
            first: maximum number of positions; None: all.
        """
        ids, _ = self.ids([phrase])
        found, n = [np.empty(0, np.int64)], 0
        for shard in self.shards:
            if first is not None and n >= first:
                break
            positions = shard.positions(ids)
            if first is not None and first - n < positions.size:
                positions = np.partition(positions, first - n)[: first - n]
            n += positions.size
            found.append(np.sort(positions) + shard.first_position)
        return np.concatenate(found)
