"""An adversary of indexes, artifacts and packed text: what is lost, followed, hung or blown up?

    python bench/adversary/storage.py [kill flip archives places] [--seed 1] [--kills 100]

kill: SIGKILL at random moments of `index build`, `index build --force` over an index, `index add`,
`index add` of near-duplicates; run again, the bytes must be those of an unbroken run. flip: every
byte of every file of the small artifacts in tests/data/formats/v1 changed once, to another value
drawn; `verify` must see each. archives: texts packed, cut, joined, nested, with trailing bytes
and bombs: each is read to its last byte or refused in a sentence. places: the program with closed
streams, little memory, few files, short files, no HOME, LANG=C, read-only folders, odd names.
Every broken promise is printed and makes the exit status 1. Peers: none.
"""

import argparse
import bz2
import gzip
import lzma
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import zstandard

sys.path.insert(0, str(Path(__file__).parent.parent))
import faults

V1 = Path(__file__).resolve().parents[2] / "tests" / "data" / "formats" / "v1"
PROGRAM = [sys.executable, "-m", "distsim.cli.start"]
KILLED = ("index build", "index build over an index", "index add", "index add near")
_SECONDS = 120  # after which a command hangs
Broken = list[str]


def kill(draw: random.Random, kills: int) -> tuple[Counter[str], Broken]:
    """Kill every command that writes an index so many times in all."""
    outcomes: Counter[str] = Counter()
    broken: Broken = []
    for name in KILLED:
        with tempfile.TemporaryDirectory(prefix="distsim-kill-") as scratch:
            corpus = Path(scratch) / "corpus"
            corpus.mkdir()
            faults.write_corpus(corpus, 6000)
            campaign = faults.KillCampaign(Path(scratch), corpus, name)
            campaign.kill_processes(kills // len(KILLED), draw)
            outcomes.update({f"{name}: {state}": n for state, n in campaign.outcomes.items()})
            broken += [f"{name}: {what}" for what in campaign.broken]
    return outcomes, broken


def flip(draw: random.Random, kills: int) -> tuple[Counter[str], Broken]:
    """Change every byte of small artifacts once; verify must see it."""
    from distsim.errors import DistsimError
    from distsim.verification import find_faults

    outcomes: Counter[str] = Counter()
    broken: Broken = []
    with tempfile.TemporaryDirectory(prefix="distsim-flip-") as scratch:
        copies = Path(scratch) / "v1"
        shutil.copytree(V1, copies)
        for folder in sorted(path.parent for path in copies.rglob("manifest.json")):
            for file in sorted(folder.glob("*")):
                whole = file.read_bytes()
                for at in range(len(whole)):
                    changed = bytearray(whole)
                    changed[at] ^= draw.randrange(1, 256)
                    file.write_bytes(changed)
                    try:
                        seen = "seen" if find_faults(folder) else "missed"
                    except DistsimError:
                        seen = "refused"
                    except Exception as error:
                        seen = type(error).__name__
                    outcomes[seen] += 1
                    if seen not in ("seen", "refused"):
                        broken.append(f"{folder.name}/{file.name}, byte {at}: {seen}")
                file.write_bytes(whole)
    return outcomes, broken


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor().compress,
}


