"""Invalid lines of a grammar file: stop there, keep them or drop them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from distsim.base.arguments import one_of
from distsim.base.choices import OnError
from distsim.base.errors import InputError
from distsim.corpus.sources import file_label

ON_ERROR: tuple[str, ...] = get_args(OnError)

_SHOWN_FAULTS = 10


@dataclass
class InvalidLines:
    """Invalid lines of a grammar: how they are treated, their counts, the first messages.

    Attributes:
        path: of the grammar.
        on_error: `stop` raises at the first one, `keep` passes it through unscored, `drop` leaves
            it out; both count.
        kept, dropped: their counts.
        shown: the first few messages.
    """

    path: str | Path
    on_error: OnError = "stop"
    kept: int = 0
    dropped: int = 0
    shown: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        one_of(self.on_error, ON_ERROR, "`on_error`")

    def keeps(self, line: int, fault: str) -> bool:
        """Count an invalid line; return whether it stays in the output.

        Arguments:
            line: its number, from 1. fault: what is wrong with it.

        Raises:
            InputError: under `stop`; the message names file, line, fault and remedy.
        """
        where = f"{file_label(self.path)}, line {line}"
        if self.on_error == "stop":
            raise InputError(
                f"{where}: {fault}: mend the line, or pass over such lines with "
                "`on_error` keep or `on_error` drop"
            )
        if len(self.shown) < _SHOWN_FAULTS:
            self.shown.append(f"{where}: {fault}")
        if self.on_error == "keep":
            self.kept += 1
            return True
        self.dropped += 1
        return False

    def require_lines(self, n_lines: int) -> None:
        """Check that a file has lines; an empty one is an error under `stop`, else a message.

        Raises:
            InputError: the file is empty.
        """
        if n_lines == 0:
            message = f"{file_label(self.path)}, line 1: the file is empty"
            if self.on_error == "stop":
                raise InputError(f"{message}: check what should have written it")
            self.shown.append(message)
