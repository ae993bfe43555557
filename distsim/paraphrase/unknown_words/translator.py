"""Adds rules for unknown words to a translation table: their likely translations, or copies.

The ranking is learned from known rare words of the table, each hidden in turn; nothing of it ships.
What is finished is kept in `<NEW>.answers.part`, also when the run is killed.
"""

import hashlib
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from distsim.base.arguments import Copies, OnError, TextFormat, check_types
from distsim.base.errors import InputError, ParameterError, check_interrupted, counted
from distsim.base.parallel import Progress, no_progress
from distsim.corpus.lines import TokenisedLines, read_line_blocks, read_lines, read_tokenised
from distsim.corpus.normaliser import Normaliser
from distsim.corpus.sources import file_label, spooled
from distsim.grammar.fields import InvalidLines, LineFaultError
from distsim.grammar.formats import guess_format
from distsim.grammar.formats.grammar_format import RuleLine
from distsim.grammar.formats.moses import PHRASE_TABLE
from distsim.grammar.formats.rules import RULES
from distsim.grammar.translations import E_GIVEN_F
from distsim.paraphrase.augment import TableOrder, read_phrase_table, write_merged
from distsim.paraphrase.unknown_words.similar_spelling import has_letters
from distsim.paraphrase.unknown_words.translation_candidates import (
    FEATURES,
    Ranker,
    TranslationCandidates,
    TranslationFeatures,
)
from distsim.paraphrase.unknown_words.words import (
    KnownWords,
    language_doubt,
    normal_tokens,
    writing_doubt,
)
from distsim.signatures.table import StoredTable, TableLike, opened_table
from distsim.storage import checksum_of_settings, resumable_part, scratch_folder
from distsim.storage.files import STANDARD_OUTPUT, LineWriter, is_stream, open_output
from distsim.storage.resumption import part_of

_VERSION = 4
_BLOCK = 64  # words whose cosines are computed at once, always the same ones
_SHORTEST_HIDDEN = 3  # characters
_FEWEST_HIDDEN = 20
_MIN_TRANSLATION_P = 0.25  # p(e|f) of a hidden word's right translations
_SURE_LINK = 0.2  # their Lex(e|f)
_SHOWN_BEHIND = 3
_MOST_KEPT = 1_000_000  # tokens of the text, for their contexts
_LEARNED = ("means", "scales", "weights", "calibration")


class RankedTranslation(NamedTuple):
    """A translation of an unknown word, with its evidence.

    Attributes:
        target: the translation.
        p: its probability.
        cosine: cosine with the unknown word's vector mapped into the target language.
        edits: 1 minus the edit distance divided by the longer word's length.
        behind: known words with this translation, or with one of its stem.

    >>> RankedTranslation("ejes", 0.14, 0.24, 0.5, ("axis",)).p
    0.14
    """

    target: str
    p: float
    cosine: float
    edits: float
    behind: tuple[str, ...]


class UnknownWord(NamedTuple):
    """A word that the table lacks.

    word: as written. times: occurrences in the text. translations: its rules, best first.

    >>> UnknownWord("axes", 2, []).times
    2
    """

    word: str
    times: int
    translations: list[RankedTranslation]


@dataclass(frozen=True, kw_only=True)
class UnknownWordOptions:
    """Which rules unknown words get.

    Arguments:
        copies: `rules` writes the copy of a word as one of its rules; `decoder` leaves it out,
            for a decoder that copies unknown words beside their rules.
        most_rules: of a word. least: the probability from which a rule is written.
        probability: the feature that is p(e|f), by name or number from 0; where None the one that
            Moses, Thrax or cdec writes, else all rules of a word count the same.
        hidden: known words of which the ranking is learned, the rarest ones.
        text_format: `lines` for a tokenised text, `text` for running text, which is cut into
            tokens and, if the table has no capitals, written in small letters; where None `text`
            if marks stand at words in its beginning.

    Raises:
        ParameterError: a number is out of range.

    >>> UnknownWordOptions().most_rules
    10
    """

    copies: Copies = "rules"
    most_rules: int = 10
    least: float = 0.01
    probability: str | None = None
    hidden: int = 900
    text_format: TextFormat | None = None

    def __post_init__(self) -> None:
        check_types(self)
        if self.copies not in ("rules", "decoder"):
            raise ParameterError(f"`copies` {self.copies!r}: choose rules or decoder")
        if self.most_rules < 1:
            raise ParameterError(f"`most_rules` {self.most_rules}: choose 1 or more")
        if not 0 < self.least < 1:
            raise ParameterError(f"`least` {self.least}: choose a number between 0 and 1")
        if self.hidden < _FEWEST_HIDDEN:
            raise ParameterError(f"`hidden` {self.hidden}: choose {_FEWEST_HIDDEN} or more")


