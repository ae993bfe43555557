"""Sentences with references -> weights with which their rewritings score best: PRO.

Hopkins and May 2011: of each sentence's n-best list pairs are drawn, and a logistic regression
learns which one of a pair the objective puts first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from distsim.errors import ParameterError
from distsim.evaluation.rewriting_scores import PRECIS_LAMBDA, Bleu, Precis, Sari
from distsim.parallel import Progress, no_progress, ordered_map
from distsim.rewriting import features
from distsim.rewriting.rewriter import Rewriter, Rewriting
from distsim.rewriting.weights import Weights

OBJECTIVES = ("sari", "bleu", "precis")
_LEAST_LM = 1e-2
_DRAWN = 2000  # pairs of a sentence, of which
_KEPT = 50  # those that differ most are learnt from
_LEAST_GAP = 0.01
_MIX = 0.5  # of the new weights, the old ones being the rest

Score = Callable[[Sequence[str]], float]


@dataclass(frozen=True)
class TuneOptions:
    """How weights are tuned.

    Arguments:
        objective: `sari`, `bleu` or `precis`. phi: the compression of `precis`.
        precis_weight: how hard `precis` is on longer sentences (lambda; thesis 10, Joshua 5).
        iterations: so often all sentences are rewritten at most. n: rewritings of each.
        penalty: L2 on the change of weights, of features scaled to vary by 1; higher changes
            them less.
        without: features that get no weight; a name with * at its end stands for all that begin
            so.
        seed: of the pairs drawn.
    """

    objective: str = "sari"
    phi: float = 0.75
    precis_weight: float = PRECIS_LAMBDA
    iterations: int = 8
    n: int = 100
    penalty: float = 0.1
    without: tuple[str, ...] = ()
    seed: int = 1

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise ParameterError(
                f"`objective` {self.objective!r}: choose one of {', '.join(OBJECTIVES)}"
            )
        for name in ("iterations", "n"):
            if getattr(self, name) < 1:
                raise ParameterError(f"`{name}` {getattr(self, name)}: choose 1 or more")
        if self.penalty < 0:
            raise ParameterError(f"`penalty` {self.penalty}: choose 0 or more")


class Example(NamedTuple):
    """A sentence, its references, and its tree where it has one."""

    source: str
    references: tuple[str, ...]
    tree: str | None = None


class Round(NamedTuple):
    """An iteration: the mean objective of the best rewritings, pairs learnt from, words' share."""

    score: float
    pairs: int
    ratio: float


class Tuned(NamedTuple):
    """The weights of the best iteration, and what each came to."""

    weights: Weights
    rounds: list[Round]


def objective(example: Example, options: TuneOptions) -> Score:
    """Return what scores a rewriting of an example, 0 to 1.

    >>> score = objective(Example("a b c", ("a c",)), TuneOptions("bleu"))
    >>> score(["a", "c"])
    1.0
    """
    source = example.source.split()
    references = [one.split() for one in example.references]
    if options.objective == "sari":
        return Sari(source, references).score
    if options.objective == "bleu":
        return Bleu(references).score
    return Precis(source, references, options.phi, options.precis_weight).score


