"""`distsim rank`, `rerank`, `pack` and `rules`: a grammar's rules in order.

`rank` learns weights of evidence, `rerank` orders or cuts a grammar by weights, `pack` makes packs
of several sizes, and `rules` queries these.
"""

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distsim.base.arguments import LabelChoice
from distsim.base.errors import counted
from distsim.cli.console import (
    InputOption,
    JobsOption,
    asked_phrases,
    progress_bar,
    say,
)
from distsim.cli.costs import lines_in
from distsim.cli.options import (
    EvidenceOptions,
    FineSettings,
    GrammarFileOptions,
    OnErrorOption,
    SetOption,
    WeightOption,
    chosen,
    feature_weights,
    grouped,
    one_of,
    split_names,
)
from distsim.cli.rows import leave_out_question, lists_rows, prints_json, put_row, say_rest
from distsim.corpus.sources import printable
from distsim.grammar.pair_features import PAIR_KINDS

if TYPE_CHECKING:
    from distsim.grammar.packs.grammar_index import GrammarIndex, PackedRule
    from distsim.grammar.scoring import RuleScorer


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
    given_weights = PPDB_COST if ppdb else feature_weights(weight)
    nothing = {"": 0.0}  # until the file of weights is read
    (ranking,) = chosen(Ranking(given_weights or nothing, ascending=ppdb), settings=settings)
    if not given_weights:
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
    targets = [judged_target.target for judged_target in judged]
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


def pack(
    grammar: Annotated[str, typer.Argument(metavar="GRAMMAR", help="Rules; - for stdin.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FOLDER", help="Its packs are replaced.")
    ],
    weight: WeightOption = None,
    parquet: Annotated[bool, typer.Option("--parquet", help="Write Parquet beside text.")] = False,
    kinds: Annotated[
        list[str] | None,
        typer.Option(help="Only rules that differ in this; repeat it.", **one_of(PAIR_KINDS)),
    ] = None,
    settings: SetOption = None,
    on_error: OnErrorOption = "stop",
    jobs: JobsOption = None,
) -> None:
    """Cut a grammar into packs: S to XXXL, by type of rule, as text, Parquet and an index."""
    from distsim.grammar.packs.pack import PackOptions, pack_grammar

    usual = PackOptions(
        weights=feature_weights(weight) or None,
        descending=bool(weight),
        parquet=parquet,
        kinds=tuple(kinds or ()),
    )
    (options,) = chosen(usual, settings=settings)
    with progress_bar("rules", lines_in(grammar)) as bar:
        report = pack_grammar(
            grammar, output, options=options, on_error=on_error, jobs=jobs, progress=bar
        )
    for line in report.lines():
        say(line)


@lists_rows
def rules(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Made by pack.")],
    sources: Annotated[
        list[str] | None, typer.Argument(metavar="SOURCE...", help="Source sides.")
    ] = None,
    batch: InputOption = None,
    label: Annotated[str | None, typer.Option(help="Only with this left-hand side.")] = None,
    tree: Annotated[
        str | None,
        typer.Option(metavar="TREE", help="Of its sentence, bracketed: with its labels there."),
    ] = None,
    by: Annotated[
        LabelChoice | None,
        typer.Option(help="Of these labels the best, their average, or any.  [default: best]"),
    ] = None,
    size: Annotated[str, typer.Option(help="Only of this pack: S to XXXL.")] = "XXXL",
    limit: Annotated[
        int, typer.Option("--limit", "-k", min=0, help="Of each at most; 0: all.")
    ] = 20,
    why: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE", help="Also print what sim_ngram and sim_rule are made of, indented."
        ),
    ] = None,
) -> None:
    """Show the rules of a packed grammar for source sides, the best first.

    With --why a line for each phrase pair follows: source, target, similarity, occurrences of
    each, and whether both are stored, one is composed of its words, or one is unknown; then the
    parts of sim_rule.
    With --tree or --by, cost is -ln p(e|f,LHS) of the labels (Callison-Burch 2008, 8 to 10).
    """
    from distsim.comparison.table import SignatureTable
    from distsim.grammar.labelled import labelled_rules
    from distsim.grammar.packs.grammar_index import GrammarIndex
    from distsim.grammar.scoring import RuleScorer, ScoreOptions

    if label is not None and (tree is not None or by is not None):
        raise typer.BadParameter("--label is one label; --tree and --by choose among several")
    index = GrammarIndex.open(folder)
    scorer = None
    if why is not None:
        table = SignatureTable.open(why)
        options = ScoreOptions(compose=table.parts is not None)
        scorer = RuleScorer([("sim_ngram", table)], options=options, rule=True)
    all_asked = asked_phrases(sources, batch)
    leave_out_question("source", len(all_asked) if why is None else 0)
    for asked in all_asked:
        if tree is None and by is None:
            listed_rules = index.rules(asked.phrase, label=label, size=size, k=limit or None)
        else:
            all_rules = labelled_rules(index, asked.phrase, tree, by or "best", size=size)
            listed_rules = all_rules[: limit or None]
            listed_rules.total = len(all_rules)
        for rule in listed_rules:
            _put_rule(rule, scorer)
        say_rest(len(listed_rules), listed_rules.total)
        if not listed_rules and not asked.empty:
            say(f"{asked.phrase}: {_why_none(index, asked.phrase)}")


def _why_none(index: "GrammarIndex", phrase: str) -> str:
    """Return why no rule is shown for a phrase."""
    n_others, lower = index.count(phrase), phrase.lower()
    if n_others:
        rules = counted(n_others, "rule")
        return f"none of its {rules} is asked for by --label, --tree or --size"
    if n_lower := index.count(lower):
        return f"no rule has this source side; {lower!r} has {n_lower:,}"
    return "no rule has this source side"


def _put_rule(rule: "PackedRule", scorer: "RuleScorer | None") -> None:
    """Print a rule, and with a scorer the phrase pairs behind its similarity."""
    from distsim.grammar.explanation import explain_rule

    evidence = [] if scorer is None else explain_rule(scorer, rule.source, rule.target, rule.links)
    row = rule._asdict() | {"cost": round(rule.cost, 6)}
    shown = ("source", "target", "label", "cost", "size", "kind", "pair_kind")
    more = {} if scorer is None else {"why": [pair._asdict() for pair in evidence]}
    put_row(
        {name: row[name] for name in shown},
        **{name: value for name, value in row.items() if name not in shown},
        **more,
    )
    for pair in [] if prints_json() else evidence:
        put_row({"": "", **pair._asdict()})
