"""Family `ngram`: words, lemmas, parts of speech and entity classes near a phrase.

`l_lex_on_to_3`, `r_pos_NN_1`: the unigrams and bigrams that lie within `window` tokens of the
phrase's edge, on its left (l) and right (r). The number is how far the n-gram's first token
is from the phrase: on the left i - position, on the right position - j + 1 for a phrase
[i, j). N-grams reach neither into the phrase nor over the sentence's edge.
"""

from collections.abc import Iterable, Iterator

from distsim.contexts.syntax.templates import KINDS, SIDES, Place, Template

NAME = "ngram"


def templates(kinds: Iterable[str], window: int) -> Iterator[tuple[Place, Template]]:
    """Yield the templates, each with its place [side, kind, tokens - 1, distance - 1].

    Arguments:
        kinds: names of tokens in features, out of KINDS.
        window: tokens on either side.
    """
    for side_number, side in enumerate(SIDES):
        for kind in kinds:
            for distance in range(1, window + 1):
                place = (side_number, KINDS.index(kind))
                start = f"{side}_{kind}_"
                yield (*place, 0, distance - 1), Template(start, f"_{distance}")
                if (distance > 1) if side == "l" else (distance < window):
                    yield (*place, 1, distance - 1), Template(start, "_", f"_{distance}")
