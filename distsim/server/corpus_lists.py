"""Answers about the whole text or one word of it: word lists, word sketches, dispersion.

`opened` has the artifacts; the other arguments are those of the endpoints (server/endpoints.py).
"""

import re

import numpy as np

from distsim.base.choices import Layer
from distsim.base.errors import ParameterError
from distsim.indexes.dispersion import Documents
from distsim.indexes.phrase_lists import list_phrases
from distsim.indexes.sketches import sketch as found_sketch
from distsim.indexes.sketches import sketch_difference
from distsim.server.answers import (
    Dispersion,
    DispersionPart,
    PhraseList,
    PhraseListRow,
    Sketch,
    SketchPair,
)
from distsim.server.corpus_questions import asked, shown_phrase, spans
from distsim.server.limits import shortened
from distsim.server.session import Opened

_LENGTHS = re.compile(r"([1-9])(?:-([1-9]))?")
_BINS = 100


def ngrams(
    opened: Opened, lengths: str, by: Layer, containing: str, min_count: int, k: int, where: str
) -> PhraseList:
    """Return the most frequent words or phrases.

    Arguments:
        lengths: words of a phrase, `2` or `1-3`.
        by: words, or of annotated text lemmas, tags and so on.
        containing: only phrases that contain this one; "" takes all.
        min_count: leave out rarer phrases.
        k: maximum number of phrases.
        where: filter of documents; "" takes all documents.

    Raises:
        ParameterError: `lengths` is no such range, or the text is not annotated.
    """
    range_of = _LENGTHS.fullmatch(lengths.strip())
    if range_of is None:
        raise ParameterError(f"`lengths` {lengths[:20]!r}: give 1 to 9 words, 2 or 1-3")
    phrases = list_phrases(
        opened.documents(where).of_layer(by),
        lengths=(int(range_of[1]), int(range_of[2] or range_of[1])), containing=containing or None,
        words_only=by in ("word", "lemma"), min_count=min_count, k=k,
    )  # fmt: skip
    rows = (
        PhraseListRow(shortened(one.phrase), one.times, one.per_million, one.documents, one.dp)
        for one in phrases
    )
    return PhraseList(by, tuple(rows))


def sketch(opened: Opened, phrase: str, other: str, min_count: int, k: int, where: str) -> Sketch:
    """Return the collocates of a lemma by grammatical relation, beside those of another one.

    Arguments:
        phrase: a lemma, or several.
        other: another lemma; "" asks for no difference.
        min_count: leave out rarer pairs.
        k: maximum number of collocates of each relation.
        where: filter of documents; "" takes all documents.
    """
    index = opened.documents(where)
    if other.strip():
        both = sketch_difference(index, phrase, other, min_count=min_count, k=k)
        pairs = (
            SketchPair(one.relation, shortened(one.word), one.times, one.score, one.other_times,
                       one.other_score)
            for one in both
        )  # fmt: skip
    else:
        rows = found_sketch(index, phrase, min_count=min_count, k=k)
        pairs = (
            SketchPair(one.relation, shortened(one.word), one.times, one.score) for one in rows
        )
    return Sketch(shortened(phrase), shortened(other.strip()), tuple(pairs))


def dispersion(opened: Opened, phrase: str, where: str) -> Dispersion:
    """Return where a phrase or query occurs: counts in a hundred equal parts of the corpus.

    Arguments:
        phrase: words separated by spaces, or a query in the query language.
        where: filter of documents; "" takes all documents.
    """
    index, one = opened.documents(where), asked(opened.index, phrase)
    begins = spans(index, one)[:, 0]
    edges = index.document_edges
    bins, _ = np.histogram(begins, bins=_BINS, range=(0, int(edges[-1])))
    spread = Documents(index).of_positions(begins)
    document_numbers = index.kept_documents
    n_documents = edges.size - 1 if document_numbers is None else int(document_numbers.sum())
    return Dispersion(
        shown_phrase(opened, one), begins.size, spread.documents, n_documents, spread.dp,
        tuple(DispersionPart(number, n) for number, n in enumerate(bins.tolist(), 1)),
    )  # fmt: skip
