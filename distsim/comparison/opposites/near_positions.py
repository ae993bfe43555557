"""Finds which positions of a phrase have others near, before their surroundings are read.

Few do: a candidate is mostly far from the phrase that is asked for. Both ways find every position
that has another within the window, and some that have none.
"""

from collections.abc import Sequence

import numpy as np

from distsim.indexes.shard import Shard

_BLOCK_BITS = 5  # blocks of 32 tokens, so that what is near is in a block or in one beside it
_MOST_BLOCKS = 1 << 20  # bytes of marks; blocks of a longer text share them
_MOST_MARKED = 1 << 18  # positions: of a more common phrase most blocks would be marked


def near_each(
    shard: Shard,
    positions: np.ndarray,
    length: int,
    others: Sequence[np.ndarray],
    window: int,
    n_words: int,
) -> list[np.ndarray]:
    """Return the positions of a phrase that have another one near, for each of some others.

    Arguments:
        shard: of an index.
        positions: int64, of the phrase, ascending.
        length: its number of tokens.
        others: int64[m, n_tokens] each, the word ids of another phrase's forms.
        window: maximum number of tokens between the two.
        n_words: of the vocabulary.
    """
    if not positions.size:
        return [positions] * len(others)
    edges = [np.unique(forms[:, [0, -1]]) for forms in others]
    is_edge = np.zeros(n_words, bool)
    for words in edges:
        is_edge[words] = True
    rows = shard.neighbourhoods(positions, window + 1, length + window + 1, n_words)
    hits = np.flatnonzero(is_edge[rows])
    words, owners = rows.reshape(-1)[hits], hits // rows.shape[1]
    order = np.argsort(words, kind="stable")
    words, owners = words[order], owners[order]
    found = []
    for own in edges:
        starts, stops = np.searchsorted(words, own), np.searchsorted(words, own, "right")
        parts = [owners[a:b] for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]
        found.append(positions[np.unique(np.concatenate(parts))])
    return found


class PositionMarks:
    """Marks of the blocks of a shard around the positions of a phrase.

    Arguments:
        shard: of an index.
        forms: int64[m, n_tokens], the word ids of the phrase's forms.
        count: occurrences of all; no marks are made of a common phrase.
    """

    def __init__(self, shard: Shard, forms: np.ndarray, count: int) -> None:
        self._length = forms.shape[1]
        self._mask = min(_MOST_BLOCKS, 1 << (shard.n_positions >> _BLOCK_BITS).bit_length()) - 1
        self._marks: np.ndarray | None = None
        if count <= _MOST_MARKED:
            marks = self._marks = np.zeros(self._mask + 1, bool)
            for ids in forms:
                blocks = shard.positions(ids) >> _BLOCK_BITS
                for shift in (-1, 0, 1):
                    marks[(blocks + shift) & self._mask] = True

    def near(self, positions: np.ndarray, length: int, window: int) -> np.ndarray:
        """Return the positions of another phrase that may have a marked one near.

        Arguments:
            positions: int64, in the shard, in any order.
            length: tokens of the other phrase.
            window: maximum number of tokens between the two.
        """
        if self._marks is None or window + max(length, self._length) > 1 << _BLOCK_BITS:
            return positions
        near: np.ndarray = positions[self._marks[(positions >> _BLOCK_BITS) & self._mask]]
        return near
