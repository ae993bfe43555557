"""Annotates plain text with stanza or spaCy, in pieces and by several processes.

The text is cut into pieces of whole lines, each annotated in one large call and written as a
gzip member of its own; one process a core, one thread each. What is done is in OUT.part
beside a note of how far it goes, so that the same command goes on where another stopped.
"""

import gzip
import hashlib
import json
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from distsim.base.arguments import one_path, real_path
from distsim.base.errors import InputError, ParameterError
from distsim.base.parallel import Progress, no_progress, ordered_map
from distsim.corpus.lines import TEXT_LINE_BYTES, read_blocks
from distsim.corpus.sources import Source, file_opened, find_texts, spooled_sources
from distsim.storage import open_output
from distsim.storage.files import is_stream, open_part, part_of, require_suffix

PIECE_CHARACTERS = 60_000  # larger pieces: a little faster, more memory
_LEVEL = 6


class Report(NamedTuple):
    """Totals of an annotation.

    words, sentences: that were annotated. treeless: sentences whose tree did not fit their tokens.
    """

    words: int = 0
    sentences: int = 0
    treeless: int = 0


class Annotated(NamedTuple):
    """A piece of the text as CoNLL-U.

    text: its lines. report: its totals.
    """

    text: str
    report: Report


class Annotator(Protocol):
    """A tool that annotates text. It is pickled; equal annotators give equal results."""

    def settings(self) -> dict[str, Any]:
        """Return the settings on which the result depends, beside the text."""

    def load(self) -> Callable[[list[str]], Annotated]:
        """Return a function that annotates a piece: lines that are not blank."""

    @property
    def models_folder(self) -> Path:
        """The folder of its models."""

    def moved(self, models: str) -> "Annotator":
        """Return the annotator with its models in another folder.

        Arguments:
            models: the folder.
        """


def files_of(output: str | Path) -> tuple[Path, Path, Path]:
    """Return the paths of an output, of its unfinished part, and of the part's progress file.

    Arguments:
        output: path of the CoNLL-U file that is written.

    Raises:
        InputError: what is written there could not be gone on with.
    """
    path = one_path(output)
    require_suffix(path, [".gz"])
    if is_stream(path):
        raise InputError(f"{path}: is no file, where a run that was stopped could go on: name one")
    path = real_path(path)  # write through a link, not over it
    return path, part_of(path), path.with_name(path.name + ".progress")


def refuse(missing: Sequence[str]) -> None:
    """Raise ParameterError with the names of all missing packages and models, if there are any.

    Arguments:
        missing: what is not installed, and how it is installed.

    Raises:
        ParameterError: something is missing.
    """
    if missing:
        raise ParameterError("; ".join(missing))


def annotate(
    paths: Sequence[str | Path | Source],
    path: str | Path,
    annotator: Annotator,
    *,
    jobs: int | None = None,
    progress: Progress = no_progress,
    as_is: bool = False,
) -> Report:
    """Return the totals of annotating text files, or folders of them, into one CoNLL-U file.

    Arguments:
        paths: files or folders of plain text, compressed or not.
        path: the output, compressed where its name ends in .gz. An unfinished run of the same
            text and settings is continued where it stopped; a finished one stays as it is.
        annotator: a StanzaAnnotator or SpacyAnnotator.
        jobs: processes, all cores where None; the result does not depend on it.
        progress: called with the stage and the number of words.
        as_is: take text that looks like HTML, XML, JSON or a table.

    Raises:
        InputError: a file cannot be read or looks like something else than plain text, there is
            no text, or the output is one of the texts, a pipe or a device.

    >>> from distsim.corpus import SpacyAnnotator
    >>> annotate(["text.txt"], "text.conllu", SpacyAnnotator("en_core_web_sm"))  # doctest: +SKIP
    Report(words=98000, sentences=4636, treeless=0)
    """
    with spooled_sources(find_texts(paths, as_is, files_of(path))) as sources:
        return _annotated_sources(sources, path, annotator, jobs, progress)


def _annotated_sources(
    sources: Sequence[Source],
    output: str | Path,
    annotator: Annotator,
    jobs: int | None,
    progress: Progress,
) -> Report:
    out = AnnotatedFile(Path(output), checksum_of_text(sources, annotator))
    if out.finished is not None:
        return out.finished
    pieces = cut_pieces(sources)
    with out:
        total = out.report
        for _ in range(out.pieces):
            next(pieces, None)
        work = partial(annotate_piece, annotator)
        for piece in ordered_map(work, pieces, jobs, "processes"):
            total = Report(*map(sum, zip(total, piece.report, strict=True)))
            out.append(piece.text, total)
            progress("annotating", total.words, None)
        _loaded.clear()
        if not total.sentences:
            out.remove_part()
            raise InputError(f"{', '.join(s.label for s in sources)}: no text: give some")
        out.finish()
    return total


def cut_pieces(sources: Sequence[Source]) -> Iterator[list[str]]:
    """Yield pieces of the text: lists of lines that are not blank, of about PIECE_CHARACTERS.

    Arguments:
        sources: the text.
    """
    lines: list[str] = []
    size = 0
    for block in read_blocks(sources, longest=TEXT_LINE_BYTES):
        for line in block.lines():
            if line.strip():
                lines.append(line.strip())
                size += len(line)
            if size >= PIECE_CHARACTERS:
                yield lines
                lines, size = [], 0
    if lines:
        yield lines


