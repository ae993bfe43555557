"""Addresses of stores: the files that fsspec finds and reads there; secrets stay in the address."""

import gzip
import json
import os
import subprocess
import sys

import pytest

from distsim import InputError
from distsim.bitext import build_bitext
from distsim.cluster.plan import make_plan
from distsim.corpus.annotating import annotate
from distsim.corpus.sources import find_file, find_sources, open_source, without_secrets
from tests.cluster.test_cluster import same_artifacts
from tests.cluster.test_cluster_spark import java_version
from tests.conftest import random_sentences, write_lines

KEY = "pa55word"
PROGRAM = [sys.executable, "-m", "distsim.cli.start"]
FILES = {
    "b.txt": b"the cat sat on the mat\n" * 20,
    "in/a.txt.gz": gzip.compress(b"the dog sat on the log .\n" * 9),
    "in-b.txt": b"hello there\n",
    ".hidden/x.txt": b"not for us\n",
}
NAMES = ["b.txt", "in/a.txt.gz", "in-b.txt"]


@pytest.fixture
def texts(tmp_path):
    """A folder with FILES."""
    for name, data in FILES.items():
        file = tmp_path / "texts" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return tmp_path / "texts"


def put(address: str) -> str:
    """Put FILES into fsspec's store in memory; return the address."""
    fsspec = pytest.importorskip("fsspec", reason="the extra stores is not installed")
    for name, data in FILES.items():
        with fsspec.open(f"{address}/{name}", "wb") as file:
            file.write(data)
    return address


@pytest.fixture(scope="module")
def bucket():
    """A bucket with FILES below texts/, in moto's S3; its keys are in the environment."""
    pytest.importorskip("s3fs", reason="the extra stores is not installed")
    moto = pytest.importorskip("moto.server", reason="moto with its server is not installed")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    given = {
        "FSSPEC_S3_ENDPOINT_URL": "http://{}:{}".format(*server.get_host_and_port()),
        "AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": KEY, "AWS_DEFAULT_REGION": "us-east-1",
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        for name, value in given.items():
            patch.setenv(name, value)
        from fsspec.config import conf, set_conf_env

        set_conf_env(conf)
        import s3fs

        store = s3fs.S3FileSystem()
        store.mkdir("corpus")
        for name, data in FILES.items():
            store.pipe(f"corpus/texts/{name}", data)
        yield "s3://corpus"
        conf.pop("s3", None)
    server.stop()


@pytest.mark.extra
@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("", NAMES),
        ("/", NAMES),
        ("/**/*.gz", ["in/a.txt.gz"]),
        ("/*.txt", ["b.txt", "in-b.txt"]),
        ("/in/*", ["a.txt.gz"]),
        ("/b.txt", ["b.txt"]),
        ("/[a-b].txt", ["b.txt"]),
    ],
)
def test_files_of_a_store_are_those_of_a_folder(pattern, names):
    home = put("memory://listed/texts")
    sources = find_sources([home + pattern])
    assert [source.name for source in sources] == names
    inner = "/in" if pattern == "/in/*" else ""
    assert [source.path for source in sources] == [f"{home}{inner}/{name}" for name in names]


@pytest.mark.extra
@pytest.mark.parametrize("dedup", ["off", "near"])
def test_the_index_of_an_address_is_that_of_the_folder(run, tmp_path, texts, dedup):
    """The address has a password and a query, none of which is said or written."""
    put(f"memory://me:{KEY}@host/texts")
    address = f"memory://me:{KEY}@host/texts"
    said = run("index", "build", address, "-o", tmp_path / "far.index", "--dedup", dedup)
    run("index", "build", texts, "-o", tmp_path / "near.index", "--dedup", dedup)
    assert same_artifacts(tmp_path / "near.index", tmp_path / "far.index")
    assert KEY not in "".join(said)
    repeated = run("index", "add", tmp_path / "far.index", f"{address}/b.txt")
    assert "b.txt" in "".join(repeated) and KEY not in "".join(repeated)


@pytest.mark.extra
def test_an_address_with_a_secret_is_read_and_shown_without_it():
    put(f"memory://me:{KEY}@host/texts")
    source = find_file(f"memory://me:{KEY}@host/texts/in/a.txt.gz")
    assert source.path == source.label == "memory://...@host/texts/in/a.txt.gz"
    assert KEY not in repr(source)
    with open_source(source) as stream:
        assert stream.read() == gzip.decompress(FILES["in/a.txt.gz"])
    with pytest.raises(InputError, match=r"^memory://\.\.\.@host/texts: holds several files"):
        find_file(f"memory://me:{KEY}@host/texts")


