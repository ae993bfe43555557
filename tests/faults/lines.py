"""Fuzzed lines through every reader of text: read, or refused in one sentence.

A file of a dozen lines is drawn: good ones, and some in which a piece was put in, taken away, made
odd, or all of it drawn from odd pieces: blanks of all kinds, broken UTF-8, huge and odd numbers,
brackets without end, JSON. Each reader must read it, or refuse it by an error of ours of one line;
never by a traceback, a crash or a hang. grammars: under `on_error` keep, rerank, score and augment
give every line that came, pivot reads or counts every one, and two readers of a line agree.
"""

import json
import random
import signal
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tests.faults.frame import DATA, V1, Budget, Case, Outcome, d

_LINES_A_FILE = 12
_SLOW = 20.0  # seconds for a file of a dozen lines
_MOST_BROKEN = 100
_BATCH = 2000

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
_OF_RULES = [
    *ODD, b"[X]", b"[NP/NN]", b"[,]", b"[X,1]", b"[NP,2]", b"[1]", b"[,,1]", b"[1,000]",
    b"[X,99999999999999999999]", b"x=1", b"x=nan", b"x=1e400", b"x=1_0", b"==3", b"(0)", b"( )",
    b"(0,1)", b"||||", b"||", b"&#91;",
]  # fmt: skip
_RULES = [
    b"[X] ||| a [X,1] town ||| the [X,1] city ||| x=0.5 NA ||| 0-0 2-2\n",
    b"[NP] ||| the town ||| the city ||| x=1 0.25\r\n",
    b"[X] ||| a ||| town |||\n",
]
_ENTRIES = [
    b"a ||| the ||| 0.5 0.1 0.25 0.2 ||| 0-0 ||| 1 2 1 |||\n",
    b"the town ||| city ||| 0.5 0.1 0.25 0.2 ||| 0-0 1-0 ||| 3 2 1 |||\n",
    b"the ||| a city ||| (0) ||| (0) ( ) ||| 0.5 0.1 0.25 0.2\n",
]


class Reader(NamedTuple):
    """A reader. good: texts of which pieces are kept; parts: what parts a line's pieces.

    bomb: lines that are read again and again; those of the first of `good` where there are none.
    """

    read: Callable[[Path], object]
    good: list[bytes]
    parts: bytes = b"\t"
    bomb: bytes = b""


def _all(rows: Iterable[object]) -> int:
    return sum(1 for _ in rows)


def _bitext_readers(folder: Path) -> dict[str, Reader]:
    from distsim.bitext.bitext_builder import Given, build_bitext
    from distsim.bitext.links import read_pharaoh
    from distsim.bitext.sentence_pairs import BitextOptions, read_pairs

    given, other, zeros = folder / "given", folder / "other", folder / "links"
    given.write_bytes(b"the king sees\n" * _LINES_A_FILE)
    other.write_bytes(b"der koenig sieht\n" * _LINES_A_FILE)

    def made(path: Path, **said: Path) -> object:
        zeros.write_bytes(b"0-0\n" * (path.read_bytes().count(b"\n") if not said else 12))
        beside = Given(**{"links": zeros, **said})
        english = given if said else path
        return build_bitext(english, other, folder / "bitext", given=beside, jobs=1)

    def both_sides(ending: str, one: str, two: str, path: Path) -> object:
        named = path.with_name(f"pairs.{ending}")
        named.write_bytes(path.read_bytes())
        return read_pairs(f"{named}:{one}", f"{named}:{two}", BitextOptions("text"))

    unit = b'<tu><tuv xml:lang="en">\n<seg>The <ph>1</ph> king</seg></tuv>\n'
    unit += b'<tuv xml:lang="de"><seg>Der K.</seg></tuv></tu>\n'
    return {
        "TMX": Reader(partial(both_sides, "tmx", "en", "de"), [
            b"<tmx><body>\n" + unit * 3 + b"</body></tmx>\n"], b" "),
        "columns of pairs": Reader(partial(both_sides, "tsv", "1", "2"), [
            b"the king\tder koenig\nhe ran\ter lief\n" * 4], b"\t"),
        "Pharaoh": Reader(read_pharaoh, [b"0-0 1-1 2-2-P\n" * 9], b" "),
        "bitext": Reader(made, [b"the king sees\n" * _LINES_A_FILE], b" "),
        "links of a bitext": Reader(lambda p: made(p, links=p), [b"0-0 1-1 2-2\n" * 12], b" "),
        "trees of a bitext": Reader(
            lambda p: made(p, trees=p), [b"(S (D the) (N king) (V sees))\n" * 12], b" "),
        "tags of a bitext": Reader(lambda p: made(p, tags=p), [b"D N V\n" * 12], b" "),
    }  # fmt: skip


