"""Packed texts, cut, joined, nested, with bytes behind, changed, blown up: all read, or refused.

gz, bz2, xz, zst with and without a checksum of its own. cut: every prefix. joined: every two of
them, one in another, skippable frames and zeros between, whatever bytes behind. flipped: every
byte of an archive changed; what is read then must be the text, or a sentence of refusal; of zst
without a checksum no reader can tell, so what it reads is counted apart. bombs: 256 MB of zeros,
of line ends and of one word again and again, through every reader of text: refused, in bounds.
"""

import bz2
import gzip
import lzma
import random
import resource
import struct
import time
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import zstandard

from tests.faults.frame import Budget, Case, Outcome, d, forked
from tests.faults.lines import KINDS, NAMES

_MOST_MAGIC = 6  # bytes by which a packing is known; what is cut before is read as text
_BOMB, _MEMBERS = 1 << 28, 16
_MOST_SECONDS, _MOST_BYTES = 150.0, 2 << 30  # half a microsecond a byte; some hold what is allowed
Pack = Callable[[bytes], bytes]


def _gz_with_everything(text: bytes) -> bytes:
    """A gz file whose header has extra bytes, a name, a comment and a checksum of its own."""
    head = b"\x1f\x8b\x08\x1e" + b"\0" * 4 + b"\0\x03" + struct.pack("<H", 4) + b"ab\0\0"
    head += b"name\0" + b"comment\0"
    head += struct.pack("<H", zlib.crc32(head) & 0xFFFF)
    packer = zlib.compressobj(wbits=-15)
    body = packer.compress(text) + packer.flush()
    return head + body + struct.pack("<II", zlib.crc32(text), len(text))


PACKED: dict[str, Pack] = {
    "gz": gzip.compress,
    "gz with a long header": _gz_with_everything,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
    "zst without checksum": zstandard.ZstdCompressor(write_checksum=False).compress,
}
_SKIPPABLE = b"\x50\x2a\x4d\x18" + struct.pack("<I", 5) + b"junk!"
_STREAMS: dict[str, Callable[[], Any]] = {
    "gz": lambda: zlib.compressobj(9, zlib.DEFLATED, 31),
    "bz2": bz2.BZ2Compressor,
    "xz": lzma.LZMACompressor,
    "zst": lambda: zstandard.ZstdCompressor().compressobj(),
}


def _read(file: Path, data: bytes) -> bytes | str | Exception:
    """Return the text, the sentence of refusal, or the exception that should not be."""
    from distsim.corpus.sources import find_sources, open_source

    file.write_bytes(data)
    try:
        with open_source(find_sources([file])[0]) as stream:
            return stream.read()
    except d.InputError as error:
        return str(error)
    except Exception as error:
        return error


class _Expecting:
    """Reads bytes and compares them with the text that is wanted."""

    def __init__(self, place: Path, draw: random.Random) -> None:
        self.file, self.outcome = place / "text", Outcome()
        self.text = "".join(f"line {i} {draw.random()}\n" for i in range(60)).encode()

    def expect(self, what: str, data: bytes, wanted: bytes | None) -> None:
        """Read; wanted: the text, None where it must be refused."""
        found = _read(self.file, data)
        self.outcome.counts["refused" if isinstance(found, str) else "read"] += 1
        is_right = isinstance(found, str) if wanted is None else found == wanted
        if not is_right:
            self.outcome.broken.append(f"{what}: {found!r:.200}")


def cut(place: Path, draw: random.Random, budget: Budget) -> Outcome:
    """Read every prefix of every archive."""
    reading = _Expecting(place, draw)
    for name, pack in PACKED.items():
        packed = pack(reading.text)
        reading.expect(f"{name}, whole", packed, reading.text)
        for at in range(_MOST_MAGIC, len(packed)):
            reading.expect(f"{name}, cut at {at}", packed[:at], None)
    return reading.outcome


