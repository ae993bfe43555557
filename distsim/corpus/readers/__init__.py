"""Readers of documents, formats of one kind in a file, and how a file's format is recognised."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from distsim.base.arguments import FileFormat, TextFormat
from distsim.base.errors import InputError
from distsim.corpus.documents import Document
from distsim.corpus.plain_text import (
    HEAD_BYTES,
    RETURNS_ALONE,
    guess_format,
    has_returns_alone,
    legible,
    looks_like,
    remedy,
    wide_encoding,
)
from distsim.corpus.readers.annotated import CONLLU, VERTICAL
from distsim.corpus.readers.markup import ALTO, DOCBOOK, TEI
from distsim.corpus.readers.pages import DOCX, HTML
from distsim.corpus.readers.reader import Reader, ReadOptions
from distsim.corpus.readers.records import CSV, JSONL, PARQUET, TSV
from distsim.corpus.readers.subtitles import SUBTITLES
from distsim.corpus.sources import (
    Source,
    find_sources,
    find_texts,
    in_encoding,
    read_head,
    require_readable,
)

READERS: dict[str, Reader] = {
    "jsonl": JSONL,
    "csv": CSV,
    "tsv": TSV,
    "parquet": PARQUET,
    "html": HTML,
    "conllu": CONLLU,
    "vertical": VERTICAL,
    "tei": TEI,
    "docbook": DOCBOOK,
    "alto": ALTO,
    "subtitles": SUBTITLES,
    "docx": DOCX,
}
_COMPRESSED = {".gz", ".bz2", ".xz", ".zst"}
_PLAIN = {".txt", ".text", ".md"}
# Formats that their first bytes tell, whatever the name of the file ends in.
_UNMISTAKABLE = {
    "SubRip subtitles", "WebVTT subtitles", "ASS subtitles", "TTML subtitles", "a CHAT transcript",
    "TMX", "TEI", "DocBook", "ALTO", "XLIFF", "PAGE XML", "FictionBook", "a dump of a wiki", "PDF",
    "RTF", "Parquet", "EPUB", "ODT", "docx", "JSON lines",
}  # fmt: skip
# What a file of annotated text is not, whatever its name ends in; it may look like TSV.
_NO_ANNOTATIONS = _UNMISTAKABLE | {"HTML", "CSV", "CoNLL-U", "a vertical file"}
_OF_LINES = (JSONL, CONLLU, VERTICAL)  # CSV and TSV name the line
_BEGINNING = 1 << 11  # bytes that show one of them
_MOST_LOOKED_AT = 1000  # files whose beginnings tell how plain text is cut


def find_documents(
    paths: Sequence[str | Path | Source],
    file_format: FileFormat,
    options: ReadOptions,
    as_is: bool = False,
    written: Sequence[str | Path] = (),
) -> list[Source]:
    """Return the files of `paths`, those that are not plain text with their documents.

    Arguments:
        file_format: of all files; `text` and `lines` both for plain text. `auto`: each file's own,
            by the ending of its name, or by its first bytes where that tells nothing.
        options: of the readers.
        as_is: take plain text as it is, whatever it looks like.
        written: files and folders that are made of these, which are passed over.
        paths: files and folders.

    Raises:
        InputError: as find_texts; annotated files are mixed with others.
    """
    if file_format in ("text", "lines") or as_is:
        sources = in_encoding(find_sources(paths, written), options.encoding)
        return find_texts(sources, as_is)
    text_sources = []
    for source in in_encoding(find_sources(paths, written), options.encoding):
        reader = None
        if source.documents is None:
            name = format_of(source) if file_format == "auto" else file_format
            reader = READERS.get(name)
            if reader is not None and name != file_format and "text" not in reader.text_formats:
                raise InputError(
                    f"{source.label}: is annotated ({reader.looks[0]}): index such files apart "
                    f"from others, with `file_format` {name}"
                )
        if reader is None:
            text_sources += find_texts([source])
        else:
            require_readable(source)
            text_sources.append(replace(source, documents=partial(_documents, reader, options)))
    return text_sources


def _documents(reader: Reader, options: ReadOptions, source: Source) -> Iterator[Document]:
    head = read_head(source)
    looks = "" if source.encoding else wide_encoding(head)
    if not looks.endswith(("LE", "BE")):  # else bytes of which most are valid UTF-8
        looks = RETURNS_ALONE if reader in _OF_LINES and has_returns_alone(head) else ""
    if looks:
        options.skip(InputError(f"{source.label}: looks like {looks}: {remedy(looks)}"))
        return
    yield from reader.read(source, options)


def format_of(source: Source) -> str:
    """Return the format of a file: a key of READERS, or `text` for what is read as plain text.

    Arguments:
        source: the file.
    """
    suffixes = [suffix.lower() for suffix in Path(source.name).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    head = read_head(source)
    is_whole, head = len(head) < HEAD_BYTES, legible(head)
    looks = looks_like(head[:_BEGINNING], is_whole=False)
    for name, reader in READERS.items():
        others = _NO_ANNOTATIONS if reader.annotates else _UNMISTAKABLE
        if suffix in reader.suffixes and (looks in reader.looks or looks not in others):
            return name
    looks = looks_like(head, is_whole)
    return next(
        (
            name
            for name, reader in READERS.items()
            if looks in reader.looks and (suffix not in _PLAIN or reader.is_unmistakable)
        ),
        "text",
    )


def settle_format(
    paths: Sequence[str | Path | Source],
    as_is: bool = False,
    file_format: FileFormat = "auto",
    encoding: str | None = None,
) -> tuple[FileFormat, TextFormat]:
    """Return (the format of all files, how their text is cut) of a corpus.

    Plain text is running text unless most of its files show that they are tokenised; annotated
    files are tokenised, texts of all other formats are running text.

    Arguments:
        paths: files and folders.
        as_is: all are plain text, whatever they look like.
        file_format: of all files; `auto`: each file's own.
        encoding: of their texts; UTF-8 where None.

    Raises:
        InputError: as find_sources; annotated files are mixed with others.
    """
    sources = in_encoding(find_sources(paths), encoding)
    if as_is:
        return "text", plain_text_format(sources)
    by_format: dict[str, list[Source]] = {}
    for source in sources:
        by_format.setdefault(
            format_of(source) if file_format == "auto" else file_format, []
        ).append(source)
    if "text" in by_format:
        find_texts(by_format["text"])  # refuses what is none
    annotated = next(
        (n for n in by_format if n in READERS and "text" not in READERS[n].text_formats), ""
    )
    if annotated and len(by_format) > 1:
        other = next(with_format[0] for name, with_format in by_format.items() if name != annotated)
        raise InputError(
            f"{other.label}: is no {annotated} as {by_format[annotated][0].label} is: "
            "index annotated files and others apart"
        )
    if len(by_format) > 1:
        return "auto", "text"
    (only,) = by_format
    if only == "text":
        return "text", plain_text_format(sources)
    formats = {READERS[only].format_of(source) for source in sources[:_MOST_LOOKED_AT]}
    return cast(FileFormat, only), "lines" if formats == {"lines"} else "text"


def plain_text_format(paths: Sequence[str | Path | Source]) -> TextFormat:
    """Return how plain texts are cut: `lines` if most of them show that they are tokenised.

    Arguments:
        paths: files and folders.

    Raises:
        InputError: as find_sources.
    """
    return guess_format(map(read_head, find_sources(paths)[:_MOST_LOOKED_AT]))
