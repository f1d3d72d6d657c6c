"""The terminal of a live demo: links, events, and a few commands that change the fabric."""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from truerail.cli import terminal_output
from truerail.cli.demo import terminal_command
from truerail.cli.demo_folder import faults, troubles
from truerail.cli.oncall import LOCAL_SERVICE
from truerail.errors import CommandError, NoRoomError
from truerail.model import CauseKind
from truerail.model.names import printable
from truerail.outputs.report_words import count
from truerail.simulator import KINDS
from truerail.simulator.live import Entry, LivingFabric

HELP = """Type a word and Enter to take part
  fault [KIND]     start a fault, such as: fault cable-swap, fault storm
  fix WHAT         repair a fault, by its number or by one of its hosts, switches or ports
  list             the active faults
  pause, go        pause the script, and resume it"""

LONGEST_INPUT = 4096


class Stage:
    """One demo's terminal."""

    def __init__(self, fabric: LivingFabric, hosts: int, rails: int, *, quiet: bool) -> None:
        self._fabric, self._director = fabric, fabric.director
        self._hosts, self._rails, self._quiet = hosts, rails, quiet
        self._red, self._green = (
            ("\x1b[31m{}\x1b[0m", "\x1b[32m{}\x1b[0m") if terminal_output.colorful() else ("{}", "{}")
        )
        self._marks = ("x", "+") if terminal_output.ascii_only() else ("✗", "✓")

    def open(self, url: str) -> None:
        """Prints the service's address, and from now on every event."""
        terminal_output.say(self._greeting(url.rstrip("/")))
        if not self._quiet:
            self._director.tell = lambda entry: terminal_output.say(self.line(entry))

    def line(self, entry: Entry) -> str:
        """One event: time, fault or repair, its number, its description."""
        mark = self._green.format(self._marks[1]) if entry.repaired else self._red.format(self._marks[0])
        return f"  {entry.when.astimezone():%H:%M:%S}  {mark} #{entry.standing.number:<3} {entry.summary}"

    @contextmanager
    def listening_to_keys(self) -> Iterator[None]:
        """Reads commands from the terminal while the body runs, if there is one in the foreground."""
        if not _in_foreground():
            yield
            return
        loop = asyncio.get_running_loop()
        loop.add_reader(sys.stdin.fileno(), self._read_words)
        try:
            yield
        finally:
            loop.remove_reader(sys.stdin.fileno())

    def _read_words(self) -> None:
        """Bypasses Python's own buffer, in which a second line would wait unseen."""
        words = os.read(sys.stdin.fileno(), LONGEST_INPUT) if _in_foreground() else b""
        if not words:
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        for line in words.decode("utf-8", "replace").splitlines():
            if answer := self.obey(line):
                terminal_output.say(answer)

    def obey(self, line: str) -> str:
        """Runs a line of commands; returns the response."""
        word, _, rest = line.strip().partition(" ")
        match word:
            case "":
                return ""
            case "fault":
                return self._plant(rest.strip())
            case "fix":
                return self._fix(rest)
            case "list":
                return self._list()
            case "pause" | "go":
                self._director.paused = word == "pause"
                return "  the script is paused" if word == "pause" else "  the script resumes"
        return HELP

    def _plant(self, word: str) -> str:
        try:
            cabling, traffic = troubles([word] if word else [CauseKind.CABLE_SWAP.value])
            if traffic:
                return self._reported(self._director.disturb(traffic[0], stays=True).number)
            standing = self._director.plant(faults(cabling)[0])
        except CommandError as error:
            return f"  {printable(str(error), 200)}; there are {', '.join(KINDS)}"
        except NoRoomError as error:
            return f"  not possible now: {error}"
        return self._reported(standing.number)

    def _fix(self, what: str) -> str:
        try:
            return self._reported(self._director.fix(what).number)
        except LookupError as error:
            return f"  {printable(str(error.args[0]), 200)}"

    def _reported(self, number: int) -> str:
        """The event's line; empty if the event is printed anyway."""
        return f"  #{number}" if self._quiet else ""

    def _list(self) -> str:
        lines = [
            f"  #{standing.number:<3} {standing.kind:<14} {', '.join(standing.cause.subjects[:3])}"
            for standing in self._director.standing
        ]
        return "\n".join(lines) or "  no active fault"

    def _greeting(self, url: str) -> str:
        switches = count(len(self._fabric.plan.devices) - self._hosts, "switch", "switches")
        size = f"{count(self._hosts, 'host')}, {count(self._rails, 'rail')} and {switches}"
        lines = [
            f"A simulated fabric of {size} is running; truerail monitors it like a real one.",
            "",
            f"  Open {url}/",
            "",
            "Start here",
            *(f"  {what:<22} {where}" for what, where in self._sights(url)),
            "",
            "For Prometheus and Grafana",
            *(f"  {line}" for line in for_prometheus(url)),
            "",
            *(HELP.splitlines() if _in_foreground() else ()),
            "Ctrl-C stops it.",
        ]
        if not self._quiet:
            lines += ["", "Events (the page follows within seconds; LLDP entries take up to 20 s to expire)"]
        return "\n".join(lines)

    def _sights(self, url: str) -> Iterator[tuple[str, str]]:
        """Links worth opening: the main cause, a move, and further pages."""
        standing = self._director.standing
        widest = max(standing, key=lambda one: len(one.cause.cables), default=None)
        if widest:
            subjects = ", ".join(widest.cause.subjects[:2])
            of = f" of {subjects}" if subjects else ""
            yield "the largest cause", f"{widest.kind}{of}, listed first beside the map"
        port = next((one.cause.cables[0] for one in standing if one.kind is CauseKind.CABLE_SWAP), None)
        if port:
            place = "hosts" if self._fabric.living.world.is_host(port.device) else "switches"
            yield "two cables swapped", f"{url}/{place}/{port.device}"
            service = "" if url == LOCAL_SERVICE else f" --service {url}"
            yield "on the command line", f"{terminal_command()} where {port}{service}"
        if jobs := self._fabric.traffic.jobs:
            yield "the jobs that run", f"{url}/jobs: which of them the faults affect, such as {jobs[0].name}"
        yield "the technician's list", f"{url}/punch (steps are ticked off automatically; works on a phone)"
        yield "the API", f"{url}/openapi.json"


def for_prometheus(url: str) -> tuple[str, str]:
    """How to monitor this service with Prometheus and Grafana: the first line is a whole prometheus.yml, in
    one line.
    """
    scrape = f'job_name: truerail, honor_labels: true, http_sd_configs: [{{url: "{url}/sd"}}]'
    return (
        f"scrape_configs: [{{{scrape}}}]",
        f"rules and dashboards: {terminal_command()} monitoring export DIR --truerail {url}",
    )


def _in_foreground() -> bool:
    """Whether stdin is a terminal that this process may read without being stopped for it."""
    try:
        return sys.stdin.isatty() and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError):
        return False
