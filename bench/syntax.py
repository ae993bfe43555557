"""Measures the syntactic model: speed and memory at scale, and what its families are worth.

    python bench/syntax.py scale [--tokens 10000000]     gum-annotated, repeated and shuffled
    python bench/syntax.py models ANNOTATED.conllu.gz    ablation against human judgements
    python bench/syntax.py size ANNOTATED.conllu.xz --work FOLDER [--rows thesis learnt]

All take --data FOLDER, which has gum-annotated and, for `models` and `size`, gold sets.

`scale` signs a corpus of so many annotated tokens with all families on, once for each budget of
memory, and prints CPU seconds, tokens a CPU second, peak memory, the table's checksum, and
whether the tables are the same to the byte. Peak memory is the process's own (anonymous, Linux
only); pages of the mapped temporary files come on top as long as nobody else wants the memory, and
are given in brackets.

`models` signs gum-annotated and the file given (Wikipedia annotated by `distsim annotate` with
the tiny pipeline) together, by families, raw and ppmi, and an n-gram table of the same words in
the same sentences (windows 1 and 3), and compares the cosines, exact and of 256 bits, with human
judgements: Spearman's rho over the pairs whose phrases occur five times or more. A phrase that
has no feature of a family counts as unlike all others (0); how many pairs that concerns is said.

`size` signs the file's words as n-grams and the file as syntax, by the thesis and learnt, each in a
process of its own: CPU seconds and peak memory of reading, indexing and signing, one thread. Their
similarities (of bits by the thesis, restored where learnt) beside people's, on the pairs that all
rows cover and, in brackets, on those of the row alone; and both models together, the mean of their
standard scores. FOLDER keeps the index and the tables: `bench/rules.py` takes them. A row whose
table is there is not signed again. --trees: constituents for the rows that have all families.
"""

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from itertools import islice
from pathlib import Path

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
DATA = Path(os.environ.get("DISTSIM_SHARED", SHARED)) / "data"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    scale = commands.add_parser("scale")
    scale.add_argument("--tokens", type=int, default=10_000_000)
    scale.add_argument("--memory", type=int, nargs="+", default=[256, 2048], help="in MB")
    scale.add_argument("--weights", default="raw")
    scale.add_argument("--data", type=Path, default=DATA)
    one = commands.add_parser("sign")  # one run of `scale`, in a process of its own
    one.add_argument("corpus")
    one.add_argument("table")
    one.add_argument("memory", type=int)
    one.add_argument("weights")
    models = commands.add_parser("models")
    models.add_argument("annotated", nargs="*")
    models.add_argument("--data", type=Path, default=DATA)
    size = commands.add_parser("size")
    size.add_argument("annotated", type=Path)
    size.add_argument("--trees", type=Path)
    size.add_argument("--work", type=Path, required=True)
    size.add_argument("--rows", nargs="+", default=["thesis", "learnt"], help="parts of names")
    size.add_argument("--data", type=Path, default=DATA)
    row = commands.add_parser("row")  # one table of `size`, in a process of its own
    row.add_argument("annotated")
    row.add_argument("work", type=Path)
    row.add_argument("name")
    row.add_argument("--trees")
    options = parser.parse_args()
    if options.command == "size":
        measure_size(options)
    elif options.command == "row":
        sign_row(options)
    elif options.command == "scale":
        measure_scale(options.data, options.tokens, options.memory, options.weights)
    elif options.command == "sign":
        sign_once(options.corpus, options.table, options.memory, options.weights)
    else:
        compare_models(options.data, options.annotated)


