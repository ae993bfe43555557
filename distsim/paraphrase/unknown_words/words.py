"""Known and unknown words of a text, and the words of both languages with their vectors."""

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from distsim.base.arguments import TextFormat, in_range
from distsim.base.errors import InputError, ParameterError, counted
from distsim.comparison.mapping import MapOptions, WordSpace, fit_map
from distsim.corpus.lines import decoded_line, read_lines, read_tokenised
from distsim.corpus.normaliser import Normaliser, escape, escape_separators, has_escapes
from distsim.corpus.sources import file_label, spooled
from distsim.grammar.fields import InvalidLines, LineFaultError, tokens
from distsim.grammar.formats.grammar_format import RuleLine
from distsim.grammar.formats.moses import PHRASE_TABLE
from distsim.grammar.formats.rules import gap_of
from distsim.grammar.translations import E_GIVEN_F, F_GIVEN_E, LEX_E_GIVEN_F
from distsim.paraphrase.augment import read_phrase_table
from distsim.paraphrase.paraphrasing_options import LONGEST_PHRASE
from distsim.paraphrase.unknown_words.similar_spelling import (
    common_prefix,
    has_letters,
    scripts_of,
    trigrams,
)
from distsim.signatures.projections.learn import unit_rows
from distsim.signatures.table import StoredTable


class PhrasesNotKnown(NamedTuple):
    """What of a text is unknown.

    counts: of each phrase that is not known, in order of the text. text_format: how it was read.
    lowered: whether its capitals were made small, as those of all that is known are.
    """

    counts: dict[str, int]
    text_format: TextFormat
    lowered: bool


def unknown_phrases(
    text: str | Path,
    known: str | Path,
    longest: int,
    as_is: bool = False,
    text_format: TextFormat | None = None,
) -> PhrasesNotKnown:
    """Return the phrases of a text that are not known.

    Running text is cut into tokens and normalised as the text of a corpus; its capitals are made
    small if what is known has none.

    Arguments:
        text: a sentence a line.
        known: a phrase table (told by its ` ||| `), whose source sides are known, or a
            vocabulary, a word or phrase a line, up to a tab where there is one. Streamed: only
            the text's own phrases are held.
        longest: phrases of 1 to so many tokens.
        as_is: take a text that looks like HTML, XML, JSON or a table.
        text_format: `lines` for tokenised text, `text` for running text; where None `text` if
            marks stand at words.

    Raises:
        InputError: a file cannot be read or is malformed; file and line are named.
        ParameterError: `longest` is not 1 to 6.
    """
    in_range(longest, "longest phrases", 1, LONGEST_PHRASE)
    count_of_phrase: dict[str, int] = {}
    lines = read_tokenised(text, as_is, text_format)
    may_lower = is_running = lines.text_format == "text"
    normaliser = Normaliser(lower=False)
    for _, line in lines.lines:
        words = normal_tokens(line, normaliser) if is_running else line.split()
        for begin in range(len(words)):
            for end in range(begin + 1, min(begin + longest, len(words)) + 1):
                phrase = " ".join(words[begin:end])
                count_of_phrase[phrase] = count_of_phrase.get(phrase, 0) + 1
    lowered: Counter[str] = Counter()
    if may_lower:
        for phrase, n in count_of_phrase.items():
            lowered[phrase.lower()] += n
    for phrase in known_phrases(known):
        count_of_phrase.pop(phrase, None)
        may_lower = may_lower and phrase == phrase.lower()
        lowered.pop(phrase, None)
    return PhrasesNotKnown(
        dict(lowered) if may_lower else count_of_phrase, lines.text_format, may_lower
    )


def normal_tokens(line: str, normaliser: Normaliser) -> list[str]:
    """Return the normal forms of a line's tokens, without those that have none."""
    return list(filter(None, map(normaliser.token, line.split())))


