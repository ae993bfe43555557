"""Fuzzed lines through every reader of text but grammars' (those: grammars.py).

    python -m tests.faults.lines [READER...] [--lines 1000000] [--seed 1]

A file of a dozen lines is drawn: good ones, and some in which a piece was put in, taken away, made
odd, or all of it drawn from odd pieces: blanks of all kinds, broken UTF-8, huge and odd numbers,
brackets without end, JSON. Each reader must read it, or refuse it by an error of ours of one line
that names the file; never by a traceback, a crash or a hang. What readers of several roads say of
the same lines must agree, where there are several. Peers: none.
"""

import json
import random
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.faults import frame as common
from tests.faults.frame import Outcome, forked

_LINES_A_FILE = 12
_SLOW = 20.0  # seconds for a file of a dozen lines

ODD = [
    b"", b" ", b"  ", b"\t", b"\t\t", b"\r", b"\x0b", b"\x0c", b"\x00", b"\x1c", b"\xc2\x85",
    b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\xff", b"\xc3", b"\xf0\x9f\x98\x80", b"\xed\xa0\x80",
    b"a", b"the", b"a b", b"x" * 300, b"#", b"_", b"-", b"--", b"+", b"=", b"|", b"|||", b" ||| ",
    b",", b";", b'"', b'""', b'"a', b"'", b"\\", b"(", b")", b"()", b"(((", b")))", b"(X", b"(X a)",
    b"(" * 3000, b"[" * 3000, b"{", b"}", b"{}", b"[]", b"null", b"true", b'{"a": 1}',
    b"0", b"1", b"-1", b"1.5", b"1e400", b"-1e400", b"1e-400", b"nan", b"inf", b"-inf", b"1_0",
    b"0x10", b"9" * 19, b"9" * 40, b"9" * 5000, b"1e308", b"\xd9\xa1", b"\xc2\xb2", b"NA", b"0-0",
    b"1-2", b"2-1", b"1.1", b"1-", b"-1-2", b"0?0", b"\\end\\", b"\\data\\", b"\\1-grams:",
    b"\\99-grams:", b"ngram 1=9",
]  # fmt: skip


class Fuzzed(NamedTuple):
    """A reader. good: whole texts of which pieces are kept; parts: what parts a line's pieces."""

    read: Callable[[Path], object]
    good: list[bytes]
    parts: bytes = b"\t"


def _all(rows: Iterator[object]) -> int:
    return sum(1 for _ in rows)


