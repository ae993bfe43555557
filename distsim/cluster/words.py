"""All words of the corpus with their numbers, in files that workers map.

Numbers go by frequency, the most frequent word first: so they are small where they are many, and
pack well. What is made of them names words by their text, so that numbers never show.
"""

import json
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import numpy as np

from distsim.cluster.shared_files import mapped, replacing, save
from distsim.contexts.kernels import spellings as kernel
from distsim.corpus.language import language_of
from distsim.corpus.vocabulary import hash_blob
from distsim.indexes.build import corpus_fingerprint
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import find_sorted
from distsim.kernels.tables import permute_texts

_TOTALS = "totals.json"


def sum_words(packets: Iterable[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Return summed words in order of hashes: text uint8, ends and counts uint64.

    packets: arrays `text`, uint8, `lengths` and `counts`, unsigned, of the words of each part.
    """
    texts, ends, counts = [np.empty(0, np.uint8)], [np.zeros(1, np.int64)], [np.empty(0, np.uint64)]
    n_bytes = 0
    for one in packets:
        lengths = one["lengths"].astype(np.int64)
        texts.append(one["text"])
        ends.append(n_bytes + np.cumsum(lengths))
        counts.append(one["counts"].astype(np.uint64))
        n_bytes += one["text"].size
    text, offsets = frozen(np.concatenate(texts)), frozen(np.concatenate(ends))
    hashes, first, row = np.unique(hash_blob(text, offsets), return_index=True, return_inverse=True)
    summed = np.zeros(hashes.size, np.uint64)
    np.add.at(summed, row, np.concatenate(counts))
    text, offsets = permute_texts(text, offsets, frozen(first))
    return {"text": text, "lengths": np.diff(offsets).astype(np.uint32), "counts": summed}


class CorpusWords:
    """All words of a corpus, mapped from a folder.

    text: uint8, offsets: int64[n_words + 1], counts: uint64[n_words], by id, 0 the boundary.
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

    def hash_phrases(
        self, words: np.ndarray, starts: np.ndarray, lengths: np.ndarray
    ) -> np.ndarray:
        """Return the hash of each phrase words[starts[i]:starts[i] + lengths[i]], uint64.

        Arguments:
            words: int64, word ids of all phrases end to end.
            starts, lengths: int64[n], where each phrase begins, and its number of words.
        """
        found: np.ndarray = kernel.hash_words(
            frozen(words), frozen(starts), frozen(lengths), self.text, self.offsets
        )
        return found

    @cached_property
    def language(self) -> str:
        """The name of the inflections of the corpus's language."""
        return language_of(hash_blob(self.text, self.offsets)[1:], self.counts[1:])

    def ids(self, hashes: np.ndarray) -> np.ndarray:
        """Return the id of the word with each hash, uint32; all must be known.

        hashes: uint64.
        """
        sorted_hashes, ids = self._sorted
        found: np.ndarray = ids[find_sorted(sorted_hashes, frozen(hashes))]
        return found

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
        for one in ranges:
            texts.append(one["text"])
            lengths.append(one["lengths"].astype(np.int64))
            counts.append(one["counts"])
        text, ends = np.concatenate(texts), np.cumsum(np.concatenate(lengths))
        all_counts = np.concatenate(counts)
        hashes = hash_blob(text, ends)
        order = np.argsort(-all_counts.astype(np.int64), kind="stable")
        ids = np.empty(order.size, np.uint32)
        ids[order] = np.arange(1, order.size + 1, dtype=np.uint32)
        text, ends = permute_texts(frozen(text), frozen(ends), frozen(order))
        nothing = np.zeros(1, np.uint64)
        save(folder / "text.npy", text)
        save(folder / "offsets.npy", np.concatenate([[0], ends]))
        save(folder / "counts.npy", np.concatenate([nothing, all_counts[order]]))
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
