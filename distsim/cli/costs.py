"""What long work and a command's first use will take, told before they begin."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from distsim.base.errors import DistsimError, counted
from distsim.base.parallel import available_cores
from distsim.cli.console import draws_progress, say

_COMPILER = "distsim.kernels.compiling"  # imported where a kernel is called for the first time
_ERASE = "\r\x1b[K"
ANNOUNCEMENT = "distsim: the first use compiles inner loops, which are kept: "
AHEAD = "_DISTSIM_COMPILES_AHEAD"  # in the environment of commands for which another compiles
_AHEAD_SECONDS = 300
_WATCH_SECONDS = 0.2
_ESTIMATES = {  # seconds of commands that bench/commands.py does not run; of others it is a few
    "similarity": 5, "score": 30, "pivot": 20, "make-grammar": 70, "extract": 25, "align": 25,
    "rewrite": 35, "augment": 70, "serve": 110, "learn": 25, "evaluate": 20,
}  # fmt: skip
_STEPS = 100_000  # of the loop by which machines are compared
_WORTH_A_PROCESS = 10  # kernels; what takes as long as to start one


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

    measured = [float(fields[1]) for fields in _first_use(command) if fields[0] == "seconds"]
    seconds = max(measured, default=_ESTIMATES.get(command, 0))
    depth = done = 0

    class Compilations(event.Listener):
        """Counts compilations; those of called kernels are within those of their callers."""

        def on_start(self, event: Any) -> None:
            nonlocal depth
            if not depth and not done:
                took = f"about {seconds_here(seconds)}" if seconds else "some"
                say(f"{ANNOUNCEMENT}{took} seconds on one core")
                compile_ahead(command)
            depth += 1
            _draw(f"compiling, {done + 1:,}: {event.data['dispatcher'].py_func.__name__}")

        def on_end(self, event: Any) -> None:
            nonlocal depth, done
            depth, done = depth - 1, done + 1
            if not depth:
                _draw("")

    register: Any = event.register  # numba has no types
    register("numba:compile", Compilations())


def loop_seconds() -> float:
    """Return the CPU seconds of a loop of Python, the least of three."""

    def seconds() -> float:
        begun, state = time.process_time(), 1
        for step in range(_STEPS):
            state = state * 31 + step & 0xFFFF
        return time.process_time() - begun

    return min(seconds() for _ in range(3))


def seconds_here(seconds: float) -> int:
    """Return the seconds that work takes on this machine, by the pace of a loop.

    Arguments:
        seconds: that it took where `bench/commands.py` wrote its list.
    """
    ((_, listed_loop),) = _first_use("loop")
    return max(1, round(seconds * loop_seconds() / float(listed_loop)))


def _draw(text: str) -> None:
    """Show a text in place of the last one, where standard error is a terminal."""
    if sys.stderr.isatty() and not draws_progress():
        with suppress(OSError):
            sys.stderr.write(f"{_ERASE}{text}")
            sys.stderr.flush()


def kernels_of(command: str) -> list[list[str]]:
    """Return the kernels that a command's first use compiles, in order: module, name, arguments."""
    return [fields for fields in _first_use(command) if fields[0] != "seconds"]


def _first_use(command: str) -> list[list[str]]:
    """Return the kernels and seconds that `bench/commands.py INDEX --write` found."""
    lines = (files("distsim") / "data" / "cli" / "first-use.tsv").read_text("utf-8").splitlines()
    return [rest for name, *rest in (line.split("\t") for line in lines) if name == command]


def compile_ahead(*commands: str) -> None:
    """Compile what commands will need in a process beside this one, the last kernel first.

    It writes into the same cache, prints nothing, and ends with this process. There is none where
    there is one core, or little to compile.

    Arguments:
        commands: in the order in which they run.
    """
    n_kernels = sum(len(kernels_of(command)) for command in commands)
    if AHEAD in os.environ or available_cores() < 2 or n_kernels < _WORTH_A_PROCESS:
        return
    code = (
        f"import sys; sys.path[:] = {sys.path!r}; from distsim.cli.costs import compile_all; "
        f"compile_all({commands!r}, {os.getpid()})"
    )
    with suppress(OSError):
        subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=os.environ | {AHEAD: "1"},
        )  # fmt: skip


