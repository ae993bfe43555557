"""Runs several commands in one process, which saves the start of each: `FILE` has one a line."""

import shlex
import sys
from pathlib import Path

from tests.conftest import run_program

MARK = "=== "


def main() -> None:
    """Run the commands of the file, each behind a line with MARK and its number."""
    for number, line in enumerate(Path(sys.argv[1]).read_text("utf-8").splitlines()):
        print(f"{MARK}{number}", flush=True)
        status = run_program(*shlex.split(line))
        assert status == 0, line


if __name__ == "__main__":
    main()
