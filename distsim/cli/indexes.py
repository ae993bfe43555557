"""Separates the indexes and the phrases among a command's arguments."""

from collections.abc import Sequence


def split_indexes(first: str, rest: Sequence[str] | None) -> tuple[list[str], list[str] | None]:
    """Return the indexes and the phrases of `INDEX... PHRASE...`.

    The first argument is an index; so are those behind it, up to the first that is no folder of an
    artifact.
    """
    from distsim.storage import holds_artifact

    indexes, phrases = [first], list(rest or ())
    while phrases and holds_artifact(phrases[0]):
        indexes.append(phrases.pop(0))
    return indexes, phrases or None
