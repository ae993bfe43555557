"""Slow twin of pivoting, written from the thesis (3.2.1, 3.2.3, 6.4.1.1) and Thrax's features."""

import itertools
import math
import re
from collections import defaultdict
from typing import NamedTuple

from tests.naive.grammar import GAP


class Translation(NamedTuple):
    """A rule as it is written, sides as lists; p: its probabilities by PPDB's names."""

    label: str
    foreign: list
    english: list
    p: dict
    links: list = ()


def numbered(side, order):
    """Return a side's text with gaps numbered by their order; order grows by new gaps."""
    out = []
    for symbol in side:
        gap = GAP.fullmatch(symbol)
        if gap:
            symbol = f"[{gap[1]},{order.setdefault(gap[2], len(order) + 1)}]"
        out.append(symbol)
    return " ".join(out)


def naive_pivot(rules, identities=False, min_link=0.0):
    """Return {(label, e1, e2): features}: sums over f, links, pivots; e2 numbered by e1.

    p: p(e|f,LHS), p(f|e,LHS), p(e|f), p(f|e), p(LHS|e), p(e|LHS), Lex both ways, rarity.
    """
    found = {}
    for one in rules:
        for two in rules:
            order_1, order_2 = {}, {}
            same_f = numbered(one.foreign, order_1) == numbered(two.foreign, order_2)
            if one.label != two.label or not same_f or (one is two and not identities):
                continue
            towards = two.p["p(e|f,LHS)"] * one.p["p(f|e,LHS)"]
            back = one.p["p(e|f,LHS)"] * two.p["p(f|e,LHS)"]
            if min(towards, back) < min_link:
                continue
            order = {}
            renamed = [
                [f"[{m[1]},{orders[m[2]]}]" if (m := GAP.fullmatch(s)) else s for s in side]
                for side, orders in ((one.english, order_1), (two.english, order_2))
            ]
            key = one.label, numbered(renamed[0], order), numbered(renamed[1], order)
            values = found.setdefault(key, defaultdict(list))
            values["p(e|f,LHS)"].append(towards)
            values["p(f|e,LHS)"].append(back)
            for name, lex in (("Lex(e|f)", "Lex(f|e)"), ("Lex(f|e)", "Lex(e|f)")):
                if name in one.p:
                    values[name].append(two.p[name] * one.p[lex])
            if "RarityPenalty" in one.p:
                values["RarityPenalty"].append(max(one.p["RarityPenalty"], two.p["RarityPenalty"]))
            values["links"].append({
                (b, d) for a, b in one.links for c, d in two.links
                if a == c
                and not any(map(GAP.fullmatch, (one.foreign[a], one.english[b], two.english[d])))
            })  # fmt: skip
            values["ends"].append((one, two))
    for (_, e1, e2), values in found.items():
        one, two = values["ends"][0]
        for name in ("p(LHS|e)", "p(e|LHS)"):
            if name in one.p:
                values[name] = [two.p[name]]
                values[name.replace("e", "f")] = [one.p[name]]
        for name, back in (("p(e|f)", "p(f|e)"), ("p(f|e)", "p(e|f)")):
            if name in one.p:
                values[name] = [label_free(rules, e1, e2, name, back)]
    return {key: features(key, values) for key, values in found.items()}


def naive_virtual(rules):
    """Return {(label, e1, e2): p(e2|e1,LHS)} by virtual counts (3.9 to 3.11); c: of each rule."""
    least = 1e-6  # products below 1, so that naive_pivot sums them as they are
    of_count = {"p(e|f,LHS)": 0.0, "p(f|e,LHS)": 0.0}
    scaled = [rule._replace(p=dict.fromkeys(of_count, rule.p["c"] * least)) for rule in rules]
    pairs = naive_pivot(scaled, identities=True)
    counts = {key: math.exp(-values["p(e|f,LHS)"]) for key, values in pairs.items()}
    total = defaultdict(float)
    for (label, e1, _), count in counts.items():
        total[label, e1] += count
    return {key: count / total[key[:2]] for key, count in counts.items()}


