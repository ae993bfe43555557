"""Forms for judges, their agreement, and the baselines of compression, against slow twins."""

import csv
import itertools
import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

from distsim.base.errors import InputError, ParameterError
from distsim.evaluation.correlations import alpha, weighted_kappa
from distsim.evaluation.judging import read_forms, write_forms
from distsim.evaluation.rewritings import System, edit_distance, integer_compression, reordered

PROJECT = Path(__file__).parents[2]
SOURCES = [f"the old king number {n} slept in his chair ." for n in range(12)]
MINE = System("mine", [one.replace("old ", "") for one in SOURCES])
PERSON = System("person", [one.replace("slept", "was asleep") for one in SOURCES])


def lines_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def judged(folder, name, mark):
    """Write a copy of a sheet whose marks are those of a function of the output."""
    rows = lines_of(folder / "judge.csv")
    for row in rows:
        row["meaning"], row["grammar"] = mark(row)
    with (folder / name).open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return folder / name


def by_words(row):
    if "zzqq" in row["output"]:
        return 1, 1
    if row["output"] == row["source"]:
        return 5, 5
    return (4, 5) if row["output"] in MINE.sentences else (3, 2)


def test_forms_hide_systems_and_have_controls(tmp_path):
    n = write_forms(SOURCES, [MINE, PERSON], tmp_path / "forms")
    rows, key = lines_of(tmp_path / "forms/judge.csv"), lines_of(tmp_path / "forms/key.csv")
    assert [row["id"] for row in rows] == [row["id"] for row in key] == [*map(str, range(1, n + 1))]
    counts = dict.fromkeys(("mine", "person", "copy", "nonsense", "deletion"), 0)
    for row, of in zip(rows, key, strict=True):
        assert set(row) == {"id", "source", "output", "meaning", "grammar"}
        for name in of["systems"].split(";"):
            counts[name] += 1
        if "deletion" in of["systems"]:
            assert len(row["output"].split()) == len(row["source"].split()) - 1
    assert counts == {"mine": 12, "person": 12, "copy": 3, "nonsense": 3, "deletion": 12}
    assert [row["source"] for row in rows] != sorted(row["source"] for row in rows)
    page = (tmp_path / "forms/judge.html").read_text()
    shown = json.loads(re.search(r'id="items">(.*?)</script>', page)[1])
    assert [row[2] for row in shown["rows"]] == [row["output"] for row in rows]
    assert "nonsense" not in page
    with pytest.raises(InputError, match="has forms already"):
        write_forms(SOURCES, [MINE], tmp_path / "forms")


def test_a_page_cannot_be_left_by_its_text(tmp_path):
    write_forms(["a </script><b>"], [System("x", ['"$name"'])], tmp_path / "forms")
    page = (tmp_path / "forms/judge.html").read_text()
    assert page.count("</script>") == 2
    assert '\\"$name\\"' in page


def test_marks_are_read_back_by_system(tmp_path):
    folder = tmp_path / "forms"
    write_forms(SOURCES, [MINE, PERSON], folder)
    sheets = [judged(folder, "a.csv", by_words), judged(folder, "b.csv", by_words)]
    found = read_forms(folder / "key.csv", sheets)
    means = {(row.system, row.question): (row.n, row.mean) for row in found.rows}
    assert means["mine", "meaning"] == (12, 4)
    assert means["person", "meaning"] == (12, 3)
    assert means["copy", "grammar"] == (3, 5)
    assert means["nonsense", "meaning"] == (3, 1)
    assert [(one.question, one.alpha, one.kappa) for one in found.agreement] == [
        ("meaning", 1, 1), ("grammar", 1, 1)
    ]  # fmt: skip
    assert not found.doubtful
    careless = judged(folder, "c.csv", lambda row: (3, ""))
    found = read_forms(folder / "key.csv", [*sheets, careless])
    assert found.doubtful == [str(careless)]
    assert found.agreement[0].alpha < 1
    means = {(row.system, row.question): row.mean for row in found.rows}
    assert means["mine", "meaning"] == pytest.approx((4 + 4 + 3) / 3)
    assert means["mine", "grammar"] == 5  # the third judge wrote nothing


