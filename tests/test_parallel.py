"""Threads in order, and interrupts that are not lost."""

import pytest

from distsim import parallel
from distsim.parallel import Interrupted, interrupt, ordered_map


@pytest.fixture
def signals(monkeypatch):
    monkeypatch.setattr(parallel, "_signals", [])


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_results_come_in_order(jobs):
    assert list(ordered_map(lambda x: x * x, range(50), jobs)) == [x * x for x in range(50)]


@pytest.mark.parametrize("jobs", [1, 3])
def test_an_error_comes_out_where_it_belongs(jobs):
    results = ordered_map(lambda x: 1 // (3 - x), range(9), jobs)
    assert [next(results) for _ in range(3)] == [0, 0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_lost_interrupt_is_found_again(signals, jobs):
    done = []

    def items():
        for i in range(100):
            if i == 20:
                with pytest.raises(Interrupted):  # as a callback from compiled code loses it
                    interrupt(15)
            yield i

    with pytest.raises(Interrupted):
        done.extend(ordered_map(lambda x: x, items(), jobs))
    assert len(done) < 30
