"""Keywords of an index against another one, with their range and dispersion."""

from typing import NamedTuple

import numpy as np

from distsim.base.arguments import whole_number
from distsim.base.errors import ParameterError
from distsim.base.results import Results
from distsim.indexes.association import adjusted_p, log_likelihood_2, log_ratio
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.kernels.dispersion import disperse
from distsim.indexes.shard import damaged
from distsim.kernels.compiled import frozen


class Keyword(NamedTuple):
    """A word with its counts here and there, scores, and its spread over the documents here.

    log_likelihood: of two cells, negative where the word is rarer here. p: of it, adjusted by Holm.
    dp, dp_norm: Gries' deviation of proportions, and divided by its maximum; None at count 0.

    >>> keywords(index, index, k=1)[0].log_likelihood
    0.0
    """

    word: str
    here: int
    there: int
    log_likelihood: float
    log_ratio: float
    p: float
    documents: int
    dp: float | None
    dp_norm: float | None


def keywords(
    index: CorpusIndex, against: CorpusIndex, *, min_count: int = 5, k: int | None = 50
) -> Results[Keyword]:
    """Return the words whose frequency differs most, by the size of their log-likelihood.

    Arguments:
        index: the corpus, one folder.
        against: the reference corpus, indexed with the same options.
        min_count: words rarer than this in both together are not compared.
        k: how many; all where None.

    Raises:
        ParameterError: the two were not built with the same options, or an index is empty.

    >>> keywords(index, index, k=1)[0].p
    1.0
    """
    whole_number(min_count, "`min_count`", 1)
    if index.options.normaliser != against.options.normaliser:
        raise ParameterError(
            f"{index.path} and {against.path} were built with different normalisers, so their "
            "words differ: build both with the same options"
        )
    of_other = against.vocabulary.find(index.vocabulary.word_hashes()[1:])
    only_there = np.setdiff1d(np.arange(1, against.n_words), of_other)
    counts, other_counts = (one.word_counts().astype(np.float64) for one in (index, against))
    here = np.concatenate([counts[1:], np.zeros(only_there.size)])
    shared = np.where(of_other < 0, 0.0, other_counts[np.maximum(of_other, 0)])
    there = np.concatenate([shared, other_counts[only_there]])
    tested = np.flatnonzero(here + there >= min_count)
    here, there = here[tested], there[tested]
    table = here, float(index.n_tokens), here + there, float(index.n_tokens + against.n_tokens)
    scores, ratios = log_likelihood_2(*table), log_ratio(*table)
    best = np.lexsort((tested, -np.abs(scores)))[:k]
    p = adjusted_p(scores[best], tested.size)
    places = tested[best] + 1
    known = places < index.n_words
    words = index.vocabulary.words(places[known])
    words += against.vocabulary.words(only_there[places[~known] - index.n_words])
    text = dict(zip([*places[known], *places[~known]], words, strict=True))
    spread = dispersion(index, places[known & (here[best] > 0)])
    nothing = (0, None, None)
    return Results(
        Keyword(
            text[place], int(here[i]), int(there[i]), float(scores[i]), float(ratios[i]), chance,
            *spread.get(place, nothing),
        )
        for i, place, chance in zip(best.tolist(), places.tolist(), p.tolist(), strict=True)
    )  # fmt: skip


def dispersion(
    index: CorpusIndex, words: np.ndarray
) -> dict[int, tuple[int, float | None, float | None]]:
    """Return (documents, DP, normalised DP) of words by id.

    DP is half the sum, over documents, of |share of the word - share of all tokens| (Gries 2008);
    normalised, it is divided by 1 - the smallest share (Lijffijt and Gries 2012).

    Arguments:
        index: the corpus, one folder of one shard.
        words: int64, ids of words that occur.
    """
    if len(index.shards) != 1:
        raise ParameterError("dispersion needs an index of one shard: raise `shard_tokens`")
    (shard,) = index.shards
    first = shard.document_starts
    ascending = np.all(np.diff(first.astype(np.int64)) > 0)
    if first.size == 0 or first[-1] >= shard.sentence_starts.size or not ascending:
        raise damaged(index.path)
    starts = shard.sentence_starts[first].astype(np.int64)
    sizes = np.diff(np.append(starts, shard.tokens.size))
    if np.any(sizes <= 0):
        raise damaged(index.path)
    document_of = np.repeat(np.arange(starts.size, dtype=np.int32), sizes)
    lengths = np.add.reduceat(shard.sentence_lengths(), first.astype(np.int64))
    shares = lengths / lengths.sum()
    ranges, deviations = disperse(
        frozen(document_of), shard.suffixes, shard.word_starts, frozen(shares), frozen(words)
    )
    if np.any(ranges < 0):
        raise damaged(index.path)
    largest = 1 - float(shares.min())
    return {
        word: (n, dp, dp / largest if largest else 0.0)
        for word, n, dp in zip(words.tolist(), ranges.tolist(), deviations.tolist(), strict=True)
    }
