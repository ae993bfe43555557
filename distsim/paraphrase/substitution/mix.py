"""Mixes likeness, fit, fluency and frequency of candidates into one score each.

A linear mix, its weights learned to rank people's substitutes first (bench/substitution.py).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from distsim.base.arguments import check_types
from distsim.base.errors import ParameterError


@dataclass(frozen=True)
class SubstituteFeatures:
    """Features of candidates, each float64[n].

    likeness: cosine with the target, 0 where unknown. fit: cosine with the slot's own
    signature. fluency: ln p in the slot, less that of the target. frequency: ln(count + 1/2) of
    all forms, less the target's. centrality: how alike it is to the other candidates; shared_fit:
    how well those like it fit, both by `coherence`. scored: bool[n], False where nothing
    is known of a candidate.
    """

    likeness: np.ndarray
    fit: np.ndarray
    fluency: np.ndarray
    frequency: np.ndarray
    centrality: np.ndarray
    shared_fit: np.ndarray
    scored: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Mix:
    """Weights of the kinds of evidence in a substitute's score; 0 leaves a kind out.

    The defaults are RANKING's, for named candidates.

    Arguments:
        likeness, fit, centrality, shared_fit: weight of each cosine.
        fluency, frequency: weight of the natural logarithm of a probability and of a count.

    Raises:
        ParameterError: a weight is not a finite number.

    >>> Mix(fluency=0.0).likeness
    1.0
    """

    likeness: float = 1.0
    fit: float = 2.25
    fluency: float = 0.06
    frequency: float = 0.05
    centrality: float = 2.5
    shared_fit: float = 3.0

    def __post_init__(self) -> None:
        check_types(self)
        weights = list(asdict(self).values())
        if not all(np.isfinite(weights)):
            raise ParameterError(f"weights {weights}: choose finite numbers")

    def scores(self, evidence: SubstituteFeatures) -> np.ndarray:
        """Return the score of each candidate, float64[n], NaN where nothing is known of it.

        Arguments:
            evidence: that of n candidates.
        """
        total = np.zeros(evidence.scored.size)
        for kind, weight in asdict(self).items():
            if weight:
                total += weight * getattr(evidence, kind)
        return np.where(evidence.scored, total, np.nan)


RANKING = Mix()
# Of all words, unlike the few that people named, most fit and are fluent for no reason of theirs.
FINDING = Mix(fit=0.3, fluency=0.02, frequency=0.01, centrality=0.0, shared_fit=0.0)
# A phrase's candidates are found by their contexts, which tell more than the sentence: for each
# unit of ln p and of ln p / count that a candidate is below the target, it loses such a share.
_UNLIKELY, _UNASKED = 0.03, 0.05
_UNKNOWN_CONTEXTS = 0.5  # of the cosine of words: the score of candidates of a grammar alone


def scores_of_phrases(scores: Sequence[float | None], features: SubstituteFeatures) -> np.ndarray:
    """Return the score of each candidate that was found for a phrase in a sentence, float64[n].

    It is the score without the sentence, less where the sentence asks for the candidate less than
    for the target. Nothing is gained by it: in most places the commonest words are most fluent.

    Arguments:
        scores: of n candidates without the sentence, None where there is none.
        features: in the sentence.
    """
    alone = [
        _UNKNOWN_CONTEXTS * max(0.0, cosine) if score is None else score
        for score, cosine in zip(scores, features.likeness.tolist(), strict=True)
    ]
    below = _UNLIKELY * np.minimum(0.0, features.fluency)
    below += _UNASKED * np.minimum(0.0, features.fluency - features.frequency)
    return np.where(features.scored, np.array(alone) * np.exp(below), np.nan)
