"""Writes the artifacts beside this file, of format version 3 of tables.

    python PATH/make_v6.py [TARGET]

By the version that introduced words' vectors of 8 bits and shares of own contexts; `learned` again
when contexts of phrases of less than 200 occurrences came to count less. Once that version is
released they are never written again: when a later change alters bytes, a folder v7 joins this one.
"""

import random
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
_SMALL = "--set n_bits=64 --min-count 3 --max-length 2 --set composition.min_own_count=3"
# Where each command writes, and the command; {here} is where texts lie, {out} the target.
COMMANDS = {
    "index": "index build {here}/a.txt -o {out}/index",
    "projection": "learn {out}/index -o {out}/projection --set n_bits=64",
    "learned": "sign {out}/index -o {out}/learned --projection {here}/projection " + _SMALL,
}


def write_text(path: Path) -> None:
    draw = random.Random(7)
    words = [a + b for a in ("ba", "de", "ki", "lo", "mu", "ra") for b in "bcdfghjklmnpqrstvwxz"]
    lines = []
    for _ in range(150):
        field = draw.randrange(12)
        lines.append(" ".join(words[(10 * field + draw.randrange(14)) % 120] for _ in range(12)))
    path.write_text("\n".join([*lines, ""]))


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    if not (HERE / "a.txt").exists():
        write_text(HERE / "a.txt")
    for command in COMMANDS.values():
        arguments = command.format(here=HERE, out=out).split()
        subprocess.run([sys.executable, "-m", "distsim.cli.start", *arguments], check=True)
    if out == HERE:
        shutil.rmtree(HERE / "index")


if __name__ == "__main__":
    main()
