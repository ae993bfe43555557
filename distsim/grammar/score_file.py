"""Writes a grammar file with the scores of its rules; trains the aligner of its rules."""

import time
from contextlib import nullcontext
from dataclasses import astuple, dataclass, field
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from distsim.base.arguments import OnError
from distsim.base.errors import counted, program_version
from distsim.base.parallel import Progress, no_progress, ordered_map
from distsim.bitext.aligner import LinkModel
from distsim.corpus.lines import LineBlock, read_line_blocks, split_lines
from distsim.corpus.sources import spooled
from distsim.grammar.alignment import RuleAligner, TrainingSample
from distsim.grammar.block import RuleBlock, parse_block
from distsim.grammar.explanation import HEADER, explain_block, explanation_lines
from distsim.grammar.fields import InvalidLines
from distsim.grammar.formats import HEAD_LINES, find_format
from distsim.grammar.formats.grammar_format import GrammarFormat
from distsim.grammar.score_writer import OutputOptions, stand_already, text_with_scores
from distsim.grammar.scoring import (
    OPPOSITE,
    SIM_GAP,
    SIM_RULE,
    SIM_WHOLE,
    BlockScores,
    FeatureScores,
    PairOutcome,
    RuleScorer,
)
from distsim.storage.files import open_output

_PARSED_BYTES = 24 << 20  # of rules that are parsed once, for links and for scores


@dataclass
class FeatureCounts:
    """Counts of the scores by one table.

    scored: rules with a score. without_pairs: rules without a pair to score. unknown: rules with
        pairs of which none has a score.
    pairs: phrase pairs. identical, known, composed: those of identical phrases, those found in the
        table, those composed of their words. missing, weak, vanished: those without a similarity:
        a phrase is unknown, too rare, or the normaliser drops a word of it.
    resting: scored rules of which a phrase is composed of words.
    unescaped, split, dropped: words of the rules that were unescaped, split or dropped to be
        looked up.
    """

    scored: int = 0
    without_pairs: int = 0
    unknown: int = 0
    pairs: int = 0
    identical: int = 0
    known: int = 0
    composed: int = 0
    missing: int = 0
    weak: int = 0
    vanished: int = 0
    resting: int = 0
    unescaped: int = 0
    split: int = 0
    dropped: int = 0

    @classmethod
    def of_block(cls, scores: FeatureScores, fine: np.ndarray) -> "FeatureCounts":
        """Return the counts of a block of rules.

        Arguments:
            scores: one score of its rules.
            fine: bool[n], which lines are rules.
        """
        of = np.bincount(scores.outcomes, minlength=PairOutcome.COMPOSED + 1).tolist()
        n_pairs = int(scores.pairs.sum()) + of[PairOutcome.SKIPPED]
        return cls(
            int(np.count_nonzero(scores.scored)),
            int(np.count_nonzero(fine & (scores.pairs == 0))),
            int(np.count_nonzero((scores.pairs > 0) & (scores.scored == 0))),
            n_pairs,
            of[PairOutcome.IDENTICAL] + of[PairOutcome.SKIPPED],
            of[PairOutcome.SCORED],
            of[PairOutcome.COMPOSED],
            n_pairs - sum(of) + of[PairOutcome.NOT_IN_TABLE],
            of[PairOutcome.TOO_WEAK],
            of[PairOutcome.DROPPED],
            int(np.count_nonzero(scores.composed)),
            *scores.changes,
        )

    def __add__(self, other: "FeatureCounts") -> "FeatureCounts":
        return FeatureCounts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def lines(self, name: str) -> list[str]:
        """Return the report of a score, a few lines; the parts of a sum add up.

        Arguments:
            name: of the score.
        """
        kinds = {
            "identical": self.identical, "known": self.known, "composed of words": self.composed,
            "with an unknown phrase": self.missing, "with a phrase too rare": self.weak,
            "with a word that the normaliser drops": self.vanished,
        }  # fmt: skip
        changes = {
            "unescaped": self.unescaped, "looked up as their parts": self.split,
            "dropped by the normaliser": self.dropped,
        }  # fmt: skip
        lines = [
            f"{name}: {counted(self.scored, 'rule')} scored; unscored: "
            f"{self.without_pairs:,} without a "
            f"phrase pair, {self.unknown:,} without a phrase pair that has a similarity",
            f"{name}: {counted(self.pairs, 'phrase pair')}",
        ]
        for before, counts in ((": ", kinds), ("; of the words ", changes)):
            listed = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)
            lines[-1] += before + listed if listed else ""
        if self.resting:
            share = 100 * self.resting / self.scored
            lines.append(
                f"{name}: {self.resting:,} of the scored rules ({share:.0f}%) rest on a phrase "
                "that is composed of its words"
            )
        return lines


