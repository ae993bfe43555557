"""Near-duplicates the slow way: every text against every text that stayed, as sets of words."""


def shingles(words, width=5):
    """Return the runs of `width` words; all words where there are fewer."""
    size = min(width, len(words))
    return {tuple(words[i : i + size]) for i in range(len(words) - size + 1)} if words else set()


def jaccard(a, b):
    return len(a & b) / len(a | b)


def near_repeats(texts, threshold=0.8, width=5):
    """Return for each text (a list of words) the number of the earliest that it nearly repeats."""
    kept = {}
    repeats = []
    for number, text in enumerate(texts):
        mine = shingles(text, width)
        found = [
            other for other, theirs in kept.items() if mine and jaccard(mine, theirs) >= threshold
        ]
        repeats.append(found[0] if found else None)
        if mine and not found:
            kept[number] = mine
    return repeats
