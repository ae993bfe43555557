"""Normalisation of tokens, for indexing and for queries."""

import unicodedata
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from distsim.base.errors import ArtifactError
from distsim.corpus.characters import variant_characters, variants


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

    Marton (2013, section 4.1) removes numbers and punctuation from his corpora: both drops.

    >>> Normaliser().token("Été"), Normaliser().token("O’Brien’s"), Normaliser().token("ofﬁce")
    ('été', "o'brien's", 'office')
    >>> Normaliser(fold_numbers=True).token("1984")
    '0000'
    """

    lower: bool = True
    fold_variants: bool | None = True
    fold_numbers: bool = False
    drop_punctuation: bool = False
    drop_digits: bool = False

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
        if self.fold_numbers or self.drops:
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
        given: dict[str, Any] = {name: bool(value) for name, value in values.items()}
        try:
            return cls(**{"fold_variants": None} | given)
        except TypeError:
            raise ArtifactError(
                f"the normaliser {values!r} is not known to this version of distsim: upgrade it"
            ) from None
