"""Charts: rows of bars."""

from collections.abc import Sequence

from distsim.output.pictures.drawing import Bar, Drawing, Text, shortened, width_of

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
