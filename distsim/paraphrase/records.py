"""Files of paraphrases: JSON lines of settings, then of focal phrases; or columns."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from distsim.base.arguments import one_of
from distsim.base.choices import TextFormat
from distsim.base.errors import InputError, ParameterError
from distsim.corpus.lines import is_utf8, read_lines
from distsim.corpus.normaliser import Normaliser
from distsim.corpus.numbers import plain_number
from distsim.corpus.sources import file_label
from distsim.corpus.tokeniser import TEXT_FORMATS
from distsim.paraphrase.paraphraser import Answer

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
            "distsim paraphrase --text FILE --known TABLE -o OUT"
        )
    if first[1].startswith(b"{"):
        return _read_json(path, first[1], lines)
    return _read_columns(path, chain([first], lines))


def _read_json(path: str | Path, first: bytes, rest: Iterator[tuple[int, bytes]]) -> ParaphraseFile:
    head = _parsed(path, 1, first)
    if head.get("format") != FORMAT or head.get("version") != VERSION:
        raise InputError(
            f"{file_label(path)}, line 1: no file of paraphrases of version {VERSION}: write it "
            "with distsim paraphrase --text FILE --known TABLE -o OUT"
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
            pairs = [(str(one["phrase"]), _score(one["score"])) for one in values["paraphrases"]]
            phrases.append(PhraseParaphrases(str(values["phrase"]), pairs))
        except (LookupError, TypeError, ValueError):
            raise _fault(path, number, "a phrase, or the phrase or score of a paraphrase") from None
    return ParaphraseFile(normaliser, text_format, phrases)


def _read_columns(path: str | Path, lines: Iterable[tuple[int, bytes]]) -> ParaphraseFile:
    found: dict[str, list[tuple[str, float]]] = {}
    for number, line in lines:
        if not is_utf8(line):
            raise _fault(path, number, "UTF-8")
        columns = line.decode().rstrip("\r\n").split("\t")
        if len(columns) > 1 and columns[1] == "NA":
            continue
        try:
            focal, _, paraphrase, score = columns[:4]
            found.setdefault(focal, []).append((paraphrase, _score(score)))
        except ValueError:
            raise _fault(path, number, "focal<TAB>rank<TAB>paraphrase<TAB>score") from None
    phrases = [PhraseParaphrases(focal, pairs) for focal, pairs in found.items()]
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
