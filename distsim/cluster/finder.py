"""The stages that make the finder of substitutes, of which `distsim sign` is the other maker.

           --choose_lemmas--> the lemmas of the corpus, with their vectors
    part   --frames_of_part--> (range, frames around lemmas, counted)
    range  --sum_frames--> its frequent frames;  --choose_frames--> the commonest of all
    part   --profiles_of_part--> (range, what is around each lemma, counted)
    range  --sum_profiles--> the profiles of its lemmas
           --weigh_profiles--> the arrays of the finder;  --join_finder--> the finder in the table

Lemmas, and words in frames, have the numbers of one machine's index: words in order of their first
appearance in the text. A range of lemmas is one of consecutive lemmas.
"""

from collections.abc import Iterable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from distsim import storage
from distsim.base.errors import ParameterError
from distsim.base.parallel import Progress, no_progress, ordered_map
from distsim.cluster.job import Job
from distsim.cluster.plan import mapped, save
from distsim.cluster.shuffled_source import pack, unpack
from distsim.cluster.tasks import Packets, edges_of, global_ids, ranges_of
from distsim.comparison.finder.inflections import Lemmas
from distsim.comparison.finder.lexicon import CountedWords
from distsim.comparison.finder.profile_counts import (
    LEAST_FRAME,
    CountedProfiles,
    ProfileFeatures,
    commonest_frames,
    count_frames,
    count_sentences,
    lemma_blocks,
    rows_end_to_end,
)
from distsim.comparison.finder.space import PartSpace
from distsim.comparison.finder.word_profiles import FinderLemmas, finder_arrays, finder_parameters
from distsim.comparison.table import SignatureTable
from distsim.contexts.triples import TripleStore
from distsim.corpus.inflections import Inflections, chosen_inflections
from distsim.indexes.corpus_index import CorpusIndex
from distsim.kernels.compiled import frozen
from distsim.kernels.hashing import MULTIPLIER
from distsim.storage.manifest import finder_inside

_LEMMAS = ("forms", "starts", "counts", "bases", "vectors")
_TOKENS_HELD = 64  # bytes of the memory for each token whose frames are sorted at once
_RIGHT = np.uint64(0xFFFFFFFF)
_LEFT = np.uint64(32)
_FEWEST_BYTES = 1 << 20


def choose_lemmas(job: Job, tally: dict[str, Any]) -> None:
    """Write the lemmas of the corpus; nothing where there are too few.

    Arguments:
        job: the run.
        tally: counts of the task; `why` says why there is no finder.
    """
    words = job.words
    text = CountedWords(words.by_appearance, words.counts_by_appearance)
    assert job.parts is not None
    named = chosen_inflections(job.plan.inflections, words)
    try:
        chosen = FinderLemmas.choose(text, PartSpace(job.parts), Inflections.open(named))
    except ParameterError as error:
        tally.update(lemmas=0, why=str(error))
        return
    lemmas = chosen.lemmas
    arrays = (lemmas.forms, lemmas.starts, lemmas.counts, chosen.bases, chosen.vectors)
    for name, values in zip(_LEMMAS, arrays, strict=True):
        save(_path(job, f"lemma-{name}"), values)
    tally.update(lemmas=int(lemmas.counts.size), inflections=named, rules=chosen.rules)


