"""`distsim rank` and `rerank`: learns weights of evidence; orders or cuts a grammar by weights."""

from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

import typer

from distsim.cli.console import progress_bar, say
from distsim.cli.costs import lines_in
from distsim.cli.options import (
    EvidenceOptions,
    FineSettings,
    GrammarFileOptions,
    SetOption,
    WeightOption,
    chosen,
    feature_weights,
    grouped,
    split_names,
)
from distsim.corpus.sources import printable


@grouped
def rerank(
    grammar: Annotated[
        str, typer.Argument(metavar="GRAMMAR", help="Rules or a phrase table; - for stdin.")
    ],
    evidence: EvidenceOptions,
    files: GrammarFileOptions,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="OUT", help="Compressed if it ends in .gz, .zst."),
    ] = "-",
    weight: WeightOption = None,
    ppdb: Annotated[
        bool, typer.Option("--ppdb-cost", help="By the cost of PPDB; the smallest is best.")
    ] = False,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Written by distsim rank: of features and of the sides themselves."
        ),
    ] = None,
    settings: SetOption = None,
) -> None:
    """Write a grammar's rules best first within each left-hand side and source."""
    from distsim.grammar.rerank import PPDB_COST, Ranking, rerank_grammar

    if (weights is not None) + ppdb + bool(weight) > 1:
        raise typer.BadParameter(
            "give one of --weight FEATURE=NUMBER, --ppdb-cost and --weights FILE"
        )
    given = PPDB_COST if ppdb else feature_weights(weight)
    nothing = {"": 0.0}  # until the file of weights is read
    (ranking,) = chosen(Ranking(given or nothing, ascending=ppdb), settings=settings)
    if not given:
        from distsim.cli.opened import pair_features
        from distsim.grammar.pair_features import LearnedWeights, rule_order

        ranking = replace(
            ranking,
            weights={},
            learned=rule_order() if weights is None else LearnedWeights.read(weights),
            computed=pair_features(evidence.ngram, evidence.syntax, evidence.opposites),
        )
    with progress_bar("rules", lines_in(grammar)) as bar:
        report = rerank_grammar(
            grammar, output, ranking, on_error=files.on_error,
            grammar_format=files.grammar_format, progress=bar,
        )  # fmt: skip
    if not report.was_grouped:
        say("rules of one source were not together: the output is sorted by source")
    for line in report.lines():
        say(line)


@dataclass(frozen=True)
class Validation:
    """Settings of the cross-validation and bootstrap that measure agreement.

    folds: number of parts. samples: number of bootstrap samples. seed: of both.
    """

    folds: int = 5
    samples: int = 1000
    seed: int = 1


@grouped
def rank(
    learn: Annotated[
        str,
        typer.Option(
            metavar="JUDGED",
            help="Pairs with scores, phrase<TAB>phrase<TAB>score, or see --substitutes.",
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="WEIGHTS", help="The file to write.")
    ],
    evidence: EvidenceOptions,
    fine: FineSettings,
    substitutes: Annotated[
        str | None,
        typer.Option(
            metavar="INDEX",
            help="Learn to find substitutes; JUDGED: left<TAB>target<TAB>right<TAB>word count;...",
        ),
    ] = None,
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
    its weights were not learned from, then each feature alone, on the same pairs. With
    --substitutes: in_sentence or alone<TAB>measure<TAB>value<TAB>low<TAB>high<TAB>with the weights
    that ship<TAB>cases, for `substitute --set weights=WEIGHTS`.
    """
    (validation,) = fine.chosen(Validation())
    if substitutes is not None:
        if features or columns or only_grammar or any(vars(evidence).values()):
            raise typer.BadParameter("--substitutes goes with --learn, --grammar and --set alone")
        _learn_substitutes(substitutes, learn, output, grammar, validation)
        return
    if only_grammar and grammar is None:
        raise typer.BadParameter("--only-grammar: name the grammar with --grammar")
    names = None if features is None else split_names(features)
    choice = {"grammar": grammar, "only_grammar": only_grammar, "names": names}
    _learn_ranking(learn, output, evidence, columns, {**choice, **asdict(validation)})


def _learn_ranking(
    learn: str, output: str, evidence: EvidenceOptions, columns: str | None, options: dict[str, Any]
) -> None:
    """Write the weights of all evidence, print their agreement with the judgements."""
    from distsim.cli.evaluate import chosen_columns
    from distsim.cli.opened import pair_features
    from distsim.evaluation.gold import read_gold
    from distsim.grammar.ranking import learn_ranking
    from distsim.storage.files import open_output

    gold = read_gold(learn, columns=chosen_columns(columns))
    known = pair_features(evidence.ngram, evidence.syntax, evidence.opposites)
    learned = learn_ranking(gold, known, **options)
    with open_output(output) as out:
        out.write(learned.weights.text().encode())
    for line in learned.lines():
        print(line)
    for note in learned.weights.notes[:2]:
        say(note)


def _learn_substitutes(
    path: str, learn: str, output: str, grammar: str | None, validation: Validation
) -> None:
    """Write the weights of the finder of substitutes, print how good they are."""
    from distsim.cli.opened import rules_of_words
    from distsim.comparison.table import SignatureTable
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.paraphrase.substitution import learning
    from distsim.storage.files import open_output

    index, judged = CorpusIndex.open(path), learning.read_judged(learn)
    targets = [one.target for one in judged]
    rules = None if grammar is None else rules_of_words(grammar, index, targets)
    cases = learning.find_cases(index, SignatureTable.open(path), judged, grammar=rules)
    weights = learning.learn_weights(cases)
    rows = learning.measure(cases, **asdict(validation))
    notes = (
        "Weights of the finder of substitutes, and how its scores become chances (p_named).",
        f"Learned by distsim rank --substitutes from {printable(learn)}.",
    )
    with open_output(output) as out:
        out.write(weights.text(notes).encode())
    for row in rows:
        values = (row.value, *row.interval, row.shipped)
        print("\t".join([row.kind, row.measure, *(f"{value:.3f}" for value in values),
                          str(row.cases)]))  # fmt: skip
    if any(row.measure == "oot" and row.value < row.shipped for row in rows):
        say("the weights that ship find more of targets not learned from: keep them")
