"""The search box: finds anything with a name from a few letters, while they are typed."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice

import numpy as np

from rules import rules
from truerail.analysis.published import EvaluatedRound, Published
from truerail.analysis.running_jobs import names_of as names_of_job
from truerail.errors import NotFoundError, QueryError
from truerail.model.columns import Codes, distinct, factorize
from truerail.model.facts import NetLink, RdmaLink
from truerail.model.names import canonical_mac, natural_key, port_key, printable
from truerail.model.plan import Role
from truerail.outputs.report_words import count
from truerail.questions.resolve import ResolvedTarget, recognise
from truerail.views.layout import loose
from truerail.views.lines import place_of
from truerail.views.nics import serials_of
from truerail.views.view import EvaluationIndex, View, view_of

_PER_NAME = 20
"""Maximum number of ports or RDMA devices shown for one name: a longer text selects among them."""
_MAC_LENGTH, _MAC_RECORD = 17, 13
_MAC_DIGITS = 12
_FEWEST_DIGITS = 4
"""Fewer digits of a MAC address are too ambiguous."""
_FEWEST_LETTERS, _MOST_WORDS = 3, 8
LONGEST_QUERY = 255


class Matching:
    """Names and their codes, joined into one text: searching a hundred thousand is one pass."""

    def __init__(self, names: Iterable[tuple[str, int]]) -> None:
        found = list(names)
        self._names, self._codes = [name.lower() for name, _ in found], [code for _, code in found]
        self._text = "\n" + "\n".join(self._names) + "\n"
        self._ends: Codes = np.cumsum([len(name) + 1 for name in self._names], dtype=np.int64)

    def matching(self, low: str) -> Iterator[int]:
        """Codes of the names that begin with `low` (in lower case), in order; then of those that contain it."""
        if "\n" in low:
            return
        yield from (self._codes[row] for row in self._rows(f"\n{low}"))
        yield from (self._codes[row] for row in self._rows(low) if not self._names[row].startswith(low))

    def _rows(self, wanted: str) -> Iterator[int]:
        at = self._text.find(wanted)
        while at >= 0:
            row = int(np.searchsorted(self._ends, at, side="right"))
            if row == len(self._names):
                return
            yield row
            at = self._text.find(wanted, int(self._ends[row]))


class Names:
    """The names of one evaluation, by kind."""

    def __init__(self, evaluated: EvaluatedRound) -> None:
        self._sight = evaluated.once(EvaluationIndex)

    @cached_property
    def devices(self) -> Matching:
        """Devices of the plan, hosts first, in natural order."""
        layout = self._sight.layout
        return Matching((layout.devices[code].name, code) for code in layout.ordered_devices.tolist())

    def ports_called(self, part: str) -> Iterator[int]:
        """Codes of ports whose own name contains `part` (in lower case)."""
        for code, name in self._port_names:
            if part in name:
                yield from np.flatnonzero(self._name_of_port == code)[:_PER_NAME].tolist()

    @cached_property
    def _name_of_port(self) -> Codes:
        ports = self._sight.index.ports
        return ports.name_of(np.arange(len(ports)))

    @cached_property
    def _port_names(self) -> list[tuple[int, str]]:
        spelled = self._sight.index.ports.spelled
        names = [(code, spelled(code).lower()) for code in distinct(self._name_of_port).tolist()]
        return sorted(names, key=lambda one: natural_key(one[1]))

    def rdma_called(self, part: str) -> Iterator[tuple[str, int]]:
        """RDMA devices whose name contains `part` (in lower case), each with its port's code."""
        codes, names, ports = self._rdma
        for number in sorted(range(len(names)), key=lambda at: natural_key(names[at])):
            if part in names[number].lower():
                rows = np.flatnonzero(codes == number)[:_PER_NAME]
                yield from ((names[number], port) for port in ports[rows].tolist() if port >= 0)

    @cached_property
    def _rdma(self) -> tuple[Codes, list[str], Codes]:
        identity = self._sight.wiring.identity
        codes, names = factorize(self._sight.wiring.seen.table(RdmaLink).column("device"))
        return codes, names, identity.names.rdma_ports

    def macs_with(self, digits: str) -> Iterator[tuple[str, int]]:
        """MAC addresses that contain these hexadecimal digits, in the order of their devices, each with its port."""
        text, macs, ports = self._macs
        at = text.find(digits)
        while at >= 0:
            row = at // _MAC_RECORD
            yield macs[row], int(ports[row])
            at = text.find(digits, (row + 1) * _MAC_RECORD)

    @cached_property
    def _macs(self) -> tuple[str, list[str], Codes]:
        """All MACs without separators as lines of one length, the MACs, and their ports."""
        identity = self._sight.wiring.identity
        column, ports = self._sight.wiring.seen.table(NetLink).column("mac"), identity.names.link_ports
        is_mac = np.array([mac is not None and len(mac) == _MAC_LENGTH for mac in column], dtype=bool)
        use = np.flatnonzero(is_mac & (ports >= 0))  # an InfiniBand port has 20 bytes, too many to type
        macs = column[use].tolist()
        return "\n".join(macs).replace(":", ""), macs, ports[use]


