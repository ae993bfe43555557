"""Base of the readers of documents."""

import importlib
import json
import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from distsim.base.arguments import TextFormat
from distsim.base.errors import InputError, how_to_install
from distsim.corpus.documents import ID_FIELD, NO_ID, NO_SPACE, Document, without_id
from distsim.corpus.sources import Source, is_regular, printable

USUAL_TEXT_FIELDS = ("text", "content", "body")
_HALF = re.compile("[\ud800-\udfff]")
_SHOWN_FIELDS = 12


@dataclass
class ReadOptions:
    """Settings of the readers of documents, and what they left out.

    text_field: name of the field with the text; `text`, `content` or `body` where None. id_field:
    name of the field with the document's id; `id`, if there is one, where None; documents are
    numbered with NO_ID. Where it is another, a field `id` becomes `given_id`. skip_broken: leave
    out broken records. text_format: how texts are cut. columns: names of those of vertical files.
    document_name: of their structure that is a document. leave_out: elements of XML that are not
    read, in place of the usual ones. encoding: of files that are not UTF-8. `skipped` counts them,
    `first_skipped` tells of the first; `empty` counts records without text, `first_empty` is the
    place of the first.
    """

    text_field: str | None = None
    id_field: str | None = None
    skip_broken: bool = False
    text_format: TextFormat = "text"
    columns: str | None = None
    document_name: str | None = None
    leave_out: str | None = None
    encoding: str | None = None
    skipped: int = 0
    first_skipped: str = ""
    empty: int = 0
    first_empty: str = ""

    def skip(self, error: InputError) -> None:
        """Count a broken record, or raise its error where broken records are not skipped.

        Arguments:
            error: what is wrong with the record.

        Raises:
            InputError: `error`, where broken records are not skipped.
        """
        if not self.skip_broken:
            raise InputError(f"{error}, or leave broken records out with `skip_broken`")
        self.first_skipped = self.first_skipped or str(error)
        self.skipped += 1

    def skip_empty(self, place: str) -> None:
        """Count a record without text.

        Arguments:
            place: of the record.
        """
        self.first_empty = self.first_empty or place
        self.empty += 1

    def id_of(self, id_: str) -> str | None:
        """Return the id of a document that a file or a structure names; None where it is numbered.

        Arguments:
            id_: the name.
        """
        return None if self.id_field == NO_ID else id_

    def document(self, values: dict[str, Any], place: str, line: int) -> Document | None:
        """Return the document of a record; None where it is empty, or broken and left out.

        Arguments:
            values: by the names of the fields. place: of the record, in messages.
            line: of the record in its file.

        Raises:
            InputError: it has no text or no id, and broken records are not left out.
        """
        names = (self.text_field,) if self.text_field else USUAL_TEXT_FIELDS
        name = next(filter(values.__contains__, names), None)
        if name is None:
            known = printable(", ".join(map(str, list(values)[:_SHOWN_FIELDS]))) or "none"
            self.skip(
                InputError(
                    f"{place}: no field {names[0]!r}; its fields are {known:.400}: "
                    "name that of the text with `text_field`"
                )
            )
            return None
        text = values.pop(name)
        if not isinstance(text, str):
            shown_value = printable(json.dumps(text, default=str, ensure_ascii=False))
            self.skip(
                InputError(
                    f"{place}: the field {name!r} is {shown_value:.40}, wanted a text: "
                    "correct the record"
                )
            )
            return None
        if not text.strip():
            self.skip_empty(place)
            return None
        if not text.isascii() and (half := _HALF.search(text)) is not None:
            self.skip(InputError(f"{place}: {half[0]!r} is half of a character: correct the text"))
            return None
        number = values.pop(self.id_field or ID_FIELD, None)
        if number in (None, "") and self.id_field not in (None, NO_ID):
            self.skip(InputError(f"{place}: no id in the field {self.id_field!r}: add one"))
            return None
        id_ = None if number in (None, "") else str(number)
        return Document(text, id_, flat(without_id(values)), line)


@dataclass(frozen=True)
class Reader:
    """A reader of one file format.

    suffixes: endings of file names, without that of a compression. looks: what
    corpus.plain_text.looks_like returns for such files. read: yields the documents of a source.
    text_formats: how its texts can be cut, the usual way last. text_format: returns that of a file,
    where it depends on it. annotates: documents that are cut as `lines` have annotations.
    has_dependencies: these have the coarse tag, the relation and the head of each token, too.
    is_unmistakable: a file whose name ends as one of plain text is read, too, if it looks so.
    """

    suffixes: tuple[str, ...]
    looks: tuple[str, ...]
    read: Callable[[Source, ReadOptions], Iterator[Document]]
    _: KW_ONLY
    text_formats: tuple[TextFormat, ...] = ("lines", "text")
    text_format: Callable[[Source], TextFormat] | None = None
    annotates: bool = False
    has_dependencies: bool = False
    is_unmistakable: bool = False

    def format_of(self, source: Source) -> TextFormat:
        """Return how the texts of a file are cut.

        Arguments:
            source: the file.
        """
        if self.text_format is not None and is_regular(source.path):
            return self.text_format(source)
        return self.text_formats[-1]


