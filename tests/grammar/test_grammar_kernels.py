"""Kernels of rules against slow twins: parsing, links by evidence, finding texts."""

import math
import random
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from distsim.corpus.lines import LineBlock, split_lines
from distsim.grammar.alignment import RuleAligner
from distsim.grammar.arrays import first_rows, numbers_of, order_by, texts_of
from distsim.grammar.block import parse_block
from distsim.grammar.fields import (
    LineFaultError,
    side_tokens,
    split_fields,
    tokens,
    without_line_end,
)
from distsim.grammar.formats.grammar_format import Features
from distsim.grammar.formats.moses import PHRASE_TABLE
from distsim.grammar.formats.rules import RULES, gap_of
from distsim.grammar.kernels.packs import (
    ABSENT,
    FOUND,
    NO_NUMBER,
    NOT_AVAILABLE,
    insert_texts,
    read_columns,
    read_number,
    write_values,
)
from distsim.grammar.kernels.pivot import Groups, eight_bytes, order_texts, pair_up
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import find_texts
from tests.naive.grammar import links_of_entry, naive_links
from tests.naive.pivot import naive_pairs

SYMBOLS = ["connect", "connected", "connection", "the", "The", "of", "ünïcode", "ünïcodes"]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_links_are_those_of_the_slow_twin(data):
    rules = []
    for _ in range(data.draw(st.integers(1, 5))):
        sides = [data.draw(st.lists(st.sampled_from(SYMBOLS), max_size=6)) for _ in range(2)]
        for gap in range(1, data.draw(st.integers(1, 3))):
            for side in sides:
                side.insert(data.draw(st.integers(0, len(side))), f"[X,{gap}]")
        rules.append(sides)
    text = "".join(f"[X] ||| {' '.join(s)} ||| {' '.join(t)} ||| 1\n" for s, t in rules)
    block = parse_block(LineBlock(text.encode(), 1), RULES)
    alignment = RuleAligner("all").align(block)
    begin = 0
    for (source, target), stop, made in zip(
        rules, alignment.link_stops.tolist(), alignment.tried.tolist(), strict=True
    ):
        found = {(i, j) for i, j in alignment.links[begin:stop].tolist()}
        assert found == (naive_links(source, target) if made else set())
        begin = stop


PIECES = st.sampled_from(
    [b"[X]", b"[NP/NN]", b"|||", b"a", b"[,,1]", b"[X,2]", b"[1,000]", b"0-0", b"1-2", b"x=1",
     b" ", b"\t", b"\r", b"\n", b"NA", b"\xff"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=60))
def test_any_bytes_are_parsed_as_the_slow_reader_does(pieces):
    text = b" ".join(pieces).replace(b"\n ", b"\n")
    block = parse_block(LineBlock(text, 1), RULES)
    lines = split_lines(text)
    assert [block.line(k) for k in range(len(block))] == lines
    for number, line in enumerate(lines):
        fault = block.fault(number)
        fields = split_fields(line.removesuffix(b"\n").removesuffix(b"\r"))
        if len(fields) < 4:
            assert fault
            continue
        sides = [fields[k].split(b" ") for k in (1, 2)]
        sides = [[s for part in side for s in part.split(b"\t") if s] for side in sides]
        if not fault:
            found = [[block.symbol(k) for k in side] for side in block.sides(number)]
            assert found == sides
            gaps = [sorted(gap_of(s)[1] for s in side if gap_of(s)) for side in sides]
            assert gaps[0] == gaps[1] and len(set(gaps[0])) == len(gaps[0])
            at = int(block.features[number, 1] - block.line_starts[number])
            before = line[:at].rstrip(b" \t")
            assert before.endswith(fields[3].strip(b" \t") or b"|||")


@given(st.lists(st.sampled_from([b"", b"a", b"b", b"ab", b"abc"]), max_size=9), st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_rows_of_one_hash_are_told_apart_by_their_text(wanted, block_rows):
    rows = [b"a", b"b", b"ab", b"ba", b"c"]
    hashes = np.array([3, 3, 3, 1 << 63, 1 << 63], np.uint64)
    ends = np.cumsum([len(row) for row in rows])
    blocks = np.concatenate([[0], ends])[:-1][::block_rows]
    within = ends - np.repeat(blocks, block_rows)[: len(rows)]
    text = np.frombuffer(b"".join(rows), np.uint8)
    offsets = np.cumsum([0, *map(len, wanted)])
    asked = np.full(len(wanted), 3, np.uint64)
    found = find_texts(
        frozen(hashes), frozen(text), frozen(blocks.astype(np.uint64)),
        frozen(within.astype(np.uint32)), block_rows, frozen(asked),
        frozen(np.frombuffer(b"".join(wanted), np.uint8)), frozen(offsets),
    )  # fmt: skip
    assert found.tolist() == [rows.index(w) if w in rows[:3] else -1 for w in wanted]


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False).map(repr),
        st.text("0123456789.eE+-_nai ", max_size=12),
        st.from_regex(r"[+-]?[0-9]{0,25}\.?[0-9]{0,25}(e[+-]?[0-9]{1,4})?", fullmatch=True),
    )
)
def test_numbers_are_pythons_written_plainly(text):
    data = frozen(np.frombuffer(text.encode(), np.uint8))
    value, found = read_number(data, 0, data.size)
    plain = re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text)
    assert found == bool(plain and math.isfinite(float(text))) or abs(float(text)) > 1.7e308
    if found:
        assert value == pytest.approx(float(text), rel=1e-15, abs=5e-324)