@pytest.mark.extra
def test_what_a_cluster_writes_down_holds_no_password(run, tmp_path):
    put(f"memory://me:{KEY}@host/texts")
    put("memory://host/texts")
    work = tmp_path / "work"
    _, err = run("cluster", "plan", f"memory://me:{KEY}@host/texts", "--work", work, status=1)
    assert "holds a password or a query, which would be written into the run's folder" in err
    assert KEY not in err and not any(work.rglob("*"))
    run("cluster", "plan", "memory://host/texts", "--work", work)
    (plan,) = work.glob("sign-*/plan.json")
    paths = [path for part in json.loads(plan.read_text())["parts"] for path in part["paths"]]
    assert paths == [f"memory://host/texts/{name}" for name in NAMES]


@pytest.mark.extra
def test_a_text_of_a_store_that_was_changed_is_planned_again():
    home = put("memory://changed/texts")
    (*parts, last) = make_plan([home]).parts
    assert last.sources and sum(part.size for part in [*parts, last]) == sum(
        len(FILES[name]) for name in NAMES
    )
    import fsspec

    fsspec.filesystem("memory").pipe(f"/changed/texts/{NAMES[-1]}", b"other words\n")
    assert make_plan([home]).text != make_plan([put("memory://changed/texts")]).text
    fsspec.filesystem("memory").pipe(f"/changed/texts/{NAMES[-1]}", b"longer than it was before\n")
    with pytest.raises(InputError, match="was changed since the run was planned"):
        _ = last.sources


class Lines:
    """Annotates a line as a sentence of one word."""

    def settings(self):
        return {}

    def load(self):
        from distsim.corpus.annotating import Annotated, Report

        def annotated(lines):
            text = "".join(f"1\t{line.split()[0]}\tx\tX\tX\t_\t0\troot\t_\t_\n\n" for line in lines)
            return Annotated(text, Report(len(lines), len(lines), 0))

        return annotated


@pytest.mark.extra
def test_a_bitext_and_an_annotation_of_addresses(tmp_path):
    home = put(f"memory://me:{KEY}@host/texts")
    import fsspec

    for seed, name in enumerate(["en", "de"]):
        write_lines(tmp_path / name, random_sentences(seed, 40))
        fsspec.filesystem("memory").pipe(f"/pair/{name}", (tmp_path / name).read_bytes())
    build_bitext(tmp_path / "en", tmp_path / "de", tmp_path / "near", jobs=1)
    build_bitext("memory://pair/en", "memory://pair/de", tmp_path / "far", jobs=1)
    assert same_artifacts(tmp_path / "near", tmp_path / "far")
    with pytest.raises(InputError, match="both sides of the bitext"):
        build_bitext("memory://pair/en", "memory://pair/en", tmp_path / "x")
    for paths, name in ((f"{home}/b.txt", "far"), (tmp_path / "b.txt", "near")):
        (tmp_path / "b.txt").write_bytes(FILES["b.txt"])
        annotate([paths], tmp_path / f"{name}.conllu", Lines(), jobs=1)
    assert (tmp_path / "far.conllu").read_bytes() == (tmp_path / "near.conllu").read_bytes()


@pytest.mark.extra
def test_an_index_of_s3_is_that_of_the_folder(run, tmp_path, texts, bucket):
    said = run("index", "build", f"{bucket}/texts", "-o", tmp_path / "far.index")
    run("index", "build", texts, "-o", tmp_path / "near.index")
    assert same_artifacts(tmp_path / "near.index", tmp_path / "far.index")
    assert KEY not in "".join(said)
    assert [one.name for one in find_sources([f"{bucket}/texts/**/*.gz"])] == ["in/a.txt.gz"]
    for address, told in ((f"{bucket}/none", "no such file or folder"),
                          ("s3://nowhere/none", "no such file or folder"),
                          (f"{bucket}/texts/*.pdf", "no file is there")):  # fmt: skip
        _, err = run("index", "build", address, "-o", tmp_path / "x", status=1)
        assert err.startswith(f"distsim: {address}: {told}")


