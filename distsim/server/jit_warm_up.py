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
from distsim.server import corpus_questions, questions
from distsim.server.session import MAIN, Opened, Places


def _searches(opened: Opened) -> None:
    """Search for neighbours."""
    for name in opened.tables:
        opened.search(name, None)


def _contexts(opened: Opened) -> None:
    """Weights of contexts."""
    opened.weigher(1, "log-llr")


def _completion(opened: Opened) -> None:
    """Completion of phrases."""
    opened.completer()


def _examples(opened: Opened) -> None:
    """Examples from the corpus."""
    questions.about(opened)


def _words(opened: Opened) -> None:
    """Words that can stand for others."""
    with suppress(DistsimError):  # nothing was signed
        for phrase in questions.about(opened).suggestions.phrases:
            if " " not in phrase and opened.word_neighbours(MAIN) is not None:
                questions.neighbours(opened, phrase, 1, "", 0, MAIN)


def _rules(opened: Opened) -> None:
    """Rules of the grammar."""
    for source in questions.about(opened).suggestions.sources[:1]:
        questions.rules(opened, source, 1)


def _phrase_page(opened: Opened) -> None:
    """Page of a phrase."""
    for phrase in questions.about(opened).suggestions.phrases[:1]:
        questions.count(opened, (phrase, f"{phrase} _ {phrase}"))
        questions.complete(opened, f"{phrase} ", 1)
        for order in ("corpus", "left"):
            lines = corpus_questions.concordance(
                opened, phrase, order, 1, 0, "0", "", width="10", fields=""
            )
        for line in lines.rows:
            questions.passage(opened, line.at, 1)
        questions.contexts(opened, phrase, 1, "log-llr", 1)
        with suppress(DistsimError):  # nothing was signed
            questions.neighbour_map(opened, phrase, 20, "", 0, MAIN)


def _comparison(opened: Opened) -> None:
    """Comparison of two phrases."""
    for a, b in questions.about(opened).suggestions.pairs[:1]:
        questions.compare(opened, a, b, 1, "log-llr", 1, "all")


def _paraphrases(opened: Opened) -> None:
    """Paraphrases."""
    for phrase in questions.about(opened).suggestions.phrases[:1]:
        questions.paraphrases(opened, phrase, 1)


def _substitutes(opened: Opened) -> None:
    """Substitutes in a sentence."""
    for sentence in questions.about(opened).suggestions.sentences[:1]:
        questions.substitutes(opened, sentence, 1)


def _rewriting(opened: Opened) -> None:
    """Rewriting of sentences."""
    with suppress(DistsimError):  # no packed grammar
        for sentence in questions.about(opened).suggestions.sentences[:1]:
            questions.rewrite(opened, sentence.replace("[", "").replace("]", ""), "simplify", 1)


Maker = Callable[[Opened], object]
ALWAYS: tuple[Maker, ...] = (_searches, _contexts, _completion, _examples, _words, _rules)
PAGES: tuple[Maker, ...] = (_phrase_page, _comparison)
SLOW: tuple[Maker, ...] = (_paraphrases, _substitutes, _rewriting)


def name_of(make: Maker) -> str:
    """Return the name of a step of the warm-up, for visitors who wait."""
    return (make.__doc__ or "").partition("\n")[0].rstrip(".")


def every() -> tuple[Maker, ...]:
    """Return all makers in their order."""
    return (*ALWAYS, *PAGES, *SLOW)


def is_done() -> bool:
    """Return whether the kernels that answers need are compiled on this machine."""
    return is_kept(profile_cosines)


def command(places: Places) -> list[str]:
    """Return the command that asks every kind of question once."""
    return [sys.executable, "-m", __name__, json.dumps(asdict(places))]


def main() -> None:
    """Ask every kind of question once, and print each; its compiled kernels are stored."""
    opened = Opened(Places(**json.loads(sys.argv[1])))
    for make in every():
        print(name_of(make), flush=True)
        with suppress(DistsimError):
            make(opened)


if __name__ == "__main__":
    main()
