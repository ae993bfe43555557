"""A linear map between the vectors of two tables, learned from a dictionary; translations by it.

Ridge regression (Dinu and others 2015) or orthogonal Procrustes (Artetxe and others 2016) on pairs
of words. Translations are ordered by cross-domain similarity local scaling (CSLS, Conneau and
others 2018, eq. 6): 2 cos(Wx, y) less the mean cosines of Wx and of y to their ten nearest.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from distsim import storage
from distsim.base.arguments import check_types, one_of, one_text, plain_number, shown, whole_number
from distsim.base.errors import (
    IncompatibleError,
    InputError,
    ParameterError,
    counted,
)
from distsim.base.linear_weights import ridge
from distsim.corpus.lines import decoded_line, read_lines
from distsim.corpus.sources import file_label
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import find_sorted
from distsim.signatures.projections.learn import unit_rows
from distsim.signatures.table import StoredTable, TableLike, opened_table
from distsim.storage import StoredArray
from distsim.storage.reading import Declaration

MapMethod = Literal["ridge", "orthogonal"]
_HUB_NEAREST = 10
_HUB_WORDS = 5000  # most frequent source words, of which the nearest of a target word are searched
_BLOCK = 4096
# Of 500 words known in both texts, found first among ten of 8,000: with 10 pairs .006, 50 .07, 200
# .41, 500 .67, 1,000 .76. Of tables of few dimensions fewer pairs are wanted.
_FEWEST_PAIRS = 10


class WordPair(NamedTuple):
    """A word and its translation.

    source, target: the words. weight: how much the pair counts in learning.

    >>> WordPair("king", "rey").weight
    1.0
    """

    source: str
    target: str
    weight: float = 1.0


class Translation(NamedTuple):
    """A word of the target table that is near a mapped vector.

    phrase: the word. similarity: cosine to the mapped vector. csls: the same, less the mean
    similarity of either to its nearest (Conneau et al. 2018). strength: occurrences.

    >>> Translation("rey", 0.5, 0.1, 12).strength
    12
    """

    phrase: str
    similarity: float
    csls: float
    strength: int


@dataclass(frozen=True, kw_only=True)
class MapOptions:
    """How a map is learned.

    Arguments:
        method: `ridge`, or `orthogonal`, which keeps the angles of source vectors.
        penalty: of ridge, in units of the mean of the diagonal of the pairs' covariance; from
            1e-6 to 1e6.

    Raises:
        ParameterError: there is no such method, or the penalty is out of its range.

    >>> MapOptions(method="orthogonal").penalty
    1.0
    """

    method: MapMethod = "ridge"
    penalty: float = 1.0

    def __post_init__(self) -> None:
        check_types(self)
        one_of(self.method, get_args(MapMethod), "`method`")
        if not 1e-6 <= self.penalty <= 1e6:
            raise ParameterError(f"`penalty` {self.penalty}: choose a number from 1e-6 to 1e6")


class WordSpace:
    """Unit vectors of a table's single words, the most frequent first.

    Attributes:
        words: n words. rows: int64, the place of each by its text.
        vectors: float32[n, n_dimensions].
        strengths: int64[n], occurrences.

    Arguments:
        table: a table, an index that was signed, or the path of either.

    Raises:
        IncompatibleError: the table keeps no vectors of words.
    """

    def __init__(self, table: TableLike) -> None:
        self.table = opened_table(table)
        parts = self.table.require_word_vectors()
        single = np.flatnonzero(self.table.token_counts() == 1)
        strengths = self.table.strengths[single].astype(np.int64)
        single = single[np.lexsort((self.table.hashes[single], -strengths))]
        at = find_sorted(frozen(parts.hashes), frozen(self.table.hashes[single]))
        single, at = single[at >= 0], at[at >= 0]
        self.words = [self.table.text(row) for row in single.tolist()]
        self.rows = {word: row for row, word in enumerate(self.words)}
        self.vectors = unit_rows(parts.unit_vectors(at))
        self.strengths = self.table.strengths[single].astype(np.int64)


def fit_map(
    source: NDArray[np.float32],
    target: NDArray[np.float32],
    weights: NDArray[np.float64],
    options: MapOptions,
) -> NDArray[np.float32]:
    """Return the matrix that maps source vectors near their targets, float32[ds, dt].

    Arguments:
        source, target: float32[n, ds] and float32[n, dt], the vectors of n pairs.
        weights: float64[n], how much each pair counts.
        options: ridge regression or orthogonal Procrustes.
    """
    with threadpool_limits(limits=1, user_api="blas"):  # sums in one order, whatever the cores
        weighed = source.astype(np.float64) * (weights / weights.max())[:, None]
        cross = weighed.T @ target
        if options.method == "orthogonal":
            left, _, right = np.linalg.svd(cross, full_matrices=False)
            return np.asarray(left @ right, np.float32)
        gram = weighed.T @ source
        penalty = options.penalty * float(np.trace(gram)) / len(gram)
        return np.asarray(ridge(gram, cross, penalty), np.float32)


def hubness(
    vectors: NDArray[np.float32], others: NDArray[np.float32], nearest: int = _HUB_NEAREST
) -> NDArray[np.float32]:
    """Return each vector's mean cosine to its nearest among others, float32[n].

    Arguments:
        vectors: float32[n, d], of length 1. others: float32[m, d], m at least 1.
        nearest: how many of the others the mean is over.
    """
    nearest = min(nearest, len(others))
    out = np.empty(len(vectors), np.float32)
    with threadpool_limits(limits=1, user_api="blas"):
        for begin in range(0, len(vectors), _BLOCK):
            cosines = vectors[begin : begin + _BLOCK] @ others.T
            cosines = np.partition(cosines, -nearest, axis=1)[:, -nearest:]
            out[begin : begin + _BLOCK] = np.sort(cosines, axis=1).mean(axis=1)
    return out


def read_pairs(path: str | Path) -> list[WordPair]:
    """Return the pairs of a dictionary file, as written.

    Arguments:
        path: lines `word<TAB>translation`, or with a weight above 0 in a third column; lines
            without text are passed over; `-` is standard input.

    Raises:
        InputError: a line is malformed, or the file has no pair.
    """
    label, pairs = file_label(path), list[WordPair]()
    for number, line in read_lines(path):
        place = f"{label}, line {number}"
        text = decoded_line(line, place)
        if not text.strip():
            continue
        word, tab, rest = text.partition("\t")
        translation, weighed, weight = rest.partition("\t")
        value = plain_number(weight.strip()) if weighed else 1.0
        if not (tab and word.strip() and translation.strip()):
            raise InputError(
                f"{place}: {text[:40]!r}, wanted word<TAB>translation: mend the line or leave it "
                "out"
            )
        if value is None or not 0 < value < np.inf:
            raise InputError(
                f"{place}: weight {weight[:40]!r}, wanted a number above 0: mend it or leave it out"
            )
        pairs.append(WordPair(word, translation, value))
    if not pairs:
        raise InputError(f"{label}: has no pair of words: write word<TAB>translation lines")
    return pairs


def _normal_pair(pair: Any, number: int, source: StoredTable, target: StoredTable) -> WordPair:
    """Return a pair in the normal forms of both tables.

    Raises:
        ParameterError: it is no pair of texts, perhaps with a weight above 0.
    """
    try:
        word, translation, weight = WordPair(*pair)
        value = float(weight)
    except (TypeError, ValueError):
        raise ParameterError(
            f"pairs[{number}]: is {shown(pair)}, wanted (word, translation) or (word, "
            "translation, weight)"
        ) from None
    if not 0 < value < np.inf:
        raise ParameterError(f"pairs[{number}]: weight {value}: choose a number above 0")
    return WordPair(_normal(word, source), _normal(translation, target), value)


def _normal(text: str, table: StoredTable) -> str:
    return " ".join(filter(None, map(table.normaliser.token, one_text(text, "pairs").split())))


def _require_enough(
    pairs: list[WordPair], n_dimensions: int, n_words: int, notice: Callable[[str], object]
) -> None:
    """Refuse pairs of so few different words that they say nothing of others; tell of few.

    Raises:
        ParameterError: there are fewer than _FEWEST_PAIRS, or half of the dimensions or of the
            words of a small table.
    """
    least = min(_FEWEST_PAIRS, max(2, min(n_dimensions, n_words) // 2))
    n = min(len({pair.source for pair in pairs}), len({pair.target for pair in pairs}))
    if n < least:
        raise ParameterError(
            f"`pairs`: {counted(n, 'different word')} with vectors on both sides: give "
            f"pairs of {least} at "
            "least, of some hundreds for useful translations"
        )
    if n < n_dimensions // 2:
        notice(
            f"{counted(n, 'different word')} are few for "
            f"{counted(n_dimensions, 'dimension')}: with some hundreds more "
            "translations are right"
        )


class VectorMap:
    """A map from the vectors of a source table to those of a target table.

    Attributes:
        matrix: float32[ds, dt]. hubs: float32[n], of each target word, for CSLS.
        parameters: method, penalty, number of pairs used, path and checksum of both tables.

    Arguments:
        artifact: of the map. source: another place of the source table than the one it names.

    Raises:
        ArtifactError: a table is not where it was. IncompatibleError: a table has changed.

    >>> from distsim.comparison import VectorMap
    >>> words = "king queen alice rabbit said the cat hatter dormouse hare".split()
    >>> pairs = [(word, word) for word in words]
    >>> made = VectorMap.learn(learned, learned, pairs, folder / "same.map")
    >>> made.parameters["pairs"], len(made.translations("the king", k=3))
    (10, 3)
    """

    ARRAYS: ClassVar[Declaration] = {
        "matrix": StoredArray(np.float32, "source dimensions", columns="dimensions"),
        "hubs": StoredArray(np.float32, "words"),
    }

    def __init__(self, artifact: storage.Artifact, *, source: TableLike | None = None) -> None:
        self.path = artifact.path
        self.parameters = artifact.parameters
        self.matrix, self.hubs = artifact.arrays(self.ARRAYS).values()
        with storage.understood(artifact.path):
            named = {side: self.parameters[side] for side in ("source", "target")}
            places = {side: self.path / str(entry["path"]) for side, entry in named.items()}
            checksums = {side: entry["checksum"] for side, entry in named.items()}
        self.source = opened_table(source if source is not None else places["source"])
        target = opened_table(places["target"])
        for side, table in (("source", self.source), ("target", target)):
            if table.artifact.checksum != checksums[side]:
                raise IncompatibleError(
                    f"{table.path}: is not the {side} table that {self.path} was learned from, or "
                    "has been signed again since: learn the map again (distsim map)"
                )
        self.target = WordSpace(target)
        dimensions = (self.source.n_dimensions, self.target.vectors.shape[1])
        if self.matrix.shape != dimensions or self.hubs.size != len(self.target.words):
            raise artifact.contradiction("matrix or hubs")

    @classmethod
    def open(cls, path: str | Path, *, source: TableLike | None = None) -> "VectorMap":
        """Return the map at a path, opened with its tables.

        Arguments:
            path: its folder. source: the source table, where it has moved.

        Raises:
            ArtifactError: there is no map, or no table. IncompatibleError: a table has changed.
        """
        return cls(storage.Artifact(path, storage.MAP), source=source)

    @classmethod
    def learn(
        cls,
        source: TableLike,
        target: TableLike,
        pairs: str | Path | Iterable[tuple[str, str] | WordPair],
        path: str | Path,
        *,
        options: MapOptions | None = None,
        force: bool = False,
        notice: Callable[[str], object] = lambda sentence: None,
    ) -> "VectorMap":
        """Return a map learned from pairs of words and written as an artifact.

        Arguments:
            source, target: tables that keep vectors of words, indexes that were signed, or paths.
            pairs: a file of word<TAB>translation lines, or pairs with or without weights.
            path: the map's folder. options: method and penalty; force: replace an artifact there.
            notice: called with a sentence on pairs that are left out.
            force: replace an artifact at `path`.

        Raises:
            InputError: a line of the file is malformed. IncompatibleError: a table has no vectors.
            ParameterError: an element of `pairs` is no pair, or too few different words have
                vectors on both sides.
        """
        options = options or MapOptions()
        storage.require_free(path, force)
        spaces = WordSpace(source), WordSpace(target)
        tables = [space.table for space in spaces]
        if isinstance(pairs, str | Path):
            pairs = read_pairs(pairs)
        if not isinstance(pairs, Iterable):
            raise ParameterError(f"pairs: is {shown(pairs)}, wanted a file or pairs of words")
        checked = [_normal_pair(pair, number, *tables) for number, pair in enumerate(pairs)]
        used = [p for p in checked if p.source in spaces[0].rows and p.target in spaces[1].rows]
        if not used:
            raise ParameterError(
                f"`pairs`: none of {len(checked):,} has vectors on both sides: give words that "
                "occur in both texts"
            )
        if len(used) < len(checked):
            notice(
                f"{len(checked) - len(used):,} of {counted(len(checked), 'pair')} left out: "
                "no vector"
            )
        _require_enough(
            used, spaces[0].vectors.shape[1], min(len(space.rows) for space in spaces), notice
        )
        matrix = fit_map(
            spaces[0].vectors[[spaces[0].rows[pair.source] for pair in used]],
            spaces[1].vectors[[spaces[1].rows[pair.target] for pair in used]],
            np.array([pair.weight for pair in used]),
            options,
        )
        mapped = unit_rows(spaces[0].vectors[:_HUB_WORDS] @ matrix)
        with storage.create(path, storage.MAP) as writer:
            writer.add("matrix", matrix)
            writer.add("hubs", hubness(spaces[1].vectors, mapped))
            writer.parameters = {**asdict(options), "pairs": len(used)}
            for side, table in zip(("source", "target"), tables, strict=True):
                place = os.path.relpath(table.path.resolve(), Path(path).resolve())
                named = {"path": place, "checksum": table.artifact.checksum}
                writer.parameters[side] = named
        return cls.open(path)

    def translations(self, phrase: str, *, k: int = 10) -> list[Translation] | None:
        """Return the k best target words by CSLS, None where no word of the phrase has a vector.

        Arguments:
            phrase: of the source table, as typed; of several words it is made of their vectors.
            k: how many, from 1.

        Raises:
            ParameterError: the phrase is empty, or `k` is below 1.
        """
        k = whole_number(k, "`k`", 1)
        (vector,) = self.source.vectors(one_text(phrase, "phrase"), of_words=True)
        if np.isnan(vector[0]):
            return None
        mapped = unit_rows((vector.astype(np.float32) @ self.matrix)[None, :])[0]
        with threadpool_limits(limits=1, user_api="blas"):
            cosines = self.target.vectors @ mapped
        n_near = min(_HUB_NEAREST, cosines.size)
        hubness_of_phrase = float(np.sort(np.partition(cosines, -n_near)[-n_near:]).mean())
        csls = 2 * cosines - self.hubs - hubness_of_phrase
        best = np.lexsort((np.arange(csls.size), -csls))[:k]
        return [
            Translation(
                self.target.words[row], float(cosines[row]), float(csls[row]),
                int(self.target.strengths[row]),
            )
            for row in best.tolist()
        ]  # fmt: skip
