"""Plain text -> CoNLL-U, annotated by stanza (an extra: distsim[stanza]).

The text is cut into pieces of whole lines, each annotated in one large call and written as a
gzip member of its own; one process a core, one thread each. What is done stands in OUT.part
beside a note of how far it goes, so that the same command goes on where another stopped.
"""

import gzip
import hashlib
import importlib.util
import json
import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from distsim.corpus.blocks import read_blocks
from distsim.corpus.sources import STANDARD_INPUT, Source, find_sources
from distsim.corpus.trees import TreeReader
from distsim.errors import InputError, ParameterError
from distsim.parallel import Progress, available_cores, no_progress

PIECE_CHARACTERS = 60_000  # larger pieces: a little faster, more memory
PROCESSORS = ("tokenize", "mwt", "pos", "lemma", "depparse", "ner", "constituency")
_LEVEL = 6


@dataclass(frozen=True)
class Annotator:
    """How text is annotated.

    Arguments:
        models: stanza's folder of models, with its resources.json; nothing is downloaded.
        processors: out of PROCESSORS; None: all that the models have.
        pretokenised: lines are sentences, tokens parted by white space.

    Raises:
        ParameterError: stanza is not installed, or a model is not there.
    """

    models: str
    processors: tuple[str, ...] | None = None
    pretokenised: bool = False

    def __post_init__(self) -> None:
        if importlib.util.find_spec("stanza") is None:
            raise ParameterError(
                "stanza is not installed: pip install torch==2.13.0 'distsim[stanza]' (another "
                "torch may bring gigabytes of GPU libraries)"
            )
        packages = self._packages()
        for name in self.processors or ():
            if name not in PROCESSORS:
                raise ParameterError(f"processor {name!r}: choose of {', '.join(PROCESSORS)}")
            if name not in packages:
                raise ParameterError(
                    f"{self.models}: has no model for {name!r}: fetch one, or choose --processors "
                    f"of {', '.join(packages)}"
                )

    @property
    def chosen(self) -> tuple[str, ...]:
        """The processors that run, in stanza's order."""
        wanted = self.processors or self._packages()
        left_out = ("mwt",) if self.pretokenised else ()
        return tuple(p for p in PROCESSORS if p in wanted and p not in left_out)

    @property
    def language(self) -> str:
        """The language of the models."""
        return self._resources()[0]

    def _packages(self) -> tuple[str, ...]:
        packages = self._resources()[1].get("packages", {}).get("default", {})
        return tuple(name for name in PROCESSORS if name in packages)

    def _resources(self) -> tuple[str, dict[str, Any]]:
        file = Path(self.models) / "resources.json"
        fetch = "fetch models with stanza.download('en', model_dir=DIR) and give --models DIR"
        try:
            resources = json.loads(file.read_text(encoding="utf-8"))
        except OSError:
            raise ParameterError(f"{self.models}: no models of stanza there: {fetch}") from None
        except ValueError:
            raise ParameterError(f"{file}: is damaged: {fetch}") from None
        present = [
            name for name in resources
            if isinstance(resources[name], dict) and (Path(self.models) / name).is_dir()
        ]  # fmt: skip
        if len(present) != 1:
            found = ", ".join(present) or "none"
            raise ParameterError(
                f"{self.models}: models of {found}, wanted those of one language: {fetch}"
            )
        return present[0], resources[present[0]]

    def settings(self) -> dict[str, Any]:
        """Return what the result depends on, beside the text."""
        models = {
            file.relative_to(self.models).as_posix(): file.stat().st_size
            for file in sorted(Path(self.models).rglob("*.pt"))
        }
        return {
            "processors": self.chosen,
            "pretokenised": self.pretokenised,
            "models": models,
            "piece": PIECE_CHARACTERS,
        }


class Report(NamedTuple):
    """What was annotated; treeless: sentences whose tree did not fit their tokens."""

    words: int
    sentences: int
    treeless: int


class _Annotated(NamedTuple):
    text: str
    report: Report


