"""Rules of a packed grammar, matched with sentences by a trie of their source sides."""

import re
from collections.abc import Sequence

import numpy as np

from distsim.corpus.inflections import Inflections
from distsim.corpus.normaliser import unescape
from distsim.grammar.packs.grammar_index import GrammarIndex
from distsim.kernels.compiled import frozen
from distsim.paraphrase.kernels.matching import SourceRules, Trie, find_matches
from distsim.paraphrase.rewriting import rewriting_features
from distsim.paraphrase.rewriting.language_model import LanguageModel
from distsim.paraphrase.rewriting.rewriting_options import Weights
from distsim.paraphrase.rewriting.sentence import LabelledSentence, with_negations_cut

X = "X"
_GAP = re.compile(r"\[([^\[\]\s]*),([0-9]{1,9})\]")
_MOST_GAPS = 2
_PARTIAL = frozenset("/\\+")  # in labels of sums and parts of constituents
_STEM = 4  # letters


class Grammar:
    """The rules of a pack, ready to be matched with sentences; may be shared by threads.

    labels: left-hand sides and labels of gaps, by number. x: the number of X, -1 for none.

    Arguments:
        index: of the pack.
        model: numbers words.
        longest: tokens that a gap may have.
    """

    def __init__(self, index: GrammarIndex, model: LanguageModel, longest: int) -> None:
        self.index = index
        self.arrays = index.arrays()
        vocabulary = self.arrays.symbols
        words = vocabulary.words(np.arange(len(vocabulary)))
        numbers = {label: number for number, label in enumerate(self.arrays.labels)}
        gap_label = np.full(len(words), -1, np.int64)
        gap_number = np.zeros(len(words), np.int64)
        for symbol, word in enumerate(words):
            gap_match = _GAP.fullmatch(word) if word.startswith("[") else None
            if gap_match is not None:
                gap_label[symbol] = numbers.setdefault(gap_match[1] or X, len(numbers))
                gap_number[symbol] = int(gap_match[2])
        self.labels = list(numbers)
        self.label_numbers = numbers
        self.x = numbers.get(X, -1)
        self.words = words
        self.is_gap = gap_label >= 0
        self._gap_label, self._gap_number = gap_label, gap_number
        self._symbol_of = {word: number for number, word in enumerate(words) if word}
        self._is_plain = np.array([not _PARTIAL.intersection(label) for label in self.labels])
        self.word_ids = model.ids(words)
        self.word_ids[self.is_gap] = -1
        self._model = model
        self.trie, self.flipped, self.left_out = self._trie(longest)
        rarity = np.where(self.is_gap, 0.0, model.rarity(words))
        chars = np.array(
            [1 if gap else len(word) for gap, word in zip(self.is_gap, words, strict=True)]
        )
        unknown = (self.word_ids < 0) & ~self.is_gap
        _, stems = np.unique([word[:_STEM].lower() for word in words], return_inverse=True)
        numbers_in = np.array([any(map(str.isdigit, word)) for word in words]) & ~self.is_gap
        self._facts = np.column_stack(
            [chars, rarity, unknown, ~self.is_gap, stems, numbers_in]
        ).astype(np.float64)

    @property
    def share_known(self) -> float:
        """The share of the pack's words that the language model knows; 1 of a pack of none."""
        mine = ~self.is_gap[1:]
        return float(np.mean(self.word_ids[1:][mine] >= 0)) if mine.any() else 1.0

    @property
    def feature_names(self) -> list[str]:
        """The features that a rule can have."""
        names = self.index.feature_names
        counted = [name for name in rewriting_features.OF_RULES if name not in names]
        return [*names, *map(rewriting_features.missing, names), *counted]

    def codes(self, tokens: Sequence[str]) -> np.ndarray:
        """Return tokens as symbols of the trie, -1 where no rule knows them; int64.

        A capital letter is only overlooked in the first token: elsewhere it marks a name.
        """
        return np.array([self._code(token, i == 0) for i, token in enumerate(tokens)], np.int64)

    def codes_of(self, sentence: LabelledSentence) -> np.ndarray:
        """Return the tokens of a sentence as symbols, negations cut as the rules have them; int64.

        Arguments:
            sentence: `don 't` is `do n't` where only that is known, and the other way round.
        """
        codes = self.codes(sentence.tokens)
        for before_n in (True, False):
            words = with_negations_cut(sentence.plain, before_n)
            other = self.codes(words)
            for at in range(len(words) - 1):
                pair = slice(at, at + 2)
                is_negation = words[at + 1].lower() == ("n't" if before_n else "'t")
                if is_negation and (codes[pair] < 0).any() and (other[pair] >= 0).all():
                    codes[pair] = other[pair]
        return codes

    def symbol(self, word: str) -> int:
        """Return the symbol of a word as it is written, -1 where no rule has it."""
        return self._symbol_of.get(word, -1)

    def _code(self, token: str, is_first: bool) -> int:
        is_name = token[:1].isupper() and not is_first
        for form in (token, token if is_name else token.lower(), unescape(token)):
            symbol = self._symbol_of.get(form)
            if symbol is not None and not self.is_gap[symbol]:
                return len(self.labels) + symbol
        return -1

    def matches(self, codes: np.ndarray, possible: np.ndarray, max_rules: int) -> np.ndarray:
        """Return where source sides match, int64[n, 7], in order of length and start.

        A row: start, length, source side, then start and length of both gaps, -1 for none.

        Arguments:
            codes: int64, of the tokens.
            possible: bool[tokens, longest + 1, labels], whether a span, by its first token and its
                length, may be of a label; labels of matches are added.
            max_rules: maximum number of rules of a source side whose labels are added.
        """
        rules = SourceRules(frozen(self.arrays.rule_starts), frozen(self.arrays.rule_labels))
        matches: np.ndarray = find_matches(
            self.trie, rules, frozen(codes), possible, possible.shape[1] - 1, max_rules
        )
        return matches

    def sources_of(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the symbols of source sides end to end, and where each begins; int64.

        numbers: integers, of source sides.
        """
        starts = self.arrays.source_starts
        return _runs(starts[numbers], starts[numbers + 1], self.arrays.sources)

    def targets_of(self, rules: np.ndarray, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return rules' targets end to end, and where each begins, int64.

        Words are symbols; -1 and -2 are the first and the second gap of the source side.

        rules, sources: integers[n], numbers of rules and of their source sides.
        """
        starts = self.arrays.target_starts
        symbols, begins = _runs(starts[rules], starts[rules + 1], self.arrays.targets)
        of_rule = np.repeat(sources, np.diff(begins))
        numbers = self._gap_number[symbols]
        numbers = np.where(self.flipped[of_rule], 3 - numbers, numbers)
        numbers = np.where(self.gap_labels[of_rule, 1] < 0, 1, numbers)
        return np.where(self.is_gap[symbols], -numbers, symbols), begins

    def rules_of(self, sources: np.ndarray, max_rules: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (the first rules of source sides, where those of each begin), int64.

        Arguments:
            max_rules: maximum number of rules of a source side.
        """
        first = self.arrays.rule_starts[sources].astype(np.int64)
        stop = np.minimum(self.arrays.rule_starts[sources + 1].astype(np.int64), first + max_rules)
        begins = np.concatenate([[0], np.cumsum(stop - first)])
        places = np.arange(int(begins[-1])) - np.repeat(begins[:-1], stop - first)
        return np.repeat(first, stop - first) + places, begins

    def all_features(
        self, rules: np.ndarray, sources: np.ndarray, names: Sequence[str]
    ) -> np.ndarray:
        """Return features of rules by name, float64[rules, names]; 0 where there is none.

        Arguments:
            sources: integers, the source side of each.
        """
        out = np.zeros((rules.size, len(names)))
        own = set(self.index.feature_names)
        counted: dict[str, np.ndarray] = {}
        if any(name in rewriting_features.OF_RULES and name not in own for name in names):
            arrays = self.arrays
            counted = rewriting_features.of_rules(
                rewriting_features.SideCounts(
                    arrays.source_starts[sources], arrays.source_starts[sources + 1],
                    arrays.sources, self._facts,
                ),
                rewriting_features.SideCounts(
                    arrays.target_starts[rules], arrays.target_starts[rules + 1],
                    arrays.targets, self._facts,
                ),
                self._costs(rules),
                self._restructuring(rules, sources),
            )  # fmt: skip
        for column, name in enumerate(names):
            if name in own:
                out[:, column] = np.nan_to_num(self.index.feature_of(name, rules))
            elif name in counted:
                out[:, column] = counted[name]
            else:
                plain = name.removeprefix("Missing(").removesuffix(")")
                if plain != name and plain in own:
                    out[:, column] = np.isnan(self.index.feature_of(plain, rules))
        return out

    def _costs(self, rules: np.ndarray) -> np.ndarray:
        """Return -ln p(e|f) - ln p(f|e) of rules, float64, 0 for what the pack does not tell."""
        costs = np.zeros(rules.size)
        for name in rewriting_features.COSTS:
            if name in self.index.feature_names:
                costs += np.nan_to_num(self.index.feature_of(name, rules))
        return costs

    def _restructuring(self, rules: np.ndarray, sources: np.ndarray) -> np.ndarray:
        """Return which rules have gaps and change the order in a constituent alone, bool[n]."""
        function_words = Inflections.open().function_words
        is_restructuring = np.zeros(rules.size, bool)
        labels = self.arrays.rule_labels[rules]
        gappy = np.flatnonzero((self.gap_labels[sources, 0] >= 0) & self._is_plain[labels])
        before, starts = self.sources_of(sources[gappy])
        after, begins = self.targets_of(rules[gappy], sources[gappy])
        for place, at in enumerate(gappy.tolist()):
            said: list[str | int] = []
            for symbol in before[starts[place] : starts[place + 1]].tolist():
                gap = -1 - sum(not isinstance(symbol, str) for symbol in said)
                said.append(gap if self.is_gap[symbol] else self.words[symbol])
            target = after[begins[place] : begins[place + 1]].tolist()
            instead = [symbol if symbol < 0 else self.words[symbol] for symbol in target]
            is_restructuring[at] = rewriting_features.restructures(said, instead, function_words)
        return is_restructuring

    def scorer(self, weights: Weights) -> "RuleScores":
        """Return the scores of rules under some weights.

        Arguments:
            weights: weight of each feature, by name.
        """
        return RuleScores(self, weights)

    def _trie(self, longest: int) -> tuple[Trie, np.ndarray, int]:
        """Return (trie, of which sources the second gap is first, sources left out)."""
        arrays = self.arrays
        starts = arrays.source_starts.astype(np.int64)
        symbols = arrays.sources.astype(np.int64)
        lengths = np.diff(starts)
        owner = np.repeat(np.arange(lengths.size), lengths)
        gaps = np.flatnonzero(self.is_gap[symbols])
        n_gaps = np.bincount(owner[gaps], minlength=lengths.size)
        numbers = self._gap_number[symbols]
        flipped = np.zeros(lengths.size, bool)
        sound = (n_gaps <= _MOST_GAPS) & (lengths > 0) & (lengths <= longest)
        first_gap = np.zeros(lengths.size, np.int64)
        first_gap[owner[gaps[::-1]]] = numbers[gaps[::-1]]
        last_gap = np.zeros(lengths.size, np.int64)
        last_gap[owner[gaps]] = numbers[gaps]
        has_two = n_gaps == 2
        sound &= ~has_two | ((first_gap + last_gap == 3) & (first_gap > 0) & (last_gap > 0))
        flipped[has_two] = first_gap[has_two] == 2
        n_labels = len(self.labels)
        codes = np.where(self.is_gap[symbols], self._gap_label[symbols], n_labels + symbols)
        node = np.where(sound, 0, -1)
        reached, parents = [np.array([-1])], [np.array([-1])]
        n_nodes = 1
        alive = np.flatnonzero(sound)
        depth = 0
        while alive.size:
            keys = node[alive] << 32 | codes[starts[alive] + depth]
            distinct, inverse = np.unique(keys, return_inverse=True)
            node[alive] = n_nodes + inverse
            reached.append(distinct & 0xFFFFFFFF)
            parents.append(distinct >> 32)
            n_nodes += distinct.size
            depth += 1
            alive = alive[lengths[alive] > depth]
        parent = np.concatenate(parents)
        children = np.searchsorted(parent, np.arange(n_nodes + 1))
        self.gap_labels = np.full((lengths.size, 2), -1, np.int64)
        last = owner[gaps[::-1]]
        self.gap_labels[owner[gaps], 1] = self._gap_label[symbols[gaps]]
        self.gap_labels[last, 0] = self._gap_label[symbols[gaps[::-1]]]
        self.gap_labels[n_gaps == 1, 1] = -1
        ends = np.flatnonzero(sound)
        order = ends[np.argsort(node[ends], kind="stable")]
        node_sources = np.searchsorted(node[order], np.arange(n_nodes + 1))
        trie = Trie(
            frozen(children), frozen(np.concatenate(reached)), frozen(node_sources), frozen(order)
        )
        return trie, flipped, int(lengths.size - ends.size)


def _runs(
    starts: np.ndarray, stops: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return values[start:stop] of every run end to end, and where each begins; int64."""
    lengths = (stops - starts).astype(np.int64)
    begins = np.concatenate([[0], np.cumsum(lengths)])
    places = np.arange(int(begins[-1])) - np.repeat(begins[:-1], lengths)
    return values[np.repeat(starts.astype(np.int64), lengths) + places].astype(np.int64), begins


class RuleScores:
    """Scores of rules under some weights, each computed once; may be shared by threads.

    Arguments:
        grammar: with the rules.
        weights: by name of a feature.
    """

    def __init__(self, grammar: Grammar, weights: Weights) -> None:
        self._grammar = grammar
        names = [name for name in grammar.feature_names if weights.get(name) != 0.0]
        self._names = names
        self._weights = np.array([weights.get(name) for name in names])
        self.values = np.full(len(grammar.index), np.nan)

    def fill(self, rules: np.ndarray, sources: np.ndarray) -> np.ndarray:
        """Return the scores of all rules, float64; those of the given rules are computed.

        Arguments:
            rules: int64, numbers of rules. sources: int64, the source side of each.
        """
        is_missing = np.isnan(self.values[rules])
        if is_missing.any():
            values = self._grammar.all_features(rules[is_missing], sources[is_missing], self._names)
            # Summed name by name: a product of matrices rounds a row otherwise beside other rows.
            total = np.zeros(len(values))
            for column, weight in zip(values.T, self._weights.tolist(), strict=True):
                total += column * weight
            self.values[rules[is_missing]] = total
        return self.values
