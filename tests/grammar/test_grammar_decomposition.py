"""Rules are taken apart as section 7 of the design and thesis 5.3.2 say."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distsim.base.errors import ParameterError
from distsim.corpus.lines import LineBlock
from distsim.grammar.block import decompose, decompose_block, parse_block
from distsim.grammar.formats.moses import PHRASE_TABLE
from distsim.grammar.formats.rules import RULES
from tests.naive.grammar import naive_decompose


def strings(pairs):
    return [pair[:2] for pair in pairs]


def test_the_worked_rule():
    rule = "the [JJ,1] city of [NP,2]", "the [JJ,1] town of [NP,2]"
    assert set(strings(decompose(*rule, [(i, i) for i in range(5)]))) == {
        ("the", "the"), ("city", "town"), ("of", "of"), ("city of", "town of"),
    }  # fmt: skip


def test_whole_pairs_of_short_rules_stand_without_links():
    assert strings(decompose("in spite of", "despite", [])) == [("in spite of", "despite")]
    assert strings(decompose("in spite of", "despite", [(1, 0)])) == [
        ("spite", "despite"),
        ("in spite of", "despite"),
    ]
    assert decompose("a b c d e", "a", []) == []
    assert decompose("a [X,1]", "[X,1] a", []) == []
    assert decompose("[X,1]", "[X,1]", [(0, 0)]) == []
    assert strings(decompose("a", "b", [(0, 0)])) == [("a", "b")]


def test_gaps_are_walls_and_links_must_not_cross():
    # of-genitive: gaps swap; `of` and `'s` are linked
    pairs = decompose("[NP,1] of [NP,2]", "[NP,2] 's [NP,1]", [(0, 2), (1, 1), (2, 0)])
    assert strings(pairs) == [("of", "'s")]
    # a word linked to a gap leaves the rule
    assert decompose("a [X,1]", "[X,1] b", [(0, 0), (0, 1)]) == []
    assert strings(decompose("a b [X,1]", "[X,1] c d", [(0, 1), (1, 2), (1, 0)])) == [("a", "c")]


def test_unaligned_symbols_may_stand_inside_but_not_at_edges():
    pairs = decompose("a b c d e", "x y z [X,1]".replace(" [X,1]", ""), [(0, 0), (2, 2)])
    assert strings(pairs) == [("a", "x"), ("a b c", "x y z"), ("c", "z")]


def test_repeated_strings_count_as_spans():
    pairs = decompose("so so", "so so", [(0, 1), (1, 0)])
    assert [p[2:] for p in pairs] == [((0, 1), (1, 2)), ((0, 2), (0, 2)), ((1, 2), (0, 1))]


def test_rules_that_cannot_be():
    with pytest.raises(ParameterError, match="0-3 points outside the rule: mend"):
        decompose("a", "b", [(0, 3)])
    for target in ("a", "a [X,1] [Y,1]", "a [X,2]"):
        with pytest.raises(ParameterError, match=r"gap \d does not occur once on each side"):
            decompose("a [X,1]", target, [])


@st.composite
def drawn_rules(draw):
    n_gaps = draw(st.integers(0, 3))
    sides = []
    for _ in range(2):
        words = draw(st.lists(st.sampled_from(["a", "b", "[,1]", "[1,000]", "c"]), max_size=9))
        for gap in range(1, n_gaps + 1):
            at = draw(st.integers(0, len(words)))
            words.insert(at, draw(st.sampled_from([f"[X,{gap}]", f"[,,{gap}]"])))
        sides.append(words)
    n, m = map(len, sides)
    pairs = st.tuples(st.integers(0, max(0, n - 1)), st.integers(0, max(0, m - 1)))
    links = draw(st.lists(pairs, max_size=12)) if n and m else []
    return " ".join(sides[0]), " ".join(sides[1]), links


@settings(max_examples=400, deadline=None)
@given(drawn_rules(), st.integers(1, 5))
def test_decomposition_is_that_of_the_definition(rule, longest):
    found = [pair[2:] for pair in decompose(*rule, longest=longest)]
    assert len(set(found)) == len(found)
    assert set(found) == set(naive_decompose(*rule, longest))
    found = [pair[2:] for pair in decompose(*rule, longest=longest, pairs="reference")]
    assert len(set(found)) == len(found)
    assert set(found) == set(naive_decompose(*rule, longest, as_reference=True))


def test_a_source_phrase_of_the_reference_may_end_without_a_link():
    rule = "a b c", "x y", [(0, 0), (2, 1)]
    assert strings(decompose(*rule)) == [("a", "x"), ("a b c", "x y"), ("c", "y")]
    assert strings(decompose(*rule, pairs="reference")) == [
        ("a", "x"), ("a b", "x"), ("a b c", "x y"), ("c", "y"),
    ]  # fmt: skip
    assert decompose("a", "b", [], pairs="reference") == []


@pytest.mark.parametrize("n", [1, 4, 5, 40])
def test_a_block_of_rules_is_the_rules_one_by_one(n):
    rng = np.random.default_rng(n)
    rules, lines = [], []
    for _ in range(200 // n**2 + 3):
        source = [f"w{rng.integers(9)}" for _ in range(n)]
        target = [f"v{rng.integers(9)}" for _ in range(n)]
        links = sorted({(int(i), int(min(n - 1, max(0, i + rng.integers(-1, 2))))) for i in range(n)
                        if rng.random() < 0.9})  # fmt: skip
        rules.append((" ".join(source), " ".join(target), links))
        joined = " ".join(f"{i}-{j}" for i, j in links)
        lines.append(f"[X] ||| {rules[-1][0]} ||| {rules[-1][1]} ||| 0.5 ||| {joined}\n")
    block = parse_block(LineBlock("".join(lines).encode(), 1), RULES)
    stops, spans = decompose_block(block)
    begin = 0
    for number, rule in enumerate(rules):
        source, target = block.sides(number)
        mine = {
            ((i - source.start, i + a - source.start), (j - target.start, j + b - target.start))
            for i, a, j, b in spans[begin : stops[number]].tolist()
        }
        assert mine == set(naive_decompose(*rule))
        assert block.links_of(number) == rule[2]
        begin = stops[number]


HOSTILE = [
    (b"[X] ||| a ||| b\n", "3 fields separated by |||, too few"),
    (b"a\n", "1 field separated by |||, too few"),
    (b"\n", "an empty line"),
    (b" \t\r\n", "an empty line"),
    (b"a|||b|||0.1\n", "||| without blanks around it, which separate fields"),
    (b"X ||| a ||| b ||| 1\n", "left-hand side is no label"),
    (b"[X] y ||| a ||| b ||| 1\n", "left-hand side is no label"),
    (b"[X] ||| [A,1] a ||| b ||| 1\n", "gap 1 does not occur once"),
    (b"[X] ||| [A,1] ||| [A,1] [A,1] ||| 1\n", "gap 1 does not occur once"),
    (b"[X] ||| [A,1] ||| [A,2] ||| 1\n", "gap 1 does not occur once"),
    (b"[X] ||| a ||| b ||| 1 ||| 0-1\n", "link 0-1 points outside"),
    (b"[X] ||| a ||| b ||| 1 ||| 99999999999999999999-0\n", "points outside"),
    (b"[X] ||| a ||| b ||| 1 ||| 0-0 1-\n", "link '1-': wanted two numbers"),
    (b"[X] ||| \xff\xfe ||| b ||| 1\n", "not UTF-8"),
]


@pytest.mark.parametrize(("line", "fault"), HOSTILE)
def test_hostile_lines_are_told_and_disturb_no_other(line, fault):
    good = b"[X] ||| [,,1] good ||| fine [NP/NN,1] ||| 1 ||| 1-0 0-1\n"
    block = parse_block(LineBlock(good + line + good[:-1] + b"\r\n" + line[:-1], 1), RULES)
    assert len(block) == (4 if line[:-1] else 3)
    assert block.status.astype(bool).tolist() == [False, True, False, True][: len(block)]
    assert re.search(re.escape(fault), block.fault(1)) and block.fault(0) == ""
    assert block.sides(2) == (range(4, 6), range(6, 8))
    assert block.links_of(2) == [(1, 0), (0, 1)]
    assert block.gaps.tolist() == [1, -1, -1, 1] * 2
    assert block.text[: block.features[0, 1]].endswith(b" ||| 1")


@pytest.mark.parametrize(
    ("line", "gaps"),
    [
        (b"[A] ||| [NP+VP,1] [.,2] ||| [.,2] [NP+VP,1] ||| ", [1, 2, 2, 1]),
        (b"[A] ||| [''+.,1] [X] [,1] ||| [''+.,1] [1,000] ] [ ||| 1", [1, -1, -1, 1, -1, -1, -1]),
        (b"[X] ||| a [X,1] ||| [1] b [2] ||| 1", [-1, 1, 1, -1, -1]),
        (b"[X] ||| [JJ\\S,1] ||| [JJ\\S,1] ||| 1", [1, 1]),
        (b"[X] ||| <s> ||| ||| 0", [-1]),
    ],
)
def test_gaps_are_known_by_their_last_comma(line, gaps):
    block = parse_block(LineBlock(line, 1), RULES)
    assert block.fault(0) == ""
    assert block.gaps.tolist() == gaps


def test_older_phrase_tables_have_their_links_in_two_columns():
    text = (
        b"de mantener el ||| leave the ||| ( ) (0) (1) ||| (1) (2) ||| 0.1 2.718\n"
        b"a b ||| c ||| 0.5 (0) ||| 0-0 1-0 ||| 1 2 3 |||\n"
        b"a ||| b c ||| (0,1) ||| (0) (0) ||| 0.5 1\n"
        b"a ||| b ||| (0) ||| (1) ||| 0.5\n"
        b"a |||  ||| 1\n"
    )
    block = parse_block(LineBlock(text, 1), PHRASE_TABLE)
    assert [set(block.links_of(k)) for k in range(3)] == [
        {(1, 0), (2, 1)}, {(0, 0), (1, 0)}, {(0, 0), (0, 1)},
    ]  # fmt: skip
    assert block.fault(3) == "alignment link 1-0 points outside the rule"
    assert block.fault(4) == "an empty phrase"
    before = [text[:at].split(b"\n")[-1] for at in block.features[:3, 1].tolist()]
    assert [line.split()[-1] for line in before] == [b"2.718", b"(0)", b"1"]


def test_a_format_whose_target_precedes_its_source_is_refused():
    layout = RULES.layout._replace(source=2, target=1)
    with pytest.raises(ValueError, match="come in this order"):
        replace(RULES, layout=layout)
