"""Pivoting and re-ranking: worked by hand, by slow twins, and on the shipped grammar."""

import gzip
import math
import os
import threading
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from distsim.base.errors import InputError, ParameterError
from distsim.cli.main import app
from distsim.corpus.lines import read_line_blocks, split_lines
from distsim.grammar.fields import split_fields, tokens
from distsim.grammar.formats.grammar_format import Features
from distsim.grammar.formats.rules import gap_of
from distsim.grammar.pivot import PivotOptions, pivot_grammar
from distsim.grammar.rerank import PPDB_COST, Ranking, rerank_grammar
from tests.conftest import SHARED
from tests.naive.pivot import Translation, naive_pivot, numbered

GRAMMARS = SHARED / "data" / "grammars"
needs_grammars = pytest.mark.skipif(not GRAMMARS.exists(), reason="needs ../shared/data/grammars")


def ppdb_cost(features):
    return sum(weight * features.number(name) for name, weight in PPDB_COST.items())


def pivoted(text, tmp_path, name="out", on_error="stop", memory=1 << 27, **options):
    (tmp_path / "in").write_bytes(text)
    report = pivot_grammar(
        tmp_path / "in", tmp_path / name, options=PivotOptions(**options), on_error=on_error,
        memory=memory,
    )  # fmt: skip
    return (tmp_path / name).read_bytes().decode().splitlines(), report


def parsed(lines):
    """Return {(label, e1, e2): features} of paraphrase rules, links among them."""
    found = {}
    for line in lines:
        fields = split_fields(line.encode())
        named = Features.parse(fields[3]).named
        features = {name.decode(): float(value) for name, value in named.items()}
        features["links"] = [tuple(map(int, t.split(b"-"))) for t in fields[4].split()]
        key = fields[0].strip(), *(b" ".join(tokens(side)) for side in fields[1:3])
        found[tuple(part.decode() for part in key)] = features
    return found


def costs(*probabilities):
    return pytest.approx([-math.log(p) for p in probabilities], abs=1e-5)


HAND = b"""\
[NP] ||| F [JJ,1] G [NNS,2] ||| indian [JJ,1] [NNS,2] ||| 0.25 0.5 0.1 ||| 0-0 1-1 2-0 3-2
[NP] ||| F [JJ,1] G [NNS,2] ||| [JJ,1] [NNS,2] of india ||| 0.75 1.0 0.3 ||| 1-0 2-3 3-1
[NP] ||| [NNS,1] H [JJ,2] ||| indian [JJ,2] [NNS,1] ||| 0.5 0.5 0.2 ||| 0-2 1-0 2-1
[NP] ||| [NNS,1] H [JJ,2] ||| [JJ,2] [NNS,1] of india ||| 0.5 1.0 0.05 ||| 0-1 1-3 2-0
[VP] ||| [NNS,1] H [JJ,2] ||| x [JJ,2] [NNS,1] ||| 1 1 1 ||| 0-2 2-1
"""
BY_PLACE = {
    "features": {"p(e|f)": "0", "p(f|e)": "1", "RarityPenalty": "2"}, "scale": "probability",
    "columns": "conditional",
}  # fmt: skip


def test_a_rule_worked_by_hand(tmp_path):
    lines, report = pivoted(HAND, tmp_path, **BY_PLACE)
    # p(of india | indian) = .75 * .5 + .5 * .5 = .625; p(indian | of india) = .25 + .5 = .75
    # (p(f|e) of `of india` sums to 2 over its two f and is scaled to 1: .375)
    # rarity: min of max(.1, .3) and max(.2, .05) = .2; two links: ln 2
    # links: gaps by index; `indian` and `india` meet in G, and in H
    a, b = -math.log(0.625), -math.log(0.375)
    assert lines == [
        "[NP] ||| [JJ,1] [NNS,2] of india ||| indian [JJ,1] [NNS,2] ||| "
        f"LogCount=0.69315 PivotCount=2 RarityPenalty=0.20000 p(e|f,LHS)={b:.5f} "
        f"p(f|e,LHS)={a:.5f} ||| 0-1 1-2 3-0",
        "[NP] ||| indian [JJ,1] [NNS,2] ||| [JJ,1] [NNS,2] of india ||| "
        f"LogCount=0.69315 PivotCount=2 RarityPenalty=0.20000 p(e|f,LHS)={a:.5f} "
        f"p(f|e,LHS)={b:.5f} ||| 0-3 1-0 2-1",
    ]
    assert (report.read, report.links, report.identities, report.gappy) == (5, 4, 5, 2)
    assert "RarityPenalty: the least of the links" in report.lines()