def checksum_of_text(sources: Sequence[Source], annotator: Annotator) -> str:
    """Return a checksum of the text's bytes and of all settings.

    Arguments:
        sources: the text.
        annotator: that annotates it.
    """
    digest = hashlib.blake2b(digest_size=16)
    settings = annotator.settings() | {"piece": PIECE_CHARACTERS}
    digest.update(json.dumps(settings, sort_keys=True).encode())
    for source in sources:
        with file_opened(source) as file:
            digest.update(hashlib.file_digest(file, "blake2b").digest())
    return digest.hexdigest()


class AnnotatedFile:
    """The output file, unfinished in `<path>.part`, with its progress in `<path>.progress`.

    Attributes:
        finished: the totals of a file that is finished already, else None.
        pieces: that are in an unfinished one.
        report: their totals.

    Arguments:
        path: of the file.
        checksum: of text and settings, by `checksum_of_text`.
    """

    def __init__(self, path: Path, checksum: str) -> None:
        self._path, self._part, self._note = files_of(path)
        self._packs = path.suffix == ".gz"  # also where it is a link to a file of another name
        self._checksum = checksum
        self._header = f"# distsim annotate = {checksum}"
        self.pieces = 0
        self.report = Report(0, 0, 0)
        self._size = 0
        note = self._read_note()
        self.finished = self._read_finished()
        if note.get("checksum") != checksum:
            return
        if self.finished is not None:  # killed when all was done
            self.remove_part()
        elif self._part.exists() and note["size"] <= self._part.stat().st_size:
            self.pieces, self._size = note["pieces"], note["size"]
            self.report = Report(*note["report"])

    def _read_finished(self) -> Report | None:
        try:
            with open(self._path, "rb") as file:
                packed = file.read(2) == b"\x1f\x8b"
            opened: Callable[..., Any] = gzip.open if packed else open
            with opened(self._path, "rt", encoding="utf-8") as text:
                first = text.readline().rstrip("\n")
        except (OSError, ValueError, EOFError):
            return None
        start, _, numbers = first.partition(", ")
        if start != self._header:
            return None
        return Report(*(int(number.split()[0]) for number in numbers.split(", ")))

    def _read_note(self) -> dict[str, Any]:
        """Return the content of the progress file, empty if there is none.

        Raises:
            InputError: another file is in its place, or in that of the part.
        """
        try:
            if self._note.is_symlink():
                raise OSError
            note: dict[str, Any] = json.loads(self._note.read_text())
            if {"checksum", "pieces", "size", "report"} <= note.keys():
                return note
        except FileNotFoundError:
            is_there = os.path.lexists(self._part)
            if not is_there or (self._part.is_file() and self._part.stat().st_size == 0):
                return {}
        except (OSError, ValueError, AttributeError):
            pass
        raise InputError(
            f"{self._part}, or {self._note.name} beside it: is not of a run that was stopped: "
            "move it away, or give another name with -o"
        )

    def __enter__(self) -> "AnnotatedFile":
        self._file = open_part(self._path)
        self._file.truncate(self._size)
        self._file.seek(self._size)
        if self.pieces == 0:
            self._write_note()  # what a part without a note holds is not ours
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def append(self, text: str, report: Report) -> None:
        """Write a piece and record it in the progress file.

        Arguments:
            text: of the piece.
            report: totals of all pieces up to this one.
        """
        self._file.write(packed_piece(text, self._packs))
        self._file.flush()
        self.pieces += 1
        self._size = self._file.tell()
        self.report = report
        self._write_note()

    def _write_note(self) -> None:
        note = {
            "checksum": self._checksum, "pieces": self.pieces, "size": self._size,
            "report": self.report,
        }  # fmt: skip
        with open_output(self._note, follow=False) as out:
            out.write(json.dumps(note).encode())

    def finish(self) -> None:
        """Write the output from its part, under a first line with checksum and totals."""
        self.write(self.report, [self._part])
        self.remove_part()

    def write(self, report: Report, parts: Iterable[Path]) -> None:
        """Write the output, under a first line with checksum and totals.

        Arguments:
            report: totals of all pieces.
            parts: files of pieces, as `packed_piece` makes them, in order.
        """
        words, sentences, treeless = report
        header = f"{self._header}, {words} words, {sentences} sentences, {treeless} without tree\n"
        with open_output(self._path) as out:
            out.write_packed(packed_piece(header, self._packs))
            for part_path in parts:
                with open(part_path, "rb") as part:
                    while data := part.read(1 << 22):
                        out.write_packed(data)

    def remove_part(self) -> None:
        """Remove the part, then its progress file."""
        self._part.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)


def packed_piece(text: str, packs: bool) -> bytes:
    """Return the bytes of a piece in the output.

    Arguments:
        text: of the piece.
        packs: whether the output is compressed.
    """
    data = text.encode()
    return gzip.compress(data, _LEVEL, mtime=0) if packs else data


_loaded: dict[Annotator, Callable[[list[str]], Annotated]] = {}  # one pipeline a process


def annotate_piece(annotator: Annotator, lines: list[str]) -> Annotated:
    """Return the annotation of a piece; runs in a worker, which loads the models once.

    Arguments:
        annotator: that annotates.
        lines: of the piece.
    """
    if annotator not in _loaded:
        if multiprocessing.parent_process() is not None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
        _loaded[annotator] = annotator.load()
    return _loaded[annotator](lines)
