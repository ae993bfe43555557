"""Strongest right singular directions of a sparse matrix; a rotation for cutting to bits.

All dense products go by blocks of rows, in an order that no number of threads changes, and the
linear algebra library is held to one thread meanwhile (`one_thread_each`): so the same rows
give the same bits whatever `jobs` is, and waiting threads burn no time on a busy machine.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from distsim.base.parallel import Progress, no_progress, ordered_map, trim
from distsim.kernels.compiled import frozen
from distsim.signatures.kernels.projection import multiply

if TYPE_CHECKING:
    from scipy import sparse

T = TypeVar("T")

# Dimensions of the space searched, at least, to each direction wanted. Of a small matrix more: the
# spectrum of little text is flat, so there it shows what is not exact and what is taken for noise.
_BASIS, _BASIS_OF_FEW = 2, 4
_FEW = 1 << 22  # cells of a small matrix: more would take more than 1.5 GB
_DOUBTFUL = 10  # one in so many of the values, the last: too low in so small a space
_ITQ_ROUNDS = 15
_BLOCK_ROWS = 2048
_STEP = 32  # float32 that a compiled loop takes at once; what is left over goes one by one
_LEAST_LENGTH = 1e-5  # of a column, left when others are taken off: less is rounding
_LEAST_SQUARE = 1e-12  # of the largest eigenvalue: what float32 columns cannot tell from none


def one_thread_each() -> AbstractContextManager[object]:
    """Hold the linear algebra library to the thread that calls it."""
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return limits


def times(matrix: "sparse.csr_matrix", dense: np.ndarray, jobs: int | None) -> np.ndarray:
    """Return matrix @ dense, float32[n, k]; each row is summed in the order of its columns.

    Arguments:
        matrix: float32[n, m].
        dense: float[m, k].
        jobs: threads; as many as the machine has cores where None.
    """
    width = dense.shape[1]
    wide = np.ascontiguousarray(dense, np.float32)
    if width % _STEP:
        wide = np.zeros((dense.shape[0], -(-width // _STEP) * _STEP), np.float32)
        wide[:, :width] = dense
    out = np.empty((matrix.shape[0], wide.shape[1]), np.float32)

    def fill(begin: int, end: int) -> None:
        times_rows(matrix, wide, np.arange(begin, end), out[begin:end])

    _of_blocks(len(out), fill, jobs)
    return out if out.shape[1] == width else np.ascontiguousarray(out[:, :width])


def times_rows(
    matrix: "sparse.csr_matrix", dense: np.ndarray, rows: np.ndarray, out: np.ndarray
) -> None:
    """Fill `out` with some rows of matrix @ dense, summed in the precision of `out`.

    Arguments:
        matrix: float32[n, m].
        dense: [m, k].
        rows: int64[r].
        out: float32[r, k] or float64[r, k].
    """
    arrays = (frozen(matrix.indptr.astype(np.int64)), frozen(matrix.indices), frozen(matrix.data))
    multiply(*arrays, frozen(dense), frozen(rows), out)


def dense_times(
    rows: np.ndarray,
    matrix: np.ndarray,
    jobs: int | None,
    *,
    scale: np.float32 = np.float32(1),
    out: np.ndarray | None = None,
    places: np.ndarray | None = None,
) -> np.ndarray:
    """Return (rows * scale) @ matrix, float32[n, m], by blocks of rows.

    Arguments:
        rows: float32[n, k].
        matrix: float32[k, m].
        jobs: threads; as many as the machine has cores where None.
        scale: of the rows.
        out: float32[at least n, m], filled and returned; a new array where None.
        places: int64[n], the row of `out` of each row; the same where None.
    """
    products = np.empty((len(rows), matrix.shape[1]), np.float32) if out is None else out

    def fill(begin: int, end: int) -> None:
        at = slice(begin, end) if places is None else places[begin:end]
        products[at] = (rows[begin:end] * scale) @ matrix

    _of_blocks(len(rows), fill, jobs)
    return products


def gram(rows: np.ndarray, jobs: int | None) -> np.ndarray:
    """Return rows.T @ rows, float64[k, k], summed by blocks of rows.

    Arguments:
        rows: float32[n, k].
        jobs: threads; as many as the machine has cores where None.
    """
    total = np.zeros((rows.shape[1], rows.shape[1]))

    def squared(begin: int, end: int) -> np.ndarray:
        block: np.ndarray = rows[begin:end].T @ rows[begin:end]
        return block

    return _summed(len(rows), squared, total, jobs)


def right_singular(
    matrix: "sparse.csr_matrix",
    transposed: "sparse.csr_matrix",
    rank: int,
    iterations: int,
    seed: int,
    jobs: int | None,
    progress: Progress = no_progress,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the `rank` first right singular vectors, float32[columns, rank], and the values.

    The third is the next singular value, about, or 0 where there are no more. By a randomised
    block Krylov method (Musco and Musco 2015, algorithm 2): of all passes over the matrix and
    back what came by is kept, and not of the last alone as by power iterations, so that each
    can be much narrower than the rank.

    Arguments:
        matrix, transposed: columns ascend in each row of both.
        rank: the number of vectors.
        iterations: passes after the first two.
        seed: of the random start.
        jobs: threads; as many as the machine has cores where None.
        progress: is told the stage, the passes done and their number.
    """
    most = min(matrix.shape)
    n_blocks = iterations + 2
    is_small = matrix.nnz <= _FEW
    width = -(-(_BASIS_OF_FEW if is_small else _BASIS) * rank // (n_blocks * _STEP)) * _STEP
    generator = np.random.Generator(np.random.PCG64(seed))
    start = generator.standard_normal((matrix.shape[1], min(width, most)), dtype=np.float32)
    # Side by side and never put into one array: the pages of large new arrays cost much.
    ranged: list[np.ndarray] = []  # float32[rows, k], all columns orthonormal
    basis: list[np.ndarray] = []  # transposed @ ranged
    n_columns = 0
    for turn in range(n_blocks):
        progress("decomposing", turn, n_blocks)
        if turn:
            start = basis[-1] / np.maximum(_lengths(basis[-1]), np.float32(1e-30))
        product = times(matrix, start, jobs)
        del start
        new = _beside(product, ranged, jobs)[:, : most - n_columns]
        if not new.shape[1]:
            break
        ranged.append(np.ascontiguousarray(new))
        basis.append(times(transposed, new, jobs))
        n_columns += new.shape[1]
    del product, new, ranged
    trim()  # the directions would not fit in between what was freed
    # The matrix is about ranged @ basis.T.
    # Of much text no value that matters is so small that float32 would hide it.
    directions, values = _left_singular(basis, rank, jobs, exact=is_small)
    downwards = -directions.min(axis=0) > directions.max(axis=0)
    directions *= np.where(downwards, -1, 1).astype(np.float32)
    last = rank if is_small else rank - rank // _DOUBTFUL
    floor = float(values[last]) if values.size > rank else 0.0
    return directions, values[:rank], floor


def find_rotation(
    rows: np.ndarray, n_bits: int, seed: int, itq: bool, jobs: int | None
) -> np.ndarray:
    """Return a rotation, float64[rank, n_bits] with orthonormal rows, which keeps cosines.

    Arguments:
        rows: float32[n, rank], unit vectors of which bits are to be cut.
        n_bits: at least `rank`.
        seed: of the random start.
        itq: turn the rows towards the corners of the cube (Gong and Lazebnik 2011), not at random.
        jobs: threads; as many as the machine has cores where None.
    """
    rank = rows.shape[1]
    generator = np.random.Generator(np.random.PCG64([seed, 1]))
    rotation = np.linalg.qr(generator.standard_normal((n_bits, n_bits)))[0][:rank]
    for _ in range(_ITQ_ROUNDS if itq else 0):
        narrow = rotation.astype(np.float32)

        def towards_corners(begin: int, end: int, narrow: np.ndarray = narrow) -> np.ndarray:
            block = rows[begin:end]
            return block.T @ np.where(block @ narrow > 0, np.float32(1), np.float32(-1))

        pull = _summed(len(rows), towards_corners, np.zeros((rank, n_bits)), jobs)
        left, _, right = np.linalg.svd(pull, full_matrices=False)
        rotation = left @ right
    return rotation


def _lengths(wide: np.ndarray) -> np.ndarray:
    """Return the lengths of float32[n, k]'s columns.

    Arguments:
        wide: float32[n, k].
    """
    lengths: np.ndarray = np.sqrt(np.einsum("ij,ij->j", wide, wide))
    return lengths


def _beside(wide: np.ndarray, ranged: list[np.ndarray], jobs: int | None) -> np.ndarray:
    """Return orthonormal columns of the part of float32[n, k] outside the span of `ranged`.

    ranged: float32[n, m] each, orthonormal columns all of them.

    Arguments:
        wide: float32[n, k].
        jobs: threads.
    """
    lengths = _lengths(wide)
    ends = np.cumsum([known.shape[1] for known in ranged])

    def spanned(begin: int, end: int) -> np.ndarray:
        block = wide[begin:end]
        return np.vstack([known[begin:end].T @ block for known in ranged])

    for _ in range(2 if ranged else 0):  # once leaves what float32 rounds off
        shares = np.zeros((int(ends[-1]), wide.shape[1]), np.float32)
        inside = np.split(_summed(len(wide), spanned, shares, jobs), ends[:-1])

        def take_off(begin: int, end: int, inside: list[np.ndarray] = inside) -> None:
            for known, share in zip(ranged, inside, strict=True):
                wide[begin:end] -= known[begin:end] @ share

        _of_blocks(len(wide), take_off, jobs)
    new = wide[:, _lengths(wide) > _LEAST_LENGTH * lengths]
    return _left_singular([new], new.shape[1], jobs)[0] if new.shape[1] else new


def _left_singular(
    wide: list[np.ndarray], most: int, jobs: int | None, exact: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first `most` left singular vectors of float32[n, k], and all singular values.

    By the eigenvectors of the small Gram matrix, summed in float64: many times faster than a
    QR decomposition, and exact enough for columns that are not nearly dependent.

    Arguments:
        wide: the matrix, in pieces that are side by side.
        exact: multiply in float64, not blocks of rows in float32, twice as fast.
    """

    def gram(begin: int, end: int) -> np.ndarray:
        block = np.hstack([piece[begin:end] for piece in wide])
        if exact:
            block = block.astype(np.float64)
        squared: np.ndarray = block.T @ block
        return squared

    n, k = len(wide[0]), sum(piece.shape[1] for piece in wide)
    squares, turned = np.linalg.eigh(_summed(n, gram, np.zeros((k, k)), jobs))
    order = np.argsort(-squares, kind="stable")
    order = order[squares[order] > max(squares[order[0]] * _LEAST_SQUARE, 0.0)]
    values = np.sqrt(squares[order])
    narrow = (turned[:, order[:most]] / values[:most]).astype(np.float32)
    vectors = np.empty((n, narrow.shape[1]), np.float32)

    def project(begin: int, end: int) -> None:
        block = np.hstack([piece[begin:end] for piece in wide])
        np.matmul(block, narrow, out=vectors[begin:end])

    _of_blocks(n, project, jobs)
    return vectors, values


def _of_blocks(
    n_rows: int, work: Callable[[int, int], np.ndarray | None], jobs: int | None
) -> list[np.ndarray]:
    """Return work(begin, end) of all blocks of rows, in order, computed by `jobs` threads."""
    return [result for result in _done_in_order(n_rows, work, jobs) if result is not None]


def _summed(
    n_rows: int, work: Callable[[int, int], np.ndarray], total: np.ndarray, jobs: int | None
) -> np.ndarray:
    """Add work(begin, end) of all blocks of rows to `total`, in order, and return it.

    The blocks' results are not kept: those of a wide matrix would be many times its own size.
    """
    for result in _done_in_order(n_rows, work, jobs):
        total += result
    return total


def _done_in_order(n_rows: int, work: Callable[[int, int], T], jobs: int | None) -> Iterator[T]:
    begins = range(0, n_rows, _BLOCK_ROWS)
    return ordered_map(lambda begin: work(begin, min(begin + _BLOCK_ROWS, n_rows)), begins, jobs)
