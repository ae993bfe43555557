"""Reads the text of XML documents: TEI, DocBook, ALTO. A file is a document.

Each paragraph, heading, line of verse and the like is a line. TEI whose words are elements (`w`,
`pc`) is annotated: its lemmas and tags are kept where it is read as tokenised text.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from html.entities import name2codepoint
from typing import NamedTuple
from xml.parsers import expat

from distsim.base.arguments import TextFormat
from distsim.base.errors import InputError
from distsim.corpus.documents import FORM, FORM_ENDS, NO_SPACE, WITHIN, Document
from distsim.corpus.lines import TEXT_LINE_BYTES
from distsim.corpus.readers.reader import Reader, ReadOptions
from distsim.corpus.sources import Source, open_source

_READ_BYTES = 1 << 16
_DEEPEST = 2000  # elements inside each other


class Start(NamedTuple):
    """An element begins. name, attributes: without namespaces. line: from 1."""

    name: str
    attributes: Mapping[str, str]
    line: int


class End(NamedTuple):
    """An element ends. name: without namespace."""

    name: str


class Characters(NamedTuple):
    """Text inside an element."""

    text: str


Event = Start | End | Characters


def local_name(name: str) -> str:
    """Return a name without the prefix of its namespace.

    Arguments:
        name: of an element or attribute.

    >>> local_name("xml:id")
    'id'
    """
    return name.rpartition(":")[2]


class _Elements:
    """What expat calls: `events` are those since the last piece of the file.

    Arguments:
        source: the file.
    """

    def __init__(self, source: Source) -> None:
        self.events: list[Event] = []
        self._label = source.label
        self._depth = 0
        self.parser = parser = expat.ParserCreate("utf-8" if source.encoding else None)
        parser.buffer_text = True
        parser.buffer_size = _READ_BYTES
        parser.UseForeignDTD(True)  # else an entity that is not declared is an error
        parser.StartElementHandler = self._starts
        parser.EndElementHandler = self._ends
        parser.CharacterDataHandler = lambda text: self.events.append(Characters(text))
        parser.SkippedEntityHandler = self._has_entity
        parser.ExternalEntityRefHandler = lambda *_: 1

    def _starts(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        line = self.parser.CurrentLineNumber
        if self._depth > _DEEPEST:
            raise InputError(
                f"{self._label}, line {line}: over {_DEEPEST:,} elements inside each other: "
                "correct the file"
            )
        plain = {local_name(key): value for key, value in attributes.items()}
        self.events.append(Start(local_name(name), plain, line))

    def _ends(self, name: str) -> None:
        self._depth -= 1
        self.events.append(End(local_name(name)))

    def _has_entity(self, name: str, is_parameter: bool) -> None:
        if not is_parameter and name in name2codepoint:
            self.events.append(Characters(chr(name2codepoint[name])))

    def parse(self, piece: bytes) -> InputError | None:
        """Take the next piece of the file, the last one where it is empty; return its fault."""
        try:
            self.parser.Parse(piece, not piece)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            return InputError(
                f"{self._label}, line {error.lineno}: is no well-formed XML ({reason}): "
                "correct the file"
            )
        except (ValueError, LookupError) as error:  # an encoding that expat cannot take
            return InputError(
                f"{self._label}, line 1: cannot be decoded ({error}): name its encoding with "
                "`encoding`"
            )
        return None


def xml_events(source: Source) -> Iterator[Event]:
    """Yield the elements and texts of an XML file in order.

    Entities that are not declared are those of HTML, where they are known there.

    Arguments:
        source: the file; its own declaration names its encoding, unless the source does.

    Raises:
        InputError: it is not well-formed, or its elements are too deep.
    """
    elements = _Elements(source)
    n_bytes = 0  # since the last event
    with open_source(source) as stream:
        while True:
            piece = stream.read(_READ_BYTES)
            fault = elements.parse(piece)
            n_bytes = 0 if elements.events else n_bytes + len(piece)
            if fault is None and n_bytes > TEXT_LINE_BYTES:
                fault = InputError(
                    f"{source.label}, line {elements.parser.CurrentLineNumber}: a tag or comment "
                    f"of more than {TEXT_LINE_BYTES >> 20} MB: correct the file"
                )
            yield from elements.events
            elements.events.clear()
            if fault is not None:
                raise fault
            if not piece:
                return


_PIECE_CHARACTERS = 1 << 20  # a longer document comes in pieces
_LONGEST_FIELD = 1 << 16  # characters
_LOOKED_AT = 5_000  # elements of a text, whether its words are elements
_WORD = ("lemma", "hw", "pos", "msd", "c5", "ana")  # attributes of words
_BLANKS = re.compile(r"[^\S\x1c-\x1f]+")  # not those that stand for something between tokens
# Marks of breaks of lines, columns and pages in a text: noncharacters, which XML has not.
_BREAK, _GOES_ON = "\ufffe", "\uffff"
_CUT = re.compile(rf"\w[-\u00ad\u2010¬⸗]\s*[{_BREAK}]+$")
_LAST_PIECES = 4  # of a line, which have its last word and hyphen
_BROKEN = re.compile(
    rf"(?:(?<=\w)([-\u00ad\u2010¬⸗]))?\s{{0,64}}([{_BREAK}{_GOES_ON}][\s{_BREAK}{_GOES_ON}]*)(\w*)"
)
_HYPHENS = "-\u2010"  # which may be the word's own: peut-être
_OPEN = "\x01"  # in place of such a hyphen before a break, until the text is known; XML has none
_OPEN_WORD = re.compile(rf"(\w+){_OPEN}(?=(\w+))")
_PLAIN_WORD = re.compile(r"\w+")
_HYPHENATED = re.compile(r"(\w+)[-\u2010\u2011](?=(\w+))")
_FEWEST_ENDS = 2  # occurrences of a compound's second part that show it is one
# Behind a hyphen that stands for the rest of a compound: Haus- und Hofdinge.
_CONJUNCTIONS = frozenset(["und", "oder", "sowie", "bzw", "och", "eller", "og"])
_DUTCH = frozenset(("en", "of"))


@dataclass(frozen=True)
class Markup:
    """What the elements of a kind of XML are.

    documents: an element of these is a document; texts: within these is its text, everywhere where
    there are none. blocks: each is a line of its own. left_out: what is in them is not read.
    header: the element with its fields. breaks: empty elements that are a space, unless they say
    that the word goes on. words: elements that are a token.
    """

    documents: frozenset[str]
    texts: frozenset[str]
    blocks: frozenset[str]
    left_out: frozenset[str]
    header: str = ""
    breaks: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TEI = Markup(
    documents=_names("TEI TEI.2"),
    texts=_names("text"),
    blocks=_names(
        "p l ab s u head item cell label lg sp div div0 div1 div2 div3 div4 div5 div6 div7 list "
        "table row opener closer salute signed dateline byline epigraph argument trailer titlePage "
        "docTitle titlePart docAuthor docDate docImprint imprimatur cit floatingText body front "
        "back group stage castList castItem postscript figure"
    ),
    left_out=_names(
        "teiHeader note speaker stage fw figDesc gap del surplus rt ptr graphic formula "
        "interpGrp interp spanGrp linkGrp standOff facsimile sourceDoc certainty noteGrp listApp"
    ),
    header="teiHeader",
    breaks=_names("lb pb cb gb milestone"),
    words=_names("w pc"),
)
_DOCBOOK = Markup(
    documents=_names("book article chapter set part section"),
    texts=frozenset(),
    blocks=_names(
        "para simpara formalpara title subtitle listitem term entry row literallayout blockquote "
        "attribution book article chapter section sect1 sect2 sect3 sect4 sect5 preface appendix "
        "bridgehead member refentry refname refpurpose refsect1 refsect2 step caption synopsis"
    ),
    left_out=_names(
        "info bookinfo articleinfo chapterinfo sectioninfo footnote indexterm programlisting "
        "screen index toc bibliography mediaobject inlinemediaobject remark"
    ),
    header="info",
)
_ALTO = Markup(
    documents=_names("alto"),
    texts=_names("Layout"),
    blocks=_names("TextBlock ComposedBlock Page PrintSpace"),
    left_out=_names("Description Styles Tags TopMargin BottomMargin LeftMargin RightMargin"),
)
# Of what an editor offers instead of each other these are not read: `choice` and `app`.
_NOT_CHOSEN = _names("sic orig abbr am")
_FIELD_OF = {"title": "title", "author": "author", "term": "keywords"}
_DATES = ("creation", "firstEdition", "written", "print", "premiere")  # by how much they are wanted
_TELLING = (*_FIELD_OF, "date", "pubdate")
_NAME_PARTS = ("persName", "name", "forename", "surname", "addName", "roleName", "nameLink")
_PEOPLE = frozenset(("author", "editor", "respStmt", "person", "change"))
_TAGS = ("pos", "msd", "c5", "ana", "type")
_CLOSING = frozenset([*".,;:!?…)]}", "..."])  # stand at the word before where nothing else is said


class _MarkupLines:
    """The lines of a document, in pieces, with the tokens of annotated text."""

    def __init__(self, id_: str | None) -> None:
        self.id = id_
        self.fields: dict[str, str] = {}
        self.line = 1  # in the file, of the last element
        self._pieces: list[str] = []
        self._n_characters = 0
        self._lines: list[str] = []
        self._numbers: list[int] = []
        self._annotations: list[tuple[str, str]] = []
        self.has_text = False
        self._has_open = False  # the lines have a hyphen that may be the word's own

    @property
    def is_cut(self) -> bool:
        """Whether the line so far ends with a hyphen before a break."""
        ending = "".join(self._pieces[-_LAST_PIECES:]).rstrip()
        return ending.endswith(_BREAK) and _CUT.search(ending) is not None

    def add(self, text: str) -> None:
        """Add text to the line."""
        self._pieces.append(text)
        self._n_characters += len(text)

    def add_token(self, form: str, lemma: str, tag: str, before: str = " ") -> None:
        """Add a token of annotated text to the line, with what is before it."""
        self.add(f"{before}{form}")
        self._annotations.append((lemma, tag))

    def joined(self, text: str) -> str:
        """Return a text with a blank for each break, or the two parts of a hyphenated word joined.

        The hyphen stays before a capital or a digit (*Nord-Amerika*, *1770-71*), and with a blank
        before a conjunction (*Haus- und Hofdinge*). Others that may be the word's own become _OPEN.

        Arguments:
            text: with _BREAK, or _GOES_ON where the word goes on, for each break.
        """
        if _BREAK not in text and _GOES_ON not in text:
            return text
        is_dutch = self.fields.get("language", "").lower().startswith(("nl", "dut", "nld"))
        conjunctions = _CONJUNCTIONS | _DUTCH if is_dutch else _CONJUNCTIONS

        def join(broken: re.Match[str]) -> str:
            hyphen, breaks, behind = broken.groups()
            goes_on = _GOES_ON in breaks
            if not hyphen:
                return behind if goes_on else f" {behind}"
            if not goes_on and behind in conjunctions:
                return f"{hyphen} {behind}"
            before = text[max(0, broken.start() - 2) : broken.start()]
            in_capitals = len(before) == 2 and before.isupper() and behind[:1].isupper()
            if behind and (in_capitals or not (behind[0].isupper() or behind[0].isdigit())):
                self._has_open |= hyphen in _HYPHENS
                return _OPEN + behind if hyphen in _HYPHENS else behind
            return hyphen + behind

        return _BROKEN.sub(join, text)

    def end(self) -> None:
        """End the line."""
        text = _BLANKS.sub(" ", self.joined("".join(self._pieces))).strip()
        self._pieces.clear()
        if text and self._lines and not any(map(str.isalnum, text)) and not self._annotations:
            self._lines[-1] += text  # a mark between two blocks
        elif text:
            self._lines.append(text)
            self._numbers.append(self.line)

    def pieces(self, last: bool = False) -> Iterator[Document]:
        """Yield the lines as a piece of the document where they are many, or the last ones."""
        is_full = self._n_characters > _PIECE_CHARACTERS * (2 if self._pieces else 1)
        if is_full or last:
            self.end()
            if self._lines:
                self._close_hyphens()
                yield Document(
                    "\n".join(self._lines), self.id, dict(self.fields), self._numbers,
                    annotations=self._annotations or None, continues=self.has_text,
                )  # fmt: skip
                self.has_text = True
            self._n_characters = 0
            self._lines, self._numbers, self._annotations = [], [], []

    def _close_hyphens(self) -> None:
        """Keep or leave out each hyphen before a break, by the other words of the lines.

        It stays if the text has the word with it more often than without, and, where it has the
        word in neither form, if the second part ends other words with a hyphen (*dit-il*).
        """
        if not self._has_open:
            return
        text = "\n".join(self._lines).casefold()
        words = Counter(_PLAIN_WORD.findall(text))
        hyphenated = Counter(_HYPHENATED.findall(text))
        ends = Counter(behind for _, behind in hyphenated.elements())

        def close(match: re.Match[str]) -> str:
            before, behind = (part.casefold() for part in match.groups())
            n_joined, n_hyphenated = words[before + behind], hyphenated[before, behind]
            stays = n_hyphenated > n_joined or (
                not n_joined and not n_hyphenated and ends[behind] >= _FEWEST_ENDS
            )
            return f"{match[1]}-" if stays else match[1]

        self._lines = [_OPEN_WORD.sub(close, line) for line in self._lines]
        self._annotations = [
            (_OPEN_WORD.sub(close, lemma), tag) for lemma, tag in self._annotations
        ]
        self._has_open = False


class _OpenWord(NamedTuple):
    """A word whose element is open.

    attributes: of the element. pieces: of its text. parts: (form, lemma, tag) of the words inside
    of it, of a contraction such as Italian *della*.
    """

    attributes: Mapping[str, str]
    pieces: list[str]
    parts: list[tuple[str, str, str]]


class _MarkupDocument:
    """Reader of the elements of one document.

    Arguments:
        markup: of its kind. lines: where its text goes. left_out: names of elements that are not
            read. tokenised: words are elements, and all text becomes tokens.
    """

    def __init__(
        self, markup: Markup, lines: _MarkupLines, left_out: frozenset[str], tokenised: bool
    ) -> None:
        self._markup = markup
        self._lines = lines
        self._left_out = left_out
        self._tokenised = tokenised
        self._open: list[tuple[str, Mapping[str, str]]] = []
        self._children: list[int] = []
        self._n_outside = 0  # elements that are not read, one inside the other
        self._n_texts = 0
        self._header: _Header | None = None
        self._loose: list[str] = []  # text outside of words, where all text becomes tokens
        self._open_words: list[_OpenWord] = []
        self._in_word = False
        self._after_word = False
        self._joins = False  # the word before is to be joined to the next one
        # In ALTO, of a hyphenated word: its first part told all of it; its block ended within it.
        self._is_whole = False
        self._goes_on = False

    @property
    def is_over(self) -> bool:
        """Whether its outermost element has ended."""
        return not self._open

    def add(self, event: Event) -> None:
        """Take the next event inside the document."""
        if isinstance(event, Start):
            self._starts(event)
        elif isinstance(event, End):
            self._ends(event)
        elif self._header is not None:
            self._header.add(event.text)
        elif self._reads():
            self._has_text(event.text)

    def _reads(self) -> bool:
        return not self._n_outside and (self._n_texts > 0 or not self._markup.texts)

    def _starts(self, start: Start) -> None:
        name = start.name
        parent = self._open[-1][0] if self._open else ""
        number = self._children[-1] if self._children else 0
        if self._children:
            self._children[-1] += 1
        self._open.append((name, start.attributes))
        self._children.append(0)
        if not self._tokenised or (name in self._markup.blocks and name != "s"):
            self._lines.line = start.line  # that of the paragraph where words are elements
        if self._header is not None or (name == self._markup.header and not self._n_texts):
            self._header = self._header or _Header(self._lines.fields)
            self._header.start(name, start.attributes)
            return
        self._n_texts += name in self._markup.texts
        is_other = (parent == "choice" and name in _NOT_CHOSEN) or (parent == "app" and number > 0)
        if self._n_outside or name in self._left_out or is_other:
            self._n_outside += 1
            return
        if not self._reads():
            return
        if name in self._markup.breaks:
            self._breaks(start.attributes.get("break") == "no")
        elif name in self._markup.blocks:
            self._end_line()
        elif name in self._markup.words:
            self._word_starts(start)
        elif self._markup is _ALTO:
            self._alto(name, start.attributes)

    def _ends(self, end: End) -> None:
        if not self._open:
            return
        name, _ = self._open.pop()
        self._children.pop()
        if self._header is not None:
            self._header.end()
            if self._header.is_over:
                self._header = None
            return
        if self._n_outside:
            self._n_outside -= 1
        elif self._reads():
            if name in self._markup.blocks or name in self._markup.texts:
                self._end_line()
            elif name in self._markup.words:
                self._word_ends()
            elif name == "TextLine":
                self._lines.add(_BREAK)
        self._n_texts -= name in self._markup.texts

    def _end_line(self) -> None:
        if self._markup is _ALTO and (self._is_whole or self._lines.is_cut):
            self._goes_on = True
            return
        self._add_loose()
        self._lines.end()
        self._after_word = False

    def _add_loose(self) -> None:
        """Make tokens of the text outside of words."""
        if self._loose:
            for form in self._lines.joined("".join(self._loose)).split():
                is_joined = self._joins or form in _CLOSING
                self._lines.add_token(form, form, "_", NO_SPACE if is_joined else " ")
                self._joins = False
            self._loose = []

    def _has_text(self, text: str) -> None:
        if self._open_words:
            self._open_words[-1].pieces.append(text)
        elif self._tokenised:
            self._loose.append(text)
        else:
            self._after_word = False
            self._lines.add(text)

    def _breaks(self, goes_on: bool) -> None:
        mark = _GOES_ON if goes_on or self._in_word else _BREAK
        if self._open_words:
            self._open_words[-1].pieces.append(mark)
        elif self._tokenised:
            self._loose.append(mark)
        elif not self._after_word or self._in_word:
            self._lines.add(mark)
        elif not goes_on:
            self._lines.add(" ")

    def _word_starts(self, start: Start) -> None:
        self._add_loose()
        self._in_word = True
        if not self._tokenised:
            joined = start.name == "pc" or start.attributes.get("join") in ("left", "both")
            if self._after_word and not joined:
                self._lines.add(" ")
        else:
            self._open_words.append(_OpenWord(start.attributes, [], []))

    def _word_ends(self) -> None:
        self._after_word, self._in_word = True, False
        if not self._open_words:
            return
        of, pieces, parts = self._open_words.pop()
        form = "_".join(self._lines.joined("".join(pieces)).split())
        is_whole = form.casefold() == "".join(part[0] for part in parts).casefold()
        form = form or (of.get("norm", "") if self._open_words else "")
        if form and not parts:
            lemma = of.get("lemma") or of.get("hw") or form
            tag = next((of[name] for name in _TAGS if of.get(name)), "_")
            tag = tag.removeprefix("UPosTag=").partition("|")[0].lstrip("#")
            parts = [(form, lemma, tag or "_")]
        if self._open_words:
            self._open_words[-1].parts.extend(parts)
            return
        is_joined = self._joins or of.get("join") in ("left", "both") or form in _CLOSING
        before = NO_SPACE if is_joined else " "
        if len(parts) > 1 and form and not is_whole:
            before += f"{FORM}{form}{FORM_ENDS}"
        for part in parts:
            self._lines.add_token(*part, before)
            before = NO_SPACE if is_whole else WITHIN if form else " "
        self._joins = of.get("join") in ("right", "both")

    def _alto(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take an element of ALTO: its text is in attributes."""
        if name == "String":
            part, whole = attributes.get("SUBS_TYPE", ""), attributes.get("SUBS_CONTENT")
            content = attributes.get("CONTENT", "")
            if self._goes_on and part != "HypPart2" and not content[:1].islower():
                self._lines.end()
            self._goes_on = False
            if part == "HypPart2" and self._is_whole:
                self._is_whole = False
                return
            self._is_whole = part == "HypPart1" and bool(whole)
            self._lines.add((whole if self._is_whole else "") or content)
        elif name == "SP":
            self._lines.add(" ")
        elif name == "HYP" and not self._is_whole:
            self._lines.add(attributes.get("CONTENT") or "-")


