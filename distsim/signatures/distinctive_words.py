"""Distinctive words of a table's phrases, by which repetitive neighbours are recognised.

The core of a phrase is its words without those that make up more than a thousandth of the text,
unless it has no others; punctuation alone is its own core. An inflected form stands there as its
base word, where `sign` stored the rules of the text's language.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from distsim.base.arguments import Pair
from distsim.corpus.inflections import LEAST_ALIKE, NONE, RAREST_BASE, Inflections, base_words
from distsim.corpus.vocabulary import GrowingArray, HashNumbering, hash_texts
from distsim.kernels.arrays import places_of_ranges
from distsim.kernels.compiled import frozen
from distsim.signatures.kernels import distinctive_words as kernel
from distsim.signatures.table import StoredTable

_COMMON_SHARE = 1 / 1000
_LEAST_COHESION = 4.0
_NEARLY_ALL = 0.8  # of a phrase's occurrences, in a longer one
_MAX_DESCRIBED = 1 << 19  # rows of which is kept what was found, of some 80 bytes
_MAX_FORM_STEPS = 3  # from a form to its base word: buildings, building, build


@dataclass(frozen=True)
class Cores:
    """The cores of some rows of a table, as sparse rows: distinctive tokens, or else the words.

    starts: int64[n + 1], the first word of each core. words: uint64, hashes of base words,
    ascending within a core. keys: uint64, equal for equal cores of the same forms. bare: uint8,
    whether a phrase neither begins nor ends with punctuation. strengths, tokens: int64,
    occurrences and number of tokens of each row. plain: bool, whether no token is distinctive.
    fragments: bool, whether a phrase of several tokens is a piece of text by chance, as `_pieces`
    tells it, or stands nearly always in one of the other rows.
    """

    starts: np.ndarray
    words: np.ndarray
    keys: np.ndarray
    bare: np.ndarray
    strengths: np.ndarray
    tokens: np.ndarray
    plain: np.ndarray
    fragments: np.ndarray


class _DescribedRows(NamedTuple):
    """What rows of a table have by themselves, an array of each.

    begins, sizes: int64, where the words of the core begin, and their number. keys, bare, plain:
    as of Cores. by_chance, behind, before: as `_pieces` returns them.
    """

    begins: Any
    sizes: Any
    keys: Any
    bare: Any
    plain: Any
    by_chance: Any
    behind: Any
    before: Any


_DTYPES = (np.int64, np.int64, np.uint64, np.uint8, bool, bool, np.int64, np.int64)


class DistinctiveWords:
    """Finds the distinctive words of a table's phrases; computed once a table.

    Arguments:
        table: the table.
    """

    def __init__(self, table: StoredTable) -> None:
        self._table = table
        self._bases: dict[str, str] = {}
        self._forget()
        self._lock = Lock()

    @cached_property
    def _inflections(self) -> Inflections | None:
        """The rules by which the table's finder knows forms; None where it has none that ship."""
        name = self._table.inflections
        return None if name in (None, NONE) else Inflections.open(name)

    @cached_property
    def tokens(self) -> np.ndarray:
        """The number of tokens of every row's phrase, uint16."""
        return frozen(self._table.token_counts())

    @cached_property
    def n_words(self) -> int:
        """Occurrences of words in the text behind the table."""
        return int(self._table.strengths[self.tokens == 1].sum(dtype=np.int64))

    def cores(self, rows: np.ndarray) -> Cores:
        """Return the cores of some rows; what a row has by itself is found once.

        Arguments:
            rows: int64[n].
        """
        with self._lock:
            self._describe_rows(rows)
            slots = self._slots[rows] - 1
            of_rows = _DescribedRows(*(column.view()[slots] for column in self._rows))
            places = places_of_ranges(of_rows.begins, of_rows.sizes)
            words = self._words.view()[places]
            if self._rows.keys.view().size > _MAX_DESCRIBED:
                self._forget()
        n_tokens = self.tokens[rows].astype(np.int64)
        wholes = np.concatenate([of_rows.behind, of_rows.before])
        in_longer = (n_tokens > 1) & np.isin(rows, wholes[wholes >= 0])
        starts = np.concatenate([[0], np.cumsum(of_rows.sizes)])
        arrays = (
            starts, words, of_rows.keys, of_rows.bare, self._table.strengths[rows].astype(np.int64),
            n_tokens, of_rows.plain, of_rows.by_chance | in_longer,
        )  # fmt: skip
        return Cores(*map(frozen, arrays))

    def describe(self, rows: np.ndarray) -> None:
        """Find what `cores` needs of rows that it will be asked for, in less time for many at once.

        Arguments:
            rows: int64[n].
        """
        with self._lock:
            self._describe_rows(rows)

    def _describe_rows(self, rows: np.ndarray) -> None:
        """Note what rows have by themselves that were not asked for yet; the caller has the lock.

        Arguments:
            rows: int64[n].
        """
        rows = np.unique(rows[self._slots[rows] == 0])
        if not rows.size:
            return
        try:
            self._describe_new_rows(rows)
        except BaseException:
            self._forget()
            raise

    def _describe_new_rows(self, rows: np.ndarray) -> None:
        """Note what some rows, each once and not described yet, have by themselves.

        Arguments:
            rows: int64[n].
        """
        n_tokens = frozen(self.tokens[rows].astype(np.int64))
        text, *edges = self._table.edges(rows)
        starts, hashes, begins, ends = kernel.hash_tokens(text, *edges, n_tokens)
        bases, is_word, is_distinctive, of_tokens = map(
            frozen, self._describe_tokens(hashes, text, begins, ends)
        )
        core_starts, words, keys, bare = kernel.gather_cores(
            frozen(starts), frozen(hashes), is_distinctive, is_word
        )
        if self._inflections is not None:
            core_starts, words = kernel.gather_cores(
                frozen(starts), bases, is_distinctive, is_word
            )[:2]
        plain = np.bitwise_or.reduceat(is_distinctive, starts[:-1]) == 0
        pieces = self._pieces(rows, (starts, is_word, of_tokens), text, begins, ends)
        begins_of_cores = core_starts[:-1] + self._words.view().size
        columns = begins_of_cores, np.diff(core_starts), keys, bare, plain, *pieces
        first = self._rows.keys.view().size
        for column, values in zip(self._rows, columns, strict=True):
            column.append(values)
        self._words.append(words)
        self._slots[rows] = np.arange(first + 1, first + rows.size + 1)

    def _pieces(
        self, rows: np.ndarray, tokens: tuple[np.ndarray, ...], text: np.ndarray,
        begins: np.ndarray, ends: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
        """Return what tells that phrases are pieces of text that happen to stand together.

        bool[n], whether a phrase is less than _LEAST_COHESION times as frequent as if the first
        token and the rest were independent, or the last one and what is before it (`and to`).
        int64[n] twice, the row of what is behind the first word of a phrase, and of what is before
        the last, where it stands nearly always in this phrase (`deputy prime`); -1 elsewhere.
        Words are no pieces, nor phrases of which parts are not in the table.

        Arguments:
            rows: int64[n].
            tokens: int64[n + 1], the first token of each phrase; by token uint8, whether it is a
                word, and int64, its row or -1.
            text: uint8. begins, ends: int64, half-open range of each token in the text.
        """
        starts, is_word, of_tokens = tokens
        by_chance, wholes = np.zeros(rows.size, bool), np.full((2, rows.size), -1, np.int64)
        several = np.flatnonzero(np.diff(starts) > 1)
        first, last = starts[several], starts[several + 1] - 1
        head, behind, before, tail = (of_tokens[at] for at in (first, last, first, last))
        longer = np.flatnonzero(last - first > 1)
        without_first = begins[first[longer] + 1], ends[last[longer]]
        without_last = begins[first[longer]], ends[last[longer] - 1]
        behind[longer], before[longer] = self._rows_of(text, *without_first, *without_last)
        pieces = np.stack([head, behind, before, tail])
        counts = np.where(pieces < 0, 0, self._table.strengths[pieces]).astype(np.float64)
        own = self._table.strengths[rows[several]].astype(np.int64)
        expected = np.maximum(counts[0] * counts[1], counts[2] * counts[3]) / max(self.n_words, 1)
        by_chance[several] = own < _LEAST_COHESION * expected
        is_behind = (is_word[first] != 0) & (own >= _NEARLY_ALL * counts[1])
        is_before = (is_word[last] != 0) & (own >= _NEARLY_ALL * counts[2])
        wholes[0, several[is_behind]] = behind[is_behind]
        wholes[1, several[is_before]] = before[is_before]
        return by_chance, *wholes

    def _rows_of(self, text: np.ndarray, *edges: np.ndarray) -> np.ndarray:
        """Return the rows of ranges of a text, -1 where there is none; int64[m, n].

        Arguments:
            text: uint8.
            edges: int64[n] each, where ranges begin and end, m times one after the other.
        """
        begins, ends = np.concatenate(edges[::2]), np.concatenate(edges[1::2])
        offsets = np.concatenate([[0], np.cumsum(ends - begins)])
        at = places_of_ranges(begins, ends - begins)
        rows = self._table.find_rendered(frozen(text[at]), frozen(offsets))
        return rows.reshape(len(edges) // 2, -1)

    def _describe_tokens(
        self, hashes: np.ndarray, text: np.ndarray, begins: np.ndarray, ends: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Return hashes of base words, uint64[n]; whether each is a word, and distinctive, uint8.

        And the rows of the tokens in the table, int64, -1 where there is none.

        Found once a token; the caller has the lock.

        Arguments:
            hashes: uint64[n], of tokens.
            text: uint8. begins, ends: int64[n], half-open range of each token in it.
        """
        numbers, new = self._numbering.number(hashes)
        if new.size:
            columns = self._describe_new(text, begins[new], ends[new])
            for column, values in zip(self._tokens, columns, strict=True):
                column.append(values)
        return tuple(column.view()[numbers] for column in self._tokens)

    def _describe_new(
        self, text: np.ndarray, begins: np.ndarray, ends: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Return what `_describe_tokens` does of tokens that were not asked for before."""
        edges = zip(begins.tolist(), ends.tolist(), strict=True)
        tokens = [text[a:b].tobytes().decode(errors="replace") for a, b in edges]
        is_word = np.array([_is_word(token) for token in tokens], np.uint8)
        rows = self._table.find_normal(tokens)
        return self._base_hashes(tokens), is_word, self._are_distinctive(rows) & is_word, rows

    def _forget(self) -> None:
        """Start anew with the tokens and rows that were looked up."""
        self._numbering = HashNumbering()
        self._tokens = tuple(
            GrowingArray(dtype) for dtype in (np.uint64, np.uint8, np.uint8, np.int64)
        )
        self._slots = np.zeros(len(self._table), np.int32)  # 0: not described yet
        self._rows = _DescribedRows(*map(GrowingArray, _DTYPES))
        self._words = GrowingArray(np.uint64)

    def core(self, phrase: str) -> tuple[np.ndarray, np.ndarray]:
        """Return (the core of a phrase, all its words): hashes of base words, uint64, ascending.

        Arguments:
            phrase: in its normal form.
        """
        tokens = phrase.split(" ")
        words = [token for token in tokens if _is_word(token)]
        distinctive = self._are_distinctive(self._table.find_normal(words))
        core = [token for token, tells in zip(words, distinctive.tolist(), strict=True) if tells]
        own = self._base_hashes(core or words or tokens)
        return np.unique(own), np.unique(self._base_hashes(tokens))

    def _base_hashes(self, tokens: list[str]) -> np.ndarray:
        """Return the hash of each token's base word, uint64."""
        for _ in range(_MAX_FORM_STEPS if self._inflections is not None else 0):
            self._learn_bases(dict.fromkeys(tokens))
            tokens = [self._bases[token] for token in tokens]
        return hash_texts([token.encode() for token in tokens])

    def _learn_bases(self, tokens: Iterable[str]) -> None:
        """Find the words of which tokens are forms: the most frequent that is like the form."""
        assert self._inflections is not None
        rules = self._inflections
        candidates = {
            form: rules.candidates(form, bool) for form in tokens if form not in self._bases
        }
        if not candidates:
            return
        words = list(dict.fromkeys(chain(candidates, *candidates.values())))
        rows = self._table.find_normal(words)
        strengths = np.where(rows >= 0, self._table.strengths[rows].astype(np.int64), 0).tolist()
        counts = dict(zip(words, strengths, strict=True))
        self._bases |= base_words(
            candidates,
            counts.__getitem__,
            lambda base, form: (
                counts[base] > 0
                and counts[base] * RAREST_BASE >= counts[form]
                and form in rules.forms(base)
            ),
            self._alike,
        )

    def _alike(self, pairs: list[Pair]) -> list[Pair]:
        """Return the pairs of words that may be forms of one; also where it is unknown."""
        parts = self._table.parts
        if parts is None or not pairs:
            return pairs
        first, second = (parts.find(list(words)) for words in zip(*pairs, strict=True))
        a, b = (parts.unit_vectors(rows) for rows in (first, second))
        are_alike = ((a * b).sum(axis=1) >= LEAST_ALIKE) | (first < 0) | (second < 0)
        return list(compress(pairs, are_alike.tolist()))

    def _are_distinctive(self, rows: np.ndarray) -> np.ndarray:
        """Return whether the words of some rows, or of none, are rare enough in the text; uint8."""
        common = self._table.strengths[np.maximum(rows, 0)] > self.n_words * _COMMON_SHARE
        return np.where(rows < 0, True, ~common).astype(np.uint8)


def _is_word(token: str) -> bool:
    return token.isalnum() or any(c.isalnum() for c in token)
