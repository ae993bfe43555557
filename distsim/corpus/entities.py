"""Entity classes from `Entity=` brackets of CoNLL-U."""

import re

from distsim.corpus.annotation import OUTSIDE

# An opening bracket with its fields, perhaps closed at once; or the end of a mention by id.
_PIECE = re.compile(r"\(([^()]+)(\)?)|([^()]+)\)")


class Mentions:
    """Open entity mentions, tracked from token to token.

    >>> mentions = Mentions()
    >>> mentions.innermost("(1-person-new(2-place-new)")
    'place'
    >>> mentions.innermost(None), mentions.innermost("1)"), mentions.innermost(None)
    ('person', 'person', 'o')
    """

    def __init__(self) -> None:
        self._open: list[tuple[str, str]] = []

    @property
    def open(self) -> bool:
        """Whether any mention is open."""
        return bool(self._open)

    def innermost(self, brackets: str | None) -> str:
        """Return the class of the innermost mention over the next token, `o` if there is none.

        brackets: the token's `Entity=` value, None where it has none. The class is the second
        field between hyphens.

        Raises:
            ValueError: the brackets do not match what is open, or a mention has no class.
        """
        if brackets is None:
            return self._open[-1][1] if self._open else OUTSIDE
        here: list[tuple[str, str]] = []  # mentions of this token alone
        ended = []
        place = 0
        for piece in _PIECE.finditer(brackets):
            if piece.start() != place:
                break
            place = piece.end()
            opened, closed, ends = piece.groups()
            if opened is None:
                ended.append(ends)
                continue
            fields = opened.split("-", 2)
            if len(fields) < 2 or not fields[1]:
                raise ValueError(f"the mention {opened!r} has no class: write (id-class-...")
            mention = (fields[0], fields[1])
            if closed:
                here.append(mention)
            else:
                self._open.append(mention)
        if place != len(brackets):
            raise ValueError(f"Entity={brackets} is not made of (id-class... and id): mend it")
        covering = here or self._open
        found = covering[-1][1] if covering else OUTSIDE
        for ends in ended:
            for number in range(len(self._open) - 1, -1, -1):
                if self._open[number][0] == ends:
                    del self._open[number]
                    break
            else:
                raise ValueError(f"{ends}) closes a mention that is not open: open it before")
        return found
