"""Splits phrases as users write them into words."""

from collections.abc import Callable

from distsim.base.arguments import utf8_phrase
from distsim.base.errors import ParameterError
from distsim.corpus.escapes import unescape
from distsim.corpus.normaliser import Normaliser
from distsim.corpus.tokeniser import tokens_of


def split_phrase(phrase: str, normaliser: Normaliser, is_word: Callable[[str], bool]) -> list[str]:
    """Return the words of a phrase; a piece between white space that `is_word` accepts stays whole.

    Any other piece is cut as running text is. So what an index of running text printed
    (`king 's`) finds itself again, and what a person types (`king's`) finds the same. A piece
    that is no word loses the escapes of Moses and the Penn Treebank first (`&apos;s`, `-lrb-`).
    Words that the normaliser drops are left out.

    Arguments:
        phrase: words separated by spaces.
        normaliser: normalises each token, and may drop it.
        is_word: returns whether a piece is a token of the index.

    Raises:
        ParameterError: the phrase has no piece at all, or bytes that were not UTF-8.

    >>> split_phrase("The King's", Normaliser(), lambda piece: piece in {"the", "king", "'s"})
    ['the', 'king', "'s"]
    >>> split_phrase("-lrb- &apos;s", Normaliser(), lambda piece: piece in {"(", "'s"})
    ['(', "'s"]
    """
    utf8_phrase(phrase)
    pieces = normaliser.characters(phrase).split()
    if not pieces:
        raise ParameterError("the phrase is empty: give at least one word")
    words: list[str] = []
    for piece in pieces:
        if (piece.isascii() and piece.isalpha()) or is_word(piece):
            words.append(piece)
            continue
        plain = unescape(piece)
        words += [plain] if plain != piece and is_word(plain) else tokens_of(plain, "text")
    if normaliser.drops:
        words = [word for word in words if normaliser.token(word)]
    return words
