"""Paths inside an index's folder; imports no kernels."""

from pathlib import Path

from distsim.base.arguments import AnyPath


def signatures_inside(path: AnyPath) -> Path:
    """Return the path of the signature table inside an index's folder.

    Arguments:
        path: folder of the index.
    """
    return Path(path) / "signatures"


def finder_inside(path: AnyPath) -> Path:
    """Return the path of the finder of substitutes in a signature table.

    Arguments:
        path: folder of the table.
    """
    return Path(path) / "finder"
