"""Wordy phrases and hard words, and the plain ones that say the same."""

from functools import cache
from importlib.resources import files

from distsim.corpus.inflections import Inflections

Words = tuple[str, ...]
_AS_IT_STANDS = "="


class PlainWords:
    """The list of distsim/data/plain/english.txt, which says how it is written.

    phrases: what is replaced as it stands, by first word: pairs of words, the longest first.
    """

    def __init__(self) -> None:
        self._inflections = Inflections.open()
        self._plain: dict[str, frozenset[str]] = {}
        self.phrases: dict[str, list[tuple[Words, Words]]] = {}
        path = files("distsim") / "data" / "plain" / "english.txt"
        for line in path.read_text("utf-8").splitlines():
            if line.startswith("#"):
                continue
            hard, plain = (tuple(side.split()) for side in line.split("\t"))
            if line.startswith(_AS_IT_STANDS):
                hard = (hard[0].removeprefix(_AS_IT_STANDS), *hard[1:])
                self.phrases.setdefault(hard[0], []).append((hard, plain))
            else:
                self._plain[hard[0]] = frozenset(plain)
        for pairs in self.phrases.values():
            pairs.sort(key=lambda pair: -len(pair[0]))

    @classmethod
    @cache
    def open(cls) -> "PlainWords":
        """Return the list, read once."""
        return cls()

    def is_plain(self, hard: str, word: str) -> bool:
        """Return whether a word is a form of a plain one for a hard one.

        Arguments:
            hard, word: in lower case.

        >>> PlainWords.open().is_plain("commenced", "began")
        True
        """
        bases = self._inflections.all_bases(word)
        listed = (self._plain.get(one, frozenset()) for one in self._inflections.all_bases(hard))
        return any(not plain.isdisjoint(bases) for plain in listed)
