"""Paths inside an index's folder; imports no kernels."""

from pathlib import Path

from distsim.base.arguments import AnyPath


def signatures_inside(path: AnyPath) -> Path:
    """Return the path of the signature table inside an index's folder."""
    return Path(path) / "signatures"


def finder_inside(path: AnyPath) -> Path:
    """Return the path of the finder of substitutes in a signature table."""
    return Path(path) / "finder"
