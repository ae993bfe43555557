"""Lines as PPDB 1.0 has them: all features of tables 3.1 and 6.6, in place, by a naive twin."""

import re
from pathlib import Path

import pytest

from distsim import pivot_grammar
from distsim.grammar import PivotOptions
from tests.grammar.test_grammar_scoring import GRAMMARS
from tests.naive.pivot import types

# Table 6.6 of the thesis, and what PPDB's releases add to it.
TABLE_66 = (
    "Abstract Adjacent CharCountDiff CharLogCR ContainsX GlueRule Identity Lex(e|f) Lex(f|e) "
    "Lexical LogCount Monotonic PhrasePenalty RarityPenalty SourceTerminalsButNoTarget SourceWords "
    "TargetTerminalsButNoSource TargetWords UnalignedSource UnalignedTarget WordCountDiff "
    "WordLenDiff WordLogCR p(LHS|e) p(LHS|f) p(e|LHS) p(e|f) p(e|f,LHS) p(f|LHS) p(f|e) p(f|e,LHS)"
)
RULES = """\
[ADJP] ||| dur ||| hard ||| {} ||| 0-0
[ADJP] ||| dur ||| pretty difficult ||| {} ||| 0-0 0-1
[ADJP] ||| dur ||| tough ||| {} |||
[VP] ||| donne [NP,1] à [NP,2] ||| gives [NP,2] [NP,1] ||| {} ||| 0-0
[VP] ||| donne [NP,1] à [NP,2] ||| gives [NP,1] to [NP,2] ||| {} ||| 0-0 2-2
[X] ||| a [X,1] ||| [X,1] ||| {} |||
[X] ||| a [X,1] ||| does [X,1] naïvely ||| {} ||| 0-0 0-2
"""
COLUMNS = (
    "Lex(e|f)=1.5 Lex(f|e)=2.5 RarityPenalty=0.36788 p(LHS|e)=0.5 p(LHS|f)=0.6 p(e|LHS)=7 p(e|f)=1 "
    "p(e|f,LHS)=1 p(f|LHS)=8 p(f|e)=0.7 p(f|e,LHS)=0.7"
)


def pivoted(path: Path, out: Path, **options) -> list[str]:
    pivot_grammar(path, out, options=PivotOptions(columns="conditional", **options))
    return out.read_text().splitlines()


def values_of(line: str) -> dict[str, float]:
    tokens = line.split("|||")[3].split()
    pairs = [token.rpartition("=") for token in tokens]
    return {name: float(value) for name, _, value in pairs}


def agrees(line: str) -> None:
    values = values_of(line)
    for name, wanted in types(line).items():
        assert values[name] == pytest.approx(float(wanted), abs=6e-6), (name, line)


def test_a_line_has_the_features_of_table_66_in_order(tmp_path):
    (tmp_path / "rules").write_text(RULES.replace("{}", COLUMNS))
    lines = pivoted(tmp_path / "rules", tmp_path / "out", names="ppdb")
    assert len(lines) == 6 + 2 + 2
    for line in lines:
        assert " ".join(values_of(line)) == TABLE_66
        agrees(line)
    (hard,) = (line for line in lines if "] ||| hard ||| pretty difficult |||" in line)
    for feature in ("CharCountDiff=12", "CharLogCR=1.38629", "WordLenDiff=3.50000", "Lexical=1",
                    "WordCountDiff=1", "WordLogCR=0.69315", "UnalignedTarget=0"):  # fmt: skip
        assert f" {feature} " in hard  # of the example of table 6.6
    assert hard.endswith(" ||| 0-0 0-1")
    swapped = [line for line in lines if values_of(line)["Monotonic"] == 0]
    assert {line.split(" ||| ")[1] for line in swapped} == {
        "gives [NP,1] [NP,2]", "gives [NP,1] to [NP,2]",
    }  # fmt: skip


