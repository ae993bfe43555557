"""Operations without a rule: splits, parts left out or said plainer, and other orders of parts."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from distsim.base.arguments import Words, word_set
from distsim.corpus.annotation import Tree
from distsim.corpus.inflections import Inflections
from distsim.grammar.extraction.linked_text import Span

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

        >>> PlainWords.open().is_plain("commenced", "began")
        True
        """
        bases = self._inflections.all_bases(word)
        listed = (self._plain.get(base, frozenset()) for base in self._inflections.all_bases(hard))
        return any(not plain.isdisjoint(bases) for plain in listed)


LINKER, ADVERB, APPOSITION = "linker", "adverb", "apposition"
SPLIT, PLAINER = "split", "plainer"
MARK = "."  # between the sentences of a split
ENDS = frozenset((MARK, "!", "?", ";", ":"))
_SHORTEST = 3  # words of a sentence
_LONGEST_NAME = 4  # words of an apposition that is known by its first word


# English words. Without these a sentence says the same in fewer words.
_LINKERS = tuple(
    tuple(words.split())
    for words in (
        "however", "moreover", "furthermore", "in addition", "additionally", "therefore", "thus",
        "consequently", "as a result", "in fact", "indeed", "of course", "hence", "nevertheless",
        "nonetheless", "also", "likewise", "accordingly", "in turn", "finally",
    )
)  # fmt: skip
# Without short ones such as *also* and *very*: their sentence is not simpler.
_MILD = word_set(
    "actually certainly commonly completely considerably currently entirely especially "
    "essentially eventually extremely formally fully greatly highly merely officially particularly "
    "quite relatively significantly simply specifically subsequently successfully therefore widely"
)
# A mild adverb stays behind and before these.
_HOLDING = word_set("not n't as so too more most less how no nor only the and or , by since until")
_JOINING = word_set("and or but than as to")
_NAMING = (("also", "known", "as"), ("known", "as"), ("also", "called"), ("called",), ("or",))
_FINITE = word_set(
    "is are was were has had have can could will would may might must do does did became"
)
_PLURAL = ("are", "were", "have", "do")
_VERBAL = ("es", "ts", "ns", "ds", "rs", "ks", "ed")  # of a verb behind `which`
_SUBJECTS = word_set("i you it he she we they there this these")
_BEGINNINGS = _SUBJECTS | word_set("the a an his her its their our those some most many")
_CONJUNCTIONS = {"and": (MARK,), "but": (MARK, "but")}
_SOON = 7  # words, among which a clause has its verb
_RESULTS = {
    "making": ("makes", "made"), "causing": ("causes", "caused"), "giving": ("gives", "gave"),
    "allowing": ("allows", "allowed"), "leading": ("leads", "led"), "leaving": ("leaves", "left"),
    "resulting": ("results", "resulted"), "forcing": ("forces", "forced"),
    "creating": ("creates", "created"),
}  # fmt: skip
_PRESENT, _PAST = word_set("is are has have can will may does do"), word_set("was were had did")
_SUBORDINATE = word_set("if when after although though because while since as once")
_CONTRASTS = ("while", "whereas")
_CLAUSE, _NOUNS = "S", "NP"
_DETERMINERS = ("DT", "PRP$")


class Operation(NamedTuple):
    """Tokens start..stop that may be deleted or replaced.

    kind: `split`, `plainer`, or one of the kinds of deletions. instead: the words of the former.
    """

    start: int
    stop: int
    kind: str
    instead: tuple[str, ...] = ()


