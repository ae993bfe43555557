"""`distsim compare INDEX A B`: two phrases side by side."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from distsim.base.errors import DistsimError
from distsim.cli.console import JsonOption, number, put, put_json
from distsim.cli.options import SetOption, chosen

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
    from distsim.signatures.recipe import PRESETS

    usual = replace(PRESETS["thesis"], weighting=Weighting("log-llr"))
    (made,) = chosen(usual, settings=settings)
    window, weighting = made.model.window, made.weighting
    opened = CorpusIndex.open(index)
    signatures = None
    if table is not None or signatures_inside(index).exists():
        signatures = SignatureTable.open(table or index)
    counts = opened.count([a, b]).tolist()
    found = contrast(opened, a, b, k=k, window=window, weighting=weighting)
    measured = [] if signatures is None else _measured(opened, signatures, a, b)
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
