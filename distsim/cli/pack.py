"""`distsim pack GRAMMAR -o FOLDER`: packs of several sizes; `distsim rules FOLDER` queries them."""

from typing import TYPE_CHECKING, Annotated

import typer

from distsim.base.arguments import LabelChoice
from distsim.cli.console import (
    InputOption,
    JobsOption,
    asked_phrases,
    progress_bar,
    say,
)
from distsim.cli.costs import lines_in
from distsim.cli.options import (
    OnErrorOption,
    SetOption,
    WeightOption,
    chosen,
    feature_weights,
    one_of,
)
from distsim.cli.rows import lists_rows, prints_json, put_row
from distsim.grammar.pair_features import PAIR_KINDS

if TYPE_CHECKING:
    from distsim.grammar.packs.grammar_index import PackedRule
    from distsim.grammar.scoring import RuleScorer


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
    most: Annotated[int, typer.Option("--limit", "-k", min=1, help="Rules of each at most.")] = 20,
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
    for asked in asked_phrases(sources, batch):
        if tree is None and by is None:
            found = index.rules(asked.phrase, label=label, size=size, most=most)
        else:
            found = labelled_rules(index, asked.phrase, tree, by or "best", size=size)[:most]
        for rule in found:
            _put_rule(rule, scorer)
        if not found and not asked.empty:
            n_others = index.count(asked.phrase)
            reason = "no rule has this source side"
            if n_others:
                reason = f"none of its {n_others:,} rules is asked for by --label, --tree or --size"
            say(f"{asked.phrase}: {reason}")


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
