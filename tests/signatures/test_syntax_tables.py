"""Tables of the syntactic model: bits against the naive twin, identities, the command line."""

import math
import pickle
import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from distsim import IncompatibleError, ParameterError, SignatureTable, similarity
from distsim.comparison.measures import EstimatedCosine, StoredCosine
from distsim.contexts.phrase_store import Selection
from distsim.contexts.sources.annotated import AnnotatedSentences
from distsim.contexts.syntax.model import SyntaxModel
from distsim.contexts.weights import Weighting
from distsim.corpus.annotation import AnnotatedSentence
from distsim.corpus.vocabulary import hash_texts
from distsim.kernels.contexts import SCHEMES
from distsim.output.verification import find_faults
from distsim.signatures.kernels.projection import NOWHERE
from distsim.signatures.projections.random_projections import gaussian_pool
from distsim.signatures.projections.spectral import SpectralProjection
from distsim.signatures.recipe import Recipe
from distsim.storage import Artifact
from tests.contexts.test_syntax import drawn_sentence
from tests.naive import core as naive
from tests.naive import syntax as naive_syntax

KEPT = ("--set", "keep_features=true")


def without_underscores(sentence: AnnotatedSentence) -> AnnotatedSentence:
    sentence.words = [word.replace("_", "") for word in sentence.words]
    sentence.lemmas = [word.replace("_", "") for word in sentence.lemmas]
    return sentence


@pytest.fixture(scope="module")
def sentences():
    draw = random.Random(11)
    return [without_underscores(drawn_sentence(draw, draw.randint(1, 9))) for _ in range(40)]


def sign(
    sentences, path, scheme="raw", keep=False, memory=1 << 20, jobs=1, subsample=None, **selection
):
    selection = Selection(**{"min_count": 2, "max_length": 3, **selection})
    weighting = Weighting(scheme, alpha=0.75, shift=0.0, subsample=subsample)
    recipe = Recipe(model=SyntaxModel(), weighting=weighting, n_bits=128)
    return SignatureTable.build(
        AnnotatedSentences(sentences), path, recipe=recipe, selection=selection,
        memory=memory, keep_features=keep, jobs=jobs,
    )  # fmt: skip


def family(name: str) -> str:
    """The family and position of a feature whose texts hold no underscore."""
    parts = name.split("_")
    if parts[1] in naive_syntax.KINDS:
        return f"{parts[0]} {parts[1]} {len(parts)} {parts[-1]}"
    if parts[1] in ("syn", "head"):
        return " ".join(parts[:3])
    return f"{parts[0]} {parts[1]} {parts[3]}"


def naive_weights(phrases, scheme, alpha=0.75, shift=0.0, subsample=1.0):
    """Weigh the features of all phrases by the definitions, from the table of all of them."""
    marginals, totals = Counter(), Counter()
    for _, counts in phrases.values():
        marginals.update(counts)
    for name, count in marginals.items():
        totals[family(name)] += count
    powers, kept = Counter(), {}
    for name, count in marginals.items():
        share = min(1.0, math.sqrt(subsample * totals[family(name)] / count))
        kept[name] = round(share * 4096) / 4096 if scheme == "ppmi" else 1.0
        powers[family(name)] += (count * kept[name]) ** alpha
    weighted = {}
    for phrase, (_, counts) in phrases.items():
        rows = Counter()
        for name, count in counts.items():
            rows[family(name)] += count * kept[name]
        weighted[phrase] = row = {}
        for name, count in counts.items():
            own = family(name)
            row[name] = naive.scheme_weight(
                scheme, count * kept[name], rows[own], marginals[name], totals[own],
                (marginals[name] * kept[name]) ** alpha / powers[own], shift,
            )  # fmt: skip
    return weighted


