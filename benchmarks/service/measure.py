"""The service under load: what an evaluation costs until it is published, and how long readers wait meanwhile.

    python -m benchmarks.service.measure [--hosts 12500] [--write PAGE]

The service is the real one (watch, evaluate, journal in SQLite, API) but for the devices: their answers are simulated
beforehand, in two versions with different faults, and evaluated in turn without a pause, so that readers always meet a
running evaluation. Readers are separate processes with connections of their own.
"""

import argparse
import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from rich.console import Console

READERS, STREAMS = 50, 20
THINK_SECONDS = 1.0
"""A reader asks, reads the answer for so long on average, and asks again."""
EVALUATIONS = 6
ANSWERS = 500
"""So many are taken in at a time, as they come from a fleet."""
PATHS = {
    "where": "/api/v1/where?port=gpu-{host}:gpu{gpu}",
    "findings": "/api/v1/findings?severity=critical&limit=100",
    "cables": "/api/v1/cables?rail={gpu}&limit=100",
    "devices": "/api/v1/devices?role=host&limit=100",
    "causes": "/api/v1/causes",
    "fabric": "/api/v1/fabric",
}
GOALS_MS = {"where": 50, "findings": 200, "cables": 200, "devices": 200, "causes": 200}


@dataclass(frozen=True, slots=True)
class Figures:
    """What the server said of itself: seconds from a snapshot to its publication, megabytes, and seconds to start."""

    evaluated: list[float]
    written: list[float]
    """Seconds of each write of the view."""
    loop_held: float
    judge_mb: float
    front_mb: float
    resumed: float


# --- the server -------------------------------------------------------------------------------------------------------


def serve(hosts: int, port: int, folder: Path) -> None:
    """Serves a fabric of this size and evaluates without a pause until standard input ends; prints what it measured."""
    from truerail.poller.event_loop import run
    from truerail.roles.front import front
    from truerail.roles.post import Post
    from truerail.roles.service import NICE, Supervisor, freeze, listening_at
    from truerail.service.settings import Http, Journal, Settings
    from truerail.viewfile.view_file import NAME
    from truerail.web.http_server import listen

    plan, versions = _fabric(hosts)
    settings = Settings(
        inventory=folder / "none.yaml", http=Http(port=port), journal=Journal(url=f"sqlite:///{folder}/journal.db")
    )
    post = Post(folder / NAME, folder / "link", listening_at(folder / "link"), listen("127.0.0.1", port), "")

    def judge(started: Any) -> None:
        os.nice(NICE)
        run(_judge(settings, plan, versions, replace(post, started=started), folder))
        os.kill(os.getppid(), signal.SIGTERM)  # all is measured: the service ends

    def serving(started: Any) -> None:
        begun = asyncio.Event()

        def listens() -> None:
            started()
            begun.set()

        run(_held(front(settings, replace(post, started=listens), None), begun, folder))

    freeze()
    Supervisor({"judge": judge, "front": serving}, reloads=False).run()
    measured = {**json.loads((folder / "judge.json").read_text()), **json.loads((folder / "front.json").read_text())}
    sys.stdout.write(json.dumps(measured) + "\n")


async def _judge(settings: Any, plan: Any, versions: list[list[Any]], post: Any, folder: Path) -> None:
    """The judge, which is given answers instead of polling for them."""
    from truerail.journal import open_journal
    from truerail.model.pause import garbage_of_the_young_only
    from truerail.outputs.metrics import Exposition
    from truerail.roles.judge import SWITCH_SECONDS
    from truerail.roles.judge_link import JudgeLink
    from truerail.service.evaluator import Evaluator
    from truerail.service.plans import PlanInForce
    from truerail.service.round_loop import Watch
    from truerail.service.watch_service import WatchService
    from truerail.viewfile.publishing import PublicationWriter
    from truerail.web.application import open_app

    sys.setswitchinterval(SWITCH_SECONDS)
    garbage_of_the_young_only()
    evaluator, exposition, journal = Evaluator.begin(settings), Exposition(), open_journal(settings.journal)
    watch = Watch(settings, [], PlanInForce(lambda: plan, plan), _Nobody(), evaluator, journal)
    watch.asking.latest.keep(dict.fromkeys(plan.devices, ""))
    evaluator.prepare.append(exposition.page_of)
    service = WatchService(watch)
    link = JudgeLink(service, lambda: open_app(service, settings), PublicationWriter(post.view), exposition)
    stop = asyncio.Event()
    tasks = [asyncio.create_task(link.run(post.link, lambda: None)), asyncio.create_task(watch.run(stop))]
    post.started()
    evaluated: list[float] = []
    written: list[float] = []
    ended = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
    while not ended.done() or len(evaluated) < EVALUATIONS:
        await _hear(watch, versions[len(evaluated) % 2])
        before, began = watch.evaluations, time.monotonic()
        watch.evaluate_again()
        while watch.evaluations == before:
            await asyncio.sleep(0.005)
        evaluated.append(time.monotonic() - began)
        written.append(link.figures.get("view_write_seconds", 0.0))
    stop.set()
    await tasks[1]
    tasks[0].cancel()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    began = time.monotonic()
    Evaluator.begin(settings).resume(open_journal(settings.journal))
    found = {"evaluated": evaluated, "written": written, "judge_mb": peak, "resumed": time.monotonic() - began}
    (folder / "judge.json").write_text(json.dumps(found))


