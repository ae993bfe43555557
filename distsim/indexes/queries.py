"""Queries by pattern: a subset of the corpus query language (CQL), and a short form of it.

A query is a row of elements, each for one token: `take`, `run*`, `(car|automobile)`, `/colou?r/`,
`[]`, `"colou?r"`, `[word="colou?r"]`, `[word!="a|an"]`. Behind an element `%c` ignores case, `%d`
diacritics, and `{0,3}` repeats it. A match stays within a sentence. Each element becomes a set of
words; the rarest one that may not be left out is looked up in the suffix array, and the others are
compared with the text around its occurrences.
"""

import re
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import combining, normalize

import numpy as np

from distsim.base.arguments import one_text, utf8_phrase
from distsim.base.errors import ParameterError
from distsim.corpus.vocabulary import hash_texts

if TYPE_CHECKING:
    from distsim.indexes.corpus_index import CorpusIndex

MAX_TOKENS = 63
MAX_MATCHES = 10_000_000
_LONGEST_WORD = 200  # characters; a pattern could take long on a longer one
_PARTS = 'a word, run*, (car|automobile), /colou?r/, [], "colou?r" or [word="colou?r"]'

_ELEMENT = re.compile(
    r"""\s*(?: \[(?P<conditions>(?:"(?:[^"\\]|\\.)*"|[^\]"])*)\]
      | "(?P<regex>(?:[^"\\]|\\.)*)" | /(?P<slashed>(?:[^/\\]|\\.)+)/
      | \((?P<alternatives>(?:[^()\\]|\\.)*)\)
      | (?P<word>(?:[^\s\[\]"/(){}|\\]|\\.)+?) )
    (?P<flags>%[cd]{1,2})? (?:\{(?P<least>\d{1,3})(?:,(?P<most>\d{1,3}))?\})? (?=\s|$)""",
    re.X,
)
_CONDITION = re.compile(r'\s*(\w+)\s*(!?=)\s*"((?:[^"\\]|\\.)*)"\s*(%[cd]{1,2})?\s*(&|$)')
_REPEATED_GROUP = re.compile(r"(?<!\\)\)[*+{]")


class CompiledQuery(NamedTuple):
    """A query as an automaton over words, as distsim.indexes.kernels.queries takes it.

    anchor_words: bool by word. The others: see match_query.
    """

    anchor_words: np.ndarray
    anchor: int
    bits: np.ndarray
    optional: int
    last: int
    first: int


def compile_query(index: "CorpusIndex", query: str) -> CompiledQuery:
    """Return a query compiled for the words of an index.

    Raises:
        ParameterError: it is none, is too long, names no word, or can match without any token.
    """
    utf8_phrase(one_text(query, "query"))
    elements = _Elements(index, query).found
    counts = index.word_counts().astype(np.int64)
    if len(elements) > MAX_TOKENS:
        raise ParameterError(
            f"{query!r}: matches up to {len(elements)} tokens: at most {MAX_TOKENS}"
        )
    needed = [place for place, (_, optional) in enumerate(elements) if not optional]
    if not needed:
        raise ParameterError(f"{query!r}: can match no token at all: add one without {{0,...}}")
    if all(words[1:].all() for words, _ in elements):
        raise ParameterError(f"{query!r}: matches any words: name one")
    anchor = min(needed, key=lambda place: int(counts[elements[place][0]].sum()))
    bits = np.zeros(index.n_words, np.uint64)
    for place, (words, _) in enumerate(elements):
        bits[words] |= np.uint64(1 << place)
    return CompiledQuery(
        elements[anchor][0], anchor, bits,
        optional=sum(1 << place for place, one in enumerate(elements) if one[1]),
        last=sum(1 << place for place in range(needed[-1], len(elements))),
        first=sum(1 << place for place in range(needed[0] + 1)),
    )  # fmt: skip


class _Elements:
    """The elements of a query, `found`: (words bool by id, whether it may be left out) each."""

    def __init__(self, index: "CorpusIndex", query: str) -> None:
        self._index = index
        self._query = query
        self._vocabulary: list[str] | None = None
        self.found: list[tuple[np.ndarray, bool]] = []
        at = 0
        while query[at:].strip():
            element = _ELEMENT.match(query, at)
            if element is None:
                raise self._fault(
                    f"{query[at:].strip()!r} is outside the query language: write {_PARTS}, "
                    "%c or %d and {0,3} behind it, and \\ before a sign that is meant itself"
                )
            at = element.end()
            self._add(element)

    def _add(self, element: re.Match[str]) -> None:
        flags = element["flags"] or ""
        least, most = int(element["least"] or 1), int(element["most"] or element["least"] or 1)
        if least > most or most == 0:
            raise self._fault(f"{element[0].strip()!r}: repeat it {{from,to}}, upwards from 0")
        if element["word"] is not None and not flags and not _wild(element["word"]):
            sets = [self._exact(word) for word in self._cut(element["word"])]
        else:
            sets = [self._words(element, flags)]
        if len(sets) > 1 and (least, most) != (1, 1):
            raise self._fault(f"{element['word']!r} is several words in this index: repeat one")
        for words in sets:
            self.found += [(words, place >= least) for place in range(min(most, MAX_TOKENS + 1))]

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
        """Return the words that fulfil the conditions in brackets."""
        found = np.ones(self._index.n_words, np.bool_)
        found[0] = False
        at = 0
        while conditions[at:].strip():
            one = _CONDITION.match(conditions, at)
            if one is None:
                raise self._fault(
                    f"[{conditions}] is outside the query language: write "
                    '[word="regex"] or [word!="regex"], several with &'
                )
            if one[1] != "word":
                raise self._fault(f"the index has no {one[1]!r} of its tokens: ask for word")
            matching = self._matching(one[3], flags + (one[4] or ""))
            found &= matching if one[2] == "=" else ~matching
            at = one.end()
        return found

    def _matching(self, regex: str, flags: str) -> np.ndarray:
        """Return the words that a regular expression matches as a whole."""
        if _REPEATED_GROUP.search(regex):
            raise self._fault("a repeated group can take forever: leave out what is behind )")
        options = self._index.options.normaliser
        regex = _bare(regex) if "d" in flags else normalize("NFC", regex)
        try:
            pattern = re.compile(regex, re.IGNORECASE if options.lower or "c" in flags else 0)
        except (re.error, RecursionError, OverflowError) as error:
            raise self._fault(f"{regex!r} is no regular expression ({error})") from None
        if self._vocabulary is None:
            self._vocabulary = self._index.vocabulary.all_words()
        words = self._vocabulary
        if "d" in flags:
            words = [word if word.isascii() else _bare(word) for word in words]
        fits = pattern.fullmatch
        found = [0 < len(word) <= _LONGEST_WORD and fits(word) is not None for word in words]
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
