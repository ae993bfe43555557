"""Looks up targets in a paraphrase grammar, by its rules without gaps."""

from collections.abc import Iterable
from pathlib import Path

from distsim.base.errors import InputError
from distsim.corpus.lines import read_line_blocks, split_lines
from distsim.corpus.sources import file_label
from distsim.grammar.fields import split_fields, tokens
from distsim.grammar.formats import guess_format
from distsim.grammar.formats.layout import GrammarFormat

Words = tuple[str, ...]


class ParaphraseGrammar:
    """Rules by source; only those of the targets that were asked for are kept.

    >>> ParaphraseGrammar({("boy",): [("lad",)]}).of(("boy",))
    [('lad',)]
    """

    def __init__(self, rules: dict[Words, list[Words]]) -> None:
        self._rules = rules

    @classmethod
    def read(cls, path: str | Path, sources: Iterable[Words]) -> "ParaphraseGrammar":
        """Return the rules of a grammar, in any of the formats that `score` reads.

        Arguments:
            path: plain or packed; `-` for standard input.
            sources: the phrases whose rules are kept, in lower case as grammars have them.

        Raises:
            InputError: a line is no rule; the message names it.
        """
        wanted = {" ".join(words).encode(): words for words in sources}
        rules: dict[Words, dict[Words, None]] = {}
        known: GrammarFormat | None = None
        for block in read_line_blocks(path):
            known = known or guess_format(block.text)
            for number, line in enumerate(split_lines(block.text), block.first_line):
                fields = split_fields(line)
                layout = known.layout
                if len(fields) <= max(layout.source, layout.target):
                    raise InputError(
                        f"{file_label(path)}, line {number}: {len(fields)} fields separated by "
                        "|||, too few for a rule: mend the line"
                    )
                source = wanted.get(b" ".join(tokens(fields[layout.source])))
                sides = tokens(fields[layout.target])
                if source is None or any(symbol.startswith(b"[") for symbol in sides):
                    continue
                target = tuple(word.decode(errors="replace") for word in sides)
                if target and target != source:
                    rules.setdefault(source, {})[target] = None
        return cls({source: list(targets) for source, targets in rules.items()})

    def of(self, target: Words) -> list[Words]:
        """Return the target sides of the rules of a phrase, in the order of the file."""
        return self._rules.get(target, [])
