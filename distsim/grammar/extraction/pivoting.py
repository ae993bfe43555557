"""Pivots rules that are an artifact of numbers; the evidence for a paraphrase."""

from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distsim.base.arguments import plain_count, utf8_phrase
from distsim.base.errors import InputError, counted
from distsim.base.parallel import Progress, Run, no_progress
from distsim.corpus.normaliser import Normaliser
from distsim.corpus.query import Lookup
from distsim.corpus.vocabulary import hash_blob, hash_texts
from distsim.grammar.arrays import first_rows, numbers_of
from distsim.grammar.extraction.numeric import NumericRules
from distsim.grammar.fields import InvalidLines
from distsim.grammar.kernels.packs import gather_runs
from distsim.grammar.pivot import MEMORY_BYTES, PivotOptions, PivotReport, write_paraphrases
from distsim.grammar.translations import (
    E_GIVEN_F,
    E_GIVEN_F_LHS,
    E_GIVEN_LHS,
    F_GIVEN_E,
    F_GIVEN_E_LHS,
    LEX_E_GIVEN_F,
    LEX_F_GIVEN_E,
    LHS_GIVEN_E,
    LHS_GIVEN_F,
    RARITY,
    Translations,
    name_in_bitext,
)
from distsim.kernels.compiled import frozen

MAX_TRANSLATIONS = 50  # of a label and foreign side: what frequent ones have beyond is noise
_STRAIGHT, _SWAPPED = 0 | 1 << 4, 1 | 0 << 4  # orders of two gaps, as kernels.pivot packs them


def pivot_rules(
    rules: str | Path | NumericRules,
    output: str | Path,
    options: PivotOptions | None = None,
    *,
    jobs: int | None = None,
    memory: int = MEMORY_BYTES,
    progress: Progress = no_progress,
) -> PivotReport:
    """Return the report of writing the paraphrases of extracted rules.

    Nothing is read from text, and no probability is rounded. Rules of several bitexts tell in
    how many of them a paraphrase was met, as `Bitexts`: both translations of one foreign side
    must occur in it.

    Arguments:
        rules: an artifact of kind rules, from extract.
        options: the 50 most probable translations of a foreign side where None.
        jobs: threads, all cores where None; the same bytes for any number.
        memory: bytes that pairs may take beside the rules.
        progress: called with (stage, done, total).

    Raises:
        ArtifactError: the rules cannot be read.
    """
    options = options or PivotOptions(max_translations=MAX_TRANSLATIONS)
    numeric_rules = rules if isinstance(rules, NumericRules) else NumericRules(rules)
    report = PivotReport(InvalidLines(numeric_rules.name))
    kept = None
    if options.identities == "drop":
        pivots = numeric_rules.foreign if options.side == "english" else numeric_rules.english
        kept = np.flatnonzero(np.bincount(pivots)[pivots] > 1)
    write_paraphrases(
        translations_of(numeric_rules, kept, options),
        output,
        options,
        report,
        Run(jobs, memory, progress),
    )
    alone = len(numeric_rules) - report.read
    report.read += alone
    report.identities += alone if options.identities == "drop" else 0
    report.notes = [
        "probabilities are those of the counts, before anything was pruned"
        + (f"; {counted(alone, 'rule')} are alone with their pivot" if alone else "")
    ]
    return report


def translations_of(
    rules: NumericRules, kept: np.ndarray | None = None, options: PivotOptions = PivotOptions()
) -> Translations:
    """Return the translations of a synchronous grammar, with probabilities from its counts.

    Arguments:
        rules: the counted rules of the grammar.
        kept: int64, numbers of the rules to return; None returns all.
        options: its `side` are the targets, called e; its `estimate` says what p(f|e) is.
    """
    is_english = options.side == "english"
    sources, targets = (rules.foreign, rules.english)[:: 1 if is_english else -1]
    name = "english" if is_english else "foreign"
    taken: Any = slice(None) if kept is None else kept
    label = rules.label[taken].astype(np.int64)
    is_used = np.zeros(int(targets.max(initial=0)) + 1, bool)
    is_used[targets[taken]] = True
    used = np.flatnonzero(is_used)
    text, starts = rules.sides(name, used)
    target = (np.cumsum(is_used) - 1)[targets[taken]]
    gaps = rules.n_gaps(name, used)[target]
    orders = np.where(gaps == 2, np.where(rules.swaps[taken] == 1, _SWAPPED, _STRAIGHT), 0)
    columns = _columns(rules, taken, options)
    links, link_starts = _links_of(rules, kept)
    bitexts = None
    if rules.bitexts.shape[1] > 1:
        bits = np.uint64(1) << np.arange(rules.bitexts.shape[1], dtype=np.uint64)
        bitexts = ((rules.bitexts[taken] > 0) * bits).sum(axis=1, dtype=np.uint64)
    return Translations(
        labels=[b"[" + label + b"]" for label in rules.labels],
        label=label,
        sources=sources[taken].astype(np.uint64),
        targets=target.astype(np.uint64),
        orders=orders.astype(np.uint32),
        n_gaps=gaps,
        text=frozen(text),
        starts=starts[target],
        stops=starts[target + 1],
        n_symbols=rules.n_symbols(name, used)[target],
        links=frozen(links.astype(np.int32)[:, :: 1 if is_english else -1]),
        link_starts=link_starts[:-1],
        link_stops=link_starts[1:],
        columns=columns,
        column_names={name: name for name in columns},
        bitexts=bitexts,
        kind="conditional",
    )