def test_the_worked_rules_of_the_thesis(tmp_path):
    # Thesis 3.2.1: address and presentation, not the verb phrase; six rules over `geben`.
    text = """\
[NN] ||| rede ||| address |||
[NN] ||| rede ||| presentation |||
[VP\\\\PP] ||| rede ||| am discussing |||
[VP] ||| [NP,1] [NP,2] geben ||| give [NP,1] [NP,2] |||
[VP] ||| [NP,1] [NP,2] geben ||| give [NP,2] to [NP,1] |||
[VP] ||| [NP,1] [NP,2] geben ||| provide [NP,1] with [NP,2] |||
"""
    lines, _ = pivoted(text.encode(), tmp_path)
    assert [line.split(" ||| ")[:3] for line in lines] == [
        ["[NN]", "address", "presentation"],
        ["[NN]", "presentation", "address"],
        ["[VP]", "give [NP,1] [NP,2]", "give [NP,2] to [NP,1]"],
        ["[VP]", "give [NP,1] [NP,2]", "provide [NP,1] with [NP,2]"],
        ["[VP]", "give [NP,1] to [NP,2]", "give [NP,2] [NP,1]"],
        ["[VP]", "give [NP,1] to [NP,2]", "provide [NP,2] with [NP,1]"],
        ["[VP]", "provide [NP,1] with [NP,2]", "give [NP,1] [NP,2]"],
        ["[VP]", "provide [NP,1] with [NP,2]", "give [NP,2] to [NP,1]"],
    ]


# Thesis 3.2.3.2 has no numbers; these are counts c(label, f, e):
#   V: (bringt, brings) 3, (bringt, gets) 1, (holt, gets) 2, (holt, brings) 1; N: (bringt, brings) 1
# so c(V, bringt) = 4, c(V, holt) = 3, c(V, brings) = 4, c(V, gets) = 3; c(bringt) = 5, c(holt) = 3,
# c(brings) = 5, c(gets) = 3; c(V) = 7.
COUNTED = {
    ("V", "bringt", "brings"): 3, ("V", "bringt", "gets"): 1, ("V", "holt", "gets"): 2,
    ("V", "holt", "brings"): 1, ("N", "bringt", "brings"): 1,
}  # fmt: skip


def relative_frequencies(counts):
    """Return {rule: features} with the formulas of section 14 for every rule that was counted."""

    def total(label=None, f=None, e=None):
        return sum(
            n for (x, y, z), n in counts.items()
            if label in (None, x) and f in (None, y) and e in (None, z)
        )  # fmt: skip

    return {
        (lhs, f, e): {
            "p(e|f,LHS)": n / total(lhs, f), "p(f|e,LHS)": n / total(lhs, e=e),
            "p(e|f)": total(f=f, e=e) / total(f=f), "p(f|e)": total(f=f, e=e) / total(e=e),
            "p(LHS|e)": total(lhs, e=e) / total(e=e), "p(e|LHS)": total(lhs, e=e) / total(lhs),
            "joint e": n / total(f=f), "joint f": n / total(e=e),
        }
        for (lhs, f, e), n in counts.items()
    }  # fmt: skip


def written(rules, names):
    return "".join(
        f"[{lhs}] ||| {f} ||| {e} ||| "
        + " ".join(f"{name}={-math.log(p[old]):.17g}" for name, old in names.items())
        + " |||\n"
        for (lhs, f, e), p in rules.items()
    ).encode()


PROBABILITIES = ["p(e|f,LHS)", "p(f|e,LHS)", "p(e|f)", "p(f|e)", "p(LHS|e)", "p(e|LHS)"]
SAME = {name: name for name in PROBABILITIES}


def test_probabilities_of_the_pivot_worked_by_hand(tmp_path):
    rules = relative_frequencies(COUNTED)
    lines, report = pivoted(written(rules, SAME), tmp_path)
    found = parsed(lines)
    assert set(found) == {("[V]", "brings", "gets"), ("[V]", "gets", "brings")}
    rule = found["[V]", "brings", "gets"]
    # equation 3.8: p(gets|bringt,V) p(bringt|brings,V) + p(gets|holt,V) p(holt|brings,V)
    #             = 1/4 * 3/4 + 2/3 * 1/4 = 17/48; the reverse 3/4 * 1/3 + 1/3 * 2/3 = 17/36
    assert [rule["p(e|f,LHS)"], rule["p(f|e,LHS)"]] == costs(17 / 48, 17 / 36)
    # equation 3.7: 1/5 * 4/5 + 2/3 * 1/5 = 22/75; the reverse 4/5 * 1/3 + 1/3 * 2/3 = 22/45
    assert [rule["p(e|f)"], rule["p(f|e)"]] == costs(22 / 75, 22 / 45)
    # copied from the sides: e is gets, f is brings
    assert [rule["p(LHS|e)"], rule["p(LHS|f)"]] == costs(1, 4 / 5)
    assert [rule["p(e|LHS)"], rule["p(f|LHS)"]] == costs(3 / 7, 4 / 7)
    assert rule["PivotCount"] == 2 and "it is p(e|f,LHS)" in "\n".join(report.lines())
    # the identity of table 6.6: p(e|f,LHS) + p(f|LHS) = p(f|e,LHS) + p(e|LHS)
    for rule in found.values():
        left, right = rule["p(e|f,LHS)"] + rule["p(f|LHS)"], rule["p(f|e,LHS)"] + rule["p(e|LHS)"]
        assert left == pytest.approx(right, abs=3e-5)


