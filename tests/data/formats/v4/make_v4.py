"""Writes the index beside this file, of format version 1 of indexes without near-duplicates.

    python PATH/make_v4.py [TARGET]

From the text of v1, once; it is never written again: when a later change alters bytes, a folder v5
joins this one.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMMANDS = {
    "index": "index build {here}/../v1/a.txt {here}/../v1/b.txt -o {out}/index --dedup exact "
    "--set shard_tokens=300 --set text=false",
}


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for command in COMMANDS.values():
        arguments = command.format(here=HERE, out=out).split()
        subprocess.run([sys.executable, "-m", "distsim.cli.start", *arguments], check=True)


if __name__ == "__main__":
    main()
