"""Entry point of `spark-submit OPTIONS $(python -m distsim.cli.submit) sign TEXT...`.

With arguments it runs `distsim cluster` with them, on the master of the submission; without any it
prints its own path.
"""

import sys
from pathlib import Path


def main() -> None:
    """Run `distsim cluster` with the program's arguments, or print the path of this file."""
    here = Path(__file__).resolve()
    if len(sys.argv) == 1:
        print(here)
        return
    # A script's folder comes first on the path, and modules here are called as others are.
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != here.parent]
    from distsim.cli.main import main as run

    sys.argv = ["distsim", "cluster", *sys.argv[1:]]
    run()


if __name__ == "__main__":
    main()
