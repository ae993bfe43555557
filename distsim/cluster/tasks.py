"""The tasks of a run, the same for every engine; each reads a part or a range.

    part   --count_part--> (range, words and keys of phrases, counted)
    range  --sum_counts--> its words; the keys that occur often enough
           --gather_words--> all words, numbered; all frequent keys
    part   --word_contexts, contexts--> (range, phrases with counted features)
    range  --sum_word_contexts--> words with all their features
           --learn_projection--> a projection of the corpus
    range  --vectors_of_words--> the words' vectors;  --gather_parts--> those that phrases are
           composed of
    range  --sign_range--> the table's rows of the range;  ranges --join (cluster.join)--> the table

Tasks write files that are whole from the start and do not depend on the attempt.
"""

from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import pairwise
from typing import Any

import numpy as np

from distsim import storage
from distsim.base.errors import InputError, ParameterError, counted
from distsim.base.parallel import Progress, no_progress
from distsim.cluster.job import Job
from distsim.cluster.kernels import count_phrases, frequent_phrases, take_rows
from distsim.cluster.plan import mapped, save
from distsim.cluster.shuffled_source import (
    ClusterText,
    PacketsByRange,
    StoredBlocks,
    in_order,
    pack,
    read_packets,
    unpack,
    write_packets,
)
from distsim.cluster.words import CorpusWords, sum_words
from distsim.contexts.ngram import WIDEST_SIDES, NgramCounter, neighbour_slots
from distsim.contexts.phrase_store import MOST_WORDS
from distsim.contexts.sources.index import limits_of_words, word_pieces
from distsim.contexts.sources.source import Work
from distsim.contexts.triples import TripleStore
from distsim.contexts.weights import ContextCounts
from distsim.corpus.vocabulary import Vocabulary, hash_blob
from distsim.indexes import phrase_walk
from distsim.indexes.build import build_part, line_hashes
from distsim.indexes.corpus_index import CorpusIndex
from distsim.kernels.compiled import frozen
from distsim.signatures.composition import PartVectors, PartWords
from distsim.signatures.signing import Signing, SignOptions
from distsim.storage.resumption import first_stays

Packets = Iterator[tuple[int, bytes]]
_CHUNK_ROWS = 1 << 19
_FEWEST_BYTES = 1 << 20
_MOST_FEATURES = 1 << 32


def ranges_of(hashes: np.ndarray, n_ranges: int) -> np.ndarray:
    """Return the number of the range in which each hash lies, int64: equal shares of all hashes.

    Arguments:
        hashes: uint64.
        n_ranges: how many ranges there are.
    """
    return ((hashes >> np.uint64(32)) * np.uint64(n_ranges) >> np.uint64(32)).astype(np.int64)


# -- lines that occur in several parts ----------------------------------------------------------


def lines_of_part(job: Job, part: int, tally: dict[str, Any]) -> Packets:
    """Yield the hashes of a part's lines by range.

    Arguments:
        job: the run.
        part: its number.
        tally: counts of the task, to which is added.
    """
    hashes = line_hashes(_paths(job, part), job.plan.options)
    edges = edges_of(ranges_of(hashes, job.n_ranges), job.n_ranges)
    for number, (a, b) in enumerate(pairwise(edges)):
        yield number, pack(part=np.array([part], np.uint64), lines=hashes[a:b])


def drop_repeated(job: Job, number: int, packets: Iterable[bytes], tally: dict[str, Any]) -> None:
    """Write for each part the lines that occur in an earlier part; the first one is retained.

    Arguments:
        job: the run.
        number: of the range.
        packets: the hashes of the range's lines, by part.
        tally: counts of the task.
    """
    lines, parts = [np.empty(0, np.uint64)], [np.empty(0, np.uint64)]
    for packet in packets:
        arrays = unpack(packet)
        lines.append(arrays["lines"])
        parts.append(np.full(arrays["lines"].size, arrays["part"][0]))
    hashes, owners = np.concatenate(lines), np.concatenate(parts)
    order = np.lexsort((owners, hashes))
    hashes, owners = hashes[order], owners[order]
    repeated = np.flatnonzero(hashes[1:] == hashes[:-1]) + 1
    hashes, owners = hashes[repeated], owners[repeated]
    order = np.argsort(owners, kind="stable")
    edges = np.searchsorted(owners[order], np.arange(job.n_parts + 1))
    PacketsByRange.write(
        job.path("lines", number),
        ((part, pack(lines=hashes[order[a:b]])) for part, (a, b) in enumerate(pairwise(edges))),
        job.n_parts,
    )


