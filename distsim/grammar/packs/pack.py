"""Writes a paraphrase grammar as packs: text by size and type, Parquet, an index.

Thesis 6.2: XXXL has all rules, each smaller size the better half of the next, for each type. They
are ordered by pivot probabilities and sim_rule, or another sum of features. PPDB's own cost
(equation 6.1) agrees less with people: 100 times RarityPenalty outweighs everything else.
"""

import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import get_args

import numpy as np

from distsim import storage
from distsim.base.arguments import Compression, OnError, check_types, one_of, one_path, real_path
from distsim.base.errors import InputError, ParameterError, counted, how_to_install
from distsim.base.parallel import Progress, no_progress
from distsim.bitext.kernels.links import format_links
from distsim.corpus.inflections import DEFAULT, Inflections
from distsim.corpus.lines import read_line_blocks
from distsim.corpus.sources import printable
from distsim.corpus.vocabulary import HashNumbering, VocabularyBuilder
from distsim.grammar.arrays import Spool
from distsim.grammar.block import RuleBlock, feature_names, parse_block, read_features
from distsim.grammar.fields import InvalidLines, require_utf8, with_line_end
from distsim.grammar.formats import find_format
from distsim.grammar.kernels.packs import gather_runs, source_hashes
from distsim.grammar.kernels.phrase_pairs import hash_symbols
from distsim.grammar.kernels.rules import NAMED
from distsim.grammar.packs.columns import (
    SIZES,
    TYPES,
    encode,
    loss_of,
    rule_sizes,
    rule_types,
)
from distsim.grammar.packs.grammar_index import LONG_LINKS
from distsim.grammar.pair_features import (
    KIND_FEATURE,
    ORDER_NEEDS,
    PAIR_KINDS,
    pair_kind,
    rule_order,
)
from distsim.grammar.score_writer import lines_with_features
from distsim.kernels.compiled import frozen
from distsim.storage import open_output
from distsim.storage.folders import exchange, locked, spare_descriptors, sync_folder

MANIFEST = "packs.json"
_OURS = re.compile(r"packs\.json|[a-z]+(-[a-z]+)+\.(gz|zst|parquet)|spool|index|\..+\.unfinished")
_LINES_A_PIECE = 1 << 14
_MOST_FEATURES = 1000
_MOST_LABELS = 1 << 16


@dataclass(frozen=True)
class PackOptions:
    """Options of packing a grammar.

    Arguments:
        weights: what rules are ordered by, feature to weight; the default order where None
            (`rule_order`): pivot probabilities and similarity.
        descending: the largest sum is best, else the smallest; for `weights`.
        missing: value of a feature of `weights` that a rule lacks; an invalid line where None.
        kinds: only rules of these kinds, some of PAIR_KINDS; all where empty.
        inflections: a language's rules of inflection and function words, which tell kinds: a name,
            a file, or `none`.
        sizes: which sizes are written as text, some of SIZES. compression: of text, `gz` or `zst`.
        parquet: write Parquet beside text; needs pyarrow.
        index: write the index that GrammarIndex opens.
        one_byte: of the index: a feature in one byte, with a loss that the report tells (thesis
            6.4.2); order and text stay exact.

    Raises:
        ParameterError: a size, kind or weight is not valid.

    >>> PackOptions({"p(e|f)": 1.0, "sim_ngram": -2.0}, missing=0.0).sizes
    ('S', 'M', 'L', 'XL', 'XXL', 'XXXL')
    """

    weights: Mapping[str, float] | None = None
    _: KW_ONLY
    descending: bool = False
    missing: float | None = None
    kinds: tuple[str, ...] = ()
    inflections: str = DEFAULT
    sizes: tuple[str, ...] = SIZES
    compression: Compression = "gz"
    parquet: bool = False
    index: bool = True
    one_byte: bool = False

    def __post_init__(self) -> None:
        check_types(self)
        for size in self.sizes:
            one_of(size, SIZES, "sizes")
        one_of(self.compression, get_args(Compression), "compression")
        for kind in self.kinds:
            one_of(kind, PAIR_KINDS, "`kinds`")
        if self.weights is not None and not self.weights:
            raise ParameterError("nothing to order by: give the weight of at least one feature")
        for name in self.weights or ():
            require_utf8(name)


