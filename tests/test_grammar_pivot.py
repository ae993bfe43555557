"""Pivoting and re-ranking: worked by hand, by slow twins, and on the shipped grammar."""

import gzip
import math
import re
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from distsim.cli.main import app
from distsim.errors import InputError, ParameterError
from distsim.grammar.external_sort import sorted_records
from distsim.grammar.formats.rules import Features, Rule
from distsim.grammar.pivot import PivotOptions, gap_of, pivot_file
from distsim.grammar.rerank import PPDB_COST, Ranking, ppdb_cost, rerank_grammar

GRAMMARS = Path(__file__).parents[1] / ".." / "shared" / "data" / "grammars"
needs_grammars = pytest.mark.skipif(not GRAMMARS.exists(), reason="needs ../shared/data/grammars")


@given(st.lists(st.binary(max_size=6).map(lambda b: b.replace(b"\n", b"")), max_size=60))
@pytest.mark.parametrize("run_bytes", [1, 300, 1 << 20])
@settings(max_examples=20, deadline=None)
def test_records_are_sorted_through_any_number_of_runs(run_bytes, records):
    assert list(sorted_records(iter(records), run_bytes)) == sorted(records)


def test_more_runs_than_files_may_be_open():
    records = [b"%05d" % (i * 7919 % 1000) for i in range(1000)]
    assert list(sorted_records(records, 1)) == sorted(records)


def pivoted(text, tmp_path, name="out", on_error="stop", run_bytes=1 << 20, **options):
    (tmp_path / "in").write_bytes(text)
    report = pivot_file(
        tmp_path / "in", tmp_path / name, PivotOptions(**options), on_error, run_bytes
    )
    return (tmp_path / name).read_bytes().decode().splitlines(), report


HAND = b"""\
[NP] ||| F [JJ,1] G [NNS,2] ||| indian [JJ,1] [NNS,2] ||| 0.25 0.5 0.1 ||| 0-0 1-1 2-0 3-2
[NP] ||| F [JJ,1] G [NNS,2] ||| [JJ,1] [NNS,2] of india ||| 0.75 1.0 0.3 ||| 1-0 2-3 3-1
[NP] ||| [NNS,1] H [JJ,2] ||| indian [JJ,2] [NNS,1] ||| 0.5 0.5 0.2 ||| 0-2 2-1
[NP] ||| [NNS,1] H [JJ,2] ||| [JJ,2] [NNS,1] of india ||| 0.5 1.0 0.05 ||| 0-1 2-0
[VP] ||| [NNS,1] H [JJ,2] ||| x [JJ,2] [NNS,1] ||| 1 1 1 ||| 0-2 2-1
"""


def test_a_rule_worked_by_hand(tmp_path):
    lines, report = pivoted(
        HAND, tmp_path, target_given_source="0", source_given_target="1", rarity="2",
        scale="probability",
    )  # fmt: skip
    # p(of india | indian) = .75 * .5 + .5 * .5 = .625; p(indian | of india) = .25 + .5 = .75
    # rarity: min of max(.1, .3) and max(.2, .05) = .2
    # links: gaps by index; `indian` and `india` meet in G
    a, b = -math.log(0.625), -math.log(0.75)
    assert lines == [
        "[NP] ||| [JJ,1] [NNS,2] of india ||| indian [JJ,1] [NNS,2] ||| "
        f"p(e|f,LHS)={b:.5f} p(f|e,LHS)={a:.5f} RarityPenalty=0.20000 PivotCount=2 ||| "
        "0-1 1-2 3-0",
        "[NP] ||| indian [JJ,1] [NNS,2] ||| [JJ,1] [NNS,2] of india ||| "
        f"p(e|f,LHS)={a:.5f} p(f|e,LHS)={b:.5f} RarityPenalty=0.20000 PivotCount=2 ||| "
        "0-3 1-0 2-1",
    ]
    assert (report.read, report.links, report.identities, report.gappy) == (5, 4, 5, 2)


