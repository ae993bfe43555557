"""A signature table with methods that compare its phrases."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Self, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from distsim.base.arguments import AnyPath, Texts, one_or_many_texts, whole_number
from distsim.base.errors import ParameterError, UnknownPhraseError
from distsim.base.parallel import Progress, no_progress
from distsim.base.results import Results
from distsim.comparison import measures, nearest
from distsim.comparison.finder.word_neighbours import neighbours
from distsim.comparison.measures import ngram_model
from distsim.contexts.contrasting import ContrastedContext, contrast
from distsim.contexts.ngram import PhraseWeigher
from distsim.contexts.phrase_store import Selection
from distsim.contexts.sources.source import PhraseSource
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.signatures import merge, signing
from distsim.signatures.estimates import KnownPhrases
from distsim.signatures.recipe import Recipe
from distsim.signatures.table import PhraseEvidence, StoredTable, TableLike, opened_table

_KEPT_PHRASES = 1 << 10


class CosineEvidence(NamedTuple):
    """What the similarity of two phrases rests on.

    a, b: the phrases, with occurrences and the share of their own contexts. shared: the contexts
    that both have, the highest weight first; empty where no index was given.

    >>> SimilarityEvidence(learned, index).of_pair("king", "queen").a.origin
    'stored'
    """

    a: PhraseEvidence
    b: PhraseEvidence
    shared: list[ContrastedContext]


class SimilarityEvidence:
    """Tells what similarities of a table rest on.

    Arguments:
        table: a table, an index that was signed, or the path of either.
        index: whose contexts are shown; None: none are.

    Raises:
        IncompatibleError: the table was not signed from this index, or not from an index.

    >>> SimilarityEvidence(learned).of_phrase("king").origin
    'stored'
    """

    def __init__(self, table: TableLike, index: CorpusIndex | AnyPath | None = None) -> None:
        self._table = opened_table(table)
        self._index = None if index is None else opened_index(index)
        if self._index is not None:
            self._table.require_text(self._index)
            self._model = ngram_model(self._table)
            self._weigher = PhraseWeigher(
                self._index, self._model.window, self._table.fingerprint.weighting(),
                *self._model.shape[1:],
            )  # fmt: skip
        self.of_phrase = lru_cache(_KEPT_PHRASES)(self._of_phrase)

    def _of_phrase(self, phrase: str) -> PhraseEvidence:
        evidence = self._table.vector(phrase).evidence
        if evidence.occurrences or self._index is None:
            return evidence
        return evidence._replace(occurrences=int(self._index.count(phrase)))

    def of_pair(self, a: str, b: str, *, k: int = 10) -> CosineEvidence:
        """Return the evidence behind the similarity of two phrases.

        Arguments:
            a, b: words separated by spaces.
            k: the most shared contexts.

        Raises:
            ParameterError: a phrase is empty.
        """
        shared: Sequence[ContrastedContext] = ()
        if self._index is not None:
            shared = contrast(
                self._index, a, b, k=k, window=self._model, weigher=self._weigher
            ).both
        return CosineEvidence(self.of_phrase(a), self.of_phrase(b), list(shared))


Terms = Texts | NDArray[np.float32] | Iterable[str | NDArray[np.float32]]
_FIRST = np.zeros(1, np.int64)


class SignatureTable(StoredTable):
    """Phrases with their signatures; arrays are mapped, not read.

    Its attributes, such as `hashes`, `bits`, `strengths` and `fingerprint`, are those of
    `StoredTable` in `distsim.signatures.table`.

    `len` gives the phrases, `in` tells whether one has a signature, iteration yields them all.
    `table[phrase]` is a vector, `table.similarity(a, b)` and `table.neighbours(phrase)` are the
    functions of these names.

    >>> from distsim import PRESETS
    >>> made = SignatureTable.build(index, folder / "thesis.table", recipe=PRESETS["thesis"])
    >>> SignatureTable.open(made.path).n_bits, "alice" in made, made.find("zeppelin")
    (256, True, -1)
    """

    similarity = measures.similarity

    @overload
    def neighbours(self, phrase: str, **options: Any) -> Results[Any] | None: ...
    @overload
    def neighbours(self, phrase: Sequence[str], **options: Any) -> list[Results[Any] | None]: ...
    def neighbours(self, phrase: str | Sequence[str], **options: Any) -> Any:
        """Return the phrases nearest to a phrase, or to each of several; as `distsim.neighbours`.

        Arguments:
            phrase: words separated by spaces; or many.
            options: keyword arguments of `distsim.neighbours`.
        """
        return neighbours(self, phrase, **options)

    @classmethod
    def build(
        cls,
        source: PhraseSource | CorpusIndex | Iterable[Any],
        path: str | Path | None = None,
        *,
        recipe: Recipe | None = None,
        selection: Selection | None = None,
        projection: str | Path | None = None,
        **options: Unpack[signing.SignOptionNames],
    ) -> Self:
        """Return the table of a source's phrases, signed and opened; `distsim.sign` is the same.

        Where the very table stands at `path` already, sound, nothing is written and it is
        `unchanged`. What finds substitutes of words is not stored: `distsim sign INDEX` and
        `distsim.paraphrase.build_finder(index, table)` store it.

        Arguments:
            options: how phrases are chosen and written.
            source: an index, AnnotatedText, or another source of phrases; or texts: a list, a
                generator, a column, or rows with a field `text`. They are read once and indexed
                at `path`, and that index is signed. It stays where signing fails.
            path: the table's folder; inside the index where None. Of texts, the index's folder.
            recipe: how contexts become bits; where None, the source's usual one: PRESETS["learned"]
                of an index, VECTORS of word vectors.
            selection: which phrases; those of 1 to 4 tokens that occur 5 times where None.
            projection: a learned projection, or a table that has one, for a recipe that wants it;
                where None one is learned, unless the table at `path` or the index's own has it.
            keep_parts: keep the real vectors of the words of which phrases were composed, so that
                phrases which are not in the table can be composed too; True where left out.
            keep_features: keep all weighted features, 12 bytes each, for exact cosines without an
                index.
            force: replace another table at `path`; an index's own is always replaced.
            memory: bytes for what is put in order, half of what is free where None; what does
                not fit goes through files.
            jobs: threads; as many as the machine has cores where None.
            progress: is told the stage, the units done and their total.

        Raises:
            ArtifactError: something that is no table, or another table without `force`, is at
                `path`, or it is being written.
            IncompatibleError: the projection was learned from other contexts or weights.
            InputError: what the source reads is at fault.
            ParameterError: the source cannot give what the recipe wants, there is too little text
                to learn a projection from, or no phrase is frequent enough.

        >>> from distsim import PRESETS, Selection, sign
        >>> frequent = Selection(min_count=20)
        >>> made = sign(index, folder / "t", recipe=PRESETS["thesis"], selection=frequent)
        >>> "the king" in made, made.n_bits
        (True, 256)
        >>> texts = ["The king sees the queen.", "The cat sees the king."] * 5
        >>> made = sign(texts, folder / "texts.index", recipe=PRESETS["thesis"])
        >>> CorpusIndex.open(folder / "texts.index").count("king"), "the king" in made
        (10, True)
        """
        how = signing.SignOptions(**options)
        text = signing.source_to_sign(source, path, how)
        place = path if text is source else None
        signed = signing.sign(text, place, recipe, selection, projection, how)
        table = cls.open(signed.path)
        table.unchanged = signed.unchanged
        return table

    def __getitem__(self, phrase: Texts) -> NDArray[np.float32]:
        """Return the vector of a phrase, float32[n_dimensions], or of several, a row each.

        Vectors are as those of `vectors`.

        Raises:
            UnknownPhraseError: a phrase has none; it is a KeyError.

        >>> learned["king"].shape, float(learned["king"] @ learned["king"]) > 0.999
        ((512,), True)
        """
        phrases = one_or_many_texts(phrase, "phrase")
        rows = self.vectors(phrases)
        for text, vector in zip(phrases, rows, strict=True):
            if np.isnan(vector[0]):
                reason = measures.reason_without_signature(self, text)
                raise UnknownPhraseError(
                    f"{text!r} has no vector: {reason}, nor its words: ask `phrase in table` "
                    "first, or sign with a lower `min_count`"
                )
        return rows[0] if isinstance(phrase, str) else rows

    def most_similar(
        self, positive: Terms = (), *, negative: Terms = (), topn: int = 10
    ) -> list[tuple[str, float]]:
        """Return the phrases most similar to a sum of phrases, with their similarities.

        In the form of gensim's method of this name; of one phrase, what `neighbours` finds. The
        given phrases, and those that say the same as they do, are left out; beside vectors, the
        given phrases alone.

        Arguments:
            positive: phrases or vectors that are added, one or several.
            negative: phrases or vectors that are subtracted.
            topn: how many are returned at most.

        Raises:
            UnknownPhraseError: nothing is known of a phrase; it is a KeyError.
            ParameterError: no phrase is given, or one is empty, or they cancel each other out.

        >>> [phrase for phrase, _ in table.most_similar("the king", topn=2)]
        ['the gryphon', 'the hatter']
        """
        topn = whole_number(topn, "topn", 1)
        added, taken = _terms(positive), _terms(negative)
        if any(isinstance(term, np.ndarray) for term in (*added, *taken)):
            return self._near_sum(added, taken, topn)
        positive, negative = (
            one_or_many_texts(terms, name)
            for terms, name in ((added, "positive"), (taken, "negative"))
        )
        _ = self[[*positive, *negative]]  # refuses what is not known
        near = nearest.NeighbourSearch(self).of_sum(positive, negative, k=topn) or ()
        return [(neighbour.phrase, neighbour.similarity) for neighbour in near]

    def _near_sum(self, added: list[Any], taken: list[Any], topn: int) -> list[tuple[str, float]]:
        signed_terms = [(term, 1) for term in added] + [(term, -1) for term in taken]
        vectors = [
            sign * (self[term] if isinstance(term, str) else term) for term, sign in signed_terms
        ]
        phrases = {self.normal_form(term) for term, _ in signed_terms if isinstance(term, str)}
        near = self.similar_by_vector(np.sum(vectors, axis=0), topn=topn + len(phrases))
        return [answer for answer in near if answer[0] not in phrases][:topn]

    def similar_by_vector(self, vector: NDArray[Any], *, topn: int = 10) -> list[tuple[str, float]]:
        """Return the phrases most similar to a vector, with their similarities; gensim's name.

        No phrase is left out.

        Arguments:
            vector: float[n], of as many numbers as `vectors` gives; its length is immaterial.
            topn: how many are returned at most.

        Raises:
            ParameterError: the vector is of another shape, or 0.

        >>> learned.similar_by_vector(learned["the king"], topn=1)[0][0]
        'the king'
        """
        topn = whole_number(topn, "topn", 1)
        near = nearest.NeighbourSearch(self, distinct=False, min_strength=0)
        return [
            (neighbour.phrase, neighbour.similarity) for neighbour in near.of_vector(vector, k=topn)
        ]

    def n_similarity(self, first: Texts, second: Texts) -> float:
        """Return the similarity of the sums of two sets of phrases; gensim's name.

        Arguments:
            first, second: phrases, one or more of each.

        Raises:
            UnknownPhraseError: nothing is known of a phrase; it is a KeyError.
            ParameterError: a set is empty, or its phrases cancel each other out.

        >>> table.n_similarity(["king", "queen"], ["king", "queen"])
        1.0
        """
        a, b = (self._sum(phrases)[1] for phrases in (first, second))
        return float(self.estimator().cosines(a, b, _FIRST, _FIRST)[0])

    def doesnt_match(self, phrases: Texts) -> str:
        """Return the phrase least similar to the sum of all of them; gensim's name.

        Arguments:
            phrases: one or more.

        Raises:
            UnknownPhraseError: nothing is known of a phrase; it is a KeyError.
            ParameterError: there is none.

        >>> learned.doesnt_match(["king", "queen", "duchess", "said"])
        'said'
        """
        phrases = one_or_many_texts(phrases, "phrases")
        each, total = self._sum(phrases)
        order = np.arange(len(phrases))
        return phrases[
            int(self.estimator().cosines(each, total, order, np.zeros_like(order)).argmin())
        ]

    def _sum(self, phrases: Texts) -> tuple[KnownPhrases, KnownPhrases]:
        """Return what is known of phrases, and of their sum."""
        names = one_or_many_texts(phrases, "phrases")
        if not names:
            raise ParameterError("no phrase is given: give at least one")
        _ = self[names]  # refuses what is not known
        known_phrases = self.estimator().of_phrases([self.normal_form(name) for name in names])
        return known_phrases, known_phrases.sum(np.ones(len(names)))

    @property
    def index_to_key(self) -> list[str]:
        """All phrases by their rows, as iteration yields them; gensim's name."""
        return list(self)

    @property
    def key_to_index(self) -> dict[str, int]:
        """The row of each phrase; gensim's name."""
        return {phrase: row for row, phrase in enumerate(self)}


