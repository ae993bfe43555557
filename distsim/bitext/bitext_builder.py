"""Builds bitexts from two files and files of links, trees and tags."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from distsim import storage
from distsim.base.errors import InputError, ParameterError, counted
from distsim.base.parallel import Progress, Run, no_progress
from distsim.bitext.aligner import AlignerOptions, TokenisedSide, learn_block, pair_blocks
from distsim.bitext.bitext import Bitext
from distsim.bitext.links import links_for
from distsim.bitext.sentence_pairs import (
    BitextOptions,
    Pairs,
    ReadSide,
    find_pair,
    read_pairs,
    refuse_nul,
)
from distsim.corpus.annotation import TreeReader
from distsim.corpus.lines import Block, read_blocks
from distsim.corpus.normaliser import Normaliser, unescape
from distsim.corpus.sources import Source, find_file
from distsim.corpus.vocabulary import VocabularyBuilder
from distsim.kernels.compiled import frozen


class ReadTrees(NamedTuple):
    """Trees of the retained pairs, with the fields of bitext.Trees and two counts.

    Attributes:
        text: bracketed trees end to end.
        lengths: bytes of each tree.
        labels: distinct labels of nodes.
        span_labels: uint32[m], numbers of the labels of all nodes, end to end.
        span_bounds: uint8[m, 2], tokens start..stop of each node, half-open.
        span_lengths: nodes of each tree.
        missing: sentences whose line is blank.
        unlike: sentences whose leaves are not their tokens.
    """

    text: bytes
    lengths: list[int]
    labels: list[str]
    span_labels: np.ndarray
    span_bounds: np.ndarray
    span_lengths: list[int]
    missing: int
    unlike: int


class ReadTags(NamedTuple):
    """Tags of the retained pairs.

    Attributes:
        numbers: uint32 per token, the number of its tag.
        vocabulary: tags by number.
        missing: sentences whose line is blank.
        unlike: sentences with another number of tags than tokens.
    """

    numbers: np.ndarray
    vocabulary: VocabularyBuilder
    missing: int
    unlike: int


def trees_for(path: str | Path, pairs: Pairs, normaliser: Normaliser) -> ReadTrees:
    """Return the trees in a file for the retained pairs.

    A tree matches where its leaves, normalised, are the English tokens; brackets and quotes
    may be written as the Penn Treebank does (-LRB-, ``).

    Arguments:
        path: of a file with a tree a line, blank for none.

    Raises:
        InputError: the file cannot be read, a tree is broken (file and line are named), or the
            number of lines is not that of the pairs that were read.
    """
    reader = TreeReader()
    leaves = _Leaves(pairs.english.vocabulary, normaliser)
    numbers: dict[str, int] = {}
    text: list[bytes] = []
    lengths: list[int] = []
    span_labels: list[int] = []
    span_bounds: list[tuple[int, int]] = []
    span_lengths: list[int] = []
    missing = unlike = 0
    for line, words, file, number in _lines_for(path, pairs, "trees"):
        nodes = []
        kept = b""
        if not line.strip():
            missing += 1
        else:
            try:
                tree = reader.parse(line)
            except ValueError as error:
                raise InputError(f"{file}, line {number}: the tree is broken: {error}") from None
            if leaves.are(tree.leaves, words):
                kept = line.strip().encode()
                nodes = tree.nodes
            else:
                unlike += 1
        text.append(kept)
        lengths.append(len(kept))
        span_lengths.append(len(nodes))
        for start, stop, label in nodes:
            span_labels.append(numbers.setdefault(label, len(numbers)))
            span_bounds.append((start, stop))
    return ReadTrees(
        b"".join(text), lengths, list(numbers), np.array(span_labels, np.uint32),
        np.array(span_bounds, np.uint8).reshape(-1, 2), span_lengths, missing, unlike,
    )  # fmt: skip


def tags_for(path: str | Path, pairs: Pairs) -> ReadTags:
    """Return the tags in a file for the retained pairs.

    Arguments:
        path: of a file of tags separated by spaces, a sentence a line.

    Raises:
        InputError: the file cannot be read, or the number of lines is not that of the pairs.
    """
    vocabulary = VocabularyBuilder()
    numbers: list[np.ndarray] = []
    missing = unlike = 0
    for line, words, _, _ in _lines_for(path, pairs, "tags"):
        tags = line.split()
        if len(tags) == words.size:
            numbers.append(vocabulary.add([tag.encode() for tag in tags]))
        else:
            missing += not tags
            unlike += bool(tags)
            numbers.append(np.zeros(words.size, np.uint32))
    return ReadTags(np.concatenate(numbers), vocabulary, missing, unlike)


class _Leaves:
    """Comparison of trees' leaves with tokens; each distinct leaf is normalised once."""

    def __init__(self, vocabulary: VocabularyBuilder, normaliser: Normaliser) -> None:
        self._number = {word: i for i, word in enumerate(vocabulary.texts(1), 1)}
        self._normaliser = normaliser
        self._known: dict[str, tuple[int, int]] = {}

    def are(self, leaves: list[str], words: np.ndarray) -> bool:
        """Return whether the leaves are these words."""
        if len(leaves) != words.size:
            return False
        return all(
            word in self._numbers(leaf) for leaf, word in zip(leaves, words.tolist(), strict=True)
        )

    def _numbers(self, leaf: str) -> tuple[int, int]:
        """Return the word ids of a leaf as written and unescaped; -1 where unknown."""
        plain_and_undone = self._known.get(leaf)
        if plain_and_undone is None:
            plain, undone = (
                self._number.get(self._normaliser.token(form).encode(), -1)
                for form in (leaf, unescape(leaf))
            )
            plain_and_undone = self._known[leaf] = plain, undone
        return plain_and_undone


