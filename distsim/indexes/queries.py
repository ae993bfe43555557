"""Queries by pattern: a subset of the corpus query language (CQL), and a short form of it.

A query is a row of elements, each for one token: `take`, `run*`, `(car|automobile)`, `/colou?r/`,
`[]`, `"colou?r"`, `[word="colou?r"]`, `[word!="a|an"]`, and in an annotated corpus
`[lemma="take"]`, `[tag="NN.*" & lemma!="be"]`. Behind an element `%c` ignores case, `%d`
diacritics, `{0,3}` repeats it, and `?` is `{0,1}`. A match stays within a sentence. Each element
becomes a set of words, or of analyses (see distsim.indexes.layers); the rarest one that may not be
left out is looked up in the suffix array, and the others are compared with the text around its
occurrences.
"""

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import combining, normalize

import numpy as np

from distsim.base.arguments import one_text, utf8_phrase
from distsim.base.errors import ParameterError
from distsim.corpus.vocabulary import hash_texts
from distsim.indexes.layers import LAYERS

if TYPE_CHECKING:
    from distsim.indexes.corpus_index import CorpusIndex

GAP = "_"
LONGEST_GAP = 6
MAX_TOKENS = 63
MAX_MATCHES = 10_000_000
_LONGEST_WORD = 200  # characters; a pattern could take long on a longer one
_PARTS = 'a word, run*, (car|automobile), /colou?r/, [], "colou?r" or [word="colou?r"]'

_ELEMENT = re.compile(
    r"""\s*(?: \[(?P<conditions>(?:"(?:[^"\\]|\\.)*"|[^\]"])*)\]
      | "(?P<regex>(?:[^"\\]|\\.)*)" | /(?P<slashed>(?:[^/\\]|\\.)+)/
      | \((?P<alternatives>(?:[^()\[\]"\\]|\\.)*)\)
      | (?P<word>(?:[^\s\[\]"/(){}|\\]|\\.)+?) )
    (?P<flags>%[cd]{1,2})?
    (?: \{(?P<least>\d{1,3})(?:,(?P<most>\d{1,3}))?\} | (?<=[\]")/])(?P<maybe>\?) )?
    (?=\s|\[|$)""",
    re.X,
)
# Words that are operators of CQL in a query with brackets or quotation marks: write \within.
_OF_CQL = re.compile(r"</?\w+/?>|!?within|!?containing|meet|union|\d+:|::")
_CONDITION = re.compile(r'\s*(\w+)\s*(!?=)\s*"((?:[^"\\]|\\.)*)"\s*(%[cd]{1,2})?\s*(&|$)')
_REPEATED_GROUP = re.compile(r"(?<!\\)\)[*+{]")


class CompiledQuery(NamedTuple):
    """A query as an automaton over words, whose elements are bits.

    Attributes:
        anchor_words: bool by word, those of element `anchor`.
        anchor: number of an element that may not be left out.
        bits: uint64 by word, the elements that match it; by analysis where `layered`.
        optional: the elements that may be left out.
        last, first: the elements that may be the last one, and the first one.
        layered: the query asks for lemmas or tags.
    """

    anchor_words: np.ndarray
    anchor: int
    bits: np.ndarray
    optional: int
    last: int
    first: int
    layered: bool = False


class _Element(NamedTuple):
    """One token of a query.

    matching: bool by word, or by analysis where `layered`. optional: it may be left out.
    """

    matching: np.ndarray
    optional: bool
    layered: bool


def gapped_query(pattern: str, longest_gap: int = LONGEST_GAP) -> str:
    r"""Return the query with the matches of a phrase with gaps.

    Arguments:
        pattern: the phrase, `_` for a gap.
        longest_gap: tokens.

    Raises:
        ParameterError: the pattern has no gap, or no word on one side of it.

    >>> gapped_query("take _ into", 2)
    '\\take []{1,2} \\into'
    """
    words = pattern.split()
    is_gap = [word == GAP for word in words]
    if not any(is_gap) or is_gap[0] or is_gap[-1] or any(map(all, pairwise(is_gap))):
        raise ParameterError(
            f"{pattern!r}: a gapped phrase has words before and after each {GAP}, "
            f"as in 'take {GAP} into account'"
        )
    gap = f"[]{{1,{longest_gap}}}"
    # A backslash before signs, and before each word: `within` is an operator.
    return " ".join(
        gap if word == GAP else "\\" + re.sub(r"(?<=.)(?=\W)", r"\\", word) for word in words
    )


