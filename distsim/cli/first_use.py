"""Says that a command's first use compiles its inner loops, before it begins, and shows it."""

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from distsim.cli.console import draws_progress, say

_COMPILER = "distsim.kernels.compiling"  # imported where a kernel is called for the first time
_ERASE = "\r\x1b[K"
ANNOUNCEMENT = "distsim: the first use compiles inner loops, which are kept: "
_SECONDS = {  # of one core, with nothing compiled; of other commands it is a few
    "neighbours": 10, "similarity": 5, "substitute": 10, "paraphrase": 25, "sign": 30,
    "score": 30, "pivot": 20, "make-grammar": 60, "extract": 20, "align": 20, "rewrite": 30,
    "augment": 60, "serve": 90, "learn": 20, "evaluate": 15,
}  # fmt: skip


class _OnImport:
    """Calls a function once, before a module is imported."""

    def __init__(self, module: str, call: Callable[[], None]) -> None:
        self._module, self._call = module, call

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Find nothing: the other finders import the module."""
        if name == self._module:
            sys.meta_path.remove(self)
            self._call()


def announce_compilation(command: str) -> None:
    """Print a line on standard error when this process first compiles, and its progress.

    What numba's cache holds is not compiled, and nothing is printed. Kernels are counted on a
    terminal alone, in a line that is erased again.

    Arguments:
        command: that runs, which says how long it takes.
    """
    if _COMPILER in sys.modules:
        _listen(command)
    else:
        sys.meta_path.insert(0, _OnImport(_COMPILER, lambda: _listen(command)))


def _listen(command: str) -> None:
    from numba.core import event

    seconds = _SECONDS.get(command)
    took = f"up to {seconds} seconds" if seconds else "some seconds"
    depth = done = 0

    class Compilations(event.Listener):
        """Counts compilations; those of called kernels are within those of their callers."""

        def on_start(self, event: Any) -> None:
            nonlocal depth
            if not depth and not done:
                say(f"{ANNOUNCEMENT}{took} on one core")
            depth += 1
            _draw(f"compiling, {done + 1:,}: {event.data['dispatcher'].py_func.__name__}")

        def on_end(self, event: Any) -> None:
            nonlocal depth, done
            depth, done = depth - 1, done + 1
            if not depth:
                _draw("")

    register: Any = event.register  # numba has no types
    register("numba:compile", Compilations())


def _draw(text: str) -> None:
    """Show a text in place of the last one, where standard error is a terminal."""
    if sys.stderr.isatty() and not draws_progress():
        with suppress(OSError):
            sys.stderr.write(f"{_ERASE}{text}")
            sys.stderr.flush()
