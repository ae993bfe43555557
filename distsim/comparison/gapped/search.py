"""Finds the patterns that are most similar to a pattern with a gap.

Candidates come from two sides. The strings that fill the gap are looked up in the corpus, and what
is right before and behind them there, one or two words on either hand, is a pattern that takes
them too. And the phrases nearest to the pattern's words in the table are tried with a gap before
or behind. All are then compared in full by GappedCosine.
"""

from collections.abc import Iterable
from math import log
from typing import NamedTuple

from distsim.base.arguments import one_text, whole_number
from distsim.base.errors import ParameterError
from distsim.base.results import Results
from distsim.comparison.gapped.patterns import GappedPattern, Matcher
from distsim.comparison.gapped.signatures import GappedCosine
from distsim.comparison.measures import similarities
from distsim.comparison.nearest import NeighbourSearch

FILLERS, LONGEST_FILLER = 200, 3
PLACES_OF_FILLER = 100
SIDE = 2  # words on either hand of a filler
COMPARED, NEAR = 250, 50
_COUNTED = 4_000
_COMMON_SHARE = 1 / 1000
_FEWEST_FILLERS = 2


class GappedNeighbour(NamedTuple):
    """A pattern near another: how alike they are, and its matches among the places looked at.

    similarity: the mean of `gaps`, that of GappedCosine, and of `words`, the estimated cosine of
    the two patterns' words as phrases; `gaps` alone where those have none.

    >>> near = GappedNeighbour("consider _", 0.5, 0.62, 0.38, 500)
    >>> near.pattern
    'consider _'
    """

    pattern: str
    similarity: float
    gaps: float
    words: float | None
    matches: int


def gapped_neighbours(
    cosine: GappedCosine, pattern: str, *, k: int = 10, min_matches: int = 10
) -> Results[GappedNeighbour] | None:
    """Return the k patterns most like a pattern with a gap, best first; None where it is unknown.

    Of those that have the same distinctive words only the best is listed, and none that has no
    other than the pattern itself.

    Arguments:
        k: maximum number of results.
        cosine: compares patterns. pattern: such as `take _ into account` or `consider _`; one gap,
            and perhaps one more at either edge.
        min_matches: only patterns found so often, among the places looked at.

    Raises:
        ParameterError: the pattern has no word, no gap, or several inside.

    >>> near = gapped_neighbours(GappedCosine(index, learned), "the _ of the", k=3)
    >>> len(near) <= 3
    True
    """
    k, min_matches = whole_number(k, "k", 1), whole_number(min_matches, "min_matches", 1)
    focal = GappedPattern.of_text(one_text(pattern, "pattern"))
    inside = [slot for slot in range(1, len(focal.parts)) if focal.gaps[slot]]
    if len(inside) > 1 or any(len(names) > 1 for names in focal.gaps):
        raise ParameterError(
            f"{pattern!r}: has several gaps inside, or gaps that touch: give one gap, and perhaps "
            "one more at either edge"
        )
    known = cosine.signature(focal)
    if not known.matches or not any(vector.any() for vector in known.gaps.values()):
        return None
    slot = inside[0] if inside else min(s for s, names in enumerate(focal.gaps) if names)
    distinctive_of_focal = _distinctive(cosine, focal)
    others = {}
    for other in _candidates(cosine, focal, slot):
        distinctive = _distinctive(cosine, other)
        if not (distinctive <= distinctive_of_focal or distinctive_of_focal <= distinctive):
            others[other] = distinctive
    whole = similarities(cosine.table, [(focal.words, other.words) for other in others])
    neighbours = []
    for (other, distinctive), words in zip(others.items(), whole, strict=True):
        gaps = cosine.compare(focal, other)
        matches = cosine.signature(other).matches
        if gaps is not None and matches >= min_matches:
            mean = gaps if words is None else (gaps + words) / 2
            neighbours.append(
                (GappedNeighbour(other.text, mean, gaps, words, matches), distinctive)
            )
    neighbours.sort(
        key=lambda scored: (-scored[0].similarity, -scored[0].matches, scored[0].pattern)
    )
    listed, seen = Results[GappedNeighbour](), set()
    for near, distinctive in neighbours:
        if distinctive not in seen and len(listed) < k:
            seen.add(distinctive)
            listed.append(near)
    return listed


def _candidates(cosine: GappedCosine, focal: GappedPattern, slot: int) -> list[GappedPattern]:
    """Return patterns with the gaps of `focal`, each once: those of fillers, best first.

    None that has at its gap what the focal one has on that hand, and more: `in from _` for
    `from _ to`.
    """
    name = focal.gaps[slot][0]
    bare = [*_of_fillers(cosine, focal, slot), *_of_words(cosine, focal)]
    edges = [
        (focal.gaps[0] if slot != 0 else ()),
        (focal.gaps[-1] if slot != len(focal.parts) else ()),
    ]
    own = (
        focal.parts[slot - 1] if slot else (),
        focal.parts[slot] if slot < len(focal.parts) else (),
    )
    candidates = []
    for before, behind in dict.fromkeys(bare):
        if (own[0] and before[-len(own[0]) :] == own[0]) or own[1] == behind[: len(own[1])] != ():
            continue
        symbols: list[tuple[str, object]] = [("", gap) for gap in edges[0]]
        if (edges[0] and not before) or (edges[1] and not behind):
            continue  # its gap would touch that at the edge
        symbols += [(word, None) for word in before] + [("", name)]
        symbols += [(word, None) for word in behind] + [("", gap) for gap in edges[1]]
        pattern = GappedPattern.of_symbols(symbols)
        if pattern.parts != focal.parts:
            candidates.append(pattern)
    return candidates


