"""Undoes escapes of other tools: Moses' entities, the Penn Treebank's brackets."""

import re

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
        token = _ENTITY.sub(lambda found: _ENTITIES[found[0]], token)
    return _PENN.get(token.lower(), token)


_ESCAPES = {character: name for name, character in reversed(_ENTITIES.items())}
_SEPARATOR = re.compile(rb"[|\[\]]")
_OF_SEPARATOR = {one: _ESCAPES[one.decode()].encode() for one in (b"|", b"[", b"]")}
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
    return _SEPARATOR.sub(lambda found: _OF_SEPARATOR[found[0]], text)


def has_escapes(text: str, of_all: bool = False) -> bool:
    """Return whether a text has escapes of Moses.

    Arguments:
        text: tokenised.
        of_all: of other characters than separators, which Moses' tokenizer escapes as well.
    """
    found = _ENTITY.findall(text) if "&" in text else []
    return any(_ENTITIES[one] not in "|[]" for one in found) if of_all else bool(found)


def undo_moses_escapes(text: bytes) -> bytes:
    """Return a text with the entities of Moses' tokenizer replaced by characters.

    Arguments:
        text: tokenised text.

    >>> undo_moses_escapes(b"l &apos; R&amp;D &#124;")
    b"l ' R&D |"
    """
    if b"&" not in text:
        return text
    return _ENTITY_BYTES.sub(lambda found: _CHARACTER[found[0]], text)
