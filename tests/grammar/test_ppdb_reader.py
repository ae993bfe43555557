"""A line of ours is one that a reader of PPDB 1.0 takes.

The reader here is written from the description of the release (thesis 6.2, table 6.6) and from
lines of it, and shares no code with the package.
"""

import gzip
import math
import random
import re
from typing import NamedTuple

import pytest

from distsim import PRESETS, pivot_grammar, sign
from distsim.grammar import PivotOptions

# Of PPDB 1.0 (Ganitkevitch et al. 2013, CC BY 3.0); the first is the example of table 6.6.
RELEASED = (
    "[ADJP] ||| hard ||| pretty difficult ||| Abstract=0 Adjacent=0 CharCountDiff=12 "
    "CharLogCR=1.38629 ContainsX=0 GlueRule=0 Identity=0 Lex(e|f)=4.86514 Lex(f|e)=11.05531 "
    "Lexical=1 LogCount=0.69315 Monotonic=1 PhrasePenalty=1 RarityPenalty=0.00012 "
    "SourceTerminalsButNoTarget=0 SourceWords=1 TargetTerminalsButNoSource=0 TargetWords=2 "
    "UnalignedSource=0 UnalignedTarget=0 WordCountDiff=1 WordLenDiff=3.50000 WordLogCR=0.69315 "
    "p(LHS|e)=0 p(LHS|f)=1.84819 p(e|LHS)=15.47166 p(e|f)=10.47819 p(e|f,LHS)=8.36974 "
    "p(f|LHS)=8.42517 p(f|e)=1.58351 p(f|e,LHS)=1.32325 ||| 0-0 0-1",
    "[CD] ||| 10/17/01 ||| 17/10/2001 ||| Abstract=0 Adjacent=0 CharCountDiff=2 CharLogCR=0.22314 "
    "ContainsX=0 GlueRule=0 Identity=0 Lex(e|f)=62.90141 Lex(f|e)=62.90141 Lexical=1 LogCount=0 "
    "Monotonic=1 PhrasePenalty=1 RarityPenalty=0.13534 SourceTerminalsButNoTarget=0 SourceWords=1 "
    "TargetTerminalsButNoSource=0 TargetWords=1 UnalignedSource=0 UnalignedTarget=0 "
    "WordCountDiff=0 WordLenDiff=2.00000 WordLogCR=0 p(LHS|e)=0 p(LHS|f)=0 p(e|LHS)=16.92877 "
    "p(e|f)=0.69315 p(e|f,LHS)=0.69315 p(f|LHS)=16.92877 p(f|e)=0.69315 p(f|e,LHS)=0.69315 "
    "AGigaSim=0 GoogleNgramSim=0 ||| 0-0",
    "[PRN] ||| -lrb- [VBN,1] [-RRB-,2] osman ertug ||| -lrb- [VBN,1] [-RRB-,2] osman ertu ||| "
    "Abstract=0 Adjacent=1 CharCountDiff=-1 CharLogCR=-0.05407 ContainsX=0 GlueRule=0 Identity=0 "
    "Lex(e|f)=62.61372 Lex(f|e)=62.61372 Lexical=0 LogCount=0.69315 Monotonic=1 PhrasePenalty=1 "
    "RarityPenalty=0 SourceTerminalsButNoTarget=0 SourceWords=3 TargetTerminalsButNoSource=0 "
    "TargetWords=3 UnalignedSource=0 UnalignedTarget=0 WordCountDiff=0 WordLenDiff=-0.33333 "
    "WordLogCR=0 p(LHS|e)=0.36291 p(LHS|f)=0.74194 p(e|LHS)=15.18701 p(e|f)=-0.00425 "
    "p(e|f,LHS)=-0.00425 p(f|LHS)=15.27798 p(f|e)=0.00431 p(f|e,LHS)=0.00431 AGigaSim=0.75951 "
    "GoogleNgramSim=0.68302 ||| 0-0 1-1 2-2 3-3 4-4",
)
NAMES = [pair.split("=")[0] for pair in RELEASED[0].split(" ||| ")[3].split(" ")]
SCORES = ["AGigaSim", "GoogleNgramSim"]
OF_SIDES = [
    name for name in NAMES
    if not re.match(r"p\(|Lex\(|LogCount|RarityPenalty|Unaligned", name)
]  # fmt: skip
GAP = re.compile(r"\[([^ ]+),([12])\]")
LINK = re.compile(r"(0|[1-9]\d*)-(0|[1-9]\d*)")


class Rule(NamedTuple):
    label: str
    source: list[str]
    target: list[str]
    features: dict[str, float]
    links: list[tuple[int, int]]


def read(line: str, more: int = 0) -> Rule:
    """Return a line's rule; `more` features may stand behind those of the release."""
    label, source, target, features, alignment = line.split(" ||| ")
    assert re.fullmatch(r"\[[^ ,]+\]", label), label
    sides = source.split(" "), target.split(" ")
    assert all(token and "|||" not in token for side in sides for token in side)
    gaps = [[match for token in side if (match := GAP.fullmatch(token))] for side in sides]
    assert [match[2] for match in gaps[0]] == ["1", "2"][: len(gaps[0])]
    assert sorted(match[0] for match in gaps[0]) == sorted(match[0] for match in gaps[1])
    pairs = [feature.split("=") for feature in features.split(" ")]
    names = [name for name, _ in pairs]
    scores = SCORES if len(names) > len(NAMES) else []
    assert names[: len(names) - more] == [*NAMES, *scores]
    values = {name: float(value) for name, value in pairs}
    assert all(map(math.isfinite, values.values()))
    links = [LINK.fullmatch(pair) for pair in alignment.split(" ") if pair]
    numbers = [(int(match[1]), int(match[2])) for match in links]
    assert numbers == sorted(set(numbers))
    assert all(i < len(sides[0]) and j < len(sides[1]) for i, j in numbers)
    for match in gaps[0]:
        assert (sides[0].index(match[0]), sides[1].index(match[0])) in numbers
    terminals = [len(side) - len(of) for side, of in zip(sides, gaps, strict=True)]
    assert (values["SourceWords"], values["TargetWords"]) == tuple(terminals)
    for name, side, k in (("UnalignedSource", 0, 0), ("UnalignedTarget", 1, 1)):
        linked = {pair[k] for pair in numbers}
        assert values[name] == len(sides[side]) - len(linked)
    return Rule(label, *sides, values, numbers)


