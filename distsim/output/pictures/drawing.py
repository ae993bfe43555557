"""Drawings: shapes on a sheet, written as SVG for the server's pages."""

from dataclasses import dataclass, field
from html import escape
from typing import Literal
from unicodedata import east_asian_width

Kind = Literal["ink", "accent", "warm", "line"]


@dataclass(frozen=True)
class Text:
    """A line of text.

    x, y: place of its anchor, on the baseline. text: what is written. size: in pixels. anchor: the
    end that is at x. kind: its colour by name. bold: in bold.
    """

    x: float
    y: float
    text: str
    size: float = 14.0
    anchor: Literal["start", "middle", "end"] = "start"
    kind: Kind = "ink"
    bold: bool = False


@dataclass(frozen=True)
class Line:
    """Straight pieces from point to point.

    points: (x, y) of each. kind: colour by name. width: in pixels.
    """

    points: tuple[tuple[float, float], ...]
    kind: Kind = "line"
    width: float = 1.2


@dataclass(frozen=True)
class Circle:
    """A disc.

    x, y: its centre. radius: in pixels. kind: colour by name.
    """

    x: float
    y: float
    radius: float
    kind: Kind = "accent"


@dataclass(frozen=True)
class Group:
    """A group of shapes. told: its tooltip. link: the URL that a click opens."""

    shapes: tuple["Shape", ...]
    told: str
    link: str | None = None


Shape = Text | Line | Circle | Group


@dataclass
class Drawing:
    """A drawing of width x height units, from the upper left corner; later shapes are on top.

    label: what the picture is, for those who do not see it.

    >>> drawing = Drawing(100, 40, "An example", [Text(10, 20, "a < b")])
    >>> "a &lt; b" in drawing.svg()
    True
    """

    width: float
    height: float
    label: str
    shapes: list[Shape] = field(default_factory=list)

    def put(self, *shapes: Shape) -> None:
        """Add shapes to the drawing, above those that it has.

        Arguments:
            shapes: SVG elements.
        """
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


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` characters, cut with an ellipsis.

    Arguments:
        text: the text.
        most: maximum number of characters.

    >>> shortened("in spite of", 6)
    'in sp…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def _svg(shape: Shape) -> str:
    if isinstance(shape, Group):
        inner = f"<title>{_safe(shape.told)}</title>" + "".join(map(_svg, shape.shapes))
        if shape.link is not None:
            return f'<a href="{_safe(shape.link)}">{inner}</a>'
        return f"<g>{inner}</g>"
    look = f'class="p-{shape.kind}"'
    if isinstance(shape, Text):
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
    kept = "".join(
        c if c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff" else "\ufffd"
        for c in text
    )
    return escape(kept)
