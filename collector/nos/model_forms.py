"""Data models, OpenConfig's and SR Linux' own: LLDP, ports, queues and modules."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from collector.formats.counts import Tally, both_ways, count, summed, words
from collector.formats.documents import listed, requests
from collector.formats.lldp_words import local_port, neighbor
from collector.formats.modules import Names, module
from collector.formats.port_words import PortStatus, gbps, of_words, status
from collector.formats.text import object_of
from truerail.model import Counter, Neighbor, Optic, PortCounters

# ----------------------------------------------------------------------------------------------------------------------
# LLDP neighbours in the JSON of data models: OpenConfig's `openconfig-lldp` and Nokia SR Linux' own.
#
# RESTCONF and gNMI wrap the same leaves at different depths: `{"openconfig-lldp:lldp": {"interfaces": {"interface":
# [{"name", "neighbors": {"neighbor": [{"id", "state": {...}}]}}]}}}`, a list of updates, each with its `Path`; SR Linux
# has `interface` with `neighbor` in it. So a neighbour is any object with a chassis id and a port id, and its local
# port is the enclosing interface, or that in the path: `interface[name=Ethernet0]`. Names may have a module prefix and
# colon. Sources: openconfig-lldp.yang, a test of SONiC's management framework, SR Linux' YANG.

_IN_PATH = re.compile(r"\binterface\[name=([^\]]+)\]")
_NEIGHBOR = (
    *("chassis-id", "chassis-id-type", "system-name", "port-id", "port-id-type", "port-description", "ttl", "age"),
)
_HOLDS_NEIGHBORS = frozenset(("neighbor", "neighbors"))


lldp_is_model = re.compile(
    r'"(?:openconfig-lldp|srl_nokia-lldp):|\blldp/interfaces?\b|'
    r'"lldp"\s*:\s*\{\s*"interfaces"|"system"\s*:\s*\{\s*"lldp"\s*:\s*\{'
).search
"""Whether the JSON in an answer is of such a model."""


def neighbors_from_model(found: Any, port: str = "") -> Iterator[Neighbor]:
    """The neighbours anywhere in a document, or below a port. Raises `UnreadableError` for one without a local port."""
    if isinstance(found, list):
        for value in found:
            yield from neighbors_from_model(value, port)
    elif isinstance(found, dict):
        leaves = {str(key).rpartition(":")[2]: value for key, value in found.items()}
        if "chassis-id" in leaves and "port-id" in leaves:
            yield _neighbor(port, leaves)
            return
        path = next((leaves[key] for key in ("Path", "path") if isinstance(leaves.get(key), str)), "")
        named = leaves.get("name") if not _HOLDS_NEIGHBORS.isdisjoint(leaves) else None
        here = str(named) if named else _port_in(path) or port
        for key, value in found.items():
            yield from neighbors_from_model(value, _port_in(str(key)) or here)


def _port_in(path: str) -> str:
    found = _IN_PATH.search(path)
    return found[1] if found else ""


def _neighbor(port: str, leaves: Mapping[str, Any]) -> Neighbor:
    managed = leaves.get("management-address")
    texts = managed.split(",") if isinstance(managed, str) else ()
    return neighbor(local_port(port), map(leaves.get, _NEIGHBOR), texts)


# ----------------------------------------------------------------------------------------------------------------------
# Ports in the JSON of data models: Nokia SR Linux' own, and OpenConfig's `openconfig-interfaces`.
#
# SR Linux: `info from state interface * | as json`, `{"interface": [{"name", "admin-state", "oper-state", "ethernet":
# {"port-speed": "400G"}, "statistics": {...}, "transceiver": {...}}]}`. OpenConfig: RESTCONF's or gNMI's
# `{"openconfig-interfaces:interfaces": {"interface": [{"name", "state": {"admin-status", "oper-status", "counters"},
# "openconfig-if-ethernet:ethernet": {"state": {"port-speed": "openconfig-if-ethernet:SPEED_400GB"}}}]}}`. Names may
# have a module prefix and a colon; 64-bit numbers are strings (RFC 7951).
#
# Rests on documentation: SR Linux' YANG (`srl_nokia-interfaces`, nokia/srlinux-yang-models), openconfig/public, and
# counters of SR Linux that gnmic's documentation shows. Traps:
#
# - A port without link keeps its configured speed. Subinterfaces have counters of their own, which are not read.
# - OpenConfig has no counter for each priority; `in-mac-pause-frames` counts global pauses.
# - SR Linux' MTU includes the Ethernet header: not read.
# - SR Linux reports a module's readings as `latest-value`, in dBm, mA and degrees Celsius.

_ADMIN = {"enable": "up", "disable": "down"}
_PORT_COUNTERS = {
    **both_ways("in-", "out-", {"octets": "bytes", "packets": "packets", "pkts": "packets"}),
    **both_ways("in-", "out-", {"error-packets": "errors", "errors": "errors"}),
    **both_ways("in-", "out-", {"discarded-packets": "discards", "discards": "discards"}),
    **words({"in-fcs-error-packets": "crc_errors", "in-fcs-errors": "crc_errors"}),
    **words({"carrier-transitions": "carrier_transitions"}),
    **both_ways("in-", "out-", {"mac-pause-frames": "global_pause_frames"}),
}
_READINGS = ("input-power", "output-power", "laser-bias-current")
_SRLINUX = Names(
    *("temperature", "low-alarm-threshold", "high-alarm-threshold"),
    *("vendor", "vendor-part-number", "vendor-serial-number"),
    medium=("ethernet-pmd", "connector-type", "vendor-part-number"),
    rx=_READINGS[:1],
    tx=_READINGS[1:2],
    bias=_READINGS[2:],
)
_CASTS = ("unicast", "multicast", "broadcast")
PORT_REQUESTS = (
    *requests("/interfaces/interface[name=*]/state", "/interfaces/interface[name=*]/ethernet/state"),
    *requests("/interfaces"),
)
"""State, speed and counters of ports in one request; a device without wildcards gives its whole container."""
Leaves = Mapping[str, Any]


def statuses_from_model(found: Any) -> list[PortStatus]:
    """The ports of a document, in its order; none if it is of another form."""
    return [_status(port) for port in _ports(found)]


def port_from_model(found: Any) -> list[PortCounters] | None:
    """Counters of the ports of a document. Raises `UnreadableError` for a value that is none, or for no counters."""
    ports = list(_ports(found))
    if not ports:
        return None
    tally = Tally()
    for port in ports:
        name, state = str(port["name"]), inside(port, "state")
        counted = {**inside(port, "statistics"), **inside(state, "counters")}
        counted |= inside(inside(inside(port, "ethernet"), "state"), "counters")
        for word, counter in _PORT_COUNTERS.items():
            tally.note(name, counter, count(counted.get(word)))
        for way, sum_of_casts in (("in", "rx_packets"), ("out", "tx_packets")):
            if not {f"{way}-packets", f"{way}-pkts"} & counted.keys():
                casts = (counted.get(f"{way}-{cast}-{end}") for cast in _CASTS for end in ("packets", "pkts"))
                tally.note(name, Counter(sum_of_casts), summed(map(count, casts)))
    return tally.some()


def optics_from_srlinux(found: Any) -> Iterator[Optic]:
    """The modules of SR Linux' ports, one `Optic` for each channel."""
    for port in _ports(found):
        within = inside(port, "transceiver")
        if within.get("vendor-serial-number") or within.get("vendor-part-number"):
            yield from _port_module(str(port["name"]), within)


