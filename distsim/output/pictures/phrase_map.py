"""Map of a phrase and its neighbours."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from distsim.comparison.nearest import Neighbour
from distsim.output.pictures.drawing import (
    Circle,
    Drawing,
    Group,
    Line,
    Text,
    shortened,
    width_of,
)
from distsim.output.pictures.layout import angles, fitted, links, spread
from distsim.signatures.estimates import Estimator
from distsim.signatures.table import StoredTable

WIDTH, HEIGHT = 720, 740
_SIZE, _PADDING, _LABEL_HEIGHT, _DOT_ROOM = 15.0, 12.0, 18.0, 16.0
_LONGEST_LABEL = 26


class Mark(NamedTuple):
    """A phrase on a map.

    phrase: its words. x, y: its place. similarity: to the first phrase. occurrences: its count.
    """

    phrase: str
    x: float
    y: float
    similarity: float
    occurrences: int


class Laid(NamedTuple):
    """A layout: phrases in the plane.

    marks: the phrases. joined: (phrase, phrase, similarity), by number.
    """

    marks: tuple[Mark, ...]
    joined: tuple[tuple[int, int, float], ...]


def lay_out(
    table: StoredTable, estimator: Estimator, phrase: str, near: Sequence[Neighbour]
) -> Laid:
    """Return the layout of a phrase and its neighbours, with distances like those of the table.

    Arguments:
        estimator: of the table. phrase: in the table's normal form. near: its neighbours.
        table: a table of signatures.
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
        marks: positions and texts of the phrases.

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
