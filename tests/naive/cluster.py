"""The slow, obvious keys of phrases that parts of a corpus are counted by."""

from collections import Counter

from tests.naive.core import count_ngrams, hash_text

_ALL = (1 << 64) - 1


def key_of(phrase: tuple[str, ...]) -> int:
    """Hash a phrase as if the hash of each of its words were one byte of a text."""
    state = 0x6C62272E07BB0142
    for word in phrase:
        state = (state ^ hash_text(word.encode())) * 0x9E3779B97F4A7C15 & _ALL
        state ^= state >> 32
    state = state * 0xD6E8FEB86659FD93 & _ALL
    return state ^ (state >> 32)


def counted_keys(sentences: list[list[str]], longest: int) -> Counter[int]:
    """Count all phrases of 1..longest words by their keys."""
    counted: Counter[int] = Counter()
    for phrase, count in count_ngrams(sentences, longest).items():
        counted[key_of(phrase)] += count
    return counted
