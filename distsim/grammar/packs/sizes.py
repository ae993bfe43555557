"""Types of rules, and the smallest pack of each rule (thesis 6.2)."""

import numpy as np

SIZES = ("S", "M", "L", "XL", "XXL", "XXXL")
TYPES = ("lexical", "one-to-many", "many-to-one", "phrasal", "syntactic")
LEXICAL, ONE_TO_MANY, MANY_TO_ONE, PHRASAL, SYNTACTIC = range(len(TYPES))


def rule_types(
    source_words: np.ndarray, target_words: np.ndarray, n_gaps: np.ndarray
) -> np.ndarray:
    """Return the type of each rule by its numbers of words and gaps, uint8[n].

    Arguments:
        source_words, target_words, n_gaps: int64[n].

    >>> import numpy as np
    >>> sides = np.array([1, 1, 2, 2, 1]), np.array([1, 3, 1, 2, 1]), np.array([0, 0, 0, 0, 1])
    >>> [TYPES[number] for number in rule_types(*sides)]
    ['lexical', 'one-to-many', 'many-to-one', 'phrasal', 'syntactic']
    """
    one, other = source_words == 1, target_words == 1
    types = np.where(
        one, np.where(other, LEXICAL, ONE_TO_MANY), np.where(other, MANY_TO_ONE, PHRASAL)
    )
    return np.where(n_gaps > 0, SYNTACTIC, types).astype(np.uint8)


def rule_sizes(types: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the smallest pack of each rule, uint8[n]; each pack contains the smaller ones.

    XXXL is all; each next smaller size is the better half of it, for each type by itself.

    Arguments:
        types: uint8[n]. order: int64[n], rules from the best to the worst.

    >>> import numpy as np
    >>> sizes = rule_sizes(np.zeros(64, np.uint8), np.arange(64))
    >>> {name: int((sizes <= number).sum()) for number, name in enumerate(SIZES)}
    {'S': 2, 'M': 4, 'L': 8, 'XL': 16, 'XXL': 32, 'XXXL': 64}
    """
    sizes = np.empty(types.size, np.uint8)
    for number in range(len(TYPES)):
        of_type = order[types[order] == number]
        for size in range(len(SIZES) - 1, -1, -1):
            n = -(-of_type.size // (1 << (len(SIZES) - 1 - size)))
            sizes[of_type[:n]] = size
    return sizes
