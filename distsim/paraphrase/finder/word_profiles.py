"""Profiles of lemmas, stored beside a table, by which substitutes of words are found.

Of each lemma: its vector; its profile of words within two places, left and right apart; its profile
of frames, the word before and the word behind together; and, for each of the three, how similar
its nearest lemmas are, so that the rank of any other in its list can be told.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distsim import storage
from distsim.base.errors import ParameterError
from distsim.base.parallel import Progress, no_progress, ordered_map
from distsim.corpus.inflections import Inflections
from distsim.corpus.language import AUTO
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.shard import damaged
from distsim.kernels.compiled import frozen
from distsim.kernels.contexts import add_rows
from distsim.paraphrase.finder.inflections import Forms
from distsim.paraphrase.finder.lemmas import Lemmas
from distsim.paraphrase.finder.lexicon import Lexicon
from distsim.paraphrase.finder.likeness import LemmaVectors
from distsim.paraphrase.finder.space import open_space
from distsim.paraphrase.kernels import finder as kernel
from distsim.signatures.table import StoredTable
from distsim.storage.manifest import finder_inside

MOST_CONTEXTS = 20_000  # lemmas that are context
MOST_FRAMES = 1 << 16
LEAST_FRAME = 30  # occurrences
FEWEST_LEMMAS = 100
SPACES = ("vectors", "words", "frames")
_SUBSAMPLE = 1e-4  # as in the table: share of the text from which a context counts less
_ALPHA = 0.75
_SHIFT = {"words": 1.0, "frames": 0.0}
_REFERENCES = {"vectors": 4096, "words": 1024, "frames": 1024}
_BLOCK_LEMMAS = 256
_BLOCKS = 64
_TOKENS_A_PART = 1 << 26  # whose frames are counted at once
_LARGEST = 127


class SparseRows(NamedTuple):
    """Sparse rows: row i has features[starts[i]:starts[i + 1]], uint16, with weights, uint8."""

    starts: np.ndarray
    features: np.ndarray
    weights: np.ndarray

    def squares(self) -> np.ndarray:
        """Return the sum of the squared weights of each row, float64[n]."""
        squares = np.empty(self.starts.size - 1)
        for first in range(0, squares.size, _BLOCK_LEMMAS):  # that stay in the processor's cache
            bounds = self.starts[first : first + _BLOCK_LEMMAS + 1]
            weights = self.weights[bounds[0] : bounds[-1]].astype(np.float32)
            sums = np.append(0.0, np.cumsum(weights * weights, dtype=np.float64))
            squares[first : first + _BLOCK_LEMMAS] = np.diff(sums[bounds - bounds[0]])
        return squares

    def columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the rows by feature: starts int64, numbers of rows uint16, weights uint8.

        Feature f is in rows[starts[f]:starts[f + 1]]; there are 2^16 rows at most.
        """
        order = np.argsort(self.features, kind="stable")
        numbers = np.arange(self.starts.size - 1, dtype=np.uint16)
        rows = np.repeat(numbers, np.diff(self.starts))[order]
        counts = np.bincount(self.features, minlength=1 << 16)
        starts = np.append(0, np.cumsum(counts))
        return frozen(starts), frozen(rows), frozen(self.weights[order])


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
    lexicon = Lexicon(index)
    inflections = index.language if inflections == AUTO else inflections
    forms = Forms(Inflections.open(inflections), lexicon, space)
    lemmas = Lemmas.of(lexicon, forms)
    if len(lemmas.words) < FEWEST_LEMMAS:
        raise ParameterError(
            f"{index.path}: {len(lemmas.words)} words occur often enough for a finder, wanted "
            f"{FEWEST_LEMMAS}: sign with --set finder=false, or give more text"
        )
    vectors = LemmaVectors(space, forms, lexicon).rows([(word,) for word in lemmas.words])
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = np.divide(vectors * _LARGEST, largest, out=np.zeros_like(vectors), where=largest > 0)
    in_threads, folder = partial(ordered_map, jobs=jobs), finder_inside(table.path)
    with storage.create(folder, storage.FINDER) as writer:
        rows = _profiles(index, lemmas, in_threads, progress)
        whole = np.rint(scaled).astype(np.int8)
        writer.add("vectors/values", whole)
        _add_ranks(writer, "vectors", _by_vectors(whole, progress))
        for name, own in rows.items():
            for part, array in own._asdict().items():
                writer.add(f"{name}/{part}", array)
            _add_ranks(writer, name, _by_rows(own, _REFERENCES[name], in_threads, progress))
        lemma_of = lemmas.of_words(index.n_words)
        sentences, n_sentences = np.zeros(lemmas.counts.size, np.uint32), 0
        for shard in index.shards:
            own, n = kernel.sentences_of_lemmas(shard.tokens, frozen(lemma_of), sentences.size)
            sentences, n_sentences = sentences + own, n_sentences + n
        writer.add("sentences", sentences)
        writer.add("counts", lemmas.counts)
        writer.add("bases", lexicon.ids(lemmas.words).astype(np.int64))
        writer.add("forms", lemmas.forms.astype(np.uint32))
        writer.add("form_starts", lemmas.starts)
        writer.parameters = {
            "table": table.artifact.checksum,
            "corpus": index.parameters["corpus"],
            "inflections": Path(inflections).name,
            "rules": forms.inflections.checksum,
            "lemmas": len(lemmas.words),
            "sentences": n_sentences,
        }
    return folder


