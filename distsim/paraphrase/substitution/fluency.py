"""Log probabilities of the fillers of a slot; the index is the n-gram model.

Nothing is stored for it: counts are sizes of suffix intervals, carried along from word to word.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from distsim.base.arguments import Words
from distsim.indexes.shard import damaged
from distsim.kernels.compiled import frozen
from distsim.paraphrase.finder.inflections import Forms
from distsim.paraphrase.finder.lexicon import Lexicon
from distsim.paraphrase.kernels import fluency as kernel
from distsim.paraphrase.substitution.occurrence import Occurrence

_AS_FOUND = 3.0  # by so much another form than the one found is likelier that is shown, ln


class Filled(NamedTuple):
    """The n-gram evidence of candidates that fill a slot in a sentence.

    logs: float64[n], ln of the probability of all inflected forms of each candidate together, since
        people name a substitute in another form than the sentence needs.
    forms: the inflected form of each candidate that is shown in the slot.
    articles: `an` or `a` where the word before the slot has to become that, else "".
    """

    logs: np.ndarray
    forms: list[Words]
    articles: list[str]


class Fluency:
    """Scorer of the fillers of a slot; may be shared by threads.

    Arguments:
        lexicon: the words that occur.
        forms: inflected forms.
        order: the longest n-grams; higher tells more, and costs time.
        prior_count: a history seen so often weighs as much as the shorter one; higher smooths more.
    """

    def __init__(
        self, lexicon: Lexicon, forms: Forms, order: int = 5, prior_count: float = 16.0
    ) -> None:
        self._lexicon = lexicon
        self._index = lexicon.index
        self._forms = forms
        self._order = order
        self._prior_count = prior_count

    def scores(
        self,
        occurrence: Occurrence,
        candidates: Sequence[Words],
        kinds: Sequence[str] | None = None,
        given: Sequence[Words] | None = None,
    ) -> Filled:
        """Return the probability of each candidate in the slot, and the form that is shown there.

        Where the word before the slot depends on the next word (`a`, `an`), the likelier of its
        forms is taken for each candidate, and the one shown that is mostly before it.

        Arguments:
            occurrence: the target in its sentence.
            candidates: words of each candidate.
            kinds: for each candidate that is a base word, the inflection (`Forms.kind`) whose forms
                are preferred, unless they are much rarer.
            given: the form in which each candidate was found without the sentence, () for none; it
                is shown, unless another is much likelier.
        """
        before = occurrence.left_words[0] if occurrence.left_words else ""
        articles = self._forms.inflections.alternates.get(before, ())
        fillers, owners, slots = [], [], []
        for number, words in enumerate(candidates):
            for form in self._forms.of_phrase(words):
                for article in articles or ("",):
                    slots.append((*filter(None, (article,)), *form))
                    fillers.append((article, form))
                    owners.append(number)
        within = occurrence.without_word_before() if articles else occurrence
        logs = self.log_probabilities(within, slots)
        total = np.full(len(candidates), -np.inf)
        best: list[tuple[bool, float, str, Words]] = [(False, -np.inf, "", ())] * len(candidates)
        for owner, (article, form), log in zip(owners, fillers, logs.tolist(), strict=True):
            total[owner] = np.logaddexp(total[owner], log)
            base = candidates[owner]
            agrees = False
            if kinds is not None and len(base) == 1 and self._forms.has(base[0], kinds[owner]):
                agrees = self._forms.kind(form[0], base[0]) == kinds[owner]
            if given is not None and form == given[owner]:
                log += _AS_FOUND
            if (agrees, log) > best[owner][:2]:
                best[owner] = agrees, log, article, form
        shown = [form for *_, form in best]
        usual = self._usual(articles, shown, [article for *_, article, _ in best])
        return Filled(total, shown, ["" if one == before else one for one in usual])

    def _usual(
        self, articles: Sequence[str], shown: list[Words], likeliest: list[str]
    ) -> list[str]:
        """Return the article that stands most often before each phrase; the likeliest if none."""
        if not articles:
            return likeliest
        firsts = [words[0] if words else "" for words in shown]
        pairs = [f"{article} {word}" for word in firsts for article in articles]
        counts = self._index.count(pairs).reshape(-1, len(articles))
        most = [articles[place] for place in counts.argmax(axis=1).tolist()]
        highest = counts.max(axis=1, initial=0).tolist()
        return [usual if highest[i] else likeliest[i] for i, usual in enumerate(most)]

    def log_probabilities(self, occurrence: Occurrence, fillers: Sequence[Words]) -> np.ndarray:
        """Return ln p(filler and the words behind it | the words before it), float64[n].

        The n-grams reach back `order` - 1 words, and as many words behind the slot are scored; a
        sentence's end is a word of its own. A word that the index does not know has the count
        1/2.

        Arguments:
            occurrence: of the target.
            fillers: the words of n of them.
        """
        reach = self._order - 1
        left = occurrence.left[:reach][::-1]
        right = occurrence.right[:reach]
        ids = self._lexicon.ids([word for words in fillers for word in words])
        stops = np.cumsum([len(words) for words in fillers], dtype=np.int64)
        counts = np.zeros((ids.size + len(fillers) * (1 + right.size), self._order))
        for shard in self._index.shards:
            state = kernel.count_windows(
                shard.tokens, shard.suffixes, shard.word_starts, frozen(left), frozen(ids),
                frozen(stops), frozen(right), counts,
            )  # fmt: skip
            if state == kernel.DAMAGED:
                raise damaged(self._index.path)
        scores = np.empty((len(fillers), 2))
        kernel.score_windows(
            frozen(counts), left.size, frozen(stops), right.size,
            float(self._index.n_tokens), self._prior_count, scores,
        )  # fmt: skip
        summed: np.ndarray = scores.sum(axis=1)
        return summed
