"""Rules of Joshua, Thrax, PPDB and cdec, byte for byte.

    [NP] ||| the [JJ,1] ||| a [JJ,1] ||| p(e|f)=0.5 ||| 0-0 1-1

A label, two sides with gaps, features by name or bare, perhaps word links and further fields.
"""

from distsim.grammar.fields import tokens
from distsim.grammar.formats.grammar_format import GrammarFormat, LineLayout


def gap_of(symbol: bytes) -> tuple[bytes, bytes] | None:
    """Return the label and index of a gap, None for a word.

    >>> gap_of(b"[,,1]"), gap_of(b"[NP/NN,12]"), gap_of(b"[1,000]"), gap_of(b"[x]")
    ((b',', b'1'), (b'NP/NN', b'12'), None, None)
    """
    if symbol[:1] != b"[" or symbol[-1:] != b"]":
        return None
    label, comma, index = symbol[1:-1].rpartition(b",")
    if not comma or not label or not index.isdigit() or not index.strip(b"0"):
        return None
    return label, index


def _looks_like_rules(line: bytes) -> bool:
    """Return whether a line begins with a label in brackets and has at least three fields."""
    label, separator, rest = line.partition(b" ||| ")
    is_label = label[:1] == b"[" and label[-1:] == b"]" and len(tokens(label)) == 1
    return bool(separator and is_label and len(label) > 2 and rest.count(b"|||") >= 1)


RULES = GrammarFormat(
    name="rules",
    layout=LineLayout(label=0, source=1, target=2, features=3, links=4),
    looks_so=_looks_like_rules,
)