class ScoredBlock(NamedTuple):
    """A block of output lines, compressed, and its counts for the report.

    Attributes:
        packed: the lines. explained: lines of their phrase pairs, compressed.
        faults: line number and message of invalid lines.
        n_rules: rules.
        replaced: rules in which a feature of this name stood already.
        lacking, aligned: rules without links between words, and those linked here.
        tables: counts of each score.
    """

    packed: bytes
    explained: bytes
    faults: list[tuple[int, str]]
    n_rules: int
    replaced: int
    lacking: int
    aligned: int
    tables: list[FeatureCounts]

    @classmethod
    def of(
        cls, block: RuleBlock, scores: BlockScores, packed: bytes, explained: bytes, replaced: int
    ) -> "ScoredBlock":
        """Return the output and the counts of a block of rules.

        Arguments:
            block: of lines.
            scores: of its rules.
            packed: its lines, compressed. explained: those of their phrase pairs.
            replaced: lines in which a feature stood already.
        """
        fine = block.status == 0
        return cls(
            packed,
            explained,
            block.faults(),
            int(np.count_nonzero(fine)),
            replaced,
            int(np.count_nonzero(scores.alignment.lacking)),
            int(np.count_nonzero(scores.alignment.tried)),
            [FeatureCounts.of_block(feature, fine) for _, feature in scores.features],
        )


@dataclass
class ScoreReport:
    """Report of scoring: counts of rules, and everything on which the scores depend.

    Arguments:
        faulty: the lines that are no rules.
        names: the features written; `tables` has the counts of each.
        signatures: per table, a line with everything on which its scores depend.
        read: rules. replaced: those in which a feature of this name stood already.
        lacking: rules without links between words.
        aligned: rules linked here.
        trained_on: rules that the aligner was trained on; None where it was not trained.
        seconds, cpu_seconds: of the whole.

    >>> from distsim import score_grammar
    >>> from distsim.grammar import RuleScorer
    >>> _ = (folder / "bare").write_text("[X] ||| king ||| queen ||| p=1\\n")
    >>> report = score_grammar(folder / "bare", folder / "out", RuleScorer([("sim_ngram", table)]))
    >>> report.read, report.lacking, report.aligned
    (1, 1, 1)
    """

    faulty: InvalidLines
    names: list[str]
    signatures: list[str]
    read: int = 0
    replaced: int = 0
    lacking: int = 0
    aligned: int = 0
    tables: list[FeatureCounts] = field(default_factory=list)
    trained_on: int | None = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def __post_init__(self) -> None:
        self.tables = self.tables or [FeatureCounts() for _ in self.names]

    def count(self, block: ScoredBlock) -> None:
        """Add the counts of a block.

        Arguments:
            block: a scored block.
        """
        self.read += block.n_rules
        self.replaced += block.replaced
        self.lacking += block.lacking
        self.aligned += block.aligned
        self.tables = [a + b for a, b in zip(self.tables, block.tables, strict=True)]

    def lines(self) -> list[str]:
        """Return the report, a few lines of text; the signatures of the scores are last."""
        lines = [f"{counted(self.read, 'rule')} read"]
        self.faulty.add_to(lines)
        if self.replaced:
            lines.append(
                f"{counted(self.replaced, 'rule')} had such a feature already: "
                "replaced in its place"
            )
        lines.append(
            f"{counted(self.lacking, 'rule')} without links between words, {self.aligned:,} "
            "aligned here"
            + (
                ""
                if self.trained_on is None
                else f", learned from {counted(self.trained_on, 'rule')}"
            )
        )
        for name, table in zip(self.names, self.tables, strict=True):
            lines += table.lines(name)
        rate = self.read / max(self.seconds, 1e-9)
        cpu_rate = self.read / max(self.cpu_seconds, 1e-9)
        lines.append(f"{rate:,.0f} rules a second, {cpu_rate:,.0f} a CPU second")
        return lines + self.signatures


