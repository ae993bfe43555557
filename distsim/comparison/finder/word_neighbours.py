"""Neighbours of a phrase: of a single word what the finder lists, of others the table's nearest.

`distsim neighbours`, the function of this name and the server list words through this module.
"""

from collections.abc import Sequence
from math import nan
from typing import Literal, NamedTuple, Self, Unpack, overload

from distsim.base.arguments import AnyPath, in_range, one_or_many_texts, one_text, whole_number
from distsim.base.errors import ParameterError
from distsim.base.results import Results
from distsim.comparison.finder.lexicon import made_once, opposites_of
from distsim.comparison.finder.word_finder import SHIPPED
from distsim.comparison.finder.word_substitutes import WordSubstitutes
from distsim.comparison.measures import Similarity, cosine
from distsim.comparison.nearest import RERANKED, Neighbour, NeighbourSearch, SearchOptions
from distsim.comparison.opposites.exclusive import index_around
from distsim.comparison.opposites.opposites import SPARE, Opposites, opposites_last
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.signatures.table import StoredTable, TableLike, opened_table

NeighboursBy = Literal["table", "finder"] | Similarity


class WordNeighbour(NamedTuple):
    """A word that the finder lists, with the fields of Neighbour.

    phrase: the word. similarity: its cosine in the table, NaN where it has none. strength:
    occurrences of all its forms. composed: False. score: the finder's, the probability that people
    name it. opposite: it is an opposite of the focal word. contrasted: the text contrasts the two.

    >>> WordNeighbour("rapid", 0.6, 240, False, 0.31, False, False).phrase
    'rapid'
    """

    phrase: str
    similarity: float
    strength: int
    composed: bool
    score: float
    opposite: bool
    contrasted: bool


class WordNeighbours:
    """Lists words that can stand in a word's place, opposites last; may be shared by threads.

    Arguments:
        words: what finds them.
        opposites: detector of opposites.
        measure: the table's cosine.

    >>> WordNeighbours.open(table) is None  # a table without a finder
    True
    """

    def __init__(self, words: WordSubstitutes, opposites: Opposites, measure: Similarity) -> None:
        self._words = words
        self._opposites = opposites
        self._measure = measure

    @classmethod
    def open(
        cls,
        table: TableLike,
        *,
        index: CorpusIndex | AnyPath | None = None,
        weights: str = SHIPPED,
    ) -> Self | None:
        """Return what lists words by a table's finder; None where it has none, or is in no index.

        Arguments:
            table: a table, an index that was signed, or the path of either.
            index: of which the table was signed; None: the one that contains it.
            weights: `substitutes`, which ship, or a TOML file of `rank --substitutes`.

        Raises:
            InputError: there are no such weights.
        """
        opened = opened_table(table)
        if opened.finder is None:
            return None
        corpus = _around(opened) if index is None else opened_index(index)
        words = None if corpus is None else WordSubstitutes.open(corpus, opened, weights=weights)
        if corpus is None or words is None:
            return None

        def made() -> "WordNeighbours":
            return cls(words, opposites_of(corpus, opened), cosine(opened))

        key = ("neighbours", weights)
        kept_neighbours = made_once(corpus, opened, key, made)
        return kept_neighbours if isinstance(kept_neighbours, cls) else None

    @property
    def is_calibrated(self) -> bool:
        """Whether scores are probabilities, and no shares of similarity."""
        return self._words.finder.is_calibrated

    def nearest(
        self,
        phrase: str,
        *,
        k: int | None = 10,
        threshold: float | None = None,
        min_strength: int = 0,
    ) -> Results[WordNeighbour] | None:
        """Return the words that can stand in a word's place; None for what the finder lacks.

        `opposites` of the result tells how many opposites are below the last row.

        Arguments:
            phrase: a word, as typed; None is returned for several.
            k: maximum number of words; None: all.
            threshold: only words with at least this score.
            min_strength: only words with at least so many occurrences.
        """
        phrase = one_text(phrase, "phrase")
        if k is not None:
            k = whole_number(k, "k", 1)
        if threshold is not None:
            in_range(threshold, "threshold", -1.0, 1.0)
        everything = k is None or min_strength > 0 or threshold is not None
        answers = self._words.answers(phrase, k=None if everything else (k or 0) + SPARE)
        if answers is None:
            return None
        least = -1.0 if threshold is None else threshold
        near = [
            answer
            for answer in answers
            if answer.strength >= min_strength and answer.score >= least
        ]
        placed, n_below = opposites_last(
            self._opposites, phrase, [answer.phrase for answer in near], k
        )
        ordered = [near[row.place] for row in placed]
        cosines = self._measure.similarities([(phrase, answer.phrase) for answer in ordered])
        rows = Results(
            WordNeighbour(
                answer.phrase, nan if value is None else value, answer.strength, False,
                answer.score, row.opposite, row.contrasted,
            )
            for answer, value, row in zip(ordered, cosines, placed, strict=True)
        )  # fmt: skip
        rows.opposites = n_below
        return rows


