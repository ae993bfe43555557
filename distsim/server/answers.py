"""The answers of the API, as dataclasses that JSON and the page show."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class PhraseCount:
    """A phrase's occurrences.

    phrase: as the index holds it. rank: its place by count among those of as many words, 1 the
    most frequent, of `among`; None where it does not occur or nothing is known of the others.
    per_million: occurrences in a million tokens.
    """

    phrase: str
    count: int
    per_million: float
    rank: int | None = None
    among: int | None = None


@dataclass(frozen=True)
class Counts:
    """Phrases' occurrences, in the order asked."""

    rows: tuple[PhraseCount, ...]


@dataclass(frozen=True)
class Completion:
    """A phrase that begins as typed, and its occurrences."""

    phrase: str
    count: int


@dataclass(frozen=True)
class Completions:
    """Phrases that begin as typed, the most frequent first."""

    text: str
    rows: tuple[Completion, ...]


@dataclass(frozen=True)
class Line:
    """An occurrence in its sentence.

    at: its place in the corpus, for `passage`. source, line: the file and its line.
    """

    at: int
    source: str
    line: int
    left: str
    node: str
    right: str


@dataclass(frozen=True)
class Concordance:
    """Occurrences of a phrase. sorted_among: how many evenly spaced ones were sorted."""

    phrase: str
    count: int
    order: str
    sorted_among: int
    rows: tuple[Line, ...]


@dataclass(frozen=True)
class Sentence:
    """A sentence near an occurrence; node: words [first, stop) of it are what was looked for."""

    line: int
    words: tuple[str, ...]
    first: int | None = None
    stop: int | None = None


@dataclass(frozen=True)
class Passage:
    """The text around a place. cut: there is more of it in the file on that side."""

    at: int
    source: str
    rows: tuple[Sentence, ...]
    cut_before: bool
    cut_after: bool


@dataclass(frozen=True)
class NearPhrase:
    """A phrase near another: estimated cosine, and the occurrences behind its signature."""

    rank: int
    phrase: str
    similarity: float
    count: int


@dataclass(frozen=True)
class Neighbours:
    """The nearest phrases. composed: the focal phrase's vector was composed of its words.

    hidden: rows as near that say the same again. reason: why there are none.
    """

    phrase: str
    table: str
    composed: bool
    hidden: int
    rows: tuple[NearPhrase, ...]
    reason: str | None = None


@dataclass(frozen=True)
class Point:
    """A phrase on the map; x, y: coordinates that approximate the distances of signatures."""

    phrase: str
    x: float
    y: float
    similarity: float
    count: int


@dataclass(frozen=True)
class Link:
    """Two phrases of a map, by number, of which one is among the nearest of the other."""

    a: int
    b: int
    similarity: float


@dataclass(frozen=True)
class Map:
    """The neighbourhood of a phrase in the plane; the phrase itself is the first point."""

    phrase: str
    table: str
    rows: tuple[Point, ...]
    links: tuple[Link, ...]
    reason: str | None = None


@dataclass(frozen=True)
class Context:
    """A word beside a phrase. place: l1 is right before it, r1 right behind."""

    place: str
    word: str
    count: int
    weight: float


@dataclass(frozen=True)
class Contexts:
    """The context words of a phrase, the strongest first on each side."""

    phrase: str
    count: int
    window: int
    weights: str
    left: tuple[Context, ...]
    right: tuple[Context, ...]


@dataclass(frozen=True)
class Measure:
    """The similarity of two phrases by one measure, or the reason why there is none."""

    name: str
    told: str
    similarity: float | None
    composed: bool = False
    reason: str | None = None


@dataclass(frozen=True)
class SharedContext:
    """A context of two phrases, with its weight beside either."""

    place: str
    word: str
    weight_a: float
    weight_b: float
    count_a: int
    count_b: int


@dataclass(frozen=True)
class Comparison:
    """Two phrases side by side: measures, contexts that both have, and those of one alone."""

    a: PhraseCount
    b: PhraseCount
    measures: tuple[Measure, ...]
    shared: tuple[SharedContext, ...]
    only_a: tuple[SharedContext, ...]
    only_b: tuple[SharedContext, ...]
    weights: str


@dataclass(frozen=True)
class Paraphrased:
    """A paraphrase with its evidence; see distsim.paraphrase.Paraphrase."""

    rank: int
    phrase: str
    score: float
    count: int
    evidence: int
    found_by: tuple[str, ...]
    contexts: tuple[str, ...]


@dataclass(frozen=True)
class Paraphrases:
    """The paraphrases of a phrase; reason: why there are none."""

    phrase: str
    count: int
    contexts: int
    candidates: int
    rows: tuple[Paraphrased, ...]
    reason: str | None = None


@dataclass(frozen=True)
class RulePart:
    """A pair of contiguous phrases in a rule that its links hold together."""

    source: str
    target: str
    similarity: float | None


@dataclass(frozen=True)
class RuleShown:
    """A rule of a grammar. parts: its decomposition. shown: the features listed first."""

    rank: int
    label: str
    source: str
    target: str
    features: dict[str, float]
    links: tuple[tuple[int, int], ...]
    parts: tuple[RulePart, ...]


@dataclass(frozen=True)
class Rules:
    """The rules with a source side. total: their number in the grammar."""

    source: str
    total: int
    rows: tuple[RuleShown, ...]


@dataclass(frozen=True)
class Because:
    """A context word with its share of a substitute's score. place: -1 is right before it."""

    word: str
    place: int
    share: float


@dataclass(frozen=True)
class Substituted:
    """A substitute of the target; see distsim.paraphrase.Substitute."""

    rank: int
    substitute: str
    score: float | None
    likeness: float
    fit: float
    fluency: float
    count: int
    found_by: str
    because: tuple[Because, ...]


@dataclass(frozen=True)
class Substitutes:
    """The substitutes of a target in its sentence."""

    left: str
    target: str
    right: str
    rows: tuple[Substituted, ...]


@dataclass(frozen=True)
class TableTold:
    """A signature table. current: it was signed from the index's present text."""

    name: str
    phrases: int
    bits: int
    longest: int
    settings: str
    current: bool


@dataclass(frozen=True)
class Suggestions:
    """Example phrases and sentences for visitors."""

    phrases: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    sentences: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True)
class About:
    """The served artifacts and the limits of questions."""

    version: str
    tokens: int
    words: int
    sentences: int
    files: int
    corpus: str
    tables: tuple[TableTold, ...]
    rules: int | None
    notes: tuple[str, ...]
    limits: dict[str, float]
    suggestions: Suggestions


@dataclass(frozen=True)
class Health:
    """Whether questions are answered. opened: how often the index was reopened.

    ready: first answers need not wait any more for what is made once.
    """

    ok: bool
    ready: bool
    opened: int
    waiting: int
    fault: str | None = None
    limits: dict[str, Any] = field(default_factory=dict)
