"""The program's first moment: an interrupt is obeyed while the modules are still imported."""

import os
import signal
from typing import Any, NoReturn


def main() -> None:
    """Run the program; see distsim.cli.main."""
    before = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            before[number] = signal.signal(number, stop)
    from distsim.cli.main import main as run

    for number, handler in before.items():
        signal.signal(number, handler)
    run()


def stop(number: int, frame: Any) -> NoReturn:
    """End at once: nothing has begun yet that would have to be cleared away."""
    os.write(2, b"distsim: interrupted; nothing half-written is left behind\n")
    os._exit(128 + number)


if __name__ == "__main__":
    main()
