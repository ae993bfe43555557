"""Examples in docstrings, as doctest reads them -> sections that the reference shows as code."""

import re
from typing import Any

import griffe

_BLOCK = re.compile(r"^>>> .*?(?=\n\s*\n|\Z)", re.M | re.S)


class Examples(griffe.Extension):
    """Put every block of examples under a heading, which is how griffe knows it."""

    def on_instance(self, *, obj: griffe.Object, **others: Any) -> None:
        """Do so for one object."""
        if obj.docstring is not None:
            obj.docstring.value = _BLOCK.sub(_headed, obj.docstring.value)


def _headed(block: re.Match[str]) -> str:
    lines = "\n".join("    " + line for line in block[0].splitlines())
    return f"Examples:\n{lines}"
