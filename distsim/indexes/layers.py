"""Lemmas and tags of an annotated corpus: arrays parallel to its tokens.

A token's analysis is its word with its lemma and its tag. Each distinct one has a number; 0 is the
sentence boundary.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from distsim.corpus.vocabulary import HashNumbering, Vocabulary, VocabularyBuilder
from distsim.kernels.compiled import frozen

LAYERS = ("lemma", "tag")
PARTS = ("words", "lemmas", "tags", "counts")


class Layers:
    """The analyses of an index.

    words, lemmas, tags: uint32 by analysis, ids of words, lemmas and tags. counts: uint64, tokens
    with each.
    """

    def __init__(self, read: Callable[[str], np.ndarray]) -> None:
        """Arguments: read: returns an array of the index by name."""
        arrays = (frozen(read(f"analyses/{part}")) for part in PARTS)
        self.words, self.lemmas, self.tags, self.counts = arrays
        self._vocabularies = {
            layer: Vocabulary(*(read(f"{layer}s/{part}") for part in Vocabulary.PARTS))
            for layer in LAYERS
        }

    @cached_property
    def texts(self) -> dict[str, list[str]]:
        """All lemmas and all tags by id; that of the boundary is empty."""
        return {layer: words.all_words() for layer, words in self._vocabularies.items()}

    def of(self, layer: str) -> np.ndarray:
        """Return the ids of a layer, such as the lemma of each analysis, uint32.

        Arguments:
            layer: name of the layer.
        """
        return self.lemmas if layer == "lemma" else self.tags

    def is_sound(self, n_words: int) -> bool:
        """Return whether the arrays do not contradict each other.

        Arguments:
            n_words: of the vocabulary.
        """
        return (
            self.words.size == self.lemmas.size == self.tags.size == self.counts.size > 0
            and int(self.words.max()) < n_words
            and all(
                int(self.of(layer).max()) < len(words)
                for layer, words in self._vocabularies.items()
            )
        )


class LayersBuilder:
    """Builder of the analyses of an index, in order of first appearance.

    Arguments:
        normalise: of lemmas.
        known: the analyses to begin with; none where None.
    """

    def __init__(self, normalise: Callable[[str], str], known: Layers | None = None) -> None:
        self._normalise = normalise
        self._numbering = HashNumbering(first=1)
        self._texts = {layer: VocabularyBuilder() for layer in LAYERS}
        self._pairs: dict[tuple[str, str], int] = defaultdict(lambda: len(self._pairs))
        if known is not None:
            pairs = [
                (known.texts["lemma"][lemma], known.texts["tag"][tag])
                for lemma, tag in zip(known.lemmas[1:], known.tags[1:], strict=True)
            ]
            self._numbering.number(self._keys(known.words[1:], pairs))

    def __len__(self) -> int:
        """Return the number of analyses, that of the boundary included."""
        return len(self._numbering) + 1

    def number(self, words: np.ndarray, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return the number of the analysis of each token, uint32.

        Arguments:
            words: word ids. pairs: lemma and tag of each, as written.
        """
        return self._numbering.number(self._keys(words, pairs))[0]

    def _keys(self, words: np.ndarray, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        known = self._pairs
        numbers = np.array([known[pair] for pair in pairs], np.uint64)
        return words.astype(np.uint64) << np.uint64(32) | numbers

    def arrays(self, counts: np.ndarray) -> dict[str, np.ndarray]:
        """Return the arrays of Layers by name.

        Arguments:
            counts: uint64, number of occurrences of each analysis.
        """
        keys = self._numbering.hashes()
        pairs = list(self._pairs)
        lemmas = self._texts["lemma"].add([self._normalise(lemma).encode() for lemma, _ in pairs])
        tags = self._texts["tag"].add([tag.encode() for _, tag in pairs])
        of_keys = keys & np.uint64(0xFFFFFFFF)
        columns = ((keys >> np.uint64(32)), lemmas[of_keys], tags[of_keys])
        zero = np.zeros(1, np.uint32)
        found = {
            f"analyses/{part}": np.concatenate([zero, column.astype(np.uint32)])
            for part, column in zip(PARTS, columns, strict=False)
        }
        found["analyses/counts"] = counts
        for layer, builder in self._texts.items():
            found |= {f"{layer}s/{part}": values for part, values in builder.arrays().items()}
        return found
