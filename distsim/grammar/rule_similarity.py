"""One number by which rules can be sorted, sim_rule: how alike the two sides are in all.

The weighted mean of three likenesses of the sides, gaps left out: the cosine of the sides as
wholes, their soft cosine as sets of words (Sidorov et al. 2014, Soft Similarity and Soft Cosine
Measure), in which rare words weigh more, and the letters they share. Three things hold it down: a
content word without a counterpart on the other side, words that stand on another side of the gaps,
and words that may exclude each other, which the text joins by `or` often (`sell or buy`). Opposed
sides are held down most: words that exclude each other (`north` and `south`, `two` and `three`, two
names), other numbers, a negation on one side.
"""

from typing import NamedTuple

import numpy as np

from distsim.comparison.opposites.exclusive import DOUBTFUL, EXCLUSIVE, ExclusiveWords
from distsim.comparison.opposites.language import ORDINAL
from distsim.comparison.table import SignatureTable
from distsim.corpus.inflections import Inflections, language_of
from distsim.corpus.kernels import render_phrases
from distsim.corpus.normaliser import Normaliser, unescape
from distsim.corpus.vocabulary import HashNumbering, hash_blob, hash_texts
from distsim.grammar.block import RuleBlock
from distsim.grammar.kernels.phrase_pairs import has_unknown_alone, hash_spans
from distsim.grammar.kernels.rule_similarity import compare_sides, facing_words, words_of_sides
from distsim.grammar.tokens import UNKNOWN, BlockWords, LookedUpWords, WordForms
from distsim.kernels.compiled import frozen
from distsim.signatures.estimates import KnownPhrases

# Chosen by `bench/gapped.py` and `bench/judged_rules.py` with the table of the English Wikipedia.
WHOLE, WORDS, LETTERS = 0.4, 0.6, 0.16  # weights of the three likenesses
LIKE = 0.3  # cosine from which a word is a counterpart of another
MOST_ALONE = 0.5  # rules with a word alone, or with most words moved, stay below this
MOVED = 0.3  # lost where all words change sides with all gaps
MOSTLY = 0.5  # share of such changes from which a rule stays below MOST_ALONE
MOST_OPPOSED = 0.001  # rules whose sides are opposed stay below this
NEAR = 0.1  # how much less alike than the closest word one may be that excludes a word
MOST_FACING = 16  # words of a side that is looked through for words that exclude each other
_KEPT_WORDS = 1 << 17
LEAST = 0.1  # lower values are squeezed between 0 and this
RARE = 0.003  # a word with this share of the text weighs half as much as a rare one
CONTENT = 1 / 1100  # words with a smaller share of the text are content words, but function words
NEGATIONS = frozenset((
    "not", "n't", "no", "never", "none", "nobody", "nothing", "neither", "nor", "without", "cannot",
    "non", "nowhere", "'t",
))  # fmt: skip
MAY_NEGATE = frozenset((  # that stand for a negation on the other side: `failed to`, `did not`
    "fail", "fails", "failed", "failing", "failure", "unable", "lack", "lacks", "lacked", "lacking",
    "refuse", "refuses", "refused", "refusing", "hardly", "barely", "scarcely", "seldom", "rarely",
    "little", "few", "instead", "rather", "absence", "avoid", "avoids", "avoided", "impossible",
))  # fmt: skip
_NORMALISER = Normaliser()


class _WordMarks(NamedTuple):
    """What the letters of a word tell.

    is_plain: whether it has letters or digits. is_content: whether it is plain and no function
    word. figures: the hash of a word with digits, equal for those of one number, else 0. negates:
    as _negates returns.
    """

    is_plain: bool
    is_content: bool
    figures: int
    negates: int


class SideScores(NamedTuple):
    """Similarities of the whole sides of a block's rules.

    wholes: float64[n], the cosine of the sides without their gaps, NaN without one. rules:
    float64[n], sim_rule, 0 to 1. parts: float64[n, 5], as compare_sides returns them.
    composed: bool[n], whether a side is made of its words. has_both:
    bool[n], whether both sides have words.
    """

    wholes: np.ndarray
    rules: np.ndarray
    parts: np.ndarray
    composed: np.ndarray
    has_both: np.ndarray


