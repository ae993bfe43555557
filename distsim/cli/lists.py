"""`distsim ngrams`, `keywords` and `terms`: lists of phrases of an index or a bitext."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from distsim.base.arguments import KeywordMeasure
from distsim.base.errors import counted
from distsim.cli.console import (
    LayerOption,
    SpreadOption,
    WordsOnlyOption,
    lengths_range,
    read_lines,
    say,
)
from distsim.cli.options import DocumentOptions, grouped, split_names
from distsim.cli.rows import lists_rows, put_row, say_rest

if TYPE_CHECKING:
    from distsim.indexes.corpus_index import CorpusIndex


@lists_rows
@grouped
def ngrams(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    part: DocumentOptions,
    lengths: Annotated[
        str, typer.Option("--lengths", "-n", metavar="N or N-M", help="Tokens.")
    ] = "1-5",
    min_count: Annotated[int, typer.Option(min=1, help="Leave out rarer phrases.")] = 1,
    limit: Annotated[
        int, typer.Option("--limit", "-k", min=0, help="The most frequent; 0: all.")
    ] = 0,
    containing: Annotated[
        str | None, typer.Option(metavar="PHRASE", help="Only phrases that contain this one.")
    ] = None,
    stop: Annotated[
        str | None, typer.Option(metavar="FILE", help="Words, one a line, to leave out.")
    ] = None,
    words_only: WordsOnlyOption = False,
    min_documents: Annotated[
        int, typer.Option(min=1, help="Leave out what is in fewer documents.")
    ] = 1,
    spread: SpreadOption = False,
    by: LayerOption = "word",
) -> None:
    """List all phrases with their counts.

    Prints phrase<TAB>count in index order: by the words' first appearance in the corpus. With
    --limit, --containing, --stop, --words-only, --min-documents or --spread the most frequent come
    first; with --spread also count per million tokens<TAB>documents<TAB>DP<TAB>normalised DP.
    """
    from distsim.indexes.phrase_lists import ListedPhrase, list_phrases

    shortest, longest = lengths_range(lengths)
    corpus = part.opened(index).of_layer(by)
    chosen = limit, words_only, min_documents > 1, spread
    rows: Iterable[tuple[object, ...]]
    if any(chosen) or containing is not None or stop is not None:
        stopped = () if stop is None else [word for word in read_lines(stop) if word.strip()]
        rows = list_phrases(
            corpus, lengths=(shortest, longest), containing=containing, stop=stopped,
            words_only=words_only, min_count=min_count, min_documents=min_documents,
            k=limit or None,
        )  # fmt: skip
    else:
        rows = corpus.ngrams(shortest=shortest, longest=longest, min_count=min_count)
    columns = ("phrase", "count", *ListedPhrase._fields[2:])
    n_shown = 0
    for row in rows:
        n_shown += 1
        shown = row if spread else row[:2]
        put_row(dict(zip(columns, shown, strict=False)))
    say_rest(n_shown, getattr(rows, "total", None))


@lists_rows
@grouped
def keywords(
    index: Annotated[str, typer.Argument(metavar="INDEX")],
    part: DocumentOptions,
    against: Annotated[
        str | None,
        typer.Option(metavar="INDEX", help="The reference corpus.  [default: the other documents]"),
    ] = None,
    against_where: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD=VALUES", help="Only such documents of the reference corpus."),
    ] = None,
    against_in: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only documents of a subcorpus of it.")
    ] = None,
    measure: Annotated[
        KeywordMeasure,
        typer.Option(help="Order; llr-2: log-likelihood of two cells; llr: of four."),
    ] = "llr-2",
    negative: Annotated[
        bool, typer.Option("--negative", help="The words that are less frequent here.")
    ] = False,
    min_count: Annotated[int, typer.Option(min=1, help="Leave out rarer words, of both.")] = 5,
    max_p: Annotated[float, typer.Option(min=0, max=1, help="Leave out higher p.")] = 1.0,
    words_only: WordsOnlyOption = False,
    by: LayerOption = "word",
    limit: Annotated[int, typer.Option("--limit", "-k", min=0, help="Words at most; 0: all.")] = 50,
) -> None:
    """List the words that are more frequent than in another index, or in its other documents.

    Prints word<TAB>count here<TAB>count there<TAB>log-likelihood<TAB>log ratio<TAB>p (Holm)<TAB>
    documents here<TAB>DP<TAB>normalised DP<TAB>count per million tokens here<TAB>and there.
    """
    from distsim.indexes.phrase_lists import keywords as found_keywords

    if against is None and not part.where and part.within is None:
        raise typer.BadParameter(
            "give --against INDEX, or --where FIELD=VALUES or --in NAME for the others"
        )
    here = part.opened(index)
    other = DocumentOptions(against_where, against_in)
    if against is not None or other.given():
        reference = other.opened(against or index)
        if against is None:
            _say_shared(here, reference)
    else:
        reference = here.other_documents()
    here, reference = here.of_layer(by), reference.of_layer(by)
    rows = found_keywords(
        here, reference, measure=measure, negative=negative, min_count=min_count, max_p=max_p,
        words_only=words_only, k=limit or None,
    )  # fmt: skip
    for row in rows:
        counts = {"count": row.here, "reference_count": row.there}
        rates = {
            "per_million": row.here / here.n_tokens * 1e6,
            "reference_per_million": row.there / reference.n_tokens * 1e6,
        }
        of_word = dict(zip(row._fields[3:], row[3:], strict=True))
        put_row({"answer": row.word, **counts, **of_word, **rates})
    say_rest(len(rows), rows.total)


def _say_shared(here: "CorpusIndex", reference: "CorpusIndex") -> None:
    """Say how many documents two parts of an index share."""
    is_here, is_there = here.kept_documents, reference.kept_documents
    if is_here is not None and is_there is not None and (shared := int((is_here & is_there).sum())):
        say(f"{counted(shared, 'document')} in both parts: their words count on both sides")


@lists_rows
def terms(
    bitext: Annotated[str, typer.Argument(metavar="BITEXT", help="Made by align.")],
    against: Annotated[
        str, typer.Option(metavar="INDEX", help="The reference corpus, of English.")
    ],
    lengths: Annotated[
        str, typer.Option("--lengths", "-n", metavar="N or N-M", help="Tokens.")
    ] = "1-4",
    min_count: Annotated[int, typer.Option(min=1, help="Leave out rarer phrases.")] = 5,
    min_p: Annotated[
        float, typer.Option(min=0, max=1, help="Least share of the best translation.")
    ] = 0.2,
    tbx: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write them as TBX-Basic, too.")
    ] = None,
    languages: Annotated[
        str, typer.Option(metavar="EN,OTHER", help="Codes of both languages, for TBX.")
    ] = "en,und",
    limit: Annotated[int, typer.Option("--limit", "-k", min=0, help="At most; 0: all.")] = 100,
) -> None:
    """List the terms of a bitext: phrases that are more frequent than in a reference corpus.

    Prints source<TAB>target<TAB>count<TAB>p(target|source)<TAB>log-likelihood<TAB>other
    translations with their p<TAB>a pair of sentences.
    """
    from distsim.grammar.terms import bitext_terms, tbx_lines
    from distsim.storage import open_output

    codes = split_names(languages)
    if len(codes) != 2:
        raise typer.BadParameter(
            f"{languages!r}: give two codes, such as en,de", param_hint="--languages"
        )
    rows = bitext_terms(
        bitext,
        against,
        lengths=lengths_range(lengths),
        min_count=min_count,
        min_p=min_p,
        k=limit + 1 if limit else None,
    )
    n_listed, rows = len(rows), rows[: limit or None]
    for row in rows:
        others = "; ".join(f"{text} ({p:.2f})" for text, p in row.alternatives)
        put_row(
            {
                "source": row.source, "target": row.target, "count": row.times, "p": row.p,
                "score": row.score, "alternatives": others,
                "source_example": row.source_example, "target_example": row.target_example,
            },
        )  # fmt: skip
    say_rest(len(rows), None, has_more=n_listed > len(rows))
    if tbx is not None:
        with open_output(tbx) as file:
            for line in tbx_lines(rows, languages=codes):
                file.write(f"{line}\n".encode(errors="replace"))