def test_uniform_probabilities_and_marked_identities(tmp_path):
    text = b"[X] ||| F ||| a ||| \n[X] ||| F ||| b ||| \n[X] ||| G ||| a ||| \n"
    lines, _ = pivoted(text, tmp_path, identities="mark")
    # p(b|a) = p(b|F) p(F|a) = 1/2 * 1/2; p(a|b) = 1/2 * 1; p(a|a) = 1/4 + 1/2; p(b|b) = 1/2
    values = {tuple(line.split(" ||| ")[1:3]): line.split(" ||| ")[3] for line in lines}
    assert values["a", "b"].split()[:2] == ["p(e|f,LHS)=1.38629", "p(f|e,LHS)=0.69315"]
    assert values["b", "a"].split()[:2] == ["p(e|f,LHS)=0.69315", "p(f|e,LHS)=1.38629"]
    assert "p(e|f,LHS)=0.28768" in values["a", "a"] and "Identity=1" in values["a", "a"]
    assert "Identity=0" in values["a", "b"]


@st.composite
def translations(draw):
    words = st.sampled_from(["a", "b", "c d", "[X,1]", "[X,1] a", "a [X,1]"])
    rules = draw(st.lists(st.tuples(st.sampled_from(["[S]", "[,]"]), words, words), max_size=12))
    return sorted({(lhs, f, e) for lhs, f, e in rules if ("[" in f) == ("[" in e)})


@settings(max_examples=60, deadline=None)
@given(drawn=translations(), run_bytes=st.sampled_from([1, 1 << 20]))
def test_pivoting_is_the_sum_over_foreign_sides(drawn, run_bytes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("drawn")
    text = "".join(f"{lhs} ||| {f} ||| {e} ||| x\n" for lhs, f, e in drawn)
    lines, _ = pivoted(text.encode(), folder, on_error="keep", run_bytes=run_bytes)
    expected = defaultdict(float)
    for lhs, f, one in drawn:
        for lhs_2, f_2, two in drawn:
            if (lhs, f) == (lhs_2, f_2) and one != two:
                n_e = sum((x, y) == (lhs, f) for x, y, _ in drawn)
                n_f = sum((x, z) == (lhs, one) for x, _, z in drawn)
                expected[lhs, one, two] += 1 / n_e / n_f
    found = {}
    for line in lines:
        lhs, one, two, features, _ = re.split(r" \|\|\| ?", line)
        found[lhs, one, two] = float(Features.parse(features.encode()).number("p(e|f,LHS)"))
    assert found == {key: pytest.approx(-math.log(p), abs=1e-5) for key, p in expected.items()}


def test_pruning(tmp_path):
    text = b"".join(b"[X] ||| F ||| e%d ||| %.2f 0.5\n" % (i, 0.5 / 2**i) for i in range(4))
    named = {"target_given_source": "0", "source_given_target": "1", "scale": "probability"}
    assert len(pivoted(text, tmp_path, **named)[0]) == 12
    lines, report = pivoted(text, tmp_path, **named, max_translations=2)
    assert len(lines) == 2 and report.links_pruned == 2 and "e0" in lines[0]
    lines, report = pivoted(text, tmp_path, **named, min_link=0.1)
    assert len(lines) == 6 and report.links_pruned == 1
    lines, report = pivoted(text, tmp_path, **named, min_probability=0.1)
    assert len(lines) == 2 and report.pruned == 10
    assert "10 paraphrases pruned" in "\n".join(report.lines())


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"[X] ||| F ||| e ||| oops 1\n", "feature 0 is 'oops', wanted a number"),
        (b"[X] ||| F ||| e ||| NA 1\n", "feature 0 is NA, wanted a number"),
        (b"[X] ||| F ||| e ||| 1\n", "feature 1 is not there, wanted a number"),
        (b"[X] ||| F ||| e ||| nan 1\n", "feature 0 is 'nan', wanted a number"),
        (b"[X] ||| F ||| e ||| 1 -2\n", "feature 1 is no probability on the scale"),
        (b"[X] ||| F [A,1] ||| e ||| 1 1\n", "gap 1 does not stand once"),
    ],
)
def test_faulty_translations(line, fault, tmp_path):
    good = b"[X] ||| F ||| a ||| 1 1\n"
    named = {"target_given_source": "0", "source_given_target": "1"}
    with pytest.raises(InputError, match=rf"in, line 2: {fault}.*--on-error drop"):
        pivoted(good + line, tmp_path, **named)
    lines, report = pivoted(good + line, tmp_path, on_error="drop", **named)
    assert lines == [] and report.faulty.dropped == 1 and report.read == 1


