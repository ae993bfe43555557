"""The table of one machine from Spark: two workers, each with an executor of its own."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from distsim import (
    CorpusIndex,
    DistsimError,
    IndexOptions,
    InputError,
    ParameterError,
    Selection,
    sign,
)
from distsim.cluster.annotation import AnnotationJob, annotate_on_spark
from distsim.cluster.executors import SparkOptions, sign_on_spark
from distsim.cluster.plan import Division, PlanOptions
from distsim.comparison.finder.word_profiles import build_finder
from distsim.corpus import SpacyAnnotator
from distsim.corpus.annotating import (
    Annotated,
    AnnotatedFile,
    Report,
    annotate,
    checksum_of_text,
)
from distsim.corpus.sources import find_texts
from distsim.signatures.recipe import PRESETS
from tests.cluster.test_cluster import same_artifacts
from tests.conftest import RECIPE, random_sentences, write_lines

SELECTION = Selection(min_count=2, max_length=3)


def java_version() -> int:
    if shutil.which("java") is None:
        return 0
    told = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr
    found = re.search(r'version "(\d+)', told)
    return int(found[1]) if found else 0


@pytest.fixture(scope="module")
def spark():
    """A session on two workers; speculation on, so that tasks may run twice at once."""
    pytest.importorskip("pyspark", reason="the extra spark is not installed")
    if java_version() < 17:
        pytest.skip("Java 17 or newer is not there")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.executor.memory", "512m")
        .config("spark.speculation", "true")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def files(tmp_path) -> list[Path]:
    draw = [write_lines(tmp_path / f"{n}.txt", random_sentences(n, 60)) for n in range(3)]
    (tmp_path / "empty.txt").write_text("")
    return [*draw, tmp_path / "empty.txt"]


@pytest.mark.extra
@pytest.mark.parametrize("preset", ["thesis", "learned"])
def test_two_workers_make_the_table_of_one_machine(spark, tmp_path, files, preset):
    index = CorpusIndex.build(files, tmp_path / "one.index")
    one = sign(index, tmp_path / "one.table", recipe=PRESETS[preset], selection=SELECTION).path
    report = sign_on_spark(
        files, tmp_path / "many.table", tmp_path / "work",
        options=PlanOptions(
            recipe=PRESETS[preset], selection=SELECTION, division=Division(part_bytes=1, n_ranges=3)
        ),
        run=SparkOptions(spark=spark), notice=print,
    )  # fmt: skip
    assert same_artifacts(Path(one), tmp_path / "many.table")
    assert report.tokens == index.n_tokens and sum(report.shuffled.values()) > 0
    assert not any((tmp_path / "work").iterdir())


@pytest.mark.extra
def test_four_small_files_use_both_executors(spark, tmp_path):
    files = [write_lines(tmp_path / f"{n}.txt", random_sentences(n, 60)) for n in range(4)]
    context = spark.sparkContext
    context.parallelize(range(8), 8).map(lambda _: time.sleep(0.5)).count()  # both have started

    def n_tasks() -> dict[str, int]:
        executors = context._jsc.sc().statusStore().executorList(True)
        listed = [executors.apply(number) for number in range(executors.size())]
        return {one.id(): one.totalTasks() for one in listed if one.id() != "driver"}

    before = n_tasks()
    sign_on_spark(
        files, tmp_path / "many.table", tmp_path / "work",
        options=PlanOptions(recipe=PRESETS["thesis"], selection=SELECTION),
        run=SparkOptions(spark=spark), notice=print,
    )  # fmt: skip
    assert len(before) == 2
    assert all(n > before[executor] for executor, n in n_tasks().items())


@pytest.mark.extra
def test_two_workers_make_the_finder_of_one_machine(spark, tmp_path, alice):
    lines, files = alice.splitlines(), []
    for number, part in enumerate([lines[1500:], lines[:1500]]):
        files.append(tmp_path / f"{number}.txt")
        files[-1].write_text("\n".join(part), encoding="utf-8")
    options = IndexOptions("text")
    index = CorpusIndex.build(files, tmp_path / "one.index", options=options)
    build_finder(index, sign(index, tmp_path / "one.table", recipe=RECIPE, selection=SELECTION))
    planned = PlanOptions(
        recipe=RECIPE, selection=SELECTION, index=options, division=Division(n_ranges=3)
    )
    sign_on_spark(
        files, tmp_path / "many.table", tmp_path / "work", options=planned,
        run=SparkOptions(spark=spark), notice=print,
    )  # fmt: skip
    assert same_artifacts(tmp_path / "one.table", tmp_path / "many.table")
    assert (tmp_path / "many.table" / "finder").is_dir()


class Words:
    """Annotates without a library: every word a noun, with a tag that its model names."""

    def __init__(self, models: str) -> None:
        self.models_folder = Path(models)

    def __eq__(self, other) -> bool:
        return self.models_folder == other.models_folder

    def __hash__(self) -> int:
        return hash(self.models_folder)

    def settings(self):
        return {"tag": (self.models_folder / "tag").read_text()}

    def with_models(self, models):
        return Words(models)

    def load(self):
        tag = (self.models_folder / "tag").read_text()
        return lambda lines: noun_lines(lines, tag)


def noun_lines(lines, tag):
    text, n_words = "", 0
    for line in lines:
        for number, word in enumerate(line.split(), 1):
            text += f"{number}\t{word}\t{word}\tNOUN\t{tag}\t_\t_\t_\t_\t_\n"
            n_words += 1
        text += "\n"
    return Annotated(text, Report(n_words, len(lines), 0))


@pytest.mark.parametrize("name", ["out.conllu", "out.conllu.gz"])
def test_annotated_parts_are_the_file_of_one_machine(tmp_path, alice, name):
    """Pieces go over the ends of files; some tasks are done twice; models may vanish."""
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for file, part in zip(files, (alice[:70_000], alice[70_000:]), strict=True):
        file.write_text(part, encoding="utf-8")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "tag").write_text("NN")
    words = Words(str(tmp_path / "models"))
    total = annotate(files, tmp_path / name, words, jobs=1)
    sources = find_texts(files)
    job = AnnotationJob(tmp_path / "work")
    n_tasks, shipped = job.write_text(sources, len(alice)), job.ship(words)
    assert n_tasks == 3
    shutil.rmtree(tmp_path / "models")
    for number in (2, 0, 1, 0):
        job.run_task(shipped, name.endswith(".gz"), number)
    again = AnnotationJob(tmp_path / "work")
    assert again.write_text([], 0) == n_tasks and all(map(again.is_done, range(n_tasks)))
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "tag").write_text("NN")
    checksum = checksum_of_text(sources, words)
    (tmp_path / "many").mkdir()
    output = AnnotatedFile(tmp_path / "many" / name, checksum)
    assert again.join(output, n_tasks) == total
    assert (tmp_path / "many" / name).read_bytes() == (tmp_path / name).read_bytes()
    assert AnnotatedFile(tmp_path / "many" / name, checksum).finished == total


def test_what_a_driver_killed_at_its_end_has_left_is_removed(tmp_path, alice):
    """The output is written, and the run's folder is half removed, or not at all."""
    text, out, shared = tmp_path / "a.txt", tmp_path / "out.conllu", tmp_path / "work"
    text.write_text(alice[:9_000], encoding="utf-8")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "tag").write_text("NN")
    words = Words(str(tmp_path / "models"))
    total = annotate([text], out, words, jobs=1)
    name = f"annotate-{checksum_of_text(find_texts([text]), words)[:12]}"
    for folder in (name, f".{name}.leaving"):
        AnnotationJob(shared / folder).write_text(find_texts([text]), 9_000)
    assert annotate_on_spark(text, out, shared, words, run=SparkOptions(keep_work=True)) == total
    assert len(list(shared.iterdir())) == 2
    assert annotate_on_spark(text, out, shared, words) == total
    assert not any(shared.iterdir())


