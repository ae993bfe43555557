"""Looks up targets in a paraphrase grammar or a pack, by the rules without gaps."""

from collections.abc import Iterable
from pathlib import Path

from distsim.base.errors import InputError
from distsim.corpus.lines import read_line_blocks, split_lines
from distsim.corpus.numbers import plain_number
from distsim.corpus.sources import file_label
from distsim.grammar.fields import split_fields, tokens
from distsim.grammar.formats import guess_format
from distsim.grammar.formats.layout import GrammarFormat
from distsim.grammar.packs.grammar_index import GrammarIndex

Words = tuple[str, ...]
# -ln p(target | source) and -ln p(source | target), as `pivot` and packs name them.
NAMES = ("p(e|f)", "p(f|e)")
_UNKNOWN = 4.0  # of a rule without them


class ParaphraseGrammar:
    """Rules by source.

    Arguments:
        rules: of each source its targets, each with its -ln p(target | source) and -ln p(source |
            target); or a pack.

    >>> ParaphraseGrammar({("boy",): {("lad",): (1.5, 0.5)}}).of(("boy",))
    {('lad',): (1.5, 0.5)}
    """

    def __init__(self, rules: dict[Words, dict[Words, tuple[float, ...]]] | GrammarIndex) -> None:
        self._rules = rules

    @classmethod
    def read(cls, path: str | Path, sources: Iterable[Words]) -> "ParaphraseGrammar":
        """Return the rules of a pack, or of a grammar in any of the formats that `score` reads.

        Arguments:
            path: a pack's folder, or a file, plain or compressed; `-` for standard input.
            sources: the phrases whose rules are kept of a file, in lower case as grammars have
                them.

        Raises:
            InputError: a line is no rule; the message names it.
            ArtifactError: the folder is no pack.
        """
        if Path(path).is_dir():
            return cls(GrammarIndex.open(path))
        wanted = {" ".join(words).encode(): words for words in sources}
        rules: dict[Words, dict[Words, tuple[float, ...]]] = {}
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
                    features = b"" if len(fields) <= layout.features else fields[layout.features]
                    rules.setdefault(source, {})[target] = _costs(features.decode(errors="replace"))
        return cls(rules)

    def of(self, target: Words) -> dict[Words, tuple[float, ...]]:
        """Return the targets of the rules for a source side, in the rules' order, with both costs.

        Arguments:
            target: the word or phrase to replace.
        """
        if isinstance(self._rules, dict):
            return self._rules.get(target, {})
        found: dict[Words, tuple[float, ...]] = {}
        for rule in self._rules.rules(" ".join(target)):
            words = tuple(rule.target.split(" "))
            if words != target and not any(word.startswith("[") for word in words):
                costs = tuple(rule.features.get(name, _UNKNOWN) for name in NAMES)
                found[words] = tuple(map(min, found.get(words, costs), costs))
        return found

    def of_all(self, targets: Iterable[Words]) -> dict[Words, tuple[float, ...]]:
        """Return the same of several forms of a target, the lowest costs of each.

        Arguments:
            targets: the words of each form.
        """
        found: dict[Words, tuple[float, ...]] = {}
        for target in targets:
            for words, costs in self.of(target).items():
                known = found.get(words, costs)
                found[words] = tuple(map(min, known, costs))
        return found


def _costs(features: str) -> tuple[float, ...]:
    """Return both costs of a rule's features, as text."""
    named = dict(one.rpartition("=")[::2] for one in features.split() if "=" in one)
    values = (plain_number(named.get(name, "")) for name in NAMES)
    return tuple(_UNKNOWN if value is None else value for value in values)
