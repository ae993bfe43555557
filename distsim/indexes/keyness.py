"""Keywords of an index against another one, with their spread over its documents."""

from typing import NamedTuple, get_args

import numpy as np

from distsim.base.arguments import AnyPath, in_range, whole_number
from distsim.base.choices import KeywordMeasure
from distsim.base.errors import ParameterError
from distsim.base.results import Results
from distsim.indexes.association import (
    adjusted_p,
    log_likelihood,
    log_likelihood_2,
    log_ratio,
)
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.indexes.dispersion import Documents, Spread


class Keyword(NamedTuple):
    """A word that is more, or less, frequent here than there.

    word: in normal form. here, there: its counts. log_likelihood: G2, negative where the word is
    rarer here. log_ratio: log2 of the ratio of its shares. p: of log_likelihood, adjusted by Holm
    for all compared words. documents: those here that contain it. dp, dp_norm: deviation of
    proportions (Gries 2008), and normalised (Lijffijt and Gries 2012).

    >>> from pathlib import Path
    >>> _ = Path(folder / "a.txt").write_text("tea and more tea")
    >>> keywords(index, CorpusIndex.build(folder / "a.txt", folder / "a.index"), k=1)[0].word
    ','
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
    index: CorpusIndex | AnyPath,
    against: CorpusIndex | AnyPath,
    *,
    measure: KeywordMeasure = "llr-2",
    negative: bool = False,
    min_count: int = 5,
    max_p: float = 1.0,
    words_only: bool = False,
    k: int | None = 50,
) -> Results[Keyword]:
    """Return the words that are more frequent than in another corpus, the highest score first.

    Arguments:
        index: the corpus; `index.of_layer("lemma")` for its lemmas.
        against: the reference corpus, indexed with the same options.
        measure: what orders them: `llr-2`: log-likelihood of two cells; `llr`: of four;
            `log-ratio`. Formulas: distsim.indexes.association.
        negative: the words that are less frequent here instead, the lowest score first.
        min_count: words rarer than this in both together are not compared.
        max_p: leave out words with a higher adjusted p.
        words_only: leave out what has no letter or digit.
        k: maximum number of results; None: all.

    Raises:
        ParameterError: the two were not built with the same options, or there is no such measure.

    >>> keywords(index, index, k=1)
    []
    """
    index = opened_index(index)
    against = opened_index(against)
    if measure not in get_args(KeywordMeasure):
        choices = ", ".join(get_args(KeywordMeasure))
        raise ParameterError(f"`measure` is {measure!r}, choose one of {choices}")
    whole_number(min_count, "`min_count`", 1)
    in_range(max_p, "`max_p`", 0.0, 1.0)
    if k is not None:
        whole_number(k, "`k`", 0)
    if index.options.normaliser != against.options.normaliser:
        raise ParameterError(
            f"{index.path} and {against.path} were built with different normalisers, so their "
            "words differ: build both with the same options"
        )
    if index.layer != against.layer:
        raise ParameterError(f"{index.layer}s are compared with {against.layer}s: take one of them")
    of_other = against.vocabulary.find(index.vocabulary.word_hashes()[1:])
    only_there = np.setdiff1d(np.arange(1, against.n_words), of_other)
    counts, other_counts = (one.word_counts().astype(np.float64) for one in (index, against))
    here = np.concatenate([counts[1:], np.zeros(only_there.size)])
    shared = np.where(of_other < 0, 0.0, other_counts[np.maximum(of_other, 0)])
    there = np.concatenate([shared, other_counts[only_there]])
    tested = np.flatnonzero(here + there >= min_count)
    here, there = here[tested], there[tested]
    table = here, float(index.n_tokens), here + there, float(index.n_tokens + against.n_tokens)
    likelihood = (log_likelihood if measure == "llr" else log_likelihood_2)(*table)
    ratios = log_ratio(*table)
    p = adjusted_p(likelihood)
    order = (ratios if measure == "log-ratio" else likelihood) * (-1 if negative else 1)
    wanted = np.flatnonzero((order > 0) & (p <= max_p))
    if words_only:
        here_only, there_only = (one.vocabulary.without_letters() for one in (index, against))
        others = np.flatnonzero(np.isin(only_there, there_only)) + index.n_words
        wanted = wanted[~np.isin(tested[wanted] + 1, np.append(here_only, others))]
    best = wanted[np.lexsort((tested[wanted], -order[wanted]))[:k]]
    ids = tested[best] + 1
    spreads = iter(Documents(index).of_phrases([*ids[here[best] > 0, None]]))
    listed = Results(
        Keyword(
            index.vocabulary.word(id_)
            if id_ < index.n_words
            else against.vocabulary.word(int(only_there[id_ - index.n_words])),
            int(here[i]), int(there[i]), float(likelihood[i]), float(ratios[i]), float(p[i]),
            *(next(spreads) if here[i] else Spread(0, None, None)),
        )
        for i, id_ in zip(best.tolist(), ids.tolist(), strict=True)
    )  # fmt: skip
    listed.total = wanted.size
    return listed
