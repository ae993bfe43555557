"""What long work will take is told before it begins."""

from distsim.cli import costs


def test_only_large_texts_are_worth_telling(capsys, tmp_path):
    costs.say_cost(49_999_999, [costs.SIGN], 1)
    assert capsys.readouterr().err == ""
    costs.say_cost(1_000_000_000, [costs.SIGN, costs.FINDER], 2)
    said = capsys.readouterr().err
    assert said.startswith("about 1,000 million tokens: 17 minutes of CPU time on 2 cores, 4.9 GB")


def test_tokens_by_the_size_of_files(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"x" * 5600)
    (tmp_path / "a.txt.gz").write_bytes(b"x" * 5600)
    assert costs.tokens_in([str(tmp_path / "a.txt")]) == 1000
    names = [str(tmp_path / one) for one in ("a.txt", "a.txt.gz", "no", ".")]
    assert costs.tokens_in(names) == 3600
