"""Map of a phrase and its neighbours.

Drawings are shapes on a sheet, written as SVG for the server's pages. The layout finds places in
the plane, links, and labels without overlap: arrays in, arrays out; nothing is drawn by chance, so
a picture is the same every time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal, NamedTuple
from unicodedata import east_asian_width

import numpy as np
from numpy.typing import NDArray

from distsim.base.errors import counted
from distsim.comparison.nearest import Neighbour
from distsim.signatures.table import StoredTable

ColourRole = Literal["ink", "accent", "warm", "line"]


@dataclass(frozen=True)
class Label:
    """A line of text.

    x, y: place of its anchor, on the baseline. text: what is written. size: in pixels. anchor: the
    end that is at x. kind: its colour by name. bold: in bold.
    """

    x: float
    y: float
    text: str
    size: float = 14.0
    anchor: Literal["start", "middle", "end"] = "start"
    kind: ColourRole = "ink"
    bold: bool = False


@dataclass(frozen=True)
class Polyline:
    """Straight pieces from point to point.

    points: (x, y) of each. kind: colour by name. width: in pixels.
    """

    points: tuple[tuple[float, float], ...]
    kind: ColourRole = "line"
    width: float = 1.2


@dataclass(frozen=True)
class Circle:
    """A disc.

    x, y: its centre. radius: in pixels. kind: colour by name.
    """

    x: float
    y: float
    radius: float
    kind: ColourRole = "accent"


@dataclass(frozen=True)
class Group:
    """A group of shapes. tooltip: what it shows. link: the URL that a click opens."""

    shapes: tuple["Shape", ...]
    tooltip: str
    link: str | None = None


Shape = Label | Polyline | Circle | Group


@dataclass
class Drawing:
    """A drawing of width x height units, from the upper left corner; later shapes are on top.

    label: what the picture is, for those who do not see it.

    >>> drawing = Drawing(100, 40, "An example", [Label(10, 20, "a < b")])
    >>> "a &lt; b" in drawing.svg()
    True
    """

    width: float
    height: float
    label: str
    shapes: list[Shape] = field(default_factory=list)

    def put(self, *shapes: Shape) -> None:
        """Add shapes to the drawing, above those that it has."""
        self.shapes += shapes

    def svg(self) -> str:
        """Return the picture as SVG, with classes (`p-ink`) for a page that has its own sheet."""
        parts = [
            f'<svg class="picture" xmlns="http://www.w3.org/2000/svg" '
            f'viewBox="0 0 {self.width:g} {self.height:g}" role="group" '
            f'aria-label="{_safe(self.label)}">'
        ]
        return "".join([*parts, *map(_svg, self.shapes)]) + "</svg>"


def width_of(text: str, size: float) -> float:
    """Return the approximate width of a text, in units of the drawing.

    Arguments:
        text: in a sans-serif face.
        size: of its letters, in the same units.
    """
    letters = sum(2.0 if east_asian_width(c) in "WF" else 1.0 for c in text)
    return 0.56 * size * letters


def shortened(text: str, max_characters: int) -> str:
    """Return a text of at most `max_characters` characters, cut with an ellipsis.

    Arguments:
        max_characters: maximum number of characters.

    >>> shortened("in spite of", 6)
    'in sp…'
    """
    return text if len(text) <= max_characters else text[: max_characters - 1] + "…"


def _svg(shape: Shape) -> str:
    if isinstance(shape, Group):
        inner = f"<title>{_safe(shape.tooltip)}</title>" + "".join(map(_svg, shape.shapes))
        if shape.link is not None:
            return f'<a href="{_safe(shape.link)}">{inner}</a>'
        return f"<g>{inner}</g>"
    look = f'class="p-{shape.kind}"'
    if isinstance(shape, Label):
        bold = ' font-weight="700"' if shape.bold else ""
        return (
            f'<text x="{shape.x:g}" y="{shape.y:g}" font-size="{shape.size:g}" '
            f'text-anchor="{shape.anchor}" {look}{bold}>{_safe(shape.text)}</text>'
        )
    if isinstance(shape, Circle):
        return f'<circle cx="{shape.x:g}" cy="{shape.y:g}" r="{shape.radius:g}" {look}/>'
    points = " ".join(f"{x:g},{y:g}" for x, y in shape.points)
    look = f'class="p-{shape.kind} p-stroke"'
    return f'<polyline points="{points}" fill="none" stroke-width="{shape.width:g}" {look}/>'


def _safe(text: str) -> str:
    """Return text for XML: escaped, without characters that XML does not allow."""
    safe = "".join(
        c if c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff" else "\ufffd"
        for c in text
    )
    return escape(safe)


_ROUNDS, _STILL = 200, 1e-3  # of the drawing's size, moved in a round
_PUSHES, _TOUCH = 120, 1.0  # how far labels may be on each other
_SMALLEST_LENGTH = 1e-9


def angles(cosines: np.ndarray) -> NDArray[np.float64]:
    """Return the angle between every two phrases as a share of a half turn, float64[n, n].

    Arguments:
        cosines: float64[n, n], -1 to 1; NaN where not known, which counts as 0.

    >>> angles(np.array([[1.0, 0.0], [0.0, 1.0]])).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    known = np.clip(np.where(np.isnan(cosines), 0.0, cosines), -1.0, 1.0)
    shares: NDArray[np.float64] = np.arccos(known) / np.pi
    np.fill_diagonal(shares, 0.0)
    return shares


