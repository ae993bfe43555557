"""How soon and how often `distsim serve` answers, and in how much memory.

A server of its own on a free port. Pages: of phrases drawn from the table by frequency, each asked
for the first time, then again; without paraphrases, which arrive later. Throughput: what eight
connections get answered by each endpoint, of a question seen before and of new phrases; counts also
at 100 a second. Every count is compared with the library's. Memory: what is not the artifacts' maps
(RssAnon), at the start page, after the pages, and after everything was asked for. With --second a
second process serves the same files at the same time and is asked the same. With --pages the pages
alone are measured, in a minute.

    python bench/server.py INDEX [--grammar PACK] [--against INDEX] [--phrases 60] [--seconds 10]
                           [--second] [--pages]
"""

import asyncio
import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote, urlsplit

import numpy as np
from frame import parser, print_machine, print_table

from distsim import CorpusIndex, SignatureTable
from distsim.contexts.weights import SCHEMES

COUNTED = "/api/v1/count?phrase="
CLIENTS, RATE = 8, 100


class Client:
    """A connection that is kept open and asks one thing after another."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.answer = b""

    async def get(self, path: str) -> float:
        """Return the seconds that an answer took."""
        began = time.perf_counter()
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).lower().splitlines()
        length = next(int(line.partition(b":")[2]) for line in head
                      if line.startswith(b"content-length"))  # fmt: skip
        self.answer = await reader.readexactly(length)
        if not head[0].startswith(b"http/1.1 200"):
            raise SystemExit(f"{path}: {head[0].decode()}")
        return time.perf_counter() - began


class Server:
    """The server's process: its CPU seconds, its memory."""

    def __init__(self, index: str, more: list[str]) -> None:
        command = [sys.executable, "-m", "distsim.cli.start", "serve", index, "--port", "0",
                   "--no-log", *more]  # fmt: skip
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(urlsplit(self.process.stdout.readline().strip()).port or 0)

    def total_cpu(self) -> float:
        """Return CPU seconds since the start, ended threads included."""
        stat = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")

    def cpu(self) -> float:
        """Return the CPU seconds of all threads that live, by the nanosecond."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def memory(self) -> int:
        """Return the megabytes that are not maps of files."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(one.split()[1]) // 1024 for one in lines if one.startswith("RssAnon"))


def row(name: str, seconds: list[float]) -> list[str]:
    return [name, *(f"{one:.1f}" for one in np.percentile(1e3 * np.array(seconds), (50, 95, 99)))]


async def pages(server: Server, phrases: list[str], name: str) -> list[list[str]]:
    client = Client(server.port)
    clock, cpu = [], []
    for phrase in phrases:
        before = server.cpu()
        clock.append(await client.get("/?q=" + quote(phrase)))
        cpu.append(server.cpu() - before)
    return [row(f"{name}, clock", clock), row(f"{name}, CPU", cpu)]


async def flat_out(port: int, paths: list[str], seconds: float) -> tuple[list[float], float]:
    """Return the seconds of all answers to eight connections, and answers a second.

    The paths are asked for in turn, for some seconds.
    """
    began = time.perf_counter()
    turn = itertools.count()

    async def ask() -> list[float]:
        own, found = Client(port), []
        while time.perf_counter() < began + seconds:
            found.append(await own.get(paths[next(turn) % len(paths)]))
        return found

    parts = await asyncio.gather(*(ask() for _ in range(CLIENTS)))
    found = [one for part in parts for one in part]
    return found, len(found) / (time.perf_counter() - began)


def asked_of(phrases: list[str], has_rules: bool, has_reference: bool) -> dict[str, list[str]]:
    """Return paths by endpoint: one of each phrase, where it takes one."""
    api = {
        "count": "count?phrase=%s", "complete": "complete?text=%s",
        "spellings": "spellings?phrase=x%s", "concordance": "concordance?phrase=%s",
        "concordance, sorted": "concordance?order=1R,1L,2L&phrase=%s",
        "count of a query": "count?phrase=%s*", "collocates": "collocates?phrase=%s",
        "frequency by file": "frequency?by=file&phrase=%s", "neighbours": "neighbours?phrase=%s",
        "map": "map?phrase=%s", "contexts": "contexts?phrase=%s",
        "compare": f"compare?a=%s&b={quote(phrases[0])}", "paraphrases": "paraphrases?phrase=%s",
        "substitutes": "substitutes?sentence=he+saw+the+[%s]+there",
    }  # fmt: skip
    if has_rules:
        api |= {"rules": "rules?source=%s", "find-rules": "find-rules?text=%s",
                "rewrite": "rewrite?text=they+saw+%s+and+went+on"}  # fmt: skip
    found = {
        name: ["/api/v1/" + path.replace("%s", quote(one)) for one in phrases]
        for name, path in api.items()
    }
    if has_reference:
        found["keywords"] = [f"/api/v1/keywords?min_count={n + 5}" for n in range(len(phrases))]
    found["page of a phrase"] = [f"/?q={quote(one)}" for one in phrases]
    return found