def operations(words: Sequence[str], tree: Tree | None) -> Iterator[Operation]:
    """Yield the operations of a sentence; with a tree also those that its constituents tell.

    Arguments:
        words: its tokens in lower case, with brackets as plain text has them.
        tree: of the same tokens.

    >>> words = "however , it rained , and he actually slept .".split()
    >>> for one in operations(words, None):
    ...     print(one.kind, words[one.start : one.stop], *one.instead)
    linker ['however', ',']
    adverb ['actually']
    split [',', 'and'] .
    """
    for i in range(len(words)):
        yield from _linkers(words, i)
        if _is_mild(words, i):
            yield Operation(i, i + 1, ADVERB)
        yield from _named_again(words, i)
        yield from _plainer(words, i)
    yield from _splits(words)
    if tree is not None:
        yield from _tree_operations(words, tree)


def _linkers(words: Sequence[str], i: int) -> Iterator[Operation]:
    """Yield a linker with its comma at position i, or with both commas around."""
    begins = i == 0 or words[i - 1] == ";"
    if not begins and words[i] != ",":
        return
    first = i if begins else i + 1
    for linker in _LINKERS:
        stop = first + len(linker)
        if tuple(words[first:stop]) == linker and words[stop : stop + 1] == [","]:
            yield Operation(i, stop + 1, LINKER)


def _is_mild(words: Sequence[str], i: int) -> bool:
    """Return whether the word at position i is an adverb that says little there."""
    if words[i] not in _MILD or not 0 < i < len(words) - 1:
        return False
    before, after = words[i - 1], words[i + 1]
    return before not in _HOLDING and after[0].isalpha() and after not in _JOINING


def _named_again(words: Sequence[str], i: int) -> Iterator[Operation]:
    """Yield a second name between commas: `, also known as X ,`, `, or X , is`."""
    if words[i] != ",":
        return
    for naming in _NAMING:
        first = i + 1 + len(naming)
        if tuple(words[i + 1 : first]) != naming or "," not in words[first:]:
            continue
        stop = list(words).index(",", first)
        name, after = words[first:stop], words[stop + 1 : stop + 2]
        plain = len(name) <= _LONGEST_NAME and not _JOINING.intersection(name)
        if plain and after and (naming != ("or",) or after[0] in _FINITE):
            yield Operation(i, stop + 1, APPOSITION)
        return


def _plainer(words: Sequence[str], i: int) -> Iterator[Operation]:
    """Yield what is said plainer at position i."""
    for wordy, plain in PlainWords.open().phrases.get(words[i], ()):
        stop = i + len(wordy)
        if tuple(words[i:stop]) == wordy:
            yield Operation(i, stop, PLAINER, plain)
            return


def _splits(words: Sequence[str]) -> Iterator[Operation]:
    """Yield where one clause ends and another begins."""
    for i in range(1, len(words) - 2):
        left, after = words[:i], words[i + 1]
        if words[i] not in (",", ";") or not _is_whole(left):
            continue
        if words[i] == ";":
            if words.count(";") == 1 and _FINITE.intersection(words[i:]):
                yield Operation(i, i + 1, SPLIT, (MARK,))
        elif after in _CONJUNCTIONS and _starts_clause(words[i + 2 :]):
            yield Operation(i, i + 2, SPLIT, _CONJUNCTIONS[after])
        elif after in _RESULTS and words[-1] == MARK and "," not in words[i + 1 :]:
            is_past = _PRESENT.isdisjoint(left) or not _PAST.isdisjoint(left)
            yield Operation(i, i + 2, SPLIT, (MARK, "this", _RESULTS[after][is_past]))
        elif after == "which" and words[-1] == MARK:
            said = words[i + 2]
            closed = "," not in words[i + 2 :] or _FINITE.intersection(left)
            if closed and ";" not in words and (said in _FINITE or said.endswith(_VERBAL)):
                pronoun = "these" if said in _PLURAL else "this"
                yield Operation(i, i + 2, SPLIT, (MARK, pronoun))
        elif after in _CONTRASTS and words[i + 2] in _BEGINNINGS and _FINITE.intersection(left):
            yield Operation(i, i + 2, SPLIT, (MARK,))


