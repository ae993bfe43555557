"""Reads the main text of HTML pages, by trafilatura; a file is a document."""

import logging
from collections.abc import Iterator
from typing import Any

from distsim.base.errors import InputError
from distsim.corpus.documents import Document
from distsim.corpus.readers.reader import Reader, ReadOptions, library
from distsim.corpus.sources import Source, open_source

_MOST_BYTES = 5_000_000  # an odd page of so many takes a minute and 1.9 GB
_FIELDS = ("title", "author", "date", "sitename", "url")
_BLOCKS = frozenset("ab body cell code div head item lb list p quote row table".split())  # noqa: SIM905
# The date that the page tells of itself; a search of its text may find that of another page.
_DATES = {"extensive_search": False, "original_date": True}


def _read(source: Source, options: ReadOptions) -> Iterator[Document]:
    trafilatura = library("trafilatura", source, "HTML", "html")
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    with open_source(source) as stream:
        page = stream.read(_MOST_BYTES + 1)
    if len(page) > _MOST_BYTES:
        size = _MOST_BYTES // 1000**2
        options.skip(InputError(f"{source.label}: is longer than {size} MB: leave the page out"))
        return
    found: Any  # a Document of trafilatura's
    try:
        found = trafilatura.bare_extraction(
            page, include_comments=False, with_metadata=True, date_extraction_params=_DATES
        )
    except (ValueError, RecursionError) as error:
        options.skip(InputError(f"{source.label}: is a page that cannot be read: {error!r:.100}"))
        return
    text = "" if found is None else "\n".join(_paragraphs(found.body))
    if not text:
        options.skip(InputError(f"{source.label}: has no main text: leave the page out"))
        return
    fields = {name: getattr(found, name) or None for name in _FIELDS}
    yield Document(text, options.id_of(source.name), fields, 1)


def _paragraphs(body: Any) -> list[str]:
    """Return the text of the blocks of an extracted page, each on one line."""
    found: list[str] = []
    pieces: list[str] = []

    def end_block() -> None:
        text = " ".join("".join(pieces).split())
        pieces.clear()
        if text:
            found.append(text)

    def walk(element: Any) -> None:
        is_block = element.tag in _BLOCKS
        if is_block:
            end_block()
        pieces.append(element.text or "")
        for child in element:
            walk(child)
            pieces.append(child.tail or "")
        if is_block:
            end_block()

    walk(body)
    end_block()
    return found


HTML = Reader((".html", ".htm", ".xhtml"), ("HTML",), _read)
