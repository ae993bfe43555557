"""Parses patterns with gaps, as `take _ into account`, and sides of rules."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from distsim.base.errors import ParameterError

GAP = "_"


@dataclass(frozen=True)
class Pattern:
    """Parts of words with gaps before, between and behind them.

    parts: the words of each, as text. gaps: len(parts) + 1 tuples, the names of the gaps that
    are before part 0, between parts 0 and 1, and so on: one between two parts at least, none or
    one at an edge, several where gaps touch, which cannot be told apart in plain text.

    >>> Pattern.of_text("take _ into account")
    Pattern(parts=(('take',), ('into', 'account')), gaps=((), (0,), ()))
    """

    parts: tuple[tuple[str, ...], ...]
    gaps: tuple[tuple[Hashable, ...], ...]

    @classmethod
    def of_symbols(cls, symbols: Sequence[tuple[str, Hashable | None]]) -> "Pattern":
        """Return the pattern of symbols, each (word, None) or (anything, the gap's name).

        Arguments:
            symbols: (word, None) for a word, (anything, name) for a gap.
        """
        parts: list[list[str]] = []
        gaps: list[list[Hashable]] = [[]]
        inside = False
        for word, gap in symbols:
            if gap is not None:
                if inside:
                    gaps.append([])
                gaps[-1].append(gap)
                inside = False
            else:
                if not inside:
                    parts.append([])
                parts[-1].append(word)
                inside = True
        if inside:
            gaps.append([])
        return cls(tuple(map(tuple, parts)), tuple(map(tuple, gaps)))

    @classmethod
    def of_text(cls, text: str) -> "Pattern":
        """Return the pattern of a text in which each `_` is a gap, named 0, 1 ... from the left.

        Arguments:
            text: words separated by spaces, `_` for a gap.

        Raises:
            ParameterError: it has no word, or no gap.
        """
        named: list[tuple[str, int | None]] = []
        n_gaps = 0
        for word in text.split():
            named.append((word, n_gaps if word == GAP else None))
            n_gaps += word == GAP
        if not n_gaps or n_gaps == len(named):
            raise ParameterError(
                f"{text!r}: a pattern has words, and a {GAP} for others, as in "
                f"'take {GAP} into account' or 'consider {GAP}'"
            )
        return cls.of_symbols(named)

    @property
    def text(self) -> str:
        """The pattern with `_` for each gap."""
        pieces: list[str] = []
        for number, names in enumerate(self.gaps):
            pieces += [GAP] * len(names)
            pieces += self.parts[number] if number < len(self.parts) else ()
        return " ".join(pieces)

    @property
    def words(self) -> str:
        """Its words alone."""
        return " ".join(word for part in self.parts for word in part)

    def around(self, slot: int) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Return ever less of the words right before and behind a gap, longest first.

        Both hands while there are two; then one of them. The whole parts are left out where the
        pattern has no others.

        Arguments:
            slot: the number of the gap.
        """
        before = self.parts[slot - 1] if slot > 0 else ()
        behind = self.parts[slot] if slot < len(self.parts) else ()
        sizes = range(max(len(before), len(behind)), 0, -1)
        found = [(before[-m:], behind[:m]) for m in sizes]
        if before and behind:
            found += [pair for m in sizes for pair in ((before[-m:], ()), ((), behind[:m]))]
        return list(dict.fromkeys(found))
