"""Rules for unknown words: both formats, what is hidden, the ranking, resuming, errors."""

import math
from dataclasses import replace

import numpy as np
import pytest

from distsim import PRESETS, CorpusIndex, IncompatibleError, InputError, ParameterError, sign
from distsim.contexts import GivenVectors, Selection
from distsim.grammar.fields import LineFaultError
from distsim.grammar.formats import FORMATS
from distsim.grammar.formats.moses import PHRASE_TABLE
from distsim.grammar.formats.rules import RULES
from distsim.paraphrase import Monolingual, UnknownWordOptions, augment_unknown_words
from distsim.paraphrase.unknown_words import translator as augmenting
from distsim.paraphrase.unknown_words.similar_spelling import Endings, edit_similarity
from distsim.paraphrase.unknown_words.translation_candidates import (
    FEATURES,
    Ranker,
    TranslationCandidates,
    _likelihood,
)
from distsim.paraphrase.unknown_words.words import KnownWords, TargetSide
from distsim.signatures.table import opened_table
from tests.naive.grammar import links_of_entry

N, WIDTH = 120, 64
LETTERS = "abcdefghij"


def name(prefix: str, number: int) -> str:
    """Return a word without any likeness to the same number's on the other side."""
    digits = f"{number * 7919 % 100_000:05d}"
    shift = 3 if prefix == "t" else 0
    return prefix + "".join(LETTERS[(int(d) + shift) % 10] for d in digits)


