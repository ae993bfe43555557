r"""The query language: text to a tree of tokens, groups and conditions.

A subset of the corpus query language (CQL) of CQP and BlackLab, and a short form of it. A query is
a pattern of tokens, then filters:

    pattern      parts one after another; `|` between alternatives; `( )` around a group
    part         a token or a group; behind it `?`, `*`, `+`, `{2}`, `{2,}`, `{2,5}`
    token        take   run*   wom?n   /colou?r/   "colou?r"   'colou?r'   []   [word="colou?r"]
    in brackets  attributes word, lemma, tag (or pos), upos, relation (or deprel); `=`, `!=`; `&`,
                 `|`, `!`, `( )`
    flags        behind a text or token: %c ignores case, %d diacritics, %l takes it literally
    edges        <s>, </s>, <p>, </p>, <doc>, </doc>, <doc genre="novel">
    nearness     near(a, b, 10): both, in either order, up to 10 tokens apart
    labels       a:[] "and" b:[] :: a.word = b.word
    filters      within s, within 10, within <doc genre="novel"/>, containing "x"; !within

Words without quotation marks are cut as the text of the index is. A sign that has no meaning where
it stands is refused, so that none is passed over: `\\` before it makes it part of a word.
"""

import re
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any, NamedTuple, NoReturn
from unicodedata import category

from distsim.base.errors import ParameterError

MAX_DEPTH = 50  # brackets inside brackets
GAP = "_"  # in phrases with gaps
_SHOWN = 40  # characters of what is refused
_PARTS = 'a word, run*, (car|automobile), /colou?r/, [], "colou?r" or [word="colou?r"]'
_ATTRIBUTES = {  # other names -> those of the layers
    "pos": "tag", "xpos": "tag", "deprel": "relation", "rel": "relation", "dep": "relation",
}  # fmt: skip
_NAMES = {"word", "lemma", "tag", "upos", "relation", *_ATTRIBUTES}
_STRUCTURES = {
    "s": "s", "p": "p", "paragraph": "p", "doc": "doc", "document": "doc", "text": "doc",
}  # fmt: skip

_WORD = re.compile(r"(?:[^\s\[\]\"/(){}<>|\\]|\\.)+")
# What means itself in a word: signs behind \, 3,000 and 10:30, Moses' &apos; .
_ITSELF = re.compile(r"\\.|(?<=\d)[,:](?=\d)|(?<=\w)`(?=\w)|&(?:#\d+|[a-z]+);")
_SIGNS_OF_WORDS = "'-.*?_‘’"
_NO_SIGNS = (
    "„‚＂（）［］｛｝｜"  # beside “, ” and their like, which people paste for the signs of queries
)
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'', re.DOTALL)
_SLASHED = re.compile(r"/((?:[^/\\]|\\.)+)/", re.DOTALL)
_QUOTED = re.compile(r"(?<![^\s(|,])'(?:[^'\\\s]|\\.)+'(?=[\s)|,%?*+{]|$)|^\s*'[^'\\]+'\s*$")
_FLAGS = re.compile(r"%([cdl]{1,3})(?!\w)")
_REPEAT = re.compile(r"\{\s*(\d{0,4})\s*(,?)\s*(\d{0,4})\s*\}|[?*+]")
_EDGE = re.compile(
    r"<(/?)(\w+)((?:\s+\w+\s*!?=\s*(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'))*)\s*(/?)>"
)
_LABEL = re.compile(r"(\w+)\s*:(?=\s*[\[\"'(/])")
_COMMANDS = {  # of CQP, and those of this language that do the same
    r"\scut\s+\d+\s*;?$": "name the number of lines with --limit",
    r"\sexpand\s+(?:(?:left|right)\s+)?to\s+\w+\s*;?$": "widen the lines with --context",
    r"\snot\s+(?:within|containing)\s": "write !within or !containing",
}
_FILTER = re.compile(r"(!?)\s*\b(within|containing)\b(?=\s|<|\()")
_NO_PHRASE = re.compile(r"(?<!\\)/|\bnear\(")  # as quotation marks and [ ] are
_MAY_FILTER = re.compile(
    rf"(?s).*(?<!\\)[*?(|{{].*\s(within\s+(?:\d+|{'|'.join(_STRUCTURES)}))\s*$"
)
_NEAR = re.compile(r"near\(")
_NAME = re.compile(r"\w+")
_NAMED = re.compile(r"(\w+)\s*\.\s*(\w+)")
_UNSUPPORTED_IN_CQL = re.compile(r"meet|union")


