"""Options and commands that there were, and what takes their place."""

_NORMALISER = {
    "--fold-numbers": "use --set normaliser.fold_numbers=true",
    "--drop-punctuation": "use --set normaliser.drop_punctuation=true",
    "--drop-digits": "use --set normaliser.drop_digits=true",
}
_WEIGHTING = {
    "--weights": "use --set weighting.scheme=NAME",
    "--alpha": "use --set weighting.alpha=0.75",
    "--shift": "use --set weighting.shift=1",
    "--subsample": "use --set weighting.subsample=0.0001",
    "--discount": "use --set weighting.discount=1.5",
    "--least": "use --set weighting.least=0.3",
}
_MODEL = {
    "--window": "use --set model.window=N",
    "--sides": "use --set model.sides=true",
    "--positions": "use --set model.sides=false",
}
_BITS = {"--bits": "use --set n_bits=256", "--seed": "use --set seed=1"}
_UNPACK_LIMIT = {"--unpack-limit": "give it before the command: distsim --unpack-limit SIZE ..."}

# By command, `""` for the program itself: the option or the subcommand -> what to do instead.
REMOVED: dict[str, dict[str, str]] = {
    "index": {
        "info": "use distsim info INDEX",
        "verify": "use distsim verify INDEX",
    },
    "index build": _NORMALISER | _UNPACK_LIMIT | {"--shard-tokens": "use --set shard_tokens=N"},
    "index add": _UNPACK_LIMIT,
    "learn": _WEIGHTING
    | _MODEL
    | _BITS
    | {
        "--rows": "use --set learning.rows=25000",
        "--features": "use --set learning.features=80000",
        "--rank": "use --set learning.rank=N",
        "--exponent": "the exponent is always 0.5: others brought nothing",
        "--rotation": "bits are always turned by ITQ: random turns brought nothing",
    },
}