@pytest.mark.parametrize(
    ("scheme", "subsample"), [*((scheme, None) for scheme in SCHEMES), ("ppmi", 0.1)]
)
def test_bits_and_exact_cosine_against_the_naive_twin(sentences, tmp_path, scheme, subsample):
    table = sign(sentences, tmp_path / "table", scheme=scheme, keep=True, subsample=subsample)
    phrases = naive_syntax.corpus_features(sentences, longest=3, min_count=2)
    weighted = naive_weights(phrases, scheme, subsample=subsample or 1.0)
    assert sorted(table.texts()) == sorted(p for p in phrases if any(weighted[p].values()))
    pool = gaussian_pool(1, 128)
    strengths = {text: int(table.strengths[row]) for row, text in enumerate(table.texts())}
    assert strengths == {p: phrases[p][0] for p in strengths}
    for phrase in sorted(strengths)[::25]:
        bits = np.unpackbits(table.bits[table.find([phrase])[0]].view(np.uint8), bitorder="little")
        assert bits.astype(bool).tolist() == naive.signature(weighted[phrase], pool, 128)
    exact = StoredCosine(table)
    for a, b in (("a", "b"), ("é", "ab"), ("a", "a"), ("b a", "a b")):
        expected = naive.cosine(weighted[a], weighted[b])
        assert exact.similarity(a, b) == pytest.approx(expected, abs=1e-6)
    assert exact.similarity("a", "elephant") is None
    elsewhere = pickle.loads(pickle.dumps(exact))
    assert elsewhere.similarity("a", "b") == exact.similarity("a", "b")
    assert find_faults(table.path) == []


@pytest.mark.parametrize("scheme", ["raw", "ppmi"])
def test_memory_workers_and_blocks_do_not_matter(sentences, tmp_path, scheme, monkeypatch):
    first = sign(sentences, tmp_path / "a", scheme=scheme, keep=True)
    monkeypatch.setattr("distsim.contexts.syntax.counting.BATCH_PHRASES", 7)
    monkeypatch.setattr("distsim.contexts.syntax.counting.BATCH_OCCURRENCES", 20)
    second = sign(sentences, tmp_path / "b", scheme=scheme, keep=True, memory=1 << 18, jobs=3)
    assert first.artifact.checksum == second.artifact.checksum
    assert not list(tmp_path.glob(".*"))  # nothing temporary stays


def test_sentences_in_another_order_give_the_same_bits(sentences, tmp_path):
    first = sign(sentences, tmp_path / "a")
    second = sign(sentences[::-1], tmp_path / "b")
    assert np.array_equal(first.bits, second.bits)
    assert first.fingerprint == second.fingerprint
    assert first.parameters["corpus"] != second.parameters["corpus"]


def test_most_frequent_phrases(sentences, tmp_path):
    whole = sign(sentences, tmp_path / "a")
    few = sign(sentences, tmp_path / "b", max_phrases=10)
    ranked = sorted(
        ((-int(whole.strengths[row]), text) for row, text in enumerate(whole.texts())),
    )[:10]
    assert sorted(few.texts()) == sorted(text for _, text in ranked)
    rows = whole.find(list(few.texts()))
    assert np.array_equal(whole.bits[rows], few.bits)


def test_the_fingerprint_names_the_model(sentences, tmp_path):
    table = sign(sentences, tmp_path / "a", scheme="ppmi")
    model = table.fingerprint.model
    assert model["name"] == "syntax"
    assert SyntaxModel.from_manifest(model) == SyntaxModel()
    other = sign(sentences, tmp_path / "b", scheme="ppmi", min_count=3)
    assert table.fingerprint.weights != other.fingerprint.weights  # other marginals
    assert similarity(table, "a", "a") == 1.0


def test_longest_phrases(sentences, tmp_path):
    table = sign(sentences, tmp_path / "a", max_length=8, min_count=1)
    assert table.token_counts().max() == 8


CONLLU = """# constituency = (ROOT (S (NP (DT The) (NN cat)) (VP (VBD sat))))
1	The	the	DET	DT	_	2	det	2:det	_
2	cat	cat	NOUN	NN	_	3	nsubj	3:nsubj	NER=S-PET
3	sat	sit	VERB	VBD	_	0	root	0:root	_

# constituency = (ROOT (S (NP (DT The) (NN dog)) (VP (VBD sat))))
1	The	the	DET	DT	_	2	det	2:det	_
2	dog	dog	NOUN	NN	_	3	nsubj	3:nsubj	NER=S-PET
3	sat	sit	VERB	VBD	_	0	root	0:root	_

"""


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "a.conllu").write_text(CONLLU)
    return tmp_path / "a.conllu"


