"""Annotates plain text with stanza or spaCy, in pieces and by several processes.

The text is cut into pieces of whole lines, each annotated in one large call and written as a
gzip member of its own; one process a core, one thread each. What is done is in OUT.part, a line
each, so that the same command goes on where another stopped.
"""

import gzip
import hashlib
import json
import multiprocessing
import signal
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from distsim.base.arguments import one_path, real_path
from distsim.base.errors import InputError, ParameterError
from distsim.base.parallel import Progress, no_progress, ordered_map
from distsim.corpus.lines import TEXT_LINE_BYTES, read_blocks
from distsim.corpus.sources import Source, file_opened, find_texts, spooled_sources
from distsim.storage import open_output, resumable_part
from distsim.storage.files import is_stream, require_suffix
from distsim.storage.resumption import part_of

PIECE_CHARACTERS = 60_000  # larger pieces: a little faster, more memory
_LEVEL = 6


class Report(NamedTuple):
    """Totals of an annotation.

    words, sentences: that were annotated. treeless: sentences whose tree did not fit their tokens.
    """

    words: int = 0
    sentences: int = 0
    treeless: int = 0

    def plus(self, other: "Report") -> "Report":
        """Return the totals of both.

        Arguments:
            other: of another piece.
        """
        return Report(*map(sum, zip(self, other, strict=True)))


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

    def with_models(self, models: str) -> "Annotator":
        """Return the annotator with its models in another folder.

        Arguments:
            models: the folder.
        """


def files_of(output: str | Path) -> tuple[Path, Path]:
    """Return the paths of an output and of its unfinished part.

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
    return path, part_of(path)


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
        out.remove_part()  # where it was killed when all was done
        return out.finished
    with resumable_part(out.path, out.head_of_part) as part:
        total = Report()
        for line in part.lines():
            total = total.plus(_report_of(line))
        pieces = islice(cut_pieces(sources), part.done, None)
        work = partial(annotate_piece, annotator)
        for piece in ordered_map(work, pieces, jobs, "processes"):
            total = total.plus(piece.report)
            packed = b64encode(packed_piece(piece.text, out.packs))
            part.write(json.dumps(piece.report).encode() + b"\t" + packed + b"\n")
            progress("annotating", total.words, None)
        _loaded.clear()
        if total.sentences:
            out.write(total, (_packed_bytes(line) for line in part.lines()))
        part_of(out.path).unlink()
    if not total.sentences:
        raise InputError(f"{', '.join(s.label for s in sources)}: no text: give some")
    return total


def _report_of(line: bytes) -> Report:
    """Return the totals of a piece, by its line in the unfinished part."""
    return Report(*json.loads(line.partition(b"\t")[0]))


def _packed_bytes(line: bytes) -> bytes:
    """Return the bytes of a piece in the output, by its line in the unfinished part."""
    return b64decode(line.partition(b"\t")[2])


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
    """The output file; `<path>.part` holds its pieces until all are annotated.

    Attributes:
        finished: the totals of a file that is finished already, else None.
        path: of the file. packs: whether it is compressed.
        head_of_part: the first line of its unfinished part.

    Arguments:
        path: of the file.
        checksum: of text and settings, by `checksum_of_text`.
    """

    def __init__(self, path: Path, checksum: str) -> None:
        self.path, self._part = files_of(path)
        self.packs = path.suffix == ".gz"  # also where it is a link to a file of another name
        self._header = f"# distsim annotate = {checksum}"
        self.head_of_part = f"{self._header}, {'packed' if self.packs else 'plain'}\n".encode()
        self.finished = self._read_finished()

    def _read_finished(self) -> Report | None:
        try:
            with open(self.path, "rb") as file:
                packed = file.read(2) == b"\x1f\x8b"
            opened: Callable[..., Any] = gzip.open if packed else open
            with opened(self.path, "rt", encoding="utf-8") as text:
                first_line = text.readline().rstrip("\n")
        except (OSError, ValueError, EOFError):
            return None
        header, _, numbers = first_line.partition(", ")
        if header != self._header:
            return None
        return Report(*(int(number.split()[0]) for number in numbers.split(", ")))

    def write(self, report: Report, pieces: Iterable[bytes]) -> None:
        """Write the output, under a first line with checksum and totals.

        Arguments:
            report: totals of all pieces.
            pieces: bytes of pieces, as `packed_piece` makes them, in order.
        """
        words, sentences, treeless = report
        header = f"{self._header}, {words} words, {sentences} sentences, {treeless} without tree\n"
        with open_output(self.path) as out:
            out.write_packed(packed_piece(header, self.packs))
            for packed in pieces:
                out.write_packed(packed)

    def remove_part(self) -> None:
        """Remove the unfinished part of this very run, if there is one."""
        if self._part.is_file() and not self._part.is_symlink():
            with open(self._part, "rb") as file:
                is_ours = file.read(len(self.head_of_part)) == self.head_of_part
            if is_ours:
                self._part.unlink()


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