class _Header:
    """Fields of a document, from the elements of its header.

    Arguments:
        fields: where they go.
    """

    def __init__(self, fields: dict[str, str]) -> None:
        self._fields = fields
        self._open: list[tuple[str, Mapping[str, str]]] = []
        self._texts: list[list[str]] = []  # of the elements that are open and tell something
        self._n_characters = 0
        self._date_rank = len(_DATES) + 2

    @property
    def is_over(self) -> bool:
        """Whether the header has ended."""
        return not self._open

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Begin an element."""
        self._open.append((name, attributes))
        inside = {open_name for open_name, _ in self._open[:-1]}
        if name in _TELLING:
            self._texts.append([])
        elif name in _NAME_PARTS and self._texts:
            before = "".join(self._texts[-1]).rstrip()
            follows = name == "forename" and before and not before.endswith(",")
            self.add(", " if follows else " ")
        if name == "language" and attributes.get("ident"):
            self._fields.setdefault("language", attributes["ident"])
        if "textDesc" in inside and attributes.get("key"):
            self._fields[name] = attributes["key"]

    def add(self, text: str) -> None:
        """Add text of an element; notes belong to none."""
        if any(name == "note" for name, _ in self._open):
            return
        for text_list in self._texts:
            text_list.append(text)
        self._n_characters += len(text)
        if self._n_characters > _LONGEST_FIELD:
            self._texts = [[] for _ in self._texts]
            self._n_characters = 0

    def end(self) -> None:
        """End an element."""
        name, attributes = self._open.pop()
        if name not in _TELLING:
            return
        inside = {open_name for open_name, _ in self._open}
        text = " ".join("".join(self._texts.pop()).split()).replace(" ,", ",")
        if not self._texts:
            self._n_characters = 0
        if name in ("date", "pubdate"):
            named = (attributes.get(attribute) for attribute in ("when", "from", "notBefore"))
            self._date(next(filter(None, named), text), attributes, inside)
        elif (
            name in ("title", "author")
            and inside & {"titleStmt", "info"}
            and "sourceDesc" not in inside
        ):
            if name == "title":
                self._fields.setdefault("title", text)
            else:
                self._append("author", text)
        elif name == "term" and "keywords" in inside:
            self._append("keywords", text)

    def _append(self, field: str, text: str) -> None:
        if text:
            before = self._fields.get(field)
            self._fields[field] = f"{before}; {text}" if before else text

    def _date(self, value: str, attributes: Mapping[str, str], inside: set[str]) -> None:
        """Keep a date if it tells more of the text than one before; that of the file is last."""
        of_text = bool(inside & {"sourceDesc", "creation", "settingDesc", "info"})
        if not value or inside & _PEOPLE or not (of_text or "publicationStmt" in inside):
            return
        kinds = [attributes.get("type", ""), *(a.get("type", "") for _, a in self._open)]
        kinds += ["creation"] * ("creation" in inside)
        rank = min((_DATES.index(kind) for kind in kinds if kind in _DATES), default=len(_DATES))
        rank = rank if of_text else len(_DATES) + 1
        if rank < self._date_rank:
            self._date_rank = rank
            self._fields["date"] = value


def _read(markup: Markup, source: Source, options: ReadOptions) -> Iterator[Document]:
    left_out = markup.left_out
    if options.leave_out is not None:
        left_out = frozenset(options.leave_out.replace(",", " ").split())
    tokenised = bool(markup.words) and options.text_format == "lines"
    document: _MarkupDocument | None = None
    lines = _MarkupLines(None)
    n_documents = 0
    for event in xml_events(source):
        if document is None:
            if not isinstance(event, Start) or event.name not in markup.documents:
                continue
            lines = _MarkupLines(options.id_of(event.attributes.get("id") or source.name))
            if event.attributes.get("lang"):
                lines.fields["language"] = event.attributes["lang"]
            document = _MarkupDocument(markup, lines, left_out, tokenised)
            line = event.line
            n_documents += 1
        document.add(event)
        yield from lines.pieces(document.is_over)
        if document.is_over:
            document = None
            if not lines.has_text:
                options.skip_empty(f"{source.label}, line {line}")
    if not n_documents:
        names = ", ".join(sorted(markup.documents))
        raise InputError(f"{source.label}: has no element {names}: name its format")


def _text_format(source: Source) -> TextFormat:
    """Return `lines` for TEI whose words are elements with a lemma or a tag."""
    n = 0
    in_text = False
    for event in xml_events(source):
        if isinstance(event, Start):
            in_text |= event.name == "text"
            n += in_text
            if (
                in_text
                and event.name == "w"
                and any(event.attributes.get(attribute) for attribute in _WORD)
            ):
                return "lines"
        if n > _LOOKED_AT:
            break
    return "text"


TEI = Reader((".tei",), ("TEI",), partial(_read, _TEI), text_format=_text_format, annotates=True)
DOCBOOK = Reader((".docbook", ".dbk"), ("DocBook",), partial(_read, _DOCBOOK))
ALTO = Reader((".alto",), ("ALTO",), partial(_read, _ALTO))
