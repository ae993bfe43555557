"""Counts syntactic features of the phrases of an annotated corpus, as sparse rows.

Every occurrence of every phrase goes through a triple store, phrase hash by place, so that a
phrase's occurrences come out side by side, in bounded memory; features are made only then,
for phrases that occur often enough, and counted in a table that lives in the cache.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from distsim.base.errors import ParameterError
from distsim.base.parallel import Progress, no_progress
from distsim.base.results import Results
from distsim.contexts.kernels import syntax as kernel
from distsim.contexts.ngram import NamedContext
from distsim.contexts.syntax.encoded import BLOCK_TOKENS, EncodedCorpus, Encoder
from distsim.contexts.syntax.model import LONGEST, SyntaxModel
from distsim.contexts.triples import TripleStore
from distsim.contexts.weights import ContextCounts, FeatureSpace, MarginalCounts, Weigher, Weighting
from distsim.corpus.annotation import NORMALISER, AnnotatedSentence
from distsim.corpus.kernels import render_phrases
from distsim.corpus.query import Lookup
from distsim.kernels.arrays import places_of_ranges
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import bucket_starts, find_in_buckets
from distsim.storage import scratch_folder

BATCH_PHRASES = 1 << 13
BATCH_OCCURRENCES = 1 << 16


class PhraseOccurrences(NamedTuple):
    """Some phrases, ascending by hash, with all their occurrences.

    Phrase p has occurrences[starts[p]:starts[p + 1]].

    Attributes:
        phrases: uint64[n], hashes.
        starts: int64[n + 1].
        occurrences: uint64, position and length in one number.
    """

    phrases: np.ndarray
    starts: np.ndarray
    occurrences: np.ndarray

    @property
    def strengths(self) -> np.ndarray:
        """Occurrences of each phrase, int64[n]."""
        return np.diff(self.starts)

    def up_to(self, length: int) -> "PhraseOccurrences":
        """Return the phrases of limited length.

        Arguments:
            length: the most tokens of a phrase.
        """
        kept = self.occurrences[self.starts[:-1]] & kernel.LENGTH_MASK < length
        if kept.all():
            return self
        sizes = np.diff(self.starts)
        return PhraseOccurrences(
            self.phrases[kept],
            np.concatenate([[0], np.cumsum(sizes[kept])]),
            self.occurrences[np.repeat(kept, sizes)],
        )


class FeatureRows(NamedTuple):
    """The features of some phrases, as sparse rows.

    Attributes:
        starts: int64[n + 1].
        hashes: uint64, of the features' names, each once a row.
        families: uint8, numbers of the model's templates.
        counts: uint32.
    """

    starts: np.ndarray
    hashes: np.ndarray
    families: np.ndarray
    counts: np.ndarray


class OccurrenceStore:
    """All phrases of an annotated corpus, with the features of their occurrences.

    Arguments:
        folder: for temporary files: the corpus as numbers (about 150 bytes a token) and what
            does not fit the memory.
        memory: bytes of the buffers.
        longest: tokens of a phrase, at most 8.
        block_tokens: tokens that are counted at a time.
    """

    def __init__(
        self, folder: str | Path, memory: int, longest: int, block_tokens: int = BLOCK_TOKENS
    ) -> None:
        self._encoder = Encoder(folder, block_tokens)
        self._store = TripleStore(folder, memory)
        self._longest = longest

    def read(
        self, sentences: Iterable[AnnotatedSentence], progress: Progress = no_progress
    ) -> EncodedCorpus:
        """Return all sentences as arrays; their phrases are stored.

        Arguments:
            progress: called with the stage and the tokens read.
        """
        for block in self._encoder.encode(sentences):
            text, offsets = self._encoder.texts.spelled()
            hashes, occurrences = kernel.hash_phrases(
                block.words, block.after, text, offsets, block.first, self._longest
            )
            self._store.add(hashes, occurrences, np.ones(hashes.size, np.uint8))
            progress("reading", self._encoder.n_tokens, None)
        return self._encoder.finish()

    def phrases(self, min_count: int) -> Iterator[PhraseOccurrences]:
        """Yield the phrases in batches, ascending by hash.

        Arguments:
            min_count: the lowest count of a phrase.
        """
        for part in self._store.partitions():
            sizes = np.diff(part.starts)
            kept = np.flatnonzero(sizes >= min_count)
            begin = 0
            while begin < kept.size:
                reach = np.cumsum(sizes[kept[begin : begin + BATCH_PHRASES]])
                stop = begin + max(1, int(np.searchsorted(reach, BATCH_OCCURRENCES, "right")))
                rows = kept[begin:stop]
                starts = np.concatenate([[0], reach[: rows.size]])
                places = np.repeat(part.starts[rows] - starts[:-1], sizes[rows])
                places += np.arange(starts[-1])
                yield PhraseOccurrences(part.phrases[rows], starts, part.features[places])
                begin = stop

    def lowest_count(self, min_count: int, max_phrases: int | None) -> int:
        """Return the lowest count that a selected phrase can have.

        Arguments:
            min_count: the lowest count that is wanted.
            max_phrases: the number of phrases wanted, the most frequent ones; all where None.
        """
        if max_phrases is None:
            return min_count
        counts: np.ndarray = np.empty(0, np.int64)
        for batch in self.phrases(min_count):
            counts = np.concatenate([counts, batch.strengths])
            if counts.size > 4 * max_phrases:
                counts = np.partition(counts, counts.size - max_phrases)[-max_phrases:]
        if counts.size < max_phrases:
            return min_count
        return int(np.partition(counts, counts.size - max_phrases)[-max_phrases:].min())

    def close(self) -> None:
        """Release memory and temporary files."""
        self._store.close()
        self._encoder.close()


class FeatureCounter:
    """Counts the features of phrases in one corpus; may be shared by threads.

    Arguments:
        corpus: the sentences as arrays.
        model: which features.
    """

    def __init__(self, corpus: EncodedCorpus, model: SyntaxModel) -> None:
        self._corpus = corpus
        self._model = model
        self._templates = model.kernel_templates(root_text=1)

    def count(self, batch: PhraseOccurrences) -> FeatureRows:
        """Return the features of the phrases of a batch."""
        return FeatureRows(
            *kernel.count_features(
                frozen(batch.occurrences), frozen(batch.starts), self._corpus.sentences,
                self._templates, self._corpus.text, self._corpus.offsets,
            )
        )  # fmt: skip

    def named(self, occurrences: np.ndarray) -> dict[str, int]:
        """Return the features of one phrase by name, with their counts.

        Arguments:
            occurrences: uint64, of the phrase.
        """
        packed, counts = kernel.count_packed(
            frozen(occurrences), self._corpus.sentences, self._templates
        )
        names = self._corpus.names
        count_of_name: dict[str, int] = {}
        for key, count in zip(packed.tolist(), counts.tolist(), strict=True):
            template = self._model.templates[key >> int(kernel.TEMPLATE_SHIFT)]
            mask = int(kernel.TEXT_MASK)
            name = template.name(names[(key >> int(kernel.TEXT_SHIFT)) & mask], names[key & mask])
            count_of_name[name] = count_of_name.get(name, 0) + count
        return count_of_name

    def render(self, batch: PhraseOccurrences) -> tuple[np.ndarray, np.ndarray]:
        """Return the texts of a batch's phrases, uint8 end to end, and int64[n + 1] offsets."""
        first = batch.occurrences[batch.starts[:-1]]
        positions = (first >> kernel.LENGTH_SHIFT).astype(np.int64)
        lengths = (first & kernel.LENGTH_MASK).astype(np.int64) + 1
        starts = np.cumsum(lengths) - lengths
        words = self._corpus.sentences.texts[places_of_ranges(positions, lengths), kernel.LEX]
        rendered: tuple[np.ndarray, np.ndarray] = render_phrases(
            frozen(words), frozen(starts), frozen(lengths), self._corpus.text, self._corpus.offsets
        )
        return rendered


