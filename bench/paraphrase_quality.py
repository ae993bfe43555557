"""Does the similarity of a rule tell good paraphrases from bad ones?

Three questions, each beside what one would use without it:

judged: 13,954 PPDB pairs judged by people (1 to 5), made into rules and scored like any grammar.
Spearman between score and judgement, against the similarity of the two whole phrases alone
(`whole`, no decomposition), which covers fewer pairs.
pivoted: pairs that a pivoted grammar and the judgements have in common, with the grammar's own
p(e2|e1) beside, and the mean of both ranks. The Bengali-English grammar has next to none of
them, so the Moses French-English phrase table is pivoted, too (pairs of judged phrases only).
shuffled: real pivoted rules with gaps against the same rules with the target side of another
rule of the same label and gaps; the area under the ROC curve, over rules that have a score on
either side. Nobody judged these: a shuffled rule may be fair, a real one poor.

Intervals are 95% by bootstrap over the focal phrases, since pairs of one phrase are not
independent.

    python bench/paraphrase_quality.py TABLE [--grammar PIVOTED] [--exact INDEX]
"""

import argparse
import math
import random
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import rankdata, spearmanr

SHARED = Path(__file__).parents[1] / "../shared/data"


def scored(lines, table, folder, exact=None, identical="one"):
    """Return (similarity or NaN, coverage) per line of a grammar."""
    from distsim.grammar.formats.rules import Rule
    from distsim.grammar.score_file import score_grammar
    from distsim.grammar.scoring import RuleScorer, ScoreOptions
    from distsim.grammar.training import TrainingOptions

    (folder / "in").write_text("".join(lines))
    scorer = RuleScorer([("sim", table)], options=ScoreOptions(identical=identical), exact=[exact])
    score_grammar(folder / "in", folder / "out", scorer, training=TrainingOptions(aligner="learnt"))
    found = []
    for line in (folder / "out").read_bytes().splitlines():
        value = Rule.parse(line).features.get("sim")
        found.append(np.nan if value is None else float(value))
    return np.array(found)


def whole_phrases(pairs, table, exact):
    from distsim import similarities

    values = exact.similarities(pairs) if exact else similarities(table, pairs)
    return np.array([np.nan if v is None else v for v in values])


def from_phrase_table(gold, table, folder, exact, data):
    """Return (lines, scores) of the paraphrases that a Moses table gives among judged phrases.

    p(e2|e1) = sum over f of p(e2|f) p(f|e1), as the table has them (scores 2 and 0).
    """
    from distsim.grammar.formats.phrase_table import read_entries

    moses = data / "grammars/joshua.moses.fr-en.rules.1.gz"
    if not moses.exists():
        return [], []
    wanted = {phrase for pair in gold for phrase in pair[:2]}
    of_phrase = defaultdict(dict)
    for _, _, entry in read_entries(moses):
        english = entry.target.decode().lower()
        if english in wanted:
            of_phrase[english].setdefault(entry.source, entry.numbers())
    lines = []
    for one, two in sorted({pair[:2] for pair in gold}):
        first, second = of_phrase[one], of_phrase[two]
        probability = sum(second[f][2] * first[f][0] for f in first if f in second)
        if probability:
            lines.append(f"[X] ||| {one} ||| {two} ||| p(e|f,LHS)={-math.log(probability)}\n")
    return lines, scored(lines, table, folder, exact)


def with_interval(phrases, values, judged, rounds=500):
    """Return `rho [low, high] (n)` over the pairs that have a value."""
    has = ~np.isnan(values)
    phrases, values, judged = np.array(phrases)[has], values[has], judged[has]
    if len(values) < 5:
        return f"too few ({len(values)})"
    rho = spearmanr(values, judged).statistic
    of_phrase = defaultdict(list)
    for number, phrase in enumerate(phrases.tolist()):
        of_phrase[phrase].append(number)
    groups = [np.array(g) for g in of_phrase.values()]
    rng = np.random.default_rng(1)
    drawn = []
    for _ in range(rounds):
        chosen = np.concatenate([groups[k] for k in rng.integers(0, len(groups), len(groups))])
        drawn.append(spearmanr(values[chosen], judged[chosen]).statistic)
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return f"{rho:.3f} [{low:.3f}, {high:.3f}] ({len(values):,})"


