"""Forms for judges of rewritten sentences or phrases, and what the judges wrote in them.

Meaning and grammar from 1 to 5 (Callison-Burch 2008, 4.2; thesis 4.3.2), or one rating of both.
"""

import csv
import io
import json
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import NamedTuple

import numpy as np

from distsim.base.arguments import AnyPath, one_of, whole_number
from distsim.base.errors import InputError, ParameterError, counted
from distsim.evaluation.correlations import alpha, weighted_kappa
from distsim.evaluation.rewritings import COPY, System, shortened, with_nonsense
from distsim.storage.files import open_output

QUESTIONS = {
    "meaning": "5 all of the source's meaning, nothing added; 4 a nuance is lost; 3 some of the "
    "meaning is lost or added; 2 substantially another; 1 completely another",
    "grammar": "5 perfect; 4 slightly awkward; 3 one error; 2 several errors; 1 not English",
    "rating": "5 can stand in the source's place; 4 nearly; 3 in some sentences; 2 is only "
    "related; 1 cannot",
}
MARKS = range(1, 6)
NONSENSE, DELETION = "nonsense", "deletion"
SHEET, PAGE, KEY = "judge.csv", "judge.html", "key.csv"
_CONTROL_EVERY = 5
_SAMPLES = 1000


@dataclass(frozen=True)
class FormSettings:
    """Settings of `judge forms`.

    Arguments:
        deletion: whether random deletion is among the controls.
        seed: of the order, and of deletion.
    """

    deletion: bool = True
    seed: int = 1


class SystemMarks(NamedTuple):
    """The marks of one system for one question: number, mean, ends of its 95% interval.

    difference: the mean less the baseline's, over sources where both have marks, and the ends of
    its 95% interval; empty without a baseline.

    >>> SystemMarks("copy", "meaning", 20, 4.9, 4.8, 5.0).mean
    4.9
    """

    system: str
    question: str
    n: int
    mean: float
    low: float
    high: float
    difference: tuple[float, float, float] | tuple[()] = ()


class JudgeAgreement(NamedTuple):
    """How judges agree on a question, controls left out.

    n: lines with two marks or more. alpha: Krippendorff's, ordinal. kappa: Cohen's with quadratic
    weights, the mean over pairs of judges. NaN where there is one judge or all marks are equal.

    >>> JudgeAgreement("meaning", 40, 0.61, 0.63).kappa
    0.63
    """

    question: str
    n: int
    alpha: float
    kappa: float


class Judgements(NamedTuple):
    """What judges wrote: rows by system and question; agreement by question; doubtful judges.

    doubtful: of judges whose mark for a copy is not above that for nonsense, in the mean.

    >>> Judgements([], [], []).doubtful
    []
    """

    rows: list[SystemMarks]
    agreement: list[JudgeAgreement]
    doubtful: list[str]


def write_forms(
    sources: Sequence[str],
    systems: Sequence[System],
    folder: AnyPath,
    *,
    questions: Sequence[str] = ("meaning", "grammar"),
    deletion: bool = True,
    seed: int = 1,
) -> int:
    """Write forms for judges; return how many lines they have.

    The folder gets judge.csv and judge.html, the same lines to be marked in a spreadsheet or a
    browser, and key.csv, which judges must not see: of each id the systems and the number of its
    source. Lines are in random order, and equal ones of several systems are one. Hidden controls:
    for each fifth source a copy and one with nonsense for its longest word; random deletion to the
    length of the first system's output where that is shorter than the source.

    Arguments:
        sources: sentences or phrases. systems: people's references may be among them.
        questions: of QUESTIONS. deletion: whether random deletion is among the controls.

    Raises:
        ParameterError: an unknown question, two systems of one name, or one of a control's.
        InputError: the folder has forms already.

    >>> write_forms(["the old king slept"], [System("mine", ["the king slept"])], folder)
    4
    """
    for question in questions:
        one_of(question, QUESTIONS, "questions")
    names = [system.name for system in systems]
    if len({*names, COPY, NONSENSE, DELETION}) < len(names) + 3:
        raise ParameterError(
            f"systems {', '.join(names)}: give names that differ, none a control's"
        )
    draw = random.Random(whole_number(seed, "`seed`", 0))
    lines: dict[tuple[str, str], list[str]] = defaultdict(list)
    for place, source in enumerate(sources):
        for system in systems:
            lines[source, system.sentences[place]].append(system.name)
        words = len(systems[0].sentences[place].split()) if systems else 0
        if deletion and 0 < words < len(source.split()):
            lines[source, shortened(source, words, draw)].append(DELETION)
        if place % _CONTROL_EVERY == 0:
            lines[source, source].append(COPY)
            lines[source, with_nonsense(source)].append(NONSENSE)
    order = draw.sample(sorted(lines), len(lines))
    rows = [(str(number), *pair) for number, pair in enumerate(order, 1)]
    forms_folder = Path(folder)
    if (forms_folder / KEY).exists():
        raise InputError(
            f"{forms_folder}: has forms already: name another folder, judges may use these"
        )
    forms_folder.mkdir(parents=True, exist_ok=True)
    empty = ("",) * len(questions)
    _write(
        forms_folder / SHEET,
        _csv([("id", "source", "output", *questions), *(r + empty for r in rows)]),
    )
    _write(forms_folder / PAGE, _page(rows, questions, forms_folder.name))
    numbers = {source: str(n) for n, source in enumerate(dict.fromkeys(sources), 1)}
    key_rows = [(row[0], ";".join(lines[row[1], row[2]]), numbers[row[1]]) for row in rows]
    _write(forms_folder / KEY, _csv([("id", "systems", "source"), *key_rows]))
    return len(rows)


