"""Writes the artifacts beside this file, of format version 3 of tables.

    python PATH/make_v6.py [TARGET]

From the text of v2, once, by the version that introduced words' vectors of 8 bits and shares of own
contexts; they are never written again: when a later change alters bytes, a folder v7 joins this
one.
"""

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
_SMALL = "--set n_bits=64 --min-count 3 --max-length 2 --set composition.min_own_count=3"
# Where each command writes, and the command; {here} is where texts lie, {out} the target.
COMMANDS = {
    "index": "index build {here}/../v2/a.txt -o {out}/index",
    "projection": "learn {out}/index -o {out}/projection --set n_bits=64",
    "learned": "sign {out}/index -o {out}/learned --projection {here}/projection " + _SMALL,
}


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for command in COMMANDS.values():
        arguments = command.format(here=HERE, out=out).split()
        subprocess.run([sys.executable, "-m", "distsim.cli.start", *arguments], check=True)
    if out == HERE:
        shutil.rmtree(HERE / "index")


if __name__ == "__main__":
    main()