def joined(place: Path, draw: random.Random, budget: Budget) -> Outcome:
    """Read archives one behind the other and one in the other, with bytes behind and between."""
    reading = _Expecting(place, draw)
    text, more = reading.text, b"more\n"
    for name, pack in PACKED.items():
        packed = pack(text)
        for _ in range(budget.kills):
            tail = draw.randbytes(draw.randrange(1, 40))
            wanted = None if tail.strip(b"\0") else text
            reading.expect(f"{name}, {tail!r} behind", packed + tail, wanted)
        reading.expect(f"{name}, zeros behind", packed + bytes(100_000), text)
        reading.expect(f"{name}, plain text behind", packed + text, None)
        reading.expect(f"{name}, nothing in it", pack(b""), b"")
        for other, pack_other in PACKED.items():
            second, what = pack_other(more), f"{name} and {other}"
            for between in (b"", _SKIPPABLE, bytes(512), bytes(3) + _SKIPPABLE):
                reading.expect(f"{what}, {between!r:.20} between", packed + between + second,
                               text + more)  # fmt: skip
            reading.expect(f"{other} in {name}", pack(second), second)
            reading.expect(f"{what}, and again", (packed + second) * 20, (text + more) * 20)
            for at in range(_MOST_MAGIC, len(second)):
                reading.expect(f"{what} cut at {at}", packed + second[:at], None)
    reading.expect("a skippable frame first", _SKIPPABLE + PACKED["zst"](text), text)
    return reading.outcome


def flipped(place: Path, draw: random.Random, budget: Budget) -> Outcome:
    """Change every byte of every archive once."""
    reading = _Expecting(place, draw)
    counts = reading.outcome.counts
    for name, pack in PACKED.items():
        packed = pack(reading.text)
        for at in range(len(packed)):
            changed = bytearray(packed)
            changed[at] ^= draw.randrange(1, 256)
            found = _read(reading.file, bytes(changed))
            if isinstance(found, str):
                counts["refused"] += 1
            elif found == reading.text:
                counts["the text all the same"] += 1
            elif at < _MOST_MAGIC:
                counts["no archive any more, taken for text"] += 1
            elif name == "zst without checksum":
                counts["zst without checksum: other text"] += 1
            else:
                reading.outcome.broken.append(f"{name}, byte {at}: {found!r:.200}")
    return reading.outcome


def bombs(kind: Any, name: str, place: Path, draw: random.Random, budget: Budget) -> Outcome:
    """Give a reader archives that unpack to a thousand times their size and more."""

    outcome, file = Outcome(), place / "bomb"
    reader = kind(place)[name]
    pieces = {
        "zeros": b"\0",
        "line ends": b"\n",
        "a word": b"the ",
        "good lines": reader.bomb or reader.good[0],
    }
    for what, piece in pieces.items():
        packing, new = draw.choice(list(_STREAMS.items()))  # below all readers they are one
        stream, block = new(), piece * ((1 << 20) // len(piece))
        pieces_of_member = [stream.compress(block) for _ in range((_BOMB // _MEMBERS) >> 20)]
        packed = (b"".join(pieces_of_member) + stream.flush()) * _MEMBERS
        file.write_bytes(packed)

        def read() -> int:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            begun = time.process_time()
            try:
                said = f"read {reader.read(file)!r:.40}"
            except d.DistsimError as error:
                said = f"refused: {error}"
            after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            print(f"{said}\t{time.process_time() - begun}\t{(after - before) << 10}")
            return 0

        ended = forked(read, patience=1200)
        told, seconds, memory = (ended.out.decode() + "\t0\t0").split("\t")[:3]
        how = f"{packing} of {what}, {len(packed):,} bytes"
        outcome.counts["refused" if told.startswith("refused") else "read"] += 1
        outcome.counts["MB at most"] = max(outcome.counts["MB at most"], int(memory) >> 20)
        outcome.check(ended.status == 0, f"{how}: exit {ended.status}: {ended.said[-300:]}")
        outcome.check(
            float(seconds) < _MOST_SECONDS and int(memory) < _MOST_BYTES,
            f"{how}: {seconds} CPU s, {int(memory) >> 20} MB: {told[:200]}",
        )
    return outcome


def cases() -> list[Case]:
    """Return what is done to archives, and every reader of text with bombs."""
    whole = (cut, joined, flipped)
    found = [Case(f"archives/{one.__name__}", one, (), one is joined) for one in whole]
    return found + [
        Case(f"bombs/{name}", partial(bombs, kind, name))
        for kind, names in zip(KINDS, NAMES, strict=True)
        for name in names
    ]