def test_joint_columns_are_known_and_renormalised(tmp_path):
    rules = relative_frequencies(COUNTED)
    whole, _ = pivoted(written(rules, SAME), tmp_path)
    expected = parsed(whole)
    text = written(rules, {"p(e|f)": "joint e", "p(f|e)": "joint f"})
    lines, report = pivoted(text, tmp_path)
    told = "\n".join(report.lines())
    assert "it is the joint p(e,LHS|f), renormalised within (LHS, f)" in told
    assert "it is the joint p(f,LHS|e), renormalised within (LHS, e)" in told
    for key, rule in parsed(lines).items():
        for name in ("p(e|f,LHS)", "p(f|e,LHS)", "p(e|f)", "p(f|e)", "p(LHS|e)", "p(LHS|f)"):
            assert rule[name] == pytest.approx(expected[key][name], abs=2e-5), (key, name)
    assert "p(e|f), p(f|e): summed over all foreign sides" in told
    # named joint, the same as told by the sums; named conditional, other values
    assert pivoted(text, tmp_path, columns="joint")[0] == lines
    assert pivoted(text, tmp_path, columns="conditional")[0] != lines


def test_labels_summed_out_are_refused_and_pruned_sums_asked_for(tmp_path):
    few = b"[A] ||| f ||| x ||| 0.3 0.2 1\n[B] ||| f ||| y ||| 0.4 0.3 1\n"
    named = {"features": BY_PLACE["features"], "scale": "probability"}
    with pytest.raises(
        ParameterError,
        match=r"feature 0: of 1 f with several .* \(e, LHS\) reaches 1 for 0% .* does not tell "
        r"what it is: say so by `columns`, joint",
    ):
        pivoted(few, tmp_path, **named)
    both = {("A", "p", "x"): 1, ("B", "p", "x"): 1, ("B", "p", "y"): 2, ("A", "q", "x"): 3,
            ("C", "q", "x"): 1, ("C", "q", "z"): 1}  # fmt: skip
    text = written(relative_frequencies(both), {"p(e|f)": "p(e|f)", "p(f|e)": "joint f"})
    with pytest.raises(ParameterError, match=r"it is p\(e\|f\), labels summed out: name the fea"):
        pivoted(text, tmp_path)


def test_uniform_probabilities_and_marked_identities(tmp_path):
    text = b"[X] ||| F ||| a ||| \n[X] ||| F ||| b ||| \n[X] ||| G ||| a ||| \n"
    lines, report = pivoted(text, tmp_path, identities="mark")
    # p(b|a) = p(b|F) p(F|a) = 1/2 * 1/2; p(a|b) = 1/2 * 1; p(a|a) = 1/4 + 1/2; p(b|b) = 1/2
    found = {key[1:]: rule for key, rule in parsed(lines).items()}
    for pair, values in ((("a", "b"), (1 / 4, 1 / 2)), (("b", "a"), (1 / 2, 1 / 4))):
        assert [found[pair]["p(e|f,LHS)"], found[pair]["p(f|e,LHS)"]] == costs(*values)
        assert found[pair]["Identity"] == 0
    assert found["a", "a"]["p(e|f,LHS)"] == pytest.approx(-math.log(0.75), abs=1e-5)
    assert found["a", "a"]["Identity"] == 1 and found["a", "a"]["PivotCount"] == 2
    assert "uniform, since no column was named" in "\n".join(report.lines())


NAMES = [*PROBABILITIES, "Lex(e|f)", "Lex(f|e)"]