@pytest.mark.extra
def test_spark_signs_texts_of_s3_as_one_machine_those_of_a_folder(run, tmp_path, texts, bucket):
    """Workers read the texts themselves; no key is in what the run prints or keeps."""
    pytest.importorskip("pyspark", reason="the extra spark is not installed")
    if java_version() < 17:
        pytest.skip("Java 17 or newer is not there")
    options = ["--preset", "thesis", "--min-count", "2"]
    spark = subprocess.run(
        [*PROGRAM, "cluster", "sign", f"{bucket}/texts", "-o", tmp_path / "far.table", *options,
         "--work", tmp_path / "work", "--set", "keep_work=true", "--master", "local[2]"],
        capture_output=True, text=True, env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"},
    )  # fmt: skip
    assert spark.returncode == 0, spark.stderr
    run("index", "build", texts, "-o", tmp_path / "near.index", "--format", "lines")
    run("sign", tmp_path / "near.index", "-o", tmp_path / "near.table", *options)
    assert same_artifacts(tmp_path / "near.table", tmp_path / "far.table")
    kept = [path.read_bytes() for path in (tmp_path / "work").rglob("*") if path.is_file()]
    assert kept and not any(KEY.encode() in one for one in kept)
    assert KEY not in spark.stdout + spark.stderr


@pytest.mark.extra
def test_what_a_store_s_library_says_is_shown_without_secrets(run, tmp_path, monkeypatch):
    memory = pytest.importorskip("fsspec.implementations.memory")
    address = f"memory://me:{KEY}@host/texts/b.txt?sig=4f5e6d&name=x"

    def refused(system, path, *args, **more):
        raise PermissionError(f"403 for {address}: sig 4f5e6d of {KEY}\nmore")

    monkeypatch.setattr(memory.MemoryFileSystem, "info", refused)
    for command in (("index", "build", address, "-o", tmp_path / "x"),
                    ("cluster", "plan", address, "--work", tmp_path / "work"),
                    ("align", address, address, "-o", tmp_path / "x"),
                    ("annotate", address, "-o", tmp_path / "x.conllu", "--with", "spacy",
                     "--models", tmp_path)):  # fmt: skip
        _, err = run(*command, status=1)
        if command[0] != "annotate" or "spaCy" not in err:
            assert "memory://...@host/texts/b.txt?...: cannot be read (PermissionError: 403" in err
        assert KEY not in err and "4f5e6d" not in err and "more" not in err
    monkeypatch.undo()
    put(f"memory://me:{KEY}@host/texts")
    monkeypatch.setattr(memory.MemoryFile, "read", refused)
    _, err = run("index", "build", address.partition("?")[0], "-o", tmp_path / "x", status=1)
    assert "cannot be read (PermissionError: 403" in err and KEY not in err


@pytest.mark.parametrize("address", [f"s3a://me:{KEY}@corpus/texts", f"hdfs://host/x?sig={KEY}"])
def test_without_fsspec_the_extra_is_named(run, tmp_path, monkeypatch, address):
    for name in ("fsspec", "fsspec.core"):
        monkeypatch.setitem(sys.modules, name, None)
    for command in (("index", "build", address, "-o", tmp_path / "x"),
                    ("cluster", "plan", address, "--work", tmp_path / "work")):  # fmt: skip
        _, err = run(*command, status=1)
        assert "an address is read by fsspec, which is not installed" in err
        assert ".[stores]" in err and KEY not in err


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (f"s3://AK:se/{KEY}+t@bucket/x", "s3://...@bucket/x"),
        (f"S3://AK:{KEY}@bucket", "S3://...@bucket"),
        (f"https://{KEY}@host/x", "https://...@host/x"),
        (f"https://host:80?sig={KEY}", "https://host:80?..."),
        (f"sftp://me:{KEY}:@@host/x", "sftp://...@host/x"),
        ("s3://bucket/a@b:c.txt", "s3://bucket/a@b:c.txt"),
        ("hdfs://name:8020/a@b", "hdfs://name:8020/a@b"),
        ("abfss://container@account.net/x", "abfss://container@account.net/x"),
        ("/a folder/b?c", "/a folder/b?c"),
    ],
)
def test_secrets_of_an_address_are_not_shown(address, shown):
    assert without_secrets(address) == shown


def test_an_address_of_files_is_a_path(tmp_path, texts):
    assert find_sources([f"file://{texts}/b.txt"]) == find_sources([texts / "b.txt"])
    os.chdir(tmp_path)
    (tmp_path / "s3:").mkdir()
    (tmp_path / "s3:" / "x.txt").write_text("a file of such a name\n")
    assert find_sources(["s3:/x.txt"])[0].path == "s3:/x.txt"
