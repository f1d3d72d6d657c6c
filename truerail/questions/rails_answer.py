"""The answer of `rails`, and its text: load and cabling of each rail, and hosts out of balance."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from truerail.files.nodesets import fold
from truerail.model.columns import grouped
from truerail.outputs.options import Options
from truerail.outputs.report_words import name, sentence
from truerail.outputs.text.blocks import PORT, QUIET, hanging, heading
from truerail.questions.answer_text import MOST_LINES, cause, finding, more, section, state_word, to_do
from truerail.questions.resolve import rail_words
from truerail.views.pieces import AsOf, CauseLine, FindingLine, StateCount


@dataclass(frozen=True, slots=True)
class RailBalance:
    """One rail over all hosts in question. `load` is the mean share of the line rate on its NICs, 0..1, both directions
    together; `share` the load of its NIC divided by that of the same host's median NIC, the median of all hosts.
    None: not measured.
    """

    rail: int
    name: str
    cables: StateCount
    measured: int
    """Hosts whose NIC on this rail has counters."""
    load: float | None
    share: float | None
    low: str
    """Hosts on which it is out of balance, as a node set."""


@dataclass(frozen=True, slots=True)
class HostRail:
    """One NIC of a host, in the units of `RailBalance`. `state` and `seen` are those of its cable."""

    rail: int
    plane: int | None
    port: str
    state: str
    seen: str | None
    load: float | None
    share: float | None
    low: bool


@dataclass(frozen=True, slots=True)
class HostBalance:
    """A host with a low rail or a wrong or missing cable. `low` are its low rails. `alike`: neighbouring hosts with
    the same load have the same low rails, so the work loads them so.
    """

    host: str
    low: tuple[int, ...]
    alike: bool
    rails: tuple[HostRail, ...]
    findings: tuple[str, ...]
    """Ids."""


@dataclass(frozen=True, slots=True)
class NotMeasured:
    """Hosts whose rails could not be compared, and why; at most 1,000 of `count` are named."""

    count: int
    hosts: str
    why: str


@dataclass(frozen=True, slots=True)
class Balance:
    """`rails [NODESET]`. `hosts` are those out of balance, worst first, at most 1,000 of `hosts_total`; `balanced` is
    the number of compared hosts without a low rail. `uplinks` are findings on the load of switches' uplinks.
    """

    query: str | None
    rails: tuple[RailBalance, ...]
    hosts: tuple[HostBalance, ...]
    hosts_total: int
    balanced: int
    not_measured: tuple[NotMeasured, ...]
    causes: tuple[CauseLine, ...]
    """Those that stall or slow traffic of these hosts."""
    findings: tuple[FindingLine, ...]
    """On the balance of hosts' rails."""
    uplinks: tuple[FindingLine, ...]
    summary: str
    action: str
    as_of: AsOf | None = None


def balance_text(answer: Balance, options: Options) -> Iterator[RenderableType]:
    """What to do, the rails, the hosts, the uplinks, the gaps."""
    yield from to_do(answer.action)
    if answer.rails:
        yield heading("Rails", "share: of the host's median NIC, median of hosts; load: of the line rate")
        yield _rails(answer)
    most = None if options.details else MOST_LINES
    yield from section(answer.causes, cause, "causes", "Causes", most=most)
    low = [host for host in answer.hosts if host.low]
    draw = partial(_host, options=options)
    yield from section(low, draw, "hosts", "Hosts out of balance", "worst first", most=most)
    miscabled = _by_cables(answer.hosts)
    yield from section(miscabled, _miscabled, "lines", "Wrong or missing cables", most=most)
    yield from more(answer.hosts_total - len(answer.hosts), "hosts")
    yield from section(answer.uplinks, finding, "findings", "Uplinks", most=most)
    yield from section(answer.not_measured, _gap, "", "Not measured", "so not known to be in balance", most=None)


def _miscabled(line: tuple[str, str]) -> RenderableType:
    hosts, cables = line
    return hanging(Text(name(hosts), style=PORT), Text(cables))


def _gap(gap: NotMeasured) -> RenderableType:
    return hanging("?", Text().append(name(gap.hosts), style=PORT).append(f": {sentence(gap.why)}", style="not bold"))


def _rails(answer: Balance) -> RenderableType:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for justify in ("left", "right", "right", "left", "left"):
        grid.add_column(justify=justify, no_wrap=justify == "right")
    grid.add_row(*(Text(word, style=QUIET) for word in ("  rail", "share", "load", "cables", "low on")))
    for rail in answer.rails:
        grid.add_row(f"  {name(rail.name)}", percent(rail.share), percent(rail.load), _cables(rail), name(rail.low))
    return grid


def _cables(rail: RailBalance) -> str:
    counted = rail.cables
    bad = ((counted.wrong, "wrong"), (counted.missing, "missing"), (counted.unknown, "unknown"))
    words = [f"{number:,} {word}" for number, word in bad if number]
    return f"{counted.right:,} of {counted.planned:,} right" + "".join(f", {word}" for word in words)


def percent(share: float | None) -> str:
    """A share as text; `?` if it is unknown."""
    return "?" if share is None else f"{share:.0%}"


def _by_cables(hosts: Sequence[HostBalance]) -> list[tuple[str, str]]:
    """Hosts with the same wrong and missing cables, as a node set, and these cables; those of most hosts first."""
    alike = grouped((cables, host.host) for host in hosts if (cables := _cables_not_right(host)))
    return [(fold(names), cables) for cables, names in sorted(alike.items(), key=lambda one: -len(one[1]))]


def _cables_not_right(host: HostBalance) -> str:
    words = []
    for state in ("wrong", "missing"):
        rails = {nic.rail for nic in host.rails if nic.state == state}
        words += [f"{rail_words(rails)} {state}"] if rails else []
    return ", ".join(words)


def _host(host: HostBalance, options: Options) -> RenderableType:
    """A host's rails: with `--details` all, else the low ones."""
    words = [_nic_words(nic) for nic in host.rails if options.details or nic.low]
    line = Text("".join(f"\n{one}" for one in words) if options.details else ", ".join(words))
    if host.alike:
        line.append("; hosts with the same load have the same low rails: the work loads them so", style=QUIET)
    return hanging(Text(name(host.host), style=PORT), line)


def _nic_words(nic: HostRail) -> str:
    plane = "" if nic.plane is None else f" plane {nic.plane}"
    known = f"{percent(nic.share)} of the median, {percent(nic.load)} of the line rate"
    load = "load unknown" if nic.load is None else known
    seen = f", seen on {name(nic.seen)}" if nic.state == "wrong" and nic.seen else ""
    return f"rail {nic.rail}{plane}: {load}, cable {state_word(nic.state).plain}{seen}"