@dataclass
class UnknownWordReport:
    """Numbers of words and rules added to a translation table.

    Attributes:
        words: the unknown words that have a letter, in order of the text.
        without_letters: unknown tokens without a letter, which the decoder copies.
        learned_from: known words that were hidden to learn the ranking.
        old_entries, new_entries: rules. resumed: words whose answers an earlier run had found.
        n_scores: of a rule, now. of_grammar: the table is of Joshua, Thrax or cdec.
        named: its features have names.
        doubts: sentences about tables that seem to be of another language, and a text that seems
            to be written otherwise than the table's.
        text_format: how the text was read. lowered: whether its capitals were made small.
        is_sorted: whether the table was in order, so that it still is. faulty: invalid lines.

    >>> UnknownWordReport(new_entries=3).words
    []
    """

    words: list[UnknownWord] = field(default_factory=list)
    without_letters: int = 0
    learned_from: int = 0
    old_entries: int = 0
    new_entries: int = 0
    resumed: int = 0
    n_scores: int = 0
    of_grammar: bool = False
    named: bool = False
    doubts: list[str] = field(default_factory=list)
    text_format: TextFormat = "lines"
    lowered: bool = False
    is_sorted: bool = True
    faulty: InvalidLines = field(default_factory=lambda: InvalidLines("-"))


@dataclass(frozen=True, kw_only=True)
class Monolingual:
    """Tables and map of two languages, beside the translation table.

    Arguments:
        source: a table that keeps vectors of words, or a signed index, of the source language.
        target: the same of target text, which need not be a translation of anything; where None
            only words of the table, and copies, are candidates, of which little can be expected.
        domain: a second table of the source language, of text like the one to translate.
        pivot: paraphrase rules of the source language, written by `distsim pivot`.

    >>> Monolingual(source="english.index", target="spanish.index").domain is None
    True
    """

    source: TableLike
    target: TableLike | None = None
    domain: TableLike | None = None
    pivot: str | Path | None = None

    def tables(self) -> dict[str, StoredTable]:
        """Return the tables by side, opened.

        Raises:
            IncompatibleError: one keeps no vectors of words.
        """
        sides = {"source": self.source, "domain": self.domain, "target": self.target}
        opened = {side: opened_table(table) for side, table in sides.items() if table is not None}
        for table in opened.values():
            table.require_word_vectors()
        return opened


