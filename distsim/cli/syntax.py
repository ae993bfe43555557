"""Options of the syntactic model -> the model that they choose."""

from typing import TYPE_CHECKING, Any

from distsim.cli.options import split_names

if TYPE_CHECKING:
    from distsim.contexts.syntax.model import SyntaxModel


def syntax_model(features: str | None, kinds: str | None, window: int | None) -> "SyntaxModel":
    """Return the model that the options --features, --kinds and --window choose."""
    from distsim.contexts.syntax.model import SyntaxModel

    chosen: dict[str, Any] = {}
    if features is not None:
        chosen["families"] = split_names(features)
    if kinds is not None:
        chosen["kinds"] = split_names(kinds)
    if window is not None:
        chosen["window"] = window
    return SyntaxModel(**chosen)
