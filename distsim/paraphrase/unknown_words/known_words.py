"""Reads a translation table's entries of single words, and makes lines of new rules for it."""

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from distsim.base.errors import ParameterError
from distsim.corpus.escapes import escape, escape_separators, has_escapes
from distsim.grammar.fields import LineFaultError, tokens
from distsim.grammar.formats.phrase_table import PHRASE_TABLE, PhraseTableEntry
from distsim.grammar.formats.rules import RuleEntry, gap_of
from distsim.grammar.translations import E_GIVEN_F, F_GIVEN_E, LEX_E_GIVEN_F

Entry = PhraseTableEntry | RuleEntry

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
    template: Entry | None = None

    def add(self, entry: Entry) -> None:
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
        of_grammar = isinstance(entry, RuleEntry)
        if len(source.split()) > 1 or not words:
            return
        if of_grammar and any(gap_of(symbol) for symbol in (entry.source, *tokens(entry.target))):
            return
        if isinstance(entry, RuleEntry):
            self.labels[entry.label] += 1
            rule = self._rule_of_grammar(entry, " ".join(words))
        else:
            rule = self._rule_of_phrase_table(entry, " ".join(words))
            if len(entry.counts) >= 3:
                self.occurrences[source] = _count(entry.counts[1])
        found = self.rules.setdefault(source, [])
        found.append(rule)
        if len(found) > _HELD_RULES:
            found[:] = sorted(found, key=_best_first)[:_KEPT_RULES]

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

    def new_line(self, source: str, target: str, p: float) -> bytes:
        """Return the line of a new rule, its other scores neutral.

        In a phrase table all others are 1 and the new one is p. In a grammar they are 0 and the
        new one is -ln p, called `p(unknown)` where features have names.

        Arguments:
            source, target: as the table writes them. p: the probability, above 0.
        """
        links = " ".join(f"0-{n}" for n in range(len(target.split())))
        entry = self.template
        if isinstance(entry, RuleEntry):
            label = min(self.labels, key=lambda one: (-self.labels[one], one), default=entry.label)
            bare = ["0"] * len(entry.features.bare)
            cost = f"{max(0.0, -math.log(p)):.6g}"
            added = f"{ADDED_FEATURE}={cost}" if entry.features.named else cost
            columns = [label.decode(), source, target, " ".join([*bare, added])]
            columns += [links] * (len(entry.fields) > 4)
            return (" ||| ".join(columns) + "\n").encode()
        assert entry is not None
        scores = " ".join(["1"] * len(entry.scores) + [f"{p:.6g}"])
        if entry.is_old:
            n = len(target.split())
            partners = "(" + ",".join(map(str, range(n))) + ")"
            columns = [source, target, partners, " ".join(["(0)"] * n), scores]
            return (" ||| ".join(columns) + "\n").encode()
        columns = [source, target, scores, links, "1 1 1" if entry.counts else ""]
        columns = columns[: len(entry.fields)] + [""] * (len(entry.fields) - len(columns))
        return (" ||| ".join(columns).rstrip() + "\n").encode()

    def _rule_of_phrase_table(self, entry: PhraseTableEntry, target: str) -> WordRule:
        scores = entry.numbers()
        columns = PHRASE_TABLE.columns
        at = columns["p(e|f)"] if len(scores) >= 4 else 0
        if self.probability is not None:
            at = int(self.probability) if self.probability.isdigit() else len(scores)
        if at >= len(scores):
            raise ParameterError(
                f"`probability` {self.probability}: the table has {len(scores)} scores, from 0"
            )
        p = _share(scores[at])
        if len(scores) < 4 or self.probability is not None:
            return WordRule(target, p, p, 1.0)
        lexical, inverse = (_share(scores[columns[name]]) for name in ("Lex(e|f)", "p(f|e)"))
        return WordRule(target, p, p * lexical**0.5 * inverse**0.25, lexical)

    def _rule_of_grammar(self, entry: RuleEntry, target: str) -> WordRule:
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
