"""What `sign` and `contexts` do with `--model syntax`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from distsim.cli.annotate import annotated_beside
from distsim.cli.options import GAUSSIAN, SPECTRAL, split_names
from distsim.errors import ParameterError

if TYPE_CHECKING:
    from distsim.contexts.syntax.model import SyntaxModel
    from distsim.contexts.weights import Weighting
    from distsim.parallel import Progress
    from distsim.signatures.sign import Selection
    from distsim.signatures.table import SignatureTable

Switches = tuple[str | None, str | None, int | None]


def syntax_model(features: str | None, kinds: str | None, window: int | None) -> "SyntaxModel":
    """Return the model that the options --features, --kinds and --window choose."""
    from distsim.contexts.syntax.model import SyntaxModel

    chosen: dict = {}
    if features is not None:
        chosen["families"] = split_names(features)
    if kinds is not None:
        chosen["kinds"] = split_names(kinds)
    if window is not None:
        chosen["window"] = window
    return SyntaxModel(**chosen)


def sign_syntax(
    sources: Sequence[str],
    output: str,
    trees: Sequence[str],
    switches: Switches,
    weighting: "Weighting",
    bits: int | None,
    seed: int | None,
    selection: "Selection",
    models: str | None,
    processors: str | None,
    memory_bytes: int,
    keep_features: bool,
    jobs: int | None,
    progress: "Progress",
    projection: str | None = None,
) -> "SignatureTable":
    """Sign annotated files, or plain text that is annotated first, and open the table.

    Arguments:
        projection: gaussian (None too), spectral, or the path of a learnt one.
    """
    from distsim.corpus.annotated import read_annotated
    from distsim.signatures.syntax import SyntaxRecipe, sign_annotated
    from distsim.signatures.table import SignatureTable

    usual = SyntaxRecipe()
    recipe = SyntaxRecipe(
        syntax_model(*switches),
        weighting,
        usual.n_bits if bits is None else bits,
        usual.seed if seed is None else seed,
        learnt=projection not in (None, GAUSSIAN),
    )
    file = projection if projection not in (None, GAUSSIAN, SPECTRAL) else None
    if models is None:
        if processors is not None:
            raise ParameterError("--processors chooses what stanza does: name its --models DIR too")
        sentences = read_annotated(sources, trees)
    else:
        if trees:
            raise ParameterError("--trees goes with annotated files: leave it or --models out")
        sentences = read_annotated(
            [annotated_beside(sources, output, models, processors, jobs, progress)]
        )
    path = sign_annotated(
        sentences, output, recipe, selection, memory_bytes, keep_features, jobs, progress, file
    )
    return SignatureTable.open(path)
