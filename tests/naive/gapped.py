"""Slow twins of the kernels that find patterns with gaps and what fills them."""


def match(
    tokens: list[int], positions: list[int], parts: list[list[int]], anchor: int, longest: int
) -> list[list[int]]:
    """Where each part stands, for each place of part `anchor`, over the shortest gaps."""

    def near(part: list[int], starts: list[tuple[int, list[int]]]) -> int | None:
        for start, between in starts:
            if start < 0 or 0 in between:
                continue
            if tokens[start : start + len(part)] == part:
                return start
        return None

    found = []
    for position in positions:
        begins: list[int | None] = [None] * len(parts)
        begins[anchor] = position
        for k in range(anchor + 1, len(parts)):
            if begins[k - 1] is None:
                break
            end = begins[k - 1] + len(parts[k - 1])
            begins[k] = near(
                parts[k], [(end + gap, tokens[end : end + gap]) for gap in range(1, longest + 1)]
            )
        for k in range(anchor - 1, -1, -1):
            if begins[k + 1] is None:
                break
            begin = begins[k + 1]
            starts = []
            for gap in range(1, longest + 1):
                if begin - gap >= 0:
                    starts.append((begin - gap - len(parts[k]), tokens[begin - gap : begin]))
            begins[k] = near(parts[k], starts)
        if None not in begins:
            found.append(begins)
    return found


def fillers(tokens: list[int], first: int, stop: int, step: int, most: int) -> list[int]:
    """The words from a place on, to a stop or a sentence's end, with 0 behind the last."""
    words: list[int] = []
    at = first
    while len(words) < most and at != stop and 0 <= at < len(tokens) and tokens[at] != 0:
        words.append(tokens[at])
        at += step
    return words + [0] * (most - len(words))
