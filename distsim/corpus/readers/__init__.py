"""Readers of documents, one file for each format, and how a file's format is recognised."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from distsim.base.choices import FileFormat, TextFormat
from distsim.base.errors import InputError
from distsim.corpus.documents import Document
from distsim.corpus.plain_text import HEAD_BYTES, looks_like
from distsim.corpus.readers.conllu import CONLLU
from distsim.corpus.readers.delimited import CSV, TSV
from distsim.corpus.readers.html import HTML
from distsim.corpus.readers.jsonl import JSONL
from distsim.corpus.readers.parquet import PARQUET
from distsim.corpus.readers.reader import Reader, ReadOptions
from distsim.corpus.sources import (
    Source,
    find_sources,
    find_texts,
    is_regular,
    read_head,
    require_readable,
)
from distsim.corpus.tokeniser import doubted_format

READERS: dict[str, Reader] = {
    "jsonl": JSONL,
    "csv": CSV,
    "tsv": TSV,
    "parquet": PARQUET,
    "html": HTML,
    "conllu": CONLLU,
}
_COMPRESSED = {".gz", ".bz2", ".xz", ".zst"}
_PLAIN = {".txt", ".text", ".md"}


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
        return find_texts(paths, as_is, written)
    found = []
    for source in find_sources(paths, written):
        reader = None
        if source.documents is None:
            name = format_of(source) if file_format == "auto" else file_format
            if name == "conllu" != file_format:
                raise InputError(
                    f"{source.label}: is annotated (CoNLL-U): index such files apart from others, "
                    "with `file_format` conllu"
                )
            reader = READERS.get(name)
        if reader is None:
            found += find_texts([source])
        else:
            require_readable(source)
            found.append(replace(source, documents=partial(_documents, reader, options)))
    return found


def _documents(reader: Reader, options: ReadOptions, source: Source) -> Iterator[Document]:
    return reader.read(source, options)


def format_of(source: Source) -> str:
    """Return the format of a file: a key of READERS, or `text` for what is read as plain text.

    Arguments:
        source: the file.
    """
    suffixes = [one.lower() for one in Path(source.name).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    for name, reader in READERS.items():
        if suffix in reader.suffixes:
            return name
    if suffix in _PLAIN or not is_regular(source.path):
        return "text"
    head = read_head(source)
    looks = looks_like(head, len(head) < HEAD_BYTES)
    return next((name for name, reader in READERS.items() if reader.looks == looks), "text")


def settle_format(paths: Sequence[str | Path]) -> tuple[FileFormat, TextFormat]:
    """Return (the format of all files, how their text is cut) of a corpus whose format is `auto`.

    Plain text is cut as running text if one of the files looks like it, else as a sentence a line;
    annotated files are tokenised, texts of all other formats are running text.

    Arguments:
        paths: files and folders.

    Raises:
        InputError: as find_sources; annotated files are mixed with others.
    """
    sources = find_sources(paths)
    names = {format_of(source): source for source in sources}
    if "conllu" in names:
        if len(names) > 1:
            other = next(one for name, one in names.items() if name != "conllu")
            raise InputError(
                f"{other.label}: is no CoNLL-U as {names['conllu'].label} is: "
                "index annotated files and others apart"
            )
        return "conllu", "lines"
    if set(names) != {"text"}:
        return ("auto" if len(names) > 1 else cast(FileFormat, next(iter(names)))), "text"
    heads = (read_head(one) for one in sources if is_regular(one.path))
    running = any(
        doubted_format(head, "lines") and looks_like(head, len(head) < HEAD_BYTES) is None
        for head in heads
    )
    return "text", "text" if running else "lines"