def _repeated_lines(job: Job, part: int) -> np.ndarray:
    if not job.drops_lines:
        return np.empty(0, np.uint64)
    lines_of_parts = [
        unpack(packet)["lines"]
        for number in range(job.n_ranges)
        for packet in PacketsByRange.read(job.path("lines", number), part)
    ]
    return np.concatenate(lines_of_parts)


# -- parts: words and phrases, counted --------------------------------------------------------


def _paths(job: Job, part: int) -> list[str]:
    return [source.path for source in job.plan.parts[part].sources]


def index_part(job: Job, part: int) -> CorpusIndex | None:
    """Return the index of a part, built unless it exists; None if it has no token.

    Arguments:
        job: the run.
        part: its number.
    """
    path = job.index_path(part)
    if not storage.holds_artifact(path):
        try:
            with first_stays(path) as folder:
                seen = _repeated_lines(job, part)
                build_part(_paths(job, part), folder, job.plan.options, seen)
        except InputError as error:
            if "no token in the corpus" not in str(error):
                raise
    return job.index(part)


def count_part(job: Job, part: int, tally: dict[str, Any]) -> Packets:
    """Yield packets with the counted words and phrases of a part.

    Arguments:
        job: the run.
        part: its number.
        tally: counts of the task.
    """
    index = index_part(job, part)
    if index is None:
        tally.update(tokens=0, sentences=0, slots=[0] * WIDEST_SIDES)
        return
    counts = index.parameters["counts"]
    tally.update(
        tokens=counts["tokens"], sentences=counts["sentences"],
        slots=neighbour_slots(index, WIDEST_SIDES), dropped_lines=counts["dropped_lines"],
    )  # fmt: skip
    vocabulary, longest = index.vocabulary, job.plan.selection.max_length
    words = vocabulary.word_hashes()
    keyed_counts = (
        count_phrases(frozen(chunk.rows), frozen(chunk.common), longest, frozen(words))
        for chunk in phrase_walk.walk(index.shards, index.n_words, longest, _CHUNK_ROWS)
    )
    yield from _count_packets(job, part, vocabulary, index.word_counts(), keyed_counts)


def _count_packets(
    job: Job, part: int, vocabulary: Vocabulary, word_counts: np.ndarray,
    keyed_counts: Iterable[tuple[np.ndarray, np.ndarray]],
) -> Packets:  # fmt: skip
    """Yield a packet a range: its words, and the steps from key to key with their counts.

    keyed_counts: (keys, occurrences) of phrases, in pieces, since all at once would take several
    times their memory to put in order. Keys are as count_phrases makes them.

    Arguments:
        part: its number.
        vocabulary: of the part.
        word_counts: int64 by word, occurrences.
    """
    mask = np.uint64((1 << 64) - (1 << (64 - job.plan.key_bits)))
    pieces = [in_order(keys & mask, counts.astype(np.uint64)) for keys, counts in keyed_counts]
    edges = [edges_of(ranges_of(keys, job.n_ranges), job.n_ranges) for keys, _ in pieces]
    text, offsets = vocabulary.text, frozen(vocabulary.offsets.astype(np.int64))
    words = np.arange(1, word_counts.size)
    placed = ranges_of(hash_blob(text, offsets)[1:], job.n_ranges)
    order = np.argsort(placed, kind="stable")
    words, word_edges = words[order], edges_of(placed[order], job.n_ranges)
    free = np.uint64(64 - job.plan.key_bits)
    for number in range(job.n_ranges):
        own = [slice(*ends[number : number + 2]) for ends in edges]
        keys, occurrences = in_order(
            np.concatenate([keys[part] for (keys, _), part in zip(pieces, own, strict=True)]),
            np.concatenate([counts[part] for (_, counts), part in zip(pieces, own, strict=True)]),
        )
        mine = words[word_edges[number] : word_edges[number + 1]]
        lengths = offsets[mine + 1] - offsets[mine]
        total = int(lengths.sum())
        places = np.arange(total) + np.repeat(offsets[mine] - np.cumsum(lengths) + lengths, lengths)
        yield number, pack(
            first=keys[:1], steps=np.diff(keys, prepend=keys[:1]) >> free, occurrences=occurrences,
            text=text[places], lengths=lengths.astype(np.uint32),
            counts=word_counts[mine].astype(np.uint64),
            appeared=np.uint64(part << 32) | mine.astype(np.uint64),
        )  # fmt: skip


