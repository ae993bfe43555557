"""Inflections of the languages that ship, and the language of a text."""

import tracemalloc

import numpy as np
import pytest

from distsim import CorpusIndex, IndexOptions
from distsim.base.errors import ParameterError
from distsim.corpus.inflections import OF_LANGUAGE, Inflections, base_words, language_of
from distsim.corpus.vocabulary import hash_texts

GERMAN = """Der alte Mann ging durch den Wald und sah die Vögel. Er hatte das Haus verlassen, weil
es ihm zu still war. Die Kinder spielten im Garten, und die Mutter rief sie zu sich. Es
war nicht weit bis zu dem Dorf."""
SPANISH = """El viejo salió de la casa y vio los pájaros en el árbol. Los niños jugaban en el jardín
con su madre, que no quería que se fueran por el camino de la montaña."""
FRENCH = """Le vieil homme sortit de la maison et vit les oiseaux dans un arbre. Il ne voulait pas
que les enfants jouent avec son chien dans le jardin de la voisine."""
ENGLISH = "The old man went out of the house and saw the birds. He did not know that it was late."


@pytest.mark.parametrize(
    ("language", "form", "base"),
    [
        ("german", "häuser", "haus"),
        ("german", "vögel", "vogel"),
        ("german", "mütter", "mutter"),
        ("german", "größer", "groß"),
        ("german", "gemacht", "machen"),
        ("german", "aufgemacht", "aufmachen"),
        ("german", "aufzumachen", "aufmachen"),
        ("german", "aufgestanden", "aufstehen"),
        ("german", "verstand", "verstehen"),
        ("german", "verbunden", "verbinden"),
        ("german", "gewandelt", "wandeln"),
        ("german", "ließ", "lassen"),
        ("german", "freundinnen", "freundin"),
        ("spanish", "luces", "luz"),
        ("spanish", "busqué", "buscar"),
        ("spanish", "mantuvo", "mantener"),
        ("spanish", "deshecho", "deshacer"),
        ("spanish", "encuentran", "encontrar"),
        ("spanish", "alemanas", "alemán"),
        ("french", "chevaux", "cheval"),
    ],
)
def test_forms_are_of_their_base_words(language, form, base):
    rules = Inflections.open(language)
    assert base in rules.bases(form, lambda word: True)
    assert form in rules.forms(base)
    assert rules.are_forms_of_one(form, base)


@pytest.mark.parametrize(("a", "b"), [("haus", "hose"), ("gehen", "sehen"), ("wald", "walten")])
def test_other_words_are_no_forms(a, b):
    assert not Inflections.open("german").are_forms_of_one(a, b)


@pytest.mark.parametrize("language", OF_LANGUAGE.values())
def test_what_is_listed_is_found_again(language):
    """Every form of a listed word leads back to it, and a copy has the same rules."""
    rules = Inflections.open(language)
    function, arguments = rules.__reduce__()
    again = function(*arguments)
    assert again.checksum == rules.checksum
    for base in list(rules._words)[::7]:
        for form in rules.forms(base)[1:]:
            if form not in rules._words:
                assert base in rules.bases(form, lambda word: True), (base, form)
        assert again.forms(base) == rules.forms(base)


def test_what_is_kept_of_words_is_bounded():
    """A server that is asked about ever new words would keep the forms of all."""
    inflections = Inflections.open("english")
    caches = [inflections.forms, inflections.all_bases, inflections._regular_bases]
    tracemalloc.start()
    for number in range(20_000):
        for kept in caches:
            kept(f"w{number}ed")
    n_bytes = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert n_bytes < 20 << 20 and {kept.cache_info().currsize for kept in caches} == {1 << 14}


def test_the_file_of_english_lists_verbs_that_are_their_own_past_or_participle():
    english = Inflections.open("english")
    unchanged = [
        (verb, is_participle)
        for verb in ("come", "overcome", "run", "beat", "take", "put", "stop")
        for is_participle in (False, True)
        if english.is_unchanged(verb, is_participle)
    ]
    assert unchanged == [("come", True), ("overcome", True), ("run", True), ("beat", False)]


def test_the_base_word_is_the_most_frequent_that_fits():
    counts = {"saw": 9, "see": 5, "sees": 3, "xyzs": 1}
    candidates = {"saws": ["saw", "see"], "sees": ["saw", "see", "saws"], "xyzs": ["xyz"]}

    def count(word: str) -> int:
        return counts.get(word, 0)

    def may_be(base: str, form: str) -> bool:
        return count(base) > count(form)

    expected = {"saws": "saw", "sees": "saw", "xyzs": "xyzs"}
    assert base_words(candidates, count, may_be) == expected
    others = [("see", "saws"), ("see", "sees")]
    fitting = base_words(candidates, count, may_be, lambda pairs: [p for p in pairs if p in others])
    assert fitting == expected | {"saws": "see", "sees": "see"}


def test_endings_name_inflections_in_english_alone():
    assert Inflections.open("english").kind("walk", "walked") == "ed"
    assert Inflections.open("german").kind("gehen", "gegangen") == ""


@pytest.mark.parametrize(
    ("text", "language"),
    [(GERMAN, "german"), (SPANISH, "spanish"), (FRENCH, "french"), (ENGLISH, "english"),
     ("kissa istui puussa ja katsoi lintua", "english"), ("x1 y2", "english")],
)  # fmt: skip
def test_the_language_of_a_text(text, language, tmp_path):
    (tmp_path / "text.txt").write_text(text, encoding="utf-8")
    index = CorpusIndex.build(
        tmp_path / "text.txt", tmp_path / "index", options=IndexOptions("text")
    )
    assert index.language == language
    assert CorpusIndex.open(tmp_path / "index").language == language


def test_no_words_are_english():
    nothing = np.empty(0, np.uint64)
    assert language_of(nothing, nothing) == "english"
    assert language_of(hash_texts([b"der"]), np.array([3])) == "german"


def test_an_unknown_language_is_refused_with_those_that_ship():
    with pytest.raises(ParameterError, match="give english, german, spanish, french, none or"):
        Inflections.open("klingon")