def measure_scale(data, tokens, budgets, weights):
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        corpus = Path(folder) / "corpus.conllu.gz"
        replicate(data / "gum-annotated", corpus, tokens)
        print("memory\tCPU s\ttokens/CPU s\tpeak MB (mapped)\tphrases\tchecksum")
        checksums = set()
        for memory in budgets:
            table = Path(folder) / f"{memory}.table"
            command = [sys.executable, __file__, "sign", corpus, table, memory, weights]
            out = subprocess.run(
                [str(part) for part in command], check=True, capture_output=True, text=True
            ).stdout
            row = json.loads(out)
            print(
                f"{memory} MB\t{row['cpu']:.0f}\t{row['tokens'] / row['cpu']:,.0f}\t"
                f"{row['own']:.0f} ({row['mapped']:.0f})\t{row['phrases']:,}\t"
                f"{row['checksum'][:12]}",
                flush=True,
            )
            checksums.add(row["checksum"])
        print(f"the same to the byte: {len(checksums) == 1}")


def replicate(gum, path, tokens):
    """Write gum-annotated over and over, its sentences with their trees in drawn order."""
    with gzip.open(gum / "gum-free.conllu.gz", "rt", encoding="utf-8") as file:
        sentences = file.read().strip().split("\n\n")
    with gzip.open(gum / "gum-free.ptb.gz", "rt", encoding="utf-8") as file:
        trees = file.read().splitlines()
    entries, sizes = [], []
    for sentence, tree in zip(sentences, trees, strict=True):
        lines = [line for line in sentence.split("\n") if line[0] != "#"]
        # Mentions run over sentences only by oversight; shuffled, they must close in their own.
        sizes.append(sum(line.split("\t", 1)[0].isdecimal() for line in lines))
        entries.append(f"# newdoc\n# constituency = {tree}\n" + "\n".join(lines) + "\n\n")
    draw = random.Random(1)
    written = 0
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as file:
        while written < tokens:
            order = draw.sample(range(len(entries)), len(entries))
            for number in order:
                file.write(entries[number])
                written += sizes[number]
                if written >= tokens:
                    break


def sign_once(corpus, table, memory, weights):
    from distsim import Recipe, SignatureTable
    from distsim.contexts import AnnotatedText, SyntaxModel, Weighting
    from distsim.contexts.sources.annotated import Sentences
    from distsim.corpus.annotated import read_annotated

    with tempfile.TemporaryDirectory(dir=Path(table).parent) as folder:  # compile first
        sentences = []
        for sentence in read_annotated([corpus]):
            sentences.append(sentence)
            if len(sentences) == 50:
                break
        recipe = Recipe(model=SyntaxModel(), weighting=Weighting(weights))
        few = Sentences(sentences)
        SignatureTable.build(few, Path(folder) / "t", recipe=recipe, memory=1 << 22, jobs=1)
    peaks = {"RssAnon": 0, "RssFile": 0}
    threading.Thread(target=watch, args=(peaks,), daemon=True).start()
    begun = time.process_time()
    opened = SignatureTable.build(
        AnnotatedText(corpus), table, recipe=recipe, memory=memory << 20, jobs=1
    )
    cpu = time.process_time() - begun
    print(
        json.dumps(
            {
                "cpu": cpu,
                "tokens": opened.parameters["tokens"],
                "own": peaks["RssAnon"] / 1024,
                "mapped": peaks["RssFile"] / 1024,
                "phrases": len(opened),
                "checksum": opened.artifact.checksum,
            }
        )
    )


def watch(peaks):
    """Note the highest values, in kB, five times a second."""
    while True:
        for line in Path("/proc/self/status").read_text().splitlines():
            name, _, value = line.partition(":")
            if name in peaks:
                peaks[name] = max(peaks[name], int(value.split()[0]))
        time.sleep(0.2)


def size_recipes():
    """Return {name: recipe} of the rows of `size`; n-gram ones by their names' beginning."""
    from distsim.contexts.syntax.model import SyntaxModel
    from distsim.contexts.weights import Weighting
    from distsim.signatures.composition import Composition
    from distsim.signatures.recipe import PRESETS, Recipe

    def learnt(model, spelling=0.0):
        return Recipe(
            model=model, weighting=Weighting("ppmi", subsample=1e-4, discount=1.5, min_weight=0.3),
            projection="spectral", composition=Composition(spelling=spelling),
        )  # fmt: skip

    return {
        "ngram-thesis": PRESETS["thesis"],
        "syntax-thesis": Recipe(model=SyntaxModel()),
        "syntax-arcs-thesis": Recipe(model=SyntaxModel(families=("dep",))),
        "ngram-learnt": PRESETS["learnt"],
        "syntax-arcs-learnt": learnt(SyntaxModel(families=("dep",), kinds=("lex", "lem"))),
        "syntax-all-learnt": learnt(SyntaxModel()),
    }


