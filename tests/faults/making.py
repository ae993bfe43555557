"""An adversary of `make-grammar`: killed at random moments, is the grammar the same in the end?

    python -m tests.faults.making [--kills 20] [--seed 1] [--pairs 1418]

The bitext in the package and an index of one novel. Each time the command is killed (SIGKILL) at
a moment drawn from the time an unbroken run takes, in some of them once more, then run to its
end: every file of the folder must have the bytes of the unbroken run, and no other may be there,
nor beside it. What is left of the steps at each kill is counted. Every broken promise is printed
and makes the exit status 1. Peers: none.
"""

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import islice
from pathlib import Path

from distsim.corpus.lines import read_lines

DATA = Path(__file__).resolve().parents[2] / "distsim" / "data"
PROGRAM = [sys.executable, "-m", "distsim.cli.start"]
_SECONDS = 600  # after which a run hangs


def prints_of(folder):
    """Return the checksum of every file of a folder, by its path in it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def make(texts, index, folder, moment=None):
    """Run the command; kill it after `moment` seconds. Return whether it ended by itself."""
    command = [*PROGRAM, "make-grammar", "--bitext", texts[0], texts[1], "--format", "text",
               "--index", index, "-o", folder]  # fmt: skip
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    ) as child:
        try:
            _, told = child.communicate(timeout=_SECONDS if moment is None else moment)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            return False
    if child.returncode:
        raise SystemExit(f"make-grammar ended with {child.returncode}: {told.decode()[-500:]}")
    return True


def steps_done(folder):
    """Return how many steps are known to be done, -1 where the folder is not there."""
    try:
        return len(json.loads((folder / "steps.json").read_text()))
    except (OSError, ValueError):
        return -1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=1418)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    broken, states = [], Counter()
    with tempfile.TemporaryDirectory(prefix="distsim-making-") as name:
        scratch = Path(name)
        index = scratch / "alice.index"
        novel = DATA / "novels" / "carroll-alice-in-wonderland-1865.txt.xz"
        for command in (["index", "build", "--format", "text", novel, "-o", index],
                        ["sign", index, "--preset", "thesis"]):  # fmt: skip
            subprocess.run([*PROGRAM, *command], check=True, capture_output=True)
        texts = [scratch / side for side in ("en", "de")]
        for text in texts:
            lines = islice(read_lines(DATA / "bitext" / f"help.{text.name}.xz"), given.pairs)
            text.write_bytes(b"".join(line + b"\n" for _, line in lines))
        make(texts, index, scratch / "warm")
        begun = time.monotonic()
        make(texts, index, scratch / "whole")
        took = time.monotonic() - begun
        wanted = prints_of(scratch / "whole")
        around = {path.name for path in scratch.iterdir()}
        for number in range(given.kills):
            folder = scratch / "killed"
            for _ in range(1 + number % 2):
                ended = make(texts, index, folder, draw.uniform(0, took))
                states["ended" if ended else f"{steps_done(folder)} steps done"] += 1
            make(texts, index, folder)
            found = prints_of(folder)
            broken += [
                f"kill {number}: {path} differs or is not in both"
                for path in sorted(wanted.keys() | found.keys())
                if wanted.get(path) != found.get(path)
            ]
            left = {path.name for path in scratch.iterdir()} - around - {"killed"}
            broken += [f"kill {number}: {path} is left beside the folder" for path in sorted(left)]
            subprocess.run(["rm", "-rf", folder, *(scratch / path for path in left)], check=True)
    for state, n in sorted(states.items()):
        print(f"{state}: {n}")
    print(f"{given.kills} grammars, {len(broken)} broken promises, a run takes {took:.1f} s")
    print("\n".join(broken[:20]))
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
