"""Features of extracted rules: PPDB's by name, and those of Moses' phrase tables."""

import heapq
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from distsim.base.arguments import FeatureNaming, TargetText, one_of
from distsim.base.errors import ParameterError
from distsim.corpus.normaliser import escape_separators
from distsim.grammar.arrays import texts_of
from distsim.grammar.extraction.counted_rules import RuleChunk
from distsim.grammar.extraction.instances import ExtractOptions
from distsim.grammar.extraction.linked_text import LinkedText
from distsim.grammar.kernels.extraction import LinkedSide
from distsim.grammar.kernels.packs import TextColumn
from distsim.grammar.kernels.rule_text import (
    BITEXTS,
    C_E,
    C_F,
    LEX_EF,
    LEX_FE,
    C,
    WordCosts,
    rule_features,
    word_costs,
)
from distsim.kernels.compiled import frozen

FEATURES: tuple[str, ...] = (
    "Abstract", "Adjacent", "Bitexts", "CharCountDiff", "CharLogCR", "ContainsX", "GlueRule",
    "Identity", "Lex(e|f)", "Lex(f|e)", "Lexical", "LogCount", "Monotonic", "PhrasePenalty",
    "RarityPenalty", "SourceTerminalsButNoTarget", "SourceWords", "TargetTerminalsButNoSource",
    "TargetWords", "UnalignedSource", "UnalignedTarget", "WordCountDiff", "WordLenDiff",
    "WordLogCR", "p(LHS|e)", "p(LHS|f)", "p(e|LHS)", "p(e|f)", "p(e|f,LHS)", "p(f|LHS)", "p(f|e)",
    "p(f|e,LHS)",
)  # fmt: skip


@dataclass(frozen=True)
class FeatureChoice:
    """Choice of the features that are written, and of their names.

    Arguments:
        chosen: some of FEATURES, all of them where None (Bitexts only where there are several).
        names: `plain`; `ppdb` swaps the names of Lex(e|f) and Lex(f|e), as PPDB's releases have
            them.
    """

    chosen: tuple[str, ...] | None = None
    names: FeatureNaming = "plain"

    def __post_init__(self) -> None:
        one_of(self.names, ("plain", "ppdb"), "names")
        for name in self.chosen or ():
            one_of(name, FEATURES, "feature")

    def columns(self, n_bitexts: int) -> np.ndarray:
        """Return the numbers of the feature columns to write, in order, int64.

        Arguments:
            n_bitexts: number of bitexts; the feature Bitexts is written for two or more.
        """
        order = list(range(len(FEATURES)))
        if self.names == "ppdb":
            order[LEX_EF], order[LEX_FE] = LEX_FE, LEX_EF
        wanted = [name in self.chosen for name in FEATURES] if self.chosen is not None else None
        kept = [
            column
            for place, column in enumerate(order)
            if (wanted[place] if wanted is not None else place != BITEXTS or n_bitexts > 1)
        ]
        return np.array(kept, np.int64)

    def texts(self) -> TextColumn:
        """Return `name=` of every column, as kernels take texts."""
        names = list(FEATURES)
        if self.names == "ppdb":
            names[LEX_EF], names[LEX_FE] = FEATURES[LEX_FE], FEATURES[LEX_EF]
        return texts_of([f"{name}=".encode() for name in names])


def lexical_weights(text: LinkedText, as_moses: bool = False) -> WordCosts:
    """Return the lexical weights of a text's tokens; words without links are linked to NULL.

    Arguments:
        as_moses: w(word|other) is a share of all occurrences of `other`, where it has no link, too
            (Koehn 2010, 5.3.3), rather than of its links.
    """
    n_links = np.diff(text.link_starts)
    f_at, e_at = (
        np.repeat(side.starts[:-1], n_links) + text.links[:, column]
        for column, side in enumerate((text.foreign, text.english))
    )
    f_word, e_word = text.foreign.tokens[f_at], text.english.tokens[e_at]
    keys = f_word.astype(np.uint64) << np.uint64(32) | e_word.astype(np.uint64)
    _, pairs, counts = np.unique(keys, return_inverse=True, return_counts=True)
    together = counts[pairs]
    n_e, n_f = np.bincount(e_word), np.bincount(f_word)
    if as_moses:
        n_e = n_e + _unlinked(text.english, e_at)[: n_e.size]
        n_f = n_f + _unlinked(text.foreign, f_at)[: n_f.size]
    f_costs, f_unlinked = _costs(text.foreign, f_at, together / n_e[e_word])
    e_costs, e_unlinked = _costs(text.english, e_at, together / n_f[f_word])
    return WordCosts(f_costs, e_costs, f_unlinked, e_unlinked)


