"""What a question costs in an open session: median, 95% and the most, in CPU milliseconds.

    python bench/warm.py INDEX [--questions 300] [--only NAME ...] [--answers FILE]

INDEX is signed. Phrases of one to four words are drawn from its table, by the root of how often
they occur; sentences with a target are passages of words drawn so. Every question is asked once,
after `WARM_UP` others. `pairs` is 10,000 similarities in one call, `many` the neighbours of 64
phrases at once, in a session of its own. `stream` gives a word in a line, as a decoder does, never
asked before.
With --answers every answer is written, so that two versions can be compared.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

# As the program sets it: threads of the linear algebra library cost more than they do.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from frame import Cpu, parser, print_machine, print_table

from distsim import CorpusIndex, Paraphraser, SignatureTable, Substituter, similarities
from distsim.comparison.nearest import AT_ONCE, NeighbourSearch
from distsim.paraphrase.records import ParaphraseStream

SEED = 5
WARM_UP = 10
LONGEST = 4  # words of a phrase
BATCHES, PAIRS = 20, 10_000
# Wanted: median, 95%, the most.
WANTED = {
    "paraphrase": (60, 200, 400), "substitute": (60, 150, 300), "stream": (10,),
    "neighbours": (4,), "many": (160,), "similarity": (0.04,), "pairs": (60,), "count": (0.01,),
}  # fmt: skip


class Questions(NamedTuple):
    """Of one kind: what answers them, and they."""

    name: str
    answer: Callable[[Any], object]
    asked: Sequence[Any]


def drawn(table: Any, n: int, lengths: tuple[int, int]) -> list[str]:
    """Return n different phrases of letters, of so many words."""
    counts = table.token_counts()
    rows = np.flatnonzero((counts >= lengths[0]) & (counts <= lengths[1]))
    shares = np.sqrt(table.strengths[rows].astype(float))
    random = np.random.default_rng(SEED)
    some = random.choice(rows, min(4 * n, rows.size), replace=False, p=shares / shares.sum())
    texts = map(table.text, some.tolist())
    return [text for text in texts if text.replace(" ", "").isalpha()][:n]


def kinds(path: Path, n: int) -> Iterator[Questions]:
    """Yield the kinds of questions, each with a session of its own."""
    index, table = CorpusIndex.open(path), SignatureTable.open(path)
    phrases, words = drawn(table, n, (1, LONGEST)), drawn(table, n, (1, 1))
    yield Questions("count", index.count, phrases)
    several = drawn(table, 2 * n, (1, LONGEST))
    pairs = list(zip(several[::2], several[1::2], strict=False))
    yield Questions("similarity", lambda pair: table.similarity(*pair), pairs)
    many = np.array(drawn(table, BATCHES * PAIRS, (1, LONGEST)))
    random = np.random.default_rng(SEED)
    batches = [many[random.integers(0, many.size, (PAIRS, 2))].tolist() for _ in range(BATCHES)]
    yield Questions("pairs", lambda batch: similarities(table, batch), batches)
    yield Questions("neighbours", NeighbourSearch(path).nearest, phrases)
    parts = [phrases[first : first + AT_ONCE] for first in range(0, len(phrases), AT_ONCE)]
    search = NeighbourSearch(path)
    yield Questions("many", lambda part: list(search.neighbour_lists(part)), parts)
    yield Questions("paraphrase", Paraphraser(index, table=table).answer, phrases)
    lines = [one for word in words for one in index.concordance(word, k=1)]
    substituter = Substituter(index, table)
    yield Questions(
        "substitute",
        lambda line: substituter.substitutes(line.left, line.node, line.right, k=10),
        lines,
    )
    index, table = CorpusIndex.open(path), SignatureTable.open(path)
    stream = ParaphraseStream(Paraphraser(index, table=table))
    yield Questions("stream", stream.answer_line, [word.encode() for word in words])


def measured(all_kinds: Iterator[Questions], only: list[str] | None, file: Path | None) -> Any:
    """Yield a row of the table for each kind; write the answers to a file."""
    out = None if file is None else file.open("w")
    for kind in all_kinds:
        if only and kind.name not in only:
            continue
        spent = []
        for question in kind.asked:
            with Cpu() as cpu:
                answer = kind.answer(question)
            spent.append(cpu.seconds * 1e3)
            if out is not None:
                line = [kind.name, str(question), repr(answer)]
                out.write(json.dumps(line, ensure_ascii=False) + "\n")
        told = spent[WARM_UP:] or spent
        parts = (np.median(told), np.quantile(told, 0.95), max(told))
        wanted = ", ".join(f"{one:g}" for one in WANTED[kind.name])
        first = f"{sum(spent[:1]):.0f}"
        yield [f"`{kind.name}`", *(f"{one:.3g}" for one in parts), f"{np.mean(told):.3g}", first,
               wanted]  # fmt: skip
    if out is not None:
        out.close()


def main() -> None:
    options = parser(__doc__)
    options.add_argument("index", type=Path)
    options.add_argument("--questions", type=int, default=300)
    options.add_argument("--only", nargs="+", choices=sorted(WANTED))
    options.add_argument("--answers", type=Path)
    asked = options.parse_args()
    print_machine()
    heads = ["CPU ms", "median", "95%", "most", "mean", "the first", "wanted"]
    rows = measured(kinds(asked.index, asked.questions), asked.only, asked.answers)
    print_table(heads, rows)


if __name__ == "__main__":
    sys.exit(main())
