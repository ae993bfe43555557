"""Words that exclude each other: opposites, members of a series, numbers, names.

`north` and `south` have nearly the same contexts, and so have words that mean the same. A text
tells them apart: it joins words that exclude each other by `from - to`, `between - and`, `rather
than` far more often than chance (Lin, Zhao, Qin and Zhou 2003, Identifying Synonyms among
Distributionally Similar Words), and hardly ever words that mean the same. `or` joins both kinds
(`country or state`), and so does `and` (`bread and cheese`, `freedom and liberty`): they make a
pair doubtful at most.
"""

from functools import cached_property
from threading import Lock
from typing import NamedTuple

import numpy as np

from distsim.comparison import kernels as kernel
from distsim.comparison.opposites.language import (
    DEFAULT,
    NO_CLASS,
    Language,
    exclude_by_class,
    pattern_ids,
)
from distsim.corpus.inflections import Inflections, base_words
from distsim.corpus.vocabulary import HashNumbering, hash_blob, hash_texts
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.shard import damaged
from distsim.kernels.arrays import each_once
from distsim.kernels.compiled import frozen
from distsim.signatures.table import StoredTable

# Chosen by the train part of gold-antsyn, antonyms and synonyms of PPDB (bench/exclusive_words.py).
# weights of patterns of the three kinds: `from X to Y`, `X or Y`, `X and Y`
CONTRAST, ALTERNATIVE, COORDINATION = 1.0, 0.5, 0.3
JOINED = 1.5  # ln of how much more often than chance contrasts join words that exclude each other
OFTEN = 3.0  # the same, of words whose contrasts are few beside many alternatives (`more or less`)
CLEAR = 0.25  # share of contrasts among all joins, enough for words of any likeness
SOME = 0.07  # the same for words as alike as ALIKE
SINGLE = 0.12  # the same where there is one contrast
ALIKE = 0.5  # cosine
FEWEST_DOUBTFUL, DOUBTFUL_JOINED = 3, 1.9  # joins of any kind, and ln of their excess
BESIDE = 0.003  # joins by `and` for each occurrence (geometric mean) that make words doubtful
NAME = 0.9  # share of a name's occurrences within sentences that begin with a capital
FEWEST_CAPITALS = 3
FORMS_JOINED, FORMS_CLEAR = 2.0, 0.2  # as JOINED and CLEAR, of all forms of two words together
BASE = 0.1  # the base of a form occurs more often than this share of the form's occurrences
# Share of capitals within sentences from which a language writes nouns so: .22 and .36 of German
# novels and help texts, .05 to .13 of English, French and Spanish ones and of Wikipedia.
NOUNS = 0.17
LIKE = 0.3  # cosine from which names, or a word and its negation, exclude each other
SAME_START = 3  # letters at the beginning that forms of one name share
_MOST_TOKENS = 100_000_000  # that are read, of the beginnings of all shards
_SAMPLE = 24_000_000  # bytes of text whose capitals are counted
_KEPT_WORDS = 1 << 17  # whose facts are kept
EXCLUSIVE, DOUBTFUL = 2, 1  # grades of pairs of words
# Facts of a word: its id in the index and that of its base, its class and place in it, -1 without
# one, and the numbers of its first and its last three letters.
ID, BASE_ID, CLASS, PLACE, START, STOP = range(6)
_VOWELS = str.maketrans("", "", "aeiouy")
_UNSURE = "de"  # a prefix that seldom negates: `despite`, `define`


class JoinedWords(NamedTuple):
    """How often patterns join two words.

    keys: int64[n], ascending, the lower word id << 32, and the higher one. counts: int32[n, 3], by
    contrasts, alternatives and coordinations. totals: int64[3], of all pairs. n_tokens: that were
    read.
    """

    keys: np.ndarray
    counts: np.ndarray
    totals: np.ndarray
    n_tokens: int