def augment_unknown_words(
    table: str | Path,
    text: str | Path,
    texts: Monolingual,
    path: str | Path,
    *,
    options: UnknownWordOptions | None = None,
    on_error: OnError = "stop",
    text_output: str | Path | None = None,
    progress: Progress = no_progress,
) -> UnknownWordReport:
    """Write a translation table with rules for the words of a text that it lacks; return a report.

    A run that was stopped continues when the same call is made again, and ends with the same bytes.

    Arguments:
        table: a Moses phrase table, or rules of Joshua, Thrax or cdec; `-` for standard input.
        text: as the translation system reads it, a sentence a line; or running text.
        texts: tables of both languages.
        path: of the new table; compressed where the name says so; `-` for standard output.
        options: which rules are written. on_error: whether an invalid line stops the work, is
            kept as it is, or is dropped.
        text_output: where the text is written as it was read, tokens between spaces, for the
            decoder.
        progress: called with the step, how many are done, and of how many.

    Raises:
        InputError: a line is malformed; the table has too few known words to learn from; `path`
            was begun with other settings.
        IncompatibleError: a table keeps no vectors of words.

    >>> from distsim.output import word_vectors
    >>> from distsim.paraphrase import Monolingual, augment_unknown_words
    >>> known = [word for word in word_vectors(learned).words[:90] if word != "king"]
    >>> rules = "".join(f"{word} ||| {word} ||| .5 .5 .5 .5\\n" for word in sorted(known))
    >>> _ = (folder / "words").write_text(rules)
    >>> _ = (folder / "text").write_text("the king said\\n")
    >>> texts = Monolingual(source=learned, target=learned)
    >>> report = augment_unknown_words(folder / "words", folder / "text", texts, folder / "new")
    >>> [one.word for one in report.words], report.words[0].translations[0].target
    (['king'], 'king')
    """
    options = options or UnknownWordOptions()
    for output in (path, *([] if text_output is None else [text_output])):
        _require_writable(output, (table, text))
    tables = texts.tables()
    with spooled(table) as copy:
        work = _TranslationTable(copy, table, on_error, progress)
        known, order = work.read(options.probability)
        report = UnknownWordReport(of_grammar=work.of_grammar, is_sorted=order.is_sorted)
        doubts = (language_doubt(known, side, table) for side, table in tables.items())
        report.doubts = [doubt for doubt in doubts if doubt is not None]
        with nullcontext() if text_output is None else open_output(text_output) as out:
            tokenised = read_tokenised(text, text_format=options.text_format)
            unknown, sentences = _unknown_words(tokenised, known, report, out)
        doubt = writing_doubt(file_label(text), known, list(unknown))
        report.doubts += [doubt] if doubt else []
        pivots = {}
        if texts.pivot is not None:
            pivots = _read_pivots(texts.pivot, {*known.rules, *unknown})
        head = {
            "format": "distsim unknown words", "version": _VERSION, "table": work.checksum,
            **{side: table.artifact.checksum for side, table in tables.items()},
            "words": checksum_of_settings(list(unknown.items())), "options": asdict(options),
            "text": checksum_of_settings(sentences),
            "pivot": checksum_of_settings([[word, list(p.items())] for word, p in pivots.items()]),
        }  # fmt: skip

        def translator() -> _Translator:
            sources = [tables[side] for side in ("source", "domain") if side in tables]
            candidates = TranslationCandidates(
                known, sources, tables.get("target"), pivots, sentences
            )
            return _Translator(known, candidates, options, progress)

        with _answers(path, head, translator, list(unknown.items()), report, progress):
            lines = {
                unknown_word.word.encode(): [
                    known.new_line(unknown_word.word, rule.target, rule.p)
                    for rule in unknown_word.translations
                ]
                for unknown_word in report.words
                if unknown_word.translations
            }
            report.new_entries = sum(map(len, lines.values()))
            work.write(path, lines, order, report)
    return report


def _require_writable(path: str | Path, inputs: Sequence[str | Path]) -> None:
    """Check before long work that the output is a file in a folder, and no input.

    Raises:
        InputError: it is not.
    """
    path = Path(path)
    if str(path) == STANDARD_OUTPUT:
        return
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{path}: cannot be written: name a file in a folder that exists")
    for path_read in inputs:
        if (
            path.exists()
            and str(path_read) != "-"
            and Path(path_read).exists()
            and Path(path_read).samefile(path)
        ):
            raise InputError(f"{path}: is read and written at once: name another output")


class _TranslationTable:
    """A translation table that is read twice: for its words, and to be copied.

    named: its path in messages, where `path` is a copy of what can be read but once.
    """

    def __init__(
        self, path: str | Path, named: str | Path, on_error: OnError, progress: Progress
    ) -> None:
        first = next(read_line_blocks(path), None)
        self._format = PHRASE_TABLE if first is None else guess_format(first.text)
        self.of_grammar = self._format is not PHRASE_TABLE
        if self._format.as_rule is not None:
            raise InputError(
                f"{file_label(named)}: is of the format {self._format.name}, to which no rules can "
                "be added: give a phrase table, or rules of Joshua, Thrax or cdec"
            )
        self.checksum = ""
        self._path, self._named = path, named
        self._on_error, self._progress = on_error, progress

    def read(self, probability: str | None) -> tuple[KnownWords, TableOrder]:
        """Return the table's translations of single words, and its order.

        Raises:
            InputError: it has no rule of a single word.
        """
        known, order, digest = KnownWords(probability), TableOrder(), hashlib.blake2b()
        faulty = InvalidLines(self._named, self._on_error)

        def scores(entry: RuleLine) -> int:
            known.add(entry)
            return _n_scores(entry)

        for line, entry in self._entries(scores, faulty, "reading"):
            digest.update(line)
            if entry is not None:
                order.see(entry.source, line)
        self.checksum = digest.hexdigest()
        known.finish()
        if not any(map(has_letters, known.rules)):
            raise InputError(
                f"{file_label(self._named)}: has no rule of a single word, from which translations "
                "of unknown words could be learned: give a table of single words and phrases"
            )
        return known, order

    def write(
        self,
        path: str | Path,
        lines: Mapping[bytes, list[bytes]],
        order: TableOrder,
        report: UnknownWordReport,
    ) -> None:
        """Write the table with one more score and the new rules in their places."""
        report.faulty = InvalidLines(self._named, self._on_error)
        entries = self._entries(_n_scores, report.faulty, "writing")

        def old_line(entry: RuleLine) -> bytes:
            if not entry.grammar_format.named_features:
                report.n_scores = len(entry.scores) + 1
                return entry.with_score(b"1").line()
            features = entry.features
            report.named |= bool(features.named)
            report.n_scores = len(features.bare) + (not features.named)
            return entry.line() if features.named else entry.with_score(b"0").line()

        with open_output(path) as writer:
            report.old_entries = write_merged(
                entries, old_line, lines, lines.__getitem__, order, writer
            )

    def _entries(
        self, n_scores: Callable[[RuleLine], int], faulty: InvalidLines, stage: str
    ) -> Iterator[tuple[bytes, RuleLine | None]]:
        report = (self._progress, stage)
        return read_phrase_table(self._path, self._format.parse, n_scores, faulty, report)


