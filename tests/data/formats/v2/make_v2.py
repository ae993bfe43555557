"""Writes the artifacts beside this file, whose vectors are wider than their bits.

    python PATH/make_v2.py [TARGET]

They were written once, by the version that introduced format version 2 of projections and tables,
and are never written again: when a later change alters bytes, a folder v3 joins this one.
"""

import random
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Where each command writes, and the command; {here} is where texts lie, {out} the target.
COMMANDS = {
    "index": "index build {here}/a.txt -o {out}/index",
    "projection": "learn {out}/index -o {out}/projection --set n_bits=64",
    "learnt": "sign {out}/index -o {out}/learnt --set n_bits=64 --min-count 3 --max-length 2 "
    "--projection {here}/projection --set weighting.min_weight=0",
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
    for name, command in COMMANDS.items():
        arguments = command.format(here=HERE, out=out).split()
        print(name, *arguments)
        subprocess.run([sys.executable, "-m", "distsim.cli.start", *arguments], check=True)


if __name__ == "__main__":
    main()
