"""Substitutes in their sentences: do they agree with people's? Beside word2vec on the same tokens.

Measured: generalised average precision (GAP) over the candidates that anybody named for the
lemma, averaged over instances, with 95% intervals by bootstrap over lemmas; ties count as the
mean of their orders, candidates without a score come last, tied; instances without gold or
candidates are left out. Then substitutes found without candidates: the share of people's
weight on the first (best) and among the first ten (oot). Weights of the mix are learnt on one set
and tested on the other, both ways, beside the default ones. CPU milliseconds an instance.

Against: each kind of evidence alone, and word2vec (bench/people_peers.py): cosine with the
lemma, and with the words around too, by their output vectors: add and balAdd (Melamud, Levy and
Dagan 2015). Phrases are the means of their words' vectors.

    python bench/substitution.py INDEX FOLDER NAME... [--peers PEERS] [--form] [--found N]

FOLDER has NAME.sentences, NAME.gold and NAME.candidates, plain or .xz. --form names the target
as it stands in the sentence, not its lemma. Prints Markdown.
"""

import argparse
import lzma
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numba import njit

from distsim import CorpusIndex, SignatureTable, Substituter
from distsim.comparison import NeighbourSearch
from distsim.evaluation.precision import generalised_average_precision
from distsim.paraphrase.substitution.likeness import likeness_by_bits
from distsim.paraphrase.substitution.mix import RANKING, Evidence, Mix

SAMPLES = 1000
KINDS = ("likeness", "fit", "fluency", "frequency", "company", "shared_fit")
Scorer = Callable[["Instance"], np.ndarray]


@dataclass(frozen=True)
class Instance:
    lemma: str  # with its part of speech: the unit of the bootstrap
    target: str
    left: str
    right: str
    candidates: list[str]
    gold: dict[str, float]

    @property
    def weights(self) -> np.ndarray:
        return np.array([self.gold.get(one, 0.0) for one in self.candidates])


def lines(folder: Path, name: str) -> list[str]:
    packed = folder / f"{name}.xz"
    if packed.exists():
        return lzma.decompress(packed.read_bytes()).decode().splitlines()
    return (folder / name).read_text("utf-8").splitlines()


def read_set(folder: Path, name: str, form: bool) -> list[Instance]:
    candidates = {}
    for line in lines(folder, f"{name}.candidates"):
        lemma, _, named = line.partition("::")
        candidates[lemma] = [one for one in named.split(";") if one]
    gold: dict[str, dict[str, float]] = {}
    for line in lines(folder, f"{name}.gold"):
        key, _, named = line.partition("::")
        weights: dict[str, float] = {}
        for one in filter(None, (part.strip() for part in named.split(";"))):
            substitute, weight = one.rsplit(" ", 1)
            weights[substitute] = weights.get(substitute, 0.0) + float(weight)
        gold[key.split()[-1]] = weights
    found = []
    for line in lines(folder, f"{name}.sentences"):
        lemma, number, place, sentence = line.split("\t")
        words, at = sentence.split(), int(place)
        if gold.get(number) and candidates.get(lemma):
            target = words[at] if form else lemma.rsplit(".", 1)[0]
            left, right = " ".join(words[:at]), " ".join(words[at + 1 :])
            found.append(Instance(lemma, target, left, right, candidates[lemma], gold[number]))
    return found


def cpu() -> float:
    times = os.times()
    return times.user + times.system


def interval(values: np.ndarray, instances: list[Instance]) -> tuple[float, float]:
    lemmas = sorted({one.lemma for one in instances})
    number = {lemma: i for i, lemma in enumerate(lemmas)}
    owners = np.array([number[one.lemma] for one in instances])
    sums = np.bincount(owners, values, len(lemmas))
    counts = np.bincount(owners, minlength=len(lemmas))
    generator = np.random.default_rng(1)
    means = []
    for _ in range(SAMPLES):
        drawn = generator.integers(0, len(lemmas), len(lemmas))
        means.append(sums[drawn].sum() / counts[drawn].sum())
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def shown(values: np.ndarray, instances: list[Instance]) -> str:
    low, high = interval(values, instances)
    return f"{values.mean():.3f} ({low:.3f} to {high:.3f})"


def gaps(instances: list[Instance], scorer: Scorer) -> np.ndarray:
    return np.array([generalised_average_precision(scorer(one), one.weights) for one in instances])


