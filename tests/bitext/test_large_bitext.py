"""The large bitexts of the benchmarks: copies in which linked words are changed together."""

import lzma
import os
import re
import shutil

import numpy as np
import pytest

from bench import bitext_growth, large_bitext
from bench.growth import Figures, bytes_of
from bench.large_bitext import LargeBitext, real_pairs
from distsim import build_bitext
from distsim.bitext.bitext_builder import Given

N_PAIRS = 300


@pytest.fixture(scope="module")
def bitext(tmp_path_factory):
    """Pairs of which each French word is the English one with an f before it, back to front."""
    folder = tmp_path_factory.mktemp("large")
    draw = np.random.default_rng(3)
    rows = [[f"w{k}" for k in draw.zipf(1.5, draw.integers(3, 12)) % 400] for _ in range(N_PAIRS)]
    (folder / "en").write_text("".join(f"{' '.join(row)} .\n" for row in rows))
    (folder / "fr").write_text(
        "".join(f"{' '.join('f' + w for w in row[::-1])} .\n" for row in rows)
    )
    links = (" ".join(f"{i}-{len(row) - 1 - i}" for i in range(len(row))) for row in rows)
    (folder / "links").write_text("".join(f"{line}\n" for line in links))
    return build_bitext(
        folder / "en", folder / "fr", folder / "bitext", given=Given(links=folder / "links")
    )


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(large_bitext, "PAIRS_AT_ONCE", 64)


def texts(bitext, n_pairs):
    return [
        b"".join(part).decode() for part in zip(*LargeBitext(bitext).blocks(n_pairs), strict=True)
    ]


def test_fewer_pairs_are_the_first_of_more(bitext):
    whole = [text.splitlines(keepends=True) for text in texts(bitext, 4 * N_PAIRS)]
    assert [len(lines) for lines in whole] == [4 * N_PAIRS] * 3
    for n in (1, 63, 64, 65, N_PAIRS, N_PAIRS + 1, 2 * N_PAIRS + 100):
        assert texts(bitext, n) == ["".join(lines[:n]) for lines in whole]


def test_the_first_copy_is_the_bitext(bitext):
    english, french, _ = (text.splitlines() for text in texts(bitext, N_PAIRS))
    assert [line.split() for line in english] == [bitext.english.words(k) for k in range(N_PAIRS)]
    assert [line.split() for line in french] == [bitext.other.words(k) for k in range(N_PAIRS)]


def test_linked_words_are_changed_together_one_in_seven(bitext):
    n_copies = 20
    large = LargeBitext(bitext)
    parts = [
        b"".join(part).decode() for part in zip(*large.blocks(n_copies * N_PAIRS), strict=True)
    ]
    english, french, links = (text.splitlines() for text in parts)
    n_changed = n_words = 0
    for number in range(N_PAIRS, n_copies * N_PAIRS):
        sides = english[number].split(), french[number].split()
        for i, j in (map(int, link.split("-")) for link in links[number].split()):
            roots = [re.sub(r"x\d+$", "", word) for word in (sides[0][i], sides[1][j])]
            assert roots[1] == f"f{roots[0]}"
        first = english[number % N_PAIRS].split()
        n_changed += sum(a != b for a, b in zip(sides[0], first, strict=True))
        n_words += len(first)
    same_again = sum(
        (np.unique(large.words[0].ids, return_counts=True)[1] / n_words * n_copies) ** 2
    )
    assert n_changed / n_words == pytest.approx((1 - same_again) / 7, rel=0.1)
    for text, words in zip(parts, large.words, strict=False):
        n_tokens = sum(map(len, map(str.split, text.splitlines()))) + n_copies * N_PAIRS
        size = words.n_words * (n_tokens / words.ids.size) ** words.exponent
        assert len({*text.split()}) == pytest.approx(size, rel=0.05)


def test_real_pairs_are_english_first_and_in_a_fixed_order(tmp_path):
    lines = {"en": ["it &apos;s", "two  words", "three"], "fr": ["c &apos;est", "deux", "trois"]}
    for number, names in enumerate(large_bitext.TEXTS):
        for name, language in zip(names, ("en", "fr"), strict=False):
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            own = [f"{line} {number}\n" for line in lines[language]]
            if len(names) == 1:
                own = [
                    f"{fr} {number} ||| {en} {number}\n"
                    for en, fr in zip(*lines.values(), strict=True)
                ]
            text = "".join(own).encode()
            path.write_bytes(lzma.compress(text) if path.suffix == ".xz" else text)
    pairs = real_pairs(tmp_path)
    assert pairs == real_pairs(tmp_path) != sorted(pairs)
    expected = {("it 's", "c 'est"), ("two words", "deux"), ("three", "trois")}
    assert sorted(pairs) == sorted(
        (f"{en} {number}", f"{fr} {number}") for number in range(4) for en, fr in expected
    )


def test_bytes_of_a_folder_whose_files_go_meanwhile(tmp_path, monkeypatch):
    for name in ("a/1", "a/b/2", "signatures/3"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"xx")
    assert bytes_of(tmp_path) == 6 and bytes_of(tmp_path, "signatures") == 4
    assert bytes_of(tmp_path / "a/1") == 2 and bytes_of(tmp_path / "no") == 0
    walk = os.walk

    def walked(path):
        for folder, folders, files in walk(path):
            yield folder, folders, files
            shutil.rmtree(tmp_path / "a", ignore_errors=True)

    monkeypatch.setattr("os.walk", walked)
    assert bytes_of(tmp_path) == 2


def test_two_runs_keep_figures_in_one_folder(tmp_path):
    runs = Figures(tmp_path), Figures(tmp_path)
    for number in (0, 1, 0):
        runs[number].add(str(number), pairs=number)
    assert Figures(tmp_path).sizes == {"0": {"pairs": 0}, "1": {"pairs": 1}}


def test_a_stage_with_figures_is_not_measured_again(tmp_path, bitext):
    output = tmp_path / "rules"
    command = ["extract", bitext.artifact.path, "--preset", "phrases", "--numeric", output]
    figures = Figures(tmp_path)
    figures.add("300", pairs=N_PAIRS)
    figures.measure("300", "extract --preset phrases", command, output)
    again = Figures(tmp_path)
    again.measure("300", "extract --preset phrases", ["no", "such", "command"], output)
    assert again.sizes == figures.sizes
    cost = again.sizes["300"]["extract --preset phrases"]
    assert 0 < cost["own"] < cost["peak"] and cost["disk"] >= cost["bytes"] > 0
    table = bitext_growth.rows(again.sizes)
    assert [row[0] for row in table][:2] == ["`extract --preset phrases`", "its own memory"]
    assert re.search(r", [\d,]+ rules with 1 label written$", table[-1][1])
