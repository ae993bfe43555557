"""What long work will take is told before it begins."""

from distsim.cli import console, costs
from distsim.cli.index import _read_and_sorted


def test_only_large_texts_are_worth_telling(capsys, tmp_path):
    costs.say_cost(49_999_999, [costs.SIGN], 1)
    assert capsys.readouterr().err == ""
    costs.say_cost(1_000_000_000, [costs.SIGN, costs.FINDER], 2)
    said = capsys.readouterr().err
    assert said.startswith("about 1,000 million tokens: 13 minutes of CPU time on 2 cores, 4.6 GB")


def test_what_aligning_takes_is_told_of_large_texts(run, tmp_path, monkeypatch):
    text, links = tmp_path / "en", tmp_path / "links"
    text.write_text("the house\n" * 112)
    (tmp_path / "de").write_text("das haus\n" * 112)
    links.write_text("0-0 1-1\n" * 112)
    pair = ("align", text, tmp_path / "de", "-o", tmp_path / "bitext", "-j", 1)
    assert "minutes of CPU" not in run(*pair)[1]
    monkeypatch.setattr("distsim.cli.align.tokens_in", lambda paths: 100_000_000)
    said = "about 100 million tokens: 45 minutes of CPU time on 1 core, 1.2 GB of disk and 6 GB of"
    assert said in run(*pair)[1]
    faster = run(*pair, "--set", "samplers=1", "--set", "iterations=.5")[1]
    assert said.replace("45", "8") in faster  # a sixth
    assert "minutes of CPU" not in run(*pair, "--links", links)[1]


def test_tokens_by_the_size_of_files(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"x" * 5600)
    (tmp_path / "a.txt.gz").write_bytes(b"x" * 5600)
    assert costs.tokens_in([str(tmp_path / "a.txt")]) == 1000
    names = [str(tmp_path / one) for one in ("a.txt", "a.txt.gz", "no", ".")]
    assert costs.tokens_in(names) == 3600


def test_lines_by_the_size_of_a_file(tmp_path):
    (tmp_path / "rules").write_bytes(b"x" * 99 + b"\n" + b"y" * 99 + b"\n")
    assert costs.lines_in(str(tmp_path / "rules")) == 2
    assert costs.lines_in("-") is None


def test_the_time_left_is_that_of_the_rest_at_the_pace_so_far(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with console.progress_bar("tokens", expected=300) as bar:
        bar("reading", 0, None)
        now[0] += 20
        bar("reading", 100, None)
        left = bar._progress.tasks[0].fields["left"]
        assert str(left) == "0:00:40 left"
        now[0] += 30
        assert str(left) == "0:00:10 left"
        now[0] += 10
        assert str(left) == ""
        bar("sorting", 5, 10)
        now[0] += 10
        bar("sorting", 9, 10)
        assert str(bar._progress.tasks[1].fields["left"]) == "0:00:02 left"


def test_building_counts_a_token_when_it_is_read_and_sorted():
    told = []
    progress = _read_and_sorted(lambda stage, done, total: told.append(done), 30)
    for stage, done in (("reading", 60), ("sorting", 90), ("reading", 120), ("sorting", 150)):
        progress(stage, done, None)
    assert told == [40, 50, 100, 110]
