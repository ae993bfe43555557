"""Every byte of small artifacts changed once: does `verify` see it, and what do readers say?

    python -m tests.faults.flips [arrays texts] [--only NAME] [--seed 1]

arrays: each byte of every array and manifest of one artifact of each kind (those of
tests/data/formats/v1, and a bitext, rules as numbers, and the index of packs, made here) is
changed to another value that is drawn. `verify` must see every one. Each kind's reader then opens
the artifact and answers: with an error of ours, of one line, or with an answer, which may be
wrong, since readers do not read all bytes; but never by a traceback, a crash or a hang. texts:
the same for files without a checksum (weights, annotated text, notes of packs, ARPA), whose
readers must give a sentence or read on. Peers: none.
"""

import json
import os
import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.faults import frame as common
from tests.faults.frame import Outcome, faults_of, forked

Reader = Callable[[Path], object]


# What readers are asked -------------------------------------------------------------------


def _ask_index(path: Path) -> object:
    from distsim import CorpusIndex

    index = CorpusIndex.open(path)
    words = ["the", "king", "the old king", "Öl", "nowhere"]
    return (
        index.count(words).tolist(),
        [one.tolist() for one in index.positions(words)],
        [str(line) for line in index.concordance("the", limit=4)],
        list(index.ngrams(2, min_count=3))[:9],
    )


def _ask_table(path: Path) -> object:
    from distsim import SignatureTable, neighbours, similarities

    table = SignatureTable.open(path)
    pairs = [("king", "queen"), ("the king", "the queen"), ("nowhere", "king")]
    return similarities(table, pairs), [neighbours(table, phrase) for phrase in ("king", "dog")]


def _ask_projection(path: Path) -> object:
    from distsim.signatures.projections.spectral import SpectralProjection

    projection = SpectralProjection.open(path)
    return projection.manifest(), projection.vectors[:3].tolist()


def _ask_bitext(path: Path) -> object:
    from distsim.bitext import Bitext

    bitext = Bitext.open(path)
    return [
        (bitext.english.words(n), bitext.other.words(n), bitext.links_of(n))
        for n in range(len(bitext))
    ]


def _ask_rules(path: Path) -> object:
    from distsim.grammar.extraction.numeric import NumericRules
    from distsim.grammar.extraction.pivoting import pivot_rules

    out = path.parent / "pivoted"
    report = pivot_rules(NumericRules(path), out, jobs=1)
    return report.written, out.read_bytes()


def _ask_packs(path: Path) -> object:
    from distsim import GrammarIndex

    index = GrammarIndex.open(path)
    return [index.rules(source) for source in ("the", "of the", "file", "nowhere")]


ASK: dict[str, Reader] = {
    "index": _ask_index, "signatures": _ask_table, "projection": _ask_projection,
    "bitext": _ask_bitext, "rules": _ask_rules, "grammar": _ask_packs,
}  # fmt: skip


def _read_weights(path: Path) -> object:
    from distsim.paraphrase.rewriting.weights import Weights

    return Weights.read(path)


def _read_ranking(path: Path) -> object:
    from distsim.grammar import LearntWeights

    return LearntWeights.read(path)


def _read_annotated(path: Path) -> object:
    from distsim.corpus import read_annotated

    return len(list(read_annotated([path])))


def _read_arpa(path: Path) -> object:
    from distsim.paraphrase.rewriting.language_model import ArpaModel

    return ArpaModel(path)


def _read_packs(path: Path) -> object:
    from distsim import GrammarIndex

    return len(GrammarIndex.open(path.parent))


TEXTS: dict[str, Reader] = {
    "rewriting.weights": _read_weights, "ranking.weights": _read_ranking,
    "c.conllu": _read_annotated, "lm.arpa": _read_arpa, "packs/packs.json": _read_packs,
}  # fmt: skip


# What is changed --------------------------------------------------------------------------


def make_artifacts(folder: Path) -> None:
    """Copy the artifacts of format version 1, and make the kinds that came later."""

    def act() -> int:
        from distsim.grammar.pipeline import make_grammar  # noqa: F401 (loads what is wanted)

        english, german = common.bitext(40)
        (folder / "en").write_text(common.tokenised(english))
        (folder / "de").write_text(common.tokenised(german))
        for command in (
            "align en de -o bitext --iterations .1 --samplers 1 -j 1",
            "extract bitext --preset phrases --longest 2 --numeric rules -j 1",
            "pivot rules -o para -j 1",
            "score para --ngram thesis --align none -o scored -j 1",
            "pack scored --missing 100 --sizes S -o packs -j 1",
        ):
            common.warm(command.split(), folder)
        return 0

    shutil.copytree(common.V1, folder)
    ended = forked(act, patience=1800)
    if ended.status != 0:
        raise SystemExit(f"artifacts: exit {ended.status}: {ended.err.decode()[-2000:]}")
    shutil.copy(common.DATA / "weights" / "simplify.weights", folder / "rewriting.weights")
    (folder / "ranking.weights").write_text(_RANKING)
    (folder / "lm.arpa").write_text(_ARPA)


