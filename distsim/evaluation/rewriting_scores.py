"""SARI of a corpus and of sentences, BLEU and PRÉCIS of rewritten sentences."""

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

_MAX_N = 4
_MEANT_13A = (("<skipped>", ""), ("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
_TOKENS_13A = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"([\{-\~\[-\` -\&\(-\+\:-\@\/])", r" \1 "),
        (r"([^0-9])([\.,])", r"\1 \2 "),
        (r"([\.,])([^0-9])", r" \1 \2"),
        (r"([0-9])(-)", r"\1 \2 "),
    )
]
PRECIS_LAMBDA = 10.0


def ngrams(tokens: Sequence[str], length: int) -> list[tuple[str, ...]]:
    """Return the n-grams of a sentence, in order.

    >>> ngrams("a b c".split(), 2)
    [('a', 'b'), ('b', 'c')]
    """
    return [tuple(tokens[i : i + length]) for i in range(len(tokens) - length + 1)]


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


# What corpus-level SARI is computed from and how, for signatures.
SARI_SIGNATURE = "sari:corpus|delete:f1|0/0:0|tokens:13a|case:lower"


class SariCounts:
    """Counts of corpus-level SARI of one sentence's rewritings, as EASSE defines it.

    SARI (Xu et al. 2016, section 4) is the mean of the F1 of adding, keeping and deleting n-grams,
    each the mean over n = 1 to 4. At the level of a corpus (Alva-Manchego et al. 2019, EASSE) the
    counts are summed over all sentences before the F1 is taken. N-grams of the source count once
    for each reference in keeping and deleting; added ones count once.

    Arguments:
        source: tokens of the sentence, by `sari_tokens`.
        references: tokens of each reference.

    >>> counts = SariCounts("a b c".split(), ["a c".split()])
    >>> corpus_sari(counts.counts_of("a c".split()))
    (0.25, 0.25, 0.75)
    """

    def __init__(self, source: Sequence[str], references: Sequence[Sequence[str]]) -> None:
        self._parts = []
        for length in range(1, _MAX_N + 1):
            of_references = Counter(
                gram for reference in references for gram in ngrams(reference, length)
            )
            grams = Counter(ngrams(source, length))
            of_source = Counter({gram: n * len(references) for gram, n in grams.items()})
            self._parts.append((of_source, of_references))
        self._n = len(references)

    def counts_of(self, tokens: Sequence[str]) -> np.ndarray:
        """Return the counts of a rewriting, float64[24]; sums of them are counts of a corpus.

        For adding, keeping and deleting, and n = 1 to 4 of each: n-grams on which the rewriting
        and the references agree, then those of the rewriting plus those of the references.
        """
        rows = np.empty((3, _MAX_N, 2))
        for k, (source, references) in enumerate(self._parts):
            mine = Counter({g: n * self._n for g, n in Counter(ngrams(tokens, k + 1)).items()})
            added, to_add = mine.keys() - source.keys(), references.keys() - source.keys()
            rows[0, k] = len(added & to_add), len(added) + len(to_add)
            for row, (done, wanted) in (
                (rows[1], (source & mine, source & references)),
                (rows[2], (source - mine, source - references)),
            ):
                row[k] = (done & wanted).total(), done.total() + wanted.total()
        return rows.reshape(-1)


def sari_tokens(text: str) -> list[str]:
    """Return the tokens of a sentence for corpus-level SARI: lower case, 13a.

    13a is the tokenisation of mteval-v13a and the default of sacrebleu (Post 2018).

    >>> sari_tokens("He said: <skipped> 3,000.")
    ['he', 'said', ':', '3,000', '.']
    """
    text = text.lower()
    for written, meant in _MEANT_13A:
        text = text.replace(written, meant)
    text = f" {text} "
    for pattern, replacement in _TOKENS_13A:
        text = pattern.sub(replacement, text)
    return text.split()


def corpus_sari(counts: np.ndarray) -> tuple[float, float, float]:
    """Return the F1 of adding, keeping and deleting, each 0 to 1; SARI is their mean.

    Arguments:
        counts: float64[24], the sum of `SariCounts.of` over sentences. 0/0 is 0.
    """
    right, total = counts.reshape(3, _MAX_N, 2).transpose(2, 0, 1)
    add, keep, delete = (2 * right / np.maximum(total, 1e-300)).mean(axis=1).tolist()
    return add, keep, delete