InThreads = Callable[..., Iterator[Any]]


def _profiles(
    index: CorpusIndex, lemmas: Lemmas, in_threads: InThreads, progress: Progress
) -> dict[str, SparseRows]:
    """Return the weighed profiles of words and of frames of every lemma."""
    lemma_of = lemmas.of_words(index.n_words)
    n_lemmas, n_contexts = lemmas.counts.size, min(MOST_CONTEXTS, lemmas.counts.size)
    frames = _frequent_frames(index, lemma_of, progress)
    slots = 1 << max(4, int(frames.size).bit_length() + 1)
    keys, numbers = map(frozen, kernel.frame_table(frozen(frames), slots))
    contexts = frozen(np.where(lemma_of < n_contexts, lemma_of, -1).astype(np.int32))
    n_features = 2 * n_contexts + frames.size

    def counted(block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first, stop = block
        bounds = lemmas.starts[first : stop + 1]
        forms = frozen(lemmas.forms[bounds[0] : bounds[-1]])
        seen = np.zeros(n_features, np.uint32)
        parts = []
        for shard in index.shards:
            state, *part = kernel.count_profiles(
                shard.tokens, shard.suffixes, shard.word_starts, forms,
                frozen(bounds - bounds[0]), contexts, n_contexts, keys, numbers, seen,
            )  # fmt: skip
            if state < 0:
                raise damaged(index.path)
            parts.append(part)
        if len(parts) > 1:
            ends = np.cumsum([0, *(part[1].size for part in parts)])
            starts = np.stack([part[0] + end for part, end in zip(parts, ends, strict=False)])
            columns = (np.concatenate([part[k] for part in parts]) for k in (1, 2))
            parts = [add_rows(*map(frozen, (starts, *columns)), seen)]
        starts, features, counts = parts[0]
        kernel.order_rows(frozen(starts), features, counts)
        return starts, features, counts

    ends = np.cumsum(lemmas.counts.astype(np.int64))
    # A block has as many lemmas, or the part of their occurrences, that a thread counts at once.
    begins = np.diff(ends // (ends[-1] // _BLOCKS + 1), prepend=-1) > 0
    begins[::_BLOCK_LEMMAS] = True
    parts = list(pairwise([*np.flatnonzero(begins).tolist(), n_lemmas]))
    blocks = []
    for (_, stop), block in zip(parts, in_threads(counted, parts), strict=True):
        blocks.append(block)
        progress("finder", int(ends[stop - 1]), int(ends[-1]))
    starts = np.concatenate([[0], *(block[0][1:] for block in blocks)])
    base = np.cumsum([0, *(block[1].size for block in blocks)])
    owner = np.repeat(np.arange(len(blocks)), [block[0].size - 1 for block in blocks])
    starts[1:] += base[owner]
    features, counts = (np.concatenate([block[k] for block in blocks]) for k in (1, 2))
    shares = np.minimum(1.0, np.sqrt(_SUBSAMPLE * lemmas.counts.sum() / lemmas.counts[:n_contexts]))
    weighed = partial(_weighed, starts, features, counts)
    return {
        "words": weighed(0, 2 * n_contexts, np.tile(shares, 2), _SHIFT["words"]),
        "frames": weighed(2 * n_contexts, n_features, np.ones(frames.size), _SHIFT["frames"]),
    }


def _frequent_frames(index: CorpusIndex, lemma_of: np.ndarray, progress: Progress) -> np.ndarray:
    """Return the frames seen LEAST_FRAME times around lemmas, uint64, the MOST_FRAMES commonest.

    Arguments:
        lemma_of: int32[n_words], -1 for a word that has none.
    """
    n_parts = 1 + sum(shard.tokens.size for shard in index.shards) // _TOKENS_A_PART
    found, counts = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for part in range(n_parts):
        progress("frames", part, n_parts)
        around = [
            kernel.frames_around(shard.tokens, frozen(lemma_of), part, n_parts)
            for shard in index.shards
        ]
        frames, times = np.unique(np.concatenate(around), return_counts=True)
        found.append(frames[times >= LEAST_FRAME])
        counts.append(times[times >= LEAST_FRAME])
    frames, times = np.concatenate(found), np.concatenate(counts)
    return np.sort(frames[np.lexsort((frames, -times))[:MOST_FRAMES]])


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
    raised = np.maximum(totals, 1e-300) ** _ALPHA
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


def _add_ranks(writer: storage.ArtifactWriter, name: str, cosines: np.ndarray) -> None:
    writer.add(f"{name}/ranks", cosines.astype(np.float32))


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
    for first in range(0, len(values), _BLOCK_LEMMAS):
        block = values[first : first + _BLOCK_LEMMAS]
        cosines = -(block @ values[:n_references].T).astype(np.float64)
        cosines /= lengths[first : first + len(block), None] * lengths[:n_references]
        own = np.arange(first, min(first + len(block), n_references))
        cosines[own - first, own] = 1.0
        out[first : first + len(block)] = -np.partition(cosines, ranks, axis=1)[:, ranks]
        progress("ranks", first + len(block), len(values))
    return out


def _by_rows(rows: SparseRows, most: int, in_threads: InThreads, progress: Progress) -> np.ndarray:
    """Return the cosines of each sparse row at some ranks among the most frequent lemmas'."""
    references = np.arange(min(most, rows.starts.size - 1))
    ranks = levels(references.size)
    stop = int(rows.starts[references.size])
    order = np.argsort(rows.features[:stop], kind="stable")
    owners = np.repeat(references, np.diff(rows.starts[: references.size + 1]))[order]
    n_features = int(rows.features.max(initial=0)) + 1
    by_feature = np.searchsorted(rows.features[:stop][order], np.arange(n_features + 1))
    weights = rows.weights[:stop][order]
    given = [
        *(frozen(one) for one in (*rows, rows.squares())),
        *(frozen(one) for one in (references, by_feature, owners.astype(np.uint16), weights)),
    ]

    def block(first: int) -> np.ndarray:
        out = np.empty((min(_BLOCK_LEMMAS, rows.starts.size - 1 - first), ranks.size), np.float32)
        kernel.highest_cosines(*given[:4], first, *given[4:], frozen(ranks), out)
        return out

    n, blocks = rows.starts.size - 1, []
    for first, found in enumerate(in_threads(block, range(0, n, _BLOCK_LEMMAS))):
        blocks.append(found)
        progress("ranks", min(n, (first + 1) * _BLOCK_LEMMAS), n)
    return np.concatenate(blocks)
