"""A table and the way it was evaluated -> the one line that says what the numbers rest on."""

from importlib.metadata import version

from distsim.signatures.table import SignatureTable


def signature_line(table: SignatureTable, samples: int, seed: int) -> str:
    """Return the fingerprint, the corpus, how intervals were made and the version in one line."""
    fields = {
        **table.fingerprint.fields(),
        "min-count": table.parameters.get("min_count"),
        "corpus": str(table.parameters.get("corpus"))[:12],
        "bootstrap": f"{samples},seed={seed}",
        "version": version("distsim"),
    }
    return "|".join(f"{name}:{value}" for name, value in fields.items())
