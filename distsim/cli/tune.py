"""`distsim tune PACK SOURCE --references FILE -o WEIGHTS`: what rewriting should aim at."""

from typing import Annotated

import typer

from distsim.base.choices import Learner, Objective
from distsim.cli.console import JobsOption, progress_bar, say
from distsim.cli.options import AsIsOption, split_names
from distsim.cli.rewrite import (
    ArpaOption,
    DeleteOption,
    IndexOption,
    LengthOption,
    PopsOption,
    RulesOption,
    SpanOption,
)


def tune(
    pack: Annotated[str, typer.Argument(metavar="PACK", help="Made by pack or make-grammar.")],
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="Tokenised sentences, one a line.")
    ],
    references: Annotated[
        list[str],
        typer.Option(metavar="FILE", help="What people made of them, line by line; repeat it."),
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="WEIGHTS", help="A text file.")],
    index: IndexOption = None,
    arpa: ArpaOption = None,
    trees: Annotated[
        str | None, typer.Option(metavar="FILE", help="Bracketed trees, one a line.")
    ] = None,
    objective: Annotated[
        Objective, typer.Option(help="sari: simplify; bleu; precis: shorten.")
    ] = "sari",
    learner: Annotated[
        Learner, typer.Option(help="expected: raise the objective's mean; pro: order pairs.")
    ] = "expected",
    phi: Annotated[float, typer.Option(help="precis: the words to stay, as a share.")] = 0.75,
    weights: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where to begin; default: as rewrite's.")
    ] = None,
    without: Annotated[
        str | None,
        typer.Option(metavar="NAME,...", help="Features that get no weight; sim_* means several."),
    ] = None,
    length: LengthOption = None,
    iterations: Annotated[int, typer.Option(help="Rewrite all so often at most.")] = 8,
    n: Annotated[int, typer.Option("-n", help="Rewritings of each sentence.")] = 100,
    penalty: Annotated[
        float | None,
        typer.Option(help="L2: higher trusts weights less.  [default: .001, pro .1]"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the pairs drawn.")] = 1,
    span: SpanOption = 10,
    pops: PopsOption = 50,
    rules: RulesOption = 20,
    delete: DeleteOption = True,
    as_is: AsIsOption = False,
    jobs: JobsOption = None,
) -> None:
    """Tune the weights of rewrite on sentences that people rewrote; same for any --jobs."""
    from pathlib import Path

    from distsim.cli.opened import language_model
    from distsim.evaluation.rewritings import read_sentences
    from distsim.grammar.packs import GrammarIndex
    from distsim.paraphrase.rewriting.options import RewriteOptions
    from distsim.paraphrase.rewriting.rewriter import Rewriter
    from distsim.paraphrase.rewriting.tuning import Example, TuneOptions, tune
    from distsim.paraphrase.rewriting.weights import Weights

    settings = TuneOptions(
        objective=objective, learner=learner, phi=phi, iterations=iterations, n=n,
        penalty=penalty, without=split_names(without or ""), seed=seed,
    )  # fmt: skip
    begin = Weights.read(weights) if weights is not None else None
    sentences = read_sentences(source, as_is=as_is)
    people = [read_sentences(path, len(sentences), as_is) for path in references]
    parsed = read_sentences(trees, len(sentences)) if trees is not None else None
    examples = [
        Example(text, tuple(one[k] for one in people), None if parsed is None else parsed[k])
        for k, text in enumerate(sentences)
        if text.strip()
    ]
    model = language_model(index, arpa)
    options = RewriteOptions(span=span, pops=pops, rules=rules, deletes=delete, length=length)
    rewriter = Rewriter(GrammarIndex.open(pack), model, weights=begin, options=options)
    with progress_bar("sentences") as bar:
        tuned = tune(rewriter, examples, settings, jobs=jobs, progress=bar, say=say)
    best = max(one.score for one in tuned.rounds)
    notes = (
        f"tuned for {objective}{f' at {phi:g}' if objective == 'precis' else ''} on "
        f"{len(examples):,} sentences of {Path(source).name} with {len(people)} references each: "
        f"{100 * best:.2f}",
        f"grammar {rewriter.grammar.index.artifact.checksum[:12]}, language model {model.name}",
        f"learner {learner}, span {span}, pops {pops}, rules {rules}, n {n}, seed {seed}"
        + (f", without {without}" if without else "") + (", with trees" if parsed else "")
        + (f", length {length:g}" if length is not None else ""),
    )  # fmt: skip
    Weights(tuned.weights.values, notes).write(output)
    say(f"{output}: {len(tuned.weights.values)} weights")
