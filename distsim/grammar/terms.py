"""Terms of a bitext: noun phrases more frequent than in a reference corpus, with translations.

A candidate begins and ends with a content word: no function word of the language, and none of the
most frequent words of the reference corpus. Which candidates are noun phrases is told without tags,
by the words beside them: a verb often stands before a determiner. A translation is the shortest
span that holds all words linked to the phrase, where these are linked to nothing else, without the
function words and marks at its edges. A word beside it that is linked to nothing belongs to it
where it stands there more often than not: of *base de datos* often *base* alone is linked to
*database*.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from distsim.base.arguments import AnyPath, in_range, one_path, whole_number
from distsim.base.results import Results
from distsim.bitext.bitext import Bitext, Side
from distsim.corpus.inflections import DEFAULT, Inflections, language_of
from distsim.indexes.collocation import adjusted_p, log_likelihood_2
from distsim.indexes.corpus_index import CorpusIndex, opened_index

_FUNCTION_WORDS = 150  # the most frequent words of the reference corpus
_EDGE_WORDS = 300  # the same of the other side: rarer function words may be nouns, too
_MAX_TERM_LENGTH = 8
_DETERMINERS = ("the", "a", "an", "this", "these", "your", "its")
_OPEN = ("to", "than", "on")  # mostly before these: a piece, *next to*, *depending on*
_INSIDE = ("of", "and")  # the function words that a term may contain
_VERB = 0.1  # share of a word's occurrences that stand before a determiner
_NOUN = 0.1  # share of a phrase's behind a determiner, where its first word is such a verb
_CLAUSE = 0.2  # share of a phrase's before a determiner: it ends in a verb
_PIECE = 0.8  # share of a phrase's before another content word: it is a piece of a longer one
_CONTAINED = 0.7  # of a phrase's occurrences in a longer candidate: it is left out
_LOOKED_AT = 200  # occurrences whose translations are looked at, evenly spaced
_ALTERNATIVES = 3
_BELONGS = 0.5  # share of a translation's occurrences with the same unlinked word beside it
_JOINED, _ADJACENT = 2, 5  # least such occurrences, with a function word between and without


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
    shortest = whole_number(lengths[0], "`lengths`", 1, _MAX_TERM_LENGTH)
    longest = whole_number(lengths[1], "`lengths`", shortest, _MAX_TERM_LENGTH)
    whole_number(min_count, "`min_count`", 1)
    in_range(min_p, "`min_p`", 0.0, 1.0)
    in_range(max_p, "`max_p`", 0.0, 1.0)
    if k is not None:
        whole_number(k, "`k`", 0)
    places_of_phrases = _candidates(bitext, reference, longest, min_count)
    here = np.array(
        [places_of_phrase.size for places_of_phrase in places_of_phrases.values()], np.float64
    )
    counts_elsewhere = (
        reference.count(list(places_of_phrases)).astype(np.float64)
        if places_of_phrases
        else np.empty(0)
    )
    n_here = float(bitext.english.tokens.size)
    scores = log_likelihood_2(
        here, n_here, here + counts_elsewhere, n_here + float(reference.n_tokens)
    )
    fits = (scores > 0) & (adjusted_p(scores) <= max_p)
    ranked = sorted(
        (
            (score, phrase) for score, phrase, fit in zip(
                scores.tolist(), places_of_phrases, fits, strict=True)
            if fit
        ),
        key=lambda scored_phrase: (-scored_phrase[0], scored_phrase[1]),
    )  # fmt: skip
    nested = _contained({phrase: places_of_phrases[phrase].size for _, phrase in ranked})
    never_at_edges = _never_at_edges(bitext.other)
    terms: Results[Term] = Results()
    for score, phrase in ranked:
        if k is not None and len(terms) >= k:
            break
        if phrase not in nested and phrase.count(" ") + 1 >= shortest:
            term = _term(bitext, phrase, places_of_phrases[phrase], score, never_at_edges)
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
        [len(word) > 1 and any(map(str.isalpha, word)) and word.lower() not in function_words
         for word in words]
    )  # fmt: skip
    nouns = _NounPhrases(side, is_content, reference)
    tokens = side.tokens.astype(np.int64)
    edges = side.starts.astype(np.int64)
    owners = np.searchsorted(edges, np.arange(tokens.size), "right") - 1
    places_of_phrases: dict[str, np.ndarray] = {}
    for length in range(1, min(max_length, tokens.size) + 1):
        begins = np.arange(tokens.size - length + 1)
        stays = owners[begins] == owners[begins + length - 1]
        stays &= is_content[tokens[begins]] & is_content[tokens[begins + length - 1]]
        begins = begins[stays]
        if not begins.size:
            continue
        rows = tokens[begins[:, None] + np.arange(length)]
        distinct, numbers, n_of = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        order = np.argsort(numbers.reshape(-1), kind="stable")
        groups = np.split(begins[order], np.cumsum(n_of)[:-1])
        for row, group in zip(distinct.tolist(), groups, strict=True):
            if group.size >= min_count and nouns.holds(row, group):
                places_of_phrases[" ".join(words[number] for number in row)] = group
    return places_of_phrases


class _NounPhrases:
    """Tells by the words beside a phrase whether it is a noun with what belongs to it.

    The thresholds above are of 40 terms of software help that were read.

    Arguments:
        side: the text. is_content: bool, of each word id.
        reference: another text, in which words are looked at, too.
    """

    def __init__(self, side: Side, is_content: np.ndarray, reference: CorpusIndex) -> None:
        self._is_content = is_content
        words = side.vocabulary.all_words()
        tokens, edges = side.tokens.astype(np.int64), side.starts.astype(np.int64)
        is_first = np.zeros(tokens.size + 1, bool)
        is_first[edges] = True
        determiner = np.array([word in _DETERMINERS for word in words])
        outside = Inflections.open().function_words.difference(_INSIDE)
        self._inside = np.array([word not in outside and any(map(str.isalnum, word))
                                 for word in words])  # fmt: skip
        # Of each token: the one before and behind it in its sentence is a determiner.
        self._behind = np.append(False, determiner[tokens])[:-1] & ~is_first[:-1]
        self._before = np.append(determiner[tokens], False)[1:] & ~is_first[1:]
        counts = np.bincount(tokens, minlength=len(words))
        here = np.bincount(tokens, self._before, len(words)) / np.maximum(1, counts)
        shares_elsewhere = np.zeros(len(words))
        content = np.flatnonzero(is_content)
        if content.size:
            texts = [words[number] for number in content]
            for determiner_word in _DETERMINERS:
                shares_elsewhere[content] += reference.count(
                    [f"{text} {determiner_word}" for text in texts]
                )
            shares_elsewhere[content] /= np.maximum(1, reference.count(texts))
        self._is_verb = is_content & ((here + shares_elsewhere) / 2 >= _VERB)
        continues = (is_content & ~self._is_verb)[tokens]
        self._continues = np.append(continues, False)[1:] & ~is_first[1:]
        opens = np.array([word in _OPEN for word in words])[tokens]
        self._is_open = np.append(opens, False)[1:] & ~is_first[1:]

    def holds(self, row: list[int], begins: np.ndarray) -> bool:
        """Return whether a phrase is a noun phrase.

        Arguments:
            row: its word ids.
            begins: int64, where it occurs.
        """
        if not self._inside[row[1:-1]].all():
            return False
        is_noun = float(self._behind[begins].mean()) >= _NOUN
        # A verb at the end of a longer phrase is told by what stands behind, but for: x and choose.
        is_joined = len(row) == 1 or not self._is_content[row[-2]]
        if not is_noun and self._is_verb[row if is_joined else row[:-1]].any():
            return False
        ends = begins + len(row) - 1
        is_clause = float(self._before[ends].mean()) >= _CLAUSE
        is_piece = float(self._continues[ends].mean()) >= _PIECE
        is_open = float(self._is_open[ends].mean()) >= _PIECE
        return not is_open and (len(row) == 1 or not (is_clause or is_piece))


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


def _never_at_edges(side: Side) -> np.ndarray:
    """Return which words do not stand at the edges of a translation, bool, by word id.

    Of a language whose function words are not known these are marks alone. A rare function word
    may be a noun, too, such as Spanish *estado*.
    """
    counts = np.bincount(side.tokens, minlength=len(side.vocabulary.offsets) - 1)
    language = language_of(side.vocabulary.word_hashes()[1:], counts[1:])
    known = () if language == DEFAULT else Inflections.open(language).function_words
    frequent = np.zeros(counts.size, bool)
    frequent[np.argsort(-counts, kind="stable")[:_EDGE_WORDS]] = True
    return np.array(
        [(is_frequent and word in known) or not any(map(str.isalnum, word))
         for word, is_frequent in zip(side.vocabulary.all_words(), frequent, strict=True)]
    )  # fmt: skip


def _term(
    bitext: Bitext, phrase: str, begins: np.ndarray, score: float, never_at_edges: np.ndarray
) -> Term | None:
    """Return a phrase with its translations; None where no link leads to one."""
    length = phrase.count(" ") + 1
    n = min(_LOOKED_AT, begins.size)
    sampled = begins[np.arange(n) * begins.size // n]
    sentences = np.searchsorted(bitext.english.starts.astype(np.int64), sampled, "right") - 1
    spans = []
    for begin, sentence in zip(sampled.tolist(), sentences.tolist(), strict=True):
        first = begin - int(bitext.english.starts[sentence])
        span = _linked(bitext, sentence, first, first + length, never_at_edges)
        if span is not None:
            spans.append(span)
    targets, places = _translations(bitext, spans, never_at_edges)
    if not targets:
        return None
    best, *others = sorted(
        targets.items(), key=lambda counted_target: (-counted_target[1], counted_target[0])
    )
    shares = tuple((text, n / sampled.size) for text, n in others[:_ALTERNATIVES])
    shortest = min(places[best[0]], key=lambda place: (_length(bitext, place), place))
    pair = (" ".join(side.words(shortest)) for side in (bitext.english, bitext.other))
    return Term(phrase, best[0], int(begins.size), best[1] / sampled.size, score, shares, *pair)


class _TargetSpan(NamedTuple):
    """A translation in its pair: tokens begin..end of the other side's sentence."""

    sentence: int
    begin: int
    end: int


