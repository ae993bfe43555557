"""Near-duplicate lines: those that nearly repeat an earlier line.

A line is the set of its shingles, runs of five words. Earlier lines that may be like it are
found by MinHash LSH (Broder 1997; datasketch's implementation) and compared with it exactly:
a Jaccard index of .8 or more makes it a near-duplicate. It is then not held to find others, so
that the first of several in input order stays. Lines of fewer words have only themselves.
"""

import time
from typing import TYPE_CHECKING

import numpy as np

from distsim.base.errors import ArtifactError, ParameterError
from distsim.corpus.kernels.shingles import count_common, hash_shingles
from distsim.corpus.vocabulary import DROPPED, GrowingArray
from distsim.kernels.compiled import frozen

if TYPE_CHECKING:
    from datasketch import MinHash

SHINGLE_WORDS = 5
N_PERMUTATIONS = 128
SEED = 1
SCHEME = "affine32"
# Jaccard .8 as a ratio of whole numbers.
_NUMERATOR, _DENOMINATOR = 4, 5
# 16 bands of 8: a pair at Jaccard .8 is found with probability .95, at .85 .992, at .9 .9999;
# one at .5 is compared in vain with probability .06.
_BANDS = (16, 8)
# What Python and datasketch hold for a line: measured on 30,000 lines.
_LINE_BYTES = 6500
_MOST_SHINGLES = 1 << 14  # hashed at a time


class NearDuplicates:
    """Finder of lines that nearly repeat an earlier one; it stores the others.

    Arguments:
        memory: for the lines that are held; more of them are refused.
        known: what `arrays` gave earlier.
    """

    PARTS = ("starts", "shingles", "minhashes")

    def __init__(self, memory: int, known: dict[str, np.ndarray] | None = None) -> None:
        from datasketch import MinHash, MinHashLSH

        self._memory = memory
        self._lsh = MinHashLSH(num_perm=N_PERMUTATIONS, params=_BANDS)
        self._minhash = MinHash
        self._permutations = MinHash(N_PERMUTATIONS, SEED, scheme=SCHEME).permutations
        self._starts = GrowingArray(np.int64)
        self._starts.append(np.zeros(1, np.int64))
        self._shingles = GrowingArray(np.uint32)
        self._minhashes = GrowingArray(np.uint32)
        self._n_lines = 0
        self.seconds = 0.0  # of this process's CPU
        if known is not None:
            self._restore(**known)

    def __len__(self) -> int:
        return self._n_lines

    @property
    def n_bytes(self) -> int:
        """Approximate memory in bytes."""
        return self._n_lines * _LINE_BYTES + 4 * int(self._starts.view()[-1])

    def find(
        self, words: np.ndarray, line_stops: np.ndarray, word_hashes: np.ndarray
    ) -> np.ndarray:
        """Return whether each line nearly repeats an earlier one, bool[n]; the others are stored.

        Arguments:
            words: uint32 ids, DROPPED where a word vanished. line_stops: int64, the number of
                words up to the end of each line. word_hashes: uint64 by id.

        Raises:
            ParameterError: the lines take more memory than was given.
        """
        begun = time.process_time()
        starts, shingles = hash_shingles(
            frozen(words), frozen(line_stops), frozen(word_hashes), np.uint32(DROPPED),
            SHINGLE_WORDS,
        )  # fmt: skip
        repeats = np.zeros(line_stops.size, bool)
        lines = np.flatnonzero(np.diff(starts))
        for line, values in zip(lines.tolist(), self._hashed(starts, shingles, lines), strict=True):
            mine = frozen(shingles[starts[line] : starts[line + 1]])
            minhash = self._as_minhash(values)
            repeats[line] = self._repeats(minhash, mine)
            if not repeats[line]:
                self._hold(minhash, mine)
        self.seconds += time.process_time() - begun
        self._check_memory()
        return repeats

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays to be stored for the next run, by name."""
        return {
            "starts": self._starts.view().astype(np.uint64),
            "shingles": self._shingles.view(),
            "minhashes": self._minhashes.view().reshape(-1, N_PERMUTATIONS),
        }

    def _hashed(self, starts: np.ndarray, shingles: np.ndarray, lines: np.ndarray) -> np.ndarray:
        """Return the MinHash values of lines, uint32[n, 128]; long lines are hashed in pieces."""
        pieces: list[list[int]] = []
        firsts = []
        for line in lines.tolist():
            firsts.append(len(pieces))
            for begin in range(starts[line], starts[line + 1], _MOST_SHINGLES):
                stop = min(begin + _MOST_SHINGLES, starts[line + 1])
                pieces.append(shingles[begin:stop].tolist())
        if not pieces:
            return np.empty((0, N_PERMUTATIONS), np.uint32)
        hashed = self._minhash.bulk(
            pieces, num_perm=N_PERMUTATIONS, seed=SEED, scheme=SCHEME, hashfunc=int
        )
        return np.minimum.reduceat(np.stack([one.hashvalues for one in hashed]), firsts)

    def _as_minhash(self, values: np.ndarray) -> "MinHash":
        return self._minhash(
            seed=SEED,
            scheme=SCHEME,
            hashfunc=int,
            hashvalues=values,
            permutations=self._permutations,
        )

    def _repeats(self, minhash: "MinHash", mine: np.ndarray) -> bool:
        starts, shingles = self._starts.view(), self._shingles.view()
        for other in self._lsh.query(minhash):
            theirs = frozen(shingles[starts[other] : starts[other + 1]])
            if _alike(mine, theirs):
                return True
        return False

    def _hold(self, minhash: "MinHash", mine: np.ndarray) -> None:
        self._lsh.insert(self._n_lines, minhash, check_duplication=False)
        self._n_lines += 1
        self._shingles.append(mine)
        self._starts.append(np.array([self._starts.view()[-1] + mine.size]))
        self._minhashes.append(minhash.hashvalues)

    def _restore(self, starts: np.ndarray, shingles: np.ndarray, minhashes: np.ndarray) -> None:
        lengths = np.diff(starts.astype(np.int64))
        sound = (
            [array.dtype for array in (starts, shingles, minhashes)]
            == [np.uint64, np.uint32, np.uint32]
            and minhashes.ndim == 2
            and starts.size == len(minhashes) + 1
            and minhashes.shape[1] == N_PERMUTATIONS
            and starts[0] == 0
            and starts[-1] == shingles.size
            and bool(np.all(lengths > 0))
        )
        if not sound:
            raise ArtifactError(
                "the lines kept to find near-duplicates are damaged: restore the index or build "
                "it again"
            )
        begun = time.process_time()
        for number, values in enumerate(minhashes):
            self._lsh.insert(number, self._as_minhash(np.array(values)), check_duplication=False)
        self._n_lines = len(minhashes)
        self._shingles.append(shingles)
        self._starts.append(np.cumsum(lengths))
        self._minhashes.append(minhashes.reshape(-1))
        self.seconds += time.process_time() - begun
        self._check_memory()

    def _check_memory(self) -> None:
        if self.n_bytes > self._memory:
            raise ParameterError(
                f"`dedup` near holds {self._n_lines:,} different lines, about "
                f"{self.n_bytes / 2**30:.1f} GB, and was given `memory` "
                f"{self._memory / 2**30:.1f}G: give more, or use `dedup` exact"
            )


def _alike(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether the Jaccard index of two sets is .8 or more."""
    small, large = sorted((a.size, b.size))
    if small * _DENOMINATOR < large * _NUMERATOR:
        return False
    common = count_common(a, b)
    return bool(common * _DENOMINATOR >= (a.size + b.size - common) * _NUMERATOR)
