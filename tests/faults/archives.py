"""Packed texts, cut, joined, nested, with bytes behind, changed, blown up: all read, or refused.

    python -m tests.faults.archives [cut joined flipped bombs] [--seed 1]

gz, bz2, xz, zst with and without a checksum of its own. cut: every prefix. joined: every two of
them, one in another, skippable frames and zeros between, whatever bytes behind. flipped: every
byte of an archive changed; what is read then must be the text, or a sentence of refusal; of zst
without a checksum no reader can tell, so what it reads is counted apart. bombs: 256 MB of zeros
in each, under limits, with the time and the memory that it took. Peers: none.
"""

import bz2
import gzip
import lzma
import random
import resource
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import zstandard

from tests.faults import frame as common
from tests.faults.frame import Outcome

_MOST_MAGIC = 6  # bytes by which a packing is known; what is cut before is read as text
_BOMB = 1 << 28
_MOST_SECONDS, _MOST_BYTES = 20.0, 64 << 20  # for a bomb


def _gz_with_everything(text: bytes) -> bytes:
    """A gz file whose header has extra bytes, a name, a comment and a checksum of its own."""
    head = b"\x1f\x8b\x08\x1e" + b"\0" * 4 + b"\0\x03" + struct.pack("<H", 4) + b"ab\0\0"
    head += b"name\0" + b"comment\0"
    head += struct.pack("<H", zlib.crc32(head) & 0xFFFF)
    packer = zlib.compressobj(wbits=-15)
    body = packer.compress(text) + packer.flush()
    return head + body + struct.pack("<II", zlib.crc32(text), len(text))


Pack = Callable[[bytes], bytes]
PACKED: dict[str, Pack] = {
    "gz": gzip.compress,
    "gz with a long header": _gz_with_everything,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
    "zst without checksum": zstandard.ZstdCompressor(write_checksum=False).compress,
}
_SKIPPABLE = b"\x50\x2a\x4d\x18" + struct.pack("<I", 5) + b"junk!"


