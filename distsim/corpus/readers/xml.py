"""Reads XML as it comes, by expat, in memory that does not grow with the file.

Nothing outside the file is fetched; expat limits how much entities may expand to.
"""

from collections.abc import Iterator, Mapping
from html.entities import name2codepoint
from typing import NamedTuple
from xml.parsers import expat

from distsim.base.errors import InputError
from distsim.corpus.lines import TEXT_LINE_BYTES
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
            what = expat.ErrorString(error.code)
            return InputError(
                f"{self._label}, line {error.lineno}: is no well-formed XML ({what}): "
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