def naive_pairs(sources, runs, groups, targets, n_targets, orders, columns, least, identities):
    """Return ([(key, its pairs of rules)] by key, how many pairs are below least).

    Sides have two gaps; a key is (run, target, whether the gaps are exchanged) in one number.
    """
    found, passed = defaultdict(list), 0
    for one, run in zip(sources.tolist(), runs.tolist(), strict=True):
        for two in range(*groups[one].tolist()):
            if one == two and not identities:
                continue
            there, back = columns[two, 0] * columns[one, 1], columns[one, 0] * columns[two, 1]
            if min(there, back) < least:
                passed += 1
                continue
            key = (run * n_targets + int(targets[two])) * 2 + int(orders[one] != orders[two])
            found[key].append((one, two))
    return sorted(found.items()), passed


def label_free(rules, e1, e2, name, back):
    """Return the sum over all f, whatever their labels, of p(e2|f) p(f|e1)."""
    links = {}
    for one in rules:
        for two in rules:
            order_1, order_2, order = {}, {}, {}
            foreign = numbered(one.foreign, order_1)
            if foreign != numbered(two.foreign, order_2):
                continue
            renamed = [
                [f"[{m[1]},{orders[m[2]]}]" if (m := GAP.fullmatch(s)) else s for s in side]
                for side, orders in ((one.english, order_1), (two.english, order_2))
            ]
            if (numbered(renamed[0], order), numbered(renamed[1], order)) == (e1, e2):
                links[foreign, " ".join(renamed[0])] = two.p[name] * one.p[back]
    return sum(links.values())


def features(key, values):
    """Return costs and counts as they are written, and the set of links."""
    out = {}
    for name, several in values.items():
        if name.startswith(("p(", "Lex(")):
            out[name] = -math.log(max(min(sum(several), 1.0), 1e-300))
    if values["RarityPenalty"]:
        out["RarityPenalty"] = min(values["RarityPenalty"])
    out["PivotCount"] = len(values["ends"])
    out["LogCount"] = math.log(len(values["ends"]))
    met = set.intersection(*values["links"])
    if not met:
        strength = [a * b for a, b in zip(values["p(e|f,LHS)"], values["p(f|e,LHS)"], strict=True)]
        met = values["links"][strength.index(max(strength))]
    places = [
        {m[2]: k for k, s in enumerate(side.split()) if (m := GAP.fullmatch(s))} for side in key[1:]
    ]
    gaps = {(k, places[1][number]) for number, k in places[0].items()}
    out["links"] = sorted(met | gaps)
    return out


def types(line):
    """Return {name: value} of what the sides of a line tell (thesis 3.2.3.1.2, 4.2.1)."""
    label, source, target, _, links = (field.strip() for field in line.split("|||"))
    sides = source.split(), target.split()
    gaps = [[s for s in side if re.fullmatch(r"\[.+,\d+\]", s)] for side in sides]
    words = [[s for s in side if not re.fullmatch(r"\[.+,\d+\]", s)] for side in sides]
    joined = [
        " ".join("" if s in g else s for s in side) for side, g in zip(sides, gaps, strict=True)
    ]
    chars, counts = list(map(len, joined)), list(map(len, words))
    mean = [sum(map(len, w)) / len(w) if w else 0.0 for w in words]
    linked = [{int(link.split("-")[k]) for link in links.split()} for k in (0, 1)]
    free = [
        sum(s in w and i not in seen for i, s in enumerate(side))
        for side, w, seen in zip(sides, words, linked, strict=True)
    ]

    def ratio(pair):
        return math.log(pair[1] / pair[0]) if min(pair) > 0 else 0.0

    numbers = [[s.rpartition(",")[2] for s in g] for g in gaps]
    x = label == "[X]" or any(s.startswith("[X,") for s in gaps[0])
    return {
        "Abstract": not words[0] and not words[1],
        "Adjacent": any(a in gaps[0] and b in gaps[0] for a, b in itertools.pairwise(sides[0])),
        "CharCountDiff": chars[1] - chars[0], "CharLogCR": ratio(chars), "ContainsX": x,
        "GlueRule": 0, "Identity": source == target, "Lexical": not gaps[0],
        "Monotonic": numbers[0] == numbers[1], "PhrasePenalty": 1,
        "SourceTerminalsButNoTarget": bool(words[0]) and not words[1], "SourceWords": counts[0],
        "TargetTerminalsButNoSource": bool(words[1]) and not words[0], "TargetWords": counts[1],
        "UnalignedSource": free[0], "UnalignedTarget": free[1],
        "WordCountDiff": counts[1] - counts[0], "WordLenDiff": mean[1] - mean[0],
        "WordLogCR": ratio(counts),
    }  # fmt: skip