@st.composite
def translations(draw):
    """Draw distinct rules with counts behind their probabilities, links and gaps in any order."""
    sides = st.sampled_from(["a", "b", "c d", "[X,1]", "[X,1] a", "a [,,1]", "[X,1] a [X,2]",
                             "[X,2] [X,1]", "[X,2] b c [X,1]"])  # fmt: skip
    drawn = draw(st.lists(st.tuples(st.sampled_from("SV,"), sides, sides), max_size=10))
    rules, seen = [], set()
    for lhs, f, e in drawn:
        if sorted(gaps_of(f)) != sorted(gaps_of(e)):
            continue
        order = {}
        key = lhs, numbered(f.split(), order), numbered(e.split(), order)
        if key in seen:
            continue
        seen.add(key)
        p = {name: draw(st.sampled_from([0.05, 0.1, 0.07])) for name in NAMES}
        p["RarityPenalty"] = draw(st.sampled_from([0.0, 0.25, 1.0]))
        cells = [(i, j) for i in range(len(f.split())) for j in range(len(e.split()))]
        links = draw(st.lists(st.sampled_from(cells), unique=True, max_size=4))
        rules.append(Translation(lhs, f.split(), e.split(), p, links))
    for name in NAMES[2:6]:  # what depends on fewer things than the rule
        for rule in rules:
            order_f, order_e = {}, {}
            f, e = numbered(rule.foreign, order_f), numbered(rule.english, order_e)
            crossed = numbered(rule.english, order_f)
            key = (f, crossed) if name in ("p(e|f)", "p(f|e)") else (rule.label, e)
            rule.p[name] = 0.02 + hash_of(name, *key) % 7 / 100
    return rules


def hash_of(*texts):
    return sum(ord(c) * (k + 1) for k, c in enumerate("|".join(texts)))


def gaps_of(side):
    return [symbol[-2:] for symbol in side.split() if gap_of(symbol.encode())]


