"""Ports in the JSON of data models: Nokia SR Linux' own, and OpenConfig's `openconfig-interfaces`.

SR Linux: `info from state interface * | as json`, `{"interface": [{"name", "admin-state", "oper-state", "ethernet":
{"port-speed": "400G"}, "statistics": {...}, "transceiver": {...}}]}`. OpenConfig: RESTCONF's or gNMI's
`{"openconfig-interfaces:interfaces": {"interface": [{"name", "state": {"admin-status", "oper-status", "counters"},
"openconfig-if-ethernet:ethernet": {"state": {"port-speed": "openconfig-if-ethernet:SPEED_400GB"}}}]}}`. Names may have
a module prefix and a colon; 64-bit numbers are strings (RFC 7951).

Rests on documentation: SR Linux' YANG (`srl_nokia-interfaces`, nokia/srlinux-yang-models), openconfig/public, and
counters of SR Linux that gnmic's documentation shows. Traps:

- A port without link keeps its configured speed. Subinterfaces have counters of their own, which are not read.
- OpenConfig has no counter for each priority; `in-mac-pause-frames` counts global pauses.
- SR Linux' MTU includes the Ethernet header: not read.
- SR Linux reports a module's readings as `latest-value`, in dBm, mA and degrees Celsius.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from collector._documents import listed
from collector._gnmi import requests
from collector._medium import medium_of
from collector._module_json import DARK_DBM
from collector._module_json import optics as of_lanes
from collector._port_words import of_words
from collector._speed_status import PortStatus, gbps, status
from collector._tally import Tally, count, summed
from truerail.model import Counter, Optic, PortCounters

_ADMIN = {"enable": "up", "disable": "down"}
_COUNTERS = {
    "in-octets": "rx_bytes",
    "out-octets": "tx_bytes",
    "in-packets": "rx_packets",
    "out-packets": "tx_packets",
    "in-pkts": "rx_packets",
    "out-pkts": "tx_packets",
    "in-error-packets": "rx_errors",
    "out-error-packets": "tx_errors",
    "in-errors": "rx_errors",
    "out-errors": "tx_errors",
    "in-discarded-packets": "rx_discards",
    "out-discarded-packets": "tx_discards",
    "in-discards": "rx_discards",
    "out-discards": "tx_discards",
    "in-fcs-error-packets": "crc_errors",
    "in-fcs-errors": "crc_errors",
    "carrier-transitions": "carrier_transitions",
    "in-mac-pause-frames": "rx_global_pause_frames",
    "out-mac-pause-frames": "tx_global_pause_frames",
}
_NUMBER = re.compile(r"-?\d{1,6}(?:\.\d{1,12})?")
_CASTS = ("unicast", "multicast", "broadcast")
REQUESTS = (
    *requests("/interfaces/interface[name=*]/state", "/interfaces/interface[name=*]/ethernet/state"),
    *requests("/interfaces"),
)
"""State, speed and counters of ports in one request; a device without wildcards gives its whole container."""
Leaves = Mapping[str, Any]


def is_model(found: Any) -> bool:
    """Whether a document has the ports of such a model."""
    return next(_ports(found), None) is not None


def statuses(found: Any) -> list[PortStatus]:
    """The ports of a document, in its order."""
    return [_status(port) for port in _ports(found)]


def port_counters(found: Any) -> list[PortCounters]:
    """Counters of the ports of a document. Raises `UnreadableError` for a value that is none, or for no counters."""
    tally = Tally()
    for port in _ports(found):
        name, state = str(port["name"]), inside(port, "state")
        counted = {**inside(port, "statistics"), **inside(state, "counters")}
        counted |= inside(inside(inside(port, "ethernet"), "state"), "counters")
        for word, counter in _COUNTERS.items():
            tally.note(name, Counter(counter), count(counted.get(word)))
        for way, counter in (("in", "rx_packets"), ("out", "tx_packets")):
            if not {f"{way}-packets", f"{way}-pkts"} & counted.keys():
                casts = (counted.get(f"{way}-{cast}-{end}") for cast in _CASTS for end in ("packets", "pkts"))
                tally.note(name, Counter(counter), summed(map(count, casts)))
    return tally.some()


def optics(found: Any) -> Iterator[Optic]:
    """The modules of SR Linux' ports, one `Optic` for each channel."""
    for port in _ports(found):
        module = inside(port, "transceiver")
        if module.get("vendor-serial-number") or module.get("vendor-part-number"):
            yield from _module(str(port["name"]), module)


def _module(port: str, module: Leaves) -> Iterator[Optic]:
    part = str(module.get("vendor-part-number", "")).strip() or None
    channels = [plain(channel) for channel in listed(module.get("channel"))]
    limits = inside(channels[0], "input-power") if channels else {}
    whole = Optic(
        port,
        temperature_celsius=_value(inside(module, "temperature").get("latest-value")),
        rx_power_low_dbm=_value(limits.get("low-alarm-threshold")),
        rx_power_high_dbm=_value(limits.get("high-alarm-threshold")),
        vendor=str(module.get("vendor", "")).strip() or None,
        part=part,
        serial=str(module.get("vendor-serial-number", "")).strip() or None,
        medium=medium_of(module.get("ethernet-pmd"), module.get("connector-type"), part),
    )
    lanes = {int(channel["index"]): channel for channel in channels if str(channel.get("index")).isdecimal()}
    readings = ("input-power", "output-power", "laser-bias-current")
    rx, tx, bias = (
        {lane: _value(inside(of, name).get("latest-value")) for lane, of in lanes.items()} for name in readings
    )
    yield from of_lanes(whole, _lit(rx), _lit(tx), bias)


def _lit(powers: Mapping[int, float | None]) -> dict[int, float | None]:
    return {lane: None if power is None else max(DARK_DBM, power) for lane, power in powers.items()}


def _value(leaf: Any) -> float | None:
    return float(leaf) if _NUMBER.fullmatch(str(leaf)) else None


def _status(port: Leaves) -> PortStatus:
    ethernet, state = inside(port, "ethernet"), inside(port, "state")
    admin = str(port.get("admin-state", state.get("admin-status", ""))).lower()
    oper = str(port.get("oper-state", state.get("oper-status", ""))).lower()
    speed = str(ethernet.get("port-speed", inside(ethernet, "state").get("port-speed", "")))
    word = speed.rpartition(":")[2].removeprefix("SPEED_").removesuffix("B")
    why = "xcvr not present" if "not-present" in str(port.get("oper-down-reason", "")) else None
    return status(str(port["name"]), of_words(oper, _ADMIN.get(admin, admin), why), gbps(word))


def _ports(found: Any) -> Iterator[Leaves]:
    """The interfaces anywhere above their subinterfaces."""
    if isinstance(found, list):
        for value in found:
            yield from _ports(value)
    elif isinstance(found, Mapping):
        leaves = plain(found)
        if "name" in leaves and ("oper-state" in leaves or "oper-status" in inside(leaves, "state")):
            yield leaves
            return
        for key in ("interfaces", "interface", "notification", "update", "val", "values", "output"):
            yield from _ports(leaves.get(key))


def inside(leaves: Leaves, name: str) -> Leaves:
    """A container of a port; empty if it has none."""
    value = leaves.get(name)
    return plain(value) if isinstance(value, Mapping) else {}


def plain(leaves: Leaves) -> dict[str, Any]:
    """The leaves without the prefixes of their modules."""
    return {str(key).rpartition(":")[2]: value for key, value in leaves.items()}
