"""What first questions would wait for, made before they come.

Once on a machine that is also the compiling of kernels: then each kind of question is asked once.
"""

from collections.abc import Callable
from contextlib import suppress

from distsim.errors import DistsimError
from distsim.server import questions
from distsim.server.opened import MAIN, Opened


def _searches(opened: Opened) -> None:
    for name in opened.tables:
        opened.search(name, None)


def _contexts(opened: Opened) -> None:
    opened.weigher(1, "log-llr")


def _rules(opened: Opened) -> None:
    for source in questions.about(opened).suggestions.sources[:1]:
        questions.rules(opened, source, 1)


def _phrase_page(opened: Opened) -> None:
    """Ask what the page of a phrase asks, and for what it links to."""
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
