"""The default order of paraphrase rules beside the pivot's probabilities, domain by domain.

A domain is a bitext of WORK, or a shared grammar; its rules are pivoted and scored by one or more
indexes. Orders are judged within a left-hand side and source, as rules are ordered:

- `first three`: share of the first three that people named as substitutes of the source
  (gold-lexsub-dev): sources of one word, gaps left out, with at least four rules, some of them
  named. A rule is named where its target has the gaps of the source in their places, and is a
  substitute of the word or, in the same form (by tags of wiki-spacy), of its lemma.
- `judged pairs`: share of pairs of rules of one source that are in people's order
  (gold-paraphrase-shared), of the domains with FEWEST rules that are judged; Spearman's correlation
  of all judged rules of a domain beside it.

Each difference to ln p(e|f) + ln p(f|e) has the lower bound of its 95% interval, sources resampled.
The last row has, for each domain, the weights of `LEFT_OUT` with the best mean over the others.

    python bench/rule_order.py WORK INDEX [INDEX ...] [--data FOLDER]

WORK: a folder with NAME.bitext of one or more bitexts, as bench/grammars.py makes them.
"""

import lzma
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from frame import SHARED, distsim, parser, print_machine, print_table

from distsim import read_gold
from distsim.evaluation.correlations import spearman
from distsim.grammar.formats.rules import gap_of
from distsim.grammar.pair_features import rule_order

FEATURES = ("p(e|f)", "p(f|e)", "sim_rule")
LEAST = 0.001  # sim_rule below it counts as this
LEFT_OUT = [(b, c) for b in (0.25, 0.5, 1.0) for c in (0.5, 1.0, 1.5, 2.0)]
SAMPLES, FEWEST, FEWEST_RULES, FIRST = 2000, 8, 4, 3
NEGATIVE_LOG = ("--set", "scale=negative-log")
GRAMMARS = {
    "cdec": ("cdec.nc-wmt11.de-en.grammar.gz", "--set", "features.p(e|f)=0", "--set",
             "scale=negative-log10"),
    "samt": ("joshua.bn-en.samt.grammar.gz", "--columns", "joint", *NEGATIVE_LOG,
             "--set", "features.p(e|f,LHS)=12", "--set", "features.p(f|e,LHS)=10"),
    "hiero": ("joshua.bn-en.hiero.grammar.gz", *NEGATIVE_LOG,
              "--set", "features.p(e|f)=12", "--set", "features.p(f|e)=10"),
}  # fmt: skip
Order = Callable[[np.ndarray], np.ndarray]


class Rule(NamedTuple):
    """A judged rule: label, sides, its line; how often its target was named, its judgement."""

    label: str
    source: str
    target: str
    line: str
    named: int
    score: float


class Domain(NamedTuple):
    """Judged rules of a domain; features float64[n, 3]; rows of each source with a named rule."""

    rules: list[Rule]
    features: np.ndarray
    sources: list[np.ndarray]


class People:
    """Substitutes and judgements of people."""

    def __init__(self, data: Path) -> None:
        gold = read_gold(data / "gold-paraphrase-shared" / "judgements.tsv")
        self.scores = dict(zip(gold.pairs, gold.scores, strict=True))
        self.substitutes: dict[str, Counter[str]] = defaultdict(Counter)
        for path in sorted((data / "gold-lexsub-dev").glob("*.gold*")):
            text = path.read_bytes()
            text = lzma.decompress(text) if path.suffix == ".xz" else text
            for line in text.decode().splitlines():
                target, named = line.split(" :: ", 1)
                lemma = target.split()[0].rsplit(".", 1)[0].lower()
                for one in filter(None, map(str.strip, named.split(";"))):
                    substitute, count = one.rsplit(" ", 1)
                    self.substitutes[lemma][substitute.lower()] += int(count)
        self._forms: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
        for path in (data / "wiki-spacy").glob("*.xz"):
            for line in lzma.decompress(path.read_bytes()).decode().splitlines():
                cells = line.split("\t")
                if len(cells) > 4 and cells[0].isdigit():
                    self._forms[cells[1].lower()][cells[2].lower(), cells[4]] += 1

    def forms(self, word: str) -> list[tuple[str, str]]:
        """Return a word's lemmas and tags, those of a fifth of its occurrences and more."""
        counts = self._forms.get(word, Counter())
        return [form for form, n in counts.most_common(2) if n >= 0.2 * counts.total()]

    def named(self, source: str, targets: list[str]) -> list[int]:
        """Return how often each target was named; nothing for a source of more words than one."""
        words, gaps = parted(source)
        if len(words) != 1:
            return []
        forms = self.forms(words[0])
        lemmas = {words[0], *(lemma for lemma, _ in forms)} & self.substitutes.keys()
        tags = {tag for _, tag in forms}
        counts = []
        for target in targets:
            others, places = parted(target)
            phrase = " ".join(others)
            same = {lemma for lemma, tag in self.forms(phrase) if tag in tags}
            found = [self.substitutes[a][b] for a in lemmas for b in same]
            if words[0] in lemmas:
                found.append(self.substitutes[words[0]][phrase])
            counts.append(max(found, default=0) if places == gaps else 0)
        return counts if lemmas else []


