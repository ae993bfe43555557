"""Writes a grammar file with the scores of its rules as further features."""

import time
from itertools import chain
from pathlib import Path

from distsim.base.choices import OnError
from distsim.base.distribution import program_version
from distsim.base.parallel import Progress, no_progress, ordered_map
from distsim.corpus.lines import LineBlock, read_line_blocks
from distsim.corpus.sources import spooled
from distsim.grammar.alignment import RuleAligner
from distsim.grammar.block import parse_block
from distsim.grammar.formats import find_format
from distsim.grammar.invalid_lines import InvalidLines
from distsim.grammar.score_report import ScoredBlock, ScoreReport
from distsim.grammar.score_writer import OutputOptions, lines_with_scores
from distsim.grammar.scoring import RuleScorer
from distsim.grammar.training import trained
from distsim.storage.files import open_output


def score_grammar(
    grammar: str | Path,
    path: str | Path,
    scorer: RuleScorer,
    *,
    options: OutputOptions | None = None,
    on_error: OnError = "stop",
    grammar_format: str | None = None,
    jobs: int | None = None,
    progress: Progress = no_progress,
) -> ScoreReport:
    """Write a grammar with its rules' scores added, line by line; return the report.

    Arguments:
        grammar: rules (Joshua, Thrax, PPDB, cdec) or a Moses phrase table, plain or packed;
            `-` for standard input.
        path: gz where the name ends so; `-` for standard output. Written whole or not at all.
        scorer: the tables and the aligner; where the aligner has no learned model, one is trained
            on those of the grammar's rules that lack links, by the aligner's TrainingOptions.
        options: how scores are written; OutputOptions() where None.
        on_error: invalid lines `stop` the work, or are kept as they are (`keep`), or left out
            (`drop`).
        progress: called with (name of the step, done, total) from time to time.
        grammar_format: a name in distsim.grammar.formats.FORMATS; found from the first lines
            where None.
        jobs: threads, all cores where None; the same bytes for any number.

    Raises:
        InputError: the grammar cannot be read, or a line is invalid and on_error is `stop`.
        ParameterError: there is no such format.

    >>> _ = (folder / "rules").write_text("[X] ||| the king ||| the queen ||| p=1 ||| 0-0 1-1\\n")
    >>> scorer = RuleScorer([("sim_ngram", table)])
    >>> score_grammar(folder / "rules", folder / "scored", scorer).read
    1
    >>> "sim_ngram=" in (folder / "scored").read_text()
    True
    """
    options = options or OutputOptions()
    started, cpu_started = time.monotonic(), time.process_time()
    faulty = InvalidLines(grammar, on_error)
    with spooled(grammar, scorer.aligner.needs_training) as rules:
        aligner, trained_on = trained(rules, scorer.aligner, grammar_format, jobs)
        report = ScoreReport(faulty, scorer.names, signature_lines(scorer, aligner))
        report.trained_on = trained_on
        scoring = RuleScorer.sharing(scorer, aligner)
        blocks = read_line_blocks(rules)
        first = next(blocks, None)
        with open_output(path) as out:
            if first is not None:
                known = find_format(grammar_format, first.text)
                named = options.names_features(parse_block(first, known), known)

                def scored(lines: LineBlock) -> ScoredBlock:
                    block = parse_block(lines, known)
                    scores = scoring.score_block(block)
                    text = lines_with_scores(
                        block, scores, scorer.names, options, named, on_error == "drop"
                    )
                    return ScoredBlock.of(block, scores, out.pack(text))

                for block in ordered_map(scored, chain([first], blocks), jobs):
                    for line, fault in block.faults:
                        faulty.keeps(line, fault)
                    out.write_packed(block.packed)
                    report.count(block)
                    progress("scoring", report.read, None)
            faulty.require_lines(report.read + faulty.kept + faulty.dropped)
    report.seconds = time.monotonic() - started
    report.cpu_seconds = time.process_time() - cpu_started
    return report


def signature_lines(scorer: RuleScorer, aligner: RuleAligner) -> list[str]:
    """Return, per table, one line with everything on which the scores depend.

    Arguments:
        scorer: with its tables.
        aligner: of rules without links.
    """
    options = scorer.options
    if aligner.mode == "none":
        how = "none"
    elif aligner.learned is not None:
        how = f"{aligner.mode}+learnt{aligner.training.sample}"
    else:
        how = f"{aligner.mode}+evidence"
    lines = []
    for name, one in zip(scorer.names, scorer.tables, strict=False):
        fingerprint = one.table.fingerprint
        model = "/".join(
            str(value) if key == "name" else f"{key}{value}"
            for key, value in fingerprint.model.items()
            if isinstance(value, str | int)
        )
        settings = {
            "table": fingerprint.short,
            "model": model,
            "weights": fingerprint.weights["scheme"],
            "bits": one.table.n_bits,
            **({} if one.estimate == "bits" else {"estimate": one.estimate}),
            "corpus": str(one.table.parameters["corpus"])[:12],
            "align": how,
            "min-strength": options.min_strength,
            "longest": options.longest,
            **({"composed": "yes"} if options.compose else {}),
            "distsim": program_version(),
        }
        lines.append(f"{name}: " + "|".join(f"{key}:{value}" for key, value in settings.items()))
    if scorer.whole is not None:
        lines.append(f"sim_whole: table:{scorer.whole.table.fingerprint.short}|whole sides")
    if scorer.gaps is not None:
        gapped = scorer.gaps.gapped
        corpus = str(gapped.index.parameters["corpus"])[:12]
        lines.append(f"sim_gap: table:{gapped.table.fingerprint.short}|corpus:{corpus}")
    if scorer.opposites is not None:
        corpus = str(scorer.opposites.opposites.index.parameters["corpus"])[:12]
        lines.append(f"opposite: corpus:{corpus}|align:{how}|distsim:{program_version()}")
    return lines
