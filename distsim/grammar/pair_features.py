"""Features of paraphrase pairs: their kind, all evidence, and learned weights that order them."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cache, lru_cache
from importlib.resources import files
from math import fsum, log
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np

from distsim.base.arguments import Pair, PairKind, plain_number
from distsim.base.errors import InputError, ParameterError
from distsim.comparison.measures import Similarity, cosine
from distsim.comparison.opposites.opposites import NOTHING_TOLD, Opposites
from distsim.comparison.table import SignatureTable
from distsim.corpus.inflections import Inflections
from distsim.corpus.normaliser import unescape
from distsim.corpus.sources import printable
from distsim.grammar.formats.rules import gap_of

# A rule has a place in the default order if it has one of these.
ORDER_NEEDS = ("p(e|f)", "p(f|e)")
_COLUMNS = ("feature", "weight", "mean", "scale", "low", "high", "missing")
_LOGARITHM = "ln "  # before a feature's name: of its logarithm


class LearnedWeight(NamedTuple):
    """Weight of one feature, which adds weight * (value clipped to low .. high - mean) / scale.

    missing: the amount that it adds where a pair has no such value.
    """

    weight: float
    mean: float
    scale: float
    low: float
    high: float
    missing: float


@dataclass(frozen=True)
class LearnedWeights:
    """Weights of features, by name.

    weights: by the name of the feature; of `ln NAME` its natural logarithm has the weight. notes:
    comments of the file: how they were learned.

    >>> weights = LearnedWeights({"x": LearnedWeight(2.0, 0.5, 1.0, 0.0, 1.0, -1.0)})
    >>> weights.values(["x"], np.array([[9.0], [np.nan]])).tolist()
    [1.0, -1.0]
    """

    weights: Mapping[str, LearnedWeight]
    _: KW_ONLY
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features, without `ln`."""
        return tuple(dict.fromkeys(map(_plain, self.weights)))

    def values(self, names: Sequence[str], matrix: np.ndarray) -> np.ndarray:
        """Return the scores of n pairs, float64[n].

        Arguments:
            names: of the columns of the matrix. matrix: float64[n, len(names)], NaN for no value.
        """
        total = np.zeros(len(matrix))
        for name, weight in self.weights.items():
            column = matrix[:, names.index(_plain(name))]
            if name.startswith(_LOGARITHM):
                with np.errstate(divide="ignore"):
                    column = np.log(np.maximum(column, 0.0))
            part = (
                weight.weight
                * (np.clip(column, weight.low, weight.high) - weight.mean)
                / weight.scale
            )
            total += np.where(np.isnan(column), weight.missing, part)
        return total

    def slopes(self) -> dict[str, float]:
        """Return the slope of each feature: contribution per unit, between its bounds."""
        return {name: weight.weight / weight.scale for name, weight in self.weights.items()}

    def text(self) -> str:
        """Return the text of the weights' file: notes, a header, a line for each feature."""
        lines = [f"# {printable(note)}" for note in self.notes] + ["\t".join(_COLUMNS)]
        for name, weight in self.weights.items():
            lines.append("\t".join([name, *(f"{number:.6g}" for number in weight)]))
        return "\n".join(lines) + "\n"

    @classmethod
    def read(cls, path: str | Path) -> "LearnedWeights":
        """Return the weights of a file.

        Arguments:
            path: of a file that `distsim rank` wrote.

        Raises:
            InputError: it cannot be read, or a line is no weight.
        """
        try:
            text = Path(path).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "is no UTF-8 text"
            raise InputError(
                f"{path}: {reason}: name a file that distsim rank --learn wrote"
            ) from None
        notes, weights = [], {}
        header = False
        for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
            if line.startswith("#"):
                notes.append(line.removeprefix("#").strip())
                continue
            fields = line.split("\t")
            if not header:
                if tuple(fields) != _COLUMNS:
                    raise InputError(
                        f"{path}, line {number}: expected the columns {', '.join(_COLUMNS)}: name "
                        "a file that distsim rank --learn wrote"
                    )
                header = True
                continue
            numbers = [plain_number(field) for field in fields[1:]]
            known_numbers = [number for number in numbers if number is not None]
            if (
                len(fields) != len(_COLUMNS)
                or len(known_numbers) != len(numbers)
                or known_numbers[2] <= 0
            ):
                raise InputError(
                    f"{path}, line {number}: expected a feature and six numbers separated by tabs, "
                    "the scale above 0: mend the line or learn the weights again"
                )
            if fields[0] in weights:
                raise InputError(
                    f"{path}, line {number}: {fields[0]} has a weight already: delete one line"
                )
            weights[fields[0]] = LearnedWeight(*known_numbers)
        if not weights:
            raise InputError(f"{path}: contains no weights: learn them with distsim rank --learn")
        return cls(weights, notes=tuple(notes))