def readers(folder: Path) -> dict[str, Fuzzed]:
    """Return every reader of text, by name; what they write goes into the folder."""
    from distsim import PRESETS, CorpusIndex, IndexOptions, Selection, read_gold, sign
    from distsim.bitext.build import Given, build_bitext
    from distsim.bitext.links import read_pharaoh
    from distsim.comparison import Language
    from distsim.contexts import CountFiles
    from distsim.corpus import Inflections, read_annotated
    from distsim.corpus.sources import find_sources
    from distsim.corpus.trees import read_trees
    from distsim.corpus.vectors import read_counted_phrases, read_counts, read_vectors
    from distsim.evaluation.judgements import evaluate_forms
    from distsim.evaluation.rewritings import read_sentences
    from distsim.grammar import LearntWeights
    from distsim.paraphrase.records import read_paraphrases
    from distsim.paraphrase.rewriting.batch import read_tasks as read_rewriting
    from distsim.paraphrase.rewriting.language_model import ArpaModel
    from distsim.paraphrase.rewriting.weights import Weights
    from distsim.paraphrase.substitution.batch import read_tasks as read_lexsub
    from distsim.paraphrase.substitution.grammar import ParaphraseGrammar
    from distsim.paraphrase.unknown import known_phrases, read_text

    conllu = (common.V1 / "c.conllu").read_bytes()
    tree = b"(ROOT (S (NP (DT the) (NN king)) (VP (VBZ sees))))\n"
    toolkit = (
        b"(ROOT (S (NP (DT the) (NN king)) (VP (VBZ sees)))) ||| the king see ||| the/O king/O "
        b"sees/O ||| 1-2-det 2-3-nsubj 3-0-root ||| 1-2-det 2-3-nsubj 3-0-root ||| 1-2-det "
        b"2-3-nsubj\n"
    )
    given = folder / "given"
    given.write_bytes(b"the king sees\n" * _LINES_A_FILE)
    other = folder / "other"
    other.write_bytes(b"der koenig sieht\n" * _LINES_A_FILE)
    key = folder / "form.key"
    key.write_bytes(b"row\titem\tsystem\tratio\n1\t1\ta\t.5\n2\t1\tb\t.75\n")

    def bitext(path: Path) -> object:
        links = folder / "links"
        links.write_bytes(b"0-0\n" * path.read_bytes().count(b"\n"))
        return build_bitext(path, other, folder / "bitext", given=Given(links=links), jobs=1)

    def beside(what: str) -> Callable[[Path], object]:
        links = folder / "links"

        def read(path: Path) -> object:
            links.write_bytes(b"0-0\n" * _LINES_A_FILE)
            said = {"links": links, what: path}
            return build_bitext(given, other, folder / "bitext", given=Given(**said), jobs=1)

        return read

    def counts(path: Path) -> object:
        return sign(CountFiles(path), folder / "counts.table", PRESETS["thesis"],
                    Selection(min_count=1, max_length=2), jobs=1, force=True)  # fmt: skip

    def index(text_format: str, path: Path) -> object:
        options = IndexOptions(text_format=text_format)  # type: ignore[arg-type]
        return CorpusIndex.build([path], folder / "index", options, jobs=1, force=True).n_tokens

    def npy(path: Path) -> object:
        return read_vectors(folder / "vectors.npy", words=path)

    import numpy as np

    np.save(folder / "vectors.npy", np.ones((_LINES_A_FILE, 3), np.float32))
    ranking = b"# learnt\nfeature\tweight\tmean\tscale\tlow\thigh\tmissing\n" + b"".join(
        b"f%d\t.5\t0\t1\t-1\t1\t0\n" % n for n in range(9)
    )
    records = [
        b'{"format": "distsim paraphrases", "version": 1, "normaliser": {}, "text_format": '
        b'"lines"}\n' + b'{"phrase": "a", "times": 1, "paraphrases": [{"phrase": "b", "score": '
        b"0.5}]}\n" * 9,
        b"a\t1\tb\t.5\tx\nc\tNA\n" * 6,
    ]
    arpa = (
        b"\\data\\\nngram 1=3\n\n\\1-grams:\n-1.0\t<s>\t-0.3\n-0.7\tthe\t-0.2\n-1.2\t</s>\n\n"
        b"\\2-grams:\n-0.4\t<s> the\n\n\\end\\\n"
    )
    return {
        "CoNLL-U": Fuzzed(lambda p: _all(read_annotated([p])), [conllu]),
        "toolkit": Fuzzed(lambda p: _all(read_annotated([p])), [toolkit * 9], b" "),
        "trees": Fuzzed(lambda p: _all(read_trees(find_sources([p]))), [tree * 9], b" "),
        "CoNLL-U with trees": Fuzzed(
            lambda p: _all(read_annotated([common.V1 / "c.conllu"], trees=p)),
            [b"(ROOT (S (D the) (A old) (N dog) (V sees) (D the) (N cat) (P .)))\n" * 12], b" "),
        "counts": Fuzzed(counts, [b"a b\t3\na\t5\nb\t3\nthe king\t4\nthe\t9\nking\t7\n" * 2]),
        "counts of words": Fuzzed(read_counts, [b"a b\t3\na\t5\nking 4\nthe\t9\n"]),
        "counted phrases": Fuzzed(lambda p: _all(read_counted_phrases(p)), [b"a b\t3\nthe\n" * 6]),
        "gold, tabs": Fuzzed(read_gold, [b"king\tqueen\t8.5\n" * 9, b"a\tb\n" * 9,
                                         b"5\tf\tking\tqueen\tx\n" * 9]),
        "gold, commas": Fuzzed(read_gold, [b"term1,term2,score\n" + b"king,queen,8.5\n" * 9], b","),
        "gold, blanks": Fuzzed(read_gold, [b"king queen 8.5\n" * 9], b" "),
        "forms": Fuzzed(lambda p: evaluate_forms([p], key), [
            b"row\titem\tsource\trewriting\tmeaning\tgrammar\n1\t1\ta\tb\t5\t4\n2\t1\ta\tb\t5\t4\n"]),
        "vectors": Fuzzed(read_vectors, [b"2 3\nking 1 0 .5\nqueen .9 .1 .4\n",
                                         b"".join(b"w%d 1 0 .5\n" % n for n in range(9))], b" "),
        "words of .npy": Fuzzed(npy, [b"".join(b"w%d\n" % n for n in range(_LINES_A_FILE))]),
        "paraphrases, JSON and columns": Fuzzed(read_paraphrases, records, b" "),
        "Pharaoh": Fuzzed(read_pharaoh, [b"0-0 1-1 2-2-P\n" * 9], b" "),
        "bitext": Fuzzed(bitext, [b"the king sees\n" * _LINES_A_FILE], b" "),
        "links of a bitext": Fuzzed(beside("links"), [b"0-0 1-1 2-2\n" * _LINES_A_FILE], b" "),
        "trees of a bitext": Fuzzed(beside("trees"), [
            b"(S (D the) (N king) (V sees))\n" * _LINES_A_FILE], b" "),
        "tags of a bitext": Fuzzed(beside("tags"), [b"D N V\n" * _LINES_A_FILE], b" "),
        "ARPA": Fuzzed(ArpaModel, [arpa]),
        "weights of rewriting": Fuzzed(Weights.read, [
            b"# x\n" + b"".join(b"f%d\t%d.5\n" % (n, n) for n in range(9))]),
        "weights learnt": Fuzzed(LearntWeights.read, [ranking]),
        "substitution": Fuzzed(lambda p: _all(read_lexsub(p)), [b"the\tking\tsees\tboy;man\n" * 9]),
        "grammar of substitution": Fuzzed(
            lambda p: ParaphraseGrammar.read(p, [("king",)]),
            [b"[X] ||| king ||| ruler ||| x=1 ||| 0-0\n" * 9], b" "),
        "sentences to rewrite": Fuzzed(lambda p: read_rewriting([p], None), [b"the king\n" * 9]),
        "trees to rewrite by": Fuzzed(lambda p: read_rewriting([given], p), [tree * 12], b" "),
        "sentences to judge": Fuzzed(read_sentences, [b"the king\n" * 9]),
        "unknown text": Fuzzed(lambda p: _all(read_text(p)), [b"the king\n" * 9], b" "),
        "known phrases": Fuzzed(lambda p: _all(known_phrases(p)), [
            b"the king\t3\n" * 9, b"the ||| der ||| .5 .5 .5 .5 ||| 0-0 |||\n" * 9], b" "),
        "inflections": Fuzzed(Inflections.open, [b"-y\ties ied\nbe\tam are\n" * 6]),
        "opposites": Fuzzed(Language.open, [
            (common.DATA / "opposites" / "english.txt").read_bytes()[-600:].partition(b"\n")[2]]),
        "text, lines": Fuzzed(partial(index, "lines"), [b"the king sees .\n" * 9], b" "),
        "text, running": Fuzzed(partial(index, "text"), [b"The king's sees, etc.\n" * 9], b" "),
    }  # fmt: skip


