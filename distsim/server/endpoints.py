"""The table of endpoints and their arguments, for the API, its description and the page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from distsim.base.arguments import AssociationMeasure, KeywordMeasure, Layer
from distsim.base.errors import ParameterError, counted
from distsim.contexts.ngram import WIDEST
from distsim.grammar.pair_features import PAIR_KINDS
from distsim.kernels.contexts import SCHEMES
from distsim.server import answers, corpus_questions, questions, suggestions
from distsim.server.session import MAIN, SYNTAX
from distsim.server.worker_queues import LIMITS

PREFIX = "/api/v1"


@dataclass(frozen=True)
class TextField:
    """A text argument.

    name: in the address. description: what it is. default: None where it is required. most:
    characters. many: it may be repeated.
    """

    name: str
    description: str
    default: str | None = None
    most: int = LIMITS.phrase_characters
    many: bool = False

    def value(self, texts: Sequence[str]) -> Any:
        """Return the argument's value, checked.

        Raises:
            ParameterError: the text is empty or too long.
        """
        for text in texts:
            if len(text) > self.most:
                raise ParameterError(
                    f"`{self.name}` has {counted(len(text), 'character')}: give "
                    f"{self.most:,} at most"
                )
            if self.default is None and not text.strip():
                raise ParameterError(f"`{self.name}` is empty: give at least one word")
        if self.many:
            if len(texts) > LIMITS.phrases:
                raise ParameterError(
                    f"`{self.name}` is given {counted(len(texts), 'time')}: "
                    f"{LIMITS.phrases} at most"
                )
            return tuple(texts)
        return texts[0]

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the argument: a string, or a list of strings."""
        schema: dict[str, Any] = {"type": "string", "maxLength": self.most}
        if self.default is not None:
            schema["default"] = self.default
        if self.many:
            return {"type": "array", "items": schema, "minItems": 1, "maxItems": LIMITS.phrases}
        return schema


@dataclass(frozen=True)
class WholeField:
    """A whole number within a range.

    name: in the address. description: what it is. default: None where it is required. least, most:
    the range.
    """

    name: str
    description: str
    default: int | None
    least: int
    most: int
    many = False

    def value(self, texts: Sequence[str]) -> int:
        """Return the argument's value, checked.

        Raises:
            ParameterError: the value is no whole number, or outside the range.
        """
        text = texts[0].strip()
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            raise ParameterError(f"`{self.name}` {text[:40]!r}: give a whole number")
        number = int(text)
        if not self.least <= number <= self.most:
            raise ParameterError(f"`{self.name}` {number}: choose {self.least:,} to {self.most:,}")
        return number

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the argument: an integer, its minimum, maximum and default."""
        limits = {"type": "integer", "minimum": self.least, "maximum": self.most}
        return limits if self.default is None else limits | {"default": self.default}


@dataclass(frozen=True)
class ChoiceField:
    """One of a few words.

    name: in the address. description: what it is. default: the word where none is given. choices:
    all.
    """

    name: str
    description: str
    default: str
    choices: tuple[str, ...]
    many = False

    def value(self, texts: Sequence[str]) -> str:
        """Return the argument's value, checked.

        Raises:
            ParameterError: the value is not one of the choices.
        """
        if texts[0] not in self.choices:
            raise ParameterError(
                f"`{self.name}` {texts[0][:40]!r}: choose one of {', '.join(self.choices)}"
            )
        return texts[0]

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the argument: a string out of a list."""
        return {"type": "string", "enum": list(self.choices), "default": self.default}


Argument = TextField | WholeField | ChoiceField


