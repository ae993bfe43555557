"""Options that the subcommands on grammar files share."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from distsim.base.choices import OnError
from distsim.cli.groups import OptionGroup
from distsim.cli.options import OppositesOption
from distsim.corpus.numbers import plain_number
from distsim.grammar.formats import FORMATS


def one_of(choices: Iterable[str]) -> dict[str, Any]:
    """Return the arguments of an option that takes one of some words: its metavar and parser.

    Arguments:
        choices: the words, as they are shown.
    """
    names = tuple(choices)

    def checked(text: str) -> str:
        if text not in names:
            raise typer.BadParameter(f"{text!r}: choose one of {', '.join(names)}")
        return text

    return {"metavar": f"[{'|'.join(names)}]", "parser": checked}


OnErrorOption = Annotated[
    OnError, typer.Option(help="Invalid lines: stop, keep them as they are, or drop them.")
]
GrammarFormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Inferred from the first lines where not given.",
        **one_of(FORMATS),
    ),
]
WeightOption = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        "-w",
        metavar="FEATURE=NUMBER",
        help="A term of the sum that orders rules, the largest sum first; repeat it.",
    ),
]


@dataclass
class GrammarFileOptions(OptionGroup):
    """How a grammar file is read."""

    grammar_format: GrammarFormatOption = None
    on_error: OnErrorOption = "stop"


@dataclass
class EvidenceOptions(OptionGroup):
    """Tables and index that give the similarity of a rule's sides."""

    ngram: Annotated[
        str | None, typer.Option(metavar="TABLE", help="For sim_ngram: a table or signed index.")
    ] = None
    syntax: Annotated[
        str | None, typer.Option(metavar="TABLE", help="For sim_syn: a syntactic table.")
    ] = None
    opposites: OppositesOption = None


def feature_weights(texts: list[str] | None) -> dict[str, float]:
    """Return the weight of each feature.

    Arguments:
        texts: `FEATURE=NUMBER` each, as typed.

    Raises:
        typer.BadParameter: a text is not of this form.
    """
    weights = {}
    for text in texts or ():
        name, _, value = text.rpartition("=")
        number = plain_number(value)
        if not name or number is None:
            raise typer.BadParameter(
                f"--weight {text!r}: give FEATURE=NUMBER, as sim_ngram=2 or 0=-1"
            )
        weights[name] = number
    return weights
