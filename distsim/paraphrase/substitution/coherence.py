"""Gain of each candidate by the vectors of the others.

People name what is alike: a candidate amid many like it is a likelier one, and fits a slot where
those like it do.
"""

import numpy as np

_BLOCK_ROWS = 512


def coherence(rows: np.ndarray, fit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (how alike each candidate is to the others, how well those like it fit).

    Arguments:
        rows: float64[n, n_dimensions], unit vectors or zeros. fit: float64[n].

    Returns:
        The mean over the others of the cosine, below 0 taken for 0, float64[n]; and the mean of
        their fits, each weighing the square of that cosine, float64[n]; 0 where there are none.
    """
    n = len(rows)
    alike, fits = np.zeros(n), np.zeros(n)
    if n < 2:
        return alike, fits
    for begin in range(0, n, _BLOCK_ROWS):
        stop = min(n, begin + _BLOCK_ROWS)
        cosines = np.maximum(rows[begin:stop] @ rows.T, 0.0)
        cosines[np.arange(stop - begin), np.arange(begin, stop)] = 0.0
        alike[begin:stop] = cosines.sum(axis=1) / (n - 1)
        squares = cosines * cosines
        total = squares.sum(axis=1)
        fits[begin:stop] = np.divide(
            squares @ fit, total, out=np.zeros(stop - begin), where=total > 0.0
        )
    return alike, fits
