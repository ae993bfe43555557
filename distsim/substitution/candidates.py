"""A target -> what might stand in its place: neighbours of its signature, rules of a grammar."""

from collections.abc import Iterable

from distsim.nearest import NeighbourSearch
from distsim.signatures.table import SignatureTable
from distsim.substitution.inflections import Forms

Words = tuple[str, ...]
NEIGHBOURS = 200
_LONGEST = 3


class NeighbourCandidates:
    """The phrases whose bits are nearest to the target's, and to its base form's."""

    def __init__(self, table: SignatureTable, forms: Forms, most: int = NEIGHBOURS) -> None:
        lengths = range(1, min(_LONGEST, table.longest) + 1)
        self._search = NeighbourSearch(table, lengths=lengths)
        self._forms = forms
        self._most = most

    def of(self, target: Words) -> list[Words]:
        """Return the nearest phrases, each once, nearest first."""
        focal = {" ".join(target): None}
        if len(target) == 1:
            focal[self._forms.base(target[0])] = None
        found: dict[Words, None] = {}
        for phrase in focal:
            for near in self._search.nearest(phrase, self._most) or ():
                found[tuple(near.phrase.split(" "))] = None
        return list(found)


def as_bases(target: Words, candidates: Iterable[Words], forms: Forms) -> list[Words]:
    """Return candidates with single words as base words, each once, in their order.

    The target, its forms and what holds one of them are left out.
    """
    own = {target, *forms.of_phrase(target)}
    if len(target) == 1:
        own |= {(form,) for form in forms.of_word(forms.base(target[0]))}
    kept: dict[Words, None] = {}
    for words in candidates:
        if len(words) == 1:
            words = (forms.base(words[0]),)
        if not any(_holds(words, one) for one in own):
            kept[words] = None
    return list(kept)


def _holds(words: Words, part: Words) -> bool:
    return any(words[at : at + len(part)] == part for at in range(len(words) - len(part) + 1))
