"""Limits of the search for rewritings, and constraints on its result."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from distsim.base.arguments import in_range
from distsim.base.errors import ParameterError

MOST_TOKENS = 2000
LONGEST = 10  # times a sentence's words


@dataclass(frozen=True, kw_only=True)
class RewriteOptions:
    """Limits of the search for rewritings, and constraints on its result.

    Arguments:
        span: maximum number of tokens that a rule covers; higher allows larger reorderings and
            takes longer.
        pops: maximum number of combinations tried for a span in cube pruning (Chiang 2007); higher
            finds better sentences and takes longer.
        rules: maximum number of rules of a source side that are used, the best by their weights.
        ranked_again: number of a sentence's best rewritings that are ranked again by features
            of the whole sentence, where these have weights.
        looked_at: maximum number of rules of a source side that are scored, in the pack's order.
        deletes: whether sentences may be split, wordy phrases be said plainer, and words and
            constituents be deleted.
        length: maximum share of the sentence's words that is kept, 0 to 1, rounded down; None sets
            no limit.
        keep: words that must not be changed or deleted.
        avoid: words that must not be used.

    Raises:
        ParameterError: a value is outside its range.
    """

    span: int = 10
    pops: int = 50
    rules: int = 20
    looked_at: int = 100
    ranked_again: int = 50
    deletes: bool = True
    length: float | None = None
    keep: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, low, high in (
            ("span", 1, 50), ("pops", 1, None), ("rules", 1, None), ("looked_at", 1, None),
            ("ranked_again", 1, None),
        ):  # fmt: skip
            in_range(getattr(self, name), f"`{name}`", low, high)
        if self.length is not None and not 0 < self.length <= LONGEST:
            raise ParameterError(
                f"`length` {self.length}: choose a share above 0, such as .7, {LONGEST} at most"
            )
        both = sorted(set(self.keep) & set(self.avoid))
        if both:
            raise ParameterError(f"{both[0]!r} is to be kept and to be avoided: choose one")

    @property
    def shortens(self) -> bool:
        """Whether fewer words than the sentence has are wanted."""
        return self.length is not None and self.length < 1

    def manifest(self) -> Mapping[str, Any]:
        """Return the settings as plain values."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in vars(self).items()
        }
