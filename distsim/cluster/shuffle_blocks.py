"""Packets: the arrays of one part of a corpus for one range of hashes, as bytes.

An engine moves (range, packet) pairs, some thousands a gigabyte, and never sees a phrase. Whole
numbers are stored byte by byte, all lowest bytes first, and without the bytes that are 0 in all of
them: so they pack well.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import zstandard

from distsim.cluster.shared_files import replacing

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
        most = int(values.max(initial=0))
        n_planes = (most.bit_length() + 7) // 8
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