def spread(distances: np.ndarray) -> NDArray[np.float64]:
    """Return places in the plane with about the given distances, float64[n, 2].

    Starts from the two strongest axes of classical scaling and lowers the stress by
    majorisation (de Leeuw 1977), short distances weighing more: 1 / distance^2. The mean is 0.

    Arguments:
        distances: float64[n, n], symmetric.

    >>> places = spread(np.array([[0.0, 3, 4], [3, 0, 5], [4, 5, 0]]))
    >>> round(float(np.hypot(*(places[1] - places[2]))), 3)
    5.0
    """
    n = len(distances)
    if n < 2:
        return np.zeros((n, 2))
    wanted = np.maximum(distances.astype(np.float64), 1e-3)
    np.fill_diagonal(wanted, 0.0)
    centring = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * centring @ wanted**2 @ centring)
    places = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], _SMALLEST_LENGTH))
    signs = np.sign(places[np.argmax(np.abs(places), axis=0), [0, 1]])
    places = places * np.where(signs == 0, 1.0, signs)
    weights = np.where(wanted > 0, 1.0 / np.maximum(wanted, _SMALLEST_LENGTH) ** 2, 0.0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv(laplacian)
    for _ in range(_ROUNDS):
        apart = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))
        ratio = weights * wanted / np.maximum(apart, _SMALLEST_LENGTH)
        np.fill_diagonal(ratio, 0.0)
        turned = np.diag(ratio.sum(axis=1)) - ratio
        moved = inverse @ (turned @ places)
        step = float(np.abs(moved - places).max())
        places = moved
        if step < _STILL * float(np.ptp(places)):
            break
    centred: NDArray[np.float64] = places - places.mean(axis=0)
    return centred


def links(distances: np.ndarray, each: int = 2) -> list[tuple[int, int]]:
    """Return the pairs (i, j), i < j, in which one is among the `each` nearest of the other.

    Arguments:
        distances: float64[n, n], symmetric.
        each: number of neighbours of each point.

    >>> links(np.array([[0.0, 1, 9], [1, 0, 8], [9, 8, 0]]), 1)
    [(0, 1), (1, 2)]
    """
    apart = distances.astype(np.float64)
    np.fill_diagonal(apart, np.inf)
    near = np.argsort(apart, axis=1, kind="stable")[:, : min(each, len(apart) - 1)]
    pairs = {(min(i, int(j)), max(i, int(j))) for i, row in enumerate(near) for j in row}
    return sorted(pairs)


