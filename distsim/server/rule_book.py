"""The rules of a scored grammar by source side; the grammar is a pack or text."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from distsim.base.errors import InputError, ParameterError
from distsim.corpus.lines import LineBlock, is_utf8, read_line_blocks, split_lines
from distsim.corpus.numbers import plain_count, plain_number
from distsim.corpus.sources import file_label
from distsim.grammar.alignment import RuleAligner
from distsim.grammar.block import parse_block
from distsim.grammar.decomposition import decompose_block, span_text
from distsim.grammar.fields import split_fields, tokens
from distsim.grammar.formats import guess_format
from distsim.grammar.formats.layout import GrammarFormat, Layout
from distsim.grammar.formats.rules import RULES, Features
from distsim.grammar.kernels.rules import FINE
from distsim.grammar.packs.grammar_index import GrammarIndex, PackedRule

LARGEST_TEXT = 256 << 20  # bytes, unpacked


class BookRule(NamedTuple):
    """A rule: label without brackets, sides, features that are numbers, links, kind of pair."""

    label: str
    source: str
    target: str
    features: dict[str, float]
    links: list[tuple[int, int]]
    kind: str = ""


class RuleBook(Protocol):
    """Interface: the rules of a source side."""

    def __len__(self) -> int:
        """Return the number of rules."""
        ...

    def count(self, source: str) -> int:
        """Return how many rules have a source side."""
        ...

    def rules(self, source: str, most: int) -> list[BookRule]:
        """Return the first rules with a source side.

        Arguments:
            source: the side.
            most: how many.
        """
        ...

    def containing(self, text: str, kind: str, skip: int, most: int) -> tuple[int, list[BookRule]]:
        """Return (number of rules that contain words, some of them, best first).

        Arguments:
            text: the words.
            kind: of the rules; any where empty.
            skip: rules left out at the beginning.
            most: how many are returned.
        """
        ...

    def sources(self) -> Iterable[str]:
        """Yield some source sides, spread over the grammar."""
        ...


def open_rules(path: str | Path) -> RuleBook:
    """Return the rules of a pack, or of a text file of at most 256 MB.

    Arguments:
        path: of the pack or file.

    Raises:
        ArtifactError: the folder holds no packed grammar, or a damaged one.
        InputError: a line is no rule. ParameterError: the text is too large; `pack` is named.
    """
    if Path(path).is_dir():
        return PackedRules(GrammarIndex.open(path))
    return TextRules(path)


class PackedRules:
    """The rules of a pack, read on demand.

    Arguments:
        grammar: the pack's index.
    """

    def __init__(self, grammar: GrammarIndex) -> None:
        self.grammar = grammar

    def __len__(self) -> int:
        return len(self.grammar)

    def count(self, source: str) -> int:
        """Return how many rules have a source side."""
        return self.grammar.count(source)

    def rules(self, source: str, most: int) -> list[BookRule]:
        """Return the first rules with a source side, the cheapest first.

        Arguments:
            source, most: as of RuleBook.
        """
        return _of_pack(self.grammar.rules(source, most=most))

    def containing(self, text: str, kind: str, skip: int, most: int) -> tuple[int, list[BookRule]]:
        """Return (number of rules that contain words, some of them, the cheapest first).

        Arguments:
            text, kind, skip, most: as of RuleBook.
        """
        found = self.grammar.containing(text, pair_kind=kind)
        return found.size, _of_pack(self.grammar.at(found[skip : skip + most]))

    def sources(self) -> Iterable[str]:
        """Yield some source sides, spread over the grammar."""
        spread = np.unique(np.linspace(0, len(self) - 1, 200).astype(np.int64))
        return (rule.source for rule in self.grammar.at(spread))


class TextRules:
    """The rules of a grammar of text, kept in memory as lines.

    Arguments:
        path: of the file.
    """

    def __init__(self, path: str | Path) -> None:
        self._lines: dict[bytes, list[bytes]] = {}
        self._format: GrammarFormat | None = None
        self._size = 0
        n_bytes = 0
        for block in read_line_blocks(path):
            n_bytes += len(block.text)
            if n_bytes > LARGEST_TEXT:
                raise ParameterError(
                    f"{file_label(path)}: unpacks to more than {LARGEST_TEXT >> 20} MB of rules: "
                    "pack it first (distsim pack) and name the folder"
                )
            self._format = self._format or guess_format(block.text)
            layout = self._format.layout
            for number, line in enumerate(split_lines(block.text), block.first_line):
                fields = split_fields(line)
                if len(fields) <= max(layout.source, layout.target) or not is_utf8(line):
                    raise InputError(
                        f"{file_label(path)}, line {number}: no rule of parts separated by ||| in "
                        "UTF-8: mend the line"
                    )
                key = b" ".join(tokens(fields[layout.source]))
                self._lines.setdefault(key, []).append(line)
                self._size += 1

    def __len__(self) -> int:
        return self._size

    def count(self, source: str) -> int:
        """Return how many rules have a source side."""
        return len(self._lines.get(_key(source), ()))

    def rules(self, source: str, most: int) -> list[BookRule]:
        """Return the first rules with a source side, in the order of the file.

        Arguments:
            source, most: as of RuleBook.
        """
        return [self._rule(line) for line in self._lines.get(_key(source), ())[:most]]

    def containing(self, text: str, kind: str, skip: int, most: int) -> tuple[int, list[BookRule]]:
        """Return (number of rules that contain words, some of them in the order of the file).

        Arguments:
            text, kind, skip, most: as of RuleBook.
        """
        wanted = [_finder(word) for word in text.split()]
        every = (line for lines in self._lines.values() for line in lines)
        layout = (self._format or RULES).layout
        found = [
            line for line in every
            if (not kind or b"Kind=" + kind.encode() in line)
            and all(word.search(_sides(line, layout)) for word in wanted)
        ]  # fmt: skip
        return len(found), [self._rule(line) for line in found[skip : skip + most]]

    def sources(self) -> Iterable[str]:
        """Yield some source sides, spread over the grammar."""
        keys = list(self._lines)
        return (key.decode() for key in keys[:: max(1, len(keys) // 200)])

    def _rule(self, line: bytes) -> BookRule:
        known = self._format
        if known is None:
            raise ParameterError("no rule was read")
        layout = known.layout
        fields = split_fields(line)

        def part(number: int) -> bytes:
            return fields[number] if 0 <= number < len(fields) else b""

        label = part(layout.label) if layout.label >= 0 else known.label
        features = Features.parse(part(layout.features))
        named = [*features.named.items()]
        named += [(b"%d" % number, value) for number, value in enumerate(features.bare)]
        values = {name.decode(): plain_number(value) for name, value in named}
        source, target = (
            b" ".join(tokens(part(place))).decode() for place in (layout.source, layout.target)
        )
        return BookRule(
            label.strip().decode().removeprefix("[").removesuffix("]"),
            source,
            target,
            {name: value for name, value in values.items() if value is not None},
            _links(part(layout.links)),
        )


def _of_pack(found: Iterable[PackedRule]) -> list[BookRule]:
    return [BookRule(r.label, r.source, r.target, r.features, r.links, r.pair_kind) for r in found]


def _finder(word: str) -> re.Pattern[bytes]:
    """Return the regular expression of a word of a line; `run*` is a prefix."""
    begun = re.escape(word.removesuffix("*").encode(errors="replace"))
    return re.compile(rb"(?<!\S)" + begun + (b"" if word.endswith("*") else rb"(?!\S)"))


def _sides(line: bytes, layout: Layout) -> bytes:
    fields = split_fields(line)
    return b" ".join((fields[layout.source], fields[layout.target]))


def _links(field: bytes) -> list[tuple[int, int]]:
    pairs = (token.decode(errors="replace").partition("-") for token in tokens(field))
    links = ((plain_count(first), plain_count(second)) for first, _, second in pairs)
    return [(a, b) for a, b in links if a is not None and b is not None]


def _key(source: str) -> bytes:
    return " ".join(source.split()).encode(errors="replace")


def parts_of(rule: BookRule) -> list[tuple[str, str]]:
    """Return the phrase pairs of a rule; see grammar.decomposition.

    A rule without links between words gets those that `score` gives without a learnt model:
    gaps by index, like words, words between linked neighbours.

    >>> parts_of(BookRule("NN", "the boy", "the lad", {}, []))
    [('the', 'the'), ('the boy', 'the lad'), ('boy', 'lad')]
    """
    links = " ".join(f"{i}-{j}" for i, j in rule.links)
    line = f"[X] ||| {rule.source} ||| {rule.target} ||| ||| {links}"
    block = parse_block(LineBlock(line.encode(errors="replace"), 1), RULES)
    if block.status[0] != FINE:
        return []
    alignment = RuleAligner().align(block)
    _, spans = decompose_block(block, (alignment.link_stops, alignment.links))
    return [(span_text(block, span[:2]), span_text(block, span[2:])) for span in spans.tolist()]
