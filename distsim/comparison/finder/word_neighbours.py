"""Neighbours of a phrase: of a single word what the finder lists, of others the table's nearest.

`NeighbourLister` decides which of the two lists, for the function and the command `neighbours`; the
server, which keeps its searches, asks `WordNeighbours` first where single words are wanted.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from math import nan
from typing import Literal, NamedTuple, Self, Unpack, overload

from distsim.base.arguments import AnyPath, in_range, one_or_many_texts, one_text, whole_number
from distsim.base.errors import ParameterError
from distsim.base.results import Results
from distsim.comparison.finder.word_finder import SHIPPED
from distsim.comparison.finder.word_substitutes import WordSubstitutes
from distsim.comparison.measures import Similarity, cosine
from distsim.comparison.nearest import (
    AT_ONCE,
    RERANKED,
    Neighbour,
    NeighbourList,
    NeighbourSearch,
    SearchOptions,
)
from distsim.comparison.opposites.opposites import SPARE, Opposites, opposites_last, opposites_of
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.signatures.table import TableLike, made_once, opened_table

NeighboursBy = Literal["table", "finder"] | Similarity
_OF_TABLE = ("candidates", "lengths", "distinct", "estimate")  # options that the finder cannot obey
_LOWEST_SIMILARITY = -1.0  # which every phrase reaches


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
        corpus = opened.around if index is None else opened_index(index)
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


class WordList(NamedTuple):
    """What the finder lists for a word, with the fields of NeighbourList.

    neighbours: the likeliest first, opposites last. hidden: 0.
    """

    neighbours: Results[WordNeighbour]
    hidden: int = 0


class NeighbourLister:
    """Lists the neighbours of phrases: of single words by the finder, of others by the table.

    Arguments:
        table: a table, an index that was signed, or the path of either.
        by, threshold, among: as for `neighbours`.
        index: of which the table was signed; None: the one that contains it.
        weights: of the finder: `substitutes`, which ship, or a TOML file of `rank --substitutes`.
        options: keyword arguments of NeighbourSearch.

    Raises:
        ParameterError: the finder is asked for, and there is none, or it cannot obey an option.

    >>> [one.phrase for one in NeighbourLister(table).neighbour_list("the king", 2).neighbours]
    ['the gryphon', 'the hatter']
    """

    def __init__(
        self,
        table: TableLike,
        *,
        by: NeighboursBy | None = None,
        threshold: float | None = None,
        index: CorpusIndex | AnyPath | None = None,
        weights: str = SHIPPED,
        among: int = RERANKED,
        **options: Unpack[SearchOptions],
    ) -> None:
        if isinstance(by, str) and by not in ("table", "finder"):
            raise ParameterError(f"by {by!r}: choose table, finder or a measure")
        self.table = opened_table(table)
        self._options, self._threshold, self._among = options, threshold, among
        self._measure = None if by is None or isinstance(by, str) else by
        if self._measure is not None and threshold is not None:
            raise ParameterError(
                "`threshold` is of the table's estimates: leave it out beside `by`"
            )
        self._words = None
        lengths = options.get("lengths")
        if isinstance(lengths, Iterable) and not isinstance(lengths, str | range):
            lengths = options["lengths"] = tuple(lengths)
        of_table = [name for name in _OF_TABLE if options.get(name) is not None]
        if lengths in (1, (1,), range(1, 2)):
            of_table.remove("lengths")  # what the finder lists is of one word
        if by == "finder" or (by is None and threshold is None and not of_table):
            around = table if isinstance(table, CorpusIndex) else None
            self._words = WordNeighbours.open(self.table, index=index or around, weights=weights)
        if by == "finder" and self._words is None:
            raise ParameterError(
                f"{self.table.path}: has no finder, or is in no index: distsim sign INDEX stores "
                "one; or choose by table"
            )
        if by == "finder" and of_table:
            raise ParameterError(
                f"`{of_table[0]}`: the finder lists words for words: leave it out, or choose by "
                "table"
            )
        if self._words is None or options.get("min_strength") is not None:
            _ = self._search  # refuses limits that leave nothing

    @cached_property
    def _search(self) -> NeighbourSearch:
        """The search of the table, which words that the finder knows do without."""
        return NeighbourSearch(self.table, **self._options)

    @property
    def gives_shares(self) -> bool:
        """Whether scores of words are shares of similarity, and no probabilities."""
        return self._words is not None and not self._words.is_calibrated

    def neighbour_list(self, phrase: str, k: int | None = 10) -> NeighbourList | WordList | None:
        """Return the neighbours of a phrase, and how many are hidden; None where it is unknown.

        Arguments:
            phrase: words separated by spaces.
            k: maximum number of results; None: all.
        """
        word_list = self._word_list(phrase, k)
        if word_list is not None:
            return word_list
        if self._measure is not None:
            return self._search.reranked_list(phrase, self._measure, k=k, among=self._among)
        return self._search.neighbour_list(phrase, k=k, threshold=self._lowest(k))

    def neighbour_lists(
        self, phrases: Sequence[str], k: int | None = 10
    ) -> Iterator[NeighbourList | WordList | None]:
        """Yield what `neighbour_list` returns for each phrase; the table is searched for many.

        Arguments:
            phrases: words separated by spaces.
            k: maximum number of results; None: all.
        """
        if self._measure is not None:
            yield from (self.neighbour_list(phrase, k) for phrase in phrases)
            return
        for first in range(0, len(phrases), AT_ONCE):
            batch = phrases[first : first + AT_ONCE]
            word_lists = [self._word_list(phrase, k) for phrase in batch]
            answers = zip(batch, word_lists, strict=True)
            others = [phrase for phrase, listed in answers if listed is None]
            of_table: Iterator[NeighbourList | None] = iter(())
            if others:
                of_table = self._search.neighbour_lists(others, k=k, threshold=self._lowest(k))
            yield from (next(of_table) if listed is None else listed for listed in word_lists)

    def _word_list(self, phrase: str, k: int | None) -> WordList | None:
        """Return what the finder lists; None where it does not know the phrase, or is not asked."""
        if self._words is None:
            return None
        least = self._options.get("min_strength") or 0
        rows = self._words.nearest(phrase, k=k, threshold=self._threshold, min_strength=least)
        return None if rows is None else WordList(rows)

    def _lowest(self, k: int | None) -> float | None:
        """Return the threshold of a search for k rows: one that all reach where all are wanted."""
        return _LOWEST_SIMILARITY if k is None and self._threshold is None else self._threshold


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
        by: `table`, cosines for words, too; `finder`, refused where there is none, or beside
            options that need the table, which lists phrases of several words still; or a measure
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
    lister = NeighbourLister(table, by=by, threshold=threshold, among=among, **options)

    if isinstance(phrase, str):
        listed = lister.neighbour_list(phrase, k)
        return None if listed is None else listed.neighbours
    near_lists = lister.neighbour_lists(one_or_many_texts(phrase, "phrase"), k)
    return [None if listed is None else listed.neighbours for listed in near_lists]
