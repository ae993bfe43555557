"""Readers of annotated text: CoNLL-U and vertical files."""

import re
from collections.abc import Container, Iterator, Sequence
from html import unescape
from typing import NamedTuple

from distsim.base.arguments import plain_count
from distsim.base.errors import InputError, counted
from distsim.corpus.conllu import word_rows
from distsim.corpus.documents import Document, contraction
from distsim.corpus.lines import LINE_BYTES, decoded, decoded_line, read_lines
from distsim.corpus.plain_text import TAG_LINE
from distsim.corpus.readers.reader import PIECE_TOKENS, Reader, ReadOptions, SentenceDocument
from distsim.corpus.sources import Source, read_head

_NEW_DOCUMENT = re.compile(r"#\s*newdoc\b(?:\s+id\s*=\s*(.*))?")
_NEW_PARAGRAPH = re.compile(r"#\s*newpar\b")
_FIELD = re.compile(r"#\s*meta::(\S+)\s*=\s*(.*)")
_BLANKS = re.compile(r"\s+")
_NO_SPACE_AFTER = "SpaceAfter=No"


def _read_conllu(source: Source, options: ReadOptions) -> Iterator[Document]:
    document = SentenceDocument(None, {})
    paragraph: int | None = None  # the line where it begins, 0 before its first sentence
    for lines, first in _sentences(source):
        for line in lines:
            if (begins := _NEW_DOCUMENT.match(line)) is not None:
                yield from document.rest()
                document, paragraph = SentenceDocument(begins[1], {}), None
            elif _NEW_PARAGRAPH.match(line) is not None:
                paragraph = 0
            elif (field_match := _FIELD.match(line)) is not None:
                document.fields[field_match[1]] = field_match[2]
        at = [n for n, line in enumerate(lines, first) if line[0] != "#"]
        if not at:
            continue
        try:
            cells = [lines[n - first].split("\t") for n in at]
            rows, at, _ = word_rows(cells, at, source.label)
            distances = _distances(rows, at, source.label)
        except InputError as error:
            options.skip(error)
            continue
        paragraph = at[0] if paragraph == 0 else paragraph
        annotations = [
            (row[2], row[3] if row[4] == "_" else row[4], row[3], row[7], distance)
            for row, distance in zip(rows, distances, strict=True)
        ]
        forms = [_BLANKS.sub("_", row[1].strip()) or "_" for row in rows]
        shown, joined = _joined(cells, rows, forms)
        document.add(shown, annotations, paragraph or at[0], joined)
        yield from document.pieces()
    yield from document.rest()


def _distances(rows: list[list[str]], at: list[int], file: str) -> list[int]:
    """Return how many tokens behind each one its head is, 0 of the root and where none is given."""
    distances = []
    for number, (row, line) in enumerate(zip(rows, at, strict=True), 1):
        head = 0 if row[6] == "_" else plain_count(row[6])
        if head is None or head > len(rows):
            raise InputError(
                f"{file}, line {line}: the head is {row[6]:.20}, the sentence has "
                f"{counted(len(rows), 'token')}: give the number of one, 0 for the root, or _"
            )
        distances.append(head - number if head else 0)
    return distances


def _joined(
    cells: list[list[str]], words: list[list[str]], forms: list[str]
) -> tuple[list[str], set[int]]:
    """Return (forms, contractions as one; numbers, from 1, of those behind which no space stands).

    Words of a multiword token are joined where they make up its form (*can*, *not*); where they are
    others (*de*, *le* of *du*), it is a contraction.

    Arguments:
        cells: the columns of each line. words: of each word. forms: of each word.
    """
    joined = {number for number, row in enumerate(words, 1) if _NO_SPACE_AFTER in row[9]}
    if len(cells) == len(words):
        return forms, joined
    shown: list[str] = []
    joined_shown: set[int] = set()
    n_done = 0
    for row in cells:
        first, last = map(plain_count, row[0].partition("-")[::2])
        if not first or first <= n_done or first > len(words):
            continue  # a word of a multiword token, or an empty node
        parts = forms[first - 1 : last] if last and last >= first else [forms[first - 1]]
        is_whole = "".join(parts).casefold() == row[1].casefold()
        n_done = first + len(parts) - 1
        if len(parts) > 1 and not is_whole:
            parts = [contraction("_".join(row[1].split()), parts)]
        joined_shown.update(range(len(shown) + 1, len(shown) + len(parts)))
        shown += parts
        if _NO_SPACE_AFTER in row[9]:
            joined_shown.add(len(shown))
    return shown, joined_shown


