"""Vocabularies: words numbered in order of first appearance, from 1; 0 is the sentence boundary."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np

from distsim.base.errors import ArtifactError
from distsim.corpus.normaliser import Normaliser
from distsim.corpus.tokeniser import Cut
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import (
    FINISHER,
    MULTIPLIER,
    START,
    find_ids,
    hash_pieces,
    number_hashes,
)
from distsim.storage import Artifact, StoredArray, start_array
from distsim.storage.reading import Declaration

BOUNDARY = 0
DROPPED = 0xFFFFFFFF  # in place of a word id: the token vanishes
_EMPTY_SLOT = 0xFFFFFFFF
_ALL_BITS = (1 << 64) - 1
_START, _MULTIPLIER, _FINISHER = int(START), int(MULTIPLIER), int(FINISHER)
_NO_PREFIX = frozen(np.empty(0, np.uint8))
# Texts or hashes that are looked up without a kernel: avoids importing numba.
_MAX_WITHOUT_KERNEL = 64


def hash_texts(texts: Sequence[bytes], prefix: bytes = b"") -> np.ndarray:
    """Return the stable 64-bit hash of prefix + text for every text, uint64.

    Arguments:
        texts: UTF-8.
        prefix: UTF-8.
    """
    if len(texts) <= _MAX_WITHOUT_KERNEL:
        return np.array([hash_text(prefix + text) for text in texts], np.uint64)
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return hash_blob(np.frombuffer(b"".join(texts), np.uint8), offsets, prefix)


def hash_text(text: bytes) -> int:
    """Return the hash of one short text as hash_texts does, without loading a kernel.

    Arguments:
        text: UTF-8.

    >>> hash_text(b"in spite of") == int(hash_texts([b"in spite of"])[0])
    True
    """
    state = _START
    for byte in text:
        state = (state ^ byte) * _MULTIPLIER & _ALL_BITS
        state ^= state >> 32
    state = state * _FINISHER & _ALL_BITS
    return state ^ (state >> 32)


def hash_blob(text: np.ndarray, offsets: np.ndarray, prefix: bytes = b"") -> np.ndarray:
    """Return the hash of prefix + text[offsets[i]:offsets[i + 1]] for every i, uint64.

    Arguments:
        text: uint8, texts end to end.
        offsets: int64[n + 1], where each text begins.
        prefix: bytes before each text.
    """
    start = frozen(np.frombuffer(prefix, np.uint8)) if prefix else _NO_PREFIX
    hashes: np.ndarray = hash_pieces(
        start, frozen(text), frozen(offsets.astype(np.int64, copy=False))
    )
    return hashes


class GrowingArray:
    """A one-dimensional array that is appended to in amortised constant time.

    Arguments:
        dtype: of its values.
    """

    def __init__(self, dtype: type) -> None:
        self._values: np.ndarray = np.empty(1024, dtype)
        self._size = 0

    def append(self, values: np.ndarray) -> None:
        """Append values.

        Arguments:
            values: of the array's dtype.
        """
        size = self._size + len(values)
        if size > self._values.size:
            grown = np.empty(max(size, 2 * self._values.size), self._values.dtype)
            grown[: self._size] = self._values[: self._size]
            self._values = grown
        self._values[self._size : size] = values
        self._size = size

    def view(self) -> np.ndarray:
        """Return the values appended so far, without a copy."""
        return self._values[: self._size]


class HashNumbering:
    """Numbering of 64-bit hashes in order of first appearance, from `first` on.

    Arguments:
        first: number of the first hash.
    """

    def __init__(self, first: int = 0) -> None:
        self._size = 0
        self._first = first
        self._keys = np.zeros(1 << 12, np.uint64)
        self._values = np.full(1 << 12, _EMPTY_SLOT, np.uint32)

    def __len__(self) -> int:
        return self._size

    def number(self, hashes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (number of every hash uint32, where each new one appears first int64).

        hashes: uint64.
        """
        self._reserve(self._size + hashes.size)
        first_seen = np.empty(hashes.size, np.int64)
        numbers, n_new = number_hashes(
            frozen(hashes), self._keys, self._values, self._first + self._size, first_seen
        )
        self._size += n_new
        return numbers, first_seen[:n_new].copy()

    def hashes(self) -> np.ndarray:
        """Return the hashes in order of their numbers, uint64."""
        used = self._values != _EMPTY_SLOT
        keys: np.ndarray = self._keys[used][np.argsort(self._values[used])]
        return keys

    def _reserve(self, size: int) -> None:
        if 2 * size <= self._keys.size:
            return
        hashes = self.hashes()
        capacity = 1 << (4 * size - 1).bit_length()
        self._keys = np.zeros(capacity, np.uint64)
        self._values = np.full(capacity, _EMPTY_SLOT, np.uint32)
        number_hashes(
            frozen(hashes), self._keys, self._values, self._first, np.empty(hashes.size, np.int64)
        )


