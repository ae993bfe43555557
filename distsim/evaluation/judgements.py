"""Forms for human judgements of rewritings, and their statistics: means, sign tests, kappa.

Thesis 4.3.2 and 5.4.2.3: meaning and grammar on five points, systems unnamed and in another
order in every item, with controls: the copy, words deleted at random, a reference.
"""

import csv
import io
import math
import random
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from distsim.base.arguments import whole_number
from distsim.base.errors import InputError
from distsim.corpus.numbers import plain_count, plain_number
from distsim.corpus.sources import printable
from distsim.evaluation.rewritings import COPY, System, shortened
from distsim.storage import open_output

COLUMNS = ("row", "item", "source", "rewriting", "meaning", "grammar")
SCALES = ("meaning", "grammar")
REFERENCE, DELETION = "reference", "random deletion"
_TIED_LENGTHS = 0.1
_POINTS = range(1, 6)


def write_form(
    path: str | Path,
    key_path: str | Path,
    source: Sequence[str],
    systems: Sequence[System],
    references: Sequence[Sequence[str]],
    *,
    items: int = 50,
    seed: int = 1,
) -> int:
    """Return the number of rows of a form, after writing the form and its key.

    A row has empty columns `meaning` and `grammar`, for 1 (none) to 5 (all of it). The key names
    the system of each row and how many words it has of the source's.

    Arguments:
        items: number of sentences, drawn at random. seed: of the draw and the order, 0 or more.
    """
    draw = random.Random(whole_number(seed, "`seed`", 0))
    chosen = sorted(draw.sample(range(len(source)), min(items, len(source))))
    form, key = io.StringIO(), io.StringIO()
    writers = [csv.writer(one, delimiter="\t", lineterminator="\n") for one in (form, key)]
    writers[0].writerow(COLUMNS)
    writers[1].writerow(("row", "item", "system", "ratio"))
    n = 0
    for item in chosen:
        text = source[item]
        size = max(1, len(text.split()))
        shortest = min(len(one.sentences[item].split()) for one in systems)
        shown = [(one.name, one.sentences[item]) for one in systems]
        shown.append((COPY, text))
        shown.append((DELETION, shortened(text, shortest, draw)))
        shown.append((REFERENCE, draw.choice(references)[item]))
        draw.shuffle(shown)
        for name, sentence in shown:
            n += 1
            writers[0].writerow((n, item + 1, text, sentence, "", ""))
            writers[1].writerow(
                (n, item + 1, printable(name), f"{len(sentence.split()) / size:.4f}")
            )
    for place, text_out in ((path, form), (key_path, key)):
        with open_output(place, follow=place == path) as out:
            out.write(text_out.getvalue().encode())
    return n


class Mean(NamedTuple):
    """Mean judgement of a system on a scale."""

    system: str
    scale: str
    mean: float
    judgements: int
    ratio: float


class Comparison(NamedTuple):
    """Comparison of two systems on a scale, over rewritings of similar length (within a tenth)."""

    first: str
    second: str
    scale: str
    wins: int
    losses: int
    ties: int
    p: float


class Judged(NamedTuple):
    """Statistics of filled-in forms. kappa: weighted, by scale, the mean over pairs of judges.

    failed: judges who put a random deletion above the reference in meaning on average.
    """

    means: list[Mean]
    comparisons: list[Comparison]
    kappa: dict[str, float]
    failed: list[str]


def sign_test(wins: int, losses: int) -> float:
    """Return the p-value of the two-sided sign test, ties left out.

    >>> sign_test(8, 2), sign_test(0, 0)
    (0.109375, 1.0)
    """
    n = wins + losses
    tail = sum(math.comb(n, k) for k in range(min(wins, losses) + 1))
    return min(1.0, float(2 * tail / 2**n))


def weighted_kappa(first: Sequence[int], second: Sequence[int]) -> float:
    """Return Cohen's kappa of two judges on five points, with quadratic weights.

    1 where both always say the same one thing.

    >>> weighted_kappa([1, 3, 5], [1, 3, 5]), round(weighted_kappa([1, 3, 5, 4], [2, 3, 4, 4]), 3)
    (1.0, 0.826)
    """
    n = len(first)
    observed = sum((a - b) ** 2 for a, b in zip(first, second, strict=True)) / n
    expected = sum((a - b) ** 2 for a in first for b in second) / n**2
    return 1.0 if expected == 0 else 1 - observed / expected