_RANKING = (
    "# learnt\nfeature\tweight\tmean\tscale\tlow\thigh\tmissing\n"
    "similarity\t0.5\t0.2\t0.1\t-1\t1\t0\nsame_words\t-1.25\t.5\t.25\t0\t1\t.1\n"
)
_ARPA = (
    "\\data\\\nngram 1=4\nngram 2=2\n\n\\1-grams:\n-1.0\t<s>\t-0.3\n-0.7\tthe\t-0.2\n"
    "-0.9\tking\n-1.2\t</s>\n\n\\2-grams:\n-0.4\t<s> the\n-0.5\tthe king\n\n\\end\\\n"
)


def _judged(ask: Callable[[], object], before: str) -> str:
    """Return what came of a question: an answer, the same or another, refused, or the fault."""
    from distsim.base.errors import DistsimError

    try:
        return "answered the same" if repr(ask()) == before else "answered otherwise"
    except DistsimError as error:
        return "refused" if "\n" not in str(error) else "refused in several lines"
    except MemoryError:
        return "MemoryError"
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:100]


_FINE = ("seen by verify", "answered the same", "answered otherwise", "refused")


def flip_file(
    file: Path, begin: int, verify: Path | None, ask: Callable[[], object], seed: int, log: Path
) -> int:
    """Change every byte of a file from `begin` on; write what comes of each into the log."""
    draw = random.Random(seed)
    before = repr(ask())
    size = file.stat().st_size
    handle = os.open(file, os.O_RDWR)
    with open(log, "a", buffering=1) as out:
        for at in range(size):
            old = os.pread(handle, 1, at)
            new = bytes([old[0] ^ draw.randrange(1, 256)])
            if at < begin:
                continue
            out.write(f"{at}\t")
            os.pwrite(handle, new, at)
            if verify is not None and not faults_of(verify):
                out.write("missed by verify\t")
            out.write(_judged(ask, before) + "\n")
            os.pwrite(handle, old, at)
    return 0


def _flipped(outcome: Outcome, name: str, file: Path, verify: Path | None, ask: Reader,
             path: Path, draw: random.Random) -> None:  # fmt: skip
    """Change every byte of a file, in children that may crash; count what came of it."""
    log = path.parent / "flips.log"
    log.unlink(missing_ok=True)
    whole, seed, begin = file.read_bytes(), draw.randrange(1 << 30), 0
    while begin < len(whole):
        work = partial(flip_file, file, begin, verify, partial(ask, path), seed, log)
        ended = forked(work, patience=1200)
        file.write_bytes(whole)
        if ended.status == 0:
            break
        lines = log.read_text().splitlines() if log.exists() else []
        if not lines:
            outcome.broken.append(f"{name}: {ended.err.decode()[-300:]}")
            return
        begin = int(lines[-1].split("\t")[0]) + 1
        with open(log, "a") as out:  # behind the byte that it was at
            out.write(f"the process ended with {ended.status}\n")
    for line in log.read_text().splitlines() if log.exists() else []:
        at, *ends = line.split("\t")
        outcome.counts["bytes"] += 1
        for end in ends:
            outcome.counts[end if end in _FINE else "BROKEN"] += 1
            if end not in _FINE:
                outcome.broken.append(f"{name}, byte {at}: {end}")


def arrays(draw: random.Random, only: str) -> Outcome:
    """Change every byte of every array and manifest."""
    outcome = Outcome()
    with common.scratch_folder("flips") as scratch:
        folder = scratch / "made"
        make_artifacts(folder)
        for manifest in sorted(folder.rglob("manifest.json")):
            path = manifest.parent
            if only not in str(path.relative_to(folder)):
                continue
            kind = json.loads(manifest.read_text())["kind"]
            before = dict(outcome.counts)
            for file in sorted(path.glob("*.*")):
                if file.stat().st_size:
                    name = f"{path.relative_to(folder)}/{file.name}"
                    _flipped(outcome, name, file, path, ASK[kind], path, draw)
            told = {k: n - before.get(k, 0) for k, n in outcome.counts.items()}
            print(f"  {path.relative_to(folder)} ({kind}): {told}", flush=True)
    return outcome


def texts(draw: random.Random, only: str) -> Outcome:
    """Change every byte of files that have no checksum."""
    outcome = Outcome()
    with common.scratch_folder("flips") as scratch:
        folder = scratch / "made"
        make_artifacts(folder)
        for name, read in TEXTS.items():
            if only not in name:
                continue
            before = dict(outcome.counts)
            _flipped(outcome, name, folder / name, None, read, folder / name, draw)
            told = {k: n - before.get(k, 0) for k, n in outcome.counts.items()}
            print(f"  {name}: {told}", flush=True)
    return outcome


if __name__ == "__main__":
    common.main(__doc__, {"arrays": arrays, "texts": texts}, only="")
