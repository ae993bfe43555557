"""Bytes copied by moves, and six digits by multiplications."""

import numpy as np
import pytest

from distsim.grammar.kernels.packs import put_bytes, put_number
from distsim.kernels.compiled import compiled


@compiled
def copied(out, n, source, start, stop):
    return put_bytes(out, n, source, start, stop)


@compiled
def written(out, n, value):
    return put_number(out, n, value)


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100])
def test_bytes_between_are_copied_and_no_others(size):
    source = np.arange(1, 120, dtype=np.uint8)
    for start in (0, 5):
        out = np.zeros(130, np.uint8)
        assert copied(out, 3, source, start, start + size) == 3 + size
        assert out[3 : 3 + size].tolist() == source[start : start + size].tolist()
        assert not out[:3].any()
        assert not out[3 + size :].any()


def test_numbers_have_five_decimals_ties_to_even():
    draw = np.random.default_rng(1)
    whole = [k * 10.0**power for k in range(1000) for power in (-5, -3, 0)]
    drawn = draw.uniform(-30, 2000, 3000).tolist() + draw.uniform(0, 2e9, 100).tolist()
    for value in [*whole, *drawn, -0.000001, -0.00001, 9.999994, 9.999996, 99.999996, 690.77553]:
        out = np.zeros(40, np.uint8)
        stop = written(out, 0, value)
        scaled = int(abs(np.rint(value * 100000.0)))
        sign = "-" if value < 0 and scaled else ""
        assert out[:stop].tobytes().decode() == f"{sign}{scaled // 100000}.{scaled % 100000:05d}"
