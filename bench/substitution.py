"""Substitutes in their sentences: agreement with people's.

Ranking: generalised average precision (GAP) over the candidates that anybody named for the lemma,
averaged over instances, 95% intervals by bootstrap over lemmas; ties count as the mean of their
orders, candidates without a score come last, tied; instances without gold or candidates are left
out. Each kind of evidence alone, the default's mix, and a mix learnt on the other set, since the
default's weights were chosen on both. Finding: the share of people's weight on the first answer
(best) and the first ten (oot), without candidates.

    python bench/substitution.py INDEX [--sets semeval-trial coinco-dev] [--found 600] [--peers
    WORK]
                                 [--data FOLDER]

--peers: where bench/people.py keeps word2vec; then also its likeness, and add and balAdd (Melamud,
Levy and Dagan 2015) by its output vectors.
"""

import lzma
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from frame import SHARED, Cpu, parser, print_machine, print_table
from numba import njit

from distsim import CorpusIndex, SignatureTable, Substituter
from distsim.comparison import NeighbourSearch
from distsim.evaluation.precision import generalised_average_precision
from distsim.paraphrase import Mix
from distsim.paraphrase.substitution.mix import RANKING, Evidence

SAMPLES = 1000
KINDS = tuple(Mix.__dataclass_fields__)
WINDOW = 5  # words on either side that add and balAdd look at
Scorer = Callable[["Instance"], np.ndarray]
Sets = dict[str, list["Instance"]]


@dataclass(frozen=True)
class Instance:
    """A target in its sentence; lemma: with its part of speech, the unit of the bootstrap."""

    lemma: str
    target: str
    left: str
    right: str
    candidates: list[str]
    gold: dict[str, float]
    written: str  # the target's form in the sentence

    @property
    def weights(self) -> np.ndarray:
        return np.array([self.gold.get(one, 0.0) for one in self.candidates])


def lines(folder: Path, name: str) -> list[str]:
    archive = folder / f"{name}.xz"
    if archive.exists():
        return lzma.decompress(archive.read_bytes()).decode().splitlines()
    return (folder / name).read_text("utf-8").splitlines()


def read_set(folder: Path, name: str) -> list[Instance]:
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
            left, right = " ".join(words[:at]), " ".join(words[at + 1 :])
            target = lemma.rsplit(".", 1)[0]
            found.append(
                Instance(lemma, target, left, right, candidates[lemma], gold[number], words[at])
            )
    return found


def with_interval(values: Sequence[float], instances: list[Instance]) -> str:
    """Return the mean and its 95% interval, lemmas resampled."""
    numbers = {lemma: i for i, lemma in enumerate(sorted({one.lemma for one in instances}))}
    owners = np.array([numbers[one.lemma] for one in instances])
    sums, counts = np.bincount(owners, values), np.bincount(owners)
    rng = np.random.default_rng(1)
    drawn = rng.integers(0, counts.size, (SAMPLES, counts.size))
    low, high = np.quantile(sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1), [0.025, 0.975])
    return f"{np.mean(values):.3f} ({low:.3f} to {high:.3f})"


@njit
def mean_gap(columns, weights, gold, starts, best):
    """Return the mean GAP of scores columns @ weights; best: that of each ideal order."""
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
    """Return the weights that reach the highest mean GAP by factors of 4 to 1.2, one at a time."""
    columns = np.concatenate([
        np.where(e.scored[:, None], np.stack([getattr(e, k) for k in KINDS], axis=1), -1e3)
        for e in evidence
    ])  # fmt: skip
    weights = [one.weights for one in instances]
    gold, starts = np.concatenate(weights), np.cumsum([0, *map(len, weights)])
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
    return Mix(**dict(zip(KINDS, mix.tolist(), strict=True)))


class Peer:
    """word2vec's input and output vectors, rows of unit length."""

    def __init__(self, index: CorpusIndex, folder: Path) -> None:
        self._index = index
        names = (folder / "word2vec.words.txt").read_text("utf-8").splitlines()
        self._rows = {word: row for row, word in enumerate(names)}
        self.words, self.contexts = (
            rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
            for rows in (np.load(folder / f"word2vec{kind}.npy") for kind in ("", ".contexts"))
        )

    def vector(self, phrase: str) -> np.ndarray:
        rows = [self._rows[w] for w in self._index.words(phrase) if w in self._rows]
        mean = self.words[rows].mean(axis=0) if rows else np.full(self.words.shape[1], np.nan)
        return mean / np.linalg.norm(mean)

    def scores(self, one: Instance, kind: str) -> np.ndarray:
        vectors = np.stack([self.vector(candidate) for candidate in one.candidates])
        like = vectors @ self.vector(one.target)
        around = [*self._index.words(one.left)[-WINDOW:]] if one.left else []
        around += [*self._index.words(one.right)[:WINDOW]] if one.right else []
        rows = [self._rows[word] for word in around if word in self._rows]
        if kind == "likeness" or not rows:
            return like
        fits = vectors @ self.contexts[rows].T
        if kind == "add":
            return (like + fits.sum(axis=1)) / (len(rows) + 1)
        return (like * len(rows) + fits.sum(axis=1)) / (2 * len(rows))


