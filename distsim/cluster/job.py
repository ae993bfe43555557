"""A run's folder and the data that its tasks share: words, frequent keys, features, parts."""

from collections.abc import Iterator
from dataclasses import fields
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distsim import storage
from distsim.cluster.kernels import mark_keys
from distsim.cluster.plan import mapped, read_plan, save
from distsim.cluster.shuffled_source import ClusterText, SummedBlocks, read_packets
from distsim.cluster.words import CorpusWords
from distsim.contexts.ngram import space_of_words
from distsim.contexts.weights import FeatureSpace, Weigher
from distsim.indexes.corpus_index import CorpusIndex
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import bucket_starts
from distsim.signatures.composition import PartVectors
from distsim.signatures.projections.spectral import SpectralProjection
from distsim.signatures.recipe import ResolvedRecipe

_FEATURES = ("families", "hashes", "marginals", "totals")
_MORE_FEATURES = ("log_p", "kept")
_MORE_BITS = 4  # so that fifteen in sixteen of what is not among the keys are told by a bit


class FrequentKeys(NamedTuple):
    """Keys of frequent phrases with their buckets, for `frequent_phrases`.

    Attributes:
        keys: uint64, ascending.
        starts: int64, the first key of each bucket by the leading `bits` bits.
        bits: number of leading bits of a key that name its bucket.
        marks: uint8, which values the leading `mark_bits` bits have.
        mark_bits: number of leading bits of a key that name its bit in marks.
        mask: the bits of a key that count.
    """

    keys: np.ndarray
    starts: np.ndarray
    bits: int
    marks: np.ndarray
    mark_bits: int
    mask: np.uint64


class Job:
    """One run as its tasks see it; shared arrays are mapped once a process.

    Arguments:
        folder: of the run, in which the plan is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plan = read_plan(folder)
        self.texts = folder.parent / f"text-{self.plan.text[:12]}"

    @property
    def n_parts(self) -> int:
        """The number of parts of the corpus."""
        return len(self.plan.parts)

    @property
    def n_ranges(self) -> int:
        """The number of ranges of hashes."""
        return self.plan.n_ranges

    @property
    def shuffles_words(self) -> bool:
        """Whether words' contexts are needed before those of phrases: to learn, to compose."""
        return self.plan.recipe.is_learned

    @property
    def makes_finder(self) -> bool:
        """Whether the finder of substitutes is made."""
        return self.plan.finder

    def path(self, stage: str, number: int | None = None, suffix: str = "") -> Path:
        """Return the path that a stage writes, or one of its tasks.

        Arguments:
            stage: its name.
            number: of the task; None: of the whole stage.
            suffix: of the file's name.
        """
        return self.folder / stage / (f"{number:06d}{suffix}" if number is not None else "")

    def index_path(self, part: int) -> Path:
        """Return the path of the index of a part.

        Arguments:
            part: number of the part, from 0.
        """
        return self.texts / f"{part:06d}.index"

    def index(self, part: int) -> CorpusIndex | None:
        """Return the index of a part, None where it has no token left.

        Arguments:
            part: number of the part, from 0.
        """
        path = self.index_path(part)
        if not storage.holds_artifact(path):
            return None
        artifact = storage.Artifact(path, storage.INDEX)
        return CorpusIndex(artifact) if artifact.parameters["shards"] else None

    @property
    def drops_lines(self) -> bool:
        """Whether lines that occur in an earlier part are dropped."""
        return self.plan.options.dedup == "exact"

    @cached_property
    def words(self) -> CorpusWords:
        """All words of the corpus."""
        return CorpusWords(self.folder / "words")

    @cached_property
    def lowest(self) -> int:
        """The least count of a selected phrase."""
        return int(mapped(self.folder / "words" / "lowest.npy")[0])

    @cached_property
    def frequent(self) -> FrequentKeys:
        """Keys of the phrases that may be signed, with their buckets."""
        keys = mapped(self.folder / "words" / "frequent.npy")
        bits = min(24, max(1, int(keys.size).bit_length()))
        mask = np.uint64((1 << 64) - (1 << (64 - self.plan.key_bits)))
        mark_bits = bits + _MORE_BITS
        starts, marks = bucket_starts(frozen(keys), bits), mark_keys(frozen(keys), mark_bits)
        return FrequentKeys(keys, frozen(starts), bits, frozen(marks), mark_bits, mask)

    @cached_property
    def space(self) -> FeatureSpace:
        """All context features, mapped from the files of `write_space`."""
        folder = self.folder / "features"
        arrays: dict[str, Any] = {
            name: mapped(path)
            for name in _FEATURES + _MORE_FEATURES
            if (path := folder / f"{name}.npy").exists()
        }
        return FeatureSpace(tuple(self.plan.model.manifest()["families"]), **arrays)

    def write_space(self) -> None:
        """Write all context features with the counts that their weights need."""
        words, model = self.words, self.plan.model
        space = Weigher(self.plan.recipe.weighting).prepared(
            space_of_words(words.text, words.offsets, words.counts, words.slots, *model.shape)
        )
        for name in _FEATURES + _MORE_FEATURES:
            values = getattr(space, name)
            if values is not None:
                save(self.folder / "features" / f"{name}.npy", values)

    @cached_property
    def projection(self) -> SpectralProjection:
        """The learned projection."""
        return SpectralProjection.open(self.folder / "projection")

    def resolved(self, text: ClusterText) -> ResolvedRecipe:
        """Return the resolved recipe for a text of some ranges, with the learned projection.

        Arguments:
            text: the counted phrases of some ranges of hashes.
        """
        return self.plan.recipe.resolve(text, lambda training: self.projection)

    @cached_property
    def parts(self) -> PartVectors | None:
        """The words' vectors of which phrases are composed, None where they are not."""
        if self.plan.recipe.composition is None:
            return None
        folder = self.folder / "parts"
        return PartVectors(*(mapped(folder / f"{field.name}.npy") for field in fields(PartVectors)))

    def word_packets(self, ranges: range | None = None) -> Iterator[bytes]:
        """Yield the summed contexts of words, of some ranges or all.

        Arguments:
            ranges: numbers of ranges of hashes; None: all.
        """
        for number in range(self.n_ranges) if ranges is None else ranges:
            yield from read_packets(self.path("word-contexts", number))

    def text_of_words(self, ranges: range | None = None) -> ClusterText:
        """Return the words of some ranges, or of all, as a text.

        Arguments:
            ranges: numbers of ranges of hashes; None: all.
        """
        blocks = SummedBlocks(lambda: self.word_packets(ranges), self.words)
        return ClusterText(self.plan, self.words, self.space, self.lowest, blocks)


@lru_cache(maxsize=2)
def open_job(folder: Path) -> Job:
    """Return the run in a folder; each process opens it once.

    Arguments:
        folder: folder of the run.
    """
    return Job(folder)
