"""`distsim evaluate --sentences SOURCE SYSTEM...`: how good are whole sentences, rewritten?"""

from collections.abc import Sequence
from pathlib import Path

import typer

from distsim.cli.console import put, put_json, say


def evaluate_sentences(
    source: str,
    systems: Sequence[str],
    references: Sequence[str],
    *,
    index: str | None,
    phi: float,
    ter: bool,
    baseline: str | None,
    samples: int,
    seed: int,
    output_format: str,
    form: str | None,
    items: int,
    as_is: bool = False,
) -> None:
    """Print measures of systems' rewritings, beside those of copying, truncation, deletion."""
    from distsim.cli.opened import language_model
    from distsim.evaluation.judgements import write_form
    from distsim.evaluation.rewritings import (
        COPY,
        MEASURES,
        Evaluation,
        System,
        controls,
        read_sentences,
    )

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
    if form is not None:
        key = f"{form}.key"
        rows = write_form(form, key, sentences, mine, people, items=items, seed=seed)
        say(f"{form}: {rows:,} rows to be judged; {key} names their systems")
        return
    model = language_model(index) if index is not None else None
    evaluation = Evaluation(
        sentences, people, phi=phi, ter=ter,
        log_probability=None if model is None else model.log_probability,
    )  # fmt: skip
    everything = [*controls(sentences, mine, seed), *mine]
    rows_out = evaluation.rows(everything, baseline=baseline or COPY, samples=samples, seed=seed)
    signature = (
        f"sentences:{n}|references:{len(people)}|precis:{phi:g}|baseline:{baseline or COPY}"
        f"|samples:{samples}|seed:{seed}"
    )
    left_out = {name for name, there in (("LM", model is not None), ("TER", ter)) if not there}
    shown = [name for name in MEASURES if name not in left_out]
    if output_format != "json":
        put("system", *shown, *(("SARI-", "p") if samples else ()))
    for row in rows_out:
        if output_format == "json":
            put_json(
                system=row.name, **row.values,
                differences={name: list(one) for name, one in row.differences.items()},
                signature=signature,
            )  # fmt: skip
            continue
        digits = {"ratio": 3, "kept": 3, "LM": 3}
        cells = [f"{row.values[name]:.{digits.get(name, 2)}f}" for name in shown]
        if samples:
            difference = row.differences.get("SARI")
            cells += ["", ""] if difference is None else [
                f"{difference[0]:+.2f}", f"{difference[3]:.3f}"
            ]  # fmt: skip
        put(row.name, *cells)
    if output_format != "json":
        put(f"# {signature}")


def evaluate_judgements(forms: Sequence[str], key: str) -> None:
    """Print what forms say that people filled in."""
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
