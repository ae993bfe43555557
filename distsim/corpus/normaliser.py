"""Normalisation of tokens, for indexing and for queries."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from distsim.base.errors import ArtifactError
from distsim.corpus.tokeniser import variant_characters, variants

# Moses' tokenizer (escape-special-chars), with the forms of its older versions.
_ENTITIES = {
    "&apos;": "'", "&quot;": '"', "&lt;": "<", "&gt;": ">", "&#91;": "[", "&#93;": "]",
    "&#124;": "|", "&bar;": "|", "&bra;": "[", "&ket;": "]", "&amp;": "&",
}  # fmt: skip
_ENTITY = re.compile("|".join(map(re.escape, _ENTITIES)))
_ENTITY_BYTES = re.compile(_ENTITY.pattern.encode())
_CHARACTER = {name.encode(): character.encode() for name, character in _ENTITIES.items()}
_PENN = {
    "-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}",
    "``": '"', "''": '"',
}  # fmt: skip


def unescape(token: str) -> str:
    """Return a token without escapes.

    Arguments:
        token: a token of tokenised text.

    >>> unescape("&apos;s"), unescape("-LRB-"), unescape("&amp;lt;"), unescape("a-b")
    ("'s", '(', '&lt;', 'a-b')
    """
    if "&" in token:
        token = _ENTITY.sub(lambda match: _ENTITIES[match[0]], token)
    return _PENN.get(token.lower(), token)


_ESCAPES = {character: name for name, character in reversed(_ENTITIES.items())}
_SEPARATOR = re.compile(rb"[|\[\]]")
_OF_SEPARATOR = {
    separator: _ESCAPES[separator.decode()].encode() for separator in (b"|", b"[", b"]")
}
_PENN_OF: dict[str, list[str]] = {}
for _name, _character in _PENN.items():
    _PENN_OF.setdefault(_character, []).append(_name)


def escaped_forms(token: str) -> list[str]:
    """Return the tokens that are escapes of a token, of those that are usual.

    Arguments:
        token: without escapes.

    >>> escaped_forms("'s"), escaped_forms("("), escaped_forms('"'), escaped_forms("a")
    (['&apos;s'], ['-lrb-'], ['&quot;', '``', "''"], [])
    """
    escaped = escape(token)
    return [*([escaped] if escaped != token else []), *_PENN_OF.get(token, ())]


def escape(token: str) -> str:
    """Return a token with the escapes of Moses.

    Arguments:
        token: without escapes.

    >>> escape("l'"), escape("a|b")
    ('l&apos;', 'a&#124;b')
    """
    return "".join(_ESCAPES.get(character, character) for character in token)


def escape_separators(text: bytes) -> bytes:
    """Return a text with the escapes without which Moses reads it otherwise: of `|`, `[` and `]`.

    Arguments:
        text: UTF-8.

    >>> escape_separators(b"l' [a|b]")
    b"l' &#91;a&#124;b&#93;"
    """
    return _SEPARATOR.sub(lambda match: _OF_SEPARATOR[match[0]], text)


def has_escapes(text: str, of_all: bool = False) -> bool:
    """Return whether a text has escapes of Moses.

    Arguments:
        text: tokenised.
        of_all: of other characters than separators, which Moses' tokenizer escapes as well.
    """
    entities = _ENTITY.findall(text) if "&" in text else []
    return any(_ENTITIES[entity] not in "|[]" for entity in entities) if of_all else bool(entities)


def undo_moses_escapes(text: bytes) -> bytes:
    """Return a text with the entities of Moses' tokenizer replaced by characters.

    Arguments:
        text: tokenised text.

    >>> undo_moses_escapes(b"l &apos; R&amp;D &#124;")
    b"l ' R&D |"
    """
    if b"&" not in text:
        return text
    return _ENTITY_BYTES.sub(lambda match: _CHARACTER[match[0]], text)


_TURKISH_LOWER_CASE = str.maketrans("Iİ", "ıi")


@dataclass(frozen=True, kw_only=True)
class Normaliser:
    """Settings of token normalisation: NFC, lower case, NFC again, then the options.

    Arguments:
        lower: fold upper case to lower case.
        fold_variants: write variants of one sign alike: curly, acute and grave apostrophes and
            quotation marks straight, ligatures as letters; leave out what is invisible: soft
            hyphens, joiners, marks of direction. None: cut and normalised by an earlier version,
            which knew none of this.
        fold_numbers: write every decimal digit as 0, so that 1984 and 2015 are one word.
        drop_punctuation: tokens without any letter or digit vanish.
        drop_digits: tokens that hold a digit and no letter vanish.
        turkish: the lower case of I and İ is ı and i, as in Turkish and Azeri. None: it is not.

    Marton (2013, section 4.1) removes numbers and punctuation from his corpora: both drops.

    >>> Normaliser().token("Été"), Normaliser().token("O’Brien’s"), Normaliser().token("ofﬁce")
    ('été', "o'brien's", 'office')
    >>> Normaliser(fold_numbers=True).token("1984"), Normaliser(turkish=True).token("IŞIK")
    ('0000', 'ışık')
    """

    lower: bool = True
    fold_variants: bool | None = True
    fold_numbers: bool = False
    drop_punctuation: bool = False
    drop_digits: bool = False
    turkish: bool | None = None

    def token(self, token: str) -> str:
        """Return the token's normal form, empty where the token is dropped.

        Arguments:
            token: as written.
        """
        token = self.characters(token) or token  # what is all invisible stays
        if self.drop_punctuation or self.drop_digits:
            has_letter = any(c.isalpha() for c in token)
            has_digit = any(c.isnumeric() for c in token)
            if self.drop_punctuation and not has_letter and not has_digit:
                return ""
            if self.drop_digits and has_digit and not has_letter:
                return ""
        return token

    def tokens(self, tokens: Iterable[bytes]) -> list[bytes]:
        """Return the normal forms of many tokens in UTF-8.

        Arguments:
            tokens: as written.
        """
        if self.fold_numbers or self.drops or self.turkish:
            return [self.token(token.decode()).encode() for token in tokens]
        return [
            (t.lower() if self.lower else t)
            if t.isascii() and b"`" not in t
            else self.token(t.decode()).encode()
            for t in tokens
        ]

    def characters(self, text: str) -> str:
        """Return text with its characters normalised and no token dropped.

        Arguments:
            text: as written.
        """
        if self.turkish and self.lower:
            text = unicodedata.normalize("NFC", text).translate(_TURKISH_LOWER_CASE)
        if text.isascii():
            text = text.lower() if self.lower else text
            text = text.replace("`", "'") if self.fold_variants else text
        else:
            text = unicodedata.normalize("NFC", text)
            if self.fold_variants and not variant_characters().isdisjoint(text):
                text = unicodedata.normalize("NFC", text.translate(variants()))
            if self.lower:
                text = unicodedata.normalize("NFC", text.lower())
                if self.fold_variants:  # İ; Python's lower case of it is an i with a dot
                    text = text.replace("i\u0307", "i")
        if self.fold_numbers:
            text = "".join("0" if c.isdecimal() else c for c in text)
        return text

    @property
    def is_old(self) -> bool:
        """Whether the text was cut and normalised by an earlier version."""
        return self.fold_variants is None

    @property
    def drops(self) -> bool:
        """Whether any token can be dropped."""
        return self.drop_punctuation or self.drop_digits

    def manifest(self) -> dict[str, Any]:
        """Return the values that are stored in a manifest."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_manifest(cls, values: dict[str, Any]) -> "Normaliser":
        """Return the normaliser that a manifest describes.

        Arguments:
            values: as `manifest` returns them; those of earlier versions have no `fold_variants`.

        Raises:
            ArtifactError: a newer version of distsim wrote them.
        """
        settings: dict[str, Any] = {name: bool(value) for name, value in values.items()}
        try:
            return cls(**{"fold_variants": None} | settings)
        except TypeError:
            raise ArtifactError(
                f"the normaliser {values!r} is not known to this version of distsim: upgrade it"
            ) from None