def _columns(rules: NumericRules, taken: Any, options: PivotOptions) -> dict[str, np.ndarray]:
    """Return the probabilities of rules by name, float64[n]; taken: their numbers, or a slice."""
    is_english = options.side == "english"
    sources, targets = (rules.foreign, rules.english)[:: 1 if is_english else -1]
    margins = _margins(rules, is_english)
    c = rules.count[taken].astype(np.float64)
    c_fe, c_f, c_e, c_lf, c_le = margins[taken].astype(np.float64).T
    lex = np.exp(-rules.lex[taken])[:, :: 1 if is_english else -1]
    columns = {
        E_GIVEN_F_LHS: c / c_lf,
        F_GIVEN_E_LHS: c / c_le,
        E_GIVEN_F: c_fe / c_f,
        F_GIVEN_E: c_fe / c_e,
        LHS_GIVEN_E: c_le / c_e,
        LHS_GIVEN_F: c_lf / c_f,
        E_GIVEN_LHS: c_le / rules.label_counts[rules.label[taken]],
        LEX_E_GIVEN_F: lex[:, 0],
        LEX_F_GIVEN_E: lex[:, 1],
        RARITY: np.exp(1.0 - c),
    }
    if options.estimate == "counts":
        within, free = _virtual_shares(rules, sources, targets, margins)
        columns |= {F_GIVEN_E_LHS: within[taken], F_GIVEN_E: free[taken]}
    elif options.estimate == "mean":
        of_bitexts = _by_bitext(rules, sources, targets)
        columns |= {name: values[taken] for name, values in of_bitexts.items()}
    return columns


def _margins(rules: NumericRules, is_english: bool) -> np.ndarray:
    """Return c(f,e), c(f), c(e), c(label,f), c(label,e), with e the paraphrased side."""
    return rules.margins[:, [0, 1, 2, 3, 4] if is_english else [0, 2, 1, 4, 3]]


