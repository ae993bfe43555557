"""A sentence, perhaps with its tree -> labels of its spans, and what may be left out of it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from distsim.corpus.escapes import unescape
from distsim.corpus.trees import Tree, TreeReader
from distsim.errors import ParameterError
from distsim.extraction.labels import written_label

CONSTITUENTS = ("ADVP", "PP", "SBAR", "PRN")
TAGS = {"RB": "RB", "RBR": "RB", "RBS": "RB", "DT": "DT", "JJ": "JJ", "JJR": "JJ", "JJS": "JJ"}
WORD, BRACKETS, COMMAS = "word", "brackets", "commas"
PHRASE, END = "phrase", "end"
DELETED_KINDS = (WORD, BRACKETS, COMMAS, "RB", "DT", "JJ", *CONSTITUENTS, PHRASE, END)

_OPEN, _CLOSED = "(", ")"
_PAIRS = ((_OPEN, _CLOSED), ("[", "]"), ("{", "}"))
_ENDS = frozenset((".", "!", "?", ";", ":"))
_reader = TreeReader()

Span = tuple[int, int]


class Deletion(NamedTuple):
    """Tokens start..stop that may be left out, and what they are: one of DELETED_KINDS."""

    start: int
    stop: int
    kind: str


class Sentence:
    """A sentence's tokens, as they were written, with the labels of its spans.

    plain: the tokens with brackets and quotation marks as plain text has them; escapes: how this
    sentence writes those, `(` to `-lrb-`. labels: for each span (start, stop) all that the tree
    calls it, sums and parts of constituents too.

    >>> sentence = Sentence("the old king slept", "(S (NP (DT the) (JJ old) (NN king)) (VP slept))")
    >>> sorted(sentence.labels[0, 2]), sorted(sentence.labels[1, 3])
    (['DT+JJ', 'NP/NN'], ['JJ+NN', 'NP\\\\DT'])
    >>> list(sentence.deletions(3))
    [Deletion(start=0, stop=1, kind='DT'), Deletion(start=1, stop=2, kind='JJ')]
    """

    def __init__(self, text: str, tree: Tree | str | None = None) -> None:
        self.tokens = text.split()
        self.plain = [unescape(token) for token in self.tokens]
        self.escapes = {
            plain: token
            for token, plain in zip(self.tokens, self.plain, strict=True)
            if token != plain
        }
        for opened, closed in _PAIRS:  # where one of a pair is escaped, so is the other
            if opened in self.escapes or closed in self.escapes:
                known = self.escapes.get(opened) or self.escapes[closed]
                for plain, letter in ((opened, "l"), (closed, "r")):
                    self.escapes.setdefault(plain, known[0] + letter + known[2:])
        if isinstance(tree, str):
            try:
                tree = _reader.parse(tree) if tree.strip() else None
            except ValueError as error:
                raise ParameterError(f"the tree is broken: {error}") from None
        self.tree = tree
        self.labels: dict[Span, set[str]] = {}
        if tree is None:
            return
        if len(tree.leaves) != len(self.tokens):
            raise ParameterError(
                f"the tree has {len(tree.leaves)} words, the sentence {len(self.tokens)}: give "
                "the tree of this sentence, or an empty line"
            )
        self.labels = _labels(tree)

    def __len__(self) -> int:
        return len(self.tokens)

    def deletions(self, longest: int, *, shortens: bool = False) -> Iterator[Deletion]:
        """Yield what may be left out, of `longest` tokens at most, never all of the sentence.

        With a tree: adverbs, determiners, adjectives, and the constituents ADVP, PP, SBAR, PRN,
        with the comma before them. Without one: every word. In any case what stands in brackets
        or between commas.
        shortens: also every other word and constituent, and the end of the sentence from any
        word on, but its last mark, so that every length can be had.

        >>> some = Sentence("he saw her .").deletions(4, shortens=True)
        >>> [(one.start, one.stop) for one in some if one.kind == END]
        [(1, 3)]
        """
        n = len(self)
        seen: set[Span] = set()
        for one in chain(self._deletions(), self._more_deletions() if shortens else ()):
            span = one.start, one.stop
            size = one.stop - one.start
            if 0 < size <= longest and size < n and span not in seen:
                seen.add(span)
                yield one

    def _more_deletions(self) -> Iterator[Deletion]:
        end = len(self) - (len(self) > 1 and self.plain[-1] in _ENDS)
        for i in range(len(self)):
            yield Deletion(i, i + 1, WORD)
        for start, stop, _ in self.tree.nodes if self.tree is not None else ():
            yield Deletion(start, stop, PHRASE)
        for i in range(1, end):
            yield Deletion(i, end, END)

    def _deletions(self) -> Iterator[Deletion]:
        plain, n = self.plain, len(self)
        if self.tree is None:
            for i, word in enumerate(plain):
                if any(character.isalnum() for character in word):
                    yield Deletion(i, i + 1, WORD)
        else:
            for i, tag in enumerate(self.tree.tags):
                if tag in TAGS:
                    yield Deletion(i, i + 1, TAGS[tag])
            for start, stop, label in self.tree.nodes:
                if label in CONSTITUENTS:
                    yield Deletion(start, stop, label)
                    after = plain[stop] if stop < n else "."
                    if start and plain[start - 1] == "," and (after == "," or after in _ENDS):
                        yield Deletion(start - 1, stop, label)
                    if start == 0 and after == ",":
                        yield Deletion(start, stop + 1, label)
        opened: list[int] = []
        for i, word in enumerate(plain):
            if word == _OPEN:
                opened.append(i)
            elif word == _CLOSED and opened:
                yield Deletion(opened.pop(), i + 1, BRACKETS)
        commas = [i for i, word in enumerate(plain) if word == ","]
        end = n - 1 if n and plain[-1] in _ENDS else n
        for place, i in enumerate(commas):
            if place + 1 < len(commas):
                yield Deletion(i, commas[place + 1] + 1, COMMAS)
                yield Deletion(i, commas[place + 1], COMMAS)
            yield Deletion(i, end, COMMAS)
        if commas:
            yield Deletion(0, commas[0] + 1, COMMAS)


def _labels(tree: Tree) -> dict[Span, set[str]]:
    """Return every label of every span: X, X/Y, X\\Y, X+Y and X+Y+Z (thesis 3.2.2)."""
    plain: dict[Span, set[str]] = defaultdict(set)
    for start, stop, label in tree.nodes:
        plain[start, stop].add(written_label(label))
    from_start: dict[int, list[tuple[int, str]]] = defaultdict(list)
    to_stop: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for (start, stop), names in plain.items():
        from_start[start] += [(stop, name) for name in sorted(names)]
        to_stop[stop] += [(start, name) for name in sorted(names)]
    labels: dict[Span, set[str]] = defaultdict(set)
    for (start, stop), names in plain.items():
        labels[start, stop] |= names
        for name in names:
            for inner, part in to_stop[stop]:
                if inner > start:
                    labels[start, inner].add(f"{name}/{part}")
            for inner, part in from_start[start]:
                if inner < stop:
                    labels[inner, stop].add(f"{name}\\{part}")
            for end, second in from_start[stop]:
                labels[start, end].add(f"{name}+{second}")
                for last, third in from_start[end]:
                    labels[start, last].add(f"{name}+{second}+{third}")
    return dict(labels)


def tokens_of(words: Sequence[str]) -> frozenset[str]:
    """Return words as they are compared with tokens: in lower case."""
    return frozenset(word.lower() for word in words)