@njit
def mean_gap(columns, weights, gold, starts, best):
    """Mean GAP of scores columns @ weights, ties in the order given; best: that of each ideal."""
    scores = columns @ weights
    total = 0.0
    for i in range(best.size):
        order = np.argsort(-scores[starts[i] : starts[i + 1]])
        seen = 0.0
        reached = 0.0
        for rank in range(order.size):
            weight = gold[starts[i] + order[rank]]
            seen += weight
            if weight > 0:
                reached += seen / (rank + 1)
        total += reached / best[i]
    return total / best.size


def learn(evidence: list[Evidence], instances: list[Instance]) -> Mix:
    """Climb the mean GAP, one weight at a time, by factors of 4 to 1.2; likeness stays 1."""
    columns = np.concatenate(
        [
            np.where(e.scored[:, None], np.stack([getattr(e, k) for k in KINDS], axis=1), -1e3)
            for e in evidence
        ]
    )
    weights = [one.weights for one in instances]
    gold = np.concatenate(weights)
    starts = np.cumsum([0, *map(len, weights)])
    ideal = [np.sort(w)[::-1] for w in weights]
    best = np.array([(np.cumsum(w) / np.arange(1, w.size + 1))[w > 0].sum() for w in ideal])
    mix = np.array([1.0, 1.0, 0.05, 0.05, 0.5, 0.5])
    reached = mean_gap(columns, mix, gold, starts, best)
    for factor in (4.0, 2.0, 1.4, 1.2):
        moved = True
        while moved:
            moved = False
            for kind in range(1, mix.size):
                for step in (factor, 1 / factor):
                    tried = mix.copy()
                    tried[kind] *= step
                    now = mean_gap(columns, tried, gold, starts, best)
                    if now > reached + 1e-5:
                        mix, reached, moved = tried, now, True
    return Mix(**{kind: round(float(w), 3) for kind, w in zip(KINDS, mix, strict=True)})


class Peer:
    """word2vec's input and output vectors, rows of unit length."""

    def __init__(self, index: CorpusIndex, folder: Path) -> None:
        self._index = index
        names = (folder / "word2vec.words.txt").read_text("utf-8").splitlines()
        self._rows = {word: row for row, word in enumerate(names)}
        self.names = names
        self.words = unit_rows(np.load(folder / "word2vec.npy"))
        self.contexts = unit_rows(np.load(folder / "word2vec.contexts.npy"))

    def vector(self, phrase: str) -> np.ndarray | None:
        rows = [self._rows[w] for w in self._index.words(phrase) if w in self._rows]
        if not rows:
            return None
        mean = self.words[rows].mean(axis=0)
        return mean / max(1e-12, float(np.linalg.norm(mean)))

    def scorer(self, kind: str, window: int = 5) -> Scorer:
        def score(one: Instance) -> np.ndarray:
            target = self.vector(one.target)
            vectors = [self.vector(candidate) for candidate in one.candidates]
            around = [
                *(self._index.words(one.left)[-window:] if one.left else ()),
                *(self._index.words(one.right)[:window] if one.right else ()),
            ]
            rows = [self._rows[word] for word in around if word in self._rows]
            scores = []
            for vector in vectors:
                if vector is None or target is None:
                    scores.append(np.nan)
                    continue
                like = float(vector @ target)
                fits = self.contexts[rows] @ vector if rows else np.zeros(1)
                if kind == "likeness":
                    scores.append(like)
                elif kind == "add":
                    scores.append((like + float(fits.sum())) / (fits.size + 1))
                else:
                    scores.append((like * fits.size + float(fits.sum())) / (2 * fits.size))
            return np.array(scores)

        return score

    def nearest(self, phrase: str, most: int) -> list[str]:
        vector = self.vector(phrase)
        if vector is None:
            return []
        order = np.argsort(-(self.words @ vector))[: most + 1]
        return [self.names[i] for i in order if self.names[i] != phrase][:most]


def peer_answer(peer: Peer, one: Instance) -> list[str]:
    return peer.nearest(one.target, 10)


