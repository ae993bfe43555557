"""Compares systems' rewritings of the same sentences, with paired bootstrap.

Counts are kept apart from scores: what a measure adds up is a row a sentence, so that a sample
of sentences is a sum of rows.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from distsim.base.arguments import in_range, one_of, whole_number
from distsim.base.errors import InputError, ParameterError, counted, how_to_install
from distsim.corpus.lines import decoded_line, read_text_lines
from distsim.evaluation.rewriting_scores import (
    PRECIS_LAMBDA,
    SariCounts,
    SentenceSari,
    corpus_sari,
    sari_tokens,
    verbosity,
)

LONGEST = 60  # words: variables grow with their cube
_SECONDS = 20


def integer_compression(
    tokens: Sequence[str],
    words: int,
    trigram: Callable[[str, str, str], float],
    *,
    significance: Sequence[float] | None = None,
    heads: Sequence[int] | None = None,
) -> list[str]:
    """Return the compression of so many words that an integer programme finds best.

    Clarke and Lapata 2008, section 3: the sum of ln p of each word that stays after the two that
    stay before it, and of its significance; solved by `scipy.optimize.milp`. Sentences of over 60
    words are truncated, as are those that take too long.

    Arguments:
        tokens: of a sentence. words: how many stay, all where there are no more.
        trigram: ln p of the third word after two; <s> stands before the first word, </s> behind the
            last.
        significance: of each word, 0 where None.
        heads: where each word's head in the sentence is, -1 for none; a word stays only with its
            head (the modifier constraints). None: no constraint.

    Raises:
        ParameterError: `words` is below 1.

    >>> def trigram(a, b, c):
    ...     return {"the": -1.0, "king": -1.0, "old": -5.0}.get(c, -2.0)
    >>> integer_compression(["the", "old", "king", "slept"], 3, trigram)
    ['the', 'king', 'slept']
    """
    in_range(words, "words", 1)
    n = len(tokens)
    if n <= words:
        return list(tokens)
    if n > LONGEST:
        return list(tokens[:words])
    padded = ["<s>", *tokens, "</s>"]
    # A trigram variable x[i, j, k] says that i, j, k follow each other; i = 0 also for two starts.
    steps = [(0, 0, k) for k in range(1, n + 1)]
    steps += [(0, j, k) for j, k in combinations(range(1, n + 2), 2)]
    steps += list(combinations(range(1, n + 2), 3))
    pairs = dict.fromkeys(pair for i, j, k in steps for pair in ((i, j), (j, k)))
    number = {pair: at for at, pair in enumerate(pairs)}
    gains = np.array([trigram(*(padded[at] for at in step)) for step in steps])
    worth = np.zeros(n + 2) if significance is None else np.array([0, *significance, 0.0])
    gains += worth[[k for _, _, k in steps]]
    rows: list[tuple[int, int, float]] = []
    wanted: list[tuple[float, float]] = []
    # What enters a pair leaves it; the start is entered once, an end has nothing behind it.
    for pair in number:
        wanted.append((0, 0) if pair[1] != n + 1 and pair != (0, 0) else (0, 1))
        if pair == (0, 0):
            wanted[-1] = (-1, -1)
    for column, (i, j, k) in enumerate(steps):
        rows.append((number[i, j], column, -1.0))
        rows.append((number[j, k], column, 1.0))
    stays = len(wanted)  # the number of words that stay
    wanted.append((words, words))
    rows += [(stays, column, 1.0) for column, (_, _, k) in enumerate(steps) if k <= n]
    for word, head in enumerate(heads or (), 1):
        if head < 0:
            continue
        for column, (_, _, k) in enumerate(steps):
            if k in (word, head + 1):
                rows.append((len(wanted), column, 1.0 if k == word else -1.0))
        wanted.append((-1, 0))
    return _solved(gains, rows, wanted, steps, tokens, words)


def _solved(
    gains: np.ndarray,
    rows: Sequence[tuple[int, int, float]],
    wanted: Sequence[tuple[float, float]],
    steps: Sequence[tuple[int, int, int]],
    tokens: Sequence[str],
    words: int,
) -> list[str]:
    """Return the words of the best solution; the first ones where there is none in time."""
    row, column, value = zip(*rows, strict=True)
    matrix = coo_array((value, (row, column)), shape=(len(wanted), len(steps))).tocsr()
    low, high = zip(*wanted, strict=True)
    result = milp(
        -gains,
        constraints=LinearConstraint(matrix, low, high),
        integrality=np.ones(gains.size),
        bounds=Bounds(0, 1),
        options={"time_limit": _SECONDS},
    )
    if result.x is None:
        return list(tokens[:words])
    kept_words = sorted(k for (_, _, k), x in zip(steps, result.x, strict=True) if x > 0.5)
    return [tokens[k - 1] for k in kept_words if k <= len(tokens)]


def length_pairs(
    variants: Iterable[Sequence[str]], *, least: float = 0.5, most: float = 0.8
) -> list[tuple[str, str]]:
    """Return the longest and the shortest variant of each sentence, where they fit (thesis 4.2.3).

    Arguments:
        variants: of each sentence itself and people's rewritings.
        least, most: the shortest has more than `least` and at most `most` of the longest's words.

    >>> length_pairs([["the old king slept well", "the king slept", "he slept"]])
    []
    >>> length_pairs([["the old king slept well", "the king slept"]])
    [('the old king slept well', 'the king slept')]
    """
    pairs = []
    for sentences in variants:
        longest = max(sentences, key=lambda sentence: len(sentence.split()))
        shortest = min(sentences, key=lambda sentence: len(sentence.split()))
        if least < len(shortest.split()) / max(len(longest.split()), 1) <= most:
            pairs.append((longest, shortest))
    return pairs


COPY = "copy"
NONSENSE = "zzqq"
MEASURES = (
    "SARI", "add", "keep", "delete", "sentence-SARI", "BLEU", "chrF", "TER", "PRECIS", "ratio",
    "kept", "edits", "moved", "LM",
)  # fmt: skip


class System(NamedTuple):
    """A system that rewrites sentences.

    name: for the report. sentences: its rewriting of every sentence.
    """

    name: str
    sentences: list[str]


class SystemRow(NamedTuple):
    """Measures of one system, and their differences from the baseline's.

    values: corpus-level SARI and its three parts, mean SARI of sentences, BLEU, chrF, TER, PRECIS:
    times 100; ratio: words to the source's; kept: the share of the source's words that stay; edits:
    insertions, deletions and replacements of words, to the source's words; moved: the share of
    pairs of words in both that stand in the other order (both measure variation, Madsen 2006); LM:
    ln p a word.
    differences: by name, (difference, low and high end of its 95% interval, p): p is the share
    of samples in which the sign is another, twice.
    """

    name: str
    values: dict[str, float]
    differences: dict[str, tuple[float, float, float, float]]


def read_sentences(path: str | Path, wanted: int | None = None, as_is: bool = False) -> list[str]:
    """Return the lines of a file.

    Arguments:
        path: of the file, `-` for standard input.
        wanted: the number of lines; any where None.
        as_is: take what looks like another format, too.

    Raises:
        InputError: it is not UTF-8, looks like something else than plain text and is not to be
            taken `as_is`, or has not as many lines as wanted.
    """
    lines = [
        decoded_line(raw, f"{path}, line {number}") for number, raw in read_text_lines(path, as_is)
    ]
    if wanted is not None and len(lines) != wanted:
        raise InputError(
            f"{path}: {counted(len(lines), 'line')} for {counted(wanted, 'sentence')}: give "
            "one line for each, in "
            "the same order"
        )
    return lines


def truncated(source: str, words: int) -> str:
    """Return the first words of a sentence, its last mark of punctuation kept.

    >>> truncated("a b c d .", 3)
    'a b .'
    """
    tokens = source.split()
    if len(tokens) <= words:
        return source
    if words > 1 and not tokens[-1].isalnum():
        return " ".join([*tokens[: words - 1], tokens[-1]])
    return " ".join(tokens[:words])


def shortened(source: str, words: int, draw: random.Random) -> str:
    """Return a sentence with words deleted at random until `words` are left."""
    tokens = source.split()
    places = sorted(draw.sample(range(len(tokens)), min(len(tokens), max(words, 1))))
    return " ".join(tokens[i] for i in places)


def with_nonsense(source: str) -> str:
    """Return a sentence with its longest word, the first of equal ones, replaced by nonsense.

    >>> with_nonsense("the old king slept")
    'the old king zzqq'
    """
    tokens = source.split()
    if tokens:
        tokens[tokens.index(max(tokens, key=len))] = NONSENSE
    return " ".join(tokens)


def controls(source: Sequence[str], systems: Sequence[System], seed: int) -> Iterator[System]:
    """Yield control systems: the copy, nonsense, truncation and deletion to systems' lengths."""
    yield System(COPY, list(source))
    yield System("nonsense", [with_nonsense(sentence) for sentence in source])
    for system in systems:
        draw = random.Random(whole_number(seed, "`seed`", 0))
        lengths = [max(1, len(text.split())) for text in system.sentences]
        pairs = list(zip(source, lengths, strict=True))
        yield System(f"truncation like {system.name}", [truncated(*pair) for pair in pairs])
        yield System(f"deletion like {system.name}", [shortened(*pair, draw) for pair in pairs])