@dataclass
class PackReport:
    """Report of packing.

    Attributes:
        faulty: the lines that are no rules.
        read: rules.
        pair_kinds: rules of each kind, by what differs between their sides.
        rules: rules of each size, by type.
        files: bytes of each file.
        losses: of features in one byte: root of the mean squared error, and the largest.

    >>> rule = "[X] ||| the king ||| the queen ||| p(e|f)=1.5 sim_ngram=.4 ||| 0-0 1-1\\n"
    >>> _ = (folder / "scored").write_text(rule)
    >>> by = PackOptions({"p(e|f)": 1.0}, sizes=("S",))
    >>> pack_grammar(folder / "scored", folder / "packs", options=by).lines()[2]
    'S: 0 lexical, 0 one-to-many, 0 many-to-one, 1 phrasal, 0 syntactic'
    """

    faulty: InvalidLines
    read: int = 0
    pair_kinds: dict[str, int] = field(default_factory=dict)
    rules: dict[str, dict[str, int]] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)
    losses: dict[str, tuple[float, float]] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Return the report, a few lines of text."""
        report = [counted(self.read, "rule")]
        self.faulty.add_to(report, are_left_out=True)
        report.append(", ".join(f"{n:,} {kind}" for kind, n in self.pair_kinds.items()))
        for size, counts in self.rules.items():
            report.append(f"{size}: " + ", ".join(f"{n:,} {name}" for name, n in counts.items()))
        report += [
            f"{name} in one byte: error {mean:.5f} (root of the mean square), at most {worst:.5f}"
            for name, (mean, worst) in self.losses.items()
        ]
        return report


def pack_grammar(
    grammar: str | Path,
    path: str | Path,
    *,
    options: PackOptions | None = None,
    on_error: OnError = "stop",
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> PackReport:
    """Write a grammar as packs and return the report: `packs.json`, text, Parquet and `index`.

    Text is in `<size>-<type>.gz` or `.zst`, the best rules first, each size with the smaller ones.
    Written whole or not at all; packs that exist at `path` are replaced.

    Arguments:
        grammar: scored paraphrase rules; `-` for standard input.
        path: the folder to write. options: PackOptions() where None.
        on_error: invalid lines `stop` the work; `keep` and `drop` leave them out.
        jobs: threads, all cores where None; the same bytes for any number.
        progress: called with (name of the step, done, total) from time to time.

    Raises:
        InputError: the grammar cannot be read, a line is invalid and on_error is `stop`, rules
            have neither p(e|f) nor p(f|e) and `weights` is None, or something else is at `folder`.
        ParameterError: Parquet is asked for and pyarrow is not installed.

    >>> rule = "[X] ||| the king ||| the queen ||| p(e|f)=1.5 sim_ngram=.4 ||| 0-0 1-1\\n"
    >>> _ = (folder / "scored").write_text(rule)
    >>> report = pack_grammar(
    ...     folder / "scored", folder / "packs", options=PackOptions({"p(e|f)": 1.0}, sizes=("S",))
    ... )
    >>> sorted(path.name for path in (folder / "packs").iterdir())
    ['index', 'packs.json', 's-phrasal.gz']
    """
    options = options or PackOptions()
    if options.parquet:
        _require_pyarrow()
    target = one_path(path)
    _require_packs_alone(target)
    if not real_path(target).parent.is_dir():
        raise InputError(f"{real_path(target).parent}: no such folder: create it first")
    report = PackReport(InvalidLines(grammar, on_error))
    unfinished = real_path(target).with_name(f".{target.name}.unfinished")
    with spare_descriptors() as spare, locked(unfinished, target, make=True):
        _clear(unfinished)
        try:
            _write(grammar, unfinished, options, report, jobs, progress)
            _require_packs_alone(target)  # hours may have passed
            _put_in_place(unfinished, target)
        except BaseException:
            spare.close()
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
    return report


def _clear(unfinished: Path) -> None:
    """Remove the files that a killed run has left.

    Raises:
        InputError: there are files that distsim did not write.
    """
    left = list(unfinished.iterdir())
    if not all(_OURS.fullmatch(child.name) and not child.is_symlink() for child in left):
        raise InputError(f"{unfinished}: contains files that distsim did not write: move them away")
    for child in left:
        shutil.rmtree(child) if child.is_dir() else child.unlink()


def _require_packs_alone(target: Path) -> None:
    """Check that a folder may be replaced: it is empty, missing, or contains packs alone.

    Raises:
        InputError: it is something else, or contains other files.
    """
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    try:
        named = {MANIFEST, *json.loads((target / MANIFEST).read_bytes())["files"]}
    except (OSError, ValueError, LookupError, TypeError):
        raise InputError(
            f"{target}: is no folder of packs: name another one, or remove it"
        ) from None
    for path in sorted(target.rglob("*")):
        name = str(path.relative_to(target))
        if name not in named and (path.is_symlink() or not path.is_dir()):
            raise InputError(
                f"{path}: is no file of the packs there, which are to be replaced: move it away, "
                "or name another folder"
            )


def _put_in_place(unfinished: Path, target: Path) -> None:
    """Replace old packs by new ones in one step."""
    target = real_path(target)
    if target.exists():
        exchange(unfinished, target)
        shutil.rmtree(unfinished, ignore_errors=True)
    else:
        os.rename(unfinished, target)
    sync_folder(target.parent)


def _write(
    grammar: str | Path,
    folder: Path,
    options: PackOptions,
    report: PackReport,
    jobs: int | None,
    progress: Progress,
) -> None:
    rules = _SpooledRules(folder / "spool", options, report.faulty)
    rules.read(grammar, progress)
    report.read = rules.size
    report.pair_kinds = rules.pair_kinds
    report.faulty.require_lines(rules.size + report.faulty.kept + report.faulty.dropped)
    costs, types = rules.spool.column("cost", np.float64), rules.spool.column("kind", np.uint8)
    descending = options.descending and options.weights is not None
    order = np.lexsort((np.arange(costs.size), -costs if descending else costs))
    sizes = rule_sizes(types, order)
    for number, size in enumerate(SIZES):
        counts = np.bincount(types[sizes <= number], minlength=len(TYPES)).tolist()
        report.rules[size] = dict(zip(TYPES, counts, strict=True))
    for size in options.sizes:
        for number, kind in enumerate(TYPES):
            wanted = order[(types[order] == number) & (sizes[order] <= SIZES.index(size))]
            name = f"{size.lower()}-{kind}"
            if wanted.size:
                with open_output(folder / f"{name}.{options.compression}") as out:
                    rules.spool.write_lines(out, wanted, jobs)
                if options.parquet:
                    rules.write_parquet(folder / f"{name}.parquet", wanted, sizes)
            progress("writing", SIZES.index(size) * len(TYPES) + number + 1, 30)
    if options.index:
        rules.write_index(folder / "index", order, sizes, report, options.one_byte)
    shutil.rmtree(folder / "spool")
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            report.files[str(path.relative_to(folder))] = path.stat().st_size
    manifest = {
        "from": {
            "grammar": printable(Path(grammar).name),
            "rules": report.read,
        },
        "order": {
            "weights": rules.weights,
            "best": "largest" if descending else "smallest",
            **({} if rules.learned is None else {"learned": list(rules.learned.notes)}),
        },
        "rules": report.rules,
        "files": report.files,
    }
    with open_output(folder / MANIFEST) as out:
        out.write(json.dumps(manifest, indent=1, ensure_ascii=False).encode() + b"\n")


class _SpooledRules:
    """Rules of a grammar in a spool: their lines, and columns with a value for each rule."""

    def __init__(self, folder: Path, options: PackOptions, faulty: InvalidLines) -> None:
        folder.mkdir()
        self._keeps_sides = options.parquet
        self._keeps_features = options.parquet or options.index
        self.spool = Spool(folder)
        self.learned = rule_order() if options.weights is None else None
        self.weights: dict[str, float] = dict(options.weights or {})
        if self.learned is not None:  # the smallest sum is best, the largest learned score
            self.weights = {name: -slope for name, slope in self.learned.slopes().items()}
        self.pair_kinds: dict[str, int] = dict.fromkeys(PAIR_KINDS, 0)
        self._kinds, self._language = options.kinds, Inflections.open(options.inflections)
        self._missing, self._faulty = options.missing, faulty
        self._numbering = HashNumbering(first=1)
        self._symbols: list[bytes] = []
        self._labels: dict[bytes, int] = {}
        self._names: list[str] = []
        self.size = 0

    def read(self, grammar: str | Path, progress: Progress) -> None:
        """Append all rules of a grammar."""
        known = None
        for lines in read_line_blocks(grammar):
            known = known or find_format(None, lines.text)
            block = replace(parse_block(lines, known), written=None)  # packs have rules
            self._name_features(block)
            self._add(block)
            progress("reading", self.size, None)

    def _name_features(self, block: RuleBlock) -> None:
        """Add a column for each feature that is new in a block, NaN in the rules before.

        Raises:
            InputError: there are too many.
        """
        added_names: list[str] = []
        if self._keeps_features:
            max_names = _MOST_FEATURES + 1
            names = feature_names(block, np.flatnonzero(block.status == 0), self._names, max_names)
            added_names = [name for name in names.named if name != KIND_FEATURE]
            added_names += map(str, range(min(names.most_bare, max_names)))
        ordering = self.weights if self.learned is None else self.learned.names
        for name in dict.fromkeys([*added_names, *ordering]):
            if name not in self._names:
                self.spool.append(f"feature{len(self._names)}", np.full(self.size, np.nan))
                self._names.append(name)
        if len(self._names) > _MOST_FEATURES:
            raise InputError(
                f"the grammar has more than {_MOST_FEATURES:,} features, too many for an index or "
                "Parquet: pack it without them"
            )

    def _costs(self, block: RuleBlock, values: np.ndarray) -> tuple[np.ndarray, dict[int, str]]:
        """Return the weighted sum of each rule, float64[n], and what is wrong with which lines.

        values: float64[n, features], in the order of the names so far.
        """
        faults = {n: block.fault(n) for n in np.flatnonzero(block.status).tolist()}
        if self.learned is not None:
            needed = [self._names.index(name) for name in ORDER_NEEDS]
            lacking = np.isnan(values[:, needed]).all(axis=1) & (block.status == 0)
            for n in np.flatnonzero(lacking).tolist():
                faults[n] = (
                    f"has neither {' nor '.join(ORDER_NEEDS)} to be ordered by: give `weights`, as "
                    "sim_ngram=1"
                )
            return -self.learned.values(self._names, values), faults
        cost = np.zeros(len(block))
        for name, weight in self.weights.items():
            column = values[:, self._names.index(name)]
            absent = np.isnan(column)
            if self._missing is None:
                for n in np.flatnonzero(absent & (block.status == 0)).tolist():
                    faults.setdefault(n, f"feature {name} is not there or no number")
            cost += weight * np.where(absent, self._missing or 0.0, column)
        return cost, faults

    def _add(self, block: RuleBlock) -> None:
        """Append the rules of a block; invalid lines are counted and left out."""
        values = read_features(block, self._names).values
        cost, faults = self._costs(block, values)
        for n in sorted(faults):
            self._faulty.keeps(block.first_line + n, faults[n])
        fine = np.ones(len(block), bool)
        fine[list(faults)] = False
        pair_kinds = self._pair_kinds(block, fine)
        lines = _lines_with_kinds(block, pair_kinds)
        bounds = np.cumsum([0, *map(len, lines)])
        before = self.spool.append_lines(b"".join(lines), bounds, fine)
        self._add_sides(block, fine, before + bounds[:-1] - block.line_starts[:-1])
        self.spool.append("pair_kind", pair_kinds[fine])
        self._add_links(block, fine)
        self.spool.append("cost", cost[fine])
        for number in range(len(self._names)):
            self.spool.append(f"feature{number}", values[fine, number])
        self.size += int(fine.sum())

    def _pair_kinds(self, block: RuleBlock, fine: np.ndarray) -> np.ndarray:
        """Return the number of each rule's kind, uint8[n]; rules of kinds not wanted leave `fine`.

        fine: bool[n], changed in place.
        """
        numbers = np.zeros(len(block), np.uint8)
        wanted = [PAIR_KINDS.index(kind) for kind in self._kinds or PAIR_KINDS]
        begins, (middles, ends) = block.begins.tolist(), block.token_stops.T.tolist()
        starts, stops, text = block.starts.tolist(), block.stops.tolist(), block.text
        for n in np.flatnonzero(fine).tolist():
            source, target = (
                text[starts[first] : stops[last - 1]].decode().split()
                for first, last in ((begins[n], middles[n]), (middles[n], ends[n]))
            )
            numbers[n] = PAIR_KINDS.index(pair_kind(source, target, self._language))
        counts = np.bincount(numbers[fine], minlength=len(PAIR_KINDS)).tolist()
        for kind, count in zip(PAIR_KINDS, counts, strict=True):
            self.pair_kinds[kind] += count
        fine &= np.isin(numbers, wanted)
        return numbers

    def _add_links(self, block: RuleBlock, fine: np.ndarray) -> None:
        """Append the links of the rules `fine`, bool[n]."""
        begins = np.concatenate([[0], block.link_stops[:-1]])
        lengths = block.link_stops - begins
        self.spool.append("link_length", lengths[fine])
        linked = block.links[fine[np.repeat(np.arange(len(block)), lengths)]]
        self.spool.append("links", linked.astype(np.uint32))

    def _add_sides(self, block: RuleBlock, fine: np.ndarray, shift: np.ndarray) -> None:
        """Append the types, labels and symbols of the rules `fine`, bool[n].

        shift: int64[n], how many bytes further each line is in the spool than in the block.
        """
        data = frozen(np.frombuffer(block.text, np.uint8))
        begins = block.begins
        middles, ends = block.token_stops.T
        gaps = np.concatenate([[0], np.cumsum(block.gaps >= 0)])
        n_gaps = gaps[middles] - gaps[begins]
        kinds = rule_types(middles - begins - n_gaps, ends - middles - n_gaps, n_gaps)
        starts, stops = frozen(block.starts), frozen(block.stops)
        symbols, new = self._numbering.number(hash_symbols(data, starts, stops))
        self._symbols += [block.symbol(number) for number in new.tolist()]
        hashes = source_hashes(data, starts, stops, frozen(block.token_stops))
        owner = np.repeat(np.arange(len(block)), ends - begins)
        is_target = (np.arange(symbols.size) >= middles[owner]) & fine[owner]
        self.spool.append("kind", kinds[fine])
        self.spool.append("hash", hashes[fine])
        self.spool.append("label", self._numbered_labels(block, data, fine)[fine])
        self.spool.append("target_length", (ends - middles)[fine])
        self.spool.append("target", symbols[is_target])
        self.spool.append("source_length", (middles - begins)[fine])
        self.spool.append("source", symbols[~is_target & fine[owner]])
        if self._keeps_sides:
            for name, first, last in (("source", begins, middles), ("target", middles, ends)):
                self.spool.append(f"{name}_start", block.starts[first[fine]] + shift[fine])
                self.spool.append(f"{name}_stop", block.stops[last[fine] - 1] + shift[fine])

    def _numbered_labels(self, block: RuleBlock, data: np.ndarray, fine: np.ndarray) -> np.ndarray:
        """Return the number of each rule's label, uint32[n]; fine: bool[n], which are rules.

        Arguments:
            data: uint8, the block's text.
        """
        starts, stops = frozen(block.labels[fine, 0]), frozen(block.labels[fine, 1])
        _, first, which = np.unique(
            hash_symbols(data, starts, stops), return_index=True, return_inverse=True
        )
        numbers = np.zeros(first.size, np.uint32)
        for distinct in np.argsort(first).tolist():
            at = first[distinct]
            text = block.text[starts[at] : stops[at]][1:-1] or b"X"
            numbers[distinct] = self._labels.setdefault(text, len(self._labels))
        labels = np.zeros(len(block), np.uint32)
        labels[fine] = numbers[which]
        return labels

    def write_parquet(self, path: Path, wanted: np.ndarray, sizes: np.ndarray) -> None:
        """Write rules as Parquet: label, source, target, alignment, size, features.

        Arguments:
            wanted: int64, numbers of rules, in order. sizes: uint8, the smallest pack of each rule.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        texts = ("label", "source", "target", "alignment", "size", "pair_kind")
        names = [name for name in self._names if name not in texts]
        schema = pa.schema([*((name, pa.string()) for name in texts),
                            *((name, pa.float64()) for name in names)])  # fmt: skip
        links = frozen(self.spool.column("links", np.uint32).reshape(-1, 2))
        ends = np.cumsum(self.spool.column("link_length", np.int64), dtype=np.uint64)
        link_starts = frozen(np.append(np.uint64(0), ends))
        labels = [text.decode(errors="replace") for text in self._labels]
        kinds = self.spool.column("pair_kind", np.uint8)
        # Opened here: pyarrow takes no name that is not UTF-8.
        with open(path, "wb") as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
            for k in range(0, wanted.size, _LINES_A_PIECE):
                piece = frozen(wanted[k : k + _LINES_A_PIECE])
                aligned = format_links(links, link_starts, piece).tobytes().decode()
                columns = [
                    [labels[n] for n in self.spool.column("label", np.uint32)[piece].tolist()],
                    self._sides("source", piece), self._sides("target", piece),
                    aligned.split("\n")[:-1], [SIZES[n] for n in sizes[piece].tolist()],
                    [PAIR_KINDS[n] for n in kinds[piece].tolist()],
                ]  # fmt: skip
                arrays = [pa.array(column, pa.string()) for column in columns]
                for name in names:
                    number = self._names.index(name)
                    values = self.spool.column(f"feature{number}", np.float64)[piece]
                    arrays.append(pa.array(values, from_pandas=True))
                writer.write_table(pa.table(arrays, schema=schema))

    def _sides(self, name: str, rules: np.ndarray) -> list[str]:
        """Return the `source` or `target` sides of rules; bytes that are not UTF-8 are replaced."""
        lines = self.spool.column("lines", np.uint8)
        starts = self.spool.column(f"{name}_start", np.int64)[rules].tolist()
        stops = self.spool.column(f"{name}_stop", np.int64)[rules].tolist()
        bounds = zip(starts, stops, strict=True)
        return [lines[start:stop].tobytes().decode(errors="replace") for start, stop in bounds]

    def write_index(
        self, path: Path, order: np.ndarray, sizes: np.ndarray, report: PackReport,
        in_one_byte: bool,
    ) -> None:  # fmt: skip
        """Write the index: rules by the hash of their source side, the best first within one.

        Arguments:
            order: int64[n], rules from the best to the worst. sizes: uint8[n], the smallest pack of
                each. report: its counts of rules are stored, losses added.
            in_one_byte: the features.
        """
        if len(self._labels) > _MOST_LABELS:
            raise InputError(
                f"the grammar has {counted(len(self._labels), 'label')}, an index takes "
                f"{_MOST_LABELS:,}: "
                "pack it without an index"
            )
        hashes = self.spool.column("hash", np.uint64)
        rank = np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size)
        by_source = np.lexsort((rank, hashes))
        distinct, starts = np.unique(np.asarray(hashes)[by_source], return_index=True)
        with storage.create(path, storage.GRAMMAR) as writer:
            writer.parameters = {
                "features": self._names,
                "labels": [text.decode() for text in self._labels],
                "counts": report.rules,
                "quantised": in_one_byte,
            }
            writer.add("sources/hashes", distinct)
            writer.add("sources/rules", np.append(starts, order.size).astype(np.uint64))
            vocabulary = VocabularyBuilder()
            vocabulary.add(self._symbols)
            for name, values in vocabulary.arrays().items():
                writer.add(f"symbols/{name}", values)
            for name, column, length, dtype, which in (
                ("sources/symbols", "source", "source_length", np.uint32, by_source[starts]),
                ("targets/symbols", "target", "target_length", np.uint32, by_source),
                ("links/pairs", "links", "link_length", np.uint64, by_source),
            ):
                lengths = self.spool.column(length, np.int64)
                begins = np.concatenate([[0], np.cumsum(lengths)])
                runs = gather_runs(self.spool.column(column, dtype), frozen(begins), frozen(which))
                if column == "links":
                    pairs = runs.view(np.uint32).reshape(-1, 2)
                    runs = pairs.astype(np.min_scalar_type(int(pairs.max(initial=0))))
                    if runs.dtype != np.uint8:
                        writer.version = LONG_LINKS
                writer.add(name, runs)
                ends = np.concatenate([[0], np.cumsum(lengths[which])]).astype(np.uint64)
                writer.add(name + "/starts", ends)
            writer.add(
                "rules/label", self.spool.column("label", np.uint32)[by_source].astype(np.uint16)
            )
            writer.add("rules/kind", self.spool.column("kind", np.uint8)[by_source])
            writer.add("rules/pair_kind", self.spool.column("pair_kind", np.uint8)[by_source])
            writer.add("rules/size", sizes[by_source])
            writer.add("rules/cost", self.spool.column("cost", np.float64)[by_source])
            for number in range(len(self._names)):
                values = self.spool.column(f"feature{number}", np.float64)[by_source]
                coded = encode(np.asarray(values), in_one_byte)
                if in_one_byte:
                    report.losses |= loss_of(self._names[number], values, coded)
                writer.add(f"features/{number}", coded.codes)
                writer.add(f"features/{number}/table", coded.table)


def _lines_with_kinds(block: RuleBlock, pair_kinds: np.ndarray) -> list[bytes]:
    """Return the lines of a block; those with named features, and no kind yet, get `Kind=...`.

    Arguments:
        pair_kinds: integers[n], the kind of each rule, a place in PAIR_KINDS.
    """
    texts = [f" {KIND_FEATURE}={kind}".encode() for kind in PAIR_KINDS]
    has_names = (block.feature_kinds & NAMED != 0) & (block.status == 0)
    known = f"{KIND_FEATURE}=".encode()
    is_anywhere = known in block.text
    added = [
        texts[number] if named and not (is_anywhere and known in block.feature_text(n)) else b""
        for n, (number, named) in enumerate(
            zip(pair_kinds.tolist(), has_names.tolist(), strict=True)
        )
    ]
    return [with_line_end(line) for line in lines_with_features(block, added).lines]


def _require_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ParameterError(
            f"Parquet needs pyarrow: leave it out, or {how_to_install('parquet')}"
        ) from None
