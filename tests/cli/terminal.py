"""Runs the program on a terminal of its own, as a user sees it."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

STYLES = re.compile(r"\x1b\[[0-9;]*m")


def on_a_terminal(
    columns: int, *arguments: object, module: str = "distsim.cli.main", **environment: str
) -> list[str]:
    """Return what a command writes to a terminal of so many columns, as lines without styles.

    Standard output and standard error are the terminal, as in a window.
    """
    own, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    unsized = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
    with subprocess.Popen(
        [sys.executable, "-m", module, *map(str, arguments)],
        stdin=other, stdout=other, stderr=other,
        env=unsized | {"TERM": "xterm", "PYTHONPATH": str(Path(__file__).parents[2])} | environment,
    ):  # fmt: skip
        os.close(other)
        written = b""
        while block := _read(own):
            written += block
    os.close(own)
    return STYLES.sub("", written.decode()).replace("\r\n", "\n").splitlines()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # the program has ended
        return b""
