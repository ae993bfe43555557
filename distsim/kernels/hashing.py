"""Stable 64-bit hashes of bytes: identifiers of words, phrases and features on every machine.

One byte is one step `h = (h ^ byte) * K; h ^= h >> 32`, a bijection of h, so the hash of a
text can be continued by the text that follows; `finish` mixes the last state once more.
"""

import numpy as np

from distsim.kernels.compiled import compiled, uncounted

START = np.uint64(0x6C62272E07BB0142)
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
FINISHER = np.uint64(0xD6E8FEB86659FD93)
HALF = np.uint64(32)
SPACE = np.uint64(32)


@uncounted
def step(state, byte):
    """Return the hash state after one more byte (uint64).

    Arguments:
        state: uint64.
        byte: uint8.
    """
    state = (state ^ byte) * MULTIPLIER
    return state ^ (state >> HALF)


@uncounted
def finish(state):
    """Return the hash for a state.

    state: uint64.
    """
    state = state * FINISHER
    return state ^ (state >> HALF)


@uncounted
def extend(state, text, start, stop):
    """Return the hash state after the bytes text[start:stop].

    Arguments:
        state: uint64.
        text: uint8.
        start, stop: half-open range of text.
    """
    for i in range(start, stop):
        state = step(state, np.uint64(text[i]))
    return state


@compiled
def hash_pieces(prefix, text, offsets):
    """Return hash(prefix + text[offsets[i]:offsets[i + 1]]) for every piece i, uint64.

    Arguments:
        prefix: uint8, bytes before each piece.
        text: uint8, the pieces end to end.
        offsets: int64[n + 1].
    """
    state = extend(START, prefix, 0, prefix.size)
    out = np.empty(offsets.size - 1, np.uint64)
    for i in range(out.size):
        out[i] = finish(extend(state, text, offsets[i], offsets[i + 1]))
    return out


@compiled
def hash_states(text, offsets):
    """Return the hash state after text[offsets[i]:offsets[i + 1]] for every piece i, uint64.

    Arguments:
        text: uint8, the pieces end to end.
        offsets: int64[n + 1].
    """
    out = np.empty(offsets.size - 1, np.uint64)
    for i in range(out.size):
        out[i] = extend(START, text, offsets[i], offsets[i + 1])
    return out


@compiled
def number_hashes(hashes, keys, values, next_number, first_seen):
    """Return (the number of each hash in order of first appearance uint32, how many are new).

    Arguments:
        hashes: uint64.
        keys, values: uint64 and uint32, an open-addressing table, a power of two long, kept at
            least half empty by the caller; value 0xFFFFFFFF marks an empty slot; changed.
        next_number: number of the first new hash.
        first_seen: int64, filled with the index of each new hash's first appearance.
    """
    empty = np.uint32(0xFFFFFFFF)
    mask = np.uint64(keys.size - 1)
    step = np.uint64(1)
    numbers = np.empty(hashes.size, np.uint32)
    n_new = 0
    for i in range(hashes.size):
        key = hashes[i]
        slot = key & mask
        while values[slot] != empty and keys[slot] != key:
            slot = (slot + step) & mask
        if values[slot] == empty:
            keys[slot] = key
            values[slot] = np.uint32(next_number + n_new)
            first_seen[n_new] = i
            n_new += 1
        numbers[i] = values[slot]
    return numbers, n_new


@uncounted
def first_not_below(keys, key, low, high):
    """Return the first place in keys[low:high], which ascend, that is not below key; else high.

    Arguments:
        keys: ascending, of the type of key.
        key: a number.
        low, high: half-open range of keys.
    """
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def find_sorted(sorted_hashes, wanted):
    """Return the first index of each wanted hash in sorted_hashes, -1 where absent; int64.

    Arguments:
        sorted_hashes: uint64, ascending.
        wanted: uint64[n].
    """
    out = np.empty(wanted.size, np.int64)
    for i in range(wanted.size):
        key = wanted[i]
        low = first_not_below(sorted_hashes, key, 0, sorted_hashes.size)
        out[i] = low if low < sorted_hashes.size and sorted_hashes[low] == key else -1
    return out


@compiled
def find_ids(sorted_hashes, ids, n_ids, wanted):
    """Return the id of each wanted hash by a sorted table, -1 where absent or damaged; int64.

    Arguments:
        sorted_hashes: uint64[n], ascending.
        ids: unsigned[n], the id of each.
        n_ids: ids are below it.
        wanted: uint64[m].
    """
    out = find_sorted(sorted_hashes, wanted)
    for i in range(out.size):
        if out[i] >= 0:
            word = np.int64(ids[out[i]])
            out[i] = word if word < n_ids else -1
    return out


@compiled
def bucket_starts(sorted_hashes, bits):
    """Return where the hashes with each leading `bits` bits begin, int64[2^bits + 1].

    Arguments:
        sorted_hashes: uint64, ascending.
        bits: number of leading bits.
    """
    starts = np.zeros((1 << bits) + 1, np.int64)
    shift = np.uint64(64 - bits)
    for i in range(sorted_hashes.size):
        starts[np.int64(sorted_hashes[i] >> shift) + 1] += 1
    for bucket in range(1 << bits):
        starts[bucket + 1] += starts[bucket]
    return starts


@compiled
def find_in_buckets(sorted_hashes, starts, bits, wanted):
    """Return the index of each wanted hash in sorted_hashes, -1 where absent; int64.

    Arguments:
        sorted_hashes: uint64, ascending.
        starts: int64, the first hash of each bucket, by bucket_starts.
        bits: number of leading bits of a hash that name its bucket.
        wanted: uint64[n].
    """
    shift = np.uint64(64 - bits)
    out = np.empty(wanted.size, np.int64)
    for i in range(wanted.size):
        key = wanted[i]
        bucket = np.int64(key >> shift)
        place = starts[bucket]
        while place < starts[bucket + 1] and sorted_hashes[place] < key:
            place += 1
        is_found = place < starts[bucket + 1] and sorted_hashes[place] == key
        out[i] = place if is_found else -1
    return out


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
        row_of_text = -1
        row = first_not_below(hashes, key, low, high)
        length = offsets[i + 1] - offsets[i]
        while row < n and hashes[row] == key and row_of_text < 0:
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
                    row_of_text = row
            row += 1
        out[i] = row_of_text
    return out
