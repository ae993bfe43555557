"""Rewritings of a sentence, best first, with the rules that made them."""

import math
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from distsim.base.arguments import in_range
from distsim.base.errors import ParameterError, counted
from distsim.corpus.annotation import Tree
from distsim.grammar.packs.grammar_index import GrammarIndex
from distsim.kernels.compiled import frozen
from distsim.paraphrase.kernels.cube_pruning import Scoring, SentenceRules
from distsim.paraphrase.kernels.matching import best_rules
from distsim.paraphrase.kernels.search import (
    GLUE_RULE,
    SearchLimits,
    SentenceMatches,
    Spans,
    search,
)
from distsim.paraphrase.rewriting import rewriting_features
from distsim.paraphrase.rewriting.grammar import Grammar
from distsim.paraphrase.rewriting.language_model import LanguageModel
from distsim.paraphrase.rewriting.operations import (
    CONSTRUCTIONS,
    MARK,
    SPLIT,
    Operation,
    PlainWords,
    is_odd_gap,
)
from distsim.paraphrase.rewriting.rewriting_features import Derivation, DerivationNode, Forest, best
from distsim.paraphrase.rewriting.rewriting_options import (
    MOST_TOKENS,
    SHORTEN,
    SIMPLIFY,
    RewriteOptions,
    Weights,
)
from distsim.paraphrase.rewriting.sentence import (
    DELETED_KINDS,
    DROPPED_KINDS,
    LabelledSentence,
    tokens_of,
    with_negations_cut,
)
from distsim.paraphrase.substitution.substituter import Substituter

_KEPT_LABEL = -4  # of a word that stays: whatever its span may be called
_MORE_LAST_POPS = 3  # where all numbers of words share them
_WINDOW, _ANY = 50, 1 << 40  # numbers of words of a beginning, either side of the middle one
_AVOIDED = 1000.0
_ROUNDING = 1e-9
_ARTICLES = {"a": "an", "an": "a", "A": "An", "An": "A"}


class Step(NamedTuple):
    """A rule or a deletion that was applied to a sentence.

    start, stop: the tokens, from 0, gaps and what fills them included. before: a rule's source
    side, or the tokens. after: its target side, or what is there now. label: the rule's
    left-hand side, or `deleted`, `split` or `plainer`.
    score: its features times their weights, the language model's apart. features: by name.
    """

    start: int
    stop: int
    before: str
    after: str
    label: str
    score: float
    features: dict[str, float]


class Rewriting(NamedTuple):
    """A rewritten sentence.

    sentence: its tokens separated by spaces. score: the sum of features times weights. features:
    those that are not 0, by name. steps: the rules and deletions that made it; words that stay
    are not named.

    >>> Rewriting("said the king .", -21.5, {"Deleted": 1.0}, ()).sentence
    'said the king .'
    """

    sentence: str
    score: float
    features: dict[str, float]
    steps: tuple[Step, ...]


