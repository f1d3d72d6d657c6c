"""The ports of a host's RDMA devices: their state, and the network interface of each.

Question: which RDMA devices exist, is each port up, and which netdev belongs to it?
Needs: iproute2's `rdma` (any user), else MLNX_OFED's `ibdev2netdev`, else rdma-core's `ibstat`, `ibstatus` or
`ibv_devinfo`.

Formats, recognised by their shape: `rdma link` as text (`-d` adds a line of capabilities) and as JSON; `ibdev2netdev`
with and without `-v`; `ibstat`; `ibstatus`; `ibv_devinfo` with and without `-v`. Whatever the command, states are in
the words of `rdma link`. Sources: iproute2 `rdma/link.c`, rdma-core `ibstat.c`, `ibstatus`, `devinfo.c`,
MLNX_OFED's `ibdev2netdev` script, recorded answers.

Traps:

- The `ifindex` in the JSON of `rdma` counts RDMA devices, not network interfaces: it is not used.
- `rdma -j` of iproute2 before 6.7 could print broken JSON: refused. So the text form is requested first.
- An InfiniBand port has LIDs between its name and its state, and may have a netdev (IPoIB); mail wraps the line.
- `ibdev2netdev` (its arrow was `<===>` in old releases) prints `(Up)` or `(Down)` for the netdev: read as ACTIVE or
  DOWN; `-v` prints the port's own state. `column -t` widens its gaps, and pasted lines may end with remarks.
- Only some forms report rate, link layer or PCI address; with the others they are None, "not reported".
- iproute2 of 2017 to 2019 began a line with `0/1: mlx5_0/1:` in place of `link mlx5_0/1`.
- A port that is cut before its state is refused; values after the state may be missing and are then None.
- `show_gids` looks similar but reports something else: refused. So are lines behind a host (`pdsh`: `gpu-001: mlx5_0`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from collector.formats.text import PASTED, is_json, lines, list_in, spelled
from truerail.errors import UnreadableError
from truerail.model import Device, RdmaLink, Role, collector, commands, minutes, saved_as

_LINK_KEYS = frozenset(("subnet_prefix", "lid", "sm_lid", "lmc", "state", "physical_state", "netdev", "netdev_index"))
_LINK_NUMBER = re.compile(r"\d+/\d+:")
_IBDEV2NETDEV = re.compile(
    r"(?:(?P<pci>[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])\s++)?(?P<device>[^\s(:]++)\s++(?:\(.*\s)?"
    r"port\s++(?P<port>\d+)(?:\s++\((?P<state>[A-Z_]+) *\))?\s++<?={2,3}>\s++(?P<netdev>[^\s(]*+)\s*+"
    r"\((?P<up>Up|Down)\)(?:\s.*)?$"
)
_VERBOSE_BEGINNING = re.compile(r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]\s+[^\s(:]+\s+\(")


ASK = (
    *commands("", "rdma link", "ibdev2netdev -v", "ibstat"),
    *saved_as("rdma -j link", "rdma -d link", "rdma -j -d link", "rdma -jd link", "ibdev2netdev", "ibstatus"),
    *saved_as("ibv_devinfo", "ibv_devinfo -v"),
)


@collector(on=[Role.HOST], ask=ASK, every=minutes(1), yields=[RdmaLink], shared=True)
def rdma_link(answer: str, device: Device) -> Iterable[RdmaLink]:
    """One `RdmaLink` for each port of each RDMA device, in the answer's order. Raises `UnreadableError`."""
    for recognised, read in _FORMS:
        if recognised(answer):
            return _refusing_several_hosts(read(answer))
    if (reported := _ports_from_report(answer)) is not None:
        return _refusing_several_hosts(reported)
    raise UnreadableError("not an answer about RDMA links", line=1, text=lines(answer)[0])


def _refusing_several_hosts(links: Iterable[RdmaLink]) -> Iterator[RdmaLink]:
    """The same links. A port that is in the answer twice has to be the same one both times."""
    first_seen: dict[tuple[str, int], RdmaLink] = {}
    for link in links:
        first = first_seen.setdefault((link.device, link.port), link)
        if (first.guid, first.pci_address) != (link.guid, link.pci_address):
            raise UnreadableError(f"{link.device} with two GUIDs or PCI addresses: answers of several hosts")
        yield link


def _from_json(answer: str) -> Iterator[RdmaLink]:
    return map(_link_from_entry, list_in(answer, "RDMA links"))


