"""Pools of processes and threads that ask everything: does every answer come, and is it the same?

The parent asks each question first, so that whatever starts threads or takes locks has done so.
Then the same questions, shuffled: in pools of two processes, forked and spawned; in eight threads
on the same objects; in processes forked while four threads are asking. Every public object that
can be made here also travels to a process and back, and errors do.
"""

import inspect
import multiprocessing
import random
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from functools import partial
from pathlib import Path
from typing import Any

from distsim.public_names import TOPICS, modules_of_names
from tests.faults.frame import V1, Budget, Case, Outcome, d

PATIENCE = 120  # seconds for one answer
N_PHRASES = 5
_RULE = "[X] ||| king ||| queen ||| p=1\n"


class Everything:
    """An index, its tables, and all that answers from them."""

    def __init__(self, folder: Path, text: str) -> None:
        (folder / "text").write_text(text)
        (folder / "rules").write_text(_RULE)
        self.folder = folder
        self.index = d.CorpusIndex.build(
            folder / "text", folder / "index", options=d.IndexOptions("text")
        )
        many = d.Selection(min_count=5, max_length=2)
        self.plain = d.sign(
            self.index, folder / "plain", recipe=d.Recipe(n_bits=64), selection=many
        )
        self.learned = d.sign(
            self.index, folder / "learned", recipe=d.PRESETS["learned"], selection=many
        )
        annotated, syntax = d.AnnotatedText(V1 / "c.conllu"), d.PRESETS["syntax"]
        kept = d.sign(annotated, folder / "kept", recipe=syntax, selection=many, keep_features=True)
        self.bits, self.stored = d.EstimatedCosine(self.learned), d.StoredCosine(kept)
        self.exact = d.ExactCosine(self.index, self.plain)
        self.real = d.LearnedCosine(self.index, self.learned)
        self.kind = d.KindCosine(self.index, self.learned, "substitutes")
        self.patterns = d.GappedCosine(self.index, self.learned)
        self.search = d.NeighbourSearch(self.plain, min_strength=5)
        self.distinct = d.NeighbourSearch(self.learned, min_strength=2)
        self.paraphraser = d.Paraphraser(
            self.index, options=d.ParaphraseOptions(k=3), table=self.plain
        )
        self.scorer = d.RuleScorer([("sim", self.plain)])
        self.substituter = d.Substituter(self.index, self.learned, neighbours=5)
        self.opposites = d.Opposites(self.index, self.learned)
        self.pair_features = d.PairFeatures(ngram=self.learned)
        by = d.PackOptions(weights={"p": 1.0})
        self.report = d.pack_grammar(folder / "rules", folder / "pack", options=by)
        self.pack = d.GrammarIndex.open(folder / "pack")
        english, other = folder / "en", folder / "de"
        english.write_text("the king\nthe queen\nthe king laughed\n" * 9)
        other.write_text("der könig\ndie königin\nder könig lachte\n" * 9)
        self.bitext = d.build_bitext(english, other, folder / "bitext", jobs=1)
        weights = d.Weights({"LM": 1.0, "p": 0.5, "Kept": 0.1, "Deleted": -9.0})
        self.rewriter = d.Rewriter(self.pack, d.IndexModel(self.index), weights=weights)
        found = [self.plain.text(row) for row in range(len(self.plain))]
        alike = random.Random(1).sample([one for one in found if len(one) > 3], N_PHRASES)
        self.phrases = [*alike, "the king", "alice", "zeppelin"]
        self.pairs = list(zip(self.phrases, self.phrases[1:] + self.phrases[:1], strict=True))


QUESTIONS: dict[str, Callable[[Everything], Any]] = {
    "count": lambda my: my.index.count(my.phrases).tolist(),
    "positions": lambda my: [found.tolist() for found in my.index.positions(my.phrases)],
    "kwic": lambda my: [my.index.concordance(phrase, k=5) for phrase in my.phrases],
    "gapped": lambda my: my.index.gapped("the _ of").tolist(),
    "ngrams": lambda my: list(my.index.ngrams(shortest=2, min_count=30)),
    "contexts": lambda my: [d.named_contexts(my.index, phrase) for phrase in my.phrases],
    "similarity": lambda my: d.similarities(my.plain, my.pairs),
    "composed": lambda my: my.bits.estimates([*my.pairs, ("zebra of", "the x")]),
    "stored": lambda my: my.stored.estimates([("king", "dog"), ("the king", "the dog")]),
    "exact": lambda my: my.exact.estimates(my.pairs),
    "real": lambda my: my.real.estimates(my.pairs),
    "kinds": lambda my: my.kind.estimates(my.pairs[:3]),
    "gapped neighbours": lambda my: d.gapped_neighbours(my.patterns, "the _ of the", k=5),
    "neighbours": lambda my: d.neighbours(my.plain, my.phrases),
    "search": lambda my: my.search.nearest("the king", k=3),
    "distinct": lambda my: [my.distinct.neighbour_list(phrase) for phrase in my.phrases],
    "reranked": lambda my: my.distinct.reranked("the king", my.real, k=5, among=50),
    "paraphrases": lambda my: my.paraphraser.answer("the king"),
    "scores": lambda my: [my.scorer.score(*pair) for pair in my.pairs],
    "features": lambda my: my.pair_features.matrix(my.pairs).tolist(),
    "opposites": lambda my: my.opposites.evidence([("king", "queen"), ("large", "small")]),
    "substitutes": lambda my: my.substituter.substitutes("said the", "king", "to alice"),
    "bitext": lambda my: [(my.bitext.english.words(n), my.bitext.links_of(n)) for n in range(27)],
    "rules": lambda my: my.pack.rules("king"),
    "rewritings": lambda my: my.rewriter.rewrite("said the king to alice", k=3),
}