def _virtual_shares(
    rules: NumericRules, sources: np.ndarray, targets: np.ndarray, margins: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return what stands for p(f|e,LHS) and p(f|e) with virtual counts, float64[n] each.

    The sum over e of c(e1,e) is the sum over f of c(e1,f) c(f), so that equation 3.9 is the sum
    over f of p(e2|f) times the share of f in it: c(e1,f) c(f) divided by that sum.
    """
    c_fe, c_f, _, c_lf, _ = margins.astype(np.float64).T
    within = rules.count * c_lf
    of_label = numbers_of(rules.label, targets)
    within /= np.bincount(of_label, within)[of_label]
    free = c_fe * c_f
    first = first_rows(numbers_of(sources, targets, rules.swaps))  # once, whatever the labels
    free /= np.bincount(targets[first], free[first], targets.max(initial=0) + 1)[targets]
    return within, free


def _by_bitext(
    rules: NumericRules, sources: np.ndarray, targets: np.ndarray
) -> dict[str, np.ndarray]:
    """Return p(e|f,LHS), p(f|e,LHS), p(e|f) and p(f|e) in each bitext, by names with its number.

    They are 0 where a bitext has not the rule.
    """
    pair = numbers_of(sources, targets, rules.swaps)
    columns = {}
    for number, column in enumerate(rules.bitexts.T):
        c = column.astype(np.float64)
        c_fe = np.bincount(pair, c)
        for name, counts, owner in (
            (E_GIVEN_F_LHS, c, numbers_of(rules.label, sources)),
            (F_GIVEN_E_LHS, c, numbers_of(rules.label, targets)),
            (E_GIVEN_F, c_fe[pair], sources),
            (F_GIVEN_E, c_fe[pair], targets),
        ):
            total = np.bincount(owner, c)
            columns[name_in_bitext(name, number)] = counts / np.maximum(total[owner], 1.0)
    return columns


def _links_of(rules: NumericRules, kept: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the links of rules end to end, and where those of each begin and the last end.

    Arguments:
        kept: int64, numbers of rules; all where None.
    """
    if kept is None:
        return rules.links, rules.link_starts
    pairs = frozen(rules.links).view(np.uint16).reshape(-1)
    taken = gather_runs(pairs, frozen(rules.link_starts), frozen(kept))
    lengths = (rules.link_starts[1:] - rules.link_starts[:-1])[kept]
    return taken.view(np.uint8).reshape(-1, 2), np.append(0, np.cumsum(lengths))


class PivotLink(NamedTuple):
    """Evidence for a paraphrase: a foreign side that both English sides translate.

    label: the left-hand side. foreign: the pivot. p: p(target|foreign, label) p(foreign|source,
    label), its part of the paraphrase's sum. source_count, target_count: of the two rules.
    bitexts: the number of those in which both occur.
    """

    label: str
    foreign: str
    p: float
    source_count: int
    target_count: int
    bitexts: int


def evidence_for(rules: NumericRules, source: str, target: str) -> list[PivotLink]:
    """Return the foreign sides over which two English sides are paraphrases, the best first.

    Arguments:
        source, target: symbols separated by spaces; gaps are numbered along the source, `[NP,1]`.

    Raises:
        InputError: one of the sides is not among the rules.
    """
    text, starts = rules.sides("english")
    hashes = hash_blob(text, starts)
    own, order = _numbered(target)
    numbers = []
    for side in (_numbered(source)[0], own):
        rows = np.flatnonzero(hashes == hash_texts([utf8_phrase(side)])[0])
        if not rows.size:  # perhaps it is cut or escaped in another way
            written = hash_texts([reading.encode() for reading in _readings(side, text, starts)])
            rows = np.flatnonzero(np.isin(hashes, written))
        if not rows.size:
            raise InputError(
                f"{rules.name}: no rule has the English side {side!r}: look for another"
            )
        numbers.append(int(rows[0]))
    with_first, with_second = (np.flatnonzero(rules.english == number) for number in numbers)
    foreign_text, foreign_starts = rules.sides("foreign")
    by_place = {
        (int(rules.foreign[r]), int(rules.label[r]), int(rules.swaps[r])): r for r in with_second
    }
    found_evidence = []
    for first in with_first.tolist():
        swaps = int(rules.swaps[first]) ^ int(order)
        place = int(rules.foreign[first]), int(rules.label[first]), swaps
        second = by_place.get(place)
        if second is None:
            continue
        _, _, _, c_lf, _ = rules.margins[second].tolist()
        c_le = int(rules.margins[first, 4])
        foreign = foreign_text[foreign_starts[place[0]] : foreign_starts[place[0] + 1]]
        found_evidence.append(
            PivotLink(
                rules.labels[place[1]].decode(), foreign.tobytes().decode(errors="replace"),
                int(rules.count[second]) / c_lf * int(rules.count[first]) / c_le,
                int(rules.count[first]), int(rules.count[second]),
                int(np.count_nonzero((rules.bitexts[first] > 0) & (rules.bitexts[second] > 0))),
            )
        )  # fmt: skip
    return sorted(
        found_evidence, key=lambda evidence: (-evidence.p, evidence.label, evidence.foreign)
    )


def _readings(side: str, text: np.ndarray, starts: np.ndarray) -> list[str]:
    """Return a side as the words of the rules may write it: don't as do n&apos;t.

    Arguments:
        side: as typed. text, starts: of the sides of the rules.
    """
    whole = text.tobytes()
    words = {word for a, b in pairwise(starts.tolist()) for word in whole[a:b].split()}
    known = {word.decode(errors="replace") for word in words}
    lookup = Lookup(Normaliser(lower=False), "lines", known.__contains__)
    return [" ".join(reading) for reading in lookup.readings(side)]


def _numbered(side: str) -> tuple[str, bool]:
    """Return a side with its gaps numbered along it, and whether they were the other way round."""
    symbols, numbers = [], []
    for symbol in side.split():
        label, comma, number = symbol[1:-1].rpartition(",")
        if symbol[:1] == "[" and symbol[-1:] == "]" and comma and plain_count(number):
            numbers.append(int(number))
            symbol = f"[{label},{len(numbers)}]"
        symbols.append(symbol)
    return " ".join(symbols), numbers != sorted(numbers)