def features_of(
    rules: RuleChunk,
    text: LinkedText,
    costs: WordCosts,
    options: ExtractOptions,
    choice: FeatureChoice,
) -> np.ndarray:
    """Return all features of rules, float64[n, 32]; probabilities as -ln.

    Arguments:
        rules: n of them with their counts.
        costs: of the text's tokens.
    """
    features: np.ndarray = rule_features(
        frozen(rules.labels), frozen(rules.places), frozen(rules.gaps), frozen(rules.counts),
        frozen(rules.by_bitext), text.arrays, costs, int(options.settings(text.has_trees)[6]),
    )  # fmt: skip
    return features


def _costs(
    side: LinkedSide, linked: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return -ln of the weight of each token of a side, and whether it has no link.

    w(word|NULL) is the word's share of the words without links.

    Arguments:
        linked: int64, the token of each link, and weights: float64, its w(word|linked word).
    """
    n_links = np.bincount(linked, minlength=side.tokens.size)
    is_free = n_links == 0
    null = _unlinked(side, linked)
    sums = np.bincount(linked, weights, side.tokens.size)
    costs = word_costs(side.tokens, sums, n_links, null / max(1, null.sum()))
    return frozen(costs), frozen(is_free)


def _unlinked(side: LinkedSide, linked: np.ndarray) -> np.ndarray:
    """Return how often each word of a side has no link, int64[n_words].

    Arguments:
        linked: int64, the token of each link.
    """
    is_free = np.bincount(linked, minlength=side.tokens.size) == 0
    return np.bincount(side.tokens[is_free], minlength=side.words.lengths.size)


_FLOOR = 1e-7  # of a lexical weight that is written
_RUN_BYTES_READ = 1 << 16  # bytes read of each sorted run


def require_phrases(options: ExtractOptions) -> None:
    """Check that extracted rules are phrase pairs without gaps and labels.

    Arguments:
        options: of the extraction.

    Raises:
        ParameterError: they are not.
    """
    if options.most_gaps or options.labels != "none":
        raise ParameterError(
            "a Moses phrase table has neither gaps nor labels: choose the preset moses or phrases, "
            "or `most_gaps` 0 and `labels` none"
        )


def moses_lines(
    lines: bytes, features: np.ndarray, counts: np.ndarray, target: TargetText
) -> list[bytes]:
    """Return the lines of rules in a Moses phrase table.

    Arguments:
        lines: of the rules, without features: `[X] ||| other ||| first |||  ||| links`.
        features: float64[n, 32], by features_of. counts: int64[n, 7], columns as in
            kernels.rule_text.
        target: the side of the bitexts that is the target.
    """
    other, first = (C_F, LEX_FE), (C_E, LEX_EF)
    (source_count, source_lex), (target_count, target_lex) = (
        (other, first) if target == "first" else (first, other)
    )
    joint, n_source, n_target = (counts[:, k] for k in (C, source_count, target_count))
    lexical = np.maximum(np.exp(-features[:, [source_lex, target_lex]]), _FLOOR)
    columns = zip(
        (joint / n_target).tolist(), lexical[:, 0].tolist(), (joint / n_source).tolist(),
        lexical[:, 1].tolist(), n_target.tolist(), n_source.tolist(), joint.tolist(), strict=True,
    )  # fmt: skip
    out = []
    for line, (p_source, lex_source, p_target, lex_target, *numbers) in zip(
        lines.splitlines(), columns, strict=True
    ):
        _, text_of_other, text_of_first, _, links = line.split(b" ||| ")
        sides = [escape_separators(text_of_other), escape_separators(text_of_first)]
        if target != "first":
            sides.reverse()
            pairs = sorted(tuple(map(int, link.split(b"-")))[::-1] for link in links.split())
            links = b" ".join(b"%d-%d" % pair for pair in pairs)
        scores = f"{p_source:.6g} {lex_source:.6g} {p_target:.6g} {lex_target:.6g}".encode()
        counted = b" ".join(b"%d" % number for number in numbers)
        out.append(b" ||| ".join([*sides, scores, links, counted]) + b" |||\n")
    return out


def sorted_lines(blocks: Iterable[list[bytes]], folder: Path, memory: int) -> Iterator[bytes]:
    """Yield all lines in the order of their bytes.

    Arguments:
        blocks: lists of lines.
        folder: for sorted runs, files of what memory does not hold.
        memory: bytes of lines that are held.
    """
    held: list[bytes] = []
    size = 0
    paths: list[Path] = []
    for block in blocks:
        held += block
        size += sum(map(len, block)) + 64 * len(block)
        if size > memory:
            paths.append(folder / f"run{len(paths)}")
            paths[-1].write_bytes(b"".join(sorted(held)))
            held, size = [], 0
    held.sort()
    with ExitStack() as opened:
        runs = [opened.enter_context(open(path, "rb", buffering=_RUN_BYTES_READ)) for path in paths]
        yield from heapq.merge(*runs, held)
