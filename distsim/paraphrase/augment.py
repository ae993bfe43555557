"""Phrase tables augmented with rules for unknown phrases (Marton 2013, 4.2).

For an unknown f with paraphrases f_i in the table, every rule (f_i, e) gives a rule (f, e); all
rules have one more score, or two or five, which is 1 on those that were there before.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, get_args

from distsim.base.arguments import AddedScores as Features
from distsim.base.arguments import Aggregation, OnError, check_types, in_range, one_of
from distsim.base.errors import InputError, ParameterError, counted
from distsim.base.parallel import Progress, no_progress
from distsim.corpus.lines import read_lines
from distsim.corpus.query import Lookup
from distsim.corpus.sources import spooled
from distsim.grammar.fields import InvalidLines, LineFaultError, with_line_end
from distsim.grammar.formats.grammar_format import RuleLine
from distsim.grammar.formats.moses import PHRASE_TABLE
from distsim.paraphrase.records import ParaphraseFile, read_paraphrases
from distsim.storage.files import STANDARD_OUTPUT, LineWriter, open_output

_REPORT_LINES = 1 << 16


class TableOrder:
    """The order of a table's source phrases: that of whole lines, that of the phrases, or none.

    Where all its lines are in order, new lines of one phrase are put in order, too.
    """

    def __init__(self) -> None:
        self._previous: bytes | None = None
        self._previous_line = b""
        self._of_lines = self._of_phrases = self._within = True

    def see(self, source: bytes, line: bytes) -> bool:
        """Take in the next rule; return whether it has another source phrase than the last one.

        Arguments:
            source: its source phrase. line: its line.
        """
        self._within &= self._previous_line <= line
        self._previous_line = line
        previous, self._previous = self._previous, source
        if source == previous:
            return False
        if previous is not None:
            self._of_lines &= _as_in_lines(previous) < _as_in_lines(source)
            self._of_phrases &= previous < source
        return True

    @property
    def is_sorted(self) -> bool:
        """Whether the phrases seen were in order."""
        return self._of_lines or self._of_phrases

    def arranged(self, lines: Iterable[bytes]) -> Iterable[bytes]:
        """Return the new lines of one source phrase in the order of the table's lines.

        Arguments:
            lines: of the phrase; as they are where the table's lines are in no order.
        """
        return sorted(lines) if self._within and self._of_lines else lines

    def key(self, source: bytes) -> bytes:
        """Return the sort key of a source phrase."""
        return _as_in_lines(source) if self._of_lines else source


def _as_in_lines(source: bytes) -> bytes:
    """Return the sort key of `LC_ALL=C sort`: the line up to the target."""
    return source + b" ||| "


def read_phrase_table(
    path: str | Path,
    parse: Callable[[bytes], RuleLine],
    n_scores: Callable[[RuleLine], int] = lambda entry: 0,
    faulty: InvalidLines | None = None,
    progress: tuple[Progress, str] = (no_progress, "reading"),
) -> Iterator[tuple[bytes, RuleLine | None]]:
    """Yield (line, entry) of a table, entry None for an invalid line that is kept.

    Arguments:
        path: of the table.
        faulty: what becomes of invalid lines; the first one stops where None.
        parse: returns the entry of a line. n_scores: returns how many scores an entry has, all the
            same number, and refuses what is no number.
        progress: called with the step, the second of the two, and how many lines were read.

    Raises:
        InputError: a line is invalid and `faulty` says stop; the file is empty or cannot be read.
    """
    report, stage = progress
    faulty = faulty or InvalidLines(path)
    wanted: int | None = None
    n_lines = 0
    for number, line in read_lines(path):
        n_lines += 1
        if number % _REPORT_LINES == 0:
            report(stage, number, None)
        try:
            entry = parse(line)
            count = n_scores(entry)
            wanted = count if wanted is None else wanted
            if count != wanted:
                raise LineFaultError(
                    f"{counted(count, 'score')}, wanted {wanted} as on the lines before"
                )
        except LineFaultError as fault:
            if faulty.keeps(number, str(fault)):
                yield line, None
            continue
        yield line, entry
    faulty.require_lines(n_lines)


def write_merged(
    entries: Iterator[tuple[bytes, RuleLine | None]],
    old_line: Callable[[RuleLine], bytes],
    new_phrases: Iterable[bytes],
    new_lines: Callable[[bytes], Iterable[bytes]],
    order: TableOrder,
    writer: LineWriter,
) -> int:
    """Write a table with new lines in their places, or at its end; return its number of old rules.

    Arguments:
        entries: lines of the table. old_line: returns the line that a rule has in the new table.
        new_phrases: source phrases that the table lacks. new_lines: returns the lines of one.
    """
    waiting = sorted(new_phrases, key=order.key) if order.is_sorted else list(new_phrases)
    at = n_old = 0
    previous: bytes | None = None
    for line, entry in entries:
        if entry is not None:
            if order.is_sorted and entry.source != previous:
                while at < len(waiting) and order.key(waiting[at]) < order.key(entry.source):
                    for new in order.arranged(new_lines(waiting[at])):
                        writer.write(with_line_end(new))
                    at += 1
            previous = entry.source
            line = old_line(entry)
            n_old += 1
        writer.write(with_line_end(line))
    for phrase in waiting[at:]:
        for new in order.arranged(new_lines(phrase)):
            writer.write(with_line_end(new))
    return n_old


AGGREGATIONS: tuple[str, ...] = get_args(Aggregation)
FEATURES: tuple[str, ...] = get_args(Features)
N_ADDED: dict[str, int] = {"one": 1, "two": 2, "lengths": 5}  # scores

_CACHED_TOKENS = 1 << 16


def aggregate(scores: Sequence[float], method: str) -> float:
    """Return one score of a rule from those of several paraphrases (Marton 2013, eq. 5).

    Arguments:
        scores: one of each paraphrase, 0 to 1.
        method: `update` (eq. 5), `best`, `add` or `average`.

    Raises:
        ParameterError: there is no such method.

    >>> round(aggregate([.74, .68, .35], "update"), 5)
    0.94592
    """
    if method == "best":
        return max(scores)
    if method == "add":
        return math.fsum(scores)
    if method == "average":
        return math.fsum(scores) / len(scores)
    if method != "update":
        raise ParameterError(f"aggregation {method!r}: choose one of {', '.join(AGGREGATIONS)}")
    total = 0.0
    for score in sorted(scores):  # the order does not matter, but for rounding
        total += (1.0 - total) * score
    return total


@dataclass
class AugmentReport:
    """Numbers of entries and phrases, and the number of scores that the decoder must know.

    Arguments:
        old_entries: of the table as it was.
        expected: rules that will be added, told before.
        new_entries: rules added.
        new_phrases: phrases that have rules now.
        without_paraphrase, without_translation: phrases that have none still, and why.
        known_already: phrases that had some before.
        n_scores: how many scores a rule has now; the decoder must be told.
        is_sorted: whether the table was in order, so that it still is.
        faulty: the lines that are no entries.

    >>> AugmentReport(old_entries=3, new_entries=2, new_phrases=1).new_entries
    2
    """

    old_entries: int = 0
    expected: int = 0
    new_entries: int = 0
    new_phrases: int = 0
    without_paraphrase: int = 0
    without_translation: int = 0
    known_already: int = 0
    n_scores: int = 0
    is_sorted: bool = True
    faulty: InvalidLines = field(default_factory=lambda: InvalidLines("-"))


class _Path(NamedTuple):
    """A way to a rule: over a paraphrase of the unknown phrase.

    score: of the paraphrase. rank: of the paraphrase, from 0. entry: the paraphrase's rule.
    """

    score: float
    rank: int
    entry: RuleLine


@dataclass(frozen=True, kw_only=True)
class AugmentOptions:
    """Which rules are added to a phrase table, and with which scores.

    Arguments:
        method: how the scores of several paths to a rule become one; `none` keeps a rule for
            each path. The other scores and the counts are those of the best path.
        features: one added score; two: the first for single words, the second for longer
            phrases; the unused one is 1; or five, of `lengths` (section 6.5): the score, then with
            f words of the phrase and c of its paraphrase e^-|f - c|, f / c, e^-f and e^-c.
        translations: the number of most probable rules taken of each paraphrase; 0: all, which
            for a frequent word may be a hundred thousand.
        probability: which score, from 0, is p(e|f) by which they are ranked: the third of four or
            more where None, as Moses writes them, or else the first.

    >>> AugmentOptions(features="two").translations
    20
    """

    method: Aggregation = "update"
    features: Features = "one"
    translations: int = 20
    probability: int | None = None

    def __post_init__(self) -> None:
        check_types(self)
        in_range(self.translations, "`translations`", 0)
        if self.probability is not None:
            in_range(self.probability, "`probability`", 0)
        one_of(self.method, AGGREGATIONS, "`method`")
        one_of(self.features, FEATURES, "`features`")


def augment_phrase_table(
    table: str | Path,
    paraphrases: str | Path,
    path: str | Path,
    *,
    options: AugmentOptions | None = None,
    on_error: OnError = "stop",
    expecting: Callable[[AugmentReport], object] = lambda report: None,
    progress: Progress = no_progress,
) -> AugmentReport:
    """Write a Moses phrase table with rules for unknown phrases; return the numbers of rules.

    The table is read twice, line by line: only rules of paraphrases are held. New rules are
    where the order of the table wants them, or at its end if it has none.

    Arguments:
        progress: called with the step, how many are done, and of how many.
        table: either layout, packed or not; `-` for standard input. What is no regular file is
            kept in a temporary one.
        paraphrases: written by `distsim paraphrase`, JSON lines or columns.
        path: gz where the name says so; `-` for standard output.
        options: which rules are added, and with which scores; AugmentOptions() where None.
        on_error: whether an invalid line stops the work, is kept as it is, or is dropped.
        expecting: called with the report before anything is written; `expected` is how many
            rules will be added.

    Raises:
        InputError: a line of either file is malformed (file and line are named).
        ParameterError: an argument has no such value.

    >>> _ = (folder / "phrases").write_text("the queen ||| la reine ||| .5 .5 .5 .5\\n")
    >>> _ = (folder / "found").write_text("the king\\t1\\tthe queen\\t0.8\\n")
    >>> _ = augment_phrase_table(folder / "phrases", folder / "found", folder / "larger")
    >>> print((folder / "larger").read_text().splitlines()[0])
    the king ||| la reine ||| .5 .5 .5 .5 0.8
    """
    options = options or AugmentOptions()
    paraphrase_file = read_paraphrases(paraphrases)
    if str(path) != STANDARD_OUTPUT and Path(path).exists():
        for path_read in (table, paraphrases):
            if (
                str(path_read) != "-"
                and Path(path_read).exists()
                and Path(path_read).samefile(path)
            ):
                raise InputError(f"{path}: is read and written at once: name another output")
    report = AugmentReport(faulty=InvalidLines(table))
    best = _Best(options.translations, options.probability)
    work = _Augmenter(paraphrase_file, options.method, options.features, report, best)
    with spooled(table) as entries:
        work.collect(_entries(entries, InvalidLines(table, on_error), (progress, "reading")))
        report.faulty = InvalidLines(table, on_error)
        report.expected = work.expected()
        expecting(report)
        with open_output(path) as writer:
            work.write(_entries(entries, report.faulty, (progress, "writing")), writer)
    return report


class _Best:
    """The most probable rules of a source phrase, one for each target: the first read."""

    def __init__(self, n_best: int, score: int | None) -> None:
        self._n_best = n_best
        self._score = score

    def of(self, entries: list[RuleLine]) -> list[RuleLine]:
        """Return the rules to keep, in the order read."""
        first: dict[bytes, RuleLine] = {}
        for entry in entries:
            first.setdefault(entry.target, entry)
        kept = list(first.values())
        if self._n_best and len(kept) > self._n_best:
            ranked = sorted(range(len(kept)), key=lambda k: -self._probability(kept[k]))
            kept = [kept[k] for k in sorted(ranked[: self._n_best])]
        return kept

    def add(self, entries: list[RuleLine], entry: RuleLine) -> None:
        """Add a rule to those of its source phrase; few more than needed are held."""
        entries.append(entry)
        if self._n_best and len(entries) > 8 * self._n_best + 1000:
            entries[:] = self.of(entries)

    def _probability(self, entry: RuleLine) -> float:
        scores = entry.numbers()
        column = self._score
        if column is None:
            column = PHRASE_TABLE.columns["p(e|f)"] if len(scores) >= 4 else 0
        if column >= len(scores):
            raise ParameterError(
                f"`probability` {column}: the table has {counted(len(scores), 'score')}, from 0"
            )
        return scores[column]


class _Augmenter:
    """Collects the rules of paraphrases, then writes old and new rules."""

    def __init__(
        self,
        paraphrase_file: ParaphraseFile,
        method: str,
        features: str,
        report: AugmentReport,
        best: _Best,
    ) -> None:
        self.report = report
        self._method = method
        self._best = best
        self._features = features
        self._phrases = {
            " ".join(entry.phrase.split()).encode(): entry.paraphrases
            for entry in paraphrase_file.phrases
        }
        report.without_paraphrase = sum(
            not paraphrases_of_phrase for paraphrases_of_phrase in self._phrases.values()
        )
        self._wanted = {
            text
            for paraphrases_of_phrase in self._phrases.values()
            for text, _ in paraphrases_of_phrase
        }
        words = {word for text in self._wanted for word in text.split()}
        self._lookup = Lookup(
            paraphrase_file.normaliser, paraphrase_file.text_format, words.__contains__
        )
        self._rules: dict[str, list[RuleLine]] = {}
        self._known: set[bytes] = set()
        self._order = TableOrder()

    def collect(self, entries: Iterator[tuple[bytes, RuleLine | None]]) -> None:
        """Collect the rules of all paraphrases, and check the order of the table."""
        forms: list[str] = []
        for line, entry in entries:
            if entry is None:
                continue
            self.report.old_entries += 1
            source = entry.source
            if self._order.see(source, line):
                forms = self._wanted_forms(source)
                self.report.n_scores = len(entry.scores)
                if source in self._phrases:
                    self._known.add(source)
            for form in forms:
                self._best.add(self._rules.setdefault(form, []), entry)
        self._rules = {form: self._best.of(entries) for form, entries in self._rules.items()}

    def _wanted_forms(self, source: bytes) -> list[str]:
        """Return the ways in which paraphrases write a source phrase: don't, do n't."""
        readings = map(" ".join, self._lookup.readings(source.decode()))
        return [reading for reading in readings if reading in self._wanted]

    def expected(self) -> int:
        """Return how many rules will be added."""
        total = 0
        for phrase, paraphrases_of_phrase in self._phrases.items():
            if phrase in self._known:
                continue
            if self._method == "none":
                total += sum(len(self._rules.get(text, ())) for text, _ in paraphrases_of_phrase)
            else:
                rules = (self._rules.get(text, ()) for text, _ in paraphrases_of_phrase)
                total += len({entry.target for entries in rules for entry in entries})
        return total

    def write(self, entries: Iterator[tuple[bytes, RuleLine | None]], writer: LineWriter) -> None:
        """Write the table with one more score or two and the new rules in their places."""
        report = self.report
        report.is_sorted = self._order.is_sorted
        waiting = [phrase for phrase in self._phrases if phrase not in self._known]
        report.known_already = len(self._phrases) - len(waiting)
        idle = [b"1"] * N_ADDED[self._features]
        report.old_entries = write_merged(
            entries, lambda entry: entry.with_score(*idle).line(), waiting, self._new_lines,
            self._order, writer,
        )  # fmt: skip

    def _new_lines(self, phrase: bytes) -> Iterator[bytes]:
        report = self.report
        paths = self._paths(self._phrases[phrase])
        if not paths:
            report.without_translation += bool(self._phrases[phrase])
            return
        report.new_phrases += 1
        for target in sorted(paths):
            ordered = sorted(paths[target], key=lambda path: (-path.score, path.rank))
            if self._method == "none":
                new = [(path.entry, path.score) for path in ordered]
            else:
                scores = [path.score for path in ordered]
                new = [(ordered[0].entry, aggregate(scores, self._method))]
            for entry, score in new:
                added = self._added(score, len(phrase.split()), len(entry.source.split()))
                report.new_entries += 1
                yield entry.with_source(phrase).with_score(*added).line()

    def _added(self, score: float, n_words: int, n_paraphrase: int) -> list[bytes]:
        """Return the added scores of a new rule, whose logarithms a decoder weighs."""
        if self._features == "two":
            return [_number(score), b"1"] if n_words == 1 else [b"1", _number(score)]
        lengths = (
            math.exp(-abs(n_words - n_paraphrase)), n_words / n_paraphrase, math.exp(-n_words),
            math.exp(-n_paraphrase),
        )  # fmt: skip
        return [_number(score), *map(_number, lengths if self._features == "lengths" else ())]

    def _paths(self, paraphrases_of_phrase: list[tuple[str, float]]) -> dict[bytes, list[_Path]]:
        """Return the paths to each target: one for each rule of each paraphrase."""
        paths: dict[bytes, list[_Path]] = {}
        for rank, (text, score) in enumerate(paraphrases_of_phrase):
            for entry in self._rules.get(text, ()):
                paths.setdefault(entry.target, []).append(_Path(score, rank, entry))
        return paths


def _entries(
    path: str | Path, faulty: InvalidLines, progress: tuple[Progress, str]
) -> Iterator[tuple[bytes, RuleLine | None]]:
    return read_phrase_table(
        path, PHRASE_TABLE.parse, lambda entry: len(entry.numbers()), faulty, progress
    )


def _number(score: float) -> bytes:
    return f"{score:.6g}".encode()


def decoder_note(table: str | Path, n_scores: int, n_added: int) -> str:
    """Return the lines of a Moses configuration for the new table.

    Arguments:
        table: its path.
        n_scores: of a rule in all.
        n_added: scores that are new.
    """
    name = "standard output" if str(table) == STANDARD_OUTPUT else table
    return (
        f"in moses.ini, where {name} is the phrase table: num-features="
        f"{n_scores + n_added} instead of {n_scores}, and {n_added} more weight"
        f"{'s' if n_added > 1 else ''} at the end of its line under [weight]; tune all weights anew"
    )
