"""Reads docx, by mammoth; a file is a document, a paragraph a line."""

import io
import zipfile
from collections.abc import Iterator
from typing import Any

from distsim.base.errors import InputError
from distsim.corpus.documents import Document
from distsim.corpus.readers.reader import Reader, ReadOptions, library
from distsim.corpus.sources import Source, open_source, refuse_bomb

_MOST_BYTES = 100_000_000


def _read(source: Source, options: ReadOptions) -> Iterator[Document]:
    mammoth = library("mammoth", source, "docx", "docx")
    with open_source(source) as stream:
        data = stream.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        size = _MOST_BYTES // 1000**2
        options.skip(InputError(f"{source.label}: is longer than {size} MB: leave it out"))
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(
                one.file_size for one in archive.infolist() if one.filename.endswith(".xml")
            )
        refuse_bomb(source, unpacked, len(data))
        text = _raw_text(mammoth.docx.read(io.BytesIO(data)).value)
    except InputError:
        raise
    except Exception as error:  # of any kind: of the archive, of its XML, of what is missing in it
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        options.skip(
            InputError(f"{source.label}: no readable docx ({what:.100}): save it again as docx")
        )
        return
    lines = [" ".join(line.split()) for line in text.splitlines()]
    lines = [line for line in lines if line]
    if not lines:
        options.skip(InputError(f"{source.label}: has no text: leave it out"))
        return
    yield Document("\n".join(lines), options.id_of(source.name), {}, list(range(1, len(lines) + 1)))


def _raw_text(element: Any) -> str:
    """Return the text of an element; mammoth's own function leaves a break of a line out."""
    from mammoth import documents

    if isinstance(element, documents.Text):
        return str(element.value)
    if isinstance(element, documents.Tab | documents.Break):
        return " "
    text = "".join(map(_raw_text, getattr(element, "children", ())))
    return f"{text}\n" if isinstance(element, documents.Paragraph) else text


DOCX = Reader((".docx", ".docm"), ("docx",), _read)