def sari_slope(counts: np.ndarray) -> np.ndarray:
    """Return the derivative of corpus-level SARI by each of its counts, float64[24].

    Arguments:
        counts: float64[24], as `corpus_sari` takes them.
    """
    right, total = counts.reshape(-1, 2).T
    safe = np.maximum(total, 1e-300)
    slopes = np.column_stack([2 / safe, -2 * right / safe / safe]) / (3 * _MAX_N)
    return np.where(total[:, None] > 0, slopes, 0.0).reshape(-1)


class SentenceSari:
    """SARI of rewritings of one sentence (Xu et al. 2016, section 4); 0/0 counts as 0.

    The mean of the F1 of n-grams added, the F1 of those kept and the precision of those deleted,
    each over n of 1 to 4; kept and deleted n-grams count by the share of references that agree.
    Its mean over sentences cannot be compared with corpus-level SARI: it rewards one change of any
    kind in each sentence.

    Arguments:
        source: tokens of the sentence.
        references: tokens of each reference.

    >>> source = "About 95 species are currently accepted ."
    >>> references = ["About 95 species are currently known .",
    ...     "About 95 species are now accepted .", "95 species are now accepted ."]
    >>> sari = SentenceSari(source.split(), [one.split() for one in references])
    >>> round(sari.score("About 95 species are now agreed .".split()), 4)
    0.589
    """

    def __init__(self, source: Sequence[str], references: Sequence[Sequence[str]]) -> None:
        self._n = len(references)
        source = [token.lower() for token in source]
        self._parts = []
        for length in range(1, _MAX_N + 1):
            of_source = Counter(ngrams(source, length))
            of_references = Counter(
                gram
                for reference in references
                for gram in ngrams([t.lower() for t in reference], length)
            )
            kept = {
                gram: min(times * self._n, of_references[gram])
                for gram, times in of_source.items()
                if of_references[gram]
            }
            to_add = sum(gram not in of_source for gram in of_references)
            self._parts.append((of_source, of_references, kept, to_add))

    def parts(self, tokens: Sequence[str]) -> tuple[float, float, float]:
        """Return (F1 of added, F1 of kept, precision of deleted n-grams), each 0 to 1."""
        tokens = [token.lower() for token in tokens]
        added = kept = deleted = 0.0
        for length, (of_source, of_references, good, to_add) in enumerate(self._parts, 1):
            mine = Counter(ngrams(tokens, length))
            precision = recall = loss = 0.0
            n_kept = n_deleted = 0
            for gram, times in of_source.items():
                here = mine.get(gram, 0)
                if here:
                    n_kept += 1
                    both = min(times, here) * self._n
                    agreed = min(both, of_references.get(gram, 0))
                    precision += agreed / both
                    if gram in good:
                        recall += agreed / good[gram]
                if times > here:
                    n_deleted += 1
                    deleted_grams = (times - here) * self._n
                    loss += max(deleted_grams - of_references.get(gram, 0), 0) / deleted_grams
            kept += _f1(precision / n_kept if n_kept else 0.0, recall / len(good) if good else 0.0)
            deleted += loss / n_deleted if n_deleted else 0.0
            new = [gram for gram in mine if gram not in of_source]
            right = sum(gram in of_references for gram in new)
            added += _f1(right / len(new) if new else 0.0, right / to_add if to_add else 0.0)
        return added / _MAX_N, kept / _MAX_N, deleted / _MAX_N

    def score(self, tokens: Sequence[str]) -> float:
        """Return SARI, 0 to 1."""
        return sum(self.parts(tokens)) / 3


