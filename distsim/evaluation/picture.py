"""Measured pairs -> a picture: similarity against judgement, and estimates against exact."""

from collections.abc import Sequence

from distsim.base.distribution import how_to_install
from distsim.base.errors import ParameterError
from distsim.evaluation.correlations import Point
from distsim.output.pictures.drawing import wrapped, write_figure

_WIDTH, _HEIGHT = 4.2, 3.6  # inches a panel


_NOTE_POINTS, _NOTE_WIDTH = 5, 0.6  # of a character: its size, its width as a share of that


def require_matplotlib() -> None:
    """Raise if the extra is not installed.

    Raises:
        ParameterError: matplotlib is missing; the message says how to get it.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ParameterError(f"a picture needs matplotlib: {how_to_install('plot')}") from None


def draw(points: Sequence[Point], path: str, caption: str) -> None:
    """Draw one panel a gold set, and one for the error of each estimate where exact was measured.

    Raises:
        ParameterError: matplotlib is missing, cannot write such a file, or there are no points.
    """
    require_matplotlib()
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    sets = list(dict.fromkeys(point.gold for point in points))
    if not sets:
        raise ParameterError(f"{path}: no scored pair was measured: there is nothing to draw")
    measures = list(dict.fromkeys(point.measure for point in points))
    exact = {(p.gold, p.pair): p.similarity for p in points if p.measure == "exact"}
    estimated = [name for name in measures if name != "exact"] if exact else []
    n_panels = len(sets) + len(estimated)
    columns = min(3, n_panels)
    rows = -(-n_panels // columns)
    figure, axes = pyplot.subplots(
        rows, columns, figsize=(_WIDTH * columns, _HEIGHT * rows), squeeze=False
    )
    panels = iter(axes.flat)
    for name in sets:
        panel = next(panels)
        for measure in measures:
            mine = [p for p in points if p.gold == name and p.measure == measure]
            panel.plot([p.score for p in mine], [p.similarity for p in mine], ".",
                       markersize=2, alpha=0.5, label=measure)  # fmt: skip
        panel.set(title=name, xlabel="judgement", ylabel="similarity")
        panel.legend(markerscale=4, fontsize="small")
    for measure in estimated:
        panel = next(panels)
        both = [p for p in points if p.measure == measure and (p.gold, p.pair) in exact]
        true = [exact[p.gold, p.pair] for p in both]
        panel.plot(true, [p.similarity - t for p, t in zip(both, true, strict=True)], ".",
                   markersize=2, alpha=0.5)  # fmt: skip
        panel.axhline(0.0, color="black", linewidth=0.5)
        panel.set(title=f"error of {measure}", xlabel="exact cosine", ylabel=f"{measure} - exact")
    for panel in panels:
        panel.set_axis_off()
    width, height = figure.get_size_inches()
    notes = wrapped(caption, int(72 * (width - 0.2) / (_NOTE_POINTS * _NOTE_WIDTH)))
    room = (len(notes) + 1) * 1.4 * _NOTE_POINTS / 72 / height
    figure.text(0.1 / width, 0.2 * room, "\n".join(notes), fontsize=_NOTE_POINTS, va="bottom",
                family="monospace", parse_math=False)  # fmt: skip
    figure.tight_layout(rect=(0, room, 1, 1))
    try:
        write_figure(figure, path, dpi=150)
    finally:
        pyplot.close(figure)