def _plain(name: str) -> str:
    """Return the name of the feature that a weight's name begins `ln` of, or is."""
    return name.removeprefix(_LOGARITHM)


@cache
def rule_order() -> LearnedWeights:
    """Return the weights of the default order: pivot probabilities and sim_rule, as logarithms.

    Features that a rule lacks add nothing; a rule needs one of ORDER_NEEDS.
    """
    return LearnedWeights.read(str(files("distsim") / "data" / "weights" / "order.weights"))


PAIR_KINDS: tuple[PairKind, ...] = get_args(PairKind)
KIND_FEATURE = "Kind"  # of a rule in a text pack
_MOST_PAIRED = 4  # words that differ on one side: more are content


def pair_kind(source: Sequence[str], target: Sequence[str], language: Inflections) -> PairKind:
    """Return how two sides differ: in function words, inflection, or content.

    Words that both sides have are left out, in any order. `function`: all others are function
    words. `inflection`: the others that are not function words are forms of the same base words,
    each with one of the other side. Else `content`. Gaps count as function words.

    Arguments:
        source: symbols of the source side, in lower case as the language's file.
        language: rules of inflection and function words; without any, all pairs of different
            words are `content`.

    >>> english = Inflections.open("english")
    >>> pair_kind(["a", "man"], ["the", "man"], english)
    'function'
    >>> pair_kind(["the", "city"], ["cities"], english), pair_kind(["city"], ["town"], english)
    ('inflection', 'content')
    """
    only_source, only_target = [], list(target)
    for word in source:
        if word in only_target:
            only_target.remove(word)
        else:
            only_source.append(word)
    left = [word for word in only_source if not _is_function(word, language)]
    right = [word for word in only_target if not _is_function(word, language)]
    if not left and not right:
        return "function"
    if len(left) != len(right) or len(left) > _MOST_PAIRED:
        return "content"
    return "inflection" if _all_paired(left, right, language) else "content"


def _is_function(word: str, language: Inflections) -> bool:
    is_gap = word.startswith("[") and word.endswith("]") and len(word) > 1
    return is_gap or word.lower() in language.function_words


def _all_paired(left: list[str], right: list[str], language: Inflections) -> bool:
    """Return whether each word on the left has one of its own on the right, of one base word."""
    free = list(right)
    for word in left:
        other = next(
            (other for other in free if language.are_forms_of_one(word.lower(), other.lower())),
            None,
        )
        if other is None:
            return False
        free.remove(other)
    return True


# A word with this share of the text's tokens weighs half as much as a rare one.
_HALF_WEIGHT_SHARE = 0.001
OF_TEXT = ("overlap", "contained", "letters", "words_ratio", "letters_ratio")
OF_TABLE = ("sim_whole", "rare_overlap", "frequency", "frequency_ratio")
OF_SYNTAX = ("syn_whole",)
OF_OPPOSITES = ("opposite", "joined", "together", "parallel", "negation", "polarity")
_TURNS = 2  # of all directions: with one, weights say less; with more they are slow to learn
_KINDS = ("shared", "apart")
_OF_VECTOR = re.compile(rf"({'|'.join(_KINDS)})_(0|[1-9]\d*)")
_OTHERS = frozenset((*OF_TEXT, *OF_TABLE, *OF_SYNTAX, *OF_OPPOSITES))


def is_of_vectors(name: str) -> bool:
    """Return whether a feature is made of vectors: `shared_0`, `apart_17`."""
    return _OF_VECTOR.fullmatch(name) is not None


def is_feature(name: str) -> bool:
    """Return whether there is a pair feature of this name."""
    return name in _OTHERS or is_of_vectors(name)


