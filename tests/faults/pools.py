"""Pools of processes and threads that ask everything: does every answer come, and is it the same?

The parent asks each question first, so that whatever starts threads or takes locks has done so.
Then the same questions, shuffled by a seed: in pools of two processes, forked and spawned; in
eight threads on the same objects; and in processes forked while four threads are asking. An
answer that differs, an error and an answer that does not come in two minutes are counted.

    python -m tests.faults.pools INDEX PLAIN_TABLE LEARNT_TABLE PACKS [--rounds 20] [--seed 1]

PACKS: a folder of `pack` with a feature, of rules whose words the index has.
"""

import argparse
import multiprocessing
import random
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from typing import Any

import numpy as np

from distsim import (
    CorpusIndex,
    EstimatedCosine,
    ExactCosine,
    GrammarIndex,
    Paraphraser,
    SignatureTable,
    Substituter,
    neighbours,
    similarities,
)
from distsim.comparison import GappedCosine, LearntCosine, NeighbourSearch, gapped_neighbours
from distsim.contexts import named_contexts
from distsim.grammar import RuleScorer
from distsim.paraphrase import KindCosine
from distsim.paraphrase.rewriting import Rewriter
from distsim.paraphrase.rewriting.language_model import IndexModel
from distsim.paraphrase.rewriting.weights import Weights

PATIENCE = 120  # seconds for one answer
N_PHRASES = 8


class Asked:
    """An index, its tables, and all that answers from them."""

    def __init__(
        self, index: CorpusIndex, plain: SignatureTable, learnt: SignatureTable, pack: GrammarIndex
    ) -> None:
        self.index, self.plain, self.learnt = index, plain, learnt
        self.bits = EstimatedCosine(learnt)
        self.exact = ExactCosine(index, plain)
        self.real = LearntCosine(index, learnt)
        self.search = NeighbourSearch(learnt)
        self.paraphraser = Paraphraser(index, table=plain)
        self.scorer = RuleScorer([("sim", plain)])
        self.joined = CorpusIndex.open([index.path, index.path])
        self.substituter = Substituter(index, learnt)
        self.patterns = GappedCosine(index, learnt)
        self.kind = KindCosine(index, learnt, "substitutes")
        self.pack = pack
        weights = Weights({"LM": 1.0, "Kept": 0.1, "Deleted": -9.0})
        self.rewriter = Rewriter(pack, IndexModel(index), weights=weights)
        draw = np.random.default_rng(1)
        strong = np.flatnonzero(plain.strengths >= 20)
        self.phrases = [plain.text(row) for row in draw.choice(strong, N_PHRASES).tolist()]
        self.pairs = list(zip(self.phrases, self.phrases[1:] + self.phrases[:1], strict=True))


QUESTIONS: dict[str, Callable[[Asked], Any]] = {
    "count": lambda my: my.index.count(my.phrases).tolist(),
    "positions": lambda my: [found.tolist() for found in my.index.positions(my.phrases)],
    "kwic": lambda my: [my.index.concordance(phrase, limit=5) for phrase in my.phrases],
    "gapped": lambda my: my.index.gapped("the _ of").tolist(),
    "ngrams": lambda my: list(my.index.ngrams(3, min_count=40)),
    "contexts": lambda my: [named_contexts(my.index, phrase) for phrase in my.phrases],
    "similarity": lambda my: similarities(my.plain, my.pairs),
    "similarity, composed": lambda my: my.bits.estimates([*my.pairs, ("zebra of", "the x")]),
    "similarity, exact": lambda my: my.exact.estimates(my.pairs),
    "similarity, real-valued": lambda my: my.real.estimates(my.pairs),
    "neighbours, plain": lambda my: neighbours(my.plain, my.phrases),
    "neighbours, learnt": lambda my: [my.search.found(phrase) for phrase in my.phrases],
    "neighbours, reranked": lambda my: my.search.reranked(my.phrases[0], 5, my.real, 50),
    "paraphrase": lambda my: my.paraphraser.answer(my.phrases[0]),
    "score": lambda my: [my.scorer.score(*pair) for pair in my.pairs],
    "count, joined": lambda my: my.joined.count(my.phrases).tolist(),
    "kwic, joined": lambda my: [my.joined.concordance(phrase, limit=5) for phrase in my.phrases],
    "substitute": lambda my: my.substituter.substitutes("said the", my.phrases[0], "and went"),
    "similarity, kinds": lambda my: my.kind.estimates(my.pairs[:3]),
    "neighbours, gapped": lambda my: gapped_neighbours(my.patterns, "the _ of the", 5),
    "rules": lambda my: [my.pack.rules(phrase) for phrase in my.phrases],
    "rewrite": lambda my: my.rewriter.rewrite("the king went to the window", 3),
}


def ask(asked: Asked, question: str) -> Any:
    """Answer a question, in whatever process or thread this is."""
    return QUESTIONS[question](asked)


def judged(futures: list[tuple[str, Future]], expected: dict[str, Any]) -> Counter[str]:
    """Count what came of the answers."""
    ends: Counter[str] = Counter()
    for question, future in futures:
        try:
            ends["same" if future.result(PATIENCE) == expected[question] else "differ"] += 1
        except TookTooLong:
            ends["no answer"] += 1
        except Exception as error:
            ends[f"{type(error).__name__}: {error}"] += 1
    return ends


def main() -> None:
    """Ask in every way and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("index")
    parser.add_argument("plain")
    parser.add_argument("learnt")
    parser.add_argument("packs")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    asked = Asked(
        CorpusIndex.open(given.index),
        SignatureTable.open(given.plain),
        SignatureTable.open(given.learnt),
        GrammarIndex.open(given.packs),
    )
    expected = {question: ask(asked, question) for question in QUESTIONS}
    draw = random.Random(given.seed)
    order = [draw.sample(list(QUESTIONS), len(QUESTIONS)) for _ in range(given.rounds)]
    questions = [question for one in order for question in one]

    def pool(method: str) -> Counter[str]:
        context = multiprocessing.get_context(method)
        with ProcessPoolExecutor(2, mp_context=context) as workers:
            return judged([(one, workers.submit(ask, asked, one)) for one in questions], expected)

    def threads() -> Counter[str]:
        with ThreadPoolExecutor(8) as workers:
            return judged([(one, workers.submit(ask, asked, one)) for one in questions], expected)

    def forked_amid_threads() -> Counter[str]:
        done = threading.Event()

        def keep_asking(seed: int) -> None:
            mine = random.Random(seed)
            while not done.is_set():
                ask(asked, mine.choice(list(QUESTIONS)))

        with ThreadPoolExecutor(4) as busy:
            for seed in range(4):
                busy.submit(keep_asking, seed)
            try:
                return pool("fork")
            finally:
                done.set()

    print("| asked by | " + " | ".join(("answers", "same", "others")) + " |\n|---|---|---|---|")
    for name, way in (
        ("two forked processes", lambda: pool("fork")),
        ("two spawned processes", lambda: pool("spawn")),
        ("eight threads", threads),
        ("two processes forked amid four busy threads", forked_amid_threads),
    ):
        ends = way()
        others = ", ".join(f"{n} {what}" for what, n in ends.items() if what != "same") or "none"
        print(f"| {name} | {sum(ends.values())} | {ends['same']} | {others} |", flush=True)


if __name__ == "__main__":
    main()
