"""The grammar formats, in the order in which they are tried on a file."""

from distsim.base.arguments import one_of
from distsim.corpus.lines import split_lines
from distsim.grammar.formats.grammar_format import GrammarFormat
from distsim.grammar.formats.moses import MOSES_RULES, PHRASE_TABLE
from distsim.grammar.formats.rules import RULES

FORMATS: dict[str, GrammarFormat] = {
    known.name: known for known in (RULES, MOSES_RULES, PHRASE_TABLE)
}
HEAD_LINES = 1000  # of a grammar, which tell its format and whether features have names


def guess_format(text: bytes) -> GrammarFormat:
    """Return the format that the first lines of a file have; the last of FORMATS where none fits.

    >>> guess_format(b"[X] ||| a ||| b ||| 0.5\\n").name, guess_format(b"a ||| b ||| 0.5\\n").name
    ('rules', 'phrase-table')
    """
    lines = split_lines(text)[:HEAD_LINES]
    for known in FORMATS.values():
        if 2 * sum(map(known.looks_so, lines)) >= len(lines):
            break
    return known


def find_format(name: str | None, first_lines: bytes) -> GrammarFormat:
    """Return the format of this name; the format of the first lines where it is None.

    Arguments:
        name: a key of FORMATS. first_lines: the beginning of the file.

    Raises:
        ParameterError: there is no such format.
    """
    if name is None:
        return guess_format(first_lines)
    one_of(name, FORMATS, "`grammar_format`")
    return FORMATS[name]
