"""`distsim extract`, `pivot` and `make-grammar`: paraphrase rules from bitexts."""

from dataclasses import dataclass
from itertools import islice
from typing import Annotated

import typer

from distsim.base.arguments import Columns, RuleFormat, TargetText, TextFormat
from distsim.base.arguments import ExtractPreset as Preset
from distsim.base.errors import counted
from distsim.cli.console import JobsOption, progress_bar, say
from distsim.cli.options import (
    AsIsOption,
    FineSettings,
    GrammarFileOptions,
    MemoryOption,
    OptionGroup,
    grouped,
    text_format_of,
)
from distsim.cli.rows import lists_rows, put_row


@dataclass
class TableOptions(OptionGroup):
    """How rules are written."""

    rule_format: Annotated[
        RuleFormat,
        typer.Option("--format", help="moses: a sorted phrase table, for augment too."),
    ] = "joshua"
    target: Annotated[
        TargetText | None,
        typer.Option(
            help="Of a Moses table: its target is the first text of align, or the second. "
            "Default: first."
        ),
    ] = None

    def is_moses(self) -> bool:
        """Return whether a Moses phrase table is asked for.

        Raises:
            typer.BadParameter: its target is named, but it is not.
        """
        if self.target is not None and self.rule_format != "moses":
            raise typer.BadParameter("--target goes with --format moses: rules are into English")
        return self.rule_format == "moses"


@grouped
def extract(
    bitexts: Annotated[list[str], typer.Argument(metavar="BITEXT...", help="Made by align.")],
    table: TableOptions,
    fine: FineSettings,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="RULES", help="Compressed if it ends in .gz, .zst."),
    ] = None,
    numeric: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Write rules as numbers, for pivot, not as text."),
    ] = None,
    preset: Annotated[
        Preset | None,
        typer.Option(help="Which rules are extracted.  [default: hiero; of a Moses table: moses]"),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(metavar="NAME;...", help="Write only these features, separated by ;."),
    ] = None,
    memory: MemoryOption = "1G",  # type: ignore[assignment]
    jobs: JobsOption = None,
) -> None:
    """Extract translation rules with all features; English is the target side.

    A Moses phrase table has four scores: p(f|e), lex(f|e), p(e|f), lex(e|f), e the target.
    """
    from distsim.grammar.extraction.extract import extract_phrase_table, extract_rules
    from distsim.grammar.extraction.features import FeatureChoice
    from distsim.grammar.extraction.instances import PRESETS

    is_moses = table.is_moses()
    if is_moses and (numeric is not None or features is not None):
        raise typer.BadParameter("--format moses goes with neither --numeric nor --features")
    options, choice = fine.chosen(
        PRESETS[preset or ("moses" if is_moses else "hiero")],
        FeatureChoice(tuple(features.split(";")) if features else None),
    )
    if output is None and numeric is None:
        output = "-"
    with progress_bar("sentences") as bar:
        if is_moses:
            report = extract_phrase_table(
                bitexts, output or "-", target=table.target or "first", options=options,
                memory=memory, jobs=jobs, progress=bar,
            )  # fmt: skip
        else:
            report = extract_rules(
                bitexts, output, options=options, numeric=numeric, features=choice, memory=memory,
                jobs=jobs, progress=bar,
            )  # fmt: skip
    for line in report.lines():
        say(line)


_MOST_OF_NUMBERS = 50  # translations of a label and foreign side, of numeric rules


@lists_rows
@grouped
def pivot(
    grammar: Annotated[
        str,
        typer.Argument(
            metavar="GRAMMAR",
            help="Rules, a phrase table, or a folder of extract --numeric; - for stdin.",
        ),
    ],
    files: GrammarFileOptions,
    fine: FineSettings,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="OUT", help="Compressed if it ends in .gz, .zst."),
    ] = "-",
    columns: Annotated[
        Columns | None,
        typer.Option(help="p(e,LHS|f), or p(e|f,LHS); inferred from their sums where not given."),
    ] = None,
    why: Annotated[
        str | None,
        typer.Option(
            metavar="'E1 ||| E2'",
            help="Of numeric rules: only show the foreign sides that these paraphrases share.",
        ),
    ] = None,
    memory: MemoryOption = "128M",  # type: ignore[assignment]
    jobs: JobsOption = None,
) -> None:
    """Pair English sides that share a label and a foreign side: paraphrase rules."""
    from pathlib import Path

    from distsim.grammar.pivot import PivotOptions, pivot_grammar

    numeric = bool(grammar) and Path(grammar).is_dir()
    usual = PivotOptions(max_translations=_MOST_OF_NUMBERS if numeric else 0)
    (options,) = fine.chosen(usual, columns=columns)
    if why is not None:
        if not numeric:
            raise typer.BadParameter("--why looks into the numbers that extract --numeric writes")
        _explain(grammar, why)
        return
    with progress_bar() as bar:
        if numeric:
            from distsim.grammar.extraction.pivoting import pivot_rules

            report = pivot_rules(grammar, output, options, jobs=jobs, memory=memory, progress=bar)
        else:
            report = pivot_grammar(
                grammar, output, options=options, on_error=files.on_error,
                grammar_format=files.grammar_format, jobs=jobs, memory=memory, progress=bar,
            )  # fmt: skip
    for line in report.lines():
        say(line)


