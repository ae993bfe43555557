"""Moses' phrase tables, in both layouts, and its hierarchical rules.

    source ||| target ||| scores ||| alignment ||| counts |||        as Moses writes it today
    source ||| target ||| (0) (1,2) ||| (0) (1) (1) ||| scores       the older layout
    [X][X] de [X] ||| of [X][NP] [NP] ||| scores ||| 0-1 1-0         rules, gaps paired by links

In the older layout (Marton 2013, section 4.2) each token's partners are in brackets, first
for the source tokens, then for the target tokens.
"""

import re

from distsim.grammar.fields import SEPARATOR, join_fields, replace_field, split_fields, tokens
from distsim.grammar.formats.grammar_format import GrammarFormat, LineLayout

PHRASE_TABLE = GrammarFormat(
    name="phrase-table",
    layout=LineLayout(
        label=-1, source=0, target=1, features=2, links=3, counts=4, partners=2, gaps=False
    ),
    looks_so=lambda line: b"|||" in line,
    named_features=False,
    columns={"p(f|e)": 0, "Lex(f|e)": 1, "p(e|f)": 2, "Lex(e|f)": 3},  # as Moses trains them
    scale="probability",
)

_LABEL = re.compile(rb"\[([^\[\]]+)\]")
_GAP = re.compile(rb"\[([^\[\]]*)\]\[([^\[\]]*)\]")
_LINK = re.compile(rb"(\d{1,9})-(\d{1,9})")


def as_rule(line: bytes) -> bytes:
    """Return a line of Moses' hierarchical rules as a rule whose gaps have indices.

    Arguments:
        line: of a rule table; one without labels at the ends of both sides gets no left-hand side.

    >>> as_rule(b"[X][X] de [X] ||| of [X][NP] [NP] ||| 0.5 ||| 0-1 1-0\\n")
    b'[NP] ||| [X,1] de ||| of [NP,1] ||| 0.5 ||| 0-1 1-0\\n'
    """
    fields = split_fields(line)
    if len(fields) < 3:
        return line
    sides = [tokens(field) for field in fields[:2]]
    labels = [_LABEL.fullmatch(side[-1]) if side else None for side in sides]
    if None in labels:
        return SEPARATOR.join([b" ", *fields])
    source, target = (side[:-1] for side in sides)
    links = [_LINK.fullmatch(link) for link in tokens(fields[3])] if len(fields) > 3 else []
    partners = {int(link[2]): int(link[1]) for link in links if link}
    numbers: dict[int, int] = {}
    for at, symbol in enumerate(source):
        if _GAP.fullmatch(symbol):
            numbers[at] = len(numbers) + 1
    left = [_indexed(symbol, numbers.get(at, 0)) for at, symbol in enumerate(source)]
    right = [_indexed(symbol, numbers.get(partners.get(at, -1), len(numbers) + 1))
             for at, symbol in enumerate(target)]  # fmt: skip
    label = _label_of(*(match[1] for match in labels if match))
    first = [b"[%s] " % label, b" %s " % b" ".join(left), b" %s " % b" ".join(right)]
    return SEPARATOR.join([*first, *fields[2:]])


def put_features(line: bytes, features: bytes) -> bytes:
    """Return a line of Moses' hierarchical rules with other features.

    >>> put_features(b"de [X] ||| of [NP] ||| 0.5 ||| 0-0\\n", b"0.5 0.1")
    b'de [X] ||| of [NP] ||| 0.5 0.1 ||| 0-0\\n'
    """
    fields = split_fields(line)
    fields[2] = replace_field(fields[2], features)
    return join_fields(fields)


def _label_of(source: bytes, target: bytes) -> bytes:
    return source if target in (b"X", b"") else target


def _indexed(symbol: bytes, index: int) -> bytes:
    """Return a gap with its label and index, a word as it is."""
    match = _GAP.fullmatch(symbol)
    return b"[%s,%d]" % (_label_of(match[1], match[2]) or b"X", index) if match else symbol


def _looks_like_moses(line: bytes) -> bool:
    """Return whether both sides of a line end with a label, behind at least one symbol."""
    fields = [tokens(field) for field in split_fields(line)[:3]]
    return len(fields) == 3 and all(
        len(side) > 1 and _LABEL.fullmatch(side[-1]) for side in fields[:2]
    )


MOSES_RULES = GrammarFormat(
    name="moses-rules",
    layout=LineLayout(label=0, source=1, target=2, features=3, links=4, counts=5),
    looks_so=_looks_like_moses,
    named_features=False,
    columns=PHRASE_TABLE.columns,
    scale=PHRASE_TABLE.scale,
    as_rule=as_rule,
    put_features=put_features,
    sort_key=lambda line: line.partition(SEPARATOR)[0],  # as `LC_ALL=C sort` has them
)
