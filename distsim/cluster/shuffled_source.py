"""Shuffled source: the summed packets of a range as a source of phrases for `sign`."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import zstandard

from distsim.cluster.plan import Plan
from distsim.cluster.words import CorpusWords
from distsim.contexts.phrase_store import CountedPhrases, PhraseStore, Selection
from distsim.contexts.sources.index import limits_of_words
from distsim.contexts.sources.source import CountedText, ThreadTask, TrainingLimits, parts_of
from distsim.contexts.weights import FeatureSpace
from distsim.storage.resumption import replacing

_LEVEL = 1
_LENGTH_BYTES = 8


def pack(**arrays: np.ndarray) -> bytes:
    """Return arrays of unsigned whole numbers as one packet.

    >>> packet = pack(ids=np.array([7, 300], np.uint32), counts=np.ones(2, np.uint64))
    >>> unpack(packet)["ids"]
    array([  7, 300], dtype=uint32)
    """
    head, body = [], []
    for name, values in arrays.items():
        largest = int(values.max(initial=0))
        n_planes = (largest.bit_length() + 7) // 8
        head.append([name, values.dtype.str, values.size, n_planes])
        for plane in range(n_planes):
            shift = values.dtype.type(8 * plane)
            body.append((values >> shift if plane else values).astype(np.uint8))
    text = json.dumps(head).encode()
    raw = b"".join([len(text).to_bytes(4, "little"), text, *map(np.ndarray.tobytes, body)])
    return zstandard.compress(raw, _LEVEL)


def unpack(packet: bytes | memoryview) -> dict[str, np.ndarray]:
    """Return the arrays of a packet by name.

    Arguments:
        packet: bytes, by `pack`.
    """
    raw = zstandard.decompress(packet)
    begin = 4 + int.from_bytes(raw[:4], "little")
    arrays = {}
    for name, dtype, size, n_planes in json.loads(raw[4:begin]):
        values = np.zeros(size, dtype)
        for plane in range(n_planes):
            read = np.frombuffer(raw, np.uint8, size, begin)
            values |= read.astype(dtype) << values.dtype.type(8 * plane)
            begin += size
        arrays[name] = values
    return arrays


def write_packets(path: Path, packets: Iterable[bytes]) -> None:
    """Write packets into a file in one step.

    Arguments:
        packets: their bytes.
    """
    with replacing(path) as part, open(part, "wb") as file:
        for packet in packets:
            file.write(len(packet).to_bytes(_LENGTH_BYTES, "little"))
            file.write(packet)


def read_packets(path: Path) -> Iterator[bytes]:
    """Yield the packets of a file."""
    with open(path, "rb") as file:
        while head := file.read(_LENGTH_BYTES):
            yield file.read(int.from_bytes(head, "little"))


class PacketsByRange:
    """A file with the packets of one part for every range.

    The file begins with where each range's packets begin, and ends with the packets.
    """

    @staticmethod
    def write(path: Path, pairs: Iterable[tuple[int, bytes]], n_ranges: int) -> None:
        """Write (range, packet) pairs."""
        by_range: list[list[bytes]] = [[] for _ in range(n_ranges)]
        for number, packet in pairs:
            by_range[number].append(len(packet).to_bytes(_LENGTH_BYTES, "little") + packet)
        sizes = [sum(map(len, packets)) for packets in by_range]
        starts = np.cumsum([8 * (n_ranges + 1), *sizes]).astype("<u8")
        with replacing(path) as part, open(part, "wb") as file:
            file.write(starts.tobytes())
            for packets in by_range:
                file.writelines(packets)

    @staticmethod
    def read(path: Path, number: int) -> Iterator[bytes]:
        """Yield the packets of a range."""
        with open(path, "rb") as file:
            file.seek(8 * number)
            start, stop = np.frombuffer(file.read(16), "<u8").tolist()
            file.seek(start)
            while file.tell() < stop:
                yield file.read(int.from_bytes(file.read(_LENGTH_BYTES), "little"))


def in_order(keys: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return keys in ascending order, uint64, with their counts.

    Where key and count fit into 64 bits together they are sorted as one number, which is several
    times faster than finding an order.

    Arguments:
        keys, counts: uint64[n] and int64[n].
    """
    if not keys.size:
        return keys, counts
    free = _trailing_zeros(keys)
    if int(counts.max()).bit_length() <= free:
        both = np.sort(keys | counts)
        mask = np.uint64((1 << free) - 1)
        return both & ~mask, both & mask
    order = np.argsort(keys, kind="stable")
    return keys[order], counts[order]


def _trailing_zeros(keys: np.ndarray) -> int:
    """Return how many low bits are 0 in all keys."""
    union = int(np.bitwise_or.reduce(keys))
    return 64 if union == 0 else (union & -union).bit_length() - 1