def _terms(terms: Terms) -> list[Any]:
    """Return phrases or vectors, given as one or as several."""
    if isinstance(terms, str) or (
        isinstance(terms, np.ndarray) and terms.ndim == 1 and terms.dtype.kind == "f"
    ):
        return [terms]
    return list(terms)


sign = SignatureTable.build


def merge_tables(
    tables: Sequence[str | Path],
    path: str | Path,
    *,
    min_count: int | None = None,
    keep_sums: bool = False,
    force: bool = False,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> SignatureTable:
    """Return the table of all the text of several tables, from their kept sums, without the text.

    It is that of the whole text, bit for bit (Van Durme and Lall 2010: sums of random vectors add
    up); the memory that it takes does not grow with the tables.

    Arguments:
        tables: folders of tables, or of indexes signed in place, signed with `keep_sums`.
        path: of the new table.
        min_count: phrases that occur less often in all are left out; as the tables were signed
            where None.
        keep_sums: store the added sums in the new table, so that it can be merged again.
        force: replace a table that exists at `path`.
        jobs: number of threads; None: one for each core.
        progress: called with (stage, done, total).

    Raises:
        ArtifactError: a table has no sums, or they are damaged.
        IncompatibleError: two tables were made with different settings; both are named.
        ParameterError: fewer than two tables, one given twice, or a minimum below 1.

    >>> from distsim import PRESETS, Selection, sign
    >>> from distsim.contexts import NgramCounts
    >>> parts = []
    >>> for name in ("one", "two"):
    ...     _ = (folder / name).write_text("a b\\t3\\na\\t3\\nb\\t3\\n")
    ...     part = sign(NgramCounts(folder / name), folder / f"{name}.table", keep_sums=True,
    ...                 recipe=PRESETS["thesis"], selection=Selection(min_count=5))
    ...     parts.append(part.path)
    >>> sorted(merge_tables(parts, folder / "both.table"))
    ['a', 'b']
    """
    merged = merge.merge(
        tables, path, min_count=min_count, keep_sums=keep_sums, force=force, jobs=jobs,
        progress=progress,
    )  # fmt: skip
    return SignatureTable.open(merged.path)


MOST = 3


def group_senses(table: StoredTable, phrases: Sequence[str]) -> list[str]:
    """Return the name of each phrase's group, its two most typical phrases: at most three groups.

    Average linkage of the cosines of their vectors. A phrase without a vector is in a group "".

    Arguments:
        table: has their vectors. phrases: the answers for a word.

    >>> group_senses(table, [])
    []
    """
    if not phrases:
        return []
    vectors = table.vectors(list(phrases))
    known = [i for i in range(len(phrases)) if not np.isnan(vectors[i]).any()]
    rows = vectors.astype(np.float64)
    cosines = rows @ rows.T
    groups = [[i] for i in known]
    while len(groups) > MOST:
        pairs = [(a, b) for b in range(len(groups)) for a in range(b)]
        means = [cosines[np.ix_(groups[a], groups[b])].mean() for a, b in pairs]
        a, b = pairs[int(np.argmax(means))]
        groups[a] += groups.pop(b)
    names = [""] * len(phrases)
    for group in groups:
        inside = cosines[np.ix_(group, group)].sum(axis=1)
        typical = [group[i] for i in np.argsort(-inside, kind="stable")[:2]]
        for i in group:
            names[i] = ", ".join(phrases[member] for member in typical)
    return names
