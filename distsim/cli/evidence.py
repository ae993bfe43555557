"""The evidence behind similarities, as `similarity --why` and `neighbours --why` print it."""

from typing import TYPE_CHECKING, Any

from distsim.cli.rows import put_row, writes_json

if TYPE_CHECKING:
    from distsim.comparison.evidence import CosineEvidence, SimilarityEvidence
    from distsim.comparison.table import SignatureTable

_SHOWN_CONTEXTS = 3  # beside a neighbour


def opened_evidence(table: "SignatureTable", path: str, index: str | None) -> "SimilarityEvidence":
    """Return the evidence of a table, with contexts where it is in an index or one is named.

    Arguments:
        table: the opened table.
        path: its path.
        index: path of an index; None: the one that contains the table.
    """
    from distsim import storage
    from distsim.comparison.evidence import SimilarityEvidence

    is_of_words = table.fingerprint.is_syntactic or table.fingerprint.is_of_vectors
    if index is None and not is_of_words and storage.Artifact(path).kind is storage.INDEX:
        index = path
    return SimilarityEvidence(table, index)


def put_evidence(behind: "CosineEvidence") -> None:
    """Print a row for each phrase and for each shared context of a pair; JSON has them already.

    Arguments:
        behind: the evidence.
    """
    if writes_json():
        return
    for one in (behind.a, behind.b):
        put_row({
            "phrase": one.phrase, "count": one.occurrences, "own_share": one.own_share,
            "origin": one.origin,
        })  # fmt: skip
    for context in behind.shared:
        put_row({
            "context": f"{context.place}:{context.word}", "weight_a": context.weight_a,
            "weight_b": context.weight_b,
        })  # fmt: skip


def columns_of(behind: "CosineEvidence") -> dict[str, object]:
    """Return the columns beside a neighbour: own share, origin, the strongest shared contexts.

    Arguments:
        behind: the evidence.
    """
    shown = [f"{one.place}:{one.word}" for one in behind.shared[:_SHOWN_CONTEXTS]]
    return {
        "own_share": behind.b.own_share, "origin": behind.b.origin, "shared": " ".join(shown),
    }  # fmt: skip


def as_record(behind: "CosineEvidence") -> dict[str, Any]:
    """Return the evidence with names, for JSON.

    Arguments:
        behind: the evidence.
    """
    return {
        "a": behind.a._asdict(),
        "b": behind.b._asdict(),
        "shared": [one._asdict() for one in behind.shared],
    }
