"""Writes a grammar file with the scores of its rules; trains the aligner of its rules."""

import time
from contextlib import nullcontext
from itertools import chain
from pathlib import Path

import numpy as np

from distsim.base.choices import OnError
from distsim.base.errors import program_version
from distsim.base.parallel import Progress, no_progress, ordered_map
from distsim.bitext.link_model import LinkModel
from distsim.corpus.lines import LineBlock, read_line_blocks
from distsim.corpus.sources import spooled
from distsim.grammar.alignment import RuleAligner, TrainingSample
from distsim.grammar.block import RuleBlock, parse_block
from distsim.grammar.explanation import HEADER, SIM_RULE, explain_block, explanation_lines
from distsim.grammar.formats import find_format
from distsim.grammar.invalid_lines import InvalidLines
from distsim.grammar.score_report import ScoredBlock, ScoreReport
from distsim.grammar.score_writer import OutputOptions, lines_with_scores
from distsim.grammar.scoring import RuleScorer
from distsim.storage.files import open_output


def trained(
    path: str | Path, aligner: RuleAligner, grammar_format: str | None, jobs: int | None
) -> tuple[RuleAligner, int | None]:
    """Return the aligner with a link model, and the number of rules that it was trained on.

    The aligner as it is, and None, where it needs no model or no rule lacks links.

    Arguments:
        path: a grammar. grammar_format: a name in distsim.grammar.formats.FORMATS; inferred from
            the first lines where None. jobs: threads, all cores where None.

    Raises:
        InputError: the grammar cannot be read.
        ParameterError: there is no such format.
    """
    if not aligner.needs_training:
        return aligner, None
    blocks = read_line_blocks(path)
    first = next(blocks, None)
    if first is None:
        return aligner, None
    known = find_format(grammar_format, first.text)

    def parsed(block: LineBlock) -> tuple[RuleBlock, np.ndarray]:
        rules = parse_block(block, known)
        return rules, aligner.wanted(rules)[1]

    sample = TrainingSample(aligner.training.sample)
    for rules, wanted in ordered_map(parsed, chain([first], blocks), jobs):
        if wanted.any():
            sample.add(rules, wanted)
    if not len(sample):
        return aligner, None
    model = LinkModel(*sample.pairs(), jobs=jobs)
    return RuleAligner(aligner.mode, learned=model, training=aligner.training), len(sample)


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
        explained = nullcontext() if options.explain is None else open_output(options.explain)
        tables = list(zip(scorer.names, (one.table for one in scorer.tables), strict=False))
        with open_output(path) as out, explained as evidence:
            if evidence is not None:
                evidence.write(("\t".join(HEADER) + "\n").encode())
            if first is not None:
                known = find_format(grammar_format, first.text)
                named = options.names_features(parse_block(first, known), known)

                def scored(lines: LineBlock) -> ScoredBlock:
                    block = parse_block(lines, known)
                    scores = scoring.score_block(block)
                    written = lines_with_scores(
                        block, scores, scorer.names, options, named, on_error == "drop"
                    )
                    packed = out.pack(b"".join(written.lines))
                    explanation = b""
                    if evidence is not None:
                        rows = explain_block(block, scores, tables, SIM_RULE in scorer.names)
                        explanation = evidence.pack(explanation_lines(block, rows))
                    return ScoredBlock.of(block, scores, packed, explanation, written.replaced)

                for block in ordered_map(scored, chain([first], blocks), jobs):
                    for line, fault in block.faults:
                        faulty.keeps(line, fault)
                    out.write_packed(block.packed)
                    if evidence is not None:
                        evidence.write_packed(block.explained)
                    report.count(block)
                    progress("scoring", report.read, None)
            faulty.require_lines(report.read + faulty.kept + faulty.dropped)
    report.seconds = time.monotonic() - started
    report.cpu_seconds = time.process_time() - cpu_started
    return report


def signature_lines(scorer: RuleScorer, aligner: RuleAligner) -> list[str]:
    """Return, per table, one line with everything on which the scores depend."""
    options = scorer.options
    if aligner.mode == "none":
        how = "none"
    elif aligner.learned is not None:
        how = f"{aligner.mode}+learned{aligner.training.sample}"
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
    if scorer.sides is not None:
        whole = [name for name in ("sim_whole", "sim_rule") if name in scorer.names]
        short = scorer.sides.table.fingerprint.short
        lines += [f"{name}: table:{short}|whole sides" for name in whole]
    if scorer.gaps is not None:
        gapped = scorer.gaps.gapped
        corpus = str(gapped.index.parameters["corpus"])[:12]
        lines.append(f"sim_gap: table:{gapped.table.fingerprint.short}|corpus:{corpus}")
    if scorer.opposites is not None:
        corpus = str(scorer.opposites.opposites.index.parameters["corpus"])[:12]
        lines.append(f"opposite: corpus:{corpus}|align:{how}|distsim:{program_version()}")
    return lines
