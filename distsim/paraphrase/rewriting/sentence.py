"""Sentences with labels of their spans, and the operations that are possible in them."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, pairwise

from distsim.base.errors import ParameterError, counted
from distsim.corpus.annotation import Tree, TreeReader
from distsim.corpus.normaliser import unescape
from distsim.grammar.extraction.linked_text import Span, labels_of_spans
from distsim.paraphrase.rewriting import rewriting_features
from distsim.paraphrase.rewriting.operations import (
    ADVERB,
    APPOSITION,
    CONSTRUCTIONS,
    ENDS,
    LINKER,
    Constructions,
    Operation,
    ParsedWords,
    operations,
)

CONSTITUENTS = ("ADVP", "PP", "SBAR", "PRN")
TAGS = {"RB": "RB", "RBR": "RB", "RBS": "RB", "DT": "DT", "JJ": "JJ", "JJR": "JJ", "JJS": "JJ"}
WORD, BRACKETS, COMMAS = "word", "brackets", "commas"
PHRASE, END = "phrase", "end"
PHRASES = ("NP", "VP", "S", "ADJP")  # those of their own kind where a length is asked for
DELETED_KINDS = (
    WORD, BRACKETS, COMMAS, LINKER, ADVERB, APPOSITION, "RB", "DT", "JJ", *CONSTITUENTS, *PHRASES,
    PHRASE, END,
)  # fmt: skip
LONG_KINDS = (BRACKETS, APPOSITION, LINKER)  # may be longer than the search's spans
PLAIN_WORD, OTHER = "word", "other"
COMMA, MARK, NUMBER = ",", ".", "CD"
_TAGS_ALIKE = {
    "NN": "NN NNS", "NNP": "NNP NNPS", "VB": "VB", "VBD": "VBD", "VBG": "VBG", "VBN": "VBN",
    "VBZ": "VBZ VBP", "MD": "MD", "JJ": "JJ JJR JJS", "RB": "RB RBR RBS RP", "IN": "IN",
    "TO": "TO", "DT": "DT PDT", "PRP": "PRP EX", "PRP$": "PRP$", "WDT": "WDT WP WP$ WRB",
    NUMBER: "CD LS", "CC": "CC", COMMA: ",", MARK: ".",
}  # fmt: skip
_KIND_OF_TAG = {tag: kind for kind, tags in _TAGS_ALIKE.items() for tag in tags.split()}
DROPPED_KINDS = (*_TAGS_ALIKE, PLAIN_WORD, OTHER)
_LEADS_ON = frozenset(("DT", "IN", "TO", "CC", "PRP$", COMMA))
# English words that need another one behind them.
_LEADING = (
    "a an the my our your his their its every no of in on at by for with from to into than as "
    "between against through during before after and or but nor because if while whether be is are "
    "am was were been being has have had will would shall should can could may might must 'm 're "
    "'ve 'll 'd very"
)
_NEEDS_MORE = frozenset(_LEADING.split())
_NEGATIONS = frozenset(("not", "n't", "no", "never", "nor", "neither"))
_NOT = re.compile(r"(.*[a-z])(n)('t)", re.I)  # a verb, with its negation as one or two tokens
_CLAUSES = ("S", "SINV", "SQ")

_OPEN, _CLOSED = "(", ")"
_DASHES = frozenset(("—", "--"))
_ITEM_DIGITS = 3  # of an item's number; a year has four
_PAIRS = ((_OPEN, _CLOSED), ("[", "]"), ("{", "}"))
_reader = TreeReader()


def with_negations_cut(words: Sequence[str], before_n: bool) -> list[str]:
    """Return words with the negation of each verb that is two of them cut in one way.

    Arguments:
        words: of a sentence, plain.
        before_n: as the Penn Treebank cuts it; otherwise at the apostrophe, as other text is cut.

    >>> with_negations_cut(["I", "don", "'t", "or", "ca", "n't"], before_n=True)
    ['I', 'do', "n't", 'or', 'ca', "n't"]
    >>> with_negations_cut(["ca", "n't"], before_n=False)
    ['can', "'t"]
    """
    cut = list(words)
    for at, (left, right) in enumerate(pairwise(words)):
        if right[-2:].lower() == "'t" and (verb := _NOT.fullmatch(left + right)):
            cut[at : at + 2] = (
                [verb[1], verb[2] + verb[3]] if before_n else [verb[1] + verb[2], verb[3]]
            )
    return cut


def _is_negation(word: str) -> bool:
    return word.lower() in _NEGATIONS or _NOT.fullmatch(word) is not None


class LabelledSentence:
    """A sentence: its tokens as written, and the labels of its spans.

    plain: the tokens with brackets and quotation marks as plain text has them, apostrophes
    straight and negations cut as in the Penn Treebank; escapes: how this
    sentence writes those, `(` to `-lrb-`. labels: for each span (start, stop) all that the tree
    calls it, sums and parts of constituents too.

    Arguments:
        text: tokens separated by spaces.
        tree: its bracketed tree; None or empty: none.

    >>> tree = "(S (NP (DT the) (JJ old) (NN king)) (VP slept))"
    >>> sentence = LabelledSentence("the old king slept", tree)
    >>> sorted(sentence.labels[0, 2]), sorted(sentence.labels[1, 3])
    (['DT+JJ', 'NP/NN'], ['JJ+NN', 'NP\\\\DT'])
    >>> [(one.start, one.stop, one.kind) for one in sentence.operations(3)]
    [(0, 1, 'DT'), (1, 2, 'JJ')]
    """

    def __init__(self, text: str, tree: Tree | str | None = None) -> None:
        self.tokens = text.split()
        unescaped = [unescape(token) for token in self.tokens]
        straight = [word.replace("’", "'") if len(word) > 1 else word for word in unescaped]
        self.plain = with_negations_cut(straight, before_n=True)
        self.escapes = {
            plain: token
            for token, plain in zip(self.tokens, unescaped, strict=True)
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
                f"the tree has {counted(len(tree.leaves), 'word')}, the sentence "
                f"{len(self.tokens)}: give "
                "the tree of this sentence, or an empty line"
            )
        self.labels = labels_of_spans(tree)

    def __len__(self) -> int:
        return len(self.tokens)

    def operations(self, longest: int, *, shortens: bool = False) -> Iterator[Operation]:
        """Yield the possible splits, and deletions of at most `longest` tokens, never of all.

        With a tree: adverbs, determiners, adjectives, and the constituents ADVP, PP, SBAR, PRN,
        with the comma before them, appositions, splits between clauses, and constructions. Without
        one: every word. In any case what is in brackets or between commas, and what `operations`
        tells.

        Arguments:
            longest: maximum length in tokens; what is in brackets, a second name and a linker may
                be longer.
            shortens: no splits, but also every other word and constituent, and the end of the
                sentence from any word on, but its last mark, so that every length can be had.

        >>> some = LabelledSentence("he saw her .").operations(4, shortens=True)
        >>> [(one.start, one.stop) for one in some if one.kind == END]
        [(1, 3)]
        """
        n = len(self)
        seen: set[Span] = set()
        words = [word.lower() for word in self.plain]
        sources = [operations(words, self.tree), self._deletions(), self._constructions(words)]
        if shortens:
            sources = [self._deletions(), self._more_deletions()]
        for operation in chain(*sources):
            span = operation.start, operation.stop
            size = operation.stop - operation.start
            fits = size <= longest or operation.kind in LONG_KINDS
            if operation.kind in CONSTRUCTIONS:
                if fits:
                    yield operation
            elif 0 < size < n and fits and span not in seen:
                seen.add(span)
                yield operation

    def told_of(self, operation: Operation) -> dict[str, float]:
        """Return the features of a deletion where a length is wanted, by name.

        >>> tree = "(S (NP (DT the) (NN king)) (VP (VBD slept)) (. .))"
        >>> sorted(LabelledSentence("the king slept .", tree).told_of(Operation(1, 3, "phrase")))
        ['AtEnd', 'CutOff', 'Dropped(NN)', 'Dropped(VBD)', 'Hanging', 'Torn']
        >>> sorted(LabelledSentence("the king slept .", tree).told_of(Operation(0, 2, "NP")))
        ['AtStart', 'Dropped(DT)', 'Dropped(NN)', 'LostSubject']
        >>> sorted(LabelledSentence("they do not sleep").told_of(Operation(2, 3, "word")))
        ['Dropped(word)', 'LostNegation']
        """
        counts: dict[str, float] = {}
        for kind in self._kinds[operation.start : operation.stop]:
            name = rewriting_features.dropped(kind)
            counts[name] = counts.get(name, 0.0) + 1.0
        torn = sum(
            operation.start < start < operation.stop < stop
            or start < operation.start < stop < operation.stop
            for start, stop in self._nodes
        )
        last = len(self) - (self.plain[-1] in ENDS)
        facts = (
            torn,
            operation.start > 0 and self._kinds[operation.start - 1] in _LEADS_ON,
            operation.start == 0,
            operation.start < last <= operation.stop,
            operation.start > 0
            and self.plain[operation.start - 1].lower() in _NEEDS_MORE
            and (operation.stop == len(self) or self.plain[operation.stop] in (COMMA, *ENDS)),
            operation.stop - operation.start <= 2
            and any(map(_is_negation, self.plain[operation.start : operation.stop])),
            any(operation.start <= a and b <= operation.stop < end for a, b, end in self._subjects),
        )
        flags = zip(rewriting_features.OF_DELETIONS, facts, strict=True)
        return counts | {name: float(fact) for name, fact in flags if fact}

    @cached_property
    def _nodes(self) -> list[Span]:
        nodes = self.tree.nodes if self.tree is not None else []
        return [(node.start, node.stop) for node in nodes if node.stop - node.start > 1]

    @cached_property
    def _subjects(self) -> list[tuple[int, int, int]]:
        """Where the subject of each clause begins and ends, and its predicate ends."""
        clauses = []
        nodes = self.tree.nodes if self.tree is not None else []
        for number, (start, stop, label) in enumerate(nodes):
            subject, end = None, start
            for part in nodes[number + 1 :] if label in _CLAUSES else ():
                if part.start >= stop or (part.label == "VP" and part.start >= end):
                    if subject and part.start < stop:
                        clauses.append((subject.start, subject.stop, part.stop))
                    break
                if part.start >= end:  # a child of the clause
                    end = part.stop
                    subject = part if part.label == "NP" else subject
        return clauses

    @cached_property
    def _kinds(self) -> list[str]:
        """The kind of every token, by its tag or, without a tree, by its characters."""
        if self.tree is not None:
            return [_KIND_OF_TAG.get(tag, OTHER) for tag in self.tree.tags]
        return [
            COMMA if word == COMMA else MARK if word in ENDS
            else NUMBER if any(map(str.isdigit, word)) else PLAIN_WORD
            for word in self.plain
        ]  # fmt: skip

    def _constructions(self, words: Sequence[str]) -> Iterator[Operation]:
        if self.tree is not None:
            nodes = [(node.start, node.stop) for node in self.tree.nodes]
            parsed = ParsedWords(self.tokens, words, self.tree.tags, self.labels, nodes)
            yield from Constructions.open().operations(parsed)

    def _more_deletions(self) -> Iterator[Operation]:
        end = len(self) - (len(self) > 1 and self.plain[-1] in ENDS)
        for i in range(len(self)):
            yield Operation(i, i + 1, WORD)
        for start, stop, label in self.tree.nodes if self.tree is not None else ():
            yield Operation(start, stop, label if label in PHRASES else PHRASE)
        for i in range(1, end):
            yield Operation(i, end, END)

    def _deletions(self) -> Iterator[Operation]:
        plain, n = self.plain, len(self)
        if self.tree is None:
            for i, word in enumerate(plain):
                if any(character.isalnum() for character in word):
                    yield Operation(i, i + 1, WORD)
        else:
            for i, tag in enumerate(self.tree.tags):
                if tag in TAGS:
                    yield Operation(i, i + 1, TAGS[tag])
            for start, stop, label in self.tree.nodes:
                if label in CONSTITUENTS:
                    yield Operation(start, stop, label)
                    after = plain[stop] if stop < n else "."
                    if start and plain[start - 1] == "," and (after == "," or after in ENDS):
                        yield Operation(start - 1, stop, label)
                    if start == 0 and after == ",":
                        yield Operation(start, stop + 1, label)
        opened: list[int] = []
        for i, word in enumerate(plain):
            if word == _OPEN:
                opened.append(i)
            elif word == _CLOSED and opened:
                first = opened.pop()
                if not _is_number(plain[first + 1 : i]):
                    yield Operation(first, i + 1, BRACKETS)
        dashes = [i for i, word in enumerate(plain) if word in _DASHES]
        if len(dashes) == 2:
            yield Operation(dashes[0], dashes[1] + 1, BRACKETS)
        commas = [i for i, word in enumerate(plain) if word == ","]
        end = n - 1 if n and plain[-1] in ENDS else n
        for place, i in enumerate(commas):
            if place + 1 < len(commas):
                yield Operation(i, commas[place + 1] + 1, COMMAS)
                yield Operation(i, commas[place + 1], COMMAS)
            yield Operation(i, end, COMMAS)
        if commas:
            yield Operation(0, commas[0] + 1, COMMAS)


def _is_number(words: Sequence[str]) -> bool:
    """Return whether words are the number of an item, as of `(1)`."""
    return len(words) == 1 and words[0].isdigit() and len(words[0]) <= _ITEM_DIGITS


def tokens_of(words: Sequence[str]) -> frozenset[str]:
    """Return the set of words in lower case, the form in which they are compared with tokens."""
    return frozenset(word.lower() for word in words)