def test_cli_contexts(run, corpus):
    out, _ = run("contexts", corpus, "The Cat", "--from", "annotated", "--limit", 0)
    rows = dict(line.split("\t", 1) for line in out.splitlines())
    assert set(rows) == {
        "r_lex_sat_1", "r_lem_sit_1", "r_pos_VBD_1", "r_ner_o_1", "c_syn_span_NP",
        *(f"r_{e}dep_nsubj_{k}" for e in ("", "e")
          for k in ("lex_sat", "lem_sit", "pos_VBD", "ner_o")),
        "c_head_lex_cat", "c_head_lem_cat", "c_head_pos_NN", "c_head_ner_pet",
        "r_syn_pref_S", "r_syn_miss_VP", "r_syn_miss_VBD",
    }  # fmt: skip
    assert rows["r_lex_sat_1"] == "1\t1.000000"
    assert rows["r_syn_pref_S"].startswith("2\t")
    out, _ = run("contexts", corpus, corpus, "sat", "--from", "annotated", "--set",
                 "model.families=ngram", "--set", "model.kinds=lex", "--set", "model.window=1",
                 "--set", "weighting.scheme=log")  # fmt: skip
    assert out == "l_lex_cat_1\t2\t1.098612\nl_lex_dog_1\t2\t1.098612\n"
    out, err = run("contexts", corpus, "elephant", "--from", "annotated")
    assert out == "" and "does not occur" in err


def test_cli_from_annotation_to_neighbours(run, corpus, tmp_path):
    table = tmp_path / "table"
    _, err = run("sign", corpus, "--from", "annotated", "-o", table, "--min-count", 1,
                 "--set", "keep_features=true", "--memory", "1M")  # fmt: skip
    assert "phrases of 1 to 4 tokens" in err
    out, _ = run("similarity", table, "cat", "dog", "--exact")
    assert float(out) == 1.0  # `the` hangs on them: no head, and all beside them is alike
    out, _ = run("similarity", table, "the cat", "the dog", "--exact")
    assert 0.8 < float(out) < 1.0  # they differ in nothing but their heads' words and lemmas
    out, _ = run("similarity", table, "the cat", "the dog")
    assert float(out) > 0.7
    out, _ = run("neighbours", table, "cat", "-k", 1)
    assert out.split("\t")[1] == "dog"
    assert run("verify", table)[0].endswith("sound\n")
    assert "syntax" in run("info", table)[0]
    run("sign", corpus, "--from", "annotated", "-o", table, "--min-count", 1, "--force")
    _, err = run("similarity", table, "cat", "dog", "--exact", status=1)
    assert "sign it again with --set keep_features=true" in err


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (["--from", "annotated"], 2, "give -o TABLE"),
        (
            ["--from", "annotated", "-o", "t", "--set", "model.families=verbs"],
            1,
            "choose one of ngram",
        ),
        (["--from", "annotated", "-o", "t", "--memory", "lots"], 2, "800M or 4G"),
        (["--from", "annotated", "-o", "t", "--memory", "1K"], 1, "give at least"),
        (["--from", "annotated", "-o", "t", "--max-length", "9"], 1, "choose 1 to 8"),
        (["--set", "trees=x"], 2, "trees: no such setting"),
    ],
)
def test_cli_errors(run, corpus, tmp_path, monkeypatch, options, status, said):
    monkeypatch.chdir(tmp_path)
    _, err = run("sign", corpus, *options, status=status)
    assert said in " ".join(err.replace("│", " ").split())
    assert not (tmp_path / "t").exists()


def test_a_broken_corpus_leaves_nothing_behind(run, tmp_path):
    path = tmp_path / "b.conllu"
    path.write_text(CONLLU + "1\tx\n")
    _, err = run("sign", path, "--from", "annotated", "-o", tmp_path / "t", status=1)
    assert "b.conllu, line 11: 2 columns" in err
    assert [p.name for p in tmp_path.iterdir()] == ["b.conllu"]