@settings(max_examples=80, deadline=None)
@given(rules=translations(), memory=st.sampled_from([1, 1 << 27]), mark=st.booleans())
def test_pivoting_is_the_slow_twin(rules, memory, mark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("drawn")
    text = "".join(
        f"[{r.label}] ||| {' '.join(r.foreign)} ||| {' '.join(r.english)} ||| "
        + " ".join(f"{n}={v if n == 'RarityPenalty' else -math.log(v)!r}" for n, v in r.p.items())
        + f" ||| {' '.join(f'{i}-{j}' for i, j in r.links)}\n"
        for r in rules
    )
    lines, report = pivoted(
        text.encode(), folder, on_error="keep", memory=memory, columns="conditional",
        identities="mark" if mark else "drop",
    )  # fmt: skip
    expected = naive_pivot([r._replace(label=f"[{r.label}]") for r in rules], identities=mark)
    found = parsed(lines)
    assert set(found) == set(expected) and report.written == len(expected)
    for key, rule in expected.items():
        found[key].pop("Identity", None)
        assert found[key].pop("links") == rule.pop("links"), key
        assert found[key] == {name: pytest.approx(v, abs=2e-5) for name, v in rule.items()}, key
    heads = [tuple(line.split(" ||| ")[:3]) for line in lines]
    assert [h[0] for h in heads] == sorted(h[0] for h in heads)
    assert all(a <= b for a, b in pairwise([h[:2] for h in heads]))


def test_links_are_those_that_all_pivots_share(tmp_path):
    # over F both orders are seen: nothing in common, so the more probable pivot's links stay
    text = b"""\
[X] ||| F G ||| a b ||| 0.9 0.5 1 ||| 0-0 1-1
[X] ||| F G ||| c d ||| 0.1 0.5 1 ||| 0-0 1-1
[X] ||| H K ||| a b ||| 0.5 0.2 1 ||| 0-0 1-1
[X] ||| H K ||| c d ||| 0.5 0.2 1 ||| 0-1 1-0
"""
    found = parsed(pivoted(text, tmp_path, **BY_PLACE)[0])
    assert found["[X]", "a b", "c d"]["links"] == [(0, 0), (1, 1)]
    text = text.replace(b"0-1 1-0", b"0-0 1-0")
    found = parsed(pivoted(text, tmp_path, **BY_PLACE)[0])
    assert found["[X]", "a b", "c d"]["links"] == [(0, 0)]


def test_of_repeated_rules_the_most_probable_stays(tmp_path):
    text = b"""\
[X] ||| F [X,1] ||| a [X,1] ||| 0.2 0.1 1 ||| 0-0
[X] ||| F [X,2] ||| a [X,2] ||| 0.4 0.3 1 ||| 1-1
[X] ||| F [X,1] ||| b [X,1] ||| 0.5 1.0 1 ||| 0-0
"""
    lines, report = pivoted(text, tmp_path, **BY_PLACE)
    assert report.repeated == 1 and "1 repeated" in report.lines()[0]
    rule = parsed(lines)["[X]", "a [X,1]", "b [X,1]"]
    assert [rule["p(e|f,LHS)"], rule["p(f|e,LHS)"]] == costs(0.5 * 0.3, 0.4)


def test_gaps_of_cdec_keep_their_labels_and_its_logarithms(tmp_path):
    text = b"""\
[X] ||| F [NP,1] [VP,2] ||| a [1] [2] ||| 0.30103 0.69897
[X] ||| F [NP,1] [VP,2] ||| [2] b [1] [3] ||| 0.60206 0
"""
    lines, _ = pivoted(
        text, tmp_path, scale="negative-log10", features={"p(e|f)": "0", "p(f|e)": "1"}
    )
    assert [line.split(" ||| ")[1:3] for line in lines] == [
        ["[VP,1] b [NP,2] [3]", "a [NP,2] [VP,1]"], ["a [NP,1] [VP,2]", "[VP,2] b [NP,1] [3]"],
    ]  # fmt: skip
    rule = parsed(lines)["[X]", "a [NP,1] [VP,2]", "[VP,2] b [NP,1] [3]"]
    assert [rule["p(e|f,LHS)"], rule["p(f|e,LHS)"]] == costs(0.25 * 0.2, 0.5)


def test_phrase_tables_are_pivoted_as_they_come(tmp_path):
    # Bannard and Callison-Burch 2005; columns as Moses writes them: p(f|e) lex(f|e) p(e|f) lex(e|f)
    text = b"""\
unter kontrolle ||| in check ||| 0.5 0.1 0.25 0.2 ||| 0-0 1-1 ||| 2 4 1 |||
unter kontrolle ||| under control ||| 1 0.3 0.75 0.4 ||| 0-0 1-1 ||| 3 4 3 |||
"""
    lines, _ = pivoted(text, tmp_path)
    rule = parsed(lines)["[X]", "under control", "in check"]
    assert [rule["p(e|f,LHS)"], rule["p(f|e,LHS)"]] == costs(0.25 * 1, 0.75 * 0.5)
    assert [rule["p(e|f)"], rule["p(LHS|e)"]] == costs(0.25, 1)
    assert [rule["Lex(e|f)"], rule["Lex(f|e)"]] == costs(0.2 * 0.3, 0.4 * 0.1)
    assert rule["RarityPenalty"] == 1 and rule["links"] == [(0, 0), (1, 1)]  # exp(1 - 1)
    old = b"f ||| [X,1] ||| 0.5 0.1 0.25 0.2\n" + text
    with pytest.raises(InputError, match=r"line 1: a word looks like a gap and would be one"):
        pivoted(old, tmp_path)
    ranked_lines = rerank_grammar(
        tmp_path / "out", tmp_path / "best", Ranking(PPDB_COST, ascending=True)
    )
    assert ranked_lines.written == 2


def test_pruning_by_rule_link_and_sum(tmp_path):
    text = b"".join(b"[X] ||| F ||| e%d ||| %.2f 0.5 1\n" % (i, 0.5 / 2**i) for i in range(4))
    assert len(pivoted(text, tmp_path, **BY_PLACE)[0]) == 12
    lines, report = pivoted(text, tmp_path, **BY_PLACE, max_translations=2)
    assert len(lines) == 2 and report.rules_pruned == 2 and "e0" in lines[0]
    # links are .25, .125, .06, .03: of both directions the weaker must reach the bound
    lines, report = pivoted(text, tmp_path, **BY_PLACE, min_link=0.1)
    assert len(lines) == 2 and report.links_pruned == 10 and report.links == 2
    lines, report = pivoted(text, tmp_path, **BY_PLACE, min_sum=0.1)
    assert len(lines) == 2 and report.pruned == 10
    assert "10 paraphrases pruned" in "\n".join(report.lines())
    # e0 and e1 with all others: both of a pair have a share of the sources of at least .1
    lines, report = pivoted(text, tmp_path, **BY_PLACE, min_translation=0.25)
    assert len(lines) == 2 and report.rules_pruned == 2
    # two links below a bound that their sum reaches
    text = b"".join(b"[X] ||| %c ||| %c ||| 0.5 0.5 1\n" % (f, e) for f in b"FG" for e in b"ab")
    assert len(pivoted(text, tmp_path, **BY_PLACE, min_sum=0.4)[0]) == 2
    assert len(pivoted(text, tmp_path, **BY_PLACE, min_link=0.4)[0]) == 0


def test_bounds_of_any_feature(tmp_path, run):
    text = b"".join(b"[X] ||| F ||| e%d ||| %.2f 0.5 1\n" % (i, 0.5 / 2**i) for i in range(4))
    text += b"[X] ||| F ||| e e ||| 0.02 0.5 1\n"
    for names, name, bound in (
        ("plain", "p(e|f,LHS)", 1.4), ("plain", "RarityPenalty", 0.5), ("ppdb", "WordCountDiff", 0),
    ):  # fmt: skip
        every = parsed(pivoted(text, tmp_path, **BY_PLACE, names=names)[0])
        for sign, setting in ((1, "at_most"), (-1, "at_least")):
            lines, report = pivoted(
                text, tmp_path, **BY_PLACE, names=names, **{setting: {name: bound}}
            )
            wanted = {k: v for k, v in every.items() if sign * v[name] <= sign * bound}
            assert parsed(lines) == wanted and report.pruned == len(every) - len(wanted)
    (tmp_path / "rules").write_bytes(
        b"[X] ||| F ||| a ||| p(e|f)=.5\n[X] ||| F ||| b ||| p(e|f)=2\n"
    )
    for bound, n in ((9, 2), (1, 1), (0.1, 0)):
        run(
            "pivot",
            tmp_path / "rules",
            "-o",
            tmp_path / "o",
            "--set",
            f"at_most.p(e|f,LHS)={bound}",
        )
        assert len((tmp_path / "o").read_text().splitlines()) == n
    _, err = run("pivot", tmp_path / "rules", "--set", "at_least.odd=1", status=1)
    assert "'odd': choose of LogCount" in err


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"[X] ||| F ||| e ||| oops 1\n", "feature 0 is 'oops', wanted a number"),
        (b"[X] ||| F ||| e ||| 1_0 1\n", "feature 0 is '1_0', wanted a number"),
        (b"[X] ||| F ||| e ||| 1e400 1\n", "feature 0 is '1e400', wanted a number"),
        (b"[X] ||| F ||| e ||| NA 1\n", "feature 0 is NA, wanted a number"),
        (b"[X] ||| F ||| e ||| 1\n", "feature 1 is not there, wanted a number"),
        (b"[X] ||| F ||| e ||| nan 1\n", "feature 0 is 'nan', wanted a number"),
        (b"[X] ||| F ||| e ||| 1 -2\n", "feature 1 is no probability on the scale"),
        (b"[X] ||| F [A,1] ||| e ||| 1 1\n", "gap 1 does not occur once"),
        (b"[X] ||| F%b ||| e%b ||| 1 1\n" % ((b"".join(b" [A,%d]" % k for k in range(1, 10)),) * 2),
         "more than 8 gaps, too many to pivot"),
    ],
)  # fmt: skip
def test_faulty_translations(line, fault, tmp_path):
    good = b"[X] ||| F ||| a ||| 1 1\n"
    named = {"features": {"p(e|f)": "0", "p(f|e)": "1"}}
    with pytest.raises(InputError, match=rf"in, line 2: {fault}.*drop"):
        pivoted(good + line, tmp_path, **named)
    with pytest.raises(InputError, match=r"RarityPenalty is '1e15', wanted 0 to 1e\+12"):
        pivoted(b"[X] ||| F ||| a ||| RarityPenalty=1e15 |||\n", tmp_path)
    lines, report = pivoted(good + line, tmp_path, on_error="drop", **named)
    assert lines == [] and report.faulty.dropped == 1 and report.read == 1
    with pytest.raises(InputError, match="line 1: the file is empty"):
        pivoted(b"", tmp_path)


