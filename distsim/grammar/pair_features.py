"""Features of pairs of phrases, such as the sides of a rule: evidence of their similarity.

Of the text alone: `overlap`, `contained`, `letters`, `words_ratio`, `letters_ratio`. Of a table:
`sim_whole`, `rare_overlap`, `frequency`, `frequency_ratio`; of a second one `syn_whole`. Of an
index: `opposite` and the kinds of evidence behind it. Of the vectors behind a table, turned twice
at random: `shared_0`, the product of the two phrases' first numbers, `apart_0`, how far those are
apart, and so on; weights of such products stand for a form that takes any direction of one phrase
with any of the other, of which the directions themselves would be the diagonal. Gaps of rules
count as nothing: what is between them is put together.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import fsum, log

import numpy as np

from distsim.base.arguments import Pair
from distsim.base.errors import ParameterError
from distsim.comparison.measures import Similarity, cosine
from distsim.comparison.opposites.opposites import NOTHING_TOLD, Opposites
from distsim.comparison.table import SignatureTable
from distsim.corpus.escapes import unescape
from distsim.grammar.formats.rules import gap_of

_RARE = 0.001  # a word with this share of the text's tokens weighs half as much as a rare one
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
        if ngram is not None and ngram.estimator.name == "restored":
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
                columns |= self._made(name, texts)
        return np.column_stack([columns[name] for name in names] or [np.empty((len(pairs), 0))])

    def _made(self, name: str, texts: list[Pair]) -> dict[str, np.ndarray]:
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
            for n, one in zip(filled_pairs, said, strict=True):
                evidence[n] = one or NOTHING_TOLD
            return {"opposite": np.array([one.score for one in evidence])} | {
                kind: np.array([getattr(one, kind) for one in evidence])
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

    def _of_counts(self, texts: list[Pair]) -> dict[str, np.ndarray]:
        table = self._table
        assert table is not None
        strength = _strengths(table, [phrase for pair in texts for phrase in pair])
        words = _strengths(table, [w for pair in texts for phrase in pair for w in phrase.split()])
        rows = np.full((len(texts), 3), np.nan)
        for row, (a, b) in zip(rows, texts, strict=True):
            first, second = (_words(table, phrase) for phrase in (a, b))
            every = first | second
            if every:
                weight = {w: _RARE / (_RARE + words(w) / self._n_words) for w in every}
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
    return np.hstack([np.linalg.qr(one)[0] for one in turns]).astype(np.float32)


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
    values[filled] = [np.nan if one is None else one for one in cosines]
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
    shared = len(first & second)
    pieces = Counter(_bigrams(a)), Counter(_bigrams(b))
    both = (pieces[0] & pieces[1]).total()
    return (
        shared / len(first | second),
        float(shared == min(len(first), len(second))),
        2 * both / (pieces[0].total() + pieces[1].total()),
        -abs(log(len(a.split()) / len(b.split()))),
        -abs(log(len(a) / len(b))),
    )


def _bigrams(text: str) -> list[str]:
    marked = f" {text} "
    return [marked[i : i + 2] for i in range(len(marked) - 1)]