def test_columns_are_found_by_name_and_by_place():
    text = b"x=1 2 y=z=3 NA 1_0 x=4"
    columns = [b"x", b"y=z", b"0", b"1", b"2", b"3", b"y"]
    values, found, _ = read_columns(
        frozen(np.frombuffer(text, np.uint8)), frozen(np.array([[0, len(text)]])),
        frozen(np.frombuffer(b"".join(columns), np.uint8)),
        frozen(np.cumsum([0, *map(len, columns)])),
        frozen(np.array([int(c) if c.isdigit() else -1 for c in columns])),
    )  # fmt: skip
    assert values[0, :3].tolist() == [4, 3, 2] and np.isnan(values[0, 3:]).all()
    wanted = [FOUND, FOUND, FOUND, NOT_AVAILABLE, NO_NUMBER, ABSENT, ABSENT]
    assert found[0].tolist() == wanted
    features = Features.parse(text)
    for k, column in enumerate(columns[:3]):
        assert float(features.get(column.decode())) == values[0, k]


TEXTS = st.lists(
    st.sampled_from(
        [b"[X]", b"|||", b"a", b"[X,1]", b"0-0", b"1-0", b"x=1", b"0.5", b" ", b"\t", b"\r",
         b"\x0b", b"\x0c", b"\x00", b"\x1c", b"\xc2\x85", b"\xc2\xa0", b"\xe2\x80\xa8", b"(0)",
         b"( )", b"\xff"]
    ),
    max_size=25,
)  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(TEXTS, st.sampled_from([b" ", b""]), st.sampled_from([b"\n", b"\r\n", b""]))
@example([b"[X]", b"|||", b"[X]", b"|||", b"\r"], b" ", b"\r\n")
@example([b"[X]", b"|||", b"a", b"|||", b"a", b"|||", b"\r"], b" ", b"\r\n")
def test_the_readers_of_one_line_and_of_blocks_see_the_same(pieces, between, end):
    line = between.join(pieces) + end
    if not line:
        return
    block = parse_block(LineBlock(line, 1), RULES)
    if not block.fault(0):
        fields = split_fields(line)
        found = [[block.symbol(k) for k in side] for side in block.sides(0)]
        start, stop = block.labels[0].tolist()
        assert [tokens(field) for field in fields[1:3]] == found
        assert fields[0].strip(b" \t") == line[start:stop] and b"|||".join(fields) == line
        features = Features.parse(without_line_end(fields[3]))
        assert features == Features.parse(block.feature_text(0))
    block = parse_block(LineBlock(line, 1), PHRASE_TABLE)
    try:
        entry = PHRASE_TABLE.parse(line)
        links = links_of_entry(entry)
    except LineFaultError:
        assert block.fault(0) or block.links.size == 0
        return
    assert not block.fault(0) and entry.line() == line
    found = [[block.symbol(k) for k in side] for side in block.sides(0)]
    sides = [side_tokens(side) for side in (entry.source, entry.target)]
    assert sides == found  # a side has no line end, whatever its last byte
    assert side_tokens(block.feature_text(0)) == entry.scores
    assert sorted(set(links or [])) == sorted(set(block.links_of(0)))
    start = int(block.features[0, 1])
    assert entry.with_score(b"7").line() == line[:start] + b" 7" + line[start:]


