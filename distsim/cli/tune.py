"""`distsim tune PACK SOURCE --references FILE -o WEIGHTS`: learns weights for rewriting."""

from typing import TYPE_CHECKING, Annotated

import typer

from distsim.cli.console import JobsOption, progress_bar, say
from distsim.cli.groups import grouped
from distsim.cli.options import AsIsOption, SetOption, chosen
from distsim.cli.rewrite import ModelOptions

if TYPE_CHECKING:
    from distsim.paraphrase.rewriting.rewriting_options import RewriteOptions
    from distsim.paraphrase.rewriting.tuning import TuneOptions


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
    from distsim.evaluation.compression import length_pairs
    from distsim.evaluation.rewritings import read_sentences
    from distsim.grammar.packs.grammar_index import GrammarIndex
    from distsim.paraphrase.rewriting.rewriter import Rewriter
    from distsim.paraphrase.rewriting.rewriting_options import RewriteOptions, Weights
    from distsim.paraphrase.rewriting.tuning import Example, TuneOptions, tune

    how, options = chosen(TuneOptions(), RewriteOptions(), settings=settings, length=models.length)
    begin = Weights.read(models.weights) if models.weights is not None else None
    sentences = read_sentences(source, as_is=as_is)
    people = [read_sentences(path, len(sentences), as_is) for path in references]
    trees = models.trees
    parsed = read_sentences(trees, len(sentences)) if trees is not None else None
    if how.pairs:
        if trees is not None:
            raise typer.BadParameter("--set pairs=true takes other sentences than --trees has")
        both = length_pairs(list(zip(sentences, *people, strict=True)))
        sentences, people = [one for one, _ in both], [[other for _, other in both]]
    examples = [
        Example(text, tuple(one[k] for one in people), None if parsed is None else parsed[k])
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
    best = max(one.score for one in tuned.rounds)
    notes = (
        f"tuned for {how.objective}{f' at {how.phi:g}' if how.objective == 'precis' else ''} on "
        f"{len(examples):,} sentences of {Path(source).name} with {len(people)} references each: "
        f"{100 * best:.2f}",
        f"grammar {rewriter.grammar.index.artifact.checksum[:12]}, language model {model.name}",
        _described(how, options) + (", with trees" if parsed else ""),
    )
    Weights(tuned.weights.values, notes=notes).write(output)
    say(f"{output}: {len(tuned.weights.values)} weights")


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
