"""The text of some documents of an index, asked as an index of them alone."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from distsim import storage
from distsim.corpus.vocabulary import Vocabulary
from distsim.indexes import phrase_walk
from distsim.indexes.build import corpus_fingerprint, text_checksum
from distsim.indexes.indexed_text import IndexedText
from distsim.indexes.layers import Layers
from distsim.indexes.metadata import Metadata
from distsim.indexes.queries import CompiledQuery
from distsim.indexes.shard import Shard, damaged
from distsim.kernels.compiled import frozen
from distsim.kernels.suffixes import count_words, hash_sentences
from distsim.storage import checksum_of_settings

_FEW = 1 << 12  # positions whose documents are searched for; of more, a table of all is made
_AT_ONCE = 1 << 16  # positions; what is made of them stays in the processor's cache


class SelectedText(IndexedText):
    """The text of some documents of an index in one folder.

    Positions, word ids and places are those of the whole index. Pickled with the documents.

    Arguments:
        whole: the text of the index.
        kept: bool, for each document whether it is among them; one at least.
    """

    def __init__(self, whole: IndexedText, kept: np.ndarray) -> None:
        self._whole = whole
        self._kept = kept
        self.path = whole.path
        self.options = whole.options
        self.checksum = checksum_of_settings(
            [whole.checksum, storage.checksum_of_array(np.packbits(kept))]
        )
        self.n_tokens = int(whole.document_lengths[kept].sum())
        self._ids_of_piece: dict[str, tuple[int, ...]] = {}
        self._closed = False
        edges = whole.document_edges
        self._selected: list[_SelectedShard] = []
        for shard in whole.shards:
            last = shard.first_position + shard.tokens.size
            first = int(np.searchsorted(edges, shard.first_position, "right")) - 1
            stop = int(np.searchsorted(edges[:-1], last))
            begins = np.maximum(edges[first:stop] - shard.first_position, 0)
            self._selected.append(_SelectedShard(shard, begins, kept[first:stop]))
        self._shards = list(self._selected)

    def __reduce__(self) -> tuple[Any, ...]:
        return SelectedText, (self._whole, self._kept)

    def __repr__(self) -> str:
        n = int(np.count_nonzero(self._kept))
        return f"of {self.n_tokens:,} tokens in {n:,} documents of {str(self.path)!r}"

    @property
    def whole(self) -> IndexedText:
        """The text of all documents."""
        return self._whole

    def close(self) -> None:
        """Release the arrays."""
        super().close()
        self._whole.close()

    @property
    def home(self) -> None:
        """None: a table of some documents has a folder of its own."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The words of the whole index and their ids."""
        return self._whole.vocabulary

    @property
    def sources(self) -> list[str]:
        """Names of all files of the index."""
        return self._whole.sources

    @property
    def layers(self) -> Layers | None:
        """The lemmas and tags of the whole index."""
        return self._whole.layers

    @property
    def metadata(self) -> Metadata:
        """All documents of the index."""
        return self._whole.metadata

    @property
    def kept_documents(self) -> np.ndarray:
        """Which documents these are, bool."""
        return self._kept

    @cached_property
    def parameters(self) -> dict[str, Any]:  # type: ignore[override]
        """The parameters of the index, with the counts of these documents."""
        sentences = sum(shard.sentence_lengths().size for shard in self.shards)
        counts = {
            **dict.fromkeys(self._whole.parameters["counts"], 0),
            "tokens": self.n_tokens,
            "sentences": sentences,
            "documents": int(np.count_nonzero(self._kept)),
        }
        return self._whole.parameters | {"counts": counts, "earlier": []}

    @cached_property
    def corpus(self) -> str:  # type: ignore[override]
        """The fingerprint of these documents' words and their counts."""
        counts = phrase_walk.word_counts(self.shards, len(self.vocabulary))
        sentences = self.parameters["counts"]["sentences"]
        hashes = self.vocabulary.word_hashes()[1:]
        return corpus_fingerprint(hashes, counts[1:], self.n_tokens, sentences)

    @cached_property
    def text_checksum(self) -> str:
        """A checksum of these documents' sentences, whatever their order."""
        hashes = frozen(self.vocabulary.word_hashes())
        kept = (
            shard.tokens[shard.inside]
            for shard in self._shards
            if isinstance(shard, _SelectedShard)
        )
        return text_checksum(sum(int(hash_sentences(frozen(tokens), hashes)) for tokens in kept))

    def select(self, filters: Sequence[str], documents: Any) -> IndexedText:
        """Return the text of some of these documents.

        Arguments:
            filters: `FIELD=VALUES` each; a document must fit all.
            documents: ids, or a mask: true or false for each document; None: no limit.
        """
        return self._whole.selected(self._kept & self.document_mask(filters, documents), filters)

    def others(self) -> IndexedText:
        """Return the text of the documents that are not selected."""
        return self._whole.selected(~self._kept, ["the others"])


