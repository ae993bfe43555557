"""Checks and conversions of arguments: one or many texts or paths, whole numbers."""

import math
import operator
import os
import re
from collections.abc import Iterable
from dataclasses import fields
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from distsim.base.errors import ParameterError

# Corpora and their lines.
TextFormat = Literal["lines", "text"]
FileFormat = Literal[
    "auto", "text", "lines", "jsonl", "csv", "tsv", "parquet", "html", "conllu", "vertical", "tei",
    "docbook", "alto", "subtitles", "docx",
]  # fmt: skip
InlineTags = Literal["drop", "keep"]
PairDedup = Literal["off", "exact"]
Dedup = Literal["off", "exact", "near", "near-lines"]
FieldType = Literal["int", "float", "date", "text"]  # in the order in which they are inferred
Order = Literal["corpus", "left", "right"]
Matching = Literal["shortest", "longest", "all"]  # as distsim.indexes.kernels.queries has them
Layer = Literal["word", "lemma", "tag", "upos", "relation"]  # what tokens of annotated text have
AssociationMeasure = Literal["log-dice", "llr", "llr-2", "mi", "mi3", "t", "z"]
KeywordMeasure = Literal["llr-2", "llr", "log-ratio"]
RelationSide = Literal["head", "dependent", "either"]  # of the word of a sketch
Tool = Literal["stanza", "spacy"]

# Signatures and what they are compared by.
ModelName = Literal["ngram", "syntax"]
SignPreset = Literal["learned", "thesis", "syntax", "syntax-learned", "vectors"]
SourceKind = Literal["index", "counts", "annotated", "vectors"]
MIN_COUNT, MAX_LENGTH = 5, 4  # of the phrases that are signed, where nothing else is asked
EstimateName = Literal["bits", "restored"]
ExportFormat = Literal["w2v", "w2v-bin", "parquet", "csv"]

# Bitexts and the rules made of them.
Symmetrisation = Literal["grow-diag-final-and", "intersection"]
ExtractPreset = Literal["phrases", "moses", "hiero", "samt", "ppdb"]
RuleFormat = Literal["joshua", "moses"]
# The names and the order of grammar.formats.FORMATS.
GrammarFormatName = Literal["rules", "moses-rules", "phrase-table"]
TargetText = Literal["first", "second"]  # of a bitext's two texts
Labels = Literal["none", "thesis", "slashes", "constituents", "every"]
LabelChoice = Literal["best", "average", "any"]
Unlabelled = Literal["keep", "drop-gappy", "drop"]
Chains = Literal["top", "bottom"]
FeatureNaming = Literal["plain", "ppdb"]  # of rules: ours, or those of the PPDB releases

# Grammars.
OnError = Literal["stop", "keep", "drop"]
Align = Literal["missing", "all", "none"]
Aligner = Literal["learned", "evidence"]
PhrasePairs = Literal["thesis", "reference"]
ScoreNames = Literal["distsim", "ppdb"]
FeatureStyle = Literal["auto", "named", "bare"]
ProbabilityScale = Literal["probability", "negative-log", "log", "negative-log10", "log10"]
Columns = Literal["joint", "conditional"]
Identities = Literal["mark", "drop"]
PivotEstimate = Literal["pivot", "counts", "mean"]
ParaphrasedSide = Literal["english", "other"]
Aggregation = Literal["none", "best", "add", "average", "update"]
AddedScores = Literal["one", "two", "lengths"]
Copies = Literal["rules", "decoder"]
Compression = Literal["gz", "zst"]

PairKind = Literal["content", "inflection", "function"]

# Paraphrases.
ParaphrasePreset = Literal["default", "thorough", "marton"]
# What becomes of opposites of the focal phrase: below the others, left out, or as they rank.
OppositesPlace = Literal["last", "out", "ranked"]
Entailment = Literal["off", "contained", "containing", "both"]

# Weights of a rewriter.
ObjectiveName = Literal["sari", "bleu", "precis"]


_NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_MOST_DIGITS = 18  # of a count: such a one fits 64 bits


def plain_number(text: bytes | str) -> float | None:
    """Return a finite number in plain notation (sign, digits, point, exponent), else None.

    Arguments:
        text: the number as written.

    >>> plain_number(b"-1.5e3"), plain_number("1_0"), plain_number("nan"), plain_number("1e400")
    (-1500.0, None, None, None)
    """
    written = text.encode(errors="replace") if isinstance(text, str) else text
    value = float(written) if _NUMBER.fullmatch(written) else math.inf
    return value if math.isfinite(value) else None