def measure_size(options):
    """Print the rows of `size`: first what making them takes, then how they agree with people."""
    from distsim import EstimatedCosine, SignatureTable
    from distsim.corpus.annotated import read_annotated

    options.work.mkdir(parents=True, exist_ok=True)
    lines = options.work / "lines.txt"
    trees = [options.trees] if options.trees else []
    if not lines.exists():
        begun = time.process_time()
        texts = [" ".join(one.words) for one in read_annotated([options.annotated], trees=trees)]
        seconds = time.process_time() - begun
        lines.write_text("\n".join(texts) + "\n", encoding="utf-8")
        print(f"{seconds:.0f} CPU s to read {len(texts):,} sentences\n")
    names = [name for name in size_recipes() if any(part in name for part in options.rows)]
    measures = {}
    print("| | CPU s | peak MB (mapped) | phrases |\n|---|---|---|---|")
    for name in names:
        told = options.work / f"{name}.json"
        if not told.exists():
            command = [sys.executable, __file__, "row", options.annotated, options.work, name]
            command += ["--trees", options.trees] if options.trees else []
            run = subprocess.run([str(part) for part in command], check=True, capture_output=True)
            told.write_bytes(run.stdout)
        row = json.loads(told.read_bytes())
        print(
            f"| {name} | {row['cpu']:.0f} | {row['own']:.0f} ({row['mapped']:.0f}) | "
            f"{row['phrases']:,} |",
            flush=True,
        )
        measures[name] = EstimatedCosine(SignatureTable.open(options.work / f"{name}.table"))
    agreement(measures, options.data)


def sign_row(options):
    """Sign one table of `size` and print what it took, as JSON."""
    from distsim import CorpusIndex, IndexOptions, SignatureTable
    from distsim.contexts import AnnotatedText
    from distsim.contexts.sources.annotated import Sentences
    from distsim.corpus.annotated import read_annotated

    recipe = size_recipes()[options.name]
    trees = [options.trees] if options.trees else []

    def signed(folder, lines, syntax):
        source = syntax
        if options.name.startswith("ngram"):
            source = CorpusIndex.build(
                [lines], folder / "index", options=IndexOptions("lines"), force=True
            )
        path = folder / f"{options.name}.table"
        return SignatureTable.build(source, path, recipe=recipe, jobs=1, force=True)

    with tempfile.TemporaryDirectory(dir=options.work) as place:  # compile first
        few = list(islice(read_annotated([options.annotated], trees=trees), 1000))
        lines = Path(place) / "lines.txt"
        lines.write_text("".join(" ".join(one.words) + "\n" for one in few), encoding="utf-8")
        signed(Path(place), lines, Sentences(few))
    peaks = {"RssAnon": 0, "RssFile": 0}
    threading.Thread(target=watch, args=(peaks,), daemon=True).start()
    begun = time.process_time()
    text = AnnotatedText(options.annotated, trees=trees)
    table = signed(options.work, options.work / "lines.txt", text)
    print(
        json.dumps(
            {
                "cpu": time.process_time() - begun,
                "own": peaks["RssAnon"] / 1024,
                "mapped": peaks["RssFile"] / 1024,
                "phrases": len(table),
            }
        )
    )


