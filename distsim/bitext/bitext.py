"""Opened bitexts: sentence pairs with words, links, trees, tags and line numbers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from distsim import storage
from distsim.base.errors import ArtifactError
from distsim.corpus.annotation import Constituent
from distsim.corpus.vocabulary import Vocabulary
from distsim.storage import StoredArray, start_array
from distsim.storage.reading import Declaration

MAX_TOKENS = 255  # of a sentence: a position is a byte
_PAIRS_AT_ONCE = 1 << 17  # whose links are checked together


class Side(NamedTuple):
    """One language of a bitext.

    tokens: uint32, word ids of all sentences end to end. starts: uint64[n + 1] into it.
    vocabulary: ids from 1, in order of first appearance.
    """

    tokens: np.ndarray
    starts: np.ndarray
    vocabulary: Vocabulary

    def ids(self, sentence: int) -> np.ndarray:
        """Return the word ids of a sentence, uint32.

        Arguments:
            sentence: number of a sentence, from 0.
        """
        return self.tokens[int(self.starts[sentence]) : int(self.starts[sentence + 1])]

    def words(self, sentence: int) -> list[str]:
        """Return the words of a sentence.

        Arguments:
            sentence: number of a sentence, from 0.
        """
        return self.vocabulary.words(self.ids(sentence))


class Trees(NamedTuple):
    """Constituents of the English sentences; none for a sentence without a tree.

    text: uint8, the bracketed lines end to end. starts: uint64[n + 1] into it.
    labels: the distinct labels, without what follows - or = (NP-SBJ is NP).
    span_labels: uint32[m], numbers of labels. span_bounds: uint8[m, 2], tokens start..stop,
    half-open. span_starts: uint64[n + 1] into both. The constituents of a sentence are from
    the top down, left to right, those of one token (its tag) included, ROOT, TOP and a
    nameless root left out.
    """

    text: np.ndarray
    starts: np.ndarray
    labels: list[str]
    span_labels: np.ndarray
    span_bounds: np.ndarray
    span_starts: np.ndarray

    def line(self, sentence: int) -> str:
        """Return the bracketed tree of a sentence, empty where it has none.

        Arguments:
            sentence: number of a sentence, from 0.

        Raises:
            ArtifactError: its bytes are damaged.
        """
        piece = self.text[int(self.starts[sentence]) : int(self.starts[sentence + 1])]
        try:
            return bytes(piece).decode()
        except UnicodeDecodeError:
            raise _damaged_trees(sentence) from None

    def nodes(self, sentence: int) -> list[Constituent]:
        """Return the constituents of a sentence, from the top down.

        Arguments:
            sentence: number of a sentence, from 0.

        Raises:
            ArtifactError: their labels are damaged.
        """
        first, stop = int(self.span_starts[sentence]), int(self.span_starts[sentence + 1])
        if int(self.span_labels[first:stop].max(initial=0)) >= max(1, len(self.labels)):
            raise _damaged_trees(sentence)
        return [
            Constituent(start, end, self.labels[label])
            for (start, end), label in zip(
                self.span_bounds[first:stop].tolist(),
                self.span_labels[first:stop].tolist(),
                strict=True,
            )
        ]


class Tags(NamedTuple):
    """The English part-of-speech tags.

    numbers: uint32, one for each English token, 0 where its sentence has no tags.
    vocabulary: the tags, ids from 1.
    """

    numbers: np.ndarray
    vocabulary: Vocabulary


class Bitext:
    """Sentence pairs with word links, read-only, over mapped arrays.

    Arguments:
        artifact: the opened artifact; `Bitext.open` opens a path.

    Attributes:
        english, other: the two sides.
        lines: uint32[n], each pair's line in the files that were read, from 1.
        links: uint8[m, 2], (English position, other position), from 0, in ascending order
            within a pair. link_starts: uint64[n + 1] into it.
        trees, tags: of the English side; None where none were given.

    >>> from distsim import build_bitext
    >>> _ = (folder / "x").write_text("the house\\n")
    >>> _ = (folder / "y").write_text("das haus\\n")
    >>> _ = build_bitext(folder / "x", folder / "y", folder / "x-y.bitext")
    >>> len(Bitext.open(folder / "x-y.bitext"))
    1
    """

    ARRAYS: ClassVar[Declaration] = {
        "lines": StoredArray(np.uint32, "pairs", ascending="strictly"),
        "links/starts": start_array("pairs", "links/pairs"),
        "links/pairs": StoredArray(np.uint8, columns=2),
    }

    def __init__(self, artifact: storage.Artifact) -> None:
        self.artifact = artifact
        with storage.understood(artifact.path):
            arrays = artifact.arrays(self.ARRAYS)
            self.lines, self.links = arrays["lines"], arrays["links/pairs"]
            self.link_starts, n = arrays["links/starts"], len(self.lines)
            self.english = _side(artifact, "english", n)
            self.other = _side(artifact, "other", n)
            self.trees = _trees(artifact, n) if "trees/text" in artifact else None
            has_tags = "tags/numbers" in artifact
            self.tags = _tags(artifact, self.english.tokens.size) if has_tags else None

    @classmethod
    def open(cls, path: str | Path) -> "Bitext":
        """Return the opened bitext at a path; arrays are memory-mapped.

        Arguments:
            path: folder of the bitext.

        Raises:
            ArtifactError: there is none at `path`, or it is damaged or of another version.
        """
        return cls(storage.Artifact(path, storage.BITEXT))

    def __len__(self) -> int:
        return self.lines.size

    @property
    def parameters(self) -> dict[str, Any]:
        """The settings and counts in the bitext's manifest."""
        return self.artifact.parameters

    @property
    def checksum(self) -> str:
        """The checksum of everything in the bitext."""
        return self.artifact.checksum

    def links_of(self, sentence: int) -> list[tuple[int, int]]:
        """Return the links of a sentence pair as (English position, other position).

        Arguments:
            sentence: its number, from 0.
        """
        first, stop = int(self.link_starts[sentence]), int(self.link_starts[sentence + 1])
        return [(i, j) for i, j in self.links[first:stop].tolist()]

    def faults(self) -> Iterator[str]:
        """Yield the inconsistencies of the arrays, one short text each."""
        yield from self.artifact.faults()
        n = len(self)
        for name, side in (("English", self.english), ("other", self.other)):
            lengths = _lengths(side.starts)
            if lengths.size and not 1 <= lengths.min() <= lengths.max() <= MAX_TOKENS:
                yield f"the {name} side has sentences of no token or over {MAX_TOKENS}"
            ids = side.vocabulary.find(side.vocabulary.word_hashes()[1:])
            if not np.array_equal(ids, np.arange(1, len(side.vocabulary))):
                yield f"the {name} vocabulary does not find its own words"
        faults = {
            fault for first in range(0, n, _PAIRS_AT_ONCE) for fault in self._link_faults(first)
        }
        yield from sorted(faults)
        if self.trees is not None:
            trees = self.trees
            owner = np.repeat(np.arange(n), _lengths(trees.span_starts))
            lengths = _lengths(self.english.starts)
            bounds = trees.span_bounds
            if np.any(bounds[:, 0] >= bounds[:, 1]) or np.any(bounds[:, 1] > lengths[owner]):
                yield "constituents lead out of their sentences"

    def _link_faults(self, first: int) -> Iterator[str]:
        """Yield the inconsistencies of the links of some pairs; all at once take much memory."""
        bounds = slice(first, min(first + _PAIRS_AT_ONCE, len(self)) + 1)
        starts = self.link_starts[bounds].astype(np.int64)
        links = self.links[starts[0] : starts[-1]]
        pair = np.repeat(np.arange(starts.size - 1), np.diff(starts))
        for column, side in enumerate((self.english, self.other)):
            if np.any(links[:, column] >= _lengths(side.starts[bounds])[pair]):
                yield "links lead out of their sentences"
        key = (pair << 16) | (links[:, 0].astype(np.int64) << 8) | links[:, 1]
        if np.any(np.diff(key) <= 0):
            yield "the links are not in order"

    def require_sound(self) -> None:
        """Raise where arrays are inconsistent, before kernels, which do not check them, read them.

        Raises:
            ArtifactError: something does; the first such is named.
        """
        for fault in self.faults():
            raise ArtifactError(
                f"{self.artifact.path}: {fault}: restore the bitext or make it again"
            )