def plain_count(text: str) -> int | None:
    """Return a whole number from 0 that fits 64 bits, else None.

    Arguments:
        text: the number as written.

    >>> plain_count("12"), plain_count("-1"), plain_count("1_0"), plain_count("9" * 30)
    (12, None, None, None)
    """
    digits = text.lstrip("0") or text[:1]
    is_count = text.isascii() and text.isdigit() and len(digits) <= _MOST_DIGITS
    return int(digits) if is_count else None


_SHOWN_CHARACTERS = 40

AnyPath = str | os.PathLike[str]
Paths = AnyPath | Iterable[AnyPath]
Texts = str | Iterable[str]
Words = tuple[str, ...]  # of a phrase


WordIds = tuple[int, ...]
Pair = tuple[str, str]  # of phrases


def word_set(words: str) -> frozenset[str]:
    """Return words that are separated by spaces."""
    return frozenset(words.split())


def one_path(path: Any, argument: str = "path") -> Path:
    """Return an argument that must be one path, as a Path.

    Raises:
        ParameterError: it is no path; the message names the argument, what was given and wanted.

    >>> one_path("some.index").name
    'some.index'
    """
    return Path(_path(path, argument))


def one_or_many_paths(paths: Any, argument: str = "paths") -> list[str | Path]:
    """Return paths, given as one or as any number of them.

    Arguments:
        paths: a path, or paths.

    Raises:
        ParameterError: as one_path; of many, the message names the invalid one.

    >>> one_or_many_paths("a.txt"), one_or_many_paths(["a.txt", "b.txt"])
    (['a.txt'], ['a.txt', 'b.txt'])
    """
    # An opened index or table can be iterated over, too: its words are no paths.
    if _is_one(paths) or isinstance(paths, os.PathLike) or hasattr(paths, "path"):
        return [_path(paths, argument)]
    checked = [
        _path(path, f"{argument}[{number}]")
        for number, path in enumerate(_many(paths, argument, "a path or paths (str or Path)"))
    ]
    if not checked:
        raise ParameterError(f"{argument}: is empty, wanted a path or paths: give at least one")
    return checked


def real_path(path: AnyPath) -> Path:
    """Return a path with its symbolic links followed.

    A path in a loop of links is returned unresolved; opening it fails. (Path.resolve raises
    RuntimeError instead.)

    Arguments:
        path: of a file or folder, which need not exist.
    """
    return Path(os.path.realpath(path))


def check_opened(value: Any, kind: type, owner: object) -> None:
    """Check the type of the artifact that a class is constructed from.

    Arguments:
        value: as given. kind: type of what is opened. owner: the object that is being made.

    Raises:
        ParameterError: it is something else, such as a path: the message says how to open one.
    """
    if not isinstance(value, kind):
        name = type(owner).__name__
        raise ParameterError(f"{name}: is made of {shown(value)}: open one by {name}.open(path)")


def one_text(value: Any, argument: str = "text") -> str:
    """Return an argument that must be one text (str).

    Raises:
        ParameterError: it is no text; the message names the argument, what was given and wanted.

    >>> one_text(7, "phrase")
    Traceback (most recent call last):
    distsim.base.errors.ParameterError: phrase: is 7 (int), wanted a text (str)
    """
    if not isinstance(value, str):
        raise ParameterError(f"{argument}: is {shown(value)}, wanted a text (str)")
    return value


def utf8_phrase(phrase: str) -> bytes:
    """Return a phrase in UTF-8.

    Arguments:
        phrase: words separated by spaces.

    Raises:
        ParameterError: it is no text, or has bytes that were not UTF-8.

    >>> utf8_phrase("the king")
    b'the king'
    """
    try:
        return one_text(phrase, "phrase").encode()
    except UnicodeEncodeError:
        raise ParameterError("a phrase is not valid Unicode: give it in UTF-8") from None


def one_or_many_texts(values: Any, argument: str = "texts") -> list[str]:
    """Return texts, given as one or as any number of them; `isinstance(given, str)` tells which.

    Arguments:
        values: a text, or texts.

    Raises:
        ParameterError: as one_text; of many, the message names the invalid one.

    >>> one_or_many_texts("a b"), one_or_many_texts(("a", "b"))
    (['a b'], ['a', 'b'])
    """
    if _is_one(values):
        return [one_text(values, argument)]
    many = _many(values, argument, "a text or texts (str)")
    if set(map(type, many)) - {str}:
        many = [one_text(text, f"{argument}[{number}]") for number, text in enumerate(many)]
    return many