@pytest.mark.parametrize("n_rules", [0, 1, 13, 60, 300])
@pytest.mark.parametrize("identities", [False, True])
def test_pairs_are_those_of_the_slow_twin(n_rules, identities):
    draw = np.random.default_rng(n_rules)
    group = np.sort(draw.integers(0, max(1, n_rules // 6), n_rules))
    targets = draw.integers(0, 70, n_rules)
    n_gaps = np.full(n_rules, 2)
    orders = draw.choice(np.array([0x01, 0x10], np.uint32), n_rules)
    columns = draw.random((n_rules, 3))
    bounds = np.stack([np.searchsorted(group, group), np.searchsorted(group, group, "right")], 1)
    sources = np.argsort(targets // 30, kind="stable")
    runs = targets[sources] // 30  # several sides a run, so that its lines are many
    for least in (0.0, 0.2):
        groups = Groups(
            *map(frozen, (bounds, targets, orders, n_gaps, columns, np.arange(n_rules)))
        )
        (keys, sizes, lines, firsts, seconds), pruned = pair_up(
            frozen(sources), frozen(runs), groups, 70, 2, least, identities,
            int(np.diff(bounds).sum()),
        )  # fmt: skip
        wanted, passed = naive_pairs(
            sources, runs, bounds, targets, 70, orders, columns, least, identities
        )
        made = {}
        for line, one, two in zip(lines.tolist(), firsts.tolist(), seconds.tolist(), strict=True):
            made.setdefault(line, []).append((one, two))
        assert [(int(key), made[line]) for line, key in enumerate(keys)] == wanted
        assert [len(pairs) for _, pairs in wanted] == sizes.tolist() and pruned == passed


@pytest.mark.parametrize("n", [0, 1, 2, 12, 13, 200])
def test_texts_are_in_the_order_of_their_bytes(n):
    draw = random.Random(n)
    words = ["of the", "of the ", "of the right", "a", "", "\0", "a\0", "of the\0\0", "ü"]
    texts = list({"".join(draw.choices(words, k=draw.randint(0, 4))).encode() for _ in range(n)})
    text = frozen(np.frombuffer(b"".join(texts), np.uint8))
    stops = np.cumsum([len(one) for one in texts], dtype=np.int64)
    starts = frozen(stops - [len(one) for one in texts]) if texts else frozen(stops)
    heads = eight_bytes(text, starts, frozen(stops))
    order = np.argsort(heads)
    order_texts(text, starts, frozen(stops), frozen(heads), order)
    assert [texts[i] for i in order] == sorted(texts)


@pytest.mark.parametrize("most", [0, 5, 1000, 1 << 40])
def test_numbers_and_order_of_rows(most):
    draw = np.random.default_rng(most % 97)
    for columns in (1, 2, 3):
        keys = [draw.integers(0, most + 1, 300) for _ in range(columns)]
        rows = list(zip(*(key.tolist() for key in keys), strict=True))
        ranks = {row: rank for rank, row in enumerate(sorted(set(rows)))}
        numbers = numbers_of(*keys)
        assert numbers.tolist() == [ranks[row] for row in rows]
        assert order_by(*keys).tolist() == sorted(range(300), key=rows.__getitem__)
        assert first_rows(numbers).tolist() == [rows.index(row) for row in ranks]


@settings(max_examples=60, deadline=None)
@example([([0.000005, -0.000005, 1.0], True, b"a b"), ([-0.0, 0.999995, math.nan], True, b"")])
@given(
    st.lists(
        st.tuples(
            st.lists(st.floats(-2e5, 2e5) | st.just(math.nan), min_size=3, max_size=3),
            st.booleans(),
            st.binary(max_size=6),
        ),
        max_size=8,
    )
)
def test_values_are_written_as_python_writes_rounded_ones(lines):
    """Values behind the first byte of each line that has any; the line `NA` in place of NaN."""
    values = np.array([one for one, _, _ in lines], np.float64).reshape(-1, 3)
    wanted = np.array([has for _, has, _ in lines], bool)
    absent = frozen(np.frombuffer(b" NA", np.uint8))
    labels = [b" x=", b" ", b" long_name="]
    text, ends = write_values(frozen(values), frozen(wanted), *texts_of(labels), absent)
    added = []
    for row, has in zip((np.round(values, 5) + 0.0).tolist(), wanted.tolist(), strict=True):
        cells = [
            b" NA" if math.isnan(value) else label + b"%.5f" % value
            for label, value in zip(labels, row, strict=True)
        ]
        added.append(b"".join(cells) if has else b"")
    assert text.tobytes() == b"".join(added)
    whole = [b"|" + line for _, _, line in lines]
    starts = np.cumsum([0, *map(len, whole)])
    blob = frozen(np.frombuffer(b"".join(whole), np.uint8))
    for keep in (np.ones(len(lines), bool), wanted):
        found = insert_texts(
            blob, frozen(starts), frozen(starts[:-1] + 1), frozen(text), frozen(ends), frozen(keep)
        )
        expected = [
            line[:1] + more + line[1:]
            for line, more, kept in zip(whole, added, keep.tolist(), strict=True)
            if kept
        ]
        assert found.tobytes() == b"".join(expected)
