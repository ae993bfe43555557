"""Moses' hierarchical rules: read as rules, written as they are."""

import gzip

import pytest

from distsim import pivot_grammar
from distsim.base.errors import InputError
from distsim.corpus.lines import LineBlock
from distsim.grammar.block import parse_block
from distsim.grammar.formats import guess_format
from distsim.grammar.formats.moses import MOSES_RULES, as_rule
from distsim.grammar.packs.grammar_index import GrammarIndex
from distsim.grammar.packs.pack import PackOptions, pack_grammar
from distsim.grammar.rerank import Ranking, rerank_grammar

RULES = (
    b"ville de [X][X] [X] ||| city of [X][X] [X] ||| 0.5 0.1 0.2 0.3 ||| 0-0 1-1 2-2 ||| 3 4 2\n"
    b"ville de [X][X] [X] ||| town of [X][X] [X] ||| 0.2 0.1 0.4 0.3 ||| 0-0 1-1 2-2 ||| 3 4 2\n"
    b"[X][X] de [X][X] [X] ||| [X][X] of [X][X] [X] ||| 0.5 0.1 0.2 0.3 ||| 0-0 1-1 2-2 ||| 3 4\n"
    b"[X][X] de [X][X] [X] ||| [X][X] 's [X][X] [X] ||| 0.5 0.1 0.3 0.3 ||| 0-2 1-1 2-0 ||| 3 4\n"
    b"maison [X] ||| house [X] ||| 0.5 0.1 0.7 0.3 ||| 0-0\n"
)


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        (b"[X][X] de [X] ||| of [X][X] [X] ||| 1 ||| 0-1 1-0",
         b"[X] ||| [X,1] de ||| of [X,1] ||| 1 ||| 0-1 1-0"),
        (b"[X][X] a [X][X] [X] ||| [X][NP] b [X][VP] [S] ||| 1 ||| 0-2 2-0\r\n",
         b"[S] ||| [X,1] a [X,2] ||| [NP,2] b [VP,1] ||| 1 ||| 0-2 2-0\r\n"),
        (b"[NP][X] [PP] ||| [NP][X] [X] ||| 1 ||| 0-0 ||| 1 1 1",
         b"[PP] ||| [NP,1] ||| [NP,1] ||| 1 ||| 0-0 ||| 1 1 1"),
        (b"a [1,2] [X] ||| b [X] ||| 1", b"[X] ||| a [1,2] ||| b ||| 1"),
        (b"a ||| b [X] ||| 1", b" |||a ||| b [X] ||| 1"),
    ],
)  # fmt: skip
def test_gaps_get_their_indices_by_links(written, rule):
    assert as_rule(written) == rule


def test_the_format_is_told_by_its_ends():
    assert guess_format(RULES) is MOSES_RULES
    assert guess_format(b"la [X] maison ||| the house ||| 1\n").name == "phrase-table"
    assert guess_format(b"[X] ||| a [X,1] ||| b [X,1] ||| 1 ||| 0-0\n").name == "rules"


@pytest.mark.parametrize(
    "line",
    [
        b"a [X][X] [X] ||| b [X][X] [X] ||| 1 ||| 0-0\n",  # no link pairs the gaps
        b"a [X][X] [X] ||| b [X] ||| 1 ||| 0-0\n",
        b"a [X] ||| b ||| 1 ||| 0-0\n",
        b"a [X] ||| b [X] ||| 1 ||| 0-7\n",
        b"a [X]\n",
    ],
)
def test_invalid_lines(line):
    block = parse_block(LineBlock(RULES + line, 1), MOSES_RULES)
    assert [number for number, _ in block.faults()] == [6]


def test_rules_are_ranked_and_written_as_they_are(tmp_path):
    lines = RULES.splitlines(keepends=True)
    (tmp_path / "table").write_bytes(b"".join(lines[n] for n in (0, 2, 4, 1, 3)))
    report = rerank_grammar(tmp_path / "table", tmp_path / "best", Ranking({"2": 1.0}, write="s"))
    assert (report.groups, report.was_grouped) == (3, False)
    best = (tmp_path / "best").read_bytes().splitlines(keepends=True)
    plain = [line.replace(b" 0.40000 |||", b" |||").replace(b" 0.20000 |||", b" |||")
             .replace(b" 0.30000 |||", b" |||").replace(b" 0.70000 |||", b" |||")
             for line in best]  # fmt: skip
    assert plain == [lines[n] for n in (3, 2, 4, 1, 0)]
    assert b"0.2 0.1 0.4 0.3 0.40000 |||" in best[3]


def test_pivot_and_pack_read_them_as_rules(tmp_path):
    (tmp_path / "table").write_bytes(RULES)
    pivot_grammar(tmp_path / "table", tmp_path / "pairs.gz")
    pairs = gzip.decompress((tmp_path / "pairs.gz").read_bytes())
    assert b"[X] ||| city of [X,1] ||| town of [X,1] |||" in pairs
    assert b"[X] ||| [X,1] of [X,2] ||| [X,2] 's [X,1] |||" in pairs
    pack_grammar(tmp_path / "table", tmp_path / "packs", options=PackOptions({"2": 1.0}, sizes=()))
    (first, _) = GrammarIndex.open(tmp_path / "packs").rules("ville de [X,1]")
    assert first.source == "ville de [X,1]" and first.links == [(0, 0), (1, 1), (2, 2)]


def test_a_broken_line_is_named(tmp_path):
    (tmp_path / "table").write_bytes(RULES + b"a [X][X] [X] ||| b [X][X] [X] ||| 1 1 1 1 ||| 0-0\n")
    with pytest.raises(InputError, match="table, line 6: gap 1 does not occur once on each side"):
        pivot_grammar(tmp_path / "table", tmp_path / "out")
