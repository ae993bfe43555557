"""Selection of the phrases that are counted and signed."""

from dataclasses import dataclass

from distsim.base.arguments import check_types, in_range
from distsim.base.errors import ParameterError

LONGEST = 8


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Limits of the phrases that get a row in the table.

    Arguments:
        min_count: phrases that occur less often are left out.
        max_length: the longest phrases, in tokens, 1 to 8.
        max_phrases: number of phrases to keep, the most frequent ones; all of them where None.

    Raises:
        ParameterError: a limit is outside its range.

    >>> Selection(min_count=2)
    Selection(min_count=2, max_length=4, max_phrases=None)
    """

    min_count: int = 5
    max_length: int = 4
    max_phrases: int | None = None

    def __post_init__(self) -> None:
        check_types(self)
        for name in ("min_count", "max_length", "max_phrases"):
            value = getattr(self, name)
            wanted = isinstance(value, int) and not isinstance(value, bool)
            if not wanted and not (value is None and name == "max_phrases"):
                raise ParameterError(f"`{name}` {value!r}: give a whole number")
        in_range(self.min_count, "`min_count`", 1)
        in_range(self.max_length, "`max_length`", 1, LONGEST)
        if self.max_phrases is not None:
            in_range(self.max_phrases, "`max_phrases`", 1)