def compile_all(commands: Iterable[str], parent: int) -> None:
    """Compile the kernels of commands, the last one first, while another process lives.

    Arguments:
        commands: in the order in which they run.
        parent: id of the process that started this one.
    """

    def watch() -> None:
        until = time.monotonic() + _AHEAD_SECONDS
        while os.getppid() == parent and time.monotonic() < until:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    from distsim.kernels.compiling import compile_signature

    for kernel in reversed([kernel for command in commands for kernel in kernels_of(command)]):
        with suppress(Exception):  # whatever a kernel raises that has changed since
            compile_signature(*kernel)


_WORTH_TELLING = 50_000_000  # tokens
_BYTES_A_TOKEN = 5.6
_UNPACKED = {".gz": 2.6, ".bz2": 3.4, ".xz": 3.6, ".zst": 2.8}  # bytes for one on the disk


class Cost(NamedTuple):
    """Cost of a million tokens, and the memory of the whole.

    seconds: CPU seconds. megabytes: on the disk. gigabytes: the most memory in use at once.
    more_gigabytes: for each million tokens, where memory has no bound.
    """

    seconds: float
    megabytes: float
    gigabytes: float
    more_gigabytes: float = 0.0


INDEX = Cost(0.45, 11.4, 3.1)
SIGN = Cost(0.43, 4.5, 4.0)
LEARN = Cost(0.21, 0.4, 3.0)
RANDOM = Cost(0.27, 4.1, 4.0)
FINDER = Cost(0.37, 0.1, 4.0)
ALIGN = Cost(27.0, 12.5, 2.1, 0.04)  # of English tokens, with three samplers


def tokens_in(paths: Iterable[str]) -> int:
    """Return the estimated number of tokens in files, from their sizes.

    Arguments:
        paths: of files; folders and pipes count 0.
    """
    files = [Path(path) for path in paths if Path(path).is_file()]
    return int(sum(map(_unpacked_size, files)) / _BYTES_A_TOKEN)


def lines_in(path: str) -> int | None:
    """Return about how many lines a file has, by its size and its first ones; None for a pipe."""
    from distsim.corpus.sources import find_file, open_source

    file = Path(path)
    if not file.is_file():
        return None
    with suppress(DistsimError, OSError), open_source(find_file(path)) as stream:
        begin = stream.read(1 << 16)
        return int(_unpacked_size(file) * begin.count(b"\n") / max(1, len(begin)))
    return None


def _unpacked_size(file: Path) -> float:
    """Return about how many bytes a file has, unpacked where it is compressed."""
    return file.stat().st_size * _UNPACKED.get(file.suffix, 1.0)


def say_cost(n_tokens: int, costs: Iterable[Cost], jobs: int | None) -> None:
    """Print the expected cost of work on a large text; nothing for a small one.

    Arguments:
        jobs: threads; all cores where None.
    """
    if n_tokens < _WORTH_TELLING:
        return
    millions, costs = n_tokens / 1e6, list(costs)
    minutes = millions * sum(cost.seconds for cost in costs) / 60
    gigabytes = millions * sum(cost.megabytes for cost in costs) / 1000
    memory = max(cost.gigabytes + millions * cost.more_gigabytes for cost in costs)
    cores = jobs or available_cores()
    say(
        f"about {millions:,.0f} million tokens: {minutes:,.0f} minutes of CPU time on "
        f"{counted(cores, 'core')}, {gigabytes:,.1f} GB of disk and {memory:.0f} GB of "
        "memory, roughly"
    )