class RuleSimilarity:
    """Similarity of rules' whole sides by a table: their cosine, and sim_rule; thread-safe.

    Arguments:
        table: the signatures.
        estimate: how cosines are estimated; what serves the table best where None.
    """

    def __init__(self, table: SignatureTable, estimate: str | None = None) -> None:
        self.table = table
        self._marks: dict[bytes, _WordMarks] = {}
        self._estimator = table.estimator(estimate=estimate)
        is_word = table.token_counts() == 1
        language = language_of(table.hashes[is_word], table.strengths[is_word])
        self._exclusive = ExclusiveWords(table, text_language=language)
        self._function_words = Inflections.open(language).function_words
        self._n_tokens = max(1, int(table.strengths[is_word].sum(dtype=np.int64)))

    def compare(self, block: RuleBlock, looked_up: LookedUpWords) -> "SideScores":
        """Return the similarities of the sides of all rules of a block.

        Arguments:
            block: of rules. looked_up: its words, by the table.
        """
        words, forms = looked_up
        text, offsets = frozen(forms.text), frozen(forms.offsets)
        firsts, lengths, symbols, before, n_gaps, in_order = map(
            frozen, words_of_sides(frozen(block.token_stops), frozen(block.gaps))
        )
        word_numbers = frozen(words.numbers[symbols])
        has_words = lengths > 0
        if not has_words.any():
            rules = np.where(in_order, 1.0, MOST_ALONE)
            none = np.zeros(len(block), bool)
            nothing = np.zeros((len(block), 5))
            return SideScores(np.full(len(block), np.nan), rules, nothing, none, none)
        filled = np.flatnonzero(has_words.ravel())
        starts, counts = frozen(firsts.ravel()[filled]), frozen(lengths.ravel()[filled])
        side_numbers, seen = HashNumbering().number(
            hash_spans(starts, counts, word_numbers, text, offsets)[0]
        )
        sides, ends = render_phrases(
            word_numbers, frozen(starts[seen]), frozen(counts[seen]), text, offsets
        )
        pairs = np.zeros((len(block), 2), np.int64)  # a side without words is not looked at
        pairs.ravel()[filled] = side_numbers
        rows = self.table.find_rendered(sides, ends)
        known_phrases = self._estimator.of_rows(rows, sides, ends[:-1], ends[1:])
        has_own = rows >= 0
        has_own[has_own] = self.table.has_own_contexts(rows[has_own])
        composed = ~has_own[pairs].all(axis=1)
        form_hashes = frozen(hash_blob(forms.text, forms.offsets))
        wholes = self._wholes(known_phrases, pairs)
        spans = np.column_stack([firsts[:, 0], lengths[:, 0], firsts[:, 1], lengths[:, 1]])
        unknown = frozen((forms.changes & UNKNOWN) > 0)
        lone = has_unknown_alone(frozen(spans), word_numbers, unknown, form_hashes)
        wholes[composed & lone] = np.nan
        wholes[~has_words.all(axis=1)] = np.nan
        of_words = self._of_words(words, forms)
        form_numbers = frozen(np.unique(form_hashes, return_inverse=True)[1].astype(np.int64))
        exclusive, doubtful = self._exclusive_pairs(
            words, forms, form_numbers, of_words[-1], (firsts, lengths, word_numbers)
        )
        parts = compare_sides(
            firsts, lengths, word_numbers, before, n_gaps, in_order, form_hashes, form_numbers,
            *of_words, frozen(sides), frozen(ends), frozen(pairs), frozen(has_own), frozen(wholes),
            frozen(exclusive), frozen(doubtful), LIKE, NEAR,
        )  # fmt: skip
        rules = _sim_rule(wholes, parts)
        without = ~has_words.any(axis=1)  # gaps alone
        rules[without] = np.where(in_order[without], 1.0, MOST_ALONE)
        has_both: np.ndarray = lengths.min(axis=1) > 0
        return SideScores(wholes, rules, parts, composed & ~np.isnan(wholes), has_both)

    def _wholes(self, sides: KnownPhrases, pairs: np.ndarray) -> np.ndarray:
        """Return the cosine of the sides of each rule, float64[n], NaN where one is unknown.

        Arguments:
            sides: the distinct ones. pairs: int64[n, 2], numbers of a rule's sides.
        """
        first, second = pairs.T
        wholes = np.where(first == second, 1.0, np.nan)
        known = np.flatnonzero((first != second) & sides.known[first] & sides.known[second])
        wholes[known] = self._estimator.cosines(sides, sides, first[known], second[known])
        return wholes

    def _exclusive_pairs(
        self, words: BlockWords, forms: WordForms, form_numbers: np.ndarray, vectors: np.ndarray,
        sides: tuple[np.ndarray, ...],
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """Return the pairs of facing words that exclude each other, and those that may do so.

        Pairs are as facing_words has them.

        Arguments:
            words: of a block. forms: their normal forms. form_numbers: the number of each. vectors:
            theirs. sides: first word and words of the rules' sides, and the word at each place.
        """
        is_plain = np.array([marks.is_plain for marks in self._marks_of(words.texts)], bool)
        keys: np.ndarray = facing_words(*sides, form_numbers, frozen(is_plain), MOST_FACING)
        if not keys.size:
            return keys, keys
        n_forms = int(form_numbers.max()) + 1
        of_form = np.zeros(n_forms, np.int64)
        of_form[form_numbers] = np.arange(form_numbers.size)
        text, offsets = forms.text.tobytes(), forms.offsets.tolist()
        texts = [text[offsets[at] : offsets[at + 1]].decode() for at in of_form.tolist()]
        grades = self._exclusive.among(texts, vectors[of_form], keys >> 32, keys & 0xFFFFFFFF)
        return keys[grades == EXCLUSIVE], keys[grades == DOUBTFUL]

    def _of_words(self, words: BlockWords, forms: WordForms) -> tuple[np.ndarray, ...]:
        """Return what compare_sides takes of words: weights, content, figures, negations, vectors.

        Arguments:
            words: of a block. forms: their normal forms.
        """
        rows = self.table.find_rendered(forms.text, forms.offsets)
        known_words = self._estimator.of_rows(
            rows, forms.text, forms.offsets[:-1], forms.offsets[1:]
        )
        vectors = np.ascontiguousarray(known_words.unit_vectors, np.float32)
        vectors[~known_words.known] = 0.0
        counts = np.where(rows >= 0, self.table.strengths[np.maximum(rows, 0)], 0)
        shares = counts / self._n_tokens
        known = self._marks_of(words.texts)
        figures = np.array([marks.figures for marks in known], np.uint64)
        negates = np.array([marks.negates for marks in known], np.uint8)
        is_content = np.array([marks.is_content for marks in known], bool)
        return tuple(map(frozen, (
            RARE / (RARE + shares), is_content & (shares < CONTENT), figures, negates, vectors,
        )))  # fmt: skip

    def _marks_of(self, words: list[bytes]) -> list["_WordMarks"]:
        """Return what the letters of words tell.

        Arguments:
            words: UTF-8 of each.
        """
        if len(self._marks) > _KEPT_WORDS:
            self._marks = {}
        known = self._marks
        missing = [word for word in words if word not in known]
        texts = [unescape(word.decode()) for word in missing]  # `&#91;` has no digits
        small = list(map(_NORMALISER.characters, texts))  # ’t is 't, as it is looked up
        has_digits = [any(map(str.isdigit, text)) for text in texts]
        hashes = hash_texts([ORDINAL.sub("", text).encode() for text in small]).tolist()
        for n, word in enumerate(missing):
            is_plain = any(map(str.isalnum, texts[n]))
            known[word] = _WordMarks(
                is_plain, is_plain and small[n] not in self._function_words,
                hashes[n] if has_digits[n] else 0, _negates(small[n]),
            )  # fmt: skip
        return [known[word] for word in words]


def _negates(word: str) -> int:
    """Return 1 of a negation, 2 of a word that may stand for one, 0 of others.

    Arguments:
        word: normalised.
    """
    if word in NEGATIONS or word.endswith("n't"):
        return 1
    return 2 if word in MAY_NEGATE else 0


def _sim_rule(wholes: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Return sim_rule, float64[n], 0 to 1.

    Arguments:
        wholes: float64[n], the cosine of the sides. parts: float64[n, 5], as compare_sides
            returns them.
    """
    soft, letters, alone, moved, opposed = parts.T
    total = WHOLE * np.nan_to_num(wholes) + WORDS * soft + LETTERS * letters
    values = total / (WHOLE + WORDS + LETTERS) - MOVED * moved
    values = np.where(
        values < LEAST, LEAST * np.exp(np.minimum(values, LEAST) / LEAST - 1.0), values
    )
    held = (alone > 0) | (moved >= MOSTLY)
    values = np.where(held, MOST_ALONE * np.tanh(values / MOST_ALONE), values)
    similarity: np.ndarray = np.where(opposed > 0, MOST_OPPOSED * values, values)
    return similarity
