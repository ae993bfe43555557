"""`distsim contexts`, `collocates`, `continuations` and `sketch`: what stands around a phrase."""

from collections.abc import Iterable
from itertools import repeat
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from distsim.base.arguments import AssociationMeasure
from distsim.base.errors import counted
from distsim.cli.console import (
    LayerOption,
    QueryOption,
    SpreadOption,
    WordsOnlyOption,
    say,
)
from distsim.cli.options import (
    AnswerMemoryOption,
    DocumentOptions,
    RecipeOption,
    SetOption,
    chosen,
    grouped,
    limit_memory_beside_program,
)
from distsim.cli.rows import lists_rows, prints_json, put_object, put_row, say_rest

if TYPE_CHECKING:
    from distsim.indexes.collocation import Spread
    from distsim.indexes.corpus_index import CorpusIndex
    from distsim.indexes.sketches import SketchRelation


@lists_rows
@grouped
def collocates(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    part: DocumentOptions,
    phrase: Annotated[str, typer.Argument(metavar="PHRASE")],
    window: Annotated[int, typer.Option(min=1, help="Tokens on either side.")] = 5,
    measure: Annotated[
        AssociationMeasure,
        typer.Option(help="llr: log-likelihood of four cells; llr-2: of two."),
    ] = "log-dice",
    min_count: Annotated[int, typer.Option(min=1, help="Leave out rarer collocates.")] = 3,
    query: QueryOption = False,
    words_only: WordsOnlyOption = False,
    spread: SpreadOption = False,
    by: LayerOption = "word",
    limit: Annotated[
        int, typer.Option("--limit", "-k", min=0, help="Collocates at most; 0: all.")
    ] = 20,
    settings: SetOption = None,
    memory: AnswerMemoryOption = None,
) -> None:
    """List the collocates of a phrase.

    Prints word<TAB>count in windows<TAB>count in the corpus<TAB>expected count<TAB>score; with
    --spread also count per million, documents, DP and normalised DP of the pairs. The node
    of a --query is the shortest match; --set matching=longest or all takes others.
    """
    from distsim.indexes.collocation import PhraseWindows
    from distsim.indexes.queries import QuerySettings

    limit_memory_beside_program(memory)
    (how,) = chosen(QuerySettings(), settings=settings)
    corpus = part.opened(index).of_layer(by)
    windows = PhraseWindows.of(corpus, phrase, window, query and how.matching)
    rows = windows.collocates(measure, min_count=min_count, words_only=words_only, k=limit or None)
    if not rows:
        say(f"{phrase}: has no collocates: it does not occur, or all are rarer than --min-count")
    spreads: Iterable[Spread | None] = repeat(None, len(rows))
    if spread:
        spreads = windows.spreads([row.word for row in rows])
    for row, of_pair in zip(rows, spreads, strict=True):
        counts = {"count": row.together, "corpus_count": row.in_corpus, "expected": row.expected}
        more = {}
        if of_pair is not None:
            more = {"per_million": row.together / corpus.n_tokens * 1e6, **of_pair._asdict()}
        put_row({"answer": row.word, **counts, "score": row.score, **more}, phrase=phrase)
    say_rest(len(rows), rows.total)


@lists_rows
@grouped
def contexts(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE...", help="An index; files with --from annotated."),
    ],
    phrase: Annotated[str, typer.Argument(metavar="PHRASE")],
    part: DocumentOptions,
    kind: Annotated[
        Literal["index", "annotated"],
        typer.Option("--from", help="What the sources are: an index, or annotated text."),
    ] = "index",
    trees: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Bracketed trees, one a line, one a sentence."),
    ] = None,
    recipe: RecipeOption = None,
    settings: SetOption = None,
    limit: Annotated[
        int, typer.Option("--limit", "-k", min=0, help="Features at most; 0: all.")
    ] = 20,
) -> None:
    """List the contexts of a phrase.

    Prints feature<TAB>count<TAB>weight, strongest first. By the preset thesis, or syntax; --set
    changes it, as model.window, model.by_side, model.families or weighting.scheme.
    """
    from distsim.contexts.phrase_store import Selection
    from distsim.signatures.recipe import PRESETS

    usual = PRESETS["thesis" if kind == "index" else "syntax"]
    recipe_chosen, _ = chosen(usual, Selection(), recipe=recipe, settings=settings)
    if recipe_chosen.model.name != usual.model.name:
        raise typer.BadParameter(
            f"a recipe of {recipe_chosen.model.name} contexts: --from {kind} has none"
        )
    if kind == "index" and trees:
        raise typer.BadParameter("--trees goes with --from annotated")
    if kind == "index" and len(sources) > 1:
        raise typer.BadParameter("--from index takes one source")
    if kind == "annotated" and part.given():
        raise typer.BadParameter(f"{part.given()[0]} selects documents of an index")
    if kind == "annotated":
        from distsim.contexts.syntax.counting import named_contexts as syntax_contexts
        from distsim.corpus.annotated import read_annotated

        read = read_annotated(sources, trees=trees or ())
        contexts_found = syntax_contexts(read, phrase, recipe_chosen.model, recipe_chosen.weighting)
    else:
        from distsim.contexts.ngram import named_contexts

        index, model = part.opened(sources[0]), recipe_chosen.model
        contexts_found = named_contexts(
            index,
            phrase,
            window=model.window,
            weighting=recipe_chosen.weighting,
            by_side=model.by_side,
            narrow=model.narrow,
        )
    if not contexts_found:
        say(f"{phrase!r} does not occur beside any word")
    for feature, times, weight in contexts_found[: limit or None]:
        put_row({"answer": feature, "count": times, "weight": weight}, phrase=phrase)
    say_rest(len(contexts_found[: limit or None]), len(contexts_found))


