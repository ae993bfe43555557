"""All words of the corpus with their numbers, in files that workers map.

Numbers go by frequency, the most frequent word first: so they are small where they are many, and
pack well. What is made of them names words by their text, so that numbers never show.
"""

import json
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import numpy as np

from distsim.cluster.plan import mapped, save
from distsim.contexts.kernels import ngram_counts as kernel
from distsim.corpus.inflections import language_of
from distsim.corpus.vocabulary import Vocabulary, hash_blob
from distsim.indexes.build import corpus_fingerprint
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import find_sorted, permute_texts
from distsim.storage.resumption import replacing

_TOTALS = "totals.json"


def ids_in_order(n: int) -> np.ndarray:
    """Return the ids 1 to n, uint32."""
    return np.arange(1, n + 1, dtype=np.uint32)


def sum_words(packets: Iterable[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Return summed words in order of hashes: text uint8, lengths, counts and appeared uint64.

    packets: arrays `text`, uint8, `lengths`, `counts` and `appeared` (the part << 32 | the word's
    number there), unsigned, of the words of each part. Of `appeared`, the lowest is returned.
    """
    texts, ends, counts = [np.empty(0, np.uint8)], [np.zeros(1, np.int64)], [np.empty(0, np.uint64)]
    appeared, n_bytes = [np.empty(0, np.uint64)], 0
    for arrays in packets:
        lengths = arrays["lengths"].astype(np.int64)
        texts.append(arrays["text"])
        ends.append(n_bytes + np.cumsum(lengths))
        counts.append(arrays["counts"].astype(np.uint64))
        appeared.append(arrays["appeared"])
        n_bytes += arrays["text"].size
    text, offsets = frozen(np.concatenate(texts)), frozen(np.concatenate(ends))
    hashes, first, row = np.unique(hash_blob(text, offsets), return_index=True, return_inverse=True)
    summed = np.zeros(hashes.size, np.uint64)
    np.add.at(summed, row, np.concatenate(counts))
    earliest = np.full(hashes.size, np.iinfo(np.uint64).max, np.uint64)
    np.minimum.at(earliest, row, np.concatenate(appeared))
    text, offsets = permute_texts(text, offsets, frozen(first))
    lengths = np.diff(offsets).astype(np.uint32)
    return {"text": text, "lengths": lengths, "counts": summed, "appeared": earliest}


class CorpusWords:
    """All words of a corpus, mapped from a folder.

    text: uint8, offsets: int64[n_words + 1], counts: uint64[n_words], by id, 0 the boundary.
    appearance: uint32[n_words], the id of each in the index of one machine, whose words are
    numbered in order of their first appearance.
    n_tokens, n_sentences: of the corpus. slots: the number of tokens that have another 1, 2 ...
    places away in their sentence.

    Arguments:
        folder: of the mapped arrays.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.text = mapped(folder / "text.npy")
        self.offsets = mapped(folder / "offsets.npy")
        self.counts = mapped(folder / "counts.npy")
        self.appearance = mapped(folder / "appearance.npy")
        totals = json.loads((folder / _TOTALS).read_text())
        self.n_tokens: int = totals["tokens"]
        self.n_sentences: int = totals["sentences"]
        self.slots: list[int] = totals["slots"]
        self.corpus: str = totals["corpus"]

    def __len__(self) -> int:
        return self.counts.size

    @cached_property
    def _sorted(self) -> tuple[np.ndarray, np.ndarray]:
        return mapped(self._folder / "hashes.npy"), mapped(self._folder / "ids.npy")

    @cached_property
    def by_appearance(self) -> Vocabulary:
        """The words as the vocabulary of one machine's index."""
        order = np.argsort(self.appearance)
        text, ends = permute_texts(self.text, self.offsets, frozen(order))
        hashes, ids = self._sorted
        return Vocabulary(text, ends.astype(np.uint64), hashes, self.appearance[ids])

    @cached_property
    def counts_by_appearance(self) -> np.ndarray:
        """How often each word occurs, uint64, by its id in one machine's index."""
        counts: np.ndarray = self.counts[np.argsort(self.appearance)]
        return counts

    def hash_phrases(
        self, words: np.ndarray, starts: np.ndarray, lengths: np.ndarray
    ) -> np.ndarray:
        """Return the hash of each phrase words[starts[i]:starts[i] + lengths[i]], uint64.

        Arguments:
            words: int64, word ids of all phrases end to end.
            starts, lengths: int64[n], where each phrase begins, and its number of words.
        """
        hashes: np.ndarray = kernel.hash_words(
            frozen(words), frozen(starts), frozen(lengths), self.text, self.offsets
        )
        return hashes

    @cached_property
    def language(self) -> str:
        """The name of the inflections of the corpus's language."""
        return language_of(hash_blob(self.text, self.offsets)[1:], self.counts[1:])

    def ids(self, hashes: np.ndarray) -> np.ndarray:
        """Return the id of the word with each hash, uint32; all must be known.

        hashes: uint64.
        """
        sorted_hashes, ids = self._sorted
        word_ids: np.ndarray = ids[find_sorted(sorted_hashes, frozen(hashes))]
        return word_ids

    @classmethod
    def gather(
        cls, folder: Path, ranges: Iterable[dict[str, np.ndarray]], n_tokens: int,
        n_sentences: int, slots: list[int],
    ) -> "CorpusWords":  # fmt: skip
        """Return the words of all ranges, written with their numbers.

        Arguments:
            folder: to which they are written.
            slots: the number of tokens that have another 1, 2 ... places away.
            ranges: the arrays that `sum_words` makes of each range, in order of hashes.
        """
        texts, lengths, counts = [np.empty(0, np.uint8)], [np.zeros(1, np.int64)], []
        appeared = []
        for arrays in ranges:
            texts.append(arrays["text"])
            lengths.append(arrays["lengths"].astype(np.int64))
            counts.append(arrays["counts"])
            appeared.append(arrays["appeared"])
        text, ends = np.concatenate(texts), np.cumsum(np.concatenate(lengths))
        all_counts = np.concatenate(counts)
        hashes = hash_blob(text, ends)
        order = np.argsort(-all_counts.astype(np.int64), kind="stable")
        ids = np.empty(order.size, np.uint32)
        ids[order] = ids_in_order(order.size)
        by_appearance = np.empty(order.size, np.uint32)
        by_appearance[np.argsort(np.concatenate(appeared))] = ids_in_order(order.size)
        text, ends = permute_texts(frozen(text), frozen(ends), frozen(order))
        nothing = np.zeros(1, np.uint64)
        save(folder / "text.npy", text)
        save(folder / "offsets.npy", np.concatenate([[0], ends]))
        save(folder / "counts.npy", np.concatenate([nothing, all_counts[order]]))
        save(folder / "appearance.npy", np.append(np.uint32(0), by_appearance[order]))
        save(folder / "hashes.npy", hashes)
        save(folder / "ids.npy", ids)
        totals = {
            "tokens": n_tokens,
            "sentences": n_sentences,
            "slots": slots,
            "corpus": corpus_fingerprint(hashes, all_counts, n_tokens, n_sentences),
        }
        with replacing(folder / _TOTALS) as part:
            part.write_text(json.dumps(totals))
        return cls(folder)
