"""Rules as numbers of several artifacts -> one set of rules, every count and margin added up."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from distsim.base.errors import ParameterError
from distsim.corpus.vocabulary import hash_blob
from distsim.grammar.extraction.numeric import NumericRules
from distsim.grammar.kernels.packs import gather_runs
from distsim.kernels.compiled import frozen

MOST_BITEXTS = 64


class JoinedRules:
    """The rules of several artifacts as if their bitexts had been extracted together, in memory.

    Attributes are those of NumericRules. Counts, margins and bitexts are exactly those of one
    extraction; Lex is the mean of the probabilities, each weighed by the rule's count, because
    the word weights of a joined text are not kept. Links are those of the artifact that has the
    rule most often, of the first such.

    Raises:
        ParameterError: they were extracted with different options, or rare rules were left out,
            or they hold more than 64 bitexts.
    """

    def __init__(self, parts: Sequence[NumericRules]) -> None:
        _check(parts)
        self.name = ", ".join(part.name for part in parts)
        self.labels = sorted({label for part in parts for label in part.labels})
        numbers = {label: number for number, label in enumerate(self.labels)}
        of_label = [np.array([numbers[label] for label in part.labels], np.int64) for part in parts]
        foreign, english = _Sides("foreign", parts), _Sides("english", parts)
        self._sides = {"foreign": foreign, "english": english}
        label = np.concatenate([n[part.label] for n, part in zip(of_label, parts, strict=True)])
        f, e = (
            np.concatenate([n[part] for n, part in zip(side.numbers, of_rules, strict=True)])
            for side, of_rules in (
                (foreign, [part.foreign for part in parts]),
                (english, [part.english for part in parts]),
            )
        )
        swaps = np.concatenate([part.swaps for part in parts]).astype(np.int64)
        part_of = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        count = np.concatenate([part.count for part in parts]).astype(np.int64)
        order = np.lexsort((part_of, -count, swaps, e, label, f))
        keys = np.stack([f, label, e, swaps])[:, order]
        new = np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0))[: order.size]
        first = np.flatnonzero(new)
        self.foreign, self.label, self.english = (keys[row, first] for row in range(3))
        self.swaps = keys[3, first].astype(np.uint8)
        self.count = _sums(count[order], first)
        lex = np.exp(-np.concatenate([part.lex for part in parts]))
        weighed = _sums((lex * count[:, None])[order], first) / self.count[:, None]
        self.lex = -np.log(np.maximum(weighed, np.finfo(float).tiny))
        self.bitexts = _sums(_side_by_side([part.bitexts for part in parts])[order], first)
        self.margins = self._margins(parts, (f, e, label, swaps), part_of)[order[first]]
        label_counts = np.zeros(len(self.labels), np.int64)
        for known, part in zip(of_label, parts, strict=True):
            label_counts[known] += part.label_counts
        self.label_counts = label_counts
        starts = _ends([np.diff(part.link_starts) for part in parts])
        chosen = order[first]
        links = np.concatenate([part.links.reshape(-1, 2) for part in parts])
        pairs = np.ascontiguousarray(links).view(np.uint16).reshape(-1)
        kept = gather_runs(frozen(pairs), frozen(starts), frozen(chosen))
        self.links = kept.view(np.uint8).reshape(-1, 2)
        self.link_starts = _ends([np.diff(starts)[chosen]])

    def __len__(self) -> int:
        return int(self.label.size)

    def sides(self, name: str, some: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the texts of all sides or of some, as NumericRules.sides."""
        side = self._sides[name]
        if some is None:
            return side.text, side.starts
        text = gather_runs(frozen(side.text), frozen(side.starts), frozen(some))
        return text, _ends([np.diff(side.starts)[some]])

    def n_gaps(self, some: np.ndarray | None = None) -> np.ndarray:
        """Return how many gaps each English side has, int64; or some of them."""
        english = self._sides["english"]
        found = english.of_first([part.n_gaps for part in english.of])
        return found if some is None else found[some]

    def n_symbols(self, some: np.ndarray | None = None) -> np.ndarray:
        """Return how many symbols each English side has, int64; or some of them."""
        english = self._sides["english"]
        found = english.of_first([part.n_symbols for part in english.of])
        return found if some is None else found[some]

    @staticmethod
    def _margins(
        parts: Sequence[NumericRules],
        keys: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
        part_of: np.ndarray,
    ) -> np.ndarray:
        """Return the margins of each rule, added over all parts, int64[n, 5]."""
        f, e, label, swaps = keys
        single = np.concatenate([part.margins for part in parts]).astype(np.int64)
        out = np.empty(single.shape, np.int64)
        for column, key in enumerate(((f, e, swaps), (f,), (e,), (label, f), (label, e))):
            # each part tells a margin once for every key that it knows
            order = np.lexsort((part_of, *key))
            stacked = np.stack(key)[:, order]
            new = np.append(True, (stacked[:, 1:] != stacked[:, :-1]).any(axis=0))[: order.size]
            again = np.append(False, part_of[order][1:] == part_of[order][:-1])[: order.size]
            values = np.where(again & ~new, 0, single[order, column])
            group = np.cumsum(new) - 1
            out[order, column] = _sums(values, np.flatnonzero(new))[group]
        return out


