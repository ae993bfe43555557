"""Pictures of a phrase's contexts, or of two phrases': bars."""

from collections.abc import Sequence

from distsim.base.errors import ParameterError
from distsim.contexts.contrasting import Contrast
from distsim.contexts.ngram import NamedContext
from distsim.output.pictures.charts import ROW, bars
from distsim.output.pictures.drawing import Drawing, Text, shortened

_WIDTH, _MARGIN, _TOP, _GAP = 1080.0, 24.0, 96.0, 36.0


def context_picture(
    phrase: str, contexts: Sequence[NamedContext], *, settings: str = "", k: int = 20
) -> Drawing:
    """Return a picture of a phrase's contexts: on its left, and on its right.

    Arguments:
        phrase: for the title.
        contexts: as `named_contexts` returns them.
        settings: the line of settings under the picture.
        k: contexts on each side, at most.

    Raises:
        ParameterError: there are none.

    >>> from distsim.contexts import named_contexts
    >>> context_picture("mock", named_contexts(index, "mock")).label
    'Contexts of mock'
    """
    sides = [
        [one for one in contexts if one.feature[:1] == side and one.weight > 0][:k] for side in "lr"
    ]
    if not any(sides):
        raise ParameterError(f"{phrase!r} has no contexts with a weight: there is nothing to draw")
    half = (_WIDTH - 2 * _MARGIN - _GAP) / 2
    height = _TOP + ROW * max(map(len, sides)) + _MARGIN
    drawing = Drawing(_WIDTH, height, f"Contexts of {phrase}", settings=settings)
    drawing.put(Text(_MARGIN, 38, shortened(f"Contexts of {phrase}", 80), 20, bold=True))
    for number, (title, rows) in enumerate(zip(("before it", "behind it"), sides, strict=True)):
        x = _MARGIN + number * (half + _GAP)
        drawing.put(Text(x, 76, title, 14, kind="soft", bold=True))
        named = [(_name(one.feature), one.weight, f"{one.weight:.2f}") for one in rows]
        bars(drawing, named, x, _TOP, half)
    return drawing


def contrast_picture(
    a: str,
    b: str,
    found: Contrast,
    *,
    measures: Sequence[tuple[str, float | None]] = (),
    settings: str = "",
) -> Drawing:
    """Return a picture of two phrases: similarities, shared contexts, contexts of one alone.

    Arguments:
        a, b: the phrases.
        found: their contexts, as `contrast` returns them.
        measures: (name, similarity or None) of each measure.
        settings: the line of settings under the picture.

    >>> from distsim.contexts import contrast
    >>> contrast_picture("alice", "the queen", contrast(index, "alice", "the queen")).label
    'alice and the queen'
    """
    third = (_WIDTH - 2 * _MARGIN - 2 * _GAP) / 3
    top = 64 + ROW * len(measures) + 24
    columns = (
        (f"only {a}", [(one.shown, one.weight_a, f"{one.weight_a:.2f}") for one in found.only_a]),
        ("both", [(one.shown, min(one.weight_a, one.weight_b),
                   f"{one.weight_a:.1f} {one.weight_b:.1f}") for one in found.both]),
        (f"only {b}", [(one.shown, one.weight_b, f"{one.weight_b:.2f}") for one in found.only_b]),
    )  # fmt: skip
    height = top + 24 + ROW * max(1, *(len(rows) for _, rows in columns)) + _MARGIN
    drawing = Drawing(_WIDTH, height, f"{a} and {b}", settings=settings)
    drawing.put(Text(_MARGIN, 38, shortened(f"{a} and {b}", 90), 20, bold=True))
    told = [
        (name, value or 0.0, "NA" if value is None else f"{value:.3f}") for name, value in measures
    ]
    bars(drawing, told, _MARGIN, 56, 2 * third, full=1.0)
    for number, (title, rows) in enumerate(columns):
        x = _MARGIN + number * (third + _GAP)
        drawing.put(Text(x, top + 8, shortened(title, 42), 14, kind="soft", bold=True))
        bars(drawing, rows, x, top + 24, third)
    return drawing


def _name(feature: str) -> str:
    """Return a feature for readers: `l1:revise` as `revise _`, `l2:revise` as `revise · _`."""
    place, _, word = feature.partition(":")
    distance = place[1:]
    dots = " ·" * (int(distance) - 1) if distance.isdigit() else " …"
    return f"{word}{dots} _" if place[:1] == "l" else f"_{dots} {word}"