def trained(
    path: str | Path,
    aligner: RuleAligner,
    grammar_format: str | None,
    jobs: int | None,
    progress: Progress = no_progress,
) -> tuple[RuleAligner, int | None, dict[int, RuleBlock]]:
    """Return the aligner with a link model, the number of rules that it was trained on, and rules.

    The aligner as it is, and None, where it needs no model or no rule lacks links. The rules are
    the first blocks, by the number of their first line, which need not be parsed again.

    Arguments:
        path: a grammar. grammar_format: a name in distsim.grammar.formats.FORMATS; inferred from
            the first lines where None. jobs: threads, all cores where None.
        progress: called with ("finding rules without links", rules so far, None).

    Raises:
        InputError: the grammar cannot be read.
        ParameterError: there is no such format.
    """
    parsed_blocks: dict[int, RuleBlock] = {}
    if not aligner.needs_training:
        return aligner, None, parsed_blocks
    blocks = read_line_blocks(path)
    first = next(blocks, None)
    if first is None:
        return aligner, None, parsed_blocks
    known = find_format(grammar_format, first.text)

    def parsed(block: LineBlock) -> tuple[RuleBlock, np.ndarray]:
        rules = parse_block(block, known)
        return rules, aligner.wanted(rules)[1]

    sample = TrainingSample(aligner.training.sample)
    n_rules, n_bytes = 0, 0
    for rules, wanted in ordered_map(parsed, chain([first], blocks), jobs):
        if wanted.any():
            sample.add(rules, wanted)
        n_rules += len(rules)
        n_bytes += len(rules.text)
        if n_bytes <= _PARSED_BYTES:
            parsed_blocks[rules.first_line] = rules
        progress("finding rules without links", n_rules, None)
    if not len(sample):
        return aligner, None, parsed_blocks
    model = LinkModel(*sample.pairs(), jobs=jobs)
    learned = RuleAligner(aligner.mode, learned=model, training=aligner.training)
    return learned, len(sample), parsed_blocks


