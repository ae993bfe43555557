"""`--in SENTENCE`: ranks paraphrases for a sentence that contains the phrase."""

from collections.abc import Sequence
from math import nan
from typing import Annotated

import typer

InSentenceOption = Annotated[
    str | None,
    typer.Option(
        "--in",
        metavar="SENTENCE",
        help="Rank what is found for this sentence, which has the phrase, perhaps in brackets.",
    ),
]
AMONG = 100  # so many are found before they are ranked for the sentence


def ranked_in(
    index: str, table: str, sentence: str, phrase: str, candidates: Sequence[str]
) -> list[tuple[int, float]]:
    """Return (place in `candidates`, score) of each, the best first; see `distsim substitute`.

    Candidates of which the corpus knows no word come last, with NaN.

    Raises:
        ParameterError: the sentence does not have the phrase.
    """
    from distsim.comparison.table import SignatureTable
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.paraphrase.substitution.mix import FINDING
    from distsim.paraphrase.substitution.occurrence import split_at
    from distsim.paraphrase.substitution.substituter import Substituter

    around = split_at(sentence, phrase)
    substituter = Substituter(CorpusIndex.open(index), SignatureTable.open(table), ranking=FINDING)
    scores = substituter.scores(*around, candidates)
    known = [(i, score) for i, score in enumerate(scores) if score is not None]
    known.sort(key=lambda one: -one[1])
    return known + [(i, nan) for i, score in enumerate(scores) if score is None]
