"""Is a batch of paraphrases the same after kill -9 at any moment? Each run is killed three times.

    python -m tests.faults.paraphrase_kills INDEX TEXT KNOWN [--times 20]

Runs `distsim paraphrase INDEX --text TEXT --known KNOWN` unbroken, then so many times, with one
and two jobs in turn, killed after a random number of further lines and started again; prints how
many ended with the same bytes and how many of the kills left finished lines behind.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KILLS = 3
MOST_LINES = 60


def n_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def killed(command: list[str], part: Path, draw: random.Random) -> bool:
    """Start the command and kill it; return whether it was still running."""
    goal = n_lines(part) + draw.randrange(MOST_LINES)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and n_lines(part) < goal:
        time.sleep(0.01)
    time.sleep(draw.uniform(0, 0.1))
    was_running = process.poll() is None
    process.kill()
    process.wait()
    return was_running


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index")
    parser.add_argument("text")
    parser.add_argument("known")
    parser.add_argument("--times", type=int, default=20)
    given = parser.parse_args()
    draw = random.Random(1)
    kills = with_lines = same = 0
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "unbroken"
        common = [
            sys.executable,
            "-m",
            "distsim.cli.start",
            "paraphrase",
            given.index,
            "--input",
            given.text,
        ]
        common += ["--known", given.known, "-o"]
        subprocess.run([*common, out], check=True, capture_output=True)
        expected = out.read_bytes()
        for number in range(given.times):
            out = Path(folder) / str(number)
            part = out.with_name(out.name + ".part")
            command = [*common, str(out), "--jobs", str(1 + number % 2)]
            for _ in range(KILLS):
                if not killed(command, part, draw):
                    break
                kills += 1
                with_lines += n_lines(part) > 1
            subprocess.run(command, check=True, capture_output=True)
            same += out.read_bytes() == expected and not part.exists()
    print(f"{same} of {given.times} the same; {kills} kills, {with_lines} left finished lines")


if __name__ == "__main__":
    main()