def compile_query(index: "CorpusIndex", query: str) -> CompiledQuery:
    """Return a query compiled to sets of words, ready to be matched in an index.

    Arguments:
        index: the corpus index whose words the query is compiled for.
        query: text in the query language, such as `take []{1,2} into`.

    Raises:
        ParameterError: `query` is empty or is no query, can match more than MAX_TOKENS tokens,
            names no word, or can match without any token.
    """
    utf8_phrase(one_text(query, "query"))
    elements = _Elements(index, query).found
    if len(elements) > MAX_TOKENS:
        raise ParameterError(
            f"{query!r}: matches up to {len(elements)} tokens: at most {MAX_TOKENS}"
        )
    layers = index.layers if any(one.layered for one in elements) else None
    sets = [
        one.matching if layers is None or one.layered else one.matching[layers.words]
        for one in elements
    ]
    counts = index.word_counts() if layers is None else layers.counts
    needed = [place for place, one in enumerate(elements) if not one.optional]
    if not needed:
        raise ParameterError(f"{query!r}: can match no token at all: add one without {{0,...}}")
    if all(one[1:].all() for one in sets):
        raise ParameterError(f"{query!r}: matches any words: name one")
    anchor = min(needed, key=lambda place: int(counts[sets[place]].sum()))
    bits = np.zeros(counts.size, np.uint64)
    for place, one in enumerate(sets):
        bits[one] |= np.uint64(1 << place)
    anchor_words = sets[anchor]
    if layers is not None:
        anchor_words = np.zeros(index.n_words, np.bool_)
        anchor_words[layers.words[sets[anchor]]] = True
    return CompiledQuery(
        anchor_words, anchor, bits,
        optional=sum(1 << place for place, one in enumerate(elements) if one.optional),
        last=sum(1 << place for place in range(needed[-1], len(elements))),
        first=sum(1 << place for place in range(needed[0] + 1)),
        layered=layers is not None,
    )  # fmt: skip