def archives(draw: random.Random, kills: int) -> tuple[Counter[str], Broken]:
    """Read what was done to packed texts: all of it, or a sentence."""
    from distsim.corpus.sources import find_sources, open_source
    from distsim.errors import InputError

    outcomes: Counter[str] = Counter()
    broken: Broken = []
    text = "".join(f"line {i} {draw.random()}\n" for i in range(60)).encode()

    def read(data: bytes) -> bytes | str:
        file.write_bytes(data)
        try:
            with open_source(find_sources([file])[0]) as stream:
                pieces = []
                while piece := stream.read(1 << 16):
                    pieces.append(piece)
                return b"".join(pieces)
        except InputError as error:
            return str(error)
        except Exception as error:
            return error  # type: ignore[return-value]

    def expect(what: str, data: bytes, wanted: bytes | None) -> None:
        found = read(data)
        if isinstance(found, Exception):
            broken.append(f"{what}: {found!r}")
        elif wanted is None and not isinstance(found, str):
            broken.append(f"{what}: read {len(found)} bytes without a word")
        elif wanted is not None and found != wanted:
            broken.append(f"{what}: {found if isinstance(found, str) else 'other bytes'}")
        outcomes["refused" if isinstance(found, str) else "read"] += 1

    with tempfile.TemporaryDirectory(prefix="distsim-packed-") as scratch:
        file = Path(scratch) / "text"
        for name, pack in PACKED.items():
            packed = pack(text)
            expect(f"{name} whole", packed, text)
            for at in range(7, len(packed)):
                expect(f"{name} cut at {at}", packed[:at], None)
            for _ in range(300):
                tail = draw.randbytes(draw.randrange(1, 40))
                wanted = None if tail.strip(b"\0") else text
                expect(f"{name} with {tail!r} behind", packed + tail, wanted)
            for other, pack_other in PACKED.items():
                expect(f"{name} and {other}", packed + pack_other(b"more\n"), text + b"more\n")
                expect(f"{other} in {name}", pack(pack_other(text)), pack_other(text))
                second = pack_other(text)
                cut = draw.randrange(7, len(second))
                expect(f"{name} and {other} cut at {cut}", packed + second[:cut], None)
            for _ in range(300):
                changed = bytearray(packed)
                changed[draw.randrange(6, len(packed))] ^= 1 << draw.randrange(8)
                found = read(bytes(changed))
                # gz and zst without a checksum of the header may read the same text.
                fine = isinstance(found, str) or found == text or name == "zst"
                outcomes["flipped: refused" if isinstance(found, str) else "flipped: read"] += 1
                if not fine:
                    broken.append(f"{name} with a bit flipped: other bytes, or {found!r:.60}")
        zeros = bytes(1 << 20)
        for name, new in (("bz2", bz2.BZ2Compressor), ("xz", lzma.LZMACompressor),
                          ("zst", zstandard.ZstdCompressor().compressobj)):  # fmt: skip
            stream = new()
            bomb = b"".join(stream.compress(zeros) for _ in range(1 << 8)) + stream.flush()
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            begun = time.process_time()
            expect(f"{name} bomb", bomb, None)
            after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            spent = time.process_time() - begun
            print(f"  {name} bomb of {len(bomb):,} bytes, 256 MB unpacked: {spent:.1f} s, "
                  f"{max(0, after - before) >> 10} MB more")  # fmt: skip
    return outcomes, broken