def test_a_column_that_comes_late_is_a_fault(tmp_path, monkeypatch):
    rules = [f"[X] ||| f{n // 2} ||| e{n} ||| p(e|f)=1 p(f|e)=1 |||\n" for n in range(1200)]
    rules[7] = rules[7].replace("e7", "RarityPenalty=1")  # a word
    assert "RarityPenalty" not in pivoted("".join(rules).encode(), tmp_path)[1].features
    rules[1100] = rules[1100].replace(" |||\n", " RarityPenalty=0.5 |||\n")
    text = "".join(rules).encode()
    with pytest.raises(InputError, match="line 1: feature RarityPenalty is not there"):
        pivoted(text, tmp_path)
    monkeypatch.setattr(
        "distsim.grammar.translations.read_line_blocks",
        lambda path: read_line_blocks(path, 1 << 14),
    )
    with pytest.raises(InputError, match="line 1101: feature RarityPenalty is there, which the"):
        pivoted(text, tmp_path)
    _, report = pivoted(text, tmp_path, on_error="drop")
    assert report.faulty.dropped == 1 and "RarityPenalty" not in report.features


def test_joint_columns_that_are_called_conditional_are_warned_of(tmp_path):
    sides = ((b"[A]", b"x"), (b"[B]", b"x"), (b"[A]", b"y"), (b"[B]", b"z"))
    text = b"".join(b"%b ||| F ||| %b ||| 0.25 0.5 1\n" % pair for pair in sides)
    for columns, warned in (("conditional", True), ("joint", False), (None, False)):
        _, report = pivoted(text, tmp_path, **BY_PLACE | {"columns": columns})
        told = [note for note in report.notes if "feature 0" in note]
        assert len(told) == 1 and ("warning: these are the sums of joint" in told[0]) == warned