class _Sides:
    """The distinct sides of several artifacts; numbers: for the sides of each, which they are."""

    def __init__(self, name: str, parts: Sequence[NumericRules]) -> None:
        self.of = parts
        texts, starts = zip(*(part.sides(name) for part in parts), strict=True)
        sizes = [one.size - 1 for one in starts]
        hashes = np.concatenate([hash_blob(*one) for one in zip(texts, starts, strict=True)])
        _, self._first, number = np.unique(hashes, return_index=True, return_inverse=True)
        bounds = np.cumsum([0, *sizes])
        self.numbers = [number[a:b] for a, b in pairwise(bounds.tolist())]
        every = _ends([np.diff(one) for one in starts])
        self.text = gather_runs(frozen(np.concatenate(texts)), frozen(every), frozen(self._first))
        self.starts = _ends([np.diff(every)[self._first]])

    def of_first(self, known: Sequence[Callable[[], np.ndarray]]) -> np.ndarray:
        """Return what functions know of the sides of each artifact, for the distinct sides."""
        return np.concatenate([one() for one in known])[self._first]


def _check(parts: Sequence[NumericRules]) -> None:
    options = parts[0].artifact.parameters["options"]
    for part in parts:
        if part.artifact.parameters["options"] != options:
            raise ParameterError(
                f"{part.name}: was extracted with other options than {parts[0].name}: extract "
                "both alike"
            )
        if options["min_count"] > 1:
            raise ParameterError(
                f"{part.name}: was extracted with min_count {options['min_count']}, so what it "
                "left out cannot be counted: extract it with 1, or all bitexts together"
            )
    n_bitexts = sum(part.bitexts.shape[1] for part in parts)
    if n_bitexts > MOST_BITEXTS:
        raise ParameterError(f"{n_bitexts} bitexts: give at most {MOST_BITEXTS}")


def _sums(values: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return the sums of runs that begin at `first`."""
    return np.add.reduceat(values, first, axis=0) if first.size else values


def _ends(lengths: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.concatenate(lengths), dtype=np.int64)])


def _side_by_side(counts: Sequence[np.ndarray]) -> np.ndarray:
    """Return the counts of each artifact's bitexts in columns of their own, 0 in the others."""
    widths = [one.shape[1] for one in counts]
    out = np.zeros((sum(map(len, counts)), sum(widths)), np.int64)
    row = column = 0
    for one, width in zip(counts, widths, strict=True):
        out[row : row + len(one), column : column + width] = one
        row, column = row + len(one), column + width
    return out


def read_rules(paths: Sequence[str | Path | NumericRules]) -> NumericRules | JoinedRules:
    """Return the rules of one artifact, or of several joined.

    Raises:
        ArtifactError: one cannot be read.
        ParameterError: there is none, or they do not go together.
    """
    if not paths:
        raise ParameterError("no rules: give at least one artifact")
    parts = [one if isinstance(one, NumericRules) else NumericRules(one) for one in paths]
    return parts[0] if len(parts) == 1 else JoinedRules(parts)
