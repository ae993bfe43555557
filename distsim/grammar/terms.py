"""Terms of a bitext: phrases that are more frequent than in a reference corpus, with translations.

A candidate begins and ends with a content word: no function word of the language, and none of the
most frequent words of the reference corpus. A translation is the shortest span that holds all
words linked to the phrase, where these are linked to nothing else.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from distsim.base.arguments import AnyPath, in_range, one_path, whole_number
from distsim.base.results import Results
from distsim.bitext.bitext import Bitext
from distsim.corpus.inflections import Inflections
from distsim.indexes.collocation import adjusted_p, log_likelihood_2
from distsim.indexes.corpus_index import CorpusIndex, opened_index

_FUNCTION_WORDS = 150  # the most frequent words of the reference corpus
_LONGEST = 8
_CONTAINED = 0.7  # of a phrase's occurrences in a longer candidate: it is left out
_LOOKED_AT = 200  # occurrences whose translations are looked at, evenly spaced
_ALTERNATIVES = 3


class Term(NamedTuple):
    """A term of a bitext.

    source: English phrase. target: its most frequent translation. times: occurrences of source.
    p: share of the occurrences that were looked at with this translation. score: log-likelihood of
    the count against the reference corpus. alternatives: other translations with their shares.
    source_example, target_example: a pair of sentences with both.

    >>> Term("tool bar", "Leiste", 9, 0.5, 80.0, (), "the tool bar", "die Leiste").target
    'Leiste'
    """

    source: str
    target: str
    times: int
    p: float
    score: float
    alternatives: tuple[tuple[str, float], ...]
    source_example: str
    target_example: str


def bitext_terms(
    bitext: Bitext | AnyPath,
    against: CorpusIndex | AnyPath,
    *,
    lengths: tuple[int, int] = (1, 4),
    min_count: int = 5,
    min_p: float = 0.2,
    max_p: float = 0.01,
    k: int | None = 100,
) -> Results[Term]:
    """Return the terms of a bitext, the highest log-likelihood first.

    Arguments:
        bitext: with word links; terms are of its English side.
        against: index of the reference corpus, of English.
        lengths: the fewest and the most tokens of a term, up to 8.
        min_count: leave out rarer phrases.
        min_p: leave out terms whose best translation has a smaller share.
        max_p: leave out phrases whose log-likelihood has a higher p, adjusted by Holm.
        k: maximum number of terms; None: all.

    Raises:
        ParameterError: a number is out of range.

    >>> _ = (folder / "terms.en").write_text("the macro runs\\nthe macro ends\\n" * 5)
    >>> _ = (folder / "terms.de").write_text("das Makro läuft\\ndas Makro endet\\n" * 5)
    >>> _ = (folder / "terms.links").write_text("0-0 1-1 2-2\\n" * 10)
    >>> from distsim.bitext.bitext_builder import Given, build_bitext
    >>> text = build_bitext(folder / "terms.en", folder / "terms.de", folder / "terms.bitext",
    ...                     given=Given(folder / "terms.links"))
    >>> term = bitext_terms(text, index, k=1)[0]
    >>> term.source, term.target, term.p
    ('macro', 'makro', 1.0)
    """
    bitext = bitext if isinstance(bitext, Bitext) else Bitext.open(one_path(bitext))
    reference = opened_index(against)
    shortest = whole_number(lengths[0], "`lengths`", 1, _LONGEST)
    longest = whole_number(lengths[1], "`lengths`", shortest, _LONGEST)
    whole_number(min_count, "`min_count`", 1)
    in_range(min_p, "`min_p`", 0.0, 1.0)
    in_range(max_p, "`max_p`", 0.0, 1.0)
    if k is not None:
        whole_number(k, "`k`", 0)
    found = _candidates(bitext, reference, longest, min_count)
    here = np.array([one.size for one in found.values()], np.float64)
    there = reference.count(list(found)).astype(np.float64) if found else np.empty(0)
    n_here = float(bitext.english.tokens.size)
    scores = log_likelihood_2(here, n_here, here + there, n_here + float(reference.n_tokens))
    fits = (scores > 0) & (adjusted_p(scores) <= max_p)
    ranked = sorted(
        (
            (score, phrase) for score, phrase, fit in zip(scores.tolist(), found, fits, strict=True)
            if fit
        ),
        key=lambda one: (-one[0], one[1]),
    )  # fmt: skip
    nested = _contained({phrase: found[phrase].size for _, phrase in ranked})
    terms: Results[Term] = Results()
    for score, phrase in ranked:
        if k is not None and len(terms) >= k:
            break
        if phrase not in nested and phrase.count(" ") + 1 >= shortest:
            term = _term(bitext, phrase, found[phrase], score)
            if term is not None and term.p >= min_p:
                terms.append(term)
    return terms


def _candidates(
    bitext: Bitext, reference: CorpusIndex, max_length: int, min_count: int
) -> dict[str, np.ndarray]:
    """Return the positions of each frequent phrase between content words, int64."""
    side = bitext.english
    counts = reference.word_counts()
    frequent = np.argsort(-counts[1:].astype(np.int64), kind="stable")[:_FUNCTION_WORDS] + 1
    function_words = {*reference.vocabulary.words(frequent), *Inflections.open().function_words}
    words = side.vocabulary.all_words()
    is_content = np.array(
        [len(one) > 1 and any(map(str.isalpha, one)) and one.lower() not in function_words
         for one in words]
    )  # fmt: skip
    is_word = np.array([any(map(str.isalnum, one)) for one in words])
    tokens = side.tokens.astype(np.int64)
    edges = side.starts.astype(np.int64)
    owners = np.searchsorted(edges, np.arange(tokens.size), "right") - 1
    found: dict[str, np.ndarray] = {}
    for length in range(1, min(max_length, tokens.size) + 1):
        begins = np.arange(tokens.size - length + 1)
        stays = owners[begins] == owners[begins + length - 1]
        stays &= is_content[tokens[begins]] & is_content[tokens[begins + length - 1]]
        for place in range(1, length - 1):
            stays &= is_word[tokens[begins + place]]
        begins = begins[stays]
        if not begins.size:
            continue
        rows = tokens[begins[:, None] + np.arange(length)]
        distinct, numbers, n_of = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        order = np.argsort(numbers.reshape(-1), kind="stable")
        groups = np.split(begins[order], np.cumsum(n_of)[:-1])
        for row, group in zip(distinct.tolist(), groups, strict=True):
            if group.size >= min_count:
                found[" ".join(words[one] for one in row)] = group
    return found


def _contained(counts: dict[str, int]) -> set[str]:
    """Return the phrases that occur mostly inside a longer one."""
    nested = set()
    for phrase, count in counts.items():
        words = phrase.split(" ")
        for length in range(1, len(words)):
            for first in range(len(words) - length + 1):
                inner = " ".join(words[first : first + length])
                if count >= _CONTAINED * counts.get(inner, np.inf):
                    nested.add(inner)
    return nested


def _term(bitext: Bitext, phrase: str, begins: np.ndarray, score: float) -> Term | None:
    """Return a phrase with its translations; None where no link leads to one."""
    length = phrase.count(" ") + 1
    n = min(_LOOKED_AT, begins.size)
    some = begins[np.arange(n) * begins.size // n]
    sentences = np.searchsorted(bitext.english.starts.astype(np.int64), some, "right") - 1
    targets: Counter[str] = Counter()
    places: dict[str, list[int]] = defaultdict(list)
    for begin, sentence in zip(some.tolist(), sentences.tolist(), strict=True):
        first = begin - int(bitext.english.starts[sentence])
        target = _linked(bitext, sentence, first, first + length)
        if target is not None:
            targets[target] += 1
            places[target].append(sentence)
    if not targets:
        return None
    best, *others = sorted(targets.items(), key=lambda one: (-one[1], one[0]))
    shares = tuple((text, n / some.size) for text, n in others[:_ALTERNATIVES])
    shortest = min(places[best[0]], key=lambda one: (_length(bitext, one), one))
    pair = (" ".join(side.words(shortest)) for side in (bitext.english, bitext.other))
    return Term(phrase, best[0], int(begins.size), best[1] / some.size, score, shares, *pair)


def _linked(bitext: Bitext, sentence: int, first: int, stop: int) -> str | None:
    """Return the other side's words linked to the tokens first..stop, None where others are too."""
    low, high = bitext.link_starts[sentence : sentence + 2].tolist()
    links = bitext.links[low:high]
    inside = (links[:, 0] >= first) & (links[:, 0] < stop)
    if not inside.any():
        return None
    begin, end = int(links[inside, 1].min()), int(links[inside, 1].max()) + 1
    within = (links[:, 1] >= begin) & (links[:, 1] < end)
    if np.any(within & ~inside):
        return None
    at = int(bitext.other.starts[sentence])
    words = bitext.other.vocabulary.words(bitext.other.tokens[at + begin : at + end])
    text = " ".join(words)
    return text if any(map(str.isalnum, text)) else None