def _sentences(source: Source) -> Iterator[tuple[list[str], int]]:
    """Yield (lines between blank lines, number of the first)."""
    lines: list[str] = []
    n_bytes = first = 0
    for number, data in read_lines(source):
        n_bytes += len(data)
        if n_bytes > LINE_BYTES:
            raise InputError(
                f"{source.label}, line {first}: a sentence of more than {LINE_BYTES >> 20} MB "
                "begins here: put a blank line after each sentence"
            )
        line = decoded(data, source.label, number).rstrip("\r\n")
        if line:
            lines.append(line)
            first = first or number
            continue
        if lines:
            yield lines, first
        lines, n_bytes, first = [], 0, 0
    if lines:
        yield lines, first


CONLLU = Reader(
    (".conllu", ".conll"), ("CoNLL-U",), _read_conllu, text_formats=("lines",), annotates=True,
    has_dependencies=True, is_unmistakable=True,
)  # fmt: skip


_MOST_TOKENS = 1 << 12  # of a sentence whose end nothing shows
_ATTRIBUTE = re.compile(r"([\w.:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>=]*[^\s\"'<>=/]))")
_NAMED_COLUMNS = re.compile(r"<!--.*?positional-attributes:\s*(.*?)\s*-->")
_DOCUMENTS = ("text", "doc", "document", "article")
_SENTENCES = ("s", "sentence", "sent")
_OTHER_PARTS = "p para paragraph g corpus clause ne chunk np vp pp head hi align"
_PARAGRAPHS = ("p", "para", "paragraph")
_PARTS = frozenset([*_SENTENCES, *_OTHER_PARTS.split()])
_STRUCTURES = _PARTS.union(_DOCUMENTS)
_ENDS = re.compile(r"(?:\s*</[A-Za-z_][\w.:-]*\s*>)+\s*")
_STOPS = frozenset(".!?…。！？؟۔।։።") | {"..."}
_WORD_NAMES = ("word", "form", "token")
_TAG_NAMES = ("tag", "pos", "xpos", "msd", "upos", "ttpos")
_UPOS_NAMES = ("upos", "ud_pos")
_LEMMA_NAMES = ("lemma", "base", "baseform", "lempos")
_UNKNOWN = ("<unknown>", "_", "", "@card@")


class Layout(NamedTuple):
    """What a vertical file has.

    n_columns: of a token. tag, lemma, upos: their columns, None where there is none; that of the
    coarse tag is named, not guessed. document, sentence: names of structures; "" where there is
    none. has_header: the first token's line names columns.
    """

    n_columns: int
    tag: int | None
    lemma: int | None
    document: str
    sentence: str
    has_header: bool = False
    upos: int | None = None


def layout_of(head: bytes, columns: str | None, document: str | None) -> Layout:
    """Return what a vertical file has, by its beginning.

    Arguments:
        head: of the file.
        columns: names of the columns, separated by commas; guessed where None.
        document: the structure that is a document; guessed where None.

    >>> layout_of(b"<s>\\nThe\\tDT\\tthe\\nkings\\tNNS\\tking\\n</s>\\n", None, None)
    Layout(n_columns=3, tag=1, lemma=2, document='', sentence='s', has_header=False, upos=None)
    """
    lines = head.decode(errors="replace").split("\n")[:-1] or [head.decode(errors="replace")]
    parts = [_tags_before(line.rstrip("\r"), _STRUCTURES) for line in lines if line.strip()]
    tokens = [_tags_behind(rest, _STRUCTURES)[0] for _, rest in parts if rest[:1] not in ("", "<")]
    rows = [token.split("\t") for token in tokens]
    named = next(filter(None, map(_NAMED_COLUMNS.search, lines[:50])), None)
    names = [name.strip() for name in (columns or (named[1] if named else "")).split(",")]
    if len(names) < 2:
        names = named[1].split() if named and not columns else names
    widths = [len(row) for row in rows]
    n_columns = max(set(widths), key=widths.count) if widths else len(names)
    rows = [row for row in rows if len(row) == n_columns]
    has_header = bool(rows) and _names_columns(rows[0])
    if has_header:
        names = names if columns or named else [name.strip().lower() for name in rows[0]]
        rows = rows[1:]
    if columns or named or has_header:
        tag = next((names.index(name) for name in _TAG_NAMES if name in names), None)
        lemma = next((names.index(name) for name in _LEMMA_NAMES if name in names), None)
    else:
        tag, lemma = _guessed(rows, n_columns)
    upos = next((names.index(name) for name in _UPOS_NAMES if name in names), None)
    tags_of_file = [tag for tags, _ in parts for tag in tags]
    starts = [(match[2], bool(match[3])) for match in tags_of_file if not match[1]]
    opened = {name for name, _ in starts}
    of_attributes = [name for name, has in starts if has and name not in _PARTS]
    guess = next((name for name in _DOCUMENTS if name in opened), "")
    if not guess and of_attributes:
        guess = _innermost(tags_of_file, set(of_attributes))
    sentence = next((name for name in _SENTENCES if name in opened), "")
    return Layout(n_columns, tag, lemma, document or guess, sentence, has_header, upos)


