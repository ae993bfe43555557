"""Tables with kept sums -> the table of all their text together."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from distsim import storage
from distsim.contexts.features import FeatureSpace
from distsim.errors import IncompatibleError, ParameterError
from distsim.indexes.build import WordsChecksum
from distsim.parallel import Progress, no_progress
from distsim.signatures.gaussian import POOL_SIZE, GaussianProjection
from distsim.signatures.recipe import Recipe, require_same
from distsim.signatures.sign import Selection, table_parameters
from distsim.signatures.signer import PhraseBatch, Signer
from distsim.signatures.stream import write_table
from distsim.signatures.sums import KeptSums, keeping_sums, merged_blocks
from distsim.signatures.table import SignatureTable

# What is held at a time, of all tables together.
_ROWS = 1 << 16
_TERMS = 1 << 19


def merge_tables(
    tables: Sequence[str | Path],
    path: str | Path,
    min_count: int | None = None,
    keep_sums: bool = False,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> SignatureTable:
    """Add the kept sums of tables up into the table `path` and open it.

    The result is the table of all the text, bit for bit; the memory it takes does not grow
    with the tables.

    Arguments:
        tables: folders of tables, or of indexes signed in place, signed with kept sums.
        min_count: phrases that occur less often in all are left out; as the tables were
            signed where None.
        keep_sums: keep the added sums in the new table, so that it can be merged again.

    Raises:
        ArtifactError: a table has no sums, or they are damaged.
        IncompatibleError: two tables were made with different settings; both are named.
        ParameterError: fewer than two tables, one given twice, or a minimum below 1.
    """
    if len(tables) < 2:
        raise ParameterError("merge: give at least two tables")
    resolved = [Path(table).resolve() for table in tables]
    for number, table in enumerate(resolved):
        if table in resolved[:number]:
            raise ParameterError(f"{tables[number]}: the table is given twice: give it once")
    opened = [SignatureTable.open(table) for table in tables]
    first = opened[0]
    for other in opened[1:]:
        _require_mergeable(first, other)
    sums = [KeptSums(table.artifact) for table in opened]
    counts = dict.fromkeys(("tokens", "sentences"), 0)
    for one in opened:
        with storage.understood(one.path):
            for name in counts:
                counts[name] += int(one.parameters["sums"][name])
            int(one.parameters["min_count"])
    if min_count is None:
        min_count = _agreed_min_count(opened)
    selection = Selection(min_count, first.longest)
    recipe = Recipe.from_fingerprint(first.fingerprint)
    projection = GaussianProjection(recipe.n_bits, recipe.seed)
    with storage.create(path, storage.SIGNATURES) as writer:
        signer = Signer(_pool_space(), recipe.weighting, projection)
        words = WordsChecksum()
        total = sum(map(len, sums))

        def batches() -> Iterator[PhraseBatch]:
            done = 0
            shares = (_ROWS // len(sums) + 1, _TERMS // len(sums) + 1)
            for batch in merged_blocks(sums, *shares):
                one_word = _one_word(batch)
                words.add(batch.hashes[one_word], batch.strengths[one_word])
                yield batch
                done += batch.hashes.size
                progress("merging", done, total)

        if keep_sums:
            offsets = np.arange(POOL_SIZE, dtype=np.uint32)
            frequent = keeping_sums(batches(), writer, offsets, min_count)
        else:
            frequent = (batch.where(batch.strengths >= min_count) for batch in batches())
        n_rows, n_without_context = write_table(writer, frequent, signer, recipe.n_bits, None, jobs)
        writer.parameters = table_parameters(
            first.fingerprint, first.parameters["format"],
            words.fingerprint(counts["tokens"], counts["sentences"]), selection, n_rows,
            n_without_context,
        )  # fmt: skip
        if keep_sums:
            writer.parameters["sums"] = counts
    return SignatureTable.open(path)


def _pool_space() -> FeatureSpace:
    """Return the space whose feature number n has the n-th vector of the pool."""
    return FeatureSpace(
        family_names=("pool",),
        families=np.zeros(POOL_SIZE, np.uint8),
        hashes=np.arange(POOL_SIZE, dtype=np.uint64),
        marginals=np.empty(0),
        totals=np.zeros(1),
        marginals_checksum="",
    )


def _one_word(batch: PhraseBatch) -> np.ndarray:
    """Return for every phrase whether it is a single word, bool."""
    spaces = np.concatenate([[0], np.cumsum(batch.text == ord(" "))])
    ends = np.cumsum(batch.text_lengths)
    return spaces[ends] == spaces[ends - batch.text_lengths]


def _require_mergeable(a: SignatureTable, b: SignatureTable) -> None:
    require_same(a.fingerprint, str(a.path), b.fingerprint, str(b.path))
    for name, what in (("max_length", "--max-length"), ("format", "--format")):
        if a.parameters[name] != b.parameters[name]:
            raise IncompatibleError(
                f"{a.path} and {b.path} were not made alike: {what} is {a.parameters[name]} and "
                f"{b.parameters[name]}; sign both with the same settings"
            )


def _agreed_min_count(tables: list[SignatureTable]) -> int:
    for table in tables[1:]:
        a, b = tables[0].parameters["min_count"], table.parameters["min_count"]
        if a != b:
            raise IncompatibleError(
                f"{tables[0].path} and {table.path} have different minimum counts, {a} and {b}: "
                "say which one the merged table is to have with --min-count"
            )
    return int(tables[0].parameters["min_count"])