class Regex(NamedTuple):
    """A condition on a token: a regular expression over an attribute.

    flags: of `c`, `d`, `l`. glob: `*` and `?` stand for characters, all else for itself. exact:
    the text is a word of the index.
    """

    attribute: str
    pattern: str
    flags: str = ""
    glob: bool = False
    exact: bool = False


class All(NamedTuple):
    """Conditions that must all hold; no condition holds of any token."""

    conditions: tuple[Any, ...] = ()


class Either(NamedTuple):
    """Conditions of which one must hold."""

    conditions: tuple[Any, ...]


class Not(NamedTuple):
    """A condition that must not hold."""

    condition: Any


class Word(NamedTuple):
    """A word without quotation marks, as typed: with its neighbours a phrase that may be cut."""

    text: str


class Token(NamedTuple):
    """A token that fulfils a condition. label: its name in conditions behind `::`."""

    condition: Any
    label: str = ""


class Edge(NamedTuple):
    """The beginning or end of a sentence (`s`) or document (`doc`) with certain fields.

    fields: (name, pattern, negated) of each.
    """

    structure: str
    is_end: bool
    fields: tuple[tuple[str, str, bool], ...] = ()


class Sequence(NamedTuple):
    """Parts one after another."""

    parts: tuple[Any, ...]


class Alternatives(NamedTuple):
    """Parts of which one stands there."""

    parts: tuple[Any, ...]


class Repeat(NamedTuple):
    """A part least to max_times times; any number of times where that is None."""

    part: Any
    least: int
    max_times: int | None


class Filter(NamedTuple):
    """A condition on matches: they lie within, or contain, a structure or a match of a query.

    inner: an Edge, a Query, or a number of tokens.
    """

    contains: bool
    negated: bool
    inner: Any


class SameText(NamedTuple):
    """A condition on two labelled tokens: (label, attribute) each; their texts are the same."""

    first: tuple[str, str]
    other: tuple[str, str]


class OfLabel(NamedTuple):
    """A condition on a labelled token."""

    label: str
    regex: Regex


class Query(NamedTuple):
    """A query: pattern, filters, and the condition behind `::`."""

    pattern: Any
    filters: tuple[Filter, ...]
    condition: Any = None


