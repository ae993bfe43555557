"""Workers in order, bounded, and interrupts that are not lost."""

import os
import subprocess
import sys
import threading
import warnings

import joblib
import pytest

from distsim import DistsimError
from distsim.base import errors
from distsim.base import parallel as freed_memory
from distsim.base.errors import Interrupted, interrupt
from distsim.base.parallel import ordered_map


@pytest.fixture
def signals(monkeypatch):
    monkeypatch.setattr(errors, "_signals", [])


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


@pytest.mark.parametrize("jobs", [2, 3])
def test_a_slow_consumer_is_waited_for(jobs):
    taken = []
    ended = threading.Semaphore(0)

    def items():
        for i in range(60):
            taken.append(i)
            yield i

    def work(i):
        ended.release()
        return i

    results = ordered_map(work, items(), jobs)
    for i in range(60):
        assert next(results) == i
        for _ in range(min(60 - len(taken), 1)):
            ended.acquire()  # whatever has ended meanwhile has handed out nothing new
        assert len(taken) <= i + 1 + 2 * jobs


@pytest.mark.parametrize("n", range(8))
@pytest.mark.parametrize("jobs", [2, 3, 5])
def test_numbers_of_items_around_the_bound(n, jobs):
    assert list(ordered_map(str, range(n), jobs)) == [str(i) for i in range(n)]


def test_one_item_needs_no_workers():
    program = (
        "import sys; from distsim.base.parallel import ordered_map; "
        "assert list(ordered_map(str, iter([7]), 3)) == ['7']; "
        "assert list(ordered_map(str, iter([]), 3)) == []; assert 'joblib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("jobs", [1, 3])
def test_an_error_of_the_items_comes_after_what_was_before(jobs, n):
    def items():
        yield from range(n)
        raise OSError("the disk")

    done = []
    with pytest.raises(OSError, match="the disk"):
        done.extend(ordered_map(lambda x: x, items(), jobs))
    done = []
    with pytest.raises(OSError, match="the disk"):
        for result in ordered_map(lambda x: x, items(), jobs):
            done.append(result)
    assert done == list(range(n))


def test_results_that_nobody_wants():
    """Closed early: no word, no further item, and what waits is not begun."""
    begun = []
    gate = threading.Event()

    def work(i):
        begun.append(i)
        if i:
            gate.wait(10)
        return i

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = ordered_map(work, range(1000), 2)
        assert next(results) == 0
        results.close()
    gate.set()
    assert len(begun) <= 3


def test_an_interrupt_in_a_worker_comes_out():
    def work(i):
        if i == 4:
            raise Interrupted(15)
        return i

    with pytest.raises(Interrupted):
        list(ordered_map(work, range(100), 2))


def test_inside_a_worker_there_are_no_more_workers():
    def work(i):
        return sum(ordered_map(lambda x: x + i, range(4), 2))

    assert list(ordered_map(work, range(6), 2)) == [6 + 4 * i for i in range(6)]


def test_joblib_is_configured_from_outside():
    names = []

    def work(i):
        names.append(threading.current_thread().name)
        return i

    with joblib.parallel_config(backend="sequential"):
        assert list(ordered_map(work, range(4), 3)) == list(range(4))
    assert set(names) == {threading.current_thread().name}
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert list(ordered_map(work, range(4))) == list(range(4))
    with joblib.parallel_config(backend="loky"):  # what shares memory stays in this process
        assert list(ordered_map(work, range(4), 2)) == list(range(4))
    assert len(names) == 12


def test_processes():
    pids = set(ordered_map(_process, range(4), 2, "processes"))
    assert os.getpid() not in pids
    with joblib.parallel_config(backend="threading"):
        assert set(ordered_map(_process, range(4), 2, "processes")) == {os.getpid()}
    with joblib.parallel_config(backend="loky"):
        assert set(ordered_map(_process, range(4), 2, "anywhere")) <= pids
    results = ordered_map(_divided, range(4), 2, "processes")
    assert next(results) == 0
    with pytest.raises(ZeroDivisionError):
        list(results)
    with pytest.raises(DistsimError, match="choose fewer jobs"):
        list(ordered_map(_killed, range(6), 2, "processes"))


def _process(i):
    return os.getpid()


def _killed(i):
    os._exit(9)


def _divided(i):
    return i // (i - 2)


@pytest.mark.parametrize("told", [freed_memory.keep_freed, freed_memory.give_back_freed])
def test_the_c_library_is_told_what_to_do_with_freed_memory(told, monkeypatch):
    settings = []

    class Library:
        def mallopt(self, name, value):
            settings.append((name, value))

    monkeypatch.setattr(freed_memory.ctypes, "CDLL", lambda _: Library())
    told()
    assert settings and all(name < 0 < value < 2**31 for name, value in settings)
    monkeypatch.setattr(freed_memory.ctypes, "CDLL", lambda _: object())  # no such function
    told()
