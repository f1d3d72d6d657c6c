"""A year of a 100,000-GPU fabric in the journal: how large it is, and how long each question takes.

    python -m benchmarks.speed.journal [--write PAGE] [--days 365] [--hosts 12500]

Every day one cable in a hundred is moved to a wrong port or pulled, and put right some hours later: each time two
changes of a link, and a finding and a cause that appear and are resolved. Rounds are kept for 35 days, one every 30 s.
Rounds are written by what writes them in the service, some thousands in one transaction.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

from rich.console import Console

from truerail.journal import Changes, Journal, Lives
from truerail.journal.round_changes import EntryRow, Explained, LinkState
from truerail.journal.round_writer import write_round
from truerail.model import Cause, CauseKind, Evidence, Finding, Neighbor, NetLink, Severity
from truerail.model.history import EventKind, FindingEvent, LinkChange, RoundRecord, RowRange
from truerail.model.life import Life, LifeState

RAILS = 8
HOSTS_A_POD = 128
CHURN = 0.01
ROUND = timedelta(seconds=30)
KEEP_ROUNDS = timedelta(days=35)
START = datetime(2026, 1, 1, tzinfo=UTC)
REPEATS = 5


@dataclass(frozen=True, slots=True)
class Fault:
    """One cable that is wrong for a while."""

    finding: Finding
    link: LinkChange
    begins: datetime
    ends: datetime

    @property
    def port(self) -> str:
        """The cable's nearer end."""
        return self.finding.subject

    @property
    def kind(self) -> CauseKind:
        """Moved, or without link."""
        return CauseKind.CABLE_MOVE if self.link.now else CauseKind.LINK_DOWN


def ends_of(cable: int) -> tuple[str, str, int]:
    """The two ends of a cable and its rail."""
    host, rail = divmod(cable, RAILS)
    pod, slot = divmod(host, HOSTS_A_POD)
    return f"gpu-{host:05}/enp{26 + 34 * rail}s0f0np0", f"p{pod}-leaf-{rail}/swp{slot + 1}", rail


