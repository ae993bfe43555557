"""Labels of trees, as they are written in rules and numbered."""

import re
from collections import defaultdict
from collections.abc import Iterable

from distsim.base.errors import InputError
from distsim.corpus.annotation import Tree

Span = tuple[int, int]

X = "X"
MOST = 1023  # ten bits
_NAMES = {
    ",": "COMMA",
    "[": "LSB",
    "]": "RSB",
    "|": "BAR",
    "/": "SLASH",
    "\\": "BACKSLASH",
    "+": "PLUS",
    "=": "EQUALS",
}
_ODD = re.compile(r"[,\[\]|/\\+=]|[\s\x00-\x20\x7f]")


def written_label(label: str) -> str:
    """Return a tree's label as it is written in rules.

    The comma is COMMA, as in Joshua; what parts a rule's symbols, fields or the parts of a
    label gets a name too; blanks and control characters are underlines.

    Arguments:
        label: of a node of a tree.

    >>> written_label(","), written_label("NP"), written_label("a|/ b")
    ('COMMA', 'NP', 'aBARSLASH_b')
    """
    return _ODD.sub(lambda found: _NAMES.get(found[0], "_"), label)


def number_labels(labels: Iterable[str]) -> list[str]:
    """Return the distinct labels as written, in byte order, X first; positions are their numbers.

    Raises:
        InputError: there are more than 1,023 of them.
    """
    distinct = sorted({written_label(label) for label in labels} - {X}, key=str.encode)
    if len(distinct) > MOST:
        raise InputError(
            f"the trees have {len(distinct):,} different labels, wanted {MOST:,} at most: leave "
            "out functions and indices"
        )
    return [X, *distinct]


def labels_of_spans(tree: Tree) -> dict[Span, set[str]]:
    """Return every label of every span: X, X/Y, X\\Y, X+Y and X+Y+Z.

    Thesis 3.2.2; Callison-Burch 2008, 3.2.

    tree: of a sentence; a span is half-open, in tokens.
    """
    plain: dict[Span, set[str]] = defaultdict(set)
    for start, stop, label in tree.nodes:
        plain[start, stop].add(written_label(label))
    from_start: dict[int, list[tuple[int, str]]] = defaultdict(list)
    to_stop: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for (start, stop), names in plain.items():
        from_start[start] += [(stop, name) for name in sorted(names)]
        to_stop[stop] += [(start, name) for name in sorted(names)]
    labels: dict[Span, set[str]] = defaultdict(set)
    for (start, stop), names in plain.items():
        labels[start, stop] |= names
        for name in names:
            for inner, part in to_stop[stop]:
                if inner > start:
                    labels[start, inner].add(f"{name}/{part}")
            for inner, part in from_start[start]:
                if inner < stop:
                    labels[inner, stop].add(f"{name}\\{part}")
            for end, second in from_start[stop]:
                labels[start, end].add(f"{name}+{second}")
                for last, third in from_start[end]:
                    labels[start, last].add(f"{name}+{second}+{third}")
    return dict(labels)


def label_text(code: int, names: list[str]) -> str:
    """Return the text of a label.

    >>> names = ["X", "NP", "VP"]
    >>> label_text(0, names), label_text(2 | 1 << 10 | 1 << 30, names), label_text(1 | 2 << 10, names)
    ('X', 'VP/NP', 'NP+VP')
    """  # noqa: E501
    parts = [code & 1023] + [part for shift in (10, 20) if (part := code >> shift & 1023)]
    return {0: "+", 1: "/", 2: "\\"}[code >> 30].join(names[part] for part in parts)