class Reading:
    """Writes bytes into a file and reads its text as the product does."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.outcome = Outcome()

    def read(self, data: bytes, keeps: bool = True) -> bytes | str | Exception:
        """Return the text, the sentence of refusal, or the exception that should not be.

        keeps: the text; nothing of it is held otherwise.
        """
        from distsim.base.errors import InputError
        from distsim.corpus.sources import find_sources, open_source

        self._file.write_bytes(data)
        try:
            with open_source(find_sources([self._file])[0]) as stream:
                pieces = []
                while piece := stream.read(1 << 16):
                    pieces += [piece] if keeps else []
                return b"".join(pieces)
        except InputError as error:
            return str(error)
        except Exception as error:
            return error

    def expect(self, what: str, data: bytes, wanted: bytes | None) -> None:
        """Read; wanted: the text, None where it must be refused."""
        found = self.read(data)
        self.outcome.counts["refused" if isinstance(found, str) else "read"] += 1
        if isinstance(found, Exception):
            self.outcome.broken.append(f"{what}: {found!r}")
        elif wanted is None and not isinstance(found, str):
            self.outcome.broken.append(f"{what}: read {len(found)} bytes without a word")
        elif wanted is not None and found != wanted:
            told = found if isinstance(found, str) else "other bytes"
            self.outcome.broken.append(f"{what}: {told}")


@contextmanager
def _reading() -> Iterator[Reading]:
    with common.scratch_folder("archives") as folder:
        yield Reading(folder / "text")


def _text(draw: random.Random) -> bytes:
    return "".join(f"line {i} {draw.random()}\n" for i in range(60)).encode()


def cut(draw: random.Random) -> Outcome:
    """Read every prefix of every archive."""
    text = _text(draw)
    with _reading() as reading:
        for name, pack in PACKED.items():
            packed = pack(text)
            reading.expect(f"{name}, whole", packed, text)
            for at in range(_MOST_MAGIC, len(packed)):
                reading.expect(f"{name}, cut at {at}", packed[:at], None)
        return reading.outcome


def joined(draw: random.Random) -> Outcome:
    """Read archives one behind the other and one in the other, with bytes behind and between."""
    text = _text(draw)
    with _reading() as reading:
        for name, pack in PACKED.items():
            packed = pack(text)
            for _ in range(300):
                tail = draw.randbytes(draw.randrange(1, 40))
                wanted = None if tail.strip(b"\0") else text
                reading.expect(f"{name}, {tail!r} behind", packed + tail, wanted)
            reading.expect(f"{name}, zeros behind", packed + bytes(100_000), text)
            reading.expect(f"{name}, plain text behind", packed + text, None)
            reading.expect(f"{name}, nothing in it", pack(b""), b"")
            for other, pack_other in PACKED.items():
                second = pack_other(b"more\n")
                what = f"{name} and {other}"
                for between in (b"", _SKIPPABLE, bytes(512), bytes(3) + _SKIPPABLE):
                    reading.expect(f"{what}, {between!r:.20} between", packed + between + second,
                                   text + b"more\n")  # fmt: skip
                reading.expect(f"{other} in {name}", pack(second), second)
                reading.expect(f"{what}, and again", (packed + second) * 20,
                               (text + b"more\n") * 20)  # fmt: skip
                for at in range(_MOST_MAGIC, len(second)):
                    reading.expect(f"{what} cut at {at}", packed + second[:at], None)
        reading.expect("a skippable frame first", _SKIPPABLE + PACKED["zst"](text), text)
        return reading.outcome


def flipped(draw: random.Random) -> Outcome:
    """Change every byte of every archive once."""
    text = _text(draw)
    with _reading() as reading:
        counts = reading.outcome.counts
        for name, pack in PACKED.items():
            packed = pack(text)
            for at in range(len(packed)):
                changed = bytearray(packed)
                changed[at] ^= draw.randrange(1, 256)
                found = reading.read(bytes(changed))
                if isinstance(found, Exception):
                    reading.outcome.broken.append(f"{name}, byte {at}: {found!r}")
                elif isinstance(found, str):
                    counts[f"{name}: refused"] += 1
                elif found == text:
                    counts[f"{name}: the text all the same"] += 1
                elif at < _MOST_MAGIC:
                    counts[f"{name}: no archive any more, taken for text"] += 1
                elif name == "zst without checksum":
                    counts[f"{name}: other text"] += 1
                else:
                    reading.outcome.broken.append(f"{name}, byte {at}: other text")
        return reading.outcome


def bombs(draw: random.Random) -> Outcome:
    """Read archives of zeros and of one long line, which unpack to a thousand times their size."""
    zeros = bytes(1 << 20)
    kinds: dict[str, Callable[[], object]] = {
        "gz": lambda: zlib.compressobj(9, zlib.DEFLATED, 31),
        "bz2": bz2.BZ2Compressor,
        "xz": lzma.LZMACompressor,
        "zst": lambda: zstandard.ZstdCompressor().compressobj(),
    }
    with _reading() as reading:
        for name, new in kinds.items():
            stream = new()
            bomb = b"".join(stream.compress(zeros) for _ in range(_BOMB >> 20))  # type: ignore[attr-defined]
            bomb += stream.flush()  # type: ignore[attr-defined]

            def read(name: str = name, bomb: bytes = bomb) -> int:
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                begun = time.process_time()
                found = reading.read(bomb, keeps=False)
                after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                print(f"{found!r}\t{time.process_time() - begun:.1f}\t"
                      f"{(after - before) << 10}")  # fmt: skip
                return 0

            ended = common.forked(read, patience=300)
            told, seconds, memory = ended.out.decode().split("\t")
            good = "unpacks to more than 1,000 times its size" in told
            good = good and float(seconds) < _MOST_SECONDS and int(memory) < _MOST_BYTES
            reading.outcome.check(good, f"{name} bomb: {ended.out!r} {ended.err[-200:]!r}")
            print(f"  {name} of {len(bomb):,} bytes, {_BOMB >> 20} MB unpacked: {seconds} CPU s, "
                  f"{int(memory) >> 20} MB more", flush=True)  # fmt: skip
        return reading.outcome


if __name__ == "__main__":
    common.main(__doc__, {"cut": cut, "joined": joined, "flipped": flipped, "bombs": bombs})
