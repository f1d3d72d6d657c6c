"""The ten questions of on-call, asked by command and by page of a service whose fabric, and so the truth, is simulated.

A fabric runs well, then has a swapped pair of cables and a PFC storm, then both are repaired. Each question is asked
during the fault and after it, of now and of the time before, and its answer is compared with the simulator's truth.

python -m benchmarks.service.questions [--hosts 64 1000] [--write PAGE]
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import urlencode

from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as NotShownError

from tests.history_site import RecordedSite
from tests.journal_helpers import Settings
from tests.page_site import Site, chromium
from truerail.history.past_counters import counters_at
from truerail.journal import open_journal
from truerail.model import CauseKind
from truerail.simulator import Fault
from truerail.simulator.fabric.demo_fabric import living_shape
from truerail.simulator.traffic import FlowFault, FlowFaultKind

ROUNDS = 16
SECONDS = 10.0
MOST_SECONDS = 10.0
LIMIT = 2.0
CASES = ("fault, now", "none, before it", "none, now", "fault, back then")
TEXT = "() => document.querySelector('main')?.innerText ?? ''"


class Truth(NamedTuple):
    """What the simulator did: the port that storms, the host with two cables exchanged, and one of them."""

    culprit: str
    host: str
    gpu: int
    planned: str
    actual: str
    leaf: str
    """Of that one, as planned."""
    on_leaf: int
    """Hosts with a cable on it."""


@dataclass(frozen=True)
class Question:
    """`command` and `page` may have names of `Truth`. `fault` and `calm` are words of a true answer, `page_calm` those
    of a page with other words, `absent` those of an untrue one without the fault; `only` are the cases in which it can
    be asked.
    """

    words: str
    command: tuple[str, ...]
    page: str
    query: dict[str, str]
    fault: tuple[str, ...]
    calm: tuple[str, ...] = ()
    page_calm: tuple[str, ...] | None = None
    absent: tuple[str, ...] = ()
    only: tuple[str, ...] = CASES


NOW = (CASES[0], CASES[2])
NODES = "gpu-[{first}-{last}]"
QUESTIONS = (
    Question(
        "Is the network slowing these hosts' job?", ("job", NODES), "/ask", {"q": "job", "nodes": NODES},
        ("{culprit}",), ("every pair of hosts stays within its rail",),
    ),
    Question(
        "Which cable is this GPU on?", ("where", "{host} GPU {gpu}"), "/ask",
        {"q": "where", "port": "{host} GPU {gpu}"}, ("{planned}", "{actual}"), ("{planned}", "is right"),
    ),
    Question(
        "What changed in 2 hours?", ("diff", "--since", "2h"), "/changes", {}, ("{culprit}", "{host}"),
        ("{culprit}", "{host}"), only=NOW,
    ),
    Question(
        "Can I drain this leaf?", ("drain", "{leaf}"), "/ask", {"q": "drain", "of": "{leaf}"},
        ("without {leaf} {on_leaf} hosts",), ("without {leaf} {on_leaf} hosts",),
    ),
    Question("Who is the storm's culprit?", ("storm",), "/storm", {}, ("{culprit}",), ("no pfc storm",)),
    Question(
        "Polarization or a bad link?", ("status",), "/causes", {}, ("{culprit}", "{host}"),
        ("{cables} cables are right",), ("cause",), absent=("{culprit}", "swapped"),
    ),
    Question("Which rail is out of balance, and why?", ("rails",), "/ask", {"q": "rails"}, ("{culprit}",), ("right",)),
    Question(
        "Why do you think so?", ("why", "storm {culprit}"), "/causes/{key}", {}, ("{culprit}", "explains"),
        only=CASES[:1],
    ),
    Question(
        "What was it then?", ("status",), "/causes", {}, ("{culprit}", "{host}"), ("{cables} cables are right",),
        ("cause",), absent=("{culprit}", "swapped"), only=(CASES[1], CASES[3]),
    ),
    Question(
        "Who else if spine-1 dies?", ("blast", "spine-1"), "/ask", {"q": "blast", "of": "spine-1"},
        ("no host loses its nic",), ("no host loses its nic",),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Answered:
    """Seconds of a whole command and of a page from its address to the answer; `wrong` says what is untrue or late."""

    command: float
    page: float
    wrong: tuple[str, ...]


def measure(hosts: int, page: Page, folder: Path) -> dict[tuple[str, str], Answered]:
    """Every question in every case, on a fabric of so many hosts."""
    began = datetime.now(UTC) - timedelta(seconds=1000 + 10 * ROUNDS * SECONDS)
    site = RecordedSite(folder / "store", shape=living_shape(hosts, 8, [FlowFaultKind.STORM]), began=began)
    site.journal = open_journal(Settings(f"sqlite:///{folder}/journal.db"))  # type: ignore[arg-type]  # frozen
    director = site.site.director
    for standing in director.standing:
        director.fix(standing.number)
    site.site.settle()
    _watched(site, ROUNDS)
    before = site.now
    swap = director.plant(Fault(CauseKind.CABLE_SWAP, "one-host"))
    storm = director.disturb(FlowFault(FlowFaultKind.STORM), stays=True)
    site.site.settle()
    _watched(site, ROUNDS)
    faulty = site.now
    asker = _Asker(site, page, _truth(site, [str(port) for port in swap.cause.cables], storm.cause.subjects[0]))
    found = asker.all(CASES[0], None) | asker.all(CASES[1], before)
    for one in (swap, storm):
        director.fix(one)
    site.site.settle()
    _watched(site, 2 * ROUNDS)
    return found | asker.all(CASES[2], None) | asker.all(CASES[3], faulty)


def _watched(site: RecordedSite, rounds: int) -> None:
    """So many rounds, in a thread: the browser's event loop is in this one."""
    with ThreadPoolExecutor(1) as elsewhere:
        elsewhere.submit(site.rounds, rounds, SECONDS).result()
    site.write()


