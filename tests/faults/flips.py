"""Bytes of artifacts changed: does `verify` see it, and what do their readers say?

flips: each byte of every file of an artifact, or every so many-th, is changed to another value;
`verify` must see every one, and readers answer, rightly or not, or refuse in a sentence. mended:
elements of arrays are changed and the checksums made to fit, so that only checks of bounds
protect; `NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=...` lets kernels raise where they leave an array.
texts: files without a checksum; CoNLL-U and ARPA are formats of others, so a changed byte can be a
changed answer there, as in weights. Never a traceback, a crash, a hang, or much memory.
"""

import hashlib
import json
import os
import random
import resource
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.faults.frame import (
    DATA,
    PROJECT,
    V1,
    Budget,
    Case,
    Outcome,
    d,
    faults_of,
    forked,
    remove,
)

_MOST_BYTES = 20_000  # of an artifact that are changed, one after the other
_MEMORY_MARGIN = 3 << 30  # what a question may map beyond what was mapped before
_SECONDS = 60  # after which a question hangs
_FINE = ("seen by verify", "answered the same", "answered otherwise", "refused")
_WORDS = ["the", "king", "the old king", "Öl", "nowhere"]
Question = Callable[[Path], object]


# What readers are asked -------------------------------------------------------------------


def _ask_index(path: Path) -> object:

    index = d.CorpusIndex.open(path)
    return (
        index.count(_WORDS).tolist(),
        [one.tolist() for one in index.positions(_WORDS)],
        [str(line) for line in index.concordance("the", k=4)],
        list(index.ngrams(shortest=2, min_count=3))[:9],
    )


def _walk_index(path: Path) -> object:

    index, out = d.CorpusIndex.open(path), path.parent / "made.table"
    recipe = d.Recipe(model=d.NgramModel(2), weighting=d.Weighting("llr"), n_bits=64)
    return (
        [one.tolist() for one in index.gapped(["the _ of", "a _ the _ of"])],
        [index.concordance("the", width=5, order=order) for order in ("left", "right")],
        [
            d.named_contexts(index, "the", window=2, weighting=d.Weighting(name))
            for name in ("raw", "ppmi", "llr")
        ],
        len(
            d.sign(
                index,
                out,
                recipe=recipe,
                selection=d.Selection(min_count=3, max_phrases=500),
                force=True,
            )
        ),
        d.Paraphraser(index).paraphrases("king"),
    )


def _add_to_index(path: Path) -> object:

    copy = path.with_name("added.index")
    remove(copy)
    shutil.copytree(path, copy)
    return d.CorpusIndex.open(copy).add([V1 / "b.txt"]).n_tokens


def _ask_table(path: Path) -> object:

    table = d.SignatureTable.open(path)
    pairs = [("king", "queen"), ("the king", "the queen"), ("nowhere", "king")]
    return d.similarities(table, pairs), [d.neighbours(table, phrase) for phrase in ("king", "dog")]


def _search_table(path: Path) -> object:

    table = d.SignatureTable.open(path)
    search = d.NeighbourSearch(table, candidates=_WORDS)
    found = search.above("king", 0.1)
    d.export(table, path.parent / "made.csv", format="csv")
    return found


def _ask_projection(path: Path) -> object:
    from distsim.signatures.projections.spectral import SpectralProjection

    projection = SpectralProjection.open(path)
    return projection.manifest(), projection.vectors[:3].tolist()


def _ask_bitext(path: Path) -> object:

    bitext = d.Bitext.open(path)
    return [
        (bitext.english.words(n), bitext.other.words(n), bitext.links_of(n),
         bitext.trees.nodes(n) if bitext.trees else None)
        for n in range(len(bitext))
    ]  # fmt: skip


def _extract(path: Path) -> object:
    from distsim.grammar.extraction.instances import PRESETS

    bitext = d.Bitext.open(path)
    preset = PRESETS["samt" if bitext.trees else "hiero"]
    return d.extract_rules([bitext], path.parent / "made.rules", options=preset, jobs=1).lines()[0]


def _ask_rules(path: Path) -> object:
    from distsim.grammar.extraction.numeric import NumericRules
    from distsim.grammar.extraction.pivoting import pivot_rules

    out = path.parent / "pivoted"
    report = pivot_rules(NumericRules(path), out, jobs=1)
    return report.written, out.read_bytes()


def _join_rules(path: Path) -> object:
    from distsim.grammar.extraction.pivoting import pivot_rules

    return pivot_rules(path, path.parent / "pivoted", jobs=1).written


def _ask_packs(path: Path) -> object:

    index = d.GrammarIndex.open(path)
    return [index.rules(source) for source in ("the", "of the", "file", "nowhere")]


def _rewrite(path: Path) -> object:

    model = path.parent / "lm.arpa"
    model.write_text(_ARPA)
    weights = d.Weights({"LM": 1.0, "Kept": 0.1, "sim_ngram": 1.0})
    rewriter = d.Rewriter(d.GrammarIndex.open(path), d.ArpaModel(model), weights=weights)
    return str(rewriter.rewrite("click on the file of the document .", k=3))