def _names_columns(row: Sequence[str]) -> bool:
    """Return whether a line names the columns: the word's first, and one of a tag or a lemma."""
    first, *others = (name.strip().lower() for name in row)
    return first in _WORD_NAMES and not {*_TAG_NAMES, *_LEMMA_NAMES}.isdisjoint(others)


def _tags_before(line: str, names: Container[str]) -> tuple[list[re.Match[str]], str]:
    """Return (the structures at the beginning of a line, the token that follows them or "").

    Arguments:
        names: of structures that a token may follow on their line; others are a part of it.

    >>> _tags_before("</s> <s> The", ["s"])[1]
    'The'
    """
    tags: list[re.Match[str]] = []
    rest = line
    while match := TAG_LINE.match(rest):
        if "\t" in match[0].rpartition(">")[2] and match.end() < len(rest):
            return [], line  # a token that looks so
        tags.append(match)
        rest = rest[match.end() :]
    return (tags, rest) if not rest or all(tag[2] in names for tag in tags) else ([], line)


def _tags_behind(line: str, names: Container[str]) -> tuple[str, list[re.Match[str]]]:
    """Return (a token's line without them, the ends of structures behind it).

    Arguments:
        names: of the structures that may end.
    """
    if "</" in line and line.rstrip().endswith(">"):
        for ends in _ENDS.finditer(line):
            tags = list(TAG_LINE.finditer(ends[0]))
            before = line[: ends.start()]
            is_last = ends.end() == len(line) and before and "\t" not in ends[0]
            if is_last and all(tag[2] in names for tag in tags):
                return before, tags
    return line, []


def _innermost(tags: Sequence[re.Match[str]], names: set[str]) -> str:
    """Return the name of the structure, of some names, that is deepest inside others."""
    depth_of: dict[str, int] = {}
    depth = 0
    for match in tags:
        if match[1]:
            depth -= 1
        elif not match[4]:
            depth += 1
            depth_of[match[2]] = max(depth, depth_of.get(match[2], 0))
    return max(names, key=lambda name: (depth_of.get(name, 0), name))


def _guessed(rows: Sequence[Sequence[str]], n_columns: int) -> tuple[int | None, int | None]:
    """Return (column of the tags, column of the lemmas) by their values.

    Lemmas are often the word itself in lower case; tags are few.
    """
    if n_columns < 2 or not rows:
        return None, None
    alike = [
        sum(row[at].casefold() == row[0].casefold() for row in rows) for at in range(1, n_columns)
    ]
    kinds = [len({row[at] for row in rows}) for at in range(1, n_columns)]
    lemma = max(range(1, n_columns), key=lambda at: alike[at - 1])
    if alike[lemma - 1] * 4 < len(rows):
        lemma = 0
    others = [at for at in range(1, n_columns) if at != lemma and kinds[at - 1] > 1]
    tag = next((at for at in others if kinds[at - 1] * 4 <= kinds[0] * 4 + len(rows)), None)
    return tag, lemma or None