class Evaluation:
    """Measures of rewritings against the source and references.

    Arguments:
        source: sentences. references: for each reference the rewritings of all sentences.
        phi: the compression that PRECIS asks for. ter: TER too, which takes a hundred times as
            long as all else. log_probability: ln p of a sentence, None
            where there is no language model.

    Raises:
        ParameterError: there is no reference, or sacrebleu is not installed.
    """

    def __init__(
        self,
        source: Sequence[str],
        references: Sequence[Sequence[str]],
        *,
        phi: float = 0.75,
        ter: bool = False,
        log_probability: Callable[[Sequence[str]], float] | None = None,
    ) -> None:
        if not references:
            raise ParameterError("no references: give at least one file of them")
        try:
            from sacrebleu.metrics.bleu import BLEU
            from sacrebleu.metrics.chrf import CHRF
            from sacrebleu.metrics.ter import TER
        except ImportError:
            raise ParameterError(
                f"BLEU, chrF and TER need sacrebleu: {how_to_install('sentences')}"
            ) from None
        self._source = [sentence.split() for sentence in source]
        self._references = [list(sentences_of_reference) for sentences_of_reference in references]
        self._phi = phi
        self._log_probability = log_probability
        self._metrics: dict[str, Any] = {
            "BLEU": BLEU(tokenize="none", force=True),
            "chrF": CHRF(),
        }
        if ter:
            self._metrics["TER"] = TER()
        people = [
            [sentence.split() for sentence in of_sentence]
            for of_sentence in zip(*references, strict=True)
        ]
        self._sentence_sari = list(map(SentenceSari, self._source, people))
        people = [
            list(map(sari_tokens, of_sentence)) for of_sentence in zip(*references, strict=True)
        ]
        self._sari = list(map(SariCounts, map(sari_tokens, source), people))

    def counts(self, sentences: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the sufficient statistics of each measure by name, float64[sentences, columns].

        Arguments:
            sentences: the rewriting of each sentence, tokenised.
        """
        tokens = [sentence.split() for sentence in sentences]
        pairs = zip(self._sari, map(sari_tokens, sentences), strict=True)
        scored = zip(self._sentence_sari, tokens, strict=True)
        rows = {
            "SARI": np.array([counts.counts_of(sentence) for counts, sentence in pairs]),
            "sentence-SARI": np.array([sari.score(sentence) for sari, sentence in scored]),
        }
        for name, metric in self._metrics.items():
            stats = metric._extract_corpus_statistics(list(sentences), self._references)
            rows[name] = np.array(stats, np.float64)
        words = np.array([len(sentence_tokens) for sentence_tokens in tokens], np.float64)
        before = np.array([len(sentence_tokens) for sentence_tokens in self._source], np.float64)
        kept = [_kept(a, b) for a, b in zip(self._source, tokens, strict=True)]
        logs = np.zeros(len(tokens))
        if self._log_probability is not None:
            logs = np.array([self._log_probability(sentence_tokens) for sentence_tokens in tokens])
        edits = [edit_distance(a, b) for a, b in zip(self._source, tokens, strict=True)]
        moved = [reordered(a, b) for a, b in zip(self._source, tokens, strict=True)]
        rows["words"] = np.column_stack([words, before, kept, edits, moved, logs, words + 1])
        return rows

    def values(self, counts: dict[str, np.ndarray], times: np.ndarray) -> list[dict[str, float]]:
        """Return the measures of each sample of sentences, from its summed counts.

        Arguments:
            counts: sufficient statistics by measure, as `counts` returns them.
            times: float64[samples, sentences], the count of each sentence in each sample.
        """
        sums = {name: times @ rows for name, rows in counts.items()}
        sizes = times.sum(axis=1)
        out = []
        for k in range(len(times)):
            values = {}
            add, keep, delete = (100 * part for part in corpus_sari(sums["SARI"][k]))
            values["SARI"] = (add + keep + delete) / 3
            values.update(add=add, keep=keep, delete=delete)
            values["sentence-SARI"] = 100 * float(sums["sentence-SARI"][k] / sizes[k])
            for name, metric in self._metrics.items():
                row = sums[name][k]
                whole = row.astype(np.int64) if name != "TER" else row
                values[name] = float(metric._compute_score_from_stats(whole.tolist()).score)
            words, before, kept, edits, *moved, logs, scored = sums["words"][k].tolist()
            factor = verbosity(before, words, self._phi, PRECIS_LAMBDA)
            values["PRECIS"] = values["BLEU"] * factor
            values["ratio"] = words / before if before else 0.0
            values["kept"] = kept / before if before else 0.0
            values["edits"] = edits / before if before else 0.0
            values["moved"] = moved[0] / moved[1] if moved[1] else 0.0
            if self._log_probability is not None:
                values["LM"] = logs / scored
            out.append(values)
        return out

    def rows(
        self, systems: Sequence[System], *, baseline: str = COPY, samples: int = 1000, seed: int = 1
    ) -> Iterator[SystemRow]:
        """Yield each system's measures and their differences from one of the systems.

        Paired bootstrap (Koehn 2004): the same samples of sentences for all systems.

        Arguments:
            baseline: the name of one of them.

        Raises:
            ParameterError: no system has the baseline's name.
        """
        by_name = {system.name: system for system in systems}
        one_of(baseline, by_name, "baseline")
        n = len(self._source)
        draw = np.random.default_rng(whole_number(seed, "`seed`", 0))
        times = np.array(
            [np.bincount(draw.integers(0, n, n), minlength=n) for _ in range(samples)], np.float64
        ).reshape(samples, n)
        everything = np.concatenate([np.ones((1, n)), times])
        first = self.values(self.counts(by_name[baseline].sentences), everything)
        for system in systems:
            if system.name == baseline:
                yield SystemRow(system.name, first[0], {})
                continue
            mine = self.values(self.counts(system.sentences), everything)
            differences = {}
            for name in mine[0] if samples else ():
                gaps = np.array([a[name] - b[name] for a, b in zip(mine, first, strict=True)])
                low, high = np.quantile(gaps[1:], (0.025, 0.975)).tolist()
                p = 2 * min(float(np.mean(gaps[1:] <= 0)), float(np.mean(gaps[1:] >= 0)))
                differences[name] = float(gaps[0]), low, high, min(p, 1.0)
            yield SystemRow(system.name, mine[0], differences)


def one_person(source: Sequence[str], references: Sequence[Sequence[str]]) -> SystemRow:
    """Return the measures of one person's rewritings against the others', the mean over people.

    Arguments:
        references: for each of two or more people the rewritings of all sentences.
    """
    n = len(references)
    scores: list[dict[str, float]] = []
    for k, mine in enumerate(references):
        evaluation = Evaluation(source, [*references[:k], *references[k + 1 :]])
        scores += evaluation.values(evaluation.counts(mine), np.ones((1, len(source))))
    means = {name: sum(values[name] for values in scores) / n for name in scores[0]}
    return SystemRow("one person", means, {})


def _kept(source: Sequence[str], tokens: Sequence[str]) -> int:
    """Return the number of the source's words that the rewriting keeps, repeats counted."""
    left: dict[str, int] = {}
    for token in tokens:
        left[token] = left.get(token, 0) + 1
    n_kept = 0
    for token in source:
        if left.get(token, 0) > 0:
            left[token] -= 1
            n_kept += 1
    return n_kept


def edit_distance(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the fewest insertions, deletions and replacements of words (Levenshtein 1966).

    >>> edit_distance("the old king slept".split(), "the king slept well".split())
    2
    """
    row = list(range(len(b) + 1))
    for i, word in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            replaced = diagonal + (word != other)
            diagonal = row[j]
            row[j] = min(row[j] + 1, row[j - 1] + 1, replaced)
    return row[-1]


def reordered(source: Sequence[str], tokens: Sequence[str]) -> tuple[int, int]:
    """Return (pairs of words in the other order, all pairs), of words that both have.

    The n-th occurrence of a word is the n-th there.

    >>> reordered("he gave the book to me".split(), "he gave me the book".split())
    (2, 10)
    """
    places: dict[str, list[int]] = {}
    for place, token in enumerate(tokens):
        places.setdefault(token, []).append(place)
    order = []
    for word in source:
        if places.get(word):
            order.append(places[word].pop(0))
    turned = sum(a > b for n, b in enumerate(order) for a in order[:n])
    return turned, len(order) * (len(order) - 1) // 2