def _n_scores(entry: RuleLine) -> int:
    return len(entry.scores if entry.grammar_format.named_features else entry.numbers())


def _unknown_words(
    lines: TokenisedLines, known: KnownWords, report: UnknownWordReport, out: LineWriter | None
) -> tuple[dict[str, int], list[list[str]]]:
    """Return the words with letters that have no rule, with their occurrences, and the sentences.

    The words are in text order. Of a very long text only the first sentences are returned.

    Arguments:
        lines: the text. out: where it is written as it was read.
    """
    is_running = lines.text_format == "text"
    report.text_format = lines.text_format
    report.lowered = is_running and all(word == word.lower() for word in known.rules)
    normaliser = Normaliser(lower=report.lowered)
    count_of_word: dict[str, int] = {}
    sentences: list[list[str]] = []
    n_kept = 0
    for _, line in lines.lines:
        words = normal_tokens(line, normaliser) if is_running else line.split()
        if out is not None:
            out.write(" ".join(words).encode() + b"\n")
        if n_kept < _MOST_KEPT:
            sentences.append([sys.intern(word) for word in words])
            n_kept += len(words)
        for word in words:
            if word in known.rules:
                continue
            if has_letters(word) and "|||" not in word:
                count_of_word[word] = count_of_word.get(word, 0) + 1
            else:
                report.without_letters += 1
    return count_of_word, sentences


def _read_pivots(path: str | Path, words: set[str]) -> dict[str, dict[str, float]]:
    """Return p(e2|e1) of the paraphrases of single words.

    Raises:
        InputError: a rule is malformed or lacks p(e|f).
    """
    shares_of_source: dict[str, dict[str, float]] = {}
    for number, line in read_lines(path):
        try:
            entry = RULES.parse(line)
            source = entry.source.decode()
            if source in words and b" " not in entry.target:
                p = math.exp(-max(0.0, entry.features.number(E_GIVEN_F)))
                others = shares_of_source.setdefault(source, {})
                target = entry.target.decode()
                others[target] = max(p, others.get(target, 0.0))
        except LineFaultError as fault:
            raise InputError(
                f"{file_label(path)}, line {number}: {fault}: give rules written by distsim pivot"
            ) from None
    return shares_of_source


