"""The answers of the API, as dataclasses that JSON and the page show."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PhraseCount:
    """A phrase's occurrences.

    phrase: as the index holds it. rank: its place by count among those of as many words, 1 the
    most frequent, of `among`; None where it does not occur or nothing is known of the others.
    per_million: occurrences in a million tokens. kind: how it was read: `phrase`, `gapped` or
    `query`.
    """

    phrase: str
    count: int
    per_million: float
    rank: int | None = None
    among: int | None = None
    kind: str = "phrase"


@dataclass(frozen=True)
class Counts:
    """The number of occurrences of phrases and queries.

    rows: one for each, in the order asked.
    """

    rows: tuple[PhraseCount, ...]


@dataclass(frozen=True)
class Completion:
    """A phrase that begins with the text asked for, and its number of occurrences."""

    phrase: str
    count: int


@dataclass(frozen=True)
class Completions:
    """The phrases that begin with a text.

    text: the text that was asked for.
    rows: phrases with their counts, most frequent first.
    """

    text: str
    rows: tuple[Completion, ...]


@dataclass(frozen=True)
class Line:
    """An occurrence in its sentence.

    at: its place in the corpus, for `passage`. source, line: the file and its line. left, node,
    right: as written, where the index keeps the text. document: its id. words: tokens of the node.
    """

    at: int
    source: str
    line: int
    left: str
    node: str
    right: str
    document: str
    words: int


@dataclass(frozen=True)
class Concordance:
    """Occurrences of a phrase. sorted_among: how many evenly spaced ones were sorted.

    skipped: how many of them come before the first row.
    """

    phrase: str
    count: int
    order: str
    sorted_among: int
    skipped: int
    rows: tuple[Line, ...]


@dataclass(frozen=True)
class Collocate:
    """A word in the windows of a phrase, with its counts and association.

    word: the collocate. together: occurrences in the windows of the phrase.
    in_corpus: occurrences in the corpus. expected: occurrences in the windows expected by chance.
    score: value of the association measure.
    """

    word: str
    together: int
    in_corpus: int
    expected: float
    score: float


@dataclass(frozen=True)
class Collocates:
    """The collocates of a phrase.

    phrase: in the index's normal form. window: tokens on either side.
    measure: association measure of the scores. rows: the highest score first.
    """

    phrase: str
    window: int
    measure: str
    rows: tuple[Collocate, ...]


@dataclass(frozen=True)
class Keyword:
    """A word that is more or less frequent than in the reference corpus.

    here, there: occurrences in the corpus and in the reference.
    log_likelihood: G2, negative where the word is rarer here.
    log_ratio: binary logarithm of the ratio of relative frequencies.
    p: p-value of log_likelihood, adjusted by Holm for all compared words.
    documents: number of documents here that contain it.
    dp, dp_norm: deviation of proportions over the documents (Gries 2008), and normalised.
    """

    word: str
    here: int
    there: int
    log_likelihood: float
    log_ratio: float
    p: float
    documents: int
    dp: float | None
    dp_norm: float | None


@dataclass(frozen=True)
class Keywords:
    """Words that are more or less frequent than in the reference corpus.

    measure: keyness measure that orders the rows.
    tokens, reference: number of tokens of the corpus and of the reference.
    rows: the words, highest keyness first.
    """

    measure: str
    tokens: int
    reference: int
    rows: tuple[Keyword, ...]


@dataclass(frozen=True)
class Share:
    """Occurrences in a part of the corpus. per_million: None where a part has no size."""

    name: str
    count: int
    per_million: float | None


@dataclass(frozen=True)
class Frequency:
    """Occurrences of a phrase by form, file or metadata field, most frequent first.

    phrase: as it was looked up. by: `form`, `file` or a field. count: all occurrences.
    counted: number of evenly spaced occurrences that were examined.
    parts: number of forms, files or values. rows: the most frequent of them.
    """

    phrase: str
    by: str
    count: int
    counted: int
    parts: int
    rows: tuple[Share, ...]


@dataclass(frozen=True)
class Spellings:
    """The nearest spellings that occur, best first; counts of the phrase's own words."""

    phrase: str
    rows: tuple[Completion, ...]
    words: tuple[Completion, ...]


@dataclass(frozen=True)
class Sentence:
    """A sentence near an occurrence; words [first, stop) of it are what was looked for.

    As it was written, where the index keeps the text: then what was looked for is one piece.
    """

    line: int
    words: tuple[str, ...]
    first: int | None = None
    stop: int | None = None


