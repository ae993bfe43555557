"""Entry point of the program: handles signals while modules are imported."""

import os
import resource
import signal
import sys
from contextlib import suppress
from typing import Any, NoReturn

LEAST_MEMORY = 1 << 30  # bytes that libraries map before anything of ours begins


def main() -> None:
    """Run the program and exit, with signals handled from the first moment on."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    if allowed != resource.RLIM_INFINITY and allowed < LEAST_MEMORY:
        # Below this the libraries end the process in words of their own, or by a signal.
        message = f"only {allowed >> 20:,} MB may be mapped (ulimit -v): allow 2 GB or more"
        with suppress(OSError):
            os.write(2, f"distsim: {message}\n".encode())
        sys.exit(1)
    before = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            before[number] = signal.signal(number, stop)
    # Rows are divided among threads of our own. Those of the linear algebra library would only
    # cost .05 CPU seconds at each start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Where colorama is installed, numba colours the messages of all overloads that do not fit.
    os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
    # The argument parser checks types by pydantic, whose plugins are looked for in all packages.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from distsim.cli.costs import announce_compilation
    from distsim.cli.main import main as run

    for number, handler in before.items():
        signal.signal(number, handler)
    announce_compilation(next((word for word in sys.argv[1:] if word[:1] != "-"), ""))
    run()


def stop(number: int, frame: Any) -> NoReturn:
    """End the process at once; nothing has been written yet.

    Arguments:
        number, frame: of the signal, as a handler gets them.
    """
    os.write(2, b"distsim: interrupted; nothing half-written is left behind\n")
    os._exit(128 + number)


if __name__ == "__main__":
    main()
