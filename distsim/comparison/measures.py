"""Similarities of phrases: estimated from tables, exact from contexts, of real vectors.

Each measure is a `Similarity`: it says how alike two phrases are, and of many pairs also which it
knows and for which it had to compose a phrase of its words. All of them are pickled as a path:
pickled and opened again in another process, they map the same files.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any, Literal, NamedTuple, Protocol, get_args

import numpy as np

from distsim.base.arguments import AnyPath, Pair, one_of, one_or_many_texts, one_text, shown
from distsim.base.errors import IncompatibleError, ParameterError
from distsim.contexts.ngram import NgramModel, PhraseWeigher, feature_space, phrase_contexts
from distsim.contexts.sources.source import PhraseBatch
from distsim.contexts.weights import Weigher
from distsim.corpus.vocabulary import hash_texts
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.kernels.compiled import frozen
from distsim.kernels.contexts import cosine as cosine_of_contexts
from distsim.signatures.composition import Composer
from distsim.signatures.estimates import estimate_by
from distsim.signatures.projections.spectral import SpectralProjection
from distsim.signatures.recipe import Recipe
from distsim.signatures.signer import Signer
from distsim.signatures.stores import FeatureStore, has_features
from distsim.signatures.table import StoredTable, TableLike, opened_table

CosineName = Literal["bits", "restored", "exact", "vectors"]
_CACHED_VECTORS = 1 << 12
_PAIRS = (tuple, list)  # which pairs mostly are


class Estimate(NamedTuple):
    """Estimate for one pair: its similarity, None without one, and whether a side was composed.

    composed: a phrase is not in the table; its vector was composed of those of its words.

    >>> EstimatedCosine(learned).estimates([("king", "zebra crossing")])
    [Estimate(similarity=None, composed=False)]
    """

    similarity: float | None
    composed: bool = False


class Coverage(NamedTuple):
    """Numbers of pairs: all, `covered` with a similarity, of these `composed` from their words.

    pairs: all.
    """

    pairs: int
    covered: int
    composed: int

    @classmethod
    def of(cls, estimates: Sequence[Estimate]) -> "Coverage":
        """Return how many estimates there are, have a similarity, and were composed.

        Arguments:
            estimates: the estimates of the pairs.

        >>> Coverage.of([Estimate(0.5), Estimate(0.25, composed=True), Estimate(None)])
        Coverage(pairs=3, covered=2, composed=1)
        """
        covered = [estimate for estimate in estimates if estimate.similarity is not None]
        return cls(len(estimates), len(covered), sum(estimate.composed for estimate in covered))


class Similarity(Protocol):
    """A measure of the similarity of two phrases.

    A class of its own has a `name`, for reports, and `estimates`; the rest follows.

    >>> class SameLetter(Similarity):
    ...     name = "first letters"
    ...
    ...     def estimates(self, pairs):
    ...         return [Estimate(float(a[0] == b[0])) for a, b in pairs]
    >>> SameLetter().similarity("king", "queen")
    0.0
    """

    name: str

    def estimates(self, pairs: Iterable[Pair]) -> list[Estimate]:
        """Return the estimate of every pair.

        Arguments:
            pairs: (phrase, phrase), words separated by spaces.

        Raises:
            ParameterError: a phrase is empty, or no text; the pair is named by its number.
        """
        ...

    def similarity(self, a: str, b: str) -> float | None:
        """Return the similarity of two phrases, -1 to 1, None where it has none.

        Arguments:
            a: a phrase, words separated by spaces.
            b: another one.

        Raises:
            ParameterError: a phrase is empty, or no text.
        """
        return self.estimates([(one_text(a, "a"), one_text(b, "b"))])[0].similarity

    def similarities(self, pairs: Iterable[Pair]) -> list[float | None]:
        """Return the similarity of each pair, -1 to 1; None where it has none.

        Arguments:
            pairs: two phrases each, words separated by spaces.
        """
        return [estimate.similarity for estimate in self.estimates(pairs)]


def similarity(
    table: TableLike,
    a: str,
    b: str,
    *,
    other: TableLike | None = None,
    estimate: str | None = None,
) -> float | None:
    """Return the estimated cosine of two phrases, or None.

    None where nothing is known of one, or where one is composed and has an unknown word that the
    other one lacks.

    A phrase that is not in the table, of whatever length, is composed of its words where the table
    keeps their vectors.

    Arguments:
        a, b: the phrases, words separated by spaces.
        table: a table, an index that was signed, or the path of either; opened by each call where
            it is none yet.
        other: the table in which `b` is looked up, where not in the same one.
        estimate: `bits` or `restored`, as for `cosine`; None: the table's default.

    Raises:
        ParameterError: a phrase is empty.
        IncompatibleError: the tables were not made with the same settings.

    >>> round(similarity(table, "alice", "the queen"), 3)
    0.796
    >>> similarity(table, "alice", "zeppelin") is None
    True
    """
    if other is not None or not isinstance(table, StoredTable):
        return EstimatedCosine(table, other=other, estimate=estimate).similarity(a, b)
    key = f"cosine by {estimate}"
    cosine = table.kept.get(key)
    if cosine is None:
        cosine = table.kept[key] = EstimatedCosine(table, estimate=estimate)
    value: float | None = cosine.similarity(a, b)
    return value


def similarities(
    table: TableLike,
    pairs: Iterable[Pair],
    *,
    other: TableLike | None = None,
    estimate: str | None = None,
) -> list[float | None]:
    """Return the estimated cosine of each pair, -1 to 1, or None, as `similarity` does.

    A phrase that is not in its table is composed of its words where the table keeps their vectors.

    Arguments:
        table: a table, an index that was signed, or the path of either.
        pairs: two phrases each, words separated by spaces, or a frame with two columns.
        other: a second table, for the second phrases; the same where None.
        estimate: `bits` or `restored`, as for `cosine`; None: the table's default.

    Raises:
        ParameterError: a phrase is empty, or there is no such estimate.
        IncompatibleError: the tables were not made with the same settings.

    >>> similarities(table, [("alice", "alice"), ("alice", "zeppelin")])
    [1.0, None]
    """
    return EstimatedCosine(table, other=other, estimate=estimate).similarities(pairs)


class EstimatedCosine(Similarity):
    """Cosines estimated from the signatures and vectors of a table.

    Arguments:
        table: where phrases are looked up: a table, a signed index, or the path of either.
        other: the table for the second of a pair, where it is not the same one.
        compose: make a phrase that is not in the table of its words, where the table keeps their
            vectors; such an estimate is marked `composed`.
        estimate: `bits` or `restored`, as for `cosine`; None: the table's default, of two tables
            `restored` where it is the default of both.

    Raises:
        IncompatibleError: the tables were not made with the same settings.
        ParameterError: there is no such estimate, or the table keeps no vectors for it.

    >>> EstimatedCosine(table).similarity("alice", "alice")
    1.0
    >>> EstimatedCosine(learned).estimate, EstimatedCosine(learned, estimate="bits").estimate
    ('restored', 'bits')
    """

    name = "table"

    def __init__(
        self,
        table: TableLike,
        *,
        other: TableLike | None = None,
        compose: bool = True,
        estimate: str | None = None,
    ) -> None:
        table = opened_table(table)
        other = None if other is None else opened_table(other, "other")
        self._tables = (table,) if other is None or other is table else (table, other)
        if len(self._tables) == 2:
            other = self._tables[1]
            table.fingerprint.require_same(other.fingerprint, str(table.path), str(other.path))
            if estimate is None and any(
                estimate_by(table, None) == "bits" for table in self._tables
            ):
                estimate = "bits"
        self._estimators = [table.estimator(estimate=estimate) for table in self._tables]
        self.estimate = self._estimators[0].estimate
        self._compose = compose

    def __reduce__(self) -> tuple[Any, ...]:
        again = partial(
            EstimatedCosine, other=self._tables[-1], compose=self._compose, estimate=self.estimate
        )
        return again, self._tables[:1]

    def __repr__(self) -> str:
        return f"EstimatedCosine({self._tables[0]!r}, {self.estimate})"

    def similarity(self, a: str, b: str) -> float | None:
        """Return what `estimates` does of one pair; phrases of the table take a shorter way.

        Arguments:
            a, b: words separated by spaces.

        Raises:
            ParameterError: a phrase is empty, or no text.
        """
        pair = one_text(a, "a"), one_text(b, "b")
        if len(self._tables) == 1 and self.estimate == "restored":
            normal_form = self._tables[0].normal_form
            cosine = self._estimators[0].cosine_of_table_phrases(normal_form(a), normal_form(b))
            if cosine is not None:
                return cosine
        return self.similarities([pair])[0]

    def similarities(self, pairs: Iterable[Pair]) -> list[float | None]:
        """Return the similarity of each pair, -1 to 1; None where it has none.

        Arguments:
            pairs: two phrases each, words separated by spaces.
        """
        return self._values(checked_pairs(pairs))[0]

    def estimates(self, pairs: Iterable[Pair]) -> list[Estimate]:
        """Return the estimated cosine of every pair, and whether it was composed.

        Arguments:
            pairs: two phrases each, words separated by spaces.
        """
        values, composed = self._values(checked_pairs(pairs))
        estimates = list(map(Estimate, values))
        for number in composed:
            estimates[number] = Estimate(values[number], True)
        return estimates

    def _values(self, checked: list[Pair]) -> tuple[list[float | None], list[int]]:
        """Return the cosine of every pair, None without one, and the numbers of those composed."""
        sides = [pair[0] for pair in checked], [pair[1] for pair in checked]
        if len(self._tables) == 1:  # a phrase on both sides is looked up once
            first, numbers = self._estimators[0].look_up([*sides[0], *sides[1]], self._compose)
            second, a, b = first, numbers[: len(checked)], numbers[len(checked) :]
        else:
            (first, a), (second, b) = (
                estimator.look_up(phrases, self._compose)
                for estimator, phrases in zip(self._estimators, sides, strict=True)
            )
        known = np.flatnonzero(first.known[a] & second.known[b])
        cosines = self._estimators[0].cosines(first, second, a[known], b[known])
        composed = first.composed[a] | second.composed[b]
        values: list[float | None] = cosines.tolist()
        if known.size < len(checked):
            of_known, values = values, [None] * len(checked)
            for number, value in zip(known.tolist(), of_known, strict=True):
                values[number] = value
        composed_pairs = []
        for number in known[composed[known]].tolist():
            if differ_in_unknown_words(self._tables, checked[number]):
                values[number] = None
            else:
                composed_pairs.append(number)
        return values, composed_pairs


def cosine(
    table: TableLike,
    *,
    how: CosineName | None = None,
    index: CorpusIndex | AnyPath | None = None,
    other: TableLike | None = None,
    compose: bool = True,
    cached: int = _CACHED_VECTORS,
) -> Similarity:
    """Return the measure of cosines of a table's phrases that is asked for.

    Arguments:
        table: a table, an index that was signed, or the path of either.
        how: `bits`, estimated by the Hamming distance of signatures; `restored`, of vectors, stored
            or composed, nearest to the exact cosine; `exact`, of the counted contexts, which the
            table keeps or the index has; `vectors`, of the real-valued vectors of a learned table,
            made from the index. None: the table's default, `restored` where it stores its words'
            vectors, as learned ones do, else `bits`.
        index: where contexts are counted; None: the index that contains the table.
        other: the table of the second phrase of a pair, where it is not the same one; estimates
            alone have it.
        compose: whether an estimate makes a phrase that is not in the table of its words.
        cached: for so many phrases `exact` keeps the counted vectors, a frequent one's a megabyte
            or two.

    Raises:
        ParameterError: there is no such measure, the table or `other` does not allow it, or it is
            in no index and none is named.
        IncompatibleError: the index is not that of the table.

    >>> cosine(table).similarity("alice", "alice"), cosine(learned, how="bits").name
    (1.0, 'table')
    """
    opened = opened_table(table)
    if how is not None:
        one_of(how, get_args(CosineName), "`how`")
    path = opened.path if isinstance(table, StoredTable) else getattr(table, "path", table)
    of = opened.fingerprint
    if how in ("exact", "vectors") and other is not None:
        raise ParameterError(f"`how` {how}: has one table: leave out `other`, or choose bits")
    if how == "exact":
        if of.is_of_vectors:
            raise ParameterError(
                f"{path}: is a table of word vectors, which have no counted contexts: measure it "
                "by its bits, or by vectors"
            )
        if has_features(opened.artifact) and (index is None or of.is_syntactic):
            return StoredCosine(opened)
        if of.is_syntactic:
            raise ParameterError(
                f"{path}: no index contains the contexts of a syntactic table: sign it again with "
                "--set keep_features=true"
            )
        otherwise = ", or sign it again with --set keep_features=true"
        return ExactCosine(
            opened.index_of_contexts(index, otherwise=otherwise), opened, kept=cached
        )
    if how == "vectors":
        if not of.is_learned:
            raise ParameterError(
                f"{path}: was not signed with a learned projection and has no real-valued "
                "vectors: sign it with --preset learned, or leave out vectors"
            )
        if of.is_of_vectors:
            return ComposedCosine(opened)
        return LearnedCosine(opened.index_of_contexts(index), opened)
    return EstimatedCosine(opened, other=other, compose=compose, estimate=how)


class ExactCosine(Similarity):
    """Exact cosines of weighted context vectors, counted from the index on request.

    Arguments:
        index: where contexts are counted.
        table: the table whose window and weights are used.
        kept: vectors of so many phrases are kept, that of a frequent one a megabyte or two.

    Raises:
        IncompatibleError: the table was not signed from this corpus.

    >>> round(ExactCosine(index, table).similarity("alice", "the queen"), 3)
    0.834
    """

    name = "exact"

    def __init__(
        self, index: CorpusIndex | AnyPath, table: TableLike, *, kept: int = _CACHED_VECTORS
    ) -> None:
        index, table = opened_index(index), opened_table(table)
        table.require_text(index)
        self.index = index
        self._table = table
        self._model = ngram_model(table)
        self._weigher = PhraseWeigher(
            index, self._model.window, table.fingerprint.weighting(), *self._model.shape[1:]
        )
        self._vector = lru_cache(kept)(self._counted_vector)

    def __reduce__(self) -> tuple[Any, ...]:
        return ExactCosine, (self.index, self._table)

    def __repr__(self) -> str:
        return f"ExactCosine({self.index!r}, {self._table!r})"

    def estimates(self, pairs: Iterable[Pair]) -> list[Estimate]:
        """Return the exact cosine of every pair, None where a phrase has no context.

        Arguments:
            pairs: two phrases each, words separated by spaces.
        """
        words = self.index.words
        return [
            _of_vectors(self._vector(" ".join(words(a))), self._vector(" ".join(words(b))))
            for a, b in checked_pairs(pairs)
        ]

    def counts(self, phrases: Sequence[str]) -> np.ndarray:
        """Return how often each phrase occurs in the index, int64.

        Arguments:
            phrases: words separated by spaces.
        """
        return self.index.count(phrases)

    def _counted_vector(self, phrase: str) -> tuple[np.ndarray, np.ndarray]:
        if not phrase:  # every word of it vanished
            return frozen(np.empty(0, np.uint32)), frozen(np.empty(0))
        contexts = phrase_contexts(self.index, phrase, *self._model.shape)
        return frozen(contexts.features), frozen(self._weigher.weigh(contexts))


class StoredCosine(Similarity):
    """Exact cosines of the weighted features that a table keeps beside its bits.

    Arguments:
        table: the signatures.

    Raises:
        ParameterError: the table was signed without them.

    >>> from distsim import PRESETS, sign
    >>> from distsim.contexts import AnnotatedText
    >>> lines = [f"{i}\\t{word}\\t{word}\\tNOUN\\t_\\t_\\t{i - 1}\\tdep\\t_\\t_" for i, word in
    ...          enumerate(["a", "b"], 1)]
    >>> _ = (folder / "kept.conllu").write_text("\\n".join([*lines, "", ""]) * 5)
    >>> kept = sign(AnnotatedText(folder / "kept.conllu"), folder / "k.table",
    ...             recipe=PRESETS["syntax"], keep_features=True)
    >>> round(StoredCosine(kept).similarity("a", "a"), 6)
    1.0
    """

    name = "exact"

    def __init__(self, table: TableLike) -> None:
        table = opened_table(table)
        self._table = table
        self._store = FeatureStore(table.artifact)
        self._vector = lru_cache(_CACHED_VECTORS)(self._stored_vector)

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredCosine, (self._table,)

    def __repr__(self) -> str:
        return f"StoredCosine({self._table!r})"

    def estimates(self, pairs: Iterable[Pair]) -> list[Estimate]:
        """Return the exact cosine of every pair, None where a phrase is not in the table.

        Arguments:
            pairs: two phrases each, words separated by spaces.
        """
        form = self._table.normal_form
        return [
            _of_vectors(self._vector(form(a)), self._vector(form(b)))
            for a, b in checked_pairs(pairs)
        ]

    def counts(self, phrases: Sequence[str]) -> np.ndarray:
        """Return the occurrences behind each phrase, 0 where it is not in the table; int64.

        Arguments:
            phrases: words separated by spaces.
        """
        rows = self._table.find(phrases)
        counts = np.zeros(rows.size, np.int64)
        counts[rows >= 0] = self._table.strengths[rows[rows >= 0]]
        return counts

    def _stored_vector(self, phrase: str) -> tuple[np.ndarray, np.ndarray]:
        row = int(self._table.find_normal([phrase])[0])
        if row < 0:
            return frozen(np.empty(0, np.uint64)), frozen(np.empty(0))
        return self._store.features(int(self._table.hashes[row]))


class LearnedCosine(Similarity):
    """Cosines of real-valued vectors in a table's learned space, made from the index on request.

    The bits of a learned table estimate these cosines; the vectors have no quantisation error. A
    phrase that is too rare for the table is composed of its words and of the contexts it has.

    Arguments:
        index: where contexts are counted: a corpus index or its path.
        table: a table signed from it, or its path.
        projection: the projection by which it was signed; the one stored with it where None.

    Raises:
        IncompatibleError: the table was not signed from this corpus or by this projection.

    >>> real = LearnedCosine(index, learned)
    >>> round(real.similarity("king", "king"), 6)
    1.0
    """

    name = "vectors"

    def __init__(
        self,
        index: CorpusIndex | AnyPath,
        table: TableLike,
        *,
        projection: SpectralProjection | None = None,
    ) -> None:
        index, table = opened_index(index), opened_table(table)
        table.require_text(index)
        projection = projection or table.projection
        if table.fingerprint.projection != projection.manifest():
            raise IncompatibleError(
                f"{table.path} was not signed by the projection {projection.path}: name the "
                "projection that it was signed by"
            )
        self._index = index
        self._projection = projection
        self._model = ngram_model(table)
        recipe = Recipe.from_fingerprint(table.fingerprint)
        if recipe.composition is not None and table.parts is None:
            raise IncompatibleError(
                f"{table.path} keeps no vectors of words to compose phrases of: sign it again "
                "with `keep_parts`"
            )
        composer = Composer(projection.centre, recipe.composition, table.parts)
        self._space = feature_space(index, *self._model.shape)
        self._signer = Signer(Weigher(recipe.weighting), projection, composer)
        self._table = table
        self._vector = lru_cache(_CACHED_VECTORS)(self._made_vector)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(LearnedCosine, projection=self._projection), (self._index, self._table)

    def __repr__(self) -> str:
        return f"LearnedCosine({self._index!r}, {self._table!r})"

    def estimates(self, pairs: Iterable[Pair]) -> list[Estimate]:
        """Return the cosine of every pair; `composed` where a phrase is not in the table.

        Arguments:
            pairs: two phrases each, words separated by spaces.
        """
        words = self._index.words
        return _of_unit_vectors(
            self._table, pairs, lambda phrase: self._vector(" ".join(words(phrase)))
        )

    def _made_vector(self, phrase: str) -> np.ndarray | None:
        if not phrase:
            return None
        contexts = phrase_contexts(self._index, phrase, *self._model.shape)
        text = np.frombuffer(phrase.encode(), np.uint8)
        batch = PhraseBatch(
            hashes=hash_texts([phrase.encode()]),
            text=text,
            text_lengths=np.array([text.size]),
            strengths=np.array([self._index.count(phrase)], np.uint64),
            contexts=contexts,
            space=self._space,
        )
        vector = self._signer.vectors(batch)[0].copy()
        return vector if vector.any() else None


class ComposedCosine(Similarity):
    """Cosines of real-valued vectors that are made of those of words that a table keeps.

    For a table of word vectors it is what its bits estimate, without the loss of cutting; it
    needs no index.

    Arguments:
        table: that keeps them.

    Raises:
        IncompatibleError: the table keeps no vectors of words.
    """

    name = "vectors"

    def __init__(self, table: TableLike) -> None:
        table = opened_table(table)
        table.require_word_vectors()
        self._table = table
        self._vector = lru_cache(_CACHED_VECTORS)(self._composed_vector)

    def __reduce__(self) -> tuple[Any, ...]:
        return ComposedCosine, (self._table,)

    def __repr__(self) -> str:
        return f"ComposedCosine({self._table!r})"

    def estimates(self, pairs: Iterable[Pair]) -> list[Estimate]:
        """Return the cosine of every pair; `composed` where a phrase is not in the table.

        Arguments:
            pairs: (phrase, phrase), words separated by spaces.
        """
        return _of_unit_vectors(self._table, pairs, self._vector)

    def _composed_vector(self, phrase: str) -> np.ndarray | None:
        (vector,) = self._table.vectors(phrase, of_words=True)
        return None if np.isnan(vector[0]) else vector


def ngram_model(table: StoredTable) -> NgramModel:
    """Return the model of contexts by which a table was signed from an index.

    Arguments:
        table: of signatures.

    Raises:
        IncompatibleError: it was signed from annotated text or from word vectors.
    """
    if table.fingerprint.is_of_vectors:
        raise IncompatibleError(
            f"{table.path}: is a table of word vectors, which have no counted contexts: measure it "
            "by its bits or its vectors"
        )
    if table.fingerprint.is_syntactic:
        raise IncompatibleError(
            f"{table.path}: no index holds the contexts of a syntactic table: sign it again and "
            "keep its features"
        )
    return NgramModel.from_manifest(table.fingerprint.model)


def checked_pairs(pairs: Iterable[Pair]) -> list[Pair]:
    """Return the pairs as a list.

    Arguments:
        pairs: (phrase, phrase) each, or a frame of pandas or polars with two columns.

    Raises:
        ParameterError: one is no pair, or one of its phrases no text; it is named by its number.
    """
    if hasattr(pairs, "columns") and hasattr(pairs, "to_numpy"):  # a frame iterates over columns
        pairs = pairs.to_numpy().tolist()
    try:
        checked = list(pairs)
    except TypeError:
        raise ParameterError(f"pairs: is {shown(pairs)}, wanted pairs of texts") from None
    for number, pair in enumerate(checked):
        if type(pair) in _PAIRS and len(pair) == 2 and type(pair[0]) is type(pair[1]) is str:
            continue
        is_many = type(pair) is tuple or (
            isinstance(pair, Sequence | np.ndarray) and not isinstance(pair, str | bytes)
        )
        if not is_many or len(pair) != 2:
            raise ParameterError(f"pairs[{number}]: is {shown(pair)}, wanted two texts (str)")
        if type(pair[0]) is not str or type(pair[1]) is not str:
            one_or_many_texts(pair, f"pairs[{number}]")
    return checked


def _of_unit_vectors(
    table: StoredTable, pairs: Iterable[Pair], vector: Callable[[str], np.ndarray | None]
) -> list[Estimate]:
    """Return the cosine of every pair; `composed` where a phrase is not in the table."""
    checked = checked_pairs(pairs)
    rows = [table.find([pair[side] for pair in checked]) for side in range(2)]
    composed = ((rows[0] < 0) | (rows[1] < 0)).tolist()
    result = []
    for (a, b), is_composed in zip(checked, composed, strict=True):
        first, second = vector(a), vector(b)
        differs = is_composed and differ_in_unknown_words((table,), (a, b))
        if first is None or second is None or differs:
            result.append(Estimate(None))
        else:
            result.append(Estimate(float(np.clip(first @ second, -1.0, 1.0)), is_composed))
    return result


def _of_vectors(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> Estimate:
    value = cosine_of_contexts(*a, *b)
    return Estimate(None if value < -1.5 else min(1.0, float(value)))


def words_left_out(table: StoredTable, phrase: str) -> list[str]:
    """Return the words without a vector of a phrase that is composed of its other words.

    Arguments:
        table: the signatures. phrase: words separated by spaces.
    """
    if table.parts is None or table.find(phrase) >= 0:
        return []
    words = table.words(phrase)
    rows = table.parts.find(words).tolist()
    unknown = [word for word, row in zip(words, rows, strict=True) if row < 0]
    return unknown if len(unknown) < len(words) else []


def differ_in_unknown_words(tables: Sequence[StoredTable], pair: Pair) -> bool:
    """Return whether composing a phrase of a pair would drop a word that the other one lacks.

    Arguments:
        tables: that of both phrases, or one for each. pair: the phrases.
    """
    first, second = (set(words_left_out(tables[k], pair[k])) for k in (0, -1))
    return first != second


def reason_without_signature(table: StoredTable, phrase: str) -> str:
    """Return why a phrase has no signature, in a few words.

    Arguments:
        table: the signatures.
        phrase: words separated by spaces.
    """
    words = table.words(phrase)
    unknown = words_left_out(table, phrase)
    if unknown:
        return f"not in the table, nor is its word {unknown[0]!r}"
    if len(words) > table.longest:
        return f"longer than {table.longest} tokens"
    return "not in the table"