def _lines_for(
    path: str | Path, pairs: Pairs, content: str
) -> Iterator[tuple[str, np.ndarray, str, int]]:
    """Yield (line, English word ids, file, line number) for every retained pair."""
    source = find_file(path)
    stops = np.cumsum(pairs.english.lengths)
    n_lines = 0
    for block in read_blocks([source]):
        lines = _split(block, source)
        for number, line in enumerate(lines, n_lines):
            row = int(pairs.rows[number]) if number < pairs.rows.size else -1
            if row >= 0:
                stop = int(stops[row])
                start = stop - int(pairs.english.lengths[row])
                yield line, pairs.english.tokens[start:stop], source.path, number + 1
        n_lines += len(lines)
    if n_lines != pairs.rows.size:
        raise InputError(
            f"{path} has {counted(n_lines, 'line')}, the bitext has "
            f"{counted(pairs.rows.size, 'pair')}: give a "
            f"line of {content} for every pair that was read, an empty one where there are none"
        )


def _split(block: Block, source: Source) -> list[str]:
    refuse_nul(block, source.path)
    return block.lines()


class Given(NamedTuple):
    """Files of links, trees and tags, a line a pair.

    links: Pharaoh's, `English-other` from 0, or `other-English` where reversed_links; without
    them links are learned.
    trees: bracketed, of the English side. tags: of each English token.
    """

    links: str | Path | None = None
    trees: str | Path | None = None
    tags: str | Path | None = None
    reversed_links: bool = False


