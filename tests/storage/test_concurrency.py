"""Readers beside a writer: one state, whole; the long run is tests/faults."""

import random
from pathlib import Path

from distsim import CorpusIndex
from tests.faults import readers as concurrency


def test_readers_see_one_state(tmp_path: Path) -> None:
    path = concurrency.prepare(tmp_path, 1000)
    states: list = []
    changes = concurrency.plan(tmp_path, 6, random.Random(2))
    looks, faults = concurrency.watch(path, 4, changes, states)
    assert faults == []
    assert all(looks[f"{what}: looks"] > 0 for what in concurrency.READERS)
    assert len({state["count"] for state in states}) > 1


def test_an_open_index_keeps_its_state(tmp_path: Path) -> None:
    path = concurrency.prepare(tmp_path, 1000)
    before = CorpusIndex.open(path)
    count = before.count("the")
    after = before.add([tmp_path / "b.txt"])
    assert before.count("the") == count < after.count("the")
    assert CorpusIndex.open(path).count("the") == after.count("the")
