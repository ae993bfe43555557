"""An adversary of `extract` and `pivot` on real bitexts: the slow twin, sums, drawn rules.

    python -m tests.faults.rules twin news.bitext --preset hiero [--pairs 1001]
    python -m tests.faults.rules sums help-de.bitext --preset hiero
    python -m tests.faults.rules drawn help-de.bitext --preset hiero [--draws 100] [--seed 1]
    python -m tests.faults.rules pivot help-de.bitext [--pairs 4000]

twin: every rule, link and feature of the first pairs by tests/naive/extraction.py, written from
the papers. sums: every conditional probability summed over what it is a probability of, from the
counts of all rules. drawn: rules drawn at random, their counts taken again by the slow twin from
the sentences that hold all their words (at most 60; others are passed over, and told). pivot:
p(e|f,LHS) summed over all paraphrases of every side, itself included, nothing pruned, and the
reverse. Every broken promise is printed and makes the exit status 1. Peers: none.
"""

import argparse
import math
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from distsim.bitext.bitext import Bitext
from distsim.grammar.extraction import PRESETS, extract_rules
from distsim.grammar.extraction.extract import write_rules
from distsim.grammar.extraction.features import FeatureChoice
from distsim.grammar.extraction.numeric import NumericRules
from distsim.grammar.extraction.pivoting import pivot_rules
from distsim.grammar.pivot import PivotOptions
from tests.grammar.extraction_texts import linked_text, read_rules
from tests.naive import extraction as naive_extraction

MOST_SENTENCES = 60


def pairs_of(bitext, sentences):
    """Return sentence pairs as the slow twin takes them."""
    return [
        naive_extraction.Pair(
            bitext.other.words(s), bitext.english.words(s),
            {(f, e) for e, f in bitext.links_of(s)},
            [tuple(node) for node in bitext.trees.nodes(s)] if bitext.trees else (),
        )
        for s in sentences
    ]  # fmt: skip


def twin(bitext, options, given, folder):
    """Compare every rule, its links and its features."""
    pairs = [pairs_of(bitext, range(min(given.pairs, len(bitext))))]
    write_rules(linked_text(pairs, options), folder / "rules", options, FeatureChoice())
    found, wanted = read_rules(folder / "rules"), naive_extraction.rules(pairs, options)
    broken = [f"only in one: {rule}" for rule in found.keys() ^ wanted.keys()]
    n_values = 0
    for rule in found.keys() & wanted.keys():
        values, links = wanted[rule]
        if found[rule][1] != links:
            broken.append(f"links of {rule}: {found[rule][1]}, wanted {links}")
        for name in found[rule][0].keys() & values.keys():
            n_values += 1
            if not math.isclose(found[rule][0][name], values[name], abs_tol=6e-6):
                broken.append(f"{name} of {rule}: {found[rule][0][name]}, wanted {values[name]}")
    print(f"{len(pairs[0]):,} pairs: {len(wanted):,} rules, {n_values:,} values compared")
    return broken


def sums(bitext, options, given, folder):
    """Sum every conditional probability over what it is a probability of."""
    extract_rules([bitext], None, options, numeric=folder / "rules")
    rules = NumericRules(folder / "rules")
    label, f, e = (rules.label.astype(np.int64), rules.foreign.astype(np.int64),
                   rules.english.astype(np.int64))  # fmt: skip
    c = rules.count.astype(float)
    c_fe, c_f, c_e, c_lf, c_le = rules.margins.astype(float).T
    n_labels = len(rules.labels)
    c_l = rules.label_counts[label].astype(float)

    def first(*keys):
        """Return one rule of each combination of keys."""
        return np.unique(np.stack(keys), axis=1, return_index=True)[1]

    every = np.arange(len(rules))
    pair, of_lf, of_le = first(f, e, rules.swaps), first(label, f), first(label, e)
    broken = []
    for name, p, rows, over in (
        ("p(e|f,LHS)", c / c_lf, every, f * n_labels + label),
        ("p(f|e,LHS)", c / c_le, every, e * n_labels + label),
        ("p(e|f)", c_fe / c_f, pair, f),
        ("p(f|e)", c_fe / c_e, pair, e),
        ("p(LHS|f)", c_lf / c_f, of_lf, f),
        ("p(LHS|e)", c_le / c_e, of_le, e),
        ("p(f|LHS)", c_lf / c_l, of_lf, label),
        ("p(e|LHS)", c_le / c_l, of_le, label),
    ):
        _, group = np.unique(over[rows], return_inverse=True)
        off = np.abs(np.bincount(group, p[rows]) - 1).max()
        print(f"{name}: {group.max() + 1:,} sums, farthest from 1 by {off:.1e}")
        if off > 1e-9:
            broken.append(f"{name} sums to 1 within {off:.3g}")
    print(f"{len(rules):,} rules, {int(c.sum()):,} instances")
    return broken


