"""Makes a scored, packed paraphrase grammar of pairs of texts and an index, step by step.

Each step leaves an artifact or a file in the folder, and an entry in `steps.json`: a key of what
it was made from, and the checksum of each file it wrote. A step is skipped where both still hold.
"""

import json
import re
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distsim import storage
from distsim.base.arguments import (
    Compression,
    FeatureNaming,
    TextFormat,
    check_types,
    one_of,
    one_path,
    real_path,
    whole_number,
)
from distsim.base.errors import InputError, ParameterError, counted
from distsim.base.parallel import Progress, no_progress
from distsim.bitext.aligner import AlignerOptions
from distsim.bitext.bitext import Bitext
from distsim.bitext.bitext_builder import Given, build_bitext
from distsim.bitext.sentence_pairs import BitextOptions, find_pair
from distsim.comparison.table import SignatureTable
from distsim.corpus.inflections import NONE, OF_LANGUAGE
from distsim.corpus.readers import plain_text_format
from distsim.corpus.sources import find_file
from distsim.grammar.alignment import RuleAligner
from distsim.grammar.extraction.extract import extract_rules
from distsim.grammar.extraction.instances import PRESETS, ExtractOptions
from distsim.grammar.extraction.numeric import NumericRules
from distsim.grammar.extraction.pivoting import MAX_TRANSLATIONS, pivot_rules
from distsim.grammar.packs.grammar_index import GrammarIndex, PackedRule
from distsim.grammar.packs.pack import PackOptions, pack_grammar
from distsim.grammar.pair_features import rule_order
from distsim.grammar.pivot import PivotOptions
from distsim.grammar.score_file import score_grammar
from distsim.grammar.scoring import NAMES, SIM_RULE, RuleScorer, ScoreOptions
from distsim.storage import FinishedPart, checksum_of_settings, open_output
from distsim.storage.folders import locked
from distsim.storage.manifest import checksum_of_file

STEPS = "steps.json"
REPORT = "report.txt"
N_SHOWN = 20
LONGEST_LOOSE = 5
_A_SPEED = "a CPU second"  # how a line ends that differs from run to run
_ALL_EQUAL = 0.9999  # as five decimals have it


@dataclass(frozen=True, kw_only=True)
class MakeOptions:
    """Options of making a grammar: of each of its steps.

    Arguments:
        preset: which rules are extracted, one of the presets of extract.
        loose: edges of phrases may run on over unlinked words, up to 5 tokens a side: more
            paraphrases, most of all with links of `intersection`.
        text: how the texts of bitexts are read; as running text, unless most of them show that they
            are tokenised or have trees, where None; aligner: how their links are learned.
        max_translations: of a label and foreign side, this many most probable are paired.
        min_sum: paraphrases less probable either way are left out.
        language: of the paraphrases. `en`: the English side, over the other one; any other: the
            other side, over English, with the labels of English trees (thesis 6.5).
        inflections: of that language, which tell kinds: as PackOptions has them; what ships for
            the language, or `none`, where empty.
        names: `ppdb`: the lines of PPDB 1.0, with all its features and the names of its scores.
        compose: a phrase that the table lacks is made of its words, where the table can.
        sizes: which packs are written as text; the index holds all. compression: of text, `gz`
            or `zst`.
        seed: for the rules drawn at random in the report.

    >>> MakeOptions(preset="hiero", min_sum=1e-4).extraction.most_gaps
    2
    """

    preset: str = "phrases"
    loose: bool = False
    text: BitextOptions | None = None
    aligner: AlignerOptions = field(default_factory=AlignerOptions)
    max_translations: int = MAX_TRANSLATIONS
    min_sum: float = 0.0
    language: str = "en"
    inflections: str = ""
    names: FeatureNaming = "plain"
    compose: bool = True
    sizes: tuple[str, ...] = ("S", "L", "XXXL")
    compression: Compression = "gz"
    seed: int = 1

    def __post_init__(self) -> None:
        check_types(self)
        one_of(self.preset, PRESETS, "preset")
        whole_number(self.seed, "`seed`", 0)
        if not re.fullmatch("[a-z]{2,3}", self.language):
            raise ParameterError(
                f"`language` {self.language!r}: give two or three letters, as en or de"
            )
        _ = self.pivoting, self.packing  # they check the rest

    @property
    def pivoting(self) -> PivotOptions:
        """Options of pivoting."""
        return PivotOptions(
            max_translations=self.max_translations, min_sum=self.min_sum, names=self.names,
            side="english" if self.language == "en" else "other",
        )  # fmt: skip

    @property
    def packing(self) -> PackOptions:
        """Options of packing."""
        return PackOptions(
            sizes=self.sizes, compression=self.compression,
            inflections=self.inflections or OF_LANGUAGE.get(self.language, NONE),
        )  # fmt: skip

    @property
    def extraction(self) -> ExtractOptions:
        """Options of extraction: those of the preset, with loose edges if asked."""
        limits = PRESETS[self.preset]
        if not self.loose:
            return limits
        return replace(limits, loose=True, longest=min(limits.longest, LONGEST_LOOSE))