def known_phrases(path: str | Path) -> Iterator[str]:
    """Yield the source phrases of a phrase table, or the entries of a vocabulary.

    Arguments:
        path: of the table or vocabulary.

    Raises:
        InputError: the file cannot be read, is empty or a line of it is malformed.
    """
    with spooled(path) as copy:
        first = next(iter(read_lines(copy)), None)
        if first is None or not first[1].strip():
            raise InputError(
                f"{file_label(path)}, line 1: the file is empty or begins with an empty line, "
                "wanted a phrase table or a vocabulary: check what should have written it"
            )
        if b" ||| " in first[1]:
            previous = b""
            for _, entry in read_phrase_table(copy, PHRASE_TABLE.parse, faulty=InvalidLines(path)):
                if entry is not None and entry.source != previous:
                    previous = entry.source
                    yield " ".join(previous.decode().split())
            return
        for number, line in read_lines(copy):
            text = decoded_line(line, f"{file_label(path)}, line {number}")
            yield " ".join(text.split("\t")[0].split())


ADDED_FEATURE = "p(unknown)"  # minus its natural logarithm
_CDEC_PROBABILITY = "EgivenFCoherent"  # minus its decimal logarithm
_KEPT_RULES = 20
_HELD_RULES = 1000


class WordRule(NamedTuple):
    """A rule of a single word.

    target: its translation. probability: p(e|f). weight: p(e|f) Lex(e|f)^.5 p(f|e)^.25, as far as
    the table has them, by which rules are ranked. lexical: Lex(e|f), 1 where the table has none.
    """

    target: str
    probability: float
    weight: float
    lexical: float


