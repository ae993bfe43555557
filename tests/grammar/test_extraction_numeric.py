"""Rules as numbers: the same rules as in text."""

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from distsim import storage
from distsim.base.errors import ArtifactError
from distsim.base.parallel import Run
from distsim.grammar.arrays import Column
from distsim.grammar.extraction.counted_rules import _english_margins, _sums_of_labels
from distsim.grammar.extraction.extract import write_rules
from distsim.grammar.extraction.features import FeatureChoice
from distsim.grammar.extraction.instances import PRESETS
from distsim.grammar.extraction.numeric import NumericRules
from distsim.grammar.extraction.pivoting import pivot_rules
from distsim.grammar.kernels.rule_counts import partition_rows
from distsim.output import find_faults
from tests.grammar.extraction_texts import drawn_pair, linked_text, read_rules
from tests.naive.extraction import canonical


@pytest.mark.parametrize("min_count", [1, 2])
def test_numbers_say_what_the_text_says(tmp_path, monkeypatch, min_count):
    from distsim.grammar.extraction import extract as extracting

    monkeypatch.setattr(extracting, "_CHUNK_RULES", 50)
    draw = random.Random(8)
    bitexts = [[drawn_pair(draw) for _ in range(30)], [drawn_pair(draw) for _ in range(12)]]
    options = replace(PRESETS["samt"], min_count=min_count)
    text = linked_text(bitexts, options)
    report = write_rules(
        text, tmp_path / "text", options, FeatureChoice(), Run(2), tmp_path / "numbers"
    )
    rules = NumericRules(tmp_path / "numbers")
    assert len(rules) == report.rules > 30
    expected = read_rules(tmp_path / "text")
    sides = {}
    for name in ("foreign", "english"):
        data, starts = rules.sides(name)
        data = data.tobytes()
        sides[name] = [data[a:b].decode() for a, b in zip(starts[:-1], starts[1:], strict=True)]
        assert len(set(sides[name])) == len(sides[name])
    for n, (label, f, e) in enumerate(expected):
        values, links = expected[label, f, e]
        assert f"[{rules.labels[rules.label[n]].decode()}]" == label
        assert sides["foreign"][rules.foreign[n]] == f
        assert sides["english"][rules.english[n]] == " ".join(canonical(e.split()))
        assert bool(rules.swaps[n]) == (values["Monotonic"] == 0)
        assert np.count_nonzero(rules.bitexts[n]) == values["Bitexts"]
        assert rules.bitexts[n].sum() == rules.count[n]
        assert rules.lex[n] == pytest.approx([values["Lex(e|f)"], values["Lex(f|e)"]], abs=6e-6)
        c_fe, c_f, c_e, c_lf, c_le = rules.margins[n].tolist()
        c_l = rules.label_counts[rules.label[n]]
        found = [c_fe / c_f, c_fe / c_e, rules.count[n] / c_lf, rules.count[n] / c_le, c_le / c_l]
        names = ["p(e|f)", "p(f|e)", "p(e|f,LHS)", "p(f|e,LHS)", "p(e|LHS)"]
        assert np.exp([-values[name] for name in names]) == pytest.approx(found, abs=1e-5)
        first, last = rules.link_starts[n : n + 2]
        assert " ".join(f"{i}-{j}" for i, j in rules.links[first:last].tolist()) == links


def test_changed_bytes_lead_nowhere(tmp_path):
    """A kernel that follows a number out of its array ends the process, not the test."""
    draw = random.Random(8)
    options = replace(PRESETS["samt"], min_count=1)
    text = linked_text([[drawn_pair(draw) for _ in range(12)]], options)
    folder = tmp_path / "numbers"
    write_rules(text, tmp_path / "text", options, FeatureChoice(), numeric=folder)
    pivot_rules(folder, tmp_path / "out", jobs=1)
    assert find_faults(folder) == []
    refused = 0
    for file in sorted(folder.glob("*.bin")):
        whole = file.read_bytes()
        for at in range(0, len(whole), max(1, len(whole) // 12)):
            changed = bytearray(whole)
            changed[at] ^= draw.randrange(1, 256)
            file.write_bytes(changed)
            try:
                pivot_rules(folder, tmp_path / "out", jobs=1)
            except ArtifactError as error:
                assert "its arrays contradict each other (" in str(error)
                refused += 1
        file.write_bytes(whole)
    assert refused > 30
    with storage.change(folder, storage.RULES) as writer:
        writer.add("labels/counts", np.zeros_like(writer.read("labels/counts")))
    assert "labels/counts has values below 1" in find_faults(folder)[0]


@pytest.mark.parametrize("n", [0, 1, 16, 17, 400, 1 << 16, (1 << 16) + 1])
def test_english_margins_of_sides_with_many_labels(n):
    draw = np.random.default_rng(n)
    sides = draw.integers(0, 12 + n // 30, n).astype(np.uint64) << np.uint64(40)
    labels, counts = draw.integers(0, 30, n), draw.integers(1, 5, n)
    rows = np.stack([sides, (labels << 32 | counts).astype(np.uint64)], axis=1)
    of_side, of_both = Counter(), Counter()
    for side, label, count in zip(sides.tolist(), labels.tolist(), counts.tolist(), strict=True):
        of_side[side] += count
        of_both[side, label] += count
    for has_labels in (False, True):
        keys, english = Column(None, np.uint64, 2), Column(None, np.uint32, 3)
        keys.append(rows)
        n_sides = _english_margins(keys, has_labels, english)
        english.rewind()
        out = english.read(n)
        numbers = dict(zip(sides.tolist(), out[:, 0].tolist(), strict=True))
        assert sorted(numbers.values()) == list(range(n_sides))
        assert out.tolist() == [
            [numbers[side], of_side[side], of_both[side, label] if has_labels else of_side[side]]
            for side, label in zip(sides.tolist(), labels.tolist(), strict=True)
        ]


@pytest.mark.parametrize("n", [0, 1, 500])
def test_rows_in_parts_from_the_last_to_the_first(n):
    rows = np.random.default_rng(n).integers(0, 1 << 63, (n + 3, 5)).astype(np.uint64) * 2
    parts = (rows[:n, 0] >> np.uint64(59)).astype(np.int64)
    expected = rows[:n][np.argsort(-parts, kind="stable")]
    after = rows[n:].copy()
    counts = partition_rows(rows, n, 5, np.empty((n, 5), np.uint64))
    assert counts.tolist() == np.bincount(parts, minlength=32).tolist()
    assert (rows[:n] == expected).all()
    assert (rows[n:] == after).all()


@pytest.mark.parametrize("distinct", [1, 511, 512, 513, 5000])
def test_sums_of_labels(distinct):
    draw = np.random.default_rng(distinct)
    labels = np.append(np.arange(distinct), draw.integers(0, distinct, 100)).astype(np.uint32) * 7
    counts = draw.integers(1, 9, labels.size)
    wanted = Counter()
    for label, count in zip(labels.tolist(), counts.tolist(), strict=True):
        wanted[label] += count
    codes, sums = _sums_of_labels(labels, counts)
    assert dict(zip(codes.tolist(), sums.tolist(), strict=True)) == wanted
    assert codes.size == distinct