class Rewriter:
    """Rewrites sentences with a packed grammar and a language model; may be shared by threads.

    Arguments:
        grammar: the pack's rules made ready; made where None.
        pack: rules by source side. model: the language model.
        weights: of features; where None those tuned for simplification, or for shortening where
            the options ask for a length below 1.
        options: limits of the search.
        words: tells how well a word fits in another's place; its features are 0 where None.

    Raises:
        InputError: weights from a file name features that are not there.
        ParameterError: the language model's weight is not above 0.

    >>> from distsim.grammar.packs.pack import PackOptions, pack_grammar
    >>> from distsim.paraphrase.rewriting.language_model import IndexModel
    >>> _ = (folder / "rules").write_text("[X] ||| monarch ||| king ||| p=1\\n")
    >>> _ = pack_grammar(folder / "rules", folder / "pack", options=PackOptions(weights={"p": 1.0}))
    >>> weights = Weights({"LM": 1.0, "p": -0.5, "Deleted": -9.0})
    >>> rewriter = Rewriter(GrammarIndex.open(folder / "pack"), IndexModel(index), weights=weights)
    >>> rewriter.rewrite("said the monarch .", k=2)[0].sentence
    'said the king .'
    """

    def __init__(
        self,
        pack: GrammarIndex,
        model: LanguageModel,
        *,
        weights: Weights | None = None,
        options: RewriteOptions | None = None,
        grammar: Grammar | None = None,
        words: Substituter | None = None,
    ) -> None:
        self.options = options or RewriteOptions()
        self.weights = weights or Weights.default(SHORTEN if self.options.shortens else SIMPLIFY)
        self.model, self.words = model, words
        self.grammar = grammar or Grammar(pack, model, self.options.span)
        self.weights.require(self.feature_names, str(pack.artifact.path))
        before_n, at_apostrophe = model.rarity(["n't", "'t"]).tolist()
        self._cuts_before_n = before_n <= at_apostrophe
        model_weight = self.weights.get(rewriting_features.LM)
        if not model_weight > 0:
            raise ParameterError(
                f"the weight of {rewriting_features.LM} is {model_weight}: give it one "
                "above 0, or every sentence is as good as another"
            )
        self._scores = self.grammar.scorer(self.weights)
        self._ranks_again = any(self.weights.get(name) for name in rewriting_features.OF_WHOLE)

    def __reduce__(self) -> tuple[Any, ...]:
        make = partial(Rewriter, weights=self.weights, options=self.options, words=self.words)
        return make, (self.grammar.index, self.model)

    def with_weights(self, weights: Weights) -> "Rewriter":
        """Return a rewriter of the same grammar with other weights.

        Arguments:
            weights: by name of a feature.
        """
        return Rewriter(
            self.grammar.index, self.model, weights=weights, options=self.options,
            grammar=self.grammar, words=self.words,
        )  # fmt: skip

    @property
    def feature_names(self) -> list[str]:
        """All features that can have a weight."""
        kinds = map(rewriting_features.deleted, DELETED_KINDS)
        constructions = map(rewriting_features.construction, CONSTRUCTIONS)
        dropped = map(rewriting_features.dropped, DROPPED_KINDS)
        return [
            *self.grammar.feature_names, *rewriting_features.OF_SENTENCES,
            *rewriting_features.OF_WHOLE, *kinds, *constructions,
            *rewriting_features.OF_DELETIONS, *dropped, *rewriting_features.OF_REPLACEMENTS,
        ]  # fmt: skip

    def rewrite(
        self, sentence: str, *, k: int = 10, tree: Tree | str | None = None
    ) -> list[Rewriting]:
        """Return a sentence's `k` best rewritings, all different; none of an empty sentence.

        Arguments:
            sentence: its tokens separated by white space.
            tree: of the same tokens; its labels let syntactic rules and deletions apply.
            k: maximum number of rewritings.

        Raises:
            ParameterError: the sentence is too long, or the tree is not of it.
        """
        in_range(k, "n", 1)
        parsed = LabelledSentence(sentence, tree)
        if len(parsed) > MOST_TOKENS:
            raise ParameterError(
                f"the sentence has {counted(len(parsed), 'token')}, wanted {MOST_TOKENS:,} "
                "at most: cut it"
            )
        if not parsed.tokens:
            return []
        problem = _Problem(self, parsed)
        if self.options.length is None:
            return self._best(problem, problem.search(), k)
        return self._of_length(problem, self.options.length, k)

    def known_words(self, sentence: LabelledSentence) -> list[str]:
        """Return the words of a sentence as the language model has them: `do n't` or `don 't`.

        Arguments:
            sentence: of any tokens.
        """
        return with_negations_cut(sentence.plain, self._cuts_before_n)

    def _best(self, problem: "_Problem", forest: Forest, n: int) -> list[Rewriting]:
        """Return the best of a forest.

        Where features of the whole count, the first `ranked_again` in order of all features, and
        any further ones behind them as they were found: so a shorter list begins a longer one.
        """
        again = self.options.ranked_again if self._ranks_again else 0
        rewritings = problem.rewritings(problem.answers(forest, max(n, again)))
        rewritings[:again] = sorted(rewritings[:again], key=lambda pair: self._order(pair[0]))
        return [problem.placed(rewriting, nodes) for rewriting, nodes in rewritings[:n]]

    def _order(self, rewriting: Rewriting) -> tuple[int, float]:
        """Return the sort key of a rewriting: words to be avoided, then the negative score."""
        avoided = 0
        if self.options.avoid:
            avoid = tokens_of(self.options.avoid)
            avoided = sum(token.lower() in avoid for token in rewriting.sentence.split())
        return avoided, -rewriting.score

    def _of_length(self, problem: "_Problem", length: float, n: int) -> list[Rewriting]:
        """Return the best of as many words as asked, or of the nearest fewer that can be had."""
        wanted = max(1, math.floor(length * len(problem.sentence) + _ROUNDING))
        rewritings: list[Rewriting] = []
        while wanted > 0 and len(rewritings) < n:
            forest = problem.search(wanted)
            if forest.words < 0 or (rewritings and forest.words > wanted):
                break
            rewritings += self._best(problem, forest, n - len(rewritings))
            wanted = min(wanted, forest.words) - 1
        return rewritings


