"""Pairs of token sequences -> word links, learnt from the pairs themselves (sil-thot)."""

import math
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from distsim.errors import ParameterError

TRAINING_ROUNDS = 5
_LEAST_PROBABILITY = 0.05

Tokens = list[str]


class LearntLinks(NamedTuple):
    """Links of many pairs: pairs, sources, targets are int64[m], `pairs` ascending."""

    pairs: np.ndarray
    sources: np.ndarray
    targets: np.ndarray


def can_learn() -> bool:
    """Tell whether the extra `align` is installed."""
    return find_spec("thot") is not None


class WordAligner:
    """Two HMM alignment models (Vogel et al. 1996), one per direction, symmetrised.

    A link that either model finds stays where the geometric mean of their two probabilities
    for the pair of words is at least `least_probability`: such models leave hardly any word
    alone, though many words of short pairs have no partner. On the 165,000 aligned pairs of a
    French-English phrase table .05 serves best (bench/align.py).

    Arguments:
        sources, targets: the pairs to learn from.
        least_probability: raised, links are fewer and safer.

    Raises:
        ParameterError: sil-thot is not installed.
    """

    def __init__(
        self,
        sources: Sequence[Tokens],
        targets: Sequence[Tokens],
        least_probability: float = _LEAST_PROBABILITY,
    ) -> None:
        if not can_learn():
            raise ParameterError(
                "learning word alignments needs sil-thot: install it (pip install "
                "'distsim[align]') or choose --aligner evidence"
            )
        from thot.alignment import SymmetrizationHeuristic, SymmetrizedAligner

        self._least = least_probability
        self._forward = _trained(sources, targets)
        self._backward = _trained(targets, sources)
        self._both = SymmetrizedAligner(self._forward, self._backward)
        self._both.heuristic = SymmetrizationHeuristic.UNION
        self._probable: dict[tuple[str, str], bool] = {}

    def links(self, sources: Sequence[Tokens], targets: Sequence[Tokens]) -> LearntLinks:
        """Return the links of pairs of token sequences."""
        pairs, found_sources, found_targets = [], [], []
        probable = self._probable
        found = self._both.get_best_alignments(sources, targets) if sources else []
        for number, (_, matrix) in enumerate(found):
            source, target = sources[number], targets[number]
            for i, j in zip(
                *(axis.tolist() for axis in np.nonzero(matrix.to_numpy())), strict=True
            ):
                words = source[i], target[j]
                fine = probable.get(words)
                if fine is None:
                    fine = probable[words] = self._probability(*words) >= self._least
                if fine:
                    pairs.append(number)
                    found_sources.append(i)
                    found_targets.append(j)
        if len(probable) > 1 << 20:
            probable.clear()
        return LearntLinks(
            np.array(pairs, np.int64),
            np.array(found_sources, np.int64),
            np.array(found_targets, np.int64),
        )

    def _probability(self, source: str, target: str) -> float:
        """Return the geometric mean of p(target | source) and p(source | target)."""
        forward, backward = self._forward, self._backward
        return math.sqrt(
            forward.translation_prob(
                forward.get_src_word_index(source), forward.get_trg_word_index(target)
            )
            * backward.translation_prob(
                backward.get_src_word_index(target), backward.get_trg_word_index(source)
            )
        )


def _trained(sources: Sequence[Tokens], targets: Sequence[Tokens]) -> Any:
    from thot.alignment import HmmAlignmentModel

    model = HmmAlignmentModel()
    for source, target in zip(sources, targets, strict=True):
        model.add_sentence_pair(source, target, 1)
    if sources:
        model.start_training()
        for _ in range(TRAINING_ROUNDS):
            model.train()
        model.end_training()
    return model
