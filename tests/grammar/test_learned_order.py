"""The learned order of rules: its weights, their text, and what rerank makes of them."""

import numpy as np
import pytest

from distsim.grammar.learned_weights import LearnedWeight, LearnedWeights, rule_order
from distsim.grammar.rerank import Ranking, rerank_grammar

RULES = (
    "[X] ||| a b ||| c ||| p(e|f)=1 p(f|e)=1 LogCount=0 sim_ngram=0.2\n"
    "[X] ||| a b ||| d ||| p(e|f)=1 p(f|e)=1 LogCount=1 sim_ngram=0.8\n"
    "[X] ||| a b ||| e ||| p(e|f)=1\n"
    "[X] ||| a b ||| f ||| p(e|f)=1 p(f|e)=1 LogCount=0 sim_ngram=1\n"
)


def by_hand(weights, features):
    """The sum that the docstring of LearnedWeight tells; a similarity of 1 is none."""
    total = 0.0
    for name, one in weights.weights.items():
        value = features.get(name)
        if value is None or (name == "sim_ngram" and value == 1):
            total += one.missing
        else:
            total += one.weight * (min(one.high, max(one.low, value)) - one.mean) / one.scale
    return total


def test_rerank_orders_by_the_learned_sum(tmp_path, run):
    (tmp_path / "g").write_text(RULES)
    run("rerank", tmp_path / "g", "-o", tmp_path / "o", "--set", "write=all")
    found = {}
    for line in (tmp_path / "o").read_text().splitlines():
        target, features = line.split(" ||| ")[2:4]
        found[target] = {name: float(x) for name, x in (f.split("=") for f in features.split())}
    for features in found.values():
        assert features["all"] == pytest.approx(by_hand(rule_order(), features), abs=6e-6)
    sums = [features["all"] for features in found.values()]
    assert sums == sorted(sums, reverse=True) and next(iter(found)) == "d"
    # A sum with other features is possible in Python.
    ranking = Ranking({"sim_ngram": -100.0}, learned=rule_order(), top=1, missing=0.0)
    rerank_grammar(tmp_path / "g", tmp_path / "p", ranking)
    assert " ||| e ||| " in (tmp_path / "p").read_text()
    run("rerank", tmp_path / "g", "--ppdb-cost", "-w", "p=1", status=2)


def test_a_rule_without_any_of_the_features_is_told(tmp_path, run):
    (tmp_path / "g").write_text("[X] ||| a ||| b ||| x=1\n")
    _, err = run("rerank", tmp_path / "g", "-o", tmp_path / "o", status=1)
    assert "line 1: has none of p(e|f), p(f|e), LogCount, sim_ngram to rank by" in err


def test_weights_are_written_and_read_again():
    order = rule_order()
    again = LearnedWeights.parse(order.text())
    assert again.text() == order.text() and again.names == order.names
    assert again.notes == order.notes and len(order.notes) == 3
    drawn = np.random.default_rng(1).normal(size=(9, 2))
    drawn[3, 1] = np.nan
    weights = LearnedWeights({"y": LearnedWeight(2.0, 0.5, 4.0, -1.0, 1.0, 0.25)})
    wanted = [
        0.25 if np.isnan(y) else 2.0 * (min(1.0, max(-1.0, y)) - 0.5) / 4.0
        for y in drawn[:, 1].tolist()
    ]
    assert weights.values(["x", "y"], drawn).tolist() == pytest.approx(wanted)
