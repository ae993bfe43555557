"""The answers of the API, as dataclasses that JSON and the page show.

Rows that have the library's fields are the library's.
"""

from dataclasses import dataclass, field

from distsim.contexts.contrasting import ContrastedContext
from distsim.indexes.collocation import Collocate
from distsim.indexes.phrase_lists import Keyword


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
    """A phrase that begins with the text asked for.

    phrase: its words. count: occurrences in the corpus.
    """

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
class PhraseListRow:
    """A phrase of a list. documents: its range. dp: deviation of proportions (Gries 2008)."""

    phrase: str
    count: int
    per_million: float
    documents: int
    dp: float | None


@dataclass(frozen=True)
class PhraseList:
    """The most frequent phrases. by: word, lemma or tag. rows: by falling count."""

    by: str
    rows: tuple[PhraseListRow, ...]


@dataclass(frozen=True)
class SketchPair:
    """A collocate in a relation: pairs and logDice, of the other word too where one was asked."""

    relation: str
    word: str
    count: int
    score: float | None
    other_count: int | None = None
    other_score: float | None = None


@dataclass(frozen=True)
class Sketch:
    """Collocates of a word by grammatical relation. other: the word that it is compared with."""

    phrase: str
    other: str
    rows: tuple[SketchPair, ...]


@dataclass(frozen=True)
class DispersionPart:
    """A hundredth of the corpus. part: its number, from 1. count: occurrences in it."""

    part: int
    count: int


@dataclass(frozen=True)
class Dispersion:
    """Where a phrase occurs.

    in_documents: those with it, of `documents`. dp: deviation of proportions. rows: a hundred equal
    parts of the corpus, in its order.
    """

    phrase: str
    count: int
    in_documents: int
    documents: int
    dp: float | None
    rows: tuple[DispersionPart, ...]


