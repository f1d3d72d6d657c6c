"""The counters behind findings on traffic, as the devices reported them: evidence beside the cabling's.

A rule sums millions of samples at once and keeps none of them. So what its findings rest on is looked up afterwards:
the counters of the quantities that such a rule reads, at both ends of each finding's link.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from truerail.analysis.counters.quantities import Quantity, columns_of
from truerail.analysis.counters.telemetry import Telemetry
from truerail.model.columns import NONE
from truerail.model.facts import PortCounters
from truerail.model.finding import Evidence, Finding

Q = Quantity
_BYTES = (Q.TX_BYTES, Q.RX_BYTES, Q.TX_PACKETS, Q.RX_PACKETS)
_PAUSES = (
    *(Q.TX_PAUSE_FRAMES, Q.RX_PAUSE_FRAMES, Q.TX_PAUSE_US, Q.RX_PAUSE_US, Q.RX_PAUSE_TRANSITIONS),
    *(Q.TX_GLOBAL_PAUSE_FRAMES, Q.RX_GLOBAL_PAUSE_FRAMES, Q.WATCHDOG_STORMS, Q.WATCHDOG_DROPS),
    *(Q.NIC_STORM_WARNINGS, Q.NIC_STORM_ERRORS),
)
_MARKS = (Q.ECN_MARKED_PACKETS, Q.ECN_RECEIVED_PACKETS, Q.CNP_SENT, Q.CNP_HANDLED, Q.CNP_IGNORED)
_ERRORS = (
    *(Q.RX_ERRORS, Q.TX_ERRORS, Q.CRC_ERRORS, Q.SYMBOL_ERRORS, Q.FEC_SYMBOLS, Q.CORRECTED_BITS, Q.RX_BITS),
    *(Q.FEC_CORRECTED, Q.FEC_UNCORRECTED),
)
_READ: dict[str, tuple[Q, ...]] = {
    "PFC": (*_PAUSES, *_BYTES, Q.RX_DISCARDS, Q.TX_DISCARDS, Q.OUT_OF_BUFFER, Q.PCI_STALLED_EVENTS),
    "ECN": _MARKS,
    "INC": (*_MARKS, *_PAUSES, *_BYTES),
    "RAL": _BYTES,
    "LBL": _BYTES,
    "CAP": (*_BYTES, Q.ECN_MARKED_PACKETS, Q.TX_PAUSE_FRAMES),
    "LNK003": (Q.LINK_DOWNS,),
    "LNK004": _ERRORS,
    "LNK006": _ERRORS,
}
"""The quantities that rules read, by the beginning of their codes."""
_MOST_PORTS = 8
"""Most ports of a switch of which the counters are shown with a finding about the switch."""


def with_counters(telemetry: Telemetry, findings: Sequence[Finding]) -> list[Finding]:
    """The findings, those on traffic with the counters of their ports."""
    counted = ((one, _counters(telemetry, one)) for one in findings)
    return [replace(one, evidence=(*one.evidence, *found)) if found else one for one, found in counted]


def _counters(telemetry: Telemetry, finding: Finding) -> tuple[Evidence, ...]:
    wanted = next((of for code, of in _READ.items() if finding.rule.startswith(code)), ())
    return counter_evidence(telemetry, _ports(telemetry, finding) if wanted else (), *wanted, zeros=False)


def counter_evidence(telemetry: Telemetry, ports: Iterable[int], *of: Q, zeros: bool = True) -> tuple[Evidence, ...]:
    """The last readings of these counters at these ports, without the other counters of the port; without `zeros`, not
    those that have never counted.
    """
    return tuple(
        Evidence(reading.device, collector, reading.at, found)
        for port in ports
        if 0 <= port < telemetry.ports
        for collector, device, name in telemetry.reported_as(port)
        for reading in telemetry.readings.get((collector, device), ())
        for fact in reading.facts
        if isinstance(fact, PortCounters) and fact.port == name
        for found in _only(fact, collector, of, zeros=zeros)
    )


def _ports(telemetry: Telemetry, finding: Finding) -> list[int]:
    """Planned ports: both ends of the finding's link, or those that its detail names."""
    wiring, detail = telemetry.wiring, dict(finding.detail)
    shares = (f"{finding.device}/{one}" for one in detail.get("shares", ()))
    named = [finding.subject, str(detail.get("port", "")), *shares]
    parts = [name.partition("/") for name in dict.fromkeys(named) if "/" in name][: _MOST_PORTS + 1]
    devices = np.array([wiring.index.devices.find(device) for device, _, _ in parts], dtype=np.int64)
    found = wiring.index.find(devices, [port for _, _, port in parts])
    found = found[(found >= 0) & (found < telemetry.ports)]
    peers = wiring.peers.port[found] if len(found) == 1 else found[:0]
    return [port for port in dict.fromkeys([*found.tolist(), *peers.tolist()]) if NONE < port < telemetry.ports]


def _only(fact: PortCounters, collector: str, wanted: Sequence[Q], *, zeros: bool) -> Iterator[PortCounters]:
    """The fact with the counters of some quantities."""
    columns = enumerate(columns_of(fact.counters, collector))
    kept = [n for n, one in columns if one and one.quantity in wanted and (zeros or fact.values[n])]
    if kept:
        yield fact._replace(counters=tuple(fact.counters[n] for n in kept), values=tuple(fact.values[n] for n in kept))
