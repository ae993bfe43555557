"""Slow twin of the kernel that finds what joins two phrases."""


def joins(
    tokens: list[int], positions: list[int], length: int, others: list[list[int]], window: int
) -> list[tuple]:
    """(offset, before, parallel, what is between) of the nearest other on either side.

    tokens: 0 ends a sentence. Between is told where it has at most four tokens.
    """
    found = []
    size = len(others[0])

    def at(place: int) -> int:
        return tokens[place] if 0 <= place < len(tokens) else 0

    for p in positions:
        right = [q for q in range(p + length, p + length + window + 1)
                 if [at(q + k) for k in range(size)] in others
                 and q + size <= len(tokens) and 0 not in tokens[p + length : q]][:1]  # fmt: skip
        left = [q for q in range(p - size, p - size - window - 1, -1)
                if q >= 0 and tokens[q : q + size] in others
                and 0 not in tokens[q + size : p]][:1]  # fmt: skip
        for q, side in [(q, 1) for q in right] + [(q, -1) for q in left]:
            (first, first_stop), (second, second_stop) = sorted([(p, p + length), (q, q + size)])
            between = tokens[first_stop:second]
            before, after = at(first - 1), at(second_stop)
            parallel = 0
            if between:
                parallel += after != 0 and after == at(first_stop)
                parallel += 2 * (before != 0 and before == at(second - 1))
            told = between if len(between) <= 4 else []
            found.append((side * (len(between) + 1), before, parallel, *told))
    return found