def _damaged_trees(sentence: int) -> ArtifactError:
    return ArtifactError(
        f"the tree of sentence {sentence + 1} is damaged: restore the bitext or make it again"
    )


def _lengths(starts: np.ndarray) -> np.ndarray:
    return np.diff(starts.astype(np.int64))


def _side(artifact: storage.Artifact, name: str, n_pairs: int) -> Side:
    vocabulary = Vocabulary.read(artifact, f"{name}/vocabulary/")
    declared = {
        "starts": start_array("pairs", "tokens"),
        "tokens": StoredArray(np.uint32, least=1, below="words"),
    }
    arrays = artifact.arrays(declared, f"{name}/", {"pairs": n_pairs, "words": len(vocabulary)})
    return Side(arrays["tokens"], arrays["starts"], vocabulary)


def _trees(artifact: storage.Artifact, n_pairs: int) -> Trees:
    labels = [str(name) for name in json.loads(artifact.array("trees/labels", np.uint8).tobytes())]
    declared = {
        "text": StoredArray(np.uint8),
        "starts": start_array("pairs", "text"),
        "span_labels": StoredArray(np.uint32, "spans", below="labels"),
        "span_bounds": StoredArray(np.uint8, "spans", columns=2),
        "span_starts": start_array("pairs", "span_labels"),
    }
    arrays = artifact.arrays(declared, "trees/", {"pairs": n_pairs, "labels": len(labels)})
    return Trees(labels=labels, **arrays)


def _tags(artifact: storage.Artifact, n_tokens: int) -> Tags:
    vocabulary = Vocabulary.read(artifact, "tags/vocabulary/")
    declared = {"numbers": StoredArray(np.uint32, "tokens", below="tags")}
    arrays = artifact.arrays(declared, "tags/", {"tokens": n_tokens, "tags": len(vocabulary)})
    return Tags(arrays["numbers"], vocabulary)