def whole_number(value: Any, argument: str, least: int, largest: int | None = None) -> int:
    """Return a whole number within its range, of Python's or numpy's type.

    Arguments:
        least, largest: the range, both included; no end where None.

    Raises:
        ParameterError: it is none, or lies outside; the message names the argument.

    >>> whole_number(2.5, "k", 1)
    Traceback (most recent call last):
    distsim.base.errors.ParameterError: k: is 2.5 (float), wanted a whole number (int)
    """
    try:
        number = operator.index(value)
        sound = not isinstance(value, bool)
    except TypeError:
        sound = False
    if not sound:
        raise ParameterError(f"{argument}: is {shown(value)}, wanted a whole number (int)")
    if number < least or (largest is not None and number > largest):
        wanted = f"{least:,} or more" if largest is None else f"{least:,} to {largest:,}"
        raise ParameterError(f"{argument}: is {number}, choose {wanted}")
    return number


def one_of(value: Any, choices: Iterable[Any], argument: str) -> None:
    """Check that an argument is one of those that may be chosen.

    Raises:
        ParameterError: it is none of them; the message names the argument and all of them.

    >>> one_of("gzip", ("raw", "log"), "weights")
    Traceback (most recent call last):
    distsim.base.errors.ParameterError: weights 'gzip': choose one of raw, log
    """
    choices = tuple(choices)
    if value not in choices:
        named = ", ".join(map(str, choices))
        raise ParameterError(f"{argument} {value!r}: choose one of {named}")


def in_range(value: float, argument: str, least: float, largest: float | None = None) -> None:
    """Check that a number lies within its range, ends included.

    Arguments:
        least, largest: the range; no end where None.

    Raises:
        ParameterError: it is no number, lies outside, or is NaN; the message names the argument and
            the range.

    >>> in_range(0, "k", 1)
    Traceback (most recent call last):
    distsim.base.errors.ParameterError: k 0: choose 1 or more
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ParameterError(f"{argument}: is {shown(value)}, wanted a number")
    if not least <= value or (largest is not None and value > largest):
        wanted = f"{least:.15g} or more" if largest is None else f"{least:.15g} to {largest:.15g}"
        raise ParameterError(f"{argument} {value}: choose {wanted}")


def check_types(options: Any) -> None:
    """Check that the fields of a dataclass have the types that they are declared with.

    Numbers, texts, truth values, choices and None are checked, other types are not. A whole number
    is a float, too; of numpy's types those that are Python's are taken.

    Arguments:
        options: the instance.

    Raises:
        ParameterError: a field has another type; the message names it.
    """
    for name, hint in _simple_hints(options.__class__).items():
        value = getattr(options, name)
        if not any(_fits(value, kind) for kind in hint):
            wanted = " or ".join(_TYPE_NAMES[kind] for kind in hint)
            raise ParameterError(f"`{name}`: is {shown(value)}, wanted {wanted}")


_TYPE_NAMES = {
    int: "a whole number", float: "a number", bool: "true or false", str: "a text",
    type(None): "None",
}  # fmt: skip


@cache
def _simple_hints(kind: type) -> dict[str, tuple[type, ...]]:
    """Return the types of the fields of a dataclass whose types are all in `_TYPE_NAMES`."""
    try:
        hints = get_type_hints(kind)
    except NameError:  # a type that only type checkers import
        return {}
    simple = {}
    for field in fields(kind):
        hint = hints[field.name]
        parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        if all(part in _TYPE_NAMES for part in parts):
            simple[field.name] = parts
    return simple


def _fits(value: Any, kind: type) -> bool:
    if kind is int:
        return isinstance(value, Integral) and not isinstance(value, bool)
    if kind is float:
        return isinstance(value, Real) and not isinstance(value, bool)
    return isinstance(value, kind)


def shown(value: Any) -> str:
    """Return a value and its type as a message names them.

    >>> shown(b"bytes"), shown(None)
    ("b'bytes' (bytes)", 'None')
    """
    if value is None:
        return "None"
    text = repr(value).replace("\n", " ")
    if len(text) > _SHOWN_CHARACTERS:
        text = text[: _SHOWN_CHARACTERS - 1] + "…"
    return f"{text} ({type(value).__name__})"


def _is_one(value: Any) -> bool:
    """Return whether a value is one text or one bytes object, although it can be iterated over."""
    return isinstance(value, str | bytes | bytearray | memoryview)


def _path(value: Any, argument: str) -> str | Path:
    if isinstance(value, os.PathLike):
        value = os.fspath(value) if not isinstance(value, Path) else value
    if not isinstance(value, str | Path):
        raise ParameterError(f"{argument}: is {shown(value)}, wanted a path (str or Path)")
    if "\0" in str(value):
        raise ParameterError(f"{argument}: is {shown(value)}: a path cannot hold a NUL")
    if value == "":
        raise ParameterError(f"{argument}: is an empty text, wanted a path")
    return value


def _many(values: Any, argument: str, wanted: str) -> list[Any]:
    try:
        return list(values)
    except TypeError:
        raise ParameterError(f"{argument}: is {shown(values)}, wanted {wanted}") from None
