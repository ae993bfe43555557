"""Opens and closes the standard streams, which the shell may have closed."""

import os
import sys
from contextlib import suppress


def open_streams() -> None:
    """Make standard input, output and error usable as UTF-8, whatever the shell has closed.

    No file of ours may take the number of one that is closed. Standard input then fails where it
    is read and standard output where it is written; what goes to standard error is dropped.
    """
    null = [os.O_WRONLY, os.O_RDONLY, os.O_WRONLY]  # the wrong way round for input and output
    for number, way in enumerate(null):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, way)  # the lowest number that is free
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)  # none where a host has its own
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace", newline="\n")


def close_output() -> None:
    """Flush standard output for the last time; where it cannot be, do not try again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
