"""How much memory there is, and how much of it a process may take."""

from contextlib import suppress
from pathlib import Path

_UNKNOWN = 4 << 30
_CGROUP = Path("/sys/fs/cgroup")
_limit: int | None = None


def set_memory_limit(n_bytes: int) -> None:
    """Have `half_of_free` return this in place of half of the memory that is free.

    Arguments:
        n_bytes: the limit.
    """
    global _limit  # noqa: PLW0603 (a setting of the process)
    _limit = n_bytes


def half_of_free() -> int:
    """Return half of the memory that is free, in bytes; 2 GB where the system does not tell.

    Within a container that is limited by a cgroup (version 2), of what the limit leaves.
    """
    if _limit is not None:
        return _limit
    free = _UNKNOWN
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = 1024 * next(int(one.split()[1]) for one in lines if one.startswith("MemAvailable"))
    with suppress(OSError, ValueError):
        limit = int((_CGROUP / "memory.max").read_text(encoding="ascii"))
        used = int((_CGROUP / "memory.current").read_text(encoding="ascii"))
        free = min(free, max(0, limit - used))
    return free // 2
