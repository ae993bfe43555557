"""Phrase tables for Moses, in both directions, by Moses' own definitions."""

import random
import re
from collections import Counter, defaultdict

import pytest

from distsim import ParameterError
from distsim.bitext.bitext_builder import Given, build_bitext
from distsim.grammar import ExtractOptions, extract_phrase_table
from distsim.grammar.extraction.features import sorted_lines
from distsim.grammar.formats.moses import PHRASE_TABLE
from distsim.paraphrase.unknown_words.words import KnownWords

_LINE = re.compile(  # of Moses' manual, "Phrase table": three scores fields, all else optional
    r"(?P<f>\S+(?: \S+)*) \|\|\| (?P<e>\S+(?: \S+)*) \|\|\| (?P<scores>[\d.e+-]+(?: [\d.e+-]+){3})"
    r" \|\|\| (?P<links>\d+-\d+(?: \d+-\d+)*) \|\|\| (?P<counts>\d+ \d+ \d+) \|\|\|"
)


def drawn(seed: int, n: int = 40):
    """Return sentence pairs of few words with random links."""
    rng = random.Random(seed)
    pairs = []
    for _ in range(n):
        e = [f"e{rng.randint(0, 5)}" for _ in range(rng.randint(1, 7))]
        f = [f"f{rng.randint(0, 5)}" for _ in range(rng.randint(1, 7))]
        links = {(i, j) for i in range(len(e)) for j in range(len(f)) if rng.random() < 0.2}
        pairs.append((e, f, links))
    return pairs


def bitext_of(pairs, folder):
    for name, lines in {
        "e": [" ".join(e) for e, _, _ in pairs],
        "f": [" ".join(f) for _, f, _ in pairs],
        "links": [" ".join(f"{i}-{j}" for i, j in sorted(links)) for _, _, links in pairs],
    }.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return build_bitext(
        folder / "e", folder / "f", folder / "bitext", given=Given(folder / "links")
    )


def read(path):
    """Return the lines of a table by sides, read by Moses' own description of the format."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [_LINE.fullmatch(line) for line in lines]
    assert all(found) and lines == sorted(lines, key=str.encode)
    return {
        (one["f"], one["e"]): (
            [float(score) for score in one["scores"].split()],
            [tuple(map(int, link.split("-"))) for link in one["links"].split()],
            tuple(map(int, one["counts"].split())),
        )
        for one in found
        if one
    }


def naive(pairs, longest):
    """Return joint counts and word counts of Moses' extraction; source is the first side here."""
    joint, words = Counter(), Counter()
    for source, target, links in pairs:
        words.update((source[i], target[j]) for i, j in links)
        words.update((word, "") for i, word in enumerate(source) if i not in {a for a, _ in links})
        words.update(("", word) for j, word in enumerate(target) if j not in {b for _, b in links})
        for a in range(len(source)):
            for b in range(a + 1, min(len(source), a + longest) + 1):
                for c in range(len(target)):
                    for d in range(c + 1, min(len(target), c + longest) + 1):
                        inside = [(i, j) for i, j in links if a <= i < b or c <= j < d]
                        if inside and all(a <= i < b and c <= j < d for i, j in inside):
                            joint[" ".join(source[a:b]), " ".join(target[c:d])] += 1
    return joint, words


def lexical(froms, tos, links, words, at):
    """Return the product over `tos` of the mean w(to | its partners), at: the place of `from`."""
    totals = defaultdict(int)
    for pair, n in words.items():
        totals[pair[at]] += n
    product = 1.0
    for number, word in enumerate(tos):
        partners = [froms[link[at]] for link in links if link[1 - at] == number] or [""]
        pairs = [(other, word) if at == 0 else (word, other) for other in partners]
        product *= sum(
            words[pair] / totals[pair[at]] if totals[pair[at]] else 0 for pair in pairs
        ) / len(partners)
    return product


@pytest.mark.parametrize(("seed", "target"), [(0, "first"), (1, "second"), (2, "second")])
def test_scores_are_those_of_the_definition(tmp_path, seed, target):
    pairs = drawn(seed)
    bitext_of(pairs, tmp_path)
    options = ExtractOptions(longest=4, most_symbols=4, most_gaps=0, loose=True, whole=False)
    extract_phrase_table([tmp_path / "bitext"], tmp_path / "table", target=target, options=options)
    if target == "first":
        pairs = [(f, e, {(j, i) for i, j in links}) for e, f, links in pairs]
    joint, words = naive(pairs, 4)
    table = read(tmp_path / "table")
    assert table.keys() == joint.keys() and len(table) > 50
    sources, targets = Counter(), Counter()
    for (f, e), n in joint.items():
        sources[f] += n
        targets[e] += n
    for (f, e), (scores, links, counts) in table.items():
        n = joint[f, e]
        assert counts == (targets[e], sources[f], n)
        wanted = [
            n / targets[e], lexical(e.split(), f.split(), links, words, 1),
            n / sources[f], lexical(f.split(), e.split(), links, words, 0),
        ]  # fmt: skip
        assert scores == pytest.approx(wanted, rel=1e-4, abs=1e-6), (f, e)


def test_separators_are_escaped_and_other_marks_are_not(tmp_path):
    bitext_of([(["a|b", "[c]", "l'"], ["x|y", "[z", "l'"], {(0, 0), (1, 1), (2, 2)})], tmp_path)
    extract_phrase_table([tmp_path / "bitext"], tmp_path / "table", target="second")
    table = read(tmp_path / "table")
    assert ("a&#124;b &#91;c&#93;", "x&#124;y &#91;z") in table
    known = KnownWords()
    for line in (tmp_path / "table").read_bytes().splitlines(keepends=True):
        known.add(PHRASE_TABLE.parse(line))
    assert known.escape("d'[") == "d'&#91;"  # as the table has them


def test_what_memory_does_not_hold_is_merged(tmp_path):
    rng = random.Random(4)
    blocks = [[b"%d\n" % rng.randint(0, 999) for _ in range(rng.randint(0, 9))] for _ in range(50)]
    every = sorted(line for block in blocks for line in block)
    for memory in (1, 900, 1 << 20):
        assert list(sorted_lines(blocks, tmp_path, memory)) == every


def test_the_command_writes_tables_in_both_directions(tmp_path, run):
    bitext_of(drawn(5), tmp_path)
    table = tmp_path / "table.gz"
    run("extract", tmp_path / "bitext", "--format", "moses", "--target", "second", "-o", table)
    out, _ = run("extract", tmp_path / "bitext", "--format", "moses")
    assert out.startswith("f0 ") and out.splitlines() == sorted(out.splitlines())
    for given in (["--target", "second"], ["--format", "moses", "--features", "p(e|f)"]):
        run("extract", tmp_path / "bitext", *given, status=2)
    _, err = run("extract", tmp_path / "bitext", "--format", "moses", "--preset", "hiero", status=1)
    assert "neither gaps nor labels" in err
    with pytest.raises(ParameterError, match="gaps"):
        extract_phrase_table([tmp_path / "bitext"], tmp_path / "no", options=ExtractOptions())
