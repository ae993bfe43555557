"""Finds substitutes of a word, alone or in its sentence, by the profiles that `sign` stored.

400 lemmas are looked at: those most similar by three measures together. What orders them are the
ranks that the word has in their own lists, not the similarities, so that weights hold for texts of
other sizes: frequent words are near to many, and to rank high in the list of a word that has many
near ones says more.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from threading import Lock
from typing import ClassVar, NamedTuple

import numpy as np

from distsim import storage
from distsim.base.errors import InputError
from distsim.base.settings import read_changes
from distsim.comparison.finder import kernels as kernel
from distsim.comparison.finder.inflections import Forms
from distsim.comparison.finder.word_profiles import SPACES, SparseRows, levels
from distsim.comparison.opposites.language import Contrasts, Language
from distsim.corpus.vocabulary import hash_texts
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.shard import Shard, nth_of
from distsim.kernels.arrays import places_of_ranges
from distsim.kernels.compiled import frozen
from distsim.signatures.table import StoredTable
from distsim.storage import StoredArray, start_array
from distsim.storage.reading import Declaration

RANKS = ("rank_vectors", "rank_words", "rank_frames")
ALONE = (*RANKS, "contrast", "frequency", "form", "agrees")
IN_SENTENCE = (*RANKS, "contrast", "cooccurrence", "frequency", "form", "agrees", "fit", "fluency")
RULES = ("rule", "inverse_rule")
SHIPPED = "substitutes"
_LINE = ("intercept", "slope", "highest")


class ChanceScale(NamedTuple):
    """Weights of features, and how their sums become chances.

    weights: float64[n]. intercept, slope, highest: the chance that people name a word is `highest`
    times the logistic function of intercept + slope * ln of the word's share among all found.
    """

    weights: np.ndarray
    intercept: float
    slope: float
    highest: float = 1.0

    def chances(
        self, features: np.ndarray, calibrated: bool = True, more: np.ndarray | float = 0.0
    ) -> np.ndarray:
        """Return the chance that each word is one that people name, float64[m].

        Arguments:
            features: float64[m, n], of all words found for one target.
            calibrated: else the words' shares are returned, which add up to 1.
            more: float64[m], is added to the weighted sums.
        """
        sums = features @ self.weights + more
        highest = sums.max(initial=-np.inf)
        log_shares = sums - highest - np.log(np.exp(sums - highest).sum())
        if not calibrated:
            shares: np.ndarray = np.exp(log_shares)
            return shares
        logistic = 1.0 / (1.0 + np.exp(-self.intercept - self.slope * log_shares))
        chances: np.ndarray = self.highest * logistic
        return chances


class FinderWeights(NamedTuple):
    """The weights of the features by which the finder ranks substitutes.

    alone: weights and calibration for a word without a sentence, of the features ALONE.
    in_sentence: the same for a word in a sentence, of the features IN_SENTENCE.
    grammar: float64[2], weights of the features RULES.
    """

    alone: ChanceScale
    in_sentence: ChanceScale
    grammar: np.ndarray

    @classmethod
    def open(cls, name: str = SHIPPED) -> "FinderWeights":
        """Return the weights that ship (`substitutes`), or those of a TOML file.

        Arguments:
            name: `substitutes`, or the path of a file.

        Raises:
            InputError: the file has other keys, or values that are no numbers.
        """
        shipped = files("distsim") / "data" / "weights" / f"{name}.toml"
        path = str(shipped) if shipped.is_file() else name
        weights_of_tables = read_changes(path)
        values = []
        for table, features in (
            ("alone", (*ALONE, *_LINE)), ("in_sentence", (*IN_SENTENCE, *_LINE)), ("grammar", RULES)
        ):  # fmt: skip
            own = weights_of_tables.get(table)
            if not isinstance(own, dict) or set(own) != set(features):
                raise InputError(f"{path}: [{table}] must have the keys {', '.join(features)}")
            if not all(
                type(weight) in (int, float) and abs(weight) < np.inf for weight in own.values()
            ):
                raise InputError(f"{path}: [{table}] must have finite numbers alone")
            values.append(np.array([own[key] for key in features], np.float64))
        alone, in_sentence = (ChanceScale(row[:-3], *row[-3:].tolist()) for row in values[:2])
        return cls(alone, in_sentence, values[2])

    def text(self, notes: Iterable[str]) -> str:
        """Return the TOML file that `open` reads."""
        lines = [f"# {note}" for note in notes]
        for table, names, scale in (
            ("alone", ALONE, self.alone), ("in_sentence", IN_SENTENCE, self.in_sentence)
        ):  # fmt: skip
            values = zip((*names, *_LINE), (*scale.weights, *scale[1:]), strict=True)
            lines += ["", f"[{table}]", *(f"{name} = {value:.5g}" for name, value in values)]
        rules = zip(RULES, self.grammar, strict=True)
        lines += ["", "[grammar]", *(f"{name} = {value:.5g}" for name, value in rules)]
        return "\n".join(lines) + "\n"


POOL = 400
_SIMILARITY = {"vectors": 1.0, "words": 2.0, "frames": 2.0}
_FREQUENCY = 0.04
_MOST_SENTENCES = 4000
_MOST_JOINS = 20_000  # occurrences of a word around which contrasts are counted
# What the scores were calibrated on: English of so many tokens.
CALIBRATED_ON = "english"
CALIBRATED_TOKENS = (10_000_000, 200_000_000)
_COMMON_SHARE = 0.005  # share of the text from which a word is no answer for a rarer one
_CACHED = 256
_BY_COLUMNS = 4  # words from which on rows are stored by feature, too: .2 s, of 15 ms for each
_MOST_ROWS = 1 << 16
_BLOCK = 512  # vectors whose squares stay in the processor's cache


class LemmaPool(NamedTuple):
    """The lemmas that are looked at for one, in no order of merit.

    lemmas: int64[m], their numbers. similarities: float64[m], of the vectors. features:
    float64[m, 6], the first of IN_SENTENCE: ln of the rank that the word has in the lemma's own
    list by vectors, by the words beside and by frames; ln of 1 and how often the text contrasts
    both (*neither X nor Y*), which it does with opposites and with words of one class; ln of how
    much more often than chance both are in one sentence; ln of the lemma's count.
    """

    lemmas: np.ndarray
    similarities: np.ndarray
    features: np.ndarray


class WordFinder:
    """Finder of substitutes of single words; may be shared by threads.

    words: the lemmas. counts: int64[n], their occurrences. vectors: int8[n, n_dimensions].
    all_forms: int64, the ids of the words that have a lemma.
    is_calibrated: whether scores are chances in a text of this language and size.

    Arguments:
        index: the corpus.
        artifact: the finder that `sign` stored.
        forms: inflected forms.

    Raises:
        ArtifactError: what is stored contradicts itself.
    """

    ARRAYS: ClassVar[Declaration] = {
        "vectors/values": StoredArray(np.int8, "lemmas", columns="dimensions"),
        "counts": StoredArray(np.int64, "lemmas"),
        "sentences": StoredArray(np.uint32, "lemmas"),
        "forms": StoredArray(np.uint32, below="words", at_open=True),
        "form_starts": start_array("lemmas", "forms", np.int64),
        "bases": StoredArray(np.int64, "lemmas", below="words", at_open=True),
        **{
            f"{name}/ranks": StoredArray(np.float32, "lemmas", columns=f"ranks of {name}")
            for name in SPACES
        },
        **{
            f"{name}/{part}": of
            for name in SPACES[1:]
            for part, of in (
                ("starts", start_array("lemmas", f"{name}/features", np.int64)),
                ("features", StoredArray(np.uint16, f"features of {name}")),
                (SparseRows._fields[2], StoredArray(np.uint8, f"features of {name}")),
            )
        },
    }

    def __init__(self, index: CorpusIndex, artifact: storage.Artifact, forms: Forms) -> None:
        self._index = index
        with storage.understood(artifact.path):
            n = int(artifact.parameters["lemmas"])
            self._n_sentences = int(artifact.parameters["sentences"])
            english = artifact.parameters["inflections"] == CALIBRATED_ON
        least, largest = CALIBRATED_TOKENS
        self.is_calibrated = english and least <= index.n_tokens <= largest
        sizes = {"lemmas": n, "words": index.n_words}
        stored = artifact.arrays(self.ARRAYS, sizes=sizes)
        arrays = {name: frozen(values) for name, values in stored.items()}
        self.vectors, self.counts = arrays["vectors/values"], arrays["counts"]
        self._sentences = arrays["sentences"]
        self._ranks = {name: arrays[f"{name}/ranks"] for name in SPACES}
        self._rows = {
            name: SparseRows(*(arrays[f"{name}/{part}"] for part in SparseRows._fields))
            for name in SPACES[1:]
        }
        all_forms, starts = arrays["forms"].astype(np.int64), arrays["form_starts"]
        bases = arrays["bases"]
        self.all_forms, self._starts = all_forms, starts
        self._lemma_of = np.full(index.n_words, -1, np.int32)
        self._lemma_of[all_forms] = np.repeat(np.arange(n), np.diff(starts))
        self._bases = bases
        function_words = sorted(forms.inflections.function_words)
        ids = index.vocabulary.find(hash_texts([word.encode() for word in function_words]))
        self._is_function = np.isin(bases, ids[ids > 0])
        self._squares = {name: frozen(rows.squares()) for name, rows in self._rows.items()}
        self._squares["vectors"] = frozen(_squares(self.vectors))
        self._log_counts = np.log(self.counts + 1.0)
        self._contrasted = Contrasts(index, Language.open())
        self._columns: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        self._asked, self._lock = 0, Lock()
        self._unused: list[np.ndarray] = []  # int32[n_words] of -1 each, one for a thread at most
        self.pool = lru_cache(_CACHED)(self._pool_of)

    @classmethod
    def open(cls, index: CorpusIndex, table: StoredTable, forms: Forms) -> "WordFinder | None":
        """Return the finder that `sign` stored beside a table; None where there is none for it."""
        artifact = table.finder
        return None if artifact is None else cls(index, artifact, forms)

    @cached_property
    def words(self) -> list[str]:
        """The base words of all lemmas."""
        return self._index.vocabulary.words(self._bases)

    def named(self, lemmas: np.ndarray) -> list[str]:
        """Return the base words of some lemmas; the first time without naming all.

        Arguments:
            lemmas: int64[n], numbers of lemmas.
        """
        if self._asked < _BY_COLUMNS:
            return self._index.vocabulary.words(self._bases[lemmas])
        words = self.words
        return [words[lemma] for lemma in lemmas.tolist()]

    def lemma(self, word_id: int) -> int:
        """Return the number of a word's lemma, -1 where it has none."""
        known = 0 < word_id < self._lemma_of.size
        return int(self._lemma_of[word_id]) if known else -1

    def forms(self, lemmas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (the ids of the forms of lemmas, end to end; where those of each start), int64.

        Arguments:
            lemmas: int64[n], numbers of lemmas.
        """
        starts, sizes = self._starts[lemmas], self._starts[lemmas + 1] - self._starts[lemmas]
        return self.all_forms[places_of_ranges(starts, sizes)], np.cumsum(sizes) - sizes

    def fit(self, lemmas: np.ndarray, slot: np.ndarray) -> np.ndarray:
        """Return the cosine of lemmas with a slot's unit vector, float64[n].

        Arguments:
            lemmas: int64[n], numbers of lemmas.
            slot: float[n_dimensions], a unit vector.
        """
        lengths = np.sqrt(np.maximum(self._squares["vectors"][lemmas], 1.0))
        cosines: np.ndarray = (self.vectors[lemmas].astype(np.float64) @ slot) / lengths
        return cosines

    def _pool_of(self, lemma: int, more: tuple[int, ...] = ()) -> LemmaPool:
        """Return the lemmas most similar to one, with the features of each without a sentence.

        more: lemmas that are looked at, too.
        """
        cosines = {name: self._cosines(name, lemma) for name in SPACES}
        self._asked += 1
        mixed = _FREQUENCY * self._log_counts
        for name, weight in _SIMILARITY.items():
            mixed = mixed + weight * cosines[name]
        mixed[lemma] = -np.inf
        common = max(_COMMON_SHARE * self._index.n_tokens, 4.0 * float(self.counts[lemma]))
        mixed[self.counts > common] = -np.inf  # `the`, `be`: near to all
        if not self._is_function[lemma]:
            mixed[self._is_function] = -np.inf
        pool = _highest(mixed, min(POOL, int(np.isfinite(mixed).sum())))
        pool = np.concatenate([pool, np.setdiff1d(np.array(more, np.int64), [*pool, lemma])])
        columns = [
            kernel.ranks_among(
                ranks, frozen(np.log(levels(1 << ranks.shape[1]) + 1.0)), frozen(pool),
                frozen(cosines[name][pool]),
            )
            for name, ranks in self._ranks.items()
        ]  # fmt: skip
        places = self._places(lemma)
        columns += [self._contrasts(lemma, pool, places), self._cooccurrence(lemma, pool, places)]
        columns.append(self._log_counts[pool])
        return LemmaPool(pool, cosines["vectors"][pool], np.stack(columns, axis=1))

    def _cosines(self, name: str, lemma: int) -> np.ndarray:
        out = np.empty(self.counts.size)
        if name == "vectors":
            kernel.similar_vectors(self.vectors, self._squares[name], lemma, out)
            return out
        rows, squares = self._rows[name], self._squares[name]
        columns = self._columns_of(name)
        if columns is None:
            kernel.similar_rows(*rows, squares, lemma, np.zeros(1 << 16, np.int32), out)
            return out
        own = slice(int(rows.starts[lemma]), int(rows.starts[lemma + 1]))
        totals = np.zeros(out.size, np.int32)
        kernel.similar_columns(
            *columns, rows.features[own], rows.weights[own], squares, lemma, totals, out
        )
        return out

    def _columns_of(self, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Return rows by feature; None for the first words, and where there are too many rows."""
        if self._asked < _BY_COLUMNS or self.counts.size > _MOST_ROWS:
            return None
        with self._lock:
            if name not in self._columns:
                self._columns[name] = self._rows[name].columns()
            return self._columns[name]

    def _step(self, lemma: int, n_sampled: int) -> int:
        """Return n so that every n-th place of a lemma is `n_sampled` places at most."""
        return -(-max(1, int(self.counts[lemma])) // n_sampled)

    def _places(self, lemma: int) -> list[tuple[Shard, np.ndarray]]:
        """Return each shard with the places of a lemma, uint32, ascending."""
        forms = self.all_forms[self._starts[lemma] : self._starts[lemma + 1]]
        ids = [np.array([form]) for form in forms.tolist()]
        return [(shard, shard.sorted_positions(ids)) for shard in self._index.shards]

    def _contrasts(
        self, lemma: int, pool: np.ndarray, places: list[tuple[Shard, np.ndarray]]
    ) -> np.ndarray:
        """Return ln of 1 and how often patterns of opposites join lemmas with one.

        Arguments:
            pool: int64[n], numbers of the lemmas. places: of the one.
        """
        counts = np.zeros(pool.size, np.int64)
        numbers = self._unused.pop() if self._unused else np.full(self._lemma_of.size, -1, np.int32)
        ids, starts = self.forms(pool)
        sizes = np.diff(np.append(starts, ids.size))
        numbers[ids] = np.repeat(np.arange(pool.size), sizes)
        step = self._step(lemma, _MOST_JOINS)
        for shard, sampled in nth_of(places, step):
            self._contrasted.count(shard, sampled, frozen(numbers), counts)
        numbers[ids] = -1
        self._unused.append(numbers)
        ratios: np.ndarray = np.log1p(counts * step)
        return ratios

    def _cooccurrence(
        self, lemma: int, pool: np.ndarray, places: list[tuple[Shard, np.ndarray]]
    ) -> np.ndarray:
        """Return ln of how much more often than chance lemmas stand in sentences with one.

        Arguments:
            pool: int64[n], numbers of the lemmas. places: of the one.
        """
        counts, sampled = np.zeros(self.counts.size, np.int64), 0
        lemma_of = frozen(self._lemma_of)
        for shard, sampled_places in nth_of(places, self._step(lemma, _MOST_SENTENCES)):
            last = np.full(counts.size, -1, np.int64)
            sampled += kernel.count_cooccurrences(
                shard.tokens, frozen(sampled_places), lemma_of, last, counts
            )
        scale = self._sentences[lemma] / max(1, sampled)
        expected = self._sentences[pool] * (self._sentences[lemma] / max(1, self._n_sentences))
        ratios: np.ndarray = np.log((counts[pool] * scale + 0.5) / (expected + 0.5))
        return ratios


@dataclass(frozen=True)
class WordOptions:
    """How words are found.

    weights: of the features; those that ship where None. opposites: opposites of the target are
    put below the others.
    """

    weights: FinderWeights | None = None
    opposites: bool = True


def _highest(values: np.ndarray, n: int) -> np.ndarray:
    """Return the places of the n highest values, highest first, the first of equal ones first.

    Arguments:
        values: float64[m]. n: m at most.
    """
    if n == 0:
        return np.empty(0, np.int64)
    least = np.partition(values, values.size - n)[values.size - n]
    places = np.flatnonzero(values >= least)
    chosen: np.ndarray = places[np.argsort(-values[places], kind="stable")[:n]]
    return chosen


def _squares(vectors: np.ndarray) -> np.ndarray:
    """Return the squared length of each vector, float64[n].

    Arguments:
        vectors: int8[n, n_dimensions].
    """
    squares = np.empty(len(vectors))
    for first in range(0, squares.size, _BLOCK):
        values = vectors[first : first + _BLOCK].astype(np.int32)
        squares[first : first + _BLOCK] = np.einsum("ij,ij->i", values, values)
    return squares