LIGHT: dict[str, Question] = {
    "index": _ask_index, "signatures": _ask_table, "projection": _ask_projection,
    "bitext": _ask_bitext, "rules": _ask_rules, "grammar": _ask_packs,
}  # fmt: skip
HEAVY: dict[str, list[Question]] = {
    "index": [_walk_index, _add_to_index], "signatures": [_search_table], "bitext": [_extract],
    "rules": [_join_rules], "grammar": [_rewrite],
}  # fmt: skip
_RANKING = (
    "# learned\nfeature\tweight\tmean\tscale\tlow\thigh\tmissing\n"
    "similarity\t0.5\t0.2\t0.1\t-1\t1\t0\nsame_words\t-1.25\t.5\t.25\t0\t1\t.1\n"
)
_ARPA = (
    "\\data\\\nngram 1=4\nngram 2=2\n\n\\1-grams:\n-1.0\t<s>\t-0.3\n-0.7\tthe\t-0.2\n"
    "-0.9\tfile\n-1.2\t</s>\n\n\\2-grams:\n-0.4\t<s> the\n-0.5\tthe file\n\n\\end\\\n"
)


def _read_weights(path: Path) -> object:

    return d.Weights.read(path)


def _read_ranking(path: Path) -> object:

    return d.LearnedWeights.read(path)


def _read_annotated(path: Path) -> object:

    return list(d.read_annotated([path]))


def _read_arpa(path: Path) -> object:

    return d.ArpaModel(path).order


def _read_parquet(path: Path) -> object:
    from distsim.corpus.readers import PARQUET
    from distsim.corpus.readers.reader import ReadOptions
    from distsim.corpus.sources import Source

    return [tuple(one) for one in PARQUET.read(Source("x", str(path)), ReadOptions())]


def _parquet() -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    rows = {"id": ["a", "b"], "text": ["The king.", "He ran so."], "year": [1850, None]}
    out = pa.BufferOutputStream()
    parquet.write_table(pa.table(rows), out, write_page_checksum=True)
    return out.getvalue().to_pybytes()


TEXTS: dict[str, tuple[Question, Callable[[], bytes]]] = {
    "weights of rewriting": (_read_weights, (DATA / "weights" / "simplify.weights").read_bytes),
    "weights of rank": (_read_ranking, _RANKING.encode),
    "CoNLL-U": (_read_annotated, (V1 / "c.conllu").read_bytes),
    "Parquet": (_read_parquet, _parquet),
    "ARPA": (_read_arpa, _ARPA.encode),
}


# What is changed --------------------------------------------------------------------------


@contextmanager
def _flip(file: Path, at: int, draw: random.Random) -> Iterator[None]:
    """Change a byte of a file, and change it back."""
    with open(file, "r+b") as stream:
        handle = stream.fileno()
        old = os.pread(handle, 1, at)
        os.pwrite(handle, bytes([old[0] ^ draw.randrange(1, 256)]), at)
        try:
            yield
        finally:
            os.pwrite(handle, old, at)


def flips_of(path: Path, stride: int, draw: random.Random) -> list[Callable[[], Any]]:
    """Return changes of single bytes of all files of a folder, or of one file."""
    below = sorted(path.rglob("*.*")) if path.is_dir() else [path]
    files = [file for file in below if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    stride = max(stride, -(-size // _MOST_BYTES))
    return [
        partial(_flip, file, at, random.Random(draw.random()))
        for file in files
        for at in range(draw.randrange(stride), file.stat().st_size, stride)
    ]


@contextmanager
def mended(path: Path, draw: random.Random) -> Iterator[None]:
    """Change elements of an array and let the manifest fit, and change all back."""
    from distsim.storage.manifest import manifest_checksum, manifest_text

    note = path / "manifest.json"
    before = note.read_bytes()
    manifest = json.loads(before)
    entry = draw.choice([one for _, one in sorted(manifest["arrays"].items()) if one["size"]])
    file, width = path / entry["file"], int(entry["dtype"][2:])
    old = file.read_bytes()
    data, n = bytearray(old), len(old) // width
    for _ in range(draw.choice((1, 1, 3, 30))):
        at, other = draw.choice((0, n - 1, draw.randrange(n))), draw.randrange(n)
        data[at * width : (at + 1) * width] = draw.choice((
            b"\0" * width, b"\xff" * width, b"\x7f" * width, draw.randbytes(width),
            bytes(data[other * width : (other + 1) * width]),
            n.to_bytes(width, "little") if n < 256**width else b"\x80" * width,
        ))  # fmt: skip
    entry["checksum"] = hashlib.blake2b(data, digest_size=16).hexdigest()
    manifest["checksum"] = manifest_checksum(manifest)
    file.write_bytes(data)
    note.write_text(manifest_text(manifest))
    try:
        yield
    finally:
        file.write_bytes(old)
        note.write_bytes(before)


# What comes of it -------------------------------------------------------------------------


def _judged(question: Question, path: Path, before: str) -> str:
    """Return what came of a question: an answer, the same or another, refused, or the fault."""

    signal.alarm(_SECONDS)  # which ends the process
    try:
        found = repr(question(path))
        return "answered the same" if found == before else "answered otherwise"
    except d.DistsimError as error:
        return "refused" if "\n" not in str(error) else "refused in several lines"
    except MemoryError:
        return "MemoryError"
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:120].replace("\n", " ")
    finally:
        signal.alarm(0)


def _ask_damaged(
    path: Path, questions: list[Question], changes: list[Callable[[], Any]], begin: int,
    verify: bool, log: Path,
) -> int:  # fmt: skip
    """Make each change from `begin` on, ask, and write what comes of it into the log."""
    before = [repr(question(path)) for question in questions]
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + _MEMORY_MARGIN,) * 2)
    with open(log, "a", buffering=1) as out:
        for number in range(begin, len(changes)):
            out.write(f"{number}")
            out.flush()  # it tells where a crash was
            with changes[number]():
                faults = _judged(faults_of, path, "") if verify else "not asked"
                is_seen = faults == "answered otherwise"  # some faults, not none
                if verify:
                    out.write("\tseen by verify" if is_seen else f"\tverify: {faults}")
                for question, answer in zip(questions, before, strict=True):
                    out.write(f"\t{_judged(question, path, answer)}")
            out.write("\n")
    return 0