def parted(side: str) -> tuple[list[str], list[str]]:
    """Return the words of a side in small letters, and its gaps with `w` for words between."""
    words, places = [], []
    for symbol in side.split():
        if gap_of(symbol.encode()):
            places.append(symbol)
        else:
            words.append(symbol.lower())
            places += ["w"] if places[-1:] != ["w"] else []
    return words, places


def pivoted(work: Path, data: Path) -> dict[str, Path]:
    """Return the pivoted rules of each domain; makes them where they lack."""
    found = {}
    for bitext in sorted(work.glob("*.bitext")):
        rules, pivot = bitext.with_suffix(".order-rules"), bitext.with_suffix(".order-para")
        if not pivot.exists():
            distsim("extract", bitext, "--preset", "phrases", "--jobs", 1, "--numeric", rules)
            distsim("pivot", rules, "--jobs", 1, "-o", pivot)
        found[bitext.stem] = pivot
    for name, (file, *columns) in GRAMMARS.items():
        if (data / "grammars" / file).exists():
            found[name] = work / f"{name}.order-para"
            if not found[name].exists():
                distsim("pivot", data / "grammars" / file, *columns, "--jobs", 1, "-o", found[name])
    return found


def judged(path: Path, people: People) -> list[Rule]:
    """Return the rules of a domain that people judge, by substitutes or by a score."""
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = defaultdict(list)
    with path.open(encoding="utf-8") as file:
        for line in file:
            label, source, target, _ = line.split(" ||| ", 3)
            groups[label, source].append((target, line))
    rules = []
    for (label, source), members in groups.items():
        targets = [target for target, _ in members]
        named = people.named(source, targets) if len(targets) >= FEWEST_RULES else []
        asked = 0 < sum(map(bool, named)) < len(named)
        for n, (target, line) in enumerate(members):
            score = people.scores.get((source, target), np.nan)
            if asked or not np.isnan(score):
                count = named[n] if asked else 0
                rules.append(Rule(label, source, target, line, count, score))
    return rules


def scored(work: Path, rules: list[Rule], index: Path) -> Domain:
    """Return the judged rules of a domain, scored by an index."""
    plain, out = work / "order.judged", work / "order.scored"
    plain.write_text("".join(rule.line for rule in rules), "utf-8")
    distsim("score", plain, "--ngram", index, "--jobs", 1, "-o", out)
    rows = []
    for line in out.read_text("utf-8").splitlines():
        named = dict(one.split("=") for one in line.split(" ||| ")[3].split())
        rows.append([float(named.get(name, "nan").replace("NA", "nan")) for name in FEATURES])
    sources: dict[tuple[str, str], list[int]] = defaultdict(list)
    for n, rule in enumerate(rules):
        sources[rule.label, rule.source].append(n)
    asked = [np.array(own) for own in sources.values() if any(rules[n].named for n in own)]
    return Domain(rules, np.array(rows), asked)


def first_three(domain: Domain, values: np.ndarray) -> np.ndarray:
    """Return the share of the first three that people named, of each source; and 1 for each."""
    named = np.array([rule.named > 0 for rule in domain.rules])
    shares = [
        named[own[np.argsort(-values[own], kind="stable")[:FIRST]]].sum() / FIRST
        for own in domain.sources
    ]
    return np.column_stack([shares, np.ones(len(shares))])


def pairs_in_order(domain: Domain, values: np.ndarray) -> np.ndarray:
    """Return how many pairs of rules of each source are in people's order, and how many are."""
    of_source = defaultdict(list)
    for n, rule in enumerate(domain.rules):
        if not np.isnan(rule.score):
            of_source[rule.source].append(n)
    counts = []
    for rows in of_source.values():
        right = total = 0.0
        for a, b in combinations(rows, 2):
            order = np.sign(domain.rules[a].score - domain.rules[b].score)
            right += (1 + order * np.sign(values[a] - values[b])) / 2 if order else 0
            total += abs(order)
        if total:
            counts.append((right, total))
    return np.array(counts).reshape(-1, 2)


def compared(new: np.ndarray, old: np.ndarray) -> tuple[float, float, float]:
    """Return the share of the new order, its difference, and the lower bound of that."""
    draws = np.random.default_rng(1).integers(0, len(new), (SAMPLES, len(new)))
    totals = new[draws, 1].sum(axis=1)
    low = np.quantile((new[draws, 0] - old[draws, 0]).sum(axis=1) / totals, 0.025)
    total = new[:, 1].sum()
    return new[:, 0].sum() / total, (new[:, 0] - old[:, 0]).sum() / total, low


