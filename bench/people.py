"""Agreement of similarities with people's judgements, beside word2vec and fastText.

Ours: the thesis's bits; of the default table its bits, what is restored of bits and words' vectors,
and the real-valued vectors before cutting; the cosines of its weights without any reduction. Peers:
gensim's skip-gram and fastText (300 dimensions, window 5, 5 epochs, minimum count 5, one thread) on
the index's own tokens; a phrase is the mean of its words' vectors, or their mean weighted by rarity
as ours. They are trained once and kept in WORK.

    python bench/people.py INDEX WORK [--peers word2vec fasttext] [--data FOLDER]

Prints CPU seconds, bytes a phrase and Spearman's correlation on the pairs that all rows cover:
the mean of seven sets of word pairs, and with 95% intervals the judged paraphrases; then each set.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from frame import (
    SHARED,
    WORD_SETS,
    Cpu,
    Estimate,
    correlation,
    floats,
    gold_sets,
    mean_of,
    parser,
    print_machine,
    print_table,
)

from distsim import PRESETS, CorpusIndex, EstimatedCosine, ExactCosine, SignatureTable
from distsim.comparison import LearnedCosine

SETTINGS = {"sg": 1, "vector_size": 300, "window": 5, "epochs": 5, "min_count": 5, "workers": 1}
BLOCK = 1 << 20
Measure = Callable[[Sequence[tuple[str, str]]], Sequence[float | None]]


class Sentences:
    """The sentences of an index as lists of words, as often as they are asked for."""

    def __init__(self, index: CorpusIndex) -> None:
        self._index = index
        self._words = [index.vocabulary.word(number) for number in range(index.n_words)]

    def __iter__(self) -> Iterator[list[str]]:
        words = self._words
        for shard in self._index.shards:
            sentence: list[str] = []
            for begin in range(0, shard.tokens.size, BLOCK):
                for token in shard.tokens[begin : begin + BLOCK].tolist():
                    if token:
                        sentence.append(words[token])
                    else:
                        yield sentence
                        sentence = []


def trained(index: CorpusIndex, folder: Path, name: str) -> dict:
    """Train a peer where it is not kept yet; return its CPU seconds and bytes a word."""
    kept = folder / f"{name}.json"
    if not kept.exists():
        from gensim.models import FastText, Word2Vec

        with Cpu() as cpu:
            model = {"word2vec": Word2Vec, "fasttext": FastText}[name](
                sentences=Sentences(index), seed=1, **SETTINGS
            )
        np.save(folder / f"{name}.npy", model.wv.vectors.astype(np.float32))
        np.save(folder / f"{name}.contexts.npy", model.syn1neg.astype(np.float32))
        names = "\n".join(model.wv.index_to_key) + "\n"
        (folder / f"{name}.words.txt").write_text(names, "utf-8")
        facts = {"cpu": cpu.seconds, "bytes": 4 * model.wv.vector_size, "index": index.checksum}
        kept.write_text(json.dumps(facts | SETTINGS, indent=1) + "\n")
    facts = json.loads(kept.read_text())
    if facts["index"] != index.checksum:
        raise SystemExit(f"{kept}: was trained on another index: name another folder")
    return facts


def averaged(index: CorpusIndex, folder: Path, name: str, rare: float | None) -> Measure:
    """Cosine of means of a peer's word vectors; rare: a word weighs rare / (rare + its share)."""
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

    def measure(pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        both = [(vector(a), vector(b)) for a, b in pairs]
        return [None if x is None or y is None else float(x @ y) for x, y in both]

    return measure


def measures(
    index: CorpusIndex, work: Path, peers: list[str]
) -> Iterator[tuple[str, float, str, Measure]]:
    """Yield name, CPU seconds, bytes a phrase and measure of each row."""
    with Cpu() as cpu:
        thesis = SignatureTable.build(index, work / "thesis", recipe=PRESETS["thesis"], force=True)
    yield "thesis, 256 bits", cpu.seconds, "32", EstimatedCosine(thesis).similarities
    recipe = PRESETS["learned"]
    with Cpu() as cpu:
        table = SignatureTable.build(index, work / "table", recipe=recipe, force=True)
    assert table.parts is not None and recipe.composition is not None
    restored = (table.bits.nbytes + table.parts.vectors.nbytes) / len(table)
    for estimate, size in (("bits", 32.0), ("restored", restored)):
        measure = EstimatedCosine(table, estimate=estimate)
        yield f"default, {estimate}", cpu.seconds, f"{size:.0f}", measure.similarities
    real = LearnedCosine(index, table).similarities
    yield "default, real-valued", cpu.seconds, f"{2 * table.n_dimensions}", real
    yield "default's weights, exact", 0.0, "-", ExactCosine(index, table).similarities
    for name in peers:
        facts = trained(index, work, name)
        for label, rare in ((name, None), (f"{name}, by rarity", recipe.composition.rare)):
            size = str(facts["bytes"])
            yield label, facts["cpu"], size, averaged(index, work, name, rare)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("index")
    options.add_argument("work", type=Path)
    options.add_argument("--peers", nargs="*", default=[], choices=["word2vec", "fasttext"])
    options.add_argument("--data", type=Path, default=SHARED)
    given = options.parse_args()
    index = CorpusIndex.open(given.index)
    given.work.mkdir(parents=True, exist_ok=True)
    rows = list(measures(index, given.work, given.peers))
    cells: list[list[Estimate]] = [[] for _ in rows]
    heads, n_words = [], len(WORD_SETS)
    for gold in gold_sets(given.data):
        found = [floats(measure(gold.pairs)) for *_, measure in rows]
        common = np.flatnonzero(np.all([~np.isnan(values) for values in found], axis=0))
        heads.append(f"{re.split('EN-|:', gold.name)[-1]} ({common.size} of {len(gold.pairs)})")
        groups = [gold.groups[n] for n in common]
        for row, values in zip(cells, found, strict=True):
            row.append(correlation(values[common], np.array(gold.scores)[common], groups))
    summary = []
    for (name, seconds, size, _), own in zip(rows, cells, strict=True):
        summary.append([name, f"{seconds:.0f}", size, mean_of(own[:n_words]), *own[n_words:]])
    print_table(["", "CPU s", "bytes", f"{n_words} word sets", *heads[n_words:]], summary)
    names = [name for name, *_ in rows]
    each = [[name, *own[:n_words]] for name, own in zip(names, cells, strict=True)]
    print_table(["", *heads[:n_words]], each)
    print(f"\n{index.n_tokens:,} tokens")
    print_machine()


if __name__ == "__main__":
    main()