class _Edit(NamedTuple):
    """A word that stays, or an operation.

    change: position of the word, or the operation. counted: its features. penalty: its cost.
    """

    change: Operation | int
    counted: dict[str, float]
    penalty: float


class _Problem:
    """A sentence with its rules and edits, ready to be searched."""

    def __init__(self, rewriter: Rewriter, sentence: LabelledSentence) -> None:
        self.sentence = sentence
        self._tokens = sentence.tokens
        self._rewriter = rewriter
        self._grammar = grammar = rewriter.grammar
        self._options = options = rewriter.options
        self._weights = rewriter.weights
        self._span = min(options.span, len(sentence))
        self._longest = self._span
        self._last_pops = options.pops
        if options.length is not None:  # what has any number of words must survive
            self._longest = len(sentence)
            self._last_pops = _MORE_LAST_POPS * options.pops
        self._steps_by_rule: dict[int, Step] = {}
        self._shapes: dict[int, tuple[int, tuple[int, ...]]] = {}
        codes = grammar.codes_of(sentence)
        self._licences_of = licences = self._licences(self._span)
        possible = licences.copy()
        if grammar.x >= 0:
            possible[:, :, grammar.x] = True
        self._matches = grammar.matches(codes, possible, options.looked_at)
        if sentence.tree is None:
            self._license_rules(self._matches, licences)
        self._edits = self._edits_of(codes)
        keys, groups = np.unique(self._group_keys(), return_inverse=True)
        sources, at_span = keys // self._n_keys, keys % self._n_keys
        rules, starts = grammar.rules_of(sources, options.looked_at)
        of_rule = np.repeat(sources, np.diff(starts))
        features, forms = self._replacements(rules, of_rule)
        features[:, -2:] = self._gap_faults(rules, of_rule, np.repeat(at_span, np.diff(starts)))
        scores = rewriter._scores.fill(rules, of_rule)[rules]
        for name, column in zip(rewriting_features.OF_REPLACEMENTS, features.T, strict=True):
            scores = scores + self._weights.get(name) * column
        if options.keep or options.avoid:
            scores = np.where(self._allowed(rules, of_rule), scores, -np.inf)
        places, group_starts = best_rules(frozen(starts), frozen(scores), options.rules)
        group_parts, part_starts = np.arange(group_starts.size), group_starts
        if options.length is not None:
            places, group_parts, part_starts = self._parted(places, rules, of_rule, group_starts)
        self._rules, self._sources = rules[places], of_rule[places]
        self._replaced, self._forms = features[places], forms[places]
        put = [word for edit in self._edits for word in _instead(edit.change)]
        put += filter(None, self._forms.tolist())
        self._words: list[str] = [*sentence.tokens, *dict.fromkeys(put)]
        self._plain = [*rewriter.known_words(sentence), *self._words[len(sentence) :]]
        self._number_rules(scores[places])
        self._place(groups, group_parts, part_starts)

    def _parted(
        self, places: np.ndarray, rules: np.ndarray, sources: np.ndarray, starts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return groups of rules split by length: (places, group_parts, part_starts).

        Arguments:
            places: int64, places in `rules`.
            rules, sources: integers, rules and the source side of each.
            starts: int64[groups + 1], the first place of each group.
        """
        symbols, begins = self._grammar.targets_of(rules[places], sources[places])
        owner = np.repeat(np.arange(places.size), np.diff(begins))
        words = np.bincount(owner[symbols >= 0], minlength=places.size)
        group = np.repeat(np.arange(starts.size - 1), np.diff(starts))
        order = np.lexsort((np.arange(places.size), words, group))
        group, words = group[order], words[order]
        begins_part = np.ones(places.size, bool)
        begins_part[1:] = (np.diff(group) != 0) | (np.diff(words) != 0)
        part_starts = np.append(np.flatnonzero(begins_part), places.size)
        group_parts = np.searchsorted(group[part_starts[:-1]], np.arange(starts.size))
        return places[order], group_parts, part_starts

    @property
    def _n_keys(self) -> int:
        """Numbers of `_group_keys` for a source side: none, or a span and whether gaps are odd."""
        return 1 + 4 * len(self.sentence) * (self._span + 1)

    def _group_keys(self) -> np.ndarray:
        """Return the group of rules of each match, int64: its source side and where it stands.

        The place counts for source sides with gaps that the tree licenses: it tells which of their
        rules it licenses, too.
        """
        matches, licences = self._matches, self._licences_of
        keys = matches[:, 2] * self._n_keys
        gappy = np.flatnonzero(matches[:, 3] >= 0)
        if self.sentence.tree is None or not gappy.size:
            return keys
        is_odd = np.array([is_odd_gap(word) for word in self.sentence.plain])
        licensed = np.ones(gappy.size, bool)
        oddness = np.zeros(gappy.size, np.int64)
        for gap, (first, size) in enumerate(((3, 4), (5, 6))):
            start, length = matches[gappy, first], matches[gappy, size]
            label = self._grammar.gap_labels[matches[gappy, 2], gap]
            has_gap = start >= 0
            licensed &= ~has_gap | licences[start, length, label]
            oddness += (1 << gap) * (has_gap & (length == 1) & is_odd[start])
        place = matches[gappy, 0] * (self._span + 1) + matches[gappy, 1]
        keys[gappy] += np.where(licensed, 1 + 4 * place + oddness, 0)
        return keys

    def _gap_faults(self, rules: np.ndarray, sources: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Return the features Unlicensed and OddGap of rules, float64[n, 2].

        Arguments:
            rules, sources: integers[n], rules and the source side of each.
            places: int64[n], what `_group_keys` adds to the source side.
        """
        grammar = self._grammar
        faults = np.zeros((rules.size, 2))
        gappy = grammar.gap_labels[sources].max(axis=1, initial=-1) >= 0
        place, oddness = (places - 1) // 4, (places - 1) % 4
        start, length = place // (self._span + 1), place % (self._span + 1)
        labels = grammar.arrays.rule_labels[rules].astype(np.int64)
        licensed = (places > 0) & self._licences_of[start, length, labels]
        faults[:, 0] = gappy & ~licensed
        symbols, begins = grammar.sources_of(sources)
        first = grammar.is_gap[symbols[begins[:-1]]]
        targets, target_begins = grammar.targets_of(rules, sources)
        empty = np.diff(target_begins) == 0
        target = np.append(targets, 0)[target_begins[:-1]]
        for gap in (1, 2):  # the first gap of a source side is the one at its beginning
            moved = (first & (gap == 1)) != ((target == -gap) & ~empty)
            faults[:, 1] += (places > 0) & moved & (oddness & gap > 0)
        return faults

    def _replacements(
        self, rules: np.ndarray, sources: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (features of words in a word's place, the form that they have there).

        float64[rules, len(OF_REPLACEMENTS)]; str[rules], "" for a target as it is. Of rules of one
        word on either side; a word that occurs twice is looked at where it stands first.

        Arguments:
            rules, sources: integers[n], rules and the source side of each.
        """
        features = np.zeros((rules.size, len(rewriting_features.OF_REPLACEMENTS)))
        forms = np.full(rules.size, "", object)
        words, grammar, plain = self._rewriter.words, self._grammar, self.sentence.plain
        listed = PlainWords.open()
        symbols, starts = grammar.targets_of(rules, sources)
        single = np.diff(starts) == 1
        single[single] = symbols[starts[:-1][single]] >= 0
        for start, length, source, gap in self._matches[::-1, :4].tolist():
            at = np.flatnonzero(single & (sources == source))
            if length == 1 and gap < 0 and at.size:
                named = [grammar.words[symbol] for symbol in symbols[starts[at]].tolist()]
                hard = plain[start].lower()
                features[at, -3] = [listed.is_plain(hard, replacement) for replacement in named]
                if words is None:
                    continue
                left, right = " ".join(plain[:start]), " ".join(plain[start + 1 :])
                shown = words.agreeing(left, plain[start], right, named)
                forms[at] = [
                    "" if form == replacement else form
                    for form, replacement in zip(shown, named, strict=True)
                ]
                features[at, :-3] = words.replacements(left, plain[start], right, shown)
        return features, forms

    def _edits_of(self, codes: np.ndarray) -> list[_Edit]:
        """Return the edits that keep a word, then, where words may go, those that delete words.

        Arguments:
            codes: int64, the symbol of each token, -1 where the grammar has none.
        """
        sentence, options = self.sentence, self._options
        keep, avoid = tokens_of(options.keep), tokens_of(options.avoid)
        plain = [token.lower() for token in sentence.tokens]
        edits = []
        for i, code in enumerate(codes.tolist()):
            counted = {rewriting_features.KEPT: 1.0} | (
                {rewriting_features.UNKNOWN: 1.0} if code < 0 else {}
            )
            edits.append(_Edit(i, counted, -_AVOIDED if plain[i] in avoid else 0.0))
        if not options.deletes:
            return edits
        rarity = self._rewriter.model.rarity(self._rewriter.known_words(sentence))
        for operation in sentence.operations(self._longest, shortens=options.length is not None):
            if keep.intersection(plain[operation.start : operation.stop]):
                continue
            counted = {
                rewriting_features.DELETED: float(operation.stop - operation.start),
                rewriting_features.DELETIONS: 1.0,
                rewriting_features.DELETED_RARITY: float(
                    rarity[operation.start : operation.stop].sum()
                ),
                rewriting_features.deleted(operation.kind): 1.0,
            }
            if operation.instead:
                name = (
                    rewriting_features.SPLIT
                    if operation.kind == SPLIT
                    else rewriting_features.PLAINER
                )
                counted = {rewriting_features.KEPT: float(operation.stop - operation.start)}
                if operation.kind in CONSTRUCTIONS:
                    counted[rewriting_features.CONSTRUCTION] = 1.0
                    name = rewriting_features.construction(operation.kind)
                counted[name] = 1.0
            elif options.length is not None:
                counted |= sentence.told_of(operation)
            if self._is_long(operation):  # else it is put beside its neighbour as all is
                counted[rewriting_features.GLUE] = 1.0
            edits.append(_Edit(operation, counted, 0.0))
        return edits

    def _is_long(self, edit: Operation | int) -> bool:
        """Return whether an edit has more tokens than the longest span."""
        return isinstance(edit, Operation) and edit.stop - edit.start > self._span

    def _number_rules(self, scores: np.ndarray) -> None:
        """Number the glue, 0, the rules of the pack with these scores, and the edits."""
        grammar, weights, edits = self._grammar, self._weights, self._edits
        self._first_edit = 1 + self._rules.size
        targets, target_starts = grammar.targets_of(self._rules, self._sources)
        for i in np.flatnonzero(self._forms):
            targets[target_starts[i]] = self._symbol_of(self._forms[i])
        said = [self._said_of(edit.change) for edit in edits]
        edit_targets = np.array(
            [symbol for words_of_edit in said for symbol in words_of_edit], np.int64
        )
        edit_starts = np.cumsum([0, *map(len, said)])
        all_targets = np.concatenate([[-1, -2], targets, edit_targets])
        starts = np.concatenate([[0], 2 + target_starts, 2 + targets.size + edit_starts[1:]])
        labels = grammar.arrays.rule_labels[self._rules].astype(np.int64)
        all_labels = np.concatenate(
            [[-1], labels, np.full(len(edits), grammar.x if grammar.x >= 0 else _KEPT_LABEL)]
        ).astype(np.int64)
        edit_scores = [
            sum(weights.get(name) * value for name, value in edit.counted.items()) + edit.penalty
            for edit in edits
        ]
        all_scores = np.concatenate([[weights.get(rewriting_features.GLUE)], scores, edit_scores])
        owner = np.repeat(np.arange(all_labels.size), np.diff(starts))
        words = np.bincount(owner[all_targets >= 0], minlength=all_labels.size)
        all_scores += weights.get(rewriting_features.WORDS) * words
        sentence_ids = self._rewriter.model.ids(self._plain)
        word_ids = np.concatenate([grammar.word_ids, sentence_ids])
        self._numbered = SentenceRules(all_targets, starts, word_ids, all_scores, all_labels, words)

    def _said_of(self, edit: Operation | int) -> list[int]:
        """Return the target symbols of an edit: of its words, or -1 for a long deletion."""
        if isinstance(edit, Operation) and self._is_long(edit):
            return [-1]
        if isinstance(edit, Operation):
            return list(map(self._symbol_of, edit.instead))
        return [len(self._grammar.words) + edit]

    def _symbol_of(self, word: str) -> int:
        """Return the symbol of a word that is put in and that no rule has."""
        return len(self._grammar.words) + self._words.index(word, len(self.sentence))

    def _place(self, groups: np.ndarray, group_parts: np.ndarray, part_starts: np.ndarray) -> None:
        """Put matches and edits, which are groups of one rule each, in the order of the search.

        Arguments:
            groups: int64, the group of rules of each match.
            group_parts: int64[groups + 1], the first part of each group.
            part_starts: int64[parts + 1], the first rule of each part.
        """
        edits = self._edits
        n_groups = group_parts.size - 1
        more = np.arange(1, len(edits) + 1)
        group_parts = np.concatenate([group_parts, group_parts[-1] + more])
        part_starts = np.concatenate([1 + part_starts, 1 + part_starts[-1] + more])
        jumps = [
            (edit.change.stop, edit.change.start, self._first_edit + number)
            for number, edit in enumerate(edits)
            if isinstance(edit.change, Operation) and self._is_long(edit.change)
        ]
        rows = np.full((len(edits), 7), -1, np.int64)
        for row, edit in zip(rows, edits, strict=True):
            if isinstance(edit.change, int):
                row[:2] = edit.change, 1
            else:
                row[:2] = edit.change.start, edit.change.stop - edit.change.start
        every = np.concatenate([self._matches, rows])
        every_group = np.concatenate([groups, n_groups + np.arange(len(edits))])
        gap_labels = np.concatenate(
            [self._grammar.gap_labels[self._matches[:, 2]], np.full((len(edits), 2), -1)]
        )
        order = np.lexsort((np.arange(len(every)), every[:, 0], every[:, 1]))
        self._placed = SentenceMatches(
            every[order], gap_labels[order], every_group[order], group_parts, part_starts,
            np.array(sorted(jumps), np.int64).reshape(-1, 3),
        )  # fmt: skip

    def search(self, words: int = -1) -> Forest:
        """Return the forest of the best rewritings of so many words, or the nearest; -1: of any."""
        model = self._rewriter.model
        spans = Spans(len(self.sentence), self._span, self._licences_of, self._grammar.x)
        scoring = Scoring(
            model.model, model.order, self._weights.get(rewriting_features.LM), model.end
        )
        for window in (_WINDOW, _ANY):
            limits = SearchLimits(self._options.pops, self._last_pops, words, window)
            forest = Forest(*search(spans, self._placed, self._numbered, scoring, limits))
            if len(forest.goal) or forest.words < 0:
                break
        return forest

    def answers(self, forest: Forest, n_answers: int) -> list[Derivation]:
        """Return the best rewritings of a forest, the best first, all different."""
        return best(
            forest,
            self._numbered.targets,
            self._numbered.target_starts,
            self._written_alike(),
            n_answers,
        )

    def _written_alike(self) -> np.ndarray:
        """Return a number by symbol, int64; symbols of equal spelling have the same."""
        grammar, escapes = self._grammar, self.sentence.escapes
        first = len(grammar.words)
        same = np.arange(first + len(self._words))
        known: dict[str, int] = {}
        for plain, token in escapes.items():
            symbol = grammar.symbol(plain)
            if symbol >= 0:
                same[symbol] = known.setdefault(token, symbol)
        for token in (*escapes.values(), *self._words):
            symbol = grammar.symbol(token)
            if symbol >= 0 and token not in escapes:
                same[symbol] = known.setdefault(token, symbol)
        for i, token in enumerate(self._words):
            same[first + i] = known.setdefault(token, first + i)
        return same

    def rewritings(self, answers: list[Derivation]) -> list[tuple[Rewriting, list[DerivationNode]]]:
        """Return answers with their features, steps and derivations.

        The steps have no places yet: `placed` gives them, to those that are wanted.
        """
        rules = (rule for derivation in answers for rule, _ in derivation.nodes)
        self._describe_rules([rule for rule in rules if 0 < rule < self._first_edit])
        rewriting_of_sentence: dict[str, tuple[Rewriting, list[DerivationNode]]] = {}
        for derivation in answers:
            rewriting = self._rewriting(*derivation)
            rewriting_of_sentence.setdefault(rewriting.sentence, (rewriting, derivation.nodes))
        return list(rewriting_of_sentence.values())

    def placed(self, rewriting: Rewriting, nodes: list[DerivationNode]) -> Rewriting:
        """Return a rewriting whose steps tell which tokens they cover."""
        lengths = [0] * len(nodes)
        waiting: list[int] = []  # nodes that no parent has claimed, the leftmost last
        parts: list[list[int]] = [[] for _ in nodes]
        for at in range(len(nodes) - 1, -1, -1):
            rule, n_parts = nodes[at]
            parts[at] = [waiting.pop() for _ in range(n_parts)]
            lengths[at] = self._shape(rule)[0] + sum(lengths[part] for part in parts[at])
            waiting.append(at)
        starts = [0] * len(nodes)
        for at, (rule, _) in enumerate(nodes):
            before = self._shape(rule)[1]
            covered = starts[at]
            for place, part in enumerate(parts[at]):
                starts[part] = covered + (before[place] if before else 0)
                covered += lengths[part]
        steps = iter(rewriting.steps)
        placed = []
        for (rule, _), start, length in zip(nodes, starts, lengths, strict=True):
            if rule >= self._first_edit and self._is_step(rule):
                placed.append(next(steps))
            elif self._is_step(rule):
                placed.append(next(steps)._replace(start=start, stop=start + length))
        return rewriting._replace(steps=tuple(placed))

    def _is_step(self, rule: int) -> bool:
        if rule < self._first_edit:
            return rule != GLUE_RULE
        return isinstance(self._edits[rule - self._first_edit].change, Operation)

    def _shape(self, rule: int) -> tuple[int, tuple[int, ...]]:
        """Return (a rule's own tokens, those before each of its gaps; none before neighbours)."""
        if rule == GLUE_RULE:
            return 0, ()
        if rule >= self._first_edit:
            edit = self._edits[rule - self._first_edit].change
            return edit.stop - edit.start if isinstance(edit, Operation) else 1, ()
        known = self._shapes.get(rule)
        if known is None:
            symbols, _ = self._grammar.sources_of(self._sources[rule - 1 : rule])
            gaps = np.flatnonzero(self._grammar.is_gap[symbols])
            before = tuple((gaps - np.arange(gaps.size)).tolist())
            known = self._shapes[rule] = symbols.size - gaps.size, before
        return known

    def _word(self, symbol: int) -> str:
        words = self._grammar.words
        if symbol >= len(words):
            return self._words[symbol - len(words)]
        return self.sentence.escapes.get(words[symbol], words[symbol])

    def _words_of(self, symbols: Sequence[int]) -> tuple[list[str], np.ndarray]:
        """Return (words as they are written, their ids).

        A new first word and one behind a split have a capital letter where the first one had, and
        before a new word stands `a` or `an`, whichever the language model finds likelier.
        """
        words, ids = list(map(self._word, symbols)), self._numbered.word_ids[np.array(symbols)]
        first = self._tokens[0]
        if words and words[0] != first and first[0].isupper() and words[0].islower():
            words[0] = _with_capital(words[0])
        split = len(self._grammar.words) + len(self.sentence)
        for i, symbol in enumerate(symbols[:-1]):
            if symbol >= split and words[i] == MARK and first[0].isupper():
                words[i + 1] = _with_capital(words[i + 1])
        model, known = self._rewriter.model, set(pairwise(self._tokens))
        for i, (word, following) in enumerate(pairwise(words)):
            other = _ARTICLES.get(word)
            if other is not None and (word, following) not in known:
                changed = ids.copy()
                changed[i] = model.ids([other])[0]
                if model.of_ids(changed) > model.of_ids(ids):
                    words[i], ids = other, changed
        return words, ids

    def _rewriting(
        self,
        symbols: Sequence[int],
        nodes: list[DerivationNode],
    ) -> Rewriting:
        weights = self._weights
        said, ids = self._words_of(symbols)
        text = " ".join(said)
        total: dict[str, float] = {}
        steps = []
        for rule, _ in nodes:
            if rule == GLUE_RULE:
                total[rewriting_features.GLUE] = total.get(rewriting_features.GLUE, 0.0) + 1.0
                continue
            step = self._steps_by_rule.get(rule)
            if step is not None:
                counted = step.features
            else:
                edit, counted, _ = self._edits[rule - self._first_edit]
                if isinstance(edit, Operation):
                    before = " ".join(self.sentence.tokens[edit.start : edit.stop])
                    score = sum(weights.get(name) * value for name, value in counted.items())
                    after = " ".join(edit.instead)
                    label = edit.kind if after else "deleted"
                    step = Step(edit.start, edit.stop, before, after, label, score, counted)
            for name, value in counted.items():
                total[name] = total.get(name, 0.0) + value
            if step is not None:
                steps.append(step)
        changes = sum(step.before.lower() != step.after.lower() for step in steps)
        total |= rewriting_features.of_whole(changes, text == " ".join(self._tokens))
        total[rewriting_features.WORDS] = float(len(symbols))
        total[rewriting_features.LM] = self._rewriter.model.of_ids(ids)
        score = sum(weights.get(name) * value for name, value in total.items())
        return Rewriting(text, score, dict(sorted(total.items())), tuple(steps))

    def _describe_rules(self, rules: list[int]) -> None:
        """Add the missing steps of rules of the pack."""
        missing = [rule for rule in dict.fromkeys(rules) if rule not in self._steps_by_rule]
        if not missing:
            return
        names = self._grammar.feature_names
        mine = np.array(missing, np.int64) - 1
        table = self._grammar.all_features(self._rules[mine], self._sources[mine], names)
        new_rules = self._grammar.index.at(self._rules[mine])
        names = [*names, *rewriting_features.OF_REPLACEMENTS]
        table = np.column_stack([table, self._replaced[mine]])
        for rule, row, rule_of_index in zip(missing, table.tolist(), new_rules, strict=True):
            counted = {name: value for name, value in zip(names, row, strict=True) if value}
            score = sum(self._weights.get(name) * value for name, value in counted.items())
            after = self._forms[rule - 1] or rule_of_index.target
            self._steps_by_rule[rule] = Step(
                -1, -1, rule_of_index.source, after, rule_of_index.label, score, counted
            )

    def _licences(self, span: int) -> np.ndarray:
        """Return which labels the tree gives each span, bool[n, span + 1, labels]."""
        grammar = self._grammar
        licences = np.zeros((len(self.sentence), span + 1, len(grammar.labels)), bool)
        numbers = grammar.label_numbers
        for (start, stop), labels in self.sentence.labels.items():
            if stop - start <= span:
                for label in labels:
                    number = numbers.get(label)
                    if number is not None:
                        licences[start, stop - start, number] = True
        return licences

    def _license_rules(self, matches: np.ndarray, licences: np.ndarray) -> None:
        """Let words that a rule of some label could replace stay under that label too.

        Arguments:
            matches: int64[n, 7], by find_matches.
            licences: bool[n, longest + 1, labels], changed.
        """
        arrays = self._grammar.arrays
        contiguous = matches[matches[:, 3] < 0]
        rules, starts = self._grammar.rules_of(contiguous[:, 2], self._options.looked_at)
        row = np.repeat(np.arange(len(contiguous)), np.diff(starts))
        licences[contiguous[row, 0], contiguous[row, 1], arrays.rule_labels[rules]] = True

    def _allowed(self, rules: np.ndarray, sources: np.ndarray) -> np.ndarray:
        """Return which rules delete no word of `keep` and add none of `avoid`, bool[n].

        Arguments:
            rules, sources: integers[n], rules and the source side of each.
        """
        grammar, options = self._grammar, self._options
        words = [word.lower() for word in grammar.words]
        symbols, begins = grammar.targets_of(rules, sources)
        owner = np.repeat(np.arange(rules.size), np.diff(begins))
        allowed = np.ones(rules.size, bool)
        avoid = tokens_of(options.avoid)
        if avoid:
            avoided = np.array([word in avoid for word in words])
            allowed[owner[(symbols >= 0) & avoided[symbols]]] = False
        if options.keep:
            before, starts = grammar.sources_of(sources)
            of_source = np.repeat(np.arange(rules.size), np.diff(starts))
            for kept in sorted(tokens_of(options.keep)):
                is_kept = np.array([word == kept for word in words])
                had = np.bincount(of_source[is_kept[before]], minlength=rules.size)
                has = np.bincount(owner[(symbols >= 0) & is_kept[symbols]], minlength=rules.size)
                allowed &= has >= had
        return allowed


def _instead(edit: Operation | int) -> tuple[str, ...]:
    return edit.instead if isinstance(edit, Operation) else ()


def _with_capital(word: str) -> str:
    return word[0].upper() + word[1:]