def agreement(measures, data):
    """Print how similarities, and both models' together, agree with people, a row for each."""
    import numpy as np
    from scipy.stats import zscore

    from distsim.evaluation.agreement import spearman, spearman_interval
    from distsim.evaluation.gold import read_gold

    judged = data / "gold-paraphrase-shared" / "judgements.tsv"
    gold = [read_gold(path) for path in sorted((data / "gold-wordsim-shared").glob("EN-*.txt"))]
    again = ("EN-WS-353-ALL", "EN-MC-30")  # the whole of other sets, a part of RG-65
    gold = [one for one in gold if one.name not in again]
    every = read_gold(judged)
    longer = [{" " in phrase for phrase in pair} for pair in every.pairs]
    for name, wanted in (("words", {False}), ("phrases", {True})):
        gold.append(every.subset(name, [n for n, one in enumerate(longer) if one == wanted]))
    found = {}
    for name, measure in measures.items():
        found[name] = [
            np.array([np.nan if v is None else v for v in measure.similarities(one.pairs)])
            for one in gold
        ]
    for one in list(measures):
        for other in list(measures):
            kinds = one.split("-")[-1], other.split("-")[-1]
            if one.startswith("ngram") and other.startswith("syntax") and len(set(kinds)) == 1:
                found[f"{one} + {other}"] = [
                    zscore(a, nan_policy="omit") + zscore(b, nan_policy="omit")
                    for a, b in zip(found[one], found[other], strict=True)
                ]
    rows = {name: [] for name in found}
    for number, one in enumerate(gold):
        people = np.array(one.scores)
        known = np.array([~np.isnan(values[number]) for values in found.values()])
        for (name, values), own in zip(found.items(), known, strict=True):
            common = known.all(axis=0)
            told = [spearman(values[number][some], people[some]) for some in (common, own)]
            groups = [group for group, some in zip(one.groups, common, strict=True) if some]
            interval = spearman_interval(values[number][common], people[common], groups, 300, 1)
            rows[name].append((*told, interval, int(common.sum()), int(own.sum())))
    words = range(len(gold) - 2)
    rest = [n for n, one in enumerate(gold) if "VERB" in one.name or n not in words]
    heads = [f"{gold[n].name} ({next(iter(rows.values()))[n][3]} pairs)" for n in rest]
    print(f"\n| | {len(words)} word sets | " + " | ".join(heads) + " |")
    print("|---" * (len(heads) + 2) + "|")
    for name, cells in rows.items():
        means = [np.mean([cells[n][k] for n in words]) for k in (0, 1)]
        told = [f"{means[0]:.3f} ({means[1]:.3f})"]
        for n in rest:
            mine, own, interval, _, n_own = cells[n]
            ends = f"[{interval.low:.3f}, {interval.high:.3f}]"
            told.append(f"{mine:.3f} {ends} ({own:.3f} of {n_own})")
        print(f"| {name} | " + " | ".join(told) + " |", flush=True)


