"""A shard whose tokens are lemmas, or tags, in place of words."""

from functools import cached_property

import numpy as np

from distsim.indexes.shard import Shard, damaged
from distsim.indexes.suffix_array import build_suffix_array
from distsim.kernels.compiled import frozen
from distsim.kernels.suffixes import count_words


class LayerShard(Shard):
    """A shard with another text of as many tokens; its places are those of the shard.

    Suffixes are sorted when they are first asked for: about a second for two million tokens.

    Arguments:
        whole: the shard, of annotated text.
        layer: uint32, the id of the lemma or tag of each analysis.
        n_ids: of the layer's vocabulary.
    """

    _n_ids: int

    def __init__(self, whole: Shard, layer: np.ndarray, n_ids: int) -> None:
        for name in Shard.ARRAYS:
            if name not in ("tokens", "suffixes", "word_starts"):
                object.__setattr__(self, name, getattr(whole, name))
        analyses = whole.analyses
        if analyses is None or analyses.max() >= layer.size:
            raise damaged()
        object.__setattr__(self, "tokens", frozen(layer[analyses]))
        object.__setattr__(self, "first_position", whole.first_position)
        object.__setattr__(self, "analyses", None)
        object.__setattr__(self, "heads", None)
        object.__setattr__(self, "written", None)
        object.__setattr__(self, "_n_ids", n_ids)

    @cached_property
    def word_starts(self) -> np.ndarray:
        """Where the suffixes of each first id begin in `suffixes`, uint32[n_ids + 1]."""
        return frozen(count_words(self.tokens, self._n_ids))

    @cached_property
    def suffixes(self) -> np.ndarray:
        """The positions in the order of what follows them."""
        return frozen(build_suffix_array(self.tokens))
