"""`distsim rewrite` and `tune`: rewrites sentences, best first; learns its weights."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from distsim.base.arguments import TextFormat
from distsim.base.errors import InputError, counted
from distsim.cli.console import JobsOption, JsonOption, progress_bar, say, say_format
from distsim.cli.options import AsIsOption, OptionGroup, SetOption, chosen, grouped

if TYPE_CHECKING:
    from distsim.paraphrase.rewriting.rewriter import Rewriter
    from distsim.paraphrase.rewriting.rewriting_options import RewriteOptions
    from distsim.paraphrase.rewriting.sentence_batch import RewritingTask
    from distsim.paraphrase.rewriting.tuning import TuneOptions


_FEW_KNOWN = 0.5


@dataclass
class ModelOptions(OptionGroup):
    """The language model, the weights and the trees."""

    index: Annotated[
        str | None,
        typer.Option(
            metavar="INDEX", help="The language model: an index, or a file in ARPA format."
        ),
    ] = None
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Written by tune; default: to simplify, with --length to shorten."
        ),
    ] = None
    trees: Annotated[
        str | None, typer.Option(metavar="FILE", help="Bracketed trees, one a line.")
    ] = None
    length: Annotated[
        float | None, typer.Option(help="Share of the words that stay, rounded down: .7 shortens.")
    ] = None


@dataclass
class PrintOptions(OptionGroup):
    """Number and form of the rewritings printed."""

    n: Annotated[int, typer.Option("-n", min=1, help="Rewritings of each sentence.")] = 10
    why: Annotated[
        bool, typer.Option("--why", help="Also print which rule replaced what, and its features.")
    ] = False
    plain: Annotated[
        bool, typer.Option("--plain", help="Print only the best sentence, one a line.")
    ] = False
    as_json: JsonOption = False
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="A stopped run continues there."),
    ] = None


@grouped
def rewrite(
    pack: Annotated[str, typer.Argument(metavar="PACK", help="Made by pack or make-grammar.")],
    models: ModelOptions,
    printed: PrintOptions,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE...", help="Sentences, one a line; default: stdin."),
    ] = None,
    settings: SetOption = None,
    text_format: Annotated[
        TextFormat | None,
        typer.Option(
            "--format",
            help="lines: tokenised; text: running text, printed with spaces between tokens.  "
            "[default: by marks]",
        ),
    ] = None,
    as_is: AsIsOption = False,
    jobs: JobsOption = None,
) -> None:
    """Rewrite sentences with a packed paraphrase grammar; the index is the language model.

    Prints line<TAB>rank<TAB>score<TAB>sentence; lines from 1. A line that cannot be rewritten has
    the score NA and is printed unchanged. --why adds a line for each rule (why, before, after,
    label, score, features) and one of the sentence's features (sum).
    """
    from distsim.cli.opened import fit_of_words, language_model
    from distsim.grammar.packs.grammar_index import GrammarIndex
    from distsim.paraphrase.rewriting.rewriter import Rewriter
    from distsim.paraphrase.rewriting.rewriting_options import RewriteOptions, Weights
    from distsim.paraphrase.rewriting.sentence_batch import read_tasks

    (options,) = chosen(RewriteOptions(), settings=settings, length=models.length)
    if printed.plain and (printed.why or printed.as_json or printed.output):
        raise typer.BadParameter("--plain prints sentences alone: leave out --why, --json and -o")
    weights = Weights.read(models.weights) if models.weights is not None else None
    model = language_model(models.index)
    words = fit_of_words(models.index)
    if words is None:
        say(f"{models.index}: no signed index: how a word fits in another's place does not count")
    rewriter = Rewriter(
        GrammarIndex.open(pack), model, weights=weights, options=options, words=words
    )
    known = rewriter.grammar.share_known
    if known < _FEW_KNOWN:
        say(
            f"{pack}: the language model knows {known:.0%} of its words: was it made of text "
            "that was normalised otherwise, or is of another language?"
        )
    formats: set[TextFormat] = set()
    tasks = read_tasks(files or ["-"], models.trees, as_is, text_format, formats.add)
    if "text" in formats and text_format is None:
        say_format("text", "text")
    if not tasks:
        raise InputError(f"{(files or ['standard input'])[0]}: has no sentence: give one a line")
    _print_answers(rewriter, tasks, printed, jobs)


def _print_answers(
    rewriter: "Rewriter", tasks: "list[RewritingTask]", printed: PrintOptions, jobs: int | None
) -> None:
    from distsim.paraphrase.rewriting.sentence_batch import answer_lines, answers, rewrite_file

    n, why, as_json = printed.n, printed.why, printed.as_json
    if printed.output is not None:
        for answer in rewrite_file(
            rewriter, tasks, printed.output, n, why=why, as_json=as_json, jobs=jobs
        ):
            if answer.fault:
                say(answer.fault)
        return
    for answer in answers(rewriter, tasks, 1 if printed.plain else n, jobs):
        if answer.fault:
            say(answer.fault)
        if printed.plain:
            best = answer.rewritings[0].sentence if answer.rewritings else answer.task.text.strip()
            _put_lines([best])
        else:
            _put_lines(answer_lines(answer, why=why, as_json=as_json))


def _put_lines(lines: list[str]) -> None:
    import sys

    from distsim.cli.console import visible

    for line in lines:
        columns = line.split("\t")
        sys.stdout.write("\t".join(visible(column, sys.stdout) for column in columns) + "\n")


@grouped
def tune(
    pack: Annotated[str, typer.Argument(metavar="PACK", help="Made by pack or make-grammar.")],
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="Tokenised sentences, one a line.")
    ],
    references: Annotated[
        list[str],
        typer.Option(metavar="FILE", help="People's rewritings, line by line; repeat it."),
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="WEIGHTS", help="A text file.")],
    models: ModelOptions,
    settings: SetOption = None,
    as_is: AsIsOption = False,
    jobs: JobsOption = None,
) -> None:
    """Tune the weights of rewrite on sentences that people rewrote; same for any --jobs.

    The tuning begins with --weights. `--set objective=sari` simplifies (corpus-level SARI, the
    default), `precis` shortens, `bleu` comes near the references.
    """
    from pathlib import Path

    from distsim.cli.opened import fit_of_words, language_model
    from distsim.evaluation.rewritings import length_pairs, read_sentences
    from distsim.grammar.packs.grammar_index import GrammarIndex
    from distsim.paraphrase.rewriting.rewriter import Rewriter
    from distsim.paraphrase.rewriting.rewriting_options import RewriteOptions, Weights
    from distsim.paraphrase.rewriting.tuning import Example, TuneOptions, tune

    how, options = chosen(TuneOptions(), RewriteOptions(), settings=settings, length=models.length)
    begin = Weights.read(models.weights) if models.weights is not None else None
    sentences = read_sentences(source, as_is=as_is)
    people = [read_sentences(path, len(sentences), as_is) for path in references]
    trees = models.trees
    tree_lines = read_sentences(trees, len(sentences)) if trees is not None else None
    if how.pairs:
        if trees is not None:
            raise typer.BadParameter("--set pairs=true takes other sentences than --trees has")
        both = length_pairs(list(zip(sentences, *people, strict=True)))
        sentences, people = [sentence for sentence, _ in both], [[other for _, other in both]]
    examples = [
        Example(
            text, tuple(texts[k] for texts in people), None if tree_lines is None else tree_lines[k]
        )
        for k, text in enumerate(sentences)
        if text.strip()
    ]
    model = language_model(models.index)
    rewriter = Rewriter(
        GrammarIndex.open(pack), model, weights=begin, options=options,
        words=fit_of_words(models.index),
    )  # fmt: skip
    with progress_bar("sentences") as bar:
        tuned = tune(rewriter, examples, how, jobs=jobs, progress=bar, say=say)
    best = max(tuning_round.score for tuning_round in tuned.rounds)
    notes = (
        f"tuned for {how.objective}{f' at {how.phi:g}' if how.objective == 'precis' else ''} on "
        f"{counted(len(examples), 'sentence')} of {Path(source).name} with "
        f"{counted(len(people), 'reference')} each: "
        f"{100 * best:.2f}",
        f"grammar {rewriter.grammar.index.artifact.checksum[:12]}, language model {model.name}",
        _described(how, options) + (", with trees" if tree_lines else ""),
    )
    Weights(tuned.weights.values, notes=notes).write(output)
    say(f"{output}: {counted(len(tuned.weights.values), 'weight')}")


def _described(how: "TuneOptions", options: "RewriteOptions") -> str:
    """Return the settings of a tuning, as its weights' file tells them."""
    without = ",".join(how.without)
    return (
        f"span {options.span}, pops {options.pops}, rules {options.rules}, "
        f"n {how.n}, penalty {how.penalty:g}"
        + (f", BLEU floor {how.bleu_floor:g}" if how.bleu_floor else "")
        + (f", without {without}" if without else "")
        + (f", length {options.length:g}" if options.length is not None else "")
    )
