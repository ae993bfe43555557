"""Pivots rules that are an artifact of numbers; the evidence for a paraphrase."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distsim.base.arguments import utf8_phrase
from distsim.base.errors import InputError
from distsim.base.parallel import Progress, no_progress
from distsim.corpus.numbers import plain_count
from distsim.corpus.vocabulary import hash_blob, hash_texts
from distsim.grammar.extraction.numeric import NumericRules
from distsim.grammar.invalid_lines import InvalidLines
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
        output: path of the paraphrase grammar.
        options: the 50 most probable translations of a foreign side where None.
        jobs: threads, all cores where None; the same bytes for any number.
        memory: bytes that pairs may take beside the rules.
        progress: called with (stage, done, total).

    Raises:
        ArtifactError: the rules cannot be read.
    """
    options = options or PivotOptions(max_translations=MAX_TRANSLATIONS)
    found = rules if isinstance(rules, NumericRules) else NumericRules(rules)
    report = PivotReport(InvalidLines(found.name))
    kept = _meeting(found) if options.identities == "drop" else None
    write_paraphrases(
        translations_of(found, kept), output, options, report, jobs=jobs,
        memory=memory, progress=progress,
    )  # fmt: skip
    alone = len(found) - report.read
    report.read += alone
    report.identities += alone if options.identities == "drop" else 0
    report.notes = [
        "probabilities are those of the counts, before anything was pruned"
        + (f"; {alone:,} rules are alone with their foreign side" if alone else "")
    ]
    return report


def _meeting(rules: NumericRules) -> np.ndarray:
    """Return the numbers of the rules whose foreign side has another rule too, int64."""
    same = rules.foreign[1:] == rules.foreign[:-1]
    return np.flatnonzero(np.append(same, False) | np.append(False, same))


def translations_of(rules: NumericRules, kept: np.ndarray | None = None) -> Translations:
    """Return the translations of a synchronous grammar, with probabilities from its counts.

    Arguments:
        rules: the counted rules of the grammar.
        kept: int64, numbers of the rules to return; None returns all.
    """
    some: Any = slice(None) if kept is None else kept
    label = rules.label[some].astype(np.int64)
    is_used = np.zeros(int(rules.english.max(initial=0)) + 1, bool)
    is_used[rules.english[some]] = True
    used = np.flatnonzero(is_used)
    text, starts = rules.sides("english", used)
    english = (np.cumsum(is_used) - 1)[rules.english[some]]
    gaps = rules.n_gaps(used)[english]
    orders = np.where(gaps == 2, np.where(rules.swaps[some] == 1, _SWAPPED, _STRAIGHT), 0)
    c = rules.count[some].astype(np.float64)
    c_fe, c_f, c_e, c_lf, c_le = rules.margins[some].astype(np.float64).T
    columns = {
        E_GIVEN_F_LHS: c / c_lf,
        F_GIVEN_E_LHS: c / c_le,
        E_GIVEN_F: c_fe / c_f,
        F_GIVEN_E: c_fe / c_e,
        LHS_GIVEN_E: c_le / c_e,
        LHS_GIVEN_F: c_lf / c_f,
        E_GIVEN_LHS: c_le / rules.label_counts[label],
        LEX_E_GIVEN_F: np.exp(-rules.lex[some, 0]),
        LEX_F_GIVEN_E: np.exp(-rules.lex[some, 1]),
        RARITY: np.exp(1.0 - c),
    }
    links, link_starts = _links_of(rules, kept)
    bitexts = None
    if rules.bitexts.shape[1] > 1:
        bits = np.uint64(1) << np.arange(rules.bitexts.shape[1], dtype=np.uint64)
        bitexts = ((rules.bitexts[some] > 0) * bits).sum(axis=1, dtype=np.uint64)
    return Translations(
        labels=[b"[" + name + b"]" for name in rules.labels],
        label=label,
        sources=rules.foreign[some].astype(np.uint64),
        targets=english.astype(np.uint64),
        orders=orders.astype(np.uint32),
        n_gaps=gaps,
        text=frozen(text),
        starts=starts[english],
        stops=starts[english + 1],
        n_symbols=rules.n_symbols(used)[english],
        links=frozen(links.astype(np.int32)),
        link_starts=link_starts[:-1],
        link_stops=link_starts[1:],
        columns=columns,
        column_names={name: name for name in columns},
        bitexts=bitexts,
        kind="conditional",
    )


def _links_of(rules: NumericRules, kept: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the links of rules end to end, and where those of each begin and the last end.

    Arguments:
        kept: int64, numbers of rules; all where None.
    """
    if kept is None:
        return rules.links, rules.link_starts
    pairs = frozen(rules.links).view(np.uint16).reshape(-1)
    some = gather_runs(pairs, frozen(rules.link_starts), frozen(kept))
    lengths = (rules.link_starts[1:] - rules.link_starts[:-1])[kept]
    return some.view(np.uint8).reshape(-1, 2), np.append(0, np.cumsum(lengths))


class Evidence(NamedTuple):
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


def evidence_for(rules: NumericRules, source: str, target: str) -> list[Evidence]:
    """Return the foreign sides over which two English sides are paraphrases, the best first.

    Arguments:
        source, target: symbols separated by spaces; gaps are numbered along the source, `[NP,1]`.
        rules: an artifact of extracted rules.

    Raises:
        InputError: one of the sides is not among the rules.
    """
    text, starts = rules.sides("english")
    hashes = hash_blob(text, starts)
    own, order = _numbered(target)
    numbers = []
    for side in (_numbered(source)[0], own):
        found = np.flatnonzero(hashes == hash_texts([utf8_phrase(side)])[0])
        if not found.size:
            raise InputError(
                f"{rules.name}: no rule has the English side {side!r}: look for another"
            )
        numbers.append(int(found[0]))
    one, two = (np.flatnonzero(rules.english == number) for number in numbers)
    foreign_text, foreign_starts = rules.sides("foreign")
    by_place = {(int(rules.foreign[r]), int(rules.label[r]), int(rules.swaps[r])): r for r in two}
    found_evidence = []
    for first in one.tolist():
        swaps = int(rules.swaps[first]) ^ int(order)
        place = int(rules.foreign[first]), int(rules.label[first]), swaps
        second = by_place.get(place)
        if second is None:
            continue
        _, _, _, c_lf, _ = rules.margins[second].tolist()
        c_le = int(rules.margins[first, 4])
        foreign = foreign_text[foreign_starts[place[0]] : foreign_starts[place[0] + 1]]
        found_evidence.append(
            Evidence(
                rules.labels[place[1]].decode(), foreign.tobytes().decode(errors="replace"),
                int(rules.count[second]) / c_lf * int(rules.count[first]) / c_le,
                int(rules.count[first]), int(rules.count[second]),
                int(np.count_nonzero((rules.bitexts[first] > 0) & (rules.bitexts[second] > 0))),
            )
        )  # fmt: skip
    return sorted(found_evidence, key=lambda one: (-one.p, one.label, one.foreign))


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
