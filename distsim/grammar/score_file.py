"""A grammar file -> the same file with the scores of its rules as further features."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np

from distsim.errors import ParameterError
from distsim.grammar.alignment import RuleAligner, TrainingSample
from distsim.grammar.block import GrammarFormat, RuleBlock, guess_format, parse_block
from distsim.grammar.decomposition import span_text
from distsim.grammar.lines import (
    FaultyLines,
    LineBlock,
    LineWriter,
    OnError,
    open_output,
    read_line_blocks,
    rereadable,
)
from distsim.grammar.scoring import (
    COMPOSED,
    IDENTICAL,
    OUTCOMES,
    SCORED,
    SKIPPED,
    BlockScores,
    RuleScorer,
)
from distsim.grammar.word_aligner import WordAligner
from distsim.kernels import rules as kernel
from distsim.parallel import Progress, no_progress, ordered_map
from distsim.signatures.recipe import short_fingerprint

FeatureStyle = Literal["auto", "named", "bare"]
FEATURE_STYLES: tuple[str, ...] = get_args(FeatureStyle)
Aligner = Literal["learnt", "evidence"]
NOT_AVAILABLE = "NA"
DECIMALS = 5


@dataclass(frozen=True)
class OutputOptions:
    """How scores are written.

    Arguments:
        style: `named` writes `sim_ngram=0.12345`, `bare` the value alone; `auto` writes
            bare values where the first lines of the grammar have no named feature.
        coverage: write the share of phrase pairs that have a similarity, too.
        missing: what stands for a score that is not there, among bare values; named
            features are left out.
    """

    style: FeatureStyle = "auto"
    coverage: bool = True
    missing: str = NOT_AVAILABLE

    def __post_init__(self) -> None:
        if self.style not in FEATURE_STYLES:
            raise ParameterError(f"--features {self.style!r}: choose {', '.join(FEATURE_STYLES)}")
        if not self.missing or len(self.missing.split()) != 1 or "|||" in self.missing:
            raise ParameterError(f"--missing {self.missing!r}: give one word, as 0 or NA")


@dataclass
class ScoreReport:
    """What became of the rules of a grammar, and what the scores depend on."""

    faulty: FaultyLines
    names: list[str]
    signatures: list[str]
    read: int = 0
    lacking: int = 0
    aligned: int = 0
    without_pairs: int = 0
    scored: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)
    pairs: list[int] = field(default_factory=list)
    found: list[int] = field(default_factory=list)
    identical: list[int] = field(default_factory=list)
    composed: list[int] = field(default_factory=list)
    changes: list[list[int]] = field(default_factory=list)
    trained_on: int | None = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def __post_init__(self) -> None:
        for counts in (
            self.scored, self.unknown, self.pairs, self.found, self.identical, self.composed
        ):  # fmt: skip
            counts += [0] * len(self.names)
        self.changes += [[0, 0, 0] for _ in self.names]

    def lines(self) -> list[str]:
        """Return the report, a few lines of text; the last ones say what scores depend on."""
        faulty = self.faulty
        told = [f"{self.read:,} rules read"]
        if faulty.kept or faulty.dropped:
            told[0] += f", {faulty.kept:,} faulty lines kept unscored, {faulty.dropped:,} dropped"
            told += [f"  {message}" for message in faulty.shown]
        told.append(
            f"{self.lacking:,} rules without links between words, {self.aligned:,} aligned here"
            + ("" if self.trained_on is None else f", learnt from {self.trained_on:,} rules")
        )
        for k, name in enumerate(self.names):
            told.append(
                f"{name}: {self.scored[k]:,} rules scored; unscored: {self.without_pairs:,} "
                f"without a phrase pair, {self.unknown[k]:,} without a phrase pair that has a "
                "similarity"
            )
            unescaped, split, dropped = self.changes[k]
            made = f", {self.composed[k]:,} composed of words" if self.composed[k] else ""
            told.append(
                f"{name}: {self.pairs[k]:,} phrase pairs, {self.identical[k]:,} identical, "
                f"{self.found[k]:,} found in the table{made}; of the words {unescaped:,} "
                f"unescaped, {split:,} looked up as their parts, {dropped:,} dropped by the "
                "normaliser"
            )
        rate = self.read / max(self.seconds, 1e-9)
        cpu_rate = self.read / max(self.cpu_seconds, 1e-9)
        told.append(f"{rate:,.0f} rules a second, {cpu_rate:,.0f} a CPU second")
        return told + self.signatures

    def count(self, block: "ScoredBlock") -> None:
        """Add the counts of a block."""
        self.read += block.n_rules
        self.lacking += block.lacking
        self.aligned += block.aligned
        self.without_pairs += block.without_pairs
        for k, table in enumerate(block.tables):
            self.scored[k] += table.scored
            self.unknown[k] += table.unknown
            self.pairs[k] += table.pairs
            self.found[k] += table.found
            self.identical[k] += table.identical
            self.composed[k] += table.composed
            for which, times in enumerate(table.changes):
                self.changes[k][which] += times


class _TableCounts(NamedTuple):
    scored: int
    unknown: int
    pairs: int
    found: int
    identical: int
    composed: int
    changes: tuple[int, int, int]


class ScoredBlock(NamedTuple):
    """A block of lines as they go out, packed, with what was counted on the way."""

    packed: bytes
    faults: list[tuple[int, str]]
    n_rules: int
    lacking: int
    aligned: int
    without_pairs: int
    tables: list[_TableCounts]


@dataclass(frozen=True)
class TrainingOptions:
    """How links are learnt for rules without any.

    Arguments:
        aligner: `learnt` (sil-thot) or `evidence`: like words and gaps only.
        sample: at most so many rules are learnt from.
    """

    aligner: Aligner = "learnt"
    sample: int = 20_000

    def __post_init__(self) -> None:
        if self.aligner not in get_args(Aligner):
            raise ParameterError(f"--aligner {self.aligner!r}: choose learnt or evidence")
        TrainingSample(self.sample)  # refuses what cannot be


def score_file(
    grammar: str | Path,
    output: str | Path,
    scorer: RuleScorer,
    options: OutputOptions | None = None,
    training: TrainingOptions | None = None,
    on_error: OnError = "stop",
    grammar_format: GrammarFormat | None = None,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> ScoreReport:
    """Write a grammar with its rules' scores added; line n out is line n in.

    Arguments:
        grammar: rules (Joshua, Thrax, PPDB, cdec) or a Moses phrase table, plain or packed;
            `-` for standard input.
        output: gz where the name ends so; `-` for standard output. Written whole or not at all.
        scorer: the tables, and the aligner's mode; where it has no learnt model, one is
            learnt from the grammar's rules that lack links, as `training` says.
        grammar_format: told by the first lines where None.

    Raises:
        InputError: the grammar cannot be read, or a line is faulty and on_error is `stop`.
    """
    options = options or OutputOptions()
    training = training or TrainingOptions()
    started, cpu_started = time.monotonic(), time.process_time()
    faulty = FaultyLines(grammar, on_error)
    if any(table.exact is not None for table in scorer.tables):
        jobs = 1  # an index keeps what it counted, for one thread
    with rereadable(grammar, _learns(scorer.aligner, training)) as path:
        aligner, trained_on = _trained(path, scorer.aligner, training, grammar_format, jobs)
        report = ScoreReport(faulty, scorer.names, signature_lines(scorer, aligner, training))
        report.trained_on = trained_on
        scoring = RuleScorer.sharing(scorer, aligner)
        blocks = read_line_blocks(path)
        first = next(blocks, None)
        with open_output(output) as out:
            if first is not None:
                file_format = grammar_format or guess_format(first.text)
                work = _scorer_of_blocks(scoring, out, options, on_error, file_format, first)
                for block in ordered_map(work, chain([first], blocks), jobs):
                    for line, fault in block.faults:
                        faulty.keeps(line, fault)
                    out.write_packed(block.packed)
                    report.count(block)
                    progress("scoring", report.read, None)
            faulty.require_lines(report.read + faulty.kept + faulty.dropped)
    report.seconds = time.monotonic() - started
    report.cpu_seconds = time.process_time() - cpu_started
    return report


class ExplainedPair(NamedTuple):
    """A phrase pair of a rule as one table sees it; `why` says why there is no similarity."""

    line: int
    name: str
    source: str
    target: str
    similarity: float | None
    why: str


def explain_file(
    grammar: str | Path,
    scorer: RuleScorer,
    training: TrainingOptions | None = None,
    on_error: OnError = "stop",
    grammar_format: GrammarFormat | None = None,
) -> Iterator[ExplainedPair]:
    """Yield every phrase pair of every rule, line by line, table by table.

    Arguments and errors are those of score_file.
    """
    training = training or TrainingOptions()
    faulty = FaultyLines(grammar, on_error)
    n_lines = 0
    with rereadable(grammar, _learns(scorer.aligner, training)) as path:
        aligner, _ = _trained(path, scorer.aligner, training, grammar_format, None)
        scoring = RuleScorer.sharing(scorer, aligner)
        for lines in read_line_blocks(path):
            grammar_format = grammar_format or guess_format(lines.text)
            block = parse_block(lines, grammar_format)
            n_lines += len(block)
            for number in np.flatnonzero(block.status).tolist():
                faulty.keeps(block.first_line + number, block.fault(number))
            yield from _explained(block, scoring.score_block(block), scorer.names)
    faulty.require_lines(n_lines)


def signature_lines(
    scorer: RuleScorer, aligner: RuleAligner, training: TrainingOptions
) -> list[str]:
    """Return, per table, one line with everything on which the scores depend."""
    options = scorer.options
    if aligner.mode == "none":
        how = "none"
    elif aligner.learnt is not None:
        how = f"{aligner.mode}+hmm{training.sample}"
    else:
        how = f"{aligner.mode}+evidence"
    lines = []
    for name, one in zip(scorer.names, scorer.tables, strict=True):
        fingerprint = one.table.fingerprint
        model = "/".join(
            str(value) if key == "name" else f"{key}{value}"
            for key, value in fingerprint["model"].items()
            if isinstance(value, str | int)
        )
        settings = {
            "table": short_fingerprint(fingerprint),
            "model": model,
            "weights": next(iter(fingerprint["weights"].values())),
            "bits": "exact" if one.exact else one.table.n_bits,
            "corpus": str(one.table.parameters["corpus"])[:12],
            "align": how,
            "identical": options.identical,
            "min-strength": options.min_strength,
            "longest": options.longest,
            **({"composed": "yes"} if options.compose else {}),
            "distsim": version("distsim"),
        }
        lines.append(f"{name}: " + "|".join(f"{key}:{value}" for key, value in settings.items()))
    return lines


def _learns(aligner: RuleAligner, training: TrainingOptions) -> bool:
    return aligner.mode != "none" and aligner.learnt is None and training.aligner == "learnt"


def _trained(
    path: str | Path,
    aligner: RuleAligner,
    training: TrainingOptions,
    grammar_format: GrammarFormat | None,
    jobs: int | None,
) -> tuple[RuleAligner, int | None]:
    """Return the aligner with a model, where rules need one, and how many it has seen."""
    if not _learns(aligner, training):
        return aligner, None
    sample = TrainingSample(training.sample)
    known = grammar_format

    def parsed(block: LineBlock) -> tuple[RuleBlock, np.ndarray]:
        rules = parse_block(block, known or "rules")
        return rules, aligner.wanted(rules)[1]

    blocks = read_line_blocks(path)
    first = next(blocks, None)
    if first is None:
        return aligner, None
    known = known or guess_format(first.text)
    for rules, wanted in ordered_map(parsed, chain([first], blocks), jobs):
        if wanted.any():
            sample.add(rules, wanted)
    if not len(sample):
        return aligner, None
    return RuleAligner(aligner.mode, WordAligner(*sample.pairs())), len(sample)


def _scorer_of_blocks(
    scorer: RuleScorer,
    out: LineWriter,
    options: OutputOptions,
    on_error: OnError,
    grammar_format: GrammarFormat,
    first: LineBlock,
) -> Callable[[LineBlock], ScoredBlock]:
    """Return the function that scores one block, for any thread."""
    style = options.style
    if style == "auto":
        kinds = parse_block(first, grammar_format).feature_kinds
        has_names = grammar_format == "rules" and bool(np.any(kinds & kernel.NAMED))
        style = "named" if has_names or not np.any(kinds) else "bare"
        if grammar_format == "phrase-table":
            style = "bare"

    def work(lines: LineBlock) -> ScoredBlock:
        block = parse_block(lines, grammar_format)
        scores = scorer.score_block(block)
        bad = np.flatnonzero(block.status).tolist()
        faults = [(block.first_line + number, block.fault(number)) for number in bad]
        text = _added(block, scores, scorer.names, options, style == "named", on_error == "drop")
        fine = block.status == 0
        return ScoredBlock(
            out.pack(text),
            faults,
            int(np.count_nonzero(fine)),
            int(np.count_nonzero(scores.alignment.lacking)),
            int(np.count_nonzero(scores.alignment.made)),
            int(np.count_nonzero(fine & (np.diff(scores.pair_stops, prepend=0) == 0))),
            [
                _TableCounts(
                    int(np.count_nonzero(table.scored)),
                    int(np.count_nonzero(
                        (np.diff(scores.pair_stops, prepend=0) > 0) & (table.scored == 0)
                    )),
                    table.outcomes.size,
                    int(np.count_nonzero(table.outcomes == SCORED)),
                    int(np.count_nonzero(
                        (table.outcomes == IDENTICAL) | (table.outcomes == SKIPPED)
                    )),
                    int(np.count_nonzero(table.outcomes == COMPOSED)),
                    table.changes,
                )
                for table in scores.tables
            ],
        )  # fmt: skip

    return work


def _added(
    block: RuleBlock, scores: BlockScores, names: list[str], options: OutputOptions,
    named: bool, drops: bool,
) -> bytes:  # fmt: skip
    """Return the lines of a block with the scores behind their features."""
    columns: list[list[bytes]] = []
    for name, table in zip(names, scores.tables, strict=True):
        with np.errstate(invalid="ignore"):
            values = [(name, table.means)]
            if options.coverage:
                values.append((f"{name}_coverage", table.scored / table.pairs))
        for feature, numbers in values:
            label = f" {feature}=".encode() if named else b" "
            absent = b"" if named else b" " + options.missing.encode()
            rounded = np.round(numbers, DECIMALS) + 0.0  # no -0.00000
            form = label.replace(b"%", b"%%") + b"%%.%df" % DECIMALS
            columns.append(
                [absent if math.isnan(value) else form % value for value in rounded.tolist()]
            )
    text = block.text
    bounds = block.line_starts.tolist()
    pieces: list[bytes] = []
    status = block.status.tolist()
    for number, (insert, *added) in enumerate(zip(block.insert_at.tolist(), *columns, strict=True)):
        if status[number]:
            if not drops:
                pieces.append(text[bounds[number] : bounds[number + 1]])
            continue
        pieces.append(text[bounds[number] : insert])
        pieces += added
        pieces.append(text[insert : bounds[number + 1]])
    return b"".join(pieces)


def _explained(block: RuleBlock, scores: BlockScores, names: list[str]) -> Iterator[ExplainedPair]:
    begin = 0
    spans = scores.spans.tolist()
    for number, stop in enumerate(scores.pair_stops.tolist()):
        for name, table in zip(names, scores.tables, strict=True):
            for pair in range(begin, stop):
                value = float(table.similarities[pair])
                yield ExplainedPair(
                    block.first_line + number,
                    name,
                    span_text(block, spans[pair][:2]),
                    span_text(block, spans[pair][2:]),
                    None if math.isnan(value) else value,
                    OUTCOMES[table.outcomes[pair]],
                )
        begin = stop
