"""Reads gold sets from files of human judgements.

The kind of a file is recognised by its columns. Tab-, comma- or space-separated:
    scored pairs    phrase, phrase, [further columns,] score     a header line may come first;
                    one that names them (`term1,score,term2`) says where they are
    judged pairs    score, category, phrase, paraphrase, ...     tab-separated
    pair lists      phrase, phrase                               synonyms or antonyms
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Literal

from distsim.base.arguments import Pair, plain_number
from distsim.base.errors import InputError, counted
from distsim.corpus.lines import read_blocks
from distsim.corpus.sources import find_file

GoldLayout = Literal["scored", "judged", "pairs"]
GoldRow = tuple[int, list[str]]  # line number, fields

_MOST_LINES = 1_000_000
_SEPARATORS = ("\t", ",", None)  # None: white space
# What headers call the two phrases and the score; letters and digits alone are compared.
_FIRST_HEADERS = {"term1", "word1", "phrase1", "w1", "term", "word", "phrase", "first", "a"}
_SECOND_HEADERS = {"term2", "word2", "phrase2", "w2", "paraphrase", "second", "b"}
_SCORE_HEADERS = {
    "score", "similarity", "sim", "rating", "mean", "humanmean", "average", "judgement",
    "judgment", "relatedness", "simlex999", "gold", "value",
}  # fmt: skip


@dataclass(frozen=True)
class GoldSet:
    """Pairs of phrases with human judgements.

    name: for reports, the file's. layout: what the file held.
    pairs: as written. scores: one a pair, higher is more similar; none for pair lists.
    groups: pairs of one group are judged together and resampled together.
    columns: where the phrases and the score were, from 1.

    >>> gold = GoldSet("two", "scored", (("king", "queen"), ("king", "hat")), (7.5, 2.0), ("", ""))
    >>> gold.subset("high", [0]).pairs
    (('king', 'queen'),)
    """

    name: str
    layout: GoldLayout
    pairs: tuple[Pair, ...]
    scores: tuple[float, ...]
    groups: tuple[str, ...]
    _: KW_ONLY
    columns: tuple[int, ...] = ()

    def subset(self, part: str, numbers: Sequence[int]) -> "GoldSet":
        """Return the gold set of some of the pairs, named `name:part`.

        Arguments:
            part: the second half of the name.
            numbers: places of the pairs, from 0.
        """
        return GoldSet(
            f"{self.name}:{part}",
            self.layout,
            tuple(self.pairs[n] for n in numbers),
            tuple(self.scores[n] for n in numbers) if self.scores else (),
            tuple(self.groups[n] for n in numbers),
            columns=self.columns,
        )

    def __repr__(self) -> str:
        return f"<GoldSet {self.name}: {len(self.pairs):,} {self.layout} pairs>"


def read_gold(path: str | Path, *, columns: tuple[int, int, int] | None = None) -> GoldSet:
    """Return the gold set in a file.

    Arguments:
        path: plain or compressed; `-` for standard input.
        columns: where the two phrases and the score are, counted from 1; found by
            itself, or by a header that names them, where None.

    Raises:
        InputError: the file cannot be read, a line has not the columns that the first lines
            have, a score is no number; file, line and remedy are named.

    >>> _ = (folder / "gold.tsv").write_text("king\\tqueen\\t8.5\\nking\\tcat\\t1.0\\n")
    >>> gold = read_gold(folder / "gold.tsv")
    >>> gold.pairs, gold.scores
    ((('king', 'queen'), ('king', 'cat')), (8.5, 1.0))
    """
    path = str(path)
    lines = _lines(path)
    separator = _separator(lines, path)
    rows = [(line, _fields(text, separator)) for line, text in lines]
    name = Path(path).name.split(".")[0] if path != "-" else "stdin"
    columns = columns or _named_columns(rows[0][1])
    if columns is not None:
        return _scored(name, path, rows, columns)
    sample = rows[1] if len(rows) > 1 else rows[0]  # the first line may be a header
    fields = sample[1]
    if separator == "\t" and len(fields) >= 4 and plain_number(fields[0]) is not None:
        judged = all(plain_number(field) is None for field in fields[1:4])
        if judged:
            return _judged(name, path, rows)
    if len(fields) == 2:
        pairs = tuple(_pair(path, line, fields, 0, 1) for line, fields in rows)
        return GoldSet(name, "pairs", pairs, (), tuple(a for a, _ in pairs), columns=(1, 2))
    score = next((n for n in range(2, len(fields)) if plain_number(fields[n]) is not None), None)
    if score is None:
        raise InputError(
            f"{path}, line {sample[0]}: no column after the two phrases is a number: "
            "name the `columns` of phrase, phrase and score"
        )
    return _scored(name, path, rows, (1, 2, score + 1))


def _scored(name: str, path: str, rows: list[GoldRow], columns: tuple[int, int, int]) -> GoldSet:
    first, second, score = (column - 1 for column in columns)
    if len(rows) > 1 and _number_at(rows[0][1], score) is None:
        rows = rows[1:]  # a header
    pairs, scores = [], []
    for line, fields in rows:
        pairs.append(_pair(path, line, fields, first, second))
        scores.append(_score(path, line, fields, score))
    groups = tuple(f"{a}\t{b}" for a, b in pairs)
    return GoldSet(name, "scored", tuple(pairs), tuple(scores), groups, columns=columns)


def _named_columns(header: list[str]) -> tuple[int, int, int] | None:
    """Return the columns, from 1, of phrase, phrase and score by a header's names, or None."""
    names = ["".join(c for c in field.lower() if c.isalnum()) for field in header]
    columns = [
        [n for n, name in enumerate(names, 1) if name in wanted]
        for wanted in (_FIRST_HEADERS, _SECOND_HEADERS, _SCORE_HEADERS)
    ]
    if any(len(places) != 1 for places in columns):
        return None
    (first,), (second,), (score,) = columns
    return first, second, score