def _port_module(port: str, found: Leaves) -> Iterator[Optic]:
    channels = [plain(channel) for channel in listed(found.get("channel"))]
    limits = inside(channels[0], "input-power") if channels else {}
    lanes = {
        int(channel["index"]): {key: inside(channel, key).get("latest-value") for key in _READINGS}
        for channel in channels
        if str(channel.get("index")).isdecimal()
    }
    values = {**limits, **found, "temperature": inside(found, "temperature").get("latest-value")}
    return module(port, _SRLINUX, values, lanes)


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


# ----------------------------------------------------------------------------------------------------------------------
# Queues of ports in the JSON of `openconfig-qos`, by gNMI or RESTCONF.
#
# `{"qos": {"interfaces": {"interface": [{"interface-id", "output": {"queues": {"queue": [{"name", "state":
# {"transmit-octets", "transmit-pkts", "dropped-pkts", "ecn-marked-pkts"}}]}}}]}}}`. Rests on documentation:
# openconfig/public, openconfig-qos-interfaces.yang. Traps:
#
# - A queue's name is configuration. Only a name that is a number, or ends in one after the port (`Ethernet0:3`,
#   `Ethernet1/1-3`) or after `UC` or `queue`, gives the traffic class; `NC1` or `AF4` does not, and is skipped.

QUEUE_REQUESTS = (*requests("/qos/interfaces/interface[interface-id=*]/output/queues"), *requests("/qos/interfaces"))
_CLASS = re.compile(r"(?:uc|queue|q|[a-z][\w./-]*\d[:-])?[ _-]?([0-7])", re.IGNORECASE)
_QUEUE_COUNTERS = {
    "transmit-octets": "queue_bytes",
    "transmit-pkts": "queue_packets",
    "dropped-pkts": "queue_drops",
    "ecn-marked-pkts": "ecn_marked_packets",
}