def test_parameters_that_cannot_be():
    for wrong in ({"scale": "x"}, {"identities": "x"}, {"min_link": 2}, {"max_translations": -1}):
        with pytest.raises(ParameterError, match="choose"):
            PivotOptions(**wrong)
    with pytest.raises(ParameterError, match="nothing to rank by"):
        Ranking({})


@needs_grammars
def test_the_shipped_grammar_becomes_a_paraphrase_grammar(tmp_path):
    report = pivot_file(
        GRAMMARS / "joshua.bn-en.samt.grammar.gz", tmp_path / "out", PivotOptions("12", "10", "9")
    )
    # 29,538 pairs over a common foreign side; some come over several: 28,294 rules
    assert (report.links, report.written, report.gappy) == (29538, 28294, 22706)
    text = (tmp_path / "out").read_text()
    assert "[NP] ||| indian [JJ,1] [NNS,2] ||| [JJ,1] [NNS,2] of india |||" in text
    assert "[S] ||| hence [NP+VP,1] [.,2] ||| so [NP+VP,1] [.,2] |||" in text


@pytest.mark.parametrize("symbol", [b"[", b"]", b"[]", b"[,1]", b"[a,]", b"[1,000]", b"a"])
def test_words_that_are_no_gaps(symbol):
    assert gap_of(symbol) is None


RANKED = (
    b"[X] ||| a ||| one ||| s=0.1 ||| 0-0\n"
    b"[X] ||| a ||| two ||| s=0.9 t=1\n"
    b"[X] ||| a ||| three ||| s=NA\n"
    b"[X] ||| b ||| one ||| s=-0.5\n"
    b"[Y] ||| b ||| one ||| s=0.5"
)


def ranked(text, tmp_path, ranking, on_error="stop", **rest):
    (tmp_path / "in").write_bytes(text)
    report = rerank_grammar(tmp_path / "in", tmp_path / "out", ranking, on_error=on_error, **rest)
    return (tmp_path / "out").read_bytes(), report


def test_rules_are_ranked_within_their_source(tmp_path):
    text, report = ranked(RANKED, tmp_path, Ranking({"s": 2, "t": 1}, missing=0))
    order = [1, 0, 2, 3, 4]
    lines = [line + b"\n" for line in RANKED.split(b"\n")]
    assert text == b"".join(lines[k] for k in order)
    assert (report.was_grouped, report.groups, report.read, report.written) == (True, 3, 5, 5)
    text, _ = ranked(RANKED, tmp_path, Ranking({"s": 1}, missing=0, top=1, ascending=True))
    assert text == lines[2] + lines[3] + lines[4]
    text, _ = ranked(RANKED, tmp_path, Ranking({"s": 1}, missing=0, worst=0.1, write="mix"))
    assert text.splitlines()[0] == b"[X] ||| a ||| two ||| s=0.9 t=1 mix=0.90000"
    assert text.splitlines()[1] == b"[X] ||| a ||| one ||| s=0.1 mix=0.10000 ||| 0-0"
    assert len(text.splitlines()) == 3


def test_scattered_rules_are_sorted_first(tmp_path):
    lines = [line + b"\n" for line in RANKED.split(b"\n")]
    scattered = lines[3] + lines[0] + lines[4] + lines[1]
    text, report = ranked(scattered, tmp_path, Ranking({"s": 1}), run_bytes=1)
    assert not report.was_grouped or text == scattered
    scattered = lines[0] + lines[3] + lines[1] + lines[4]
    text, report = ranked(scattered, tmp_path, Ranking({"s": 1}), run_bytes=1)
    assert not report.was_grouped and report.groups == 3
    assert text == lines[1] + lines[0] + lines[3] + lines[4]