def _starts_clause(words: Sequence[str]) -> bool:
    """Return whether words begin with a subject and, soon after, a verb."""
    soon = words[1:_SOON]
    return words[0] in _SUBJECTS or (
        words[0] in _BEGINNINGS and "," not in soon and not _FINITE.isdisjoint(soon)
    )


def _is_whole(left: Sequence[str]) -> bool:
    """Return whether words before a split can be a sentence."""
    closed = left.count("(") == left.count(")") and left.count('"') % 2 == 0
    return closed and len(left) >= _SHORTEST and ":" not in left and left[0] not in _SUBORDINATE


def _tree_operations(words: Sequence[str], tree: Tree) -> Iterator[Operation]:
    """Yield described names, `the film , a comedy ,`, and splits between whole clauses."""
    spans = {(start, stop, label) for start, stop, label in tree.nodes}
    end = len(words) - (words[-1] in ENDS)
    starts = {stop: start for start, stop, label in spans if label == _NOUNS}
    for start, stop, label in tree.nodes:
        inner = start - 1  # of the comma before
        if label == _NOUNS and inner in starts and words[inner] == ",":
            closed = words[stop : stop + 1] == [","]
            whole = any((starts[inner], stop + more, _NOUNS) in spans for more in (0, 1))
            tags = tree.tags[start:stop]
            described = tags[0] in _DETERMINERS and not tree.leaves[start][0].isupper()
            if whole and (closed or stop >= end) and described and "CC" not in tags:
                yield Operation(inner, stop + closed, APPOSITION)
        if label == _CLAUSE and stop in (end, len(words)) and start > 1:
            joint = start - (words[start - 1] in _CONJUNCTIONS)
            comma = joint - (words[joint - 1] in (",", ";"))
            subject = any((start, place, _NOUNS) in spans for place in range(start + 1, stop))
            if subject and comma < start and (0, comma, _CLAUSE) in spans:
                instead = _CONJUNCTIONS.get(words[start - 1], (MARK,))
                yield Operation(comma, start, SPLIT, instead)


CONSTRUCTIONS = ("possessive", "dative", "partitive", "active")
_GAP = re.compile(r"\[([^\s\],]+),([1-9])(?::(subject|object))?\]((?:-\w+)*)")
_CLASS, _DIGITS = "%", "#"
_OBJECT_OF = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them", "who": "whom"}
_SUBJECT_OF = {
    of_object: "I" if subject == "i" else subject for subject, of_object in _OBJECT_OF.items()
}
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
    >>> [" ".join(operation.instead) for operation in Constructions.open().operations(parsed)]
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

    def operations(self, parsed: ParsedWords) -> Iterator[Operation]:
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
                    instead = self._replacement(rule.target, bound, span, parsed)
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
        last_stop = min(stop - len(rest), start + (symbol.longest or stop))
        for middle in range(start + 1, last_stop + 1):
            fits = symbol.label in parsed.labels.get((start, middle), ())
            last = parsed.words[middle - 1]
            if fits and not any(self._is(last, excluded) for excluded in symbol.without):
                for bound in self._matches(rest, (middle, stop), parsed):
                    yield {symbol.number: (start, middle), **bound}

    def _is(self, word: str, symbol: str) -> bool:
        if not symbol.startswith(_CLASS):
            return word == symbol
        words = self._classes[symbol]
        return word in words or (_DIGITS in words and any(map(str.isdigit, word)))

    def _replacement(
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
    symbols: list[str | _Gap] = []
    for symbol in side.split():
        gap = _GAP.fullmatch(symbol)
        if gap is None:
            symbols.append(symbol)
            continue
        limits = [limit for limit in gap[4].split("-") if limit]
        without = tuple(_CLASS + limit for limit in limits if not limit.isdecimal())
        longest = sum(int(limit) for limit in limits if limit.isdecimal())
        symbols.append(_Gap(gap[1], int(gap[2]), gap[3] or "", without, longest))
    return tuple(symbols)