def annotate(
    paths: Sequence[str | Path],
    output: str | Path,
    annotator: Annotator,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> Report:
    """Annotate text files, or folders of them, into one CoNLL-U file.

    Arguments:
        output: packed where its name ends in .gz. An unfinished run of the same text and
            settings is taken up where it stopped; a finished one is kept as it is.
        jobs: processes, all cores where None; the result does not depend on it.

    Raises:
        InputError: a file cannot be read, or there is no text.
    """
    sources = find_sources(paths)
    if any(source.path == STANDARD_INPUT for source in sources):
        raise InputError("standard input (-) cannot be taken up again: name a file")
    out = _Output(Path(output), _checksum([source.path for source in sources], annotator))
    if out.finished is not None:
        return out.finished
    pieces = _pieces(sources)
    with out:
        total = out.report
        for _ in range(out.pieces):
            next(pieces, None)
        for piece in _mapped(annotator, pieces, jobs):
            total = Report(*map(sum, zip(total, piece.report, strict=True)))
            out.append(piece.text, total)
            progress("annotating", total.words, None)
        if not total.sentences:
            raise InputError(f"{', '.join(s.path for s in sources)}: no text: give some")
        out.finish()
    return total


def _pieces(sources: Sequence[Source]) -> Iterator[list[str]]:
    """Yield lines that are not blank, so many that they make a piece."""
    lines: list[str] = []
    size = 0
    for block in read_blocks(sources):
        for line in block.text.decode().split("\n"):
            if line.strip():
                lines.append(line.strip())
                size += len(line)
            if size >= PIECE_CHARACTERS:
                yield lines
                lines, size = [], 0
    if lines:
        yield lines


def _checksum(paths: Sequence[str], annotator: Annotator) -> str:
    """Return a checksum of the text's bytes and of all settings."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(json.dumps(annotator.settings(), sort_keys=True).encode())
    for path in paths:
        with open(path, "rb") as file:
            digest.update(hashlib.file_digest(file, "blake2b").digest())
    return digest.hexdigest()


class _Output:
    """The file that is written, and how far it goes."""

    def __init__(self, path: Path, checksum: str) -> None:
        self._path = path
        self._part = path.with_name(path.name + ".part")
        self._note = path.with_name(path.name + ".progress")
        self._checksum = checksum
        self._header = f"# distsim annotate = {checksum}"
        self.pieces = 0
        self.report = Report(0, 0, 0)
        self.finished = self._read_finished()
        self._size = 0
        self._read_note()

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

    def _read_note(self) -> None:
        try:
            note = json.loads(self._note.read_text())
            size = self._part.stat().st_size
        except (OSError, ValueError):
            return
        if note.get("checksum") == self._checksum and note["size"] <= size:
            self.pieces = note["pieces"]
            self._size = note["size"]
            self.report = Report(*note["report"])

    def __enter__(self) -> "_Output":
        self._file = open(self._part, "r+b" if self.pieces else "wb")
        self._file.truncate(self._size)
        self._file.seek(self._size)
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def _packed(self, text: str) -> bytes:
        data = text.encode()
        return gzip.compress(data, _LEVEL, mtime=0) if self._path.suffix == ".gz" else data

    def append(self, text: str, report: Report) -> None:
        """Write a piece and note that it stands there."""
        self._file.write(self._packed(text))
        self._file.flush()
        self.pieces += 1
        note = {
            "checksum": self._checksum, "pieces": self.pieces, "size": self._file.tell(),
            "report": report,
        }  # fmt: skip
        changed = self._note.with_name(self._note.name + ".new")
        changed.write_text(json.dumps(note))
        os.replace(changed, self._note)
        self.report = report

    def finish(self) -> None:
        """Put the file in place, under a first line that says what it was made from."""
        words, sentences, treeless = self.report
        header = f"{self._header}, {words} words, {sentences} sentences, {treeless} without tree\n"
        self._file.close()
        whole = self._part.with_name(self._part.name + ".whole")
        with open(whole, "wb") as file, open(self._part, "rb") as part:
            file.write(self._packed(header))
            while data := part.read(1 << 22):
                file.write(data)
        os.replace(whole, self._path)
        self._part.unlink()
        self._note.unlink()


def _mapped(
    annotator: Annotator, pieces: Iterator[list[str]], jobs: int | None
) -> Iterator[_Annotated]:
    """Yield the annotated pieces in order, at most two a process ahead."""
    jobs = jobs or available_cores()
    if jobs == 1:
        pipeline = _load(annotator)
        for lines in pieces:
            yield _run(pipeline, lines, annotator)
        return
    context = multiprocessing.get_context("spawn")
    with context.Pool(jobs, _start_worker, (annotator,)) as pool:
        waiting: deque[Any] = deque()
        for lines in pieces:
            waiting.append(pool.apply_async(_work, (lines,)))
            if len(waiting) >= 2 * jobs:
                yield waiting.popleft().get()
        while waiting:
            yield waiting.popleft().get()


_worker: tuple[Any, Annotator]  # of a worker process


def _start_worker(annotator: Annotator) -> None:
    import signal

    global _worker  # noqa: PLW0603 (one pipeline a process)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    _worker = (_load(annotator), annotator)


def _work(lines: list[str]) -> _Annotated:
    return _run(_worker[0], lines, _worker[1])


def _load(annotator: Annotator) -> Any:
    import stanza
    import torch

    torch.set_num_threads(1)
    return stanza.Pipeline(
        lang=annotator.language,
        dir=annotator.models,
        download_method=None,
        use_gpu=False,
        processors=",".join(annotator.chosen),
        tokenize_pretokenized=annotator.pretokenised,
        logging_level="ERROR",
    )


def _run(pipeline: Any, lines: list[str], annotator: Annotator) -> _Annotated:
    cut = annotator.pretokenised
    document = pipeline([line.split() for line in lines] if cut else "\n\n".join(lines))
    return conllu_text(format(document, "C"), "depparse" in annotator.chosen)


def conllu_text(text: str, parsed: bool = True) -> _Annotated:
    """Return stanza's CoNLL-U as we keep it.

    Where no dependencies were asked for, stanza hangs each word on the one before: left out.

    The entity class of a multiword token goes to its words; places in the text, which count
    from the piece's beginning, are left out; so is a tree whose leaves are not the words.
    """
    kept: list[str] = []
    reader = TreeReader()
    words = sentences = treeless = 0
    for sentence in text.strip("\n").split("\n\n"):
        tree = ""
        rows: list[list[str]] = []
        inherited: dict[int, str] = {}
        for line in sentence.split("\n"):
            if line.startswith("# constituency = "):
                tree = line
            elif line.startswith("# text = "):
                kept.append(line)
            elif line and line[0] != "#":
                rows.append(_kept_row(line.split("\t"), inherited, parsed))
        if not rows:
            continue
        n = sum("-" not in row[0] for row in rows)
        if tree:
            try:
                fits = len(reader.parse(tree.partition("= ")[2]).leaves) == n
            except ValueError:
                fits = False
            if fits:
                kept.append(tree)
            else:
                treeless += 1
        kept += ["\t".join(row) for row in rows]
        kept.append("")
        words += n
        sentences += 1
    return _Annotated("\n".join([*kept, ""]) if kept else "", Report(words, sentences, treeless))


def _kept_row(columns: list[str], inherited: dict[int, str], parsed: bool) -> list[str]:
    if not parsed:
        columns[6] = columns[7] = "_"
    items = [
        item for item in columns[9].split("|")
        if item != "_" and not item.startswith(("start_char=", "end_char="))
    ]  # fmt: skip
    first, _, last = columns[0].partition("-")
    classes = [item for item in items if item.startswith("ner=")]
    if last:
        if classes:
            inherited.update(dict.fromkeys(range(int(first), int(last) + 1), classes[0]))
    elif not classes and int(first) in inherited:
        items.append(inherited[int(first)])
    return [*columns[:9], "|".join(items) or "_"]