def test_a_grammar_with_both_features(run, corpus, tmp_path):
    syntax, index, rules = tmp_path / "table", tmp_path / "index", tmp_path / "rules"
    run("sign", corpus, "--from", "annotated", "-o", syntax, "--min-count", 1, *KEPT)
    (tmp_path / "text").write_text("the cat sat\nthe dog sat\n")
    run("index", "build", tmp_path / "text", "-o", index)
    run("sign", index, "--min-count", 1)
    rules.write_text("[X] ||| [X,1] cat ||| [X,1] dog ||| p=1 ||| 0-0 1-1\n")
    out, _ = run("score", rules, "--ngram", index, "--syntax", syntax)
    assert "sim_ngram=1.00000" in out and "sim_syn=1.00000" in out


def test_no_features_kept(sentences, tmp_path):
    table = sign(sentences, tmp_path / "a")
    with pytest.raises(ParameterError, match="sign it again with `keep_features`"):
        StoredCosine(table)


def test_learned_syntactic_phrases_are_composed(tmp_path, run):
    draw, lines = random.Random(3), []
    for _ in range(60):
        for place, word in enumerate(draw.choices("abcdefghijklmnopqrst", k=6)):
            row = (
                place + 1,
                word,
                word,
                "X",
                "X",
                "_",
                place,
                "dep" if place else "root",
                "_",
                "_",
            )
            lines.append("\t".join(map(str, row)))
        lines.append("")
    (tmp_path / "a.conllu").write_text("\n".join(lines) + "\n")
    made = ("sign", tmp_path / "a.conllu", "--from", "annotated", "--preset", "syntax-learned",
            "--set", "n_bits=64", "--min-count", 2)  # fmt: skip
    run(*made, "-o", tmp_path / "t")
    table = SignatureTable.open(tmp_path / "t")
    words = [text for text in table.texts() if " " not in text]
    phrase = next(f"{a} {b}" for a in words for b in words if table.find([f"{a} {b}"])[0] < 0)
    (made_of_words,) = EstimatedCosine(table).estimates([(phrase, words[0])])
    assert made_of_words.composed
    run(*made, "--set", "composition=none", "-o", tmp_path / "u")
    assert SignatureTable.open(tmp_path / "u").fingerprint.composition is None


def test_a_learned_projection_of_syntactic_features(sentences, tmp_path, monkeypatch):
    recipe = Recipe(
        model=SyntaxModel(), weighting=Weighting("ppmi", shift=0.0), n_bits=64,
        projection="spectral",
    )  # fmt: skip
    selection = Selection(min_count=2, max_length=2)

    def signed(name, projection=None, memory=1 << 20, jobs=1, recipe=recipe):
        return SignatureTable.build(
            AnnotatedSentences(sentences), tmp_path / name, recipe=recipe, selection=selection,
            memory=memory, jobs=jobs, projection=projection,
        )  # fmt: skip

    first = signed("a")
    learned = first.projection.path
    assert learned.parent == first.path
    words = {text for text in first.texts() if " " not in text}
    assert Artifact(learned).parameters["rows"] == len(words)
    assert first.fingerprint.projection["kind"] == "spectral"
    monkeypatch.setattr("distsim.contexts.syntax.counting.BATCH_PHRASES", 7)
    second = signed("b", memory=1 << 18, jobs=3)
    again = signed("c", projection=learned)
    assert first.artifact.checksum == second.artifact.checksum == again.artifact.checksum
    assert find_faults(learned) == find_faults(first.path) == []
    # The phrases' own learned vectors, made slowly, have the bits.
    projection = SpectralProjection.open(learned)
    phrases = naive_syntax.corpus_features(sentences, longest=2, min_count=2)
    weighted = naive_weights(phrases, "ppmi")
    for phrase in sorted(words)[:5]:
        names = list(weighted[phrase])
        places = projection.offsets(hash_texts([name.encode() for name in names]))
        total = np.zeros(64)
        for place, name in zip(places.tolist(), names, strict=True):
            if place != int(NOWHERE):
                total += weighted[phrase][name] * projection.vectors[place : place + 64]
        vector = total / np.linalg.norm(total) - projection.centre
        bits = np.unpackbits(first.bits[first.find([phrase])[0]].view(np.uint8), bitorder="little")
        assert np.mean(bits.astype(bool) == (vector > 0)) > 0.98  # weights are rounded
    other = replace(recipe, weighting=Weighting("ppmi", shift=0.5))
    with pytest.raises(IncompatibleError, match="was learned with weights .* wanted"):
        signed("d", projection=learned, recipe=other)
    assert not (tmp_path / "d").exists()