def test_lex_has_the_names_of_the_releases(tmp_path):
    """Their Lex(e|f) and Lex(f|e) have each other's values; the rest is as it is."""
    (tmp_path / "rules").write_text(RULES.replace("{}", COLUMNS))
    plain = pivoted(tmp_path / "rules", tmp_path / "plain")
    for one, line in zip(
        plain, pivoted(tmp_path / "rules", tmp_path / "p", names="ppdb"), strict=True
    ):
        ours, theirs = values_of(one), values_of(line)
        assert (ours["Lex(e|f)"], ours["Lex(f|e)"]) == (theirs["Lex(f|e)"], theirs["Lex(e|f)"])
        assert all(
            ours[name] == theirs[name] for name in ours if name in theirs and "Lex(" not in name
        )


@pytest.mark.skipif(not GRAMMARS.is_dir(), reason="needs ../shared/data")
@pytest.mark.parametrize(
    "name", ["joshua.thrax.hi-en.grammar.filtered.gz", "joshua.bn-en.hiero.grammar.gz"]
)
@pytest.mark.parametrize("identities", ["drop", "mark"])
def test_real_grammars_agree_with_the_naive_twin(tmp_path, name, identities):
    lines = pivoted(
        GRAMMARS / name, tmp_path / "out", names="ppdb", max_translations=6, identities=identities
    )
    assert len(lines) > 300
    for line in lines[:: max(1, len(lines) // 2000)]:
        agrees(line)


def test_scores_stand_where_the_releases_have_them(tmp_path, run, small_index):
    from distsim import PRESETS, sign

    (tmp_path / "rules").write_text(RULES.replace("{}", COLUMNS))
    pivoted(tmp_path / "rules", tmp_path / "out", names="ppdb")
    table = sign(small_index, tmp_path / "t", recipe=PRESETS["thesis"])
    run(
        "score", tmp_path / "out", "--ngram", table.path, "--syntax", table.path,
        "--set", "names=ppdb", "--set", "aligner=evidence", "-o", tmp_path / "scored",
    )  # fmt: skip
    before = (tmp_path / "out").read_text().splitlines()
    for old, line in zip(before, (tmp_path / "scored").read_text().splitlines(), strict=True):
        names = [token.rpartition("=")[0] for token in line.split("|||")[3].split()]
        scores = ["AGigaSim", "GoogleNgramSim"]
        shares = [f"{name}_coverage" for name in reversed(scores)]
        assert names == [*TABLE_66.split(), *scores, *shares, "sim_rule"]
        assert re.sub(r" (AGigaSim|GoogleNgramSim|sim_rule)(_\w+)?=[-.\d]+", "", line) == old


def test_scores_that_stand_in_a_line_keep_their_places(tmp_path, run, small_index):
    from distsim import PRESETS, sign

    table = sign(small_index, tmp_path / "t", recipe=PRESETS["thesis"])
    (tmp_path / "rules").write_text(
        "[X] ||| king ||| queen ||| AGigaSim=NA Abstract=0 GlueRule=0 Identity=1 ||| 0-0\n"
        "[X] ||| zzqq ||| zzqqq ||| Abstract=0 Identity=1 ||| 0-0\n"
    )
    out, _ = run(
        "score", tmp_path / "rules", "--ngram", table.path, "--syntax", table.path, "--set",
        "names=ppdb", "--set", "coverage=false", "--set", "rule=false", "-o", "-",
    )  # fmt: skip
    first, second = out.splitlines()
    assert re.search(
        r"AGigaSim=-?[.\d]+ Abstract=0 GlueRule=0 Identity=1 GoogleNgramSim=-?[.\d]+ \|\|\| 0-0$",
        first,
    )
    assert second == (
        "[X] ||| zzqq ||| zzqqq ||| Abstract=0 Identity=1 AGigaSim=0.00000 "
        "GoogleNgramSim=0.00000 ||| 0-0"
    )  # as in the release where a phrase has no similarity
