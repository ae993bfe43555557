"""`distsim rank --learn JUDGED -o WEIGHTS`: learns weights of all evidence from judged pairs."""

from dataclasses import dataclass
from typing import Annotated

import typer

from distsim.cli.console import put, say
from distsim.cli.grammar_options import EvidenceOptions
from distsim.cli.groups import grouped
from distsim.cli.options import FineSettings, split_names


@dataclass(frozen=True)
class Validation:
    """How agreement is measured: parts of the cross-validation, bootstrap samples, their seed."""

    folds: int = 5
    samples: int = 1000
    seed: int = 1


@grouped
def rank(
    learn: Annotated[
        str,
        typer.Option(metavar="JUDGED", help="Pairs with scores: phrase<TAB>phrase<TAB>score."),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="WEIGHTS", help="The file to write.")
    ],
    evidence: EvidenceOptions,
    fine: FineSettings,
    grammar: Annotated[
        str | None,
        typer.Option(metavar="GRAMMAR", help="Paraphrase rules that give pairs their features."),
    ] = None,
    only_grammar: Annotated[
        bool, typer.Option("--only-grammar", help="Measure agreement on the pairs that have rules.")
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
) -> None:
    """Learn weights of all evidence from judged pairs, for `rerank --weights`.

    Prints feature<TAB>Spearman<TAB>low<TAB>high<TAB>pairs with it: first the sum, on pairs that
    its weights were not learned from, then each feature alone, on the same pairs.
    """
    from distsim.cli.evaluate import chosen_columns
    from distsim.cli.opened import pair_features
    from distsim.evaluation.gold import read_gold
    from distsim.grammar.ranking import learn_ranking
    from distsim.storage.files import open_output

    (validation,) = fine.chosen(Validation())
    if only_grammar and grammar is None:
        raise typer.BadParameter("--only-grammar: name the grammar with --grammar")
    gold = read_gold(learn, columns=chosen_columns(columns))
    learnt = learn_ranking(
        gold, pair_features(evidence.ngram, evidence.syntax, evidence.opposites), grammar=grammar,
        only_grammar=only_grammar, names=None if features is None else split_names(features),
        folds=validation.folds, samples=validation.samples, seed=validation.seed,
    )  # fmt: skip
    with open_output(output) as out:
        out.write(learnt.weights.text().encode())
    for line in learnt.lines():
        put(*line.split("\t"))
    for note in learnt.weights.notes[:2]:
        say(note)
