"""The table of endpoints and their arguments, for the API, its description and the page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from distsim.base.errors import ParameterError
from distsim.contexts.ngram import WIDEST
from distsim.indexes.corpus_index import ORDERS
from distsim.kernels.schemes import SCHEMES
from distsim.server import answers, questions
from distsim.server.limits import LIMITS
from distsim.server.session import MAIN, SYNTAX

PREFIX = "/api/v1"


@dataclass(frozen=True)
class Text:
    """A text argument. many: it may be repeated."""

    name: str
    told: str
    default: str | None = None
    most: int = LIMITS.phrase_characters
    many: bool = False

    def value(self, given: Sequence[str]) -> Any:
        """Return the argument's value, checked."""
        for one in given:
            if len(one) > self.most:
                raise ParameterError(
                    f"`{self.name}` has {len(one):,} characters: give {self.most:,} at most"
                )
            if self.default is None and not one.strip():
                raise ParameterError(f"`{self.name}` is empty: give at least one word")
        if self.many:
            if len(given) > LIMITS.phrases:
                raise ParameterError(
                    f"`{self.name}` is given {len(given)} times: {LIMITS.phrases} at most"
                )
            return tuple(given)
        return given[0]

    def schema(self) -> dict[str, Any]:
        """Return its JSON schema."""
        one: dict[str, Any] = {"type": "string", "maxLength": self.most}
        if self.default is not None:
            one["default"] = self.default
        if self.many:
            return {"type": "array", "items": one, "minItems": 1, "maxItems": LIMITS.phrases}
        return one


@dataclass(frozen=True)
class Whole:
    """A whole number within a range."""

    name: str
    told: str
    default: int | None
    least: int
    most: int
    many = False

    def value(self, given: Sequence[str]) -> int:
        """Return the argument's value, checked."""
        text = given[0].strip()
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            raise ParameterError(f"`{self.name}` {text[:40]!r}: give a whole number")
        number = int(text)
        if not self.least <= number <= self.most:
            raise ParameterError(f"`{self.name}` {number}: choose {self.least:,} to {self.most:,}")
        return number

    def schema(self) -> dict[str, Any]:
        """Return its JSON schema."""
        found = {"type": "integer", "minimum": self.least, "maximum": self.most}
        return found if self.default is None else found | {"default": self.default}


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    name: str
    told: str
    default: str
    choices: tuple[str, ...]
    many = False

    def value(self, given: Sequence[str]) -> str:
        """Return the argument's value, checked."""
        if given[0] not in self.choices:
            raise ParameterError(
                f"`{self.name}` {given[0][:40]!r}: choose one of {', '.join(self.choices)}"
            )
        return given[0]

    def schema(self) -> dict[str, Any]:
        """Return its JSON schema."""
        return {"type": "string", "enum": list(self.choices), "default": self.default}


Argument = Text | Whole | Choice


@dataclass(frozen=True)
class Endpoint:
    """A question of the API.

    name: its path below /api/v1. rows: which part of the answer is its table, for TSV; None
    where there is none. slow: it may take seconds and goes behind others that do.
    """

    name: str
    told: str
    question: Callable[..., Any]
    answer: type
    arguments: tuple[Argument, ...] = ()
    rows: tuple[str, ...] = ("rows",)
    slow: bool = False

    def values(self, given: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Return the arguments of a question, by name.

        Raises:
            ParameterError: one is missing, unknown or cannot be.
        """
        known = {one.name: one for one in self.arguments}
        for name in given:
            if name not in known and name != "format":
                wanted = ", ".join(known) or "none"
                raise ParameterError(f"`{name[:40]}` is no argument of {self.name}: give {wanted}")
        found = {}
        for name, argument in known.items():
            texts = given.get(name, ())
            if len(texts) > 1 and not argument.many:
                raise ParameterError(f"`{name}` is given {len(texts)} times: give it once")
            if texts:
                found[name] = argument.value(texts)
            elif argument.default is None:
                raise ParameterError(f"`{name}` is missing: add ?{name}=...")
            else:
                found[name] = argument.default
        return found


def _k(default: int, most: int = LIMITS.rows) -> Whole:
    return Whole("k", "so many rows at most", default, 1, most)


_PHRASE = Text("phrase", "a word or phrase")
_LENGTHS = Text("lengths", "only phrases of so many words: 2, or 1-3", "", 7)
_MIN_COUNT = Whole(
    "min_count", "only phrases that occur so often; 0: what suits the text's size, the least",
    0, 0, 1 << 31,
)  # fmt: skip
_TABLE = Choice("table", "which signatures", MAIN, (MAIN, SYNTAX))
_WINDOW = Whole("window", "words on either side", 1, 1, WIDEST)
_WEIGHTS = Choice("weights", "how counts become weights", "log-llr", tuple(SCHEMES))

ENDPOINTS = {
    one.name: one
    for one in (
        Endpoint("about", "What is served, limits, and what to try.", questions.about,
                 answers.About, rows=("tables",)),
        Endpoint("count", "How often phrases occur; `_` stands for 1 to 6 words.", questions.count,
                 answers.Counts, (Text("phrase", "a word or phrase; again for more", many=True),)),
        Endpoint("complete", "Phrases that begin as typed, the most frequent first.",
                 questions.complete, answers.Completions,
                 (Text("text", "the beginning of a phrase"), _k(10, 50))),
        Endpoint("concordance", "Occurrences in their sentences.", questions.concordance,
                 answers.Concordance,
                 (_PHRASE,
                  Choice("order", "by place, or by the words on a side", "corpus", ORDERS),
                  _k(20), Whole("width", "words shown on either side", 10, 0, 50),
                  Whole("sample", "so many occurrences, evenly spaced; 0: all", 0, 0, 20_000))),
        Endpoint("passage", "The text around an occurrence.", questions.passage, answers.Passage,
                 (Whole("at", "the place that a concordance gives", None, 0, 1 << 59),
                  Whole("words", "how many words to mark there", 1, 1, 255))),
        Endpoint("neighbours", "The phrases most alike.", questions.neighbours, answers.Neighbours,
                 (_PHRASE, _k(20), _LENGTHS, _MIN_COUNT, _TABLE)),
        Endpoint("map", "The phrases most alike, laid out in the plane.", questions.neighbour_map,
                 answers.Map, (_PHRASE, _k(20, 60), _LENGTHS, _MIN_COUNT, _TABLE)),
        Endpoint("contexts", "The words beside a phrase, with weights.", questions.contexts,
                 answers.Contexts, (_PHRASE, _WINDOW, _WEIGHTS, _k(15)), ("left", "right")),
        Endpoint("compare", "Two phrases side by side.", questions.compare, answers.Comparison,
                 (Text("a", "a phrase"), Text("b", "another"), _WINDOW, _WEIGHTS, _k(15),
                  Choice("measures", "all, or only those that count nothing anew", "all",
                         ("all", "quick"))),
                 ("measures", "shared", "only_a", "only_b")),
        Endpoint("paraphrases", "What else could be said, and why.", questions.paraphrases,
                 answers.Paraphrases, (_PHRASE, _k(15, 30)), slow=True),
        Endpoint("rules", "A grammar's rules for a source side.", questions.rules, answers.Rules,
                 (Text("source", "symbols parted by blanks, gaps as [NP,1]"), _k(20))),
        Endpoint("substitutes", "What may stand in a word's place in its sentence.",
                 questions.substitutes, answers.Substitutes,
                 (Text("sentence", "with the target in brackets: the [boy] read",
                       most=LIMITS.sentence_characters), _k(10, 100)), slow=True),
    )
}  # fmt: skip
