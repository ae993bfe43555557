"""The image and the manifest of deploy/: what they name is there, and a driver starts executors."""

import json
import os
import re
import subprocess
import sys
import threading
import time
import tomllib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from distsim import CorpusIndex, Selection, sign
from distsim.signatures.recipe import PRESETS
from tests.cluster.test_cluster import same_artifacts
from tests.cluster.test_cluster_spark import java_version
from tests.conftest import PROJECT, random_sentences, write_lines

yaml = pytest.importorskip("yaml", reason="PyYAML, which mkdocs brings, is not installed")
DEPLOY = PROJECT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
MANIFEST = {
    one["kind"]: one
    for one in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8"))
}
DRIVER = MANIFEST["Job"]["spec"]["template"]["spec"]
SETTINGS = MANIFEST["ConfigMap"]["data"]
KEY = "wJalrXUtnFEMI-not-a-key"


def test_what_the_image_and_the_manifest_name_is_there():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    defaults = SETTINGS["spark-defaults.conf"]
    images = {*re.findall(r"registry\S+", DOCKERFILE + defaults), DRIVER["containers"][0]["image"]}
    assert images == {f"registry.example.org/distsim:{project['version']}"}
    for extra in re.findall(r"'\.\[(\w+)\]'", DOCKERFILE):
        assert extra in project["optional-dependencies"]
    for sources in re.findall(r"^COPY (?!--from)(?:--\S+ )?(.+) \S+$", DOCKERFILE, re.MULTILINE):
        assert all((PROJECT / source).exists() for source in sources.split())
    executor = yaml.safe_load(SETTINGS["executor.yaml"])["spec"]
    claim = MANIFEST["PersistentVolumeClaim"]["metadata"]["name"]
    for pod in (DRIVER, executor):
        assert pod["securityContext"]["runAsUser"] == int(re.findall(r"--uid (\d+)", DOCKERFILE)[0])
        volumes = {one["name"]: one for one in pod["volumes"]}
        assert volumes["shared"]["persistentVolumeClaim"]["claimName"] == claim
        assert {one["name"] for one in pod["containers"][0]["volumeMounts"]} == volumes.keys()
    of_namespace = [one["metadata"]["namespace"] for kind, one in MANIFEST.items()
                    if kind != "Namespace"]  # fmt: skip
    assert {*of_namespace} == {MANIFEST["Namespace"]["metadata"]["name"]}
    assert DRIVER["serviceAccountName"] == MANIFEST["ServiceAccount"]["metadata"]["name"]


def test_commands_of_the_image_and_the_manifest_are_the_program_s(run):
    told, _ = run("cluster", "sign", "--help")
    commands = [" ".join(DRIVER["containers"][0]["args"])]
    commands += re.findall(r"distsim cluster .*?(?=&&)", DOCKERFILE.replace("\\\n", " "))
    assert len(commands) == 2
    for command in commands:
        assert command.startswith("distsim cluster sign ")
        options = re.findall(r"(--[a-z]+)", command)
        assert len(options) > 3 and all(one in told for one in options)


