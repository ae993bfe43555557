"""The functions that answer the questions of the API; none changes anything.

`opened` has the artifacts; the other arguments are those of the endpoints (server/endpoints.py).
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from distsim.base.errors import DistsimError, ParameterError, counted, program_version
from distsim.comparison.measures import Similarity, reason_without_signature
from distsim.contexts.contrasting import ContrastedContext, contrast
from distsim.contexts.ngram import phrase_contexts
from distsim.corpus.lines import LineBlock
from distsim.corpus.tokeniser import cut, tokens_of
from distsim.grammar.alignment import RuleAligner
from distsim.grammar.block import decompose_block, parse_block, span_text
from distsim.grammar.formats.rules import RULES
from distsim.grammar.kernels.rules import FINE
from distsim.grammar.packs.grammar_index import PackedRule
from distsim.indexes.corpus_index import CorpusIndex
from distsim.indexes.subcorpora import list_subcorpora
from distsim.output.phrase_map import lay_out
from distsim.server.answers import (
    About,
    Applied,
    Because,
    Comparison,
    Completion,
    Completions,
    Context,
    Contexts,
    Counts,
    FoundRules,
    Link,
    Map,
    Measure,
    NearPhrase,
    Neighbours,
    Paraphrased,
    Paraphrases,
    Passage,
    PhraseCount,
    Point,
    Replacement,
    Rewritings,
    Rewritten,
    RulePart,
    Rules,
    RuleShown,
    Substituted,
    Substitutes,
    TableTold,
    UnknownPhrase,
    UnknownPhrases,
)
from distsim.server.corpus_questions import asked, count_of, shown_phrase
from distsim.server.corpus_questions import passage as passage_at
from distsim.server.session import MAIN, SYNTAX, NotServedError, Opened
from distsim.server.suggestions import suggestions
from distsim.server.worker_queues import LIMITS, shortened

if TYPE_CHECKING:
    from distsim.grammar.packs.grammar_index import GrammarIndex, PackedRule


def parts_of(rule: PackedRule) -> list[tuple[str, str]]:
    """Return the phrase pairs of a rule that no link leaves.

    A rule without links between words gets those that `score` gives without a learned model:
    gaps by index, like words, words between linked neighbours.

    >>> parts_of(PackedRule("NN", "the boy", "the lad", {}, [], "S", "phrasal", 0.0))
    [('the', 'the'), ('the boy', 'the lad'), ('boy', 'lad')]
    """
    links = " ".join(f"{i}-{j}" for i, j in rule.links)
    line = f"[X] ||| {rule.source} ||| {rule.target} ||| ||| {links}"
    block = parse_block(LineBlock(line.encode(errors="replace"), 1), RULES)
    if block.status[0] != FINE:
        return []
    alignment = RuleAligner().align(block)
    _, spans = decompose_block(block, (alignment.link_stops, alignment.links))
    return [(span_text(block, span[:2]), span_text(block, span[2:])) for span in spans.tolist()]


def about(opened: Opened) -> About:
    """Return the description of the server: index, tables, limits, suggested queries."""
    index = opened.index
    counts = index.parameters["counts"]
    table_descriptions = [
        TableTold(
            name, len(table), table.n_bits, table.longest, table.fingerprint.short,
            opened.is_current(name),
        )
        for name, table in opened.tables.items()
    ]  # fmt: skip
    return About(
        program_version(),
        index.n_tokens,
        index.n_words - 1,
        int(counts["sentences"]),
        index.n_sources,
        index.corpus[:12],
        tuple(table_descriptions),
        None if opened.rules is None else len(opened.rules),
        None if opened.reference is None else opened.reference.n_tokens,
        opened.fields,
        () if index.layers is None else index.layers.names,
        tuple(subcorpus.name for subcorpus in list_subcorpora(index)),
        tuple(opened.notes),
        LIMITS.as_numbers(),
        suggestions(opened),
    )


def count(opened: Opened, phrase: Sequence[str], where: str = "") -> Counts:
    """Return the number of occurrences of each phrase or query, with its frequency and rank.

    Arguments:
        phrase: phrases, or queries in the query language.
        where: filter of documents by their fields; "" counts in all documents.
    """
    index = opened.documents(where)
    return Counts(tuple(_count(opened, text, index) for text in phrase))


def complete(opened: Opened, text: str, k: int) -> Completions:
    """Return phrases of the index that begin with a text, most frequent first.

    Arguments:
        k: maximum number of completions.
    """
    completions = opened.completer().complete(text, k)
    rows = (
        Completion(phrase, n) for phrase, n in completions if len(phrase) <= LIMITS.shown_characters
    )
    return Completions(text, tuple(rows))


def passage(opened: Opened, at: int, words: int) -> Passage:
    """Return the sentences around a position of the corpus.

    Arguments:
        at: position of the first token, as a concordance line has it.
        words: length of the node in tokens.
    """
    return passage_at(opened.index, at, words)


def neighbours(
    opened: Opened,
    phrase: str,
    k: int,
    lengths: str,
    min_count: int,
    table: str,
) -> Neighbours:
    """Return the phrases of a table with the highest cosine to a phrase, most similar first.

    Of a single word the words that can stand in its place, opposites last, where they are stored.

    Arguments:
        opened: the artifacts that are served.
        phrase: words separated by spaces.
        k: maximum number of neighbours.
        lengths: lengths of neighbours in words, `2` or `1-3`; "" allows all.
        min_count: minimum number of occurrences of a neighbour.
        table: name of the table that is searched.
    """
    search, normal = opened.search(table, _lengths(lengths), min_count), _normal(opened, phrase)
    words = opened.word_neighbours(table) if lengths in ("", "1", "1-1") else None
    listed = None if words is None else words.nearest(phrase, k=k, min_strength=min_count)
    if listed is not None:
        of_words = tuple(
            NearPhrase(
                rank, shortened(row.phrase), None if isnan(row.similarity) else row.similarity,
                row.strength, row.score, row.opposite, row.contrasted,
            )
            for rank, row in enumerate(listed, 1)
        )  # fmt: skip
        return Neighbours(normal, table, False, 0, of_words, opposites=listed.opposites)
    neighbour_list = search.neighbour_list(phrase, k=k)
    if neighbour_list is None:
        reason = reason_without_signature(opened.table(table), phrase)
        return Neighbours(normal, table, False, 0, (), reason)
    rows = tuple(
        NearPhrase(rank, shortened(row.phrase), row.similarity, row.strength)
        for rank, row in enumerate(neighbour_list.neighbours, 1)
    )
    composed = any(row.composed for row in neighbour_list.neighbours)
    return Neighbours(normal, table, composed, neighbour_list.hidden, rows)


def neighbour_map(
    opened: Opened, phrase: str, k: int, lengths: str, min_count: int, table: str
) -> Map:
    """Return the nearest phrases with coordinates in the plane, near phrases side by side.

    Arguments:
        phrase: words separated by spaces.
        k: maximum number of neighbours.
        lengths: lengths of neighbours in words, `2` or `1-3`; "" allows all.
        min_count: minimum number of occurrences of a neighbour.
        table: name of the table that is searched.
    """
    neighbours_found = opened.search(table, _lengths(lengths), min_count).nearest(phrase, k=k)
    normal = _normal(opened, phrase)
    if not neighbours_found:
        reason = (
            reason_without_signature(opened.table(table), phrase)
            if neighbours_found is None
            else None
        )
        return Map(normal, table, (), (), reason)
    signatures = opened.table(table)
    laid = lay_out(signatures, signatures.normal_form(phrase), neighbours_found)
    points = (
        Point(shortened(mark.phrase), mark.x, mark.y, mark.similarity, mark.occurrences)
        for mark in laid.marks
    )
    joined = tuple(Link(a, b, similarity) for a, b, similarity in laid.joined)
    return Map(normal, table, tuple(points), joined)


def contexts(opened: Opened, phrase: str, window: int, weights: str, k: int) -> Contexts:
    """Return the context words of a phrase on either side, highest weight first.

    Arguments:
        phrase: words separated by spaces.
        window: context words on either side, in tokens.
        weights: name of the weighting scheme, such as `ppmi`.
        k: maximum number of context words of a side.
    """
    families = opened.weigher(window, weights).family_names
    features, counts, values = _weighed(opened, phrase, window, weights)
    places, words = np.divmod(features, opened.index.n_words)
    sides: dict[str, list[Context]] = {"l": [], "r": []}
    order = np.lexsort((features, -counts, -values))
    of_side = {side: [n for n, f in enumerate(families) if f[0] == side] for side in sides}
    for side, rows in sides.items():
        mine = order[np.isin(places[order], of_side[side]) & (values[order] > 0)][:k]
        rows += [
            Context(
                families[places[i]],
                shortened(opened.index.vocabulary.word(int(words[i]))),
                int(counts[i]),
                float(values[i]),
            )
            for i in mine.tolist()
        ]
    return Contexts(
        _normal(opened, phrase), opened.index.count(phrase), window, weights,
        tuple(sides["l"]), tuple(sides["r"]),
    )  # fmt: skip


def compare(
    opened: Opened, a: str, b: str, window: int, weights: str, k: int, measures: str
) -> Comparison:
    """Return the similarities of two phrases, and their shared and distinct context words.

    Arguments:
        a, b: the phrases, words separated by spaces.
        window: context words on either side, in tokens.
        weights: name of the weighting scheme, such as `ppmi`.
        k: maximum number of context words of each list.
        measures: `all` computes the slow measures too.
    """
    weigher = opened.weigher(window, weights)
    contrasted_contexts = contrast(opened.index, a, b, k=k, window=window, weigher=weigher)

    def listed(rows: list[ContrastedContext]) -> tuple[ContrastedContext, ...]:
        return tuple(row._replace(word=shortened(row.word)) for row in rows)

    return Comparison(
        _count(opened, a, opened.index),
        _count(opened, b, opened.index),
        tuple(_measures(opened, a, b, measures == "all")),
        listed(contrasted_contexts.both),
        listed(contrasted_contexts.only_a),
        listed(contrasted_contexts.only_b),
        weights,
    )


def paraphrases(opened: Opened, phrase: str, k: int) -> Paraphrases:
    """Return the paraphrases of a phrase with their evidence, best first.

    Arguments:
        phrase: words separated by spaces.
        k: maximum number of paraphrases.
    """
    answer = opened.paraphraser().answer(phrase)
    n_below = answer.n_opposites + sum(row.contrasted for row in answer.paraphrases[k:])
    rows = (
        Paraphrased(
            rank, shortened(row.phrase), row.score, row.count, row.shared_contexts, row.origin,
            tuple(map(shortened, row.contexts)), row.opposite, row.contrasted,
        )
        for rank, row in enumerate(answer.paraphrases[:k], 1)
    )  # fmt: skip
    return Paraphrases(
        shortened(answer.focal), answer.count, answer.n_contexts, answer.n_candidates, tuple(rows),
        answer.reason, n_below,
    )  # fmt: skip


def unknown(opened: Opened, phrase: Sequence[str], k: int) -> UnknownPhrases:
    """Return what may stand for phrases that another system does not know, best first.

    Words that the corpus lacks have their nearest spellings and words that begin alike.

    Arguments:
        phrase: phrases, words separated by spaces.
        k: maximum number of answers to each.
    """
    from distsim.paraphrase.records import ParaphraseStream

    stream = opened.kept("stream", lambda: ParaphraseStream(opened.paraphraser(), jobs=1))
    answers = [stream.answer(text) for text in phrase]
    rows = (
        UnknownPhrase(
            shortened(answer["phrase"]), answer["count"],
            tuple(
                Replacement(
                    rank, shortened(row["answer"]), row["score"], row["count"],
                    tuple(row["origin"]), row.get("note", ""),
                )
                for rank, row in enumerate(answer["answers"][:k], 1)
            ),
            answer["reason"],
        )
        for answer in answers
    )  # fmt: skip
    return UnknownPhrases(tuple(rows))


def rules(opened: Opened, source: str, k: int) -> Rules:
    """Return a grammar's rules for a source side, with the phrase pairs they consist of.

    Arguments:
        source: the source side, symbols separated by spaces; looked up in lower case where the
            grammar does not have it as written.
        k: maximum number of rules.
    """
    book = _grammar(opened)
    text = " ".join(source.split())
    known = text if book.count(text) else text.lower()
    return Rules(known, book.count(known), _rules_shown(opened, book.rules(known, k=k), 1))


def find_rules(opened: Opened, text: str, kind: str, k: int, skip: int) -> FoundRules:
    """Return the rules that contain all words of a text.

    Arguments:
        text: words separated by spaces; `run*` stands for all words with this beginning.
        kind: kind of phrase pair of the rules, or `all`.
        k: maximum number of rules.
        skip: number of rules that are left out at the beginning of the list.
    """
    book = _grammar(opened)
    rule_numbers = book.containing(text, pair_kind="" if kind == "all" else kind)
    shown = _rules_shown(opened, book.at(rule_numbers[skip : skip + k]), skip + 1)
    return FoundRules(text, rule_numbers.size, skip, shown)


def rewrite(opened: Opened, text: str, aim: str, k: int) -> Rewritings:
    """Return the rewritings of the sentences of a text with the rules that made them.

    Arguments:
        text: running text of one or more sentences.
        aim: name of the weights that are used, such as those for simplification.
        k: maximum number of rewritings of a sentence.
    """
    rewriter = opened.rewriter(aim)
    rows = []
    for number, words in enumerate(_sentences(opened, text), 1):
        for rank, rewriting in enumerate(rewriter.rewrite(" ".join(words), k=k), 1):
            applied = (
                Applied(s.before, s.after, s.label, s.score, s.features) for s in rewriting.steps
            )
            rows.append(
                Rewritten(
                    number,
                    rank,
                    " ".join(words),
                    rewriting.sentence,
                    rewriting.score,
                    tuple(applied),
                )
            )
    return Rewritings(aim, tuple(rows))


def _sentences(opened: Opened, text: str) -> list[list[str]]:
    """Return the sentences of running text as words, without those that the index leaves out."""
    pieces = cut(text.encode(errors="replace"), "text")
    normal = opened.index.options.normaliser.token
    words = tokens_of(text.encode(errors="replace").decode(), "text")
    sides = pairwise([0, *pieces.sentence_stops.tolist()])
    cleaned = [[word for word in words[first:stop] if normal(word)] for first, stop in sides]
    longest = max(map(len, cleaned), default=0)
    if longest > LIMITS.sentence_words or len(cleaned) > LIMITS.sentences:
        raise ParameterError(
            f"the text has {counted(len(cleaned), 'sentence')} of up to {longest} words: give "
            f"{LIMITS.sentences} of {LIMITS.sentence_words} words at most"
        )
    return [sentence for sentence in cleaned if sentence]


def substitutes(opened: Opened, sentence: str, k: int) -> Substitutes:
    """Return substitutes of the word or phrase in brackets in a sentence, best first.

    Arguments:
        sentence: a sentence with its target in brackets.
        k: maximum number of substitutes.

    Raises:
        ParameterError: no word is left of the target after normalising.
    """
    from distsim.paraphrase.substitution.occurrence import split_marked

    left, target, right = split_marked(sentence)
    if not opened.index.words(target):
        raise ParameterError(f"{target!r}: nothing is left of it after normalising: name another")
    rows_found = opened.substituter().substitutes(left, target, right, k=k)
    rows = (
        Substituted(
            rank, shortened(row.substitute), row.score, row.likeness, row.fit, row.fluency,
            row.occurrences, row.origin,
            tuple(Because(shortened(w.word), w.place, w.share) for w in row.because[:5]),
            row.opposite, row.contrasted,
        )
        for rank, row in enumerate(rows_found, 1)
    )  # fmt: skip
    return Substitutes(left.strip(), target, right.strip(), tuple(rows), rows_found.opposites)


def _normal(opened: Opened, phrase: str) -> str:
    return shown_phrase(opened, asked(opened.index, phrase))


def _count(opened: Opened, phrase: str, index: CorpusIndex) -> PhraseCount:
    question = asked(opened.index, phrase)
    n = count_of(index, question)
    rank = among = None
    if n and question.kind == "phrase" and index is opened.index:
        known = opened.counts_of_length(len(index.words(question.text)))
        if known is not None and known[0].size and n >= known[0][0]:
            counts, at_least = known
            among = int(at_least[0])
            rank = 1 + int(at_least[counts > n][:1].sum())
    per_million = 1e6 * n / max(1, index.n_tokens)
    return PhraseCount(shown_phrase(opened, question), n, per_million, rank, among, question.kind)


def _lengths(text: str) -> range | None:
    if not text:
        return None
    first, _, last = text.partition("-")
    try:
        low, high = int(first), int(last or first)
    except ValueError:
        low, high = 1, 0
    if not 1 <= low <= high <= 255:
        raise ParameterError(f"`lengths` {text!r}: give a number or a range such as 1-3")
    return range(low, high + 1)


def _weighed(
    opened: Opened, phrase: str, window: int, weights: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (features int64 ascending, counts int64, weights float64) beside a phrase."""
    weigher = opened.weigher(window, weights)
    contexts = phrase_contexts(opened.index, phrase, window)
    return (
        contexts.features.astype(np.int64),
        contexts.counts.astype(np.int64),
        weigher.weigh(contexts),
    )


