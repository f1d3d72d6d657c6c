"""The reports of rdma-core's `ibstat`, `ibstatus` and `ibv_devinfo`: a device, its ports, one value per line."""

import re
from collections.abc import Iterator

from collector._answer import PASTED, lines
from collector._rdma_words import physical_state, port_state
from truerail.errors import UnreadableError
from truerail.model import RdmaLink

_IBSTAT_DEVICE = re.compile(r"CA '(?P<device>[^']+)'$")
_IBSTATUS_PORT = re.compile(r"Infiniband device '(?P<device>[^']+)' port (?P<port>\d+) status:$")
_DEVINFO_DEVICE = re.compile(r"hca_id:\s*(?P<device>\S+)$")
_PORT_LINE = re.compile(r"[Pp]ort:?\s+(?P<port>\d+):?$")
_RATE = re.compile(r"(\d+(?:\.\d+)?)(?: Gb/sec\b.*| \([^()]*\))?$")
_LINK_LAYERS = {"ethernet": "Ethernet", "infiniband": "InfiniBand"}
_FIELDS = {
    "state": "state",
    "physical state": "physical_state",
    "phys state": "physical_state",
    "phys_state": "physical_state",
    "rate": "rate",
    "link layer": "link_layer",
    "link_layer": "link_layer",
}
_COUNTS = ("number of ports", "phys_port_cnt")
_BROKE_OFF = "ibpanic:"
"""ibstat aborts at a device that it cannot read, such as a VF that is not its own. It prints nothing of that device. In
a pipe the panic may come before the devices that it has printed: those are complete.
"""
_GUIDS = ("node guid", "node_guid")
_GUID = re.compile(r"0x([0-9a-f]{16})|([0-9a-f]{4}(?::[0-9a-f]{4}){3})", re.IGNORECASE)
"""A GUID as `ibstat` and as `ibv_devinfo` print it."""
_NOTE = re.compile(r"(?<=\S)(?:(?<!:) {2,}|\s++#).*")
"""No value has two blanks or a `#` in it: an author's note."""


def ports_from_ibstat(answer: str) -> Iterator[RdmaLink]:
    """Ports in the answer of `ibstat`. Raises `UnreadableError`."""
    return _ports(lines(answer), _IBSTAT_DEVICE)


def ports_from_ibstatus(answer: str) -> Iterator[RdmaLink]:
    """Ports in the answer of `ibstatus`. Raises `UnreadableError`."""
    return _ports(lines(answer), _IBSTATUS_PORT)


def ports_from_devinfo(answer: str) -> Iterator[RdmaLink]:
    """Ports in the answer of `ibv_devinfo`, with or without `-v`. Raises `UnreadableError`."""
    return _ports(lines(answer), _DEVINFO_DEVICE)


class _Device:
    """One device while its lines are read. A new device has no ports."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.promised: int | None = None
        self.guid: str | None = None
        self.ports: list[tuple[int, int, dict[str, str]]] = []
        """Number, line and values of each port."""

    def links(self) -> Iterator[RdmaLink]:
        """Raises `UnreadableError` if there are fewer ports than the report announces, or one has no state."""
        for port, line, said in self.ports:
            yield _link(self, port, line, said)
        if self.promised is None and not self.ports:
            raise UnreadableError(f"{self.name} shows neither a port nor how many it has: cut short")
        if len(self.ports) < (self.promised or 0):
            raise UnreadableError(f"{self.name} promises {self.promised} ports and shows {len(self.ports)}: cut short")


def _ports(text: list[str], heading: re.Pattern[str]) -> Iterator[RdmaLink]:
    """A heading names the device, a line its port unless the heading did, each further line has one value.

    A last line without a line feed may be cut: only a link layer, one of a few whole words, is taken from it.
    """
    device: _Device | None = None
    broken, read = 0, False
    for number, raw in enumerate(text, 1):
        stripped = _NOTE.sub("", raw.strip(PASTED))
        if stripped.startswith(_BROKE_OFF):
            broken = number
            continue
        found = heading.match(stripped)
        if found:
            if device:
                yield from device.links()
                read = True
            device = _Device(found["device"])
        port = found if found and heading is _IBSTATUS_PORT else _PORT_LINE.match(stripped)
        if device and port:
            device.ports.append((int(port["port"]), number, {}))
        elif device and not found:
            _take(device, stripped, whole=number < len(text))
    if device is None:
        raise UnreadableError("no device: cut short", line=broken)
    if device.ports or not broken:
        yield from device.links()
    elif not read:
        raise UnreadableError("no adapter could be read", line=broken)


def _take(device: _Device, line: str, *, whole: bool) -> None:
    key, _, value = line.partition(":")
    key, value = key.lower(), value.strip()
    if device.ports and value and key in _FIELDS and (whole or _FIELDS[key] == "link_layer"):
        device.ports[-1][2].setdefault(_FIELDS[key], value)
    elif key in _COUNTS and value.isdecimal():
        device.promised = int(value)
    elif key in _GUIDS and whole:
        device.guid = _guid(value)


def _guid(value: str) -> str | None:
    """A node GUID as in facts; None if it is not one, or is all zeros like that of some virtual functions."""
    found = _GUID.fullmatch(value)
    digits = (found[1] or found[2]).replace(":", "").lower() if found else ""
    return f"0x{digits}" if digits.strip("0") else None


def _link(device: _Device, port: int, line: int, said: dict[str, str]) -> RdmaLink:
    if "state" not in said:
        raise UnreadableError(f"port {port} of {device.name} has no state: cut short", line=line)
    physical = said.get("physical_state")
    return RdmaLink(
        device.name,
        port,
        port_state(_bare(said["state"]).removeprefix("PORT_"), line),
        physical_state(physical and _bare(physical), line),
        rate_gbps=_gbps(said.get("rate"), line),
        link_layer=_LINK_LAYERS.get(said.get("link_layer", "").lower()),
        guid=device.guid,
    )


def _bare(state: str) -> str:
    """`4: ACTIVE` and `ACTIVE (4)` are `ACTIVE`: the number means the same state."""
    return state.rpartition(": ")[2].partition(" (")[0]


def _gbps(rate: str | None, line: int) -> float | None:
    if rate is None:
        return None
    found = _RATE.match(rate)
    if found is None:
        raise UnreadableError("not a rate", line=line, text=rate)
    return float(found[1])
