"""`distsim similarity` and `compare`: two phrases, or pairs in a file; the evidence behind."""

from collections import Counter
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from distsim.base.errors import DistsimError, InputError, ParameterError, counted
from distsim.cli.console import read_lines, say, say_left_out
from distsim.cli.options import DocumentOptions, EstimateOption, SetOption, chosen, grouped
from distsim.cli.rows import (
    ALL_ROWS,
    NOTE,
    lists_rows,
    prints_json,
    put_object,
    put_row,
)

if TYPE_CHECKING:
    from distsim.comparison.table import CosineEvidence, SignatureTable
    from distsim.indexes.corpus_index import CorpusIndex


_CONTEXTS_IN_A_ROW = 3  # beside a neighbour


def put_evidence(behind: "CosineEvidence") -> None:
    """Print a row for each phrase and for each shared context of a pair; JSON has them already.

    Arguments:
        behind: the evidence.
    """
    if prints_json():
        return
    for phrase_evidence in (behind.a, behind.b):
        put_row({
            "phrase": phrase_evidence.phrase, "count": phrase_evidence.occurrences,
            "own_share": phrase_evidence.own_share, "origin": phrase_evidence.origin,
        })  # fmt: skip
    for context in behind.shared:
        put_row({
            "context": f"{context.place}:{context.word}", "weight_a": context.weight_a,
            "weight_b": context.weight_b,
        })  # fmt: skip


def columns_of(behind: "CosineEvidence") -> dict[str, object]:
    """Return the columns beside a neighbour: own share, origin, the strongest shared contexts.

    Arguments:
        behind: the evidence.
    """
    shown = [f"{context.place}:{context.word}" for context in behind.shared[:_CONTEXTS_IN_A_ROW]]
    return {
        "own_share": behind.b.own_share, "origin": behind.b.origin, "shared": " ".join(shown),
    }  # fmt: skip


def as_record(behind: "CosineEvidence") -> dict[str, Any]:
    """Return the evidence with names, for JSON.

    Arguments:
        behind: the evidence.
    """
    return {
        "a": behind.a._asdict(),
        "b": behind.b._asdict(),
        "shared": [context._asdict() for context in behind.shared],
    }


@lists_rows
@grouped
def compare(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    a: Annotated[str, typer.Argument(metavar="A")],
    b: Annotated[str, typer.Argument(metavar="B")],
    part: DocumentOptions,
    k: Annotated[
        int, typer.Option("-k", "--limit", min=0, help="Contexts of each kind at most; 0: all.")
    ] = 10,
    table: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="Signatures; default: those inside the index."),
    ] = None,
    settings: SetOption = None,
) -> None:
    """Put two phrases side by side.

    Prints count<TAB>of A<TAB>of B; a line for each measure<TAB>similarity; then both, a and
    b<TAB>context<TAB>weight beside A<TAB>beside B, the strongest first: contexts of both, of A
    alone, of B alone. In a context _ stands for the phrase. --set model.window=2 looks two words to
    either side, --set weighting.scheme=ppmi weighs rare contexts more (default: log-llr). With
    --where or --in counts and contexts are of these documents, similarities those of the table.
    """
    from distsim.comparison.table import SignatureTable
    from distsim.contexts.contrasting import contrast
    from distsim.contexts.weights import Weighting
    from distsim.signatures.recipe import PRESETS
    from distsim.storage.manifest import signatures_inside

    usual = replace(PRESETS["thesis"], weighting=Weighting("log-llr"))
    (recipe,) = chosen(usual, settings=settings)
    window, weighting = recipe.model.window, recipe.weighting
    corpus = part.opened(index)
    signatures = None
    if table is not None or signatures_inside(index).exists():
        signatures = SignatureTable.open(table or index)
    counts = corpus.count([a, b]).tolist()
    contexts_of_both = contrast(corpus, a, b, k=k or ALL_ROWS, window=window, weighting=weighting)
    measured = [] if signatures is None else _measured(corpus, signatures, a, b)
    if prints_json():
        rows = {
            name: [context._asdict() for context in contexts]
            for name, contexts in zip(("both", "a", "b"), contexts_of_both, strict=True)
        }
        put_object(a=a, b=b, counts=counts, similarities=dict(measured), contexts=rows)
        return
    put_row({"row": "count", "a": counts[0], "b": counts[1]})
    for name, value in measured:
        put_row({"measure": name, "similarity": value})
    for name, contexts in zip(("both", "a", "b"), contexts_of_both, strict=True):
        for context in contexts:
            weights = {"weight_a": context.weight_a, "weight_b": context.weight_b}
            put_row({"of": name, "context": context.shown, **weights})


def _measured(
    index: "CorpusIndex", table: "SignatureTable", a: str, b: str
) -> list[tuple[str, float | None]]:
    """Return (measure, similarity) of all measures that the table allows; None where unknown."""
    from distsim.comparison.measures import cosine

    similarities = [("table", cosine(table).similarity(a, b))]
    how: Literal["vectors", "exact"]
    for how in ("vectors", "exact"):
        try:
            similarities.append((how, cosine(table, how=how, index=index).similarity(a, b)))
        except DistsimError:  # the table is of another kind, or of another text
            continue
    return similarities