def named_contexts(
    sentences: Iterable[AnnotatedSentence],
    phrase: str,
    model: SyntaxModel | None = None,
    weighting: Weighting | None = None,
) -> Results[NamedContext]:
    """Return (feature, count, weight) of a phrase's features, strongest first, then by name.

    The phrase is found whichever way its words were cut (`don't` as `do n't`).

    Arguments:
        sentences: read once.
        phrase: words separated by spaces.
        model: which features; all of them where None.
        weighting: how counts become weights; raw counts where None.

    Raises:
        ParameterError: the phrase is empty or too long, or the weights need more than counts.
    """
    model = model or SyntaxModel()
    weighting = weighting or Weighting()
    if weighting.uses_marginals:
        raise ParameterError(
            f"`weights` {weighting.scheme} needs the counts of all phrases: choose raw or log here"
        )
    spellings = _spellings(phrase)
    places_of_phrases: list[list[int]] = [[] for _ in spellings]
    with scratch_folder() as folder:
        encoder = Encoder(folder)
        for _ in encoder.encode(_holding(sentences, spellings, places_of_phrases)):
            pass
        occurrences = sorted(place for places in places_of_phrases for place in places)
        corpus = encoder.finish()
        if not occurrences:
            return Results()
        counter = FeatureCounter(corpus, model)
        named = counter.named(np.array(occurrences, np.uint64))
    counts = np.array(list(named.values()), np.uint32)
    features = np.arange(counts.size, dtype=np.uint32)
    none = np.empty(0)
    space = FeatureSpace(("",), np.zeros(counts.size, np.uint8), none, none, np.zeros(1))
    row = ContextCounts(np.array([0, counts.size]), features, counts)
    weights = Weigher(weighting).weigh(row, space).tolist()
    rows = map(NamedContext, named, counts.tolist(), weights)
    return Results(sorted(rows, key=lambda row: (-row.weight, -row.occurrences, row.feature)))