class _Translator:
    """Learns the ranking, then answers blocks of unknown words."""

    def __init__(
        self,
        known: KnownWords,
        candidates: TranslationCandidates,
        options: UnknownWordOptions,
        progress: Progress,
    ) -> None:
        self._known, self._candidates = known, candidates
        self._options, self._progress = options, progress
        self._ranker: Ranker | None = None

    def learn(self) -> dict[str, Any]:
        """Learn the ranking from known words, each hidden in turn; return it as numbers.

        Raises:
            InputError: there are too few such words.
        """
        hidden = self._hidden()
        features, right, copies = [], [], []
        for begin in range(0, len(hidden), _BLOCK):
            check_interrupted()
            self._progress("learning", begin, len(hidden))
            for features_of_word in self._candidates.gather(
                hidden[begin : begin + _BLOCK], hidden=True
            ):
                good = self._right(features_of_word.word)
                if features_of_word.candidates:
                    features.append(features_of_word.features)
                    right.append(
                        np.array([target in good for target in features_of_word.candidates])
                    )
                    copies.append(_copies(features_of_word))
        if len(features) < _FEWEST_HIDDEN:
            raise InputError(
                f"the table has {counted(len(features), 'single word')} from which the ranking "
                f"can be learned, wanted {_FEWEST_HIDDEN} or more: give a larger table"
            )
        ranker = Ranker.learn(features, right, copies)
        return {name: values.tolist() for name, values in vars(ranker).items()} | {
            "learned_from": len(features)
        }

    def use(self, learned: Mapping[str, Any]) -> None:
        """Take the ranking that `learn` returned."""
        self._ranker = Ranker(*(np.array(learned[name], np.float64) for name in _LEARNED))

    def answers(self, words: list[tuple[str, int]]) -> list[UnknownWord]:
        """Return the rules of a block of unknown words."""
        gathered = self._candidates.gather([word for word, _ in words])
        return [
            UnknownWord(word, times, self._rules(features_of_word))
            for (word, times), features_of_word in zip(words, gathered, strict=True)
        ]

    def _rules(self, features_of_word: TranslationFeatures) -> list[RankedTranslation]:
        if not features_of_word.candidates:
            return []
        assert self._ranker is not None
        p = self._ranker.probabilities(features_of_word.features, _copies(features_of_word))
        cosine, edits = FEATURES.index("cosine"), FEATURES.index("edits")
        rules: list[RankedTranslation] = []
        for n in np.argsort(-p, kind="stable").tolist():
            target = features_of_word.candidates[n]
            if p[n] < self._options.least or len(rules) == self._options.most_rules:
                break
            if target == features_of_word.word and self._options.copies == "decoder":
                continue
            behind = tuple(dict.fromkeys(features_of_word.behind.get(target, ())))[:_SHOWN_BEHIND]
            row = features_of_word.features[n]
            rules.append(
                RankedTranslation(
                    target, round(float(p[n]), 6), round(float(row[cosine]), 4),
                    round(float(row[edits]), 4), behind,
                )
            )  # fmt: skip
        return rules

    def _hidden(self) -> list[str]:
        """Return the rarest known words, drawn among those of equal counts."""
        words = [word for word in self._candidates.words if len(word) >= _SHORTEST_HIDDEN]
        drawn = np.random.default_rng(1).permutation(len(words))
        times = np.array([self._known.occurrences[word] for word in words])
        order = np.lexsort((drawn, times))
        ranked = [words[n] for n in order.tolist()]
        return ranked[: self._options.hidden]

    def _right(self, word: str) -> set[str]:
        rules = self._known.rules[word]
        sure = {
            rule.target
            for rule in rules
            if rule.probability >= _MIN_TRANSLATION_P
            and rule.lexical >= _SURE_LINK
            and " " not in rule.target
        }
        return sure or {rules[0].target}


def _copies(features_of_word: TranslationFeatures) -> NDArray[np.bool_]:
    """Return which of a word's candidates is the word itself, bool[n]."""
    return np.array(
        [target == features_of_word.word for target in features_of_word.candidates], bool
    )


@contextmanager
def _answers(
    path: str | Path,
    head: dict[str, Any],
    translator: Callable[[], _Translator],
    words: list[tuple[str, int]],
    report: UnknownWordReport,
    progress: Progress,
) -> Iterator[None]:
    """Yield the answers, new or of an interrupted run; their file is removed after the block."""
    with scratch_folder() as scratch:
        kept = scratch / "answers" if is_stream(Path(path)) else Path(f"{path}.answers")
        with resumable_part(kept, _line(head)) as lines:
            report.resumed = min(max(0, lines.done - 1) * _BLOCK, len(words))
            if not words and lines.done == 0:
                lines.write(_line({"learned_from": 0}))
            if words and lines.done <= -(-len(words) // _BLOCK):
                opened_translator = translator()
                if lines.done == 0:
                    lines.write(_line(opened_translator.learn()))
                opened_translator.use(_read_answers(lines.lines(), UnknownWordReport()))
                for begin in range((lines.done - 1) * _BLOCK, len(words), _BLOCK):
                    check_interrupted()
                    progress("translating", begin, len(words))
                    lines.write(_line(opened_translator.answers(words[begin : begin + _BLOCK])))
            report.learned_from = _read_answers(lines.lines(), report)["learned_from"]
            yield
            part_of(kept).unlink()


def _read_answers(lines: Iterator[bytes], report: UnknownWordReport) -> dict[str, Any]:
    """Return the ranking in the first of the lines, and put the answers into a report."""
    learned: dict[str, Any] = json.loads(next(lines))
    for line in lines:
        report.words += [
            UnknownWord(word, times, [
                RankedTranslation(target, p, cosine, edits, tuple(behind))
                for target, p, cosine, edits, behind in rules
            ])
            for word, times, rules in json.loads(line)
        ]  # fmt: skip
    return learned


def _line(values: object) -> bytes:
    return (json.dumps(values, ensure_ascii=False) + "\n").encode(errors="surrogateescape")
