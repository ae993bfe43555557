"""Sentences with references -> weights with which their rewritings score best.

By PRO (Hopkins and May 2011): of each sentence's n-best list pairs are drawn, and a logistic
regression learns which one of a pair the objective puts first. Or by what is to be expected
(Smith and Eisner 2006): weights make each list a distribution, under which the objective's mean
is raised; it looks at the best of a list alone, not at how its bad ones are ordered.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, get_args

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from distsim.base.arguments import whole_number
from distsim.base.choices import Learner, Objective
from distsim.base.errors import ParameterError
from distsim.base.parallel import Progress, no_progress, ordered_map
from distsim.evaluation.rewriting_scores import PRECIS_LAMBDA, Bleu, Precis, Sari
from distsim.grammar.fields import require_utf8
from distsim.paraphrase.rewriting import features
from distsim.paraphrase.rewriting.rewriter import Rewriter, Rewriting
from distsim.paraphrase.rewriting.weights import Weights

OBJECTIVES: tuple[str, ...] = get_args(Objective)
LEARNERS: tuple[str, ...] = get_args(Learner)
_LEAST_LM = 1e-2
_DRAWN = 2000  # pairs of a sentence, of which
_KEPT = 50  # those that differ most are learnt from
_LEAST_GAP = 0.01
_MIX = {"pro": 0.5, "expected": 1.0}  # of the new weights, the old ones being the rest
_PENALTY = {"pro": 0.1, "expected": 1e-3}
_MOST_STEPS = 200

_LEAST_SPREAD = 1e-9

Score = Callable[[Sequence[str]], float]
Known = dict[str, tuple[np.ndarray, float]]  # features and objective, by sentence
Loss = Callable[[np.ndarray], tuple[float, np.ndarray]]


@dataclass(frozen=True)
class TuneOptions:
    """How weights are tuned.

    Arguments:
        objective: `sari`, `bleu` or `precis`. learner: `expected` or `pro`.
        phi: the compression of `precis`.
        precis_weight: how hard `precis` is on longer sentences (lambda; thesis 10, Joshua 5).
        iterations: so often all sentences are rewritten at most. n: rewritings of each.
        penalty: L2, of features scaled to vary by 1: of `pro` on the change of weights, .1 where
            None; of `expected` on the weights, .001. Higher changes, or trusts, them less.
        without: features that get no weight; a name with * at its end stands for all that begin
            so.
        seed: of the pairs drawn.
    """

    objective: str = "sari"
    learner: str = "expected"
    phi: float = 0.75
    precis_weight: float = PRECIS_LAMBDA
    iterations: int = 8
    n: int = 100
    penalty: float | None = None
    without: tuple[str, ...] = ()
    seed: int = 1

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise ParameterError(
                f"`objective` {self.objective!r}: choose one of {', '.join(OBJECTIVES)}"
            )
        if self.learner not in LEARNERS:
            raise ParameterError(f"`learner` {self.learner!r}: choose one of {', '.join(LEARNERS)}")
        for name in ("iterations", "n"):
            if getattr(self, name) < 1:
                raise ParameterError(f"`{name}` {getattr(self, name)}: choose 1 or more")
        if self.penalty is not None and self.penalty < 0:
            raise ParameterError(f"`penalty` {self.penalty}: choose 0 or more")
        whole_number(self.seed, "`seed`", 0)
        for name in self.without:
            require_utf8(name)


class Example(NamedTuple):
    """A sentence, its references, and its tree where it has one."""

    source: str
    references: tuple[str, ...]
    tree: str | None = None


class Round(NamedTuple):
    """An iteration: the mean objective of the best, rewritings known by then, words' share."""

    score: float
    known: int
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
    known: list[Known] = [{} for _ in examples]
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
        rounds.append(Round(score, sum(map(len, known)), size / words))
        say(
            f"iteration {turn + 1}: {options.objective} {100 * score:.2f}, "
            f"{size / words:.3f} of the words, {rounds[-1].known:,} rewritings, {fresh:,} new"
        )
        if not fresh or turn + 1 == options.iterations:
            break
        old = features.vector(names, dict(weights.values))
        new = _learnt(known, names, options, old, turn)
        if new is None:
            break
        mix = _MIX[options.learner]
        mixed = mix * new + (1 - mix) * old
        weights = Weights(
            {name: float(value) for name, value in zip(names, mixed, strict=True) if value}
        )
    if best is None:
        raise ParameterError("`iterations` 0: choose 1 or more")
    return Tuned(best[1], rounds)


def _rewritten(rewriter: Rewriter, n: int, example: Example) -> list[Rewriting]:
    return rewriter.rewrite(example.source, k=n, tree=example.tree)