def tune(
    rewriter: Rewriter,
    examples: Sequence[Example],
    options: TuneOptions | None = None,
    *,
    jobs: int | None = None,
    progress: Progress = no_progress,
    say: Callable[[str], None] = lambda line: None,
) -> Tuned:
    """Tune weights on examples, from those of a rewriter; the same whatever the jobs.

    Raises:
        ParameterError: there are no examples, or one has no reference.
    """
    options = options or TuneOptions()
    if not examples:
        raise ParameterError("no sentences to tune on: give at least one, with references")
    if not all(example.references for example in examples):
        raise ParameterError("no references: give at least one file of them")
    scorers = [objective(example, options) for example in examples]
    names = [name for name in rewriter.feature_names if not _is_named(name, options.without)]
    kept = {name: rewriter.weights.get(name) for name in names}
    weights = Weights({name: value for name, value in kept.items() if value})
    known: list[dict[str, tuple[np.ndarray, float]]] = [{} for _ in examples]
    best: tuple[float, Weights] | None = None
    rounds: list[Round] = []
    words = sum(len(example.source.split()) for example in examples)
    for turn in range(options.iterations):
        current = rewriter.with_weights(weights)
        total, size, fresh = 0.0, 0, 0
        found = ordered_map(partial(_rewritten, current, options.n), examples, jobs)
        for number, answers in enumerate(found):
            for rank, one in enumerate(answers):
                if one.sentence not in known[number]:
                    fresh += 1
                    known[number][one.sentence] = (
                        features.vector(names, one.features),
                        scorers[number](one.sentence.split()),
                    )
                if rank == 0:
                    total += known[number][one.sentence][1]
                    size += len(one.sentence.split())
            progress("rewriting", turn * len(examples) + number + 1, None)
        score = total / len(examples)
        if best is None or score > best[0]:
            best = score, weights
        gaps = _pairs(known, options.seed * 1000 + turn)
        rounds.append(Round(score, len(gaps), size / words))
        say(
            f"iteration {turn + 1}: {options.objective} {100 * score:.2f}, "
            f"{size / words:.3f} of the words, {len(gaps):,} pairs, {fresh:,} new rewritings"
        )
        if not fresh or not len(gaps) or turn + 1 == options.iterations:
            break
        old = features.vector(names, dict(weights.values))
        mixed = _MIX * _learnt(gaps, names, options.penalty, old) + (1 - _MIX) * old
        weights = Weights(
            {name: float(value) for name, value in zip(names, mixed, strict=True) if value}
        )
    if best is None:
        raise ParameterError("`iterations` 0: choose 1 or more")
    return Tuned(best[1], rounds)


def _rewritten(rewriter: Rewriter, n: int, example: Example) -> list[Rewriting]:
    return rewriter.rewrite(example.source, n, tree=example.tree)


def _is_named(name: str, chosen: Sequence[str]) -> bool:
    plain = name.removeprefix("Missing(").removesuffix(")")
    return any(
        one in (name, plain) or (one.endswith("*") and plain.startswith(one[:-1])) for one in chosen
    )


def _pairs(known: Sequence[dict[str, tuple[np.ndarray, float]]], seed: int) -> np.ndarray:
    """Return differences of features, better minus worse, float64[pairs, features]."""
    gaps = []
    for number, rewritings in enumerate(known):
        if len(rewritings) < 2:
            continue
        rows = np.array([row for row, _ in rewritings.values()])
        scores = np.array([score for _, score in rewritings.values()])
        draw = np.random.default_rng([seed, number])
        pairs = draw.integers(0, scores.size, (_DRAWN, 2))
        gap = scores[pairs[:, 0]] - scores[pairs[:, 1]]
        order = np.argsort(-np.abs(gap), kind="stable")[:_KEPT]
        order = order[np.abs(gap[order]) >= _LEAST_GAP]
        sign = np.sign(gap[order])[:, None]
        gaps.append(sign * (rows[pairs[order, 0]] - rows[pairs[order, 1]]))
    return np.concatenate(gaps) if gaps else np.empty((0, 0))


def _learnt(gaps: np.ndarray, names: Sequence[str], penalty: float, old: np.ndarray) -> np.ndarray:
    """Return the weights of a logistic regression of which side of each pair is better.

    The penalty is on what leaves the old weights: lists of few rewritings say nothing of far ones.
    """
    spread = gaps.std(axis=0)
    used = np.flatnonzero(spread > 0)
    scaled = gaps[:, used] / spread[used]
    bounds = [
        (_LEAST_LM, None) if names[column] == features.LM else (None, None)
        for column in used.tolist()
    ]

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margin = scaled @ weights
        away = weights - before
        value = np.logaddexp(0.0, -margin).mean() + penalty * away @ away
        share = -1.0 / (1.0 + np.exp(np.minimum(margin, 700.0)))
        slope = share @ scaled / len(scaled) + 2 * penalty * away
        return float(value), slope

    before = old[used] * spread[used]
    start = np.maximum(before, [_LEAST_LM if low is not None else -np.inf for low, _ in bounds])
    with threadpool_limits(1):  # sums in one order, whatever the cores
        found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    weights = old.copy()
    weights[used] = found.x / spread[used]
    if features.LM in names:
        place = list(names).index(features.LM)
        weights[place] = max(weights[place], 1e-6)
    return np.array([float(f"{value:.6g}") for value in weights])