def _corpus_readers(folder: Path) -> dict[str, Reader]:
    from distsim.corpus.annotation import read_trees
    from distsim.corpus.lines import read_tokenised
    from distsim.corpus.sources import find_sources
    from distsim.paraphrase.unknown_words.words import known_phrases

    def counts(path: Path) -> object:
        return d.sign(d.NgramCounts(path), folder / "counts.table", recipe=d.PRESETS["thesis"],
        selection=d.Selection(min_count=1, max_length=2), jobs=1, force=True)  # fmt: skip

    def index(text_format: Any, path: Path, file_format: Any = "text") -> object:
        options = d.IndexOptions(text_format, file_format=file_format)
        return d.CorpusIndex.build(
            [path], folder / "index", options=options, jobs=1, force=True
        ).n_tokens

    tree = b"(ROOT (S (NP (DT the) (NN king)) (VP (VBZ sees))))"
    links = b" ||| 1-2-det 2-3-nsubj 3-0-root"
    said = b"The king of the town sees the old dog and the cat that ran so far from him"
    row = b"b\t" + said + b" .\t1\n"  # a row takes about 12 microseconds, and 100 bytes half of one
    page = b"<html><body>\n<p>The king sees the town.</p>\n<p>He ran.</p>\n</body></html>\n"
    one_line = b"<p>" + said + b" .</p>\n"
    tei = b"<TEI><teiHeader/><text>\n" + b"<p>The <hi>king</hi> sees <lb/> it.</p>\n" * 9
    tei += b"</text></TEI>\n"
    toolkit = tree + b" ||| the king see ||| the/O king/O sees/O" + links * 3 + b"\n"
    return {
        "CoNLL-U": Reader(lambda p: _all(d.read_annotated([p])), [(V1 / "c.conllu").read_bytes()]),
        "toolkit": Reader(lambda p: _all(d.read_annotated([p])), [toolkit * 9], b" "),
        "trees": Reader(lambda p: _all(read_trees(find_sources([p]))), [(tree + b"\n") * 9], b" "),
        "CoNLL-U with trees": Reader(
            lambda p: _all(d.read_annotated([V1 / "c.conllu"], trees=p)),
            [b"(ROOT (S (D the) (A old) (N dog) (V sees) (D the) (N cat) (P .)))\n" * 12], b" "),
        "counts": Reader(counts, [b"a b\t3\na\t5\nb\t3\nthe king\t4\nthe\t9\nking\t7\n" * 2]),
        "text, lines": Reader(partial(index, "lines"), [b"the king sees .\n" * 9], b" "),
        "text, running": Reader(partial(index, "text"), [b"The king's sees, etc.\n" * 9], b" "),
        "JSON lines": Reader(partial(index, "text", file_format="jsonl"), [
            b'{"note": "a", "text": "The king.", "n": 1}\n{"text": "He ran."}\n' * 6], b" ",
            b'{"note": "b", "text": "' + said + b'", "n": 1}\n'),
        "CSV": Reader(partial(index, "text", file_format="csv"), [
            b'note,text,n\na,"The king, he",1\nb,"He ""ran""\nso",\n' * 3], b",",
            b"note,text,n\n" + row.replace(b"\t", b",")),
        "TSV": Reader(partial(index, "text", file_format="tsv"), [
            b'note\ttext\tn\na\tThe king "so"\t1\nb\tHe ran.\t\n' * 3], b"\t",
            b"note\ttext\tn\n" + row),
        "HTML": Reader(partial(index, "text", file_format="html"), [page * 3], b" "),
        "TEI": Reader(partial(index, "text", file_format="tei"), [tei], b" ", one_line),
        "TEI of words": Reader(partial(index, "lines", file_format="tei"), [
            b"<TEI><text>\n" + b'<s><w lemma="the" pos="DT">The</w> <pc>.</pc></s>\n' * 9
            + b"</text></TEI>\n"], b" "),
        "DocBook": Reader(partial(index, "text", file_format="docbook"), [
            b"<article>\n" + b"<para>The king <emphasis>sees</emphasis></para>\n" * 9
            + b"</article>\n"], b" "),
        "ALTO": Reader(partial(index, "text", file_format="alto"), [
            b"<alto><Layout>\n" + b'<TextLine><String CONTENT="The"/> <SP/></TextLine>\n' * 9
            + b"</Layout></alto>\n"], b" "),
        "vertical": Reader(partial(index, "lines", file_format="vertical"), [
            b'<text id="a" n="1">\n<s>\nThe\tDT\tthe\nking\tNN\tking\n</s>\n</text>\n' * 2,
            b"The\tDT\tthe\n.\tSENT\t.\n" * 6], b"\t",
            b"<s>\nThe\tDT\tthe\nking\tNN\tking\nsees\tVBZ\tsee\n</s>\n"),
        "subtitles": Reader(partial(index, "text", file_format="subtitles"), [
            b"1\n00:00:01,000 --> 00:00:02,000\n- Come here,\nplease!\n\n" * 3,
            b"WEBVTT\n\n00:01.000 --> 00:02.000\nCome <b>here</b>!\n\n" * 3,
            b"[Script Info]\n\n[Events]\nFormat: Layer, Start, End, Style, Text\n"
            + b"Dialogue: 0,0:00:01.00,0:00:02.00,Default,Come {\\i1}here\n" * 6], b" "),
        "CoNLL-U of an index": Reader(
            partial(index, "lines", file_format="conllu"), [(V1 / "c.conllu").read_bytes()]),
        "unknown text": Reader(
            lambda p: _all(read_tokenised(p).lines), [b"the king\n" * 9, b"The king, he.\n" * 9],
            b" "),
        "known phrases": Reader(lambda p: _all(known_phrases(p)), [
            b"the king\t3\n" * 9, b"the ||| der ||| .5 .5 .5 .5 ||| 0-0 |||\n" * 9], b" "),
    }  # fmt: skip