def weighted(b: float, c: float) -> Order:
    """Return the order by ln p(e|f), b times ln p(f|e) and c times ln sim_rule."""

    def order(features: np.ndarray) -> np.ndarray:
        forward, backward, similarity = np.nan_to_num(features).T
        result: np.ndarray = -forward - b * backward + c * np.log(np.maximum(similarity, LEAST))
        return result

    return order


def orders() -> dict[str, Order]:
    """Return the orders that are compared; the first is what others are compared with."""
    default = rule_order()
    return {
        "ln p(e\\|f) + ln p(f\\|e)": weighted(1, 0),
        "p(e\\|f)": weighted(0, 0),
        "sim_rule": lambda features: np.nan_to_num(features[:, 2]),
        "p(e\\|f), .5 p(f\\|e)": weighted(0.5, 0),
        "the default": lambda features: default.values(FEATURES, features),
        **{f"{b:g}, {c:g}": weighted(b, c) for b, c in LEFT_OUT},
    }


def rows_of(domains: dict[str, Domain], measure, shown: int) -> list[list[str]]:
    """Return a row of each order, and that of weights chosen on the other domains."""
    every = orders()
    found = {
        name: {key: measure(one, order(one.features)) for key, one in domains.items()}
        for name, order in every.items()
    }
    plain = next(iter(found.values()))
    means = {
        name: {key: one[:, 0].sum() / one[:, 1].sum() for key, one in values.items()}
        for name, values in found.items()
    }
    names = list(every)
    left_out = {}
    for key in domains:
        others = {n: sum(v for k, v in means[n].items() if k != key) for n in names[shown:]}
        left_out[key] = found[max(others, key=others.__getitem__)][key]
    rows = []
    for name, values in {**{n: found[n] for n in names}, "left out": left_out}.items():
        told = [compared(values[key], plain[key]) for key in domains]
        cells = [f"{share:.3f}, {more:+.3f} ({low:+.3f})" for share, more, low in told]
        shares, _, lows = zip(*told, strict=True)
        rows.append([name, *cells, f"{np.mean(shares):.3f}", f"{min(lows):+.3f}"])
    return rows


def spearman_rows(domains: dict[str, Domain]) -> list[list[str]]:
    """Return Spearman's correlation with the judgements within each domain, by order."""
    every = orders()
    plain = next(iter(every.values()))
    rows = []
    for name, order in every.items():
        cells = []
        for one in domains.values():
            scores = np.array([rule.score for rule in one.rules])
            known = np.flatnonzero(~np.isnan(scores))
            of_source = defaultdict(list)
            for n, row in enumerate(known.tolist()):
                of_source[one.rules[row].source].append(n)
            new, old, scores = order(one.features)[known], plain(one.features)[known], scores[known]
            groups, rng, drawn = list(of_source.values()), np.random.default_rng(1), []
            for _ in range(SAMPLES):
                some = [n for at in rng.integers(0, len(groups), len(groups)) for n in groups[at]]
                drawn.append(spearman(new[some], scores[some]) - spearman(old[some], scores[some]))
            low, value = np.nanquantile(drawn, 0.025), spearman(new, scores)
            cells.append(f"{value:.3f}, {value - spearman(old, scores):+.3f} ({low:+.3f})")
        rows.append([name, *cells])
    return rows


def main() -> None:
    options = parser(__doc__)
    options.add_argument("work", type=Path)
    options.add_argument("indexes", type=Path, nargs="+", help="signed by the default")
    options.add_argument("--data", type=Path, default=SHARED)
    given = options.parse_args()
    people = People(given.data)
    rules = {name: judged(path, people) for name, path in pivoted(given.work, given.data).items()}
    shown = len(orders()) - len(LEFT_OUT)
    for index in given.indexes:
        domains = {key: scored(given.work, some, index) for key, some in rules.items() if some}
        named = {key: one for key, one in domains.items() if one.sources}
        heads = [f"{key} ({len(one.sources)})" for key, one in named.items()]
        print(f"\nFirst three, {index.stem}: sources")
        columns = ["order", *heads, "mean", "least bound"]
        print_table(columns, rows_of(named, first_three, shown))
        scores = {
            key: sum(not np.isnan(x.score) for x in one.rules) for key, one in domains.items()
        }
        some = {key: domains[key] for key, n in scores.items() if n >= FEWEST}
        heads = [f"{key} ({scores[key]})" for key in some]
        print(f"\nJudged pairs, {index.stem}: rules")
        print_table(["order", *heads, "mean", "least bound"], rows_of(some, pairs_in_order, shown))
        print(f"\nSpearman, {index.stem}")
        print_table(["order", *heads], spearman_rows(some))
    print_machine()


if __name__ == "__main__":
    main()
