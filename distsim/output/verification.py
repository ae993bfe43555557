"""Verification of artifacts: changed bytes, inconsistent arrays."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from distsim import storage
from distsim.base.arguments import one_path
from distsim.base.errors import ArtifactError, InputError, counted
from distsim.base.parallel import Progress, no_progress
from distsim.bitext.bitext import Bitext
from distsim.comparison.finder.word_finder import WordFinder
from distsim.comparison.mapping import VectorMap
from distsim.comparison.table import SignatureTable
from distsim.corpus.lines import read_line_blocks
from distsim.grammar.extraction.numeric import NumericRules
from distsim.grammar.packs.grammar_index import GrammarIndex
from distsim.indexes.corpus_index import CorpusIndex, knows_text_of
from distsim.indexes.layers import head_positions
from distsim.kernels.compiled import frozen
from distsim.kernels.suffixes import count_disorder
from distsim.signatures.projections.spectral import SpectralProjection
from distsim.signatures.sums import KeptSums
from distsim.storage.manifest import finder_inside, signatures_inside

_DEPTH = 16
_VECTORS_AT_ONCE = 1 << 14
_ROUNDING = 1e-3
_ROWS_AT_ONCE = 1 << 18
_PACKS, _STEPS = "packs.json", "steps.json"  # lists of files that `pack` and make_grammar write


def find_faults(path: str | Path, *, progress: Progress = no_progress) -> list[str]:
    """Return the faults of an artifact, one short text each; an empty list if it is valid.

    An index's own signature table and learned projection are checked with it. Of a folder that
    `pack` or `make_grammar` wrote, all files are checked: those of packs by their sizes, compressed
    ones by their checksums too, those of `make_grammar`'s steps by the checksums noted for each.

    Arguments:
        path: of the artifact or the folder.
        progress: called with the stage, and the megabytes done and in all.

    Raises:
        ArtifactError: the artifact cannot be opened at all.

    >>> find_faults(index.path)
    []
    """
    path = one_path(path)
    total = _bytes_read(path)
    n_read = 0

    def watch(size: int) -> None:
        nonlocal n_read
        n_read += size
        progress("checking", n_read >> 20, total >> 20)

    return _faults(Path(path), watch)


def _bytes_read(path: Path) -> int:
    """Return how many bytes of arrays are read, about: a writer may replace some meanwhile."""
    total = 0
    for folder, _, files in os.walk(path):
        for name in files:
            with suppress(FileNotFoundError):
                # Suffix arrays are read twice: for their checksums and for their order.
                times = name.endswith(".bin") * (1 + ("-suffixes." in name))
                total += times * os.path.getsize(os.path.join(folder, name))
    return total


def _faults(path: Path, watch: Callable[[int], object]) -> list[str]:
    """Return the faults of an artifact or a folder; `watch` is told the bytes of each file."""
    if not storage.holds_artifact(path):
        for list_of_files, faults_in in ((_STEPS, _step_faults), (_PACKS, _pack_faults)):
            if (path / list_of_files).is_file():
                return _listed_faults(path, list_of_files, faults_in, watch)
    while True:
        artifact = storage.Artifact(path)
        try:
            faults = [f"{path / file} is damaged" for file in artifact.damaged(watch)]
            break
        except FileNotFoundError:
            if storage.Artifact(path).checksum == artifact.checksum:
                raise  # else a writer replaced the state that was being read: read the new one
    if faults:
        return faults
    try:
        faults += _faults_of_kind(artifact, watch)
    except ArtifactError as error:
        faults.append(str(error))
    return faults


def _faults_of_kind(artifact: storage.Artifact, watch: Callable[[int], object]) -> Iterator[str]:
    """Yield the faults of an artifact whose files are whole: values that are not as declared first.

    Only where these are, its parts are compared with each other.
    """
    path, kind = artifact.path, artifact.kind
    if kind is storage.BITEXT:
        yield from Bitext(artifact).faults()
        return
    further: Iterator[str] = iter(())
    if kind is storage.INDEX:
        index = CorpusIndex(artifact)
        assert index.layers is None or index.layers
        further = chain(_index_faults(index, watch), _signature_faults(artifact, index, watch))
    elif kind is storage.SIGNATURES:
        table = SignatureTable(artifact)
        further = _table_faults(table)
    elif kind is storage.PROJECTION:
        SpectralProjection(artifact)
    elif kind is storage.FINDER:
        artifact.arrays(WordFinder.ARRAYS)
    elif kind is storage.MAP:
        artifact.arrays(VectorMap.ARRAYS)
    elif kind is storage.GRAMMAR:
        GrammarIndex(artifact)
    elif kind is storage.RULES:
        NumericRules(path)
    faults = list(artifact.faults())
    yield from faults or further
    if kind is storage.SIGNATURES:
        if table.fingerprint.is_learned:
            yield from _faults(table.projection.path, watch)
        if finder_inside(path).exists():
            yield from _faults(finder_inside(path), watch)


def _signature_faults(
    artifact: storage.Artifact, index: CorpusIndex, watch: Callable[[int], object]
) -> Iterator[str]:
    """Yield the faults of the signatures inside an index."""
    inside = signatures_inside(index.path)
    if inside.is_symlink():
        yield f"{inside} is a link, and artifacts hold none"
    elif inside.exists():
        yield from _faults(inside, watch)
        table = SignatureTable(storage.Artifact(inside, storage.SIGNATURES))
        corpus = str(table.parameters.get("corpus"))
        is_older = corpus != index.corpus and knows_text_of(artifact, table.artifact)
        if not is_older and not table.is_of(index):
            yield f"{inside} was signed from another text than the index holds"


def _listed_faults(
    path: Path,
    list_of_files: str,
    faults_in: Callable[[Path, Any], Iterator[str]],
    watch: Callable[[int], object],
) -> list[str]:
    """Return the faults of the files that a list names, and of the artifacts beside it."""
    try:
        faults = list(faults_in(path, json.loads((path / list_of_files).read_bytes())))
    except (ValueError, LookupError, TypeError, AttributeError):
        return [f"{path / list_of_files} is damaged"]
    for inside in sorted(path.iterdir()):
        if storage.holds_artifact(inside) or (inside / _PACKS).is_file():
            faults += _faults(inside, watch)
    return faults


def _step_faults(path: Path, steps: Any) -> Iterator[str]:
    for step, entry in steps.items():
        yield from storage.FinishedPart.read(entry).faults(path / step)


def _pack_faults(path: Path, packs: Any) -> Iterator[str]:
    for name, size in packs["files"].items():
        file = path / name
        if not file.is_file():
            yield f"{file} is missing"
        elif file.stat().st_size != size:
            yield f"{file} has {file.stat().st_size:,} bytes, wanted {size:,}"
        elif file.suffix in (".gz", ".zst"):
            size_name, _, kind = file.stem.partition("-")
            try:
                n_rules = sum(block.text.count(b"\n") for block in read_line_blocks(file))
            except InputError as error:
                yield str(error)
                continue
            if n_rules != packs["rules"][size_name.upper()][kind]:
                yield f"{file} has {counted(n_rules, 'rule')}, which is not the number in {_PACKS}"


def _index_faults(index: CorpusIndex, watch: Callable[[int], object]) -> Iterator[str]:
    tokens = sentences = 0
    for number, shard in enumerate(index.shards):
        n = shard.tokens.size
        name = f"shard {number}"
        if n == 0 or shard.tokens[-1] != 0:
            yield f"{name} does not end with a sentence boundary"
            continue
        boundaries = np.flatnonzero(shard.tokens == 0)
        starts = np.concatenate([[0], boundaries[:-1] + 1])
        if not np.array_equal(starts, shard.sentence_starts):
            yield f"{name}: sentence starts and boundaries differ"
        counts = np.bincount(shard.tokens, minlength=shard.word_starts.size - 1)
        if not np.array_equal(np.cumsum(counts), shard.word_starts[1:]):
            yield f"{name}: word counts and tokens differ"
        seen = np.zeros(n, bool)
        seen[shard.suffixes] = True
        if not seen.all():
            yield f"{name}: the suffix array is no permutation of the positions"
        if count_disorder(shard.tokens, shard.suffixes, _DEPTH):
            yield f"{name}: the suffix array is not in order"
        if shard.analyses is not None and index.layers is not None:
            words = index.layers.words
            if shard.analyses.max() >= words.size or np.any(words[shard.analyses] != shard.tokens):
                yield f"{name}: analyses and tokens differ"
        if shard.heads is not None:
            heads, at = head_positions(shard.heads), np.cumsum(shard.tokens == 0)
            if heads.min() < 0 or heads.max() >= n or np.any(at[heads] != at):
                yield f"{name}: heads are outside of their sentences"
        watch(shard.suffixes.nbytes)
        tokens += n - boundaries.size
        sentences += boundaries.size
    yield from index.metadata.faults()
    counts = index.parameters["counts"]
    if tokens != counts["tokens"] or sentences != counts["sentences"]:
        yield "the manifest's counts and the shards differ"
    ids = index.vocabulary.find(frozen(index.vocabulary.word_hashes()[1:]))
    if not np.array_equal(ids, np.arange(1, index.n_words)):
        yield "the vocabulary does not find its own words"


def is_unit(vectors: np.ndarray, scales: np.ndarray) -> bool:
    """Return whether all vectors times their scales have length 1, or are zero.

    Arguments:
        vectors: int8[n, dimensions].
        scales: float32[n].
    """
    for first in range(0, len(vectors), _VECTORS_AT_ONCE):
        block = vectors[first : first + _VECTORS_AT_ONCE].astype(np.float32)
        squares = np.einsum("ij,ij->i", block, block) * scales[first : first + len(block)] ** 2
        if np.any(np.abs(squares - 1.0)[squares != 0.0] > _ROUNDING):
            return False
    return True


def _table_faults(table: SignatureTable) -> Iterator[str]:
    if table.parts is not None and not is_unit(table.parts.vectors, table.parts.scales):
        yield "the words' vectors times their scales are not of length 1"
    own_vectors = table.own_vectors
    if own_vectors is not None and not is_unit(own_vectors.vectors, own_vectors.scales):
        yield "the phrases' vectors times their scales are not of length 1"
    for first in range(0, len(table), _ROWS_AT_ONCE):
        rows = np.arange(first, min(len(table), first + _ROWS_AT_ONCE))
        text, begins, ends = table.edges(rows)
        bounds = np.append(begins, ends[-1])
        texts = text[bounds[0] : bounds[-1]]
        if not np.array_equal(begins[1:], ends[:-1]) or not np.array_equal(
            table.find_rendered(texts, bounds - bounds[0]), rows
        ):
            yield "the table does not find its own phrases"
            break
    if "sums/hashes" in table.artifact:
        sums = KeptSums(table.artifact)
        for first in range(0, len(sums), 1 << 14):
            sums.read(first, min(len(sums), first + (1 << 14)))  # raises where they contradict
