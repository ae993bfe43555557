"""Lemmas, tags and dependencies of an annotated corpus: arrays parallel to its tokens.

A token's analysis is its word with its lemma, its tag and, where the text has them, its coarse tag
(UPOS) and its grammatical relation. Each distinct one has a number; 0 is the sentence boundary.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from distsim.corpus.vocabulary import HashNumbering, Vocabulary, VocabularyBuilder
from distsim.kernels.compiled import frozen
from distsim.storage import Artifact, StoredArray

LAYERS = ("lemma", "tag", "upos", "relation")
ALWAYS = LAYERS[:2]  # that all annotated text has
PLURALS = {"lemma": "lemmas", "tag": "tags", "upos": "upos", "relation": "relations"}


ANNOTATED = ("analyses", "heads")  # arrays of a shard


def folded_distances(distances: np.ndarray) -> np.ndarray:
    """Return distances to heads without a sign: 2d behind a token, 2d + 1 before it; uint32."""
    folded: np.ndarray = (np.abs(distances) * 2 + (distances < 0)).astype(np.uint32)
    return folded


def head_positions(heads: np.ndarray) -> np.ndarray:
    """Return the position of each token's head, int64; of the root its own.

    Arguments:
        heads: uint32, folded distances of the tokens of a shard.
    """
    distances = (heads >> np.uint32(1)).astype(np.int64)
    distances[heads & np.uint32(1) == 1] *= -1
    positions: np.ndarray = np.arange(heads.size) + distances
    return positions


class Layers:
    """The analyses of an index.

    words: uint32 by analysis, ids of words. counts: uint64, tokens with each. names: the layers of
    this index. vocabularies: of each layer.
    """

    def __init__(
        self, read: Callable[[str], np.ndarray], has: Callable[[str], bool] = lambda name: True
    ) -> None:
        """Arguments: read: returns an array of the index by name. has: whether there is one."""
        self.names = tuple(
            layer for layer in LAYERS if layer in ALWAYS or has(f"analyses/{PLURALS[layer]}")
        )
        self.words, self.counts = (frozen(read(f"analyses/{name}")) for name in ("words", "counts"))
        self._ids = {layer: frozen(read(f"analyses/{PLURALS[layer]}")) for layer in self.names} | {
            "word": self.words
        }
        self.vocabularies = {
            layer: Vocabulary(*(read(f"{PLURALS[layer]}/{part}") for part in Vocabulary.ARRAYS))
            for layer in self.names
        }

    @cached_property
    def texts(self) -> dict[str, list[str]]:
        """All lemmas and all tags by id; that of the boundary is empty."""
        return {layer: words.all_words() for layer, words in self.vocabularies.items()}

    def of(self, layer: str) -> np.ndarray:
        """Return the ids of a layer, such as the lemma of each analysis, uint32.

        Arguments:
            layer: name of the layer, or `word`.
        """
        return self._ids[layer]

    @classmethod
    def open(cls, artifact: Artifact, n_words: int) -> "Layers":
        """Return the analyses of an index, checked.

        Arguments:
            n_words: of the vocabulary.
        """
        layers = cls(artifact.array, artifact.__contains__)
        declared = {
            "words": StoredArray(np.uint32, "analyses", below="of words", at_open=True),
            "counts": StoredArray(np.uint64, "analyses"),
        } | {
            PLURALS[name]: StoredArray(np.uint32, "analyses", below=f"of {name}s", at_open=True)
            for name in layers.names
        }
        sizes = {f"of {name}s": len(words) for name, words in layers.vocabularies.items()}
        artifact.arrays(declared, "analyses/", {"of words": n_words, **sizes})
        for name in layers.names:
            artifact.arrays(Vocabulary.ARRAYS, f"{PLURALS[name]}/")
        return layers


class LayersBuilder:
    """Builder of the analyses of an index, in order of first appearance.

    Arguments:
        normalise: of lemmas.
        names: the layers.
        known: the analyses to begin with; none where None.
    """

    def __init__(
        self, normalise: Callable[[str], str], names: Sequence[str], known: Layers | None = None
    ) -> None:
        self._normalise = normalise
        self.names = tuple(names) if known is None else known.names
        self._numbering = HashNumbering(first=1)
        self._texts = {layer: VocabularyBuilder() for layer in self.names}
        self._rows: dict[tuple[str, ...], int] = defaultdict(lambda: len(self._rows))
        if known is not None:
            columns = (
                [known.texts[layer][number] for number in known.of(layer)[1:].tolist()]
                for layer in self.names
            )
            self._numbering.number(self._keys(known.words[1:], [*zip(*columns, strict=True)]))

    def __len__(self) -> int:
        """Return the number of analyses, that of the boundary included."""
        return len(self._numbering) + 1

    def number(self, words: np.ndarray, rows: Sequence[tuple[str, ...]]) -> np.ndarray:
        """Return the number of the analysis of each token, uint32.

        Arguments:
            words: word ids. rows: the text of each layer, as written.
        """
        return self._numbering.number(self._keys(words, rows))[0]

    def _keys(self, words: np.ndarray, rows: Sequence[tuple[str, ...]]) -> np.ndarray:
        known = self._rows
        numbers = np.array([known[row] for row in rows], np.uint64)
        return words.astype(np.uint64) << np.uint64(32) | numbers

    def arrays(self, counts: np.ndarray) -> dict[str, np.ndarray]:
        """Return the arrays of Layers by name.

        Arguments:
            counts: uint64, number of occurrences of each analysis.
        """
        keys = self._numbering.hashes()
        of_keys = keys & np.uint64(0xFFFFFFFF)
        columns = {"words": keys >> np.uint64(32)}
        for layer, texts in zip(self.names, zip(*self._rows, strict=True), strict=True):
            normal = map(self._normalise, texts) if layer == "lemma" else texts
            ids = self._texts[layer].add([text.encode() for text in normal])
            columns[PLURALS[layer]] = ids[of_keys]
        zero = np.zeros(1, np.uint32)
        arrays = {
            f"analyses/{part}": np.concatenate([zero, column.astype(np.uint32)])
            for part, column in columns.items()
        }
        arrays["analyses/counts"] = counts
        for layer, builder in self._texts.items():
            part = PLURALS[layer]
            arrays |= {f"{part}/{name}": values for name, values in builder.arrays().items()}
        return arrays