class PairFeatures:
    """Features of pairs of phrases, by name.

    Arguments:
        ngram: the table of `sim_whole` (the phrases as wholes, composed of their words where the
            table has them not), frequencies, and of what words are rare; none of these where None.
        syntax: the table of `syn_whole`.
        opposites: scores opposites.

    >>> found = PairFeatures(ngram=table)
    >>> row = found.matrix([("the king", "the queen")])[0]
    >>> dict(zip(found.names, row.round(2).tolist()))["overlap"]
    0.33
    """

    def __init__(
        self,
        *,
        ngram: SignatureTable | None = None,
        syntax: SignatureTable | None = None,
        opposites: Opposites | None = None,
    ) -> None:
        self._opposites = opposites
        self._ngram = None if ngram is None else cosine(ngram)
        self._syntax = None if syntax is None else cosine(syntax)
        self._table = ngram
        self._n_words = 0
        if ngram is not None:
            words = ngram.token_counts() == 1
            self._n_words = max(1, int(ngram.strengths[words].sum(dtype=np.int64)))
        self.groups: dict[str, tuple[str, ...]] = {"text": OF_TEXT}
        if ngram is not None:
            self.groups["table"] = OF_TABLE
        if syntax is not None:
            self.groups["syntax"] = OF_SYNTAX
        if opposites is not None:
            self.groups["opposites"] = OF_OPPOSITES
        self.names = tuple(name for names in self.groups.values() for name in names)
        if ngram is not None and ngram.estimator().estimate == "restored":
            numbers = range(_TURNS * ngram.n_dimensions)
            self.groups["vectors"] = tuple(f"{kind}_{k}" for kind in _KINDS for k in numbers)

    def matrix(self, pairs: Sequence[Pair], *, names: Sequence[str] | None = None) -> np.ndarray:
        """Return the features of n pairs, float64[n, len(names)], NaN where a pair has no value.

        Arguments:
            pairs: sides of rules or phrases, symbols separated by blanks.
            names: of features, all that can be computed where None.

        Raises:
            ParameterError: a feature wants a table that was not given.
        """
        names = self.names if names is None else names
        texts = [(without_gaps(a), without_gaps(b)) for a, b in pairs]
        columns: dict[str, np.ndarray] = {}
        known = {name for group in self.groups.values() for name in group}
        for name in names:
            if name not in known:
                raise ParameterError(f"the feature {name} wants {_source_of(name)}")
            if name not in columns:
                columns |= self._columns_of(name, texts)
        return np.column_stack([columns[name] for name in names] or [np.empty((len(pairs), 0))])

    def _columns_of(self, name: str, texts: list[Pair]) -> dict[str, np.ndarray]:
        if name in OF_TEXT:
            rows = np.array([_of_text(a, b) for a, b in texts]).reshape(-1, len(OF_TEXT))
            return dict(zip(OF_TEXT, rows.T, strict=True))
        if name == "sim_whole" and self._ngram is not None:
            return {name: _estimated(self._ngram, texts)}
        if name == "syn_whole" and self._syntax is not None:
            return {name: _estimated(self._syntax, texts)}
        if name in OF_OPPOSITES and self._opposites is not None:
            evidence = [NOTHING_TOLD] * len(texts)
            filled_pairs = [n for n, (a, b) in enumerate(texts) if a and b]
            said = self._opposites.evidence([texts[n] for n in filled_pairs])
            for n, opposite_evidence in zip(filled_pairs, said, strict=True):
                evidence[n] = opposite_evidence or NOTHING_TOLD
            return {"opposite": np.array([told_evidence.score for told_evidence in evidence])} | {
                kind: np.array([getattr(told_evidence, kind) for told_evidence in evidence])
                for kind in OF_OPPOSITES[1:]
            }
        if is_of_vectors(name) and self._table is not None:
            filled = [n for n, (a, b) in enumerate(texts) if a and b]
            turned, table = _turned(self._table.n_dimensions), self._table
            first, second = (table.vectors([texts[n][k] for n in filled]) @ turned for k in (0, 1))
            columns = np.full((len(texts), len(self.groups["vectors"])), np.nan)
            columns[filled] = np.column_stack([first * second, np.abs(first - second)])
            return dict(zip(self.groups["vectors"], columns.T, strict=True))
        return self._of_counts(texts)

    def _of_counts(self, pairs: list[Pair]) -> dict[str, np.ndarray]:
        table = self._table
        assert table is not None
        strength = _strengths(table, [phrase for pair in pairs for phrase in pair])
        words = _strengths(table, [w for pair in pairs for phrase in pair for w in phrase.split()])
        rows = np.full((len(pairs), 3), np.nan)
        for row, (a, b) in zip(rows, pairs, strict=True):
            first, second = (_words(table, phrase) for phrase in (a, b))
            every = first | second
            if every:
                weight = {
                    w: _HALF_WEIGHT_SHARE / (_HALF_WEIGHT_SHARE + words(w) / self._n_words)
                    for w in every
                }
                shared = fsum(weight[w] for w in first & second)
                row[0] = shared / fsum(weight.values())
            if a and b:
                of_a, of_b = log(0.5 + strength(a)), log(0.5 + strength(b))
                row[1:] = of_b, -abs(of_a - of_b)
        return dict(zip(OF_TABLE[1:], rows.T, strict=True))