@lists_rows
@grouped
def continuations(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    part: DocumentOptions,
    phrase: Annotated[str, typer.Argument(metavar="PHRASE")],
    limit: Annotated[int, typer.Option("--limit", "-k", min=0, help="Words at most; 0: all.")] = 20,
) -> None:
    """List the words that follow a phrase, or the longest of its suffixes that occurs.

    Prints word<TAB>count<TAB>share; an empty word is the end of the sentence. The length of the
    suffix and the number of its occurrences are on standard error, or in the JSON object.
    """
    from distsim.indexes.tracing import continuations as found_continuations

    corpus = part.opened(index)
    after_suffix = found_continuations(corpus, phrase, k=limit or None)
    if prints_json():
        answers = [
            {"answer": word.word, "count": word.times, "share": word.share}
            for word in after_suffix.words
        ]
        own = {"suffix_tokens": after_suffix.suffix_tokens, "count": after_suffix.total}
        put_object(phrase=phrase, **own, answers=answers)
        return
    suffix = counted(after_suffix.suffix_tokens, "token")
    say(f"{phrase}: {counted(after_suffix.total, 'occurrence')} of the last {suffix}")
    for word in after_suffix.words:
        put_row({"answer": word.word, "count": word.times, "share": word.share})
    say_rest(len(after_suffix.words), after_suffix.words.total)


@lists_rows
@grouped
def sketch(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    word: Annotated[str, typer.Argument(metavar="WORD")],
    part: DocumentOptions,
    against: Annotated[
        str | None, typer.Option(metavar="WORD", help="The difference to another word.")
    ] = None,
    lines: Annotated[
        str | None,
        typer.Option(metavar="RELATION:COLLOCATE", help="The lines behind one row: objects:place."),
    ] = None,
    relations: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Relations in TOML; default: Universal Dependencies."),
    ] = None,
    query: QueryOption = False,
    min_count: Annotated[int, typer.Option(min=1, help="Leave out rarer pairs.")] = 2,
    limit: Annotated[
        int, typer.Option("--limit", "-k", min=0, help="Collocates of each relation; 0: all.")
    ] = 10,
) -> None:
    """List the collocates of a lemma, or a phrase, by grammatical relation.

    Prints relation<TAB>collocate<TAB>pairs<TAB>logDice; with --against both words' pairs and
    logDice; with --lines the lines of a concordance. The index is of CoNLL-U with dependencies, as
    distsim annotate writes it.
    """
    from distsim.indexes import sketches

    corpus = part.opened(index)
    known = sketches.read_relations(path=relations)
    if against is not None and (query or lines is not None):
        raise typer.BadParameter("--against compares two lemmas: leave out --query and --lines")
    if lines is not None:
        _print_lines(corpus, word, lines, query, limit, known)
        return
    if against is not None:
        both = sketches.sketch_difference(
            corpus, word, against, relations=known, min_count=min_count, k=limit or None
        )
        for pair in both:
            counts = {"count": pair.times, "other_count": pair.other_times}
            scores = {"score": pair.score, "other_score": pair.other_score}
            put_row(
                {"relation": pair.relation, "answer": pair.word, **counts, **scores}, phrase=word
            )
        return
    rows = sketches.sketch(
        corpus, word, query=query, relations=known, min_count=min_count, k=limit or None
    )
    if not rows:
        say(f"{word}: has no pairs: it does not occur, or all are rarer than --min-count")
    for row in rows:
        counts = {"relation_count": row.of_word, "collocate_count": row.of_collocate}
        shown = {"answer": row.word, "count": row.times, "score": row.score}
        put_row({"relation": row.relation, **shown}, phrase=word, **counts)


def _print_lines(
    index: "CorpusIndex",
    word: str,
    pair: str,
    query: bool,
    limit: int,
    known: "list[SketchRelation]",
) -> None:
    """Print the concordance of a word with one collocate."""
    from distsim.indexes.sketches import sketch_spans

    relation, colon, collocate = pair.rpartition(":")
    if not colon:
        raise typer.BadParameter("give RELATION:COLLOCATE, such as objects:place")
    spans = sketch_spans(index, word, relation, collocate, query=query, relations=known)
    if not len(spans):
        say(f"{word}: has no {collocate} as {relation}")
    for line in index.lines(spans[: limit or None]):
        place = line.document if index.has_ids else f"{line.source}:{line.line}"
        put_row({"place": place, "left": line.left, "node": line.node, "right": line.right})
