"""How much memory there is."""

from contextlib import suppress
from pathlib import Path

_UNKNOWN = 4 << 30
_CGROUP = Path("/sys/fs/cgroup")


def half_of_free() -> int:
    """Return half of the memory that is free, in bytes; 2 GB where the system does not tell.

    Within a container that is limited by a cgroup (version 2), of what the limit leaves.
    """
    free = _UNKNOWN
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = 1024 * next(int(one.split()[1]) for one in lines if one.startswith("MemAvailable"))
    with suppress(OSError, ValueError):
        limit = int((_CGROUP / "memory.max").read_text(encoding="ascii"))
        used = int((_CGROUP / "memory.current").read_text(encoding="ascii"))
        free = min(free, max(0, limit - used))
    return free // 2
