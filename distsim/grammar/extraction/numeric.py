"""Rules as an artifact of numbers, which pivots without text in between."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from distsim import storage
from distsim.base.parallel import Run, ordered_map
from distsim.grammar.extraction.counted_rules import CountedRules, RuleChunk
from distsim.grammar.extraction.features import lexical_weights
from distsim.grammar.extraction.instances import ExtractOptions
from distsim.grammar.extraction.linked_text import LinkedText, label_text
from distsim.grammar.kernels.packs import gather_runs
from distsim.grammar.kernels.rule_counts import number_new, rule_links
from distsim.grammar.kernels.rule_text import (
    C_E,
    C_F,
    C_FE,
    C_LE,
    C_LF,
    C,
    WordCosts,
    lexical_costs,
    place_symbols,
    side_texts,
)
from distsim.grammar.kernels.rules import are_links_sound, are_rules_sound, are_symbols_sound
from distsim.kernels.compiled import frozen
from distsim.storage import ArtifactWriter, StoredArray, start_array
from distsim.storage.reading import Declaration

MARGINS = (C_FE, C_F, C_E, C_LF, C_LE)


_HIGHEST_COST = 1e5  # of lexical probabilities: a thousand words, none of them ever seen


class RulesWriter:
    """Writer of an artifact of kind `rules`, in the order of their foreign sides.

    Arguments:
        writer: of the artifact.
        text: the linked text.
        costs: of the text's tokens.
        options: of the extraction.
        counted: the rules with their margins.
    """

    def __init__(
        self,
        writer: ArtifactWriter,
        text: LinkedText,
        costs: WordCosts,
        options: ExtractOptions,
        counted: CountedRules,
    ) -> None:
        self._text, self._costs, self._counted = text, costs, counted
        self._how = int(options.settings(text.has_trees)[6])
        self._writer = writer
        n_bitexts = text.bounds.size - 1
        self._streams = {
            name: writer.stream(name, dtype, width)
            for name, dtype, width in (
                ("rules/label", np.uint32, None), ("rules/foreign", np.uint32, None),
                ("rules/english", np.uint32, None), ("rules/swaps", np.uint8, None),
                ("rules/count", np.uint32, None), ("rules/margins", np.uint32, len(MARGINS)),
                ("rules/lex", np.float64, 2), ("rules/bitexts", np.uint32, n_bitexts),
                ("links/pairs", np.uint8, 2), ("links/lengths", np.uint16, None),
                ("foreign/symbols", np.uint32, None), ("foreign/lengths", np.uint8, None),
                ("english/symbols", np.uint32, None), ("english/lengths", np.uint8, None),
            )
        }  # fmt: skip
        self._n_foreign = 0
        self._last_foreign = -1
        self._english = np.full(counted.n_english, -1, np.int64)
        self._n_english = 0
        writer.parameters = {
            "options": asdict(options),
            "bitexts": n_bitexts,
            "sentence_pairs": len(text),
        }
        writer.add("labels/codes", counted.codes)
        writer.add("labels/counts", counted.label_counts)
        names = [label_text(code, text.labels).encode() for code in counted.codes.tolist()]
        writer.add("labels/text", np.frombuffer(b"".join(names), np.uint8))
        writer.add("labels/lengths", np.array([len(name) for name in names], np.uint32))
        for name, side in (("foreign", text.foreign), ("english", text.english)):
            writer.add(f"{name}/words/text", side.words.text)
            writer.add(f"{name}/words/offsets", side.words.offsets)

    def columns(self, rules: RuleChunk) -> dict[str, np.ndarray]:
        """Return the columns of rules that need no other rules, by name; thread-safe."""
        text = self._text
        places, gaps = frozen(rules.places), frozen(rules.gaps)
        pairs, n_links = rule_links(places, gaps, text.links, text.link_starts)
        return {
            "rules/label": np.searchsorted(self._counted.codes, rules.labels),
            "rules/swaps": rules.swaps,
            "rules/count": rules.counts[:, C],
            "rules/margins": rules.counts[:, MARGINS],
            "rules/lex": lexical_costs(places, gaps, text.arrays, self._costs),
            "rules/bitexts": rules.by_bitext,
            "links/pairs": pairs,
            "links/lengths": n_links,
        }

    def add(self, rules: RuleChunk, columns: dict[str, np.ndarray]) -> None:
        """Append rules to the stored grammar, in ascending order of foreign sides.

        Arguments:
            columns: arrays with one value a rule, by name, as `columns` returns them.
        """
        if not len(rules):
            return
        for name, values in columns.items():
            self._streams[name].append(values)
        is_first = np.diff(rules.foreign.astype(np.int64), prepend=self._last_foreign) != 0
        self._streams["rules/foreign"].append(self._n_foreign - 1 + np.cumsum(is_first))
        self._n_foreign += int(is_first.sum())
        self._last_foreign = int(rules.foreign[-1])
        self._add_sides("foreign", rules, np.flatnonzero(is_first), 0)
        first = number_new(rules.english, self._english, self._n_english)
        self._n_english += first.size
        self._streams["rules/english"].append(self._english[rules.english])
        self._add_sides("english", rules, first, 2)

    def _add_sides(self, name: str, rules: RuleChunk, which: np.ndarray, column: int) -> None:
        symbols, lengths = place_symbols(
            frozen(rules.places[which]), frozen(rules.gaps[which]), column, self._text.arrays,
            self._how, self._counted.codes,
        )  # fmt: skip
        self._streams[f"{name}/symbols"].append(symbols)
        self._streams[f"{name}/lengths"].append(lengths)


class NumericRules:
    """The rules of an artifact of kind `rules`, mapped; n of them in the order of foreign sides.

    Attributes:
        label, foreign, english: uint32[n], which label and sides. swaps: uint8[n], whether the
            English side has its two gaps the other way round. count: uint32[n].
        margins: uint32[n, 5]: c(f, e), c(f), c(e), c(label, f), c(label, e).
        lex: float64[n, 2], Lex(e|f) and Lex(f|e) as costs.
        bitexts: uint32[n, b], the count in each bitext.
        labels: the labels' texts; label_counts: int64, c(label).

    Arguments:
        path: of the artifact.
    """

    ARRAYS: ClassVar[Declaration] = {
        "rules/label": StoredArray(np.uint32, "rules"),
        "rules/foreign": StoredArray(np.uint32, "rules"),
        "rules/english": StoredArray(np.uint32, "rules"),
        "rules/swaps": StoredArray(np.uint8, "rules"),
        "rules/count": StoredArray(np.uint32, "rules"),
        "rules/margins": StoredArray(np.uint32, "rules", columns=len(MARGINS)),
        "rules/lex": StoredArray(np.float64, "rules", columns=2),
        "rules/bitexts": StoredArray(np.uint32, "rules", columns="bitexts"),
        "links/lengths": StoredArray(np.uint16, "rules"),
        "links/pairs": StoredArray(np.uint8, columns=2),
        "labels/counts": StoredArray(np.int64, "labels", least=1, at_open=True),
        "labels/lengths": StoredArray(np.uint32, "labels"),
        "labels/text": StoredArray(np.uint8),
        **{
            f"{side}/{name}": of
            for side in ("foreign", "english")
            for name, of in (
                ("lengths", StoredArray(np.uint8, f"{side} sides")),
                ("symbols", StoredArray(np.uint32)),
                ("words/text", StoredArray(np.uint8)),
                ("words/offsets", start_array(f"{side} words", f"{side}/words/text", np.int64)),
            )
        },
    }

    def __init__(self, path: str | Path) -> None:
        self.artifact = storage.Artifact(path, storage.RULES)
        self.name = str(self.artifact.path)
        arrays = self.artifact.arrays(self.ARRAYS)
        self.label, self.foreign = arrays["rules/label"], arrays["rules/foreign"]
        self.english, self.swaps = arrays["rules/english"], arrays["rules/swaps"]
        self.count, self.margins = arrays["rules/count"], arrays["rules/margins"]
        self.lex, self.bitexts = arrays["rules/lex"], arrays["rules/bitexts"]
        self.links, self.link_starts = arrays["links/pairs"], _starts(arrays["links/lengths"])
        self.label_counts = arrays["labels/counts"]
        self._side_starts: dict[str, np.ndarray] = {}
        text = arrays["labels/text"].tobytes()
        stops = np.cumsum(arrays["labels/lengths"]).tolist()
        self.labels = [text[a:b] for a, b in zip([0, *stops], stops, strict=False)]
        self._check(len(text), stops)

    def _check(self, n_text: int, stops: list[int]) -> None:
        """Check that the arrays agree with each other, since kernels do not check indices.

        Raises:
            ArtifactError: they contradict each other.
        """
        array = self.artifact.array
        n_labels, n_links = len(self.labels), array("links/lengths", np.uint16)
        lengths = {name: array(f"{name}/lengths", np.uint8) for name in ("foreign", "english")}
        sound = stops[-1:] == [n_text] or n_text == len(stops) == 0
        sound = sound and int(self.link_starts[-1]) == len(self.links)
        sound = sound and are_rules_sound(
            frozen(self.label), frozen(self.foreign), frozen(self.english), frozen(self.swaps),
            frozen(self.count), frozen(self.margins), frozen(self.lex), _HIGHEST_COST, n_labels,
            lengths["foreign"].size, lengths["english"].size,
        )  # fmt: skip
        for name, of_sides in lengths.items():
            symbols, offsets = (
                array(f"{name}/symbols", np.uint32),
                array(f"{name}/words/offsets", np.int64),
            )
            n_words = offsets.size - 1
            sound = sound and int(of_sides.sum(dtype=np.int64)) == symbols.size
            sound = sound and are_symbols_sound(frozen(symbols), n_words, n_labels)
        sound = sound and are_links_sound(
            frozen(self.links), frozen(n_links), frozen(self.foreign), frozen(self.english),
            frozen(lengths["foreign"]), frozen(lengths["english"]),
        )  # fmt: skip
        if not sound:
            raise self.artifact.contradiction("numbers that lead out of another array")

    def __len__(self) -> int:
        return self.label.size

    def sides(self, name: str, numbers: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the texts of sides end to end, uint8, and where each begins and ends, int64.

        Gaps are numbered along each side.

        Arguments:
            name: `foreign` or `english`. numbers: int64, of sides; all where None.
        """
        array = self.artifact.array
        lengths = [len(label) for label in self.labels]
        symbols, starts = self._symbols(name, numbers)
        texts: tuple[np.ndarray, np.ndarray] = side_texts(
            symbols, starts,
            frozen(array(f"{name}/words/text", np.uint8)),
            frozen(array(f"{name}/words/offsets", np.int64)),
            frozen(np.frombuffer(b"".join(self.labels), np.uint8)),
            frozen(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)),
        )  # fmt: skip
        return texts

    def n_gaps(self, name: str, numbers: np.ndarray) -> np.ndarray:
        """Return the number of gaps of some sides, int64[n].

        Arguments:
            name: `foreign` or `english`. numbers: int64[n], of sides.
        """
        symbols, starts = self._symbols(name, numbers)
        gaps = np.concatenate([[0], np.cumsum(symbols >> np.uint32(31), dtype=np.int64)])
        n_gaps: np.ndarray = gaps[starts[1:]] - gaps[starts[:-1]]
        return n_gaps

    def n_symbols(self, name: str, numbers: np.ndarray) -> np.ndarray:
        """Return the number of symbols of some sides, int64[n].

        Arguments:
            name: `foreign` or `english`. numbers: int64[n], of sides.
        """
        lengths: np.ndarray = self.artifact.array(f"{name}/lengths", np.uint8)[numbers]
        return lengths.astype(np.int64)

    def _symbols(self, name: str, numbers: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the symbols of sides end to end, uint32, and where each begins, int64.

        Arguments:
            name: `foreign` or `english`.
            numbers: int64, of sides; all where None.
        """
        symbols = frozen(self.artifact.array(f"{name}/symbols", np.uint32))
        lengths = self.artifact.array(f"{name}/lengths", np.uint8)
        if name not in self._side_starts:
            self._side_starts[name] = frozen(_starts(lengths))
        starts = self._side_starts[name]
        if numbers is None:
            return symbols, starts
        kept = gather_runs(symbols, starts, frozen(numbers))
        return frozen(kept), frozen(_starts(lengths[numbers]))


def _starts(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def write_numeric(
    path: str | Path,
    text: LinkedText,
    options: ExtractOptions,
    counted: CountedRules,
    chunks: Iterator[tuple[RuleChunk, int]],
    run: Run,
) -> tuple[int, int]:
    """Write rules as an artifact; return the numbers of rules written and read.

    chunks: of frequent rules, each with the number of rules before rare ones were left out.

    Arguments:
        run: threads and progress.
    """
    costs = lexical_weights(text)
    written = read = 0
    with storage.create(path, storage.RULES) as writer:
        rules_writer = RulesWriter(writer, text, costs, options, counted)

        def columns(numbered_chunk: tuple[RuleChunk, int]) -> tuple[RuleChunk, dict[str, Any], int]:
            return (
                numbered_chunk[0],
                rules_writer.columns(numbered_chunk[0]) if len(numbered_chunk[0]) else {},
                numbered_chunk[1],
            )

        for rules, values, n_read in ordered_map(columns, chunks, run.jobs):
            rules_writer.add(rules, values)
            written += len(rules)
            read += n_read
            run.progress("writing", read, counted.size)
    return written, read
