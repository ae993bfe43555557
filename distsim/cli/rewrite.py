"""`distsim rewrite PACK --index INDEX`: whole sentences said otherwise, best first."""

from typing import Annotated

import typer

from distsim.base.errors import InputError
from distsim.cli.console import JobsOption, JsonOption, say
from distsim.cli.options import AsIsOption

_FEW_KNOWN = 0.5

IndexOption = Annotated[
    str | None, typer.Option(metavar="INDEX", help="The language model: an index, signed or not.")
]
ArpaOption = Annotated[
    str | None, typer.Option(metavar="FILE", help="The language model: a file in ARPA's format.")
]
SpanOption = Annotated[int, typer.Option(help="Rules cover so many tokens at most.")]
PopsOption = Annotated[
    int, typer.Option(help="Combinations looked at in a span; more is better, and slower.")
]
RulesOption = Annotated[int, typer.Option(help="Of a source side, the so many best rules.")]
LengthOption = Annotated[
    float | None, typer.Option(help="The words that stay, as a share, rounded down: .7 shortens.")
]
DeleteOption = Annotated[
    bool, typer.Option("--delete/--no-delete", help="Words and constituents may be left out.")
]


def rewrite(
    pack: Annotated[str, typer.Argument(metavar="PACK", help="Made by pack or make-grammar.")],
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE...", help="Tokenised sentences, one a line; default: stdin."),
    ] = None,
    index: IndexOption = None,
    arpa: ArpaOption = None,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Made by tune; default: to simplify, or with --length to shorten."
        ),
    ] = None,
    trees: Annotated[
        str | None, typer.Option(metavar="FILE", help="Bracketed trees, one a line.")
    ] = None,
    n: Annotated[int, typer.Option("-n", min=1, help="Rewritings of each sentence.")] = 10,
    length: LengthOption = None,
    keep: Annotated[
        str | None, typer.Option(metavar="WORDS", help="Words that must not vanish.")
    ] = None,
    avoid: Annotated[
        str | None, typer.Option(metavar="WORDS", help="Words that must not be used.")
    ] = None,
    why: Annotated[
        bool, typer.Option("--why", help="Also print which rule replaced what, and its features.")
    ] = False,
    plain: Annotated[
        bool, typer.Option("--plain", help="Print the best sentence alone, a line each.")
    ] = False,
    as_json: JsonOption = False,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="A run that stops goes on there."),
    ] = None,
    as_is: AsIsOption = False,
    chunks: Annotated[
        bool,
        typer.Option("--chunks", help="With --trees: hide each phrase behind its label in turn."),
    ] = False,
    span: SpanOption = 10,
    pops: PopsOption = 50,
    rules: RulesOption = 20,
    delete: DeleteOption = True,
    jobs: JobsOption = None,
) -> None:
    """Rewrite sentences with a packed paraphrase grammar; the index is the language model.

    Prints line<TAB>rank<TAB>score<TAB>sentence; lines from 1. A line that cannot be rewritten has
    the score NA and stays as it is. --why adds a line for each rule (why, before, after, label,
    score, features) and one of the sentence's features (sum).
    """
    from distsim.cli.opened import language_model
    from distsim.grammar.packs import GrammarIndex
    from distsim.paraphrase.rewriting.batch import answer_lines, answers, read_tasks, rewrite_file
    from distsim.paraphrase.rewriting.options import RewriteOptions
    from distsim.paraphrase.rewriting.rewriter import Rewriter
    from distsim.paraphrase.rewriting.weights import Weights

    if plain and (why or as_json or output):
        raise typer.BadParameter("--plain prints sentences alone: leave out --why, --json and -o")
    if chunks and trees is None:
        raise typer.BadParameter("--chunks hides phrases of trees: name them with --trees FILE")
    options = RewriteOptions(
        span=span, pops=pops, rules=rules, deletes=delete, chunks=chunks, length=length,
        keep=tuple((keep or "").split()), avoid=tuple((avoid or "").split()),
    )  # fmt: skip
    chosen = Weights.read(weights) if weights is not None else None
    opened = GrammarIndex.open(pack)
    rewriter = Rewriter(opened, language_model(index, arpa), weights=chosen, options=options)
    known = rewriter.grammar.share_known
    if known < _FEW_KNOWN:
        say(
            f"{pack}: the language model knows {known:.0%} of its words: was it made of text "
            "that was normalised otherwise, or is of another language?"
        )
    tasks = read_tasks(files or ["-"], trees, as_is)
    if not tasks:
        raise InputError(f"{(files or ['standard input'])[0]}: has no sentence: give one a line")
    if output is not None:
        for answer in rewrite_file(rewriter, tasks, output, n, why=why, as_json=as_json, jobs=jobs):
            if answer.fault:
                say(answer.fault)
        return
    for answer in answers(rewriter, tasks, 1 if plain else n, jobs):
        if answer.fault:
            say(answer.fault)
        if plain:
            best = answer.found[0].sentence if answer.found else answer.task.text.strip()
            _put_lines([best])
        else:
            _put_lines(answer_lines(answer, why=why, as_json=as_json))


def _put_lines(lines: list[str]) -> None:
    import sys

    from distsim.cli.console import visible

    for line in lines:
        columns = line.split("\t")
        sys.stdout.write("\t".join(visible(column, sys.stdout) for column in columns) + "\n")
