"""Writes the index beside this file, of format version 2: its text as written, and documents.

    python PATH/make_v5.py [TARGET]

Once; it is never written again: when a later change alters bytes, a folder v6 joins this one. The
compressed text and the SQLite file differ between versions of their libraries.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMMANDS = {
    "index": "index build {here}/letters.jsonl -o {out}/index --dedup exact --set shard_tokens=30",
}


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for command in COMMANDS.values():
        arguments = command.format(here=HERE, out=out).split()
        subprocess.run([sys.executable, "-m", "distsim.cli.start", *arguments], check=True)


if __name__ == "__main__":
    main()