def test_rules_that_cannot_be_ranked(tmp_path):
    with pytest.raises(InputError, match="in, line 3: feature s is NA, wanted a number: mend"):
        ranked(RANKED, tmp_path, Ranking({"s": 1}))
    text, report = ranked(RANKED, tmp_path, Ranking({"s": 1}), "keep")
    assert text.splitlines()[2].endswith(b"NA") and report.faulty.kept == 1
    text, report = ranked(b"bad\n" + RANKED, tmp_path, Ranking({"s": 1}), "drop")
    assert report.faulty.dropped == 2 and len(text.splitlines()) == 4
    with pytest.raises(InputError, match="line 1: the file is empty"):
        ranked(b"", tmp_path, Ranking({"s": 1}))


def test_a_phrase_table_is_ranked_by_positions(tmp_path):
    table = b"a ||| x ||| 0.1 1 ||| 0-0 ||| 1 1 1 |||\na ||| y ||| 0.2 0.5\nb ||| x ||| 0.1 0\n"
    text, _ = ranked(table, tmp_path, Ranking({"0": 1}, write="mix"))
    assert text.splitlines()[0] == b"a ||| y ||| 0.2 0.5 0.20000"


def test_the_cost_of_ppdb():
    # thesis table 6.6 has all of these; equation 6.1 by hand: 1+2+3+4 + 100*.5 + .3*5 + .3*6
    text = "p(e|f)=1 p(f|e)=2 p(e|f,LHS)=3 p(f|e,LHS)=4 RarityPenalty=.5 p(LHS|e)=5 p(LHS|f)=6"
    assert ppdb_cost(Features.parse(text.encode())) == pytest.approx(63.3)
    assert set(PPDB_COST) == {token.rpartition("=")[0] for token in text.split()}


def test_a_rule_is_written_as_it_was_read():
    for line in (b"[X] ||| a  b |||  c ||| 1 x=2 ||| 0-0 ||| more |||\r\n", b"[X] |||||| a ||| b"):
        if line.count(b" ||| ") >= 3:
            assert Rule.parse(line).line() == line
    rule = Rule.parse(b"[X] ||| a  b |||  c ||| 1 x=y=2 ||| 0-0\n")
    assert (rule.label, rule.source, rule.target) == (b"[X]", (b"a", b"b"), (b"c",))
    assert rule.features.get("x=y") == b"2" and rule.features.get("0") == b"1"


def test_the_command_lines(tmp_path):
    (tmp_path / "t").write_bytes(HAND)
    runner = CliRunner()
    done = runner.invoke(
        app,
        ["pivot", str(tmp_path / "t"), "-o", str(tmp_path / "p.gz"), "--e-given-f", "0",
         "--f-given-e", "1", "--scale", "probability"],
    )  # fmt: skip
    assert done.exit_code == 0 and "2 paraphrase rules written" in done.stderr
    assert gzip.decompress((tmp_path / "p.gz").read_bytes()).count(b"\n") == 2
    arguments = ["rerank", str(tmp_path / "p.gz"), "--ppdb-cost", "--missing", "0"]
    done = runner.invoke(app, [*arguments, "-o", str(tmp_path / "r")])
    assert done.exit_code == 0 and "2 written" in done.stderr
    done = runner.invoke(app, ["rerank", str(tmp_path / "p.gz"), "-w", "PivotCount"])
    assert done.exit_code == 2 and "FEATURE=NUMBER" in done.output
    done = runner.invoke(app, ["rerank", str(tmp_path / "p.gz"), "-w", "p(e|f,LHS)=-1"])
    assert done.exit_code == 0 and done.stdout.count("|||") == 8


def test_the_piece_in_the_package_is_pivoted(tmp_path):
    from importlib.resources import as_file, files

    with as_file(files("distsim") / "data" / "grammars" / "bengali-english.samt.gz") as piece:
        assert piece.stat().st_size < 60_000
        report = pivot_file(piece, tmp_path / "out", PivotOptions("p(e|f)", "p(f|e)"))
    assert (report.read, report.written, report.gappy) == (737, 1090, 894)
