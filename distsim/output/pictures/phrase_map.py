"""Map of a phrase and its neighbours."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from distsim.base.errors import ParameterError
from distsim.comparison.nearest import Neighbour, NeighbourSearch
from distsim.output.pictures.drawing import (
    Bar,
    Circle,
    Drawing,
    Group,
    Line,
    Text,
    shortened,
    width_of,
)
from distsim.output.pictures.layout import angles, fitted, links, spread
from distsim.output.pictures.settings import table_settings
from distsim.signatures.estimates import Estimator
from distsim.signatures.table import StoredTable, TableLike, opened_table

WIDTH, HEIGHT = 720, 740
_SIZE, _PADDING, _LABEL_HEIGHT, _DOT_ROOM = 15.0, 12.0, 18.0, 16.0
_LONGEST_LABEL = 26
_ROW, _TOP, _LIST_WIDTH, _MARGIN = 24.0, 64.0, 460.0, 24.0


class Mark(NamedTuple):
    """A phrase on a map: its place, similarity to the first one, and occurrences."""

    phrase: str
    x: float
    y: float
    similarity: float
    occurrences: int


class Laid(NamedTuple):
    """A layout: phrases in the plane. joined: (phrase, phrase, similarity), by number."""

    marks: tuple[Mark, ...]
    joined: tuple[tuple[int, int, float], ...]


def lay_out(
    table: StoredTable, estimator: Estimator, phrase: str, near: Sequence[Neighbour]
) -> Laid:
    """Return the layout of a phrase and its neighbours, with distances like those of the table.

    Arguments:
        estimator: of the table. phrase: in the table's normal form. near: its neighbours.
    """
    phrases = [phrase, *(one.phrase for one in near)]
    rows = table.find_normal(phrases)
    stored = estimator.known(phrases)
    first, second = np.triu_indices(len(phrases), 1)
    both = stored.known[first] & stored.known[second]
    first, second = first[both], second[both]
    cosines = np.full((len(phrases), len(phrases)), np.nan)
    cosines[first, second] = estimator.cosines(stored, stored, first, second)
    cosines[second, first] = cosines[first, second]
    apart = angles(cosines)
    places = spread(apart).round(5).tolist()
    counts = [int(table.strengths[rows[0]]) if rows[0] >= 0 else 0, *(one.strength for one in near)]
    similarities = [1.0, *(one.similarity for one in near)]
    marks = (
        Mark(text, x, y, similarity, count)
        for text, (x, y), similarity, count in zip(
            phrases, places, similarities, counts, strict=True
        )
    )
    joined = ((i, j, float(np.nan_to_num(cosines[i, j]))) for i, j in links(apart))
    return Laid(tuple(marks), tuple(joined))


def draw_map(
    marks: Sequence[Mark],
    joined: Sequence[tuple[int, int]],
    link: Callable[[str], str | None] = lambda phrase: None,
) -> Drawing:
    """Return a map of phrases, the first of them the focal one.

    Arguments:
        joined: pairs of marks, by number, between which a line is drawn.
        link: where a click on a phrase leads; None: nowhere.

    >>> "alice" in draw_map([Mark("alice", 0, 0, 1, 3)], []).svg()
    True
    """
    labels = [shortened(mark.phrase, _LONGEST_LABEL) for mark in marks]
    widths = np.array([width_of(label, _SIZE) + _PADDING for label in labels])
    places = np.array([(mark.x, mark.y) for mark in marks]).reshape(-1, 2)
    at = fitted(places, widths, _LABEL_HEIGHT + _DOT_ROOM, WIDTH, HEIGHT).round(1).tolist()
    drawing = Drawing(WIDTH, HEIGHT, "Map of the nearest phrases")
    up, down = 0.66 * _LABEL_HEIGHT, 0.62 * _LABEL_HEIGHT
    for a, b in joined:
        (x1, y1), (x2, y2) = at[a], at[b]
        drawing.put(Line(((x1, round(y1 - up, 1)), (x2, round(y2 - up, 1)))))
    for number in reversed(range(len(marks))):  # the focal phrase on top
        (x, y), mark = at[number], marks[number]
        radius = round(min(9.0, 2.5 + 0.9 * float(np.log10(mark.occurrences + 1))), 1)
        told = f"{mark.phrase}: similarity {mark.similarity:.3f}, {mark.occurrences:,} occurrences"
        shapes = (
            Circle(x, round(y - up, 1), radius, "accent" if number else "warm"),
            Text(x, round(y + down, 1), labels[number], _SIZE, "middle",
                 bold=not number),
        )  # fmt: skip
        drawing.put(Group(shapes, told, link(mark.phrase) if number else None))
    return drawing


def neighbour_picture(
    table: TableLike, phrase: str, *, k: int = 20, near: Sequence[Neighbour] | None = None
) -> Drawing:
    """Return a picture of a phrase's neighbours: a list with bars, and a map.

    A notebook shows it as it is; `save` writes it into a file.

    Arguments:
        table: the table.
        phrase: as typed.
        k: the number of neighbours.
        near: the neighbours, where they were found before; the k nearest where None.

    Raises:
        ParameterError: the phrase has no neighbours to draw.

    >>> neighbour_picture(learnt, "alice", k=5).label
    'Neighbours of alice'
    """
    table = opened_table(table)
    if near is None:
        near = NeighbourSearch(table).nearest(phrase, k=k)
    if not near:
        raise ParameterError(f"{phrase!r} has no neighbours in the table: there is nothing to draw")
    laid = lay_out(table, Estimator(table), table.normal_form(phrase), near)
    drawn = draw_map(laid.marks, [(a, b) for a, b, _ in laid.joined])
    height = max(HEIGHT, _ROW * len(near)) + _TOP + _MARGIN
    drawing = Drawing(
        _LIST_WIDTH + WIDTH + 3 * _MARGIN, height, f"Neighbours of {phrase}",
        settings=table_settings(table),
    )  # fmt: skip
    drawing.put(Text(_MARGIN, 36, shortened(f"Neighbours of {phrase}", 80), 20, bold=True))
    for number, one in enumerate(near):
        y = _TOP + number * _ROW
        full = 150.0
        known = not math.isnan(one.similarity)
        length = round(full * max(0.0, one.similarity), 1) if known else 0.0
        drawing.put(
            Text(_MARGIN, y + 14, shortened(one.phrase, 28)),
            Bar(_MARGIN + 230, y + 4, full, 10, "track"),
            Bar(_MARGIN + 230, y + 4, length, 10),
            Text(_MARGIN + 440, y + 14, f"{one.similarity:.3f}" if known else "NA", anchor="end"),
        )
    moved = _LIST_WIDTH + 2 * _MARGIN
    drawing.put(*(_moved(shape, moved, _TOP) for shape in drawn.shapes))
    return drawing


def _moved(shape: "Group | Line | Text | Circle | Bar", x: float, y: float):  # type: ignore[no-untyped-def]

    if isinstance(shape, Group):
        return replace(shape, shapes=tuple(_moved(one, x, y) for one in shape.shapes))
    if isinstance(shape, Line):
        return replace(shape, points=tuple((a + x, b + y) for a, b in shape.points))
    return replace(shape, x=shape.x + x, y=shape.y + y)