def test_differences_from_a_baseline_are_by_source(tmp_path):
    folder = tmp_path / "forms"
    write_forms(SOURCES, [MINE, PERSON], folder)
    harder = {one: number % 2 for number, one in enumerate(SOURCES)}

    def mark(row):
        of_mine, less = row["output"] in MINE.sentences, harder[row["source"]]
        return (5 - less if of_mine else 4 - less), ("" if of_mine and less else 3)

    sheet = judged(folder, "a.csv", mark)
    read = read_forms(folder / "key.csv", [sheet], baseline="person")
    rows = {(row.system, row.question): row for row in read.rows}
    assert rows["mine", "meaning"].difference == (1, 1, 1)  # of each source
    assert rows["mine", "meaning"].high - rows["mine", "meaning"].low > 0.3
    assert rows["mine", "grammar"].difference == (0, 0, 0)
    assert rows["person", "meaning"].difference == (0, 0, 0)
    assert read_forms(folder / "key.csv", [sheet]).rows[0].difference == ()
    with pytest.raises(ParameterError, match="baseline.*'nobody'"):
        read_forms(folder / "key.csv", [sheet], baseline="nobody")


def test_sheets_may_have_tabs(tmp_path, run):
    folder = tmp_path / "forms"
    sources = ['" he said " at first', *SOURCES]  # a quotation mark begins a cell
    write_forms(sources, [System("mine", [one[:-2] for one in sources])], folder)
    sheet = judged(folder, "a.csv", by_words)
    tabs = folder / "a.tsv"
    tabs.write_text("".join("\t".join(row.values()) + "\n" for row in [
        dict(zip(lines_of(sheet)[0], lines_of(sheet)[0], strict=True)), *lines_of(sheet)
    ]))  # fmt: skip
    key = folder / "key.csv"
    with_tabs = folder / "key.tsv"
    with_tabs.write_text(key.read_text().replace(",", "\t"))
    assert read_forms(with_tabs, [tabs]).rows == read_forms(key, [sheet]).rows
    out, _ = run("judge", "read", with_tabs, tabs, "--baseline", "copy", "--header")
    assert out.splitlines()[0].split("\t")[-3:] == [
        "difference", "difference_low", "difference_high"
    ]  # fmt: skip


def test_sheets_may_have_ids_and_marks_alone(tmp_path, run):
    folder = tmp_path / "forms"
    twice = [*SOURCES, SOURCES[0]]  # one source, for intervals and differences
    systems = [System(one.name, [*one.sentences, one.sentences[0]]) for one in (MINE, PERSON)]
    write_forms(twice, systems, folder)
    sheet = judged(folder, "a.csv", by_words)
    marks = ["id;grammar;meaning"]
    marks += [f"{row['id']};{row['grammar']};{row['meaning']}" for row in lines_of(sheet)]
    marks[1:] = marks[:0:-1]
    (folder / "marks.csv").write_text("\n".join(marks))
    (folder / "judge.csv").unlink()  # the key is enough
    for baseline in (None, "person"):
        given = [
            read_forms(folder / "key.csv", [path], baseline=baseline)
            for path in (sheet, folder / "marks.csv")
        ]
        assert given[0].rows == given[1].rows
    older = folder / "older.csv"
    older.write_text("".join(
        f"{row['id']},{row['systems']}\n"
        for row in [{"id": "id", "systems": "systems"}, *lines_of(folder / "key.csv")]
    ))  # fmt: skip
    assert read_forms(older, [sheet], baseline="person").rows == given[0].rows
    both = [folder / "marks.csv", sheet]
    assert read_forms(older, both, baseline="person").rows == given[0].rows
    _, err = run("judge", "read", older, folder / "marks.csv", status=1)
    assert "has no sources, nor has any sheet: give a sheet with the column source" in err


