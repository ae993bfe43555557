"""Readers of pages, a file a document: HTML by trafilatura, docx by mammoth."""

import io
import logging
import re
import zipfile
from collections.abc import Iterator
from typing import Any

from distsim.base.errors import InputError
from distsim.corpus.documents import Document
from distsim.corpus.readers.reader import Reader, ReadOptions, library
from distsim.corpus.sources import Source, open_source, refuse_bomb

_LARGEST_DOCX = 100_000_000
# Breaks and tabs that mammoth does not know, and those in their place that it knows.
_UNKNOWN_BREAK = re.compile(rb"<w:(cr|ptab)\b[^<>]*?/>|<w:(cr|ptab)\b[^<>/]*></w:(?:cr|ptab)>")


def _read_docx(source: Source, options: ReadOptions) -> Iterator[Document]:
    mammoth = library("mammoth", source, "docx", "docx")
    with open_source(source) as stream:
        data = stream.read(_LARGEST_DOCX + 1)
    if len(data) > _LARGEST_DOCX:
        size = _LARGEST_DOCX // 1000**2
        options.skip(InputError(f"{source.label}: is longer than {size} MB: leave it out"))
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(
                entry.file_size for entry in archive.infolist() if entry.filename.endswith(".xml")
            )
        refuse_bomb(source, unpacked, len(data))
        text = _raw_text(mammoth.docx.read(io.BytesIO(_with_known_breaks(data))).value)
    except InputError:
        raise
    except Exception as error:  # of any kind: of the archive, of its XML, of what is missing in it
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        options.skip(
            InputError(f"{source.label}: no readable docx ({reason:.100}): save it again as docx")
        )
        return
    lines = [" ".join(line.split()) for line in text.splitlines()]
    lines = [line for line in lines if line]
    if not lines:
        options.skip(InputError(f"{source.label}: has no text: leave it out"))
        return
    yield Document("\n".join(lines), options.id_of(source.name), {}, list(range(1, len(lines) + 1)))


def _with_known_breaks(data: bytes) -> bytes:
    """Return a docx whose `w:cr` and `w:ptab` are `w:br`; mammoth reads over them.

    Arguments:
        data: the file.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist() if name.endswith(".xml")}
        changed = {
            name: _UNKNOWN_BREAK.sub(b"<w:br/>", part)
            for name, part in parts.items()
            if _UNKNOWN_BREAK.search(part)
        }
        if not changed:
            return data
        copy = io.BytesIO()
        with zipfile.ZipFile(copy, "w") as written:
            for name in archive.namelist():
                written.writestr(name, changed.get(name) or archive.read(name))
    return copy.getvalue()


def _raw_text(element: Any) -> str:
    """Return the text of an element; mammoth's own function leaves a break of a line out."""
    from mammoth import documents

    if isinstance(element, documents.Text):
        return str(element.value)
    if isinstance(element, documents.Tab | documents.Break):
        return " "
    text = "".join(map(_raw_text, getattr(element, "children", ())))
    return f"{text}\n" if isinstance(element, documents.Paragraph) else text


DOCX = Reader((".docx", ".docm"), ("docx",), _read_docx)


_LARGEST_PAGE = 5_000_000  # an odd page of so many takes a minute and 1.9 GB
_FIELDS = ("title", "author", "date", "sitename", "url")
_BLOCKS = frozenset("ab body cell code div head item lb list p quote row table".split())  # noqa: SIM905
# The date that the page tells of itself; a search of its text may find that of another page.
_DATES = {"extensive_search": False, "original_date": True}


def _read_html(source: Source, options: ReadOptions) -> Iterator[Document]:
    trafilatura = library("trafilatura", source, "HTML", "html")
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    with open_source(source) as stream:
        page = stream.read(_LARGEST_PAGE + 1)
    if len(page) > _LARGEST_PAGE:
        size = _LARGEST_PAGE // 1000**2
        options.skip(InputError(f"{source.label}: is longer than {size} MB: leave the page out"))
        return
    extracted: Any  # a Document of trafilatura's
    try:
        extracted = trafilatura.bare_extraction(
            page, include_comments=False, with_metadata=True, date_extraction_params=_DATES
        )
    except (ValueError, RecursionError) as error:
        options.skip(InputError(f"{source.label}: is a page that cannot be read: {error!r:.100}"))
        return
    text = "" if extracted is None else "\n".join(_paragraphs(extracted.body))
    if not text:
        options.skip(InputError(f"{source.label}: has no main text: leave the page out"))
        return
    fields = {name: getattr(extracted, name) or None for name in _FIELDS}
    yield Document(text, options.id_of(source.name), fields, 1)


def _paragraphs(body: Any) -> list[str]:
    """Return the text of the blocks of an extracted page, each on one line."""
    paragraphs: list[str] = []
    pieces: list[str] = []

    def end_block() -> None:
        text = " ".join("".join(pieces).split())
        pieces.clear()
        if text:
            paragraphs.append(text)

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
    return paragraphs


HTML = Reader((".html", ".htm", ".xhtml"), ("HTML",), _read_html)
