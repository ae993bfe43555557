"""Weights of the features of substitutes, and probabilities from their sums."""

from collections.abc import Iterable
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from distsim.base.errors import InputError
from distsim.base.settings import read_changes

RANKS = ("rank_vectors", "rank_words", "rank_frames")
ALONE = (*RANKS, "contrast", "frequency", "form", "agrees")
IN_SENTENCE = (*RANKS, "contrast", "cooccurrence", "frequency", "form", "agrees", "fit", "fluency")
RULES = ("rule", "inverse_rule")
SHIPPED = "substitutes"
_LINE = ("intercept", "slope", "highest")


class ChanceScale(NamedTuple):
    """Weights of features, and how their sums become chances.

    weights: float64[n]. intercept, slope, highest: the chance that people name a word is `highest`
    times the logistic function of intercept + slope * ln of the word's share among all found.
    """

    weights: np.ndarray
    intercept: float
    slope: float
    highest: float = 1.0

    def chances(
        self, features: np.ndarray, calibrated: bool = True, more: np.ndarray | float = 0.0
    ) -> np.ndarray:
        """Return the chance that each word is one that people name, float64[m].

        Arguments:
            features: float64[m, n], of all words found for one target.
            calibrated: else the words' shares are returned, which add up to 1.
            more: float64[m], is added to the weighted sums.
        """
        sums = features @ self.weights + more
        highest = sums.max(initial=-np.inf)
        log_shares = sums - highest - np.log(np.exp(sums - highest).sum())
        if not calibrated:
            shares: np.ndarray = np.exp(log_shares)
            return shares
        logistic = 1.0 / (1.0 + np.exp(-self.intercept - self.slope * log_shares))
        chances: np.ndarray = self.highest * logistic
        return chances


class FinderWeights(NamedTuple):
    """The weights of the features by which the finder ranks substitutes.

    alone: weights and calibration for a word without a sentence, of the features ALONE.
    in_sentence: the same for a word in a sentence, of the features IN_SENTENCE.
    grammar: float64[2], weights of the features RULES.
    """

    alone: ChanceScale
    in_sentence: ChanceScale
    grammar: np.ndarray

    @classmethod
    def open(cls, name: str = SHIPPED) -> "FinderWeights":
        """Return the weights that ship (`substitutes`), or those of a TOML file.

        Arguments:
            name: `substitutes`, or the path of a file.

        Raises:
            InputError: the file has other keys, or values that are no numbers.
        """
        shipped = files("distsim") / "data" / "weights" / f"{name}.toml"
        path = str(shipped) if shipped.is_file() else name
        found = read_changes(path)
        values = []
        for table, features in (
            ("alone", (*ALONE, *_LINE)), ("in_sentence", (*IN_SENTENCE, *_LINE)), ("grammar", RULES)
        ):  # fmt: skip
            own = found.get(table)
            if not isinstance(own, dict) or set(own) != set(features):
                raise InputError(f"{path}: [{table}] must have the keys {', '.join(features)}")
            if not all(type(one) in (int, float) and abs(one) < np.inf for one in own.values()):
                raise InputError(f"{path}: [{table}] must have finite numbers alone")
            values.append(np.array([own[key] for key in features], np.float64))
        alone, in_sentence = (ChanceScale(one[:-3], *one[-3:].tolist()) for one in values[:2])
        return cls(alone, in_sentence, values[2])

    def text(self, notes: Iterable[str]) -> str:
        """Return the TOML file that `open` reads."""
        lines = [f"# {note}" for note in notes]
        for table, names, scale in (
            ("alone", ALONE, self.alone), ("in_sentence", IN_SENTENCE, self.in_sentence)
        ):  # fmt: skip
            values = zip((*names, *_LINE), (*scale.weights, *scale[1:]), strict=True)
            lines += ["", f"[{table}]", *(f"{name} = {value:.5g}" for name, value in values)]
        rules = zip(RULES, self.grammar, strict=True)
        lines += ["", "[grammar]", *(f"{name} = {value:.5g}" for name, value in rules)]
        return "\n".join(lines) + "\n"