def test_figures_of_read_simplifications_are_those_of_the_kept_marks():
    folder = PROJECT / "bench" / "rewriting" / "simplified"
    sheets = [folder / f"reader-{name}.tsv" for name in "ab"]
    judged = read_forms(folder / "key.csv", sheets, baseline="pivot")
    page = (PROJECT / "docs" / "papers.md").read_text("utf-8")
    report = (PROJECT / "bench" / "README.md").read_text("utf-8")

    def shown(value):
        return f"{value:+.2f}".replace("0.", ".")

    for row in judged.rows:
        if row.system == "similarity":
            gap, low, high = map(shown, row.difference)
            assert f"{gap} ({low} to {high})" in report
            assert f"{gap} ({low} to {high})" in page or f"({gap}, {low} to {high})" in page
            means = [
                next(one.mean for one in read_forms(folder / "key.csv", [sheet]).rows
                     if one[:2] == row[:2])
                for sheet in sheets
            ]  # fmt: skip
            assert " and ".join(f"{mean:.2f}" for mean in means) in page
    assert [f"{one.kappa:.2f}" for one in judged.agreement] == ["0.93", "0.98"]
    assert "kappa .93 and .98" in report


def test_wrong_sheets_are_told(tmp_path, run):
    for name, texts in (("source", SOURCES), ("mine", MINE.sentences)):
        (tmp_path / name).write_text("".join(f"{one}\n" for one in texts))
    folder = tmp_path / "forms"
    _, err = run("judge", "forms", tmp_path / "source", tmp_path / "mine", "-o", folder)
    assert "lines to judge" in err
    sheet = judged(folder, "a.csv", by_words)
    out, err = run("judge", "read", folder / "key.csv", sheet, sheet)
    rows = [line.split("\t") for line in out.splitlines()]
    assert ["mine", "meaning", "12", *["4.000000"] * 3] in rows
    assert "meaning: alpha 1.000, kappa 1.000, " in err
    text = sheet.read_text()
    wrong = folder / "wrong.csv"
    for changed, message in (
        (text.replace(",4,5", ",6,5"), "meaning '6': write 1 to 5"),
        ("\n".join(text.splitlines()[:-1]), "ids, the key has"),
        ("a,b\n", "columns id wanted: give judge.csv"),
        ("id,source,output\n1,a,b\n", "no column is meaning, grammar, rating"),
        (text + text.splitlines()[1] + "\n", "id 1 has a line already"),
    ):
        wrong.write_text(changed)
        _, err = run("judge", "read", folder / "key.csv", wrong, status=1)
        assert message in err
    _, err = run("judge", "read", sheet, sheet, status=1)
    assert "columns id, systems wanted: give key.csv" in err
    for more, message in ((["--questions", "taste"], "taste"), (["--set", "seed=-1"], "seed")):
        _, err = run("judge", "forms", tmp_path / "source", tmp_path / "mine", "-o", tmp_path / "x",
                     *more, status=1)  # fmt: skip
        assert message in err
    with pytest.raises(ParameterError, match="give names that differ"):
        write_forms(SOURCES, [System("copy", SOURCES)], tmp_path / "y")


def test_alpha_is_that_of_krippendorff_2011():
    told = """
        1 2 3 3 2 1 4 1 2 . . .
        1 2 3 3 2 2 4 1 2 5 . 3
        . 3 3 3 2 3 4 2 2 5 1 .
        1 2 3 3 2 4 4 1 2 5 1 .
    """
    rows = [line.split() for line in told.split("\n") if line.strip()]
    marks = np.array([[np.nan if one == "." else float(one) for one in row] for row in rows])
    assert alpha(marks) == pytest.approx(0.815, abs=5e-4)
    assert np.isnan(alpha(np.full((2, 3), 4.0)))
    assert np.isnan(alpha(np.array([[1.0, np.nan], [np.nan, 2.0]])))