def _judged(name: str, path: str, rows: list[GoldRow]) -> GoldSet:
    if plain_number(rows[0][1][0]) is None:
        rows = rows[1:]  # a header
    pairs = tuple(_pair(path, line, fields, 2, 3) for line, fields in rows)
    scores = tuple(_score(path, line, fields, 0) for line, fields in rows)
    return GoldSet(name, "judged", pairs, scores, tuple(a for a, _ in pairs), columns=(3, 4, 1))


def _lines(path: str) -> list[tuple[int, str]]:
    lines: list[tuple[int, str]] = []
    for block in read_blocks([find_file(path, "a file of judged pairs")]):
        for number, text in enumerate(block.lines(), block.first_line):
            if text.strip() and not text.startswith("#"):
                lines.append((number, text.rstrip("\r")))
        if len(lines) > _MOST_LINES:
            raise InputError(
                f"{path}: has more than {_MOST_LINES:,} lines: is it a gold set? give a sample"
            )
    if not lines:
        raise InputError(f"{path}: holds no pairs: name a file of judged pairs")
    return lines


def _separator(lines: list[tuple[int, str]], path: str) -> str | None:
    """Return the first separator that cuts the first lines into two columns or more."""

    def cuts(separator: str | None, text: str) -> bool:
        return len(_fields(text, separator)) >= 2

    sample = lines[:2]
    for separator in _SEPARATORS:
        if all(cuts(separator, text) for _, text in sample):
            return separator
    uncut = (
        line for line, text in sample if not any(cuts(separator, text) for separator in _SEPARATORS)
    )
    raise InputError(
        f"{path}, line {next(uncut, sample[0][0])}: one column, wanted two phrases and a score "
        "separated by tabs, commas or spaces: add the columns"
    )


def _fields(text: str, separator: str | None) -> list[str]:
    if separator == ",":
        import csv

        try:
            return [field.strip() for field in next(csv.reader([text]), [])]
        except csv.Error:  # a carriage return inside, or a field without end
            return []
    return [field.strip() for field in text.split(separator)]


def _pair(path: str, line: int, fields: list[str], first: int, second: int) -> Pair:
    if max(first, second) >= len(fields):
        raise InputError(
            f"{path}, line {line}: {counted(len(fields), 'column')}, wanted "
            f"{max(first, second) + 1}: "
            "give every line the columns of the first"
        )
    if not fields[first] or not fields[second]:
        raise InputError(f"{path}, line {line}: a phrase is empty: fill it in or drop the line")
    return fields[first], fields[second]


def _score(path: str, line: int, fields: list[str], column: int) -> float:
    value = _number_at(fields, column)
    if value is None:
        shown_value = repr(fields[column]) if column < len(fields) else "nothing"
        raise InputError(
            f"{path}, line {line}: column {column + 1} has {shown_value}, wanted a score: mend the "
            "line or name the `columns` of phrase, phrase and score"
        )
    return value


def _number_at(fields: list[str], column: int) -> float | None:
    return plain_number(fields[column]) if column < len(fields) else None
