"""A table and the way it was evaluated -> the one line that says what the numbers rest on."""

from importlib.metadata import version

from distsim.signatures.recipe import short_fingerprint
from distsim.signatures.table import SignatureTable


def signature_line(table: SignatureTable, samples: int, seed: int) -> str:
    """Return model, window, weights, bits, seeds, corpus, fingerprint and version in one line."""
    made = table.fingerprint
    weights = made["weights"]
    projection = made["projection"]
    settings = [f"{name}={weights[name]}" for name in ("alpha", "shift") if name in weights]
    fields = {
        "model": made["model"]["name"],
        "window": made["model"].get("window"),
        "families": ",".join(made["model"].get("families", ())) or None,
        "weights": ",".join([weights["scheme"], *settings]),
        "projection": projection["kind"],
        "bits": projection["bits"],
        "seed": projection["seed"],
        "composed": "yes" if "composition" in made else "no",
        "min-count": table.parameters.get("min_count"),
        "corpus": str(table.parameters.get("corpus"))[:12],
        "fingerprint": short_fingerprint(made),
        "bootstrap": f"{samples},seed={seed}",
        "version": version("distsim"),
    }
    return "|".join(f"{name}:{value}" for name, value in fields.items() if value is not None)