def fuzzed(draw: random.Random, good: list[bytes], parts: bytes, file_lines: int) -> bytes:
    """Return a text: some lines of a good one, a few of them made odd."""
    lines = draw.choice(good).splitlines(keepends=True)
    if len(lines) > file_lines:
        begin = draw.randrange(len(lines) - file_lines) if draw.random() < 0.3 else 0
        lines = lines[begin : begin + file_lines]
    for _ in range(draw.choice((1, 1, 2, 4))):
        at = draw.randrange(len(lines))
        kind = draw.randrange(9)
        pieces = lines[at].rstrip(b"\r\n").split(parts)
        place = draw.randrange(len(pieces))
        if kind == 0:
            pieces.insert(place, draw.choice(ODD))
        elif kind == 1:
            del pieces[place]
        elif kind in (2, 3, 4):
            pieces[place] = draw.choice(ODD)
        elif kind == 5:
            pieces = draw.choices(ODD, k=draw.randrange(12))
        elif kind == 6:
            pieces[place] = draw.choice(ODD) + pieces[place] + draw.choice(ODD)
        elif kind == 7:
            del lines[at]
            if not lines:
                return b""
            continue
        else:
            whole = bytearray(lines[at])
            del whole[draw.randrange(len(whole) + 1) :: 97]
            pieces = [bytes(whole).rstrip(b"\n")]
        lines[at] = parts.join(pieces) + draw.choice([b"\n", b"\n", b"\n", b"\r\n", b"", b"\n\n"])
    return b"".join(lines)