def area(good, bad):
    good, bad = good[~np.isnan(good)], bad[~np.isnan(bad)]
    ranks = rankdata(np.concatenate([good, bad]))
    return (ranks[: len(good)].sum() - len(good) * (len(good) + 1) / 2) / len(good) / len(bad)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("table")
    parser.add_argument("--grammar")
    parser.add_argument("--exact", metavar="INDEX")
    parser.add_argument("--data", type=Path, default=SHARED)
    given = parser.parse_args()
    from distsim import CorpusIndex, ExactCosine, SignatureTable
    from distsim.grammar.formats.rules import Rule, gap_of
    from distsim.grammar.pivot import PivotOptions, pivot_grammar

    table = SignatureTable.open(given.table)
    exact = ExactCosine(CorpusIndex.open(given.exact), table) if given.exact else None
    gold = []
    judgements = given.data / "gold-paraphrase-shared/judgements.tsv"
    for line in judgements.read_text(encoding="utf-8").splitlines():
        score, _, one, two, *_ = line.split("\t")
        gold.append((one, two, float(score)))
    judged = np.array([score for *_, score in gold])
    phrases = [one for one, *_ in gold]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("judged\tpairs", f"{len(gold):,}", sep="\t")
        lines = [f"[X] ||| {one} ||| {two} ||| \n" for one, two, _ in gold]
        whole = whole_phrases([pair[:2] for pair in gold], table, exact)
        rules = scored(lines, table, folder, exact)
        print("judged\trule score", with_interval(phrases, rules, judged), sep="\t")
        skipping = scored(lines, table, folder, exact, identical="skip")
        print("judged\trule score, identical skipped",
              with_interval(phrases, skipping, judged), sep="\t")  # fmt: skip
        print("judged\twhole phrases", with_interval(phrases, whole, judged), sep="\t")
        both = ~np.isnan(whole) & ~np.isnan(rules)
        print("judged\trule score, where whole has one",
              with_interval(phrases, np.where(both, rules, np.nan), judged), sep="\t")  # fmt: skip
        long = np.array([max(len(a.split()), len(b.split())) > 1 for a, b, _ in gold])
        for label, values in (("rule score", rules), ("whole phrases", whole)):
            shown = with_interval(phrases, np.where(long, values, np.nan), judged)
            print(f"judged, more than one word\t{label}\t{shown}")

        grammar = folder / "pivoted"
        if given.grammar:
            from distsim.corpus.lines import read_lines

            grammar.write_bytes(b"".join(line for _, line in read_lines(given.grammar)))
        else:
            samt = given.data / "grammars/joshua.bn-en.samt.grammar.gz"
            pivot_grammar(
                samt, grammar, options=PivotOptions(features={"p(e|f)": "12", "p(f|e)": "10"})
            )
        rule_lines = grammar.read_text().splitlines(keepends=True)
        similar = scored(rule_lines, table, folder, exact)
        for label, lines, values in (
            ("Bengali-English", rule_lines, similar),
            ("French-English", *from_phrase_table(gold, table, folder, exact, given.data)),
        ):
            best = {}
            for line, value in zip(lines, np.asarray(values).tolist(), strict=True):
                rule = Rule.parse(line.encode())
                key = tuple(b" ".join(side).decode() for side in (rule.source, rule.target))
                probability = -rule.features.number("p(e|f,LHS)")
                if key not in best or probability > best[key][1]:
                    best[key] = value, probability
            met = [(one, *best[one, two], score) for one, two, score in gold if (one, two) in best]
            if not met:
                print(f"pivoted, {label}\tnone of the judged pairs")
                continue
            phrases, similarities, probabilities, scores = map(list, zip(*met, strict=True))
            both = rankdata(np.nan_to_num(similarities, nan=0)) + rankdata(probabilities)
            for name, column in (
                ("rule score", similarities), ("p(e2|e1)", probabilities), ("ranks of both", both),
            ):  # fmt: skip
                shown = with_interval(phrases, np.array(column), np.array(scores))
                print(f"pivoted, {label}\t{name}\t{shown}")

        alike = defaultdict(list)
        for number, line in enumerate(rule_lines):
            rule = Rule.parse(line.encode())
            gaps = sorted(s for s in rule.target if gap_of(s))
            if gaps and len(rule.target) > len(gaps):
                alike[rule.label, tuple(gaps)].append(number)
        shuffled, real = [], []
        rng = random.Random(1)
        for members in alike.values():
            for number in members:
                other = rng.choice(members)
                mine, theirs = (rule_lines[k].split(" ||| ") for k in (number, other))
                if theirs[2] in (mine[2], mine[1]):
                    continue
                # gap links only, so that both are aligned by the same means
                shuffled.append(" ||| ".join([*mine[:2], theirs[2], ""]) + "\n")
                real.append(" ||| ".join([*mine[:3], ""]) + "\n")
        found = scored(real + shuffled, table, folder, exact, identical="skip")
        good, bad = found[: len(real)], found[len(real) :]
        print("shuffled\trules", f"{len(real):,}", sep="\t")
        print("shuffled\tscored, real", f"{np.mean(~np.isnan(good)):.2f}", sep="\t")
        print("shuffled\tscored, shuffled", f"{np.mean(~np.isnan(bad)):.2f}", sep="\t")
        print("shuffled\tarea, identical pairs skipped", f"{area(good, bad):.3f}", sep="\t")
        found = scored(real + shuffled, table, folder, exact)
        print("shuffled\tarea", f"{area(found[: len(real)], found[len(real) :]):.3f}", sep="\t")


if __name__ == "__main__":
    main()
