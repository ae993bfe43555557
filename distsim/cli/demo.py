"""`distsim demo`: the whole flow on the novels in the package."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from distsim.base.errors import DistsimError
from distsim.cli.console import progress_bar

if TYPE_CHECKING:
    from distsim.comparison.table import SignatureTable
    from distsim.indexes.corpus_index import CorpusIndex

_COUNTED = ("in spite of", "on account of", "for the sake of", "by means of")
_SHOWN = "in spite of"
_FOCAL = ("mother", "evening", "for a moment", "in spite of", "replied")
_BEST, _WORST = 6, 4
_SCORE_SETTINGS = ("identical=skip", "min_strength=20", "aligner=evidence")
_PAIRS = (
    ("mother", "father"),
    ("replied", "answered"),
    ("for a moment", "for a minute"),
    ("evening", "elephant"),
)


def demo(
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Keep the index there."),
    ] = None,
    bitext: Annotated[
        bool, typer.Option("--bitext", help="Make paraphrases of a small bitext, too.")
    ] = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="Then serve a page to look at it, until Ctrl-C.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Of the page; 0: any.")] = 8765,
) -> None:
    """Run the whole flow on twelve novels.

    Index them, sign their phrases, and ask for similar ones; takes under a minute. With --bitext,
    paraphrase rules are made as well; the first time this takes another minute, to compile.
    """
    import time

    if serve:
        from distsim.cli.serve import require_server

        require_server()

    begun = time.monotonic()
    with (
        _folder(output) as folder,
        as_file(files("distsim") / "data" / "novels") as novels,
        _pivoting(folder / "paraphrases.gz") as pivoted,
    ):
        path = folder / "novels.index"
        index = _index(novels, path)
        table = _sign(index, path.name)
        _compare(index, table, path.name)
        _step("pivot", "distsim pivot RULES --columns joint -o PARAPHRASES")
        print(pivoted())
        _score_paraphrase_rules(folder, table)
        if bitext:
            _make_grammar(folder, path)
        kept = f"; the index is {path}" if output else ""
        print(f"\ndone in {time.monotonic() - begun:.0f} seconds{kept}")
        if serve:
            from distsim.cli.serve import run
            from distsim.server.session import Places

            _step("serve", f"distsim serve {path.name} --grammar scored.gz")
            run(Places(str(path), grammar=str(folder / "scored.gz")), "127.0.0.1", port, [])


def _index(novels: Path, path: Path) -> "CorpusIndex":
    """Index the novels, count phrases and show a concordance; return the index."""
    from distsim import CorpusIndex, IndexOptions

    _step("index", f"distsim index build --format text NOVELS -o {path.name}")
    with progress_bar() as bar:
        index = CorpusIndex.build([novels], path, options=IndexOptions("text"), progress=bar)
    counts = index.parameters["counts"]
    print(
        f"{counts['tokens']:,} tokens of {len(list(novels.iterdir()))} novels, "
        f"{index.n_words - 1:,} words, {counts['sentences']:,} sentences"
    )

    _step("count", f"distsim count {path.name} " + " ".join(f"'{p}'" for p in _COUNTED))
    for phrase, times in zip(_COUNTED, index.count(_COUNTED).tolist(), strict=True):
        print(f"{phrase}\t{times}")

    _step("kwic", f"distsim kwic {path.name} '{_SHOWN}' --sample 4 --width 5")
    for line in index.concordance(_SHOWN, width=5, sample=4):
        name = line.source.removesuffix(".txt.xz")
        print(f"{name}:{line.line}\t{line.left}\t{line.node}\t{line.right}")

    return index


def _sign(index: "CorpusIndex", name: str) -> "SignatureTable":
    """Sign the phrases and print neighbours of some; return the table."""
    from distsim import Recipe, SignatureTable
    from distsim.comparison import NeighbourSearch
    from distsim.contexts import Weighting

    _step("sign", f"distsim sign {name} --preset thesis --set weighting.scheme=log")
    with progress_bar() as bar:
        table = SignatureTable.build(index, recipe=Recipe(weighting=Weighting("log")),
                                     progress=bar)  # fmt: skip
    print(f"{len(table):,} phrases of 1 to {table.longest} tokens, {table.n_bits} bits each")

    _step("neighbours", f"distsim neighbours {name} PHRASE -k 6 --min-strength 20")
    search = NeighbourSearch(table, min_strength=20)
    for phrase in _FOCAL:
        near = list(search.nearest(phrase, k=6) or ())
        print(f"{phrase}\t" + ", ".join(f"{n.phrase} {n.similarity:.2f}" for n in near))

    return table


def _compare(index: "CorpusIndex", table: "SignatureTable", name: str) -> None:
    """Print estimated and exact similarities of some pairs."""
    from distsim import ExactCosine, similarity

    _step("similarity", f"distsim similarity {name} A B, and with --exact")
    exact = ExactCosine(index, table)
    for a, b in _PAIRS:
        estimated, true = similarity(table, a, b), exact.similarity(a, b)
        shown = "\t".join("NA" if v is None else f"{v:.3f}" for v in (estimated, true))
        print(f"{a} | {b}\t{shown}")


def _score_paraphrase_rules(folder: Path, table: "SignatureTable") -> None:
    """Score the paraphrase rules, print the best and worst."""
    from distsim.corpus.lines import read_lines
    from distsim.grammar.alignment import RuleAligner, TrainingOptions
    from distsim.grammar.formats.rules import Rule
    from distsim.grammar.score_file import score_grammar
    from distsim.grammar.scoring import RuleScorer, ScoreOptions

    pivoted, scored = folder / "paraphrases.gz", folder / "scored.gz"
    settings = " ".join(f"--set {one}" for one in _SCORE_SETTINGS)
    _step("score", f"distsim score PARAPHRASES --ngram novels.index {settings}")
    scorer = RuleScorer(
        [("sim_ngram", table)],
        options=ScoreOptions(identical="skip", min_strength=20),
        aligner=RuleAligner(training=TrainingOptions(aligner="evidence")),
    )
    report = score_grammar(pivoted, scored, scorer)
    print(f"{report.tables[0].scored:,} of {report.read:,} rules scored")
    ranked: dict[float, tuple[str, ...]] = {}  # one rule for each similarity
    for _, line in read_lines(scored):
        rule = Rule.parse(line)
        value = rule.features.get("sim_ngram")
        if value is not None:
            sides = (b" ".join(side).decode() for side in (rule.source, rule.target))
            ranked.setdefault(float(value), (rule.label.decode(), *sides))
    ordered = sorted(ranked.items(), reverse=True)
    for similarity, columns in [*ordered[:_BEST], *ordered[-_WORST:]]:
        print(f"{similarity:.3f}", *columns, sep="\t")


@contextmanager
def _pivoting(output: Path) -> Iterator[Callable[[], str]]:
    """Pivot the translation rules in the package meanwhile, in a process of its own.

    The first time most of the demo is compiling, and this is half of it. Gives a function that
    waits for the end and returns the last line of the report.
    """
    with as_file(files("distsim") / "data" / "grammars" / "bengali-english.samt.gz") as rules:
        command = [sys.executable, "-m", "distsim.cli.start", "pivot", str(rules)]
        command += ["--columns", "joint", "-o", str(output)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:

            def ended() -> str:
                _, said = process.communicate()
                last = str(said).strip().rpartition("\n")[2]
                if process.returncode:
                    raise DistsimError(last.removeprefix("distsim: "))
                return last

            try:
                yield ended
            finally:
                if process.poll() is None:
                    process.terminate()


def _make_grammar(folder: Path, index: Path) -> None:
    """Make a paraphrase grammar of the bitext in the package; print its best rules."""
    from distsim.bitext.reading import BitextOptions
    from distsim.grammar.pipeline import MakeOptions, make_grammar

    _step("make-grammar", f"distsim make-grammar --bitext EN DE --format text --index {index.name}")
    with as_file(files("distsim") / "data" / "bitext") as texts, progress_bar() as bar:
        pair = (texts / "help.en.xz", texts / "help.de.xz")
        report = make_grammar(
            [pair],
            index,
            folder / "help",
            options=MakeOptions(text=BitextOptions("text")),
            progress=bar,
        )
    shown = report.lines()
    print("\n".join(shown[: len(shown) - len(report.drawn) - 1]))


def _step(name: str, command: str) -> None:
    print(f"\n{name}: {command}", flush=True)


@contextmanager
def _folder(output: str | None) -> Iterator[Path]:
    if output is not None:
        Path(output).mkdir(parents=True, exist_ok=True)
        yield Path(output)
        return
    made = tempfile.mkdtemp(prefix="distsim-demo-")
    try:
        yield Path(made)
    finally:
        shutil.rmtree(made, ignore_errors=True)
