"""Bilingual lexicon induction: translations of words by a map, beside fastText's vectors.

The texts are the source sides of one half of a bitext and the target sides of the other half. A
translation of a source word is listed where an aligner of all pairs links them twice or more, in a
tenth of the word's links or more. Source types are split before seeds are taken: three fifths teach
the map, each with its most frequent translation; the others are asked. Any listed translation is
right. Asked are words that occur in the source text and have a listed translation in the target
text (their share is the coverage); candidates are all words of the target text with a letter.

    python bench/translation/lexicon.py DATA WORK [--pair en-es]

DATA: the folder bitext-lohelp. WORK: a folder for indexes, as of experiment.py. fastText is that of
gensim (skip-grams, 100 dimensions, 20 epochs), mapped by orthogonal Procrustes, ranked by CSLS.
"""

import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from data import Bitext, read_bitext
from experiment import half_index
from frame import parser, print_machine, print_table
from phrase_extraction import align

from distsim.comparison import MapOptions
from distsim.comparison.mapping import WordSpace, fit_map, hubness, unit_rows

Space = tuple[list[str], np.ndarray, Callable[[Sequence[str]], np.ndarray]]
_SEEDS = 0.6
_BANDS = ((1, 4), (5, 19), (20, 10**9))


def listed_translations(bitext: Bitext) -> dict[str, list[str]]:
    """Return the listed translations of source words, the most frequent first."""
    links: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (source, target), pairs in zip(bitext.rest, align(bitext.rest), strict=True):
        for i, j in pairs:
            links[source[i]][target[j]] += 1
    found = {}
    for word, targets in sorted(links.items()):
        total = targets.total()
        good = [one for one, n in targets.most_common() if n >= 2 and n >= 0.1 * total]
        if good and any(map(str.isalpha, word)):
            found[word] = good
    return found


def signed(path: Path) -> Space:
    """Return words and vectors of a signed index, the most frequent first."""
    space = WordSpace(path)
    return space.words, space.vectors, space.of


def fasttext(sentences: list[list[str]]) -> Space:
    """Return words and vectors of fastText, the most frequent first."""
    from gensim.models import FastText

    model = FastText(
        sentences, vector_size=100, window=5, min_count=1, sg=1, epochs=20, bucket=200_000,
        workers=1, seed=1,
    )  # fmt: skip
    words = list(model.wv.index_to_key)
    vectors = unit_rows(np.array([model.wv[word] for word in words], np.float32))
    rows = {word: row for row, word in enumerate(words)}
    return words, vectors, lambda asked: vectors[[rows[word] for word in asked]]


def answers(
    source: Space, target: Space, seeds: list[tuple[str, str]], asked: list[str], method: str
) -> list[list[str]]:
    """Return the five best target words of each word asked, by CSLS."""
    words, vectors, _ = target
    rows = {word: row for row, word in enumerate(words)}
    used = [(one, other) for one, other in seeds if other in rows]
    goal = vectors[[rows[other] for _, other in used]]
    learned = fit_map(
        source[2]([one for one, _ in used]),
        goal,
        np.ones(len(used)),
        MapOptions(method=method),  # type: ignore[arg-type]
    )
    letters = np.array([any(map(str.isalpha, word)) for word in words])
    hubs = hubness(vectors, unit_rows(source[1][:5000] @ learned))
    scores = 2 * (unit_rows(source[2](asked) @ learned) @ vectors.T) - hubs
    scores[:, ~letters] = -np.inf
    return [[words[row] for row in np.argsort(-one)[:5]] for one in scores]


def rate_rows(
    name: str, asked: list[str], found: list[list[str]], listed: dict[str, list[str]],
    counts: Counter[str],
) -> Iterator[list[object]]:  # fmt: skip
    """Yield P@1 and P@5 of all words, of those that are not copied, and of frequency bands."""

    def rate(some: list[int], k: int) -> str:
        hits = [any(one in listed[asked[n]] for one in found[n][:k]) for n in some]
        return f"{100 * np.mean(hits):.1f}" if hits else ""

    everything = list(range(len(asked)))
    same = [n for n in everything if asked[n] in listed[asked[n]]]
    other = [n for n in everything if asked[n] not in listed[asked[n]]]
    bands = [[n for n in other if a <= counts[asked[n]] <= b] for a, b in _BANDS]
    yield [name, *(f"{rate(some, 1)} / {rate(some, 5)}" for some in (other, *bands, same))]


def main() -> None:
    options = parser(__doc__)
    options.add_argument("data", type=Path)
    options.add_argument("work", type=Path)
    options.add_argument("--pair", default="en-es", choices=["en-es", "en-de", "en-fr"])
    given = options.parse_args()
    bitext = read_bitext(given.data, given.pair, 30, 500, 1000)
    half = len(bitext.rest) // 2
    texts = [[s for s, _ in bitext.rest[:half]], [t for _, t in bitext.rest[half:]]]
    given.work.mkdir(parents=True, exist_ok=True)
    paths = [given.work / f"{given.data.name}.{given.pair}.{side}" for side in ("source", "target")]
    for sentences, path in zip(texts, paths, strict=True):
        half_index(iter(sentences), path)
    ours, theirs = [signed(path) for path in paths], [fasttext(text) for text in texts]
    listed = listed_translations(bitext)
    counts, known = (Counter(word for words in text for word in words) for text in texts)
    in_text = [word for word in listed if word in counts]
    random.Random(1).shuffle(in_text)
    cut = int(_SEEDS * len(in_text))
    seeds = [(word, listed[word][0]) for word in in_text[:cut]]
    vectors = set(ours[0][0]) & set(theirs[0][0])
    asked = [w for w in in_text[cut:] if w in vectors and any(t in known for t in listed[w])]
    seeds = [(word, target) for word, target in seeds if word in vectors]
    print(f"{len(seeds)} seeds, {len(asked)} words asked, coverage "
          f"{100 * len(asked) / len(in_text[cut:]):.1f}%")  # fmt: skip
    bands = [f"{a} to {b}" if b < 10**9 else f"{a} and more" for a, b in _BANDS]
    table = []
    for name, sides, method in (
        ("distsim, ridge", ours, "ridge"), ("distsim, orthogonal", ours, "orthogonal"),
        ("fastText (gensim), orthogonal", theirs, "orthogonal"),
    ):  # fmt: skip
        found = answers(*sides, seeds, asked, method)
        table += rate_rows(name, asked, found, listed, counts)
    print_table(["vectors, map", "P@1 / P@5", *bands, "identical listed"], table)
    print_machine()


if __name__ == "__main__":
    main()
