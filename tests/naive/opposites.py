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


def joined_words(tokens, patterns, passed, is_word):
    """(word, word, kind) of each place where a pattern joins two words, the lowest kind of all.

    patterns: (word before or 0, words between, kind). passed, is_word: sets of words.
    """

    def after(place):
        while place < len(tokens) and tokens[place] in passed:
            place += 1
        return place

    found = []
    for place in range(len(tokens) - 2):
        word, joined = tokens[place], []
        for before, between, kind in patterns:
            at = place + 1
            for number, other in enumerate(between):
                while number and at < len(tokens) and tokens[at] in passed and tokens[at] != other:
                    at += 1
                at = at + 1 if at < len(tokens) and tokens[at] == other else len(tokens)
            at = after(at)
            first = place - 1
            if first >= 0 and tokens[first] in passed:
                first -= 1
            fits = not before or (first >= 0 and tokens[first] == before)
            if fits and at < len(tokens) and tokens[at] in is_word and tokens[at] != word:
                joined.append((kind, tokens[at]))
        if word in is_word and joined:
            kind, other = min(joined, key=lambda one: one[0])
            found.append((min(word, other), max(word, other), kind))
    return found
