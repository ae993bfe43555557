"""`distsim evaluate-sentences SOURCE SYSTEM...`: measures of rewritten sentences"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from distsim.cli.console import visible
from distsim.cli.groups import OptionGroup, grouped
from distsim.cli.options import AsIsOption, SetOption, chosen
from distsim.cli.rows import put_object

if TYPE_CHECKING:
    from distsim.evaluation.rewritings import System, SystemRow


@dataclass(frozen=True)
class SentenceSettings:
    """Settings of `evaluate-sentences`.

    Arguments:
        phi: the compression that PRECIS asks for.
        seed: of bootstrap samples.
    """

    phi: float = 0.75
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


@grouped
def evaluate_sentences(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE SYSTEM...",
            help="Sentences, and what systems made of them, line by line.",
        ),
    ],
    how: MeasureOptions,
    output_format: Annotated[
        Literal["tsv", "json"], typer.Option("--format", help="json has all intervals.")
    ] = "tsv",
    settings: SetOption = None,
    as_is: AsIsOption = False,
) -> None:
    """Print measures of rewritten sentences.

    Corpus-level SARI (add, keep, delete), the mean SARI of sentences, BLEU, chrF, PRECIS, words to
    the source's, words kept, edits of words, pairs in another order; always beside copying,
    nonsense for the longest word, truncation and deletion to the same lengths, and one person
    against the others. --set changes phi and seed.
    """
    from distsim.cli.opened import language_model
    from distsim.evaluation.rewriting_scores import SARI_SIGNATURE
    from distsim.evaluation.rewritings import (
        COPY,
        MEASURES,
        Evaluation,
        controls,
        one_person,
    )

    (fine,) = chosen(SentenceSettings(), settings=settings)
    sentences, people, mine = _read_files(files, how.references or [], as_is)
    n = len(sentences)
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
    print(f"# {signature}")


def _put_json_rows(rows: "list[SystemRow]", signature: str) -> None:
    for row in rows:
        differences = {name: list(one) for name, one in row.differences.items()}
        put_object(system=row.name, **row.values, differences=differences, signature=signature)


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


def _put_rows(rows: "list[SystemRow]", shown: list[str], differences: bool) -> None:
    print("\t".join(["system", *shown, *(("SARI-", "p") if differences else ())]))
    for row in rows:
        digits = {"ratio": 3, "kept": 3, "edits": 3, "moved": 3, "LM": 3}
        cells = [
            f"{row.values[name]:.{digits.get(name, 2)}f}" if name in row.values else ""
            for name in shown
        ]
        if differences:
            found = row.differences.get("SARI")
            cells += ["", ""] if found is None else [f"{found[0]:+.2f}", f"{found[3]:.3f}"]
        print("\t".join([visible(row.name, sys.stdout), *cells]))