@pytest.mark.parametrize("line", RELEASED, ids=["ADJP", "CD", "PRN"])
def test_the_sides_of_released_lines_give_their_values(tmp_path, line):
    released = read(line)
    one, other = (" ".join(side) for side in (released.source, released.target))
    gaps = [token for token in released.source if GAP.fullmatch(token)]
    pivot = " ".join(["x", *gaps])
    links = [
        " ".join(f"0-{k}" for k, token in enumerate(side.split()) if not GAP.fullmatch(token))
        for side in (one, other)
    ]
    (tmp_path / "rules").write_text("".join(
        f"{released.label} ||| {pivot} ||| {side} ||| Lex(e|f)=1 Lex(f|e)=2 RarityPenalty=0.1 "
        f"p(LHS|e)=0 p(LHS|f)=0 p(e|LHS)=1 p(e|f)=1 p(e|f,LHS)=1 p(f|LHS)=1 p(f|e)=1 "
        f"p(f|e,LHS)=1 ||| {of_side}\n"
        for side, of_side in zip((one, other), links, strict=True)
    ))  # fmt: skip
    pivot_grammar(
        tmp_path / "rules", tmp_path / "out", options=PivotOptions(columns="joint", names="ppdb")
    )
    rules = [read(text) for text in (tmp_path / "out").read_text().splitlines()]
    (rule,) = (rule for rule in rules if rule.source == released.source)
    assert (rule.label, rule.target) == (released.label, released.target)
    for name in OF_SIDES:
        assert rule.features[name] == released.features[name], name
    assert set(released.links) <= set(rule.links)


WORDS = {  # of a bitext, with their labels
    "alice": ("alice", "NNP"), "the queen": ("die königin", "NP"), "a queen": ("die königin", "NP"),
    "said": ("sagte", "VBD"), "replied": ("sagte", "VBD"), "a little": ("ein wenig", "ADVP"),
    "a bit": ("ein wenig", "ADVP"), "50 %": ("50 %", "NP"), "|": ("|", "SYM"),
}  # fmt: skip


@pytest.mark.parametrize("preset", ["phrases", "hiero", "ppdb"])
def test_a_made_grammar_is_read(tmp_path, run, small_index, preset):
    draw = random.Random(5)
    rows = [draw.choices(list(WORDS), k=draw.randint(2, 5)) for _ in range(150)]

    def tree(words: str) -> str:
        leaves = " ".join(f"(X {word})" for word in words.split())
        return f"({WORDS[words][1]} {leaves})"

    for name, text in (
        ("en", " ".join), ("de", lambda row: " ".join(WORDS[words][0] for words in row)),
        ("trees", lambda row: f"(S {' '.join(map(tree, row))})"),
    ):  # fmt: skip
        (tmp_path / name).write_text("".join(f"{text(row)}\n" for row in rows))
    for name, recipe in (("ngram", "learned"), ("syntax", "thesis")):
        sign(small_index, tmp_path / name, recipe=PRESETS[recipe])
    trees = ["--trees", tmp_path / "trees"] if preset == "ppdb" else []
    run(
        "make-grammar", "--bitext", tmp_path / "en", tmp_path / "de", *trees, "--index",
        tmp_path / "ngram", "--syntax", tmp_path / "syntax", "--set", "names=ppdb", "--set",
        f"preset={preset}", "--set", "max_translations=20", "-o", tmp_path / "grammar",
    )  # fmt: skip
    with gzip.open(tmp_path / "grammar/paraphrases.gz", "rt", newline="\n") as lines:
        paraphrases = [read(line.rstrip("\n")) for line in lines]
    with gzip.open(tmp_path / "grammar/scored.gz", "rt", newline="\n") as lines:
        # Behind those of the release: two shares of coverage, sim_rule.
        scored = [read(line.rstrip("\n"), more=3) for line in lines]
    assert len(paraphrases) > 10
    for one, other in zip(paraphrases, scored, strict=True):
        assert set(SCORES) <= other.features.keys()
        kept = {name: other.features[name] for name in NAMES}
        assert other._replace(features=kept) == one
    assert any(rule.features["GoogleNgramSim"] for rule in scored)
    if preset != "phrases":
        assert any(GAP.fullmatch(token) for rule in scored for token in rule.source)
    labels = {rule.label for rule in scored}
    assert {"[NP]", "[ADVP]"} <= labels if preset == "ppdb" else labels == {"[X]"}


def test_the_reader_refuses_what_is_no_line_of_the_release():
    for line in RELEASED:
        for old, new in (
            ("Abstract=0 Adjacent", "Adjacent"), ("PhrasePenalty=1", "PhrasePenalty=NA"),
            (" ||| 0-0", " ||| 0-9"), ("SourceWords=", "SourceWords=2"), (" |||", "|||"),
            ("WordLenDiff", "Wordlendiff"),
        ):  # fmt: skip
            with pytest.raises((AssertionError, ValueError)):
                read(line.replace(old, new, 1))
