"""Profiles of lemmas, stored beside a table, by which substitutes of words are found.

Of each lemma: its vector; its profile of words within two places, left and right apart; its profile
of frames, the word before and the word behind together; and, for each of the three, how similar
its nearest lemmas are, so that the rank of any other in its list can be told.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distsim import storage
from distsim.base.errors import ParameterError, counted
from distsim.base.parallel import Progress, no_progress, ordered_map
from distsim.comparison.finder import kernels as kernel
from distsim.comparison.finder.inflections import Forms, Lemmas, LemmaVectors
from distsim.comparison.finder.lexicon import CountedWords, Lexicon
from distsim.comparison.finder.profile_counts import (
    BLOCK_LEMMAS,
    CountedProfiles,
    InThreads,
    count_profiles,
)
from distsim.comparison.finder.space import PartSpace, open_space
from distsim.corpus.inflections import AUTO, Inflections, chosen_inflections
from distsim.indexes.corpus_index import CorpusIndex
from distsim.kernels.compiled import frozen
from distsim.signatures.table import StoredTable
from distsim.storage.manifest import finder_inside

FEWEST_LEMMAS = 100
SPACES = ("vectors", "words", "frames")
_SUBSAMPLE = 1e-4  # as in the table: share of the text from which a context counts less
_CONTEXT_EXPONENT = 0.75  # of a context's count, by which frequent contexts weigh less
_SHIFT = {"words": 1.0, "frames": 0.0}
_REFERENCES = {"vectors": 4096, "words": 1024, "frames": 1024}
_MAX_INT8 = 127


class SparseRows(NamedTuple):
    """Sparse rows: row i has features[starts[i]:starts[i + 1]], uint16, with weights, uint8."""

    starts: np.ndarray
    features: np.ndarray
    weights: np.ndarray

    def squares(self) -> np.ndarray:
        """Return the sum of the squared weights of each row, float64[n]."""
        squares = np.zeros(self.starts.size - 1)
        for first in range(0, squares.size, BLOCK_LEMMAS):  # that stay in the processor's cache
            bounds = self.starts[first : first + BLOCK_LEMMAS + 1]
            weights = self.weights[bounds[0] : bounds[-1]].astype(np.uint16)
            filled = np.flatnonzero(np.diff(bounds))  # np.add.reduceat knows no empty rows
            if filled.size:
                sums = np.add.reduceat(
                    weights * weights, bounds[filled] - bounds[0], dtype=np.int64
                )
                squares[first + filled] = sums
        return squares

    def columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the rows by feature: starts int64, numbers of rows uint16, weights uint8.

        Feature f is in rows[starts[f]:starts[f + 1]]; there are 2^16 rows at most.
        """
        columns = kernel.rows_by_feature(
            frozen(self.starts), frozen(self.features), frozen(self.weights), 1 << 16
        )
        starts, rows, weights = map(frozen, columns)
        return starts, rows, weights


