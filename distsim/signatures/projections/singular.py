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
_SMALL_CELLS = 1 << 22  # cells of a small matrix
_TINY = 1 << 18  # cells of one of so little text that its last singular values are near 0
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
    out: np.ndarray | None = None,
    places: np.ndarray | None = None,
) -> np.ndarray:
    """Return rows @ matrix, float32[n, m], by blocks of rows.

    Arguments:
        rows: float32[n, k].
        matrix: float32[k, m].
        jobs: threads; as many as the machine has cores where None.
        out: float32[at least n, m], filled and returned; a new array where None.
        places: int64[n], the row of `out` of each row; the same where None.
    """
    products = np.empty((len(rows), matrix.shape[1]), np.float32) if out is None else out

    def fill(begin: int, end: int) -> None:
        at = slice(begin, end) if places is None else places[begin:end]
        products[at] = rows[begin:end] @ matrix

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
    n_blocks = iterations + 2
    is_small = matrix.nnz <= _SMALL_CELLS
    width = -(-(_BASIS_OF_FEW if is_small else _BASIS) * rank // (n_blocks * _STEP)) * _STEP
    generator = np.random.Generator(np.random.PCG64(seed))
    start = generator.standard_normal(
        (matrix.shape[1], min(width, *matrix.shape)), dtype=np.float32
    )
    ranged, squared = _krylov(matrix, transposed, start, n_blocks, jobs, progress)
    del start
    if matrix.nnz <= _TINY:  # where small values count, which float32 would hide in `squared`
        back = [times(transposed, known, jobs) for known in ranged]
        directions, values = _left_singular(back, rank, jobs)
    else:
        values, turned = _roots(squared)
        widths = np.cumsum([known.shape[1] for known in ranged])[:-1]
        narrow = np.split(turned[:, :rank].astype(np.float32), widths)
        directions = times(transposed, _turned(ranged, narrow, jobs), jobs)
        directions /= values[:rank].astype(np.float32)
    del ranged
    trim()  # what comes next would not fit in between what was freed
    downwards = -directions.min(axis=0) > directions.max(axis=0)
    directions *= np.where(downwards, -1, 1).astype(np.float32)
    last = rank if is_small else rank - rank // _DOUBTFUL
    floor = float(values[last]) if values.size > rank else 0.0
    return directions, values[:rank], floor


def _krylov(
    matrix: "sparse.csr_matrix",
    transposed: "sparse.csr_matrix",
    start: np.ndarray,
    n_blocks: int,
    jobs: int | None,
    progress: Progress,
) -> tuple[list[np.ndarray], np.ndarray]:
    """Return orthonormal columns Q, float32[rows, k] each, and float64[k, k], Q.T @ M @ M.T @ Q.

    M is the matrix. Block j is what M @ M.T makes of block j - 1, less its share of the blocks
    before; these shares, which are taken off anyway, are the product Q.T @ M @ M.T @ Q, so that no
    Gram matrix of the many more columns of M is needed.

    Arguments:
        start: float32[columns, width], changed.
        n_blocks: blocks, at most.
    """
    ranged: list[np.ndarray] = []
    shares: list[np.ndarray] = []  # of M @ M.T @ block j in the blocks up to j
    share = np.empty((0, start.shape[1]))
    product = times(matrix, start, jobs)
    n_columns = 0
    for turn in range(n_blocks):
        progress("decomposing", turn, n_blocks)
        new = _beside(product, ranged, share, jobs)[:, : min(matrix.shape) - n_columns]
        if not new.shape[1]:
            break
        ranged.append(np.ascontiguousarray(new))
        n_columns += new.shape[1]
        back = times(transposed, ranged[-1], jobs)
        lengths = np.maximum(_lengths(back), np.float32(1e-30))
        back /= lengths
        product = times(matrix, back, jobs)
        del back
        share = _shares(product, ranged, jobs)
        shares.append(share * lengths)
    squared = np.zeros((n_columns, n_columns))
    end = n_columns
    for inside in reversed(shares):
        squared[: len(inside), end - inside.shape[1] : end] = inside
        end -= inside.shape[1]
    return ranged, np.triu(squared) + np.triu(squared, 1).T


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


def _beside(
    wide: np.ndarray, ranged: list[np.ndarray], share: np.ndarray, jobs: int | None
) -> np.ndarray:
    """Return orthonormal columns of the part of float32[n, k] outside the span of `ranged`.

    ranged: float32[n, m] each, orthonormal columns all of them.

    Arguments:
        wide: float32[n, k], changed.
        share: float64[m, k], what `_shares` returns of the two.
        jobs: threads.
    """
    lengths = _lengths(wide)
    ends = np.cumsum([known.shape[1] for known in ranged])
    for again in range(2 if ranged else 0):  # once leaves what float32 rounds off
        if again:
            share = _shares(wide, ranged, jobs)
        inside = np.split(share.astype(np.float32), ends[:-1])

        def take_off(begin: int, end: int, inside: list[np.ndarray] = inside) -> None:
            for known, share in zip(ranged, inside, strict=True):
                wide[begin:end] -= known[begin:end] @ share

        _of_blocks(len(wide), take_off, jobs)
    new = wide[:, _lengths(wide) > _LEAST_LENGTH * lengths]
    return _left_singular([new], new.shape[1], jobs)[0] if new.shape[1] else new


def _shares(wide: np.ndarray, ranged: list[np.ndarray], jobs: int | None) -> np.ndarray:
    """Return Q.T @ float32[n, k], float64[m, k]: Q is `ranged` side by side, float32[n, m]."""
    total = np.zeros((sum(known.shape[1] for known in ranged), wide.shape[1]))

    def spanned(begin: int, end: int) -> np.ndarray:
        return np.vstack([known[begin:end].T @ wide[begin:end] for known in ranged])

    return _summed(len(wide), spanned, total, jobs)


def _turned(wide: list[np.ndarray], narrow: list[np.ndarray], jobs: int | None) -> np.ndarray:
    """Return the product of float32[n, k] and float32[k, m], both given in pieces of k."""
    out = np.zeros((len(wide[0]), narrow[0].shape[1]), np.float32)

    def project(begin: int, end: int) -> None:
        for piece, turned in zip(wide, narrow, strict=True):
            out[begin:end] += piece[begin:end] @ turned

    _of_blocks(len(out), project, jobs)
    return out


def _roots(squared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the roots of the eigenvalues of float64[k, k], descending, and the eigenvectors."""
    squares, turned = np.linalg.eigh(squared)
    order = np.argsort(-squares, kind="stable")
    order = order[squares[order] > max(squares[order[0]] * _LEAST_SQUARE, 0.0)]
    return np.sqrt(squares[order]), turned[:, order]


def _left_singular(
    wide: list[np.ndarray], n_vectors: int, jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first `n_vectors` left singular vectors of float32[n, k], and all singular values.

    By the eigenvectors of the small Gram matrix, summed in float64: many times faster than a
    QR decomposition, and exact enough for columns that are not nearly dependent.

    Arguments:
        wide: the matrix, in pieces that are side by side.
    """

    def gram(begin: int, end: int) -> np.ndarray:
        block = np.hstack([piece[begin:end] for piece in wide]).astype(np.float64)
        squared: np.ndarray = block.T @ block
        return squared

    k = sum(piece.shape[1] for piece in wide)
    values, turned = _roots(_summed(len(wide[0]), gram, np.zeros((k, k)), jobs))
    narrow = (turned[:, :n_vectors] / values[:n_vectors]).astype(np.float32)
    widths = np.cumsum([piece.shape[1] for piece in wide])[:-1]
    return _turned(wide, np.split(narrow, widths), jobs), values


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