def _spellings(phrase: str) -> list[list[str]]:
    """Return the ways in which the words of a phrase may be cut."""
    return [
        list(words)
        for words in Lookup(NORMALISER, "text").readings(phrase)
        if 0 < len(words) <= LONGEST
    ]


def _holding(
    sentences: Iterable[AnnotatedSentence],
    spellings: list[list[str]],
    places_of_phrases: list[list[int]],
) -> Iterator[AnnotatedSentence]:
    """Yield the sentences that contain the phrase; occurrences are added by spelling."""
    position = 0
    for sentence in sentences:
        words = sentence.words
        holds = False
        for number, spelling in enumerate(spellings):
            n = len(spelling)
            for i in range(len(words) - n + 1):
                if words[i] == spelling[0] and words[i : i + n] == spelling:
                    places_of_phrases[number].append((position + i) << 3 | (n - 1))
                    holds = True
        if holds:
            position += len(words)
            yield sentence


_MOST_BITS = 24
_BLOCK = 1 << 22


class Marginals:
    """Counts of features over all phrases of a table, by hash.

    Rows are added first; `finish` then makes them ready to be looked up. Hashes and counts
    lie in a mapped file in `folder`, 16 bytes a feature.

    Arguments:
        folder: for temporary files.
        memory: bytes of the buffers.
        model: by which the features were counted.
    """

    def __init__(self, folder: str | Path, memory: int, model: SyntaxModel) -> None:
        self._folder = Path(folder)
        self._store = TripleStore(folder, memory)
        self._n_families = len(model.templates)

    def add(self, rows: FeatureRows) -> None:
        """Add the features of some phrases."""
        self._store.add(rows.hashes, rows.families, rows.counts)

    def finish(self) -> None:
        """Sum the rows added so far."""
        repeats: Counter[tuple[int, int]] = Counter()  # (family, marginal): so many features
        totals = np.zeros(self._n_families)
        path = self._folder / "marginals"
        with open(path, "wb") as hashes, open(f"{path}.counts", "wb") as counts:
            for part in self._store.partitions():
                sums = np.add.reduceat(part.counts, part.starts[:-1])
                families = part.features[part.starts[:-1]].astype(np.int64)
                hashes.write(part.phrases.data)
                counts.write(sums.astype(np.float64).data)
                totals += np.bincount(families, sums, totals.size)
                pairs, n = np.unique(np.stack([families, sums]), axis=1, return_counts=True)
                for family, count, times in zip(*pairs.tolist(), n.tolist(), strict=True):
                    repeats[family, count] += times
        self._store.close()
        self._hashes = _mapped(path, np.uint64)
        self._counts = _mapped(Path(f"{path}.counts"), np.float64)
        self._bits = min(_MOST_BITS, max(1, (self._hashes.size // 4).bit_length()))
        self._starts = frozen(bucket_starts(self._hashes, self._bits))
        columns = np.array([(*pair, n) for pair, n in repeats.items()], np.int64).reshape(-1, 3).T
        self.counts = MarginalCounts(columns[0], columns[1].astype(np.float64), columns[2], totals)

    def most_frequent(self, max_features: int) -> np.ndarray:
        """Return the hashes of the most frequent features, uint64, ascending."""
        hashes, counts = np.empty(0, np.uint64), np.empty(0)
        for begin in range(0, self._hashes.size, _BLOCK):
            hashes = np.concatenate([hashes, self._hashes[begin : begin + _BLOCK]])
            counts = np.concatenate([counts, self._counts[begin : begin + _BLOCK]])
            best = np.lexsort((hashes, -counts))[:max_features]
            hashes, counts = hashes[best], counts[best]
        return np.sort(hashes)

    def of(self, hashes: np.ndarray) -> np.ndarray:
        """Return the count of each feature, float64[n].

        Arguments:
            hashes: uint64[n], of features that were added.
        """
        counts: np.ndarray = self._counts[
            find_in_buckets(self._hashes, self._starts, self._bits, frozen(hashes))
        ]
        return counts


def row_space(model: SyntaxModel, rows: FeatureRows, marginals: Marginals | None) -> FeatureSpace:
    """Return the feature space of a batch, with the corpus counts of its features.

    Features are numbered by their places in the rows, so that no corpus-wide numbering has to be
    held in memory.

    Arguments:
        model: by which the features were counted.
        marginals: of the corpus; None where no weight depends on them.
    """
    names = tuple(template.pattern for template in model.templates)
    if marginals is None:
        nothing, totals = np.empty(0), np.zeros(len(names))
        return FeatureSpace(names, rows.families, rows.hashes, nothing, totals)
    whole = marginals.counts
    counts = marginals.of(rows.hashes)
    return FeatureSpace(names, rows.families, rows.hashes, counts, whole.totals, whole=whole)


def _mapped(path: Path, dtype: type) -> np.ndarray:
    if path.stat().st_size == 0:
        return frozen(np.empty(0, dtype))
    return frozen(np.memmap(path, dtype, "r"))
