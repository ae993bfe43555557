"""Contrasts the contexts of two phrases of an index."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from distsim.base.arguments import AnyPath, whole_number
from distsim.contexts.ngram import NgramModel, PhraseWeigher, family_names, phrase_contexts
from distsim.contexts.weights import Weighting
from distsim.indexes.corpus_index import CorpusIndex, opened_index


class ContrastedContext(NamedTuple):
    """A word beside two phrases.

    place: `l1` is right before them, `r1` right behind, `l1-5` within five words before. word: the
    context word. weight_a, weight_b: its weight beside either; those below 0 are 0: it is beside
    that phrase no more often than by chance. count_a, count_b: how often it is there.
    """

    place: str
    word: str
    weight_a: float
    weight_b: float
    count_a: int
    count_b: int

    @property
    def shown(self) -> str:
        """The context with a gap in place of the phrase: `largest _`."""
        return f"{self.word} _" if self.place[0] == "l" else f"_ {self.word}"


class Contrast(NamedTuple):
    """Contexts of two phrases, the highest weight first.

    both: those that both have, by the smaller weight. only_a, only_b: those of one, by its weight.
    """

    both: list[ContrastedContext]
    only_a: list[ContrastedContext]
    only_b: list[ContrastedContext]


def contrast(
    index: CorpusIndex | AnyPath,
    a: str,
    b: str,
    *,
    k: int = 15,
    window: int | NgramModel = 1,
    weighting: Weighting | None = None,
    weigher: PhraseWeigher | None = None,
) -> Contrast:
    """Return the contexts that two phrases share and those that only one of them has.

    Arguments:
        index: where contexts are counted.
        a, b: the phrases.
        k: the most contexts of each kind.
        window: words on either side, 1 to 3, each place apart; or a model of contexts.
        weighting: how counts become weights; log-llr where None.
        weigher: of the same contexts and weighting, where it was made before.

    Raises:
        ParameterError: a phrase is empty, or the window is out of range.

    >>> found = contrast(index, "alice", "the queen", k=1)
    >>> found.both[0].shown
    'said _'
    """
    index = opened_index(index)
    whole_number(k, "`k`", 0)
    if not isinstance(window, NgramModel):
        window = NgramModel(whole_number(window, "`window`", 1, 3))
    model = window
    names = family_names(*model.shape)
    if weigher is None:
        weighting = weighting or Weighting("log-llr")
        weigher = PhraseWeigher(index, model.window, weighting, *model.shape[1:])
    rows = [phrase_contexts(index, phrase, *model.shape) for phrase in (a, b)]
    features = np.union1d(rows[0].features, rows[1].features).astype(np.int64)
    table = np.zeros((4, features.size))  # weight and count of a, of b
    for number, row in enumerate(rows):
        at = np.searchsorted(features, row.features)
        table[2 * number, at] = np.maximum(weigher.weigh(row), 0.0)
        table[2 * number + 1, at] = row.counts
    weight_a, count_a, weight_b, count_b = table

    def listed(values: np.ndarray) -> list[ContrastedContext]:
        order = np.lexsort((features, -values))
        order = order[values[order] > 0][:k]
        families, words = np.divmod(features[order], index.n_words)
        texts: Sequence[str] = index.vocabulary.words(words)
        return [
            ContrastedContext(
                names[family], text, float(weight_a[i]), float(weight_b[i]), int(count_a[i]),
                int(count_b[i]),
            )
            for i, family, text in zip(order.tolist(), families.tolist(), texts, strict=True)
        ]  # fmt: skip

    return Contrast(
        listed(np.minimum(weight_a, weight_b)),
        listed(np.where(count_b == 0, weight_a, 0.0)),
        listed(np.where(count_a == 0, weight_b, 0.0)),
    )