def build_bitext(
    english: str | Path,
    other: str | Path,
    path: str | Path,
    *,
    options: BitextOptions | None = None,
    given: Given | None = None,
    aligner: AlignerOptions | None = None,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> Bitext:
    """Return the bitext made of two files and written to `path`.

    Arguments:
        english, other: files with a sentence a line; one may be standard input (`-`).
        path: folder of the bitext.
        options: how lines become tokens.
        given: files of links, trees and tags.
        aligner: how links are learned where none are given; they are learned of lower-case words.
        jobs: threads, all cores where None; the result does not depend on it.
        progress: called with the stage and the number of tokens or sweeps.

    Raises:
        InputError: a file is missing, unreadable or not UTF-8; the files do not go together;
            links, trees or tags are not those of the pairs.
        ArtifactError: something that is no bitext exists at `path`, or it is being written.
        ParameterError: the normaliser drops tokens, and there are links, trees or tags.

    >>> _ = (folder / "en").write_text("the house\\nthe cat\\na cat\\n")
    >>> _ = (folder / "de").write_text("das haus\\ndie katze\\neine katze\\n")
    >>> bitext = build_bitext(folder / "en", folder / "de", folder / "en-de.bitext")
    >>> len(bitext), bitext.lines.tolist()
    (3, [1, 2, 3])
    """
    options = options or BitextOptions()
    given = given or Given()
    if options.normaliser.drops and (given.links or given.trees or given.tags):
        raise ParameterError(
            "links, trees and tags are of the tokens as read: a normaliser that drops tokens "
            "cannot go with them; keep punctuation and digits"
        )
    find_pair(english, other)
    for file in (given.links, given.trees, given.tags):
        if file is not None:
            find_file(file)
    with storage.create(path, storage.BITEXT, continues=True) as writer:
        run = Run(jobs, progress=progress)
        pairs = read_pairs(english, other, options, run)
        writer.parameters = {**options.manifest(), "counts": pairs.counts.manifest()}
        pairs = pairs._replace(
            english=_written_side(writer, "english", pairs.english),
            other=_written_side(writer, "other", pairs.other),
        )
        writer.add("lines", pairs.lines)
        if given.trees is not None:
            _write_trees(writer, given.trees, pairs, options)
        if given.tags is not None:
            _write_tags(writer, given.tags, pairs)
        if given.links is not None:
            _write_given_links(writer, given.links, pairs, given.reversed_links)
        else:
            _write_learned_links(writer, aligner or AlignerOptions(), pairs, run)
    return Bitext.open(path)


def _written_side(writer: storage.ArtifactWriter, name: str, side: ReadSide) -> ReadSide:
    """Write a side and return it with its tokens mapped, so that they take no memory."""
    writer.add(f"{name}/tokens", side.tokens)
    writer.add(f"{name}/starts", _starts(side.lengths))
    for part, values in side.vocabulary.arrays().items():
        writer.add(f"{name}/vocabulary/{part}", values)
    return side._replace(tokens=writer.read(f"{name}/tokens"))


def _write_given_links(
    writer: storage.ArtifactWriter, path: str | Path, pairs: Pairs, reversed_links: bool
) -> None:
    links = links_for(path, pairs, reversed_links)
    writer.add("links/pairs", links.pairs.astype(np.uint8))
    writer.add("links/starts", links.starts.astype(np.uint64))
    writer.parameters["links"] = {
        "from": "file",
        "links": len(links.pairs),
        "possible": int(np.count_nonzero(links.possible)),
    }


def _write_learned_links(
    writer: storage.ArtifactWriter, aligner: AlignerOptions, pairs: Pairs, run: Run,
) -> None:  # fmt: skip
    """Learn links block by block; those of a finished block stay where the run is killed."""
    english, other = _InLowerCase(pairs.english), _InLowerCase(pairs.other)
    blocks = list(pair_blocks(english.starts, other.starts))
    names = [f"links/block-{number}/" for number in range(len(blocks))]
    made_of = {name: entry["checksum"] for name, entry in writer.entries.items()}
    for number, (name, (first, stop)) in enumerate(zip(names, blocks, strict=True)):
        key = storage.checksum_of_settings([made_of, aligner.manifest(), first, stop])
        if all([writer.take(name + part, key) for part in ("pairs", "lengths")]):
            continue
        whole = run._replace(progress=_of_blocks(run.progress, number, len(blocks)))
        links = learn_block(english.part(first, stop), other.part(first, stop), aligner, whole)
        for part, values in (("pairs", links.pairs), ("lengths", np.diff(links.starts))):
            writer.add(name + part, values)
            if len(blocks) > 1:
                writer.keep(name + part, key)
    stream = writer.stream("links/pairs", np.uint8, 2)
    for name in names:
        stream.append(writer.read(f"{name}pairs"))
    n_links = len(stream)
    writer.close("links/pairs")
    lengths = [writer.read(f"{name}lengths") for name in names]
    writer.add("links/starts", _starts(np.concatenate(lengths)))
    for name in names:
        del writer.entries[f"{name}pairs"], writer.entries[f"{name}lengths"]
    writer.parameters["links"] = {"from": "aligner", "links": n_links, **aligner.manifest()}


def _of_blocks(progress: Progress, number: int, n_blocks: int) -> Progress:
    """Return the progress of one block as that of all."""

    def all_blocks(stage: str, done: int, total: int | None) -> None:
        sweeps = total or 0
        progress(stage, number * sweeps + done, n_blocks * sweeps)

    return all_blocks


class _InLowerCase:
    """One side for the aligner, with words folded to lower case; starts: int64[n + 1]."""

    def __init__(self, side: ReadSide) -> None:
        numbers: dict[str, int] = {}
        words = [
            numbers.setdefault(text.decode().lower(), len(numbers))
            for text in side.vocabulary.texts(1)
        ]
        self._number = np.array([0, *words], np.uint32)
        self._n_words = len(numbers)
        self._tokens = side.tokens
        self.starts = np.concatenate([[0], np.cumsum(side.lengths)])

    def part(self, first: int, stop: int) -> TokenisedSide:
        """Return some of the sentences."""
        begin, end = self.starts[first], self.starts[stop]
        return TokenisedSide(
            frozen(self._number[self._tokens[begin:end]]),
            frozen(self.starts[first : stop + 1] - begin), self._n_words,
        )  # fmt: skip


def _write_trees(
    writer: storage.ArtifactWriter, path: str | Path, pairs: Pairs, options: BitextOptions
) -> None:
    trees = trees_for(path, pairs, options.normaliser)
    writer.add("trees/text", np.frombuffer(trees.text, np.uint8))
    writer.add("trees/starts", _starts(trees.lengths))
    labels = json.dumps(trees.labels, ensure_ascii=False).encode()
    writer.add("trees/labels", np.frombuffer(labels, np.uint8))
    writer.add("trees/span_labels", trees.span_labels)
    writer.add("trees/span_bounds", trees.span_bounds)
    writer.add("trees/span_starts", _starts(trees.span_lengths))
    writer.parameters["trees"] = {
        "trees": len(trees.lengths) - trees.missing - trees.unlike,
        "missing": trees.missing,
        "unlike": trees.unlike,
    }


def _write_tags(writer: storage.ArtifactWriter, path: str | Path, pairs: Pairs) -> None:
    tags = tags_for(path, pairs)
    writer.add("tags/numbers", tags.numbers)
    for part, values in tags.vocabulary.arrays().items():
        writer.add(f"tags/vocabulary/{part}", values)
    writer.parameters["tags"] = {"missing": tags.missing, "unlike": tags.unlike}


def _starts(lengths: Any) -> np.ndarray:
    """Return the start of each item by its length, and the end of the last, uint64[n + 1]."""
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64))]).astype(np.uint64)