def evaluate_forms(forms: Sequence[str | Path], key: str | Path) -> Judged:
    """Return the statistics of forms, each filled in by one judge.

    Raises:
        InputError: a row is not of the key, or a judgement is no whole number of 1 to 5; the
            message names file and line.
    """
    names: dict[str, tuple[str, str, float]] = {}
    for line, row in _rows(key, ("row", "item", "system", "ratio")):
        ratio = plain_number(row["ratio"])
        if ratio is None:
            raise InputError(f"{key}, line {line}: {row['ratio']!r} is no number: restore the key")
        names[row["row"]] = row["item"], row["system"], ratio
    scores: dict[str, dict[tuple[str, str], int]] = {}
    for form in forms:
        mine: dict[tuple[str, str], int] = {}
        for line, row in _rows(form, COLUMNS):
            if row["row"] not in names:
                raise InputError(
                    f"{form}, line {line}: row {row['row']!r} is not in {key}: name its own key"
                )
            for scale in SCALES:
                text = row[scale].strip()
                if not text:
                    continue
                points = plain_count(text)
                if points is None or points not in _POINTS:
                    raise InputError(
                        f"{form}, line {line}: {scale} {text!r}: write a whole number of 1 to 5, "
                        "or nothing"
                    )
                mine[row["row"], scale] = points
        scores[str(form)] = mine
    return Judged(
        _means(scores, names), _comparisons(scores, names), _kappa(scores), _failed(scores, names)
    )


def _rows(path: str | Path, columns: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): check the path") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not valid UTF-8: convert the file to UTF-8") from None
    try:
        lines = list(csv.reader(io.StringIO(text), delimiter="\t"))
    except csv.Error as error:
        raise InputError(f"{path}: is no form or key of ours ({error}): restore it") from None
    if not lines or lines[0] != list(columns):
        raise InputError(f"{path}, line 1: wanted the columns {', '.join(columns)}, parted by tabs")
    rows = []
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(columns):
            raise InputError(
                f"{path}, line {number}: {len(line)} columns, wanted {len(columns)}: restore the "
                "row"
            )
        rows.append((number, dict(zip(columns, line, strict=True))))
    return rows


Scores = dict[str, dict[tuple[str, str], int]]
Names = dict[str, tuple[str, str, float]]


def _means(scores: Scores, names: Names) -> list[Mean]:
    found: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
    for mine in scores.values():
        for (row, scale), points in mine.items():
            _, system, ratio = names[row]
            found[system, scale].append((points, ratio))
    return [
        Mean(
            system, scale, sum(p for p, _ in some) / len(some), len(some),
            sum(r for _, r in some) / len(some),
        )
        for (system, scale), some in sorted(found.items())
    ]  # fmt: skip


def _comparisons(scores: Scores, names: Names) -> list[Comparison]:
    rows: dict[str, dict[str, tuple[str, float]]] = defaultdict(dict)
    for row, (item, system, ratio) in names.items():
        rows[system][item] = row, ratio
    found = []
    for first, second in combinations(sorted(rows), 2):
        for scale in SCALES:
            wins = losses = ties = 0
            for item in sorted(set(rows[first]) & set(rows[second])):
                (one, ratio), (two, other) = rows[first][item], rows[second][item]
                if abs(ratio - other) > _TIED_LENGTHS:
                    continue
                for mine in scores.values():
                    a, b = mine.get((one, scale)), mine.get((two, scale))
                    if a is None or b is None:
                        continue
                    wins, losses, ties = wins + (a > b), losses + (a < b), ties + (a == b)
            p = sign_test(wins, losses)
            found.append(Comparison(first, second, scale, wins, losses, ties, p))
    return found


def _kappa(scores: Scores) -> dict[str, float]:
    out = {}
    for scale in SCALES:
        pairs = []
        for one, two in combinations(scores.values(), 2):
            both = sorted(key for key in one if key[1] == scale and key in two)
            if both:
                pairs.append(weighted_kappa([one[k] for k in both], [two[k] for k in both]))
        if pairs:
            out[scale] = sum(pairs) / len(pairs)
    return out


def _failed(scores: Scores, names: Names) -> list[str]:
    failed = []
    for judge, mine in scores.items():
        means = {}
        for wanted in (REFERENCE, DELETION):
            points = [p for (row, scale), p in mine.items()
                      if scale == "meaning" and names[row][1] == wanted]  # fmt: skip
            means[wanted] = sum(points) / len(points) if points else math.nan
        if means[DELETION] >= means[REFERENCE]:
            failed.append(judge)
    return failed
