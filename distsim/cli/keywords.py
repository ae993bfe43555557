"""`distsim keywords INDEX --against OTHER`: words more or less frequent than in another index."""

from typing import Annotated

import typer

from distsim.base.choices import KeywordMeasure
from distsim.cli.console import LayerOption, WordsOnlyOption
from distsim.cli.groups import grouped
from distsim.cli.options import DocumentOptions
from distsim.cli.rows import lists_rows, put_row, say_rest


@lists_rows
@grouped
def keywords(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    part: DocumentOptions,
    against: Annotated[
        str | None,
        typer.Option(metavar="INDEX", help="The reference corpus.  [default: the other documents]"),
    ] = None,
    against_where: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD=VALUES", help="Only such documents of the reference corpus."),
    ] = None,
    against_in: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only documents of a subcorpus of it.")
    ] = None,
    measure: Annotated[
        KeywordMeasure,
        typer.Option(help="Order; llr-2: log-likelihood of two cells; llr: of four."),
    ] = "llr-2",
    negative: Annotated[
        bool, typer.Option("--negative", help="The words that are less frequent here.")
    ] = False,
    min_count: Annotated[int, typer.Option(min=1, help="Leave out rarer words, of both.")] = 5,
    max_p: Annotated[float, typer.Option(min=0, max=1, help="Leave out higher p.")] = 1.0,
    words_only: WordsOnlyOption = False,
    by: LayerOption = "word",
    limit: Annotated[int, typer.Option("--limit", "-k", min=0, help="Words at most; 0: all.")] = 50,
) -> None:
    """List the words that are more frequent than in another index, or in its other documents.

    Prints word<TAB>count here<TAB>count there<TAB>log-likelihood<TAB>log ratio<TAB>p (Holm)<TAB>
    documents here<TAB>DP<TAB>normalised DP<TAB>count per million tokens here<TAB>and there.
    """
    from distsim.indexes.keyness import keywords as found_keywords

    if against is None and not part.where and part.within is None:
        raise typer.BadParameter(
            "give --against INDEX, or --where FIELD=VALUES or --in NAME for the others"
        )
    here = part.opened(index)
    other = DocumentOptions(against_where, against_in)
    if against is not None or other.given():
        reference = other.opened(against or index)
    else:
        reference = here.other_documents()
    here, reference = here.of_layer(by), reference.of_layer(by)
    found = found_keywords(
        here, reference, measure=measure, negative=negative, min_count=min_count, max_p=max_p,
        words_only=words_only, k=limit or None,
    )  # fmt: skip
    for one in found:
        counts = {"count": one.here, "reference_count": one.there}
        rates = {
            "per_million": one.here / here.n_tokens * 1e6,
            "reference_per_million": one.there / reference.n_tokens * 1e6,
        }
        of_word = dict(zip(one._fields[3:], one[3:], strict=True))
        put_row({"answer": one.word, **counts, **of_word, **rates})
    say_rest(len(found), found.total)
