"""N-gram counts the slow, obvious way: dicts of tuples of words, written from the definition."""

from collections import Counter, defaultdict


def ngrams_of(sentences, longest):
    """Return the count of every n-gram of 1 to `longest` words, within sentences."""
    counts = Counter()
    for sentence in sentences:
        for begin in range(len(sentence)):
            for stop in range(begin + 1, min(begin + longest, len(sentence)) + 1):
                counts[tuple(sentence[begin:stop])] += 1
    return counts


def phrases_of(lines, longest, window=1, sides=False):
    """Return {phrase: (strength, {feature: count})} of (words, count) lines.

    Features are `l1:word` and `r1:word`, or `l1-5:word` with sides. Phrases without a line of their
    own are left out, and so are lines with <unk>, <s> or </s>.
    """
    strengths = Counter()
    contexts = defaultdict(Counter)
    for words, count in lines:
        if any(word.casefold() in ("<unk>", "<s>", "</s>") for word in words):
            continue
        if len(words) <= longest:
            strengths[words] += count
        for distance in range(1, window + 1):
            if 1 <= len(words) - distance <= longest:
                times = window + 1 - distance if sides else 1
                name = f"1-{window}" if sides else str(distance)
                contexts[words[distance:]][f"l{name}:{words[0]}"] += times * count
                contexts[words[:-distance]][f"r{name}:{words[-1]}"] += times * count
    return {phrase: (n, dict(contexts.get(phrase, {}))) for phrase, n in strengths.items()}
