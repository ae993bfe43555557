"""Cosines of candidates with a focal profile, with a cache of profiles of common phrases."""

from collections import OrderedDict
from threading import Lock

import numpy as np

from distsim.paraphrase.occurrences import Located, Sampler, Words
from distsim.paraphrase.profiles import Profile, Profiler

_COMMON = 1 << 12
_COLLOCATE_BYTES = 12


class Comparer:
    """Cosines of phrases with a focal one, from all sampled occurrences or from a few.

    Common phrases are candidates often, so their profiles are cached; the values are the same
    without the cache. May be shared by threads.

    Arguments:
        profiler: makes profiles.
        sampler: chooses the occurrences of candidates.
        memory: bytes of cached profiles.
    """

    def __init__(self, profiler: Profiler, sampler: Sampler, memory: int) -> None:
        self._most = memory // _COLLOCATE_BYTES
        self._profiler = profiler
        self._sampler = sampler
        self._kept: OrderedDict[tuple[Words, int | None], Profile] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def cosines(
        self, focal: Profile, located: Located, numbers: np.ndarray, few: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (cosines float64, occurrences taken int64) of some phrases.

        few: take about so many occurrences and weigh them roughly; None: as many as the
        sampler takes, in full.

        focal: the profile compared with; located, numbers: int64, the phrases.
        """
        is_common = located.counts[numbers] > _COMMON
        cosines = np.empty(numbers.size)
        taken = np.empty(numbers.size, np.int64)
        rare = numbers[~is_common]
        if few is None:
            sampled = self._sampler.sample(located, rare)
        else:
            sampled = self._sampler.few(located, rare, few)
        cosines[~is_common] = self._profiler.cosines(focal, sampled, rough=few is not None)
        taken[~is_common] = np.diff(sampled.starts)
        common = numbers[is_common].tolist()
        profiles = [self._of_common(located, number, few) for number in common]
        cosines[is_common] = self._profiler.cosines_of_profiles(focal, profiles)
        taken[is_common] = [profile.taken for profile in profiles]
        return cosines, taken

    def _of_common(self, located: Located, number: int, few: int | None) -> Profile:
        key = (located.phrase(number), few)
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                return kept
        one = np.array([number])
        if few is None:
            profile = self._profiler.profile(self._sampler.sample(located, one))
        else:
            profile = self._profiler.profile(self._sampler.few(located, one, few), rough=True)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = profile
                self._size += profile.words.size
            while self._size > self._most and len(self._kept) > 1:
                self._size -= self._kept.popitem(last=False)[1].words.size
        return profile