def fitted(
    places: np.ndarray, widths: np.ndarray, height: float, width: float, tall: float
) -> NDArray[np.float64]:
    """Return the positions of labels, moved until they do not overlap, float64[n, 2].

    Arguments:
        places: float64[n, 2], wanted positions, in any unit; they are scaled to the frame.
        widths: float64[n], width of each label, centred on its position.
        width, tall: width and height of the frame, whose corner is (0, 0), in the unit of widths.
    """
    n = len(places)
    half = np.column_stack([widths / 2, np.full(n, height / 2)])
    low, high = half, np.array([width, tall]) - half
    span = np.maximum(np.ptp(places, axis=0), _SMALLEST_LENGTH) if n else np.ones(2)
    least = places.min(axis=0) if n else np.zeros(2)
    at: NDArray[np.float64] = low + (places - least) / span * np.maximum(high - low, 0.0)
    for _ in range(_PUSHES):
        gap = at[:, None] - at[None]
        room = half[:, None] + half[None] - np.abs(gap)
        over = np.all(room > _TOUCH, axis=2)
        np.fill_diagonal(over, False)
        if not over.any():
            break
        # Apart along the axis on which less is wanting; of two on one spot, the later goes on.
        order = np.sign(np.subtract.outer(np.arange(n), np.arange(n)))
        toward = np.where(gap != 0, np.sign(gap), order[:, :, None])
        upright = room[:, :, 1] <= room[:, :, 0]
        push = np.zeros_like(gap)
        push[:, :, 1] = np.where(over & upright, toward[:, :, 1] * room[:, :, 1], 0.0)
        push[:, :, 0] = np.where(over & ~upright, toward[:, :, 0] * room[:, :, 0], 0.0)
        at = np.clip(at + 0.3 * push.sum(axis=1), low, np.maximum(high, low))
    return at


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


def lay_out(table: StoredTable, phrase: str, near: Sequence[Neighbour]) -> Laid:
    """Return the layout of a phrase and its neighbours, with distances like those of the table.

    Arguments:
        phrase: in the table's normal form. near: its neighbours.
    """
    estimator, phrases = table.estimator(), [phrase, *(neighbour.phrase for neighbour in near)]
    rows = table.find_normal(phrases)
    known_phrases = estimator.of_phrases(phrases)
    first, second = np.triu_indices(len(phrases), 1)
    both = known_phrases.known[first] & known_phrases.known[second]
    first, second = first[both], second[both]
    cosines = np.full((len(phrases), len(phrases)), np.nan)
    cosines[first, second] = estimator.cosines(known_phrases, known_phrases, first, second)
    cosines[second, first] = cosines[first, second]
    apart = angles(cosines)
    places = spread(apart).round(5).tolist()
    counts = [
        int(table.strengths[rows[0]]) if rows[0] >= 0 else 0,
        *(neighbour.strength for neighbour in near),
    ]
    similarities = [1.0, *(neighbour.similarity for neighbour in near)]
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
        drawing.put(Polyline(((x1, round(y1 - up, 1)), (x2, round(y2 - up, 1)))))
    for number in reversed(range(len(marks))):  # the focal phrase on top
        (x, y), mark = at[number], marks[number]
        radius = round(min(9.0, 2.5 + 0.9 * float(np.log10(mark.occurrences + 1))), 1)
        tooltip = (
            f"{mark.phrase}: similarity {mark.similarity:.3f}, "
            f"{counted(mark.occurrences, 'occurrence')}"
        )
        shapes = (
            Circle(x, round(y - up, 1), radius, "accent" if number else "warm"),
            Label(x, round(y + down, 1), labels[number], _SIZE, "middle",
                 bold=not number),
        )  # fmt: skip
        drawing.put(Group(shapes, tooltip, link(mark.phrase) if number else None))
    return drawing