@dataclass(frozen=True)
class Passage:
    """The text around a place. cut: there is more of it in the file on that side.

    fields: of the document, as text.
    """

    at: int
    source: str
    fields: dict[str, str]
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
    """The context words of a phrase.

    phrase, count: the phrase in the index's normal form, and its number of occurrences.
    window: tokens on either side. weights: name of the weighting scheme.
    left, right: context words of each side, highest weight first.
    """

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
    """A paraphrase of a phrase with its evidence.

    rank: from 1. phrase: the paraphrase. score: of the paraphrase, higher is better.
    count: its occurrences in the corpus.
    evidence: number of distinct contexts that it shares with the phrase.
    found_by: source of the candidate. contexts: some of the shared contexts.
    opposite: whether it is an opposite of the phrase.
    """

    rank: int
    phrase: str
    score: float
    count: int
    evidence: int
    found_by: tuple[str, ...]
    contexts: tuple[str, ...]
    opposite: bool


@dataclass(frozen=True)
class Paraphrases:
    """The paraphrases of a phrase.

    phrase, count: the phrase in the index's normal form, and its number of occurrences.
    contexts, candidates: numbers of contexts and of candidates that were examined.
    rows: the paraphrases, best first.
    reason: why there are none, else None.
    """

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
    """A rule of a grammar. kind: what differs between its sides. parts: its decomposition."""

    rank: int
    label: str
    source: str
    target: str
    kind: str
    features: dict[str, float]
    links: tuple[tuple[int, int], ...]
    parts: tuple[RulePart, ...]


@dataclass(frozen=True)
class Rules:
    """The rules of a grammar with a source side.

    source: the source side. total: number of its rules in the grammar. rows: the best of them.
    """

    source: str
    total: int
    rows: tuple[RuleShown, ...]


@dataclass(frozen=True)
class FoundRules:
    """Rules of a grammar that contain a text, best first. total: how many there are."""

    text: str
    total: int
    skipped: int
    rows: tuple[RuleShown, ...]


@dataclass(frozen=True)
class Applied:
    """A rule or deletion in a rewritten sentence. after: empty where words were deleted."""

    before: str
    after: str
    label: str
    score: float
    features: dict[str, float]


@dataclass(frozen=True)
class Rewritten:
    """A rewriting of a sentence. number: of the sentence. rank: 1 is the best of it."""

    number: int
    rank: int
    before: str
    after: str
    score: float
    rules: tuple[Applied, ...]


@dataclass(frozen=True)
class Rewritings:
    """The rewritings of the sentences of a text. aim: `simplify` or `shorten`."""

    aim: str
    rows: tuple[Rewritten, ...]


@dataclass(frozen=True)
class Because:
    """A context word with its share of a substitute's score. place: -1 is right before it."""

    word: str
    place: int
    share: float


@dataclass(frozen=True)
class Substituted:
    """A substitute of a target in a sentence.

    rank: from 1. substitute: its words.
    score: combination of the evidence; None where the corpus has no evidence.
    likeness: cosine with the target.
    fit: cosine with the signature of the slot's context words.
    fluency: ln of its probability in the slot, less that of the target.
    count: occurrences in the corpus, of all its forms.
    found_by: source of the candidate: `given`, `finder`, `words`, `contexts` or `grammar`.
    because: the context words that contribute most, highest first.
    """

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
    """The substitutes of a target in its sentence.

    left, target, right: the sentence in three parts. rows: substitutes, best first.
    """

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
    """The served artifacts and the limits of questions.

    rules: of the grammar. reference: tokens of the reference corpus. fields: of documents.
    """

    version: str
    tokens: int
    words: int
    sentences: int
    files: int
    corpus: str
    tables: tuple[TableTold, ...]
    rules: int | None
    reference: int | None
    fields: tuple[str, ...]
    notes: tuple[str, ...]
    limits: dict[str, float]
    suggestions: Suggestions


@dataclass(frozen=True)
class Health:
    """State of the server.

    ok: queries are answered. ready: everything that is made once for the first queries is made.
    opened: number of times that the index was reopened.
    waiting: number of queries that wait.
    step: what is being made before the first answers.
    fault: why the index cannot be opened, else None.
    """

    ok: bool
    ready: bool
    opened: int
    waiting: int
    step: str
    fault: str | None = None