def _translations(
    bitext: Bitext, spans: list[_TargetSpan], never_at_edges: np.ndarray
) -> tuple[Counter[str], dict[str, list[int]]]:
    """Return how often each translation occurs, and in which pairs, with the words that belong."""
    by_text: dict[str, list[_TargetSpan]] = defaultdict(list)
    for span in spans:
        by_text[_text(bitext, span)].append(span)
    counts: Counter[str] = Counter()
    places: dict[str, list[int]] = defaultdict(list)
    for spans_of_text in by_text.values():
        same = spans_of_text
        for is_right in (True, False):
            same = _with_what_belongs(bitext, same, never_at_edges, is_right)
        for span in same:
            text = _text(bitext, span)
            counts[text] += 1
            places[text].append(span.sentence)
    return counts, places


def _with_what_belongs(
    bitext: Bitext, spans: list[_TargetSpan], never_at_edges: np.ndarray, is_right: bool
) -> list[_TargetSpan]:
    """Return spans of one text, longer by a word where most of them have the same beside them.

    A sentence that occurs twice counts once.
    """
    longer = [_with_neighbour(bitext, span, never_at_edges, is_right) for span in spans]
    sentences = [_sentence(bitext, span.sentence)[0].tobytes() for span in spans]
    texts = ["" if span is None else _text(bitext, span) for span in longer]
    once = dict(zip(zip(sentences, texts, strict=True), texts, strict=True))
    often, n = Counter(once.values()).most_common(1)[0]
    is_joined = len(often.split(" ")) - len(_text(bitext, spans[0]).split(" ")) > 1
    if not often or n < (_JOINED if is_joined else _ADJACENT) or n <= _BELONGS * len(once):
        return spans
    return [
        longer_span if longer_span is not None and text == often else span
        for span, longer_span, text in zip(spans, longer, texts, strict=True)
    ]


