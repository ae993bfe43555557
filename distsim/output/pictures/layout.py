"""Layout of a map of phrases: places in the plane, links, labels without overlap.

Arrays in, arrays out; nothing is drawn by chance, so a picture is the same every time.
"""

import numpy as np
from numpy.typing import NDArray

_ROUNDS, _STILL = 200, 1e-3  # of the drawing's size, moved in a round
_PUSHES, _TOUCH = 120, 1.0  # how far labels may be on each other
_LEAST = 1e-9


def angles(cosines: np.ndarray) -> NDArray[np.float64]:
    """Return the angle between every two phrases as a share of a half turn, float64[n, n].

    Arguments:
        cosines: float64[n, n], -1 to 1; NaN where not known, which counts as 0.

    >>> angles(np.array([[1.0, 0.0], [0.0, 1.0]])).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    known = np.clip(np.where(np.isnan(cosines), 0.0, cosines), -1.0, 1.0)
    shares: NDArray[np.float64] = np.arccos(known) / np.pi
    np.fill_diagonal(shares, 0.0)
    return shares


def spread(distances: np.ndarray) -> NDArray[np.float64]:
    """Return places in the plane with about the given distances, float64[n, 2].

    Starts from the two strongest axes of classical scaling and lowers the stress by
    majorisation (de Leeuw 1977), short distances weighing more: 1 / distance^2. The mean is 0.

    Arguments:
        distances: float64[n, n], symmetric.

    >>> places = spread(np.array([[0.0, 3, 4], [3, 0, 5], [4, 5, 0]]))
    >>> round(float(np.hypot(*(places[1] - places[2]))), 3)
    5.0
    """
    n = len(distances)
    if n < 2:
        return np.zeros((n, 2))
    wanted = np.maximum(distances.astype(np.float64), 1e-3)
    np.fill_diagonal(wanted, 0.0)
    centring = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * centring @ wanted**2 @ centring)
    places = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], _LEAST))
    signs = np.sign(places[np.argmax(np.abs(places), axis=0), [0, 1]])
    places = places * np.where(signs == 0, 1.0, signs)
    weights = np.where(wanted > 0, 1.0 / np.maximum(wanted, _LEAST) ** 2, 0.0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv(laplacian)
    for _ in range(_ROUNDS):
        apart = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))
        ratio = weights * wanted / np.maximum(apart, _LEAST)
        np.fill_diagonal(ratio, 0.0)
        turned = np.diag(ratio.sum(axis=1)) - ratio
        moved = inverse @ (turned @ places)
        step = float(np.abs(moved - places).max())
        places = moved
        if step < _STILL * float(np.ptp(places)):
            break
    centred: NDArray[np.float64] = places - places.mean(axis=0)
    return centred


def links(distances: np.ndarray, each: int = 2) -> list[tuple[int, int]]:
    """Return the pairs (i, j), i < j, in which one is among the `each` nearest of the other.

    Arguments:
        distances: float64[n, n], symmetric.
        each: number of neighbours of each point.

    >>> links(np.array([[0.0, 1, 9], [1, 0, 8], [9, 8, 0]]), 1)
    [(0, 1), (1, 2)]
    """
    apart = distances.astype(np.float64)
    np.fill_diagonal(apart, np.inf)
    near = np.argsort(apart, axis=1, kind="stable")[:, : min(each, len(apart) - 1)]
    found = {(min(i, int(j)), max(i, int(j))) for i, row in enumerate(near) for j in row}
    return sorted(found)


def fitted(
    places: np.ndarray, widths: np.ndarray, height: float, width: float, tall: float
) -> NDArray[np.float64]:
    """Return the positions of labels, moved until they do not overlap, float64[n, 2].

    Arguments:
        places: float64[n, 2], wanted positions, in any unit; they are scaled to the frame.
        widths: float64[n], width of each label, centred on its position.
        height: height of all labels.
        width, tall: width and height of the frame, whose corner is (0, 0), in the unit of widths.
    """
    n = len(places)
    half = np.column_stack([widths / 2, np.full(n, height / 2)])
    low, high = half, np.array([width, tall]) - half
    span = np.maximum(np.ptp(places, axis=0), _LEAST) if n else np.ones(2)
    least = places.min(axis=0) if n else np.zeros(2)
    at: NDArray[np.float64] = low + (places - least) / span * np.maximum(high - low, 0.0)
    for _ in range(_PUSHES):
        gap = at[:, None] - at[None]
        room = half[:, None] + half[None] - np.abs(gap)
        over = np.all(room > _TOUCH, axis=2)
        np.fill_diagonal(over, False)
        if not over.any():
            break
        # Apart along the axis on which less is wanting; of two on one spot, the later goes on.
        order = np.sign(np.subtract.outer(np.arange(n), np.arange(n)))
        toward = np.where(gap != 0, np.sign(gap), order[:, :, None])
        upright = room[:, :, 1] <= room[:, :, 0]
        push = np.zeros_like(gap)
        push[:, :, 1] = np.where(over & upright, toward[:, :, 1] * room[:, :, 1], 0.0)
        push[:, :, 0] = np.where(over & ~upright, toward[:, :, 0] * room[:, :, 0], 0.0)
        at = np.clip(at + 0.3 * push.sum(axis=1), low, np.maximum(high, low))
    return at
