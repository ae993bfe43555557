"""Files of paraphrases: JSON lines of settings, then of focal phrases; or columns."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from distsim.base.arguments import TextFormat, in_range, one_of, one_path, plain_number
from distsim.base.errors import InputError, ParameterError
from distsim.base.parallel import Progress, no_progress, ordered_map
from distsim.corpus.lines import is_utf8, read_lines
from distsim.corpus.normaliser import Normaliser
from distsim.corpus.sources import file_label
from distsim.corpus.tokeniser import TEXT_FORMATS
from distsim.indexes.nearest_spellings import LikeSpelling, NearestSpellings
from distsim.paraphrase.paraphraser import Answer, Paraphraser
from distsim.storage import checksum_of_settings, is_finished, resumable_lines

_LONGEST_LINE = 1 << 20  # bytes
_CACHED = 2048  # answers
_MAX_SPELLINGS = 5  # spellings, and stems, of a word that the corpus lacks
_REQUEST = '{"text": "...", "unknown": ["a word"]}'
_NOTHING = Answer("", 0, [], 0, 0, 0, "nothing is left of it after normalising", 0)


class ParaphraseStream:
    """Answers requests one at a time; memory is bounded; may be shared by threads.

    Arguments:
        paraphraser: finds the paraphrases; its options say how many.
        contexts: also count and name shared contexts of words, which takes a fifth of the time.
        jobs: threads for the phrases of one request; all cores where None.

    >>> stream = ParaphraseStream(Paraphraser(index))
    >>> stream.answer("quen")["answers"][0]["answer"], stream.answer("quen")["count"]
    ('queen', 0)
    >>> told = stream.answer({"text": "the quen said", "unknown": ["quen"]})
    >>> told["unknown"][0]["answers"][0]["origin"]
    ['spelling']
    """

    def __init__(
        self, paraphraser: Paraphraser, *, contexts: bool = False, jobs: int | None = None
    ) -> None:
        if jobs is not None:
            in_range(jobs, "`jobs`", 1)
        self._paraphraser = paraphraser
        self._contexts = contexts
        self._jobs = jobs
        self._spellings = lru_cache(1)(lambda: NearestSpellings(paraphraser.index))
        self._cached_answer = lru_cache(_CACHED)(self._find)

    def answer(self, request: str | Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a request.

        To a phrase: `phrase`, `count`, `answers` (each with `answer`, `score`, `count`, `origin`,
        and `note` of opposites), `reason` (why there are none, else None). A word that the corpus
        lacks is answered by its nearest spellings, then by words that begin alike, with the origin
        `spelling` or `stem` and without a score. To a request with fields: the same fields, where
        `unknown` is a list of such answers in place of the phrases.

        Arguments:
            request: a phrase; or fields, of which `unknown` is a list of phrases.

        Raises:
            ParameterError: the request is not of this kind.
        """
        if isinstance(request, str):
            return self._of_phrase(request)
        phrases = request.get("unknown")
        if not isinstance(phrases, list) or not all(isinstance(phrase, str) for phrase in phrases):
            raise ParameterError(f"`unknown` is no list of phrases: write {_REQUEST}")
        jobs = 1 if len(phrases) < 2 else self._jobs
        return {**request, "unknown": list(ordered_map(self._of_phrase, phrases, jobs))}

    def answer_line(self, line: bytes) -> dict[str, Any]:
        """Return the answer to a line: a JSON object as `answer` takes it, or a plain phrase.

        A line that cannot be read is answered by an object with `error`.

        Arguments:
            line: UTF-8.
        """
        try:
            text = line.decode().strip()
            if not text.startswith("{"):
                return self.answer(text)
            return self.answer(json.loads(text, parse_constant=_refused, parse_float=_finite))
        except UnicodeDecodeError:
            return {"error": "the line is no UTF-8: send it in this encoding"}
        except ParameterError as error:
            return {"error": str(error).replace("`", "")}
        except (ValueError, RecursionError) as error:
            return {"error": f"the line is no JSON object ({error}): write {_REQUEST}, or a phrase"}

    def answer_lines(self, file: BinaryIO) -> Iterator[dict[str, Any]]:
        """Yield the answer to every line of a file, each before the next line is read.

        Arguments:
            file: open for reading, such as `sys.stdin.buffer`.
        """
        while line := file.readline(_LONGEST_LINE):
            if len(line) < _LONGEST_LINE or line.endswith(b"\n"):
                yield self.answer_line(line)
                continue
            while line and not line.endswith(b"\n"):
                line = file.readline(_LONGEST_LINE)
            yield {"error": f"the line has more than {_LONGEST_LINE:,} bytes: send shorter ones"}

    def _of_phrase(self, phrase: str) -> dict[str, Any]:
        answer, like = self._cached_answer(" ".join(phrase.split()))
        rows: list[dict[str, Any]] = []
        for paraphrase in answer.paraphrases:
            row = {
                "answer": paraphrase.phrase, "score": round(paraphrase.score, 6),
                "count": paraphrase.count, "origin": list(paraphrase.origin),
            }  # fmt: skip
            if self._contexts:
                row |= {
                    "shared_contexts": paraphrase.shared_contexts,
                    "contexts": list(paraphrase.contexts),
                }
            if paraphrase.contrasted or paraphrase.opposite:
                row["note"] = "opposite" if paraphrase.opposite else "contrasted"
            rows.append(row)
        rows += [
            {
                "answer": word_form.word,
                "score": None,
                "count": word_form.count,
                "origin": [word_form.by],
            }
            for word_form in like
        ]
        return {
            "phrase": phrase, "count": answer.count, "answers": rows, "reason": answer.reason
        }  # fmt: skip

    def _find(self, phrase: str) -> tuple[Answer, list[LikeSpelling]]:
        try:
            answer = self._paraphraser.answer(phrase, contexts=self._contexts)
        except ParameterError:
            return _NOTHING, []
        is_word = " " not in answer.focal
        lacks = answer.count == 0 and is_word and answer.reason != _NOTHING.reason
        max_answers = self._paraphraser.options.k
        like = (
            self._spellings().like(answer.focal, min(_MAX_SPELLINGS, max_answers)) if lacks else []
        )
        return answer, like[:max_answers]