def names_of(evaluated: EvaluatedRound) -> Names:
    """The names of an evaluated round, which owns them."""
    return evaluated.once(Names)


@dataclass(frozen=True, slots=True)
class Found:
    """One search result. `kind` is `host`, `switch`, `port`, `rdma device`, `mac address`, `rack`, `rail`, `pod`,
    `cable label`, `serial number`, `cause`, `finding`, `rule`, `job`, `gpu`, `row` or `nodes`; `name` is valid for
    `where`, a page or a filter.
    """

    name: str
    kind: str
    summary: str


def find(publication: Published, text: str, limit: int = 20) -> tuple[Found, ...]:
    """At most `limit` things whose name begins with `text`, then those that contain it; case-insensitive.

    Ports, RDMA devices and GPUs are searched on the devices named before `/`, `:` or a blank: `gpu-012/enp`.
    """
    low = text.strip().lower()[:LONGEST_QUERY]
    if not low or limit < 1:
        return ()
    view = view_of(publication)
    ways: tuple[Callable[[View, str], Iterable[Found]], ...] = (
        _exactly, _jobs, _loosely, _devices, _of_devices, _racks, _groups, _causes, _findings, _rules, _labels, _macs,
        _serials, _ports, _rdma,
    )  # fmt: skip
    return tuple(islice(_distinct(view, low, ways), limit))


def _distinct(view: View, low: str, ways: Iterable[Callable[[View, str], Iterable[Found]]]) -> Iterator[Found]:
    given: set[tuple[str, str]] = set()
    for way in ways:
        for one in way(view, low):
            if (one.kind, one.name) not in given:
                given.add((one.kind, one.name))
                yield one


def _exactly(view: View, low: str) -> Iterator[Found]:
    """What `where` resolves from the whole text, except MAC addresses and serial numbers, which are searched."""
    if canonical_mac(low) is not None or low.upper() in view.wiring.once(serials_of):
        return
    try:
        meant = recognise(view, low)
    except (NotFoundError, QueryError):
        return
    kind = "port" if meant.matched_type.endswith(" port") else meant.matched_type
    if kind in ("rail", "pod"):
        yield _group(meant)
    elif meant.devices:
        yield Found(meant.name.removeprefix("rack "), kind, f"{len(meant.devices)} devices")
    else:
        yield Found(meant.name, kind, _place(view, meant.device) if meant.device >= 0 else meant.note)


def _jobs(view: View, low: str) -> Iterator[Found]:
    """Running jobs by a key, an id, a name or a user; those that are called so before those with it in a name."""
    called = [(job, [name.lower() for name in chain(*names_of_job(job))]) for job in view.round.jobs.running]
    fits = [one for one in called if low in one[1] or (len(low) >= _FEWEST_LETTERS and any(low in n for n in one[1]))]
    for job, _ in sorted(fits, key=lambda one: low not in one[1]):
        who = " of ".join(printable(word, 80) for word in (job.name, job.user) if word)
        yield Found(job.key, "job", ", ".join(filter(None, (who, count(job.nodes, "host")))))


def _loosely(view: View, low: str) -> Iterator[Found]:
    """Devices whose name fits without domain, marks and leading zeros: `gpu-3` and `gpu-003.dc.example`."""
    for code in view.layout.by_loose_name.get(loose(low), ()):
        yield Found(view.layout.devices[code].name, _kind(view, code), _place(view, code))


def _devices(view: View, low: str) -> Iterator[Found]:
    for code in names_of(view.evaluated).devices.matching(low):
        yield Found(view.layout.devices[code].name, _kind(view, code), _place(view, code))


def _of_devices(view: View, low: str) -> Iterator[Found]:
    """Ports and RDMA devices on the devices named before the first `/`, `:` or blank."""
    at = min((at for mark in "/: " if (at := low.find(mark)) > 0), default=0)
    if not at:
        return
    head, rest = low[:at], low[at + 1 :].strip()
    for code in islice(names_of(view.evaluated).devices.matching(head), 20):
        for port in view.sight.ports_of(code).tolist():
            yield from _port_like(view, port, rest)


def _port_like(view: View, port: int, part: str) -> Iterator[Found]:
    name, rdma = view.index.spell(port), view.nics.rdma(port)
    if part in name.name.lower() or port_key(part) in port_key(name.name):
        yield Found(str(name), "port", _peer(view, port))
    elif rdma is not None and part in rdma.device.lower():
        yield Found(f"{name.device}:{printable(rdma.device, 64)}", "rdma device", str(name))


def _racks(view: View, low: str) -> Iterator[Found]:
    for rack in sorted((rack for rack in view.layout.racks if low in rack), key=natural_key):
        codes = view.layout.racks[rack]
        yield Found(view.layout.devices[codes[0]].rack, "rack", f"{len(codes)} devices")


