"""What long work will take, told before it begins; from docs/guides/size.md."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from distsim.base.errors import DistsimError
from distsim.base.parallel import available_cores
from distsim.cli.console import say

_WORTH_TELLING = 50_000_000  # tokens
_BYTES_A_TOKEN = 5.6
_UNPACKED = {".gz": 2.6, ".bz2": 3.4, ".xz": 3.6, ".zst": 2.8}  # bytes for one on the disk


class Cost(NamedTuple):
    """Cost of a million tokens, and the memory of the whole.

    seconds: CPU seconds. megabytes: on the disk. gigabytes: the most memory in use at once.
    """

    seconds: float
    megabytes: float
    gigabytes: float


INDEX = Cost(0.45, 11.4, 3.1)
SIGN = Cost(0.43, 4.5, 4.0)
LEARN = Cost(0.21, 0.4, 3.0)
RANDOM = Cost(0.27, 4.1, 4.0)
FINDER = Cost(0.37, 0.1, 4.0)


def tokens_in(paths: Iterable[str]) -> int:
    """Return the estimated number of tokens in files, from their sizes.

    Arguments:
        paths: of files; folders and pipes count 0.
    """
    files = [Path(one) for one in paths if Path(one).is_file()]
    return int(sum(map(_unpacked_size, files)) / _BYTES_A_TOKEN)


def lines_in(path: str) -> int | None:
    """Return about how many lines a file has, by its size and its first ones; None for a pipe."""
    from distsim.corpus.sources import find_file, open_source

    file = Path(path)
    if not file.is_file():
        return None
    with suppress(DistsimError, OSError), open_source(find_file(path)) as stream:
        begin = stream.read(1 << 16)
        return int(_unpacked_size(file) * begin.count(b"\n") / max(1, len(begin)))
    return None


def _unpacked_size(file: Path) -> float:
    """Return about how many bytes a file has, unpacked where it is compressed."""
    return file.stat().st_size * _UNPACKED.get(file.suffix, 1.0)


def say_cost(n_tokens: int, costs: Iterable[Cost], jobs: int | None) -> None:
    """Print the expected cost of work on a large text; nothing for a small one.

    Arguments:
        jobs: threads; all cores where None.
    """
    if n_tokens < _WORTH_TELLING:
        return
    millions, costs = n_tokens / 1e6, list(costs)
    minutes = millions * sum(one.seconds for one in costs) / 60
    gigabytes = millions * sum(one.megabytes for one in costs) / 1000
    memory = max(one.gigabytes for one in costs)
    cores = jobs or available_cores()
    say(
        f"about {millions:,.0f} million tokens: {minutes:,.0f} minutes of CPU time on {cores} "
        f"{'core' if cores == 1 else 'cores'}, {gigabytes:,.1f} GB of disk and {memory:.0f} GB of "
        "memory, roughly"
    )
