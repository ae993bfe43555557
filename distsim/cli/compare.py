"""`distsim compare INDEX A B`: two phrases side by side."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from distsim.base.errors import DistsimError
from distsim.cli.groups import grouped
from distsim.cli.options import DocumentOptions, SetOption, chosen
from distsim.cli.rows import ALL_ROWS, lists_rows, prints_json, put_object, put_row

if TYPE_CHECKING:
    from distsim.comparison.table import SignatureTable
    from distsim.indexes.corpus_index import CorpusIndex


@lists_rows
@grouped
def compare(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    a: Annotated[str, typer.Argument(metavar="A")],
    b: Annotated[str, typer.Argument(metavar="B")],
    part: DocumentOptions,
    k: Annotated[
        int, typer.Option("-k", "--limit", min=0, help="Contexts of each kind at most; 0: all.")
    ] = 10,
    table: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="Signatures; default: those inside the index."),
    ] = None,
    settings: SetOption = None,
) -> None:
    """Put two phrases side by side.

    Prints count<TAB>of A<TAB>of B; a line for each measure<TAB>similarity; then both, a and
    b<TAB>context<TAB>weight beside A<TAB>beside B, the strongest first: contexts of both, of A
    alone, of B alone. In a context _ stands for the phrase. --set model.window=2 looks two words to
    either side, --set weighting.scheme=ppmi weighs rare contexts more (default: log-llr). With
    --where or --in counts and contexts are of these documents, similarities those of the table.
    """
    from distsim.comparison.table import SignatureTable
    from distsim.contexts.contrasting import contrast
    from distsim.contexts.weights import Weighting
    from distsim.signatures.recipe import PRESETS
    from distsim.storage.manifest import signatures_inside

    usual = replace(PRESETS["thesis"], weighting=Weighting("log-llr"))
    (recipe,) = chosen(usual, settings=settings)
    window, weighting = recipe.model.window, recipe.weighting
    opened = part.opened(index)
    signatures = None
    if table is not None or signatures_inside(index).exists():
        signatures = SignatureTable.open(table or index)
    counts = opened.count([a, b]).tolist()
    contexts_of_both = contrast(opened, a, b, k=k or ALL_ROWS, window=window, weighting=weighting)
    measured = [] if signatures is None else _measured(opened, signatures, a, b)
    if prints_json():
        rows = {
            name: [one._asdict() for one in contexts]
            for name, contexts in zip(("both", "a", "b"), contexts_of_both, strict=True)
        }
        put_object(a=a, b=b, counts=counts, similarities=dict(measured), contexts=rows)
        return
    put_row({"row": "count", "a": counts[0], "b": counts[1]})
    for name, value in measured:
        put_row({"measure": name, "similarity": value})
    for name, contexts in zip(("both", "a", "b"), contexts_of_both, strict=True):
        for one in contexts:
            weights = {"weight_a": one.weight_a, "weight_b": one.weight_b}
            put_row({"of": name, "context": one.shown, **weights})


def _measured(
    index: "CorpusIndex", table: "SignatureTable", a: str, b: str
) -> list[tuple[str, float | None]]:
    """Return (measure, similarity) of all measures that the table allows; None where unknown."""
    from distsim.comparison.measures import cosine

    similarities = [("table", cosine(table).similarity(a, b))]
    how: Literal["vectors", "exact"]
    for how in ("vectors", "exact"):
        try:
            similarities.append((how, cosine(table, how=how, index=index).similarity(a, b)))
        except DistsimError:  # the table is of another kind, or of another text
            continue
    return similarities
