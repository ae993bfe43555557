"""Turns phrases as users and other tools write them into the tokens of an index or a table."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product

from distsim.base.arguments import TextFormat, utf8_phrase
from distsim.base.errors import ParameterError
from distsim.corpus.normaliser import Normaliser, escaped_forms, unescape
from distsim.corpus.tokeniser import APOSTROPHES, QUOTES, tokens_of

Reading = tuple[str, ...]

MOST_READINGS = 32  # of a phrase; the first one of each word's beyond them
_CACHED = 1 << 16  # pieces of phrases
_LONGEST_CLUSTER = 6  # pieces that are tried as one word
_MOST_APOSTROPHES = 5  # of a piece that is cut in all ways
# Phrases that nothing normalises: of lower-case letters; and digits, where these are not folded.
_LOWER_CASE = re.compile(r"[a-z]+(?: [a-z]+)*"), re.compile(r"[a-z0-9]+(?: [a-z0-9]+)*")
_LETTERS = "A-Za-zÀ-ÖØ-öø-ʯΑ-ΡΣ-ωЀ-ҁҊ-ӿ"  # Latin, Greek, Cyrillic
_HYPHENATED = re.compile(rf"[{_LETTERS}]+(?:-[{_LETTERS}]+)*")  # which running text never cuts
_MIDDLE_DOTS = "·•‧∙⋅"  # that are written in Catalan's l·l
_GEMINATE = re.compile(rf"(?<=[lL])[{_MIDDLE_DOTS}](?=[lL])")
# What belongs to the word before it (n't, 's, 'clock) or behind it (l', dell').
_ENCLITIC = re.compile(r"n't|'[^\W\d_]+(?:'[^\W\d_]+)*")
_PROCLITIC = re.compile(r"[^\W\d_][\w-]*'")


class Lookup:
    """The tokens by which an index or a table is asked for a phrase.

    A phrase stands in a text in as many ways as its text may have been cut: *don't* as `don 't` in
    running text, as `do n't` in text of the Penn Treebank, as `don &apos;t` in text for Moses, and
    each of them is found by each other. Apostrophes and quotation marks, straight or curly, are
    one, as upper and lower case are.

    Arguments:
        normaliser, text_format: of the text.
        has: returns whether a text is a token of it. Where None, every one is.
        variants: returns the tokens of a text that an earlier version cut and normalised, by what
            they would be today.
        has_joined: the text has tokens such as `New_York`, whose blanks became `_`.

    >>> words = {"don", "'t", "the", "king", "'s"}
    >>> lookup = Lookup(Normaliser(), "text", words.__contains__)
    >>> lookup.readings("DON’T"), lookup.readings("do n't"), lookup.readings("don &apos;t")
    ([('don', "'t")], [('don', "'t")], [('don', "'t")])
    >>> lookup.readings("The King's")
    [('the', 'king', "'s")]
    """

    def __init__(
        self,
        normaliser: Normaliser,
        text_format: TextFormat,
        has: Callable[[str], bool] | None = None,
        *,
        variants: Callable[[], Mapping[str, Sequence[str]]] | None = None,
        has_joined: bool = False,
    ) -> None:
        self._is_old = normaliser.is_old
        self._normaliser = replace(normaliser, fold_variants=True) if self._is_old else normaliser
        self._cuts = text_format == "text"
        self._has = has
        self._variants = variants
        self._has_joined = has_joined
        self._is_plain = not has_joined and not normaliser.drops
        self._lower_case = _LOWER_CASE[not normaliser.fold_numbers]
        self._known: dict[str, Reading] = {}
        self._alternatives: dict[tuple[Reading, Sequence[bool]], list[Reading]] = {}

    @cached_property
    def _variants_of_old(self) -> Mapping[str, Sequence[str]]:
        return self._variants() if self._is_old and self._variants else {}

    def is_normal(self, phrase: str) -> bool:
        """Return whether a phrase has one reading, as it is written; some others have one, too.

        Arguments:
            phrase: as typed.
        """
        if not self._is_plain or self._is_old or type(phrase) is not str:
            return False
        return self._lower_case.fullmatch(phrase) is not None

    def are_normal(self, phrases: Iterable[str]) -> list[bool]:
        """Return `is_normal` of each phrase.

        Arguments:
            phrases: as typed.
        """
        if not self._is_plain or self._is_old:
            return [False for _ in phrases]
        matches = self._lower_case.fullmatch
        return [type(phrase) is str and matches(phrase) is not None for phrase in phrases]

    def readings(self, phrase: str) -> list[Reading]:
        """Return the rows of tokens that a phrase may be, all known; else the likeliest one.

        The likeliest is the first: as the text was cut. Tokens that the normaliser drops are left
        out, so that a reading may be empty.

        Arguments:
            phrase: words separated by spaces.

        Raises:
            ParameterError: the phrase has no piece at all, or bytes that were not UTF-8.
        """
        if self.is_normal(phrase):
            return [tuple(phrase.split(" "))]
        utf8_phrase(phrase)
        pieces = self.pieces(phrase)
        if not pieces:
            raise ParameterError("the phrase is empty: give at least one word")
        if phrase.isascii() and all(map(self.only_itself, pieces)):
            return [tuple(pieces)]
        readings: list[list[str]] = [[]]
        for _, alternatives in self.clusters(pieces):
            if len(alternatives) * len(readings) > MOST_READINGS:
                alternatives = alternatives[:1]
            if len(alternatives) == 1:
                for reading in readings:
                    reading += alternatives[0]
            else:
                readings = [[*reading, *tokens] for tokens in alternatives for reading in readings]
        return list(dict.fromkeys(map(self._without_dropped, readings)))

    def clusters(
        self, pieces: Sequence[str], touching: Sequence[bool] = ()
    ) -> Iterator[tuple[int, list[Reading]]]:
        """Yield (number of pieces, rows of tokens that they may be) of pieces that belong together.

        Arguments:
            pieces: of a text, normalised.
            touching: of tokens of a text, whether each stands right behind the one before, so that
                an apostrophe or a middle dot may belong to a word: *'āina*, *paral•lela*.
        """
        first = 0
        while first < len(pieces):
            stop = self._cluster_end(pieces, first, touching)
            while True:
                of_cluster = tuple(touching[first + 1 : stop])
                alternatives = self.alternatives(tuple(pieces[first:stop]), of_cluster)
                # Without a sign behind it, such as a closing quotation mark, it may be known.
                is_joined = any(of_cluster) or "'" in map(unescape, pieces[first:stop])
                if stop == first + 1 or not is_joined or self._all_known(alternatives[0]):
                    break
                stop -= 1
            yield stop - first, list(dict.fromkeys(map(self._without_dropped, alternatives)))
            first = stop

    def pieces(self, phrase: str) -> list[str]:
        """Return the pieces of a phrase between white space, normalised.

        Arguments:
            phrase: as typed.
        """
        if phrase.isascii():
            return self._normaliser.characters(phrase).split()
        return [self.normal(piece) for piece in phrase.split()]

    def normal(self, token: str) -> str:
        """Return a token of a text as `clusters` takes it.

        Arguments:
            token: as written.
        """
        return self._normaliser.characters(token) or token

    def only_itself(self, piece: str) -> bool:
        """Return whether a piece of a phrase can only be the token that is written like it.

        Arguments:
            piece: as `pieces` returns it.
        """
        is_plain = self._is_plain and piece.isascii() and piece.isalnum()
        return is_plain and piece not in self._variants_of_old

    def alternatives(self, pieces: Reading, touching: Sequence[bool] = ()) -> list[Reading]:
        """Return the rows of tokens that pieces which belong together may be, one at least.

        Arguments:
            pieces: one, or several that may be one word.
            touching: whether the second, third, ... stands right behind the one before in a text.
        """
        if len(pieces) == 1 and self.only_itself(pieces[0]):
            return [pieces]
        alternatives = self._alternatives.get((pieces, touching))
        if alternatives is None:
            if len(self._alternatives) >= _CACHED:
                self._alternatives.clear()
            plain = [unescape(piece) for piece in pieces]
            usual = tuple(_cut("".join(plain)) if self._cuts else plain)
            alternatives = self._paths(pieces, plain, touching) or [usual]
            alternatives.sort(key=lambda tokens: tokens != usual)
            self._alternatives[pieces, touching] = alternatives
        return alternatives

    def _without_dropped(self, tokens: Sequence[str]) -> Reading:
        if not self._normaliser.drops:
            return tuple(tokens)
        return tuple(token for token in tokens if self._normaliser.token(token))

    def _all_known(self, tokens: Reading) -> bool:
        return all(map(self._tokens, tokens))

    def _cluster_end(self, pieces: Sequence[str], first: int, touching: Sequence[bool]) -> int:
        """Return the end of the pieces from `first` on that may be one word."""
        stop = first + 1
        longest = min(len(pieces), first + _LONGEST_CLUSTER)
        while stop < longest and (
            self._belong(unescape(pieces[stop - 1]), unescape(pieces[stop]))
            or (touching and touching[stop] and _has_inner_sign(pieces[stop - 1], pieces[stop]))
        ):
            stop += 1
        if self._has_joined:
            for end in range(longest, stop, -1):
                if self._tokens("_".join(pieces[first:end])):
                    return end
        return stop

    @staticmethod
    def _belong(left: str, right: str) -> bool:
        """Return whether two pieces may be one word that was cut at an apostrophe."""
        if "'" not in left and "'" not in right:
            return False
        if "'" in (left, right):  # Moses has it apart in most languages: mba &apos; e
            return left[-1:].isalpha() or right[:1].isalpha()
        if _ENCLITIC.fullmatch(right):
            return left[-1:].isalpha()
        return right[:1].isalpha() and _PROCLITIC.fullmatch(left) is not None

    def _paths(
        self, pieces: Reading, plain: Sequence[str], touching: Sequence[bool]
    ) -> list[Reading]:
        """Return the ways through pieces by known tokens."""
        n = len(pieces)
        ways: list[list[Reading]] = [[] for _ in range(n)] + [[()]]
        for first in range(n - 1, -1, -1):
            steps: list[tuple[int, list[Reading]]] = []
            for stop in range(n, first + 1, -1):
                joined = "_".join(pieces[first:stop])
                together = self._rows([joined]) if self._has_joined else []
                is_word = all(self._belong(*plain[i : i + 2]) for i in range(first, stop - 1))
                if touching and all(touching[first : stop - 1]):
                    cuts = self._of_piece("".join(pieces[first:stop]), "".join(plain[first:stop]))
                else:
                    word = "".join(plain[first:stop])
                    cuts = self._apart(word) if is_word else []
                    if is_word and word.startswith("'"):  # ' t of Dutch
                        cuts = self._rows([word]) + cuts
                steps.append((stop, together + cuts))
            steps.append((first + 1, self._of_piece(pieces[first], plain[first])))
            ways[first] = list(dict.fromkeys(
                head + tail for stop, heads in steps for head in heads for tail in ways[stop]
            ))[:MOST_READINGS]  # fmt: skip
        return ways[0]

    def _of_piece(self, piece: str, plain: str) -> list[Reading]:
        """Return the known tokens that a piece between white space may be."""
        whole = self._rows([plain])
        if piece != plain:
            whole += self._rows([piece])
        if plain.isascii() and plain.isalnum():
            return whole
        apart = self._apart(plain)
        if self._cuts or not (whole or apart):
            tokens = _cut(plain)
            apart = (self._rows(tokens) if len(tokens) > 1 else []) + apart
        rows = apart + whole if self._cuts else whole + apart
        return rows + self._dotted(plain)

    def _dotted(self, word: str) -> list[Reading]:
        """Return the known tokens of a Catalan word with the other dots between two l."""
        if _GEMINATE.search(word) is None:
            return []
        words = [_GEMINATE.sub(dot, word) for dot in _MIDDLE_DOTS]
        return [
            row
            for other in words if other != word
            for tokens in ([other], _cut(other))
            for row in self._rows(tokens)
        ]  # fmt: skip

    def _apart(self, word: str) -> list[Reading]:
        """Return the cuts of a word at its apostrophes whose tokens are all known."""
        inner = [i for i in range(1, len(word) - 1) if word[i] == "'"]
        if not 0 < len(inner) <= _MOST_APOSTROPHES:
            return []
        edges = {0, len(word)}
        if word.endswith("'"):  # which running text has apart: ג'ורג'
            edges.add(len(word) - 1)
        for i in inner:
            edges |= {i, i + 1}
            if word[i - 1 : i + 2] == "n't" and i > 1:
                edges.add(i - 1)
        places = sorted(edges)
        ways: dict[int, list[Reading]] = {len(word): [()]}
        for start in reversed(places[:-1]):
            ways[start] = [
                (token, *tail)
                for stop in places
                if stop > start
                for token in self._inside(word[start:stop], stop == len(word))
                for tail in ways[stop]
            ][:MOST_READINGS]
        return ways[0]

    def _inside(self, token: str, is_last: bool) -> Reading:
        """Return the known tokens that part of a word may be.

        In running text an apostrophe inside a word was never a token, a curly opening one apart.
        """
        tokens = self._tokens(token)
        if token == "'" and self._cuts and not is_last:
            return tuple(token for token in tokens if token not in ("'", "’"))
        return tokens

    def _rows(self, tokens: Iterable[str]) -> list[Reading]:
        return list(product(*map(self._tokens, tokens)))

    def _tokens(self, form: str) -> Reading:
        """Return the tokens of the text that are a form once they are normalised and unescaped."""
        if self._has is None:
            return (form,)
        known = self._known.get(form)
        if known is None:
            if len(self._known) >= _CACHED:
                self._known.clear()
            self._known[form] = known = tuple(filter(self._has, self._candidates(form)))
            if not known and self._normaliser.drops and not self._normaliser.token(form):
                self._known[form] = known = (form,)
        return known

    def _candidates(self, form: str) -> list[str]:
        """Return the tokens that may be a form; each once."""
        forms = [form]
        if not self._cuts:
            forms += escaped_forms(form)
        if self._is_old:
            for signs in (APOSTROPHES, QUOTES):
                if signs[0] in form:
                    forms += [form.replace(signs[0], sign) for sign in signs[1:]]
            forms += self._variants_of_old.get(form, ())
        return list(dict.fromkeys(forms))


def _has_inner_sign(left: str, right: str) -> bool:
    """Return whether tokens meet at an apostrophe or a middle dot, as a word may have inside."""
    signs, edges = f"'{_MIDDLE_DOTS}", (left[-1:], right[:1])
    return any(a in signs and b.isalpha() for a, b in (edges, edges[::-1]))


def _cut(text: str) -> list[str]:
    return [text] if never_cut(text) else tokens_of(text, "text")


def never_cut(text: str) -> bool:
    """Return whether a text is letters, joined by hyphens, which running text never cuts.

    They need no kernel, which the first use would compile.

    >>> never_cut("Köln-Süd"), never_cut("o'clock"), never_cut("-")
    (True, False, False)
    """
    return _HYPHENATED.fullmatch(text) is not None