def test_parameters_that_cannot_be():
    for wrong in (
        {"scale": "x"}, {"identities": "x"}, {"min_link": 2}, {"max_translations": -1},
        {"columns": "x"}, {"features": {"x": "1"}},
    ):  # fmt: skip
        with pytest.raises(ParameterError, match="choose"):
            PivotOptions(**wrong)
    with pytest.raises(ParameterError, match="nothing to rank by"):
        Ranking({})


@needs_grammars
def test_the_shipped_grammar_becomes_a_paraphrase_grammar(tmp_path):
    features = {"p(e|f)": "12", "p(f|e)": "10", "RarityPenalty": "9"}
    report = pivot_grammar(
        GRAMMARS / "joshua.bn-en.samt.grammar.gz",
        tmp_path / "out",
        options=PivotOptions(features=features),
    )
    # 29,538 pairs over a common foreign side; some come over several: 28,294 rules
    assert (report.links, report.written, report.gappy) == (29538, 28294, 22706)
    assert sum("it is the joint" in note for note in report.notes) == 2
    text = (tmp_path / "out").read_text()
    assert "[NP] ||| indian [JJ,1] [NNS,2] ||| [JJ,1] [NNS,2] of india |||" in text
    assert "[S] ||| hence [NP+VP,1] [.,2] ||| so [NP+VP,1] [.,2] |||" in text
    again = rerank_grammar(tmp_path / "out", tmp_path / "r", Ranking(PPDB_COST, ascending=True))
    assert again.written == 28294


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
    text, _ = ranked(RANKED, tmp_path, Ranking({"s": 1}, missing=0, write="mix"))
    assert text.splitlines()[0] == b"[X] ||| a ||| two ||| s=0.9 t=1 mix=0.90000"
    assert text.splitlines()[1] == b"[X] ||| a ||| one ||| s=0.1 mix=0.10000 ||| 0-0"


def test_scattered_rules_are_sorted_first(tmp_path):
    lines = [line + b"\n" for line in RANKED.split(b"\n")]
    scattered = lines[3] + lines[0] + lines[4] + lines[1]
    text, report = ranked(scattered, tmp_path, Ranking({"s": 1}))
    assert not report.was_grouped or text == scattered
    scattered = lines[0] + lines[3] + lines[1] + lines[4]
    text, report = ranked(scattered, tmp_path, Ranking({"s": 1}))
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
    # and the line of table 6.6 itself, which keeps the identity of unpruned rules
    text66 = (
        "p(LHS|e)=0 p(LHS|f)=1.84819 p(e|LHS)=15.47166 p(e|f)=10.47819 p(e|f,LHS)=8.36974 "
        "p(f|LHS)=8.42517 p(f|e)=1.58351 p(f|e,LHS)=1.32325 RarityPenalty=0.00012"
    )
    line = Features.parse(text66.encode())
    # 10.47819 + 1.58351 + 8.36974 + 1.32325 + 100 * .00012 + .3 * 0 + .3 * 1.84819
    assert ppdb_cost(line) == pytest.approx(22.321147)
    identity = [line.number(a) + line.number(b) for a, b in (
        ("p(e|f,LHS)", "p(f|LHS)"), ("p(f|e,LHS)", "p(e|LHS)"))]  # fmt: skip
    assert identity == pytest.approx([16.79491, 16.79491])
    assert set(PPDB_COST) == {token.rpartition("=")[0] for token in text.split()}


def test_the_command_lines(tmp_path):
    (tmp_path / "t").write_bytes(HAND)
    runner = CliRunner()
    done = runner.invoke(
        app,
        ["pivot", str(tmp_path / "t"), "-o", str(tmp_path / "p.gz"), "--set", "features.p(e|f)=0",
         "--set", "features.p(f|e)=1", "--set", "scale=probability", "--columns", "conditional"],
    )  # fmt: skip
    assert done.exit_code == 0 and "2 paraphrase rules written" in done.stderr
    assert gzip.decompress((tmp_path / "p.gz").read_bytes()).count(b"\n") == 2
    arguments = ["rerank", str(tmp_path / "p.gz"), "--ppdb-cost", "--set", "missing=0"]
    done = runner.invoke(app, [*arguments, "-o", str(tmp_path / "r")])
    assert done.exit_code == 0 and "2 written" in done.stderr
    done = runner.invoke(app, ["rerank", str(tmp_path / "p.gz"), "-w", "PivotCount"])
    assert done.exit_code == 2 and "FEATURE=NUMBER" in done.output
    done = runner.invoke(app, ["rerank", str(tmp_path / "p.gz"), "-w", "p(e|f,LHS)=-1"])
    assert done.exit_code == 0 and done.stdout.count("|||") == 8