def _around(table: StoredTable) -> CorpusIndex | None:
    """Return the index that contains a table, opened once for it."""
    if "index" not in table.kept:
        table.kept["index"] = index_around(table)
    index = table.kept["index"]
    return index if isinstance(index, CorpusIndex) else None


NearRows = Results[Neighbour] | Results[WordNeighbour]


@overload
def neighbours(
    table: TableLike,
    phrase: str,
    *,
    k: int = ...,
    threshold: float | None = ...,
    by: NeighboursBy | None = ...,
    among: int = ...,
    **options: Unpack[SearchOptions],
) -> NearRows | None: ...
@overload
def neighbours(
    table: TableLike,
    phrase: Sequence[str],
    *,
    k: int = ...,
    threshold: float | None = ...,
    by: NeighboursBy | None = ...,
    among: int = ...,
    **options: Unpack[SearchOptions],
) -> list[NearRows | None]: ...
def neighbours(
    table: TableLike,
    phrase: str | Sequence[str],
    *,
    k: int = 10,
    threshold: float | None = None,
    by: NeighboursBy | None = None,
    among: int = RERANKED,
    **options: Unpack[SearchOptions],
) -> NearRows | list[NearRows | None] | None:
    """Return the k phrases nearest to a phrase, or to each of several.

    For a single word these are the words that can stand in its place, opposites last, where the
    table is in its index and has a finder (`distsim sign INDEX`): WordNeighbour. Else they are the
    nearest phrases by the table's cosine: Neighbour.

    Arguments:
        phrase: words separated by spaces; or many.
        k: maximum number of results.
        table: a table, an index that was signed, or the path of either; give many phrases at once,
            or a table, since a search keeps what it needs with the table.
        threshold: only phrases at least so similar, by the table.
        by: `table`, cosines for words, too; `finder`, refused where there is none; or a measure
            that orders the nearest, such as an ExactCosine; not beside a threshold. None: the
            finder for single words, unless a threshold or options are given that need the table.
        among: number of nearest phrases that a measure orders; no more are returned.
        options: keyword arguments of NeighbourSearch: candidates, min_strength, lengths, distinct
            and estimate.

    Raises:
        ParameterError: an argument cannot be; a phrase is empty or no text, and is named by its
            number; the finder is asked for, and there is none.

    >>> [one.phrase for one in neighbours(table, "the king", k=2, min_strength=5)]
    ['the gryphon', 'the hatter']
    """
    opened = opened_table(table)
    of_table = set(options) - {"min_strength"} or threshold is not None
    words = None
    if by == "finder" or (by is None and not of_table):
        around = table if isinstance(table, CorpusIndex) else None
        words = WordNeighbours.open(opened, index=around)
    if by == "finder" and words is None:
        raise ParameterError(
            f"{opened.path}: has no finder, or is in no index: distsim sign INDEX stores one"
        )
    if isinstance(by, str) and by not in ("table", "finder"):
        raise ParameterError(f"by {by!r}: choose table, finder or a measure")
    measure = None if by is None or isinstance(by, str) else by
    if measure is not None and threshold is not None:
        raise ParameterError("`threshold` is of the table's estimates: leave it out beside `by`")
    search = NeighbourSearch(opened, **options) if words is None else None

    def one(text: str) -> NearRows | None:
        nonlocal search
        if words is not None:
            least = options.get("min_strength") or 0
            listed = words.nearest(text, k=k, threshold=threshold, min_strength=least)
            if listed is not None:
                return listed
        search = search or NeighbourSearch(opened, **options)
        if measure is not None:
            return search.reranked(text, measure, k=k, among=among)
        neighbour_list = search.neighbour_list(text, k=k, threshold=threshold)
        return None if neighbour_list is None else neighbour_list.neighbours

    if isinstance(phrase, str):
        return one(phrase)
    return [one(text) for text in one_or_many_texts(phrase, "phrase")]
