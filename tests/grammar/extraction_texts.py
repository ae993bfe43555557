"""Sentence pairs as lists -> a LinkedText; drawn ones; files of rules -> dictionaries."""

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from distsim.bitext.bitext import Trees
from distsim.corpus.vocabulary import VocabularyBuilder
from distsim.grammar.extraction.instances import ExtractOptions
from distsim.grammar.extraction.linked_text import (
    LinkedSide,
    LinkedText,
    _joined_trees,
    _turned,
    words_of,
)
from distsim.kernels.compiled import frozen
from tests.naive.extraction import Pair


def starts_of(lengths: Sequence[int]) -> np.ndarray:
    return frozen(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def side_of(sentences: Sequence[Sequence[str]]) -> LinkedSide:
    builder = VocabularyBuilder()
    tokens = [builder.add([word.encode() for word in sentence]) for sentence in sentences]
    words = words_of([b"", *builder.texts(1)], builder.hashes().copy())
    return LinkedSide(
        frozen(np.concatenate([np.empty(0, np.uint32), *tokens])),
        starts_of([len(s) for s in sentences]),
        words,
    )


def linked_text(bitexts: Sequence[Sequence[Pair]], options: ExtractOptions) -> LinkedText:
    pairs = [pair for bitext in bitexts for pair in bitext]
    links = [sorted((e, f) for f, e in pair.links) for pair in pairs]
    counts = np.array([len(one) for one in links], np.int64)
    flat = np.array([link for one in links for link in one], np.uint8).reshape(-1, 2)
    names = sorted({label for pair in pairs for _, _, label in pair.nodes})
    spans = [(a, b) for pair in pairs for a, b, _ in pair.nodes]
    trees = Trees(
        np.empty(0, np.uint8),
        np.zeros(len(pairs) + 1, np.uint64),
        names,
        np.array([names.index(x) for p in pairs for *_, x in p.nodes], np.uint32),
        np.array(spans, np.uint8).reshape(-1, 2),
        starts_of([len(pair.nodes) for pair in pairs]).astype(np.uint64),
    )
    chains = None if options.labels == "every" else options.chains
    labels, nodes, n_nodes = _joined_trees([(trees, len(pairs))], chains)
    return LinkedText(
        side_of([pair.foreign for pair in pairs]),
        side_of([pair.english for pair in pairs]),
        frozen(_turned(flat, counts)),
        starts_of(counts),
        frozen(nodes),
        starts_of(n_nodes),
        labels,
        starts_of([len(bitext) for bitext in bitexts]),
        bool(spans),
    )


def drawn_pair(draw: random.Random, longest: int = 9, with_tree: bool = True) -> Pair:
    """Draw a sentence pair with many repeated words, unlinked words and crossing links."""
    n_f, n_e = draw.randint(1, longest), draw.randint(1, longest)
    foreign = [draw.choice("abcde") for _ in range(n_f)]
    english = [draw.choice("abxyz") for _ in range(n_e)]
    links = set()
    for i in range(n_f):
        for _ in range(draw.choice((0, 1, 1, 1, 2))):
            near = min(n_e - 1, max(0, i + draw.choice((-2, -1, 0, 0, 0, 1, 2))))
            links.add((i, near))
    nodes: list[tuple[int, int, str]] = []
    if with_tree and draw.random() < 0.9:
        _grow(draw, 0, n_e, nodes)
    return Pair(foreign, english, links, nodes)


def _grow(draw: random.Random, start: int, stop: int, nodes: list) -> None:
    nodes.append((start, stop, draw.choice(("S", "NP", "VP", "PP", ",", "X"))))
    if draw.random() < 0.2:
        nodes.append((start, stop, draw.choice(("NP", "QP"))))
    if stop - start > 1:
        middle = draw.randint(start + 1, stop - 1)
        _grow(draw, start, middle, nodes)
        _grow(draw, middle, stop, nodes)


def read_rules(path: Path) -> dict[tuple[str, str, str], tuple[dict[str, float], str]]:
    """Return {(label, foreign, English): (features, links)} of a file without repeated rules."""
    found = {}
    for line in path.read_text().split("\n")[:-1]:
        label, foreign, english, features, links = line.split(" ||| ")
        values = dict(one.rsplit("=", 1) for one in features.split())
        assert (label, foreign, english) not in found
        found[label, foreign, english] = {k: float(v) for k, v in values.items()}, links
    return found