class _Elements:
    """The elements of a query, `found`."""

    def __init__(self, index: "CorpusIndex", query: str) -> None:
        self._index = index
        self._query = query
        self._vocabulary: list[str] | None = None
        self._layered = False  # the element that is being read
        self.found: list[_Element] = []
        at = 0
        is_cql = re.search(r'[\["<]', query) is not None
        while query[at:].strip():
            element = _ELEMENT.match(query, at)
            if element is None or (is_cql and _OF_CQL.fullmatch(element["word"] or "")):
                raise self._fault(
                    f"{query[at:].strip()!r} is outside the query language: write {_PARTS}, "
                    "%c or %d and {0,3} behind it, and \\ before a sign that is meant itself"
                )
            at = element.end()
            self._add(element)

    def _add(self, element: re.Match[str]) -> None:
        flags = element["flags"] or ""
        least, most = int(element["least"] or 1), int(element["most"] or element["least"] or 1)
        if element["maybe"]:
            least = 0
        self._layered = False
        if least > most or most == 0:
            raise self._fault(f"{element[0].strip()!r}: repeat it {{from,to}}, upwards from 0")
        if element["word"] is not None and not flags and not _wild(element["word"]):
            sets = [self._exact(word) for word in self._cut(element["word"])]
        else:
            sets = [self._words(element, flags)]
        if len(sets) > 1 and (least, most) != (1, 1):
            raise self._fault(f"{element['word']!r} is several words in this index: repeat one")
        for words in sets:
            self.found += [
                _Element(words, place >= least, self._layered)
                for place in range(min(most, MAX_TOKENS + 1))
            ]

    def _words(self, element: re.Match[str], flags: str) -> np.ndarray:
        """Return the words that an element may be."""
        if element["conditions"] is not None:
            return self._fulfil(element["conditions"], flags)
        regex = element["regex"] if element["regex"] is not None else element["slashed"]
        if regex is not None:
            return self._matching(regex, flags)
        parts = [element["word"]]
        if parts[0] is None:
            parts = [one.strip() for one in re.split(r"(?<!\\)\|", element["alternatives"])]
        found = np.zeros(self._index.n_words, np.bool_)
        for part in parts:
            if flags or _wild(part):
                pieces = re.split(r"(\\.|\*)", self._index.options.normaliser.characters(part))
                found |= self._matching(
                    "".join(".*" if one == "*" else re.escape(_plain(one)) for one in pieces), flags
                )
                continue
            words = self._cut(part) if part else []
            if len(words) != 1:
                raise self._fault(f"{part!r} is {len(words)} words in this index: give one each")
            found |= self._exact(words[0])
        return found

    def _fulfil(self, conditions: str, flags: str) -> np.ndarray:
        """Return the words, or the analyses, that fulfil the conditions in brackets."""
        found: list[tuple[str, bool, np.ndarray]] = []  # layer, whether negated, what matches
        at = 0
        while conditions[at:].strip():
            one = _CONDITION.match(conditions, at)
            if one is None:
                raise self._fault(
                    f"[{conditions}] is outside the query language: write "
                    '[word="regex"] or [word!="regex"], several with &, either as "this|that"'
                )
            found.append(
                (one[1], one[2] == "!=", self._matching(one[3], flags + (one[4] or ""), one[1]))
            )
            at = one.end()
        layers = self._index.layers if any(name != "word" for name, *_ in found) else None
        self._layered = layers is not None
        fulfil = np.ones(self._index.n_words if layers is None else layers.words.size, np.bool_)
        fulfil[0] = False
        for name, negated, matching in found:
            if layers is not None:
                matching = matching[layers.words if name == "word" else layers.of(name)]
            fulfil &= ~matching if negated else matching
        return fulfil

    def _texts(self, layer: str) -> list[str]:
        """Return all words, lemmas or tags by id."""
        if layer == "word":
            if self._vocabulary is None:
                self._vocabulary = self._index.vocabulary.all_words()
            return self._vocabulary
        if layer not in LAYERS:
            raise self._fault(f"tokens have no {layer!r}: ask for word, lemma or tag")
        if self._index.layers is None:
            raise self._fault(
                f"this index has no {layer}s: index annotated text (CoNLL-U, as distsim annotate "
                "writes it), or ask for word"
            )
        return self._index.layers.texts[layer]

    def _matching(self, regex: str, flags: str, layer: str = "word") -> np.ndarray:
        """Return the words, lemmas or tags that a regular expression matches as a whole."""
        if _REPEATED_GROUP.search(regex):
            raise self._fault("a repeated group can take forever: leave out what is behind )")
        texts = self._texts(layer)
        ignores_case = "c" in flags or (self._index.options.normaliser.lower and layer != "tag")
        regex = _bare(regex) if "d" in flags else normalize("NFC", regex)
        try:
            pattern = re.compile(regex, re.IGNORECASE if ignores_case else 0)
        except (re.error, RecursionError, OverflowError) as error:
            raise self._fault(f"{regex!r} is no regular expression ({error})") from None
        if "d" in flags:
            texts = [text if text.isascii() else _bare(text) for text in texts]
        fits = pattern.fullmatch
        found = [0 < len(text) <= _LONGEST_WORD and fits(text) is not None for text in texts]
        return np.array(found, np.bool_)

    def _cut(self, text: str) -> list[str]:
        return self._index.words(_plain(text))

    def _exact(self, word: str) -> np.ndarray:
        found = np.zeros(self._index.n_words, np.bool_)
        number = int(self._index.vocabulary.find(hash_texts([word.encode()]))[0])
        found[number if number > 0 else []] = True
        return found

    def _fault(self, what: str) -> ParameterError:
        return ParameterError(f"{self._query!r}: {what}")


def _wild(text: str) -> bool:
    return "*" in re.sub(r"\\.", "", text)


def _plain(text: str) -> str:
    """Return text without the backslashes before signs."""
    return re.sub(r"\\(.)", r"\1", text)


def _bare(text: str) -> str:
    """Return text without diacritics."""
    return "".join(one for one in normalize("NFD", text) if not combining(one))