def _measures(opened: Opened, a: str, b: str, everything: bool) -> list[Measure]:
    """Return the similarity of two phrases by every available measure."""
    known: list[tuple[str, str, Callable[[], Similarity]]] = []
    if MAIN in opened.tables:
        bits, learned = opened.tables[MAIN].n_bits, opened.tables[MAIN].fingerprint.is_learned
        known.append(
            ("table", f"estimated from {bits} bits"
             + " and the vectors of words, both learned from the text" * learned,
             lambda: opened.cosine(MAIN))
        )  # fmt: skip
        if everything and _keeps_less_than_vectors(opened):
            known.append(("vectors", "of the vectors that the bits are cut from",
                          lambda: opened.cosine(MAIN, "vectors")))  # fmt: skip
        if everything:
            known.append(
                ("exact", "of the counted contexts themselves",
                 lambda: opened.cosine(MAIN, "exact"))
            )  # fmt: skip
    if SYNTAX in opened.tables:
        known.append(("syntax", "estimated from syntactic contexts",
                      lambda: opened.cosine(SYNTAX)))  # fmt: skip
    result = []
    for name, description, make in known:
        try:
            estimate = make().estimates([(a, b)])[0]
            reason = None if estimate.similarity is not None else "a phrase has no signature"
            result.append(
                Measure(name, description, estimate.similarity, estimate.composed, reason)
            )
        except DistsimError:
            result.append(
                Measure(name, description, None, False, "not of the index's present text")
            )
    return result


