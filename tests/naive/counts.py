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


def phrases_of(lines, longest):
    """Return {phrase: (strength, {feature: count})} of (words, count) lines.

    Features are `l1:word` and `r1:word`. Phrases without a line of their own are left out,
    and so are lines with <unk>, <s> or </s>.
    """
    strengths = Counter()
    contexts = defaultdict(Counter)
    for words, count in lines:
        if any(word.casefold() in ("<unk>", "<s>", "</s>") for word in words):
            continue
        if len(words) <= longest:
            strengths[words] += count
        if 2 <= len(words) <= longest + 1:
            contexts[words[1:]][f"l1:{words[0]}"] += count
            contexts[words[:-1]][f"r1:{words[-1]}"] += count
    return {phrase: (n, dict(contexts.get(phrase, {}))) for phrase, n in strengths.items()}