@dataclass
class MakeReport:
    """Report of making a grammar: of each step, and rules to look at.

    step_lines: what each step said. skipped: the steps that were done before. best, drawn:
    rules, the best in the order of packs, and some at random.

    >>> MakeReport(["18 sentence pairs of 1 bitexts"]).lines()[0]
    '18 sentence pairs of 1 bitexts'
    """

    step_lines: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)  # steps that were done before
    best: list[PackedRule] = field(default_factory=list)
    drawn: list[PackedRule] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return the report, as in report.txt, a line each."""
        report = list(self.step_lines)
        for title, rules in (
            (
                f"the {len(self.best)} best of content, in the order of packs; each side has "
                "a word of its own, other ones in each rule:",
                self.best,
            ),
            (f"{len(self.drawn)} drawn at random:", self.drawn),
        ):
            report.append(title)
            for rule in rules:
                alike = rule.features.get(SIM_RULE)
                shown = "NA" if alike is None else f"{alike:.3f}"
                report.append(f"  {rule.cost:8.3f}  {shown:>6}  {rule.source} -> {rule.target}")
        return report


def make_grammar(
    bitexts: Sequence[tuple[str | Path, ...] | str | Path],
    index: str | Path,
    path: str | Path,
    *,
    options: MakeOptions | None = None,
    syntax: str | Path | None = None,
    jobs: int | None = None,
    progress: Progress = no_progress,
    say: Callable[[str], None] = lambda line: None,
) -> MakeReport:
    """Make a paraphrase grammar and return the report: align, extract, pivot, score, pack.

    The folder holds `bitext-1` ..., `rules`, `paraphrases.gz`, `scored.gz`, `packs`, and
    `report.txt`. Killed anywhere, the same command goes on where it stopped.

    Arguments:
        bitexts: of each bitext its files (English, other), or (English, other, trees), or the
            folder of one that `align` made. Trees are bracketed, of the English side, a line for
            each sentence; the presets with labels need them.
        index: a signed index or a table, for sim_ngram. syntax: a table, for sim_syn.
        path: the folder to write. options: the steps' settings; MakeOptions() where None.
        jobs: threads, all cores where None.
        progress: called with (name of the step, done, total) from time to time.
        say: called with each line of the report as soon as it is known.

    Raises:
        InputError: a text cannot be read, or the folder holds something else.
        ArtifactError: an index, table or bitext cannot be read.

    >>> _ = (folder / "en").write_text("the king\\nthe monarch\\nthe king laughed\\n" * 9)
    >>> _ = (folder / "de").write_text("der könig\\nder könig\\nder könig lachte\\n" * 9)
    >>> made = make_grammar([(folder / "en", folder / "de")], index.path, folder / "grammar")
    >>> made.lines()[0]
    'bitext-1: 27 sentence pairs, 63 links'
    """
    options = options or MakeOptions()
    if not bitexts:
        raise ParameterError("no bitext: give at least one")
    names = NAMES["ppdb" if options.names == "ppdb" else "distsim"]
    paths = (index, syntax) if syntax is not None else (index,)
    tables = [(name, SignatureTable.open(path)) for name, path in zip(names, paths, strict=False)]
    if options.text is None:
        options = replace(options, text=BitextOptions(_text_format(bitexts)))
    opened_bitexts = [_opened_or_named(bitext) for bitext in bitexts]
    target = one_path(path)
    # A run that was killed at its first step has left that step's unfinished file.
    others = [
        other_path
        for other_path in target.glob("*")
        if not other_path.match(f".{STEPS}.*.unfinished")
    ]
    if target.is_dir() and others and not (target / STEPS).exists():
        raise InputError(f"{target}: is no folder of a grammar: name another one, or remove it")
    if not real_path(target).parent.is_dir():
        raise InputError(f"{real_path(target).parent}: no such folder: create it first")
    with locked(target, target, make=True):
        return _Steps(target, options, tables, jobs, progress, say).run(opened_bitexts)


def _text_format(bitexts: Sequence[tuple[str | Path, ...] | str | Path]) -> TextFormat:
    """Return how the texts are cut, by their beginnings; those with trees are tokenised."""
    texts = [path for bitext in bitexts if isinstance(bitext, tuple) for path in bitext[:2]]
    has_trees = any(isinstance(bitext, tuple) and len(bitext) > 2 for bitext in bitexts)
    return "lines" if has_trees or not texts else plain_text_format(texts)


class _PlannedBitext(NamedTuple):
    """A bitext that is still to be made.

    english, other: files with a sentence a line. trees: of the English sentences, None without.
    """

    english: Path
    other: Path
    trees: Path | None

    def state(self) -> list[Any]:
        """Return checksums or states of the files, which change with them."""
        return [_state_of(path) for path in self if path is not None]


def _opened_or_named(bitext: Any) -> "Bitext | _PlannedBitext":
    """Return a bitext, opened, or the checked paths of the texts that it is to be made of."""
    if not isinstance(bitext, tuple):
        return Bitext.open(bitext)
    if len(bitext) not in (2, 3):
        raise ParameterError(f"bitext {bitext!r}: give (English, other) or (English, other, trees)")
    find_pair(*bitext[:2])
    for tree in bitext[2:]:
        find_file(tree)
    return _PlannedBitext(Path(bitext[0]), Path(bitext[1]), Path(bitext[2]) if bitext[2:] else None)


def _state_of(path: Path) -> list[Any]:
    """Return the checksum of a text; path, size and time where it is no regular file."""
    try:
        state = path.stat()
        if stat.S_ISREG(state.st_mode):
            return [checksum_of_file(path)]
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): check the path") from None
    return [str(path.resolve()), state.st_size, state.st_mtime_ns]


def _read_steps(file: Path) -> dict[str, FinishedPart]:
    """Return the notes of `steps.json` that are whole."""
    try:
        notes = dict(json.loads(file.read_text())) if file.exists() else {}
    except (ValueError, TypeError):
        return {}
    steps = {}
    for step, note in notes.items():
        with suppress(ValueError):
            part = FinishedPart.read(note)
            lines = part.facts.get("lines")
            if isinstance(lines, list) and all(isinstance(line, str) for line in lines):
                steps[step] = part
    return steps


class _Steps:
    """The steps in order; a step whose key and output are unchanged is skipped."""

    def __init__(
        self,
        folder: Path,
        options: MakeOptions,
        tables: list[tuple[str, SignatureTable]],
        jobs: int | None,
        progress: Progress,
        say: Callable[[str], None],
    ) -> None:
        self._folder, self._options, self._tables = folder, options, tables
        self._jobs, self._progress, self._say = jobs, progress, say
        self._report = MakeReport()
        self._done = _read_steps(folder / STEPS)
        self._write_steps()

    def run(self, bitexts: Sequence[Bitext | _PlannedBitext]) -> MakeReport:
        """Do the steps that are not done yet; return the report."""
        options = self._options
        opened: list[Bitext] = []
        keys: list[Any] = []
        for number, bitext in enumerate(bitexts, 1):
            if isinstance(bitext, Bitext):
                opened.append(bitext)
                keys.append(bitext.checksum)
                continue
            path = self._folder / f"bitext-{number}"
            text = options.text or BitextOptions()
            settings = [*bitext.state(), text.manifest(), options.aligner.manifest()]
            keys.append(self._step(path, settings, partial(self._align, bitext, path)))
            opened.append(Bitext.open(path))
        self._add_line(
            f"{counted(sum(map(len, opened)), 'sentence pair')} of {counted(len(opened), 'bitext')}"
        )
        rules = self._folder / "rules"
        state = self._step(rules, [keys, asdict(options.extraction)], lambda: extract_rules(
            opened, None, options=options.extraction, numeric=rules, jobs=self._jobs,
            progress=self._progress,
        ).lines())  # fmt: skip
        paraphrases = self._folder / f"paraphrases.{options.compression}"
        state = self._step(paraphrases, [state, asdict(options.pivoting)], lambda: self._pivot(
            rules, paraphrases, options.pivoting
        ))  # fmt: skip
        scored = self._folder / f"scored.{options.compression}"
        prints = [[name, table.artifact.checksum] for name, table in self._tables]
        state = self._step(scored, [state, prints, options.compose], lambda: score_grammar(
            paraphrases, scored, self._scorer(), jobs=self._jobs, progress=self._progress
        ).lines())  # fmt: skip
        packs = self._folder / "packs"
        self._step(packs, [state, list(options.sizes), options.packing.inflections,
                           rule_order().text()], lambda: pack_grammar(
            scored, packs, options=options.packing, jobs=self._jobs,
            progress=self._progress,
        ).lines())  # fmt: skip
        self._look(GrammarIndex.open(packs))
        with open_output(self._folder / REPORT, follow=False) as out:
            out.write("".join(f"{line}\n" for line in self._report.lines()).encode())
        return self._report

    def _pivot(self, rules: Path, paraphrases: Path, options: PivotOptions) -> list[str]:
        report = pivot_rules(
            NumericRules(rules), paraphrases, options, jobs=self._jobs, progress=self._progress
        )
        if report.written == 0:
            paraphrases.unlink()
            if report.pruned:
                raise InputError(
                    f"`min_sum` {options.min_sum:g}: none of "
                    f"{counted(report.pruned, 'paraphrase')} is "
                    "that probable in both directions: choose a smaller one"
                )
            raise InputError(
                f"{rules}: no two phrases have a translation in common, so there is no "
                "paraphrase: give more text"
            )
        return report.lines()

    def _align(self, texts: _PlannedBitext, path: Path) -> list[str]:
        bitext = build_bitext(
            texts.english, texts.other, path, options=self._options.text,
            given=Given(trees=texts.trees), aligner=self._options.aligner,
            jobs=self._jobs, progress=self._progress,
        )  # fmt: skip
        summary = f"{counted(len(bitext), 'sentence pair')}, {counted(len(bitext.links), 'link')}"
        if texts.trees is not None:
            summary += f", {counted(bitext.parameters['trees']['trees'], 'tree')}"
        return [summary]

    def _step(
        self, path: Path, settings: Any, make: Callable[[], list[str] | None]
    ) -> dict[str, str]:
        """Do a step unless its output exists as written with the same settings.

        Returns the checksums of the files it wrote, part of the settings of the next step.
        """
        key = checksum_of_settings(settings)
        known = self._done.get(path.name)
        if known is not None and known.is_there(path, key):
            self._report.skipped.append(path.name)
            self._say(f"{path.name}: is there already")
        else:
            self._say(f"{path.name}: running")
            if self._done.pop(path.name, None) is not None:
                self._write_steps()  # before the output changes: a kill must not leave it noted
            if path.is_symlink():  # names in the folder are ours: no link there is followed
                path.unlink()
            report = [line for line in make() or [] if not line.endswith(_A_SPEED)]
            known = FinishedPart.of(key, path, lines=report)
            self._done[path.name] = known
            self._write_steps()
        for line in known.facts["lines"]:
            self._add_line(f"{path.name}: {line}")
        return known.files

    def _add_line(self, line: str) -> None:
        self._report.step_lines.append(line)
        self._say(line)

    def _write_steps(self) -> None:
        with open_output(self._folder / STEPS, follow=False) as out:
            notes = {step: part.note for step, part in self._done.items()}
            out.write(json.dumps(notes, indent=1, sort_keys=True).encode() + b"\n")

    def _scorer(self) -> RuleScorer:
        compose = self._options.compose and any(table.parts for _, table in self._tables)
        options = ScoreOptions(compose=compose)
        return RuleScorer(self._tables, options=options, aligner=RuleAligner("none"), rule=True)

    def _look(self, index: GrammarIndex) -> None:
        """Choose the rules that the report shows: the best in the order of packs, some drawn."""
        alike = index.feature(SIM_RULE)
        scored = np.flatnonzero(~np.isnan(alike))
        self._add_line(f"{scored.size:,} of {counted(len(index), 'paraphrase')} have {SIM_RULE}")
        met: set[tuple[frozenset[str], ...]] = set()
        keys = -alike, index.feature("RarityPenalty"), index.costs  # the last decides first
        best = iter(scored[np.lexsort([values[scored] for values in keys])].tolist())
        while len(self._report.best) < N_SHOWN and (positions := list(islice(best, N_SHOWN))):
            for rule in index.at(np.array(positions)):
                change = _own_words(rule)
                if change is not None and change not in met:
                    met |= {change, change[::-1]}
                    self._report.best.append(rule)
        self._report.best = self._report.best[:N_SHOWN]
        draw = np.random.default_rng(self._options.seed)
        drawn = draw.choice(len(index), min(N_SHOWN, len(index)), replace=False)
        self._report.drawn = index.at(np.sort(drawn))


def _own_words(rule: PackedRule) -> tuple[frozenset[str], ...] | None:
    """Return the words that one side alone has, of each; None unless content and pieces differ."""
    source_words, target_words = frozenset(rule.source.split()), frozenset(rule.target.split())
    is_new = rule.pair_kind == "content" and rule.features[SIM_RULE] < _ALL_EQUAL
    change = source_words - target_words, target_words - source_words
    return change if is_new and all(change) else None


def is_artifact(path: str | Path) -> bool:
    """Return whether a path is the folder of an artifact.

    Arguments:
        path: of a file or folder.
    """
    return (Path(path) / storage.MANIFEST).exists()
