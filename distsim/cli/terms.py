"""`distsim terms BITEXT --against INDEX`: terms of a bitext with their translations."""

from typing import Annotated

import typer

from distsim.cli.console import lengths_range
from distsim.cli.options import split_names
from distsim.cli.rows import lists_rows, put_row


@lists_rows
def terms(
    bitext: Annotated[str, typer.Argument(metavar="BITEXT", help="Made by align.")],
    against: Annotated[
        str, typer.Option(metavar="INDEX", help="The reference corpus, of English.")
    ],
    lengths: Annotated[
        str, typer.Option("--lengths", "-n", metavar="N or N-M", help="Tokens.")
    ] = "1-4",
    min_count: Annotated[int, typer.Option(min=1, help="Leave out rarer phrases.")] = 5,
    min_p: Annotated[
        float, typer.Option(min=0, max=1, help="Least share of the best translation.")
    ] = 0.2,
    tbx: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write them as TBX-Basic, too.")
    ] = None,
    languages: Annotated[
        str, typer.Option(metavar="EN,OTHER", help="Codes of both languages, for TBX.")
    ] = "en,und",
    limit: Annotated[int, typer.Option("--limit", "-k", min=0, help="At most; 0: all.")] = 100,
) -> None:
    """List the terms of a bitext: phrases that are more frequent than in a reference corpus.

    Prints source<TAB>target<TAB>count<TAB>p(target|source)<TAB>log-likelihood<TAB>other
    translations with their p<TAB>a pair of sentences.
    """
    from distsim.grammar.terms import bitext_terms, tbx_lines
    from distsim.storage import open_output

    codes = split_names(languages)
    if len(codes) != 2:
        raise typer.BadParameter(
            f"{languages!r}: give two codes, such as en,de", param_hint="--languages"
        )
    found = bitext_terms(
        bitext,
        against,
        lengths=lengths_range(lengths),
        min_count=min_count,
        min_p=min_p,
        k=limit or None,
    )
    for one in found:
        others = "; ".join(f"{text} ({p:.2f})" for text, p in one.alternatives)
        put_row(
            {
                "source": one.source, "target": one.target, "count": one.times, "p": one.p,
                "score": one.score, "alternatives": others,
                "source_example": one.source_example, "target_example": one.target_example,
            },
        )  # fmt: skip
    if tbx is not None:
        with open_output(tbx) as file:
            for line in tbx_lines(found, languages=codes):
                file.write(f"{line}\n".encode(errors="replace"))
