"""`distsim judge forms/read`: forms for judges, and what they wrote."""

from pathlib import Path
from typing import Annotated

import typer

from distsim.cli.console import say
from distsim.cli.options import AsIsOption, SetOption, chosen
from distsim.cli.rows import lists_rows, put_row


def forms(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE SYSTEM...", help="Sentences or phrases, and what systems made of them."
        ),
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FOLDER", help="For the forms.")],
    questions: Annotated[
        str, typer.Option(metavar="NAME,...", help="meaning, grammar, rating.")
    ] = "meaning,grammar",
    settings: SetOption = None,
    as_is: AsIsOption = False,
) -> None:
    """Write judge.csv, judge.html and key.csv, with hidden controls in random order.

    Controls: a copy and nonsense for each fifth source, random deletion to the length of the first
    system. Judges must not see key.csv. --set changes deletion and seed.
    """
    from distsim.evaluation.judging import FormSettings, write_forms
    from distsim.evaluation.rewritings import System, read_sentences

    (how,) = chosen(FormSettings(), settings=settings)
    source, *systems = files
    if not systems:
        raise typer.BadParameter("give the source's sentences, then those of a system or more")
    sentences = read_sentences(source, as_is=as_is)
    made = [
        System(Path(path).name, read_sentences(path, len(sentences), as_is)) for path in systems
    ]
    n = write_forms(
        sentences, made, output, questions=questions.split(","), deletion=how.deletion,
        seed=how.seed,
    )  # fmt: skip
    say(f"{n:,} lines to judge: {output}/judge.csv, or {output}/judge.html in a browser")


@lists_rows
def read(
    key: Annotated[str, typer.Argument(metavar="KEY", help="key.csv of the forms.")],
    sheets: Annotated[list[str], typer.Argument(metavar="SHEET...", help="One of each judge.")],
) -> None:
    """Print system<TAB>question<TAB>marks<TAB>mean<TAB>low<TAB>high of judged forms.

    With a 95% interval, sources resampled. Behind the systems a line for each question: how judges
    agree, by Krippendorff's alpha (ordinal) and the mean kappa (quadratic weights) of two.
    """
    from distsim.evaluation.judging import read_forms

    judged = read_forms(key, sheets)
    for row in judged.rows:
        put_row(
            {"system": row.system, "question": row.question, "marks": row.n, "mean": row.mean,
             "low": row.low, "high": row.high}
        )  # fmt: skip
    for one in judged.agreement if len(sheets) > 1 else ():
        say(
            f"{one.question}: alpha {one.alpha:.3f}, kappa {one.kappa:.3f}, "
            f"{one.n:,} lines with two marks or more"
        )
    for sheet in judged.doubtful:
        say(f"{sheet}: its marks of copies are not above those of nonsense: leave it out")
