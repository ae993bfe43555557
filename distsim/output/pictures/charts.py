"""Charts: rows of bars, and curves with axes."""

import math
from collections.abc import Sequence

from distsim.output.pictures.drawing import Bar, Drawing, Line, Text, rounded, shortened, width_of

ROW = 22.0
_SIZE = 13.0


def bars(
    drawing: Drawing, rows: Sequence[tuple[str, float, str]], x: float, y: float, width: float,
    full: float | None = None,
) -> float:  # fmt: skip
    """Return the y below rows of a name, a bar and a value, after drawing them.

    Arguments:
        rows: (name, value, as it is written). full: the value of a bar of full length; the
            largest where None.
    """
    largest = full or max((value for _, value, _ in rows), default=1.0) or 1.0
    name_width, number_width = 0.46 * width, 74.0
    length = width - name_width - number_width
    for number, (name, value, written) in enumerate(rows):
        top = y + number * ROW
        share = min(1.0, max(0.0, value / largest))
        most = int(name_width / width_of("x", _SIZE))
        drawing.put(
            Text(x, top + 13, shortened(name, most), _SIZE),
            Bar(x + name_width, top + 3, length, 10, "track"),
            Bar(x + name_width, top + 3, round(length * share, 1), 10),
            Text(x + width, top + 13, written, _SIZE, "end"),
        )
    return y + len(rows) * ROW


def curve(
    drawing: Drawing,
    points: Sequence[tuple[float, float]],
    frame: tuple[float, float, float, float],
    titles: tuple[str, str, str],
    logarithmic: bool = False,
) -> None:
    """Draw a curve with its axes.

    Arguments:
        points: (x, y), not empty; above 0 where logarithmic.
        frame: left, top, width, height of the whole part. titles: of it, of x, of y.
    """
    left, top, width, height = frame
    drawing.put(Text(left, top + 14, titles[0], 15, bold=True))
    x0, y0 = left + 62, top + 46
    w, h = width - 74, height - 96
    scales = [_scale([p[axis] for p in points], logarithmic) for axis in (0, 1)]
    (low_x, high_x, ticks_x), (low_y, high_y, ticks_y) = scales

    def at(x: float, y: float) -> tuple[float, float]:
        if logarithmic:
            x, y = math.log10(x), math.log10(y)
        return x0 + w * (x - low_x) / (high_x - low_x), y0 + h * (high_y - y) / (high_y - low_y)

    for value in ticks_y:
        _, y = at(10**low_x if logarithmic else low_x, value)
        drawing.put(Line(((x0, y), (x0 + w, y)), "track"))
        drawing.put(Text(x0 - 8, y + 4, short(value), 11, "end", "soft"))
    for value in ticks_x:
        x, _ = at(value, 10**low_y if logarithmic else low_y)
        drawing.put(Line(((x, y0 + h), (x, y0 + h + 5)), "line"))
        drawing.put(Text(x, y0 + h + 19, short(value), 11, "middle", "soft"))
    drawing.put(
        Line(((x0, y0 + h), (x0 + w, y0 + h)), "line"),
        Line(rounded([at(*point) for point in points]), "accent", 2.2),
        Text(x0 + w / 2, y0 + h + 38, titles[1], 12, "middle", "soft"),
        Text(left, y0 - 12, titles[2], 12, kind="soft"),
    )


def short(value: float) -> str:
    """Return a round number as an axis label.

    >>> short(2_000_000), short(500), short(0.25)
    ('2M', '500', '0.25')
    """
    for size, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{sign}"
    return f"{value:g}"


def _scale(values: Sequence[float], logarithmic: bool) -> tuple[float, float, list[float]]:
    """Return (low, high, values of the ticks) of an axis; low and high as logarithms if it is."""
    if logarithmic:
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        high = max(high, low + 1)
        step = max(1, math.ceil((high - low) / 6))
        return low, high, [10.0**n for n in range(low, high + 1, step)]
    most = max(values) or 1.0
    power = 10 ** math.floor(math.log10(most))
    step = next(power * s / 5 for s in (1, 2.5, 5, 10) if most / (power * s / 5) <= 6)
    n = math.ceil(most / step)
    return 0.0, n * step, [k * step for k in range(n + 1)]