def _explain(rules: str, pair: str) -> None:
    """Print pivot, left-hand side, share of the sum, both counts, bitexts; the best first."""
    from distsim.grammar.extraction.numeric import NumericRules
    from distsim.grammar.extraction.pivoting import evidence_for

    source, bar, target = pair.partition("|||")
    if not bar or not source.strip() or not target.strip():
        raise typer.BadParameter(f"--why {pair!r}: give both sides, as 'in spite of ||| despite'")
    rows = evidence_for(NumericRules(rules), source.strip(), target.strip())
    for row in rows:
        counts = {"source_count": row.source_count, "target_count": row.target_count}
        put_row({"pivot": row.foreign, "label": row.label, "p": row.p, **counts,
                 "bitexts": row.bitexts})  # fmt: skip
    if not rows:
        say(f"{pair}: no foreign side has both as translations under one label")


@grouped
def make_grammar(
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FOLDER", help="A stopped run continues there.")
    ],
    bitext: Annotated[
        list[str],
        typer.Option(
            "--bitext", metavar="EN OTHER | BITEXT", help="Two texts, or an artifact; repeat it."
        ),
    ],
    index: Annotated[
        str, typer.Option(metavar="INDEX", help="A signed index or a table, for sim_ngram.")
    ],
    fine: FineSettings,
    others: Annotated[list[str] | None, typer.Argument(metavar="OTHER...", hidden=True)] = None,
    syntax: Annotated[str | None, typer.Option(metavar="TABLE", help="For sim_syn.")] = None,
    language: Annotated[
        str | None,
        typer.Option(
            metavar="LL", help="Of the paraphrases; but for en they are OTHER's.", show_default="en"
        ),
    ] = None,
    trees: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="English trees, one a line; one for each pair of texts, in order."
        ),
    ] = None,
    text_format: Annotated[
        TextFormat | None,
        typer.Option("--format", help="lines: tokenised; text: running text.  [default: by marks]"),
    ] = None,
    as_is: AsIsOption = False,
    jobs: JobsOption = None,
) -> None:
    """Align, extract, pivot, score and pack: a paraphrase grammar of your own in one command."""
    from distsim.bitext.sentence_pairs import BitextOptions
    from distsim.grammar.pipeline import MakeOptions
    from distsim.grammar.pipeline import make_grammar as make

    fine.chosen(MakeOptions(text=BitextOptions()), language=language)  # before anything is opened
    bitexts = _bitexts(bitext, list(others or ()), trees)
    texts = [path for pair in bitexts if isinstance(pair, tuple) for path in pair]
    cut = text_format or (
        text_format_of(texts, fine.settings, "text.text_format", bool(trees)) if texts else "lines"
    )
    (options,) = fine.chosen(MakeOptions(text=BitextOptions(cut, as_is=as_is)), language=language)
    of_texts = iter(trees or ())
    bitexts = [
        (*pair, *islice(of_texts, 1)) if isinstance(pair, tuple) else pair for pair in bitexts
    ]
    with progress_bar("done") as bar:
        report = make(
            bitexts, index, output, options=options, syntax=syntax, jobs=jobs,
            progress=bar, say=say,
        )  # fmt: skip
    for line in report.lines():
        print(line)


def _bitexts(
    bitext: list[str], left: list[str], trees: list[str] | None
) -> list[str | tuple[str, ...]]:
    """Return the artifacts and pairs of texts that --bitext names.

    Raises:
        typer.BadParameter: a text has no translation, or as many trees as pairs are not given.
    """
    from distsim.grammar.pipeline import is_artifact

    bitexts: list[str | tuple[str, ...]] = []
    for english in bitext:
        if is_artifact(english):
            bitexts.append(english)
        elif left:
            bitexts.append((english, left.pop(0)))
        else:
            raise typer.BadParameter(f"--bitext {english}: give its translation too: EN OTHER")
    if trees and len(trees) != sum(isinstance(pair, tuple) for pair in bitexts):
        raise typer.BadParameter(
            f"--trees {counted(len(trees), 'time')}: give one for each pair of texts"
        )
    if left:
        raise typer.BadParameter(f"{left[0]}: put --bitext EN before it")
    return bitexts