@pytest.mark.extra
def test_two_workers_annotate_as_one_machine(spark, tmp_path, alice):
    spacy = pytest.importorskip("spacy", reason="the extra spacy is not installed")
    spacy.blank("en").to_disk(tmp_path / "models")
    (tmp_path / "a.txt").write_text(alice[:150_000], encoding="utf-8")
    annotator = SpacyAnnotator(str(tmp_path / "models"))
    total = annotate([tmp_path / "a.txt"], tmp_path / "one.conllu.gz", annotator, jobs=1)
    for _ in range(2):  # the second finds it finished
        assert total == annotate_on_spark(
            tmp_path / "a.txt", tmp_path / "many.conllu.gz", tmp_path / "work", annotator,
            run=SparkOptions(spark=spark),
        )  # fmt: skip
    one, many = (tmp_path / f"{name}.conllu.gz" for name in ("one", "many"))
    assert one.read_bytes() == many.read_bytes()
    assert not any((tmp_path / "work").iterdir())


@pytest.mark.extra
def test_what_a_worker_finds_at_fault_is_one_sentence_here(spark, tmp_path, files):
    (tmp_path / "bad.txt").write_bytes(b"good line\nbad \xff line\n")
    with pytest.raises(InputError, match=r"bad\.txt, line 2, byte 5: not UTF-8 .* \(on "):
        sign_on_spark(
            [*files, tmp_path / "bad.txt"], tmp_path / "t", tmp_path / "work",
            options=PlanOptions(division=Division(part_bytes=1)), run=SparkOptions(spark=spark),
            notice=print,
        )  # fmt: skip
    assert not (tmp_path / "t").exists()
    assert list((tmp_path / "work").glob("text-*/000000.index"))  # for the next run


@pytest.mark.extra
def test_a_session_without_a_context_of_its_own_is_refused(tmp_path, files):
    pytest.importorskip("pyspark", reason="the extra spark is not installed")

    class ConnectSession:
        @property
        def sparkContext(self):  # noqa: N802 (Spark's name)
            raise NotImplementedError("not supported in Spark Connect")

    with pytest.raises(ParameterError, match="Spark Connect, which has no RDDs"):
        run = SparkOptions(spark=ConnectSession())
        sign_on_spark(files, tmp_path / "t", tmp_path / "work", run=run)


@pytest.mark.extra
def test_a_second_context_is_refused(spark, tmp_path, files):
    with pytest.raises(ParameterError, match="Spark runs in this process already"):
        sign_on_spark(files, tmp_path / "t", tmp_path / "work")


def test_without_spark_there_is_one_sentence(tmp_path, files, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(DistsimError, match=r"pip install .\.\[spark\]"):
        sign_on_spark(files, tmp_path / "t", tmp_path / "work")
