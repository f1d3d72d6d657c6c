"""RDMA ports in the words of every command that prints them, and the lines of iproute2's `rdma`."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from collector.formats.counts import is_count, may_be_cut, name_count, not_reported
from collector.formats.text import PASTED, argument, is_prompt, lines, list_in, spelled
from truerail.errors import UnreadableError
from truerail.model import RdmaLink

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


def port_state(text: Any, line: int = 0) -> str:
    """`ACTIVE` for `Active`, ... Raises `UnreadableError` for a word that no command prints."""
    return _STATES.get(text) or _word_of(_STATES, text, "port state", line)


def physical_state(text: Any, line: int = 0) -> str | None:
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


def ports_from_report(answer: str) -> Iterator[RdmaLink] | None:
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
        port_state(_without_number(values["state"]).removeprefix("PORT_"), line),
        physical_state(physical and _without_number(physical), line),
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


# ----------------------------------------------------------------------------------------------------------------------
# Lines of iproute2's `rdma`, which begins each object with `link`; mail programs may wrap them.

_ASKED = re.compile(r"\brdma\b.{0,200}\b(?:stat|res)")


def link_words(answer: str) -> Iterator[tuple[int, list[str]]]:
    """The words of each link, including those of the lines below it up to the next link, and its line number.

    Prompts, the command itself and everything above the first link are skipped.
    """
    link: list[str] = []
    begun = 0
    for number, raw in enumerate(lines(answer), 1):
        words = raw.lstrip(PASTED).split()
        if words and words[0] == "link":
            if link:
                yield begun, link
            link, begun = words, number
        elif link and not _ASKED.search(raw) and not is_prompt(raw):
            link += words
    if link:
        yield begun, link


# ----------------------------------------------------------------------------------------------------------------------
# The counters of RDMA ports as tools print them: `rdma statistic` as text and JSON, mlnx-tools' `show_counters`.

Counted = tuple[str, dict[str, int]]
"""A port, `mlx5_0/1`, and its counters."""

_LINK = re.compile(r"[^\s/]+/\d+")
_NAME = re.compile(r"[A-Za-z_][\w.,-]*")
_OPTIONAL = "Optional-set:"
_QUEUE_PAIR_KEYS = frozenset(("cntn", "lqpn", "qp-type"))
_ENTRY_KEYS = frozenset(("ifindex", "ifname", "port"))
_SHOWN = re.compile(r"\bshow_(?:rdma_)?counters[ \t]+(\S+)")
_SHOWN_PORT = re.compile(r"Port (\d+)\b.*counters:")


def from_statistic(answer: str) -> Iterator[Counted]:
    """`rdma statistic`, with at least one link in it."""
    *earlier, (last_line, last) = link_words(answer)
    if is_count(last[-1]) and may_be_cut(answer, last[-1]):
        last = last[:-2]
    for number, words in (*earlier, (last_line, last)):
        yield _counters_from_words(words, number)


def _counters_from_words(words: Sequence[str], line: int) -> Counted:
    """A link and its counters from its words: `link`, the name, then names and values in turn."""
    reported = [word for word in words[2:] if word != _OPTIONAL]
    names, values = reported[::2], reported[1::2]
    if len(words) < 2 or not _LINK.fullmatch(words[1]) or len(names) != len(values):
        raise UnreadableError(
            "a link without its name, or a counter without its value: cut short", line=line, text=" ".join(words[-1:])
        )
    if _QUEUE_PAIR_KEYS.intersection(names):
        raise UnreadableError("counters of queue pairs, not of ports", line=line, text=words[1])
    for name in names:
        if not _NAME.fullmatch(name):
            raise UnreadableError("not the name of a counter", line=line, text=name)
    pairs = zip(names, values, strict=True)
    return words[1], {
        name: name_count(value, line, f"{name} {value}") for name, value in pairs if not not_reported(value)
    }


def from_json(answer: str) -> Iterator[Counted]:
    """`rdma -j statistic`."""
    for entry in filter(None, list_in(answer, "RDMA ports")):
        yield _counters_from_entry(entry)


def _counters_from_entry(entry: Any) -> Counted:
    name, port = (entry.get("ifname"), entry.get("port")) if type(entry) is dict else (None, None)
    if type(name) is not str or type(port) is not int or "state" in entry:
        raise UnreadableError("an entry that is not an RDMA port's counters")
    if _QUEUE_PAIR_KEYS.intersection(entry):
        raise UnreadableError("counters of queue pairs, not of ports", text=name)
    return f"{name}/{port}", {
        key: name_count(str(value), 0, f"{key} {value}")
        for key, value in entry.items()
        if key not in _ENTRY_KEYS and type(value) is int and not not_reported(str(value))
    }


def from_show_counters(answer: str) -> Iterator[Counted]:
    """`show_counters`: `name: value` below `Port 1 hw counters:`; the command above names the device.

    Raises `UnreadableError` where two answers have no command above them.
    """
    device, port = "", ""
    of_nameless: set[tuple[str, str]] = set()
    text = lines(answer)
    for number, line in enumerate(text, 1):
        asked, headed = _SHOWN.search(line), _SHOWN_PORT.fullmatch(line.strip())
        if asked:
            device, port = argument(asked[1]), ""
        elif headed:
            port = headed[1]
        elif port and line.strip() and not is_prompt(line):
            name, value = _name_and_value(line, number)
            if not device and (port, name) in of_nameless:
                raise UnreadableError("a counter twice: of devices that no line names", line=number, text=line)
            of_nameless.add((port, name))
            cut = number == len(text) and (not value or may_be_cut(answer, value))
            if not cut and not not_reported(value):
                yield f"{device}/{port}", {name: name_count(value, number, line)}


def _name_and_value(line: str, number: int) -> tuple[str, str]:
    name, colon, value = (part.strip() for part in line.partition(":"))
    if not colon or not _NAME.fullmatch(name):
        raise UnreadableError("not a counter and its value, or cut short", line=number, text=line)
    return name, value