class Bleu:
    """BLEU of one sentence's rewritings against several references, counts smoothed by one.

    Lin and Och 2004: one is added to the counts of 2-grams and longer. The nearest reference's
    length is the one that brevity is measured by; of two as near the shorter.

    Arguments:
        references: tokens of each reference.

    >>> bleu = Bleu([["a", "b", "c", "d"]])
    >>> bleu.score(["a", "b", "c", "d"]), round(bleu.score(["a", "b"]), 3)
    (1.0, 0.368)
    >>> round(corpus_bleu(bleu.counts(["a", "b", "c", "d", "e"]))[0], 3)
    0.669
    """

    def __init__(self, references: Sequence[Sequence[str]]) -> None:
        self._lengths = sorted({len(reference) for reference in references})
        self._highest_counts = []
        for length in range(1, _MAX_N + 1):
            highest_counts: Counter[tuple[str, ...]] = Counter()
            for reference in references:
                highest_counts |= Counter(ngrams(reference, length))
            self._highest_counts.append(highest_counts)

    def score(self, tokens: Sequence[str]) -> float:
        """Return BLEU, 0 to 1."""
        right, tried, (n, nearest) = np.split(self.counts(tokens), [_MAX_N, 2 * _MAX_N])
        if not right[0]:
            return 0.0
        smoothed = np.append(right[:1] / tried[:1], (right[1:] + 1) / (tried[1:] + 1))
        return math.exp(min(0.0, 1 - nearest / n) + float(np.log(smoothed).mean()))

    def counts(self, tokens: Sequence[str]) -> np.ndarray:
        """Return the counts of a rewriting, float64[10]; sums of them are counts of a corpus.

        For n = 1 to 4 n-grams that a reference has, then all n-grams; tokens, and those of the
        nearest reference.

        Arguments:
            tokens: the tokens of the rewriting.
        """
        out = np.zeros(2 * _MAX_N + 2)
        for k, highest_counts in enumerate(self._highest_counts):
            mine = Counter(ngrams(tokens, k + 1))
            out[k] = sum(min(times, highest_counts[gram]) for gram, times in mine.items())
            out[_MAX_N + k] = mine.total()
        nearest = min(self._lengths, key=lambda length: (abs(length - len(tokens)), length))
        out[-2:] = len(tokens), nearest
        return out


def corpus_bleu(counts: np.ndarray) -> tuple[float, np.ndarray]:
    """Return (BLEU of a corpus, 0 to 1; its derivative by each count, float64[10]).

    Papineni et al. 2002, without smoothing.

    Arguments:
        counts: float64[10], the sum of `Bleu.counts` over sentences.
    """
    right, tried, (n, nearest) = np.split(counts, [_MAX_N, 2 * _MAX_N])
    if not right.all():
        return 0.0, np.zeros(counts.size)
    brevity = min(0.0, 1 - nearest / n)
    bleu = math.exp(brevity + float(np.log(right / tried).mean()))
    of_lengths = (nearest / n / n, -1 / n) if brevity < 0 else (0.0, 0.0)
    slope = np.concatenate([1 / right / _MAX_N, -1 / tried / _MAX_N, of_lengths])
    return bleu, bleu * slope


def verbosity(source_words: float, words: float, phi: float, weight: float) -> float:
    """Return the factor of PRÉCIS for c words of i: e^(weight (phi - c/i)) where c/i >= phi.

    Thesis 4.2.2; the weight (lambda) is 10 there.

    Arguments:
        phi: the share of words that is asked for.

    >>> verbosity(10, 7, 0.75, 10.0), round(verbosity(10, 10, 0.75, 10.0), 4)
    (1.0, 0.0821)
    """
    share = words / max(source_words, 1)
    return math.exp(weight * (phi - share)) if share >= phi else 1.0


class Precis:
    """PRÉCIS of one sentence's rewritings: BLEU, less where they are longer than asked.

    Arguments:
        source: tokens of the sentence.
        references: tokens of each.
        phi: the share of the source's words that is asked for.
        weight: lambda, 10 in the thesis.
    """

    def __init__(
        self,
        source: Sequence[str],
        references: Sequence[Sequence[str]],
        phi: float,
        weight: float = PRECIS_LAMBDA,
    ) -> None:
        self._bleu = Bleu(references)
        self._source, self._phi, self._weight = len(source), phi, weight

    def score(self, tokens: Sequence[str]) -> float:
        """Return PRÉCIS, 0 to 1."""
        factor = verbosity(self._source, len(tokens), self._phi, self._weight)
        return self._bleu.score(tokens) * factor