def frames_of_part(job: Job, part: int, tally: dict[str, Any]) -> Packets:
    """Yield packets with the counted frames around the lemmas of a part.

    Arguments:
        job: the run.
        part: its number.
        tally: counts of the task.
    """
    index, chosen = job.index(part), _chosen(job)
    if index is None or chosen is None:
        return
    appearance, lemma_of = _numbers(job, index, chosen.lemmas)
    often = job.words.counts_by_appearance >= LEAST_FRAME
    often[0] = True
    max_frames = max(1 << 20, job.plan.memory_bytes // _TOKENS_HELD)
    for local, times in count_frames(index.shards, lemma_of, no_progress, max_frames):
        left = appearance[(local >> _LEFT).astype(np.int64)].astype(np.uint64)
        right = appearance[(local & _RIGHT).astype(np.int64)].astype(np.uint64)
        kept = often[left.astype(np.int64)] & often[right.astype(np.int64)]
        frames, counts = ((left << _LEFT) | right)[kept], times[kept].astype(np.uint64)
        numbers = ranges_of(frames * MULTIPLIER, job.n_ranges)
        order = np.lexsort((frames, numbers))
        frames, counts = frames[order], counts[order]
        for number, (a, b) in enumerate(pairwise(edges_of(numbers[order], job.n_ranges))):
            if b > a:
                own = frames[a:b]
                steps = np.diff(own, prepend=own[:1])
                yield number, pack(first=own[:1], steps=steps, counts=counts[a:b])


def sum_frames(job: Job, number: int, packets: Iterable[bytes], tally: dict[str, Any]) -> None:
    """Sum the frames of a range and write the frequent ones.

    Arguments:
        job: the run.
        number: of the range.
        packets: the counted frames of the range, by part.
        tally: counts of the task.
    """
    frames, counts = [np.empty(0, np.uint64)], [np.empty(0, np.uint64)]
    with storage.scratch_folder() as folder, _store(job, folder) as store:
        for packet in packets:
            arrays = unpack(packet)
            keys = arrays["first"] + np.cumsum(arrays["steps"], dtype=np.uint64)
            store.add(keys, np.zeros_like(keys), arrays["counts"])
        for partition in store.partitions():
            is_frequent = partition.counts >= LEAST_FRAME
            frames.append(partition.phrases[is_frequent])
            counts.append(partition.counts[is_frequent])
    save(job.path("frames", number, ".frames.npy"), np.concatenate(frames))
    save(job.path("frames", number, ".counts.npy"), np.concatenate(counts).astype(np.int64))


def choose_frames(job: Job, tally: dict[str, Any]) -> None:
    """Write the commonest frames of the corpus.

    Arguments:
        job: the run.
        tally: counts of the task.
    """
    frames, counts = (
        np.concatenate([mapped(job.path("frames", n, f".{name}.npy")) for n in range(job.n_ranges)])
        for name in ("frames", "counts")
    )
    save(_path(job, "frames"), commonest_frames(frames, counts))


def profiles_of_part(job: Job, part: int, tally: dict[str, Any]) -> Packets:
    """Yield packets with the counted profiles of the lemmas of a part.

    Arguments:
        job: the run.
        part: its number.
        tally: counts of the task.
    """
    index, chosen = job.index(part), _chosen(job)
    tally["sentences"] = 0
    if index is None or chosen is None:
        return
    appearance, lemma_of = _numbers(job, index, chosen.lemmas)
    n_lemmas = chosen.lemmas.counts.size
    frames, numbers = _local_frames(mapped(_path(job, "frames")), appearance)
    features = ProfileFeatures.of(lemma_of, n_lemmas, frames)
    forms = np.flatnonzero(lemma_of >= 0)
    forms = forms[np.argsort(lemma_of[forms], kind="stable")]
    starts = np.searchsorted(lemma_of[forms], np.arange(n_lemmas + 1))
    occurrences = np.bincount(
        lemma_of[forms], index.word_counts()[forms].astype(np.float64), n_lemmas
    ).astype(np.int64)
    sentences, tally["sentences"] = count_sentences(index.shards, lemma_of, n_lemmas)
    edges = _lemma_edges(job, chosen.lemmas)
    n_words = np.uint32(2 * features.n_contexts)
    for first, stop in lemma_blocks(occurrences):
        bounds = starts[first : stop + 1]
        own = forms[bounds[0] : bounds[-1]]
        rows = features.rows(index.shards, own, bounds - bounds[0], index.path)
        places, collocates, counts = rows
        is_frame = collocates >= n_words
        collocates[is_frame] = n_words + numbers[collocates[is_frame] - n_words]
        for number, (a, b) in enumerate(pairwise(edges)):
            low, high = max(a, first), min(b, stop)
            if low < high and sentences[low:high].any():
                inside = slice(*places[[low - first, high - first]].tolist())
                yield number, pack(
                    first=np.array([low - a], np.uint32),
                    sizes=np.diff(places[low - first : high - first + 1]).astype(np.uint32),
                    features=collocates[inside], counts=counts[inside],
                    sentences=sentences[low:high],
                )  # fmt: skip


def sum_profiles(job: Job, number: int, packets: Iterable[bytes], tally: dict[str, Any]) -> None:
    """Sum the profiles of a range's lemmas and write them.

    Arguments:
        job: the run.
        number: of the range.
        packets: the profiles of the range's lemmas, by part.
        tally: counts of the task.
    """
    chosen = _chosen(job)
    if chosen is None:
        for _ in packets:
            pass
        return
    edges = _lemma_edges(job, chosen.lemmas)
    n = int(edges[number + 1] - edges[number])
    sentences, sizes = np.zeros(n, np.uint32), np.zeros(n, np.int64)
    features, counts = [np.empty(0, np.uint32)], [np.empty(0, np.uint32)]
    with storage.scratch_folder() as folder, _store(job, folder) as store:
        for packet in packets:
            profile_arrays = unpack(packet)
            lemmas = profile_arrays["first"].astype(np.int64) + np.arange(
                profile_arrays["sizes"].size
            )
            sentences[lemmas] += profile_arrays["sentences"]
            rows = np.repeat(lemmas, profile_arrays["sizes"]).astype(np.uint64)
            store.add(rows, profile_arrays["features"].astype(np.uint64), profile_arrays["counts"])
        for partition in store.partitions():
            sizes[partition.phrases.astype(np.int64)] = np.diff(partition.starts)
            features.append(partition.features.astype(np.uint32))
            counts.append(partition.counts.astype(np.uint32))
    arrays = {
        "starts": np.append(0, np.cumsum(sizes)), "features": np.concatenate(features),
        "counts": np.concatenate(counts), "sentences": sentences,
    }  # fmt: skip
    for name, values in arrays.items():
        save(job.path("profiles", number, f".{name}.npy"), values)


def weigh_profiles(
    job: Job, tallies: list[dict[str, Any]], tally: dict[str, Any], progress: Progress = no_progress
) -> None:
    """Write the arrays of the finder; on one machine, with all its cores.

    Arguments:
        job: the run.
        tallies: of `profiles_of_part`, of all parts.
        tally: counts of the task.
        progress: called with (stage, done, total).
    """
    chosen = _chosen(job)
    if chosen is None:
        return
    ranges = [
        tuple(mapped(job.path("profiles", n, f".{name}.npy"))
              for name in ("starts", "features", "counts", "sentences"))
        for n in range(job.n_ranges)
    ]  # fmt: skip
    lemmas = chosen.lemmas
    n_contexts = ProfileFeatures.of(np.empty(0, np.int32), lemmas.counts.size, _NO_FRAMES)[1]
    counted = CountedProfiles(
        *rows_end_to_end([(sizes, features, counts) for sizes, features, counts, _ in ranges]),
        n_contexts, mapped(_path(job, "frames")).size,
        np.concatenate([sentences for *_, sentences in ranges]),
        sum(of_part["sentences"] for of_part in tallies),
    )  # fmt: skip
    in_threads = partial(ordered_map, jobs=None)
    tally.update(names=[], sentences=counted.n_sentences)
    for name, values in finder_arrays(chosen, counted, in_threads, progress):
        save(_array_path(job, name), values)
        tally["names"].append(name)


def join_finder(job: Job, path: Path, lemmas: dict[str, Any], report: dict[str, Any]) -> None:
    """Write the finder of a run beside its table.

    Arguments:
        job: the run.
        path: of the table.
        lemmas: report of `choose_lemmas`.
        report: of `weigh_profiles`.
    """
    chosen = _chosen(job)
    if chosen is None:
        return
    chosen = chosen._replace(rules=lemmas["rules"])
    table = SignatureTable.open(path)
    with storage.create(finder_inside(path), storage.FINDER) as writer:
        for name in report["names"]:
            writer.add(name, mapped(_array_path(job, name)))
        writer.parameters = finder_parameters(
            table, job.words.corpus, chosen, report["sentences"], lemmas["inflections"]
        )


_NO_FRAMES = np.empty(0, np.uint64)


def _path(job: Job, name: str) -> Path:
    return job.folder / "finder" / f"{name}.npy"


def _array_path(job: Job, name: str) -> Path:
    return _path(job, f"array-{name.replace('/', '-')}")


def _store(job: Job, folder: Path) -> TripleStore:
    return TripleStore(folder, max(_FEWEST_BYTES, job.plan.memory_bytes))


def _chosen(job: Job) -> FinderLemmas | None:
    """Return the lemmas that `choose_lemmas` wrote, without texts and rules, or None."""
    if not _path(job, "lemma-vectors").exists():
        return None
    forms, starts, counts, bases, vectors = (mapped(_path(job, f"lemma-{n}")) for n in _LEMMAS)
    return FinderLemmas(Lemmas([], forms, starts, counts), bases, vectors, "")


def _numbers(job: Job, index: CorpusIndex, lemmas: Lemmas) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of every word of a part in one machine's index, uint32, and its lemma.

    The number is 0 for the boundary and for words that have lost all their lines; the lemma -1.
    """
    appearance = job.words.appearance[global_ids(job, index)]
    lemma_of = lemmas.of_words(len(job.words))[appearance]
    lemma_of[appearance == 0] = -1
    return appearance, lemma_of


def _local_frames(frames: np.ndarray, appearance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the frames whose words a part has, in its word ids, and their numbers, uint32."""
    order = np.argsort(appearance, kind="stable")  # of those that are 0, the boundary is the first
    ordered = frozen(appearance[order].astype(np.uint64))

    def local(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        places = np.minimum(np.searchsorted(ordered, words), ordered.size - 1)
        return order[places].astype(np.uint64), ordered[places] == words

    left, has_left = local(frames >> _LEFT)
    right, has_right = local(frames & _RIGHT)
    known = has_left & has_right
    return ((left << _LEFT) | right)[known], np.flatnonzero(known).astype(np.uint32)


def _lemma_edges(job: Job, lemmas: Lemmas) -> np.ndarray:
    """Return where each range's lemmas begin, int64[n_ranges + 1], in equal shares of the text."""
    ends = np.cumsum(lemmas.counts)
    shares = np.arange(1, job.n_ranges) * int(ends[-1]) // job.n_ranges
    edges: np.ndarray = np.concatenate([[0], np.searchsorted(ends, shares), [ends.size]])
    return edges
