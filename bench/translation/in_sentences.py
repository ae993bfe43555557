"""Paraphrases of unknown words -> rules for each occurrence, by what fits its sentence."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from data import Bitext, Pair

from distsim.paraphrase.records import PhraseParaphrases
from distsim.paraphrase.substitution.substituter import Substituter


class Occurrence(NamedTuple):
    """A word at its place in a sentence."""

    word: str
    words: list[str]
    place: int


def usable(
    found: Iterable[PhraseParaphrases], words: Collection[str], least: float
) -> dict[str, dict[str, float]]:
    """Return the paraphrases of some words with scores from `least` on, where there are any."""
    used = {
        one.phrase: {text: score for text, score in one.paraphrases if score >= least}
        for one in found
        if one.phrase in words
    }
    return {word: texts for word, texts in used.items() if texts}


def marked(bitext: Bitext, words: Collection[str]) -> tuple[Bitext, dict[str, Occurrence]]:
    """Return pairs where each occurrence of some words is a token of its own, and what it is."""
    meant: dict[str, Occurrence] = {}

    def apart(pairs: list[Pair]) -> list[Pair]:
        out = []
        for source, target in pairs:
            tokens = list(source)
            for place, word in enumerate(source):
                if word in words:
                    tokens[place] = f"{word}@@{len(meant)}"
                    meant[tokens[place]] = Occurrence(word, source, place)
            out.append((tokens, target))
        return out

    return replace(bitext, dev=apart(bitext.dev), test=apart(bitext.test)), meant


def write(
    meant: Mapping[str, Occurrence], paraphrases: Mapping[str, Mapping[str, float]],
    substituter: Substituter, path: Path, trusted: bool = False,
) -> None:  # fmt: skip
    """Write the paraphrases of every occurrence with their shares of exp(score), in columns.

    trusted: the scores that they have without a sentence, times their shares of the largest share.
    """
    with path.open("w", encoding="utf-8") as out:
        for token, (word, words, place) in meant.items():
            texts = paraphrases[word]
            left, right = " ".join(words[:place]), " ".join(words[place + 1 :])
            scores = substituter.scores(left, word, right, list(texts))
            known = [(x, text) for x, text in zip(scores, texts, strict=True) if x is not None]
            if known:
                powers = np.exp(np.array([x for x, _ in known]) - max(x for x, _ in known))
                weights = powers if trusted else powers / powers.sum()
                for weight, (_, text) in zip(weights, known, strict=True):
                    told = weight * texts[text] if trusted else weight
                    out.write(f"{token}\t1\t{text}\t{told:.6g}\n")