def _length(bitext: Bitext, sentence: int) -> int:
    """Return the length of a pair, short of four words longer than any other."""
    size = int(bitext.english.starts[sentence + 1]) - int(bitext.english.starts[sentence])
    return size if size >= 4 else 1 << 20


def tbx_lines(terms: Iterable[Term], *, languages: Sequence[str] = ("en", "und")) -> Iterator[str]:
    """Yield the lines of a TBX-Basic file (ISO 30042:2019) of terms.

    Arguments:
        terms: from `bitext_terms`.
        languages: codes of both sides.

    >>> list(tbx_lines([], languages=("en", "de")))[-1]
    '</body></text></tbx>'
    """
    source, target = map(quoteattr, languages)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<tbx type="TBX-Basic" style="dca" xml:lang={source} xmlns="urn:iso:std:iso:30042:ed-2">'
    yield "<tbxHeader><fileDesc><sourceDesc><p>distsim</p></sourceDesc></fileDesc></tbxHeader>"
    yield "<text><body>"
    for number, term in enumerate(terms, 1):
        yield f'<conceptEntry id="c{number}">'
        yield _section(source, [(term.source, term.source_example)])
        others = [(text, "") for text, _ in term.alternatives]
        yield _section(target, [(term.target, term.target_example), *others])
        yield "</conceptEntry>"
    yield "</body></text></tbx>"


def _section(language: str, terms: Sequence[tuple[str, str]]) -> str:
    sections = []
    for text, example in terms:
        context = f'<descrip type="context">{escape(example)}</descrip>' if example else ""
        sections.append(f"<termSec><term>{escape(text)}</term>{context}</termSec>")
    return f"<langSec xml:lang={language}>{''.join(sections)}</langSec>"