@dataclass(frozen=True)
class Line:
    """An occurrence in its sentence.

    at: its place in the corpus, for `passage`. source, line: the file and its line. left, node,
    right: as written, where the index keeps the text. document: its id. words: tokens of the node.
    fields: of the document, None where it has no value.
    """

    at: int
    source: str
    line: int
    left: str
    node: str
    right: str
    document: str
    words: int
    fields: dict[str, str | int | float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Concordance:
    """Occurrences of a phrase.

    phrase: what was asked for. count: occurrences in all. order: of the rows. sorted_among: how
    many evenly spaced ones were sorted. skipped: how many of them come before the first row. rows:
    the occurrences.
    """

    phrase: str
    count: int
    order: str
    sorted_among: int
    skipped: int
    rows: tuple[Line, ...]


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
    """Occurrences in a part of the corpus.

    name: of the part. count: occurrences there. per_million: of its tokens; None where it has no
    size.
    """

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
    """The nearest spellings that occur, and counts of the phrase's own words.

    phrase: what was asked for. rows: spellings, best first. words: the phrase's words.
    """

    phrase: str
    rows: tuple[Completion, ...]
    words: tuple[Completion, ...]


@dataclass(frozen=True)
class Sentence:
    """A sentence near an occurrence, as it was written where the index keeps the text.

    line: in its file. words: of the sentence; what was looked for is one piece where the index
    keeps the text. first, stop: words [first, stop) are what was looked for; None in other
    sentences.
    """

    line: int
    words: tuple[str, ...]
    first: int | None = None
    stop: int | None = None


@dataclass(frozen=True)
class Passage:
    """The text around a place.

    at: the place, a position in the corpus. source: the file. fields: of the document, as text.
    rows: sentences. cut_before, cut_after: there is more of the file on that side.
    """

    at: int
    source: str
    fields: dict[str, str]
    rows: tuple[Sentence, ...]
    cut_before: bool
    cut_after: bool


@dataclass(frozen=True)
class NearPhrase:
    """A phrase near another.

    rank: from 1. phrase: its words. similarity: estimated cosine, None where there is none. count:
    occurrences behind its signature. score: of a word that can stand in a word's place, the
    probability that people name it; else None. opposite: whether it is an opposite of the focal
    word. contrasted: the text contrasts the two.
    """

    rank: int
    phrase: str
    similarity: float | None
    count: int
    score: float | None = None
    opposite: bool = False
    contrasted: bool = False


@dataclass(frozen=True)
class Neighbours:
    """The nearest phrases.

    phrase: what was asked for. table: where they were looked for. composed: the focal phrase's
    vector was composed of its words. hidden: near-duplicates left out. rows: the phrases. reason:
    why there are none. opposites: contrasted words below the last row.
    """

    phrase: str
    table: str
    composed: bool
    hidden: int
    rows: tuple[NearPhrase, ...]
    reason: str | None = None
    opposites: int = 0


@dataclass(frozen=True)
class Point:
    """A phrase on the map.

    phrase: its words. x, y: coordinates that approximate the distances of signatures. similarity:
    to the first phrase. count: occurrences.
    """

    phrase: str
    x: float
    y: float
    similarity: float
    count: int


@dataclass(frozen=True)
class Link:
    """Two phrases of a map, of which one is among the nearest of the other.

    a, b: their numbers, from 0. similarity: estimated cosine.
    """

    a: int
    b: int
    similarity: float


@dataclass(frozen=True)
class Map:
    """The neighbourhood of a phrase in the plane.

    phrase: what was asked for. table: where it was looked for. rows: phrases, itself first. links:
    between near ones. reason: why there is no map.
    """

    phrase: str
    table: str
    rows: tuple[Point, ...]
    links: tuple[Link, ...]
    reason: str | None = None


@dataclass(frozen=True)
class Context:
    """A word beside a phrase.

    place: l1 is right before it, r1 right behind. word: the context word. count: how often it is
    there. weight: of the context.
    """

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
    """The similarity of two phrases by one measure, or the reason why there is none.

    name: of the measure. description: what it is. similarity: its value. composed: a phrase was
    composed of its words. reason: why there is none.
    """

    name: str
    description: str
    similarity: float | None
    composed: bool = False
    reason: str | None = None


@dataclass(frozen=True)
class Comparison:
    """Two phrases side by side: measures, contexts that both have, and those of one alone.

    a, b: the phrases. measures: of their similarity. shared: contexts of both. only_a, only_b:
    contexts of one. weights: the weighting scheme.
    """

    a: PhraseCount
    b: PhraseCount
    measures: tuple[Measure, ...]
    shared: tuple[ContrastedContext, ...]
    only_a: tuple[ContrastedContext, ...]
    only_b: tuple[ContrastedContext, ...]
    weights: str


@dataclass(frozen=True)
class Paraphrased:
    """A paraphrase of a phrase with its evidence.

    rank: from 1. phrase: the paraphrase. score: of the paraphrase, higher is better.
    count: its occurrences in the corpus.
    shared_contexts: number of distinct contexts that it shares with the phrase.
    found_by: source of the candidate. contexts: some of the shared contexts.
    opposite: whether it is an opposite of the phrase. contrasted: the text contrasts the two.
    """

    rank: int
    phrase: str
    score: float
    count: int
    shared_contexts: int
    found_by: tuple[str, ...]
    contexts: tuple[str, ...]
    opposite: bool
    contrasted: bool


@dataclass(frozen=True)
class Paraphrases:
    """The paraphrases of a phrase.

    phrase, count: the phrase in the index's normal form, and its number of occurrences.
    contexts, candidates: numbers of contexts and of candidates that were examined.
    rows: the paraphrases, best first.
    reason: why there are none, else None. opposites: contrasted phrases below the last row.
    """

    phrase: str
    count: int
    contexts: int
    candidates: int
    rows: tuple[Paraphrased, ...]
    reason: str | None = None
    opposites: int = 0


@dataclass(frozen=True)
class Replacement:
    """What may stand for an unknown phrase.

    rank: from 1. phrase: a paraphrase; or a word that is written like one that the corpus lacks.
    score: of the paraphrase; None of the others. count: its occurrences in the corpus.
    found_by: source of the candidate; `spelling` or `stem` of words that are written alike.
    note: `opposite`, `contrasted` or empty.
    """

    rank: int
    phrase: str
    score: float | None
    count: int
    found_by: tuple[str, ...]
    note: str


@dataclass(frozen=True)
class UnknownPhrase:
    """What may stand for a phrase that another system does not know.

    phrase, count: as given, and its number of occurrences. rows: best first.
    reason: why it has no paraphrases, else None.
    """

    phrase: str
    count: int
    rows: tuple[Replacement, ...]
    reason: str | None


@dataclass(frozen=True)
class UnknownPhrases:
    """The answers to several unknown phrases.

    rows: in the order of the phrases.
    """

    rows: tuple[UnknownPhrase, ...]


@dataclass(frozen=True)
class RulePart:
    """A pair of contiguous phrases in a rule that its links hold together.

    source, target: the phrases. similarity: estimated cosine, None where it is unknown.
    """

    source: str
    target: str
    similarity: float | None


@dataclass(frozen=True)
class RuleShown:
    """A rule of a grammar.

    rank: from 1. label: its left-hand side. source, target: its sides. kind: what differs between
    them. features: values by name. links: pairs of symbols, from 0. parts: its decomposition.
    """

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
    """Rules of a grammar that contain a text, best first.

    text: what was asked for. total: how many rules there are. skipped: rules before the first row.
    rows: the rules.
    """

    text: str
    total: int
    skipped: int
    rows: tuple[RuleShown, ...]


@dataclass(frozen=True)
class Applied:
    """A rule or deletion in a rewritten sentence.

    before, after: the words; after is empty where words were deleted. label: of the rule. score: of
    the rule. features: values by name.
    """

    before: str
    after: str
    label: str
    score: float
    features: dict[str, float]


@dataclass(frozen=True)
class Rewritten:
    """A rewriting of a sentence.

    number: of the sentence. rank: 1 is the best of it. before, after: the sentence and the
    rewriting. score: of the rewriting. rules: what was applied.
    """

    number: int
    rank: int
    before: str
    after: str
    score: float
    rules: tuple[Applied, ...]


@dataclass(frozen=True)
class Rewritings:
    """The rewritings of the sentences of a text.

    aim: `simplify` or `shorten`. rows: the rewritings.
    """

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
    opposite: whether it is an opposite of the target. contrasted: the text contrasts the two.
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
    opposite: bool
    contrasted: bool


@dataclass(frozen=True)
class Substitutes:
    """The substitutes of a target in its sentence.

    left, target, right: the sentence in three parts. rows: substitutes, best first.
    opposites: contrasted words below the last row.
    """

    left: str
    target: str
    right: str
    rows: tuple[Substituted, ...]
    opposites: int


@dataclass(frozen=True)
class TableTold:
    """A signature table.

    name: of the table. phrases: their number. bits: of a signature. longest: tokens of the longest
    phrases. settings: of signing. current: it was signed from the index's present text.
    """

    name: str
    phrases: int
    bits: int
    longest: int
    settings: str
    current: bool


@dataclass(frozen=True)
class Suggestions:
    """Examples for visitors, all of which occur in the text.

    phrases, pairs, sentences: examples of each. sources: sides of rules.
    """

    phrases: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    sentences: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True)
class About:
    """The served artifacts and the limits of questions.

    version: of distsim. tokens, words, sentences, files: of the corpus. corpus: its fingerprint.
    tables: signature tables. rules: of the grammar. reference: tokens of the reference corpus.
    fields: of documents. layers: of annotated text. subcorpora: names of parts.
    notes: on what is served. limits: of questions. suggestions: examples.
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
    layers: tuple[str, ...]
    subcorpora: tuple[str, ...]
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