def _table_readers(folder: Path) -> dict[str, Reader]:

    from distsim.corpus.vectors import read_phrases, read_vectors
    from distsim.evaluation.rewritings import read_sentences
    from distsim.paraphrase.records import read_paraphrases
    from distsim.paraphrase.rewriting.sentence_batch import read_tasks as read_rewriting
    from distsim.paraphrase.substitution.occurrence import read_tasks as read_lexsub
    from distsim.paraphrase.substitution.substitute_candidates import ParaphraseGrammar

    given = folder / "sentences"
    given.write_bytes(b"the king sees\n" * _LINES_A_FILE)
    ranking = b"# learned\nfeature\tweight\tmean\tscale\tlow\thigh\tmissing\n" + b"".join(
        b"f%d\t.5\t0\t1\t-1\t1\t0\n" % n for n in range(9)
    )
    head = {"format": "distsim paraphrases", "version": 1, "normaliser": {}, "text_format": "lines"}
    found = {"phrase": "a", "times": 1, "paraphrases": [{"phrase": "b", "score": 0.5}]}
    records = f"{json.dumps(head)}\n" + f"{json.dumps(found)}\n" * 9
    arpa = (
        b"\\data\\\nngram 1=3\n\n\\1-grams:\n-1.0\t<s>\t-0.3\n-0.7\tthe\t-0.2\n-1.2\t</s>\n\n"
        b"\\2-grams:\n-0.4\t<s> the\n\n\\end\\\n"
    )
    tree = b"(ROOT (S (NP (DT the) (NN king)) (VP (VBZ sees))))\n"
    return {
        "phrases": Reader(lambda p: _all(read_phrases(p)), [b"a b\t3\nthe\n" * 6]),
        "gold, tabs": Reader(d.read_gold, [b"king\tqueen\t8.5\n" * 9, b"a\tb\n" * 9,
                                         b"5\tf\tking\tqueen\tx\n" * 9]),
        "gold, commas": Reader(d.read_gold, [b"a,b,score\n" + b"king,queen,8.5\n" * 9], b","),
        "gold, blanks": Reader(d.read_gold, [b"king queen 8.5\n" * 9], b" "),
        "vectors": Reader(read_vectors, [b"2 3\nking 1 0 .5\nqueen .9 .1 .4\n",
                                         b"".join(b"w%d 1 0 .5\n" % n for n in range(9))], b" "),
        "paraphrases": Reader(read_paraphrases, [
            records.encode(), b"a\t1\tb\t.5\tx\nc\tNA\n" * 6], b" "),
        "ARPA": Reader(d.ArpaModel, [arpa]),
        "weights of rewriting": Reader(d.Weights.read, [
            b"# x\n" + b"".join(b"f%d\t%d.5\n" % (n, n) for n in range(9))]),
        "weights learned": Reader(d.LearnedWeights.read, [ranking]),
        "substitution": Reader(lambda p: _all(read_lexsub(p)), [b"the\tking\tsees\tboy;man\n" * 9]),
        "grammar of substitution": Reader(
            lambda p: ParaphraseGrammar.read(p, [("king",)]),
            [b"[X] ||| king ||| ruler ||| x=1 ||| 0-0\n" * 9], b" "),
        "sentences to rewrite": Reader(lambda p: read_rewriting([p], None), [b"the king\n" * 9]),
        "trees to rewrite by": Reader(lambda p: read_rewriting([given], p), [tree * 12], b" "),
        "sentences to judge": Reader(read_sentences, [b"the king\n" * 9]),
        "inflections": Reader(d.Inflections.open, [b"-y\ties ied\nbe\tam are\n" * 6]),
        "opposites": Reader(d.Language.open, [
            (DATA / "opposites" / "english.txt").read_bytes()[-600:].partition(b"\n")[2]]),
    }  # fmt: skip