@pytest.mark.parametrize("seed", range(4))
def test_kappa_is_that_of_its_table(seed):
    draw = np.random.default_rng(seed)
    a, b = draw.integers(1, 6, (2, 30)).astype(float)
    marks = range(1, 6)
    seen = sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) / 30
    chance = sum(
        (i - j) ** 2 * np.mean(a == i) * np.mean(b == j) for i, j in itertools.product(marks, marks)
    )
    assert weighted_kappa(a, b) == pytest.approx(1 - seen / chance)


@pytest.mark.parametrize("seed", range(20))
def test_the_integer_programme_finds_the_best_of_all_compressions(seed):
    draw = random.Random(seed)
    n = draw.randint(3, 8)
    tokens, words = [draw.choice("abcde") for _ in range(n)], draw.randint(1, n)
    known = {}
    worth = [3 * draw.random() for _ in tokens]
    heads = [draw.randrange(-1, i) if i else -1 for i in range(n)] if seed % 2 else None

    def trigram(*three):
        return known.setdefault(three, -5 * draw.random())

    def score(kept):
        padded = ["<s>", "<s>", *(tokens[i] for i in kept), "</s>"]
        gain = sum(trigram(*padded[k : k + 3]) for k in range(len(padded) - 2))
        return gain + sum(worth[i] for i in kept)

    every = itertools.combinations(range(n), words)
    allowed = [k for k in every if heads is None or all(heads[i] in (-1, *k) for i in k)]
    best = [tokens[i] for i in max(allowed, key=score)]
    assert integer_compression(tokens, words, trigram, significance=worth, heads=heads) == best


@pytest.mark.parametrize("seed", range(10))
def test_edits_and_moves_are_those_of_their_definition(seed):
    draw = random.Random(seed)
    a, b = ([draw.choice("abcd") for _ in range(draw.randint(0, 6))] for _ in range(2))

    def slow(x, y):
        if not x or not y:
            return len(x) + len(y)
        return min(slow(x[1:], y) + 1, slow(x, y[1:]) + 1, slow(x[1:], y[1:]) + (x[0] != y[0]))

    assert edit_distance(a, b) == slow(a, b)
    turned = draw.sample("abcdef", 6)
    pairs = [p for p in itertools.combinations("abcdef", 2)
             if turned.index(p[0]) > turned.index(p[1])]  # fmt: skip
    assert reordered("abcdef", turned) == (len(pairs), 15)


@pytest.mark.extra
def test_the_page_is_filled_and_saved_in_a_browser_and_read_back(tmp_path):
    from tests.server.test_browser import browser_of, wait

    write_forms(SOURCES[:3], [MINE._replace(sentences=MINE.sentences[:3])], tmp_path / "forms")
    rows = lines_of(tmp_path / "forms/judge.csv")
    browser = browser_of()
    try:
        browser.execute_cdp_cmd(
            "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
        )
        browser.get((tmp_path / "forms/judge.html").as_uri())
        for row in rows:
            for name, mark in zip(("meaning", "grammar"), by_words(row), strict=True):
                field = f'input[name="{name} {row["id"]}"][value="{mark}"]'
                browser.execute_script("document.querySelector(arguments[0]).click()", field)
        assert browser.find_element("id", "left").text == "0 left"
        browser.refresh()  # what was marked is kept
        assert browser.find_element("id", "left").text == "0 left"
        browser.find_element("id", "save").click()
        saved = wait(browser, lambda _: next(tmp_path.glob("judged.csv"), None))
    finally:
        browser.quit()
    for row in rows:
        row["meaning"], row["grammar"] = map(str, by_words(row))
    assert lines_of(saved) == rows
    read = read_forms(tmp_path / "forms/key.csv", [saved])
    by_hand = read_forms(tmp_path / "forms/key.csv", [judged(tmp_path / "forms", "ann", by_words)])
    assert (read.rows, read.doubtful) == (by_hand.rows, by_hand.doubtful)
