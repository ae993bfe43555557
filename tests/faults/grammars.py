"""Hostile grammars: fuzzed lines through every reader of rules, and kills of what writes them.

Lines are drawn from pieces of rules, phrase tables, numbers, blanks of all kinds and broken
UTF-8, and mixed with good ones. Under `on_error` keep, each of rerank, score and augment must
give every line that came, in number and text (score: line n is line n); pivot must read or count
every one; the readers of one line and of blocks must agree; nothing but a DistsimError may come
up. Then processes that write are killed (SIGKILL) after a random time: what stands at the output
is the whole file, or what was there before, byte for byte.

    python -m tests.faults.grammars [--lines 1000000] [--kills 200] [--seed 1] [--minutes 60]

Fuzzing stops after so many minutes; how many lines it came to is printed.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

PIECES = [
    b"[X]", b"[NP/NN]", b"[,]", b"|||", b"|||", b"|||", b"|||", b" ||| ", b"a", b"the", b"town",
    b"city", b"[X,1]", b"[NP,2]", b"[1]", b"[,,1]", b"[1,000]", b"[X,99999999999999999999]", b"0-0",
    b"1-1", b"1-", b"-1-2", b"9999999999999999999-0", b"x=1", b"x=nan", b"x=1e400", b"x=1_0", b"=",
    b"==3", b"0.5", b"NA", b"1e-7", b"-", b"(0)", b"( )", b"(0,1)", b"(", b"\t", b"\r", b"\x0b",
    b"\x0c", b"\x00", b"\x1c", b"\xc2\x85", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\xff", b"\xc3",
    b"\xf0\x9f\x98\x80", b"||||",
    b"||", b"&#91;", b"x" * 300,
]  # fmt: skip
GOOD_RULES = [
    b"[X] ||| a [X,1] town ||| the [X,1] city ||| x=0.5 NA ||| 0-0 2-2\n",
    b"[NP] ||| the town ||| the city ||| x=1 0.25\r\n",
    b"[X] ||| a ||| town |||\n",
]
GOOD_ENTRIES = [
    b"a ||| the ||| 0.5 0.1 0.25 0.2 ||| 0-0 ||| 1 2 1 |||\n",
    b"the town ||| city ||| 0.5 0.1 0.25 0.2 ||| 0-0 1-0 ||| 3 2 1 |||\n",
    b"the ||| a city ||| (0) ||| (0) ( ) ||| 0.5 0.1 0.25 0.2\n",
]


def fuzzed(rng, n, good):
    """Return n lines, a fifth of them good, the last perhaps without a newline."""
    ends = [b"\n", b"\n", b"\n", b"\r\n", b" \n", b"\r\r\n"]
    lines = []
    for _ in range(n):
        if rng.random() < 0.2:
            lines.append(rng.choice(good))
            continue
        between = rng.choice([b" ", b" ", b" ", b""])
        if rng.random() < 0.3:  # a good line with one piece more
            tokens = rng.choice(good).rstrip(b"\r\n").split(b" ")
            tokens.insert(rng.randrange(len(tokens) + 1), rng.choice(PIECES))
        else:
            tokens = rng.choices(PIECES, k=rng.randrange(14))
        lines.append(between.join(tokens) + rng.choice(ends))
    if rng.random() < 0.5:
        lines[-1] = lines[-1].rstrip(b"\n") or b"x"
    if lines[0].startswith(b"\xef\xbb\xbf"):  # a byte order mark before the text is no text
        lines[0] = b"x" + lines[0]
    return lines


def texts(lines):
    return Counter(line.rstrip(b"\n") for line in lines)


class Campaign:
    """One batch of lines through everything; counts what was done and what went wrong."""

    def __init__(self, folder, scorer):
        self.folder = folder
        self.scorer = scorer
        self.done = Counter()
        self.wrong = []

    def check(self, holds, what):
        self.done["checks"] += 1
        if not holds:
            self.wrong.append(what)

    def batch(self, lines, known, seed):
        from distsim.corpus.lines import LineBlock, split_lines
        from distsim.grammar.block import parse_block
        from distsim.grammar.fields import LineFaultError
        from distsim.grammar.formats.phrase_table import PhraseTableEntry
        from distsim.grammar.formats.rules import Rule
        from distsim.grammar.pivot import PivotOptions, pivot_grammar
        from distsim.grammar.rerank import Ranking, rerank_grammar
        from distsim.grammar.score_file import score_grammar
        from distsim.grammar.training import TrainingOptions

        source, out = self.folder / "in", self.folder / "out"
        text = b"".join(lines)
        source.write_bytes(text)
        block = parse_block(LineBlock(text, 1), known)
        self.check(
            [block.line(k) for k in range(len(block))] == split_lines(text), "lines of a block"
        )
        self.done[f"{known.name}: lines"] += len(block)
        self.done[f"{known.name}: rules"] += int((block.status == 0).sum())
        for number in range(0, len(block), 5):  # the readers of one line, beside
            line = block.line(number)
            try:
                sides = [tuple(block.symbol(k) for k in side) for side in block.sides(number)]
                if known.name == "rules":
                    rule = Rule.parse(line) if not block.fault(number) else None
                    same = rule is None or [rule.source, rule.target] == sides
                else:
                    entry = PhraseTableEntry.parse(line)
                    entry.links()
                    same = not block.fault(number) and entry.scores == [
                        t for t in block.feature_text(number).replace(b"\t", b" ").split(b" ") if t
                    ]
            except LineFaultError:
                same = bool(block.fault(number)) or block.links_of(number) == []
            self.check(same, f"two readers, seed {seed}, line {number + 1}: {line!r}")
        ranking = Ranking({"x" if known.name == "rules" else "0": 1.0}, missing=0.0)
        rest = {"on_error": "keep", "grammar_format": known.name}
        rerank_grammar(source, out, ranking, memory=1 << 20, **rest)
        self.check(texts(split_lines(out.read_bytes())) == texts(lines), f"rerank, seed {seed}")
        score_grammar(
            source, out, self.scorer, training=TrainingOptions("evidence"), jobs=1, **rest
        )
        found = split_lines(out.read_bytes())
        starts = all(a[:3] == b[:3] for a, b in zip(found, lines, strict=False))
        self.check(len(found) == len(lines) and starts, f"score, seed {seed}")
        options = PivotOptions(columns="conditional", max_translations=10)
        report = pivot_grammar(source, out, options, jobs=1, **rest)
        read = report.read + report.faulty.kept
        self.check(read == len(lines), f"pivot, seed {seed}: {read} of {len(lines)}")
        self.check(
            len(split_lines(out.read_bytes())) == report.written, f"pivot wrote, seed {seed}"
        )
        if known.name == "phrase-table":
            self.augmented(source, out, lines, seed)

    def augmented(self, source, out, lines, seed):
        from distsim.corpus.lines import split_lines
        from distsim.paraphrase.augment import AugmentOptions, augment_phrase_table

        names = self.folder / "paraphrases"
        names.write_text("unknown\t1\tthe town\t.5\nother\t1\ta\t.25\n", encoding="utf-8")
        limited = AugmentOptions(limit_rules=1000)
        report = augment_phrase_table(source, names, out, limited, on_error="keep")
        found = split_lines(out.read_bytes())
        self.check(
            len(found) == len(lines) + report.new_entries and report.new_entries == report.expected,
            f"augment, seed {seed}",
        )


def made_scorer(folder):
    """Return a scorer by a table of a toy text."""
    from distsim import CorpusIndex, IndexOptions, SignatureTable, sign
    from distsim.grammar import RuleScorer
    from distsim.signatures.recipe import PRESETS

    text = folder / "text"
    text.write_text("the town is a city . the city is a town .\n" * 30, encoding="utf-8")
    CorpusIndex.build([text], folder / "index", IndexOptions(text_format="lines"))
    sign(CorpusIndex.open(folder / "index"), recipe=PRESETS["thesis"])
    return RuleScorer([("sim_ngram", SignatureTable.open(folder / "index"))])


def kills(folder, scorer, n, rng):
    """Kill writers at random times; return (killed before, after the end, wrong outcomes)."""
    from distsim.grammar.pivot import PivotOptions, pivot_grammar
    from distsim.grammar.rerank import Ranking, rerank_grammar
    from distsim.grammar.score_file import score_grammar
    from distsim.grammar.training import TrainingOptions
    from distsim.paraphrase.augment import augment_phrase_table

    words = [f"w{k}" for k in range(300)]
    rules, table, names = folder / "rules", folder / "table", folder / "names"
    rules.write_text("".join(
        f"[X] ||| f{rng.randrange(400)} ||| {rng.choice(words)} {k} ||| x={rng.random():.3f} |||\n"
        for k in range(4000)
    ))  # fmt: skip
    table.write_text("".join(
        f"w{k // 20:05} ||| {rng.choice(words)} {k} ||| 0.5 0.1 {rng.random():.3f} 0.2 ||| 0-0\n"
        for k in range(8000)
    ))  # fmt: skip
    names.write_text("".join(f"u{k}\t1\tw{k:05}\t.5\n" for k in range(300)))
    work = {
        "pivot": lambda out: pivot_grammar(rules, out, PivotOptions(columns="conditional"), jobs=1),
        "rerank": lambda out: rerank_grammar(rules, out, Ranking({"x": 1.0}), memory=1 << 16),
        "score": lambda out: score_grammar(
            rules, out, scorer, training=TrainingOptions("evidence"), jobs=1
        ),
        "augment": lambda out: augment_phrase_table(table, names, out),
    }
    outcome, wrong = Counter(), []
    for name, run in work.items():
        for packed in ("", ".gz"):
            out = folder / f"made{packed}"
            out.unlink(missing_ok=True)
            started = time.monotonic()
            run(out)
            whole, seconds = out.read_bytes(), time.monotonic() - started
            for k in range(n // 8):
                before = b"what was there before\n" if k % 2 else None
                out.unlink(missing_ok=True)
                if before is not None:
                    out.write_bytes(before)
                child = os.fork()
                if child == 0:
                    run(out)
                    os._exit(0)
                time.sleep(rng.random() * 1.2 * seconds)
                os.kill(child, signal.SIGKILL)
                _, status = os.waitpid(child, 0)
                now = out.read_bytes() if out.exists() else None
                outcome[f"{name}: ended" if status == 0 else f"{name}: killed"] += 1
                if now not in (before, whole) or (status == 0 and now != whole):
                    wrong.append(f"{name}{packed}, kill {k}")
    return outcome, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60.0)
    given = parser.parse_args()
    from distsim.grammar.formats import FORMATS

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scorer = made_scorer(folder)
        campaign = Campaign(folder, scorer)
        size, started, begun = 20_000, time.process_time(), time.monotonic()
        for batch in range(-(-given.lines // size)):
            if time.monotonic() - begun > 60 * given.minutes:
                break
            known = FORMATS["rules" if batch % 2 else "phrase-table"]
            rng = random.Random(given.seed * 1_000_003 + batch)
            good = GOOD_RULES if known.name == "rules" else GOOD_ENTRIES
            lines = fuzzed(rng, min(size, given.lines - batch * size), good)
            campaign.batch(lines, known, batch)
        outcome, wrong = kills(folder, scorer, given.kills, random.Random(given.seed))
        cpu = time.process_time() - started
    for what, number in sorted((campaign.done + outcome).items()):
        print(f"{number:,}\t{what}")
    print(f"{len(campaign.wrong) + len(wrong)} wrong, {cpu:.0f} CPU s")
    print("\n".join((campaign.wrong + wrong)[:20]))
    sys.exit(bool(campaign.wrong or wrong))


if __name__ == "__main__":
    main()