def _rule_readers(folder: Path) -> dict[str, Reader]:

    out, ranking = folder / "out", d.Ranking({"x": 1.0}, missing=0.0)
    packs, packed = folder / "packs", d.PackOptions({"x": 1.0}, missing=0.0)
    good = [b"".join(_RULES) * 4, b"".join(_ENTRIES) * 4]
    return {
        "rerank": Reader(lambda p: d.rerank_grammar(p, out, ranking), good[:1], b" "),
        "pivot": Reader(lambda p: d.pivot_grammar(p, out, jobs=1), good, b" "),
        "pack": Reader(lambda p: d.pack_grammar(p, packs, options=packed, jobs=1), good[:1], b" "),
    }


KINDS = (_corpus_readers, _bitext_readers, _table_readers, _rule_readers)


def fuzzed(draw: random.Random, good: list[bytes], parts: bytes) -> bytes:
    """Return a text: some lines of a good one, a few of them made odd."""
    lines = draw.choice(good).splitlines(keepends=True)
    if len(lines) > _LINES_A_FILE:
        begin = draw.randrange(len(lines) - _LINES_A_FILE) if draw.random() < 0.3 else 0
        lines = lines[begin : begin + _LINES_A_FILE]
    for _ in range(draw.choice((1, 1, 2, 4))):
        at = draw.randrange(len(lines))
        kind = draw.randrange(9)
        if kind == 0:
            del lines[at]
            if not lines:
                return b""
            continue
        lines[at] = _odd(draw, lines[at], parts, kind)
    return b"".join(lines)


