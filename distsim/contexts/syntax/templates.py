"""Templates of features' names: text around two slots, each filled by a text of the corpus."""

from typing import NamedTuple

KINDS = ("lex", "lem", "pos", "ner")
SIDES = ("l", "r")

# Where a template is in the array by which the kernel finds it.
Place = tuple[int, ...]


class Template(NamedTuple):
    """The names `prefix + a + middle + b + suffix`; b is empty where one text is enough.

    >>> Template("l_dep_", "_lex_").name("amod", "long")
    'l_dep_amod_lex_long'
    """

    prefix: str
    middle: str = ""
    suffix: str = ""

    def name(self, a: str, b: str) -> str:
        """Return the name of one feature.

        Arguments:
            a, b: the texts at the two places; b is empty where one is enough.
        """
        return f"{self.prefix}{a}{self.middle}{b}{self.suffix}"

    @property
    def pattern(self) -> str:
        """The name of all features of this shape: a family of its own when it is weighed."""
        return f"{self.prefix}*{self.middle}{self.suffix}"
