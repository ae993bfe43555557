"""Constructions with another order of their parts: possessive, dative, partitive, active voice.

The rules have gaps and labels, as those of thesis tables 3.2 and 3.3, and are matched with trees.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from distsim.grammar.extraction.labels import Span
from distsim.paraphrase.rewriting.operations import Operation

CONSTRUCTIONS = ("possessive", "dative", "partitive", "active")
_GAP = re.compile(r"\[([^\s\],]+),([1-9])(?::(subject|object))?\]((?:-\w+)*)")
_CLASS, _DIGITS = "%", "#"
_OBJECT_OF = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them", "who": "whom"}
_SUBJECT_OF = {of_object: "I" if one == "i" else one for one, of_object in _OBJECT_OF.items()}
_FORMS = {"subject": _SUBJECT_OF, "object": _OBJECT_OF}
_CASED = frozenset((*_OBJECT_OF, *_OBJECT_OF.values()))
_NAMES = ("NNP", "NNPS")


class _Gap(NamedTuple):
    """A gap; form: of a pronoun in a target, or "".

    without: classes of words that it cannot end with. longest: number of words, 0 for any.
    """

    label: str
    number: int
    form: str
    without: tuple[str, ...]
    longest: int


class _Construction(NamedTuple):
    """A rule; symbols are gaps, words, and names of classes behind %."""

    kind: str
    label: str
    source: tuple[str | _Gap, ...]
    target: tuple[str | _Gap, ...]


class ParsedWords(NamedTuple):
    """A sentence: its tokens, in lower case as plain text has them, tags, labels, constituents."""

    tokens: Sequence[str]
    words: Sequence[str]
    tags: Sequence[str]
    labels: Mapping[Span, set[str]]
    constituents: Sequence[Span]

    def is_crossed(self, span: Span) -> bool:
        """Return whether a constituent has a part of a span alone, and words outside it."""
        start, stop = span
        return any(a < start < b < stop or start < a < stop < b for a, b in self.constituents)


class Constructions:
    """The rules of distsim/data/constructions/english.txt, which says how it is written.

    >>> words = "she gave him a book".split()
    >>> labels = {(1, 5): {"VP"}, (2, 3): {"NP"}, (3, 5): {"NP"}}
    >>> parsed = ParsedWords(words, words, ["PRP", "VBD", "PRP", "DT", "NN"], labels, [])
    >>> [" ".join(one.instead) for one in Constructions.open().found(parsed)]
    ['gave a book to him']
    """

    def __init__(self) -> None:
        self._classes: dict[str, dict[str, str]] = defaultdict(dict)
        self._rules: list[_Construction] = []
        path = files("distsim") / "data" / "constructions" / "english.txt"
        for line in path.read_text("utf-8").splitlines():
            if line.startswith("#"):
                continue
            first, *rest = line.split("\t")
            if first.startswith(_CLASS):
                for word in rest[0].split():
                    before, _, after = word.partition("=")
                    self._classes[first][before] = after or before
                continue
            label, source, target = rest
            self._rules.append(_Construction(first, label, _symbols(source), _symbols(target)))

    @classmethod
    @cache
    def open(cls) -> "Constructions":
        """Return the rules, read once."""
        return cls()

    def found(self, parsed: ParsedWords) -> Iterator[Operation]:
        """Yield what the constructions of a sentence become, in order of the rules and places."""
        spans: dict[str, list[Span]] = defaultdict(list)
        for span in sorted(parsed.labels):
            for label in parsed.labels[span]:
                spans[label].append(span)
        for rule in self._rules:
            for span in spans[rule.label]:
                if parsed.is_crossed(span):
                    continue
                for bound in self._matches(rule.source, span, parsed):
                    instead = self._said(rule.target, bound, span, parsed)
                    yield Operation(*span, rule.kind, tuple(instead))

    def _matches(
        self, source: Sequence[str | _Gap], span: Span, parsed: ParsedWords
    ) -> Iterator[dict[str | int, Span]]:
        """Yield where the symbols of a source side are that cover a span: by class or gap."""
        start, stop = span
        if not source:
            if start == stop:
                yield {}
            return
        symbol, rest = source[0], source[1:]
        if isinstance(symbol, str):
            if start < stop and self._is(parsed.words[start], symbol):
                for bound in self._matches(rest, (start + 1, stop), parsed):
                    yield {symbol: (start, start + 1), **bound}
            return
        most = min(stop - len(rest), start + (symbol.longest or stop))
        for middle in range(start + 1, most + 1):
            fits = symbol.label in parsed.labels.get((start, middle), ())
            last = parsed.words[middle - 1]
            if fits and not any(self._is(last, one) for one in symbol.without):
                for bound in self._matches(rest, (middle, stop), parsed):
                    yield {symbol.number: (start, middle), **bound}

    def _is(self, word: str, symbol: str) -> bool:
        if not symbol.startswith(_CLASS):
            return word == symbol
        words = self._classes[symbol]
        return word in words or (_DIGITS in words and any(map(str.isdigit, word)))

    def _said(
        self,
        target: Sequence[str | _Gap],
        bound: Mapping[str | int, Span],
        span: Span,
        parsed: ParsedWords,
    ) -> Iterator[str]:
        """Yield the words of a target side."""
        for symbol in target:
            start, stop = bound.get(symbol.number if isinstance(symbol, _Gap) else symbol, (0, 0))
            if isinstance(symbol, str):
                word = parsed.words[start]
                put = self._classes[symbol][word] if symbol.startswith(_CLASS) else symbol
                yield parsed.tokens[start] if put == word and start else put
                continue
            said = list(parsed.tokens[start:stop])
            if start == span[0] == 0 and parsed.tags[0] not in _NAMES and said[0] != "I":
                said[0] = said[0][0].lower() + said[0][1:]
            if len(said) == 1 and symbol.form:
                said = [_FORMS[symbol.form].get(said[0].lower(), said[0])]
            yield from said


def is_odd_gap(word: str) -> bool:
    """Return whether a word alone is a pronoun with a form of its own for subjects, or a number.

    >>> [is_odd_gap(word) for word in ("Him", "it", "1990")]
    [True, False, True]
    """
    return word.lower() in _CASED or word.isdecimal()


def _symbols(side: str) -> tuple[str | _Gap, ...]:
    """Return the symbols of a side."""
    found: list[str | _Gap] = []
    for symbol in side.split():
        gap = _GAP.fullmatch(symbol)
        if gap is None:
            found.append(symbol)
            continue
        limits = [one for one in gap[4].split("-") if one]
        without = tuple(_CLASS + one for one in limits if not one.isdecimal())
        longest = sum(int(one) for one in limits if one.isdecimal())
        found.append(_Gap(gap[1], int(gap[2]), gap[3] or "", without, longest))
    return tuple(found)
