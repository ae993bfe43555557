"""Similarity of two phrases as substitutes, or as related phrases.

What may replace a phrase (`quickly`: rapidly) is right beside the same words, on the
same side of them. What belongs to its topic (`killed`: civilians) is near the same words,
wherever. Profiles of sampled occurrences in an index tell them apart: of few words on either side,
those right beside the phrase once more as such; or of a wide window. The estimate of a table, which
knows more text, is of both kinds.
"""

from collections.abc import Iterable
from math import sqrt
from typing import Any, Literal, get_args

import numpy as np

from distsim.base.arguments import AnyPath, Pair, one_of
from distsim.comparison.measures import Estimate, Similarity, checked_pairs, cosine
from distsim.contexts.weights import Weighting
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.paraphrase.occurrences import Sampler, locate, word_ids
from distsim.paraphrase.profiles import Profiler
from distsim.signatures.table import TableLike, opened_table

SimilarityKind = Literal["substitutes", "related"]
KINDS: tuple[str, ...] = get_args(SimilarityKind)
# (window, places) of the profiles.
WINDOWS = {"substitutes": (3, 1), "related": (10, 0)}
OCCURRENCES = 400
_EVERY_COUNT = 1 << 62


class KindCosine(Similarity):
    """Similarity of one kind, for `neighbours(..., by=...)` or by itself.

    Of the table's estimate and the cosine of two profiles, each from about 400 occurrences chosen
    by a hash of their position: for substitutes the geometric mean, 0 where one is not above 0; for
    what is related the mean.

    Arguments:
        index: where occurrences are. table: signed from it.
        kind: `substitutes`: what may replace the phrase; `related`: what belongs to
            its topic.

    Raises:
        ParameterError: there is no such kind.
        IncompatibleError: the table normalises text in another way than the index.

    >>> from distsim import neighbours
    >>> kind = KindCosine(index, table, "substitutes")
    >>> [one.phrase for one in neighbours(table, "the king", k=2, by=kind)] != []
    True
    """

    def __init__(
        self, index: CorpusIndex | AnyPath, table: TableLike, kind: SimilarityKind
    ) -> None:
        one_of(kind, KINDS, "`kind`")
        index, table = opened_index(index), opened_table(table)
        table.require_normaliser_of(index)
        self.name = kind
        self._kind: SimilarityKind = kind
        self._index, self._table = index, table
        self._estimate = cosine(table)
        window, places = WINDOWS[kind]
        self._profiler = Profiler(index, window, Weighting("log-llr"), places)
        self._sampler = Sampler(index, OCCURRENCES, common=_EVERY_COUNT)

    def __reduce__(self) -> tuple[Any, ...]:
        return KindCosine, (self._index, self._table, self._kind)

    def estimates(self, pairs: Iterable[Pair]) -> list[Estimate]:
        """Return the similarity of every pair, None where the table has none.

        Arguments:
            pairs: two phrases each, words separated by spaces.
        """
        given = checked_pairs(pairs)
        estimated = self._estimate.estimates(given)
        profiled = self.profiled(given)
        return [
            one
            if one.similarity is None
            else Estimate(self._joined(one.similarity, value), one.composed)
            for one, value in zip(estimated, profiled, strict=True)
        ]

    def _joined(self, estimate: float, profiled: float) -> float:
        if self._kind == "substitutes":
            return sqrt(max(0.0, estimate) * profiled)
        return (estimate + profiled) / 2

    def profiled(self, pairs: list[Pair]) -> list[float]:
        """Return the cosine of the two profiles of every pair, 0 where a phrase has none.

        Arguments:
            pairs: two phrases each, words separated by spaces.
        """
        others: dict[str, list[int]] = {}
        for number, (a, _) in enumerate(pairs):
            others.setdefault(a, []).append(number)
        values = [0.0] * len(pairs)
        for phrase, numbers in others.items():
            words = self._index.words([phrase, *(pairs[number][1] for number in numbers)])
            ids = word_ids(self._index, [word for one in words for word in one])
            located = locate(self._index, ids, np.cumsum([len(one) for one in words]))
            focal = self._sampler.few(located, np.zeros(1, np.int64), OCCURRENCES)
            sampled = self._sampler.few(located, np.arange(1, len(words)), OCCURRENCES)
            profile = self._profiler.profile(focal)
            found = self._profiler.cosines(profile, sampled)
            for number, value in zip(numbers, found.tolist(), strict=True):
                values[number] = value
        return values