class ClusterText(CountedText):
    """A CountedText of the phrases of some ranges, with the marginals of the whole corpus.

    Arguments:
        plan: the work.
        words: of the whole corpus.
        space: of the features.
        blocks: gives the phrases that occur so often, in ascending order of their hashes.
        lowest: the least count of a selected phrase.
    """

    def __init__(
        self,
        plan: Plan,
        words: CorpusWords,
        space: FeatureSpace,
        lowest: int,
        blocks: "ContextBatches",
    ) -> None:
        self.model = plan.model.manifest()
        self.normaliser = plan.options.normaliser
        self.text_format = plan.options.text_format
        self.corpus = self.marginals = words.corpus
        self.n_tokens = words.n_tokens
        self.n_sentences = words.n_sentences
        self.space = space
        self._words = words
        self._lowest = lowest
        self._blocks = blocks

    @property
    def language(self) -> str:
        """The name of the inflections of the corpus's language."""
        return self._words.language

    def lowest_count(self, selection: Selection) -> int:
        """Return the lowest count that a selected phrase can have.

        Arguments:
            selection: selection of phrases; unused, since the run has fixed its minimum count.
        """
        return self._lowest

    def gather_marginals(self) -> None:
        """Do nothing: all words were counted before."""

    def training_limits(self, rows: int, features: int) -> TrainingLimits:
        """Return the training limits of the corpus: rows, features, minimum count.

        Arguments:
            rows: maximum number of rows.
            features: maximum number of features.
        """
        n_families = len(self.model["families"])
        return limits_of_words(self._words.counts[1:], n_families, rows, features)

    def parts(self, min_count: int, max_length: int) -> Iterator[ThreadTask]:
        """Yield the batches of all phrases, always in ascending order of their hashes.

        Arguments:
            min_count: phrases that occur less often are left out.
            max_length: tokens of a phrase.
        """
        words, space = self._words, self.space
        assert space is not None
        for block in self._blocks.counted(min_count):
            yield from parts_of(block, words.text, words.offsets, space, max_length)


class ContextBatches:
    """Interface: batches of phrases with summed contexts, which can be read again."""

    longest: int

    def counted(self, min_count: int) -> Iterator[CountedPhrases]:
        """Yield the phrases that occur at least `min_count` times, in ascending order of hashes.

        Arguments:
            min_count: minimum number of occurrences.
        """
        raise NotImplementedError


class StoredBlocks(ContextBatches):
    """Packets of a range, summed within a memory budget.

    Arguments:
        words: of the whole corpus.
        longest: tokens of a phrase.
        folder: for files.
        memory: bytes.
        packets: what parts say of phrases: `lengths` in tokens, `words` end to end, by id,
            `strengths`, `sizes`: how many features each has; `features`, `counts`.
    """

    def __init__(
        self, packets: Iterable[bytes], words: CorpusWords, longest: int, folder: Path, memory: int
    ) -> None:
        self.longest = longest
        self._store = PhraseStore(longest, folder, memory)
        for packet in packets:
            arrays = unpack(packet)
            lengths = arrays["lengths"].astype(np.int64)
            starts = np.cumsum(lengths) - lengths
            spelt = arrays["words"], starts, lengths
            hashes = words.hash_phrases(*spelt)
            self._store.add_phrases(hashes, *spelt, arrays["strengths"].astype(np.uint64))
            self._store.add_contexts(
                np.repeat(hashes, arrays["sizes"]), arrays["features"], arrays["counts"]
            )

    def counted(self, min_count: int) -> Iterator[CountedPhrases]:
        """Yield the phrases that occur `min_count` times or more, in ascending order of hashes.

        Arguments:
            min_count: minimum number of occurrences.
        """
        return self._store.blocks(min_count)

    def close(self) -> None:
        """Free the memory and the temporary files."""
        self._store.close()


class SummedBlocks(ContextBatches):
    """Words with contexts that were summed before, in order of hashes.

    Arguments:
        words: of the whole corpus.
        packets: gives the packets; called as often as they are needed.
    """

    longest = 1

    def __init__(self, packets: Callable[[], Iterator[bytes]], words: CorpusWords) -> None:
        self._packets = packets
        self._words = words

    def counted(self, min_count: int) -> Iterator[CountedPhrases]:
        """Yield the phrases that occur `min_count` times or more, in ascending order of hashes.

        Arguments:
            min_count: minimum number of occurrences.
        """
        for packet in self._packets():
            arrays = unpack(packet)
            frequent = np.flatnonzero(arrays["strengths"] >= min_count)
            sizes = arrays["sizes"].astype(np.int64)
            is_frequent = np.zeros(sizes.size, bool)
            is_frequent[frequent] = True
            entries = np.repeat(is_frequent, sizes)
            lengths = np.ones(frequent.size, np.int64)
            hashes = self._words.hash_phrases(arrays["words"], frequent, lengths)
            yield CountedPhrases(
                hashes, arrays["words"][frequent, None], lengths, arrays["strengths"][frequent],
                np.concatenate([[0], np.cumsum(sizes[frequent])]),
                arrays["features"][entries], arrays["counts"][entries],
            )  # fmt: skip
