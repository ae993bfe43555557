"""Parses patterns with gaps, as `take _ into account`, and rule sides; finds matches in an index.

Of the part that is rarest at most `places` occurrences are taken, by a hash of their position, so
that shards do not matter; the other parts are looked for around those, over the shortest gap. At
most `matches` are kept, evenly spaced in the corpus.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from distsim.base.errors import ParameterError
from distsim.comparison.kernels import gather_fillers, match_parts
from distsim.corpus.vocabulary import hash_texts
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.shard import Shard, damaged
from distsim.kernels.compiled import frozen
from distsim.kernels.paraphrase import copy_taken, count_taken

GAP = "_"


@dataclass(frozen=True)
class GappedPattern:
    """Parts of words with gaps before, between and behind them.

    parts: the words of each, as text. gaps: len(parts) + 1 tuples, the names of the gaps that
    are before part 0, between parts 0 and 1, and so on: one between two parts at least, none or
    one at an edge, several where gaps touch, which cannot be told apart in plain text.

    >>> GappedPattern.of_text("take _ into account")
    GappedPattern(parts=(('take',), ('into', 'account')), gaps=((), (0,), ()))
    """

    parts: tuple[tuple[str, ...], ...]
    gaps: tuple[tuple[Hashable, ...], ...]

    @classmethod
    def of_symbols(cls, symbols: Sequence[tuple[str, Hashable | None]]) -> "GappedPattern":
        """Return the pattern of symbols, each (word, None) or (anything, the gap's name).

        Arguments:
            symbols: (word, None) for a word, (anything, name) for a gap.
        """
        parts: list[list[str]] = []
        gaps: list[list[Hashable]] = [[]]
        inside = False
        for word, gap in symbols:
            if gap is not None:
                if inside:
                    gaps.append([])
                gaps[-1].append(gap)
                inside = False
            else:
                if not inside:
                    parts.append([])
                parts[-1].append(word)
                inside = True
        if inside:
            gaps.append([])
        return cls(tuple(map(tuple, parts)), tuple(map(tuple, gaps)))

    @classmethod
    def of_text(cls, text: str) -> "GappedPattern":
        """Return the pattern of a text in which each `_` is a gap, named 0, 1 ... from the left.

        Arguments:
            text: words separated by spaces, `_` for a gap.

        Raises:
            ParameterError: it has no word, or no gap.
        """
        named: list[tuple[str, int | None]] = []
        n_gaps = 0
        for word in text.split():
            named.append((word, n_gaps if word == GAP else None))
            n_gaps += word == GAP
        if not n_gaps or n_gaps == len(named):
            raise ParameterError(
                f"{text!r}: a pattern has words, and a {GAP} for others, as in "
                f"'take {GAP} into account' or 'consider {GAP}'"
            )
        return cls.of_symbols(named)

    @property
    def text(self) -> str:
        """The pattern with `_` for each gap."""
        pieces: list[str] = []
        for number, names in enumerate(self.gaps):
            pieces += [GAP] * len(names)
            pieces += self.parts[number] if number < len(self.parts) else ()
        return " ".join(pieces)

    @property
    def words(self) -> str:
        """Its words alone."""
        return " ".join(word for part in self.parts for word in part)

    def around(self, slot: int) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Return ever less of the words right before and behind a gap, longest first.

        Both hands while there are two; then one of them. The whole parts are left out where the
        pattern has no others.
        """
        before = self.parts[slot - 1] if slot > 0 else ()
        behind = self.parts[slot] if slot < len(self.parts) else ()
        sizes = range(max(len(before), len(behind)), 0, -1)
        surroundings = [(before[-m:], behind[:m]) for m in sizes]
        if before and behind:
            surroundings += [pair for m in sizes for pair in ((before[-m:], ()), ((), behind[:m]))]
        return list(dict.fromkeys(surroundings))


LONGEST_GAP = 6
_EVERY_HASH = 1 << 32
_CACHED_PATTERNS = 1 << 12

Parts = tuple[tuple[str, ...], ...]


class PatternMatches(NamedTuple):
    """Positions of the parts of a pattern.

    begins, ends: int64[n, n_parts], positions in the corpus, half-open, rows ascending.
    """

    begins: np.ndarray
    ends: np.ndarray


class Matcher:
    """Finds sampled matches of patterns and caches them; may be shared by threads.

    Arguments:
        index: the corpus.
        places: at most about so many occurrences of a pattern's rarest part are looked around;
            more find more of frequent words' patterns and take longer.
        matches: at most so many are kept.
        longest_gap: tokens in a gap between two parts.
    """

    def __init__(
        self, index: CorpusIndex, places: int, matches: int, longest_gap: int = LONGEST_GAP
    ) -> None:
        self._index = index
        self._places, self._matches = places, matches
        self.longest_gap = longest_gap
        self._kept_matches = lru_cache(_CACHED_PATTERNS)(self._match)

    def matches(self, parts: Parts) -> PatternMatches | None:
        """Return sampled matches of parts with a gap between neighbours; None without any.

        Arguments:
            parts: the phrases between the gaps, in order.
        """
        return self._kept_matches(parts)

    def fillers(self, matches: PatternMatches, slot: int, max_fillers: int) -> np.ndarray:
        """Return the words in a gap of each match, uint32[n, m], 0 behind the last.

        Arguments:
            max_fillers: words of each.
            slot: 0 before the first part, then the gaps in order, then behind the last part;
                before the first part and behind the last one the nearest words come first.
        """
        rows = np.zeros((len(matches.begins), max_fillers), np.uint32)
        step = 1 if slot else -1
        firsts = matches.ends[:, slot - 1] if slot else matches.begins[:, 0] - 1
        nowhere = np.full(len(firsts), -2, np.int64)
        stops = matches.begins[:, slot] if 0 < slot < matches.begins.shape[1] else nowhere
        for mine, shard in self._of_shards(firsts):
            here = shard.first_position
            part = rows[mine]
            inside = np.where(stops[mine] < 0, stops[mine], stops[mine] - here)
            state = gather_fillers(
                shard.tokens, frozen(firsts[mine] - here), frozen(inside), step,
                self._index.n_words, part,
            )  # fmt: skip
            if state < 0:
                raise damaged(self._index.path)
            rows[mine] = part
        return rows

    def _of_shards(self, positions: np.ndarray) -> Iterator[tuple[np.ndarray, Shard]]:
        starts = [shard.first_position for shard in self._index.shards]
        owners = np.searchsorted(starts, positions, "right") - 1
        for number, shard in enumerate(self._index.shards):
            yield np.flatnonzero(owners == number), shard

    def _match(self, parts: Parts) -> PatternMatches | None:
        index = self._index
        words = [index.words(" ".join(part)) for part in parts]
        if not all(words):  # a part of which the normaliser leaves nothing
            return None
        pieces = [word.encode(errors="surrogatepass") for part in words for word in part]
        ids = frozen(index.vocabulary.find(hash_texts(pieces)).astype(np.int64))
        stops = np.cumsum([len(part) for part in words], dtype=np.int64)
        if (ids < 0).any():
            return None
        bounds = [shard.intervals(ids, stops) for shard in index.shards]
        counts = np.sum([highs - lows for lows, highs in bounds], axis=0)
        anchor = int(np.argmin(counts))
        starts = np.append(0, stops)
        begins = []
        for shard, (lows, highs) in zip(index.shards, bounds, strict=True):
            places = self._taken(shard, lows, highs, anchor, int(counts[anchor]))
            room = np.empty((places.size + 1, stops.size), np.int64)
            n = match_parts(
                shard.tokens, frozen(places), frozen(ids), frozen(starts), anchor,
                self.longest_gap, room,
            )  # fmt: skip
            if n < 0:
                raise damaged(index.path)
            begins.append(room[:n] + shard.first_position)
        matches = np.concatenate(begins)
        if not len(matches):
            return None
        if len(matches) > self._matches:
            matches = matches[np.arange(self._matches) * len(matches) // self._matches]
        return PatternMatches(matches, matches + np.diff(starts))

    def _taken(
        self, shard: Shard, lows: np.ndarray, highs: np.ndarray, anchor: int, count: int
    ) -> np.ndarray:
        """Return the places of a part in a shard that are looked around, ascending, int64.

        Arguments:
            lows, highs: int64[1], the part's interval of suffixes.
        """
        threshold = frozen(
            np.array([min(_EVERY_HASH, self._places * _EVERY_HASH // max(1, count))], np.uint64)
        )
        chosen = frozen(np.array([anchor]))
        here = (chosen, frozen(lows), frozen(highs), shard.first_position, threshold)
        sizes = np.zeros(1, np.int64)
        count_taken(shard.suffixes, *here, sizes)
        positions = np.empty(int(sizes[0]), np.int64)
        copy_taken(shard.suffixes, *here, np.zeros(1, np.int64), positions)
        positions.sort()
        return positions - shard.first_position
