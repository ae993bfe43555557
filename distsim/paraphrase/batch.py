"""Phrases of a text -> a file of their paraphrases, in parallel, continued where it stopped."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from distsim.errors import InputError, ParameterError
from distsim.parallel import Progress, no_progress, ordered_map
from distsim.paraphrase.paraphraser import Answer, Paraphraser
from distsim.paraphrase.records import answer_line, settings_line
from distsim.paraphrase.unknown import lookup_form
from distsim.storage import checksum_of_settings


class BatchReport(NamedTuple):
    """phrases: in the file; resumed: found there already; answered: with a paraphrase."""

    phrases: int
    resumed: int
    answered: int


def paraphrase_phrases(
    paraphraser: Paraphraser,
    phrases: dict[str, int],
    path: str | Path,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> BatchReport:
    """Write the paraphrases of phrases to `path`, one line each, in the order given.

    What is finished is kept in `<path>.part`, also when the run is killed; the same call
    continues there and ends with the same bytes, whatever the number of jobs.

    Arguments:
        phrases: as a translation system writes them, with their counts in the text.

    Raises:
        InputError: `path` or its part was begun with other settings, phrases or another
            index; another process is writing it; its folder does not exist.
    """
    path = Path(path)
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{path}: cannot be written: name a file in a folder that exists")
    head = settings_line(_settings(paraphraser, phrases))
    if path.exists():
        _require_same(path, head)
        lines = path.read_bytes().count(b"\n") - 1
        return BatchReport(lines, lines, _answered(path))
    part = path.with_name(path.name + ".part")
    with _opened(part, path) as file:
        done = _finished_lines(file, part, head)
        rest = list(phrases.items())[done:]
        total = len(phrases)
        progress("paraphrasing", done, total)
        answered = ordered_map(lambda item: _answered_line(paraphraser, *item), rest, jobs)
        for number, line in enumerate(answered, done + 1):
            file.write(line)
            file.flush()
            progress("paraphrasing", number, total)
        os.fsync(file.fileno())
        os.replace(part, path)
    return BatchReport(total, done, _answered(path))


def _settings(paraphraser: Paraphraser, phrases: dict[str, int]) -> dict[str, object]:
    index = paraphraser.index
    return {
        "corpus": index.parameters["corpus"],
        "table": paraphraser.table_fingerprint,
        "normaliser": index.options.normaliser.manifest(),
        "text_format": index.options.text_format,
        "options": paraphraser.options.manifest(),
        "phrases": checksum_of_settings(list(phrases.items())),
    }


def _answered_line(paraphraser: Paraphraser, phrase: str, times: int) -> bytes:
    options = paraphraser.index.options
    wanted = lookup_form(phrase, options.normaliser, options.text_format)
    answer: Answer | None = None
    with suppress(ParameterError):  # it is empty
        answer = paraphraser.answer(wanted)
    return answer_line(phrase, times, answer, "nothing is left of it after normalising")


@contextmanager
def _opened(part: Path, path: Path) -> Iterator[BinaryIO]:
    with open(part, "a+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"{path}: another process is writing it: wait until it is done"
            ) from None
        yield file


def _finished_lines(file: BinaryIO, part: Path, head: bytes) -> int:
    """Cut the file after its last whole line and return how many phrases are done."""
    file.seek(0)
    written = file.read()
    whole = written[: written.rfind(b"\n") + 1]
    if not whole:
        file.truncate(0)
        file.write(head)
        file.flush()
        return 0
    _require_same(part, head)
    file.truncate(len(whole))
    file.seek(len(whole))
    return whole.count(b"\n") - 1


def _require_same(path: Path, head: bytes) -> None:
    with open(path, "rb") as file:
        found = file.readline()
    if found != head:
        raise InputError(
            f"{path}, line 1: was begun with other settings, another text or another index: "
            "remove it, or give another name with -o"
        )


def _answered(path: Path) -> int:
    with open(path, "rb") as file:
        return sum(b'"reason": null' in line for line in file)