class _VerticalDocuments:
    """The documents of a vertical file, token by token."""

    def __init__(self, source: Source, options: ReadOptions, layout: Layout) -> None:
        self._source = source
        self._options = options
        self._layout = layout
        self._around: list[tuple[str, dict[str, str]]] = []  # structures that are open
        self._in_document = not layout.document
        self._paragraph: int | None = None  # its line, 0 before its first sentence
        self._ids: dict[str, int] = {}  # how often each is given
        self.names = _STRUCTURES | {layout.document}
        self.is_at_start = True  # no line of a token was read
        self._new_document("" if layout.document else source.name)

    def _new_document(self, name: str) -> None:
        self._forms: list[str] = []
        self._annotations: list[tuple[str, ...]] = []
        self._joined: set[int] = set()  # numbers of the forms behind which no space stands
        self._first = 0
        fields: dict[str, str] = {}
        for _, attributes in self._around:
            fields |= attributes
        id_ = fields.pop("id", name)
        self._document = SentenceDocument(
            self._options.id_of(id_) if id_ else None, fields, self._ids
        )

    def token(self, row: Sequence[str], line: int) -> Iterator[Document]:
        """Add a token; yield the document so far where it is large."""
        form = "_".join(unescape(row[0]).split()) or "_"
        self._first = self._first or line
        self._forms.append(form)
        layout = self._layout
        tags = [layout.tag] if layout.upos is None else [layout.tag, layout.upos]
        self._annotations.append((self._value(row, layout.lemma, form),
                                  *(self._value(row, tag, "_") for tag in tags)))  # fmt: skip
        ends = not self._layout.sentence and form in _STOPS and not self._abbreviated()
        if ends or len(self._forms) >= _MOST_TOKENS:
            self.end_sentence()
        if self._document.n_tokens + len(self._annotations) >= PIECE_TOKENS:
            self.end_sentence()
        yield from self._document.pieces()

    def _value(self, row: Sequence[str], column: int | None, usual: str) -> str:
        value = unescape(row[column]).strip() if column is not None else ""
        return usual if value in _UNKNOWN else value

    def _abbreviated(self) -> bool:
        """Return whether the period before which a word stands may be of an abbreviation."""
        from distsim.corpus.tokeniser import is_abbreviation

        before = self._forms[-2] if len(self._forms) > 1 else ""
        return self._forms[-1] == "." and bool(before) and is_abbreviation(before)

    def end_sentence(self) -> None:
        """End the sentence."""
        if self._forms:
            self._paragraph = self._first if self._paragraph == 0 else self._paragraph
            line = self._paragraph or self._first
            self._document.add(self._forms, self._annotations, line, self._joined)
        self._forms, self._annotations, self._joined, self._first = [], [], set(), 0

    def rest(self) -> Iterator[Document]:
        """Yield the sentences since the last piece, as a document or a piece of it."""
        return self._document.rest()

    def tag(self, match: re.Match[str], place: str) -> Iterator[Document]:
        """Take a structure that begins or ends."""
        ends, name, attributes, is_empty = match.groups()
        if name == "g" and not ends:
            self._joined.add(len(self._forms))
        if name == "g" or is_empty:
            return
        self.end_sentence()
        if name in _PARAGRAPHS or name == self._layout.document:
            self._paragraph = 0 if name in _PARAGRAPHS and not ends else None
        if not ends:
            values = {
                key: unescape(double or single or bare)
                for key, double, single, bare in _ATTRIBUTE.findall(attributes)
            }
            of_document = name == self._layout.document
            if of_document:
                yield from self.rest()
            self._around.append((name, values if self._is_about(name) else {}))
            if of_document:
                self._new_document("")
        elif not any(name == open_name for open_name, _ in self._around):
            self._options.skip(
                InputError(f"{place}: </{name}> ends what did not begin: correct it")
            )
        else:
            if name == self._layout.document:
                yield from self.rest()
            while self._around.pop()[0] != name:
                pass
            if name == self._layout.document:
                self._new_document("")

    def _is_about(self, name: str) -> bool:
        return name == self._layout.document or name not in _PARTS


_NEARLY_STRUCTURE = re.compile(r"</?[A-Za-z_][^<>]*>\s*$")
_REMEDY = 'write its attributes as name="value", without tabs'


def _no_vertical(head: bytes, layout: Layout) -> str:
    """Return why a file can be no vertical file, empty where it may be one."""
    rows = [line for line in head.splitlines() if line.strip() and not line.startswith(b"<")]
    if layout.n_columns == 1 and sum(b" " in row.strip() for row in rows) * 2 > len(rows):
        return (
            "has lines of several words, wanted a token a line, its columns between tabs: name "
            "its own format with `file_format`"
        )
    return ""


def _read_vertical(source: Source, options: ReadOptions) -> Iterator[Document]:
    head = read_head(source)
    layout = layout_of(head, options.columns, options.document_name)
    if doubt := _no_vertical(head, layout):
        options.skip(InputError(f"{source.label}: {doubt}"))
        return
    reading = _VerticalDocuments(source, options, layout)
    for number, data in read_lines(source):
        place = f"{source.label}, line {number}"
        line = decoded_line(data, place)
        if not line.strip():
            reading.end_sentence()
            continue
        if line[0] == "<":
            tags, line = _tags_before(line, reading.names)
            for tag in tags:
                yield from reading.tag(tag, place)
            if not line:
                continue
            if line.startswith(("<!--", "<?", "<!")) and line.rstrip().endswith(">"):
                continue
        line, ends = _tags_behind(line, reading.names)
        row = line.split("\t")
        if len(row) == 1 < layout.n_columns and _NEARLY_STRUCTURE.match(line):
            options.skip(InputError(f"{place}: {line.strip():.60} is no structure: {_REMEDY}"))
            continue
        if len(row) != layout.n_columns:
            options.skip(
                InputError(
                    f"{place}: {counted(len(row), 'column')}, wanted {layout.n_columns} as "
                    "in most lines: "
                    "correct the line"
                )
            )
            continue
        if not (layout.has_header and reading.is_at_start):
            yield from reading.token(row, number)
        reading.is_at_start = False
        for tag in ends:
            yield from reading.tag(tag, place)
    reading.end_sentence()
    yield from reading.rest()


VERTICAL = Reader(
    (".vrt", ".vert", ".vertical"), ("a vertical file",), _read_vertical, text_formats=("lines",),
    annotates=True, is_unmistakable=True,
)  # fmt: skip