def _odd(draw: random.Random, line: bytes, parts: bytes, kind: int) -> bytes:
    """Return a line in which something is odd."""
    pieces = line.rstrip(b"\r\n").split(parts)
    place = draw.randrange(len(pieces))
    if kind == 1:
        pieces.insert(place, draw.choice(_OF_RULES))
    elif kind == 2:
        del pieces[place]
    elif kind in (3, 4, 5):
        pieces[place] = draw.choice(_OF_RULES)
    elif kind == 6:
        pieces = draw.choices(_OF_RULES, k=draw.randrange(12))
    elif kind == 7:
        pieces[place] = draw.choice(ODD) + pieces[place] + draw.choice(ODD)
    else:
        whole = bytearray(line)
        del whole[draw.randrange(len(whole) + 1) :: 97]
        pieces = [bytes(whole).rstrip(b"\n")]
    return parts.join(pieces) + draw.choice([b"\n", b"\n", b"\n", b"\r\n", b"", b"\n\n"])


class _SlowError(Exception):
    """A reader took too long."""


def _too_slow(number: int, frame: object) -> None:
    raise _SlowError


def fuzz(kind: Any, name: str, place: Path, draw: random.Random, budget: Budget) -> Outcome:
    """Read fuzzed files until so many lines came."""

    signal.signal(signal.SIGALRM, _too_slow)
    reader, outcome, file = kind(place)[name], Outcome(), place / "fuzzed"
    while outcome.counts["lines"] < budget.lines and len(outcome.broken) < _MOST_BROKEN:
        text = fuzzed(draw, reader.good, reader.parts)
        file.write_bytes(text)
        outcome.counts["lines"] += text.count(b"\n") + (not text.endswith(b"\n"))
        signal.setitimer(signal.ITIMER_REAL, _SLOW)
        try:
            reader.read(file)
            outcome.counts["read"] += 1
        except d.DistsimError as error:
            outcome.counts["refused"] += 1
            if "\n" in str(error) or len(str(error)) > 2000:
                outcome.broken.append(f"several lines: {str(error)[:200]!r}: {text[:300]!r}")
        except _SlowError:
            outcome.broken.append(f"no end: {text[:300]!r}")
        except Exception as error:
            outcome.broken.append(f"{error!r:.200}: {text[:300]!r}")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return outcome


# Grammars with invalid lines kept ----------------------------------------------------------


def _batch(draw: random.Random, good: list[bytes], n: int) -> list[bytes]:
    """Return n lines, a fifth of them good, the last perhaps without a newline."""
    lines = []
    while len(lines) < n:
        if draw.random() < 0.2:
            lines.append(draw.choice(good))
        else:
            lines += _odd(draw, draw.choice(good), b" ", draw.randrange(1, 9)).splitlines(True)
    lines = [line if line.endswith(b"\n") else line + b"\n" for line in lines[:n]]
    if lines[0].startswith(b"\xef\xbb\xbf"):  # a byte order mark before the text is no text
        lines[0] = b"x" + lines[0]
    return lines


def _texts(lines: list[bytes]) -> Counter[bytes]:
    return Counter(line.rstrip(b"\n") for line in lines)


