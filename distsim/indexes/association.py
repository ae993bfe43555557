"""Association measures of contingency tables, for collocates and keywords.

A table has a word's occurrences inside (`both`) and in all (`of_word`), and the tokens inside
(`of_node`) and in all (`total`). Inside are the windows of a node, or a corpus that is compared
with another one. Where nothing else is said, formulas are of Evert (2008), "Corpora and
collocations", sections 4 and 5; E is the expected count of_node * of_word / total.
"""

from collections.abc import Callable

import numpy as np


def expected(both: np.ndarray, of_node: float, of_word: np.ndarray, total: float) -> np.ndarray:
    """Return the count expected by chance, of_node * of_word / total, float64.

    Arguments:
        both: float64[n], counts of words near the node.
        of_node: number of places near the node.
        of_word: float64[n], counts of the words in the corpus.
        total: number of places in the corpus.
    """
    chance: np.ndarray = of_word * (of_node / total) + 0.0 * both
    return chance


def mutual_information(
    both: np.ndarray, of_node: float, of_word: np.ndarray, total: float
) -> np.ndarray:
    """Return the pointwise mutual information log2(both / E), in bits (Church and Hanks 1990).

    Arguments:
        both: float64[n], counts of words near the node.
        of_node: number of places near the node.
        of_word: float64[n], counts of the words in the corpus.
        total: number of places in the corpus.
    """
    with np.errstate(divide="ignore"):
        found: np.ndarray = np.log2(both / expected(both, of_node, of_word, total))
    return found


def t_score(both: np.ndarray, of_node: float, of_word: np.ndarray, total: float) -> np.ndarray:
    """Return (both - E) / sqrt(both), E by `expected` (Church et al. 1991).

    Arguments:
        both: float64[n], counts of words near the node.
        of_node: number of places near the node.
        of_word: float64[n], counts of the words in the corpus.
        total: number of places in the corpus.
    """
    found = both - expected(both, of_node, of_word, total)
    score: np.ndarray = np.divide(found, np.sqrt(both), out=np.zeros_like(found), where=both > 0)
    return score


def z_score(both: np.ndarray, of_node: float, of_word: np.ndarray, total: float) -> np.ndarray:
    """Return (both - E) / sqrt(E), E by `expected` (Dennis 1965).

    Arguments:
        both: float64[n], counts of words near the node.
        of_node: number of places near the node.
        of_word: float64[n], counts of the words in the corpus.
        total: number of places in the corpus.
    """
    chance = expected(both, of_node, of_word, total)
    score: np.ndarray = (both - chance) / np.sqrt(chance)
    return score


def log_likelihood(
    both: np.ndarray, of_node: float, of_word: np.ndarray, total: float
) -> np.ndarray:
    """Return Dunning's (1993) G2 of all four cells, 2 sum O ln(O / E), negative where both < E.

    Arguments:
        both: float64[n], counts of words near the node.
        of_node: number of places near the node.
        of_word: float64[n], counts of the words in the corpus.
        total: number of places in the corpus.
    """
    rows = np.array([of_node, total - of_node])[:, None]
    columns = np.array([of_word, total - of_word])
    chances = rows[:, None] * columns / total
    inside = np.array([both, of_node - both])
    observed = np.array([inside, columns - inside])
    return _signed(observed.reshape(4, -1), chances.reshape(4, -1))


def log_likelihood_2(
    both: np.ndarray, of_node: float, of_word: np.ndarray, total: float
) -> np.ndarray:
    """Return G2 of the two cells of the word, inside and outside, negative where both < E.

    The keyness of Rayson and Garside (2000), who leave out the cells of all other words.

    Arguments:
        both: float64[n], counts of words near the node.
        of_node: number of places near the node.
        of_word: float64[n], counts of the words in the corpus.
        total: number of places in the corpus.
    """
    chance = expected(both, of_node, of_word, total)
    return _signed(np.array([both, of_word - both]), np.array([chance, of_word - chance]))


def log_ratio(both: np.ndarray, of_node: float, of_word: np.ndarray, total: float) -> np.ndarray:
    """Return log2 of the word's share inside divided by its share outside (Hardie 2014).

    A count of 0 is taken for 0.5.

    Arguments:
        both: float64[n], counts of words near the node.
        of_node: number of places near the node.
        of_word: float64[n], counts of the words in the corpus.
        total: number of places in the corpus.
    """
    inside = np.maximum(both, 0.5) / of_node
    outside = np.maximum(of_word - both, 0.5) / (total - of_node)
    ratio: np.ndarray = np.log2(inside / outside)
    return ratio


def _signed(observed: np.ndarray, chances: np.ndarray) -> np.ndarray:
    from scipy.special import xlogy  # a slow import

    ratios = np.divide(observed, chances, out=np.ones_like(chances), where=chances > 0)
    found: np.ndarray = 2 * xlogy(observed, ratios).sum(axis=0)
    signed: np.ndarray = np.where(observed[0] < chances[0], -1, 1) * np.maximum(found, 0.0)
    return signed


def log_dice(both: np.ndarray, n_node: float, of_word: np.ndarray) -> np.ndarray:
    """Return 14 + log2(2 both / (n_node + of_word)) (Rychlý 2008), at most 14.

    The word is in a window several times where there are more of `both`; Dice's coefficient is 1.

    Arguments:
        both: occurrences of each word in the windows.
        n_node: occurrences of the node itself, not tokens of its windows.
        of_word: occurrences of each word.
    """
    score: np.ndarray = 14 + np.log2(np.minimum(2 * both / (n_node + of_word), 1))
    return score


def adjusted_p(scores: np.ndarray) -> np.ndarray:
    """Return p of signed log-likelihoods (chi-squared, one degree), adjusted by Holm (1979).

    Arguments:
        scores: float64, of all tests.
    """
    from scipy.special import chdtrc

    order = np.argsort(-np.abs(scores), kind="stable")
    steps = chdtrc(1, np.abs(scores[order])) * (scores.size - np.arange(scores.size))
    adjusted = np.empty(scores.size)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


Measured = Callable[[np.ndarray, float, np.ndarray, float], np.ndarray]
TABLE_MEASURES: dict[str, Measured] = {
    "llr": log_likelihood,
    "llr-2": log_likelihood_2,
    "mi": mutual_information,
    "t": t_score,
    "z": z_score,
}
