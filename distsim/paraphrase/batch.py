"""Writes the paraphrases of many phrases to a file; a stopped run continues there."""

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from distsim.base.arguments import one_path
from distsim.base.errors import ParameterError
from distsim.base.parallel import Progress, no_progress, ordered_map
from distsim.paraphrase.paraphraser import Answer, Paraphraser
from distsim.paraphrase.records import answer_line, settings_line
from distsim.storage import checksum_of_settings, is_finished, resumable_lines

_ANSWERED = b'"reason": null'  # in the line of a phrase that has paraphrases


class BatchReport(NamedTuple):
    """Numbers of focal phrases.

    phrases: in the file. resumed: found there already. answered: with a paraphrase.
    """

    phrases: int
    resumed: int
    answered: int


def paraphrase_phrases(
    paraphraser: Paraphraser,
    phrases: dict[str, int],
    path: str | Path,
    *,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> BatchReport:
    """Write the paraphrases of phrases to `path`, one line each; return a report of the run.

    What is finished is kept in `<path>.part`, also when the run is killed; the same call
    continues there and ends with the same bytes, whatever the number of jobs. To a pipe or a device
    all are written.

    Arguments:
        jobs: threads; as many as the machine has cores where None.
        path: of the file.
        paraphraser: finds the paraphrases of one phrase.
        progress: called with the step, how many are done, and of how many.
        phrases: as a translation system writes them, with their counts in the text.

    Raises:
        InputError: `path` or its part was begun with other settings, phrases or another
            index; another process is writing it; its folder does not exist.

    >>> found = paraphrase_phrases(Paraphraser(index), {"the king": 1}, folder / "found.jsonl")
    >>> (folder / "found.jsonl").read_text().splitlines()[1][:21]
    '{"phrase": "the king"'
    """
    path = one_path(path)
    head = settings_line(_settings(paraphraser, phrases))
    if is_finished(path, head):
        lines = path.read_bytes().count(b"\n") - 1
        return BatchReport(lines, lines, _answered(path))
    total = len(phrases)
    answered = 0
    with resumable_lines(path, head) as lines_out:
        done = lines_out.done
        rest = list(phrases.items())[done:]
        progress("paraphrasing", done, total)
        for line in ordered_map(lambda item: _answered_line(paraphraser, *item), rest, jobs):
            lines_out.write(line)
            answered += _ANSWERED in line
            progress("paraphrasing", lines_out.done, total)
    return BatchReport(total, done, _answered(path) if done else answered)


def _settings(paraphraser: Paraphraser, phrases: dict[str, int]) -> dict[str, object]:
    index = paraphraser.index
    return {
        "corpus": index.parameters["corpus"],
        "index": index.checksum,
        "table": paraphraser.table_fingerprint,
        "normaliser": index.options.normaliser.manifest(),
        "text_format": index.options.text_format,
        "options": paraphraser.options.manifest(),
        "phrases": checksum_of_settings(list(phrases.items())),
    }


def _answered_line(paraphraser: Paraphraser, phrase: str, times: int) -> bytes:
    answer: Answer | None = None
    with suppress(ParameterError):  # it is empty
        answer = paraphraser.answer(" ".join(paraphraser.index.words(phrase)))
    return answer_line(phrase, times, answer, "nothing is left of it after normalising")


def _answered(path: Path) -> int:
    with open(path, "rb") as file:
        return sum(_ANSWERED in line for line in file)