def queue_from_model(found: Any) -> list[PortCounters] | None:
    """The counters of the queues whose class is known. Raises `UnreadableError` where there is none."""
    qos = inside(plain(object_of(found)), "qos")
    if "interfaces" not in qos:
        return None
    tally = Tally()
    for port in map(plain, listed(inside(qos, "interfaces").get("interface"))):
        for queue in map(plain, listed(inside(inside(port, "output"), "queues").get("queue"))):
            named = _CLASS.fullmatch(str(queue.get("name", "")))
            if named and "interface-id" in port:
                state = inside(queue, "state")
                for leaf, counter in _QUEUE_COUNTERS.items():
                    tally.note(str(port["interface-id"]), Counter(counter, int(named[1])), count(state.get(leaf)))
    return tally.some()


# ----------------------------------------------------------------------------------------------------------------------
# Modules in the JSON of `openconfig-platform` and `openconfig-platform-transceiver`, by gNMI or RESTCONF.
#
# `{"components": {"component": [{"name", "state": {"part-no", "serial-no", "temperature"}, "transceiver": {"state":
# {"vendor", "ethernet-pmd", "present"}, "physical-channels": {"channel": [{"index", "state": {"input-power":
# {"instant"}, "output-power", "laser-bias-current"}}]}, "thresholds": {"threshold": [{"severity", "state"}]}}}]}}`.
# Powers are in dBm, currents in mA, temperatures in degrees Celsius. Rests on documentation: openconfig/public. Traps:
#
# - A component's name is the device's own. The port is the interface whose `state` has the component as `transceiver`;
#   without that leaf the component's name counts as the port's, and says nothing where it is another.
# - Part and serial number were leaves of the transceiver in older models, and are the component's in newer ones.
# - Channels are numbered from 0.

OPTICS_REQUESTS = (
    *requests(
        "/components/component[name=*]/state",
        "/components/component[name=*]/transceiver",
        "/interfaces/interface[name=*]/state/transceiver",
    ),
    *requests("/components"),
)
_OPENCONFIG = _SRLINUX._replace(
    low="input-power-lower",
    high="input-power-upper",
    part="part",
    serial="serial",
    medium=("ethernet-pmd", "connector-type", "part"),
)


optics_is_model = re.compile(r'\bcomponents/component\b|"(?:[\w-]+:)?components"\s*:').search
"""Whether the JSON in an answer is of this model."""


def optics_from_model(found: Any) -> Iterator[Optic]:
    """The modules of a document, one `Optic` for each channel, on each port that names the module as its own."""
    document = plain(found) if isinstance(found, Mapping) else {}
    ports: dict[str, list[str]] = {}
    for port in map(plain, listed(inside(document, "interfaces").get("interface"))):
        owned = inside(port, "state").get("transceiver")
        if owned and "name" in port:
            ports.setdefault(str(owned), []).append(str(port["name"]))
    for component in map(plain, listed(inside(document, "components").get("component"))):
        name, pluggable = str(component.get("name", "")), inside(component, "transceiver")
        if name and _is_present(pluggable):
            for owner in ports.get(name, [name]):
                yield from _optics_module(owner, component, pluggable)


def _is_present(pluggable: Leaves) -> bool:
    state = inside(pluggable, "state")
    present = str(state.get("present", "PRESENT")) == "PRESENT"
    return present and any(state.get(leaf) for leaf in ("vendor", "serial-no", "vendor-part", "ethernet-pmd"))


def _optics_module(port: str, component: Leaves, found: Leaves) -> Iterator[Optic]:
    whole, state = inside(component, "state"), inside(found, "state")
    limits = [plain(one) for one in listed(inside(found, "thresholds").get("threshold"))]
    critical = next((inside(one, "state") for one in limits if str(one.get("severity")).endswith("CRITICAL")), {})
    channels = map(plain, listed(inside(found, "physical-channels").get("channel")))
    lanes = {
        int(one["index"]): {key: inside(inside(one, "state"), key).get("instant") for key in _READINGS}
        for one in channels
        if str(one.get("index")).isdecimal()
    }
    values = {
        **critical,
        **{leaf: str(value).rpartition(":")[2] for leaf, value in state.items()},
        "temperature": inside(whole, "temperature").get("instant"),
        "part": _first(whole.get("part-no"), state.get("vendor-part")),
        "serial": _first(whole.get("serial-no"), state.get("serial-no")),
    }
    return module(port, _OPENCONFIG, values, lanes)


def _first(*leaves: Any) -> str:
    return next((text for leaf in leaves if leaf and (text := str(leaf).rpartition(":")[2].strip())), "")
