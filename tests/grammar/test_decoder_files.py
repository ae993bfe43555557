"""Tables and grammars as decoders read them: readers written from the decoders' descriptions.

Moses' manual, "Training, step 6" and its text phrase table; Joshua's pages on packing and on
grammar formats. Nothing of the package's own parsers is used.
"""

import math
import random
import re
from collections import Counter, defaultdict
from typing import NamedTuple

import pytest

from distsim.grammar import ExtractOptions, extract_phrase_table
from tests.grammar.test_moses_table import bitext_of, drawn


class MosesRule(NamedTuple):
    """A line of a text phrase table."""

    source: list[str]
    target: list[str]
    scores: list[float]
    links: set[tuple[int, int]]


def read_moses(line: str, n_scores: int) -> MosesRule:
    """Return a line: sides of factors without `|`, scores above 0, links within both sides."""
    fields = [field.strip() for field in line.split("|||")]
    assert 4 <= len(fields) <= 7 and "\t" not in line and "  " not in line
    source, target, scores, links = (field.split() for field in fields[:4])
    assert source and target and len(scores) == n_scores
    assert not any(set(word) & set("|[]<>") - set("<>") for word in source + target)
    pairs = {(int(a), int(b)) for a, b in (link.split("-") for link in links)}
    assert all(i < len(source) and j < len(target) for i, j in pairs)
    numbers = [float(score) for score in scores]
    assert all(0 < number <= 1 and math.isfinite(number) for number in numbers)
    return MosesRule(source, target, numbers, pairs)


class JoshuaRule(NamedTuple):
    """A line of a text grammar."""

    label: str
    source: list[str]
    target: list[str]
    features: dict[str, float]


_GAP = re.compile(r"\[([^\s,\[\]]+),([1-9])\]")


def read_joshua(line: str) -> JoshuaRule:
    """Return a line: gaps numbered from 1 in source order, the same in both sides; named costs."""
    fields = line.split(" ||| ")
    assert 4 <= len(fields) <= 5, line
    label, source, target, features = fields[0], *(field.split() for field in fields[1:4])
    assert re.fullmatch(r"\[[^\s,\[\]]+\]", label)
    gaps = [[one[1:] and _GAP.fullmatch(one) for one in side] for side in (source, target)]
    numbers = [[int(one[2]) for one in side if one] for side in gaps]
    assert numbers[0] == list(range(1, len(numbers[0]) + 1)) == sorted(numbers[1])
    for side, found in zip((source, target), gaps, strict=True):
        assert side and not any(
            "[" in one or "]" in one for one, gap in zip(side, found, strict=True) if not gap
        )
    named = [one.rpartition("=")[::2] for one in features]
    assert len({name for name, _ in named}) == len(named) and all(name for name, _ in named)
    if len(fields) == 5:
        for link in fields[4].split():
            i, j = map(int, link.split("-"))
            assert i < len(source) and j < len(target)
    return JoshuaRule(label, source, target, {name: float(value) for name, value in named})


@pytest.mark.parametrize("target", ["first", "second"])
def test_of_several_alignments_the_most_frequent_one_is_written(tmp_path, target):
    pairs = drawn(7, 200)
    bitext_of(pairs, tmp_path)
    options = ExtractOptions(longest=3, most_symbols=3, most_gaps=0, loose=True, whole=False)
    extract_phrase_table([tmp_path / "bitext"], tmp_path / "table", target=target, options=options)
    if target == "first":
        pairs = [(f, e, {(j, i) for i, j in links}) for e, f, links in pairs]
    seen: defaultdict[tuple[str, str], Counter[frozenset[tuple[int, int]]]] = defaultdict(Counter)
    for source, other, links in pairs:
        for a in range(len(source)):
            for b in range(a + 1, min(len(source), a + 3) + 1):
                for c in range(len(other)):
                    for d in range(c + 1, min(len(other), c + 3) + 1):
                        inside = {(i, j) for i, j in links if a <= i < b or c <= j < d}
                        if inside and all(a <= i < b and c <= j < d for i, j in inside):
                            found = frozenset((i - a, j - c) for i, j in inside)
                            seen[" ".join(source[a:b]), " ".join(other[c:d])][found] += 1
    rules = [read_moses(line, 4) for line in (tmp_path / "table").read_text().splitlines()]
    assert len(rules) == len(seen) > 100
    for rule in rules:
        counts = seen[" ".join(rule.source), " ".join(rule.target)]
        assert counts[frozenset(rule.links)] == max(counts.values())


@pytest.mark.parametrize("target", ["first", "second"])
def test_a_table_of_both_directions_is_one_of_moses_before_and_after(tmp_path, run, target):
    rng = random.Random(3)
    pairs = []
    for _ in range(300):  # each word has a translation of its own
        numbers = rng.sample(range(60), 5)
        side = [[f"{name}word{n}" for n in numbers] for name in "ef"]
        pairs.append((*side, {(n, n) for n in range(5)}))
    bitext_of(pairs, tmp_path)
    run(
        "extract",
        tmp_path / "bitext",
        "--format",
        "moses",
        "--target",
        target,
        "-o",
        tmp_path / "t",
    )
    before = [read_moses(line, 4) for line in (tmp_path / "t").read_text().splitlines()]
    name = "f" if target == "first" else "e"
    assert all(word.startswith(name) for rule in before for word in rule.source)
    for side in "ef":
        run("index", "build", tmp_path / side, "-o", tmp_path / f"{side}.index")
        run("sign", tmp_path / f"{side}.index", "--min-count", "1", "--max-length", "1")
    (tmp_path / "text").write_text(f"{name}word7 new&#124;er &#91;{name}word8 https://x.org/a_b\n")
    other = "e" if name == "f" else "f"
    run("augment", tmp_path / "t", "--unknown", tmp_path / "text", "--index",
        tmp_path / f"{name}.index", "--target-index", tmp_path / f"{other}.index",
        "-o", tmp_path / "new")  # fmt: skip
    lines = (tmp_path / "new").read_text().splitlines()
    after = [read_moses(line, 5) for line in lines]
    assert lines == sorted(lines)
    old = [rule._replace(scores=rule.scores[:4]) for rule in after if rule.scores[4] == 1]
    assert old == before
    assert any(rule.source == ["https://x.org/a_b"] for rule in after if rule.scores[4] < 1)


def test_extracted_rules_are_a_grammar_of_joshua(tmp_path, run):
    bitext_of(drawn(9, 80), tmp_path)
    for given in ([], ["--preset", "hiero"], ["--preset", "phrases"]):
        out, _ = run("extract", tmp_path / "bitext", *given)
        rules = [read_joshua(line) for line in out.splitlines()]
        assert len(rules) > 50
        for rule in rules:
            assert all(math.isfinite(value) for value in rule.features.values())
            assert rule.features["p(e|f)"] >= 0 and rule.features["p(f|e)"] >= 0
