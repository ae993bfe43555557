"""`--in SENTENCE`: ranks paraphrases for a sentence that contains the phrase."""

from collections.abc import Sequence
from dataclasses import replace
from math import isnan, nan
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from distsim.paraphrase.paraphraser import Paraphrase

InSentenceOption = Annotated[
    str | None,
    typer.Option(
        "--in",
        metavar="SENTENCE",
        help="Rank what is found for this sentence, which has the phrase, perhaps in brackets.",
    ),
]
AMONG = 100  # so many are found before they are ranked for the sentence


def in_sentence(
    index: str, table: str, sentence: str, phrase: str, listed: "Sequence[Paraphrase]", k: int
) -> "list[Paraphrase]":
    """Return the k best paraphrases for a sentence, opposites last; see `distsim substitute`.

    Words of the finder are found anew; candidates of which the corpus knows no word come last,
    with NaN.

    Raises:
        ParameterError: the sentence does not have the phrase.
    """
    from distsim.comparison.table import SignatureTable
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.paraphrase.paraphraser import Paraphrase
    from distsim.paraphrase.substitution.mix import FINDING
    from distsim.paraphrase.substitution.occurrence import split_at
    from distsim.paraphrase.substitution.substituter import Substituter

    around = split_at(sentence, phrase)
    opened = CorpusIndex.open(index)
    substituter = Substituter(opened, SignatureTable.open(table), ranking=FINDING)
    known = {one.phrase: one for one in listed}
    if listed[0].origin == ("finder",):
        nothing = Paraphrase("", 0.0, 0, 0, ("finder",), (), False)
        return [
            replace(
                known.get(one.substitute, nothing),
                phrase=one.substitute,
                score=nan if one.score is None else one.score,
                count=one.occurrences,
                opposite=one.opposite,
            )
            for one in substituter.substitutes(*around, k=k)
        ]
    scores = substituter.scores(*around, list(known))
    scored = [
        replace(one, score=nan if score is None else score)
        for one, score in zip(listed, scores, strict=True)
    ]
    scored.sort(key=lambda one: (isnan(one.score), -one.score))
    return sorted(scored[:k], key=lambda one: one.opposite)
