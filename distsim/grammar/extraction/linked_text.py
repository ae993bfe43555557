"""The sentences, links and trees of bitexts, in one numbering of words and labels."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from distsim.base.arguments import Chains
from distsim.base.errors import InputError, ParameterError, counted
from distsim.bitext.bitext import Bitext, Side, Trees
from distsim.corpus.annotation import Tree
from distsim.corpus.vocabulary import Vocabulary, VocabularyBuilder
from distsim.grammar.kernels.extraction import LinkedSide, LinkedTextArrays, SideWords
from distsim.kernels.compiled import frozen

Span = tuple[int, int]

X = "X"
MOST = 1023  # ten bits
_PAIRS_AT_ONCE = 1 << 17  # whose links are turned together
_NAMES = {
    ",": "COMMA",
    "[": "LSB",
    "]": "RSB",
    "|": "BAR",
    "/": "SLASH",
    "\\": "BACKSLASH",
    "+": "PLUS",
    "=": "EQUALS",
}
_ODD = re.compile(r"[,\[\]|/\\+=]|[\s\x00-\x20\x7f]")


def written_label(label: str) -> str:
    """Return a tree's label as it is written in rules.

    The comma is COMMA, as in Joshua; what parts a rule's symbols, fields or the parts of a
    label gets a name too; blanks and control characters are underlines.

    Arguments:
        label: of a node of a tree.

    >>> written_label(","), written_label("NP"), written_label("a|/ b")
    ('COMMA', 'NP', 'aBARSLASH_b')
    """
    return _ODD.sub(lambda match: _NAMES.get(match[0], "_"), label)


def number_labels(labels: Iterable[str]) -> list[str]:
    """Return the distinct labels as written, in byte order, X first; positions are their numbers.

    Raises:
        InputError: there are more than 1,023 of them.
    """
    distinct = sorted({written_label(label) for label in labels} - {X}, key=str.encode)
    if len(distinct) > MOST:
        raise InputError(
            f"the trees have {counted(len(distinct), 'different label')}, wanted {MOST:,} "
            "at most: leave "
            "out functions and indices"
        )
    return [X, *distinct]


def labels_of_spans(tree: Tree) -> dict[Span, set[str]]:
    """Return every label of every span: X, X/Y, X\\Y, X+Y and X+Y+Z.

    Thesis 3.2.2; Callison-Burch 2008, 3.2.

    tree: of a sentence; a span is half-open, in tokens.
    """
    plain: dict[Span, set[str]] = defaultdict(set)
    for start, stop, label in tree.nodes:
        plain[start, stop].add(written_label(label))
    from_start: dict[int, list[tuple[int, str]]] = defaultdict(list)
    to_stop: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for (start, stop), names in plain.items():
        from_start[start] += [(stop, name) for name in sorted(names)]
        to_stop[stop] += [(start, name) for name in sorted(names)]
    labels: dict[Span, set[str]] = defaultdict(set)
    for (start, stop), names in plain.items():
        labels[start, stop] |= names
        for name in names:
            for inner, part in to_stop[stop]:
                if inner > start:
                    labels[start, inner].add(f"{name}/{part}")
            for inner, part in from_start[start]:
                if inner < stop:
                    labels[inner, stop].add(f"{name}\\{part}")
            for end, second in from_start[stop]:
                labels[start, end].add(f"{name}+{second}")
                for last, third in from_start[end]:
                    labels[start, last].add(f"{name}+{second}+{third}")
    return dict(labels)


def label_text(code: int, names: list[str]) -> str:
    """Return the text of a label.

    >>> names = ["X", "NP", "VP"]
    >>> label_text(0, names), label_text(2 | 1 << 10 | 1 << 30, names), label_text(1 | 2 << 10, names)
    ('X', 'VP/NP', 'NP+VP')
    """  # noqa: E501
    parts = [code & 1023] + [part for shift in (10, 20) if (part := code >> shift & 1023)]
    return {0: "+", 1: "/", 2: "\\"}[code >> 30].join(names[part] for part in parts)


MOST_BITEXTS = 64


@dataclass(frozen=True)
class LinkedText:
    """Sentence pairs with links, of one or more bitexts.

    Attributes:
        foreign, english: the sides.
        links: uint8[m, 2] of (foreign, English) positions, sorted within a sentence;
            link_starts: int64[n + 1].
        nodes: uint16[k, 3] of (start, stop, base label); node_starts: int64[n + 1].
        labels: the base labels; 0 is X.
        bounds: int64[b + 1], the first sentence of each bitext.
        has_trees: whether any sentence has a tree.
    """

    foreign: LinkedSide
    english: LinkedSide
    links: np.ndarray
    link_starts: np.ndarray
    nodes: np.ndarray
    node_starts: np.ndarray
    labels: list[str]
    bounds: np.ndarray
    has_trees: bool

    def __len__(self) -> int:
        return self.link_starts.size - 1

    @property
    def arrays(self) -> LinkedTextArrays:
        """The arrays, as kernels take them."""
        return LinkedTextArrays(
            self.foreign, self.english, self.links, self.link_starts, self.nodes, self.node_starts
        )

    @classmethod
    def join(cls, bitexts: Sequence[Bitext], chains: Chains | None = "top") -> "LinkedText":
        """Return bitexts end to end; their foreign languages become one.

        Arguments:
            bitexts: 1 to 64. chains: which constituents over the same words count; each by
                itself where None.

        Raises:
            ParameterError: there is none, or there are more than 64.
            InputError: they contain no sentence pair.
            ArtifactError: one is damaged.
        """
        if not 1 <= len(bitexts) <= MOST_BITEXTS:
            raise ParameterError(f"{counted(len(bitexts), 'bitext')}: give 1 to {MOST_BITEXTS}")
        bounds = np.zeros(len(bitexts) + 1, np.int64)
        np.cumsum([len(bitext) for bitext in bitexts], out=bounds[1:])
        if bounds[-1] == 0:
            raise InputError(
                f"{bitexts[0].artifact.path}: holds no sentence pair: make it from other text"
            )
        for bitext in bitexts:
            bitext.require_sound()
        links = np.concatenate([bitext.links for bitext in bitexts])
        counts = np.concatenate([np.diff(b.link_starts.astype(np.int64)) for b in bitexts])
        labels, nodes, n_nodes = _joined_trees([(b.trees, len(b)) for b in bitexts], chains)
        return cls(
            _joined_sides([bitext.other for bitext in bitexts]),
            _joined_sides([bitext.english for bitext in bitexts]),
            frozen(_turned(links, counts)),
            frozen(_starts(counts)),
            frozen(nodes),
            frozen(_starts(n_nodes)),
            labels,
            frozen(bounds),
            any(bitext.trees is not None for bitext in bitexts),
        )


def words_of(texts: Sequence[bytes], hashes: np.ndarray) -> SideWords:
    """Return the words of a side; word 0 is empty.

    Arguments:
        texts: of each word, as bytes. hashes: uint64[n], of the texts.
    """
    written = [written_word(text) for text in texts]
    return SideWords(
        frozen(np.frombuffer(b"".join(written), np.uint8)),
        frozen(_starts([len(text) for text in written])),
        frozen(hashes),
        frozen(np.array([len(text.decode(errors="replace")) for text in texts], np.int64)),
    )


def written_word(text: bytes) -> bytes:
    """Return a word as it is written in a rule, escaped where it looks like a gap or separator.

    As Moses does: `[X,1]` as a word is `&#91;X,1&#93;`, `|||` is `&#124;&#124;&#124;`.

    Arguments:
        text: UTF-8 of the word.

    >>> written_word(b"[X,1]"), written_word(b"[x"), written_word(b"|||")
    (b'&#91;X,1&#93;', b'[x', b'&#124;&#124;&#124;')
    """
    if text[:1] == b"[" and text[-1:] == b"]":
        text = text.replace(b"[", b"&#91;").replace(b"]", b"&#93;")
    if b"|||" in text:
        text = text.replace(b"|", b"&#124;")
    return text


def _starts(lengths: Sequence[int] | np.ndarray) -> np.ndarray:
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def _texts(vocabulary: Vocabulary) -> list[bytes]:
    text, offsets = vocabulary.text.tobytes(), vocabulary.offsets.tolist()
    return [text[a:b] for a, b in pairwise(offsets[1:])]


def _joined_sides(sides: Sequence[Side]) -> LinkedSide:
    starts = _starts(np.concatenate([np.diff(side.starts.astype(np.int64)) for side in sides]))
    if len(sides) == 1:
        vocabulary = sides[0].vocabulary
        words = words_of([b"", *_texts(vocabulary)], vocabulary.word_hashes())
        return LinkedSide(frozen(sides[0].tokens), frozen(starts), words)
    builder = VocabularyBuilder()
    tokens = []
    for side in sides:
        number = np.concatenate([[0], builder.add(_texts(side.vocabulary))]).astype(np.uint32)
        tokens.append(number[side.tokens])
    words = words_of([b"", *builder.texts(1)], builder.hashes().copy())
    return LinkedSide(frozen(np.concatenate(tokens)), frozen(starts), words)


def _turned(links: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return (English, other) links as (other, English), sorted within each sentence.

    Arguments:
        links: uint8[m, 2], of all sentences.
        counts: int64, links of each sentence.
    """
    turned = np.empty(links.shape, np.uint8)
    starts = _starts(counts)
    for first in range(0, counts.size, _PAIRS_AT_ONCE):  # all at once take much memory
        of_pairs = counts[first : first + _PAIRS_AT_ONCE]
        begin = starts[first]
        end = begin + of_pairs.sum()
        key = np.repeat(np.arange(of_pairs.size, dtype=np.uint64), of_pairs) << np.uint64(16)
        key |= links[begin:end, 1].astype(np.uint64) << np.uint64(8)
        key |= links[begin:end, 0].astype(np.uint64)
        key.sort()
        turned[begin:end, 0] = (key >> np.uint64(8)) & np.uint64(255)
        turned[begin:end, 1] = key & np.uint64(255)
    return turned


