"""Compiles a query by pattern for an index.

The conditions of tokens become sets of words, or of analyses (see distsim.indexes.layers), and the
pattern an automaton over them.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial, reduce
from operator import or_
from time import thread_time
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np

from distsim.base.arguments import one_text, utf8_phrase
from distsim.base.errors import ParameterError, counted
from distsim.corpus.tokeniser import variants
from distsim.corpus.vocabulary import hash_texts
from distsim.indexes import query_language as language
from distsim.indexes.indexed_text import IndexedText
from distsim.indexes.kernels import queries as kernel
from distsim.indexes.kernels.queries import Automaton
from distsim.indexes.layers import LAYERS, PLURALS
from distsim.indexes.metadata import with_straight_marks
from distsim.indexes.queries import CompiledFilter, CompiledQuery
from distsim.indexes.query_language import Edge, Query, QueryParser, Regex, Repeat, Token
from distsim.indexes.word_patterns import bare
from distsim.kernels.compiled import frozen

MAX_TOKENS = 64
SEARCH_SECONDS = 0.6  # CPU time in which the words of all patterns of a query are found
_ANY_LENGTH = 1 << 40
_RARE_ONE_IN = 8  # one of so many tokens at most is looked up; otherwise all text is read


def compile_query(index: IndexedText, query: str) -> CompiledQuery:
    """Return a query compiled to an automaton, ready to be matched in an index.

    Arguments:
        index: the corpus index whose words the query is compiled for.
        query: text in the query language, such as `take []{1,2} into`.

    Raises:
        ParameterError: `query` is empty or is no query, has more than MAX_TOKENS tokens, names no
            word, or can match without any token.
    """
    utf8_phrase(one_text(query, "query"))
    return _compiled(index, query, QueryParser(query, index.readings).parse(), SearchTime())


class SearchTime:
    """The CPU time that is left for the patterns of a query."""

    def __init__(self) -> None:
        self.left = SEARCH_SECONDS

    @contextmanager
    def spent(self) -> Iterator[float]:
        """Take the time of the block away; its value is the time left before."""
        begin = thread_time()
        try:
            yield self.left
        finally:
            self.left -= thread_time() - begin


def _compiled(
    index: IndexedText, text: str, query: Query, search_time: SearchTime
) -> CompiledQuery:
    try:
        conditions = _Conditions(index, text, query, search_time)
        states = _States(text, conditions)
        whole = states.build(query.pattern)
    except RecursionError:
        raise ParameterError(f"{text!r}: has too many brackets inside brackets") from None
    if whole.nullable:
        raise ParameterError(f"{text!r}: can match no token at all: add one without {{0,...}}")
    if not states.names_a_word:
        raise ParameterError(f"{text!r}: matches any words: name one")
    states.check_edges(whole)
    longest, filters = _ANY_LENGTH, []
    for condition in query.filters:
        if isinstance(condition.inner, int):
            longest = min(longest, condition.inner)
        elif isinstance(condition.inner, Query):
            inner = _compiled(index, text, condition.inner, search_time)
            filters.append(CompiledFilter(condition.contains, condition.negated, inner))
        elif condition.inner.structure in ("s", "p"):
            if condition.inner.fields:
                raise ParameterError(f"{text!r}: sentences and paragraphs have no fields")
            if condition.negated:
                raise ParameterError(f"{text!r}: every match is within a sentence: leave it out")
        else:
            documents = conditions.documents(condition.inner)
            filters.append(CompiledFilter(condition.contains, condition.negated, documents))
    reads_all = whole.anchor & states.edges or whole.cost > conditions.n_tokens / _RARE_ONE_IN
    anchor_words = None if reads_all else conditions.words_of(whole.anchor, states.sets)
    return CompiledQuery(
        anchor_words,
        whole.anchor,
        states.automaton(whole, query.condition),
        None if whole.length is None or anchor_words is None else whole.length - 1,
        longest,
        tuple(filters),
        conditions.layered,
    )


class _Part(NamedTuple):
    """A part of an automaton.

    nullable: it can match without a token. first, last: sets of states. length: tokens at most,
    None without limit. cost: occurrences of its rarest states that no match lacks, `anchor`.
    """

    nullable: bool
    first: int
    last: int
    length: int | None
    cost: float
    anchor: int


_NOTHING = _Part(True, 0, 0, 0, float("inf"), 0)


class _States:
    """The states of an automaton (Glushkov 1961): one for each token of the query.

    sets: what fulfils the condition of each, bool by word or analysis; an Edge of edges. edges: the
    states that are edges.
    """

    def __init__(self, text: str, conditions: "_Conditions") -> None:
        self._text = text
        self._conditions = conditions
        self.sets: list[Any] = []
        self._follow: list[int] = []
        self._labels: list[str] = []
        self.edges = 0

    @property
    def names_a_word(self) -> bool:
        """Whether a state is an edge, or not every word."""
        return any(isinstance(word_set, Edge) or not word_set[1:].all() for word_set in self.sets)

    def build(self, node: Any) -> _Part:
        """Return a part of the automaton, its states added."""
        if isinstance(node, Token):
            matching = self._conditions.matching(node.condition)
            return self._add(matching, node.label, self._conditions.count(matching))
        if isinstance(node, Edge):
            part = self._add(node, "", self._conditions.n_edges(node))
            self.edges |= part.first
            return part
        if isinstance(node, language.Sequence):
            return reduce(self._concatenated, map(self.build, node.parts), _NOTHING)
        if isinstance(node, language.Alternatives):
            parts = [self.build(part) for part in node.parts]
            lengths = [part.length for part in parts]
            return _Part(
                any(part.nullable for part in parts),
                reduce(or_, (part.first for part in parts)),
                reduce(or_, (part.last for part in parts)),
                None if None in lengths else max(length or 0 for length in lengths),
                sum(part.cost for part in parts),
                reduce(or_, (part.anchor for part in parts)),
            )
        return self._repeated(node)

    def _add(self, matching: Any, label: str, cost: float) -> _Part:
        if len(self.sets) >= MAX_TOKENS:
            raise ParameterError(
                f"{self._text!r}: has more than {MAX_TOKENS} tokens, repetitions counted: at most "
                f"{MAX_TOKENS}; * and + are one"
            )
        state = 1 << len(self.sets)
        self.sets.append(matching)
        self._labels.append(label)
        self._follow.append(0)
        return _Part(False, state, state, 1, cost, state)

    def _join(self, last: int, first: int) -> None:
        for state in range(len(self._follow)):
            if last >> state & 1:
                self._follow[state] |= first

    def _concatenated(self, first: _Part, other: _Part) -> _Part:
        self._join(first.last, other.first)
        rarer = first if first.cost <= other.cost else other
        unlimited = first.length is None or other.length is None
        return _Part(
            first.nullable and other.nullable,
            first.first | (other.first if first.nullable else 0),
            other.last | (first.last if other.nullable else 0),
            None if unlimited else (first.length or 0) + (other.length or 0),
            rarer.cost,
            rarer.anchor,
        )

    def _repeated(self, node: Repeat) -> _Part:
        whole, copy = _NOTHING, _NOTHING
        for _ in range(node.least):
            copy = self.build(node.part)
            whole = self._concatenated(whole, copy)
        if node.max_times is None:
            if node.least == 0:
                copy = self.build(node.part)
                self._join(copy.last, copy.first)
                return copy._replace(nullable=True, length=None, cost=float("inf"), anchor=0)
            self._join(copy.last, copy.first)
            return whole._replace(length=None)
        optional = _NOTHING
        parts = [self.build(node.part) for _ in range(node.max_times - node.least)]
        for part in reversed(parts):  # one inside the other: each is followed by the next alone
            optional = self._concatenated(part, optional)
            optional = optional._replace(nullable=True, cost=float("inf"), anchor=0)
        return self._concatenated(whole, optional)

    def check_edges(self, whole: _Part) -> None:
        """Raise where a sentence begins or ends inside of matches, or a part is only edges."""
        begins = sum(
            1 << n for n, edge in enumerate(self.sets) if isinstance(edge, Edge) and not edge.is_end
        )
        if whole.last & begins:
            raise ParameterError(f"{self._text!r}: a match has a token: write [] behind <s> or <p>")
        follows = reduce(or_, self._follow, 0)
        for state, edge in enumerate(self.sets):
            if not isinstance(edge, Edge):
                continue
            if (self._follow[state] if edge.is_end else follows >> state & 1) or (
                edge.is_end and not any(state_bit >> state & 1 for state_bit in self._follow)
            ):
                raise ParameterError(
                    f"{self._text!r}: a match stays within a sentence: <s> and <doc> stand before "
                    "all of its tokens, </s> and </doc> behind them"
                )

    def automaton(self, whole: _Part, condition: Any) -> Automaton:
        """Return the automaton with these states."""
        n_states, conditions = len(self.sets), self._conditions
        bits = np.zeros(conditions.n_types, np.uint64)
        edges = np.zeros(2, np.uint64)
        places: dict[bool, list[tuple[np.ndarray, np.uint64]]] = {False: [], True: []}
        for state, matching in enumerate(self.sets):
            bit = np.uint64(1 << state)
            if not isinstance(matching, Edge):
                bits[matching] |= bit
            elif matching.structure == "s":
                edges[int(matching.is_end)] |= bit
            else:
                places[matching.is_end].append((conditions.edges(matching), bit))
        before = [
            sum(
                1 << following
                for following in range(n_states)
                if self._follow[following] >> state & 1
            )
            for state in range(n_states)
        ]
        followers = np.zeros(64, np.uint64)
        followers[:n_states] = self._follow
        (starts, start_bits), (stops, stop_bits) = (_merged(places[end]) for end in (False, True))
        labels, program, columns = conditions.program(condition, self._labels)
        return Automaton(
            frozen(bits), frozen(_by_byte(self._follow)), frozen(_by_byte(before)),
            frozen(followers), frozen(np.array([whole.first], np.uint64)),
            frozen(np.array([whole.last], np.uint64)), frozen(edges),
            frozen(starts), frozen(start_bits), frozen(stops), frozen(stop_bits),
            frozen(labels), frozen(program), frozen(columns),
        )  # fmt: skip


def _merged(places: list[tuple[np.ndarray, np.uint64]]) -> tuple[np.ndarray, np.ndarray]:
    """Return (places, int64 ascending, the union of the bits of each, uint64)."""
    every = np.unique(np.concatenate([np.empty(0, np.int64), *(at for at, _ in places)]))
    bits = np.zeros(every.size, np.uint64)
    for at, bit in places:
        bits[np.searchsorted(every, at)] |= bit
    return every, bits


def _by_byte(sets: list[int]) -> np.ndarray:
    """Return the union of the sets of the states of each byte of a set, uint64[8, 256]."""
    table = np.zeros((8, 256), np.uint64)
    for state, reached in enumerate(sets):
        has_state = np.arange(256) >> (state & 7) & 1 == 1
        table[state >> 3, has_state] |= np.uint64(reached)
    return table


class _Conditions:
    """The conditions of a query's tokens, evaluated for the words or analyses of an index.

    layered: a condition asks for another attribute than the word.
    """

    def __init__(
        self, index: IndexedText, text: str, query: Query, search_time: SearchTime
    ) -> None:
        self._index = index
        self._text = text
        self._search_time = search_time
        self.layered = any(
            regex.attribute != "word" for regex in _regexes(query._replace(filters=()))
        )
        self._layers = index.layers if self.layered else None
        self._evaluated: dict[Any, np.ndarray] = {}  # repeated tokens are evaluated once
        if self.layered:
            for regex in _regexes(query):
                self._check_attribute(regex.attribute)
        self._counts = index.word_counts() if self._layers is None else self._layers.counts
        self.n_types = self._counts.size

    @property
    def n_documents(self) -> int:
        """The number of documents, of the whole index."""
        return int(self.document_edges.size) - 1

    @property
    def document_edges(self) -> np.ndarray:
        """Where each document begins, and where the last one ends, int64 positions."""
        return self._index.document_edges

    def count(self, matching: np.ndarray) -> float:
        """Return how many tokens match."""
        return float(self._counts[matching].sum())

    @property
    def n_tokens(self) -> float:
        """The number of tokens, of the whole index."""
        return float(self._counts[1:].sum())

    def n_edges(self, edge: Edge) -> float:
        """Return how many edges there are."""
        if edge.structure != "doc" and edge.fields:
            raise self._fault("sentences and paragraphs have no fields: ask for those of <doc>")
        if edge.structure == "s":
            return float(self._counts[0])
        return float(self.edges(edge).size)

    def edges(self, edge: Edge) -> np.ndarray:
        """Return the boundaries at paragraphs or some documents, int64, ascending."""
        if edge.structure == "p":
            ends = self._index.paragraph_edges
            return (ends[1:] if edge.is_end else ends[:-1]) - 1
        ends = self.document_edges
        chosen: np.ndarray = (ends[1:] if edge.is_end else ends[:-1])[self.documents(edge)] - 1
        return chosen

    def words_of(self, states: int, sets: list[Any]) -> np.ndarray:
        """Return the words of some states, bool."""
        chosen = np.zeros(self.n_types, np.bool_)
        for state, matching in enumerate(sets):
            if states >> state & 1 and not isinstance(matching, Edge):
                chosen |= matching
        if self._layers is None:
            return chosen
        words = np.zeros(self._index.n_words, np.bool_)
        words[self._layers.words[chosen]] = True
        return words

    def matching(self, condition: Any) -> np.ndarray:
        """Return which words, or analyses, fulfil a condition, bool; the boundary does not."""
        if condition not in self._evaluated:
            fulfil = np.array(self._fulfil(condition))
            fulfil[0] = False
            self._evaluated[condition] = fulfil
        return self._evaluated[condition]

    def _fulfil(self, condition: Any) -> np.ndarray:
        if isinstance(condition, Regex):
            is_fulfilled: np.ndarray = self._of_regex(condition)
            if self._layers is not None:
                is_fulfilled = is_fulfilled[self._layers.of(condition.attribute)]
            return is_fulfilled
        if isinstance(condition, language.Not):
            return np.asarray(np.logical_not(self._fulfil(condition.condition)))
        parts = [self._fulfil(inner_condition) for inner_condition in condition.conditions]
        if isinstance(condition, language.Either):
            return np.asarray(np.logical_or.reduce(parts))
        return np.asarray(np.logical_and.reduce([np.ones(self.n_types, np.bool_), *parts]))

    def _of_regex(self, regex: Regex) -> np.ndarray:
        """Return which words, lemmas or tags match, bool by their ids."""
        index, attribute = self._index, regex.attribute
        self._check_attribute(attribute)
        if regex.exact:
            is_fulfilled = np.zeros(index.n_words, np.bool_)
            number = int(index.vocabulary.find(hash_texts([regex.pattern.encode()]))[0])
            is_fulfilled[number if number > 0 else []] = True
            return is_fulfilled
        pattern = regex.pattern
        if regex.glob:
            pieces = re.split(r"(\\.|\*|\?)", index.options.normaliser.characters(pattern))
            signs = {"*": ".*", "?": "."}
            pattern = "".join(
                signs[piece] if piece in signs else re.escape(language.plain(piece))
                for piece in pieces
            )
        elif "l" in regex.flags:
            pattern = re.escape(pattern)
        lines, normaliser = index.word_lines(attribute), index.options.normaliser
        folds = attribute in ("word", "lemma")
        ignores_case = "c" in regex.flags or (normaliser.lower and folds)
        pattern = normalize("NFC", pattern)
        if folds and normaliser.fold_variants is not False:
            pattern = pattern.translate(variants())
            pattern = pattern.replace("İ", "i") if ignores_case else pattern
            today = replace(normaliser, fold_variants=True)
            if today != normaliser:
                lines = lines.changed("today", partial(_each_line, today.token))
        if " " in pattern:  # blanks in forms became _
            lines = lines.with_blanks()
        if "d" in regex.flags:
            lines, pattern = lines.changed("bare", bare), bare(pattern)
        try:
            with self._search_time.spent() as seconds:
                matching = lines.matching(pattern, ignores_case, seconds)
            has_blanks = (
                " " not in pattern
                or matching.any()
                or (index.layers is not None and lines.matching(".+ .+").any())
            )
        except ParameterError as error:
            raise self._fault(str(error)) from None
        if not has_blanks:
            apart = '" "'.join(regex.pattern.split())
            raise self._fault(f'no {attribute} of this index has a blank: write "{apart}"')
        if attribute == "word" and not matching.any():
            self._refuse_words_cut(pattern)
        return matching

    def _refuse_words_cut(self, pattern: str) -> None:
        """Raise for the pattern of a word that the text has as several tokens: `"l'homme"`."""
        if "'" not in pattern or re.search(r"[\\^$.|?*+()\[\]{} ]", pattern):
            return
        words = self._index._words(pattern)
        if len(words) > 1 and self._index._count(pattern):
            apart = " ".join(f'"{word}"' for word in words)
            raise self._fault(
                f"{pattern} is {counted(len(words), 'token')} in this index: write {apart}, or "
                f"{pattern} without quotation marks and brackets"
            )

    def _check_attribute(self, attribute: str) -> None:
        if attribute == "word":
            return
        if attribute not in LAYERS:
            raise self._fault(f"tokens have no {attribute!r}: ask for word, {', '.join(LAYERS)}")
        layers = self._index.layers
        if layers is None or attribute not in layers.names:
            raise self._fault(
                f"this index has no {PLURALS[attribute]}: index annotated text (CoNLL-U, as "
                "distsim annotate writes it), or ask for word"
            )

    def documents(self, edge: Edge) -> np.ndarray:
        """Return which documents have certain fields, bool."""
        fit = np.ones(self.n_documents, np.bool_)
        for name, pattern, negated in edge.fields:
            as_values = with_straight_marks(normalize("NFC", pattern))
            try:
                fits = self._index.metadata.matching(
                    name, partial(_texts_matching, pattern=as_values)
                )
            except ParameterError as error:
                raise self._fault(str(error)) from None
            fit &= fits != negated
        return fit

    def program(
        self, condition: Any, names: list[str]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (label of each state, condition in postfix order, columns) of an automaton."""
        labels = np.full(64, -1, np.int64)
        known = {name: number for number, name in enumerate(dict.fromkeys(filter(None, names)))}
        labels[: len(names)] = [known.get(name, -1) for name in names]
        program: list[tuple[int, ...]] = []
        columns: list[np.ndarray] = []

        def label(name: str) -> int:
            if name not in known:
                raise self._fault(f"no token has the label {name}: write {name}:[...]")
            return known[name]

        def column(values: np.ndarray) -> int:
            columns.append(values.astype(np.uint32))
            return len(columns) - 1

        def add(condition: Any) -> None:
            if isinstance(condition, language.SameText):
                first, second = self._comparable(condition.first[1], condition.other[1])
                places = (
                    label(condition.first[0]),
                    column(first),
                    label(condition.other[0]),
                    column(second),
                )
                program.append((kernel.SAME, *places))
            elif isinstance(condition, language.OfLabel):
                fits = column(self._fulfil(condition.regex))
                program.append((kernel.HOLDS, label(condition.label), fits, 0, 0))
            elif isinstance(condition, language.Not):
                add(condition.condition)
                program.append((kernel.NOT, 0, 0, 0, 0))
            else:
                joins = kernel.EITHER if isinstance(condition, language.Either) else kernel.BOTH
                for number, inner in enumerate(condition.conditions):
                    add(inner)
                    program.extend([(joins, 0, 0, 0, 0)] * (number > 0))

        if condition is not None:
            add(condition)
        of_program = np.array(program, np.int64).reshape(-1, 5)
        width = self.n_types if columns else 1
        return labels, of_program, np.array(columns, np.uint32).reshape(-1, width)

    def _comparable(self, first: str, other: str) -> tuple[np.ndarray, np.ndarray]:
        """Return two attributes by word or analysis, as numbers that are equal for equal texts."""
        for attribute in (first, other):
            self._check_attribute(attribute)
        if first == other:
            values = self._ids(first)
            return values, values
        numbers: dict[str, int] = {}
        by_id = [
            np.array([numbers.setdefault(text, len(numbers)) for text in self._texts(attribute)])
            for attribute in (first, other)
        ]
        return by_id[0][self._ids(first)], by_id[1][self._ids(other)]

    def _ids(self, attribute: str) -> np.ndarray:
        if self._layers is None:
            return np.arange(self.n_types)
        return self._layers.of(attribute)

    def _texts(self, attribute: str) -> list[str]:
        if attribute == "word" or self._layers is None:
            return self._index.vocabulary.all_words()
        return self._layers.texts[attribute]

    def _fault(self, message: str) -> ParameterError:
        return ParameterError(f"{self._text!r}: {message}")


def _texts_matching(texts: list[str], pattern: str) -> np.ndarray:
    """Return which texts a regular expression matches as a whole, bool."""
    from distsim.indexes.word_patterns import WordLines

    encoded = [text.replace("\n", " ").encode(errors="replace") for text in texts]
    joined = np.frombuffer(b"".join(encoded), np.uint8)
    return WordLines(joined, np.cumsum([0, *map(len, encoded)])).matching(pattern)


def _each_line(change: Callable[[str], str], text: str) -> str:
    """Return text with each of its lines changed."""
    return "\n".join(map(change, text.split("\n")))


def _regexes(node: Any) -> list[Regex]:
    """Return the conditions in a part of a query."""
    if isinstance(node, Regex):
        return [node]
    if isinstance(node, language.SameText):
        return [Regex(attribute, "") for _, attribute in node]
    if isinstance(node, tuple):
        return [regex for part in node for regex in _regexes(part)]
    return []
