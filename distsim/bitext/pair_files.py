"""One side of a file that holds both: translation memories (TMX), and columns between tabs.

A side is named `FILE:LANGUAGE` or `FILE:COLUMN`. Each side is read by itself, in constant memory;
a unit without one of the two sides is passed over in both.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from distsim.base.choices import InlineTags
from distsim.base.errors import InputError
from distsim.corpus.documents import Document
from distsim.corpus.lines import decoded, read_lines
from distsim.corpus.numbers import plain_count
from distsim.corpus.readers.xml import Characters, End, Start, xml_events
from distsim.corpus.sources import Source, find_file

_SIDE = re.compile(r"(.+\.(tmx|tsv|tab|txt)(?:\.(?:gz|bz2|xz|zst))?):([^:/]+)", re.IGNORECASE)
_PIECE_LINES = 5_000
_CODES = frozenset(("bpt", "ept", "it", "ph", "ut"))  # their text is markup of another program
_SPACED = frozenset(("it", "ph", "ut"))  # which may stand for a line end


def pair_sources(
    english: str | Path, other: str | Path, inline_tags: InlineTags = "drop"
) -> list[Source] | None:
    """Return the sources of two sides such as `memory.tmx:en`; None where they are plain files.

    Arguments:
        english, other: as given.
        inline_tags: whether the text of inline tags of TMX is kept.

    Raises:
        InputError: one is a side and the other is none, a file is missing, both sides are one.
    """
    found = [None if Path(one).exists() else _SIDE.fullmatch(str(one)) for one in (english, other)]
    if not any(found):
        return None
    if found[0] is None or found[1] is None:
        raise InputError(
            f"{english} and {other}: give two sides of one file, such as memory.tmx:en and "
            "memory.tmx:de, or two files"
        )
    one, two = found[0], found[1]
    if one[1] != two[1] or one[3] == two[3]:
        raise InputError(
            f"{english} and {other}: give two sides of one file, such as memory.tmx:en and "
            "memory.tmx:de; to join texts of several files give two files"
        )
    find_file(one[1], f"a file with both sides, {one[3]} and {two[3]}")
    sources = []
    for mine, against in ((one[3], two[3]), (two[3], one[3])):
        if one[2].lower() == "tmx":
            lines = partial(_tmx_lines, mine=mine, against=against, keeps=inline_tags == "keep")
        else:
            lines = partial(_column_lines, mine=mine, against=against)
        read = partial(_pieces, lines=lines)
        sources.append(Source(f"{one[1]}:{mine}", one[1], f"{one[1]}:{mine}", documents=read))
    return sources


def _pieces(source: Source, lines: partial[Iterator[str]]) -> Iterator[Document]:
    """Yield the lines of a side, some thousand in a document."""
    plain = Source(source.name, source.path)
    piece: list[str] = []
    for line in lines(plain):
        piece.append(line)
        if len(piece) >= _PIECE_LINES:
            yield Document("\n".join(piece))
            piece = []
    if piece:
        yield Document("\n".join(piece))


def _column_lines(source: Source, mine: str, against: str) -> Iterator[str]:
    """Yield one column of each line."""
    columns = [plain_count(one) for one in (mine, against)]
    if None in columns or 0 in columns:
        raise InputError(
            f"{source.label}: {mine} and {against}: name columns by numbers from 1: "
            f"{source.path}:1 and {source.path}:2"
        )
    wanted = max(one or 0 for one in columns)
    for number, data in read_lines(source):
        cells = decoded(data, source.label, number).rstrip("\r\n").split("\t")
        if cells == [""]:
            continue
        if len(cells) < wanted:
            raise InputError(
                f"{source.label}, line {number}: {len(cells)} columns, wanted {wanted} "
                "separated by tabs: correct the line"
            )
        yield " ".join(cells[(columns[0] or 1) - 1].split())


def _tmx_lines(source: Source, mine: str, against: str, keeps: bool) -> Iterator[str]:
    """Yield the segments of a language that have one in the other language, too."""
    seen: set[str] = set()
    n_units = 0
    for segments in _units(source, keeps):
        seen |= segments.keys()
        text, other = (_of_language(segments, one) for one in (mine, against))
        if text is not None and other is not None:
            n_units += 1
            yield text
    if not n_units:
        known = ", ".join(sorted(seen)) or "none"
        raise InputError(
            f"{source.label}: no unit has both {mine} and {against}; its languages are {known}: "
            "name two of them"
        )


def _of_language(segments: Mapping[str, str], language: str) -> str | None:
    """Return the segment of a language: of `en` also that of `en-GB`."""
    wanted = language.lower().replace("_", "-")
    for name, text in segments.items():
        folded = name.lower().replace("_", "-")
        if folded == wanted or folded.startswith(f"{wanted}-"):
            return text
    return None


def _units(source: Source, keeps: bool) -> Iterator[dict[str, str]]:
    """Yield the segments of each unit by language, the first one of each.

    keeps: the text of inline tags is kept.
    """
    unit: dict[str, str] = {}
    language, codes, inside = "", 0, False
    pieces: list[str] = []
    for event in xml_events(source):
        if isinstance(event, Characters):
            if inside and (keeps or not codes):
                pieces.append(event.text)
        elif isinstance(event, Start):
            if event.name == "tu":
                unit, language = {}, ""
            elif event.name == "tuv":
                language = event.attributes.get("lang", "")
            elif event.name == "seg":
                pieces, codes, inside = [], 0, True
            elif inside and event.name in _CODES:
                codes += 1
                pieces.append(" " if event.name in _SPACED else "")
        elif isinstance(event, End):
            if event.name == "seg" and inside:
                unit.setdefault(language, " ".join("".join(pieces).split()))
                inside = False
            elif inside and event.name in _CODES:
                codes -= 1
            elif event.name == "tuv":
                language = ""
            elif event.name == "tu":
                yield unit