@lru_cache(maxsize=2)
def _turned(n_dimensions: int) -> np.ndarray:
    """Return random rotations side by side, float32[n_dimensions, _TURNS * n_dimensions]."""
    drawn = np.random.Generator(np.random.PCG64(1))
    turns = drawn.standard_normal((_TURNS, n_dimensions, n_dimensions))
    return np.hstack([np.linalg.qr(turn)[0] for turn in turns]).astype(np.float32)


def _source_of(name: str) -> str:
    if name in OF_SYNTAX:
        return "a table: name one with `syntax`"
    if name in OF_OPPOSITES:
        return "an index: name one with `opposites`"
    if is_of_vectors(name):
        return "a learned table of so many bits: name one with `ngram`"
    return "a table: name one with `ngram`"


def without_gaps(side: str) -> str:
    """Return the words of a rule's side as plain text.

    Arguments:
        side: symbols separated by spaces.

    >>> without_gaps("take [NP,1] into account &apos;s")
    "take into account 's"
    """
    return " ".join(unescape(symbol) for symbol in side.split() if gap_of(symbol.encode()) is None)


def _estimated(measure: Similarity, texts: list[Pair]) -> np.ndarray:
    values = np.full(len(texts), np.nan)
    filled = [n for n, (a, b) in enumerate(texts) if a and b]
    cosines = measure.similarities([texts[n] for n in filled])
    values[filled] = [np.nan if cosine is None else cosine for cosine in cosines]
    return values


def _strengths(table: SignatureTable, phrases: Sequence[str]) -> Callable[[str], int]:
    distinct = [phrase for phrase in dict.fromkeys(phrases) if phrase]
    rows = table.find(distinct) if distinct else np.empty(0, np.int64)
    counts = np.where(rows < 0, 0, table.strengths[np.maximum(rows, 0)]) if len(table) else rows * 0
    known = dict(zip(distinct, counts.tolist(), strict=True))
    return lambda phrase: known.get(phrase, 0)


def _words(table: SignatureTable, phrase: str) -> set[str]:
    return {table.normaliser.characters(word) for word in phrase.split()}


def _of_text(a: str, b: str) -> tuple[float, ...]:
    nothing = (float("nan"),) * len(OF_TEXT)
    if not a or not b:
        return nothing
    a, b = a.lower(), b.lower()
    first, second = set(a.split()), set(b.split())
    n_shared_words = len(first & second)
    bigrams = Counter(_bigrams(a)), Counter(_bigrams(b))
    n_shared_bigrams = (bigrams[0] & bigrams[1]).total()
    return (
        n_shared_words / len(first | second),
        float(n_shared_words == min(len(first), len(second))),
        2 * n_shared_bigrams / (bigrams[0].total() + bigrams[1].total()),
        -abs(log(len(a.split()) / len(b.split()))),
        -abs(log(len(a) / len(b))),
    )


def _bigrams(text: str) -> list[str]:
    marked = f" {text} "
    return [marked[i : i + 2] for i in range(len(marked) - 1)]