class Vocabulary:
    """The words of an index, read-only, over mapped arrays.

    Arguments:
        text: uint8, the words' UTF-8 end to end; word 0 is empty.
        offsets: uint64[n_words + 1] into text.
        hashes: uint64[n_words - 1], sorted. hash_ids: uint32, the word of each hash.
    """

    ARRAYS: ClassVar[Declaration] = {
        "text": StoredArray(np.uint8),
        "offsets": start_array("words", "text"),
        "hashes": StoredArray(np.uint64, "words", -1, ascending="weakly"),
        "hash_ids": StoredArray(np.uint32, "words", -1, least=1, below="words"),
    }

    def __init__(
        self, text: np.ndarray, offsets: np.ndarray, hashes: np.ndarray, hash_ids: np.ndarray
    ) -> None:
        self.text = frozen(text)
        self.offsets = frozen(offsets)
        self._hashes = frozen(hashes)
        self._hash_ids = frozen(hash_ids)

    @classmethod
    def read(cls, artifact: Artifact, prefix: str) -> "Vocabulary":
        """Return the vocabulary of an artifact, mapped.

        Arguments:
            prefix: of its arrays' names.
        """
        return cls(**artifact.arrays(cls.ARRAYS, prefix))

    def __len__(self) -> int:
        return self.offsets.size - 1

    def word(self, number: int) -> str:
        """Return the word with this id; empty for the boundary.

        Arguments:
            number: the id.
        """
        start, stop = int(self.offsets[number]), int(self.offsets[number + 1])
        return bytes(self.text[start:stop]).decode(errors="replace")

    def words(self, numbers: np.ndarray) -> list[str]:
        """Return the words with these ids.

        Arguments:
            numbers: integers, ids.

        Raises:
            ArtifactError: one has no word, so what it was read from is damaged.
        """
        try:
            if len(numbers) <= _MAX_WITHOUT_KERNEL:
                return [self.word(int(number)) for number in numbers]
            places, text = np.asarray(numbers), self.text.tobytes()
            edges = self.offsets[places].tolist(), self.offsets[places + 1].tolist()
            return [text[a:b].decode(errors="replace") for a, b in zip(*edges, strict=True)]
        except IndexError:
            raise ArtifactError(
                f"a word has the number {int(max(numbers)):,}, the vocabulary has {len(self):,}: "
                "the artifact is damaged: restore it or make it again"
            ) from None

    def all_words(self) -> list[str]:
        """Return every word by id; that of the boundary is empty."""
        text, ends = self.text.tobytes(), self.offsets.tolist()
        return [text[a:b].decode(errors="replace") for a, b in pairwise(ends)]

    def without_letters(self) -> np.ndarray:
        """Return the ids of words without letter or digit, int64."""
        plain = np.array([chr(byte).isalnum() and byte < 0x80 for byte in range(256)])
        is_plain = np.append(plain[self.text], False)
        starts = np.minimum(self.offsets[1:-1].astype(np.int64), is_plain.size - 1)
        doubtful = np.flatnonzero(~np.logical_or.reduceat(is_plain, starts)) + 1
        spelt = [any(map(str.isalnum, word)) for word in self.words(doubtful)]
        ids: np.ndarray = doubtful[~np.array(spelt, bool)]
        return ids

    def find(self, hashes: np.ndarray) -> np.ndarray:
        """Return the id of the word with each hash, -1 where there is none; int64.

        hashes: uint64.
        """
        if hashes.size <= _MAX_WITHOUT_KERNEL and self._hashes.size:
            places = np.minimum(np.searchsorted(self._hashes, hashes), self._hashes.size - 1)
            ids: np.ndarray = self._hash_ids[places].astype(np.int64)
            return np.where((self._hashes[places] == hashes) & (ids < len(self)), ids, -1)
        ids = find_ids(self._hashes, self._hash_ids, len(self), frozen(hashes))
        return ids

    def number(self, word: str) -> int:
        """Return the id of one word, -1 where there is none, without a kernel.

        Arguments:
            word: in its normal form.
        """
        word_hash = hash_text(word.encode(errors="surrogatepass"))
        hashes, ids = self._searched
        place = bisect_left(hashes, word_hash)
        if place == len(hashes) or hashes[place] != word_hash or ids[place] >= len(self):
            return -1
        return ids[place]

    @cached_property
    def _searched(self) -> tuple[memoryview, memoryview]:
        """The hashes and their words' ids, as views whose items are Python's whole numbers."""
        return self._hashes.data, self._hash_ids.data

    def word_hashes(self, prefix: bytes = b"") -> np.ndarray:
        """Return the hash of prefix + word for every id, uint64.

        Arguments:
            prefix: bytes before each word.
        """
        return hash_blob(self.text, self.offsets, prefix)