def edges_of(sorted_numbers: np.ndarray, n: int) -> np.ndarray:
    """Return where each of the numbers 0 to n begins, int64[n + 1].

    Arguments:
        sorted_numbers: ascending.
        n: how many numbers there are.
    """
    return np.searchsorted(sorted_numbers, np.arange(n + 1))


def sum_counts(job: Job, number: int, packets: Iterable[bytes], tally: dict[str, Any]) -> None:
    """Sum the counts of a range; write its words and its frequent keys.

    Arguments:
        job: the run.
        number: of the range.
        packets: the words and counted keys of the range, by part.
        tally: counts of the task.
    """
    free = np.uint64(64 - job.plan.key_bits)
    words = []
    with storage.scratch_folder() as folder:
        counts = TripleStore(folder, max(_FEWEST_BYTES, job.plan.memory_bytes))
        for packet in packets:
            arrays = unpack(packet)
            steps = arrays.pop("steps").astype(np.uint64) << free
            if steps.size:
                added = arrays["first"] + np.cumsum(steps, dtype=np.uint64)
                counts.add(added, np.zeros_like(added), arrays["occurrences"])
            words.append(arrays)
        frequent = [(np.empty(0, np.uint64), np.empty(0, np.uint64))]
        for part in counts.partitions():
            is_frequent = part.counts >= job.plan.selection.min_count
            frequent.append((part.phrases[is_frequent], part.counts[is_frequent]))
        counts.close()
    keys, occurrences = (np.concatenate(column) for column in zip(*frequent, strict=True))
    tally.update(frequent=int(keys.size))
    write_packets(
        job.path("counts", number),
        [pack(keys=keys, occurrences=occurrences), pack(**sum_words(words))],
    )


