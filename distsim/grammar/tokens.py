"""Words of rules in the normal forms of a table."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from distsim.comparison.table import SignatureTable
from distsim.corpus.normaliser import unescape
from distsim.corpus.vocabulary import HashNumbering
from distsim.grammar.block import TERMINAL, RuleBlock
from distsim.grammar.kernels.phrase_pairs import hash_symbols
from distsim.kernels.compiled import frozen

UNESCAPED, SPLIT, LEFT_OUT = 1, 2, 4  # what happened to a token on its way, as bits
UNKNOWN = 8  # the table keeps vectors of words, and none of a word of the token
_CACHED_TOKENS = 1 << 20
_CLITICS = {"n't", "'t"}  # which part of the word before belongs to, tools disagree
_LONGEST_CLITIC = 12  # bytes of an escaped one


def _is_clitic(text: bytes) -> bool:
    """Return whether a word is `n't` or `'t`, as any tool writes it.

    Arguments:
        text: UTF-8.
    """
    if len(text) > _LONGEST_CLITIC or text[-1:] not in b"tT":
        return False
    return unescape(text.decode()).lower() in _CLITICS


class BlockWords(NamedTuple):
    """The distinct terminals of a block.

    numbers: int64 per symbol, its word, -1 for a gap. texts: each word's bytes.
    """

    numbers: np.ndarray
    texts: list[bytes]


def distinct_words(block: RuleBlock) -> BlockWords:
    """Return the distinct terminals of a block, numbered by first appearance.

    Arguments:
        block: parsed rules.
    """
    numbers = np.full(block.gaps.size, -1, np.int64)
    terminals = np.flatnonzero(block.gaps == TERMINAL)
    data = frozen(np.frombuffer(block.text, np.uint8))
    starts, stops = block.starts[terminals], block.stops[terminals]
    word_numbers, first_seen = HashNumbering().number(
        hash_symbols(data, frozen(starts), frozen(stops))
    )
    numbers[terminals] = word_numbers
    text = block.text
    spans = zip(starts[first_seen].tolist(), stops[first_seen].tolist(), strict=True)
    return BlockWords(numbers, [text[start:stop] for start, stop in spans])


@dataclass(frozen=True)
class WordForms:
    """Normal forms of words in a table, end to end; the parts of a word are separated by a space.

    text: uint8. offsets: int64[n + 1]. changes: uint8[n], UNESCAPED | SPLIT | LEFT_OUT | UNKNOWN.
    """

    text: np.ndarray
    offsets: np.ndarray
    changes: np.ndarray


class LookedUpWords(NamedTuple):
    """The words of a block as they are looked up in a table.

    words: those of the block, pairs that are one word cut as the table's text is. forms: theirs.
    """

    words: BlockWords
    forms: WordForms


class TokenForms:
    """Cache of the normal forms of rule tokens in a table.

    A token that the table knows is kept as it is, but for an escape of Moses or the Penn Treebank
    that stands for what the table has more often. Otherwise escapes are undone first. A token that
    the table's tokeniser would split is looked up as its parts, and remains one symbol of the rule.
    A token may have no normal form.

    Arguments:
        table: the table in which rule sides are looked up.
    """

    def __init__(self, table: SignatureTable) -> None:
        self._table = table
        self._known: dict[bytes, tuple[bytes, int]] = {}
        self._lock = threading.Lock()

    def look_up(self, block: RuleBlock, words: BlockWords) -> LookedUpWords:
        """Return the words of a block as they are looked up in the table.

        Arguments:
            block: of rules. words: those of the block.
        """
        words = self._cut_as_in_table(block, words)
        return LookedUpWords(words, self.forms(words.texts))

    def _cut_as_in_table(self, block: RuleBlock, words: BlockWords) -> BlockWords:
        """Return the words of a block, pairs that are one word cut as the table's text is.

        `do n't` is `don 't` in a table of running text, `don &apos;t` is `do n't` in one of the
        Penn Treebank. Each token remains one symbol of its rule.

        Arguments:
            block: of rules.
            words: those of the block.
        """
        is_clitic = np.array([_is_clitic(text) for text in words.texts], bool)
        behind = np.flatnonzero((words.numbers[1:] >= 0) & (words.numbers[:-1] >= 0)) + 1
        if not is_clitic.any() or not behind.size:
            return words
        behind = np.setdiff1d(behind[is_clitic[words.numbers[behind]]], block.token_stops.ravel())
        pairs = np.column_stack([words.numbers[behind - 1], words.numbers[behind]])
        distinct, of_pair = np.unique(pairs, axis=0, return_inverse=True)
        texts, numbers = list(words.texts), words.numbers.copy()
        symbols = np.full((len(distinct), 2), -1, np.int64)
        for row, (left, right) in enumerate(distinct.tolist()):
            pieces = [self._table.lookup.normal(texts[word].decode()) for word in (left, right)]
            cuts = [cut for cut in self._table.lookup.alternatives(tuple(pieces)) if len(cut) == 2]
            if cuts and list(cuts[0]) != pieces:
                symbols[row] = len(texts), len(texts) + 1
                texts += [word.encode() for word in cuts[0]]
        changed = np.flatnonzero(symbols[of_pair.ravel(), 0] >= 0)
        for side in range(2):
            numbers[behind[changed] - 1 + side] = symbols[of_pair.ravel()[changed], side]
        return BlockWords(numbers, texts)

    def forms(self, words: Sequence[bytes]) -> WordForms:
        """Return the normal forms of words, UTF-8 each.

        Arguments:
            words: UTF-8 of each word.
        """
        known = self._known
        missing = [word for word in words if word not in known]
        if missing:
            forms_of_new = self._find(missing)
            with self._lock:
                if len(known) + len(forms_of_new) > _CACHED_TOKENS:
                    known = self._known = {w: known[w] for w in words if w in known}
                known.update(forms_of_new)
        forms = [known[word] for word in words]
        text = b"".join([form for form, _ in forms])
        offsets = np.zeros(len(forms) + 1, np.int64)
        np.cumsum([len(form) for form, _ in forms], out=offsets[1:])
        changes = np.array([change for _, change in forms], np.uint8)
        return WordForms(np.frombuffer(text, np.uint8), offsets, changes)

    def _counts(self, forms: list[str]) -> np.ndarray:
        """Return how often the table has seen words, int64, at least 1 for those that it has."""
        rows = self._table.find_normal(forms)
        counts: np.ndarray = np.zeros(len(forms), np.int64)
        counts[rows >= 0] = np.maximum(1, self._table.strengths[rows[rows >= 0]])
        return counts

    def _find(self, words: list[bytes]) -> dict[bytes, tuple[bytes, int]]:
        table, normaliser = self._table, self._table.normaliser
        tokens = [word.decode() for word in words]
        plain = [normaliser.characters(token) for token in tokens]
        bare = [normaliser.characters(unescape(token)) for token in tokens]
        counts, counts_bare = self._counts(plain), self._counts(bare)
        is_escape = np.array([a != b for a, b in zip(plain, bare, strict=True)], bool)
        stands = ((counts > 0) & ~(is_escape & (counts_bare > counts))).tolist()
        forms_of_words = {}
        for word, token, characters, is_known in zip(words, tokens, plain, stands, strict=True):
            if is_known and not normaliser.drops:
                forms_of_words[word] = (characters.encode(), 0)
                continue
            change = 0
            if not is_known and unescape(token) != token:
                token, change = unescape(token), UNESCAPED
            parts = []
            if token.strip():
                parts = table.words(token)
            change |= SPLIT if len(parts) > 1 else 0
            change |= LEFT_OUT if not parts else 0
            forms_of_words[word] = (" ".join(parts).encode(), change)
        if table.parts is None:
            return forms_of_words
        words_of = [(word, form.decode().split()) for word, (form, _) in forms_of_words.items()]
        rows = iter((table.parts.find([part for _, parts in words_of for part in parts])).tolist())
        for word, parts in words_of:
            if min([next(rows) for _ in parts], default=0) < 0:
                form, change = forms_of_words[word]
                forms_of_words[word] = (form, change | UNKNOWN)
        return forms_of_words