def _joined_trees(
    trees: Sequence[tuple[Trees | None, int]], chains: Chains | None
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the base labels, nodes uint16[k, 3], and the number of nodes of each sentence.

    trees: of each bitext its trees, None without, and its number of sentence pairs.
    """
    read = [_chained(tree, chains) if tree is not None else None for tree, _ in trees]
    labels = number_labels(
        label
        for chains_of_file in read
        if chains_of_file is not None
        for label in chains_of_file[0]
    )
    numbers = {label: number for number, label in enumerate(labels)}
    nodes = [np.empty((0, 3), np.uint16)]
    counts = []
    for spans_of_file, (_, n_sentences) in zip(read, trees, strict=True):
        if spans_of_file is None:
            counts.append(np.zeros(n_sentences, np.int64))
            continue
        names, bounds, label, owner = spans_of_file
        number = np.array([numbers[written_label(name)] for name in names], np.uint16)[label]
        nodes.append(np.column_stack([bounds.astype(np.uint16), number]))
        counts.append(np.bincount(owner, minlength=n_sentences))
    return labels, np.concatenate(nodes), np.concatenate(counts)


def _chained(
    trees: Trees, chains: Chains | None
) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    """Return (names, bounds, label of each node, its sentence), one node a span unless None.

    A constituent labelled X is none.

    Nodes over the same words follow each other, the larger constituent first.
    """
    n_sentences = trees.span_starts.size - 1
    lengths: np.ndarray = np.diff(trees.span_starts.astype(np.int64))
    owner = np.repeat(np.arange(n_sentences), lengths)
    known_as_x = np.array([written_label(name) == X for name in trees.labels], bool)
    labelled = np.flatnonzero(~known_as_x[trees.span_labels])
    owner, bounds = owner[labelled], trees.span_bounds[labelled]
    label = trees.span_labels[labelled].astype(np.int64)
    if label.size == 0 or chains is None:
        return list(trees.labels), bounds, label, owner
    again = np.zeros(label.size, bool)
    again[1:] = (owner[1:] == owner[:-1]) & np.all(bounds[1:] == bounds[:-1], axis=1)
    first = np.flatnonzero(~again)
    last = np.append(first[1:], label.size) - 1
    chosen = first if chains == "top" else last
    return list(trees.labels), bounds[chosen], label[chosen], owner[chosen]
