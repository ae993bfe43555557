"""Compiled loops over texts end to end: permutation, search by hash and text."""

import numpy as np

from distsim.kernels.compiled import compiled
from distsim.kernels.hashing import first_not_below


@compiled
def permute_texts(text, starts, order):
    """Return the texts text[starts[i]:starts[i + 1]] for i in order, end to end, and offsets.

    Arguments:
        text: uint8, the texts end to end.
        starts: int64[n + 1], where each begins.
        order: int64, numbers of texts.
    """
    offsets = np.empty(order.size + 1, np.int64)
    offsets[0] = 0
    for n in range(order.size):
        offsets[n + 1] = offsets[n] + starts[order[n] + 1] - starts[order[n]]
    out = np.empty(offsets[order.size], np.uint8)
    for n in range(order.size):
        begin = starts[order[n]]
        for i in range(offsets[n + 1] - offsets[n]):
            out[offsets[n] + i] = text[begin + i]
    return out, offsets


@compiled
def find_texts(hashes, table_text, blocks, ends, block_rows, wanted, text, offsets):
    """Return the row of each text[offsets[i]:offsets[i + 1]], -1 where there is none; int64.

    Rows of equal hash are distinguished by their text.

    Arguments:
        hashes: uint64, sorted, of the rows' texts.
        table_text, blocks, ends: the rows' texts, row r ending at blocks[r // block_rows] +
            ends[r].
        block_rows: rows of a block.
        wanted: uint64, hashes of the texts looked for.
        text, offsets: uint8 and int64, the texts looked for end to end.
    """
    out = np.empty(wanted.size, np.int64)
    n = hashes.size
    if n == 0:
        out[:] = -1
        return out
    for i in range(wanted.size):
        key = wanted[i]
        # Hashes are spread evenly: begin where the key would be, widen until it is inside.
        guess = np.int64(np.float64(key) * (n / 18446744073709551616.0))
        guess = min(max(guess, 0), n - 1)
        low = guess
        reach = 256
        while low > 0 and hashes[low] >= key:
            low = max(0, guess - reach)
            reach *= 4
        high = guess
        reach = 256
        while high < n and hashes[high] < key:
            high = min(n, guess + reach)
            reach *= 4
        found = -1
        row = first_not_below(hashes, key, low, high)
        length = offsets[i + 1] - offsets[i]
        while row < n and hashes[row] == key and found < 0:
            base = np.int64(blocks[row // block_rows])
            start = base
            if row % block_rows:
                start += np.int64(ends[row - 1])
            stop = min(base + np.int64(ends[row]), np.int64(table_text.size))
            if stop - start == length:
                same = True
                for k in range(length):
                    if table_text[start + k] != text[offsets[i] + k]:
                        same = False
                        break
                if same:
                    found = row
            row += 1
        out[i] = found
    return out
