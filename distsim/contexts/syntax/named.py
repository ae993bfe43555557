"""Syntactic features of one phrase by name, counted and weighted."""

from collections.abc import Iterable, Iterator

import numpy as np

from distsim.base.errors import ParameterError
from distsim.base.results import Results
from distsim.contexts.features import ContextCounts, FeatureSpace
from distsim.contexts.ngram import NamedContext
from distsim.contexts.syntax.counting import FeatureCounter
from distsim.contexts.syntax.encoded import Encoder
from distsim.contexts.syntax.model import LONGEST, SyntaxModel
from distsim.contexts.weights import Weigher, Weighting
from distsim.corpus.annotation import NORMALISER, AnnotatedSentence
from distsim.corpus.query import Lookup
from distsim.storage import scratch_folder


def named_contexts(
    sentences: Iterable[AnnotatedSentence],
    phrase: str,
    model: SyntaxModel | None = None,
    weighting: Weighting | None = None,
) -> Results[NamedContext]:
    """Return (feature, count, weight) of a phrase's features, strongest first, then by name.

    The phrase is found whichever way its words were cut (`don't` as `do n't`).

    Arguments:
        sentences: read once.
        phrase: words separated by spaces.
        model: which features; all of them where None.
        weighting: how counts become weights; raw counts where None.

    Raises:
        ParameterError: the phrase is empty or too long, or the weights need more than counts.
    """
    model = model or SyntaxModel()
    weighting = weighting or Weighting()
    if weighting.uses_marginals:
        raise ParameterError(
            f"`weights` {weighting.scheme} needs the counts of all phrases: choose raw or log here"
        )
    spellings = _spellings(phrase)
    found: list[list[int]] = [[] for _ in spellings]
    with scratch_folder() as folder:
        encoder = Encoder(folder)
        for _ in encoder.encode(_holding(sentences, spellings, found)):
            pass
        occurrences = sorted(place for places in found for place in places)
        corpus = encoder.finish()
        if not occurrences:
            return Results()
        counter = FeatureCounter(corpus, model)
        named = counter.named(np.array(occurrences, np.uint64))
    counts = np.array(list(named.values()), np.uint32)
    features = np.arange(counts.size, dtype=np.uint32)
    none = np.empty(0)
    space = FeatureSpace(("",), np.zeros(counts.size, np.uint8), none, none, np.zeros(1))
    row = ContextCounts(np.array([0, counts.size]), features, counts)
    weights = Weigher(weighting).weigh(row, space).tolist()
    rows = map(NamedContext, named, counts.tolist(), weights)
    return Results(sorted(rows, key=lambda row: (-row.weight, -row.occurrences, row.feature)))


def _spellings(phrase: str) -> list[list[str]]:
    """Return the ways in which the words of a phrase may be cut."""
    return [
        list(words)
        for words in Lookup(NORMALISER, "text").readings(phrase)
        if 0 < len(words) <= LONGEST
    ]


def _holding(
    sentences: Iterable[AnnotatedSentence], spellings: list[list[str]], found: list[list[int]]
) -> Iterator[AnnotatedSentence]:
    """Yield the sentences that contain the phrase; occurrences are added by spelling."""
    position = 0
    for sentence in sentences:
        words = sentence.words
        holds = False
        for number, spelling in enumerate(spellings):
            n = len(spelling)
            for i in range(len(words) - n + 1):
                if words[i] == spelling[0] and words[i : i + n] == spelling:
                    found[number].append((position + i) << 3 | (n - 1))
                    holds = True
        if holds:
            position += len(words)
            yield sentence
