"""Similarity of meaning: tables side by side, with vectors made elsewhere, on the same pairs.

Of each table what `similarity` says by default and by its bits; of a file of gensim's KeyedVectors
(fastText's give vectors to unknown words) a phrase is the mean of its words' vectors, weighted by
rarity as ours. First answers: for each word to which people gave at least three substitutes, the
word nearest to it of the 30,000 most frequent, its own forms left out; right where it is a form of
one of the substitutes.

    python bench/likeness.py INDEX [TABLE ...] [--vectors FILE ...] [--no-lists] [--data FOLDER]

INDEX: whose words are candidates and whose counts weigh words. Prints Spearman's correlation: the
mean of nine sets of word pairs, judged words, judged phrases, those that share no word; the share
of first answers, and of the first five, that are right. Pairs that a row cannot tell are left out
of that row and counted.
"""

import lzma
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from frame import SHARED, floats, gold_sets, parser, print_machine, print_table

from distsim import CorpusIndex, EstimatedCosine, SignatureTable, read_gold
from distsim.corpus.inflections import Inflections
from distsim.evaluation.correlations import spearman

MORE_SETS = ("MC-30", "WS-353-ALL")
N_CANDIDATES, LEAST_COUNT, FEWEST, RARE = 30_000, 50, 3, 0.003
Pairs = Sequence[tuple[str, str]]
Vectors = Callable[[Sequence[str]], np.ndarray]


class Row:
    """A way to compare phrases: cosines of pairs, and unit vectors of words, zeros if unknown."""

    def __init__(self, name: str, cosines: Callable[[Pairs], np.ndarray], words: Vectors | None):
        self.name, self.cosines, self.words = name, cosines, words


def of_table(path: str) -> Iterator[Row]:
    table = SignatureTable.open(path)
    for estimate in ("bits", None):
        measure = EstimatedCosine(table, estimate=estimate)
        vectors = None
        if estimate is None:

            def vectors(words: Sequence[str]) -> np.ndarray:
                return np.nan_to_num(table.vectors(list(words)))

        yield Row(
            f"{table.path.parent.name}, {measure.estimate}",
            lambda pairs, measure=measure: floats(measure.similarities(pairs)),
            vectors,
        )


def of_file(index: CorpusIndex, path: str) -> Row:
    from gensim.models import KeyedVectors

    vectors = KeyedVectors.load(path)

    def vector(phrase: str) -> np.ndarray:
        words = index.words(phrase)
        total = np.zeros(vectors.vector_size)
        for word, count in zip(words, index.count(words).tolist(), strict=True):
            if word in vectors:
                total += (
                    RARE / (RARE + count / index.n_tokens) * vectors.get_vector(word, norm=True)
                )
        return total / max(np.linalg.norm(total), 1e-30)

    def cosines(pairs: Pairs) -> np.ndarray:
        values = np.array([vector(a) @ vector(b) for a, b in pairs])
        return np.where(values == 0.0, np.nan, values)

    return Row(Path(path).name, cosines, lambda words: np.array([vector(word) for word in words]))


def substitutes(data: Path) -> dict[str, set[str]]:
    """Return the substitutes that people named for each word, sentences taken together."""
    named: dict[str, set[str]] = defaultdict(set)
    for file in ("semeval-trial.gold", "coinco-dev.gold.xz"):
        raw = (data / "gold-lexsub-dev" / file).read_bytes()
        for line in (lzma.decompress(raw) if file.endswith("xz") else raw).decode().splitlines():
            key, _, given = line.partition(" :: ")
            for one in filter(None, (part.strip() for part in given.split(";"))):
                named[key.split()[0].lower().rsplit(".", 1)[0]].add(one.rsplit(" ", 1)[0].lower())
    return named


class Lists:
    """First answers for the words to which people gave substitutes."""

    def __init__(self, index: CorpusIndex, data: Path) -> None:
        counts = index.word_counts().astype(np.int64)
        counts[0] = 0
        frequent = np.argsort(-counts, kind="stable")
        words = [index.vocabulary.word(n) for n in frequent[: 2 * N_CANDIDATES] if counts[n]]
        known = dict(zip(words, counts[frequent].tolist(), strict=False))
        self._bases = Inflections.open("english").all_bases
        self.candidates = [w for w in words if w.isalpha() and known[w] >= LEAST_COUNT]
        self.candidates = self.candidates[:N_CANDIDATES]
        self._named = {
            word: answers
            for word, given in substitutes(data).items()
            if word.isalpha() and known.get(word, 0) >= 2 * LEAST_COUNT
            and len(answers := {one for one in given if one != word and one in known}) >= FEWEST
        }  # fmt: skip

    def precision(self, row: Row) -> tuple[float, float]:
        """Return the share of right ones among the first answers, and among the first five."""
        assert row.words is not None
        targets = list(self._named)
        nearest = row.words(targets).astype(np.float32) @ row.words(self.candidates).T.astype(
            np.float32
        )
        right = np.zeros((len(targets), 5), bool)
        for own, target, cosines in zip(right, targets, nearest, strict=True):
            order = np.argsort(-cosines, kind="stable")[:30].tolist()
            listed = [self.candidates[n] for n in order]
            others = [w for w in listed if self._bases(w).isdisjoint(self._bases(target))][:5]
            own[: len(others)] = [self._is_right(target, word) for word in others]
        return float(right[:, 0].mean()), float(right.mean())

    def _is_right(self, target: str, word: str) -> bool:
        bases = self._bases(word)
        return any(not self._bases(one).isdisjoint(bases) for one in self._named[target])


def main() -> None:
    options = parser(__doc__)
    options.add_argument("index")
    options.add_argument("tables", nargs="*")
    options.add_argument("--vectors", nargs="*", default=[])
    options.add_argument("--no-lists", action="store_true")
    options.add_argument("--data", type=Path, default=SHARED)
    given = options.parse_args()
    index = CorpusIndex.open(given.index)
    rows = [row for path in (given.tables or [given.index]) for row in of_table(path)]
    rows += [of_file(index, path) for path in given.vectors]
    sets = gold_sets(given.data)
    folder = given.data / "gold-wordsim-shared"
    sets = [*(read_gold(folder / f"EN-{name}.txt") for name in MORE_SETS), *sets]
    lists = None if given.no_lists else Lists(index, given.data)

    def cells() -> Iterator[list[object]]:
        for row in rows:
            values, left_out = [], 0
            for gold in sets:
                cosines = row.cosines(gold.pairs)
                known = ~np.isnan(cosines)
                left_out += int(np.count_nonzero(~known))
                values.append(spearman(cosines[known], np.asarray(gold.scores)[known]))
            shown = [np.mean(values[:-3]), *values[-3:]]
            shown += lists.precision(row) if lists and row.words else [np.nan] * 2
            yield [row.name, *(f"{value:.3f}" for value in shown), left_out]

    print_table(
        ["", "nine word sets", "judged words", "judged phrases", "no word shared", "P@1", "P@5",
         "pairs left out"],
        cells(),
    )  # fmt: skip
    print_machine()


if __name__ == "__main__":
    main()
