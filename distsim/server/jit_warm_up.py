"""JIT warm-up: compiles the kernels that first questions need.

Once on a machine that is also the compiling of kernels: then each kind of question is asked once,
in a process of its own, since a compiler leaves 200 MB behind:

    python -m distsim.server.jit_warm_up PLACES     # as JSON
"""

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict

from distsim.base.errors import DistsimError
from distsim.kernels.compiled import is_kept
from distsim.paraphrase.kernels.profiles import profile_cosines
from distsim.server import questions
from distsim.server.session import MAIN, Opened, Places


def _searches(opened: Opened) -> None:
    for name in opened.tables:
        opened.search(name, None)


def _contexts(opened: Opened) -> None:
    opened.weigher(1, "log-llr")


def _rules(opened: Opened) -> None:
    for source in questions.about(opened).suggestions.sources[:1]:
        questions.rules(opened, source, 1)


def _phrase_page(opened: Opened) -> None:
    """Ask the questions of a phrase's page and of its links."""
    for phrase in questions.about(opened).suggestions.phrases[:1]:
        questions.count(opened, (phrase, f"{phrase} _ {phrase}"))
        questions.complete(opened, f"{phrase} ", 1)
        for order in ("corpus", "left"):
            lines = questions.concordance(opened, phrase, order, 1, 10, 0)
        for line in lines.rows:
            questions.passage(opened, line.at, 1)
        questions.contexts(opened, phrase, 1, "log-llr", 1)
        with suppress(DistsimError):  # nothing was signed
            questions.neighbour_map(opened, phrase, 20, "", 0, MAIN)


def _comparison(opened: Opened) -> None:
    for a, b in questions.about(opened).suggestions.pairs[:1]:
        questions.compare(opened, a, b, 1, "log-llr", 1, "all")


def _paraphrases(opened: Opened) -> None:
    for phrase in questions.about(opened).suggestions.phrases[:1]:
        questions.paraphrases(opened, phrase, 1)


def _substitutes(opened: Opened) -> None:
    for sentence in questions.about(opened).suggestions.sentences[:1]:
        questions.substitutes(opened, sentence, 1)


Maker = Callable[[Opened], object]
ALWAYS: tuple[Maker, ...] = (_searches, _contexts, Opened.completer, questions.about, _rules)
PAGES: tuple[Maker, ...] = (_phrase_page, _comparison)
SLOW: tuple[Maker, ...] = (_paraphrases, _substitutes)


def is_done() -> bool:
    """Return whether the kernels that answers need are compiled on this machine."""
    return is_kept(profile_cosines)


def command(places: Places) -> list[str]:
    """Return the command that asks every kind of question once."""
    return [sys.executable, "-m", __name__, json.dumps(asdict(places))]


def main() -> None:
    """Ask every kind of question once; all processes use the kernels compiled for it."""
    opened = Opened(Places(**json.loads(sys.argv[1])))
    for make in (*ALWAYS, *PAGES, *SLOW):
        with suppress(DistsimError):
            make(opened)


if __name__ == "__main__":
    main()