class QueryParser:
    """A parser of one query.

    Arguments:
        query: the text. readings: returns the rows of words of the index that a phrase may be.
    """

    def __init__(self, query: str, readings: Callable[[str], Iterable[Iterable[str]]]) -> None:
        self._query = query
        self._readings = readings
        self._at = 0
        self._depth = 0
        self._is_double = re.search(r'[\["]|</?\w|!\s*within|!\s*containing', query) is not None
        self._is_cql = self._is_double or _QUOTED.search(query) is not None
        self._has_filters = self._is_cql or _NO_PHRASE.search(query) is not None
        self._quoted = ""  # a text in single quotation marks
        self._bare_word = ""

    def parse(self) -> Query:
        """Return the query.

        Raises:
            ParameterError: it is outside the query language; the text and the place are told.
        """
        for command, remedy in _COMMANDS.items():
            if self._is_cql and (command_match := re.search(command, self._query)) is not None:
                self._refuse(remedy, command_match.start() + 1)
        if not self._has_filters and (last := _MAY_FILTER.match(self._query)) is not None:
            raise self.fault(
                f"'{last[1]}' may be a filter or words: write an element in slashes, as "
                f"/run.*/ {last[1]}, or \\{last[1]} for words"
            )
        query = self._parsed()
        if not self._ends():
            self._refuse()
        if self._quoted and self._bare_word and not self._is_double:
            text = self._quoted
            raise self.fault(
                f"'{text}' may be a pattern or a written word: write \"{text}\", or \\'{text}\\'"
            )
        return query

    def _parsed(self) -> Query:
        pattern = self._alternatives("")
        filters = []
        while (word := self._take(_FILTER, self._has_filters)) is not None:
            filters.append(self._filter(word[2] == "containing", bool(word[1])))
        condition = None
        if self._rest.startswith("::"):
            self._at += self._blanks + 2
            condition = self._either(self._about_labels)
        return Query(self._resolved(pattern), tuple(filters), condition)

    def _resolved(self, node: Any) -> Any:
        """Return a part of a query with tokens in place of its words; words side by side are one
        phrase, which may be cut in several ways."""
        if isinstance(node, Word):
            return self._phrase([node])
        if isinstance(node, Repeat):
            return node._replace(part=self._resolved(node.part))
        if isinstance(node, Alternatives):
            return Alternatives(tuple(map(self._resolved, node.parts)))
        if not isinstance(node, Sequence):
            return node
        parts: list[Any] = []
        for are_words, run in groupby(node.parts, lambda part: isinstance(part, Word)):
            side_by_side = list(run)
            if are_words:
                parts.append(self._phrase(side_by_side))
            else:
                parts += map(self._resolved, side_by_side)
        return Sequence(tuple(parts))

    def _phrase(self, words: list[Word]) -> Any:
        phrase = " ".join(plain(word.text) for word in words)
        rows = [
            Sequence(tuple(Token(Regex("word", word, exact=True)) for word in words))
            for words in self._readings(phrase)
        ]
        if not all(row.parts for row in rows):
            raise self.fault(f"{phrase!r} is 0 words in this index: give one")
        return rows[0] if len(rows) == 1 else Alternatives(tuple(rows))

    # Text and places.

    @property
    def _blanks(self) -> int:
        rest = self._query[self._at :]
        return len(rest) - len(rest.lstrip())

    @property
    def _rest(self) -> str:
        return self._query[self._at :].lstrip()

    def _ends(self) -> bool:
        return not self._rest

    def _take(self, pattern: re.Pattern[str], if_: bool = True) -> re.Match[str] | None:
        """Return the match of a pattern behind blanks, and go behind it."""
        match = pattern.match(self._query, self._at + self._blanks) if if_ else None
        if match is not None:
            self._at = match.end()
        return match

    def _takes(self, sign: str) -> bool:
        if not self._rest.startswith(sign):
            return False
        self._at += self._blanks + len(sign)
        return True

    def _want(self, sign: str) -> None:
        if not self._takes(sign):
            self._refuse()

    def fault(self, message: str) -> ParameterError:
        """Return the error of this query: its text and what is wrong."""
        return ParameterError(f"{self._query!r}: {message}")

    def _refuse(self, remedy: str = "", at: int | None = None) -> NoReturn:
        """Raise for what stands at a place of the query, here where None."""
        at = self._at + self._blanks if at is None else at
        rest = self._query[at:].rstrip()
        if not rest:
            remedy = remedy or "close its brackets and quotation marks"
            raise self.fault(f"ends too early: {remedy}")
        shown = rest if len(rest) <= _SHOWN else f"{rest[:_SHOWN]}..."
        raise self.fault(
            f"column {at + 1}: {shown!r} is outside the query language: "
            + (
                remedy
                or f"write {_PARTS}, %c or %d and {{0,3}} behind it, and \\ before a sign that is "
                "meant itself"
            )
        )

    # Patterns.

    def _alternatives(self, closed_by: str) -> Any:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self.fault(f"has over {MAX_DEPTH} brackets inside brackets: write fewer")
        parts = [self._sequence(closed_by)]
        while self._takes("|"):
            parts.append(self._sequence(closed_by))
        self._depth -= 1
        return parts[0] if len(parts) == 1 else Alternatives(tuple(parts))

    def _sequence(self, closed_by: str) -> Sequence:
        parts: list[Any] = []
        while not self._ends() and self._rest[0] not in "|" + closed_by:
            if parts and self._rest.startswith("::"):
                break
            before = self._at
            if parts and self._take(_FILTER, self._has_filters) is not None:
                self._at = before
                break
            parts.append(self._part(closed_by))
        if not parts:
            if self._ends() and self._at and not closed_by:
                self._refuse()
            raise self.fault(
                "an alternative is empty: write ? behind what may be left out"
                if self._query.strip() else "can match no token at all: name a word"
            )  # fmt: skip
        return Sequence(tuple(parts))

    def _part(self, closed_by: str) -> Any:
        """Return a token or group with its repetition."""
        label = self._take(_LABEL)
        if label is not None and label[1] in _NAMES:
            self._refuse(f"write [{label[1]}=...] for that {label[1]}", label.start())
        if (edge := self._take(_EDGE)) is not None:
            part: Any = self._edge(edge)
        elif self._take(_NEAR) is not None:
            part = self._near()
        elif self._takes("("):
            if re.match(r"\?[=!:<>]", self._rest):
                self._refuse(
                    'brackets take no ?: write a condition as [word!="regex"]', self._at - 1
                )
            part = self._alternatives(")")
            self._want(")")
            part = _flagged(part, self._flags())
        elif self._rest[0] in '["/' or (self._is_cql and _TEXT.match(self._rest)):
            is_single = self._rest[0] == "'"
            part = Token(self._one_token())
            if is_single:
                self._quoted = part.condition.pattern
        else:
            part = self._bare(closed_by)
        if label is not None:
            if not isinstance(part, Token):
                raise self.fault(f"{label[1]}: names one token: put it before [...]")
            part = part._replace(label=label[1])
        is_bare = isinstance(part, Word) or (isinstance(part, Token) and _is_glob(part.condition))
        return self._repeated(part, is_bare)

    def _repeated(self, part: Any, is_bare: bool = False) -> Any:
        begin = self._at
        repeat = self._take(_REPEAT)
        if is_bare and repeat is not None and (repeat.start() > begin or repeat[0] in "?*+"):
            self._at, repeat = begin, None  # a word of its own, or characters
        if repeat is None:
            return part
        if repeat[0] in "?*+":
            least, max_times = {"?": (0, 1), "*": (0, None), "+": (1, None)}[repeat[0]]
        else:
            if not (repeat[1] or repeat[3]):
                self._at = begin
                self._refuse()
            least = int(repeat[1] or 0)
            max_times = int(repeat[3]) if repeat[3] else None if repeat[2] else least
        if max_times is not None and (least > max_times or max_times == 0):
            raise self.fault(f"{repeat[0].strip()!r}: repeat it {{from,to}}, upwards from 0")
        return self._repeated(Repeat(part, least, max_times))

    def _flags(self) -> str:
        names = ""
        while self._rest.startswith("%"):
            flags = self._take(_FLAGS)
            if flags is None:
                self._refuse("flags are %c, %d and %l; write \\% for the sign itself")
            names += flags[1]
        return names

    def _bare(self, closed_by: str) -> Token | Word:
        """Return a word without quotation marks."""
        begin = self._at + self._blanks
        before = self._query[begin - 1 : begin]
        word = self._take(_WORD)
        if word is None or (self._is_cql and _UNSUPPORTED_IN_CQL.fullmatch(word[0])):
            self._refuse(at=begin)
        text = word[0]
        if "," in closed_by and "," in text:  # the commas of near( )
            text = re.split(r"(?<!\\),", text)[0]
            self._at = begin + len(text)
        flags = re.search(r"(?<!\\)(?:%[cdl]{1,3})+$", text)
        if flags is not None:
            text = text[: flags.start()]
            self._at = begin + len(text)
        self._check_word(text, begin)
        if before not in "(|,>" and not before.isspace():
            self._refuse("put a blank before a word", begin)
        named = self._flags()
        behind = self._query[self._at : self._at + 1]
        if behind and behind not in ")|{<," and not behind.isspace():
            self._refuse("put a blank behind a word")
        self._bare_word = text
        is_wild = re.search(r"[*?]", re.sub(r"\\.", "", text)) is not None
        if named or is_wild:
            return Token(Regex("word", text, named, glob=True))
        return Word(text)

    def _check_word(self, text: str, begin: int) -> None:
        """Raise where a word without quotation marks has a sign that has no meaning in it."""
        if not text:
            self._refuse(at=begin)
        if text == GAP:
            self._refuse("write [] for one token, []{1,6} for a gap, \\_ for the sign", begin)
        if len(text) > 1 and (text[0], text[-1]) == ("‘", "’"):
            self._refuse('write " for quotation marks', begin)
        place = 0
        while place < len(text):
            sign = text[place]
            if (itself := _ITSELF.match(text, place)) is not None:
                place = itself.end()
                continue
            if sign == "." and text[place + 1 : place + 2] in ("*", "?", "+"):
                self._refuse("write /run.*/ for a regular expression, run* for a beginning", begin)
            named = text[:place]
            if sign in ":=" and named in _NAMES:
                value = text[place:].lstrip(":=") or "..."
                self._refuse(f'write [{named}="{value}"]', begin)
            if sign == "+" and place == len(text) - 1 and named:
                self._refuse(f"write ({named})+ for a repeated word", begin)
            if sign in _NO_SIGNS or (
                category(sign) in ("Pi", "Pf") and sign not in _SIGNS_OF_WORDS
            ):
                self._refuse("write the signs of ASCII, or \\ before a sign that is meant itself",
                             begin + place)  # fmt: skip
            if sign.isascii() and not sign.isalnum() and sign not in _SIGNS_OF_WORDS:
                self._refuse(f"write \\{sign} for the sign itself", begin + place)
            place += 1

    def _near(self) -> Alternatives:
        """Return what stands in near(a, b, 10) as two alternatives."""
        first = self._alternatives(",)")
        self._want(",")
        other = self._alternatives(",)")
        self._want(",")
        distance = self._take(re.compile(r"\d{1,4}"))
        if distance is None or int(distance[0]) == 0:
            raise self.fault("near takes two patterns and a number of tokens: near(a, b, 10)")
        self._want(")")
        between = [Repeat(Token(All()), 0, int(distance[0]) - 1)] if int(distance[0]) > 1 else []
        return Alternatives(
            (Sequence((first, *between, other)), Sequence((other, *between, first)))
        )

    def _edge(self, edge: re.Match[str]) -> Any:
        structure = self._structure(edge[2])
        fields = self._fields(edge[3])
        if edge[1] and (edge[4] or fields):
            raise self.fault(f"{edge[0]!r}: write </{edge[2]}> without more")
        if not edge[4]:
            return Edge(structure, bool(edge[1]), fields)
        if structure != "s":
            raise self.fault(f"{edge[0]!r}: a match stays within a sentence: use it behind within")
        return Sequence((Edge("s", False, fields), Repeat(Token(All()), 1, None), Edge("s", True)))

    def _structure(self, name: str) -> str:
        if name not in _STRUCTURES:
            raise self.fault(
                f"the index has no structure {name!r}: use s (sentence), p (paragraph) or doc"
            )
        return _STRUCTURES[name]

    def _fields(self, text: str) -> tuple[tuple[str, str, bool], ...]:
        pairs = re.finditer(r"(\w+)\s*(!?=)\s*(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')", text)
        return tuple((pair[1], pair[3][1:-1], pair[2] == "!=") for pair in pairs)

    # Conditions.

    def _one_token(self) -> Any:
        """Return the condition of a token in brackets, quotation marks or slashes."""
        if self._takes("["):
            condition: Any = All()
            if not self._takes("]"):
                condition = self._either(self._about_token)
                self._want("]")
            return _flagged_condition(condition, self._flags())
        return Regex("word", self._pattern(), self._flags())

    def _pattern(self) -> str:
        text = self._take(_TEXT)
        if text is not None:
            return text[1] if text[1] is not None else text[2]
        slashed = self._take(_SLASHED)
        if slashed is None:
            self._refuse()
        return slashed[1]

    def _either(self, parse_condition: Callable[[], Any]) -> Any:
        """Return conditions with |, & and ! between them."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self.fault(f"has over {MAX_DEPTH} brackets inside brackets: write fewer")
        conditions = [self._both(parse_condition)]
        while self._takes("|"):
            conditions.append(self._both(parse_condition))
        self._depth -= 1
        return conditions[0] if len(conditions) == 1 else Either(tuple(conditions))

    def _both(self, parse_condition: Callable[[], Any]) -> Any:
        conditions = [self._negated(parse_condition)]
        while self._takes("&"):
            conditions.append(self._negated(parse_condition))
        return conditions[0] if len(conditions) == 1 else All(tuple(conditions))

    def _negated(self, parse_condition: Callable[[], Any]) -> Any:
        odd = False
        while self._takes("!"):
            odd = not odd
        if self._takes("("):
            condition = self._either(parse_condition)
            self._want(")")
        else:
            condition = parse_condition()
        return Not(condition) if odd else condition

    def _about_token(self) -> Any:
        if self._rest[:1] in ('"', "'"):
            return Regex("word", self._pattern(), self._flags())
        begin = self._at
        name = self._take(_NAME)
        if name is None:
            self._at = begin
            self._refuse_condition()
        return self._compared(lambda pattern, flags: Regex(_attribute(name[0]), pattern, flags))

    def _compared(self, make_condition: Callable[[str, str], Any]) -> Any:
        negated = self._takes("!=")
        if not negated and not self._takes("="):
            self._refuse_condition()
        if self._rest[:1] not in ('"', "'"):
            self._refuse_condition()
        condition = make_condition(self._pattern(), self._flags())
        return Not(condition) if negated else condition

    def _refuse_condition(self) -> NoReturn:
        self._refuse('write [word="regex"] or [word!="regex"], several with & or |')

    def _about_labels(self) -> Any:
        named = self._take(_NAMED)
        if named is None:
            raise self.fault('conditions behind :: are such as a.word = b.word or a.lemma = "be"')
        label, attribute = named[1], _attribute(named[2])
        begin = self._at
        negated = self._takes("!=")
        if (negated or self._takes("=")) and (other := self._take(_NAMED)) is not None:
            same = SameText((label, attribute), (other[1], _attribute(other[2])))
            return Not(same) if negated else same
        self._at = begin
        return self._compared(
            lambda pattern, flags: OfLabel(label, Regex(attribute, pattern, flags))
        )

    def _filter(self, contains: bool, negated: bool) -> Filter:
        number = self._take(re.compile(r"\d{1,6}(?=\s|$)"))
        if number is not None and not contains and not negated:
            self._take(re.compile(r"(words|tokens)\b"))
            return Filter(contains, negated, int(number[0]))
        name = self._take(re.compile(rf"({'|'.join(_STRUCTURES)})(?=\s|$)"))
        if name is not None:
            return Filter(contains, negated, Edge(self._structure(name[0]), False))
        edge = self._take(_EDGE)
        if edge is not None and not contains and not edge[1]:
            return Filter(
                contains, negated, Edge(self._structure(edge[2]), False, self._fields(edge[3]))
            )
        if edge is not None:
            self._at = edge.start()
        if self._rest.startswith("("):
            pattern = self._part("")
        else:
            pattern = self._alternatives("")
        return Filter(contains, negated, Query(self._resolved(pattern), ()))


def _attribute(name: str) -> str:
    return _ATTRIBUTES.get(name, name)


def _is_glob(condition: Any) -> bool:
    return isinstance(condition, Regex) and condition.glob


def _flagged(part: Any, flags: str) -> Any:
    """Return a group with flags added to its tokens."""
    if not flags:
        return part
    if isinstance(part, Word):
        return Token(Regex("word", part.text, flags, glob=True))
    if isinstance(part, Token):
        return part._replace(condition=_flagged_condition(part.condition, flags))
    if isinstance(part, Repeat):
        return part._replace(part=_flagged(part.part, flags))
    if isinstance(part, Sequence | Alternatives):
        return type(part)(tuple(_flagged(inner_part, flags) for inner_part in part.parts))
    return part


def _flagged_condition(condition: Any, flags: str) -> Any:
    if not flags:
        return condition
    if isinstance(condition, Regex):
        return condition._replace(flags=condition.flags + flags)
    if isinstance(condition, Not):
        return Not(_flagged_condition(condition.condition, flags))
    return type(condition)(
        tuple(
            _flagged_condition(inner_condition, flags) for inner_condition in condition.conditions
        )
    )


def plain(text: str) -> str:
    """Return text without the backslashes before signs."""
    return re.sub(r"\\(.)", r"\1", text)