async def throughput(
    ports: list[int], asked: dict[str, list[str]], seconds: float
) -> list[list[str]]:
    """Return for each endpoint: new questions one after another, then the same from eight.

    With a second port the eight are measured again, while as many ask there.
    """
    rows = []
    for name, paths in asked.items():
        client, new = Client(ports[0]), []
        for path in paths:
            new.append(await client.get(path))
        rows.append(row(name, new))
        for n in range(1, len(ports) + 1):
            answers = await asyncio.gather(*(flat_out(one, paths, seconds) for one in ports[:n]))
            found, rate = answers[0]
            late = np.percentile(1e3 * np.array(found), 99)
            rows[-1] += [f"{rate:,.0f}", f"{late:.1f}"]
    return rows


async def at_rate(port: int, phrases: list[str], seconds: float) -> list[float]:
    """Return the seconds of answers to requests at a fixed rate; waiting in line counts."""
    free: asyncio.Queue[Client] = asyncio.Queue()
    for _ in range(CLIENTS):
        free.put_nowait(Client(port))

    async def ask(at: float, phrase: str) -> float:
        await asyncio.sleep(at - time.perf_counter())
        own = await free.get()
        await own.get(COUNTED + quote(phrase))
        free.put_nowait(own)
        return time.perf_counter() - at

    began = time.perf_counter() + 0.1
    return await asyncio.gather(*(ask(began + i / RATE, phrases[i % len(phrases)])
                                  for i in range(int(RATE * seconds))))  # fmt: skip


async def memory_after_everything(server: Server, phrases: list[str]) -> None:
    word, other = map(quote, phrases[:2])
    client = Client(server.port)
    for path in (f"/panel/paraphrases?q={word}", f"/?q={word}*", f"/compare?a={word}&b={other}",
                 f"/sentence?s=he+saw+the+[{word}]+there"):  # fmt: skip
        await client.get(path)
    for window in (1, 2, 3):
        for weights in SCHEMES:
            await client.get(f"/panel/contexts?q={word}&window={window}&weights={weights}")


async def ready(server: Server) -> Client:
    """Return a connection to a server whose programs are compiled."""
    client = Client(server.port)
    await client.get("/api/v1/health")
    while not json.loads(client.answer)["ready"]:
        await client.get("/api/v1/health")
    return client


async def new_pages(server: Server, phrases: list[str]) -> list[list[str]]:
    await (await ready(server)).get("/")
    return await pages(server, phrases, "page of a new phrase")


async def measure(
    server: Server, phrases: list[str], seconds: float, index: CorpusIndex
) -> list[list[str]]:
    client = await ready(server)
    await client.get("/")
    memory = [server.memory()]
    rows = await pages(server, phrases, "page of a new phrase")
    rows += await pages(server, phrases, "page of a phrase seen before")
    memory.append(server.memory())
    same, client = 0, Client(server.port)  # the first one's time of rest is over
    for phrase, count in zip(phrases, index.count(phrases).tolist(), strict=True):
        await client.get(COUNTED + quote(phrase))
        same += json.loads(client.answer)["rows"][0]["count"] == count
    print(f"counts as the library has them: {same} of {len(phrases)}"
          + ("" if same == len(phrases) else " MISSED"))  # fmt: skip
    found = await at_rate(server.port, phrases, seconds)
    rows.append(row(f"count, {RATE} a second, clock", found))
    await memory_after_everything(server, phrases)
    memory.append(server.memory())
    print("memory, MB: {} at the start page, {} after the pages, {} after all".format(*memory))
    return rows


def main() -> None:
    options = parser(__doc__)
    options.add_argument("index")
    options.add_argument("--grammar")
    options.add_argument("--against")
    options.add_argument("--phrases", type=int, default=60)
    options.add_argument("--seconds", type=float, default=10.0)
    options.add_argument("--second", action="store_true")
    options.add_argument("--pages", action="store_true")
    given = options.parse_args()
    table = SignatureTable.open(given.index)
    draw = np.random.default_rng(1)
    shares = table.strengths / table.strengths.sum()
    drawn = draw.choice(len(table), 4 * given.phrases, replace=False, p=shares)
    phrases = [text for text in map(table.text, drawn.tolist()) if text.replace(" ", "").isalpha()]
    more = ["--grammar", given.grammar] if given.grammar else []
    more += ["--against", given.against] if given.against else []
    server = Server(given.index, more)
    servers = [server]
    try:
        asyncio.run(Client(server.port).get("/api/v1/health"))
        print(f"first answer after {server.total_cpu():.1f} CPU s")
        if given.pages:
            rows = asyncio.run(new_pages(server, phrases[: given.phrases]))
            print_table(["ms", "median", "95%", "99%"], rows)
            print_machine()
            return
        rows = asyncio.run(measure(server, phrases[: given.phrases], given.seconds,
                                   CorpusIndex.open(given.index)))  # fmt: skip
        asked = asked_of(phrases[: given.phrases], bool(given.grammar), bool(given.against))
        if given.second:
            servers.append(Server(given.index, more))
            asyncio.run(ready(servers[1]))
        ports = [one.port for one in servers]
        rates = asyncio.run(throughput(ports, asked, given.seconds))
        memory = ", ".join(f"{one.memory()} MB" for one in servers)
        print(f"memory at the end: {memory}; load {os.getloadavg()[0]:.1f}")
    finally:
        for one in servers:
            one.process.terminate()
            one.process.wait()
    print_table(["ms", "median", "95%", "99%"], rows)
    measured = ["seen before, a second", "99%, ms", "beside a second reader", "99%, ms"]
    print_table(["endpoint", "new, ms", "95%", "99%", *measured[: 2 * len(servers)]], rates)
    print_machine()


if __name__ == "__main__":
    main()
