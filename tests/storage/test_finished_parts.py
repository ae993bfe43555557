"""Notes on finished parts of runs."""

import pytest

from distsim.storage import FinishedPart, FinishedTasks


def test_a_part_is_there_while_its_key_and_files_are_the_same(tmp_path):
    part = tmp_path / "part"
    part.mkdir()
    (part / "a").write_text("1")
    (part / "b").write_text("2")
    noted = FinishedPart.of("key", part, lines=["two files"])
    assert FinishedPart.read(noted.note) == noted
    assert noted.is_there(part, "key") and not noted.is_there(part, "other")
    (part / "a").write_text("3")
    (part / "b").unlink()
    assert list(noted.faults(part)) == [f"{part / 'a'} is damaged", f"{part / 'b'} is missing"]
    assert not noted.is_there(part, "key")


def test_a_file_is_a_part(tmp_path):
    (tmp_path / "rules").write_text("x")
    noted = FinishedPart.of("key", tmp_path / "rules")
    assert list(noted.files) == ["."] and noted.is_there(tmp_path / "rules", "key")


@pytest.mark.parametrize(
    "note", [None, {}, {"key": "k", "files": {}}, {"key": 1, "files": {"": ""}}]
)
def test_what_is_no_note_is_refused(note):
    with pytest.raises(ValueError):  # nobody sees its message
        FinishedPart.read(note)


def test_reports_of_tasks_come_in_order(tmp_path):
    tasks = FinishedTasks(tmp_path)
    for number in (10, 2):
        tasks.note("count", number, {"words": number})
    tasks.note("count-words", 0, {"words": 0})
    assert tasks.reports("count") == [{"words": 2}, {"words": 10}]
    assert tasks.has("count", 2) and not tasks.has("count", 3)