def ask(asked: Everything, question: str) -> Any:
    """Answer a question, in whatever process or thread this is."""
    return QUESTIONS[question](asked)


def judged(outcome: Outcome, futures: list[tuple[str, Future]], expected: dict[str, Any]) -> None:
    """Count what came of the answers."""
    for question, future in futures:
        try:
            is_same = repr(future.result(PATIENCE)) == repr(expected[question])
            outcome.check(is_same, f"{question}: another answer")
        except TookTooLong:
            outcome.broken.append(f"{question}: no answer")
        except Exception as error:
            outcome.broken.append(f"{question}: {type(error).__name__}: {error}")


# Every public object that can be made -----------------------------------------------------


def public_objects(my: Everything, answers: Sequence[Any]) -> dict[str, Any]:
    """Return an object of every public class that is met here or is made without arguments."""
    met = [*vars(my).values()]
    for answer in [
        *answers, d.Language.open(), d.Inflections.open("english"),
        d.read_gold(_gold(my.folder)), d.NgramModel(), my.plain.fingerprint,
        d.AnnotatedText(V1 / "c.conllu"),
    ]:  # fmt: skip
        while isinstance(answer, list) and answer:
            met.append(answer)
            answer = answer[0]
        met.append(answer)
    found: dict[str, Any] = {}
    for name in sorted({name for topic in TOPICS for name in modules_of_names(topic)}):
        kind = getattr(d, name)
        if not inspect.isclass(kind):
            continue
        made = next((one for one in met if type(one) is kind), None)
        if made is None:
            try:
                made = kind("a message: mend it") if issubclass(kind, Exception) else kind()
            except TypeError:
                continue
        found[name] = made
    return found


def _gold(folder: Path) -> Path:
    (folder / "gold.tsv").write_text("king\tqueen\t8.5\nking\that\t1.5\n" * 3)
    return folder / "gold.tsv"


def returned(one: Any) -> Any:
    """Return what came, by way of a process."""
    return one


def _raise(error: Exception) -> None:
    raise error


def travels(outcome: Outcome, method: str, objects: dict[str, Any]) -> None:
    """Send each object to a process and back; raise each error there."""
    with _pool(method) as workers:
        for name, one in objects.items():
            try:
                again = workers.submit(returned, one).result(PATIENCE)
                is_same = again == one or _plain(again) == _plain(one)
                outcome.check(type(again) is type(one) and is_same, f"{name}: {again!r:.100}")
                if isinstance(one, Exception):
                    raised = workers.submit(_raise, one).exception(PATIENCE)
                    outcome.check(repr(raised) == repr(one), f"{name}: {raised!r} was raised")
            except Exception as error:
                outcome.broken.append(f"{name}: {type(error).__name__}: {error}")


def _plain(one: Any) -> str:
    """Return what an object says of itself, but not where it stands in memory."""
    told = repr(one)
    return "" if " at 0x" in told else told


def _pool(method: str) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method))


def in_pools(way: str, place: Path, draw: random.Random, budget: Budget) -> Outcome:
    """Ask everything in one way."""
    from tests.faults.commands import novel

    my, outcome = Everything(place, novel(200_000)), Outcome()
    expected = {question: ask(my, question) for question in QUESTIONS}
    order = [draw.sample(list(QUESTIONS), len(QUESTIONS)) for _ in range(budget.rounds)]
    questions = [question for one in order for question in one]
    done = threading.Event()

    def keep_asking(seed: int) -> None:
        mine = random.Random(seed)
        while not done.is_set():
            ask(my, mine.choice(list(QUESTIONS)))

    with ThreadPoolExecutor(4) as busy:
        if way == "forked amid busy threads":
            for seed in range(4):
                busy.submit(keep_asking, seed)
        method = "spawn" if way == "spawned" else "fork"
        try:
            with ThreadPoolExecutor(8) if way == "threads" else _pool(method) as workers:
                asked = [(one, workers.submit(ask, my, one)) for one in questions]
                judged(outcome, asked, expected)
            if way != "threads":
                objects = public_objects(my, list(expected.values()))
                outcome.counts["objects"] = len(objects)
                travels(outcome, method, objects)
        finally:
            done.set()
    return outcome


def cases() -> list[Case]:
    """Return every way of asking."""
    return [
        Case(f"pools/{way}", partial(in_pools, way))
        for way in ("forked", "spawned", "threads", "forked amid busy threads")
    ]
