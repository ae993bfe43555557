"""The line of settings under the results of an evaluation."""

from distsim.base.distribution import program_version
from distsim.comparison.table import SignatureTable
from distsim.signatures.estimates import estimate_of


def signature_line(
    table: SignatureTable, samples: int, seed: int, estimate: str | None = None
) -> str:
    """Return the settings of an evaluation in one line: fingerprint, corpus, bootstrap, version.

    The estimate is a part of the line unless it is `bits`.

    Arguments:
        table: the table that was evaluated.
        samples: number of bootstrap samples. seed: seed of the bootstrap.
        estimate: how the table's cosines are estimated; None: the table's default.
    """
    way = estimate_of(table, estimate)
    fields = {
        **table.fingerprint.fields(),
        "min-count": table.parameters.get("min_count"),
        "corpus": str(table.parameters.get("corpus"))[:12],
        **({} if way == "bits" else {"estimate": way}),
        "bootstrap": f"{samples},seed={seed}",
        "version": program_version(),
    }
    return "|".join(f"{name}:{value}" for name, value in fields.items())
