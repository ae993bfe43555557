"""Texts as kernels take them: end to end, and where each begins."""

from collections.abc import Sequence

import numpy as np

from distsim.grammar.kernels.copying import Texts
from distsim.kernels.compiled import frozen


def texts_of(texts: Sequence[bytes]) -> Texts:
    """Return texts end to end, read-only.

    Arguments:
        texts: UTF-8 of each text.

    >>> texts_of([b"ab", b"", b"c"]).offsets.tolist()
    [0, 2, 2, 3]
    """
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return Texts(frozen(np.frombuffer(b"".join(texts), np.uint8)), frozen(offsets))