async def _held(serving: Any, begun: asyncio.Event, folder: Path) -> None:
    """Runs the front, and writes the longest time for which its event loop could do nothing else since it serves, and
    its memory.
    """
    stop = asyncio.Event()
    held = asyncio.create_task(_longest_hold(begun, stop))
    await serving
    stop.set()
    peak = _unshared_mb()
    (folder / "front.json").write_text(json.dumps({"loop_held": await held, "front_mb": peak}))


def _unshared_mb() -> float:
    """The memory of this process, its share of what it shares with others: the benchmark's own fabric is shared."""
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


async def _hear(watch: Any, answers: list[Any]) -> None:
    """Takes answers in while others are served."""
    for start in range(0, len(answers), ANSWERS):
        watch.asking.latest.put(answers[start : start + ANSWERS])
        await asyncio.sleep(0)


async def _longest_hold(begun: asyncio.Event, stop: asyncio.Event) -> float:
    """The longest time for which the event loop could do nothing else."""
    await begun.wait()
    longest = 0.0
    while not stop.is_set():
        began = time.monotonic()
        await asyncio.sleep(0.01)
        longest = max(longest, time.monotonic() - began - 0.01)
    return longest


class _Nobody:
    """A transport without devices."""

    async def ask(self, target: Any, commands: Sequence[str]) -> list[Any]:
        raise AssertionError("nobody is asked")

    async def close(self) -> None:
        return


def _fabric(hosts: int) -> tuple[Any, list[list[Any]]]:
    from truerail.simulator import Noise, Shape, simulate

    shape = Shape(hosts=hosts, rails=8, pods=max(1, round(hosts / 250)), spines=16, uplinks=16)
    noise = Noise(unreachable=0.01, deaf=0.01)
    made = [simulate(shape, 20, noise, seed=seed, folders="inventory") for seed in (1, 2)]
    return made[0].plan, [list(one.snapshot().readings) for one in made]


# --- the readers ------------------------------------------------------------------------------------------------------


async def read(hosts: int, port: int, seconds: float) -> None:
    """Readers and event streams for so many seconds; prints milliseconds by kind of question, and events seen."""
    found: dict[str, list[float]] = {name: [] for name in PATHS}
    ends = time.monotonic() + seconds
    events = [0]
    streams = [asyncio.create_task(_follow(port, events)) for _ in range(STREAMS)]
    await asyncio.gather(*(_reader(number, hosts, port, ends, found) for number in range(READERS)))
    for stream in streams:
        stream.cancel()
    await asyncio.gather(*streams, return_exceptions=True)
    sys.stdout.write(json.dumps([found, events[0]]))


async def _reader(number: int, hosts: int, port: int, ends: float, found: dict[str, list[float]]) -> None:
    rng = Random(number)  # noqa: S311 - spreads questions, guards nothing
    names = list(PATHS)
    connection = await asyncio.open_connection("127.0.0.1", port)
    await asyncio.sleep(rng.random() * THINK_SECONDS)
    while time.monotonic() < ends:
        name = "where" if rng.random() < 0.5 else rng.choice(names)
        host = str(rng.randint(1, hosts)).zfill(max(3, len(str(hosts))))
        path = PATHS[name].format(host=host, gpu=rng.randint(0, 7))
        if connection[0].at_eof():  # the service closes connections that were idle for long
            connection = await asyncio.open_connection("127.0.0.1", port)
        began = time.monotonic()
        connection[1].write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        status = await _answer(connection[0])
        found[name].append((time.monotonic() - began) * 1000 if status == 200 else float("inf"))
        await asyncio.sleep(min(rng.expovariate(1 / THINK_SECONDS), 4 * THINK_SECONDS))