def _is_named(name: str, chosen: Sequence[str]) -> bool:
    plain = name.removeprefix("Missing(").removesuffix(")")
    return any(
        one in (name, plain) or (one.endswith("*") and plain.startswith(one[:-1])) for one in chosen
    )


def _learnt(
    known: Sequence[Known], names: Sequence[str], options: TuneOptions, old: np.ndarray, turn: int
) -> np.ndarray | None:
    """Return better weights than the old ones, float64 by feature; None where nothing tells."""
    penalty = _PENALTY[options.learner] if options.penalty is None else options.penalty
    if options.learner == "pro":
        gaps = _pairs(known, options.seed * 1000 + turn)
        if not len(gaps):
            return None
        spread = gaps.std(axis=0)
        weights = _minimum(partial(_misjudged, gaps, penalty), names, spread, old)
    else:
        lists = _Lists.of(known)
        if lists is None:
            return None
        weights = _minimum(partial(_unexpected, lists, penalty), names, lists.rows.std(axis=0), old)
    return weights


def _pairs(known: Sequence[Known], seed: int) -> np.ndarray:
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


def _minimum(
    loss: Callable[..., Loss],
    names: Sequence[str],
    spread: np.ndarray,
    old: np.ndarray,
) -> np.ndarray:
    """Return the weights of least loss, from the old ones, of features that vary by 1 each.

    loss: takes the features that vary, their spread, old weights and weights.
    """
    used = np.flatnonzero(spread > _LEAST_SPREAD)
    bounds = [
        (_LEAST_LM, None) if names[column] == features.LM else (None, None)
        for column in used.tolist()
    ]
    before = old[used] * spread[used]
    start = np.maximum(before, [_LEAST_LM if low is not None else -np.inf for low, _ in bounds])
    with threadpool_limits(1):  # sums in one order, whatever the cores
        found = minimize(
            loss(used, spread[used], before), start, jac=True, method="L-BFGS-B", bounds=bounds,
            options={"maxiter": _MOST_STEPS},
        )  # fmt: skip
    weights = old.copy()
    weights[used] = found.x / spread[used]
    if features.LM in names:
        place = list(names).index(features.LM)
        weights[place] = max(weights[place], 1e-6)
    return np.array([float(f"{value:.6g}") for value in weights])


def _misjudged(
    gaps: np.ndarray, penalty: float, used: np.ndarray, spread: np.ndarray, before: np.ndarray
) -> Loss:
    """Return the loss of a logistic regression of which side of each pair is better.

    The penalty is on what leaves the old weights: lists of few rewritings say nothing of far ones.
    """
    scaled = gaps[:, used] / spread

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margin = scaled @ weights
        away = weights - before
        value = np.logaddexp(0.0, -margin).mean() + penalty * away @ away
        share = -1.0 / (1.0 + np.exp(np.minimum(margin, 700.0)))
        slope = share @ scaled / len(scaled) + 2 * penalty * away
        return float(value), slope

    return loss


class _Lists(NamedTuple):
    """Rewritings of all sentences end to end.

    rows: float64[n, features], each less its sentence's mean. scores: float64[n], the objective.
    starts: where each sentence begins. owner: int64[n], the sentence of each.
    """

    rows: np.ndarray
    scores: np.ndarray
    starts: np.ndarray
    owner: np.ndarray

    @classmethod
    def of(cls, known: Sequence[Known]) -> "_Lists | None":
        """Return the lists of two rewritings or more, None where there is none."""
        some = [list(one.values()) for one in known if len(one) > 1]
        if not some:
            return None
        sizes = np.array([len(one) for one in some])
        tables = [np.array([row for row, _ in one]) for one in some]
        return cls(
            np.concatenate([table - table.mean(axis=0) for table in tables]),
            np.array([score for one in some for _, score in one]),
            np.cumsum(sizes) - sizes,
            np.repeat(np.arange(sizes.size), sizes),
        )


def _unexpected(
    lists: _Lists, penalty: float, used: np.ndarray, spread: np.ndarray, _before: np.ndarray
) -> Loss:
    """Return what is lost of the objective, to be expected where p is as e^(weights features)."""
    scaled = lists.rows[:, used] / spread
    _, scores, starts, owner = lists

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margin = scaled @ weights
        share = np.exp(margin - np.maximum.reduceat(margin, starts)[owner])
        share /= np.add.reduceat(share, starts)[owner]
        expected = np.add.reduceat(share * scores, starts)
        slope = (share * (scores - expected[owner])) @ scaled / starts.size
        value = penalty * float(weights @ weights) - float(expected.mean())
        return value, 2 * penalty * weights - slope

    return loss