def _with_neighbour(
    bitext: Bitext, span: _TargetSpan, never_at_edges: np.ndarray, is_right: bool
) -> _TargetSpan | None:
    """Return a span with the next content word, where all words up to it are linked to nothing."""
    ids, links = _sentence(bitext, span.sentence)
    linked = set(links[:, 1].tolist())
    place, step = (span.end, 1) if is_right else (span.begin - 1, -1)
    while 0 <= place < ids.size and place not in linked:
        if not never_at_edges[ids[place]]:
            return _TargetSpan(span.sentence, min(place, span.begin), max(place + 1, span.end))
        if not bitext.other.vocabulary.words(ids[place : place + 1])[0].isalpha():
            return None
        place += step
    return None


def _sentence(bitext: Bitext, sentence: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the word ids of a pair's other side, and its links, [n, 2]."""
    low, high = bitext.link_starts[sentence : sentence + 2].tolist()
    begin, end = bitext.other.starts[sentence : sentence + 2].tolist()
    return bitext.other.tokens[begin:end], bitext.links[low:high]


def _text(bitext: Bitext, span: _TargetSpan) -> str:
    ids, _ = _sentence(bitext, span.sentence)
    return " ".join(bitext.other.vocabulary.words(ids[span.begin : span.end]))


def _linked(
    bitext: Bitext, sentence: int, first: int, stop: int, never_at_edges: np.ndarray
) -> _TargetSpan | None:
    """Return the other side's words linked to the tokens first..stop, None where others are too."""
    ids, links = _sentence(bitext, sentence)
    inside = (links[:, 0] >= first) & (links[:, 0] < stop)
    if not inside.any():
        return None
    begin, end = int(links[inside, 1].min()), int(links[inside, 1].max()) + 1
    within = (links[:, 1] >= begin) & (links[:, 1] < end)
    if np.any(within & ~inside):
        return None
    content = np.flatnonzero(~never_at_edges[ids[begin:end]])
    if content.size:
        begin, end = begin + int(content[0]), begin + int(content[-1]) + 1
    span = _TargetSpan(sentence, begin, end)
    return span if any(map(str.isalnum, _text(bitext, span))) else None


def _length(bitext: Bitext, sentence: int) -> int:
    """Return the length of a pair, short of four words longer than any other."""
    size = int(bitext.english.starts[sentence + 1]) - int(bitext.english.starts[sentence])
    return size if size >= 4 else 1 << 20


def tbx_lines(terms: Iterable[Term], *, languages: Sequence[str] = ("en", "und")) -> Iterator[str]:
    """Yield the lines of a TBX-Basic file (ISO 30042:2008, the version that most programs read).

    Arguments:
        terms: from `bitext_terms`.
        languages: codes of both sides.

    >>> list(tbx_lines([], languages=("en", "de")))[-1]
    '</body></text></martif>'
    """
    source, target = map(quoteattr, languages)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<martif type="TBX-Basic" xml:lang={source}>'
    yield "<martifHeader><fileDesc><sourceDesc><p>distsim</p></sourceDesc></fileDesc>"
    yield "</martifHeader><text><body>"
    for number, term in enumerate(terms, 1):
        yield f'<termEntry id="c{number}">'
        yield _language_set(source, [(term.source, term.source_example)])
        others = [(text, "") for text, _ in term.alternatives]
        yield _language_set(target, [(term.target, term.target_example), *others])
        yield "</termEntry>"
    yield "</body></text></martif>"


def _language_set(language: str, terms: Sequence[tuple[str, str]]) -> str:
    groups = []
    for text, example in terms:
        context = f'<descrip type="context">{escape(example)}</descrip>' if example else ""
        groups.append(f"<tig><term>{escape(text)}</term>{context}</tig>")
    return f"<langSet xml:lang={language}>{''.join(groups)}</langSet>"