@dataclass(frozen=True)
class Endpoint:
    """A question of the API.

    Attributes:
        name: its path below /api/v1.
        description: what it is.
        question: the function that answers it.
        answer: the type of its answer.
        arguments: of the question.
        rows: which part of the answer is its table, for TSV; None where there is none.
        slow: it may take seconds and goes behind others that do.
    """

    name: str
    description: str
    question: Callable[..., Any]
    answer: Any
    arguments: tuple[Argument, ...] = ()
    rows: tuple[str, ...] = ("rows",)
    slow: bool = False

    def values(self, texts_of_names: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Return the arguments of a question, by name.

        Arguments:
            texts_of_names: the values in the request, by name.

        Raises:
            ParameterError: one is missing, unknown or cannot be.
        """
        known = {argument.name: argument for argument in self.arguments}
        for name in texts_of_names:
            if name not in known and name != "format":
                wanted = ", ".join(known) or "none"
                raise ParameterError(f"`{name[:40]}` is no argument of {self.name}: give {wanted}")
        values = {}
        for name, argument in known.items():
            texts = texts_of_names.get(name, ())
            if len(texts) > 1 and not argument.many:
                raise ParameterError(
                    f"`{name}` is given {counted(len(texts), 'time')}: give it once"
                )
            if texts:
                values[name] = argument.value(texts)
            elif argument.default is None:
                raise ParameterError(f"`{name}` is missing: add ?{name}=...")
            else:
                values[name] = argument.default
        return values


def _k(default: int, largest: int = LIMITS.rows) -> WholeField:
    return WholeField("k", "rows at most", default, 1, largest)


_PHRASE = TextField("phrase", "a word or phrase")
_ASKED = TextField("phrase", "a word, a phrase, a phrase with `_` for 1 to 6 words, or a query")
_ORDER = TextField(
    "order", "corpus, left, right, or up to three places such as 1L,2L,1R", "corpus", 20
)
_SKIP = WholeField("skip", "leave out this many rows first", 0, 0, LIMITS.exported_lines)
_WHERE = TextField(
    "where",
    "only documents that fit, such as year=1850..1900; genre=novel; or the name of a subcorpus",
    "",
)
_WIDTH = TextField(
    "width", "words on either side in the sentence; or s, p, 5:10 across sentences", "10", 20
)
_FIELDS = TextField(
    "fields", "fields of documents beside each line: author,year,id; all by default, - for none", ""
)
_LENGTHS = TextField("lengths", "only phrases of this many words: 2, or 1-3", "", 7)
_MIN_COUNT = WholeField(
    "min_count", "only phrases at least this frequent; 0: by the size of the corpus",
    0, 0, 1 << 31,
)  # fmt: skip
_TABLE = ChoiceField("table", "the signature table", MAIN, (MAIN, SYNTAX))
_WINDOW = WholeField("window", "words on either side", 1, 1, WIDEST)
_WEIGHTS = ChoiceField("weights", "the weighting scheme", "log-llr", tuple(SCHEMES))

ENDPOINTS = {
    endpoint.name: endpoint
    for endpoint in (
        Endpoint("about", "The served artifacts, limits and examples.", questions.about,
                 answers.About, rows=("tables",)),
        Endpoint("count", "Number of occurrences of phrases and queries.", questions.count,
                 answers.Counts, (TextField("phrase", "a word, phrase or query; may be repeated",
                                       many=True), _WHERE)),
        Endpoint("complete", "Phrases that begin as typed, the most frequent first.",
                 questions.complete, answers.Completions,
                 (TextField("text", "the beginning of a phrase"), _k(10, 50))),
        Endpoint("spellings", "The nearest spellings that occur.", suggestions.spellings,
                 answers.Spellings, (_PHRASE, _k(5, 50))),
        Endpoint("concordance", "Occurrences in their sentences.", corpus_questions.concordance,
                 answers.Concordance,
                 (_ASKED, _ORDER, _k(20), _SKIP, _WIDTH, _FIELDS,
                  TextField("sample", "take this many evenly spaced occurrences; 0: all; 50:7 "
                            "draws 50 by the seed 7", "0", 20), _WHERE)),
        Endpoint("collocates", "Words in the windows of a phrase, by association.",
                 corpus_questions.collocates, answers.Collocates,
                 (_ASKED, WholeField("window", "words on either side", 5, 1, 100),
                  ChoiceField("measure", "the association measure", "log-dice",
                         get_args(AssociationMeasure)),
                  WholeField("min_count", "leave out rarer collocates", 3, 1, 1 << 31), _k(20),
                  _WHERE)),
        Endpoint("frequency", "Occurrences by form, by file or by a field of documents.",
                 corpus_questions.frequency, answers.Frequency,
                 (_ASKED, TextField("by", "form, file or a field", "", 60), _k(20), _WHERE)),
        Endpoint("dispersion", "Occurrences in a hundred equal parts of the corpus.",
                 corpus_questions.dispersion, answers.Dispersion, (_ASKED, _WHERE)),
        Endpoint("sketch", "Collocates of a word by grammatical relation.", corpus_questions.sketch,
                 answers.Sketch,
                 (_PHRASE, TextField("other", "a word that it is compared with", ""),
                  WholeField("min_count", "leave out rarer pairs", 2, 1, 1 << 31),
                  WholeField("k", "collocates of each relation at most", 8, 1, 100), _WHERE)),
        Endpoint("ngrams", "The most frequent words or phrases.", corpus_questions.ngrams,
                 answers.PhraseList,
                 (TextField("lengths", "words of a phrase: 2, or 1-3", "1", 7),
                  ChoiceField("by", "what is listed", "word", get_args(Layer)),
                  TextField("containing", "only phrases with this one", ""),
                  WholeField("min_count", "leave out rarer phrases", 2, 1, 1 << 31), _k(50),
                  _WHERE)),
        Endpoint("keywords", "Words more or less frequent than in the reference corpus.",
                 corpus_questions.keywords, answers.Keywords,
                 (ChoiceField("measure", "what orders them", "llr-2", get_args(KeywordMeasure)),
                  ChoiceField("direction", "more or less frequent here", "more", ("more", "less")),
                  WholeField("min_count", "leave out words rarer in both", 5, 1, 1 << 31), _k(50),
                  _WHERE)),
        Endpoint("passage", "The text around an occurrence.", questions.passage, answers.Passage,
                 (WholeField("at", "the position that a concordance gives", None, 0, 1 << 59),
                  WholeField("words", "words to mark there", 1, 1, 255))),
        Endpoint("neighbours", "The most similar phrases.", questions.neighbours,
                 answers.Neighbours, (_PHRASE, _k(20), _LENGTHS, _MIN_COUNT, _TABLE)),
        Endpoint("map", "The most similar phrases as points in a plane.", questions.neighbour_map,
                 answers.Map, (_PHRASE, _k(20, 60), _LENGTHS, _MIN_COUNT, _TABLE)),
        Endpoint("contexts", "The words beside a phrase, with weights.", questions.contexts,
                 answers.Contexts, (_PHRASE, _WINDOW, _WEIGHTS, _k(15)), ("left", "right")),
        Endpoint("compare", "Two phrases side by side.", questions.compare, answers.Comparison,
                 (TextField("a", "a phrase"), TextField("b", "another"), _WINDOW, _WEIGHTS, _k(15),
                  ChoiceField("measures", "all, or only those of tables", "all",
                         ("all", "quick"))),
                 ("measures", "shared", "only_a", "only_b")),
        Endpoint("paraphrases", "Paraphrases of a phrase, with shared contexts.",
                 questions.paraphrases, answers.Paraphrases, (_PHRASE, _k(15, 30)), slow=True),
        Endpoint("unknown", "What may stand for phrases that another system does not know.",
                 questions.unknown, answers.UnknownPhrases,
                 (TextField("phrase", "words separated by spaces; may be repeated", many=True),
                  _k(5, 30)), slow=True),
        Endpoint("rules", "A grammar's rules for a source side.", questions.rules, answers.Rules,
                 (TextField("source", "symbols separated by spaces, gaps as [NP,1]"), _k(20))),
        Endpoint("find-rules", "Rules of a grammar that contain words, best first.",
                 questions.find_rules, answers.FoundRules,
                 (TextField("text", "words of either side; run* is a beginning", ""),
                  ChoiceField("kind", "what differs between the sides", "all",
                              ("all", *PAIR_KINDS)),
                  _k(20), _SKIP)),
        Endpoint("rewrite", "Sentences of a text made simpler or shorter, with the rules applied.",
                 questions.rewrite, answers.Rewritings,
                 (TextField("text", "running text", most=LIMITS.text_characters),
                  ChoiceField("aim", "simplify, or shorten to three quarters of the words",
                              "simplify", ("simplify", "shorten")),
                  _k(3, 10)), slow=True),
        Endpoint("substitutes", "Substitutes of a word in its sentence.",
                 questions.substitutes, answers.Substitutes,
                 (TextField("sentence", "with the target in brackets: the [boy] read",
                       most=LIMITS.sentence_characters), _k(10, 100)), slow=True),
    )
}  # fmt: skip

EXPORT = Endpoint(
    "export", "All lines of a concordance, as TSV, CSV or JSON.",
    corpus_questions.whole_concordance, tuple[answers.Line, ...],
    (_ASKED, _ORDER, _WIDTH, _FIELDS, _WHERE), rows=(),
)  # fmt: skip
