"""Weights with which the rewritings of sentences score best against references.

Minimum risk (Smith and Eisner 2006): weights make each sentence's list of rewritings a
distribution, and the objective of the expected counts of all sentences is raised.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, get_args

import numpy as np

from distsim.base.arguments import ObjectiveName, check_types, in_range, one_of
from distsim.base.errors import ParameterError, counted
from distsim.base.linear_weights import LEAST_SPREAD, ChoiceLists, lowest
from distsim.base.parallel import Progress, no_progress, ordered_map
from distsim.evaluation.rewriting_scores import (
    PRECIS_LAMBDA,
    Bleu,
    Precis,
    SariCounts,
    corpus_bleu,
    corpus_sari,
    sari_slope,
    sari_tokens,
)
from distsim.grammar.fields import require_utf8
from distsim.paraphrase.rewriting import rewriting_features
from distsim.paraphrase.rewriting.rewriter import Rewriter, Rewriting
from distsim.paraphrase.rewriting.rewriting_options import Weights

OBJECTIVES: tuple[str, ...] = get_args(ObjectiveName)
_LEAST_LM = 1e-2
_PENALTY = 1e-3
_MOST_STEPS = 200
_OF_SARI = 24  # counts of SARI; those of BLEU follow
_SOFT = 0.01  # of BLEU: the optimiser stops at an edge

Count = Callable[[str], np.ndarray]
Known = dict[str, tuple[np.ndarray, np.ndarray]]  # features and counts, by sentence


@dataclass(frozen=True)
class TuneOptions:
    """Objective, iterations and penalty of tuning.

    Arguments:
        objective: `sari`, of the corpus; `bleu` or `precis`, the mean of sentences.
        bleu_floor: with `sari`, the least BLEU of the corpus, 0 to 100; what is below costs more
            than SARI can gain. Tokens are compared as they are written.
        phi: the compression that `precis` asks for, a share of the words.
        precis_weight: lambda of `precis`, its penalty on longer sentences (thesis 10, Joshua 5).
        iterations: at most so often all sentences are rewritten.
        n: rewritings of each sentence.
        penalty: L2 penalty on the weights of features scaled to a standard deviation of 1.
        features: the only ones that get weights; all where empty.
        without: features that get no weight; a name that ends in * stands for all that begin so.
        pairs: of each sentence and its references the longest is to become the shortest, where that
            has more than half and at most .8 of its words (thesis 4.2.3); others are left out.

    Raises:
        ParameterError: a value is outside its range, or the objective is unknown.
    """

    objective: str = "sari"
    bleu_floor: float = 0.0
    phi: float = 0.75
    precis_weight: float = PRECIS_LAMBDA
    iterations: int = 8
    n: int = 100
    penalty: float = _PENALTY
    features: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    pairs: bool = False

    def __post_init__(self) -> None:
        check_types(self)
        one_of(self.objective, OBJECTIVES, "`objective`")
        in_range(self.iterations, "`iterations`", 1)
        in_range(self.n, "`n`", 1)
        if not 0 <= self.bleu_floor < 100:
            raise ParameterError(
                f"`bleu_floor` {self.bleu_floor}: choose 0 or more, and less than 100"
            )
        in_range(self.penalty, "`penalty`", 0)
        for name in (*self.features, *self.without):
            require_utf8(name)


class Example(NamedTuple):
    """A sentence to tune with.

    source: the sentence. references: people's rewritings. tree: bracketed, where it has one.
    """

    source: str
    references: tuple[str, ...]
    tree: str | None = None


class Round(NamedTuple):
    """An iteration of tuning.

    score: objective of the best rewritings. known: rewritings known. ratio: their share of the
    words.
    """

    score: float
    known: int
    ratio: float


class Tuned(NamedTuple):
    """The result of tuning.

    weights: of the best iteration. rounds: all iterations.
    """

    weights: Weights
    rounds: list[Round]


class CorpusObjective(NamedTuple):
    """An objective of counts that are summed over sentences.

    value: takes the sum, float64[counts], and returns the objective, 0 to 1. slope: returns its
    derivative by each count, float64[counts].
    """

    value: Callable[[np.ndarray], float]
    slope: Callable[[np.ndarray], np.ndarray]


def measure(options: TuneOptions) -> CorpusObjective:
    """Return the objective of summed counts: corpus-level SARI, or a mean over sentences."""
    if options.objective == "sari":
        return CorpusObjective(
            partial(_sari_above, options.bleu_floor / 100),
            partial(_slope_above, options.bleu_floor / 100),
        )
    return CorpusObjective(
        lambda counts: float(counts[0] / counts[1]),
        lambda counts: np.array([1 / counts[1], -counts[0] / counts[1] ** 2]),
    )


def _lacking(floor: float, bleu: float) -> tuple[float, float]:
    """Return (what BLEU lacks of a floor, a smooth function of it; its derivative by BLEU)."""
    if not floor:
        return 0.0, 0.0
    gap = (floor - bleu) / _SOFT
    return _SOFT * float(np.logaddexp(0.0, gap)), -1 / (1 + math.exp(-gap))


def _sari_above(floor: float, counts: np.ndarray) -> float:
    """Return corpus-level SARI, less what BLEU lacks of a floor.

    Arguments:
        counts: float64, those of SARI, then those of BLEU, by `counts_of`.
    """
    bleu, _ = corpus_bleu(counts[_OF_SARI:])
    return sum(corpus_sari(counts[:_OF_SARI])) / 3 - _lacking(floor, bleu)[0]


def _slope_above(floor: float, counts: np.ndarray) -> np.ndarray:
    """Return the derivative of `_sari_above` by each count, float64.

    Arguments:
        counts: float64, those of SARI, then those of BLEU.
    """
    bleu, slope = corpus_bleu(counts[_OF_SARI:])
    slope = slope * -_lacking(floor, bleu)[1]
    return np.concatenate([sari_slope(counts[:_OF_SARI]), slope])


def counts_of(example: Example, options: TuneOptions) -> Count:
    """Return a function from a rewriting of an example to its counts, float64.

    >>> counts_of(Example("a b c", ("a c",)), TuneOptions("bleu"))("a c").tolist()
    [1.0, 1.0]
    """
    references = [reference.split() for reference in example.references]
    if options.objective == "sari":
        people = [sari_tokens(reference) for reference in example.references]
        sari, bleu = SariCounts(sari_tokens(example.source), people), Bleu(references)
        return lambda text: np.concatenate(
            [sari.counts_of(sari_tokens(text)), bleu.counts(text.split())]
        )
    scorer: Bleu | Precis = Bleu(references)
    if options.objective == "precis":
        source = example.source.split()
        scorer = Precis(source, references, options.phi, options.precis_weight)
    return lambda text: np.array([scorer.score(text.split()), 1.0])


def tune(
    rewriter: Rewriter,
    examples: Sequence[Example],
    options: TuneOptions | None = None,
    *,
    jobs: int | None = None,
    progress: Progress = no_progress,
    say: Callable[[str], None] = lambda line: None,
) -> Tuned:
    """Return the weights of the best iteration, from those of a rewriter; the same for any jobs.

    Arguments:
        rewriter: its weights are the first ones.
        options: TuneOptions() where None.
        jobs: threads; all cores where None.
        progress: called with what is done, how many rewritings so far, and None.
        say: called with a line about each iteration.

    Raises:
        ParameterError: there are no examples, or one has no reference.
    """
    options = options or TuneOptions()
    if not examples:
        raise ParameterError("no sentences to tune on: give at least one, with references")
    if not all(example.references for example in examples):
        raise ParameterError("no references: give at least one file of them")
    goal = measure(options)
    scorers = [counts_of(example, options) for example in examples]
    names = [
        name
        for name in rewriter.feature_names
        if (not options.features or name in options.features)
        and not _is_named(name, options.without)
    ]
    unknown = set(options.features) - set(rewriter.feature_names)
    if unknown:
        raise ParameterError(f"`features`: {min(unknown)} is no feature of this grammar")
    value_of_name = {name: rewriter.weights.get(name) for name in names}
    weights = Weights({name: value for name, value in value_of_name.items() if value})
    known: list[Known] = [{} for _ in examples]
    tried: list[Weights] = []
    rounds: list[Round] = []
    words = sum(len(example.source.split()) for example in examples)
    for turn in range(options.iterations):
        current = rewriter.with_weights(weights)
        best, size, fresh = np.zeros(scorers[0](examples[0].source).size), 0, 0
        answers_of_examples = ordered_map(partial(_rewritten, current, options.n), examples, jobs)
        for number, answers in enumerate(answers_of_examples):
            fresh += _add_known(known[number], answers, names, scorers[number])
            if answers:
                best += known[number][answers[0].sentence][1]
                size += len(answers[0].sentence.split())
            progress("rewriting", turn * len(examples) + number + 1, None)
        tried.append(weights)
        rounds.append(Round(goal.value(best), sum(map(len, known)), size / words))
        say(
            f"iteration {turn + 1}: {options.objective} {100 * rounds[-1].score:.2f}, "
            f"{size / words:.3f} of the words, {counted(rounds[-1].known, 'rewriting')}, "
            f"{fresh:,} new"
        )
        lists = _RewritingLists.of(known)
        if not fresh or lists is None:
            break
        old = rewriting_features.vector(names, dict(weights.values))
        new = _minimum(lists, goal, options.penalty, names, old)
        pairs = zip(names, new.tolist(), strict=True)
        weights = Weights({name: value for name, value in pairs if value})
    top = max(range(len(rounds)), key=lambda turn: rounds[turn].score)
    return Tuned(tried[top], rounds)


def _add_known(
    known: Known, answers: Sequence[Rewriting], names: Sequence[str], count: Count
) -> int:
    """Add the rewritings of a sentence that are not known yet; return how many they are."""
    fresh = [rewriting for rewriting in answers if rewriting.sentence not in known]
    for rewriting in fresh:
        known[rewriting.sentence] = (
            rewriting_features.vector(names, rewriting.features),
            count(rewriting.sentence),
        )
    return len(fresh)


def _rewritten(rewriter: Rewriter, n: int, example: Example) -> list[Rewriting]:
    return rewriter.rewrite(example.source, k=n, tree=example.tree)


def _is_named(name: str, chosen: Sequence[str]) -> bool:
    plain = name.removeprefix("Missing(").removesuffix(")")
    return any(
        pattern in (name, plain) or (pattern.endswith("*") and plain.startswith(pattern[:-1]))
        for pattern in chosen
    )


class _RewritingLists(NamedTuple):
    """Rewritings of all sentences, end to end.

    rows: float64[n, features], each less the mean of its sentence. counts: float64[n, counts].
    lists: of the sentences.
    """

    rows: np.ndarray
    counts: np.ndarray
    lists: ChoiceLists

    @classmethod
    def of(cls, known: Sequence[Known]) -> "_RewritingLists | None":
        """Return the lists of all sentences, None where none has two rewritings."""
        rewritings = [list(by_sentence.values()) for by_sentence in known if by_sentence]
        sizes = [len(rows_of_example) for rows_of_example in rewritings]
        if max(sizes, default=0) < 2:
            return None
        tables = [np.array([row for row, _ in rows_of_example]) for rows_of_example in rewritings]
        return cls(
            np.concatenate([table - table.mean(axis=0) for table in tables]),
            np.array([counts for rows_of_example in rewritings for _, counts in rows_of_example]),
            ChoiceLists.of(sizes),
        )


def _minimum(
    rewritings: _RewritingLists, goal: CorpusObjective, penalty: float, names: Sequence[str],
    old: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Return the weights of least loss, float64 by feature; those that do not vary stay.

    Arguments:
        rewritings: of each sentence.
        penalty: L2 penalty.
        old: float64, weights to begin with.
    """
    spread = rewritings.rows.std(axis=0)
    used = np.flatnonzero(spread > LEAST_SPREAD)
    spread = spread[used]
    bounds = [
        (_LEAST_LM, None) if names[column] == rewriting_features.LM else (None, None)
        for column in used.tolist()
    ]
    start = np.maximum(
        old[used] * spread, [_LEAST_LM if low is not None else -np.inf for low, _ in bounds]
    )
    loss = partial(_loss, rewritings, rewritings.rows[:, used] / spread, goal)
    weights = old.copy()
    weights[used] = lowest(loss, start, penalty, bounds=bounds, max_steps=_MOST_STEPS) / spread
    if rewriting_features.LM in names:
        place = list(names).index(rewriting_features.LM)
        weights[place] = max(weights[place], 1e-6)
    return np.array([float(f"{value:.6g}") for value in weights])


def _loss(
    rewritings: _RewritingLists, scaled: np.ndarray, goal: CorpusObjective, weights: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return the negative objective of the expected counts, and the derivative.

    Arguments:
        scaled: float64[n, features], features of a standard deviation of 1.
        weights: float64[features].
    """
    lists = rewritings.lists
    share = lists.choices(scaled @ weights).shares
    expected = share @ rewritings.counts
    gains = rewritings.counts @ goal.slope(expected)
    slope = (share * (gains - lists.sums(share * gains)[lists.owners])) @ scaled
    return -goal.value(expected), -slope