def _keeps_less_than_vectors(opened: Opened) -> bool:
    """Return whether a learned table can only estimate by bits, less precisely than vectors."""
    learned = opened.tables[MAIN].fingerprint.is_learned
    return learned and opened.tables[MAIN].estimator().estimate == "bits"


def _grammar(opened: Opened) -> "GrammarIndex":
    if opened.rules is None:
        raise NotServedError("no grammar is served: name packs with distsim serve --grammar FOLDER")
    return opened.rules


def _rules_shown(
    opened: Opened, packed_rules: Sequence["PackedRule"], first: int
) -> tuple[RuleShown, ...]:
    """Return rules with the similarities of the phrase pairs that they consist of."""
    from distsim.server.questions import parts_of

    parts = [parts_of(rule) for rule in packed_rules]
    pairs = [pair for pairs_of_rule in parts for pair in pairs_of_rule]
    known = opened.cosine(MAIN).similarities(pairs) if pairs and MAIN in opened.tables else []
    values = iter(known or [None] * len(pairs))
    return tuple(
        RuleShown(
            rank, rule.label, shortened(rule.source), shortened(rule.target), rule.pair_kind,
            rule.features, tuple(rule.links),
            tuple(RulePart(*pair, value) for pair, value in zip(own, values, strict=False)),
        )
        for rank, (rule, own) in enumerate(zip(packed_rules, parts, strict=True), first)
    )  # fmt: skip