def _keeps_lines(name: str, place: Path, draw: random.Random, budget: Budget) -> Outcome:
    from distsim.grammar.formats import FORMATS
    from distsim.signatures.recipe import PRESETS

    (place / "text").write_text("the town is a city . the city is a town .\n" * 30)
    d.CorpusIndex.build(
        [place / "text"], place / "index", options=d.IndexOptions(text_format="lines")
    )
    d.sign(d.CorpusIndex.open(place / "index"), recipe=PRESETS["thesis"])
    aligner = d.RuleAligner(training=d.TrainingOptions(aligner="evidence"))
    tables = [("sim_ngram", d.SignatureTable.open(place / "index"))]
    scorer = d.RuleScorer(tables, aligner=aligner)
    outcome = Outcome()
    for _ in range(-(-budget.lines // _BATCH)):
        lines = _batch(draw, _RULES if name == "rules" else _ENTRIES, _BATCH)
        _keep(outcome, lines, FORMATS[name], scorer, place)
        outcome.counts["lines"] += len(lines)
    return outcome


def _keep(outcome: Outcome, lines: list[bytes], known: Any, scorer: Any, place: Path) -> None:
    """Give a batch of lines to everything that keeps them."""
    from distsim.corpus.lines import LineBlock, split_lines
    from distsim.grammar.block import parse_block

    source, out, names = place / "in", place / "out", place / "paraphrases"
    text = b"".join(lines)
    source.write_bytes(text)
    block = parse_block(LineBlock(text, 1), known)
    outcome.check([block.line(k) for k in range(len(block))] == split_lines(text), "lines")
    for number in range(0, len(block), 5):
        same = _is_read_alike(block, number, known.name)
        outcome.check(same, f"two readers: {block.line(number)!r}")
    rest: dict[str, Any] = {"on_error": "keep", "grammar_format": known.name}
    ranking = d.Ranking({"x" if known.name == "rules" else "0": 1.0}, missing=0.0)
    d.rerank_grammar(source, out, ranking, **rest)
    outcome.check(_texts(split_lines(out.read_bytes())) == _texts(lines), "rerank")
    d.score_grammar(source, out, scorer, jobs=1, **rest)
    found = split_lines(out.read_bytes())
    starts = len(found) == len(lines) and all(
        a[:3] == b[:3] for a, b in zip(found, lines, strict=True)
    )
    outcome.check(starts, "score")
    options = d.PivotOptions(columns="conditional", max_translations=10)
    report = d.pivot_grammar(source, out, options=options, jobs=1, **rest)
    outcome.check(report.read + report.faulty.kept == len(lines), "pivot read")
    outcome.check(len(split_lines(out.read_bytes())) == report.written, "pivot wrote")
    if known.name == "phrase-table":
        names.write_text("unknown\t1\tthe town\t.5\nother\t1\ta\t.25\n")
        added = d.augment_phrase_table(source, names, out, on_error="keep")
        n_lines = len(split_lines(out.read_bytes()))
        outcome.check(n_lines == len(lines) + added.new_entries, "augment wrote")
        outcome.check(added.new_entries == added.expected, "augment")


def _is_read_alike(block: Any, number: int, known: str) -> bool:
    """Tell whether the reader of one line agrees with that of blocks."""
    from distsim.grammar.fields import LineFaultError, split_fields, tokens
    from distsim.grammar.formats.moses import PHRASE_TABLE
    from tests.naive.grammar import links_of_entry

    line, fault = block.line(number), block.fault(number)
    try:
        sides = [tuple(block.symbol(k) for k in side) for side in block.sides(number)]
        if known == "rules":
            return bool(fault) or [tuple(tokens(one)) for one in split_fields(line)[1:3]] == sides
        entry = PHRASE_TABLE.parse(line)
        links_of_entry(entry)
        text = block.feature_text(number).replace(b"\t", b" ")
        return not fault and entry.scores == [one for one in text.split(b" ") if one]
    except LineFaultError:
        return bool(fault) or block.links_of(number) == []


NAMES = (  # of readers, by kind: making them loads much, so they are named here too
    ("CoNLL-U", "toolkit", "trees", "CoNLL-U with trees", "counts", "text, lines", "text, running",
     "JSON lines", "CSV", "TSV", "HTML", "TEI", "TEI of words", "DocBook", "ALTO",
     "vertical", "subtitles", "CoNLL-U of an index", "unknown text", "known phrases"),
    ("TMX", "columns of pairs", "Pharaoh", "bitext", "links of a bitext", "trees of a bitext",
     "tags of a bitext"),
    ("phrases", "gold, tabs", "gold, commas", "gold, blanks",
      "vectors", "paraphrases", "ARPA", "weights of rewriting", "weights learned",
     "substitution", "grammar of substitution", "sentences to rewrite", "trees to rewrite by",
     "sentences to judge", "inflections", "opposites"),
    ("rerank", "pivot", "pack"),
)  # fmt: skip


def cases() -> list[Case]:
    """Return every reader, and the commands that keep invalid lines."""
    found = [
        Case(f"lines/{name}", partial(fuzz, kind, name), (), name in ("vectors", "paraphrases"))
        for kind, names in zip(KINDS, NAMES, strict=True)
        for name in names
    ]
    return found + [
        Case(f"lines/kept, {name}", partial(_keeps_lines, name), (), name == "rules")
        for name in ("rules", "phrase-table")
    ]
