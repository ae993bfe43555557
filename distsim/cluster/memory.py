"""Estimates the memory that a worker's process needs."""

from distsim.cluster.plan import BYTES_A_TOKEN, Plan

_PROCESS = 300 << 20  # Python, numpy, compiled kernels
_KEYS_BYTES = 50  # a token, while the keys of all phrases of a part are put in order
_CHUNK_ROWS = 1 << 19
_HELD_ENTRIES = 24  # bytes of what is gathered for packets, for each sixteenth of the memory


def worker_bytes(plan: Plan) -> int:
    """Return an estimate of the bytes that one task of a plan needs, without mapped files.

    It is the largest of three: counting the phrases of the largest part (indexing it takes less),
    counting contexts, signing a range.

    Arguments:
        plan: the plan of the run.
    """
    part = max(part.unpacked_size for part in plan.parts) // BYTES_A_TOKEN
    model = plan.recipe.model
    width = plan.selection.max_length + 2 * getattr(model, "window", 1)
    chunk = _CHUNK_ROWS * (2 * 4 * width + 8 * 4 * plan.selection.max_length)
    phrases = _KEYS_BYTES * part
    counting = chunk + plan.memory_bytes // 16 * _HELD_ENTRIES
    signing = 2 * plan.memory_bytes
    composition = plan.recipe.composition
    if composition is not None:
        n_dimensions = plan.recipe.learning.directions(plan.recipe.n_bits)
        signing += 4 * n_dimensions * min(composition.most_words, part * len(plan.parts))
    return _PROCESS + max(phrases, counting, signing)