@lists_rows
def similarity(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="A table, or an index that was signed.")
    ],
    a: Annotated[str | None, typer.Argument(metavar="A")] = None,
    b: Annotated[str | None, typer.Argument(metavar="B")] = None,
    pairs: Annotated[
        str | None, typer.Option(metavar="FILE", help="Pairs a<TAB>b, one a line; - for stdin.")
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Cosine of the contexts themselves, from the index.")
    ] = False,
    index: Annotated[
        str | None,
        typer.Option(metavar="INDEX", help="The index that --exact, --opposite, --why count in."),
    ] = None,
    estimate: EstimateOption = None,
    opposite: Annotated[
        bool,
        typer.Option(
            "--opposite", help="Also print whether they are opposites, by patterns in the index."
        ),
    ] = False,
    why: Annotated[
        bool,
        typer.Option(
            "--why", help="Also print occurrences, shares of own contexts, and shared contexts."
        ),
    ] = False,
) -> None:
    """Print the similarity of two phrases.

    Prints one number, or a<TAB>b<TAB>similarity for every pair of a file. With --opposite a score
    of opposites follows, the higher the likelier, and `opposite` where it is as high as that of
    known opposites. One more column says `composed` where a phrase is not in the table and was made
    of its words. With --why lines follow: of each phrase its occurrences, the share of its own
    contexts in its vector (the rest is of its words), and stored, composed or unknown; then the
    contexts that both have, with their weights.
    """
    from distsim.cli.opened import opened_evidence, opened_opposites
    from distsim.comparison.measures import cosine
    from distsim.comparison.table import SignatureTable

    if exact and estimate is not None:
        raise typer.BadParameter("--exact counts contexts, --estimate reads the table: choose one")
    single, asked = _asked_pairs(a, b, pairs)
    signatures = SignatureTable.open(table)
    filled = [pair for pair in asked if pair[0].strip() and pair[1].strip()]
    measure = cosine(signatures, how="exact" if exact else estimate, index=index)
    values = iter(measure.estimates(filled))
    evidence = iter(opened_opposites(index or table, table).evidence(filled) if opposite else ())
    evidence_of = opened_evidence(signatures, index) if why else None
    n_composed = 0
    missing: Counter[str] = Counter()
    for first, second in asked:
        empty = not (first.strip() and second.strip())
        value, composed = (None, False) if empty else next(values)
        n_composed += composed
        clues = next(evidence) if opposite and not empty else None
        reason = None if value is not None else _reason(signatures, first, second, exact)
        if reason is not None:
            missing[reason] += 1
        behind = None if evidence_of is None or empty else evidence_of.of_pair(first, second)
        labels = {"reason": reason, "composed": composed}
        _put_pair((first, second), single, value, clues if opposite else ..., labels, behind)
    _say_totals(n_composed, missing, 0 if single else len(asked))
    if n_composed:
        say_left_out(signatures, chain(*filled))


def _put_pair(
    pair: tuple[str, str],
    single: bool,
    value: float | None,
    clues: Any,
    labels: dict[str, Any],
    behind: "CosineEvidence | None",
) -> None:
    """Print a pair; `clues`: evidence of opposites, None without one, `...` if not asked for."""
    asked_pair = {} if single else {"a": pair[0], "b": pair[1]}
    notes, scores, more = [], {}, dict(labels)
    if clues is not ...:
        more["opposite"] = clues._asdict() if clues else None
        scores["opposite_score"] = clues.score if clues else None
        notes += ["opposite"] if clues and clues.opposite else []
    notes += ["composed"] if labels["composed"] else []
    if behind is not None:
        more["why"] = as_record(behind)
    shown = {**asked_pair, "similarity": value, **scores, NOTE: ",".join(notes)}
    put_row(shown, a=pair[0], b=pair[1], **more)
    if behind is not None:
        put_evidence(behind)


def _say_totals(n_composed: int, missing: "Counter[str]", n_pairs: int) -> None:
    """Say how many pairs were composed or have no similarity; n_pairs is 0 for a single pair."""
    of_all = f" of {counted(n_pairs, 'pair')}" if n_pairs else ""
    if n_composed:
        say(f"composed of its words: a phrase in {n_composed:,}{of_all or ' pair'}")
    for reason, times in missing.most_common(10):
        say(f"NA: {reason}" + (f": {times:,}{of_all}" if n_pairs else ""))


def _asked_pairs(
    a: str | None, b: str | None, pairs: str | None
) -> tuple[bool, list[tuple[str, str]]]:
    """Return whether one pair was given as arguments, and all pairs that are asked for."""
    single = a is not None and b is not None
    if single == (pairs is not None) or (a is not None and b is None):
        raise typer.BadParameter("give two phrases, or a file of pairs with --pairs")
    if pairs is not None:
        return False, _read_pairs(pairs)
    asked = (a or "", b or "")
    if not all(phrase.strip() for phrase in asked):
        raise ParameterError("a phrase is empty: give at least one word for each")
    return True, [asked]


def _reason(table: "SignatureTable", a: str, b: str, exact: bool) -> str:
    """Return why a pair has no similarity: what is unknown of it, the whole phrase or a word."""
    from distsim.comparison.measures import reason_without_signature, words_left_out

    if not (a.strip() and b.strip()):
        return "empty phrase"
    if exact:
        return "no context in the index"
    unknown = [phrase for phrase in (a, b) if table.vector(phrase).evidence.origin == "unknown"]
    unknown = unknown or [phrase for phrase in (a, b) if words_left_out(table, phrase)]
    return ", ".join(
        f"{phrase!r} is {reason_without_signature(table, phrase)}" for phrase in unknown
    )


def _read_pairs(path: str) -> list[tuple[str, str]]:
    asked = []
    for line, text in enumerate(read_lines(path), 1):
        columns = text.split("\t")
        if len(columns) < 2:
            raise InputError(
                f"{path}, line {line}: one column, expected two phrases separated by a tab"
            )
        asked.append((columns[0], columns[1]))
        if not columns[0].strip() or not columns[1].strip():
            say(f"{path}, line {line}: a phrase is empty: NA")
    return asked