def _refused(constant: str) -> float:
    raise ValueError(f"{constant} is no number of JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refused(digits)


FORMAT = "distsim paraphrases"
VERSION = 1


class PhraseParaphrases(NamedTuple):
    """A phrase of a text with its paraphrases and their scores, best first."""

    phrase: str
    paraphrases: list[tuple[str, float]]


class ParaphraseFile(NamedTuple):
    """Contents of a file of paraphrases.

    normaliser, text_format: of their text. phrases: focal phrases with their paraphrases.
    """

    normaliser: Normaliser
    text_format: TextFormat
    phrases: list[PhraseParaphrases]


def settings_line(settings: dict[str, Any]) -> bytes:
    """Return the first line of a file of paraphrases.

    Arguments:
        settings: of the run, names with plain values.
    """
    return _line({"format": FORMAT, "version": VERSION, **settings})


def answer_line(phrase: str, times: int, answer: Answer | None, empty: str = "") -> bytes:
    """Return the line that reports the answer for one phrase of a text.

    Arguments:
        phrase: words separated by spaces.
        times: number of its occurrences in the text.
        answer: its paraphrases.
        empty: the reason given where there is no answer.
    """
    if answer is None:
        return _line({"phrase": phrase, "times": times, "paraphrases": [], "reason": empty})
    return _line({"phrase": phrase, "times": times, **asdict(answer)})


def read_paraphrases(path: str | Path) -> ParaphraseFile:
    """Return the contents of a file of paraphrases, JSON lines or columns of `distsim paraphrase`.

    Columns are focal, rank, paraphrase, score and any more, separated by tabs; NA rows are
    skipped.

    Arguments:
        path: of the file, `-` for standard input.

    Raises:
        InputError: a line is malformed; file and line are named.
    """
    lines = read_lines(path)
    first = next(lines, None)
    if first is None:
        raise InputError(
            f"{file_label(path)}, line 1: the file is empty: write it with "
            "distsim paraphrase --input FILE --known TABLE -o OUT"
        )
    if first[1].startswith(b"{"):
        return _read_json(path, first[1], lines)
    return _read_columns(path, chain([first], lines))


def _read_json(path: str | Path, first: bytes, rest: Iterator[tuple[int, bytes]]) -> ParaphraseFile:
    head = _parsed(path, 1, first)
    if head.get("format") != FORMAT or head.get("version") != VERSION:
        raise InputError(
            f"{file_label(path)}, line 1: no file of paraphrases of version {VERSION}: write it "
            "with distsim paraphrase --input FILE --known TABLE -o OUT"
        )
    try:
        normaliser, text_format = Normaliser.from_manifest(head["normaliser"]), head["text_format"]
        one_of(text_format, TEXT_FORMATS, "text_format")
    except (LookupError, AttributeError, ParameterError):
        raise _fault(path, 1, "the normaliser and the format of a text") from None
    phrases = []
    for number, line in rest:
        values = _parsed(path, number, line)
        try:
            pairs = [
                (str(entry["phrase"]), _score(entry["score"])) for entry in values["paraphrases"]
            ]
            phrases.append(PhraseParaphrases(str(values["phrase"]), pairs))
        except (LookupError, TypeError, ValueError):
            raise _fault(path, number, "a phrase, or the phrase or score of a paraphrase") from None
    return ParaphraseFile(normaliser, text_format, phrases)


def _read_columns(path: str | Path, lines: Iterable[tuple[int, bytes]]) -> ParaphraseFile:
    pairs_of_phrase: dict[str, list[tuple[str, float]]] = {}
    for number, line in lines:
        if not is_utf8(line):
            raise _fault(path, number, "UTF-8")
        columns = line.decode().rstrip("\r\n").split("\t")
        if len(columns) > 1 and columns[1] == "NA":
            continue
        try:
            focal, _, paraphrase, score = columns[:4]
            pairs_of_phrase.setdefault(focal, []).append((paraphrase, _score(score)))
        except ValueError:
            raise _fault(path, number, "focal<TAB>rank<TAB>paraphrase<TAB>score") from None
    phrases = [PhraseParaphrases(focal, pairs) for focal, pairs in pairs_of_phrase.items()]
    return ParaphraseFile(Normaliser(), "lines", phrases)


def _score(written: object) -> float:
    """Return a score; ValueError for anything but a plain number."""
    value = plain_number(str(written))
    if value is None:
        raise ValueError
    return value


def _parsed(path: str | Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        raise _fault(path, number, "a JSON object") from None
    if not isinstance(values, dict):
        raise _fault(path, number, "a JSON object")
    return values


def _fault(path: str | Path, number: int, wanted: str) -> InputError:
    return InputError(
        f"{file_label(path)}, line {number}: cannot be read as paraphrases, wanted {wanted}: "
        "mend the line or write the file again with distsim paraphrase"
    )


def _line(values: dict[str, Any]) -> bytes:
    return (json.dumps(values, ensure_ascii=False) + "\n").encode(errors="replace")


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