def _link_from_entry(entry: Any) -> RdmaLink:
    name, port = (entry.get("ifname"), entry.get("port")) if type(entry) is dict else (None, None)
    if type(name) is not str or type(port) is not int or "state" not in entry:
        raise UnreadableError("an entry without ifname, port or state: not a list of RDMA links")
    netdev = entry.get("netdev")
    state, physical = _port_state(entry["state"]), _physical_state(entry.get("physical_state"))
    return RdmaLink(name, port, state, physical, netdev if type(netdev) is str else None)


def _from_rdma_text(answer: str) -> Iterator[RdmaLink]:
    """`rdma link` as text. A line that begins with one of its keys, or with a pending value, was wrapped."""
    link: list[str] = []
    line = 0
    for number, raw in enumerate(lines(answer), 1):
        words = raw.lstrip(PASTED).split()
        if not words:
            continue
        if words[0] == "link" or _LINK_NUMBER.fullmatch(words[0]):
            if link:
                yield _link_from_words(link, line)
            link, line = words, number
        elif link and (words[0] in _LINK_KEYS or len(link) % 2):
            link += words
    yield _link_from_words(link, line)


def _link_from_words(words: Sequence[str], line: int) -> RdmaLink:
    """One link from its words: `link` and the name, then keys and values in turn."""
    values = dict(zip(words[::2], words[1::2], strict=False))
    name, _, port = values.get(words[0], "").rpartition("/")
    port = port.removesuffix(":")
    if "state" not in values or not name or not port.isdecimal():
        raise UnreadableError("an RDMA link without its name or its state: cut short", line=line, text=" ".join(words))
    state, physical = _port_state(values["state"], line), _physical_state(values.get("physical_state"), line)
    return RdmaLink(name, int(port), state, physical, values.get("netdev"))


def _from_ibdev2netdev(answer: str) -> Iterator[RdmaLink]:
    """`ibdev2netdev` and `ibdev2netdev -v`, whose long line a description or a paste may break."""
    long_line = ""  # of `-v`, as far as it was read
    for number, raw in enumerate(lines(answer), 1):
        text = raw.strip(PASTED)
        continues = bool(long_line) and not _VERBOSE_BEGINNING.match(text)
        long_line = f"{long_line} {text}" if continues else text if _VERBOSE_BEGINNING.match(text) else ""
        if "==>" not in raw:
            continue
        port = _IBDEV2NETDEV.match(long_line or text)
        if port is None or (continues and not port["state"]):
            raise UnreadableError("not a line of ibdev2netdev, or cut short", line=number, text=raw)
        long_line = ""
        state = _port_state(port["state"] or ("ACTIVE" if port["up"] == "Up" else "DOWN"), number)
        yield RdmaLink(port["device"], int(port["port"]), state, None, port["netdev"] or None, pci_address=port["pci"])


_FORMS: tuple[tuple[Callable[[str], object], Callable[[str], Iterator[RdmaLink]]], ...] = (
    (re.compile(r"^[#> \t]*(?:link|\d+/\d+:) +\S+/\d", re.MULTILINE).search, _from_rdma_text),
    (is_json, _from_json),
    (re.compile(r"==>").search, _from_ibdev2netdev),
)
"""Test and parser of each form of the answer, except those of rdma-core's reports."""


# ----------------------------------------------------------------------------------------------------------------------
# The states of an RDMA port in the words of `rdma link`, from those of every command that prints them.
#
# Source: the tables of names in iproute2's `rdma/link.c`, rdma-core's `ibstat.c` and `devinfo.c`, and the kernel's
# sysfs. `TRAINNING` is rdma-core's spelling; `invalid physical state` is its word for 0, which many drivers report.

_STATES = spelled(
    {
        "NOP": "NOP, nop, nostatechange",
        "DOWN": "DOWN, down",
        "INIT": "INIT, init, initializing",
        "ARMED": "ARMED, armed",
        "ACTIVE": "ACTIVE, active",
        "ACTIVE_DEFER": "ACTIVE_DEFER, activedefer",
        "UNKNOWN": "UNKNOWN, unknown, invalidstate",
    }
)
_PHYSICAL = spelled(
    {
        "NOP": "nop, nostatechange",
        "SLEEP": "SLEEP, sleep",
        "POLLING": "POLLING, polling",
        "DISABLED": "DISABLED, disabled",
        "ARMED": "armed, portconfigurationtraining, portconfigurationtrainning",
        "LINK_UP": "LINK_UP, linkup",
        "LINK_ERROR_RECOVER": "linkerrorrecover, linkerrorrecovery",
        "PHY_TEST": "phytest",
        "UNKNOWN": "unknown, <unknown>, invalidphysicalstate",
        "OPA_OFFLINE": "opaoffline, offline",
        "OPA_TEST": "opatest, test",
    }
)