class _SlowError(Exception):
    """A reader took too long."""


def _too_slow(number: int, frame: object) -> None:
    raise _SlowError


def fuzz_reader(name: str, n_lines: int, seed: int, answer: Path, scratch: Path) -> int:
    """Read fuzzed files until so many lines came; write what came of it; runs in a child."""
    from distsim.base.errors import DistsimError

    signal.signal(signal.SIGALRM, _too_slow)
    draw = random.Random(seed)
    reader = readers(scratch)[name]
    outcome = Outcome()
    file = scratch / "fuzzed"
    where = scratch / "last"
    begun = time.process_time()
    number = 0
    while outcome.counts["lines"] < n_lines:
        text = fuzzed(draw, reader.good, reader.parts, _LINES_A_FILE)
        number += 1
        file.write_bytes(text)
        outcome.counts["lines"] += text.count(b"\n") + (not text.endswith(b"\n"))
        outcome.counts["files"] += 1
        signal.setitimer(signal.ITIMER_REAL, _SLOW)
        try:
            reader.read(file)
            outcome.counts["read"] += 1
        except DistsimError as error:
            outcome.counts["refused"] += 1
            told = str(error)
            if "\n" in told:
                outcome.broken.append(f"file {number}: several lines: {told[:200]!r}")
            elif len(told) > 2000:
                outcome.broken.append(f"file {number}: {len(told)} characters: {told[:90]!r}")
        except _SlowError:
            outcome.broken.append(f"file {number}: no end: {text[:300]!r}")
        except Exception as error:
            outcome.broken.append(f"file {number}: {error!r:.200}: {text[:300]!r}")
            (where.parent / f"broken-{name.replace(' ', '-')}").write_bytes(text)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if len(outcome.broken) > 200:
            break
    outcome.counts["CPU ms"] = int(1000 * (time.process_time() - begun))
    answer.write_text(json.dumps({"counts": outcome.counts, "broken": outcome.broken}))
    return 0


def lines(draw: random.Random, lines: int, only: list[str]) -> Outcome:
    """Give every reader the same number of lines, `lines` in all."""
    total = Outcome()
    with common.scratch_folder("lines") as scratch:
        names = [name for name in readers_named() if not only or name in only]
        for name in names:
            place = scratch / "place"
            place.mkdir()
            answer = scratch / "answer"
            seed = draw.randrange(1 << 30)
            share = lines // len(names) + 1
            ended = forked(partial(fuzz_reader, name, share, seed, answer, place), patience=3600)
            if ended.status != 0:
                total.broken.append(f"{name}: status {ended.status}: {ended.err.decode()[-900:]}")
                print(f"  {total.broken[-1]}", flush=True)
            else:
                told = json.loads(answer.read_text())
                counts = ", ".join(f"{what} {n:,}" for what, n in told["counts"].items())
                print(f"  {name}: {counts}; {len(told['broken'])} broken", flush=True)
                for what in told["broken"][:4]:
                    print(f"    {what}", flush=True)
                total.counts.update(told["counts"])
                total.broken += [f"{name}, {what}" for what in told["broken"]]
            common.shutil.rmtree(place)
    return total


def readers_named() -> list[str]:
    """Return the readers' names, told by a child, since making them loads much."""
    with common.scratch_folder("names") as scratch:
        place = scratch / "names"

        def act() -> int:
            place.write_text("\n".join(readers(scratch)))
            return 0

        ended = forked(act)
        if ended.status != 0:
            raise SystemExit(ended.err.decode()[-2000:])
        return place.read_text().split("\n")


def main() -> None:
    import sys

    known = readers_named()
    only = [one for one in sys.argv[1:] if one in known]
    sys.argv = [one for one in sys.argv if one not in only]
    common.main(__doc__, {"lines": partial(lines, only=only)}, lines=1_000_000)


if __name__ == "__main__":
    main()
