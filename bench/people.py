"""Do similarities agree with people? Ours beside word2vec and fastText on the same tokens.

Measured against: gensim's word2vec (skip-gram, 200 dimensions, window 5, 3 epochs) and fastText,
trained on the index's own tokens by bench/people_peers.py; a phrase is the mean of its words'
vectors, and in rows of their own the mean by the rarity weights that ours have. Ours: the thesis's
bits, the default's bits, what is restored of them and the words' vectors, its real-valued vectors,
and exact cosine. Judged phrases stand as a whole and by how many of their words they share.

Prints Spearman with 95% intervals on the pairs that all of them cover, then on those that each
covers itself, CPU seconds and bytes a phrase, as Markdown tables, and the signature line
of the default table. No pair of a gold set is printed.

    python bench/people_peers.py INDEX PEERS word2vec      (once; needs gensim)
    python bench/people_peers.py INDEX PEERS fasttext
    python bench/people.py INDEX WORK GOLD... [--peers PEERS]
"""

import argparse
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from distsim import CorpusIndex, ExactCosine, SignatureTable
from distsim.comparison import LearntCosine
from distsim.comparison.measures import EstimatedCosine
from distsim.evaluation.agreement import spearman, spearman_interval
from distsim.evaluation.gold import GoldSet, Pair, read_gold
from distsim.evaluation.report import signature_line
from distsim.signatures.recipe import PRESETS

SAMPLES = 500  # of the bootstrap
_THIRD = 1 / 3  # two phrases of two words that share one
Measure = Callable[[Sequence[Pair]], list[float | None]]


def cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system


class Timed:
    def __enter__(self) -> "Timed":
        self._begun = cpu_seconds()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = cpu_seconds() - self._begun


def averaged(index: CorpusIndex, folder: Path, name: str, rare: float | None = None) -> Measure:
    """Cosine of the means of a peer's word vectors over the words of a phrase.

    rare: a word weighs rare / (rare + its share of the text); all alike where None.
    """
    words = (folder / f"{name}.words.txt").read_text("utf-8").splitlines()
    vectors = np.load(folder / f"{name}.npy")
    rows = {word: row for row, word in enumerate(words)}
    weights = np.ones(len(words))
    if rare is not None:
        weights = rare / (rare + index.count(words) / index.n_tokens)

    def vector(phrase: str) -> np.ndarray | None:
        known = [rows[word] for word in index.words(phrase) if word in rows]
        if not known:
            return None
        total = weights[known] @ vectors[known]
        return total / np.linalg.norm(total)

    def measure(pairs: Sequence[Pair]) -> list[float | None]:
        both = [(vector(a), vector(b)) for a, b in pairs]
        return [None if x is None or y is None else float(x @ y) for x, y in both]

    return measure


def shared(pair: Pair) -> float:
    """The share of the words of two phrases that both have."""
    a, b = (set(phrase.split()) for phrase in pair)
    return len(a & b) / len(a | b)


def parts_of(gold: GoldSet) -> list[GoldSet]:
    if gold.layout != "judged":
        return [gold]
    sizes = [{len(phrase.split()) > 1 for phrase in pair} for pair in gold.pairs]
    phrases = [n for n, size in enumerate(sizes) if size == {True}]
    shares = {n: shared(gold.pairs[n]) for n in phrases}
    return [
        gold.subset("words", [n for n, size in enumerate(sizes) if size == {False}]),
        gold.subset("phrases", phrases),
        gold.subset("phrases, no word shared", [n for n in phrases if shares[n] == 0]),
        gold.subset("a third or less shared", [n for n in phrases if 0 < shares[n] <= _THIRD]),
        gold.subset("more shared", [n for n in phrases if shares[n] > _THIRD]),
    ]


def agreement(values: list[float | None], gold: GoldSet, rows: list[int]) -> str:
    mine, theirs = np.array([values[n] for n in rows], float), np.array(gold.scores)[rows]
    groups = [gold.groups[n] for n in rows]
    low, high = spearman_interval(mine, theirs, groups, SAMPLES, 1)
    return f"{spearman(mine, theirs):.3f} ({low:.3f} to {high:.3f})"


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print("| " + " | ".join(("", *heads)) + " |")
    print("|---" * (len(heads) + 1) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("index")
    parser.add_argument("work", type=Path)
    parser.add_argument("gold", nargs="+")
    parser.add_argument("--peers", type=Path)
    asked = parser.parse_args()
    index = CorpusIndex.open(asked.index)
    asked.work.mkdir(exist_ok=True)
    measures: list[tuple[str, float, str, Measure]] = []

    with Timed() as thesis_time:
        thesis = SignatureTable.build(
            index, asked.work / "thesis", recipe=PRESETS["thesis"], force=True
        )

    measures.append(
        ("thesis, 256 bits", thesis_time.seconds, "32", EstimatedCosine(thesis).similarities)
    )
    recipe = PRESETS["learnt"]
    with Timed() as sign_time:
        table = SignatureTable.build(index, asked.work / "table", recipe=recipe, force=True)
    seconds = sign_time.seconds
    assert table.parts is not None
    kept = (table.bits.nbytes + table.parts.vectors.nbytes) / len(table)
    real = LearntCosine(index, table)
    exact = ExactCosine(index, table)
    measures += [
        ("default, 256 bits", seconds, "32",
         EstimatedCosine(table, estimate="bits").similarities),
        ("default, restored", seconds, f"{kept:.0f}",
         EstimatedCosine(table, estimate="restored").similarities),
        ("default, real-valued", seconds, f"{2 * table.n_dimensions}",
         real.similarities),
        ("default's weights, exact", 0.0, "-", exact.similarities),
    ]  # fmt: skip
    for name in ("word2vec", "fasttext"):
        if asked.peers and (asked.peers / f"{name}.json").exists():
            facts = json.loads((asked.peers / f"{name}.json").read_text())
            if facts["index_checksum"] != index.checksum:
                raise SystemExit(f"{asked.peers}: {name} was trained on another index")
            assert recipe.composition is not None
            for label, rare in ((name, None), (f"{name}, rarity", recipe.composition.rare)):
                measures.append((label, facts["cpu_seconds"], str(facts["bytes_a_word"]),
                                 averaged(index, asked.peers, name, rare)))  # fmt: skip

    sets = [part for path in asked.gold for part in parts_of(read_gold(path))]
    rows = [[name, f"{spent:.0f}", size] for name, spent, size, _ in measures]
    own_rows = [[name] for name, *_ in measures]
    heads = []
    for gold in sets:
        found = [measure(gold.pairs) for *_, measure in measures]
        every = [n for n in range(len(gold.pairs)) if all(v[n] is not None for v in found)]
        heads.append(f"{gold.name} ({len(every)} of {len(gold.pairs)})")
        for row, own_row, values in zip(rows, own_rows, found, strict=True):
            row.append(agreement(values, gold, every))
            own = [n for n, value in enumerate(values) if value is not None]
            own_row.append(f"{agreement(values, gold, own)}, {len(own) / len(values):.0%}")
    print("Spearman on the pairs that all cover, 95% intervals\n")
    print_table(["CPU s", "bytes", *heads], rows)
    print("\nOn the pairs that each covers itself, and coverage\n")
    print_table([gold.name for gold in sets], own_rows)
    print(f"\nlearning and signing {seconds:.0f} CPU s; {len(table):,} phrases, "
          f"{index.n_tokens:,} tokens")  # fmt: skip
    print(signature_line(table, 0, 1))


if __name__ == "__main__":
    main()
