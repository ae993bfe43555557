"""How a sentence is rewritten: limits of the search, and what is asked of its result."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from distsim.base.errors import ParameterError

MOST_TOKENS = 2000
LONGEST = 10  # times a sentence's words


@dataclass(frozen=True, kw_only=True)
class RewriteOptions:
    """How a sentence is rewritten.

    Arguments:
        span: rules cover so many tokens at most; higher moves more, and takes longer.
        pops: so many combinations of a span are looked at; higher finds better sentences.
        rules: so many of a source side's rules are used, the best by their weights.
        ranked_again: so many of a sentence's best are ranked again, where weights of features
            ask for it that only a whole sentence has.
        looked_at: of those, so many are looked at, the best by the pack's order.
        deletes: words and constituents may be left out.
        length: the words kept, as a share of the sentence's, rounded down; None asks for nothing.
        chunks: also hide each phrase of the tree behind its label in turn (Madsen 2006).
        keep: words that must not vanish. avoid: words that must not be used.
    """

    span: int = 10
    pops: int = 50
    rules: int = 20
    looked_at: int = 100
    ranked_again: int = 50
    deletes: bool = True
    chunks: bool = False
    length: float | None = None
    keep: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, low, high in (
            ("span", 1, 50), ("pops", 1, None), ("rules", 1, None), ("looked_at", 1, None),
            ("ranked_again", 1, None),
        ):  # fmt: skip
            value = getattr(self, name)
            if value < low or (high is not None and value > high):
                wanted = f"{low} to {high}" if high is not None else f"{low} or more"
                raise ParameterError(f"`{name}` {value}: choose {wanted}")
        if self.length is not None and not 0 < self.length <= LONGEST:
            raise ParameterError(
                f"`length` {self.length}: choose a share above 0, such as .7, {LONGEST} at most"
            )
        if self.chunks and self.length is not None:
            raise ParameterError("`chunks` hides phrases, `length` asks for a length: choose one")
        both = sorted(set(self.keep) & set(self.avoid))
        if both:
            raise ParameterError(f"{both[0]!r} is to be kept and to be avoided: choose one")

    @property
    def shortens(self) -> bool:
        """Fewer words than the sentence has are asked for."""
        return self.length is not None and self.length < 1

    def manifest(self) -> Mapping[str, Any]:
        """Return what a result depends on."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in vars(self).items()
        }
