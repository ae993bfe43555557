"""How far p of a translation of an unknown word can be trusted.

The first answers to the unknown words of 1,500 sentences, each occurrence counted, are put into ten
bands by their p. The expected calibration error is the mean over all occurrences of how far a
band's mean p is from the share that is right; right is what an aligner that was trained on all
pairs links to the word in the reference. Unknown words taught nothing. `before` has the scores of
the ranking as they are.

    python bench/translation/reliability.py DATA INDEX WORK [--pairs en-es en-de en-fr] [--draws 2]

DATA, INDEX, WORK: as for experiment.py, which makes the indexes of both halves.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from data import Bitext, is_news, read_bitext, read_news
from experiment import monolingual
from frame import parser, print_machine, print_table
from phrase_extraction import align, write_phrase_table

from distsim.paraphrase import Monolingual, augment_unknown_words
from distsim.paraphrase.unknown_words import translation_candidates

BANDS = 10
SURE = 0.5
NEVER = 1e12  # a penalty that leaves the scores as they are


class FirstAnswers(NamedTuple):
    """p of the first answer to each occurrence of an unknown word, and whether it is right."""

    p: np.ndarray
    right: np.ndarray

    def error(self) -> float:
        """Return the expected calibration error."""
        bands = np.minimum((self.p * BANDS).astype(int), BANDS - 1)
        gaps = np.bincount(bands, self.p - self.right, BANDS)
        return float(np.abs(gaps).sum() / len(self.p))


def first_answers(
    bitext: Bitext, wanted: list[tuple[str, str]], texts: Monolingual, size: int, draws: int
) -> FirstAnswers:
    """Return the answers for all draws of `size` training pairs.

    wanted: each word of the held-out sentences with what is linked to it.
    """
    p, right = [], []
    for draw in range(1, draws + 1):
        with tempfile.TemporaryDirectory() as place:
            table, text = Path(place, "table"), Path(place, "text")
            write_phrase_table(bitext.drawn(size, draw), table)
            text.write_text("".join(" ".join(s) + "\n" for s, _ in bitext.dev + bitext.test))
            report = augment_unknown_words(table, text, texts, Path(place, "new"))
        answers = {one.word: one.translations for one in report.words}
        for word, target in wanted:
            if answers.get(word):
                p.append(answers[word][0].p)
                right.append(answers[word][0].target == target)
    return FirstAnswers(np.array(p), np.array(right, float))


def linked_words(bitext: Bitext) -> Iterator[tuple[str, str]]:
    """Yield each word of the held-out sentences with the reference's words linked to it."""
    held = bitext.dev + bitext.test
    links = align([*bitext.rest, *held])[-len(held) :]
    for (source, target), pairs in zip(held, links, strict=True):
        for n, word in enumerate(source):
            yield word, " ".join(target[j] for i, j in sorted(pairs) if i == n)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("data", type=Path)
    options.add_argument("index")
    options.add_argument("work", type=Path)
    options.add_argument("--pairs", nargs="*", default=["en-es", "en-de", "en-fr"])
    options.add_argument("--turned", action="store_true")
    options.add_argument("--size", type=int, default=2000)
    options.add_argument("--draws", type=int, default=2)
    given = options.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    rows: list[list[object]] = []
    usual = translation_candidates._CALIBRATION_PENALTY
    for pair in given.pairs:
        read = read_news if is_news(given.data) else read_bitext
        bitext = read(given.data, pair, 30, 500, 1000)
        bitext = bitext.turned() if given.turned else bitext
        name = f"{given.data.name}.{pair}{'.turned' if given.turned else ''}"
        texts = monolingual(bitext, given.index, given.work, name)
        wanted = list(linked_words(bitext))
        found = []
        for penalty in (usual, NEVER):
            translation_candidates._CALIBRATION_PENALTY = penalty
            found.append(first_answers(bitext, wanted, texts, given.size, given.draws))
        calibrated, before = found
        sure = calibrated.p >= SURE
        rows.append([
            pair, len(calibrated.p), f"{calibrated.error():.3f}", f"{before.error():.3f}",
            f"{100 * sure.mean():.0f}%", f"{100 * calibrated.right[sure].mean():.0f}%",
        ])  # fmt: skip
    print_table(["pair", "words", "error", "before", f"p of {SURE} and more", "right"], rows)
    print_machine()


if __name__ == "__main__":
    main()
