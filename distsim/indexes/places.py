"""Where an index keeps what was made of it; imports no kernels, for commands that only look."""

from pathlib import Path

from distsim.base.arguments import AnyPath


def signatures_inside(path: AnyPath) -> Path:
    """Return where an index keeps the signature table that was signed into it."""
    return Path(path) / "signatures"
