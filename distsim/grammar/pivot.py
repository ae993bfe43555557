"""Pivots translation rules: English sides with one label and foreign side are paraphrases.

Thesis 3.2 and 6.4.1.1; Ganitkevitch et al. 2011, section 3; Bannard and Callison-Burch 2005. The
rules are arrays; pairs are made, summed and written for some source sides at a time, in order.
"""

from pathlib import Path

from distsim.base.arguments import OnError
from distsim.base.errors import ParameterError
from distsim.base.parallel import Progress, Run, available_cores, no_progress, ordered_map
from distsim.grammar.fields import InvalidLines
from distsim.grammar.pairing import Pairing, PivotOptions, PivotReport, paired_rules
from distsim.grammar.translations import Translations, read_translations
from distsim.storage.files import open_output

__all__ = ["PivotOptions", "PivotReport", "pivot_grammar", "write_paraphrases"]

MEMORY_BYTES = 128 << 20
_MOST_PAIRS, _PAIR_BYTES = 1 << 16, 2048  # at once, and what each takes


def pivot_grammar(
    grammar: str | Path,
    path: str | Path,
    *,
    options: PivotOptions | None = None,
    on_error: OnError = "stop",
    grammar_format: str | None = None,
    jobs: int | None = None,
    memory: int = MEMORY_BYTES,
    progress: Progress = no_progress,
) -> PivotReport:
    """Write the paraphrase rules of a grammar, sorted by label and sides; return the report.

    With f the foreign side, e1 the source and e2 the target of a paraphrase rule (called f and e
    in the names of its features, as PPDB does), all as -ln p (thesis 3.2.3):

    - `p(e|f,LHS)` = sum over f of p(e2|f,LHS) p(f|e1,LHS), equation 3.8; `p(f|e,LHS)` the reverse;
    - `p(e|f)`, `p(f|e)`: the same without labels, equation 3.7;
    - `p(LHS|e)`, `p(LHS|f)`, `p(e|LHS)`, `p(f|LHS)`: as the translation rules of e2 and e1 have
      them; p(LHS|e) also from joint columns, by their sums;
    - `Lex(e|f)`, `Lex(f|e)`: composed over f and summed like probabilities;
    - `RarityPenalty`; `LogCount`, ln of the number of links (pairs over one f); `PivotCount`,
      that number; `Identity` where identities are marked;
    - with `names` ppdb also what the sides tell (tables 3.1 and 6.6 of the thesis), without
      `PivotCount`: lines of PPDB 1.0. Table 6.6 has LogCount=ln 2 beside RarityPenalty=exp(1 - 10):
      its LogCount is of links, too, not of occurrences.

    Those are written for which the grammar has the columns. Gaps are numbered along the source
    side; the alignment field links gaps by index, and words where all links agree, or as the most
    probable link has them where they agree on none. Invalid lines are left out under `keep` and
    `drop` alike, and counted. About 200 bytes a translation rule are held.

    Arguments:
        grammar: rules, or a Moses phrase table, whose target sides are paraphrased; `-` for
            standard input.
        path: gz where the name ends so; `-` for standard output. Written whole or not at all.
        grammar_format: a name in distsim.grammar.formats.FORMATS; found from the first lines
            where None.
        jobs: threads, all cores where None; the same bytes for any number.
        memory: bytes that pairs may take beside the rules.
        options: PivotOptions() where None. on_error: invalid lines `stop` the work; `keep` and
            `drop` leave them out and count them.
        progress: called with (name of the step, done, total) from time to time.

    Raises:
        InputError: the grammar cannot be read, or a line is invalid and on_error is `stop`.
        ParameterError: the sums of the columns do not tell what these are, or `estimate` or
            `side` needs counts, which only numeric rules have.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rules, made = Path(folder, "rules"), Path(folder, "made")
    ...     _ = rules.write_text("[NN] ||| rede ||| address |||\\n[NN] ||| rede ||| speech |||\\n")
    ...     report = pivot_grammar(rules, made)
    ...     made.read_text().splitlines()[0][:60], report.written
    ('[NN] ||| address ||| speech ||| LogCount=0.00000 PivotCount=', 2)
    """
    options = options or PivotOptions()
    if options.estimate != "pivot" or options.side == "other":
        setting = "`side` other" if options.side == "other" else f"`estimate` {options.estimate}"
        raise ParameterError(
            f"{setting} needs the counts of rules: give the folder that extract --numeric writes"
        )
    report = PivotReport(InvalidLines(grammar, on_error))
    with read_translations(
        grammar, options.features, options.scale, grammar_format, report.faulty, progress
    ) as translations:
        n_rules = translations.label.size
        report.faulty.require_lines(n_rules + report.faulty.kept + report.faulty.dropped)
        return write_paraphrases(
            translations, path, options, report, Run(jobs, memory, progress)
        )  # fmt: skip


def write_paraphrases(
    translations: Translations,
    output: str | Path,
    options: PivotOptions,
    report: PivotReport,
    run: Run = Run(),
) -> PivotReport:
    """Return the completed report after writing the paraphrases of rules in memory.

    Arguments:
        options: which pairs become rules, and their features.
        run: its memory is what pairs may take beside the rules, MEMORY_BYTES where None.
    """
    report.read = translations.label.size
    rules = paired_rules(translations, options, report)
    pivot = Pairing(translations, rules, options)
    max_links = max(
        1,
        min(
            _MOST_PAIRS,
            (run.memory or MEMORY_BYTES) // _PAIR_BYTES // (run.jobs or available_cores()),
        ),
    )
    report.features = pivot.names
    report.notes += pivot.choices()
    total = pivot.n_pairs
    with open_output(output) as out:
        for written_pairs in ordered_map(pivot.write, pivot.chunks(max_links), run.jobs):
            out.write(written_pairs.text)
            report.links += written_pairs.links
            report.links_pruned += written_pairs.links_pruned
            report.identities += written_pairs.identities
            report.pruned += written_pairs.pruned
            report.written += written_pairs.written
            report.gappy += written_pairs.gappy
            run.progress("pivoting", report.links, total)
    if options.identities == "drop":
        report.identities = rules.rows.size
    return report