class _SelectedShard(Shard):
    """A shard of which some documents count; it has the tokens and places of all.

    Arguments:
        whole: the shard.
        begins: int64, position of the first token of each document, of one that began in an
            earlier shard 0.
        kept: bool, whether each counts.
    """

    _whole: Shard
    _begins: np.ndarray
    _kept: np.ndarray

    def __init__(self, whole: Shard, begins: np.ndarray, kept: np.ndarray) -> None:
        for name in (*Shard.ARRAYS, "analyses", "written"):
            if name not in ("suffixes", "word_starts"):
                object.__setattr__(self, name, getattr(whole, name))
        object.__setattr__(self, "first_position", whole.first_position)
        object.__setattr__(self, "_whole", whole)
        object.__setattr__(self, "_begins", begins.astype(np.uint32))
        object.__setattr__(self, "_kept", kept)

    @cached_property
    def _bits(self) -> np.ndarray:
        """For each token a bit, lowest first: whether its document counts, uint8."""
        begins = self._begins[np.flatnonzero(np.diff(self._kept, prepend=False))]
        places, n_bytes = begins >> 3, self.tokens.size // 8 + 1
        lengths = np.diff(np.concatenate([[0], places.astype(np.int64) + 1, [n_bytes]]))
        bits = np.repeat(np.resize(np.array([0, 0xFF], np.uint8), lengths.size), lengths)
        np.bitwise_xor.at(bits, places, (0xFF << (begins & 7)).astype(np.uint8))
        return bits

    @cached_property
    def inside(self) -> np.ndarray:
        """For each token whether its document counts, bool."""
        return np.unpackbits(self._bits, count=self.tokens.size, bitorder="little").view(bool)

    @cached_property
    def word_starts(self) -> np.ndarray:
        """Where the suffixes of each first word begin in `suffixes`, uint32[n_words + 1]."""
        tokens = self.tokens[self.inside]
        return frozen(count_words(frozen(tokens), self._whole.word_starts.size - 1))

    @cached_property
    def suffixes(self) -> np.ndarray:
        """The suffixes that begin in the documents that count."""
        suffixes = self._whole.suffixes
        return frozen(suffixes[self._keeps(suffixes)])

    def _keeps(self, positions: np.ndarray) -> np.ndarray:
        """Return whether the document of each position counts, bool.

        Arguments:
            positions: integers, in the shard.
        """
        if positions.size <= _FEW:
            at = positions.astype(np.uint32)
            few: np.ndarray = self._kept[np.searchsorted(self._begins, at, "right") - 1]
            return few
        kept = np.empty(positions.size, np.uint8)
        for first in range(0, positions.size, _AT_ONCE):
            some = positions[first : first + _AT_ONCE]
            if some.max() >= self.tokens.size:
                raise damaged()
            of_eight = self._bits[some >> 3]
            kept[first : first + _AT_ONCE] = (of_eight >> (some & 7).astype(np.uint8)) & 1
        return kept.view(bool)

    def counts(self, ids: np.ndarray, stops: np.ndarray) -> np.ndarray:
        """Return how often each phrase occurs, int64.

        Arguments:
            ids: integers, word ids of all phrases end to end.
            stops: int64, where each phrase ends.
        """
        pairs = zip(*(one.tolist() for one in self._whole.intervals(ids, stops)), strict=True)
        found = [np.count_nonzero(self._keeps(self._whole.suffixes[a:b])) for a, b in pairs]
        return np.array(found, np.int64)

    def positions(self, ids: np.ndarray) -> np.ndarray:
        """Return the positions of one phrase, int64, in suffix order."""
        found = self._whole.positions(ids)
        kept: np.ndarray = found[self._keeps(found)]
        return kept

    def occurrences(self, ids: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (positions of many phrases end to end, number of the phrase of each), int64."""
        found, owners = self._whole.occurrences(ids, stops)
        kept = self._keeps(found)
        return found[kept], owners[kept]

    def query(self, query: CompiledQuery, most: int) -> np.ndarray:
        """Return the spans that match a query, int64[m, 2]; m is above `most` if there are more."""
        spans = self._whole.query(query, most)
        return spans if len(spans) > most else spans[self._keeps(spans[:, 0])]

    def sentence_lengths(self) -> np.ndarray:
        """Return the tokens in each sentence that counts, int64."""
        lengths: np.ndarray = self._whole.sentence_lengths()[self._keeps(self.sentence_starts)]
        return lengths