SOURCES, TARGETS = ([name(side, n) for n in range(N)] for side in "st")
UNKNOWN = range(100, N)  # words that have vectors on both sides, and no rule


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Tables of both languages, the one's vectors a rotation of the other's."""
    folder = tmp_path_factory.mktemp("sides")
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(N, WIDTH)).astype(np.float32)
    turn = np.linalg.qr(rng.normal(size=(WIDTH, WIDTH)))[0].astype(np.float32)
    source = sign(GivenVectors(SOURCES, vectors), folder / "source")
    target = sign(GivenVectors(TARGETS, vectors @ turn), folder / "target")
    return Monolingual(source=source, target=target)


def moses(n_known: int = 100) -> str:
    return "".join(
        sorted(
            f"{SOURCES[n]} ||| {TARGETS[n]} ||| 0.5 0.5 0.5 0.5 ||| 0-0 ||| 2 2 1 |||\n"
            for n in range(n_known)
        )
    )


@pytest.fixture
def files(tmp_path):
    def write(table: str, text: str | None = None):
        (tmp_path / "table").write_text(table, encoding="utf-8")
        text = " ".join(SOURCES[n] for n in UNKNOWN) if text is None else text
        (tmp_path / "text").write_text(text + "\n", encoding="utf-8")
        return tmp_path / "table", tmp_path / "text", tmp_path / "new"

    return write


def test_words_of_a_rotated_space_are_translated(files, texts):
    table, text, new = files(moses())
    report = augment_unknown_words(table, text, texts, new)
    first = [one.translations[0].target for one in report.words]
    assert [one.word for one in report.words] == [SOURCES[n] for n in UNKNOWN]
    assert sum(a == TARGETS[n] for a, n in zip(first, UNKNOWN, strict=True)) >= 18
    lines = new.read_text().splitlines()
    old, new_lines = moses().splitlines(), [line for line in lines if " 1 1 1 1 " in line]
    assert [line for line in lines if line not in new_lines] == [
        line.replace("0.5 |||", "0.5 1 |||") for line in old
    ]
    assert lines == sorted(lines) and report.is_sorted
    assert report.new_entries == len(new_lines) == sum(len(w.translations) for w in report.words)
    assert (report.old_entries, report.n_scores, report.learned_from) == (100, 5, 100)
    entry = PHRASE_TABLE.parse(new_lines[0].encode())
    assert 0.01 <= entry.numbers()[-1] <= 1 and links_of_entry(entry) == [(0, 0)]
    assert all(sum(rule.p for rule in word.translations) <= 1 for word in report.words)
    assert all(len(word.translations) <= 10 for word in report.words)
    assert not list(new.parent.glob("*.answers*"))


def test_running_text_is_read_as_the_table_is_written(files, texts, tmp_path):
    words = [SOURCES[n] for n in UNKNOWN]
    running = f"{words[0].capitalize()}, {SOURCES[0].upper()}: " + " ".join(words[1:]) + "."
    table, text, new = files(moses(), running)
    report = augment_unknown_words(table, text, texts, new, text_output=tmp_path / "cut")
    assert (report.text_format, report.lowered, report.doubts) == ("text", True, [])
    assert [unknown.word for unknown in report.words] == words
    cut = f"{words[0]} , {SOURCES[0]} : " + " ".join(words[1:]) + " .\n"
    assert (tmp_path / "cut").read_text("utf-8") == cut
    as_it_is = UnknownWordOptions(text_format="lines")
    report = augment_unknown_words(table, text, texts, new, options=as_it_is)
    assert report.words[0].word == f"{words[0].capitalize()},"
    table, text, new = files(moses(), " ".join(SOURCES[n].upper() for n in range(9)))
    (doubt,) = augment_unknown_words(table, text, texts, new).doubts
    assert "9 of 9 unknown words are known in small letters" in doubt
    with pytest.raises(InputError, match="is read and written at once"):
        augment_unknown_words(table, text, texts, new, text_output=text)


@pytest.mark.parametrize(
    ("features", "old", "added"),
    [
        ("p(e|f)=0.1 Lex(e|f)=0.2", "p(e|f)=0.1 Lex(e|f)=0.2", "p(unknown)="),
        ("0.1 0.2 1", "0.1 0.2 1 0", "0 0 0 "),
        ("EgivenFCoherent=0.3", "EgivenFCoherent=0.3", "p(unknown)="),
    ],
)
def test_rules_of_joshua_thrax_and_cdec(files, texts, features, old, added):
    lines = [f"[X] ||| {SOURCES[n]} ||| {TARGETS[n]} ||| {features} ||| 0-0" for n in range(100)]
    lines.append(f"[X] ||| [X,1] {SOURCES[0]} ||| [X,1] {TARGETS[0]} ||| {features} ||| 0-0 1-1")
    table, text, new = files("\n".join(sorted(lines)) + "\n")
    report = augment_unknown_words(table, text, texts, new)
    written = new.read_text().splitlines()
    assert [line for line in written if f" ||| {added}" not in line] == [
        line.replace(features, old) for line in sorted(lines)
    ]
    rules = [RULES.parse(f"{line}\n".encode()) for line in written if f" ||| {added}" in line]
    first = next(rule for rule in rules if rule.source.decode() == SOURCES[100])
    cost = float(first.fields[3].split()[-1].split(b"=")[-1])
    p = {rule.target: rule.p for rule in report.words[0].translations}[first.target.decode()]
    assert cost == pytest.approx(-math.log(p), abs=1e-5) and first.label == b"[X]"
    assert report.of_grammar and report.words[0].translations[0].target == TARGETS[100]


def test_rules_of_another_separator(files, texts, monkeypatch):
    """They are told by their form, and new ones are written in it."""
    known = replace(RULES, name="semicolons", looks_so=lambda line: b" ;; " in line, separator=";;")
    monkeypatch.setattr("distsim.grammar.formats.FORMATS", {"semicolons": known, **FORMATS})
    lines = [f"[X] ||| {SOURCES[n]} ||| {TARGETS[n]} ||| a=0.1 ||| 0-0\n" for n in range(100)]
    answers = []
    for separator in ("|||", ";;"):
        table, text, new = files("".join(sorted(lines)).replace("|||", separator))
        report = augment_unknown_words(table, text, texts, new)
        assert report.new_entries >= 20 and report.of_grammar
        answers.append(new.read_text())
    assert answers[1] == answers[0].replace("|||", ";;")


def test_rules_of_a_form_without_fields_are_refused(files, texts):
    table, text, new = files("de [X] ||| of [X] ||| 0.5 ||| 0-0\n")
    with pytest.raises(InputError, match="is of the format moses-rules, to which no rules can"):
        augment_unknown_words(table, text, texts, new)


def test_a_word_that_is_hidden_cannot_use_its_own_rules(files, texts):
    """Its votes, its cosine and its pair of endings are those of an unknown word."""
    table, _, _ = files(moses())
    known, without = KnownWords(), KnownWords()
    for line in table.read_bytes().splitlines(keepends=True):
        entry = PHRASE_TABLE.parse(line)
        known.add(entry)
        if entry.source.decode() != SOURCES[5]:
            without.add(entry)
    known.finish()
    without.finish()
    both = [
        TranslationCandidates(one, [texts.source], texts.target, {}) for one in (known, without)
    ]
    hidden = both[0].gather([SOURCES[5]], hidden=True)[0]
    unknown = both[1].gather([SOURCES[5]])[0]
    behind = {word for words in hidden.behind.values() for word in words}
    assert behind and behind <= {*known.rules} - {SOURCES[5]}
    votes = [FEATURES.index(one) for one in ("votes", "best_vote", "relatives", "stem")]
    shared = sorted(set(hidden.candidates) & set(unknown.candidates))
    assert len(shared) > 20
    for one in shared:
        a, b = hidden.candidates.index(one), unknown.candidates.index(one)
        assert hidden.features[a, votes] == pytest.approx(unknown.features[b, votes], abs=1e-6)
    at = hidden.candidates.index(TARGETS[5])
    seen = both[0].gather([SOURCES[5]])[0]
    gain = seen.features[seen.candidates.index(TARGETS[5]), 0] - hidden.features[at, 0]
    assert gain > 0.01  # the map without its pair is worse for it


def test_behind_a_stem_mate_is_the_known_word(texts):
    known = KnownWords()
    for source, target in (("details", "detalles"), ("page", "detalle")):
        line = f"{source} ||| {target} ||| 0.5 0.5 0.5 0.5 ||| 0-0 ||| 2 2 1 |||\n"
        known.add(PHRASE_TABLE.parse(line.encode()))
    known.finish()
    one = TranslationCandidates(known, [texts.source], None, {}).gather(["detailed"])[0]
    assert one.behind["detalle"] == ["details"]


def test_endings_leave_the_pair_itself_out():
    pairs = [("nation", "nación"), ("action", "acción"), ("motion", "moción"), ("dog", "perro")]
    seen, without = Endings(pairs), Endings(pairs[:3])
    assert seen.score("nation", "nación") > 0
    assert seen.score("dog", "perro") == pytest.approx(without.score("dog", "perro"), abs=0.6)
    assert Endings([]).score("dog", "perro") == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("one", "other", "edits"), [("", "abc", 3), ("abc", "abc", 0), ("kitten", "sitting", 3)]
)
def test_edit_similarity(one, other, edits):
    assert edit_similarity(one, other) == pytest.approx(1 - edits / max(len(one), len(other)))


def test_the_gradient_is_that_of_the_likelihood():
    rng = np.random.default_rng(4)
    right = [np.array(one) for one in ([True, False], [False] * 3, [True, True, False])]
    rows = rng.normal(size=(8, 3))
    objective = _likelihood(rows, right)
    at = rng.normal(size=3)
    value, gradient = objective(at)
    for k in range(3):
        step = np.eye(3)[k] * 1e-6
        slope = (objective(at + step)[0] - objective(at - step)[0]) / 2e-6
        assert gradient[k] == pytest.approx(slope, abs=1e-4)
    naive = 0.0
    for of_word, good in zip(np.split(rows, [2, 5]), right, strict=True):
        powers = np.exp(of_word @ at)
        p = powers / (1 + powers.sum())
        naive -= math.log(p[good].sum() if good.any() else 1 - p.sum())
    assert value == pytest.approx(naive)


def test_a_ranker_prefers_what_was_right():
    rng = np.random.default_rng(5)
    features = [rng.normal(size=(6, 2)).astype(np.float32) for _ in range(200)]
    right = [np.arange(6) == np.argmax(one[:, 0]) for one in features]
    none = [np.zeros(6, bool)] * len(features)
    ranker = Ranker.learn(features, right, none)
    p = ranker.probabilities(np.array([[2, 0], [0, 2], [-2, 0]], np.float32), np.zeros(3, bool))
    assert p[0] > 0.9 and 0.1 > p[1] > p[2] and p.sum() < 1


def test_copies_have_a_slope_of_their_own():
    rng = np.random.default_rng(6)
    copy = np.array([True, False, False])

    def drawn(n):
        """Return features and right ones: a copy's score says less than another's."""
        scores = rng.normal(scale=2.5, size=(n, 3))
        powers = np.exp(np.where(copy, 0.2 * scores, scores))
        shares = np.cumsum(powers / (1 + powers.sum(axis=1, keepdims=True)), axis=1)
        places = (rng.random((n, 1)) > shares).sum(axis=1)  # 3: none of them
        return [one[:, None].astype(np.float32) for one in scores], np.arange(3) == places[:, None]

    def error(ranker, features, right):
        """Return the mean distance of p from the rates of copies, in four bands of scores."""
        p = np.array([ranker.probabilities(one, copy)[0] for one in features])
        scores = np.array([one[0, 0] for one in features])
        bands = np.digitize(scores, [-3, 0, 3])
        return np.mean([abs(np.mean((p - right[:, 0])[bands == n])) for n in range(4)])

    features, right = drawn(1000)
    ranker = Ranker.learn(features, list(right), [copy] * len(features))
    as_it_is = replace(ranker, calibration=np.array([1.0, 0, 0, 0]))
    others = drawn(2000)
    assert ranker.calibration[3] < -0.2
    assert error(ranker, *others) < 0.6 * error(as_it_is, *others)


def test_a_stopped_run_continues_to_the_same_bytes(files, texts, monkeypatch):
    table, text, new = files(moses())
    mine = new.with_name("new.answers")
    mine.write_text("mine\n")
    monkeypatch.setattr(augmenting, "_BLOCK", 8)
    augment_unknown_words(table, text, texts, new)
    whole = new.read_bytes()
    new.unlink()
    answers = augmenting._Translator.answers
    calls = []

    def stop(self, words):
        calls.append(words)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return answers(self, words)

    monkeypatch.setattr(augmenting._Translator, "answers", stop)
    with pytest.raises(KeyboardInterrupt):
        augment_unknown_words(table, text, texts, new)
    assert not new.exists() and new.with_name("new.answers.part").exists()
    with pytest.raises(InputError, match="was begun with other settings"):
        augment_unknown_words(table, text, texts, new, options=UnknownWordOptions(most_rules=3))
    monkeypatch.setattr(augmenting._Translator, "learn", None)  # not learned again
    report = augment_unknown_words(table, text, texts, new)
    assert new.read_bytes() == whole and report.resumed == 8
    assert list(new.parent.glob("*.answers*")) == [mine] and mine.read_text() == "mine\n"


def test_copies_compete_and_may_be_left_to_the_decoder(files, texts):
    rows = [f"k{name('s', n)} ||| k{name('s', n)} ||| 0.5 0.5 0.5 0.5\n" for n in range(60)]
    table, text, new = files(moses() + "".join(sorted(rows)), "kabcdef 12 3.5 !")
    report = augment_unknown_words(table, text, texts, new)
    assert report.words[0].translations[0].target == "kabcdef" and report.without_letters == 3
    left = augment_unknown_words(
        table, text, texts, new, options=UnknownWordOptions(copies="decoder")
    )
    assert "kabcdef" not in [one.target for one in left.words[0].translations]


def test_words_of_another_script_are_no_copies(files, texts):
    table, text, new = files(moses(), "мир")
    report = augment_unknown_words(table, text, texts, new)
    assert "мир" not in [one.target for one in report.words[0].translations]


def test_pivots_vote(files, texts, tmp_path):
    table, *_ = files(moses(), "zzzz")
    known = KnownWords()
    for line in table.read_bytes().splitlines():
        known.add(PHRASE_TABLE.parse(line))
    known.finish()
    (tmp_path / "pivot").write_text(f"[X] ||| zzzz ||| {SOURCES[7]} ||| p(e|f)=0.105\n")
    pivots = augmenting._read_pivots(tmp_path / "pivot", {"zzzz", SOURCES[7]})
    assert pivots["zzzz"][SOURCES[7]] == pytest.approx(0.9, abs=1e-3)
    one = TranslationCandidates(known, [texts.source], texts.target, pivots).gather(["zzzz"])[0]
    row = one.features[one.candidates.index(TARGETS[7])]
    assert row[FEATURES.index("pivots")] == pytest.approx(math.log(0.901), abs=1e-3)
    (tmp_path / "pivot").write_text("[X] ||| zzzz ||| b ||| other=1\n")
    with pytest.raises(InputError, match=r"pivot, line 1: feature p\(e\|f\) is not there"):
        augmenting._read_pivots(tmp_path / "pivot", {"zzzz"})


def test_without_target_text_only_words_of_the_table_and_copies(files, texts):
    table, text, new = files(moses())
    report = augment_unknown_words(table, text, Monolingual(source=texts.source), new)
    said = {rule.target for word in report.words for rule in word.translations}
    assert said <= {*TARGETS[:100], *SOURCES}


def test_moses_escapes_and_old_layout(files, texts):
    lines = [f"{SOURCES[n]} ||| {TARGETS[n]} &apos;s ||| (0) ||| (0) ( ) ||| 0.5 0.5 0.5 0.5\n"
             for n in range(100)]  # fmt: skip
    table, text, new = files("".join(sorted(lines)), "o'neil")
    augment_unknown_words(table, text, texts, new)
    added = [line for line in new.read_text().splitlines() if line.startswith("o'neil")]
    for line in added:
        entry = PHRASE_TABLE.parse(line.encode())
        assert entry.has_partners and len(entry.scores) == 5 and links_of_entry(entry)


def test_contexts_of_indexed_texts_are_compared(tmp_path):
    rng = np.random.default_rng(2)
    drawn = (rng.integers(0, 30, (900, 1)) + rng.integers(-2, 3, (900, 6))) % 30  # near numbers
    sides = {}
    for side in "st":
        lines = "".join(" ".join(f"{side}{n}" for n in row) + "\n" for row in drawn)
        index = CorpusIndex.from_texts([lines], tmp_path / side)
        sign(index, selection=Selection(min_count=1, max_length=1), jobs=1)
        sides[side] = opened_table(index)
    known = KnownWords()
    for n in range(1, 30):
        known.add(PHRASE_TABLE.parse(f"s{n} ||| t{n} ||| .5 .5 .5 .5 ||| 0-0 ||| 2 2 1\n".encode()))
    known.finish()
    columns = [FEATURES.index("near"), FEATURES.index("in_sentence")]
    text = [["s0", "s7"], ["s7", "s0", "s7"]]
    gatherings = [
        TranslationCandidates(known, [sides["s"]], sides["t"], {}, text),
        TranslationCandidates(known, [sides["s"]], None, {}),
    ]
    (with_text,), (without,) = (one.gather(["s0"]) for one in gatherings)
    at = with_text.candidates.index("t0")
    best = with_text.features[:, columns[0]]
    assert best[at] == best.max() > 0.9 and np.all(with_text.features[at, columns] > 0)
    assert not without.features[:, columns].any()


def test_target_words_of_a_stem():
    known = KnownWords()
    for word in ("cerrar", "cerrado", "cerrada", "casa"):
        known.add(PHRASE_TABLE.parse(f"x ||| {word} ||| 1\n".encode()))
    assert TargetSide(known, None).of_stem("cerrando") == ["cerrada", "cerrado", "cerrar"]


def test_what_is_wrong_is_told(files, texts, tmp_path):
    table, text, new = files(moses())
    with pytest.raises(InputError, match="cannot be written"):
        augment_unknown_words(table, text, texts, tmp_path / "no" / "new")
    with pytest.raises(InputError, match="read and written at once"):
        augment_unknown_words(table, text, texts, table)
    with pytest.raises(ParameterError, match=r"`probability` 7: the table has 4 scores"):
        augment_unknown_words(table, text, texts, new, options=UnknownWordOptions(probability="7"))
    with pytest.raises(InputError, match="has 0 of the 100 source words that teach the map"):
        augment_unknown_words(
            table, text, Monolingual(source=texts.target, target=texts.target), new
        )
    table.write_text("a b ||| c ||| 1\n")
    with pytest.raises(InputError, match="no rule of a single word"):
        augment_unknown_words(table, text, texts, new)
    table.write_text(moses(9))
    with pytest.raises(InputError, match="9 single words from which"):
        augment_unknown_words(table, text, texts, new)
    assert not list(new.parent.glob("new*"))  # a refused run leaves nothing
    table.write_text(moses() + "x ||| y\n")
    with pytest.raises(InputError, match=r"table, line 101: 2 fields"):
        augment_unknown_words(table, text, texts, new)
    assert not new.exists()
    for settings in ({"least": 0}, {"most_rules": 0}, {"hidden": 3}, {"copies": "all"}):
        with pytest.raises(ParameterError):
            UnknownWordOptions(**settings)


def test_a_table_without_vectors_is_refused(files, texts):
    table, text, new = files(moses())
    (new.parent / "corpus").write_text("the king said the queen said the king\n" * 5)
    index = CorpusIndex.build([new.parent / "corpus"], new.parent / "index")
    plain = sign(index, new.parent / "plain", recipe=PRESETS["thesis"])
    with pytest.raises(IncompatibleError, match="keeps no vectors of words"):
        augment_unknown_words(table, text, Monolingual(source=plain), new)


@pytest.mark.parametrize("line", [b"[X] ||| a ||| b\n", b"X ||| a ||| b ||| 1\n", b"\xff ||| a"])
def test_broken_rules(line):
    with pytest.raises(LineFaultError):
        RULES.parse(line)


def test_the_command(files, texts, run):
    table, text, new = files(moses())
    sides = ["--index", texts.source.path, "--target-index", texts.target.path]
    out, err = run("augment", table, "--unknown", text, *sides, "--why", "-o", new)
    rows = [line.split("\t") for line in out.splitlines()]
    assert rows[0][:3] == [SOURCES[100], "1", TARGETS[100]] and float(rows[0][3]) > 0.1
    assert "learned from 100 known ones" in err and "num-features=5" in err
    _, err = run("augment", table, "--unknown", text, *sides[:2], "-o", new)
    assert "expect little" in err
    for wrong in (
        ["-o", new], ["--unknown", text, "-o", new],
        ["--unknown", text, *sides, "--why", "-o", "-"],
        ["--paraphrases", text, "--why", "-o", new],
    ):  # fmt: skip
        run("augment", table, *wrong, status=2)


def test_an_index_of_another_language_is_told(files, texts, run):
    of_another = [
        f"other{source} ||| {target} ||| 0.5 0.5 0.5 0.5 ||| 0-0 ||| 9 9 9 |||\n"
        for source, target in zip(SOURCES, TARGETS, strict=True)
    ]
    assert not augment_unknown_words(*files(moses())[:2], texts, files(moses())[2]).doubts
    table, text, new = files("".join(sorted([*of_another, *moses().splitlines(keepends=True)])))
    sides = ["--index", texts.source.path, "--target-index", texts.target.path]
    _, err = run("augment", table, "--unknown", text, *sides, "-o", new)
    told = f"{texts.source.path}: has 80 of the 200 most frequent source words of the table: is it "
    assert told in err and f"{texts.target.path}: has" not in err
