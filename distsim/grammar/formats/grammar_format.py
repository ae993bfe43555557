"""Description of a grammar format: how it is recognised, its fields, how features are written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class LineLayout(NamedTuple):
    """The field of a line, from 0, of each part of a rule; -1 where the format has none.

    The order is that of the constants in `kernels/rules.py`.

    Arguments:
        label: the left-hand side, in square brackets.
        links: word links as `0-0 1-2`.
        counts: how often the target, the source and both were seen.
        partners: the first of two fields that hold links instead, where both are columns of
            brackets: one bracket a token, with the positions of its partners on the other side.
            The features then are behind them.
        gaps: sides may have gaps, `[NP,1]`, and may be empty.
    """

    label: int
    source: int
    target: int
    features: int
    links: int = -1
    counts: int = -1
    partners: int = -1
    gaps: bool = True


@dataclass(frozen=True, kw_only=True)
class GrammarFormat:
    """A format of grammars whose fields are separated by `|||`.

    Arguments:
        name: what `--format` calls it.
        layout: the fields of the parts of a rule.
        looks_so: returns whether a line looks like one of this format. A file has the first
            format that at least half of its first lines look like.
        named_features: features may be written as `name=value`; else only as bare values.
        label: the left-hand side of rules that have none of their own.
        columns: the positions of bare features whose meaning the format fixes, by name.
        scale: how those are written: `probability`, `log`, `negative-log` ...
        as_rule: returns a line as one of this layout, where lines are written in another way.
    """

    name: str
    layout: LineLayout
    looks_so: Callable[[bytes], bool]
    named_features: bool = True
    label: bytes = b"[X]"
    columns: Mapping[str, int] = field(default_factory=dict)
    scale: str = "negative-log"
    as_rule: Callable[[bytes], bytes] | None = None

    def __post_init__(self) -> None:
        if max(self.layout.label, self.layout.source) > self.layout.target:
            raise ValueError(f"{self.name}: the target side must follow label and source side")
