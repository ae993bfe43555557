"""Paraphrases of a phrase from a monolingual corpus, with their evidence (Marton 2013, 3.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from distsim.base.arguments import AnyPath, WordIds, one_text
from distsim.base.errors import ParameterError, counted
from distsim.base.parallel import memory_to_use
from distsim.base.results import Results
from distsim.comparison.finder.inflections import as_bases
from distsim.comparison.finder.word_substitutes import FoundWord, WordSubstitutes
from distsim.comparison.opposites.opposites import SPARE, opposites_last, opposites_of
from distsim.contexts.weights import Weighting
from distsim.corpus.annotation import Tree
from distsim.grammar.labelled import labelled_rules
from distsim.grammar.packs.grammar_index import GrammarIndex
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.paraphrase.context_candidates import (
    Comparer,
    ContextCandidates,
    Pool,
    SimilarPhrases,
    crossing,
    find_candidates,
    is_collapsed,
    says_the_same,
)
from distsim.paraphrase.occurrences import SampledOccurrences, Sampler, locate, word_ids
from distsim.paraphrase.paraphrasing_options import LONGEST_PHRASE, ParaphraseOptions
from distsim.paraphrase.profiles import Profiler
from distsim.paraphrase.surroundings import (
    Surroundings,
    WordsBeside,
    commonest,
    one_sided,
    surroundings,
)
from distsim.signatures.table import TableLike, made_once, opened_table

GAP = "_"
BOUNDARY_SIGN = "|"
ORIGINS = ("contexts", "one-sided", "neighbours", "grammar", "finder")
_GRAMMAR = ORIGINS.index("grammar")
_SHOWN_CONTEXTS = 3
_SHORTEST_SINGLE_SIDE = 2
_SINGLE_SIDE_SAMPLE = 300
_NOISE = 400.0
_KEPT_BYTES = 256 << 20
_ENDS = 400  # occurrences of a phrase of which is looked at what follows
_COMPLETE = 0.5  # of the target's share of ends an answer has at least
_WALK_EVIDENCE = 250_000  # occurrences of contexts that are visited for a word of the finder
_LEAST_SCORE = 0.05  # of phrases compared by contexts, where no other is set
_LEAST_OF_KIND = 0.03  # the same where the words right beside count
_BESIDE = 300  # occurrences of which the words right beside are looked at
# A candidate that puts another word of chance p for one of the focal phrase's has its cosine times
# (p / _LOW_CHANCE) ** _CHANCE_POWER, where that is above 1.
_LOW_CHANCE = 0.05
_CHANCE_POWER = 0.25
_REPLACEMENTS = 40  # of each word


@dataclass(frozen=True)
class Paraphrase:
    """A paraphrase with its score, count and evidence.

    phrase: its words. score: cosine of the two profiles, 0 to 1, less where the phrase is
    rare (`doubt`); of a word of the finder the score of WordSubstitutes; of a phrase with one word
    replaced more where the finder gives that word a high score; of phrases of several words, with
    `kinds`, times how alike the words right beside the two are.
    count: its occurrences; of a word of the finder those of all its forms.
    shared_contexts: how many distinct contexts L _ R it shares with the focal phrase. origin: where
    it was found: `contexts`, `one-sided` (a left or right side alone), `neighbours` (signatures),
    `grammar` (a rule of it), or `finder`: by what `sign` stored of words.
    contexts: up to three of those shared, as text: seen most often, then rarest. opposite: whether
    it is an opposite of the focal phrase. contrasted: whether the text contrasts the two, as it
    does opposites; these come last.

    >>> Paraphraser(index).paraphrases("the hatter")[0].shared_contexts > 0
    True
    """

    phrase: str
    score: float
    count: int
    shared_contexts: int
    origin: tuple[str, ...]
    contexts: tuple[str, ...]
    opposite: bool
    contrasted: bool


@dataclass(frozen=True)
class Answer:
    """The paraphrases of one focal phrase, and the numbers of contexts and candidates.

    focal: the phrase as the index holds it. count: its occurrences. n_contexts: distinct
    contexts of both sides that were followed; n_candidates: what stands in these, or in contexts of
    one side; n_profiled: candidates compared, those found in other ways, too. reason: why
    there are no paraphrases, None where there are some. n_opposites: how many opposites, or
    phrases that the text contrasts with it, are below the last one listed, or left out.

    >>> answer = Paraphraser(index).answer("the zebra")
    >>> answer.paraphrases, answer.reason
    ([], 'does not occur in the corpus')
    """

    focal: str
    count: int
    paraphrases: list[Paraphrase]
    n_contexts: int
    n_candidates: int
    n_profiled: int
    reason: str | None
    n_opposites: int


@dataclass(frozen=True)
class _ScoredCandidate:
    """A candidate that was compared in full.

    words: of the candidate. score: as that of Paraphrase. count: occurrences.
    numbers: its own in each source, -1 for none.
    """

    words: WordIds
    score: float
    count: int
    numbers: tuple[int, ...]


class Paraphraser:
    """Finds paraphrases of phrases in an index, of single words by what `sign` stored.

    May be shared by threads.

    Arguments:
        index: where everything is counted.
        options: the settings; the defaults where None.
        table: signatures whose neighbours are candidates too, and whose finder answers for single
            words; none where None.
        grammar: a pack whose rules' targets are candidates too, scored like the others; its phrases
            are in lower case. None: no rules.
        memory: bytes of the caches of common phrases, an eighth of `memory_to_use` at most;
            paraphrasers of the same table, settings of profiles and memory share them.

    Raises:
        IncompatibleError: the table normalises text in another way than the index.

    >>> found = Paraphraser(index).paraphrases("the queen")
    >>> all(one.phrase != "the queen" for one in found)
    True
    """

    def __init__(
        self,
        index: CorpusIndex | AnyPath,
        *,
        options: ParaphraseOptions | None = None,
        table: TableLike | None = None,
        grammar: GrammarIndex | None = None,
        memory: int = _KEPT_BYTES,
    ) -> None:
        index, table = opened_index(index), None if table is None else opened_table(table)
        self.index = index
        self._table, self._grammar = table, grammar
        self._memory = memory = min(memory, memory_to_use() // 8)
        self.options = options or ParaphraseOptions()
        if table is not None:
            table.require_normaliser_of(index)
        self.table_fingerprint = None
        if table is not None and self.options.neighbours:
            self.table_fingerprint = {**table.parameters, "checksum": table.artifact.checksum}
        self._words: WordSubstitutes | None = None
        if table is not None and self.options.finder and table.is_of_all(index):
            self._words = WordSubstitutes.open(index, table, weights=self.options.weights)
        self._opposites = None
        if table is not None and self.options.opposites != "ranked":
            self._opposites = opposites_of(index, table)
        self._focal_sampler = Sampler(index, self.options.sample, memory // 8)

    # What follows is for phrases, and for words that the finder lacks; made when first needed.
    @cached_property
    def _beside(self) -> WordsBeside:
        return made_once(self.index, self._table, "beside", lambda: WordsBeside(self.index))

    @cached_property
    def _search(self) -> SimilarPhrases | None:
        if self._table is None or not self.options.neighbours:
            return None
        return SimilarPhrases(self._table, self.options.neighbour_strength)

    @property
    def _profile_settings(self) -> tuple[int, Weighting, int]:
        """What profiles are made by."""
        return self.options.window, self.options.weighting, self.options.places

    @cached_property
    def _profiler(self) -> Profiler:
        index, settings = self.index, self._profile_settings
        return made_once(index, self._table, settings, lambda: Profiler(index, *settings))

    @cached_property
    def _comparer(self) -> Comparer:
        sample, memory = self.options.candidate_sample or self.options.sample, self._memory
        sampler = Sampler(self.index, sample, memory // 4)
        comparers: WeakValueDictionary[Any, Comparer] = made_once(
            self.index, self._table, "comparers", WeakValueDictionary
        )
        comparer = Comparer(self._profiler, sampler, memory // 2)
        return comparers.setdefault((self._profile_settings, sample, memory), comparer)

    @property
    def is_calibrated(self) -> bool | None:
        """Whether scores of words are chances that people name them; None without a finder."""
        return None if self._words is None else self._words.finder.is_calibrated

    def __reduce__(self) -> tuple[Any, ...]:
        make = partial(
            Paraphraser, options=self.options, table=self._table, grammar=self._grammar,
            memory=self._memory,
        )  # fmt: skip
        return make, (self.index,)

    def __repr__(self) -> str:
        return f"<Paraphraser in {self.index!r}>"

    def paraphrases(self, phrase: str, *, tree: Tree | str | None = None) -> Results[Paraphrase]:
        """Return the k best paraphrases of a phrase, best first.

        Arguments:
            phrase: words separated by spaces.
            tree: of its sentence: only rules with its labels there, as in `answer`.
        """
        return Results(self.answer(phrase, tree=tree).paraphrases)

    def answer(
        self, phrase: str, *, tree: Tree | str | None = None, contexts: bool = True
    ) -> Answer:
        """Return the paraphrases of a phrase of one to six tokens, with the size of the search.

        A phrase that does not occur, or is too long, has none, and the answer says so.

        Arguments:
            phrase: words separated by spaces.
            tree: of its sentence. The candidates are then the grammar's alone, those that a rule
                has under a label of the phrase in the tree (Callison-Burch 2008, 3.2).
            contexts: count and name the contexts shared by words of the finder, which takes a
                fifth of the time; they are none otherwise.

        Raises:
            ParameterError: the phrase is empty, or not in the tree, the tree is broken, or there is
                no grammar beside it.
        """
        if tree is not None and self._grammar is None:
            raise ParameterError("the labels of a tree are those of rules: give `grammar` too")
        count = self.index.count(one_text(phrase, "phrase"))
        text = self.index.words(phrase)
        shown = " ".join(text) or phrase
        if not text:
            return Answer(shown, 0, [], 0, 0, 0, "nothing is left of it after normalising", 0)
        if len(text) > LONGEST_PHRASE:
            reason = f"longer than {LONGEST_PHRASE} tokens"
            return Answer(shown, count, [], 0, 0, 0, reason, 0)
        if count == 0:
            return Answer(shown, 0, [], 0, 0, 0, "does not occur in the corpus", 0)
        rules = self._rules(phrase, tree)
        if self._words is not None and len(text) == 1 and not self.options.forms and not rules:
            words = self._words.answers(text[0], k=self.options.k + SPARE)
            least = self.options.min_score or 0.0
            likely_words = [word for word in words or () if word.score >= least]
            if words and not likely_words:
                reason = f"none of its substitutes scores {least:g}"
                return Answer(shown, count, [], 0, 0, 0, reason, 0)
            if likely_words:
                return self._of_words(shown, count, likely_words, contexts)
        if tree is not None and not rules:
            reason = "no rule of the grammar has a label of it in the tree"
            return Answer(shown, count, [], 0, 0, 0, reason, 0)
        return self._answer(shown, word_ids(self.index, text), rules, tree is not None)

    def _rules(self, phrase: str, tree: Tree | str | None) -> list[list[str]]:
        """Return the words of the targets that the grammar's rules have for a phrase, if any."""
        if self._grammar is None:
            return []
        source = phrase.lower()
        if tree is None:
            rules = self._grammar.rules(source)
        else:
            rules = labelled_rules(self._grammar, source, tree)
        targets = dict.fromkeys(rule.target for rule in rules if "[" not in rule.target)
        words = map(self.index.words, targets)
        return [target for target in words if 1 <= len(target) <= LONGEST_PHRASE]

    def _of_words(
        self, shown: str, count: int, words: Sequence[FoundWord], with_contexts: bool
    ) -> Answer:
        """Return the answer of the finder for a word, with contexts that are shared with it."""
        phrases, out = [word.phrase for word in words], self.options.opposites == "out"
        ranked, n_out = opposites_last(self._opposites, shown, phrases, self.options.k, out=out)
        chosen = [words[row.place] for row in ranked]
        sizes, shared_contexts = (0, 0), [(0, tuple[str, ...]())] * len(chosen)
        if with_contexts:
            sizes, shared_contexts = self._contexts_of_words(shown, chosen)
        rows = [
            Paraphrase(
                word.phrase, word.score, word.strength, n, ("finder",), contexts,
                placed.opposite, placed.contrasted,
            )
            for word, (n, contexts), placed in zip(chosen, shared_contexts, ranked, strict=True)
        ]  # fmt: skip
        return Answer(shown, count, rows, *sizes, len(words), None, n_out)

    def _contexts_of_words(
        self, shown: str, words: Sequence[FoundWord]
    ) -> tuple[tuple[int, int], list[tuple[int, tuple[str, ...]]]]:
        """Return (numbers of contexts and candidates; of each word how many it shares, and some).

        Arguments:
            shown: the focal word. words: found for it.
        """
        focal = word_ids(self.index, [shown])
        located = locate(self.index, focal, np.array([1]))
        occurrences = self._focal_sampler.sample(located, np.zeros(1, np.int64))
        contexts = _within(surroundings(self.index, occurrences, self.options.mcc), _WALK_EVIDENCE)
        candidates = find_candidates(self.index, contexts, focal, 1, 1)
        ids = word_ids(self.index, [word.phrase for word in words])
        candidates_of_words = [
            (
                int(candidates.n_shared[number]) if number >= 0 else 0,
                self._shown_contexts((number,), (contexts,), (candidates,)),
            )
            for number in candidates.numbers_of_words(self.index, ids)
        ]
        return (contexts.lefts.size, candidates.size), candidates_of_words

    def _answer(
        self, shown: str, focal: np.ndarray, rules: Sequence[Sequence[str]], is_alone: bool
    ) -> Answer:
        """Return the answer by contexts.

        rules: targets of the grammar's rules. is_alone: no others are candidates.
        """
        options = self.options
        located = locate(self.index, focal, np.array([focal.size]))
        occurrences = self._focal_sampler.sample(located, np.zeros(1, np.int64))
        contexts, candidates, singles, single_candidates = self._gathered(occurrences, focal)
        replaced = {} if is_alone else self._replaced(shown.split(" "))
        more = rules, list(replaced)
        pool = self._pool(focal, shown, candidates, single_candidates, more)
        if is_alone:
            pool = pool.where(pool.numbers[_GRAMMAR] >= 0)
        shared = np.append(candidates.n_shared, 0)[pool.numbers[0]]  # 0 of number -1
        scored = self._scored(focal, occurrences, pool, np.array(list(replaced.values())), shared)
        kept = self._filtered(tuple(focal.tolist()), scored)
        texts = [self._text(candidate.words) for candidate in kept]
        out = options.opposites == "out"
        ranked, n_out = opposites_last(self._opposites, shown, texts, options.k, out=out)
        paraphrases = [
            Paraphrase(
                texts[place],
                candidate.score,
                candidate.count,
                int(candidates.n_shared[candidate.numbers[0]]) if candidate.numbers[0] >= 0 else 0,
                tuple(name for name, at in zip(ORIGINS, candidate.numbers, strict=True) if at >= 0),
                self._shown_contexts(
                    candidate.numbers, (contexts, singles), (candidates, single_candidates)
                ),
                opposite,
                contrasted,
            )
            for candidate, (place, contrasted, opposite) in (
                (kept[row.place], row) for row in ranked
            )
        ]
        reason = None
        if not paraphrases:
            if not scored:
                reason = (
                    "no target of its rules occurs in the corpus" if is_alone
                    else "no other phrase occurs in its contexts"
                )  # fmt: skip
            else:
                reason = (
                    f"none of {counted(len(scored), 'candidate')} scores "
                    f"{self._least(focal.size):g} and passes"
                )
        n_candidates = candidates.size + single_candidates.size
        return Answer(
            shown, int(occurrences.counts[0]), paraphrases, contexts.lefts.size, n_candidates,
            len(scored), reason, n_out,
        )  # fmt: skip

    def _gathered(
        self, occurrences: SampledOccurrences, focal: np.ndarray
    ) -> tuple[Surroundings, ContextCandidates, Surroundings, ContextCandidates]:
        """Return two-sided contexts and their candidates, then one-sided ones and theirs.

        Arguments:
            focal: int64, its word ids.
        """
        options = self.options
        shortest, longest = self._lengths(focal.size)
        contexts = surroundings(self.index, occurrences, options.mcc)
        contexts = _within(contexts, options.walk)
        candidates = find_candidates(self.index, contexts, focal, shortest, longest)
        singles = contexts.chosen(np.empty(0, np.int64))
        if options.one_sided:
            singles = one_sided(
                self.index,
                occurrences.thinned(_SINGLE_SIDE_SAMPLE),
                options.one_sided_mcc,
                _SHORTEST_SINGLE_SIDE,
            )
            singles = _within(singles, options.walk and options.walk // 4)
        single_candidates = find_candidates(
            self.index, singles, focal,
            max(shortest, focal.size - 1), min(longest, focal.size + 1),
        ).on_both_hands(singles)  # fmt: skip
        return contexts, candidates, singles, single_candidates

    def _lengths(self, length: int) -> tuple[int, int]:
        difference = self.options.length_difference
        if difference is None:
            return 1, self.options.max_length
        return max(1, length - difference), min(self.options.max_length, length + difference)

    def _replaced(self, text: Sequence[str]) -> dict[tuple[str, ...], float]:
        """Return phrases with one word replaced by what the finder finds for it, with its chance.

        Function words stay; where the language's are not known, the commonest words.

        text: the focal phrase.
        """
        likeness_of_phrase: dict[tuple[str, ...], float] = {}
        if self._words is None or len(text) < 2:
            return likeness_of_phrase
        inflections = self._words.forms.inflections
        kept = inflections.function_words
        for at, word in enumerate(text):
            if word in kept or (not kept and self._common[word_ids(self.index, [word])[0]]):
                continue
            before = [tuple(text[:at])]
            for article in inflections.alternates.get(text[at - 1], ()) if at else ():
                before.append((*text[: at - 1], article))  # `an instant` for `a moment`
            for substitute in self._words.answers(word, k=_REPLACEMENTS) or ():
                for words in dict.fromkeys(before):
                    phrase = *words, substitute.phrase, *text[at + 1 :]
                    likeness_of_phrase[phrase] = max(
                        substitute.score, likeness_of_phrase.get(phrase, 0.0)
                    )
        return likeness_of_phrase

    def _pool(
        self,
        focal: np.ndarray,
        shown: str,
        candidates: ContextCandidates,
        singles: ContextCandidates,
        more: tuple[Sequence[Sequence[str]], ...],
    ) -> Pool:
        """Return the candidates to be compared: the best of each source.

        Arguments:
            focal: int64, word ids of the focal phrase.
            candidates, singles: from two-sided and from one-sided contexts.
            more: targets of rules; phrases with one word replaced.
        """
        options = self.options
        best = candidates.best(options.screened)
        best_singles = singles.best(options.one_sided)
        wanted = options.filled - best.size - best_singles.size
        return Pool.of(
            [
                (*candidates.words(self.index, best), best),
                (*singles.words(self.index, best_singles), best_singles),
                self._numbered(self._neighbours(focal, shown, wanted)),
                *map(self._numbered, more),
            ]
        )

    def _neighbours(self, focal: np.ndarray, shown: str, wanted: int) -> list[list[str]]:
        n = self.options.neighbours
        near = self._search.nearest(shown, n, max(n, wanted)) if self._search else []
        shortest, longest = self._lengths(focal.size)
        phrases = [text.split(" ") for text in near]
        return [words for words in phrases if shortest <= len(words) <= longest]

    def _numbered(
        self, phrases: Sequence[Sequence[str]]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return phrases as a source of a Pool."""
        ids = word_ids(self.index, [word for words in phrases for word in words])
        stops = np.cumsum([0, *map(len, phrases)], dtype=np.int64)[1:]
        return ids, stops, np.arange(stops.size)

    def _scored(
        self, focal: np.ndarray, occurrences: SampledOccurrences, pool: Pool, chances: np.ndarray,
        shared: np.ndarray,
    ) -> list[_ScoredCandidate]:  # fmt: skip
        """Return the candidates that were compared in full with the focal phrase.

        Those that say the same by their words are left out before anything is compared, so that
        they take no other's place. Those that a short profile finds furthest away are left out,
        unless a single word is replaced in them or a rule has them: how many are kept does not
        depend on `k`. A profile from few occurrences is noisy, which lengthens it and so lowers the
        cosine: its squared length is about 1 + _NOISE / n times that without noise, and the cosine
        is raised by what more occurrences would take off.

        chances: float64, of the word put in, for each candidate of the last source.
        shared: int64[n], how many contexts each candidate shares with the focal phrase.
        """
        options = self.options
        if not pool.size:
            return []
        profile = self._profiler.profile(occurrences)
        located = locate(self.index, pool.words, pool.stops)
        sample = options.candidate_sample or options.sample
        passing = (located.counts > 0) & self._within_edges(focal, pool)
        passing &= ~says_the_same(focal, pool, options.substrings, options.entailment)
        passing &= (
            (located.counts >= options.min_count) | (shared > 1) | (pool.numbers[1:] >= 0).any(0)
        )
        by_word = pool.numbers[-1] >= 0
        unscreened = by_word | (pool.numbers[_GRAMMAR] >= 0)
        alive = np.flatnonzero(passing & ~unscreened)
        n = np.maximum(1, located.counts)
        shrinkage = n / (n + options.doubt)
        for few, max_kept, share in options.screens:
            if alive.size > options.depth:
                counts = located.counts[alive]
                short, taken = self._comparer.cosines(profile, located, alive, few)
                taken = np.maximum(1, taken)
                full = np.maximum(taken, np.minimum(counts, sample))
                short *= np.sqrt((1.0 + _NOISE / taken) / (1.0 + _NOISE / full)) * shrinkage[alive]
                order = np.lexsort((pool.hashes[alive], -counts, -short))
                order = order[: max(max_kept, 2 * options.depth)]
                least = share * short[order[options.depth - 1]]
                alive = np.sort(alive[order[short[order] >= least]])
        alive = np.union1d(alive, np.flatnonzero(passing & unscreened))
        cosines, _ = self._comparer.cosines(profile, located, alive)
        cosines *= shrinkage[alive]
        own = by_word[alive]
        put_in = chances[pool.numbers[-1, alive[own]]]
        cosines[own] *= np.maximum(1.0, (put_in / _LOW_CHANCE) ** _CHANCE_POWER)
        np.minimum(cosines, 1.0, out=cosines)
        if options.kinds and focal.size > 1:
            sampled = self._focal_sampler.few(located, alive, _BESIDE)
            cosines *= self._beside.likeness(occurrences.thinned(_BESIDE), sampled)
        return [
            _ScoredCandidate(
                located.phrase(number),
                score,
                int(located.counts[number]),
                tuple(pool.numbers[:, number].tolist()),
            )
            for number, score in zip(alive.tolist(), cosines.tolist(), strict=True)
        ]

    def _within_edges(self, focal: np.ndarray, pool: Pool) -> np.ndarray:
        """Return which candidates neither cross the focal phrase's edge nor add punctuation."""
        if not self.options.overlapping:
            return np.ones(pool.size, bool)
        within = ~crossing(focal, pool.words, pool.stops)
        if not self._unspelt[focal].any():
            before = np.append(0, np.cumsum(self._unspelt[pool.words]))
            within &= before[pool.stops] == before[np.append(0, pool.stops[:-1])]
        return within

    @cached_property
    def _unspelt(self) -> np.ndarray:
        """Which words have neither letter nor digit, bool[n_words]."""
        unspelt = np.zeros(self.index.n_words, bool)
        unspelt[self.index.vocabulary.without_letters()] = True
        return unspelt

    def _filtered(self, focal: WordIds, scored: list[_ScoredCandidate]) -> list[_ScoredCandidate]:
        """Return the best that score enough, at most k and a few that may replace opposites.

        Left out are forms of the focal phrase, phrases run together, and those that end a clause
        much less often than the focal phrase does.
        """
        options = self.options
        n_wanted = options.k + (SPARE if self._opposites else 0)
        least = _COMPLETE * self._ended(focal) if options.overlapping else 0.0
        better = {focal}
        kept: list[_ScoredCandidate] = []
        least_score = self._least(len(focal))
        scoring = [
            candidate
            for candidate in scored
            if candidate.score >= least_score and candidate.score > 0.0
        ]
        for candidate in self._without_forms(focal, sorted(scoring, key=self._rank)):
            if len(kept) == n_wanted:
                break
            collapsed = options.collapsed and is_collapsed(focal, candidate.words, better)
            if not collapsed and self._ended(candidate.words) >= least:
                kept.append(candidate)
            better.add(candidate.words)
        return kept

    def _least(self, n_tokens: int) -> float:
        """Return the lowest score of answers for a phrase of so many tokens."""
        least = _LEAST_OF_KIND if self.options.kinds and n_tokens > 1 else _LEAST_SCORE
        return least if self.options.min_score is None else self.options.min_score

    def _ended(self, words: WordIds) -> float:
        """Return the share of a phrase's occurrences that the text's commonest words follow.

        *Of carbon dioxide* ends there mostly, *of greenhouse* does not: other words belong to it.
        """
        ended, seen = 0, 0
        for shard in self.index.shards:
            places = shard.positions(np.array(words, np.int64))
            places = places[:: max(1, places.size // _ENDS)]
            following = shard.tokens[places + len(words)]
            ended, seen = ended + int(self._common[following].sum()), seen + places.size
        return ended / max(1, seen)

    @cached_property
    def _common(self) -> np.ndarray:
        """Which words are the commonest or a sentence's end, bool[n_words]."""
        common = np.zeros(self.index.n_words, bool)
        common[commonest(self.index)] = common[0] = True
        return common

    def _without_forms(
        self, focal: WordIds, ranked: list[_ScoredCandidate]
    ) -> list[_ScoredCandidate]:
        """Return candidates that are no forms of the focal phrase, one of each base word."""
        if self._words is None or self.options.forms:
            return ranked
        by_words = {
            tuple(self._text(candidate.words).split(" ")): candidate for candidate in ranked
        }
        target = tuple(self._text(focal).split(" "))
        return [by_words[words] for words in as_bases(target, by_words, self._words.forms).values()]

    def _rank(self, candidate: _ScoredCandidate) -> tuple[float, int, str]:
        return -candidate.score, -candidate.count, self._text(candidate.words)

    def _text(self, words: WordIds) -> str:
        return " ".join(self.index.vocabulary.word(word) for word in words)

    def _shown_contexts(
        self,
        numbers_of_candidate: Sequence[int],
        contexts: tuple[Surroundings, ...],
        candidates: tuple[ContextCandidates, ...],
    ) -> tuple[str, ...]:
        """Return some of the contexts that a paraphrase shares with the focal phrase."""
        source = next((n for n in range(len(contexts)) if numbers_of_candidate[n] >= 0), None)
        if source is None:
            return ()
        where = contexts[source]
        numbers = candidates[source].contexts_of(numbers_of_candidate[source])[:_SHOWN_CONTEXTS]
        shown = []
        for number in numbers.tolist():
            left, right = int(where.lefts[number]), int(where.rights[number])
            parts = [self._side(where, left), GAP, self._side(where, right)]
            shown.append(" ".join(part for part in parts if part))
        return tuple(shown)

    def _side(self, where: Surroundings, number: int) -> str:
        if number < 0:
            return ""
        words = where.sides.side(number).tolist()
        return " ".join(self.index.vocabulary.word(w) if w else BOUNDARY_SIGN for w in words)


def _within(contexts: Surroundings, walk: int | None) -> Surroundings:
    """Return the first contexts whose walked sides occur `walk` times in all."""
    if walk is None:
        return contexts
    n = int(np.searchsorted(np.cumsum(contexts.costs), walk, "right"))
    return contexts.chosen(np.arange(n))