def _of_words(
    cosine: GappedCosine, focal: GappedPattern
) -> Iterable[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield the phrases nearest to the pattern's words, with the gap behind or before them."""
    for neighbour in NeighbourSearch(cosine.table).nearest(focal.words, k=NEAR) or ():
        words = tuple(neighbour.phrase.split())
        if not focal.gaps[0] or len(focal.parts) > 1:
            yield words, ()
        if focal.gaps[0] or len(focal.parts) > 1:
            yield (), words


def _of_fillers(
    cosine: GappedCosine, focal: GappedPattern, slot: int
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the words right before and behind the pattern's fillers elsewhere, best first.

    Scored by the rarity of the fillers that it is seen with, times ln(1 + how much more often than
    chance it is beside one).
    """
    index = cosine.index
    fillers = _filler_strings(cosine, focal, slot)
    matcher = Matcher(index, PLACES_OF_FILLER, PLACES_OF_FILLER)
    seen: dict[tuple[tuple[int, ...], tuple[int, ...]], dict[int, int]] = {}
    n_places = 0
    rarities = []
    for number, (words, count) in enumerate(fillers):
        rarities.append(log(index.n_tokens / count))
        matches = matcher.matches((words,))
        if matches is None:
            continue
        n_places += len(matches.begins)
        around = (matcher.fillers(matches, hand, SIDE).tolist() for hand in (0, 1))
        for left, right in zip(*around, strict=True):
            for a in range(SIDE + 1):
                for b in range(SIDE + 1):
                    if a + b and 0 not in left[:a] and 0 not in right[:b]:
                        key = tuple(left[:a][::-1]), tuple(right[:b])
                        times = seen.setdefault(key, {})
                        times[number] = times.get(number, 0) + 1
    weighed = [
        (sum(rarities[number] for number in times), sum(times.values()), key)
        for key, times in seen.items()
        if len(times) >= _FEWEST_FILLERS
    ]
    weighed.sort(key=lambda scored: (-scored[0], scored[2]))
    word = index.vocabulary.word
    texts = [
        tuple(tuple(word(number) for number in side) for side in key)
        for _, _, key in weighed[:_COUNTED]
    ]
    left_counts, right_counts = (_counts(cosine, [text[side] for text in texts]) for side in (0, 1))
    counts = [min(pair) for pair in zip(left_counts, right_counts, strict=True)]
    scored = [
        (rarity * log(1.0 + times * index.n_tokens / (max(1, count) * max(1, n_places))), text)
        for (rarity, times, _), count, text in zip(weighed, counts, texts, strict=False)
    ]
    scored.sort(key=lambda scored: (-scored[0], scored[1]))
    return [(text[0], text[1]) for _, text in scored[:COMPARED]]


def _counts(cosine: GappedCosine, sides: list[tuple[str, ...]]) -> list[int]:
    """Return how often each side occurs in the corpus; that of an empty one is all of it."""
    distinct = [side for side in dict.fromkeys(sides) if side]
    counts = cosine.index.count([" ".join(side) for side in distinct]).tolist()
    known: dict[tuple[str, ...], int] = dict(zip(distinct, counts, strict=True))
    return [known.get(side, cosine.index.n_tokens) for side in sides]


def _filler_strings(
    cosine: GappedCosine, focal: GappedPattern, slot: int
) -> list[tuple[tuple[str, ...], int]]:
    """Return strings that fill the gap, (words, count in the corpus), most often seen first.

    Of a gap at an edge, whose end nobody knows, the one to three words beside it are three fillers.
    """
    matches = cosine.matcher.matches(focal.parts)
    assert matches is not None
    inner = 0 < slot < len(focal.parts)
    rows = cosine.matcher.fillers(matches, slot, LONGEST_FILLER + 1)
    times: dict[tuple[int, ...], int] = {}
    for row in rows.tolist():
        whole = row.index(0) if 0 in row else len(row)
        sizes = [whole] if inner else range(1, min(whole, LONGEST_FILLER) + 1)
        for size in sizes:
            if 0 < size <= LONGEST_FILLER:
                key = tuple(row[:size] if slot else row[:size][::-1])
                times[key] = times.get(key, 0) + 1
    word = cosine.index.vocabulary.word
    texts = {key: tuple(word(number) for number in key) for key in times}
    counts = dict(zip(times, _counts(cosine, list(texts.values())), strict=True))
    total = cosine.index.n_tokens
    fillers = [
        key for key in times
        if counts[key] > times[key] and counts[key] < _COMMON_SHARE * total
    ]  # fmt: skip
    fillers.sort(key=lambda key: (-times[key] * log(total / counts[key]), key))
    return [(texts[key], counts[key]) for key in fillers[:FILLERS]]


def _distinctive(cosine: GappedCosine, pattern: GappedPattern) -> frozenset[str]:
    """Return the words of a pattern that are no commoner than a thousandth of the text.

    All of them where there is none.
    """
    words = [word for part in pattern.parts for word in part]
    counts = cosine.index.count(words)
    distinctive = frozenset(
        word for word, count in zip(words, counts.tolist(), strict=True)
        if count < _COMMON_SHARE * cosine.index.n_tokens
    )  # fmt: skip
    return distinctive or frozenset(words)