def _truth(site: RecordedSite, swapped: list[str], culprit: str) -> Truth:
    plan = site.plan
    ends = {str(cable.a): cable for cable in plan.host_cables if str(cable.a) in swapped}
    cable, other = (ends[port] for port in swapped)
    rails = sorted({one.rail for one in plan.host_cables if one.rail is not None})
    on_leaf = {one.a.device for one in plan.host_cables if one.b.device == cable.b.device}
    gpu = rails.index(cable.rail or 0)
    return Truth(culprit, cable.a.device, gpu, str(cable.b), str(other.b), cable.b.device, len(on_leaf))


class _Asker:
    """Asks the newest publication of a site, by command and by page."""

    def __init__(self, site: RecordedSite, page: Page, truth: Truth) -> None:
        self.site, self.page, self.truth = site, page, truth

    def all(self, case: str, at: datetime | None) -> dict[tuple[str, str], Answered]:
        """Every question that can be asked in this case."""
        publication, journal = self.site.publication, self.site.journal
        storms = (
            [one for one in publication.evaluation.causes if one.kind is CauseKind.PFC_STORM] if publication else []
        )
        names = self.truth._asdict() | {
            "cables": f"{len(self.site.plan.cables):,}",
            "key": storms[0].key if storms else "",
        }
        hosts = sorted(name for name in self.site.plan.devices if name.startswith("gpu-"))
        names |= {"first": hosts[0].removeprefix("gpu-"), "last": hosts[-1].removeprefix("gpu-")}
        with Site(publication, history={"path": self.site.folder.path}) as web:
            web.tower.history = journal  # type: ignore[assignment]  # the journal itself, not a list of rows
            vars(web.tower)["counted"] = partial(counters_at, self.site.folder)
            web.tower.moment = self.site.now
            self._command(web.url, ("status",))  # the first question of a service computes what all share
            asked = [one for one in QUESTIONS if case in one.only]
            return {
                (one.words, case): self._ask(web.url, one, names, at, fault=case.startswith("fault")) for one in asked
            }

    def _ask(self, url: str, one: Question, names: dict[str, object], at: datetime | None, *, fault: bool) -> Answered:
        command = tuple(word.format(**names) for word in one.command)
        query = {key: value.format(**names) for key, value in one.query.items()}
        command += () if at is None else ("--at", at.isoformat())
        query |= {} if at is None else {"at": at.isoformat()}
        wanted = [word.format(**names).lower() for word in (one.fault if fault else one.calm)]
        by_page = one.page_calm if one.page_calm is not None and not fault else None
        shown = wanted if by_page is None else list(by_page)
        absent = [] if fault else [word.format(**names).lower() for word in one.absent]
        began = time.perf_counter()
        text = _plain(self._command(url, command))
        commanded = time.perf_counter() - began
        wrong = [f"`{command[0]}` lacks {word!r}" for word in wanted if word not in text]
        wrong += [f"`{command[0]}` has {word!r}, and lacks the truth" for word in absent if word in text]
        began = time.perf_counter()
        path = one.page.format(**names) + (f"?{urlencode(query)}" if query else "")
        lacks = self._look(f"{url}{path}", shown)
        paged = time.perf_counter() - began
        wrong += [f"{path} lacks {word!r}" for word in lacks]
        wrong += [f"{path} has {word!r}, and lacks the truth" for word in absent if word in _plain(self._text())]
        wrong += [
            f"{name} takes {took:.1f} s" for name, took in (("command", commanded), ("page", paged)) if took > LIMIT
        ]
        return Answered(commanded, paged, tuple(wrong))

    def _command(self, url: str, words: Sequence[str]) -> str:
        done = subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", "truerail", *words, "--service", url], capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    def _look(self, url: str, wanted: Sequence[str]) -> list[str]:
        """The words that the page does not show in time."""
        self.page.goto(url, wait_until="commit")
        shows = "words => words.every(word => (document.querySelector('main')?.innerText ?? '').toLowerCase()"
        shows += ".replace(/\\s+/g, ' ').includes(word))"
        try:
            self.page.wait_for_function(shows, arg=list(wanted), timeout=MOST_SECONDS * 1000)
        except NotShownError:
            return [word for word in wanted if word not in _plain(self._text())]
        return []

    def _text(self) -> str:
        return str(self.page.evaluate(TEXT))


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def report(found: dict[int, dict[tuple[str, str], Answered]]) -> Iterator[str]:
    """The page."""
    yield __doc__.partition("\n\npython")[0].strip() if __doc__ else ""
    yield f"""
`make bench` writes this page. Seconds of the whole command with the start of its process, then of the page in a
headless Chromium from its address to the answer, each once, with the service on the same two cores. The aim is
{LIMIT:g} s. ✓ is an answer that has what the simulator knows; `job` asks for all hosts.
"""
    for hosts, answers in found.items():
        yield f"## {hosts:,} hosts of 8 rails\n"
        yield f"| question | {' | '.join(CASES)} |\n|---|{'---|' * len(CASES)}"
        for one in QUESTIONS:
            yield f"| {one.words} | {' | '.join(_cell(answers.get((one.words, case))) for case in CASES)} |"
        faults = [f"- {words} ({case}): {why}" for (words, case), one in answers.items() for why in one.wrong]
        yield "\n" + ("\n".join(faults) if faults else "Every answer is true and in time.") + "\n"


def _cell(one: Answered | None) -> str:
    if one is None:
        return "–"
    untrue = any("lacks" in why for why in one.wrong)
    return f"{'✗' if untrue else '✓'} {one.command:.2f}, {one.page:.2f}"


def main() -> None:
    """Measures, prints, and writes where it is told to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, nargs="+", default=[64, 1000])
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    found = {}
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        for hosts in options.hosts:
            with TemporaryDirectory() as folder:
                found[hosts] = measure(hosts, page, Path(folder))
    text = "# The questions of on-call, as measured\n\n" + "\n".join(report(found))
    sys.stdout.write(text)
    if options.write:
        options.write.write_text(text)


if __name__ == "__main__":
    main()
