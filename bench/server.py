"""How soon and how often `distsim serve` answers, and in how much memory.

    python bench/server.py INDEX [--phrases 60] [--seconds 10]

A server of its own on a free port. Start: until the first answer of /api/v1/health. First answers:
the whole page of phrases drawn from the table by frequency, each asked for the first time, then
again; without paraphrases, which arrive later. Counts: as many as eight connections get answered,
then 100 a second for the latency at half of 200. Memory: RssAnon, what is not the artifacts' maps;
last after paraphrases, a comparison, substitutes and every weighting were asked for. CPU is that of
the server's process, of pages also each one's: on a busy machine the clock tells of the others.
Every count is compared with the library's own. Against nobody: the others' servers
(docs/guides/serve.md) are no programs that run here.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import quote, urlsplit

import numpy as np

from distsim import CorpusIndex, SignatureTable
from distsim.contexts.weights import SCHEMES

COUNTED = "/api/v1/count?phrase="
CLIENTS, HALF_RATE, HALF_SECONDS = 8, 100, 10


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
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.partition(b":")[2])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length")
        )
        body = await reader.readexactly(length)
        self.answer = body
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"{path}: {head.splitlines()[0].decode()}")
        return time.perf_counter() - began


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def fine_seconds(process: int) -> float:
    """Return the CPU seconds of all threads that live, by the nanosecond."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def anonymous_mb(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in status if line.startswith("RssAnon"))


def told(name: str, seconds: list[float], note: str = "") -> None:
    values = 1000 * np.array(seconds)
    p50, p95, p99 = np.percentile(values, [50, 95, 99])
    print(
        f"{name:<38} {values.size:6} median {p50:7.1f} ms, 95th {p95:7.1f}, 99th {p99:7.1f}{note}",
        flush=True,
    )


async def measure(
    port: int, process: int, phrases: list[str], seconds: float, index: CorpusIndex
) -> None:
    async def timed(name: str, work: Callable[[], Awaitable[list[float]]]) -> None:
        before = fine_seconds(process)
        found = await work()
        cpu = 1000 * (fine_seconds(process) - before) / len(found)
        told(name, found, f"; CPU {cpu:6.2f} ms each")

    client = Client(port)

    async def pages(name: str) -> None:
        clock, cpu = [], []
        for phrase in phrases:
            before = fine_seconds(process)
            clock.append(await client.get("/?q=" + quote(phrase)))
            cpu.append(fine_seconds(process) - before)
        told(name, clock)
        told(f"{name}, CPU", cpu)

    async def flat_out() -> list[float]:
        end = time.perf_counter() + seconds

        async def ask(number: int) -> list[float]:
            own, found = Client(port), []
            while time.perf_counter() < end:
                number = (number + 7) % len(phrases)
                found.append(await own.get(COUNTED + quote(phrases[number])))
            return found

        began = time.perf_counter()
        found = [one for part in await asyncio.gather(*map(ask, range(CLIENTS))) for one in part]
        rate = len(found) / (time.perf_counter() - began)
        print(f"counts a second, {CLIENTS} connections: {rate:.0f}")
        return found

    async def at_half() -> list[float]:
        clients = [Client(port) for _ in range(CLIENTS)]
        free: asyncio.Queue[Client] = asyncio.Queue()
        for one in clients:
            free.put_nowait(one)

        async def ask(at: float, phrase: str) -> float:
            await asyncio.sleep(at - time.perf_counter())
            own = await free.get()
            await own.get(COUNTED + quote(phrase))
            free.put_nowait(own)
            return time.perf_counter() - at  # waiting for a connection counts

        began = time.perf_counter() + 0.1
        n = HALF_RATE * HALF_SECONDS
        return await asyncio.gather(
            *(ask(began + i / HALF_RATE, phrases[i % len(phrases)]) for i in range(n))
        )

    while True:
        await client.get("/api/v1/health")
        if json.loads(client.answer)["ready"]:
            break
    await pages("page of a new phrase")
    await pages("page of a phrase seen before")
    alike = 0
    for phrase, count in zip(phrases, index.count(phrases).tolist(), strict=True):
        await client.get(COUNTED + quote(phrase))
        alike += json.loads(client.answer)["rows"][0]["count"] == count
    print(f"counts as the library has them: {alike} of {len(phrases)}"
          + ("" if alike == len(phrases) else " MISSED"))  # fmt: skip
    for name, work in (
        ("counts, flat out", flat_out),
        (f"counts, {HALF_RATE} a second", at_half),
    ):
        await timed(name, work)
    print(f"memory beside the maps: {anonymous_mb(process)} MB")
    word = quote(phrases[0])
    for path in (
        f"/panel/paraphrases?q={word}", f"/compare?a={word}&b={quote(phrases[1])}",
        f"/sentence?s=he+saw+the+[{word}]+there",
    ):  # fmt: skip
        took = await Client(port).get(path)
        print(f"{path.partition('?')[0]:<38} first {1000 * took:.0f} ms; memory beside the maps: "
              f"{anonymous_mb(process)} MB", flush=True)  # fmt: skip

    for window in (1, 2, 3):
        for weights in SCHEMES:
            await Client(port).get(f"/panel/contexts?q={word}&window={window}&weights={weights}")
    print(f"every weighting; memory beside the maps: {anonymous_mb(process)} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("index")
    parser.add_argument("--phrases", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=10.0)
    given = parser.parse_args()
    table = SignatureTable.open(given.index)
    draw = np.random.default_rng(1)
    shares = table.strengths / table.strengths.sum()
    rows = draw.choice(len(table), 4 * given.phrases, replace=False, p=shares)
    phrases = [text for text in map(table.text, rows.tolist()) if text.replace(" ", "").isalpha()]
    command = [
        sys.executable,
        "-m",
        "distsim.cli.start",
        "serve",
        given.index,
        "--port",
        "0",
        "--no-log",
    ]
    began = time.perf_counter()
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        port = int(urlsplit(server.stdout.readline().strip()).port or 0)
        asyncio.run(Client(port).get("/api/v1/health"))
        print(f"start: {time.perf_counter() - began:.1f} s, CPU {cpu_seconds(server.pid):.1f} s")
        asyncio.run(Client(port).get("/"))  # waits until what is made ready is
        took, memory = time.perf_counter() - began, anonymous_mb(server.pid)
        print(f"start page: {took:.1f} s, CPU {cpu_seconds(server.pid):.1f} s, {memory} MB")
        asyncio.run(measure(port, server.pid, phrases[: given.phrases], given.seconds,
                            CorpusIndex.open(given.index)))  # fmt: skip
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
