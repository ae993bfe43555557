"""`distsim rank --learn JUDGED -o WEIGHTS`: one score of all evidence, fitted to judgements."""

from typing import Annotated

import typer

from distsim.cli.console import put, say
from distsim.cli.options import OppositesOption, split_names


def rank(
    learn: Annotated[
        str,
        typer.Option(metavar="JUDGED", help="Pairs with scores: phrase<TAB>phrase<TAB>score."),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="WEIGHTS", help="The file to write.")
    ],
    ngram: Annotated[
        str | None, typer.Option(metavar="TABLE", help="For similarity and frequency of phrases.")
    ] = None,
    syntax: Annotated[
        str | None, typer.Option(metavar="TABLE", help="A syntactic table, for similarity.")
    ] = None,
    opposites: OppositesOption = None,
    grammar: Annotated[
        str | None,
        typer.Option(metavar="GRAMMAR", help="Rules that give pairs their features: pivot's."),
    ] = None,
    only_grammar: Annotated[
        bool, typer.Option("--only-grammar", help="Say agreement on the pairs that a rule has.")
    ] = False,
    features: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME",
            help="Only these features, or groups: text, table, syntax, opposites, vectors.",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(metavar="A,B,SCORE", help="Columns of phrases and score, from 1."),
    ] = None,
    folds: Annotated[int, typer.Option(help="Parts of the cross-validation.")] = 5,
    samples: Annotated[int, typer.Option(min=0, help="Bootstrap samples; 0: none.")] = 1000,
    seed: Annotated[int, typer.Option(help="Of the samples.")] = 1,
) -> None:
    """Learn weights of all evidence from judged pairs, for `rerank --weights`.

    Prints feature<TAB>Spearman<TAB>low<TAB>high<TAB>pairs with it: first the mix, on pairs that
    its weights were not learnt from, then each feature alone, on the same pairs.
    """
    from distsim.cli.evaluate import chosen_columns
    from distsim.cli.opened import pair_features
    from distsim.evaluation.gold import read_gold
    from distsim.grammar.ranking import learn_ranking
    from distsim.storage.files import open_output

    if only_grammar and grammar is None:
        raise typer.BadParameter("--only-grammar: name the grammar with --grammar")
    gold = read_gold(learn, columns=chosen_columns(columns))
    learnt = learn_ranking(
        gold, pair_features(ngram, syntax, opposites), grammar=grammar, only_grammar=only_grammar,
        names=None if features is None else split_names(features),
        folds=folds, samples=samples, seed=seed,
    )  # fmt: skip
    with open_output(output) as out:
        out.write(learnt.weights.text().encode())
    for line in learnt.lines():
        put(*line.split("\t"))
    for note in learnt.weights.notes[:2]:
        say(note)
