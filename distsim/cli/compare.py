"""`distsim compare INDEX A B`: two phrases side by side."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from distsim.base.errors import DistsimError
from distsim.cli.console import JsonOption, number, put, put_json
from distsim.cli.options import PlotOption, SetOption, chosen

if TYPE_CHECKING:
    from distsim.comparison.table import SignatureTable
    from distsim.indexes.corpus_index import CorpusIndex


def compare(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    a: Annotated[str, typer.Argument(metavar="A")],
    b: Annotated[str, typer.Argument(metavar="B")],
    k: Annotated[int, typer.Option("-k", min=1, help="Contexts of each kind at most.")] = 10,
    table: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="Signatures; default: those inside the index."),
    ] = None,
    settings: SetOption = None,
    plot: PlotOption = None,
    as_json: JsonOption = False,
) -> None:
    """Put two phrases side by side.

    Prints count<TAB>of A<TAB>of B; a line for each measure<TAB>similarity; then both, a and
    b<TAB>context<TAB>weight beside A<TAB>beside B, the strongest first: contexts of both, of A
    alone, of B alone. In a context _ stands for the phrase. --set model.window=2 looks two words to
    either side, --set weighting.scheme=ppmi weighs rare contexts more (default: log-llr).
    """
    from distsim.comparison.table import SignatureTable
    from distsim.contexts.contrasting import contrast
    from distsim.contexts.weights import Weighting
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.indexes.places import signatures_inside
    from distsim.output.pictures.drawing import require_svg
    from distsim.signatures.recipe import PRESETS

    usual = replace(PRESETS["thesis"], weighting=Weighting("log-llr"))
    (made,) = chosen(usual, settings=settings)
    window, weighting = made.model.window, made.weighting
    if plot is not None:
        require_svg(plot)
    opened = CorpusIndex.open(index)
    signatures = None
    if table is not None or signatures_inside(index).exists():
        signatures = SignatureTable.open(table or index)
    counts = opened.count([a, b]).tolist()
    found = contrast(opened, a, b, k=k, window=window, weighting=weighting)
    measured = [] if signatures is None else _measured(opened, signatures, a, b)
    if plot is not None:
        from distsim.output.pictures.contexts import contrast_picture
        from distsim.output.pictures.settings import index_settings, table_settings

        caption = index_settings(opened, window=window, weights=weighting.scheme)
        if signatures is not None:
            caption += "\n" + table_settings(signatures)
        contrast_picture(a, b, found, measures=measured, settings=caption).save(plot)
    if as_json:
        rows = {
            name: [one._asdict() for one in contexts]
            for name, contexts in zip(("both", "a", "b"), found, strict=True)
        }
        put_json(a=a, b=b, counts=counts, similarities=dict(measured), contexts=rows)
    else:
        put("count", *counts)
        for name, value in measured:
            put(name, number(value))
        for name, contexts in zip(("both", "a", "b"), found, strict=True):
            for one in contexts:
                put(name, one.shown, number(one.weight_a), number(one.weight_b))


def _measured(
    index: "CorpusIndex", table: "SignatureTable", a: str, b: str
) -> list[tuple[str, float | None]]:
    """Return (measure, similarity) of all measures that the table allows; None where unknown."""
    from distsim.comparison.measures import EstimatedCosine, ExactCosine, LearntCosine

    found = [("table", EstimatedCosine(table).similarity(a, b))]
    for known in (LearntCosine, ExactCosine):
        try:
            found.append((known.name, known(index, table).similarity(a, b)))
        except DistsimError:  # the table is of another kind, or of another text
            continue
    return found