async def _answer(reader: asyncio.StreamReader) -> int:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    status = int(head.split(" ", 2)[1])
    length = next(int(line.split(":")[1]) for line in head.splitlines() if line.lower().startswith("content-length"))
    await reader.readexactly(length)
    return status


async def _follow(port: int, events: list[int]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    writer.write(f"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    while line := await reader.readline():
        events[0] += line.startswith(b"event:")


# --- the report -------------------------------------------------------------------------------------------------------


def measured(hosts: int, seconds: float, port: int = 18765) -> tuple[Figures, dict[str, list[float]], int]:
    """Runs both sides."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.service.measure", "--hosts", str(hosts), "--port", str(port)]
        server = subprocess.Popen(  # noqa: S603 - this file, in a process of its own
            [*command, "--serve", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        _wait(port, server)
        client = subprocess.run(  # noqa: S603 - this file, in a process of its own
            [*command, "--read", "--seconds", str(seconds)], stdout=subprocess.PIPE, text=True, check=True
        )
        out, _ = server.communicate(timeout=600)
    times, events = json.loads(client.stdout)
    return Figures(**json.loads(out.splitlines()[-1])), times, events


def _wait(port: int, server: "subprocess.Popen[str]") -> None:
    from urllib.error import URLError
    from urllib.request import urlopen

    while server.poll() is None:
        with suppress(URLError, OSError):
            urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5).close()
            return
        time.sleep(0.5)
    raise SystemExit("the server ended early")


def report(hosts: int, figures: Figures, times: dict[str, list[float]], events: int) -> str:
    """The page as Markdown."""
    rows = "".join(_row(name, sorted(found)) for name, found in times.items() if found)
    evaluated = sorted(figures.evaluated[1:])
    return f"""# The service under load, as measured

`make bench` writes this page, on {os.cpu_count()} cores with Python {sys.version.split()[0]}; the readers
run on the same cores. {hosts:,} hosts of 8 rails ({hosts * 8:,} GPUs), 20 faults, evaluated again and again without a
pause; {READERS} readers, each asking once every {THINK_SECONDS:g} s on average, {STREAMS} event streams.

| what | measured | goal |
|---|---|---|
| from a snapshot to its publication, median of {len(evaluated)} | {evaluated[len(evaluated) // 2]:.1f} s | 5 s |
| the same, worst | {evaluated[-1]:.1f} s | |
| writing the view after it, median | {sorted(figures.written)[len(figures.written) // 2]:.1f} s | |
| peak memory of the judge | {figures.judge_mb:,.0f} MB | 3,000 MB |
| memory of the front at the end (its share of shared pages) | {figures.front_mb:,.0f} MB | |
| going on from the journal at the start | {figures.resumed:.2f} s | 5 s |
| longest time for which the front's event loop was held | {figures.loop_held * 1000:.0f} ms | |
| events that the streams took | {events:,} | |

| question | asked | median ms | p99 ms | worst ms | goal for p99 |
|---|---|---|---|---|---|
{rows}"""


def _row(name: str, found: list[float]) -> str:
    goal = f"{GOALS_MS[name]} ms" if name in GOALS_MS else ""
    p99 = found[min(len(found) - 1, int(len(found) * 0.99))]
    return f"| `{name}` | {len(found):,} | {found[len(found) // 2]:.1f} | {p99:.1f} | {found[-1]:.1f} | {goal} |\n"


def main() -> int:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, help="write the report to this file")
    parser.add_argument("--hosts", type=int, default=12_500)
    parser.add_argument("--seconds", type=float, default=45.0, help="how long readers ask")
    parser.add_argument("--port", type=int, default=18765, help=argparse.SUPPRESS)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--read", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.hosts, options.port, options.serve)
    elif options.read:
        asyncio.run(read(options.hosts, options.port, options.seconds))
    else:
        text = report(options.hosts, *measured(options.hosts, options.seconds, options.port))
        if options.write:
            options.write.write_text(text, encoding="utf-8")
        Console().print(text, markup=False, highlight=False, soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
