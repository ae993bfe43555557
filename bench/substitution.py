"""Substitutes in their sentences: agreement with people's.

Generalised average precision (GAP) over the candidates that anybody named for the lemma, averaged
over instances, 95% intervals by bootstrap over lemmas; ties count as the mean of their orders,
candidates without a score come last, tied; instances without gold or candidates are left out. Each
kind of evidence alone, and the default's mix, whose weights were chosen on both sets.

    python bench/substitution.py INDEX [--sets semeval-trial coinco-dev] [--data FOLDER]
"""

import lzma
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from frame import SHARED, Cpu, parser, print_machine, print_table

from bench.published_measures import generalised_average_precision
from distsim import CorpusIndex, SignatureTable, Substituter
from distsim.paraphrase import Mix
from distsim.paraphrase.substitution.substitute_candidates import RANKING

SAMPLES = 1000
KINDS = tuple(Mix.__dataclass_fields__)
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


def ranking(sets: Sets, substituter: Substituter) -> None:
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

    def rows() -> Iterator[list[str]]:
        yield row("no order", lambda name: [np.zeros(len(one.candidates)) for one in sets[name]])
        for kind in KINDS:
            yield row(f"{kind} alone", by(Mix(**(dict.fromkeys(KINDS, 0.0) | {kind: 1.0}))))
        yield row("default", by(RANKING))

    print_table(["GAP", *(f"{name} ({len(one):,})" for name, one in sets.items())], rows())
    print(f"\nCPU ms an instance: {', '.join(costs)}")


def main() -> None:
    options = parser(__doc__)
    options.add_argument("index")
    options.add_argument("--sets", nargs=2, default=["semeval-trial", "coinco-dev"])
    options.add_argument("--data", type=Path, default=SHARED)
    given = options.parse_args()
    substituter = Substituter(CorpusIndex.open(given.index), SignatureTable.open(given.index))
    sets = {name: read_set(given.data / "gold-lexsub-dev", name) for name in given.sets}
    ranking(sets, substituter)
    print_machine()


if __name__ == "__main__":
    main()
