"""Pictures as SVG text, without a library: for the page and for notebooks.

Colours and fonts come from classes; `STYLE` has those of a notebook, the page has its own sheet.
"""

from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from distsim.pictures.layout import fitted

MAP_WIDTH, MAP_HEIGHT = 720, 640
_CHARACTER, _PADDING, _LABEL_HEIGHT, _DOT_ROOM = 8.4, 12.0, 18.0, 16.0
_LONGEST_LABEL = 26
STYLE = (
    ".map text{font:15px system-ui,sans-serif;text-anchor:middle;fill:#1d2733}"
    ".map .focal text{font-weight:700}.map circle{fill:#2f6f8f}.map .focal circle{fill:#b4472e}"
    ".map line{stroke:#9fb3c0;stroke-width:1}"
)


class Mark(NamedTuple):
    """A phrase on a map: its place, similarity to the first one, and occurrences."""

    phrase: str
    x: float
    y: float
    similarity: float
    occurrences: int


def map_svg(
    marks: Sequence[Mark],
    joined: Sequence[tuple[int, int]],
    link: Callable[[str], str | None] = lambda phrase: None,
    style: str = "",
) -> str:
    """Return a map of phrases, the first of them the focal one.

    Arguments:
        joined: pairs of marks, by number, between which a line is drawn.
        link: where a click on a phrase leads; None: nowhere.
        style: put into the picture.

    >>> "alice" in map_svg([Mark("alice", 0, 0, 1, 3)], [])
    True
    """
    labels = [_label(mark.phrase) for mark in marks]
    widths = np.array([_CHARACTER * _width(label) + _PADDING for label in labels])
    places = np.array([(mark.x, mark.y) for mark in marks]).reshape(-1, 2)
    at = fitted(places, widths, _LABEL_HEIGHT + _DOT_ROOM, MAP_WIDTH, MAP_HEIGHT).round(1).tolist()
    parts = [
        f'<svg class="map" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {MAP_WIDTH} '
        f'{MAP_HEIGHT}" role="group" aria-label="Map of the nearest phrases">'
    ]
    if style:
        parts.append(f"<style>{style}</style>")
    top = -_LABEL_HEIGHT / 2
    for a, b in joined:
        (x1, y1), (x2, y2) = at[a], at[b]
        parts.append(f'<line x1="{x1}" y1="{y1 + top}" x2="{x2}" y2="{y2 + top}"/>')
    for number in reversed(range(len(marks))):  # the focal phrase on top
        (x, y), mark, label = at[number], marks[number], labels[number]
        radius = round(min(9.0, 2.5 + 0.9 * float(np.log10(mark.occurrences + 1))), 1)
        told = f"{mark.phrase}: similarity {mark.similarity:.3f}, {mark.occurrences:,} occurrences"
        inner = (
            f"<title>{_safe(told)}</title>"
            f'<circle cx="{x}" cy="{y + top}" r="{radius}"/>'
            f'<text x="{x}" y="{y + _LABEL_HEIGHT - 2}">{_safe(label)}</text>'
        )
        kind = ' class="focal"' if number == 0 else ""
        to = link(mark.phrase)
        if to is not None and number:
            inner = f'<a href="{escape(to)}">{inner}</a>'
        parts.append(f"<g{kind}>{inner}</g>")
    return "".join(parts) + "</svg>"


def _label(phrase: str) -> str:
    return phrase if len(phrase) <= _LONGEST_LABEL else phrase[: _LONGEST_LABEL - 1] + "…"


def _width(label: str) -> float:
    """Return about how many usual characters wide a label is."""
    return sum(2.0 if c >= "\u1100" else 1.0 for c in label)


def _safe(text: str) -> str:
    """Return text for XML: escaped, without the characters that no XML can hold."""
    return escape("".join(c if c >= " " and c not in "\ufffe\uffff" else "\ufffd" for c in text))
