"""What a paraphrase grammar of one's own is worth: pivot probability, the engine, and both.

    distsim align EN OTHER -o NAME.bitext                          (for each bitext)
    distsim extract *.bitext --preset phrases --numeric all.rules
    python bench/grammar_road.py all.rules --index wiki.index [--gold DIR] [--seed 1]
    python bench/grammar_road.py labelled.rules --labelled         (trees: --labels thesis)

Against people's judgements of 13,954 paraphrase pairs (Pavlick et al. 2015), phrases of up to 4
tokens: coverage, Spearman's correlation (intervals by resampling the phrases, 95%), by the number
of bitexts that agree, beside word overlap and frequency alone; of phrases drawn from the grammar,
the share whose best paraphrase is a part of it, or holds it (Callison-Burch 2008).
"""

import argparse
import math
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import rankdata, spearmanr

from distsim import CorpusIndex, SignatureTable, similarities
from distsim.corpus.vocabulary import hash_blob, hash_texts
from distsim.grammar.extraction.numeric import NumericRules

GOLD = Path(__file__).parents[2] / "shared" / "data" / "gold-paraphrase-shared"
LONGEST = 4
N_SAMPLES = 500
N_PHRASES = 3000


def read_gold(folder):
    rows = []
    for line in (folder / "judgements.tsv").read_text(encoding="utf-8").splitlines():
        score, label, one, two, _ = line.split("\t")
        if max(len(one.split()), len(two.split())) <= LONGEST:
            rows.append((one, two, float(score), label.strip("[]")))
    return rows


