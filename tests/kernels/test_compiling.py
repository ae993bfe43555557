"""How kernels are compiled: arrays that they make, and processes that compile at once."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import typeof

from distsim.kernels.compiled import compiled
from distsim.kernels.compiling import compile_signature, signature_text
from tests.conftest import PROJECT

# Waits until another process is as far, then calls a kernel and prints how many it compiled.
CALLS_A_KERNEL = """
import numpy as np
from distsim.kernels import compiling
from distsim.kernels.compiled import compiled_kernels
from distsim.signatures.kernels.composition import normalise
print("ready", flush=True)
input()
normalise(np.ones(3))
print(compiled_kernels())
"""


@compiled
def new_arrays(n, shape):
    """Return arrays of each kind that kernels make."""
    return (
        np.empty(n), np.empty((n, 2), np.uint8), np.zeros(n), np.zeros((n, n, 3), np.int32),
        np.zeros(shape, np.bool_), np.full(n, np.nan), np.full((n, 2), np.uint16(7)),
        np.full(n, -1, np.int64), np.full(n, 1, np.bool_),
        np.empty(n, np.zeros(1, np.uint64).dtype), np.full(n, 2.0, np.float32),
    )  # fmt: skip


EMPTY = (0, 1, 9)  # of these, whose entries are whatever the memory had


@compiled
def doubled_sum(values):
    """Return twice the sum of an array."""
    return 2 * summed(values)


@compiled
def summed(values):
    """Return the sum of an array."""
    total = 0.0
    for value in values:
        total += value
    return total


@compiled
def takes_five(written, read, count, number, flag):
    """Return a sum that needs all arguments."""
    return written.size + read[0, 0] + count + number + 6.0 * (not flag) - count


@pytest.mark.parametrize("n", [0, 1, 7])
def test_arrays_made_by_kernels_are_numpys(n):
    pairs = zip(new_arrays(n, (n, 2)), new_arrays.py_func(n, (n, 2)), strict=True)
    for number, (made, expected) in enumerate(pairs):
        assert (made.dtype, made.shape) == (expected.dtype, expected.shape)
        assert made.flags.c_contiguous and made.flags.writeable and made.flags.aligned
        if number not in EMPTY:
            np.testing.assert_array_equal(made, expected)
    cleared, filled = new_arrays(n, (n, 2))[2], new_arrays(n, (n, 2))[5]
    assert not cleared.any() and np.isnan(filled).all()


@pytest.mark.parametrize("shape", [(-1, 2), (1 << 62, 2), (1 << 40, 1 << 40)])
def test_an_array_of_no_possible_shape_is_an_error(shape):
    with pytest.raises(ValueError, match="no array has this shape"):
        new_arrays(0, shape)


def test_more_than_the_memory_is_an_error():
    with pytest.raises(MemoryError):
        new_arrays(0, (1 << 60, 2))


def test_a_kernel_is_called_by_kernels_and_by_python():
    values = np.arange(4.0)
    assert doubled_sum(values) == 12.0
    assert summed(values) == 6.0


def test_of_two_processes_one_compiles(tmp_path):
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(PROJECT),
    }  # fmt: skip
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", CALLS_A_KERNEL], env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    answers = [int(process.communicate()[0]) for process in processes]
    assert sorted(answers) == [0, 1]


def test_a_kernel_is_compiled_by_the_text_of_its_arguments():
    values = np.zeros((2, 3), np.float32)
    read_only = values.view()
    read_only.flags.writeable = False
    text = signature_text(map(typeof, (values, read_only, np.int64(3), 2.5, True)))
    assert text == "float32:2,float32:2r,int64,float64,bool"
    assert signature_text([typeof(values.T)]) is None
    compile_signature(__name__, "takes_five", text)
    assert len(takes_five.signatures) == 1
    assert takes_five(values, read_only, 3, 2.5, True) == 8.5
    assert len(takes_five.signatures) == 1
