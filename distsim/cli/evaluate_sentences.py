"""`distsim evaluate-sentences SOURCE SYSTEM...`: measures of rewritten sentences"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from distsim.cli.console import put, put_json, say
from distsim.cli.groups import OptionGroup, grouped
from distsim.cli.options import AsIsOption, SetOption, chosen

if TYPE_CHECKING:
    from distsim.evaluation.rewritings import Row, System


@dataclass(frozen=True)
class SentenceSettings:
    """phi: the compression that PRECIS asks for. items: sentences in a form. seed: of samples."""

    phi: float = 0.75
    items: int = 50
    seed: int = 1


@dataclass
class MeasureOptions(OptionGroup):
    """The references and measures of rewritten sentences."""

    references: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="What people wrote; repeat it.")
    ] = None
    index: Annotated[
        str | None, typer.Option(metavar="INDEX", help="Also ln p a word, by this index.")
    ] = None
    ter: Annotated[bool, typer.Option("--ter", help="TER too, which is slow.")] = False
    baseline: Annotated[
        str | None, typer.Option(metavar="NAME", help="Compare with it.  [default: copy]")
    ] = None
    samples: Annotated[int, typer.Option(min=0, help="Bootstrap samples; 0: none.")] = 1000


@dataclass
class FormOptions(OptionGroup):
    """Forms in which people judge sentences."""

    form: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write a form for people, and FILE.key.")
    ] = None
    judged: Annotated[
        str | None, typer.Option(metavar="KEY", help="The files are forms that people filled in.")
    ] = None


@grouped
def evaluate_sentences(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE SYSTEM...",
            help="Sentences, and what systems made of them, line by line; with --judged the forms.",
        ),
    ],
    how: MeasureOptions,
    forms: FormOptions,
    output_format: Annotated[
        Literal["tsv", "json"], typer.Option("--format", help="json has all intervals.")
    ] = "tsv",
    settings: SetOption = None,
    as_is: AsIsOption = False,
) -> None:
    """Print measures of rewritten sentences.

    Corpus-level SARI (add, keep, delete), the mean SARI of sentences, BLEU, chrF, PRECIS, words to
    the source's, words kept; always beside copying, nonsense for the longest word, truncation and
    deletion to the same lengths, and one person against the others. --set changes phi, items and
    seed.
    """
    from distsim.cli.opened import language_model
    from distsim.evaluation.judgements import write_form
    from distsim.evaluation.rewriting_scores import SARI_SIGNATURE
    from distsim.evaluation.rewritings import (
        COPY,
        MEASURES,
        Evaluation,
        controls,
        one_person,
    )

    (fine,) = chosen(SentenceSettings(), settings=settings)
    if forms.judged is not None:
        _put_judgements(files, forms.judged)
        return
    sentences, people, mine = _read_files(files, how.references or [], as_is)
    n = len(sentences)
    if forms.form is not None:
        key = f"{forms.form}.key"
        n_rows = write_form(
            forms.form, key, sentences, mine, people, items=fine.items, seed=fine.seed
        )
        say(f"{forms.form}: {n_rows:,} rows to be judged; {key} names their systems")
        return
    model = language_model(how.index) if how.index is not None else None
    baseline = how.baseline or COPY
    evaluation = Evaluation(
        sentences, people, phi=fine.phi, ter=how.ter,
        log_probability=None if model is None else model.log_probability,
    )  # fmt: skip
    everything = [*controls(sentences, mine, fine.seed), *mine]
    rows = list(evaluation.rows(everything, baseline=baseline, samples=how.samples, seed=fine.seed))
    if len(people) > 1:
        rows.append(one_person(sentences, people))
    signature = (
        f"{SARI_SIGNATURE}|sentences:{n}|references:{len(people)}|precis:{fine.phi:g}|baseline:{baseline}"
        f"|samples:{how.samples}|seed:{fine.seed}"
    )
    if output_format == "json":
        _put_json_rows(rows, signature)
        return
    left_out = {name for name, there in (("LM", how.index), ("TER", how.ter)) if not there}
    _put_rows(rows, [name for name in MEASURES if name not in left_out], how.samples > 0)
    put(f"# {signature}")


def _put_json_rows(rows: "list[Row]", signature: str) -> None:
    for row in rows:
        differences = {name: list(one) for name, one in row.differences.items()}
        put_json(system=row.name, **row.values, differences=differences, signature=signature)


def _read_files(
    files: list[str], references: list[str], as_is: bool
) -> "tuple[list[str], list[list[str]], list[System]]":
    """Return the source's sentences, people's rewritings of them, and the systems with theirs."""
    from distsim.evaluation.rewritings import System, read_sentences

    source, *systems = files
    if not systems:
        raise typer.BadParameter("give the source's sentences, then those of a system or more")
    if not references:
        raise typer.BadParameter("name files of references: --references FILE, one or more")
    sentences = read_sentences(source, as_is=as_is)
    n = len(sentences)
    people = [read_sentences(path, n, as_is) for path in references]
    names = [Path(path).name for path in systems]
    if len(set(names)) < len(names):
        names = list(systems)
    mine = [
        System(name, read_sentences(path, n, as_is))
        for name, path in zip(names, systems, strict=True)
    ]
    return sentences, people, mine


def _put_rows(rows: "list[Row]", shown: list[str], differences: bool) -> None:
    put("system", *shown, *(("SARI-", "p") if differences else ()))
    for row in rows:
        digits = {"ratio": 3, "kept": 3, "LM": 3}
        cells = [
            f"{row.values[name]:.{digits.get(name, 2)}f}" if name in row.values else ""
            for name in shown
        ]
        if differences:
            found = row.differences.get("SARI")
            cells += ["", ""] if found is None else [f"{found[0]:+.2f}", f"{found[3]:.3f}"]
        put(row.name, *cells)


def _put_judgements(forms: Sequence[str], key: str) -> None:
    """Print the results of forms that people filled in."""
    from distsim.evaluation.judgements import evaluate_forms

    judged = evaluate_forms(forms, key)
    put("system", "scale", "mean", "judgements", "ratio")
    for mean in judged.means:
        put(mean.system, mean.scale, f"{mean.mean:.3f}", mean.judgements, f"{mean.ratio:.3f}")
    put("first", "second", "scale", "wins", "losses", "ties", "p")
    for one in judged.comparisons:
        put(*one[:6], f"{one.p:.4f}")
    for scale, kappa in judged.kappa.items():
        put("# kappa", scale, f"{kappa:.3f}")
    for judge in judged.failed:
        say(f"{judge}: puts random deletions as high as references: leave this judge out")