def drawn(bitext, options, given, folder):
    """Count drawn rules again, from the sentences that hold all their words."""
    extract_rules([bitext], folder / "text", options)
    lines = [line for line in (folder / "text").read_text().split("\n") if line]
    places = defaultdict(set)
    for s in range(len(bitext)):
        for word in bitext.english.words(s):
            places["e", word].add(s)
        for word in bitext.other.words(s):
            places["f", word].add(s)
    everything = set(range(len(bitext)))
    broken, n, passed = [], 0, 0
    draw = np.random.default_rng(given.seed)
    for at in draw.permutation(len(lines)).tolist():
        if n == given.draws:
            break
        label, foreign, english, features, links = lines[at].split(" ||| ")
        where = everything
        for side, text in (("f", foreign), ("e", english)):
            for word in text.split():
                if not naive_extraction.is_gap(word):
                    where = where & places[side, word]
        if not 1 <= len(where) <= MOST_SENTENCES:  # none: a word that is written escaped
            passed += 1
            continue
        alignments = Counter()
        for pair in pairs_of(bitext, sorted(where)):
            for one in naive_extraction.instances(pair, options, bitext.trees is not None):
                if (one.label, " ".join(one.foreign), " ".join(one.english)) == (
                    label, foreign, english,
                ):  # fmt: skip
                    alignments[naive_extraction.link_text(one.links)] += 1
        count = sum(alignments.values())
        values = dict(one.rsplit("=", 1) for one in features.split())
        best = min(alignments.items(), key=lambda x: (-x[1], x[0]), default=("", 0))[0]
        told = math.log(count) if count else math.nan
        if not math.isclose(float(values["LogCount"]), told, abs_tol=6e-6) or best != links:
            broken.append(f"{lines[at][:200]}: counted {count}, links {best}")
        n += 1
    print(f"{n} of {len(lines):,} rules counted again, {passed} passed over as too frequent")
    return broken


def pivot(bitext, options, given, folder):
    """Sum the probabilities of all paraphrases of each side, both ways."""
    pairs = [pairs_of(bitext, range(min(given.pairs, len(bitext))))]
    options = replace(options, longest=min(options.longest, 4))
    write_rules(linked_text(pairs, options), None, options, FeatureChoice(),
                numeric=folder / "rules")  # fmt: skip
    report = pivot_rules(folder / "rules", folder / "out", PivotOptions(identities="mark"))
    totals = {"p(e|f,LHS)": Counter(), "p(f|e,LHS)": Counter()}
    with open(folder / "out", encoding="utf-8") as lines:
        for line in lines:
            label, source, target, features, _ = line.split(" ||| ")
            values = dict(one.rsplit("=", 1) for one in features.split())
            totals["p(e|f,LHS)"][label, source] += math.exp(-float(values["p(e|f,LHS)"]))
            totals["p(f|e,LHS)"][label, target] += math.exp(-float(values["p(f|e,LHS)"]))
    broken = []
    print(f"{report.links:,} links, {report.written:,} rules with identities")
    for name, sums_of in totals.items():
        off = max(abs(value - 1) for value in sums_of.values())
        print(f"{name}: {len(sums_of):,} sums, farthest from 1 by {off:.1e}")
        if off > 1e-3:  # five decimals a rule
            broken.append(f"{name} sums to 1 within {off:.3g}")
    return broken


WAYS = {"twin": twin, "sums": sums, "drawn": drawn, "pivot": pivot}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("bitext")
    parser.add_argument("--preset", choices=PRESETS, default="phrases")
    parser.add_argument("--pairs", type=int, default=1001)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with TemporaryDirectory(prefix="distsim-rules-") as name:
        broken = WAYS[given.way](
            Bitext.open(given.bitext), PRESETS[given.preset], given, Path(name)
        )
    print(f"{len(broken)} broken promises")
    print("\n".join(broken[:20]))
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
