"""Writes the translation rules of bitexts with all features."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from distsim.base.arguments import TargetText
from distsim.base.errors import ParameterError, counted
from distsim.base.parallel import Progress, Run, no_progress, ordered_map
from distsim.bitext.bitext import Bitext
from distsim.grammar.arrays import folder_beside, texts_of
from distsim.grammar.extraction.counted_rules import RuleChunk, count_all
from distsim.grammar.extraction.features import (
    FeatureChoice,
    features_of,
    lexical_weights,
    moses_lines,
    require_phrases,
    sorted_lines,
)
from distsim.grammar.extraction.instances import MEMORY, PRESETS, ExtractOptions, extract_instances
from distsim.grammar.extraction.linked_text import LinkedText
from distsim.grammar.extraction.numeric import write_numeric
from distsim.grammar.kernels.rule_text import C, WordCosts, rule_lines
from distsim.kernels.compiled import frozen
from distsim.storage import open_output

_CHUNK_RULES = 1 << 15


@dataclass
class ExtractReport:
    """Report of an extraction: sentence pairs, instances, rules and labels.

    Arguments:
        pairs, bitexts: the numbers read. instances: the number extracted. rules: distinct ones,
            written; rare: left out as too rare. labels: distinct left-hand sides and gaps.

    >>> ExtractReport(pairs=2, bitexts=1, instances=6, rules=4, labels=1).lines()[0]
    '2 sentence pairs, 1 bitext, 6 instances'
    """

    pairs: int = 0
    bitexts: int = 0
    instances: int = 0
    rules: int = 0
    rare: int = 0
    labels: int = 0

    def lines(self) -> list[str]:
        """Return the report, a few lines of text."""
        report = [
            f"{counted(self.pairs, 'sentence pair')}, {counted(self.bitexts, 'bitext')}, "
            f"{counted(self.instances, 'instance')}",
            f"{counted(self.rules, 'rule')} with {counted(self.labels, 'label')} written",
        ]
        if self.rare:
            report[-1] += f", {counted(self.rare, 'rare one')} left out"
        return report


def extract_rules(
    bitexts: Sequence[str | Path | Bitext],
    path: str | Path | None,
    *,
    options: ExtractOptions | None = None,
    numeric: str | Path | None = None,
    features: FeatureChoice | None = None,
    memory: int = MEMORY,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> ExtractReport:
    """Write the translation rules of bitexts, one a line as Joshua reads them; return the report.

    `[label] ||| foreign ||| English ||| name=value ... ||| 0-0 1-2`. Rules are in the order
    of (hash of the foreign side, label, hash of the English side), the same for any number of
    jobs and any memory.

    Arguments:
        bitexts: artifacts of kind bitext; their foreign languages become one.
        path: compressed where it ends in .gz or .zst; `-` for standard output; None for no text.
        options: which rules are extracted; those of Hiero where None.
        features: which features are written; all where None.
        numeric: the folder of an artifact of kind rules, which `pivot` takes as it is.
        memory: bytes that counting may take.
        jobs: threads, all cores where None; the same bytes for any number.
        progress: called with (name of the step, done, total) from time to time.

    Raises:
        ArtifactError: a bitext cannot be read, or something else exists at `numeric`.
        InputError: there is no sentence pair, or the output's folder does not exist.

    >>> from distsim import build_bitext
    >>> _ = (folder / "en").write_text("the king\\nthe queen\\n" * 9)
    >>> _ = (folder / "de").write_text("der könig\\ndie königin\\n" * 9)
    >>> bitext = build_bitext(folder / "en", folder / "de", folder / "bitext")
    >>> extract_rules([bitext], folder / "rules").rules
    10
    """
    options = options or ExtractOptions()
    text = LinkedText.join(
        [bitext if isinstance(bitext, Bitext) else Bitext.open(bitext) for bitext in bitexts],
        None if options.labels == "every" else options.chains,
    )
    return write_rules(
        text, path, options, features or FeatureChoice(), Run(jobs, memory, progress), numeric
    )


def extract_phrase_table(
    bitexts: Sequence[str | Path | Bitext],
    path: str | Path,
    *,
    target: TargetText = "first",
    options: ExtractOptions | None = None,
    memory: int = MEMORY,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> ExtractReport:
    """Write the phrase pairs of bitexts as a Moses phrase table, sorted; return the report.

    `source ||| target ||| p(f|e) lex(f|e) p(e|f) lex(e|f) ||| links ||| counts |||`, where f is the
    source and e the target; the lexical weights are those of Moses (Koehn 2010, 5.3.3).

    Arguments:
        bitexts: artifacts of kind bitext; their second languages become one.
        path: compressed where it ends in .gz or .zst; `-` for standard output.
        target: `first`, the first text of the bitexts is the target; or `second`.
        options: which pairs are extracted; those of the preset `moses` where None.
        memory: bytes that counting may take. jobs, progress: as of extract_rules.

    Raises:
        ArtifactError: a bitext cannot be read.
        InputError: there is no sentence pair, or the output's folder does not exist.
        ParameterError: the options ask for gaps or labels.

    >>> from distsim import build_bitext
    >>> from distsim.grammar import extract_phrase_table
    >>> _ = (folder / "en").write_text("the king\\nthe queen\\n" * 9)
    >>> _ = (folder / "de").write_text("der könig\\ndie königin\\n" * 9)
    >>> bitext = build_bitext(folder / "en", folder / "de", folder / "talk")
    >>> _ = extract_phrase_table([bitext], folder / "phrases", target="second")
    >>> (folder / "phrases").read_text().splitlines()[0]
    'king ||| könig ||| 1 1 1 1 ||| 0-0 ||| 9 9 9 |||'
    """
    options = options or PRESETS["moses"]
    require_phrases(options)
    text = LinkedText.join(
        [bitext if isinstance(bitext, Bitext) else Bitext.open(bitext) for bitext in bitexts]
    )
    run = Run(jobs, memory, progress)
    report = ExtractReport(len(text), text.bounds.size - 1)
    maker = _LineMaker(text, lexical_weights(text, as_moses=True), options, FeatureChoice(()))
    with folder_beside(path) as folder:
        runs = extract_instances(text, options, folder, run)
        report.instances = runs.instances
        counted = count_all(text, runs, folder, run)
        report.labels = counted.codes.size

        def blocks() -> Iterator[list[bytes]]:
            for rules in counted.chunks(_CHUNK_RULES):
                chosen = frequent(rules, options.min_count)
                report.rules += len(chosen)
                report.rare += len(rules) - len(chosen)
                run.progress("writing", report.rules + report.rare, counted.size)
                yield moses_lines(*maker.parts(chosen), chosen.counts, target)

        with open_output(path) as out:
            for line in sorted_lines(blocks(), folder, (run.memory or MEMORY) // 4):
                out.write(line)
    return report


def write_rules(
    text: LinkedText,
    output: str | Path | None,
    options: ExtractOptions,
    features: FeatureChoice,
    run: Run = Run(),
    numeric: str | Path | None = None,
) -> ExtractReport:
    """Return the report of writing the rules of a linked text.

    Arguments:
        output: path of the grammar; None: only `numeric` is written.
        features: which are written.
        run: its memory is for counting, MEMORY where None.
        numeric: path of the artifact of numeric rules; None: none is written.

    Raises:
        ParameterError: options or paths exclude each other.
    """
    place = output if output is not None else numeric
    if place is None:
        raise ParameterError("nothing to write: give output or numeric")
    report = ExtractReport(len(text), text.bounds.size - 1)
    with folder_beside(place) as folder:
        runs = extract_instances(text, options, folder, run)
        report.instances = runs.instances
        counted = count_all(text, runs, folder, run)
        report.labels = counted.codes.size

        def chunks() -> Iterator[tuple[RuleChunk, int]]:
            for rules in counted.chunks(_CHUNK_RULES):
                yield frequent(rules, options.min_count), len(rules)

        if numeric is not None:
            written, read = write_numeric(numeric, text, options, counted, chunks(), run)
            report.rules, report.rare = written, read - written
        if output is not None:
            report.rules = report.rare = 0
            maker = _LineMaker(text, lexical_weights(text), options, features)
            with open_output(output) as out:

                def lines(numbered_chunk: tuple[RuleChunk, int]) -> tuple[int, int, bytes]:
                    return (
                        len(numbered_chunk[0]),
                        numbered_chunk[1],
                        out.pack(maker.lines(numbered_chunk[0])),
                    )

                for n_kept, n_read, packed in ordered_map(lines, chunks(), run.jobs):
                    out.write_packed(packed)
                    report.rules += n_kept
                    report.rare += n_read - n_kept
                    run.progress("writing", report.rules + report.rare, counted.size)
    return report


def frequent(rules: RuleChunk, min_count: int) -> RuleChunk:
    """Return the rules that occur at least min_count times, and those of one word without gaps.

    Arguments:
        min_count: minimum number of occurrences.
    """
    if min_count <= 1:
        return rules
    one_word = (rules.gaps == 0) & (rules.places >> np.uint64(16) & np.uint64(255) == 1)
    return rules.where((rules.counts[:, C] >= min_count) | one_word)


class _LineMaker:
    """Writer of rules as lines of text, of chosen features."""

    def __init__(
        self,
        text: LinkedText,
        costs: WordCosts,
        options: ExtractOptions,
        choice: FeatureChoice,
    ) -> None:
        self._text, self._costs, self._options, self._choice = text, costs, options, choice
        self._columns = frozen(choice.columns(text.bounds.size - 1))
        self._names = choice.texts()
        self._labels = texts_of([label.encode() for label in text.labels])

    def lines(self, rules: RuleChunk) -> bytes:
        """Return the lines of rules."""
        return self.parts(rules)[0]

    def parts(self, rules: RuleChunk) -> tuple[bytes, np.ndarray]:
        """Return (the lines of rules; all features, float64[n, 32])."""
        text = self._text
        values = features_of(rules, text, self._costs, self._options, self._choice)
        lines: bytes = rule_lines(
            frozen(rules.labels), frozen(rules.places), frozen(rules.gaps), frozen(values),
            self._columns, self._names, text.arrays,
            int(self._options.settings(text.has_trees)[6]), self._labels,
        ).tobytes()  # fmt: skip
        return lines, values