PIECE_TOKENS = 1 << 16  # a longer document comes in pieces


class SentenceDocument:
    """A document of annotated sentences, added one by one; it comes in pieces where it is long.

    n_tokens: those since the last piece.

    Arguments:
        id: None where it is numbered. fields: by name; those given until a piece is yielded count.
        uses_of_id: how often each id of the file was given, where a document that is interrupted
            may come again: then it gets a number.

    >>> document = SentenceDocument("letter-1", {"year": "1865"})
    >>> document.add(["Dogs", "ran"], [("dog", "NNS"), ("run", "VBD")], line=3)
    >>> [(piece.text, piece.id, piece.line) for piece in document.rest()]
    [('Dogs ran', 'letter-1', [3])]
    """

    def __init__(
        self, id: str | None, fields: dict[str, Any], uses_of_id: dict[str, int] | None = None
    ) -> None:
        self.fields = fields
        self._id = id
        self._uses_of_id = uses_of_id
        self._continues = False
        self._clear()

    def _clear(self) -> None:
        self._sentences: list[str] = []
        self._lines: list[int] = []
        self._annotations: list[tuple[Any, ...]] = []
        self.n_tokens = 0

    def add(
        self,
        forms: Sequence[str],
        annotations: Sequence[tuple[Any, ...]],
        line: int,
        joined: Container[int] = (),
    ) -> None:
        """Add a sentence.

        Arguments:
            forms: of its tokens, without blanks inside, or of `contraction`, of several.
            annotations: of each token, as `Document` has them.
            line: where the sentence begins, or its paragraph.
            joined: numbers, from 1, of the forms behind which no space stands.
        """
        ends = [NO_SPACE if number in joined else " " for number in range(1, len(forms) + 1)]
        sentence = "".join(map(str.__add__, forms, ends)) if joined else " ".join(forms)
        self._sentences.append(sentence.rstrip(f" {NO_SPACE}") if joined else sentence)
        self._lines.append(line)
        self._annotations += annotations
        self.n_tokens += len(annotations)

    def pieces(self) -> Iterator[Document]:
        """Yield the sentences since the last piece where they are many."""
        if self.n_tokens >= PIECE_TOKENS:
            yield from self.rest()

    def rest(self) -> Iterator[Document]:
        """Yield the sentences since the last piece, if there are any."""
        if not self._sentences:
            return
        if self._id and self._uses_of_id is not None and not self._continues:
            n_before = self._uses_of_id.get(self._id, 0)
            self._uses_of_id[self._id] = n_before + 1
            self._id += f"-{n_before + 1}" if n_before else ""
        yield Document(
            "\n".join(self._sentences), self._id, self.fields, self._lines,
            annotations=self._annotations, continues=self._continues,
        )  # fmt: skip
        self._continues = True
        self._clear()


def library(name: str, source: Source, file_kind: str, extra: str) -> Any:
    """Return a module that reads a kind of files.

    Arguments:
        name: of the module. file_kind: in the message. extra: of distsim, which installs it.

    Raises:
        InputError: it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise InputError(
            f"{source.label}: reading {file_kind} needs {package}: {how_to_install(extra)}"
        ) from None


def flat(values: dict[str, Any]) -> dict[str, Any]:
    """Return fields whose values are texts, numbers, dates or None; inner ones as `outer.inner`.

    Arguments:
        values: fields of a record, which may be nested.

    >>> flat({"a": {"b": 1}, "c": ["x", "y"], "d": True, "e": ""})
    {'a.b': 1, 'c': '["x", "y"]', 'd': 'true', 'e': None}
    """
    fields: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, str):
            fields[str(name)] = (value if value.isascii() else _HALF.sub("\ufffd", value)) or None
        elif isinstance(value, dict):
            fields |= flat({f"{name}.{part}": entry for part, entry in value.items()})
        elif isinstance(value, bool):
            fields[str(name)] = "true" if value else "false"
        elif isinstance(value, list | tuple):
            fields[str(name)] = json.dumps(value, ensure_ascii=False, default=str)
        elif isinstance(value, bytes):
            fields[str(name)] = value.decode(errors="replace")
        else:
            fields[str(name)] = value
    return fields