@dataclass
class KnownWords:
    """A table's translations of single words; `add` takes its rules, `finish` ranks them.

    Attributes:
        rules: of each single source word, best first, at most 20.
        occurrences: of each of them in the training text; the number of its rules where the table
            has no counts.
        target_words: tokens of target sides, with the number of rules that have them.
        labels: left-hand sides of single words' rules, with their numbers.
        escaped: whether target sides have the escapes of Moses. separators: of separators alone.
        template: the first rule; new rules are written like it.

    Arguments:
        probability: the feature that is p(e|f), by its name, or its number from 0; where None the
            one that Moses, Thrax or cdec writes, else all rules of a word count the same.
    """

    probability: str | None = None
    rules: dict[str, list[WordRule]] = field(default_factory=dict)
    occurrences: dict[str, float] = field(default_factory=dict)
    target_words: Counter[str] = field(default_factory=Counter)
    labels: Counter[bytes] = field(default_factory=Counter)
    escaped: bool = False
    separators: bool = False
    template: RuleLine | None = None

    def add(self, entry: RuleLine) -> None:
        """Take in a rule of the table.

        Arguments:
            entry: the rule.

        Raises:
            LineFaultError: a score is no number.
            ParameterError: it lacks the feature that `probability` names.
        """
        self.template = self.template or entry
        source, target = entry.source.decode(), entry.target.decode()
        words = target.split()
        self.target_words.update(words)
        self.escaped = self.escaped or has_escapes(target, of_all=True)
        self.separators = self.separators or has_escapes(target)
        of_grammar = entry.grammar_format.named_features
        if len(source.split()) > 1 or not words:
            return
        if of_grammar and any(gap_of(symbol) for symbol in (entry.source, *tokens(entry.target))):
            return
        if of_grammar:
            self.labels[entry.label] += 1
            rule = self._rule_of_grammar(entry, " ".join(words))
        else:
            rule = self._rule_of_phrase_table(entry, " ".join(words))
            if len(entry.counts) >= 3:
                self.occurrences[source] = _count(entry.counts[1])
        rules_of_source = self.rules.setdefault(source, [])
        rules_of_source.append(rule)
        if len(rules_of_source) > _HELD_RULES:
            rules_of_source[:] = sorted(rules_of_source, key=_best_first)[:_KEPT_RULES]

    def finish(self) -> None:
        """Rank the rules, and estimate counts where the table has none."""
        for source, rules in self.rules.items():
            self.occurrences.setdefault(source, float(len(rules)))
            if not any(rule.weight for rule in rules):
                even = 1 / len(rules)
                rules[:] = [rule._replace(probability=even, weight=even) for rule in rules]
            rules[:] = sorted(rules, key=_best_first)[:_KEPT_RULES]

    def translations(self, source: str) -> list[tuple[str, float]]:
        """Return the translations of a known word, best first, with shares that sum to 1.

        Arguments:
            source: the word.
        """
        rules = self.rules[source]
        total = sum(rule.weight for rule in rules) or 1.0
        return [(rule.target, rule.weight / total) for rule in rules]

    def escape(self, word: str) -> str:
        """Return a word as the table writes it.

        Arguments:
            word: of plain text.
        """
        if self.separators and not self.escaped:
            return escape_separators(word.encode()).decode()
        return escape(word) if self.escaped else word

    def new_line(self, source: str, target: str, probability: float) -> bytes:
        """Return the line of a new rule, its other scores neutral.

        In a phrase table all others are 1 and the new one is p. In a grammar they are 0 and the
        new one is -ln p, called `p(unknown)` where features have names.

        Arguments:
            source, target: as the table writes them. probability: the probability, above 0.
        """
        links = " ".join(f"0-{n}" for n in range(len(target.split())))
        entry = self.template
        assert entry is not None
        if entry.grammar_format.named_features:
            label = min(
                self.labels, key=lambda label: (-self.labels[label], label), default=entry.label
            )
            bare = ["0"] * len(entry.features.bare)
            cost = f"{max(0.0, -math.log(probability)):.6g}"
            added = f"{ADDED_FEATURE}={cost}" if entry.features.named else cost
            columns = [label.decode(), source, target, " ".join([*bare, added])]
            columns += [links] * (len(entry.fields) > 4)
            separator = entry.grammar_format.separator
            return (f" {separator} ".join(columns) + "\n").encode()
        scores = " ".join(["1"] * len(entry.scores) + [f"{probability:.6g}"])
        if entry.has_partners:
            n = len(target.split())
            partners = "(" + ",".join(map(str, range(n))) + ")"
            columns = [source, target, partners, " ".join(["(0)"] * n), scores]
            return (" ||| ".join(columns) + "\n").encode()
        columns = [source, target, scores, links, "1 1 1" if entry.counts else ""]
        columns = columns[: len(entry.fields)] + [""] * (len(entry.fields) - len(columns))
        return (" ||| ".join(columns).rstrip() + "\n").encode()

    def _rule_of_phrase_table(self, entry: RuleLine, target: str) -> WordRule:
        scores = entry.numbers()
        columns = PHRASE_TABLE.columns
        column_of_share = columns["p(e|f)"] if len(scores) >= 4 else 0
        if self.probability is not None:
            column_of_share = int(self.probability) if self.probability.isdigit() else len(scores)
        if column_of_share >= len(scores):
            raise ParameterError(
                f"`probability` {self.probability}: the table has "
                f"{counted(len(scores), 'score')}, from 0"
            )
        p = _share(scores[column_of_share])
        if len(scores) < 4 or self.probability is not None:
            return WordRule(target, p, p, 1.0)
        lexical, inverse = (_share(scores[columns[name]]) for name in ("Lex(e|f)", "p(f|e)"))
        return WordRule(target, p, p * lexical**0.5 * inverse**0.25, lexical)

    def _rule_of_grammar(self, entry: RuleLine, target: str) -> WordRule:
        features = entry.features
        if self.probability is not None:
            if features.get(self.probability) is None:
                raise ParameterError(
                    f"`probability` {self.probability}: a rule of {entry.source.decode()!r} lacks "
                    "this feature"
                )
            p = _share(math.exp(-features.number(self.probability)))
            return WordRule(target, p, p, 1.0)
        if features.get(_CDEC_PROBABILITY) is not None:
            p = _share(10.0 ** -features.number(_CDEC_PROBABILITY))
            return WordRule(target, p, p, 1.0)
        if E_GIVEN_F.encode() not in features.named:
            return WordRule(target, 0.0, 0.0, 1.0)
        p, inverse, lexical = (
            _share(math.exp(-features.number(name, 0.0)))
            for name in (E_GIVEN_F, F_GIVEN_E, LEX_E_GIVEN_F)
        )
        return WordRule(target, p, p * lexical**0.5 * inverse**0.25, lexical)