def _port_state(text: Any, line: int = 0) -> str:
    """`ACTIVE` for `Active`, ... Raises `UnreadableError` for a word that no command prints."""
    return _STATES.get(text) or _word_of(_STATES, text, "port state", line)


def _physical_state(text: Any, line: int = 0) -> str | None:
    """`LINK_UP` for `LinkUp`, ..., None for None. Raises `UnreadableError` for a word that no command prints."""
    if text is None:
        return None
    return _PHYSICAL.get(text) or _word_of(_PHYSICAL, text, "physical state", line)


def _word_of(words: dict[str, str], text: Any, what: str, line: int) -> str:
    found = words.get(str(text).strip().lower().replace("_", "").replace(" ", ""))
    if found is None:
        raise UnreadableError(f"not a {what}", line=line, text=str(text))
    return found


# ----------------------------------------------------------------------------------------------------------------------
# The reports of rdma-core's `ibstat`, `ibstatus` and `ibv_devinfo`: a device, its ports, one value per line.

_IBSTAT_DEVICE = re.compile(r"CA '(?P<device>[^']+)'$")
_IBSTATUS_PORT = re.compile(r"Infiniband device '(?P<device>[^']+)' port (?P<port>\d+) status:$")
_DEVINFO_DEVICE = re.compile(r"hca_id:\s*(?P<device>\S+)$")
_PORT_LINE = re.compile(r"[Pp]ort:?\s+(?P<port>\d+):?$")
_RATE = re.compile(r"(\d+(?:\.\d+)?)(?: Gb/sec\b.*| \([^()]*\))?$")
_LANES = re.compile(r"(\d{1,2})X \(\d{1,3}\)$")
_LANE_SPEED = re.compile(r"(\d{1,3}\.\d) Gbps \(\d{1,3}\)$")
_MTU = re.compile(r"(\d{3,5}) \(\d\)$")
"""As rdma-core's `devinfo.c` prints width, speed and MTU, each with its number in the specification."""
_LINK_LAYERS = {"ethernet": "Ethernet", "infiniband": "InfiniBand"}
_FIELDS = {
    "state": "state",
    "physical state": "physical_state",
    "phys state": "physical_state",
    "phys_state": "physical_state",
    "rate": "rate",
    "link layer": "link_layer",
    "link_layer": "link_layer",
    "active_width": "width",
    "active_speed": "speed",
    "active_mtu": "mtu",
}
_PORT_COUNT_KEYS = ("number of ports", "phys_port_cnt")
_PANIC = "ibpanic:"
"""ibstat aborts at a device that it cannot read, such as a VF that is not its own. It prints nothing of that device. In
a pipe the panic may come before the devices that it has printed: those are complete.
"""
_GUID_KEYS = ("node guid", "node_guid")
_GUID = re.compile(r"0x([0-9a-f]{16})|([0-9a-f]{4}(?::[0-9a-f]{4}){3})", re.IGNORECASE)
"""A GUID as `ibstat` and as `ibv_devinfo` print it."""
_NOTE = re.compile(r"(?<=\S)(?:(?<!:) {2,}|\s++#).*")
"""No value has two blanks or a `#` in it: an author's note."""


_REPORTS = {
    re.compile(r"^[#> \t]*Infiniband device '", re.MULTILINE): _IBSTATUS_PORT,
    re.compile(r"^[#> \t]*CA '", re.MULTILINE): _IBSTAT_DEVICE,
    re.compile(r"^[#> \t]*hca_id:", re.MULTILINE): _DEVINFO_DEVICE,
}
"""What only one report has at the beginning of a line, and its line for each device."""


def _ports_from_report(answer: str) -> Iterator[RdmaLink] | None:
    """Ports in the answer of `ibstat`, `ibstatus`, or `ibv_devinfo` with or without `-v`; None for another answer.
    Raises `UnreadableError`.
    """
    heading = next((heading for sign, heading in _REPORTS.items() if sign.search(answer)), None)
    return _ports(lines(answer), heading) if heading else None