def compare_models(data, annotated):
    from distsim import CorpusIndex, ExactCosine, IndexOptions, Recipe, Selection, SignatureTable
    from distsim.comparison.measures import StoredCosine
    from distsim.contexts import NgramModel
    from distsim.contexts.sources.annotated import Sentences
    from distsim.contexts.syntax.model import FAMILIES, SyntaxModel
    from distsim.contexts.weights import Weighting
    from distsim.corpus.annotated import read_annotated

    gum = data / "gum-annotated"
    sentences = list(
        read_annotated([gum / "gum-free.conllu.gz"], trees=[gum / "gum-free.ptb.gz"])
    ) + (list(read_annotated(annotated)) if annotated else [])
    tokens = sum(len(sentence.words) for sentence in sentences)
    print(f"{tokens:,} tokens, {len(sentences):,} sentences")
    selection = Selection(min_count=5)
    gold = gold_pairs(data)
    known = {}  # by set, the pairs that occur often enough
    neighbours = []
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        folder = Path(name)
        lines = folder / "lines.txt"
        lines.write_text("".join(" ".join(s.words) + "\n" for s in sentences), encoding="utf-8")
        index = CorpusIndex.build([lines], folder / "index", options=IndexOptions("lines"))
        sets = [
            ("all families", FAMILIES, ("lex", "lem", "pos", "ner")),
            *((f"only {f}", (f,), ("lex", "lem", "pos", "ner"))
              for f in ("ngram", "constituent", "ccg", "dep", "enhanced", "head")),
            *((f"all but {f}", tuple(g for g in FAMILIES if g != f), ("lex", "lem", "pos", "ner"))
              for f in ("ngram", "constituent", "ccg", "dep", "head")),
            *((f"all, only {k}", FAMILIES, (k,)) for k in ("lex", "lem", "pos", "ner")),
        ]  # fmt: skip
        for scheme in ("raw", "ppmi"):
            for window in (1, 3):
                recipe = Recipe(model=NgramModel(window), weighting=Weighting(scheme))
                table = SignatureTable.build(
                    index, folder / "t", recipe=recipe, selection=selection, force=True
                )
                if not known:
                    known = {
                        name: [p for p in pairs if (table.find(p[:2]) >= 0).all()]
                        for name, pairs in gold.items()
                    }
                    heads = [f"{n} ({len(known[n])} of {len(gold[n])} pairs)" for n in gold]
                    print("| model | weights | " + " | ".join(heads) + " | pairs at 0 |")
                    print("|---|---|" + "---|" * len(heads) + "---|")
                report(f"n-gram, window {window}", scheme, table, ExactCosine(index, table), known)
                if window == 1:
                    neighbours += near(f"n-gram {scheme}", table)
            for label, families, kinds in sets:
                recipe = Recipe(
                    model=SyntaxModel(families=families, kinds=kinds), weighting=Weighting(scheme)
                )
                table = SignatureTable.build(
                    Sentences(sentences),
                    folder / "t",
                    recipe=recipe,
                    selection=selection,
                    keep_features=True,
                    force=True,
                )
                report(f"syntax, {label}", scheme, table, StoredCosine(table), known)
                if label == "all families":
                    neighbours += near(f"syntax {scheme}", table)
    print(*sorted(neighbours), sep="\n")


def near(label, table):
    from distsim.comparison import NeighbourSearch

    search = NeighbourSearch(table, min_strength=20)
    rows = []
    for phrase in ("city", "said", "the government", "according to", "many"):
        found = search.nearest(phrase, k=5) or []
        shown = ", ".join(f"{n.phrase} {n.similarity:.2f}" for n in found)
        rows.append(f"{phrase}\t{label}\t{shown}")
    return rows


def gold_pairs(data):
    """Return {set: [(a, b, human score)]}."""
    pairs = {"wordsim": [], "paraphrase words": [], "paraphrase phrases": []}
    for path in sorted((data / "gold-wordsim-shared").glob("EN-*.txt")):
        if path.name in ("EN-WS-353-REL.txt", "EN-WS-353-SIM.txt"):
            continue  # parts of EN-WS-353-ALL
        scores = []
        for line in path.read_text(encoding="utf-8").splitlines():
            a, b, score = line.split()[:3]
            scores.append((a.lower(), b.lower(), float(score)))
        top = max(score for _, _, score in scores)
        pairs["wordsim"] += [(a, b, score / top) for a, b, score in scores]
    judged = data / "gold-paraphrase-shared" / "judgements.tsv"
    for line in judged.read_text(encoding="utf-8").splitlines():
        score, _, a, b = line.split("\t")[:4]
        kind = "paraphrase phrases" if " " in a or " " in b else "paraphrase words"
        pairs[kind].append((a.lower(), b.lower(), float(score)))
    return pairs


def report(label, scheme, table, exact, known):
    """Print a row: for each set of pairs rho of exact cosines, of 256 bits."""
    from scipy.stats import spearmanr

    from distsim.comparison.measures import similarities

    cells = []
    missing = 0
    for pairs in known.values():
        asked = [(a, b) for a, b, _ in pairs]
        human = [score for _, _, score in pairs]
        rho = []
        for values in (exact.similarities(asked), similarities(table, asked)):
            missing += values.count(None)
            rho.append(spearmanr(human, [0.0 if v is None else v for v in values])[0])
        cells.append(f"{rho[0]:.3f}, {rho[1]:.3f}")
    print(f"| {label} | {scheme} | " + " | ".join(cells) + f" | {missing // 2} |", flush=True)


if __name__ == "__main__":
    main()