def fault(cable: int, rng: random.Random, day: int) -> Fault:
    """A cable that is moved, or pulled, at some time of a day."""
    port, planned, rail = ends_of(cable)
    leaf, _, swp = planned.partition("/")
    moved = rng.random() < 0.5
    seen = f"{leaf[:-1]}{(rail + 1) % RAILS}/{swp}" if moved else None
    begins = START + timedelta(days=day, seconds=rng.randrange(86400) // 30 * 30)
    host, _, nic = port.partition("/")
    finding = Finding(
        "CAB001" if moved else "CAB003",
        "nic_on_wrong_rail" if moved else "cable_missing",
        Severity.CRITICAL,
        port,
        summary=f"{port} (rail {rail}) is cabled to {seen}, another rail's leaf" if moved else f"{port} sees no link",
        action=f"Move the cable to {planned}, unless its cause says otherwise: it may be half of a swap, or a label.",
        expected=planned,
        observed=seen,
        rail=rail,
        evidence=(
            Evidence(host, "lldp_host", begins, Neighbor(nic, "b8:ce:f6:00:01:02", "mac", leaf, swp, "ifname", swp)),
            Evidence(host, "net_link", begins, NetLink(nic, "b8:ce:f6:00:01:02", 9000, "UP", ("UP", "LOWER_UP"), 400)),
        ),
    )
    state = "wrong" if moved else "missing"
    link = LinkChange(0, begins, port, planned, seen, "right", state)
    return Fault(finding, link, begins, begins + timedelta(minutes=rng.randrange(20, 2000)))


def rounds(cables: int, days: int) -> Iterator[Changes]:
    """Every round in which something changed, in the order of time."""
    rng = random.Random("a year of faults")  # noqa: S311 - reproducible is what is wanted, not secret
    yield Changes(START, link_states={p: LinkState(p, b, "right") for p, b, _ in map(ends_of, range(cables))})
    episodes: dict[str, int] = {}
    open_faults: list[Fault] = []
    for day in range(days):
        fresh = [fault(cable, rng, day) for cable in rng.sample(range(cables), int(cables * CHURN))]
        moments = [(one.begins, one, True) for one in fresh]
        midnight = START + timedelta(days=day + 1)
        over = [one for one in (*open_faults, *fresh) if one.ends < midnight]
        moments += [(one.ends, one, False) for one in over]
        open_faults = [one for one in (*open_faults, *fresh) if one.ends >= midnight]
        yield from _rounds_of_a_day(sorted(moments, key=lambda one: one[0]), episodes)


def _rounds_of_a_day(moments: list[tuple[datetime, Fault, bool]], episodes: dict[str, int]) -> Iterator[Changes]:
    """Four changes at a time fall into one round."""
    for start in range(0, len(moments), 4):
        group = moments[start : start + 4]
        yield _changes(group[-1][0], [(one, begins) for _, one, begins in group], episodes)


def _changes(at: datetime, reported: list[tuple[Fault, bool]], episodes: dict[str, int]) -> Changes:
    findings: dict[str, EntryRow[Explained]] = {}
    causes, events, links, states = {}, [], [], {}
    for one, begins in reported:
        key = one.finding.id
        episodes[key] = episodes.get(key, 0) + begins
        state = LifeState.RESOLVED if not begins else LifeState.NEW if episodes[key] == 1 else LifeState.REGRESSED
        life = Life(key, state, one.begins, one.begins, at, None if begins else at, episodes[key])
        cause = Cause("C1", one.kind, (one.port,), one.finding.summary, one.finding.action, explains=(key,))
        findings[key] = EntryRow(life, (one.finding, cause.key), begins, not begins, (one.begins,))
        causes[cause.key] = EntryRow(replace(life, id=cause.key), cause, begins, not begins, (one.begins,))
        kind = EventKind.RESOLVED if not begins else EventKind.APPEARED if episodes[key] == 1 else EventKind.REGRESSED
        events.append(FindingEvent(0, at, kind, key, one.finding.rule, "critical", one.port, one.finding.summary))
        link = one.link if begins else _back(one.link)
        links.append(replace(link, at=at))
        states[one.port] = LinkState(one.port, link.now, link.now_state, at)
    return Changes(at, events=tuple(events), links=tuple(links), findings=findings, causes=causes, link_states=states)


def _back(link: LinkChange) -> LinkChange:
    return replace(link, was=link.now, now=link.was, was_state=link.now_state, now_state=link.was_state)


def record(number: int, changes: Changes, cables: int) -> RoundRecord:
    """A round in numbers."""
    counts = {"critical": 12, "warning": 3, "info": 0}
    return RoundRecord(
        number, changes.at, 4.2, 13400, 13398, cables, cables - 20, 12, 8, 0, counts, 5, "0123456789abcdef"
    )


def fill(journal: Journal, cables: int, days: int, progress: Console) -> tuple[datetime, int]:
    """Writes the year, many rounds in one transaction; its end, and the number of the last round."""
    written = enumerate(_all_rounds(cables, days), 1)
    at, number = START, 0
    while chunk := list(islice(written, 5000)):
        with journal.writing() as connection:
            for number, changes in chunk:
                write_round(connection, record(number, changes, cables), changes)
        at = chunk[-1][1].at
        progress.print(f"{at.date()}: round {number}")
    return at, number


def _all_rounds(cables: int, days: int) -> Iterator[Changes]:
    """Rounds with changes, and in the last days the quiet ones between them."""
    quiet_from = START + timedelta(days=days) - KEEP_ROUNDS
    before = START
    for changes in rounds(cables, days):
        at = max(before + ROUND, quiet_from)
        while at < changes.at:
            yield Changes(at)
            at += ROUND
        yield changes
        before = changes.at


def writing(journal: Journal, at: datetime, number: int, cables: int) -> float:
    """The longest of some writes of one round, in seconds: four cables that moved."""
    rng = random.Random("some more")  # noqa: S311 - reproducible is what is wanted, not secret
    longest = 0.0
    for turn in range(1, 50):
        reported = [(fault(cable, rng, 0), True) for cable in rng.sample(range(cables), 4)]
        changes = _changes(at + turn * ROUND, reported, {})
        began = time.perf_counter()
        journal.record(record(number + turn, changes, cables), changes)
        longest = max(longest, time.perf_counter() - began)
    return longest


def questions(journal: Journal, end: datetime, cables: int) -> dict[str, Callable[[], object]]:
    """What on-call asks, by its name in the page."""
    two_hours, middle = timedelta(hours=2), START + (end - START) / 2
    host, leaf = "gpu-00042", "p0-leaf-3"
    ports = [ends_of(cable)[0] for cable in range(cables)]
    page = RowRange(1000)
    pod = [f"gpu-{host:05}" for host in range(HOSTS_A_POD)]

    def both(start: datetime, until: datetime, devices: list[str] | None, page: RowRange) -> tuple[int, int]:
        links = journal.link_changes(start, until, devices=devices, page=page)
        return len(links), len(journal.finding_events(start, until, devices=devices, page=page))

    return {
        "open findings": lambda: journal.findings(page=page),
        "`diff` of the last 2 h": lambda: both(end - two_hours, end, None, page),
        "`diff` of 2 h half a year ago": lambda: both(middle - two_hours, middle, None, page),
        "`diff` of the last 2 h, one pod": lambda: both(end - two_hours, end, pod, page),
        "`timeline` of a host (and its ports), whole year": lambda: both(START, end, [host], page),
        "`timeline` of a leaf (and its ports), whole year": lambda: both(START, end, [leaf], page),
        "link changes of one pod, whole year, 1,000 of them": lambda: both(START, end, pod, page),
        "findings resolved in the last week, 1,000 of them": lambda: journal.findings(
            resolved_since=end - timedelta(days=7), page=page
        ),
        "causes resolved in the last week, 1,000 of them": lambda: journal.causes(
            resolved_since=end - timedelta(days=7), page=page
        ),
        "since when each of a host's cables is as it is": lambda: journal.link_since(ports[:RAILS]),
        "since when every cable is as it is": lambda: journal.link_since(ports),
        "the last 100 rounds": lambda: journal.rounds(),
    }


def best(work: Callable[[], object]) -> float:
    """The shortest of several runs, in seconds."""
    shortest = float("inf")
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        shortest = min(shortest, time.perf_counter() - began)
    return shortest


def starting(journal: Journal) -> float:
    """Seconds from a full journal to lives that know it."""
    began = time.perf_counter()
    lives = Lives(timedelta(seconds=120), 4, timedelta(hours=1))
    lives.restore(journal.restore())
    journal.next_number()
    return time.perf_counter() - began


def report(hosts: int, days: int, progress: Console) -> str:
    """Measures, and tells it as a page."""
    cables = hosts * RAILS
    with tempfile.TemporaryDirectory(prefix="truerail-bench-") as folder:
        file = Path(folder) / "journal.db"
        journal = Journal(f"sqlite:///{file}", None, timedelta(days=400), KEEP_ROUNDS)
        end, number = fill(journal, cables, days, progress)
        journal.retain(end)
        size = sum(one.stat().st_size for one in Path(folder).iterdir()) / 1e6
        start = starting(journal)
        taken = {name: best(ask) for name, ask in questions(journal, end, cables).items()}
        worst = writing(journal, end, number, cables)
        began = time.perf_counter()
        deleted = journal.retain(end + timedelta(days=400 - days + 1))
        retained = time.perf_counter() - began
        journal.close()
    rows = "\n".join(f"| {name} | {seconds * 1000:.1f} |" for name, seconds in taken.items())
    return (
        "# The journal, as measured\n\n"
        f"`make bench` writes this page, on {os.cpu_count()} cores with Python {sys.version.split()[0]} and "
        "SQLite.\nAbsolute figures drift with the machine.\n\n"
        f"{days} days of {cables:,} GPU cables ({hosts:,} hosts), {CHURN:.0%} of them moved or pulled and put right "
        f"each day,\nrounds of {KEEP_ROUNDS.days} days every {ROUND.total_seconds():g} s. "
        f"The file is **{size:,.0f} MB**.\n\n"
        "| question | ms |\n|---|---|\n"
        f"{rows}\n\n"
        f"Start from this journal (`Lives.restore`): {start:.2f} s. Longest of 49 rounds with four changes: "
        f"{worst * 1000:.0f} ms.\nDeleting a day that grew too old ({deleted:,} rows): {retained:.2f} s.\n"
    )


def main() -> None:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page here")
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--hosts", type=int, default=12500)
    options = parser.parse_args()
    page = report(options.hosts, options.days, Console(stderr=True))
    if options.write:
        options.write.write_text(page, encoding="utf-8")
    sys.stdout.write(page)


if __name__ == "__main__":
    main()