def _write(path: Path, text: str) -> None:
    with open_output(path) as out:
        out.write(text.encode())


def _csv(rows: Sequence[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _page(rows: Sequence[Sequence[str]], questions: Sequence[str], name: str) -> str:
    template = files("distsim").joinpath("data/judging/page.html").read_text("utf-8")
    content = {"questions": {question: QUESTIONS[question] for question in questions}, "rows": rows}
    shown = json.dumps(content, ensure_ascii=False).replace("<", "\\u003c")
    return Template(template).substitute(items=shown, name=f"{name} {len(rows)}".replace('"', ""))


def read_forms(
    key: AnyPath, sheets: Sequence[AnyPath], *, baseline: str | None = None
) -> Judgements:
    """Return what judges wrote in sheets of one form.

    A mark of an output that several systems have counts for each. Marks of judges are averaged by
    line; intervals are of a bootstrap over sources.

    Arguments:
        key: key.csv. sheets: of each judge a copy of judge.csv with marks, or its ids and marks
            alone; empty marks are none. Columns may be separated by commas, semicolons or tabs.
        baseline: a system, a person or a control, from which others' differences are taken.

    Raises:
        InputError: a file is none of these, ids differ, a mark is not 1 to 5, or neither key nor
            sheet has sources (keys made before 28 November 2026 have none).
        ParameterError: the key has no such baseline.

    >>> read_forms("forms/key.csv", ["ann.csv", "ben.csv"]).agreement  # doctest: +SKIP
    """
    keys = {row["id"]: row for _, row in _rows(key, ("id", "systems"), KEY)}
    systems = {name: row["systems"].split(";") for name, row in keys.items()}
    names = list(dict.fromkeys(name for of in systems.values() for name in of))
    if baseline is not None:
        one_of(baseline, sorted(names), "baseline")
    every = [_marks_of(sheet, systems) for sheet in sheets]
    questions = [
        name
        for name in QUESTIONS
        if any(name in row for sheet, _ in every for row in sheet.values())
    ]
    sources = _sources(key, keys, every)
    rows, agreement = [], []
    for question in questions:
        table = np.array([[sheet.get(i, {}).get(question, np.nan) for i in systems]
                          for sheet, _ in every])  # fmt: skip
        tested = [not {COPY, NONSENSE} & set(of) for of in systems.values()]
        agreement.append(_agreement(question, table[:, tested]))
        mean_marks = dict(zip(systems, _means(table), strict=True))
        marks = {
            name: {i: mean_marks[i] for i, of in systems.items() if name in of} for name in names
        }
        for name in names:
            difference = _difference(marks[name], marks[baseline], sources) if baseline else ()
            interval = _mean_of(marks[name], sources)
            rows.append(SystemMarks(name, question, *interval, difference))
    doubtful = [
        str(path) for path, (of, _) in zip(sheets, every, strict=True) if _doubt(of, systems)
    ]
    return Judgements(sorted(rows, key=lambda judged: judged.system), agreement, doubtful)


_Marks = dict[str, dict[str, float]]
_Sources = dict[str, str]


def _rows(path: AnyPath, columns: Sequence[str], form: str) -> list[tuple[int, dict[str, str]]]:
    """Return (line, fields) of a CSV file, which is one of the form's."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    head = text.split("\n", 1)[0]
    if "\t" in head:
        reader = csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)
    else:
        reader = csv.DictReader(io.StringIO(text), delimiter=";" if ";" in head else ",")
    if not set(columns) <= set(reader.fieldnames or ()):
        raise InputError(f"{path}, line 1: columns {', '.join(columns)} wanted: give {form}")
    return [(reader.line_num, {k: v or "" for k, v in row.items() if k}) for row in reader]


def _sources(
    key: AnyPath, keys: Mapping[str, Mapping[str, str]], every: Sequence[tuple[_Marks, _Sources]]
) -> _Sources:
    """Return the source of each id, by the key or, as older keys have none, by a sheet."""
    of_key = {name: row["source"] for name, row in keys.items() if "source" in row}
    for sources in (of_key, *(of_sheet for _, of_sheet in every)):
        if sources:
            return sources
    raise InputError(
        f"{key}: has no sources, nor has any sheet: give a sheet with the column source"
    )


def _marks_of(path: AnyPath, systems: Mapping[str, object]) -> tuple[_Marks, _Sources]:
    """Return (marks by id and question, source by id, empty without this column) of a judge."""
    marks: _Marks = {}
    sources = {}
    rows = _rows(path, ("id",), SHEET)
    if rows and not set(QUESTIONS) & rows[0][1].keys():
        raise InputError(f"{path}, line 1: no column is {', '.join(QUESTIONS)}: give {SHEET}")
    for line, row in rows:
        if row["id"] in marks:
            raise InputError(f"{path}, line {line}: id {row['id']} has a line already")
        marks_of_row = marks[row["id"]] = {}
        if "source" in row:
            sources[row["id"]] = row["source"]
        for name in QUESTIONS:
            text = row.get(name, "").strip()
            if text and text not in map(str, MARKS):
                raise InputError(f"{path}, line {line}: {name} {text!r}: write 1 to 5, or nothing")
            if text:
                marks_of_row[name] = float(text)
    if marks.keys() != systems.keys():
        raise InputError(
            f"{path}: {counted(len(marks), 'id')}, the key has {len(systems)}: give its own sheet"
        )
    return marks, sources


def _means(table: np.ndarray) -> list[float]:
    """Return the mean mark of each line over judges, NaN without one."""
    is_marked = ~np.isnan(table)
    sums = np.where(is_marked, table, 0.0).sum(axis=0)
    means = np.where(is_marked.any(axis=0), sums / np.maximum(1, is_marked.sum(axis=0)), np.nan)
    return [float(mean) for mean in means]


def _difference(
    marks: dict[str, float], baseline: dict[str, float], sources: dict[str, str]
) -> tuple[float, float, float]:
    """Return (mean difference, low, high) of the sources that both have marks of."""
    by_source = [
        {sources[i]: mark for i, mark in marks_of_sources.items() if not np.isnan(mark)}
        for marks_of_sources in (marks, baseline)
    ]
    shared = by_source[0].keys() & by_source[1].keys()
    gaps = {source: by_source[0][source] - by_source[1][source] for source in sorted(shared)}
    return _mean_of(gaps, dict(zip(gaps, gaps, strict=True)))[1:]


def _mean_of(marks: dict[str, float], sources: dict[str, str]) -> tuple[int, float, float, float]:
    """Return (number, mean, low, high) of marks, sources resampled."""
    groups: dict[str, list[float]] = defaultdict(list)
    for i, mark in marks.items():
        if not np.isnan(mark):
            groups[sources[i]].append(mark)
    if not groups:
        return 0, np.nan, np.nan, np.nan
    sums = np.array([[sum(group_marks), len(group_marks)] for group_marks in groups.values()])
    drawn = np.random.default_rng(1).integers(0, len(sums), (_SAMPLES, len(sums)))
    sampled = sums[drawn].sum(axis=1)
    low, high = np.quantile(sampled[:, 0] / sampled[:, 1], (0.025, 0.975)).tolist()
    total, n = sums.sum(axis=0).tolist()
    return int(n), total / n, low, high


def _agreement(question: str, table: np.ndarray) -> JudgeAgreement:
    """table: float64[judges, lines], NaN for no mark."""
    both = table[:, (~np.isnan(table)).sum(axis=0) >= 2]
    kappas = [
        weighted_kappa(*both[:, ~np.isnan(both[[a, b]]).any(axis=0)][[a, b]])
        for a in range(len(table)) for b in range(a)
    ]  # fmt: skip
    kappa = float(np.mean(kappas)) if kappas else np.nan
    return JudgeAgreement(question, both.shape[1], alpha(table), kappa)


def _doubt(marks: _Marks, systems: Mapping[str, Sequence[str]]) -> bool:
    """Return whether a judge's marks for copies are not above those for nonsense."""
    of = {name: [m for i, names in systems.items() if name in names for m in marks[i].values()]
          for name in (COPY, NONSENSE)}  # fmt: skip
    return all(of.values()) and bool(np.mean(of[COPY]) <= np.mean(of[NONSENSE]))