@pytest.mark.parametrize(
    "name", ["x ||| y", "a\nb", "", "a b", "A=1", "a\tb", "\x1b", "|||", "\udcff", "a\u2028b"]
)
def test_a_name_that_no_feature_can_have_is_not_written(tmp_path, run, name):
    (tmp_path / "t").write_bytes(RANKED)
    _, err = run(
        "rerank", tmp_path / "t", "-w", "s=1", "--set", "missing=0", "--set", f"write={name}",
        "-o", tmp_path / "o", status=1,
    )  # fmt: skip
    assert "is no name of a feature: give one without blanks" in err
    assert not (tmp_path / "o").exists()


def test_names_that_are_not_utf8(tmp_path, run):
    (tmp_path / "t").write_bytes(HAND)
    for arguments in (
        ("rerank", tmp_path / "t", "-w", "\udcff=1"), ("pack", tmp_path / "t", "-w", "a\udcff=1"),
        ("pivot", tmp_path / "t", "--set", "features.p(e|f)=\udcff"),
    ):  # fmt: skip
        _, err = run(*arguments, "-o", tmp_path / "o", status=1)
        assert "udcff': is not UTF-8, which grammars are" in err
        assert not (tmp_path / "o").exists()


def test_the_piece_in_the_package_is_pivoted(tmp_path):
    from importlib.resources import as_file, files

    with as_file(files("distsim") / "data" / "grammars" / "bengali-english.samt.gz") as piece:
        assert piece.stat().st_size < 60_000
        report = pivot_grammar(piece, tmp_path / "out", options=PivotOptions(columns="joint"))
    assert (report.read, report.written, report.gappy) == (737, 1090, 894)


def test_a_pipe_is_ranked_as_a_file_is(tmp_path):
    whole, _ = ranked(RANKED, tmp_path, Ranking({"s": 1}, missing=0))
    os.mkfifo(tmp_path / "pipe")
    feeding = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(RANKED), daemon=True)
    feeding.start()
    rerank_grammar(tmp_path / "pipe", tmp_path / "again", Ranking({"s": 1}, missing=0))
    feeding.join()
    assert (tmp_path / "again").read_bytes() == whole


@pytest.mark.parametrize("odd", [b"\x00", b"\x0c", b"\x0b", b"a\rb", b"\xc2\x85", b"\x1c"])
def test_odd_bytes_are_parts_of_tokens(odd, tmp_path):
    lines = [b"[X] ||| %b ||| e%d ||| s=%d\n" % (source, k, k)
             for k, source in enumerate([odd, b"b", odd, b"b"])]  # fmt: skip
    text, report = ranked(b"".join(lines), tmp_path, Ranking({"s": 1}))
    assert not report.was_grouped and sorted(split_lines(text)) == sorted(lines)
    assert text.index(lines[2]) + len(lines[2]) == text.index(lines[0])
    made, report = pivoted(b"".join(lines), tmp_path)
    assert report.read == 4 and len(made) == 4
    flipped = b"".join(b"[X] ||| F ||| %b ||| 1\n" % side for side in (odd, b"b"))
    pivoted(flipped, tmp_path)
    assert b"[X] ||| b ||| " + odd + b" |||" in (tmp_path / "out").read_bytes()


def test_a_byte_order_mark_is_no_part_of_a_rule(tmp_path):
    text, report = ranked(b"\xef\xbb\xbf[X] ||| a ||| b ||| s=1\n", tmp_path, Ranking({"s": 1}))
    assert text == b"[X] ||| a ||| b ||| s=1\n" and report.read == 1


@pytest.mark.parametrize("value", ["1_0", "1e400", "nan", "inf", "٣"])
def test_what_is_no_plain_number_ranks_nothing(value, tmp_path):
    line = f"[X] ||| a ||| b ||| s={value}\n".encode()
    with pytest.raises(InputError, match="line 1: feature s is .*, wanted a number"):
        ranked(line, tmp_path, Ranking({"s": 1}))
    done = CliRunner().invoke(app, ["rerank", str(tmp_path / "in"), "-w", f"s={value}"])
    assert done.exit_code == 2 and "FEATURE=NUMBER" in done.output
    with pytest.raises(ParameterError, match="give a number"):
        Ranking({"s": float("nan")})
    with pytest.raises(InputError, match="line 1: the weighted sum of its features is too large"):
        ranked(b"[X] ||| a ||| b ||| s=1e308\n", tmp_path, Ranking({"s": 10}))