def ranking(sets: Sets, substituter: Substituter, peer: Peer | None) -> None:
    """Print the table of GAP and the cost of an instance."""
    first = next(iter(sets.values()))[0]
    substituter.evidence(first.left, first.target, first.right, first.candidates)  # compiles
    evidence, costs = {}, []
    for name, instances in sets.items():
        with Cpu() as cpu:
            evidence[name] = [
                substituter.evidence(one.left, one.target, one.right, one.candidates)
                for one in instances
            ]
        costs.append(f"{1000 * cpu.seconds / len(instances):.1f}")

    def row(label: str, scores: Callable[[str], list[np.ndarray]]) -> list[str]:
        cells = []
        for name, instances in sets.items():
            pairs = zip(scores(name), instances, strict=True)
            values = [generalised_average_precision(s, one.weights) for s, one in pairs]
            cells.append(with_interval(values, instances))
        return [label, *cells]

    def by(mix: Mix) -> Callable[[str], list[np.ndarray]]:
        return lambda name: [mix.scores(one) for one in evidence[name]]

    def by_peer(kind: str) -> Callable[[str], list[np.ndarray]]:
        return lambda name: [peer.scores(one, kind) for one in sets[name]]

    def rows() -> Iterator[list[str]]:
        yield row("no order", lambda name: [np.zeros(len(one.candidates)) for one in sets[name]])
        for kind in KINDS:
            yield row(f"{kind} alone", by(Mix(**(dict.fromkeys(KINDS, 0.0) | {kind: 1.0}))))
        yield row("default", by(RANKING))
        learnt = {name: learn(evidence[name], sets[name]) for name in sets}
        others = dict(zip(sets, reversed(learnt.values()), strict=True))
        yield row("learnt on the other set", lambda name: by(others[name])(name))
        for kind in ("likeness", "add", "balAdd") if peer else ():
            yield row(f"word2vec, {kind}", by_peer(kind))

    print_table(["GAP", *(f"{name} ({len(one):,})" for name, one in sets.items())], rows())
    print(f"\nCPU ms an instance: {', '.join(costs)}")


def finding(
    sets: Sets, substituter: Substituter, index: CorpusIndex, search: NeighbourSearch, most: int
) -> None:
    """Print the table of what is found without candidates."""

    def substitutes(one: Instance) -> list[str]:
        found = substituter.substitutes(one.left, one.target, one.right)
        return [answer.substitute for answer in found]

    def nearest(one: Instance) -> list[str]:
        return [answer.phrase for answer in search.nearest(one.target, k=10) or ()]

    def row(system: str, answer: Callable[[Instance], list[str]], name: str) -> list[str]:
        instances = sets[name]
        if len(instances) > most:
            chosen = np.random.default_rng(0).permutation(len(instances))[:most]
            instances = [instances[i] for i in sorted(chosen.tolist())]
        answer(instances[0])
        shares: dict[int, list[float]] = {1: [], 10: []}
        with Cpu() as cpu:
            answers = [list(dict.fromkeys(answer(one))) for one in instances]
        for one, own in zip(instances, answers, strict=True):
            gold: dict[str, float] = {}
            for substitute, weight in one.gold.items():
                key = " ".join(index.words(substitute))
                gold[key] = gold.get(key, 0.0) + weight
            for n, found in shares.items():
                found.append(sum(gold.get(a, 0.0) for a in own[:n]) / sum(gold.values()))
        cells = [with_interval(found, instances) for found in shares.values()]
        return [
            system,
            f"{name} ({len(instances)})",
            *cells,
            f"{1e3 * cpu.seconds / len(answers):.0f}",
        ]

    systems = (("`substitute`", substitutes), ("`neighbours`", nearest))
    print_table(
        ["found", "set", "best", "oot", "CPU ms"],
        (row(*system, name) for name in sets for system in systems),
    )


def main() -> None:
    options = parser(__doc__)
    options.add_argument("index")
    options.add_argument("--sets", nargs=2, default=["semeval-trial", "coinco-dev"])
    options.add_argument("--found", type=int, default=600, help="instances of the second table")
    options.add_argument("--peers", type=Path)
    options.add_argument("--data", type=Path, default=SHARED)
    given = options.parse_args()
    index, table = CorpusIndex.open(given.index), SignatureTable.open(given.index)
    substituter = Substituter(index, table)
    sets = {name: read_set(given.data / "gold-lexsub-dev", name) for name in given.sets}
    ranking(sets, substituter, Peer(index, given.peers) if given.peers else None)
    finding(sets, substituter, index, NeighbourSearch(table), given.found)
    print_machine()


if __name__ == "__main__":
    main()
