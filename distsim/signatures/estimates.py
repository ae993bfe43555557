"""Estimates the cosines of phrases from a table; an *estimate* is `bits` or `restored`.

`bits`: cos(pi * Hamming distance / n_bits), thesis 5.2.3; all that a table without words' vectors
allows. `restored`, the default where a table stores its words' vectors, as learned ones do: the
cosine of vectors. Those of words are stored, and those of phrases with contexts of their own;
other phrases are weighted means of their words. The vector of a rare word, beyond those that
phrases are composed of, is restored from its bits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from distsim.base.arguments import EstimateName, one_of, utf8_phrase
from distsim.base.errors import ParameterError
from distsim.kernels.compiled import frozen
from distsim.signatures.composition import OwnVectors, PartVectors
from distsim.signatures.kernels.projection import cut_bits
from distsim.signatures.kernels.restored_vectors import (
    StoredVectors,
    TableColumns,
    cosine_of_texts,
    restore_vectors,
    restored_cosines,
)
from distsim.signatures.layout import BLOCK_ROWS, rendered

ESTIMATES: tuple[str, ...] = get_args(EstimateName)
_ROUNDING = 1e-6  # of the dot product of two float32 vectors of length 1


class PhraseSignatures(Protocol):
    """What is read of a table (`StoredTable`, which says what each is)."""

    path: Path
    bits: np.ndarray
    hashes: np.ndarray
    n_bits: int
    n_dimensions: int
    parts: PartVectors | None
    own_vectors: OwnVectors | None
    own_shares: np.ndarray | None

    @property
    def text_columns(self) -> tuple[np.ndarray, ...]: ...  # noqa: D102
    def normal_forms(self, phrases: Sequence[str]) -> list[str]: ...  # noqa: D102
    def find_rendered(self, text: np.ndarray, offsets: np.ndarray) -> np.ndarray: ...  # noqa: D102
    def vectors(self, phrases: str, *, of_words: Literal[True]) -> NDArray[Any]: ...  # noqa: D102


def check_estimate(estimate: str | None) -> None:
    """Refuse what is no estimate.

    Arguments:
        estimate: one of ESTIMATES; None: the table's default.

    Raises:
        ParameterError: there is no such estimate.
    """
    if estimate is not None:
        one_of(estimate, ESTIMATES, "`estimate`")


def estimate_by(table: PhraseSignatures, estimate: str | None) -> str:
    """Return which estimate a table gives: the one that is asked for, or else its default.

    Arguments:
        table: the table.
        estimate: `bits` or `restored`; None: `restored` where the table stores its words' vectors.

    Raises:
        ParameterError: there is no such estimate, or the table keeps no words' vectors for it.
    """
    check_estimate(estimate)
    has_vectors = table.parts is not None and table.own_shares is not None
    if estimate is None:
        return "restored" if has_vectors else "bits"
    if estimate != "bits" and not has_vectors:
        raise ParameterError(
            f"`estimate` {estimate}: {table.path} keeps no vectors of words: sign it again with "
            "the preset learned, or choose bits"
        )
    return estimate


@dataclass(frozen=True)
class KnownPhrases:
    """Bits and vectors of n phrases, stored in the table or composed, as far as they are known.

    Attributes:
        known: bool[n], whether anything is known.
        composed: bool[n], whether the phrase is made of its words alone.
        bits: uint64[n, n_bits / 64].
        vectors: float32[n, n_dimensions], of length 1; no rows where the estimate needs none.
        fidelities: float64[n], expected squared cosines of `vectors` with the true ones.
    """

    known: np.ndarray
    composed: np.ndarray
    bits: np.ndarray
    vectors: np.ndarray
    fidelities: np.ndarray

    @cached_property
    def signs(self) -> np.ndarray:
        """The bits as -1 or 1, float32[n, n_bits]."""
        bits = np.unpackbits(self.bits.view(np.uint8), axis=1, bitorder="little")
        return bits.astype(np.float32) * 2 - 1

    @property
    def unit_vectors(self) -> np.ndarray:
        """The vectors; by `bits`, which needs none, the signs of the bits, float32 of length 1."""
        if len(self.vectors) == len(self.bits):
            return self.vectors
        return self.signs / np.float32(np.sqrt(self.signs.shape[1]))

    def one(self, number: int) -> "KnownPhrases":
        """Return what is known of one phrase.

        Arguments:
            number: 0 to n - 1.
        """
        of_phrase = slice(number, number + 1)
        return KnownPhrases(
            self.known[of_phrase], self.composed[of_phrase], self.bits[of_phrase],
            self.vectors[of_phrase], self.fidelities[of_phrase],
        )  # fmt: skip

    def sum(self, signs: np.ndarray) -> "KnownPhrases":
        """Return what is known of the signed sum of all phrases' vectors, like that of one phrase.

        The expected error of the sum, what the bits lost, is the sum of the errors: 0 for stored
        vectors.

        Arguments:
            signs: float64[n], 1 or -1.

        Raises:
            ParameterError: the sum is zero.
        """
        fidelities = self.fidelities if self.fidelities.size else np.ones(signs.size)
        vectors = self.unit_vectors * (signs * np.sqrt(fidelities))[:, None]
        total, n_bits = vectors.sum(axis=0), self.signs.shape[1]
        square = float(total @ total)
        if square < _ROUNDING:
            raise ParameterError("the phrases cancel each other out: give others")
        of_bits = total[:n_bits].copy()
        ties = np.flatnonzero(of_bits == 0.0)  # of an even number of signs: to each side in turn
        of_bits[ties] = vectors[0, ties] * (-1.0) ** np.arange(ties.size)
        bits = np.packbits(of_bits > 0, bitorder="little").view(np.uint64)
        fidelity = square / (square + float((1.0 - fidelities).sum()))
        vector = (total / np.sqrt(square)).astype(np.float32)
        return KnownPhrases(
            np.ones(1, bool), np.full(1, self.composed.any()), bits[None, :], vector[None, :],
            np.array([fidelity]),
        )  # fmt: skip


class Estimator:
    """Estimates cosines of phrases of a table by `bits` or `restored`; may be shared by threads.

    Arguments:
        table: of the phrases.
        estimate: None: the table's default (`estimate_by`).

    Raises:
        ParameterError: there is no such estimate, or the table keeps no words' vectors for it.
    """

    def __init__(self, table: PhraseSignatures, estimate: str | None = None) -> None:
        self._table = table
        self.estimate = estimate_by(table, estimate)

    def of_phrases(self, phrases: Sequence[str], compose: bool = True) -> KnownPhrases:
        """Return what is known of phrases in their normal form.

        Arguments:
            compose: make those that are not in the table of their words.
            phrases: words separated by spaces.
        """
        text, ends = rendered(phrases)
        rows = self._table.find_rendered(text, ends)
        return self.of_rows(rows, text, ends[:-1], ends[1:], compose)

    def look_up(
        self, phrases: Sequence[str], compose: bool = True
    ) -> tuple[KnownPhrases, np.ndarray]:
        """Return what is known of distinct phrases, and the number of each given one in it.

        Arguments:
            phrases: n phrases as typed.
            compose: make those that are not in the table of their words.
        """
        distinct = list(dict.fromkeys(phrases))
        normal = self._table.normal_forms(distinct)
        texts = list(dict.fromkeys(normal))
        numbers = dict(zip(texts, range(len(texts)), strict=True))
        if distinct != texts:
            number_of_text = map(numbers.__getitem__, normal)
            numbers = dict(zip(distinct, number_of_text, strict=True))
        places = np.fromiter(map(numbers.__getitem__, phrases), np.int64, len(phrases))
        return self.of_phrases(texts, compose), places

    def cosine_of_table_phrases(self, a: str, b: str) -> float | None:
        """Return the estimate of a pair, NaN without one; None where one is not in the table.

        For the estimate `restored`: what `cosines` returns, in some microseconds.

        Arguments:
            a, b: phrases in their normal form.
        """
        first, second = utf8_phrase(a), utf8_phrase(b)
        text = np.frombuffer(first + second, np.uint8)
        cosine, are_known = cosine_of_texts(text, len(first), BLOCK_ROWS, *self._columns_of_table)
        if not are_known:
            return None
        return 1.0 if cosine > 1.0 - _ROUNDING else float(cosine)

    @cached_property
    def _columns_of_table(self) -> tuple[TableColumns, StoredVectors]:
        """The arrays of the table and of its vectors, as a kernel takes them."""
        table, parts = self._table, self._table.parts
        assert parts is not None and table.own_shares is not None
        own = table.own_vectors or OwnVectors.joined([], table.n_dimensions)
        words = parts.hashes, parts.factors, parts.vectors
        return (
            TableColumns(*map(frozen, (*table.text_columns, table.bits, table.own_shares))),
            StoredVectors(*map(frozen, (*own, *words))),
        )

    def of_rows(
        self,
        rows: np.ndarray,
        text: np.ndarray,
        begins: np.ndarray,
        ends: np.ndarray,
        compose: bool = True,
    ) -> KnownPhrases:
        """Return what is known of the phrases of rows.

        Arguments:
            rows: int64[n], of the table; -1 where a phrase is not there.
            text: their normal forms as UTF-8, text[begins[i]:ends[i]] each.
            compose: make those that are not there of their words.
            begins, ends: int64[n], half-open range of each phrase in text.
        """
        table, n = self._table, rows.size
        known = rows >= 0
        composed = np.zeros(n, bool)
        bits = np.zeros((n, table.bits.shape[1]), np.uint64)
        bits[known] = table.bits[rows[known]]
        vectors, fidelities = np.empty((0, table.n_dimensions), np.float32), np.empty(0)
        if self.estimate != "bits":
            of_table, stored = self._columns_of_table
            shares, hashes = np.zeros(n, np.uint8), np.zeros(n, np.uint64)
            shares[known] = of_table.shares[rows[known]]
            hashes[known] = of_table.hashes[rows[known]]
            vectors, fidelities = np.empty((n, table.n_dimensions), np.float32), np.empty(n)
            restore_vectors(
                frozen(text), frozen(begins), frozen(ends), frozen(hashes), frozen(bits),
                frozen(shares), stored, vectors, fidelities,
            )  # fmt: skip
            composed = ~known & (fidelities > 0.0) & compose
            known |= composed
            packed = np.packbits(vectors[composed, : table.n_bits] > 0, axis=1, bitorder="little")
            bits[composed] = packed.view(np.uint64)
        elif compose and table.parts is not None:
            for number in np.flatnonzero(~known).tolist():
                phrase = text[begins[number] : ends[number]].tobytes().decode()
                vector = table.vectors(phrase, of_words=True)
                composed[number] = not np.isnan(vector[0, 0])
                if composed[number]:
                    cut_bits(frozen(vector), bits[number : number + 1])
            known |= composed
        return KnownPhrases(known, composed, bits, vectors, fidelities)

    def of_vector(self, vector: np.ndarray) -> KnownPhrases:
        """Return what is known of a phrase with this vector and no error.

        Arguments:
            vector: float[n_dimensions], or float[n_bits] by `bits`.

        Raises:
            ParameterError: it is of another shape, 0 or no number in places.
        """
        floats, width = np.asarray(vector), self._table.n_bits
        if self.estimate != "bits":
            width = self._table.n_dimensions
        if floats.shape != (width,) or not np.issubdtype(floats.dtype, np.number):
            raise ParameterError(
                f"vector: is {floats.dtype}{list(floats.shape)}, wanted float[{width}], as "
                "table.vectors gives them"
            )
        length = float(np.linalg.norm(floats.astype(float)))
        if not 0.0 < length < np.inf:
            raise ParameterError(f"vector: has length {length:g}, wanted one above 0")
        unit = (floats / length).astype(np.float32)
        bits = np.packbits(unit[: self._table.n_bits] > 0, bitorder="little").view(np.uint64)
        vectors = np.empty((0, width), np.float32) if self.estimate == "bits" else unit[None, :]
        return KnownPhrases(
            np.ones(1, bool), np.zeros(1, bool), bits[None, :], vectors, np.ones(len(vectors))
        )

    def cosines(
        self, first: KnownPhrases, second: KnownPhrases, a: np.ndarray, b: np.ndarray
    ) -> np.ndarray:
        """Return the estimate of each pair of known phrases, float64: `first`[a], `second`[b].

        Arguments:
            first, second: known phrases.
            a, b: int64[n], indices into first and second.
        """
        out = np.empty(a.size)
        if self.estimate == "restored":
            restored_cosines(
                frozen(first.vectors), frozen(first.fidelities), frozen(second.vectors),
                frozen(second.fidelities), frozen(a), frozen(b), out,
            )  # fmt: skip
            out[out > 1.0 - _ROUNDING] = 1.0  # a phrase beside itself
            return out
        differences = first.bits[a] ^ second.bits[b]
        distances = np.bitwise_count(differences).sum(axis=1, dtype=np.int64)
        estimated: np.ndarray = cosines_of_distances(self._table.n_bits)[distances]
        return estimated


def estimated_cosine(distance: int, n_bits: int) -> float:
    """Return cos(pi * distance / n_bits), the cosine that a Hamming distance stands for.

    Thesis 5.2.3. At 256 bits the standard error is .098 near 0 and .03 at .9.

    Arguments:
        distance: Hamming distance, in bits.
        n_bits: number of bits of a signature.

    >>> estimated_cosine(0, 256)
    1.0
    """
    return math.cos(math.pi * distance / n_bits)


@cache
def cosines_of_distances(n_bits: int) -> np.ndarray:
    """Return the cosine that each Hamming distance stands for, float64[n_bits + 1].

    Arguments:
        n_bits: number of bits of a signature.
    """
    return frozen(np.array([estimated_cosine(d, n_bits) for d in range(n_bits + 1)]))
