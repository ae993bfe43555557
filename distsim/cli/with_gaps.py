"""`--gapped`: patterns with a gap, `take _ into account`, in place of phrases."""

from typing import TYPE_CHECKING, Annotated

import typer

from distsim.cli.console import NOT_AVAILABLE, number, put, put_json, say

if TYPE_CHECKING:
    from distsim.cli.console import Asked

GappedOption = Annotated[
    bool,
    typer.Option(
        "--gapped",
        help="Phrases are patterns, as 'take _ into account': find those that take the same.",
    ),
]


def put_gapped(
    table: str, index: str | None, asked: "list[Asked]", k: int, min_matches: int | None,
    several: bool, as_json: bool,
) -> None:  # fmt: skip
    """Print the patterns most like each pattern: rank, pattern, similarity, matches.

    Raises:
        ParameterError: a pattern has no word or no gap; no index is named.
    """
    from distsim.cli.opened import opened_gapped
    from distsim.comparison.gapped.search import gapped_neighbours

    cosine = opened_gapped(index or table, None if index is None else table)
    for one in asked:
        focal = [one.phrase] if several else []
        near = None
        if not one.empty:
            near = gapped_neighbours(cosine, one.phrase, k=k, min_matches=min_matches or 10)
        if near is None:
            reason = "empty" if one.empty else "not found in the index"
            if as_json:
                put_json(focal=one.phrase, rank=None, reason=reason)
            else:
                put(*focal, *[NOT_AVAILABLE] * 4)
                say(f"NA: {one.phrase!r} is {reason}")
            continue
        for rank, other in enumerate(near, 1):
            if as_json:
                put_json(focal=one.phrase, rank=rank, **other._asdict())
            else:
                put(*focal, rank, other.pattern, number(other.similarity), other.matches)
