"""How much memory there is, how much a process may take, and how malloc keeps what is freed."""

import ctypes
from contextlib import suppress
from pathlib import Path

_UNKNOWN = 4 << 30
_CGROUP = Path("/sys/fs/cgroup")
_limit: int | None = None


def set_memory_limit(n_bytes: int) -> None:
    """Have `half_of_free` return this in place of half of the memory that is free."""
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


_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # names of mallopt(3)
_ALWAYS = 2**31 - 1


def keep_freed() -> None:
    """Keep freed memory in the process, for commands that make many large arrays one after another.

    The system clears every page that it hands out, which took a tenth of the time of signing.
    """
    _tell((_MMAP_THRESHOLD, 1 << 30), (_TRIM_THRESHOLD, _ALWAYS))


def give_back_freed() -> None:
    """Return large freed blocks to the system at once, for a server, which runs long.

    It would keep up to 32 MB of every thread's for the next that asks.
    """
    _tell((_MMAP_THRESHOLD, 1 << 20), (_ARENA_MAX, 1))


def trim() -> None:
    """Return the free pages between blocks in use to the system, too."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _tell(*settings: tuple[int, int]) -> None:
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        for name, value in settings:
            library.mallopt(name, value)