class ExclusiveWords:
    """Detector of pairs of words that exclude each other; may be shared by threads.

    Arguments:
        table: the signatures. index: where patterns and capitals are counted; the one that contains
            the table where None. Without any, affixes and the language's classes tell.
        language: patterns, affixes and classes; those of `text_language` where None.
        text_language: name of the inflections; patterns and the like are English where none ship.

    >>> found = ExclusiveWords(table).of_words([("two", "three"), ("alice", "rabbit")])
    >>> found.tolist()
    [True, False]
    """

    def __init__(
        self,
        table: StoredTable,
        index: CorpusIndex | None = None,
        language: Language | None = None,
        text_language: str = DEFAULT,
    ) -> None:
        self._table = table
        self._index = index or table.around
        self._name_words = None if self._index is None else NameWords(self._index)
        self._language = language or Language.of_text(text_language)
        self._inflections = Inflections.open(text_language)
        self._lock = Lock()
        self._known: tuple[dict[str, tuple[int, ...]], dict[str, int]] = ({}, {})  # facts, edges

    def of_words(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        """Return whether two words exclude each other, bool[n].

        Arguments:
            pairs: words in normal form.
        """
        exclusive: np.ndarray = self.grades(pairs) == EXCLUSIVE
        return exclusive

    def grades(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        """Return whether two words exclude each other, uint8[n]: EXCLUSIVE, DOUBTFUL or 0.

        Arguments:
            pairs: words in normal form.
        """
        words = list(dict.fromkeys(word for pair in pairs for word in pair))
        places = {word: place for place, word in enumerate(words)}
        first = np.array([places[a] for a, _ in pairs], np.int64)
        second = np.array([places[b] for _, b in pairs], np.int64)
        known_phrases = self._table.estimator().of_phrases(words)
        vectors = np.array(known_phrases.unit_vectors, np.float32)
        vectors[~known_phrases.known] = 0.0
        return self.among(words, vectors, first, second)

    def among(
        self, words: list[str], vectors: np.ndarray, first: np.ndarray, second: np.ndarray
    ) -> np.ndarray:
        """Return which pairs of words exclude each other, uint8[n]: EXCLUSIVE, DOUBTFUL or 0.

        Arguments:
            words: m words in normal form. vectors: float32[m, d], theirs, of length 1 or zeros.
            first, second: int64[n], the two of each pair among the words.
        """
        facts = self._facts_of(words)
        a, b = facts[first].T, facts[second].T
        are_of_one_class, are_exclusive = exclude_by_class(
            a[CLASS : PLACE + 1], b[CLASS : PLACE + 1]
        )
        is_name = np.zeros(len(words), bool)
        if self._name_words is not None:
            is_name = self._name_words.among(facts[:, ID])
        names = is_name[first] & is_name[second]
        edges = (a[START] == b[START]) | (a[STOP] == b[STOP])
        grades_of_pairs = np.zeros(first.size, np.uint8)
        # Cosines are computed of the few pairs that anything else speaks for.
        to_compare = np.flatnonzero(names | edges | self._have_joins(a, b))
        if to_compare.size:
            cosines = np.einsum("ij,ij->i", vectors[first[to_compare]], vectors[second[to_compare]])
            a, b = a[:, to_compare], b[:, to_compare]
            grades = self._joined(a[ID], b[ID], cosines)
            alike = np.flatnonzero((grades < EXCLUSIVE) & (cosines >= LIKE))
            grades[alike[self._bases_joined(a[BASE_ID, alike], b[BASE_ID, alike])]] = EXCLUSIVE
            grades_of_pairs[to_compare] = grades
        for at in np.flatnonzero(grades_of_pairs).tolist():
            if self._inflections.are_forms_of_one(words[first[at]], words[second[at]]):
                grades_of_pairs[at] = 0
        grades_of_pairs[are_of_one_class] = 0
        grades_of_pairs[are_exclusive] = EXCLUSIVE
        if not to_compare.size:
            return grades_of_pairs
        rest = ((grades_of_pairs < EXCLUSIVE) & ~are_of_one_class & (names | edges))[to_compare]
        for at in to_compare[rest & (cosines >= LIKE)].tolist():
            if self._are_opposed(words[first[at]], words[second[at]], bool(names[at])):
                grades_of_pairs[at] = EXCLUSIVE
        return grades_of_pairs

    def _facts_of(self, words: list[str]) -> np.ndarray:
        """Return what is known of words, int64[m, 6], columns ID to STOP.

        Arguments:
            words: m words in normal form.
        """
        if len(self._known[0]) > _KEPT_WORDS:
            self._known = {}, {}
        facts, edges = self._known
        missing = [word for word in words if word not in facts]
        if missing:
            ids = self._ids(missing)
            bases = self._base_ids(missing, ids) if self._index is not None else ids
            with self._lock:
                for word, number, base in zip(missing, ids.tolist(), bases.tolist(), strict=True):
                    start = edges.setdefault(word[:3], len(edges))
                    stop = edges.setdefault(" " + word[-3:], len(edges))
                    of_class = self._language.classes.get(word, NO_CLASS)
                    facts[word] = (number, base, *of_class, start, stop)
        return np.array([facts[word] for word in words], np.int64).reshape(-1, 6)

    def _have_joins(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return whether the text joins pairs of words, or contrasts forms of them, bool[n].

        Arguments:
            a, b: int64[6, n], facts of the two of each pair.
        """
        if self._index is None:
            return np.zeros(a.shape[1], bool)
        with self._lock:
            joins, (of_bases, _) = self._joins, self._joins_of_bases
        counts = _counts_between(a[ID], b[ID], joins)
        have: np.ndarray = counts.sum(axis=1) > 0
        differ = np.flatnonzero(a[BASE_ID] != b[BASE_ID])
        of_forms = _counts_between(a[BASE_ID, differ], b[BASE_ID, differ], of_bases)
        have[differ[of_forms[:, 0] > 0]] = True
        return have

    def _are_opposed(self, a: str, b: str, are_names: bool) -> bool:
        """Return whether two names, or two words by their affixes, exclude each other."""
        if are_names:
            return are_other_names(a, b)
        if _UNSURE in (a.removesuffix(b), b.removesuffix(a)):
            return False
        return self._language.are_opposed(a, b)

    def _ids(self, words: list[str]) -> np.ndarray:
        """Return the ids of words in the index, int64, -1 and less of those that it lacks."""
        if self._index is None:
            return np.full(len(words), -1, np.int64)
        ids: np.ndarray = self._index.vocabulary.find(hash_texts([w.encode() for w in words]))
        return ids

    def _bases_joined(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return whether the text joins the forms of pairs of words as EXCLUSIVE, bool[n].

        `longer` and `shorter` are told by `long` and `short`, too: the joins of all forms of two
        words count together.

        Arguments:
            a, b: int64[n], ids of the bases of alike words.
        """
        if self._index is None or not a.size:
            return np.zeros(a.size, bool)
        with self._lock:
            joins, counts = self._joins_of_bases
        contrasts, joined, contrast_excess, _ = self._joins_between(a, b, joins, counts)
        often = (contrast_excess >= FORMS_JOINED) & (contrasts >= FORMS_CLEAR * joined)
        exclusive: np.ndarray = often & (a != b)
        return exclusive

    def _base_ids(self, words: list[str], ids: np.ndarray) -> np.ndarray:
        """Return the ids of the words of which words are forms, int64; else their own.

        Arguments:
            words: in normal form. ids: int64, theirs in the index.
        """
        inflections = self._inflections
        candidates: dict[str, list[str]] = {
            word: [] if word in inflections.function_words
            else sorted(b for b in inflections.candidates(word, lambda _: True) if len(b) > 2)
            for word in words
        }  # fmt: skip
        numbers = dict(zip(words, ids.tolist(), strict=True))
        missing = {base for bases in candidates.values() for base in bases} - numbers.keys()
        numbers |= dict(zip(missing, self._ids(list(missing)).tolist(), strict=True))
        forms = inflections.forms  # of the few candidates that occur
        candidates = {
            word: [base for base in bases if numbers[base] > 0 and word in forms(base)]
            for word, bases in candidates.items()
        }
        counts = {
            word: self._counts[number] if number > 0 else 0 for word, number in numbers.items()
        }
        bases = base_words(
            candidates,
            counts.__getitem__,
            lambda base, form: bool(counts[base] > BASE * counts[form]),
        )
        return np.array([numbers[bases[word]] for word in words], np.int64)

    def _joined(self, a: np.ndarray, b: np.ndarray, cosines: np.ndarray) -> np.ndarray:
        """Return how the text joins pairs of words, uint8[n]: as EXCLUSIVE, DOUBTFUL or neither, 0.

        Arguments:
            a, b: int64[n], ids of the two of each pair. cosines: float[n], of the two.
        """
        grades = np.zeros(a.size, np.uint8)
        if self._index is None:
            return grades
        with self._lock:
            joins, occurrences = self._joins, self._counts
        contrasts, joined, contrast_excess, joined_excess = self._joins_between(
            a, b, joins, occurrences
        )
        share = contrasts / np.maximum(joined, 1)
        alike = cosines >= ALIKE
        grades[alike & (joined >= FEWEST_DOUBTFUL) & (joined_excess >= DOUBTFUL_JOINED)] = DOUBTFUL
        often_contrasted = alike & ((share >= SOME) | (contrast_excess >= OFTEN))
        both = np.sqrt(occurrences[np.maximum(a, 0)] * occurrences[np.maximum(b, 0)])
        beside = _counts_between(a, b, joins)[:, 2]
        grades[(beside > 1) & (beside >= BESIDE * both) & (cosines >= LIKE)] = DOUBTFUL
        exclusive = (
            (contrasts > 1) & (contrast_excess >= JOINED) & ((share >= CLEAR) | often_contrasted)
        )
        single = (contrasts == 1) & (joined > 1) & (joined_excess >= JOINED)
        grades[exclusive | (single & alike & (share >= SINGLE))] = EXCLUSIVE
        return grades

    def _joins_between(
        self, a: np.ndarray, b: np.ndarray, joins: JoinedWords, occurrences: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return how often the text joins pairs: contrasts, all joins, and ln of either's excess.

        Arguments:
            a, b: int64[n], ids of the two of each pair. joins: of words. occurrences:
            float64[n_words], theirs.
        """
        if not joins.keys.size:
            none = np.zeros(a.size, np.int64)
            return none, none, none.astype(float), none.astype(float)
        assert self._index is not None
        counts = _counts_between(a, b, joins)
        a, b = np.maximum(a, 0), np.maximum(b, 0)
        chance = 2.0 * occurrences[a] * occurrences[b] / float(self._index.n_tokens) ** 2
        contrasts, joined = counts[:, 0], counts[:, :2].sum(axis=1)
        contrast_excess = np.log((contrasts + 0.5) / (chance * joins.totals[0] + 0.5))
        joined_excess = np.log((joined + 0.5) / (chance * joins.totals[:2].sum() + 0.5))
        return contrasts, joined, contrast_excess, joined_excess

    @cached_property
    def _counts(self) -> np.ndarray:
        assert self._index is not None
        counts: np.ndarray = self._index.word_counts().astype(np.float64)
        return counts

    @cached_property
    def _joins(self) -> JoinedWords:
        """The pairs of words that the language's patterns join."""
        index, language = self._index, self._language
        assert index is not None
        patterns = pattern_ids(index, language, COORDINATION)
        weights = patterns.weights
        kinds = (weights < CONTRAST).astype(np.uint8) + (weights < ALTERNATIVE)
        first, is_word = np.full(index.n_words, -1, np.int32), np.ones(index.n_words, bool)
        is_word[index.vocabulary.without_letters()] = is_word[0] = False
        following = np.empty(kinds.size, np.int32)
        for number, begins in enumerate(patterns.betweens[:, 0].tolist()):
            following[number], first[begins] = first[begins], number
        is_word[patterns.betweens[patterns.betweens >= 0]] = False
        arrays: list[np.ndarray] = [
            first, following, patterns.befores, patterns.betweens, kinds, patterns.passed, is_word,
        ]  # fmt: skip
        keys, of, n_tokens = [np.empty(0, np.int64)], [np.empty(0, np.uint8)], 0
        for shard in index.shards:
            tokens = shard.tokens[: max(1, _MOST_TOKENS // len(index.shards))]
            room = np.empty(tokens.size // 2, np.int64), np.empty(tokens.size // 2, np.uint8)
            n = kernel.join_words(frozen(tokens), *(frozen(array) for array in arrays), *room)
            keys.append(room[0][:n].copy())
            of.append(room[1][:n].copy())
            n_tokens += tokens.size
        return _counted(np.concatenate(keys), np.concatenate(of), n_tokens)

    @cached_property
    def _joins_of_bases(self) -> tuple[JoinedWords, np.ndarray]:
        """The pairs of words that patterns join, forms counted with their bases; occurrences."""
        assert self._index is not None
        joins, counts = self._joins, self._counts
        # Forms that are never contrasted are left out: their joins by `or` change no answer of
        # bench/exclusive_words.py and take most of the time.
        contrasted = joins.keys[joins.counts[:, 0] > 0]
        joined = each_once(np.concatenate([contrasted >> 32, contrasted & 0xFFFFFFFF]))
        base_of = np.arange(counts.size)
        base_of[joined] = self._base_ids(self._index.vocabulary.words(joined), joined)
        a, b = base_of[joins.keys >> 32], base_of[joins.keys & 0xFFFFFFFF]
        keys, places = np.unique((np.minimum(a, b) << 32) | np.maximum(a, b), return_inverse=True)
        columns = [np.bincount(places, column, keys.size) for column in joins.counts.T]
        counts_of_pairs = np.stack(columns, axis=1).astype(np.int32)
        return joins._replace(keys=keys, counts=counts_of_pairs), np.bincount(
            base_of, counts, counts.size
        )


class NameWords:
    """The words that a text writes with a capital within sentences; may be shared by threads.

    Arguments:
        index: of the text. n_bytes: of the text that are read, of all its parts.
    """

    def __init__(self, index: CorpusIndex, n_bytes: int = _SAMPLE) -> None:
        self._index, self._n_bytes = index, n_bytes
        self._lock = Lock()

    def among(self, ids: np.ndarray) -> np.ndarray:
        """Return which words are names, bool[n].

        Arguments:
            ids: int64[n], of the words, 0 and less of those that the index lacks.
        """
        with self._lock:
            names: np.ndarray = self._capitalised[np.maximum(ids, 0)]
        return names

    @cached_property
    def _capitalised(self) -> np.ndarray:
        """Which words are names, bool[n_words]."""
        written = [shard.written for shard in self._index.shards if shard.written is not None]
        numbering, parts = HashNumbering(), [np.empty(0, np.int64)]
        for text in written:
            try:
                samples = text.samples(self._n_bytes // len(written))
                parts += [_numbered(sample, numbering) for sample in samples]
            except ValueError:
                raise damaged(self._index.path) from None
        # Numbers of words and not their ids: each distinct word is looked up in the index once.
        n_distinct, numbers = len(numbering), np.concatenate(parts)
        counts_of_numbers = np.bincount(numbers, minlength=2 * n_distinct).reshape(-1, 2)
        ids = self._index.vocabulary.find(numbering.hashes())
        counts = np.zeros((self._index.n_words, 2), np.int64)
        counts[ids[ids > 0]] = counts_of_numbers[ids > 0]
        small, large = counts.T
        if large.sum() >= NOUNS * counts.sum():  # also of a text without capitals or words
            return np.zeros(small.size, bool)
        names: np.ndarray = (large >= FEWEST_CAPITALS) & (large >= NAME * (large + small))
        return names


def _numbered(text: bytes, numbering: HashNumbering) -> np.ndarray:
    """Return twice the number of each of a text's words within sentences, + 1 where capital; int64.

    Arguments:
        text: UTF-8. numbering: of the words' hashes.
    """
    words, ends = np.empty(len(text), np.uint8), np.zeros(len(text) + 1, np.int64)
    is_capital = np.empty(len(text), bool)
    n = kernel.words_within(frozen(np.frombuffer(text, np.uint8)), words, ends[1:], is_capital)
    numbers, _ = numbering.number(hash_blob(words, ends[: n + 1]))
    twice: np.ndarray = 2 * numbers.astype(np.int64) + is_capital[:n]
    return twice


def are_other_names(a: str, b: str) -> bool:
    """Return whether two names are not spellings or forms of one.

    Arguments:
        a, b: in normal form.

    >>> are_other_names("france", "norway"), are_other_names("jacob", "jacobs")
    (True, False)
    """
    return a[:SAME_START] != b[:SAME_START] and _consonants(a) != _consonants(b)


def _counts_between(a: np.ndarray, b: np.ndarray, joins: JoinedWords) -> np.ndarray:
    """Return how often patterns join pairs of words, int32[n, 3], by kinds of patterns.

    Arguments:
        a, b: int64[n], ids of the two of each pair. joins: of words.
    """
    if not joins.keys.size:
        return np.zeros((a.size, 3), np.int32)
    keys = (np.minimum(a, b) << 32) | np.maximum(a, b)
    at = np.minimum(np.searchsorted(joins.keys, keys), joins.keys.size - 1)
    known = (a > 0) & (b > 0) & (joins.keys[at] == keys)
    counts: np.ndarray = np.where(known[:, None], joins.counts[at], 0)
    return counts


def _counted(keys: np.ndarray, of: np.ndarray, n_tokens: int) -> JoinedWords:
    order = np.argsort(keys, kind="stable")
    keys, of = keys[order], of[order]
    if not keys.size:
        return JoinedWords(keys, np.zeros((0, 3), np.int32), np.zeros(3, np.int64), n_tokens)
    starts: np.ndarray = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    counts = np.stack(
        [np.add.reduceat((of == kind).astype(np.int32), starts) for kind in (0, 1, 2)], axis=1
    )
    return JoinedWords(keys[starts], counts, counts.sum(axis=0, dtype=np.int64), n_tokens)


def _consonants(name: str) -> str:
    """Return a name's consonants, one of each run, in which its spellings seldom differ."""
    letters = name.translate(_VOWELS)
    return "".join(a for a, b in zip(letters, " " + letters, strict=False) if a != b)