def build_finder(
    index: CorpusIndex,
    table: StoredTable,
    *,
    inflections: str = AUTO,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> Path:
    """Return the folder of the finder of substitutes of words, which is stored beside a table.

    Arguments:
        index: whose words are counted.
        table: learned, signed from it.
        inflections: `auto`, by the language of the text, one that ships (`english`), `none` or a
            file of rules.
        jobs: threads; as many as the machine has cores where None.
        progress: is told the stage, the lemmas done and their total.

    Raises:
        ParameterError: the table is not learned from plain text, or there are too few words.
        ArtifactError: the folder cannot be written.

    >>> build_finder(index, learned, inflections="none").name
    'finder'
    """
    space = open_space(index, table)
    if space is None:
        raise ParameterError(
            f"{table.path}: only a learned table of plain text has a finder: sign the index "
            "with the preset learned"
        )
    progress("lemmas", 0, None)
    inflections = chosen_inflections(inflections, index)
    try:
        chosen = FinderLemmas.choose(Lexicon(index), space, Inflections.open(inflections))
    except ParameterError as error:
        raise ParameterError(f"{index.path}: {error}") from None
    in_threads, folder = partial(ordered_map, jobs=jobs), finder_inside(table.path)
    with storage.create(folder, storage.FINDER) as writer:
        counted = count_profiles(index, chosen.lemmas, in_threads, progress)
        for name, values in finder_arrays(chosen, counted, in_threads, progress):
            writer.add(name, values)
        writer.parameters = finder_parameters(
            table, index.corpus, chosen, counted.n_sentences, inflections
        )
    return folder


class FinderLemmas(NamedTuple):
    """The lemmas of a finder.

    Attributes:
        lemmas: in the word ids of the text.
        bases: int64[n], ids of their base words.
        vectors: whole numbers[n, n_dimensions], int8.
        rules: checksum of the rules of inflection.
    """

    lemmas: Lemmas
    bases: np.ndarray
    vectors: np.ndarray
    rules: str

    @classmethod
    def choose(
        cls, words: CountedWords, space: PartSpace, inflections: Inflections
    ) -> "FinderLemmas":
        """Return the lemmas of a text.

        Arguments:
            words: of the text.
            space: their vectors.
            inflections: of the language.

        Raises:
            ParameterError: there are too few.
        """
        words.learn_all()
        forms = Forms(inflections, words, space)
        lemmas = Lemmas.of(words, forms)
        n = len(lemmas.words)
        if n < FEWEST_LEMMAS:
            raise ParameterError(
                f"{counted(n, 'word')} occur often enough for a finder, wanted "
                f"{FEWEST_LEMMAS}: sign with "
                "--set finder=false, or give more text"
            )
        vectors = LemmaVectors(space, forms, words).rows([(word,) for word in lemmas.words])
        largest = np.abs(vectors).max(axis=1, keepdims=True)
        scaled = np.divide(
            vectors * _MAX_INT8, largest, out=np.zeros_like(vectors), where=largest > 0
        )
        bases = words.ids(lemmas.words).astype(np.int64)
        return cls(lemmas, bases, np.rint(scaled).astype(np.int8), inflections.checksum)


def finder_arrays(
    chosen: FinderLemmas, counted: CountedProfiles, in_threads: InThreads, progress: Progress
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the arrays of a finder with their names.

    Arguments:
        chosen: the lemmas.
        counted: what was counted around them in the whole text.
        in_threads: map, of several threads.
        progress: is told the stage, lemmas done and their total.
    """
    lemmas = chosen.lemmas
    yield "vectors/values", chosen.vectors
    yield "vectors/ranks", _by_vectors(chosen.vectors, progress).astype(np.float32)
    for name, rows in _profiles(lemmas, counted).items():
        for part, array in rows._asdict().items():
            yield f"{name}/{part}", array
        ranks = _by_rows(rows, _REFERENCES[name], in_threads, progress)
        yield f"{name}/ranks", ranks.astype(np.float32)
    yield "sentences", counted.sentences
    yield "counts", lemmas.counts
    yield "bases", chosen.bases
    yield "forms", lemmas.forms.astype(np.uint32)
    yield "form_starts", lemmas.starts


def finder_parameters(
    table: StoredTable, corpus: str, chosen: FinderLemmas, n_sentences: int, inflections: str
) -> dict[str, Any]:
    """Return the parameters of a finder's manifest.

    Arguments:
        table: that it belongs to.
        corpus: fingerprint of the text that was counted.
        chosen: the lemmas.
        n_sentences: of the text.
        inflections: name or file of the rules.
    """
    return {
        "table": table.artifact.checksum,
        "corpus": corpus,
        "inflections": Path(inflections).name,
        "rules": chosen.rules,
        "lemmas": chosen.lemmas.counts.size,
        "sentences": n_sentences,
    }


def _profiles(lemmas: Lemmas, counted: CountedProfiles) -> dict[str, SparseRows]:
    """Return the weighed profiles of words and of frames of every lemma."""
    n_contexts, n_frames = counted.n_contexts, counted.n_frames
    shares = np.minimum(1.0, np.sqrt(_SUBSAMPLE * lemmas.counts.sum() / lemmas.counts[:n_contexts]))
    weighed = partial(_weighed, counted.starts, counted.features, counted.counts)
    n_words, n_features = 2 * n_contexts, 2 * n_contexts + n_frames
    return {
        "words": weighed(0, n_words, np.tile(shares, 2), _SHIFT["words"]),
        "frames": weighed(n_words, n_features, np.ones(n_frames), _SHIFT["frames"]),
    }


def _weighed(
    starts: np.ndarray,
    features: np.ndarray,
    counts: np.ndarray,
    first: int,
    stop: int,
    shares: np.ndarray,
    shift: float,
) -> SparseRows:
    """Return the weights of the features first to stop - 1 of counted rows.

    Arguments:
        starts: int64[n + 1], where each row begins.
        features, counts: uint32, of all rows end to end.
        first, stop: half-open range of features.
        shares: float64[stop - first], factor of the counts of each.
        shift: subtracted from the logarithm.
    """
    own = (features >= first) & (features < stop)
    sizes = np.add.reduceat(np.append(own, False).astype(np.int64), starts[:-1])
    sizes[np.diff(starts) == 0] = 0
    bounds = np.append(0, np.cumsum(sizes))
    columns, times = features[own] - np.uint32(first), counts[own]
    totals = np.bincount(columns, times, stop - first) * shares
    raised = np.maximum(totals, 1e-300) ** _CONTEXT_EXPONENT
    log_p = np.log(raised / max(raised.sum(), 1e-300))
    out_starts = np.zeros(starts.size, np.int64)
    out, weights = np.empty(columns.size, np.uint16), np.empty(columns.size, np.uint8)
    n = kernel.weigh_profiles(
        *map(frozen, (bounds, columns, times, shares, log_p)), shift, out_starts, out, weights
    )
    return SparseRows(out_starts, out[:n], weights[:n])


def levels(n_references: int) -> np.ndarray:
    """Return the ranks, from 0, at which cosines are kept, int64: 0, 1, 3, 7 ...

    Arguments:
        n_references: lemmas among which ranks are taken.
    """
    ranks = (1 << np.arange(20)) - 1
    return ranks[ranks < n_references - 1]


def _by_vectors(vectors: np.ndarray, progress: Progress) -> np.ndarray:
    """Return the cosines of each vector at some ranks among the most frequent lemmas'.

    Products of whole numbers below 2^24 are exact in float32, in whatever order they are added.

    Arguments:
        vectors: whole numbers[n, dimensions], of the lemmas, the most frequent first.
    """
    values = vectors.astype(np.float32)
    lengths = np.sqrt(np.maximum((values.astype(np.float64) ** 2).sum(axis=1), 1.0))
    n_references = min(_REFERENCES["vectors"], len(values))
    ranks = levels(n_references)
    out = np.empty((len(values), ranks.size))
    for first in range(0, len(values), BLOCK_LEMMAS):
        block = values[first : first + BLOCK_LEMMAS]
        cosines = -(block @ values[:n_references].T).astype(np.float64)
        cosines /= lengths[first : first + len(block), None] * lengths[:n_references]
        own = np.arange(first, min(first + len(block), n_references))
        cosines[own - first, own] = 1.0
        out[first : first + len(block)] = -np.partition(cosines, ranks, axis=1)[:, ranks]
        progress("ranks", first + len(block), len(values))
    return out


def _by_rows(
    rows: SparseRows, max_references: int, in_threads: InThreads, progress: Progress
) -> np.ndarray:
    """Return the cosines of each sparse row at some ranks among the most frequent lemmas'."""
    references = np.arange(min(max_references, rows.starts.size - 1))
    ranks = levels(references.size)
    stop = int(rows.starts[references.size])
    order = np.argsort(rows.features[:stop], kind="stable")
    owners = np.repeat(references, np.diff(rows.starts[: references.size + 1]))[order]
    n_features = int(rows.features.max(initial=0)) + 1
    by_feature = np.searchsorted(rows.features[:stop][order], np.arange(n_features + 1))
    weights = rows.weights[:stop][order]
    arguments = [
        *(frozen(array) for array in (*rows, rows.squares())),
        *(frozen(array) for array in (references, by_feature, owners.astype(np.uint16), weights)),
    ]

    def block(first: int) -> np.ndarray:
        n_rows = min(BLOCK_LEMMAS, rows.starts.size - 1 - first)
        cosines = np.empty((n_rows, references.size))
        kernel.reference_cosines(*arguments[:4], first, *arguments[4:], cosines)
        return -np.partition(cosines, ranks, axis=1)[:, ranks].astype(np.float32)

    n, blocks = rows.starts.size - 1, []
    for first, rows_of_block in enumerate(in_threads(block, range(0, n, BLOCK_LEMMAS))):
        blocks.append(rows_of_block)
        progress("ranks", min(n, (first + 1) * BLOCK_LEMMAS), n)
    return np.concatenate(blocks)
