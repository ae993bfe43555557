"""Composes one vector of a phrase's own contexts and the vectors of its words.

A phrase of several words is rare, and its contexts do not tell which words are inside it. So its
vector is a mean, in the space of the learned projection: with s occurrences, s / (s + prior count)
of its own contexts', the rest of its words', each word weighing rare / (rare + its share of the
text). A phrase that occurs less than `min_own_count` times, or never, is made of its words alone.
The prior count is lower for idioms: phrases whose own vector is unlike that of their words, and
those that begin and end with a frequent word (`in order to`).
A word's vector takes in those of its other forms (`with_other_forms`) and those of words of like
spelling (`add_spelling`), both in distsim.signatures.forms.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from distsim import storage
from distsim.base.arguments import check_types
from distsim.base.errors import ArtifactError, ParameterError
from distsim.contexts.sources.source import PhraseBatch
from distsim.corpus.inflections import AUTO, DEFAULT, Inflections
from distsim.corpus.vocabulary import hash_texts
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import find_sorted, permute_texts
from distsim.signatures.forms import add_spelling, with_other_forms
from distsim.signatures.kernels.composition import (
    IdiomRule,
    centre_rows,
    compose_rows,
    cut_composed,
)
from distsim.signatures.projections.projection import BYTES
from distsim.storage import StoredArray
from distsim.storage.manifest import from_stored, to_stored

_ROWS_AT_ONCE = 4096
_PART_ARRAYS = {
    "part_hashes": StoredArray(np.uint64, "words", ascending="strictly"),
    "part_weights": StoredArray(np.float64, "words"),
    "part_scales": StoredArray(np.float32, "words"),
    "part_vectors": StoredArray(np.int8, "words", columns="dimensions"),
}
_OWN_ARRAYS = {
    "phrase_hashes": StoredArray(np.uint64, "phrases", ascending="strictly"),
    "phrase_scales": StoredArray(np.float32, "phrases"),
    "phrase_vectors": StoredArray(np.int8, "phrases", columns="dimensions"),
}
# Chosen together by bench/likeness.py on judged phrases.
IDIOM_COSINE, IDIOM_WIDTH = 0.35, 0.04
EDGE_WEIGHT, EDGE_FACTOR = 0.75, 0.05
FULL_COUNT = 200


@dataclass(frozen=True, kw_only=True)
class Composition:
    """How phrases are composed.

    Arguments:
        prior_count: occurrences at which a phrase's own contexts weigh as much as its words.
        idiom_count: the same for a phrase whose own contexts are unlike those of its words; between
            the two by their cosine. 0: `prior_count` for all.
        rare: the share of the text's tokens at which a word weighs half as much as a rare one.
        most_words: the number of words of which phrases are composed, the most frequent ones.
        min_own_count: the contexts of phrases that occur less often are not counted: so few tell
            more of chance than of meaning.
        forms: the share of a word's other forms in its vector; 0: none.
        inflections: the rules by which forms are told: `auto`, for the
            language of the text, `english`, `german`, `french`, `spanish`, `none` or a file.
        spelling: the share of the vector of a word's spelling in the word's vector; 0: none.

    Raises:
        ParameterError: a number is out of range.

    >>> Composition(prior_count=100.0).rare
    0.003
    """

    prior_count: float = 2000.0
    idiom_count: float = 0.0
    rare: float = 0.003
    most_words: int = 250_000
    min_own_count: int = 200
    forms: float = 0.0
    inflections: str = AUTO
    spelling: float = 0.3

    def __post_init__(self) -> None:
        check_types(self)
        if not (
            self.prior_count > 0 and self.rare > 0 and self.most_words >= 1
            and min(self.min_own_count, self.idiom_count) >= 0 and 0 <= self.spelling <= 1
            and 0 <= self.forms <= 1
        ):  # fmt: skip
            raise ParameterError(
                f"prior count {self.prior_count}, idiom count {self.idiom_count}, rare "
                f"{self.rare}, most words {self.most_words}, minimum own count "
                f"{self.min_own_count}, forms {self.forms}, spelling {self.spelling}: choose "
                "numbers above 0, of forms and spelling 0 to 1"
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
        known = dict(values)
        known.pop("parts", None)
        return cls(**from_stored(known))

    def in_language(self, language: str) -> "Composition":
        """Return the composition with the inflections of a language, where none are named.

        Arguments:
            language: the name of its inflections.
        """
        return replace(self, inflections=language) if self.inflections == AUTO else self

    def has_own(self, batch: PhraseBatch) -> np.ndarray:
        """Return whether the own contexts of each phrase count, bool[n].

        Arguments:
            batch: n phrases.
        """
        is_own: np.ndarray = (batch.token_counts() == 1) | (batch.strengths >= self.min_own_count)
        return is_own

    @property
    def rule(self) -> IdiomRule:
        """How the prior count of a phrase is found, for the kernel."""
        return IdiomRule(
            float(self.prior_count), float(self.idiom_count), IDIOM_COSINE, IDIOM_WIDTH,
            EDGE_WEIGHT, EDGE_FACTOR, float(FULL_COUNT),
        )  # fmt: skip


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
    def joined(cls, parts: "Sequence[PartWords]", n_dimensions: int) -> "PartWords":
        """Return the words of several such sets, in order.

        Arguments:
            parts: the sets; there may be none.
            n_dimensions: of their vectors.
        """
        none = cls(
            np.empty(0, np.uint64), np.empty(0), np.empty(0, np.uint64),
            np.empty((0, n_dimensions), np.float16), np.empty(0, np.uint8), np.empty(0, np.int64),
        )  # fmt: skip
        columns = zip(*(vars(part_words).values() for part_words in (none, *parts)), strict=True)
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

    def most_frequent(self, max_words: int) -> "PartWords":
        """Return the most frequent of the words that have a vector, in order of hashes.

        Arguments:
            max_words: the number of words.
        """
        with_vector = np.flatnonzero(self.vectors.any(axis=1))
        frequent = np.lexsort((self.hashes[with_vector], -self.shares[with_vector]))
        chosen = with_vector[frequent[:max_words]]
        return self.at(chosen[np.argsort(self.hashes[chosen], kind="stable")])


@dataclass(frozen=True)
class PartVectors:
    """Unit vectors of the words of which phrases are composed.

    Attributes:
        hashes: uint64[n], sorted.
        weights: float64[n], of each word in a phrase.
        scales: float32[n], by which a row of `vectors` is multiplied to have length 1.
        vectors: int8[n, n_dimensions]; bits are cut from the first dimensions.
    """

    hashes: np.ndarray
    weights: np.ndarray
    scales: np.ndarray
    vectors: np.ndarray

    @classmethod
    def gather(cls, words: PartWords, composition: Composition, jobs: int | None) -> "PartVectors":
        """Return the words of which phrases are composed, with their forms' and spelling's vectors.

        Arguments:
            words: with the vectors of their own contexts.
            composition: how many words, their weights, and the shares of forms and spelling.
            jobs: threads; as many as the machine has cores where None.
        """
        frequent = words.most_frequent(composition.most_words)
        vectors, ends = frequent.vectors.astype(np.float32), _ends(frequent.text_lengths)
        if composition.forms:
            rules = Inflections.open(composition.in_language(DEFAULT).inflections)
            vectors = with_other_forms(
                vectors, frequent.text, ends, frequent.strengths, composition.forms, rules, jobs
            )
        if composition.spelling:
            vectors = add_spelling(
                vectors, frequent.text, ends, frequent.strengths, composition.spelling
            )
        weights = composition.rare / (composition.rare + frequent.shares)
        return cls(frequent.hashes, weights, *_quantised(vectors))

    @classmethod
    def read(cls, artifact: storage.Artifact) -> "PartVectors | None":
        """Return the words' vectors that a table keeps, mapped; None where it keeps none.

        Arguments:
            artifact: of the table.

        Raises:
            ArtifactError: the arrays differ in length.
        """
        if "part_hashes" not in artifact:
            return None
        if "part_scales" not in artifact:
            raise ArtifactError(
                f"{artifact.path}: keeps words' vectors as an earlier distsim wrote them: sign "
                "again"
            )
        return cls(*artifact.arrays(_PART_ARRAYS).values())

    def write(self, writer: storage.ArtifactWriter) -> None:
        """Write the words' vectors into a table.

        Arguments:
            writer: of the table's artifact.
        """
        writer.version = BYTES
        for name, values in zip(_PART_ARRAYS, self._columns, strict=True):
            writer.add(name, values)

    @property
    def _columns(self) -> tuple[np.ndarray, ...]:
        return self.hashes, self.weights, self.scales, self.vectors

    @property
    def n_dimensions(self) -> int:
        """Entries of a vector."""
        return int(self.vectors.shape[1])

    @cached_property
    def factors(self) -> np.ndarray:
        """Weight times scale of each word, float64[n]: what a row of `vectors` counts in a sum."""
        return frozen(self.weights * self.scales.astype(np.float64))

    def checksum(self) -> str:
        """Return a checksum of all hashes, weights and vectors."""
        return storage.checksum_of_settings(list(map(storage.checksum_of_array, self._columns)))

    def find(self, words: Sequence[str]) -> np.ndarray:
        """Return the row of each word, int64[n], -1 where it has no vector.

        Arguments:
            words: in the table's normal form.
        """
        hashes = frozen(hash_texts([word.encode() for word in words]))
        rows: np.ndarray = find_sorted(frozen(self.hashes), hashes)
        return rows

    def unit_vectors(self, rows: np.ndarray) -> np.ndarray:
        """Return the unit vectors of words, float32[n, n_dimensions].

        Arguments:
            rows: int64[n], theirs.
        """
        vectors: np.ndarray = self.vectors[rows] * self.scales[rows][:, None]
        return vectors

    def compose(self, phrases: Sequence[Sequence[str]]) -> np.ndarray:
        """Return the unit vectors of phrases made of their words, float64[n, n_dimensions].

        NaN where no word of a phrase has a vector.

        Arguments:
            phrases: the words of each, in normal form.
        """
        vectors = np.full((len(phrases), self.n_dimensions), np.nan)
        every = self.find([word for words in phrases for word in words])
        ends = np.cumsum([0, *map(len, phrases)], dtype=np.int64).tolist()
        single = self.factors[every, None] * self.vectors[every]  # of words on their own
        for vector, (begin, end) in zip(vectors, pairwise(ends), strict=True):
            rows = every[begin:end]
            if rows.size == 1 and rows[0] >= 0:
                total = single[begin]
            else:
                rows = rows[rows >= 0]
                total = self.factors[rows] @ self.vectors[rows].astype(np.float64)
            length = np.sqrt(total @ total)
            if length > 0:
                vector[:] = total / length
        return vectors


class OwnVectors(NamedTuple):
    """Unit vectors of phrases of several words that have contexts of their own in them.

    Attributes:
        hashes: uint64[n].
        scales: float32[n], by which a row of `vectors` is multiplied to have length 1.
        vectors: int8[n, n_dimensions].
    """

    hashes: np.ndarray
    scales: np.ndarray
    vectors: np.ndarray

    @classmethod
    def of(cls, hashes: np.ndarray, vectors: np.ndarray) -> "OwnVectors":
        """Return the vectors of phrases, rounded to 8 bits.

        Arguments:
            hashes: uint64[n].
            vectors: float[n, n_dimensions], of length 1.
        """
        return cls(hashes, *_quantised(vectors.astype(np.float32)))

    @classmethod
    def joined(cls, parts: "Sequence[OwnVectors]", n_dimensions: int) -> "OwnVectors":
        """Return the vectors of several such sets, in order of hashes.

        Arguments:
            parts: the sets; there may be none.
            n_dimensions: of their vectors.
        """
        none = cls.of(np.empty(0, np.uint64), np.empty((0, n_dimensions)))
        columns = [np.concatenate(column) for column in zip(none, *parts, strict=True)]
        order = np.argsort(columns[0], kind="stable")
        return cls(*(column[order] for column in columns))

    @classmethod
    def read(cls, artifact: storage.Artifact) -> "OwnVectors | None":
        """Return the phrases' vectors that a table keeps, mapped; None where it keeps none.

        Arguments:
            artifact: of the table.

        Raises:
            ArtifactError: the arrays differ in length.
        """
        if "phrase_hashes" not in artifact:
            return None
        return cls(*artifact.arrays(_OWN_ARRAYS).values())

    def write(self, writer: storage.ArtifactWriter) -> None:
        """Write the vectors into a table.

        Arguments:
            writer: of the table's artifact.
        """
        for name, values in zip(self._fields, self, strict=True):
            writer.add(f"phrase_{name}", values)


def _quantised(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (scales float32[n], vectors int8[n, dimensions]) of unit vectors."""
    whole = np.empty(vectors.shape, np.int8)
    squares = np.empty(len(vectors), np.int64)
    for begin in range(0, len(vectors), _ROWS_AT_ONCE):
        here = slice(begin, begin + _ROWS_AT_ONCE)
        block = vectors[here]
        largest = np.maximum(np.abs(block).max(axis=1, keepdims=True, initial=0), np.float32(1e-30))
        whole[here] = np.rint(block * (np.float32(127) / largest))
        squares[here] = np.square(whole[here].astype(np.int64)).sum(axis=1)
    return (1.0 / np.sqrt(np.maximum(squares, 1))).astype(np.float32), whole


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
        self._parts = parts

    @property
    def composes(self) -> bool:
        """Whether phrases are composed of their words."""
        return self._parts is not None

    def has_own(self, batch: PhraseBatch) -> np.ndarray:
        """Return whether each phrase's vector has a part of its own contexts, bool[n].

        Arguments:
            batch: n phrases.
        """
        if self._parts is None or not self._parts.hashes.size:
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
        parts, ends = self._parts, _ends(batch.text_lengths)
        has_words: np.ndarray = cut_composed(
            frozen(batch.text), frozen(ends), frozen(parts.hashes), parts.factors,
            frozen(parts.vectors), bits,
        )  # fmt: skip
        return has_words

    def compose(self, sums: np.ndarray, batch: PhraseBatch) -> np.ndarray:
        """Replace the sums of a batch of phrases by their vectors.

        Arguments:
            sums: float64[n, n_dimensions], overwritten.
            batch: n phrases.

        Returns:
            The share of its own contexts in each vector, uint8[n], in steps of 1 / 255.
        """
        parts = self._parts
        if parts is None:
            centre_rows(sums, self._centre)
            return np.full(len(sums), 255, np.uint8)
        sums[~self._composition.has_own(batch)] = 0.0
        centre_rows(sums, self._centre)
        shares: np.ndarray = compose_rows(
            sums, frozen(batch.text), frozen(_ends(batch.text_lengths)),
            frozen(batch.strengths.astype(np.uint64)), frozen(parts.hashes), frozen(parts.weights),
            parts.factors, frozen(parts.vectors), self._composition.rule,
            self._composition.spelling > 0 or self._composition.forms > 0,
        )  # fmt: skip
        return shares


def _ends(lengths: np.ndarray) -> np.ndarray:
    """Return where each text begins, and the end of the last; int64[n + 1].

    Arguments:
        lengths: integers[n], bytes of each text.
    """
    ends = np.zeros(lengths.size + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    return ends