class VocabularyBuilder:
    """Builder of a vocabulary, in order of first appearance; starts empty or from a vocabulary.

    Arguments:
        known: the vocabulary; empty where None.
    """

    def __init__(self, known: Vocabulary | None = None) -> None:
        self._numbering = HashNumbering(first=1)
        self._texts: list[bytes] = []
        self._lengths = GrowingArray(np.int64)
        self._hashes = GrowingArray(np.uint64)
        if known is None:
            self._lengths.append(np.zeros(1, np.int64))
            self._hashes.append(np.zeros(1, np.uint64))
        else:
            self._texts.append(known.text.tobytes())
            self._lengths.append(np.diff(known.offsets.astype(np.int64)))
            self._hashes.append(known.word_hashes())
            _, new = self._numbering.number(self._hashes.view()[1:])
            if new.size != len(known) - 1:  # later words would get the ids of others
                raise ArtifactError(
                    "the vocabulary is damaged (a word occurs in it twice): restore the index "
                    "or build it again"
                )

    def __len__(self) -> int:
        return len(self._numbering) + 1

    def add(self, words: Sequence[bytes]) -> np.ndarray:
        """Return the id of every word, numbering those that are new; uint32.

        Arguments:
            words: UTF-8.
        """
        hashes = hash_texts(words)
        ids, new = self._numbering.number(hashes)
        self._texts.extend(words[i] for i in new.tolist())
        self._hashes.append(hashes[new])
        self._lengths.append(np.array([len(words[i]) for i in new.tolist()], np.int64))
        return ids

    def hashes(self) -> np.ndarray:
        """Return the hash of every word by id, uint64."""
        return self._hashes.view()

    def texts(self, first: int) -> list[bytes]:
        """Return the words from id `first` on, of a builder that started empty.

        Arguments:
            first: word id.
        """
        return self._texts[first - 1 :]

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays of a Vocabulary by name."""
        offsets = np.concatenate([[0], np.cumsum(self._lengths.view())])
        hashes = self.hashes()[1:]
        order = np.argsort(hashes, kind="stable")
        return {
            "text": np.frombuffer(b"".join(self._texts), np.uint8),
            "offsets": offsets.astype(np.uint64),
            "hashes": hashes[order],
            "hash_ids": (order + 1).astype(np.uint32),
        }


class WordNumbering:
    """Converter of tokens as written to ids of normalised words.

    Each distinct token is normalised once, however often it occurs.

    Arguments:
        normaliser: of the tokens.
        vocabulary: to which new words are added.
    """

    def __init__(self, normaliser: Normaliser, vocabulary: VocabularyBuilder) -> None:
        self._normaliser = normaliser
        self._vocabulary = vocabulary
        self._written = HashNumbering()
        self._word_of_written = GrowingArray(np.uint32)

    def number(self, text: bytes, tokens: Cut) -> np.ndarray:
        """Return the word id of every token of a text, uint32; DROPPED where a token is dropped.

        Arguments:
            text: UTF-8.
            tokens: the text as cut.
        """
        written, new = self._written.number(tokens.hashes)
        spans = zip(tokens.starts[new].tolist(), tokens.stops[new].tolist(), strict=True)
        normal = self._normaliser.tokens([text[a:b] for a, b in spans])
        words = np.full(len(normal), DROPPED, np.uint32)
        stays = [i for i, word in enumerate(normal) if word]
        words[stays] = self._vocabulary.add([normal[i] for i in stays])
        self._word_of_written.append(words)
        ids: np.ndarray = self._word_of_written.view()[written]
        return ids