def _best_first(rule: WordRule) -> tuple[float, str]:
    return -rule.weight, rule.target


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))


def _count(written: bytes) -> float:
    try:
        return max(0.0, float(written))
    except ValueError:
        raise LineFaultError(f"count {written.decode()!r}: wanted a number") from None


# Of its own language an index has 75 to 100% of the most frequent words, of others 2 to 45%.
_ASKED_WORDS = 200
_OWN_LANGUAGE = 0.5


def language_doubt(known: KnownWords, side: str, table: StoredTable) -> str | None:
    """Return a sentence where a table has too few of the most frequent words of its side, or None.

    Arguments:
        known: of the translation table.
        side: `source`, `domain` or `target`, the last for words of target sides.
        table: that should be of this language.
    """
    counts = known.target_words if side == "target" else known.occurrences
    words = sorted(filter(has_letters, counts), key=lambda word: (-counts[word], word))
    words = words[:_ASKED_WORDS]
    rows = table.find_normal([table.normal_form(word) or word for word in words])
    n_known = int((rows >= 0).sum())
    if n_known >= _OWN_LANGUAGE * len(words):
        return None
    language = "target" if side == "target" else "source"
    asked = counted(len(words), f"most frequent {language} word")
    return (
        f"{table.path}: has {n_known:,} of the {asked} of the table: is it of the {language} "
        "language? Expect little if not"
    )


_OTHERWISE_WRITTEN = 0.1  # of the unknown words, known ones in small letters or with marks off
_MARKS = "\"'“”‘’«»„.,;:!?()[]…、。"


def writing_doubt(text: str, known: KnownWords, unknown: Sequence[str]) -> str | None:
    """Return a sentence where unknown words are known in small letters or without marks, or None.

    Arguments:
        text: as it is called. known: of the translation table. unknown: words of the text.
    """
    n = sum(
        word.lower() in known.rules or word.strip(_MARKS).lower() in known.rules for word in unknown
    )
    if n <= _OTHERWISE_WRITTEN * len(unknown):
        return None
    return (
        f"{text}: {n:,} of {counted(len(unknown), 'unknown word')} are known in small letters or "
        "without the marks at them: write the text as the table's was, in words and letters"
    )


FOLDS = 5
STEM_SHARE = 0.6  # of the longer word's characters, that words of one stem begin with
SHORTEST_STEM = 4
_MOST_TARGETS = 100_000
_OF_STEM = 12