def gather_words(job: Job, tallies: list[dict[str, Any]], tally: dict[str, Any]) -> None:
    """Number all words and put all frequent keys end to end; on one machine.

    Arguments:
        job: the run.
        tally: counts of the task.
        tallies: of `count_part`, of all parts.

    Raises:
        InputError: there is nothing to sign in the whole corpus.
        ParameterError: there are more distinct words than can be numbered.
    """
    plan, folder = job.plan, job.folder / "words"
    n_tokens = sum(tally["tokens"] for tally in tallies)
    ranges = [list(map(unpack, read_packets(job.path("counts", n)))) for n in range(job.n_ranges)]
    if not n_tokens and not any(words["counts"].size for _, words in ranges):
        raise InputError(
            f"{plan.parts[0].paths[0]}{', …' if job.n_parts > 1 else ''}: no token in the "
            "corpus: nothing to sign; name files with text"
        )
    n_words = 1 + sum(words["counts"].size for _, words in ranges)
    most_words = min(MOST_WORDS, _MOST_FEATURES // len(plan.model.manifest()["families"]))
    if n_words > most_words:
        raise ParameterError(
            f"{counted(n_words, 'distinct word')}, at most {most_words:,} can be told "
            "apart: fold numbers "
            "(`fold_numbers`) or drop what is no word (`drop_digits`)"
        )
    slots = [sum(places) for places in zip(*(tally["slots"] for tally in tallies), strict=True)]
    n_sentences = sum(tally["sentences"] for tally in tallies)
    keys = np.concatenate([arrays["keys"] for arrays, _ in ranges])
    occurrences = np.concatenate([arrays["occurrences"] for arrays, _ in ranges])
    lowest, max_phrases = plan.selection.min_count, plan.selection.max_phrases
    if max_phrases is not None and occurrences.size > max_phrases:
        place = occurrences.size - max_phrases
        lowest = int(np.partition(occurrences, place)[place])
    save(folder / "frequent.npy", keys[occurrences >= lowest])
    save(folder / "lowest.npy", np.array([lowest]))
    words = CorpusWords.gather(folder, (words for _, words in ranges), n_tokens, n_sentences, slots)
    job.write_space()
    tally.update(tokens=n_tokens, words=len(words) - 1, frequent=int(keys.size))


# -- parts: contexts --------------------------------------------------------------------------


def word_contexts(job: Job, part: int, tally: dict[str, Any]) -> Packets:
    """Yield packets with the contexts of the words used to learn and to compose.

    Arguments:
        job: the run.
        part: its number.
        tally: counts of the task.
    """
    plan, words = job.plan, job.words
    learning = plan.recipe.learning
    limits = limits_of_words(
        words.counts[1:], len(plan.model.manifest()["families"]), learning.rows, learning.features
    )
    least = max(1, min(limits.min_count, plan.selection.min_count))
    index = job.index(part)
    if index is None:
        return
    ids = global_ids(job, index)
    packets = _ContextPackets(job, ids, index.n_words)
    counter = NgramCounter(index.n_words, *plan.model.shape)
    occurrences, hashes = index.word_counts(), index.vocabulary.word_hashes()
    words_of_part = np.flatnonzero((words.counts[ids] >= least) & (ids > 0))
    for own in word_pieces(words_of_part, occurrences):
        counted = counter.count_words(index.shards, own)
        packets.add(hashes[own], own[:, None], occurrences[own], counted)
        yield from packets.full()
    yield from packets.rest()


def contexts(job: Job, part: int, tally: dict[str, Any]) -> Packets:
    """Yield shuffle blocks with the counted contexts of the frequent phrases of a part.

    Phrases of one word are left out where their contexts were counted in an earlier step.

    Arguments:
        job: the run.
        part: number of the part, from 0.
        tally: totals of the task, which are reported; written.
    """
    plan = job.plan
    shortest = 2 if job.shuffles_words else 1
    index = job.index(part)
    if index is None or plan.selection.max_length < shortest:
        return
    longest, vocabulary = plan.selection.max_length, index.vocabulary
    words = frozen(vocabulary.word_hashes())
    packets = _ContextPackets(job, global_ids(job, index), index.n_words)
    counter = NgramCounter(index.n_words, *plan.model.shape)
    for chunk in _chunks(job, index, longest):
        hashes, lengths, lows, highs = frequent_phrases(
            frozen(chunk.rows), chunk.before, frozen(chunk.common), longest, words,
            vocabulary.text, vocabulary.offsets, *job.frequent,
        )  # fmt: skip
        for length in range(shortest, longest + 1):
            own = lengths == length
            counted = counter.count_runs(chunk, lows[own], highs[own], length)
            spelling = chunk.rows[lows[own], chunk.before : chunk.before + length]
            packets.add(hashes[own], spelling, highs[own] - lows[own], counted)
        yield from packets.full()
    yield from packets.rest()


def _chunks(job: Job, index: CorpusIndex, longest: int) -> Iterator[phrase_walk.PhraseChunk]:
    window = job.plan.model.window
    for first_words in phrase_walk.chunk_words(index.word_counts(), _CHUNK_ROWS):
        yield phrase_walk.gather_chunk(
            index.shards, first_words, index.n_words, longest, window, window
        )


def global_ids(job: Job, index: CorpusIndex) -> np.ndarray:
    """Return the corpus's number of each word of a part, uint32 by id; 0 for the boundary.

    Arguments:
        job: the run.
        index: of the part.
    """
    own = index.vocabulary.word_hashes()
    ids = np.zeros(own.size, np.uint32)
    occur = np.flatnonzero(index.word_counts()[1:]) + 1  # some have lost all their lines
    ids[occur] = job.words.ids(own[occur])
    return ids


class _ContextPackets:
    """Buffers phrases with counted features and yields them as packets by range."""

    def __init__(self, job: Job, ids: np.ndarray, n_local: int) -> None:
        self._ids = ids
        self._n_local = n_local
        self._n_global = len(job.words)
        self._n_ranges = job.n_ranges
        self._max_held = job.plan.memory_bytes // 16
        self._held: list[tuple[np.ndarray, ...]] = []
        self._n_held = 0

    def add(
        self, hashes: np.ndarray, words: np.ndarray, strengths: np.ndarray, counted: ContextCounts
    ) -> None:
        """Add phrases of one length with their words' ids in the part, [n, length]."""
        if not hashes.size:
            return
        family, word = np.divmod(counted.features, np.uint32(self._n_local))
        features = family * np.uint32(self._n_global) + self._ids[word]
        spelling = self._ids[words]
        self._held.append((
            ranges_of(hashes, self._n_ranges), np.full(hashes.size, words.shape[1], np.uint8),
            spelling.reshape(-1), strengths.astype(np.uint64),
            np.diff(counted.starts), features, counted.counts,
        ))  # fmt: skip
        self._n_held += features.size + spelling.size

    def full(self) -> Packets:
        """Yield packets if the buffer is full."""
        if self._n_held >= self._max_held:
            yield from self.rest()

    def rest(self) -> Packets:
        """Yield packets of the whole buffer."""
        if not self._held:
            return
        held, self._held, self._n_held = self._held, [], 0
        numbers, lengths, words, strengths, sizes, features, counts = map(
            np.concatenate, zip(*held, strict=True)
        )
        order = np.argsort(numbers, kind="stable")
        edges = edges_of(numbers[order], self._n_ranges)
        sizes = np.concatenate([[0], np.cumsum(sizes)])
        spelt = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        for number in range(self._n_ranges):
            mine = frozen(order[edges[number] : edges[number + 1]])
            if not mine.size:
                continue
            starts, own_features, own_counts = take_rows(
                frozen(sizes), mine, frozen(features), frozen(counts)
            )
            _, own_words, _ = take_rows(frozen(spelt), mine, frozen(words), frozen(words))
            yield number, pack(
                lengths=lengths[mine], words=own_words, strengths=strengths[mine],
                sizes=np.diff(starts).astype(np.uint32), features=own_features, counts=own_counts,
            )  # fmt: skip


# -- ranges -----------------------------------------------------------------------------------


def sum_word_contexts(
    job: Job, number: int, packets: Iterable[bytes], tally: dict[str, Any]
) -> None:
    """Sum the contexts of a range's words and write them.

    Arguments:
        job: the run.
        number: of the range.
        packets: the contexts of the range's words, by part.
        tally: counts of the task.
    """
    with storage.scratch_folder() as folder:
        blocks = StoredBlocks(packets, job.words, 1, folder, job.plan.memory_bytes)
        try:
            write_packets(job.path("word-contexts", number), map(_summed, blocks.counted(1)))
        finally:
            blocks.close()


def _summed(block: Any) -> bytes:
    return pack(
        lengths=block.lengths.astype(np.uint8), words=block.words[:, 0],
        strengths=block.strengths, sizes=np.diff(block.starts).astype(np.uint32),
        features=block.features.astype(np.uint32), counts=block.counts,
    )  # fmt: skip


def learn_projection(job: Job, tally: dict[str, Any], progress: Progress = no_progress) -> None:
    """Learn the projection from the words of all ranges; on one machine, with all its cores.

    Arguments:
        job: the run.
        tally: counts of the task.
        progress: called with (stage, done, total).
    """
    path = job.folder / "projection"
    if storage.holds_artifact(path):
        return
    with (
        first_stays(path) as folder,
        storage.scratch_folder() as scratch,
        storage.create(folder, storage.PROJECTION) as writer,
    ):
        work = Work(scratch, job.plan.memory_bytes, None, progress)
        job.plan.recipe.training(job.text_of_words()).learn(writer, work)


def vectors_of_words(job: Job, number: int, tally: dict[str, Any]) -> None:
    """Compute the vectors of a range's words.

    Arguments:
        job: the run.
        number: of the range.
        tally: counts of the task.
    """
    plan, text = job.plan, job.text_of_words(range(number, number + 1))
    resolved = job.resolved(text)
    assert resolved.composition is not None
    with storage.scratch_folder() as scratch:
        work = Work(scratch, plan.memory_bytes, 1)
        words = resolved.signer().word_vectors(text, plan.selection.min_count, work)
    kept = words.most_frequent(resolved.composition.most_words)
    for name, column in vars(kept).items():
        save(job.path("vectors", number, f".{name}.npy"), column)


def gather_parts(job: Job, tally: dict[str, Any]) -> None:
    """Write the vectors of the words that phrases are composed of, chosen from all ranges.

    Arguments:
        job: the run.
        tally: counts of the task.
    """
    composition = job.plan.recipe.composition
    assert composition is not None
    composition = composition.in_language(job.words.language)
    names = [field.name for field in fields(PartWords)]
    ranges = [
        PartWords(*(mapped(job.path("vectors", number, f".{name}.npy")) for name in names))
        for number in range(job.n_ranges)
    ]
    hashes = np.concatenate([part_words.hashes for part_words in ranges])
    shares = np.concatenate([part_words.shares for part_words in ranges])
    chosen = np.zeros(hashes.size, bool)
    chosen[np.lexsort((hashes, -shares))[: composition.most_words]] = True
    starts = np.cumsum([0, *(part_words.hashes.size for part_words in ranges)]).tolist()
    kept = [
        part_words.at(np.flatnonzero(chosen[begin:end]))
        for part_words, (begin, end) in zip(ranges, pairwise(starts), strict=True)
    ]
    words = PartWords.joined(kept, job.projection.n_dimensions)
    parts = PartVectors.gather(words, composition, None)
    for column in fields(PartVectors):
        save(job.folder / "parts" / f"{column.name}.npy", getattr(parts, column.name))


def sign_range(job: Job, number: int, packets: Iterable[bytes], tally: dict[str, Any]) -> None:
    """Sign the phrases of a range into a table of its own.

    Arguments:
        job: the run.
        number: of the range.
        packets: the phrases of the range with their contexts, by part.
        tally: counts of the task.
    """
    plan = job.plan
    path = job.path("tables", number)
    if storage.holds_artifact(path):
        for _ in packets:
            pass
        return
    with first_stays(path) as folder, storage.scratch_folder() as scratch:
        with storage.create(folder, storage.SIGNATURES) as writer:
            work = Work(scratch, plan.memory_bytes, 1)
            blocks = StoredBlocks(
                _with_words(job, number, packets), job.words, plan.selection.max_length,
                work.folder, work.memory,
            )  # fmt: skip
            text = ClusterText(plan, job.words, job.space, job.lowest, blocks)
            try:
                options = SignOptions(keep_parts=False)
                signing = Signing(text, job.resolved(text), plan.selection, options, work)
                signing.write(writer, job.parts, keep_own=True)
            finally:
                blocks.close()
        tally.update(phrases=writer.parameters["phrases"])


def _with_words(job: Job, number: int, packets: Iterable[bytes]) -> Iterator[bytes]:
    if job.shuffles_words:
        yield from job.word_packets(range(number, number + 1))
    yield from packets
