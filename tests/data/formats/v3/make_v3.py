"""Writes the artifacts beside this file, of format version 3 of projections.

    python PATH/make_v3.py [TARGET]

From the text of v2, once, by the version that introduced format version 3 of projections; they are
never written again: when a later change alters bytes, a folder v4 joins this one.
"""

import runpy
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OF_V2 = runpy.run_path(str(HERE.parent / "v2" / "make_v2.py"))["COMMANDS"]
COMMANDS = {
    name: command.replace("{here}/a.txt", "{here}/../v2/a.txt").replace(
        " --set weighting.min_weight=0", ""
    )
    for name, command in OF_V2.items()
}


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for command in COMMANDS.values():
        arguments = command.format(here=HERE, out=out).split()
        subprocess.run([sys.executable, "-m", "distsim.cli.start", *arguments], check=True)


if __name__ == "__main__":
    main()
