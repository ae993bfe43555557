"""Near-duplicates the slow way: every line against every line that stayed, as sets of words."""


def shingles(words, width=5):
    return {tuple(words[i : i + width]) for i in range(len(words) - width + 1)}


def jaccard(a, b):
    return len(a & b) / len(a | b)


def near_repeats(lines, threshold=0.8):
    """Return for each line (a list of words) whether it nearly repeats an earlier one kept."""
    kept = []
    repeats = []
    for line in lines:
        mine = shingles(line)
        repeats.append(bool(mine) and any(jaccard(mine, other) >= threshold for other in kept))
        if mine and not repeats[-1]:
            kept.append(mine)
    return repeats
