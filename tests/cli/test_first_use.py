"""What a user is told where a command's loops are not yet compiled."""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from distsim.base.parallel import available_cores
from distsim.cli import costs
from distsim.cli.costs import ANNOUNCEMENT, kernels_of
from distsim.kernels.compiled import Kernel
from tests.cli.terminal import on_a_terminal
from tests.conftest import PROJECT

# No command: one loop that is compiled in a moment, called as commands call theirs.
CALLS_A_LOOP = """
import sys
import numpy as np
from distsim.cli.costs import announce_compilation
announce_compilation("similarity")
from distsim.signatures.kernels.composition import normalise
normalise(np.ones(3))
print("answer")
"""
TOLD = re.compile(re.escape(ANNOUNCEMENT) + r"about \d+ seconds on one core\n?")


@pytest.fixture
def empty_cache(tmp_path):
    (tmp_path / "called.py").write_text(CALLS_A_LOOP)
    return {"NUMBA_CACHE_DIR": str(tmp_path / "cache"),
            "PYTHONPATH": os.pathsep.join([str(PROJECT), str(tmp_path)])}  # fmt: skip


def test_the_first_use_says_once_that_it_compiles(empty_cache, tmp_path):
    called = [sys.executable, "-m", "called"]
    first, later = (
        subprocess.run(called, env=os.environ | empty_cache, capture_output=True, text=True)
        for _ in range(2)
    )
    assert TOLD.fullmatch(first.stderr) and first.stdout == "answer\n"
    assert (later.stderr, later.stdout) == ("", "answer\n")


def test_a_terminal_shows_what_is_compiled_and_erases_it(empty_cache):
    lines = on_a_terminal(80, module="called", **empty_cache)
    assert TOLD.fullmatch(lines[0]) and "\x1b[Kcompiling, 1: normalise" in lines
    assert lines[-1] == "\x1b[Kanswer"
    assert on_a_terminal(80, module="called", **empty_cache) == ["answer"]


def test_seconds_are_those_of_this_machine(monkeypatch):
    ((_, listed),) = costs._first_use("loop")
    for slower, seconds in ((1, 11), (2, 22), (0.5, 6), (0.01, 1)):
        monkeypatch.setattr(costs, "loop_seconds", lambda slower=slower: float(listed) * slower)
        assert costs.seconds_here(11) == seconds
    monkeypatch.undo()
    assert 1e-4 < costs.loop_seconds() < 10


def test_the_program_itself_says_it(empty_cache, tmp_path):
    text, index = tmp_path / "text", tmp_path / "index"
    text.write_text("the cat sat on the mat\nthe dog sat\n")
    main = [sys.executable, "-m", "distsim.cli.start"]
    subprocess.run([*main, "index", "build", text, "-o", index], capture_output=True, check=True)
    asked = [*main, "contexts", index, "the"]
    first = subprocess.run(asked, env=os.environ | empty_cache, capture_output=True, text=True)
    assert first.stderr == f"{ANNOUNCEMENT}some seconds on one core\n"


@pytest.mark.parametrize("command", ["index", "sign", "neighbours", "substitute", "paraphrase"])
def test_listed_kernels_are_those_of_the_package(command):
    listed = kernels_of(command)
    assert len(listed) > 5
    for module, name, arguments in listed:
        kernel = getattr(import_module(module), name)
        assert isinstance(kernel, Kernel), (module, name)
        assert kernel.py_func.__code__.co_argcount == len(arguments.split(",")), name


STARTS_ANOTHER = """
from distsim.cli.costs import compile_ahead
compile_ahead("paraphrase")
print("started", flush=True)
input()
"""


@pytest.mark.skipif(available_cores() < 2, reason="one core")
def test_what_compiles_ahead_begins_with_the_last_kernel_and_ends_with_its_command(
    empty_cache, tmp_path
):
    with subprocess.Popen(
        [sys.executable, "-c", STARTS_ANOTHER], env=os.environ | empty_cache, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as command:  # fmt: skip
        assert command.stdout.readline() == "started\n"
        children = Path(f"/proc/{command.pid}/task/{command.pid}/children").read_text().split()
        assert len(children) == 1
        last = kernels_of("paraphrase")[-1][1]
        while not list(tmp_path.rglob(f"*.{last}-*.nbc")):
            assert Path(f"/proc/{children[0]}").exists()
        command.kill()
    while (status := Path(f"/proc/{children[0]}/stat")).exists():
        if status.read_text().rpartition(")")[2].split()[0] == "Z":
            break