def score_grammar(
    grammar: str | Path,
    path: str | Path,
    scorer: RuleScorer,
    *,
    options: OutputOptions | None = None,
    on_error: OnError = "stop",
    grammar_format: str | None = None,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> ScoreReport:
    """Write a grammar with its rules' scores added, line by line; return the report.

    Arguments:
        grammar: rules (Joshua, Thrax, PPDB, cdec) or a Moses phrase table, plain or packed;
            `-` for standard input.
        path: compressed where the name ends in .gz or .zst; `-` for standard output. Written whole
            or not at all.
        scorer: the tables and the aligner; where the aligner has no learned model, one is trained
            on those of the grammar's rules that lack links, by the aligner's TrainingOptions.
        options: how scores are written; OutputOptions() where None.
        on_error: invalid lines `stop` the work, or are kept as they are (`keep`), or left out
            (`drop`).
        progress: called with (name of the step, done, total) from time to time.
        grammar_format: a name in distsim.grammar.formats.FORMATS; found from the first lines
            where None.
        jobs: threads, all cores where None; the same bytes for any number.

    Raises:
        InputError: the grammar cannot be read, or a line is invalid and on_error is `stop`.
        ParameterError: there is no such format.

    >>> _ = (folder / "rules").write_text("[X] ||| the king ||| the queen ||| p=1 ||| 0-0 1-1\\n")
    >>> scorer = RuleScorer([("sim_ngram", table)])
    >>> score_grammar(folder / "rules", folder / "scored", scorer).read
    1
    >>> "sim_ngram=" in (folder / "scored").read_text()
    True
    """
    options = options or OutputOptions()
    started, cpu_started = time.monotonic(), time.process_time()
    faulty = InvalidLines(grammar, on_error)
    with spooled(grammar, scorer.aligner.needs_training) as rules:
        aligner, trained_on, parsed_blocks = trained(
            rules, scorer.aligner, grammar_format, jobs, progress
        )
        report = ScoreReport(faulty, scorer.names, signature_lines(scorer, aligner))
        report.trained_on = trained_on
        scoring = RuleScorer.sharing(scorer, aligner)
        blocks = read_line_blocks(rules)
        first = next(blocks, None)
        explained = nullcontext() if options.explain is None else open_output(options.explain)
        with open_output(path) as out, explained as explanation_file:
            if explanation_file is not None:
                explanation_file.write(("\t".join(HEADER) + "\n").encode())
            if first is not None:
                known = find_format(grammar_format, first.text)
                named, stand = _style(first, known, scoring, options)

                def scored(lines: LineBlock) -> ScoredBlock:
                    block = parsed_blocks.pop(lines.first_line, None)
                    block = block or parse_block(lines, known)
                    scores = scoring.score_block(block)
                    written = text_with_scores(
                        block, scores, options, named, on_error == "drop", stand
                    )
                    packed = out.pack(written.text)
                    explanation = b""
                    if explanation_file is not None:
                        rows = explain_block(block, scores, scorer.tables)
                        explanation = explanation_file.pack(explanation_lines(block, rows))
                    return ScoredBlock.of(block, scores, packed, explanation, written.replaced)

                for block in ordered_map(scored, chain([first], blocks), jobs):
                    for line, fault in block.faults:
                        faulty.keeps(line, fault)
                    out.write_packed(block.packed)
                    if explanation_file is not None:
                        explanation_file.write_packed(block.explained)
                    report.count(block)
                    progress("scoring", report.read, None)
            faulty.require_lines(report.read + faulty.kept + faulty.dropped)
    report.seconds = time.monotonic() - started
    report.cpu_seconds = time.process_time() - cpu_started
    return report


def _style(
    first: LineBlock, known: GrammarFormat, scoring: RuleScorer, options: OutputOptions
) -> tuple[bool, bool]:
    """Return (scores are written as `name=value`, they stand already without names)."""
    lines = b"".join(split_lines(first.text)[:HEAD_LINES])
    head = parse_block(LineBlock(lines, first.first_line), known)
    if options.names_features(head, known):
        return True, False
    return False, stand_already(head, scoring.score_block(head), options)


def signature_lines(scorer: RuleScorer, aligner: RuleAligner) -> list[str]:
    """Return a line for each score, with the table and the settings that it depends on."""
    options = scorer.options
    if aligner.mode == "none":
        how = "none"
    elif aligner.learned is not None:
        how = f"{aligner.mode}+learned{aligner.training.sample}"
    else:
        how = f"{aligner.mode}+evidence"
    lines = []
    for name, table_scorer in scorer.table_scorers:
        fingerprint = table_scorer.table.fingerprint
        model = "/".join(
            str(value) if key == "name" else f"{key}{value}"
            for key, value in fingerprint.model.items()
            if isinstance(value, str | int)
        )
        settings = {
            "table": fingerprint.short,
            "model": model,
            "weights": fingerprint.weights["scheme"],
            "bits": table_scorer.table.n_bits,
            **({} if table_scorer.estimate == "bits" else {"estimate": table_scorer.estimate}),
            "corpus": str(table_scorer.table.parameters["corpus"])[:12],
            "align": how,
            "min-strength": options.min_strength,
            "longest": options.longest,
            **({"composed": "yes"} if options.compose else {}),
            **({} if options.pairs == "thesis" else {"pairs": options.pairs}),
            "distsim": program_version(),
        }
        lines.append(f"{name}: " + "|".join(f"{key}:{value}" for key, value in settings.items()))
    if scorer.side_scorer is not None:
        whole = [name for name in (SIM_WHOLE, SIM_RULE) if name in scorer.names]
        short = scorer.side_scorer.table.fingerprint.short
        lines += [f"{name}: table:{short}|whole sides" for name in whole]
    if scorer.gap_scorer is not None:
        gapped = scorer.gap_scorer.gapped
        corpus = str(gapped.index.parameters["corpus"])[:12]
        lines.append(f"{SIM_GAP}: table:{gapped.table.fingerprint.short}|corpus:{corpus}")
    if scorer.opposite_scorer is not None:
        corpus = str(scorer.opposite_scorer.opposites.index.parameters["corpus"])[:12]
        lines.append(f"{OPPOSITE}: corpus:{corpus}|align:{how}|distsim:{program_version()}")
    return lines
