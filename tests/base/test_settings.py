"""Settings: keys, values and TOML files; what is refused, and how."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import pytest

from distsim import PRESETS, Recipe, Selection
from distsim.base.errors import InputError, ParameterError
from distsim.base.settings import (
    SettingError,
    changed,
    keys,
    parse_changes,
    read_changes,
    settings_text,
)
from distsim.contexts import Weighting
from distsim.grammar.extraction.instances import PRESETS as EXTRACT_PRESETS
from distsim.indexes.build import IndexOptions
from distsim.paraphrase.paraphrasing_options import PRESETS as PARAPHRASE_PRESETS


@dataclass(frozen=True)
class One:
    name: ClassVar[str] = "one"
    a: int = 1


@dataclass(frozen=True)
class Two:
    name: ClassVar[str] = "two"
    b: float = 0.5


@dataclass(frozen=True)
class Everything:
    whole: int = 1
    seed: int = 1
    real: float = 1.0
    flag: bool = False
    text: str = "x"
    maybe: int | None = None
    word: Literal["this", "that"] = "this"
    words: tuple[str, ...] = ("a",)
    rows: tuple[tuple[int, float], ...] = ((1, 0.5),)
    named: Mapping[str, float] = field(default_factory=dict)
    model: One | Two = field(default_factory=One)
    inner: One | None = None


def set_to(*assignments: str) -> Everything:
    return changed([Everything()], parse_changes(assignments))[0]


def test_values_become_what_their_fields_hold():
    assert set_to("whole=-3", "real=.75", "flag=true", "text=a=b", "maybe=7", "word=that") == (
        Everything(whole=-3, real=0.75, flag=True, text="a=b", maybe=7, word="that")
    )
    assert set_to("words=a, b").words == ("a", "b")
    assert set_to('words=["a b", "c,d"]').words == ("a b", "c,d")
    assert set_to("rows=[[2, 1], [3, .5]]".replace(".5", "0.5")).rows == ((2, 1.0), (3, 0.5))
    assert set_to("named.p(e|f)=2", "named.a.b=-1").named == {"p(e|f)": 2.0, "a.b": -1.0}
    assert set_to("inner.a=4").inner == One(4)
    assert set_to("model.name=two", "model.b=2").model == Two(2.0)
    some = Everything(maybe=3, inner=One())
    assert changed([some], parse_changes(["maybe=none", "inner=none"])) == [Everything()]
    assert isinstance(set_to("real=2").real, float)
    assert set_to("seed=9000000000").seed == 9_000_000_000


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("whole=2.5", "whole: is '2.5', wanted a whole number"),
        ("whole=1_0", "whole: is '1_0', wanted a whole number"),
        ("whole=9000000000", "whole: is 9000000000, wanted at most 2,147,483,647"),
        ("real=nan", "real: is 'nan', wanted a number"),
        ("real=inf", "real: is 'inf', wanted a number"),
        ("flag=yes", "flag: is 'yes', wanted true or false"),
        ("word=these", "word: is 'these', wanted one of this, that"),
        ("whole=none", "whole: is 'none', wanted a whole number"),
        ("rows=1", "rows: is '1', wanted values in brackets, separated by commas"),
        ("rows=[[1]]", r"rows: is \[1\], wanted 2 values in brackets"),
        ("named=3", "named: is '3', wanted a key inside it, as in named.KEY=VALUE"),
        ("named.x=y", "named.x: is 'y', wanted a number"),
        ("inner=3", "inner: is '3', wanted none, or a key inside it, such as inner.a"),
        ("model=3", "model: is '3', wanted a key inside it, such as model.a"),
        ("model.name=three", "model.name: is 'three', wanted one of one, two"),
        ("model.b=3", r"model.b: no such setting: choose one of model.a$"),
        ("whole.x=3", "whole.x: no such setting: choose one of whole, seed"),
        ("other=3", "other: no such setting: choose one of whole, seed, .*, model.a, inner.a$"),
        ("other.a=3", "other.a: no such setting"),
        ("whole", "'whole': give KEY=VALUE"),
        ("=3", "'=3': give KEY=VALUE"),
        ("a..b=3", "give KEY=VALUE"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(assignment, message):
    with pytest.raises(SettingError, match=message):
        set_to(assignment)


def test_a_key_and_one_below_it_are_not_both_taken():
    for pair in (["a=1", "a.b=2"], ["a.b=2", "a=1"]):
        with pytest.raises(SettingError, match="give one of them"):
            parse_changes(pair)


def test_later_values_win_and_several_dataclasses_share_the_keys():
    changes = parse_changes(["min_count=3", "min_count=4", "weighting.scheme=log"])
    recipe, selection = changed([Recipe(), Selection()], changes)
    assert recipe == Recipe(weighting=Weighting("log")) and selection == Selection(min_count=4)
    with pytest.raises(ParameterError, match="`min_count` 0: choose 1 or more"):
        changed([Selection()], parse_changes(["min_count=0"]))


def read_settings(path, options):
    (found,) = changed([options], read_changes(path), str(path))
    return found


SETTINGS = [
    Everything(text='"\\\n', maybe=2, named={"p(e|f)": 1e-7}, model=Two(), inner=One(3)),
    Everything(words=(), rows=()),
    IndexOptions("text", shard_tokens=100),
    *PRESETS.values(),
    *EXTRACT_PRESETS.values(),
    *PARAPHRASE_PRESETS.values(),
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_what_is_written_is_read_again_whatever_it_is_read_over(settings, tmp_path):
    (tmp_path / "s.toml").write_text(settings_text(settings))
    for start in SETTINGS:
        if type(start) is type(settings) and not isinstance(start, Everything):
            assert read_settings(tmp_path / "s.toml", start) == settings
    assert read_settings(tmp_path / "s.toml", settings) == settings


def test_every_key_is_written():
    written = settings_text(Everything(inner=One()))
    for key in keys(Everything()):
        assert re.search(rf"^{key.rpartition('.')[2]} = ", written, re.M) or key == "named"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("whole = 1.5", "s.toml: whole: is 1.5, wanted a whole number"),
        ("flag = 1", "s.toml: flag: is 1, wanted true or false"),
        ('real = "1"', "s.toml: real: is '1', wanted a number"),
        ("real = inf", "s.toml: real: is inf, wanted a number"),
        ("text = 1", "s.toml: text: is 1, wanted a text"),
        ("[inner]\nb = 1", "s.toml: inner.b: no such setting: choose one of inner.a"),
        ("nothing = 1", "s.toml: nothing: no such setting"),
        ("words = [1]", "s.toml: words: is 1, wanted a text"),
    ],
)
def test_a_file_is_held_to_the_types_of_fields(text, message, tmp_path):
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(SettingError, match=message):
        read_settings(tmp_path / "s.toml", Everything())


def test_a_file_that_is_none(tmp_path):
    (tmp_path / "s.toml").write_text("a = = 1")
    with pytest.raises(InputError, match=r"s.toml: is no TOML \(.*line 1"):
        read_settings(tmp_path / "s.toml", One())
    (tmp_path / "s.toml").write_bytes(b"\xff")
    with pytest.raises(InputError, match="s.toml: is no TOML"):
        read_settings(tmp_path / "s.toml", One())
    with pytest.raises(InputError, match="none.toml: No such file"):
        read_settings(tmp_path / "none.toml", One())
