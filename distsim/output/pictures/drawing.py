"""Drawings: shapes on a sheet, written as SVG for files, notebooks and the server's pages.

A drawing ends with the line of its settings.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal
from unicodedata import east_asian_width

from distsim.base.arguments import AnyPath, one_path
from distsim.base.errors import ParameterError
from distsim.storage import open_output

Kind = Literal["ink", "soft", "accent", "warm", "line", "track", "paper"]
COLOURS: dict[Kind, str] = {
    "ink": "#18222c", "soft": "#4c5a66", "accent": "#2f7f9b", "warm": "#a33b22",
    "line": "#c6ced2", "track": "#e6ebec", "paper": "#ffffff",
}  # fmt: skip
_MARGIN = 24.0
_SETTINGS_SIZE, _SETTINGS_WIDTH, _SETTINGS_HEIGHT = 10.0, 6.1, 14.0
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


@dataclass(frozen=True)
class Text:
    """A line of text. anchor: the end that is at x. y: of its baseline."""

    x: float
    y: float
    text: str
    size: float = 14.0
    anchor: Literal["start", "middle", "end"] = "start"
    kind: Kind = "ink"
    bold: bool = False


@dataclass(frozen=True)
class Line:
    """Straight pieces from point to point."""

    points: tuple[tuple[float, float], ...]
    kind: Kind = "line"
    width: float = 1.2


@dataclass(frozen=True)
class Circle:
    """A disc."""

    x: float
    y: float
    radius: float
    kind: Kind = "accent"


@dataclass(frozen=True)
class Bar:
    """A rectangle from its upper left corner."""

    x: float
    y: float
    width: float
    height: float
    kind: Kind = "accent"


@dataclass(frozen=True)
class Group:
    """A group of shapes. told: its tooltip. link: the URL that a click opens."""

    shapes: tuple["Shape", ...]
    told: str
    link: str | None = None


Shape = Text | Line | Circle | Bar | Group


@dataclass
class Drawing:
    """A drawing of width x height units, from the upper left corner; later shapes are on top.

    label: what the picture is, for those who do not see it. settings: what its numbers rest on.

    >>> drawing = Drawing(100, 40, "An example", [Text(10, 20, "a < b")])
    >>> "a &lt; b" in drawing.svg()
    True
    """

    width: float
    height: float
    label: str
    shapes: list[Shape] = field(default_factory=list)
    settings: str = ""

    def put(self, *shapes: Shape) -> None:
        """Add shapes."""
        self.shapes += shapes

    def svg(self, own_style: bool = True) -> str:
        """Return the picture as SVG.

        Arguments:
            own_style: with colours and paper of its own; else classes alone (`p-ink`), for a
                page that has its own sheet.
        """
        notes = self._notes() if own_style else []
        height = self.height + len(notes) * _SETTINGS_HEIGHT
        size = f' width="{self.width:g}" height="{height:g}"' if own_style else ""
        parts = [
            f'<svg class="picture" xmlns="http://www.w3.org/2000/svg"{size} '
            f'viewBox="0 0 {self.width:g} {height:g}" role="group" '
            f'aria-label="{_safe(self.label)}">'
        ]
        if own_style:
            # Attributes would do, but this leaves a reader's sheet the last word.
            parts.append(f'<rect width="100%" height="100%" fill="{COLOURS["paper"]}"/>')
        parts += [_svg(shape, own_style) for shape in [*self.shapes, *notes]]
        return "".join(parts) + "</svg>"

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        return self.svg()

    def save(self, path: AnyPath) -> None:
        """Write the picture as an SVG file.

        Arguments:
            path: its name ends in .svg.

        Raises:
            ParameterError: the name has another end.
        """
        require_svg(path)
        text = '<?xml version="1.0" encoding="UTF-8"?>\n' + self.svg() + "\n"
        with open_output(one_path(path)) as out:
            out.write(text.encode(errors="replace"))

    def _notes(self) -> list[Shape]:
        """Return the settings in as many lines as they need."""
        lines = wrapped(self.settings, int((self.width - 2 * _MARGIN) / _SETTINGS_WIDTH))
        return [
            Text(_MARGIN, self.height + number * _SETTINGS_HEIGHT, line, _SETTINGS_SIZE,
                 kind="soft")
            for number, line in enumerate(lines)
        ]  # fmt: skip


def require_svg(path: AnyPath) -> None:
    """Raise, before a long computation, where a picture cannot be written under this name.

    Arguments:
        path: where the picture will be written.

    Raises:
        ParameterError: the name does not end in .svg.
    """
    if one_path(path).suffix.lower() != ".svg":
        raise ParameterError(
            f"{path}: pictures are written as SVG: give a name that ends in .svg (inkscape, "
            "rsvg-convert or a browser make PNG or PDF of it)"
        )


def wrapped(settings: str, most: int) -> list[str]:
    """Return a line of settings, separated by |, as lines of at most `most` characters.

    >>> wrapped("model:ngram|bits:256", 14)
    ['model:ngram|', 'bits:256']
    """
    lines: list[str] = []
    for given in settings.split("\n"):
        line = ""
        parts = given.split("|")
        for number, part in enumerate(parts):
            whole = part + ("|" if number < len(parts) - 1 else "")
            for piece in (whole[i : i + most] for i in range(0, len(whole), most)):
                if line and len(line) + len(piece) > most:
                    lines.append(line)
                    line = ""
                line += piece
        lines += [line] if line else []
    return lines


def width_of(text: str, size: float) -> float:
    """Return the approximate width of a text, in units of the drawing."""
    letters = sum(2.0 if east_asian_width(c) in "WF" else 1.0 for c in text)
    return 0.56 * size * letters


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` characters, cut with an ellipsis.

    >>> shortened("in spite of", 6)
    'in sp…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def _svg(shape: Shape, own: bool) -> str:
    if isinstance(shape, Group):
        inner = f"<title>{_safe(shape.told)}</title>" + "".join(_svg(s, own) for s in shape.shapes)
        if shape.link is not None:
            return f'<a href="{_safe(shape.link)}">{inner}</a>'
        return f"<g>{inner}</g>"
    colour = COLOURS[shape.kind]
    look = f'fill="{colour}"' if own else f'class="p-{shape.kind}"'
    if isinstance(shape, Text):
        bold = ' font-weight="700"' if shape.bold else ""
        font = f' font-family="{_FONT}"' if own else ""
        return (
            f'<text x="{shape.x:g}" y="{shape.y:g}" font-size="{shape.size:g}" '
            f'text-anchor="{shape.anchor}" {look}{font}{bold}>{_safe(shape.text)}</text>'
        )
    if isinstance(shape, Circle):
        return f'<circle cx="{shape.x:g}" cy="{shape.y:g}" r="{shape.radius:g}" {look}/>'
    if isinstance(shape, Bar):
        return (
            f'<rect x="{shape.x:g}" y="{shape.y:g}" width="{shape.width:g}" '
            f'height="{shape.height:g}" rx="2" {look}/>'
        )
    points = " ".join(f"{x:g},{y:g}" for x, y in shape.points)
    look = f'stroke="{colour}"' if own else f'class="p-{shape.kind} p-stroke"'
    return f'<polyline points="{points}" fill="none" stroke-width="{shape.width:g}" {look}/>'


def _safe(text: str) -> str:
    """Return text for XML: escaped, without characters that XML does not allow."""
    kept = "".join(
        c if c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff" else "\ufffd"
        for c in text
    )
    return escape(kept)


def rounded(points: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """Return points rounded to a tenth of a unit."""
    return tuple((round(x, 1), round(y, 1)) for x, y in points)