class Kubernetes(BaseHTTPRequestHandler):
    """A Kubernetes API for one driver: a pod is a process of the image's entry point."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        address, kind = urlsplit(self.path), self.path.split("/")[-1]
        if "watch" in parse_qs(address.query):
            if self.headers.get("Upgrade"):
                self._send({}, 503)  # Spark asks again without a web socket
                return
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.server.over.wait(300)
        elif kind == "driver":
            self._send({"kind": "Pod", "metadata": {"name": kind, "uid": "1"}})
        else:
            kept = self.server.pods if address.path.endswith("/pods") else []
            self._send({"kind": "List", "metadata": {"resourceVersion": "1"}, "items": kept})

    def do_POST(self):
        made = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.received.append(json.dumps(made))
        if made["kind"] == "Pod":
            made["metadata"]["uid"], made["status"] = "2", {"phase": "Running"}
            self.server.pods.append(made)
            self.server.start(made["metadata"]["name"], made["spec"]["containers"][0])
        self._send(made, 201)

    def do_DELETE(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._send({"kind": "Status", "status": "Success"})

    def _send(self, value, status=200):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


@pytest.fixture
def kubernetes(tmp_path):
    if java_version() < 17:
        pytest.skip("Java 17 or newer is not there")
    pytest.importorskip("pyspark", reason="the extra spark is not installed")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Kubernetes)
    server.daemon_threads = True
    server.over, server.pods, server.received, server.executors = threading.Event(), [], [], []

    def start(name, container):
        given = {one["name"]: one.get("value", "127.0.0.1") for one in container["env"]}
        given |= {"SPARK_EXECUTOR_POD_NAME": name, "SPARK_LOCAL_DIRS": str(tmp_path / "local")}
        with open(tmp_path / f"{name}.log", "wb") as log:
            server.executors.append(subprocess.Popen(
                ["bash", DEPLOY / "entrypoint", *container["args"]], stdout=log, stderr=log,
                env=image_variables() | given,
            ))  # fmt: skip

    server.start = start
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.over.set()
    server.shutdown()
    for one in server.executors:
        one.kill()
        one.wait()


def image_variables() -> dict[str, str]:
    """Return the environment of the image, with this Python and a key that is secret."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    more = {"PATH": path, "PYTHONPATH": str(PROJECT), "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1", "AWS_SECRET_ACCESS_KEY": KEY}  # fmt: skip
    return os.environ | more


@pytest.mark.extra
def test_executors_of_the_manifest_sign_as_one_machine_and_no_key_is_written(
    kubernetes, tmp_path, monkeypatch
):
    """Four small files go to two executors; the driver's settings are the manifest's."""
    files = [write_lines(tmp_path / f"{n}.txt", random_sentences(n, 60)) for n in range(4)]
    settings = tmp_path / "settings"
    settings.mkdir()
    for name, text in SETTINGS.items():
        text = text.replace("/etc/distsim", str(settings))
        text = re.sub(r"(executor\.instances) .*", r"\1 2", text)
        text = re.sub(r"(executor\.cores) .*", r"\1 1", text)
        if name == "spark-defaults.conf":
            text += f"spark.hadoop.fs.s3a.secret.key {KEY}\n"
        (settings / name).write_text(text)
    submitted = next(one["value"] for one in DRIVER["containers"][0]["env"]
                     if one["name"] == "PYSPARK_SUBMIT_ARGS")  # fmt: skip
    submitted = submitted.replace("$(POD_IP)", "127.0.0.1").replace("$(POD_NAME)", "driver")
    variables = {"SPARK_CONF_DIR": str(settings), "PYSPARK_SUBMIT_ARGS": submitted}
    driver = subprocess.run(
        ["bash", DEPLOY / "entrypoint", "distsim", "cluster", "sign", *files, "--preset", "thesis",
         "--min-count", "2", "-o", tmp_path / "many.table", "--work", tmp_path / "work",
         "--set", "keep_work=true", "--master", f"k8s://http://127.0.0.1:{kubernetes.server_port}"],
        env=image_variables() | variables, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert driver.returncode == 0, driver.stderr
    index = CorpusIndex.build(files, tmp_path / "one.index")
    sign(index, tmp_path / "one.table", recipe=PRESETS["thesis"], selection=Selection(min_count=2))
    assert same_artifacts(tmp_path / "one.table", tmp_path / "many.table")
    began = time.monotonic()
    while any(one.poll() is None for one in kubernetes.executors):
        assert time.monotonic() < began + 60, "executors outlive the driver"
        time.sleep(0.1)
    logs = [path.read_text() for path in tmp_path.glob("*.log")]
    assert len(logs) == 2 and all("Running task" in log for log in logs)
    written = [path.read_bytes() for part in ("work", "many.table")
               for path in (tmp_path / part).rglob("*") if path.is_file()]  # fmt: skip
    said = [driver.stdout, driver.stderr, *logs, *kubernetes.received]
    assert not any(KEY in one for one in said)
    assert written and not any(KEY.encode() in one for one in written)