def damage(
    path: Path, questions: list[Question], changes: list[Callable[[], Any]], verify: bool
) -> Outcome:
    """Make each change, in children that may crash; count what came of it."""
    outcome, begin = Outcome(), 0
    log, whole = path.with_name("log"), path.with_name("whole")
    copy = shutil.copytree if path.is_dir() else shutil.copy2
    copy(path, whole)
    log.write_text("")
    while begin < len(changes):
        work = partial(_ask_damaged, path, questions, changes, begin, verify, log)
        ended = forked(work, patience=7200)
        if ended.status == 0:
            break
        lines = log.read_text().split("\n")
        if not lines[-1]:
            outcome.broken.append(f"exit {ended.status}: {ended.said[-500:]}")
            return outcome
        begin = int(lines[-1].split("\t")[0]) + 1
        with open(log, "a") as out:
            out.write(f"\tthe process ended with {ended.status}\n")
        remove(path) if path.is_dir() else path.unlink()
        copy(whole, path)
    for line in log.read_text().splitlines():
        number, *ends = line.split("\t")
        change = changes[int(number)]
        for end in ends:
            outcome.counts[end if end in _FINE else "BROKEN"] += 1
            if end not in _FINE and end != "verify: answered the same":
                outcome.broken.append(f"{_told(change)}: {end}")
        if verify and "verify: answered the same" in ends and "answered otherwise" in ends:
            outcome.broken.append(f"{_told(change)}: verify finds nothing, the answer is another")
    return outcome


def _told(change: Any) -> str:
    return " ".join(str(one) for one in change.args[:2] if not isinstance(one, random.Random))


def _copied(place: Path, source: str) -> Path:
    found = place / "start" / source
    if not found.exists():
        found = PROJECT / "tests" / "data" / "formats" / source
    return Path(shutil.copytree(found, place / "damaged" / "x"))


def _artifact(
    mends: bool, source: str, place: Path, draw: random.Random, budget: Budget
) -> Outcome:
    path = _copied(place, source)
    kind = json.loads((path / "manifest.json").read_text())["kind"]
    if not mends:
        return damage(path, [LIGHT[kind]], flips_of(path, budget.stride, draw), True)
    changes = [partial(mended, path, random.Random(draw.random())) for _ in range(4 * budget.kills)]
    return damage(path, [faults_of, LIGHT[kind], *HEAVY.get(kind, [])], changes, False)


def _text(name: str, place: Path, draw: random.Random, budget: Budget) -> Outcome:
    question, made = TEXTS[name]
    path = place / "text"
    path.write_bytes(made())
    return damage(path, [question], flips_of(path, budget.stride, draw), False)


_OF_FORMATS = ("v1/index", "v1/thesis", "v6/learned", "v1/part", "v1/syntax", "v1/projection")
_MADE = ("signed.index", "b.bitext", "t.bitext", "numbers.rules", "pack/index")
_TINY = ("flips/v6/learned", "mended/b.bitext")


def cases() -> list[Case]:
    """Return every kind of artifact, changed with and without its checksums, and every text."""
    found = [
        Case(f"{name}/{source}", partial(_artifact, name == "mended", source),
             () if source in _OF_FORMATS else (source.split("/")[0],),
             f"{name}/{source}" in _TINY)
        for name in ("flips", "mended")
        for source in (*_OF_FORMATS, *_MADE)
    ]  # fmt: skip
    return found + [
        Case(f"flips/{name}", partial(_text, name), (), name == "weights of rank") for name in TEXTS
    ]
