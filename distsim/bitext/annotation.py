"""Reads files of trees and tags, a line a sentence, for the pairs of a bitext."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from distsim.base.errors import InputError
from distsim.bitext.reading import Pairs, refuse_nul
from distsim.corpus.blocks import Block, read_blocks
from distsim.corpus.escapes import unescape
from distsim.corpus.normaliser import Normaliser
from distsim.corpus.sources import Source, find_file
from distsim.corpus.trees import TreeReader
from distsim.corpus.vocabulary import VocabularyBuilder


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
        pairs: the retained pairs.
        normaliser: of the leaves.

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
        pairs: the retained pairs.

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
        found = self._known.get(leaf)
        if found is None:
            plain, undone = (
                self._number.get(self._normaliser.token(form).encode(), -1)
                for form in (leaf, unescape(leaf))
            )
            found = self._known[leaf] = plain, undone
        return found


def _lines_for(
    path: str | Path, pairs: Pairs, what: str
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
            f"{path} has {n_lines:,} lines, the bitext has {pairs.rows.size:,} pairs: give a "
            f"line of {what} for every pair that was read, an empty one where there are none"
        )


def _split(block: Block, source: Source) -> list[str]:
    refuse_nul(block, source.path)
    return block.lines()
