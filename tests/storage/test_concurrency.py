"""Readers beside a writer: one state, whole; the long run is tests/faults."""

import random
from pathlib import Path

from distsim import CorpusIndex
from tests.faults import readers


def test_readers_see_one_state(tmp_path: Path) -> None:
    path = readers.prepare(tmp_path)
    outcome = readers.watch(path, 4, readers.plan(tmp_path, 6, random.Random(2)))
    assert outcome.broken == []
    assert all(outcome.counts[f"{what}: looks"] > 0 for what in readers.READERS)
    assert outcome.counts["states"] > 1


def test_an_open_index_keeps_its_state(tmp_path: Path) -> None:
    path = readers.prepare(tmp_path)
    before = CorpusIndex.open(path)
    count = before.count("the")
    after = before.add([tmp_path / "b.txt"])
    assert before.count("the") == count < after.count("the")
    assert CorpusIndex.open(path).count("the") == after.count("the")
