"""Records in any order -> records in order, through sorted runs on disk."""

import heapq
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from distsim.storage import scratch_folder

RUN_BYTES = 128 << 20
_PER_RECORD = 80  # bytes that Python spends on a record beside its text
_MOST_OPEN = 64


def sorted_records(
    records: Iterable[bytes], run_bytes: int = RUN_BYTES, folder: str | Path | None = None
) -> Iterator[bytes]:
    """Yield records (without newlines in them) in order of their bytes.

    Arguments:
        run_bytes: about so much is held in memory; what is more goes to temporary files.
        folder: where those stand; the system's place for them where None.
    """
    with scratch_folder(folder) as made:
        runs: list[Path] = []
        held: list[bytes] = []
        size = 0
        for record in records:
            held.append(record)
            size += len(record) + _PER_RECORD
            if size >= run_bytes:
                held.sort()
                runs.append(_written(held, made))
                held, size = [], 0
                if len(runs) == _MOST_OPEN:
                    with ExitStack() as stack:
                        merged = _written(heapq.merge(*_opened(runs, stack)), made)
                    for run in runs:
                        run.unlink()
                    runs = [merged]
        held.sort()
        if not runs:
            yield from held
            return
        with ExitStack() as stack:
            yield from heapq.merge(*_opened(runs, stack), held)


def _written(records: Iterable[bytes], folder: Path) -> Path:
    handle, name = tempfile.mkstemp(dir=folder)
    with os.fdopen(handle, "wb") as file:
        file.writelines(record + b"\n" for record in records)
    return Path(name)


def _opened(runs: list[Path], stack: ExitStack) -> list[Iterator[bytes]]:
    return [
        (line[:-1] for line in stack.enter_context(open(run, "rb", buffering=1 << 18)))
        for run in runs
    ]