class SourceSide:
    """A table of the source language: vectors of the known words, their maps, and counts.

    Attributes:
        known: float32[n, dimensions], unit vectors of the known words.

    Arguments:
        table: of the source language.
        words: the known words.
    """

    def __init__(self, table: StoredTable, words: Sequence[str]) -> None:
        self._table = table
        self.known = self.vectors(words)
        self._maps: list[NDArray[np.float32]] = []

    def vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, float32[n, dimensions], zeros where a word has none.

        Arguments:
            words: n of them, as written.
        """
        out = np.empty((len(words), self._table.n_dimensions), np.float32)
        for n, form in enumerate(self._forms(words)):
            out[n] = np.nan_to_num(self._table.vectors(form, of_words=True)[0])
        return out

    def log_counts(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Return ln(1 + occurrences) of words, float64[n].

        Arguments:
            words: n words.
        """
        rows = self._table.find_normal(self._forms(words))
        counts = np.where(rows >= 0, self._table.strengths[np.maximum(rows, 0)], 0)
        return np.log1p(counts.astype(np.float64))

    def learn_maps(
        self,
        target: NDArray[np.float32],
        at: NDArray[np.int64],
        weights: NDArray[np.float64],
        folds: NDArray[np.int64],
    ) -> None:
        """Learn a map without each fold of the pairs, and one of all.

        Arguments:
            target: float32[n, d], vectors of n pairs. at: int64[n], their known words.
            weights: float64[n]. folds: int64[n], 0 to FOLDS - 1.

        Raises:
            InputError: the table has next to none of the words.
        """
        parts = [*(folds != fold for fold in range(FOLDS)), np.ones(len(at), bool)]
        if not all(self.known[at[part]].any() for part in parts):
            n_known = int(self.known[at].any(axis=1).sum())
            raise InputError(
                f"{self._table.path}: has {n_known} of the {counted(len(at), 'source word')} "
                "that teach the map "
                "between the languages: give an index of text in the source language"
            )
        self._maps = [
            fit_map(self.known[at[part]], target[part], weights[part], MapOptions())
            for part in parts
        ]

    def mapped(self, vectors: NDArray[np.float32], folds: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return vectors mapped without the pairs of their folds, float32[n, dimensions], of length
        1.

        Arguments:
            vectors: float32[n, dimensions].
            folds: int64[n]; FOLDS: mapped by all pairs.
        """
        rows = [vector @ self._maps[fold] for vector, fold in zip(vectors, folds, strict=True)]
        return unit_rows(np.array(rows, np.float32))

    def _forms(self, words: Iterable[str]) -> list[str]:
        return [self._table.normal_form(word) or word for word in words]


class TargetSide:
    """Words of the target language as the translation table writes them.

    Attributes:
        words: n words with a letter, the most frequent first; those of the table without a text.
        rows: the place of each. log_counts: float64[n], ln(1 + occurrences in the text).
        vectors: float32[n, dimensions], of length 1; None without a text.
        scripts: in which they are written.

    Arguments:
        known: of the translation table. table: of the target text, None where there is none.
    """

    def __init__(self, known: KnownWords, table: StoredTable | None) -> None:
        ranked = sorted(known.target_words, key=lambda word: (-known.target_words[word], word))
        self.vectors: NDArray[np.float32] | None = None
        if table is None:
            self.words = list(filter(has_letters, ranked))
            self.log_counts = np.zeros(len(self.words))
        else:
            written: dict[str, str] = {}  # a form -> how the translation table writes it
            for word in ranked:
                written.setdefault(table.normal_form(word), word)
            space = WordSpace(table)
            rows = [
                row
                for row, word in enumerate(space.words)
                if (row < _MOST_TARGETS or word in written)
                and has_letters(word)
                and "|||" not in word
            ]
            self.words = [
                written.get(space.words[row]) or known.escape(space.words[row]) for row in rows
            ]
            self.vectors = np.ascontiguousarray(space.vectors[rows])
            self.log_counts = np.log1p(space.strengths[rows].astype(np.float64))
        self.rows = {word: row for row, word in enumerate(self.words)}
        self.scripts = scripts_of(self.words)
        self._sorted = sorted(self.words)
        self._sizes = np.array([len(trigrams(word)) for word in self.words], np.int64)
        places: defaultdict[str, list[int]] = defaultdict(list)
        for row, word in enumerate(self.words):
            for gram in trigrams(word):
                places[gram].append(row)
        self._places = {gram: np.array(rows, np.int64) for gram, rows in places.items()}

    def shared_trigrams(self, word: str) -> NDArray[np.float64]:
        """Return the Dice coefficient of a word's trigrams and every target word's, float64[n].

        Arguments:
            word: a source word.
        """
        grams = trigrams(word)
        places_of_grams = [self._places[gram] for gram in sorted(grams) if gram in self._places]
        if not places_of_grams:
            return np.zeros(len(self.words))
        shared = np.bincount(np.concatenate(places_of_grams), minlength=len(self.words))
        return np.asarray(2 * shared / (len(grams) + self._sizes), np.float64)

    def of_stem(self, word: str) -> list[str]:
        """Return target words that begin like a word, the longest common prefix first.

        Arguments:
            word: a source word.
        """
        start = word[: max(SHORTEST_STEM, math.ceil(STEM_SHARE * len(word)))]
        at, words_of_stem = bisect_left(self._sorted, start), list[str]()
        while at < len(self._sorted) and self._sorted[at].startswith(start):
            words_of_stem.append(self._sorted[at])
            at += 1
        words_of_stem.sort(key=lambda other: (-common_prefix(other, word), self.rows[other]))
        return words_of_stem[:_OF_STEM]