class Pivot:
    """Paraphrases straight from counts: p(e2|e1) summed over foreign sides (thesis 3.7, 3.8)."""

    def __init__(self, path):
        self.rules = rules = NumericRules(path)
        text, starts = rules.sides("english")
        self.text, self.starts = text, starts
        self.hashes = hash_blob(text, starts)
        self.by_hash = np.argsort(self.hashes)
        self.by_english = np.argsort(rules.english, kind="stable")
        self.english_starts = np.searchsorted(
            rules.english[self.by_english], np.arange(self.hashes.size + 1)
        )
        group = rules.foreign.astype(np.int64) * len(rules.labels) + rules.label
        first = np.flatnonzero(np.append(True, np.diff(group) != 0))
        ends = np.append(first[1:], group.size)
        self.group_start = np.repeat(first, ends - first)
        self.group_stop = np.repeat(ends, ends - first)
        c = rules.count.astype(float)
        self.forward, self.backward = c / rules.margins[:, 3], c / rules.margins[:, 4]
        bits = 1 << np.arange(rules.bitexts.shape[1])
        self.masks = ((rules.bitexts > 0) * bits).sum(axis=1)

    def number(self, phrase):
        key = hash_texts([phrase.encode()])[0]
        at = np.searchsorted(self.hashes, key, sorter=self.by_hash)
        if at < self.hashes.size and self.hashes[self.by_hash[at]] == key:
            return int(self.by_hash[at])
        return None

    def phrase(self, number):
        return self.text[self.starts[number] : self.starts[number + 1]].tobytes().decode()

    def count(self, number):
        own = self.by_english[self.english_starts[number] : self.english_starts[number + 1]]
        return int(self.rules.margins[own[0], 2])

    def paraphrases(self, number):
        """Return {(label, e2): (p(e2|e1), p(e1|e2), bitexts that agree)}."""
        own = self.by_english[self.english_starts[number] : self.english_starts[number + 1]]
        lengths = self.group_stop[own] - self.group_start[own]
        first = np.repeat(own, lengths)
        within = np.arange(first.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        second = np.repeat(self.group_start[own], lengths) + within
        towards = self.forward[second] * self.backward[first]
        back = self.forward[first] * self.backward[second]
        met = self.masks[first] & self.masks[second]
        key = self.rules.label[first].astype(np.int64) << 32 | self.rules.english[second]
        distinct, where = np.unique(key, return_inverse=True)
        agree = np.zeros(distinct.size, np.int64)
        np.bitwise_or.at(agree, where, met)
        sums = zip(
            np.bincount(where, towards), np.bincount(where, back), agree.tolist(), strict=True
        )
        return {
            (k >> 32, k & 0xFFFFFFFF): (p, q, bin(mask).count("1"))
            for k, (p, q, mask) in zip(distinct.tolist(), sums, strict=True)
            if k & 0xFFFFFFFF != number
        }


def covered_pairs(pivot, gold, labelled=False):
    """Return (the judged pairs that are paraphrases, (p, q, bitexts that agree) of each)."""
    of_phrase, covered, values = {}, [], []
    for row in gold:
        one, two = pivot.number(row[0]), pivot.number(row[1])
        if one is None or two is None:
            continue
        if one not in of_phrase:
            of_phrase[one] = pivot.paraphrases(one)
        found = [
            (p, q, agree, pivot.rules.labels[label].decode())
            for (label, other), (p, q, agree) in of_phrase[one].items()
            if other == two
        ]
        if labelled:
            found = [one for one in found if one[3] == row[3]] or found
        if found:
            covered.append(row)
            values.append(max(found)[:3])
    return covered, values


def overlap(one, two):
    a, b = set(one.split()), set(two.split())
    return len(a & b) / len(a | b)


def spearman(rows, values, draw):
    """Return the correlation and its interval, phrases resampled."""
    gold = np.array([row[2] for row in rows])
    values = np.array(values, float)
    of_phrase = defaultdict(list)
    for n, row in enumerate(rows):
        of_phrase[row[0]].append(n)
    groups = [np.array(one) for one in of_phrase.values()]
    found = []
    warnings.simplefilter("ignore")  # of samples in which all values are one
    for _ in range(N_SAMPLES):
        picked = np.concatenate([groups[n] for n in draw.integers(len(groups), size=len(groups))])
        found.append(spearmanr(gold[picked], values[picked]).statistic)
    low, high = np.nanpercentile(found, [2.5, 97.5])
    return spearmanr(gold, values).statistic, low, high


def show(name, rows, values, draw):
    rho, low, high = spearman(rows, values, draw)
    print(f"| {name} | {len(rows):,} | {rho:.3f} | {low:.3f} to {high:.3f} |")


def is_part(one, two):
    a, b = f" {one} ", f" {two} "
    return a in b or b in a


def best_are_parts(pivot, draw):
    """Return (phrases under a label with a paraphrase, share whose best is a part or holds it).

    Phrases of 2 to 4 tokens, drawn among all that share a foreign side with another one.
    """
    rules = pivot.rules
    n_symbols, n_gaps = rules.n_symbols(), rules.n_gaps()
    met = np.unique(rules.english[pivot.group_stop - pivot.group_start > 1])
    fits = (n_symbols[met] >= 2) & (n_symbols[met] <= LONGEST) & (n_gaps[met] == 0)
    parts = []
    for number in draw.permutation(met[fits])[:N_PHRASES].tolist():
        phrase = pivot.phrase(number)
        best = {}
        for (label, other), (p, _, _) in pivot.paraphrases(number).items():
            if rules.labels[label] != b"X" or len(rules.labels) == 1:
                best[label] = max(best.get(label, (0.0, 0)), (p, -other))
        parts += [is_part(phrase, pivot.phrase(-other)) for _, other in best.values()]
    return len(parts), float(np.mean(parts)) if parts else math.nan


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rules")
    parser.add_argument("--index")
    parser.add_argument("--gold", type=Path, default=GOLD)
    parser.add_argument("--labelled", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    draw = np.random.default_rng(given.seed)
    gold = read_gold(given.gold)
    pivot = Pivot(given.rules)
    covered, values = covered_pairs(pivot, gold, given.labelled)
    if len(covered) < 3:
        print(f"{len(covered)} of {len(gold):,} judged pairs are in the grammar: too few")
        print("{:,} phrases: {:.1%} of best paraphrases are parts".format(
            *best_are_parts(pivot, draw)))  # fmt: skip
        return
    p, q, agree = (np.array(column) for column in zip(*values, strict=True))
    both_ways = np.log(p) + np.log(q)
    print(
        f"{len(gold):,} judged pairs of up to {LONGEST} tokens, {len(covered):,} in the grammar\n"
    )
    print("| by | pairs | rho | interval |\n|---|---|---|---|")
    show("pivot probability p(e2 given e1)", covered, p, draw)
    show("pivot probability, both ways", covered, both_ways, draw)
    show("word overlap", covered, [overlap(*row[:2]) for row in covered], draw)
    counts = [math.log(pivot.count(pivot.number(row[1]))) for row in covered]
    show("frequency of the paraphrase in the bitexts", covered, counts, draw)
    if given.index:
        corpus = CorpusIndex.open(given.index)
        table = SignatureTable.open(given.index)
        pairs = [row[:2] for row in covered]
        alike = similarities(table, pairs)
        kept = [n for n, value in enumerate(alike) if value is not None]
        rows = [covered[n] for n in kept]
        engine = np.array([alike[n] for n in kept])
        pivoted = both_ways[kept]
        print(f"\n{len(rows):,} of them have signatures\n")
        print("| by | pairs | rho | interval |\n|---|---|---|---|")
        show("pivot probability, both ways", rows, pivoted, draw)
        show("engine, 256 bits", rows, engine, draw)
        show("both, mean of ranks", rows, rankdata(pivoted) + rankdata(engine), draw)
        show("word overlap", rows, [overlap(*row[:2]) for row in rows], draw)
        frequency = np.log1p(corpus.count([row[1] for row in rows]))
        show("frequency of the paraphrase in the index", rows, frequency, draw)
    if pivot.rules.bitexts.shape[1] > 1:
        print(
            "\n| bitexts that agree | pairs | mean judgement | rho, both ways |\n|---|---|---|---|"
        )
        scores = np.array([row[2] for row in covered])
        for n in range(int(agree.max()) + 1):
            of_n = agree == n
            if of_n.sum() > 2:
                rho = spearmanr(scores[of_n], both_ways[of_n]).statistic
                print(f"| {n} | {of_n.sum():,} | {scores[of_n].mean():.2f} | {rho:.3f} |")
    n, share = best_are_parts(pivot, draw)
    print(f"\nbest paraphrases of {n:,} phrases of 2 to {LONGEST} tokens under a label:", end=" ")
    print(f"{share:.1%} hold the phrase or stand in it")


if __name__ == "__main__":
    main()
