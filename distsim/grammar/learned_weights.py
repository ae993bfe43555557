"""Learned weights of features: the score of a rule or a pair, and the file of weights."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np

from distsim.base.errors import InputError
from distsim.corpus.numbers import plain_number
from distsim.corpus.sources import printable

# A rule has a place in the default order if it has one of these.
ORDER_NEEDS = ("p(e|f)", "p(f|e)")
_COLUMNS = ("feature", "weight", "mean", "scale", "low", "high", "missing")


class LearnedWeight(NamedTuple):
    """Weight of one feature, which adds weight * (value clipped to low .. high - mean) / scale.

    missing: the amount that it adds where a pair has no such value.
    """

    weight: float
    mean: float
    scale: float
    low: float
    high: float
    missing: float


@dataclass(frozen=True)
class LearnedWeights:
    """Weights of features, by name.

    weights: by the name of the feature. notes: comments of the file: how they were learned.

    >>> weights = LearnedWeights({"x": LearnedWeight(2.0, 0.5, 1.0, 0.0, 1.0, -1.0)})
    >>> weights.values(["x"], np.array([[9.0], [np.nan]])).tolist()
    [1.0, -1.0]
    """

    weights: Mapping[str, LearnedWeight]
    _: KW_ONLY
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(self.weights)

    def values(self, names: Sequence[str], matrix: np.ndarray) -> np.ndarray:
        """Return the scores of n pairs, float64[n].

        Arguments:
            names: of the columns of the matrix. matrix: float64[n, len(names)], NaN for no value.
        """
        total = np.zeros(len(matrix))
        for name, one in self.weights.items():
            column = matrix[:, names.index(name)]
            part = one.weight * (np.clip(column, one.low, one.high) - one.mean) / one.scale
            total += np.where(np.isnan(column), one.missing, part)
        return total

    def slopes(self) -> dict[str, float]:
        """Return the slope of each feature: contribution per unit, between its bounds."""
        return {name: one.weight / one.scale for name, one in self.weights.items()}

    def text(self) -> str:
        """Return the text of the weights' file: notes, a header, a line for each feature."""
        lines = [f"# {printable(note)}" for note in self.notes] + ["\t".join(_COLUMNS)]
        for name, one in self.weights.items():
            lines.append("\t".join([name, *(f"{number:.6g}" for number in one)]))
        return "\n".join(lines) + "\n"

    @classmethod
    def read(cls, path: str | Path) -> "LearnedWeights":
        """Return the weights of a file.

        Arguments:
            path: of a file that `distsim rank` wrote.

        Raises:
            InputError: it cannot be read, or a line is no weight.
        """
        try:
            text = Path(path).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "is no UTF-8 text"
            raise InputError(
                f"{path}: {reason}: name a file that distsim rank --learn wrote"
            ) from None
        notes, weights = [], {}
        header = False
        for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
            if line.startswith("#"):
                notes.append(line.removeprefix("#").strip())
                continue
            fields = line.split("\t")
            if not header:
                if tuple(fields) != _COLUMNS:
                    raise InputError(
                        f"{path}, line {number}: expected the columns {', '.join(_COLUMNS)}: name "
                        "a file that distsim rank --learn wrote"
                    )
                header = True
                continue
            numbers = [plain_number(field) for field in fields[1:]]
            found = [one for one in numbers if one is not None]
            if len(fields) != len(_COLUMNS) or len(found) != len(numbers) or found[2] <= 0:
                raise InputError(
                    f"{path}, line {number}: expected a feature and six numbers separated by tabs, "
                    "the scale above 0: mend the line or learn the weights again"
                )
            if fields[0] in weights:
                raise InputError(
                    f"{path}, line {number}: {fields[0]} has a weight already: delete one line"
                )
            weights[fields[0]] = LearnedWeight(*found)
        if not weights:
            raise InputError(f"{path}: contains no weights: learn them with distsim rank --learn")
        return cls(weights, notes=tuple(notes))


@cache
def rule_order() -> LearnedWeights:
    """Return the weights of the default order: the pivot's probabilities; opposed rules last.

    Features that a rule lacks add nothing; a rule needs one of ORDER_NEEDS.
    """
    return LearnedWeights.read(str(files("distsim") / "data" / "weights" / "order.weights"))