def unit_rows(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def ranked(args: argparse.Namespace, index: CorpusIndex, table: SignatureTable) -> None:
    substituter = Substituter(index, table)
    sets = {name: read_set(args.folder, name, args.form) for name in args.names}
    evidence, seconds = {}, {}
    substituter.evidence("the", "same", "thing", ["sort"])  # compiled, mapped
    for name, instances in sets.items():
        begun = cpu()
        evidence[name] = [
            substituter.evidence(one.left, one.target, one.right, one.candidates)
            for one in instances
        ]
        seconds[name] = (cpu() - begun) / len(instances)
    rows: dict[str, dict[str, np.ndarray]] = {}

    def add(row: str, name: str, scores: list[np.ndarray]) -> None:
        pairs = zip(scores, sets[name], strict=True)
        rows.setdefault(row, {})[name] = np.array(
            [generalised_average_precision(s, one.weights) for s, one in pairs]
        )

    learnt = {name: learn(evidence[name], instances) for name, instances in sets.items()}
    nothing = dict.fromkeys(KINDS, 0.0)
    for name, instances in sets.items():
        add("no order", name, [np.zeros(len(one.candidates)) for one in instances])
        for kind in reversed(KINDS):
            alone = Mix(**(nothing | {kind: 1.0}))
            add(f"{kind} only", name, [alone.scores(e) for e in evidence[name]])
        words = [
            (index.words(one.target), [index.words(c) for c in one.candidates]) for one in instances
        ]
        add("likeness by bits only", name, [
            likeness_by_bits(table, tuple(t), [tuple(c) for c in cs]) for t, cs in words
        ])  # fmt: skip
        for left_out in KINDS:
            mix = Mix(**({k: getattr(RANKING, k) for k in KINDS} | {left_out: 0.0}))
            add(f"default without {left_out}", name, [mix.scores(e) for e in evidence[name]])
        add("**default**", name, [RANKING.scores(e) for e in evidence[name]])
        for other, mix in learnt.items():
            which = "this set (upper bound)" if other == name else "the other set"
            add(f"weights learnt on {which}", name, [mix.scores(e) for e in evidence[name]])
    if args.peers:
        peer = Peer(index, args.peers)
        for kind in ("likeness", "add", "balAdd"):
            for name, instances in sets.items():
                rows.setdefault(f"word2vec, {kind}", {})[name] = gaps(instances, peer.scorer(kind))
    print("| GAP | " + " | ".join(f"{n} ({len(i):,})" for n, i in sets.items()) + " |")
    print("|---|" + "---|" * len(sets))
    for row, found in rows.items():
        print(f"| {row} | " + " | ".join(shown(found[n], sets[n]) for n in sets) + " |")
    for name, mix in learnt.items():
        print(f"\nlearnt on {name}: {mix}")
    for name, instances in sets.items():
        per = np.mean([len(one.candidates) for one in instances])
        missing = np.mean(np.concatenate([~e.scored for e in evidence[name]]))
        print(
            f"{name}: {1000 * seconds[name]:.1f} ms of CPU an instance of {per:.0f} candidates, "
            f"{missing:.3f} of them without a score"
        )


def found(args: argparse.Namespace, index: CorpusIndex, table: SignatureTable) -> None:
    substituter = Substituter(index, table)
    search = NeighbourSearch(table)
    peer = Peer(index, args.peers) if args.peers else None
    print(
        "\n| share of people's weight | set | best | out of ten | CPU ms |\n|---|---|---|---|---|"
    )
    for name in args.names:
        instances = read_set(args.folder, name, args.form)
        if len(instances) > args.found:
            chosen = np.random.default_rng(0).permutation(len(instances))[: args.found]
            instances = [instances[i] for i in sorted(chosen.tolist())]
        systems: dict[str, Callable[[Instance], list[str]]] = {
            "substitute": lambda one: [
                s.substitute for s in substituter.substitutes(one.left, one.target, one.right)
            ],
            "neighbours": lambda one: [n.phrase for n in search.nearest(one.target, k=10) or ()],
        }
        if peer is not None:
            systems["word2vec's neighbours"] = partial(peer_answer, peer)
        for system, answer in systems.items():
            answer(instances[0])
            begun = cpu()
            best, ten = [], []
            for one in instances:
                gold: dict[str, float] = {}
                for substitute, weight in one.gold.items():
                    key = " ".join(index.words(substitute))
                    gold[key] = gold.get(key, 0.0) + weight
                total = sum(gold.values())
                answers = list(dict.fromkeys(answer(one)))
                best.append(sum(gold.get(a, 0.0) for a in answers[:1]) / total)
                ten.append(sum(gold.get(a, 0.0) for a in answers[:10]) / total)
            spent = 1000 * (cpu() - begun) / len(instances)
            print(
                f"| {system} | {name} ({len(instances):,}) | {shown(np.array(best), instances)} | "
                f"{shown(np.array(ten), instances)} | {spent:.1f} |"
            )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("index")
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--form", action="store_true")
    parser.add_argument("--found", type=int, default=600)
    args = parser.parse_args()
    index = CorpusIndex.open(args.index)
    table = SignatureTable.open(args.index)
    ranked(args, index, table)
    if args.found:
        found(args, index, table)


if __name__ == "__main__":
    main()