def _groups(view: View, low: str) -> Iterator[Found]:
    """Rails and pods by the beginning of `rail 3` and `pod p1`, with or without the blank."""
    rails = distinct(view.index.rail[view.index.from_host])
    names = [f"rail {rail}" for rail in rails[rails >= 0].tolist()]
    names += dict.fromkeys(f"pod {device.pod}" for device in view.layout.devices if device.pod)
    for name in names:
        if len(low) >= _FEWEST_LETTERS and name.lower().replace(" ", "").startswith(low.replace(" ", "")):
            yield _group(recognise(view, name))


def _group(meant: ResolvedTarget) -> Found:
    return Found(meant.name, meant.matched_type, f"{len(meant.cables):,} cables of hosts")


def _causes(view: View, low: str) -> Iterator[Found]:
    for key in causes_named(view, low) if len(low) >= _FEWEST_LETTERS else ():
        yield Found(key, "cause", view.sight.causes[key].summary)


def causes_named(view: View, text: str) -> list[str]:
    """Keys of the open causes that a text means, the worst first: a key, a number in the evaluation (`C1`), or words of
    which each begins the key, the kind, a word of that or a subject, or is a port in any spelling: `pfc-storm`,
    `storm gpu-012/mlx5_3`.
    """
    low, causes = text.strip().lower(), view.sight.causes
    if exact := [key for key, cause in causes.items() if low in (key, cause.id.lower())]:
        return exact
    found: dict[str, list[str]] = {}
    for key, cause in reversed(causes.items()) if low else ():
        found[key] = [key, cause.kind.value, *cause.kind.value.split("-"), *(name.lower() for name in cause.subjects)]
    for word in low.split(maxsplit=_MOST_WORDS):
        place = word
        if "/" in word or ":" in word:  # a port, in any spelling
            with suppress(NotFoundError, QueryError):
                place = recognise(view, word).name.lower()
        found = {key: names for key, names in found.items() if any(one.startswith((word, place)) for one in names)}
    return list(found)


def _findings(view: View, low: str) -> Iterator[Found]:
    if len(low) < _FEWEST_DIGITS:
        return
    findings = view.findings
    for number, one in enumerate(findings.ids):
        if one.startswith(low):
            yield Found(one, "finding", findings.all[number].summary)


def _rules(view: View, low: str) -> Iterator[Found]:
    for code, rule in rules().items():
        if low in code.lower() or low in rule.name:
            found = int(np.count_nonzero(view.findings.rule == code))
            yield Found(code, "rule", f"{rule.name}, {count(found, 'finding')}")


def _labels(view: View, low: str) -> Iterator[Found]:
    for label, cables in view.layout.by_label.items():
        if low in label:
            cable = view.plan.cables[cables[0]]
            yield Found(cable.label, "cable label", f"{cable.a} - {cable.b}")


def _serials(view: View, low: str) -> Iterator[Found]:
    """Modules and cables by any part of their serial number."""
    for serial, ports in view.wiring.once(serials_of).items() if len(low) >= _FEWEST_DIGITS else ():
        if low in serial.lower():
            yield Found(printable(serial, 80), "serial number", " - ".join(str(view.index.spell(at)) for at in ports))


def _macs(view: View, low: str) -> Iterator[Found]:
    """Any part of a MAC address, with or without separators."""
    digits = low.translate({ord(mark): None for mark in ":-."})
    if not _FEWEST_DIGITS <= len(digits) <= _MAC_DIGITS or not set(digits) <= set("0123456789abcdef"):
        return
    for mac, port in names_of(view.evaluated).macs_with(digits):
        yield Found(mac, "mac address", str(view.index.spell(port)))


def _ports(view: View, low: str) -> Iterator[Found]:
    """Ports by their own name, on all devices that have one."""
    for port in names_of(view.evaluated).ports_called(low):
        yield Found(str(view.index.spell(port)), "port", _peer(view, port))


def _rdma(view: View, low: str) -> Iterator[Found]:
    for word, port in names_of(view.evaluated).rdma_called(low):
        spelled = view.index.spell(port)
        yield Found(f"{spelled.device}:{printable(word, 64)}", "rdma device", str(spelled))


def _kind(view: View, code: int) -> str:
    return "host" if view.layout.devices[code].role is Role.HOST else "switch"


def _place(view: View, code: int) -> str:
    """`leaf, pod p1, rack A03`: the plan's data of a device."""
    if not view.is_planned(code):
        return "not in the plan"
    device = view.layout.devices[code]
    reported = (("", device.role.value), ("pod ", device.pod), ("rack ", device.rack))
    return ", ".join(word + value for word, value in reported if value)


def _peer(view: View, port: int) -> str:
    """`rail 3, to leaf-3/swp12`: the plan's data of a port."""
    _, rail, _, peer = place_of(view, port)
    if peer is None:
        return "no cable planned"
    return f"to {peer}" if rail is None else f"rail {rail}, to {peer}"
