"""Settings of glibc's malloc for freed memory."""

import ctypes
from contextlib import suppress

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
