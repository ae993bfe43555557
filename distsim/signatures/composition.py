"""Composes one vector of a phrase's own contexts and the vectors of its words.

A phrase of several words is rare, and its contexts do not tell which words are inside it. So its
vector is a mean, in the space of the learnt projection: with s occurrences, s / (s + prior_count)
of its own contexts', the rest of its words', each word weighing rare / (rare + its share of the
text). A phrase that occurs less than `min_own_count` times, or never, is made of its words alone.
A word's vector takes in those of words of like spelling (distsim.signatures.spelling).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from distsim import storage
from distsim.base.errors import ArtifactError, ParameterError
from distsim.contexts.sources.source import PhraseBatch
from distsim.corpus.vocabulary import hash_texts
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import find_sorted
from distsim.kernels.tables import permute_texts
from distsim.signatures.kernels.composition import centre_rows, compose_rows, cut_composed
from distsim.signatures.projections.projection import WIDER
from distsim.signatures.spelling import spelt
from distsim.storage.keys import from_stored, to_stored

_ARRAYS = ("part_hashes", "part_weights", "part_vectors")


@dataclass(frozen=True, kw_only=True)
class Composition:
    """How phrases are composed.

    Arguments:
        prior_count: occurrences at which a phrase's own contexts weigh as much as its words.
        rare: the share of the text's tokens at which a word weighs half as much as a rare one.
        most_words: the number of words of which phrases are composed, the most frequent ones.
        min_own_count: the contexts of phrases that occur less often are not counted; at the
            defaults they would be less than an eleventh of the vector.
        spelling: the share of the vector of a word's spelling in the word's vector; 0: none.

    Raises:
        ParameterError: a number is out of range.

    >>> Composition(prior_count=100.0).rare
    0.003
    """

    prior_count: float = 2000.0
    rare: float = 0.003
    most_words: int = 250_000
    min_own_count: int = 200
    spelling: float = 0.3

    def __post_init__(self) -> None:
        if not (
            self.prior_count > 0 and self.rare > 0 and self.most_words >= 1
            and self.min_own_count >= 0 and 0 <= self.spelling <= 1
        ):  # fmt: skip
            raise ParameterError(
                f"prior count {self.prior_count}, rare {self.rare}, most words {self.most_words}, "
                f"minimum own count {self.min_own_count}, spelling {self.spelling}: choose "
                "numbers above 0, of spelling 0 to 1"
            )

    def manifest(self) -> dict[str, Any]:
        """Return the settings for a fingerprint."""
        return to_stored(asdict(self))

    @classmethod
    def from_manifest(cls, values: dict[str, Any]) -> "Composition":
        """Return the composition that a fingerprint describes.

        Arguments:
            values: as `manifest` returns them, with or without the checksum of the parts.
        """
        known = {"own_from": 0, "spelling": 0.0} | values  # older tables have none
        known.pop("parts", None)
        return cls(**from_stored(known))

    def has_own(self, batch: PhraseBatch) -> np.ndarray:
        """Return whether the own contexts of each phrase count, bool[n].

        Arguments:
            batch: n phrases.
        """
        own: np.ndarray = (batch.token_counts() == 1) | (batch.strengths >= self.min_own_count)
        return own


@dataclass(frozen=True)
class PartWords:
    """Words with their vectors, of which phrases can be composed.

    Attributes:
        hashes: uint64[n].
        shares: float64[n], of the text's tokens.
        strengths: uint64[n], occurrences.
        vectors: float16[n, n_dimensions], of length 1 or zero.
        text: uint8, the words' UTF-8 end to end.
        text_lengths: int64[n], bytes of each word.
    """

    hashes: np.ndarray
    shares: np.ndarray
    strengths: np.ndarray
    vectors: np.ndarray
    text: np.ndarray
    text_lengths: np.ndarray

    @classmethod
    def joined(cls, some: "Sequence[PartWords]", n_dimensions: int) -> "PartWords":
        """Return the words of several such sets, in order.

        Arguments:
            some: the sets; there may be none.
            n_dimensions: of their vectors.
        """
        none = cls(
            np.empty(0, np.uint64), np.empty(0), np.empty(0, np.uint64),
            np.empty((0, n_dimensions), np.float16), np.empty(0, np.uint8), np.empty(0, np.int64),
        )  # fmt: skip
        columns = zip(*(vars(one).values() for one in (none, *some)), strict=True)
        return cls(*map(np.concatenate, columns))

    def at(self, rows: np.ndarray) -> "PartWords":
        """Return some of the words.

        Arguments:
            rows: int64, their places, in the order wanted.
        """
        ends = frozen(_ends(self.text_lengths))
        text, _ = permute_texts(frozen(self.text), ends, frozen(rows))
        return PartWords(
            self.hashes[rows], self.shares[rows], self.strengths[rows], self.vectors[rows],
            text, self.text_lengths[rows],
        )  # fmt: skip

    def most_frequent(self, most: int) -> "PartWords":
        """Return the most frequent of the words that have a vector, in order of hashes.

        Arguments:
            most: the number of words.
        """
        some = np.flatnonzero(self.vectors.any(axis=1))
        frequent = np.lexsort((self.hashes[some], -self.shares[some]))
        kept = some[frequent[:most]]
        return self.at(kept[np.argsort(self.hashes[kept], kind="stable")])


@dataclass(frozen=True)
class PartVectors:
    """Unit vectors of the words of which phrases are composed.

    Attributes:
        hashes: uint64[n], sorted.
        weights: float64[n], of each word in a phrase.
        vectors: float16[n, n_dimensions]; bits are cut from the first dimensions.
    """

    hashes: np.ndarray
    weights: np.ndarray
    vectors: np.ndarray

    @classmethod
    def gather(cls, words: PartWords, composition: Composition) -> "PartVectors":
        """Return the words of which phrases are composed, weighted, with their spelling's vectors.

        Arguments:
            words: with the vectors of their own contexts.
            composition: how many words, their weights, and the share of their spelling.
        """
        kept = words.most_frequent(composition.most_words)
        vectors = kept.vectors
        if composition.spelling:
            vectors = spelt(
                vectors.astype(np.float32), kept.text, _ends(kept.text_lengths), kept.strengths,
                composition.spelling,
            ).astype(np.float16)  # fmt: skip
        weights = composition.rare / (composition.rare + kept.shares)
        return cls(kept.hashes, weights, vectors)

    @classmethod
    def read(cls, artifact: storage.Artifact) -> "PartVectors | None":
        """Return the words' vectors that a table keeps, mapped; None where it keeps none.

        Arguments:
            artifact: of the table.

        Raises:
            ArtifactError: the arrays differ in length.
        """
        if _ARRAYS[0] not in artifact:
            return None
        hashes = artifact.array("part_hashes", np.uint64)
        weights = artifact.array("part_weights", np.float64)
        vectors = artifact.array("part_vectors", np.float16, ndim=2)
        if not hashes.size == weights.size == len(vectors):
            raise ArtifactError(f"{artifact.path}: its words' arrays differ in length: sign again")
        return cls(hashes, weights, vectors)

    def write(self, writer: storage.ArtifactWriter, n_bits: int) -> None:
        """Write the words' vectors into a table.

        Arguments:
            writer: of the table's artifact.
            n_bits: bits of the table's signatures.
        """
        if self.vectors.shape[1] > n_bits:
            writer.version = WIDER
        for name, values in zip(_ARRAYS, (self.hashes, self.weights, self.vectors), strict=True):
            writer.add(name, values)

    def checksum(self) -> str:
        """Return a checksum of all hashes, weights and vectors."""
        arrays = (self.hashes, self.weights, self.vectors)
        return storage.checksum_of_settings([storage.checksum_of_array(a) for a in arrays])

    def find(self, words: Sequence[str]) -> np.ndarray:
        """Return the row of each word, int64[n], -1 where it has no vector.

        Arguments:
            words: in the table's normal form.
        """
        hashes = frozen(hash_texts([word.encode() for word in words]))
        rows: np.ndarray = find_sorted(frozen(self.hashes), hashes)
        return rows

    def compose(self, words: list[str]) -> np.ndarray | None:
        """Return the unit vector of a phrase made of its words, float64[n_dimensions], or None.

        Arguments:
            words: of the phrase; None is returned where none of them has a vector.
        """
        rows = self.find(words)
        rows = rows[rows >= 0]
        if not rows.size:
            return None
        total = self.weights[rows] @ self.vectors[rows].astype(np.float64)
        length = np.sqrt(total @ total)
        return total / length if length > 0 else None


class Composer:
    """Turns projected sums into unit vectors, composed of words where there are any.

    Arguments:
        centre: float32[n_dimensions], the mean of the words' unit vectors, subtracted from each.
        composition: how phrases are composed; with `parts`.
        parts: the words' vectors; phrases are not composed where None.
    """

    def __init__(
        self,
        centre: np.ndarray,
        composition: Composition | None = None,
        parts: PartVectors | None = None,
    ) -> None:
        self._centre = frozen(centre)
        self._composition = composition or Composition()
        self._parts = None
        if parts is not None:
            vectors = parts.vectors.astype(np.float32)
            self._parts = (frozen(parts.hashes), frozen(parts.weights), frozen(vectors))

    def has_own(self, batch: PhraseBatch) -> np.ndarray:
        """Return whether each phrase's vector has a part of its own contexts, bool[n].

        Arguments:
            batch: n phrases.
        """
        if self._parts is None or not self._parts[0].size:
            return np.ones(batch.strengths.size, bool)
        return self._composition.has_own(batch)

    def cut_made_of_words(self, batch: PhraseBatch, bits: np.ndarray) -> np.ndarray:
        """Return which phrases have a signature made of their words alone, bool[n].

        The bits are those of composing and cutting, many times faster.

        Arguments:
            batch: n phrases.
            bits: uint64[n, n_bits / 64], filled.
        """
        assert self._parts is not None
        ends = _ends(batch.text_lengths)
        some: np.ndarray = cut_composed(frozen(batch.text), frozen(ends), *self._parts, bits)
        return some

    def compose(self, sums: np.ndarray, batch: PhraseBatch) -> None:
        """Replace the sums of a batch of phrases by their vectors.

        Arguments:
            sums: float64[n, n_dimensions], overwritten.
            batch: n phrases.
        """
        if self._parts is None:
            centre_rows(sums, self._centre)
            return
        sums[~self._composition.has_own(batch)] = 0.0
        centre_rows(sums, self._centre)
        compose_rows(
            sums, frozen(batch.text), frozen(_ends(batch.text_lengths)),
            frozen(batch.strengths.astype(np.uint64)), *self._parts,
            self._composition.prior_count, self._composition.spelling > 0,
        )  # fmt: skip


def _ends(lengths: np.ndarray) -> np.ndarray:
    """Return where each text begins, and the end of the last; int64[n + 1].

    Arguments:
        lengths: integers[n], bytes of each text.
    """
    ends = np.zeros(lengths.size + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    return ends
