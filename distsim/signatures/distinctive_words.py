"""Distinctive words of a table's phrases, by which repetitive neighbours are recognised.

The core of a phrase is its words without those that make up more than a thousandth of the text,
unless it has no others; punctuation alone is its own core.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from distsim.corpus.vocabulary import hash_texts
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import number_hashes
from distsim.signatures.kernels import distinctive_words as kernel
from distsim.signatures.table import StoredTable

_COMMON_SHARE = 1 / 1000


@dataclass(frozen=True)
class Cores:
    """The cores of some rows of a table, as sparse rows: distinctive tokens, or else the words.

    starts: int64[n + 1], the first word of each core. words: uint64, hashes, ascending within a
    core.
    keys: uint64, equal for equal cores. bare: uint8, whether a phrase neither begins nor ends with
    punctuation. strengths, tokens: int64, occurrences and number of tokens of each row.
    """

    starts: np.ndarray
    words: np.ndarray
    keys: np.ndarray
    bare: np.ndarray
    strengths: np.ndarray
    tokens: np.ndarray


class DistinctiveWords:
    """Finds the distinctive words of a table's phrases; computed once a table.

    Arguments:
        table: the table.
    """

    def __init__(self, table: StoredTable) -> None:
        self._table = table

    @cached_property
    def tokens(self) -> np.ndarray:
        """The number of tokens of every row's phrase, uint16."""
        return frozen(self._table.token_counts())

    @cached_property
    def n_words(self) -> int:
        """Occurrences of words in the text behind the table."""
        return int(self._table.strengths[self.tokens == 1].sum(dtype=np.int64))

    def cores(self, rows: np.ndarray) -> Cores:
        """Return the cores of some rows.

        Arguments:
            rows: int64[n].
        """
        n_tokens = frozen(self.tokens[rows].astype(np.int64))
        text, *edges = self._table.edges(rows)
        starts, hashes, begins, ends = kernel.hash_tokens(text, *edges, n_tokens)
        slots = 1 << max(4, (2 * hashes.size).bit_length())
        keys, values = np.zeros(slots, np.uint64), np.full(slots, 0xFFFFFFFF, np.uint32)
        first_seen = np.empty(hashes.size, np.int64)
        numbers, n = number_hashes(frozen(hashes), keys, values, 0, first_seen)
        first = first_seen[:n]
        tokens = [
            text[begin:end].tobytes().decode(errors="replace")
            for begin, end in zip(begins[first].tolist(), ends[first].tolist(), strict=True)
        ]
        is_word = np.array([_is_word(token) for token in tokens], np.uint8)
        distinctive = self._are_distinctive(tokens) & is_word
        found = kernel.gather_cores(
            frozen(starts), frozen(hashes), frozen(distinctive[numbers]), frozen(is_word[numbers])
        )
        strengths = self._table.strengths[rows].astype(np.int64)
        return Cores(*map(frozen, (*found, strengths, n_tokens)))

    def core(self, phrase: str) -> np.ndarray:
        """Return the core of a phrase: hashes of its distinctive words, uint64, ascending.

        Arguments:
            phrase: in its normal form.
        """
        tokens = phrase.split(" ")
        words = [token for token in tokens if _is_word(token)]
        distinctive = self._are_distinctive(words)
        core = [token for token, tells in zip(words, distinctive.tolist(), strict=True) if tells]
        return np.unique(hash_texts([token.encode() for token in core or words or tokens]))

    def _are_distinctive(self, tokens: list[str]) -> np.ndarray:
        """Return whether each is rare enough in the text; uint8."""
        rows = self._table.find_normal(tokens)
        common = self._table.strengths[np.maximum(rows, 0)] > self.n_words * _COMMON_SHARE
        return np.where(rows < 0, True, ~common).astype(np.uint8)


def _is_word(token: str) -> bool:
    return token.isalnum() or any(c.isalnum() for c in token)