def places(draw: random.Random, kills: int) -> tuple[Counter[str], Broken]:
    """Run the program where and as it should not be run: an answer or a sentence each time."""
    outcomes: Counter[str] = Counter()
    broken: Broken = []

    def run(what: str, *arguments: object, fine: tuple[int, ...] = (0, 1), **options) -> None:  # type: ignore[no-untyped-def]
        options.setdefault("stdin", subprocess.DEVNULL)
        said = options.pop("said", subprocess.PIPE)
        try:
            done = subprocess.run(
                [*options.pop("before", ()), *PROGRAM, *map(os.fspath, map(_text, arguments))],
                stdout=subprocess.PIPE, stderr=said, timeout=_SECONDS, check=False, **options,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            broken.append(f"{what}: hangs")
            return
        outcomes[f"exit {done.returncode}"] += 1
        told = done.stderr or b""
        if b"Traceback" in told or done.returncode not in fine:
            broken.append(f"{what}: exit {done.returncode}, {told[-300:]!r}")
        leavings = [p.name for p in folder.rglob("*.unfinished")]
        if leavings:
            broken.append(f"{what}: left {leavings}")

    with tempfile.TemporaryDirectory(prefix="distsim-places-") as scratch:
        folder = Path(scratch)
        faults.write_corpus(folder, 3000)
        text, index = folder / "a.txt", folder / "x.index"
        build = ("index", "build", "--format", "text", text, "-o")
        run("build", *build, index, fine=(0,))
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            close = ["sh", "-c", f'exec "$@" {number}<&-', "sh"]
            if number:
                close = ["sh", "-c", f'exec "$@" {number}>&-', "sh"]
            run(f"{name} closed: count", "count", index, "the", before=close)
            run(f"{name} closed: kwic", "kwic", index, "the", before=close)
            run(f"{name} closed: build -", "index", "build", "-", "-o", folder / "y", before=close)
            run(f"{name} closed: add", "index", "add", index, text, before=close)
            run(f"{name} closed: verify", "verify", index, before=close)
            shutil.rmtree(folder / "y", ignore_errors=True)
        for limit in ("-v 400000", "-v 800000", "-n 20", "-n 64", "-f 8", "-f 64", "-f 0"):
            limited = ["sh", "-c", f'ulimit {limit} && exec "$@"', "sh"]
            # A limit of memory may stop Python or a library before anything of ours begins.
            fine = (0, 1, 2, 120, 127, -6, -11) if limit.startswith("-v") else (0, 1)
            run(f"ulimit {limit}: build", *build, folder / "z", before=limited, fine=fine)
            run(f"ulimit {limit}: count", "count", index, "the", before=limited, fine=fine)
            shutil.rmtree(folder / "z", ignore_errors=True)
        bare = {key: value for key, value in os.environ.items() if key != "HOME"}
        run("HOME unset", *build, folder / "h", env=bare, fine=(0,))
        plain = {**os.environ, "LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0"}
        odd = (
            b"with space",
            b"new\nline",
            b"tab\t",
            b"caf\xe9",
            b"-dash",
            b"\xff\xfe",
            "größe".encode(),
        )
        for name in odd:
            odd_text = os.fsencode(folder) + b"/" + name
            Path(os.fsdecode(odd_text)).write_bytes(text.read_bytes())
            for where, environment in (("", None), (" LANG=C", plain)):
                out = os.fsencode(folder) + b"/index of " + name
                run(f"{name!r}{where}: build", "index", "build", "--format", "text", odd_text, "-o",
                    out, env=environment, fine=(0,))  # fmt: skip
                run(f"{name!r}{where}: kwic", "kwic", out, "the", env=environment, fine=(0,))
                run(f"{name!r}{where}: verify", "verify", out, env=environment, fine=(0,))
                run(
                    f"{name!r}{where}: add",
                    "index",
                    "add",
                    out,
                    odd_text,
                    env=environment,
                    fine=(0,),
                )
                shutil.rmtree(os.fsdecode(out))
        if os.geteuid() == 0 and not shutil.which("setpriv"):
            print("  read-only folders: skipped (root, and no setpriv)")
            return outcomes, broken
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        folder.chmod(0o755)
        before = nobody if os.geteuid() == 0 else []
        unkept = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
        (folder / "cache").mkdir(mode=0o777)
        (folder / "cache").chmod(0o777)
        for command in ((*build, folder / "r"), ("index", "add", index, folder / "b.txt")):
            run("read-only", *command, before=before, env=unkept, fine=(1,))
        run("read-only: count", "count", index, "the", before=before, env=unkept, fine=(0,))
    return outcomes, broken


def _text(argument: object) -> str | bytes:
    return argument if isinstance(argument, bytes) else str(argument)


CAMPAIGNS = {"kill": kill, "flip": flip, "archives": archives, "places": places}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("campaigns", nargs="*", default=list(CAMPAIGNS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=100)
    given = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    failed = 0
    for name in given.campaigns:
        begun = time.monotonic()
        outcomes, broken = CAMPAIGNS[name](random.Random(given.seed), given.kills)
        counts = ", ".join(f"{what} {n:,}" for what, n in sorted(outcomes.items()))
        print(f"{name}: {counts}; {len(broken)} broken; {time.monotonic() - begun:.0f} s")
        for what in broken[:20]:
            print(f"  {what}")
        failed += len(broken)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