class _Device:
    """One device while its lines are read. A new device has no ports."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.announced: int | None = None
        self.guid: str | None = None
        self.ports: list[tuple[int, int, dict[str, str]]] = []
        """Number, line and values of each port."""

    def links(self) -> Iterator[RdmaLink]:
        """Raises `UnreadableError` if there are fewer ports than the report announces, or one has no state."""
        for port, line, values in self.ports:
            yield _report_link(self, port, line, values)
        if self.announced is None and not self.ports:
            raise UnreadableError(f"{self.name} shows neither a port nor how many it has: cut short")
        if len(self.ports) < (self.announced or 0):
            raise UnreadableError(f"{self.name} promises {self.announced} ports and shows {len(self.ports)}: cut short")


def _ports(text: list[str], heading: re.Pattern[str]) -> Iterator[RdmaLink]:
    """A heading names the device, a line its port unless the heading did, each further line has one value.

    A last line without a line feed may be cut: only a link layer, one of a few whole words, is taken from it.
    """
    device: _Device | None = None
    panic_line, any_read = 0, False
    for number, raw in enumerate(text, 1):
        stripped = _NOTE.sub("", raw.strip(PASTED))
        if stripped.startswith(_PANIC):
            panic_line = number
            continue
        if device_line := heading.match(stripped):
            if device:
                yield from device.links()
                any_read = True
            device = _Device(device_line["device"])
        port = device_line if device_line and heading is _IBSTATUS_PORT else _PORT_LINE.match(stripped)
        if device and port:
            device.ports.append((int(port["port"]), number, {}))
        elif device and not device_line:
            _note_line(device, stripped, complete=number < len(text))
    if device is None:
        raise UnreadableError("no device: cut short", line=panic_line)
    if device.ports or not panic_line:
        yield from device.links()
    elif not any_read:
        raise UnreadableError("no adapter could be read", line=panic_line)


def _note_line(device: _Device, line: str, *, complete: bool) -> None:
    key, _, value = line.partition(":")
    key, value = key.lower(), value.strip()
    if device.ports and value and key in _FIELDS and (complete or _FIELDS[key] == "link_layer"):
        device.ports[-1][2].setdefault(_FIELDS[key], value)
    elif key in _PORT_COUNT_KEYS and value.isdecimal():
        device.announced = int(value)
    elif key in _GUID_KEYS and complete:
        device.guid = _guid(value)


def _guid(value: str) -> str | None:
    """A node GUID as in facts; None if it is not one, or is all zeros like that of some virtual functions."""
    found = _GUID.fullmatch(value)
    digits = (found[1] or found[2]).replace(":", "").lower() if found else ""
    return f"0x{digits}" if digits.strip("0") else None


def _report_link(device: _Device, port: int, line: int, values: dict[str, str]) -> RdmaLink:
    if "state" not in values:
        raise UnreadableError(f"port {port} of {device.name} has no state: cut short", line=line)
    physical = values.get("physical_state")
    return RdmaLink(
        device.name,
        port,
        _port_state(_without_number(values["state"]).removeprefix("PORT_"), line),
        _physical_state(physical and _without_number(physical), line),
        rate_gbps=_gbps(values.get("rate"), line) or _gbps_by_lanes(values),
        link_layer=_LINK_LAYERS.get(values.get("link_layer", "").lower()),
        guid=device.guid,
        active_mtu=int(mtu[1]) if (mtu := _MTU.match(values.get("mtu", ""))) else None,
    )


def _without_number(state: str) -> str:
    """`4: ACTIVE` and `ACTIVE (4)` are `ACTIVE`: the number means the same state."""
    return state.rpartition(": ")[2].partition(" (")[0]


def _gbps_by_lanes(values: dict[str, str]) -> float | None:
    """The rate that `ibv_devinfo -v` prints as lanes (`4X (2)`) and the speed of each (`100.0 Gbps (128)`)."""
    lanes, each = _LANES.match(values.get("width", "")), _LANE_SPEED.match(values.get("speed", ""))
    return int(lanes[1]) * float(each[1]) if lanes and each else None


def _gbps(rate: str | None, line: int) -> float | None:
    if rate is None:
        return None
    found = _RATE.match(rate)
    if found is None:
        raise UnreadableError("not a rate", line=line, text=rate)
    return float(found[1])
