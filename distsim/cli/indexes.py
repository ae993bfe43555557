"""Separates the indexes and the phrases among a command's arguments."""

from collections.abc import Sequence


def split_indexes(first: str, rest: Sequence[str] | None) -> tuple[list[str], list[str] | None]:
    """Return the indexes and the phrases of `INDEX... PHRASE...`.

    The first argument is an index; so are those behind it, up to the first that is no folder of an
    artifact.
    """
    indexes, phrases = [first], list(rest or ())
    while phrases and _is_index(phrases[0]):
        indexes.append(phrases.pop(0))
    return indexes, phrases or None


def _is_index(text: str) -> bool:
    from distsim.storage import holds_artifact

    try:
        return bool(text) and holds_artifact(text)
    except OSError:  # a phrase is longer than a name of a file may be
        return False
