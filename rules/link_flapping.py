"""A link falls and comes back.

## Why it matters
A link that is down for longer than the RDMA retry time ends every connection over it, and with it the job. A shorter
fall drops packets in flight, sends flows over other paths for a while, and is the first sign of a worn cable, a dirty
connector or a failing transceiver.

## How it is detected
Both ends count how often they lost carrier (`link_down_events_phy`, the kernel's `carrier_down_count`, `link_downed`,
the switch's carrier transitions); one fall within the window is a warning. Critical: three falls within an hour, or
more than seven seconds without link in all. The time without link matters more than the number of falls. mlx5 reports
it: its `rx_bits_phy` counts the bits that could have been received, and stops without link. Elsewhere the time is
unknown, and the finding does not state any. Where all links of a device fall within half a minute and a sample, each by
the end that reports it first, the device restarted, was switched off or lost power: that is one finding, of the device.

Moving a plug also causes a fall: a fall across which the neighbour of the port changed, or after which a missing cable
is present, belongs to the history of the cable and is not counted, unless that happens three times within the window;
for a capture its earlier rounds are read. A watching service holds a fall back until the neighbour has been read again,
which takes one interval of LLDP. A link that has not come back from its fall is down (CAB003) and does not flap.

## What to do
Reseat and clean both ends, then replace the cable or the transceiver; LNK004 and LNK005 show which end sends badly. If
several links of one card fall, look at the card, its firmware and its power. A port that an operator switched off and
on falls as well: look at the logs first.

## Decide
- `fell once`: note it. If it falls again, reseat and clean both ends.
- `fell N times`: take the host out of jobs, then clean, reseat, and replace cable and transceiver in that order.
- `without link in all`: long falls break RDMA connections. Treat it as `link-down` (CAB003) even if it is up now.
- `fell together`: the device restarted or lost power. Look at its log; no cable is to blame.

## False positives
A port that an operator switched off and on, a firmware update, a host's reboot: look at the change log. Moved plugs are
left out, where the neighbour changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rules._examples import finds_nic, railed
from rules._links import other_ends, rail_at, report_uncounted_links, subject_of
from truerail.analysis.cabling import BOTH_ENDS, ONE_END, State, Wiring
from truerail.analysis.counters import Quantity, Telemetry
from truerail.analysis.counters.evidence import counter_evidence
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, rule
from truerail.model import CauseKind, Finding, PortCounters, Severity
from truerail.model.columns import NONE, Codes, Mask, grouped

FALLS_AN_HOUR = 3
"""Falls within an hour that are critical: gpud's and NVSentinel's limit for mlx5 links (NVIDIA/NVSentinel, NIC health
monitor).
"""
SECONDS_WITHOUT_LINK = 7.0
"""Longer without link is critical: about what NCCL_IB_TIMEOUT lets RDMA retry. Time matters more than the count of
falls (Databricks on GPU reliability).
"""
TOO_OFTEN = 3
"""Moves of one plug within the window from which no hand made them: a link that stays away for a poll or two at each of
its falls looks as if it were unplugged, and three falls are LNK003's critical ones.
"""
LEAST_SHORTFALL = 0.1
"""Share of a sample's bits that must be missing to count as time without link, not as jitter of the clock."""
LEAST_LINKS = 3
"""Links that must all fall together before the device is named instead."""
TOGETHER_SECONDS = 30.0
"""Seconds, plus one sample, between the first and the last link's fall that still count as together: polls of devices
differ by a sample, and an agent may report a previous count for half a minute (net-snmp#1029: 5 to 30 s).
"""


Samples = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Fallen:
    """The links that fell, by port that counted a fall: in each sample the number of falls, the bits that could have
    been received in a second, and the length of the sample. `other_end` is by planned port.
    """

    telemetry: Telemetry
    falls_in: Mapping[int, Samples]
    bits_per_second: Mapping[int, Samples]
    seconds: Mapping[int, Samples]
    other_end: Codes

    def most_falls(self, ports: Sequence[int]) -> int:
        """How often the links of these ports fell: the most that one of them counted."""
        return max((int(np.nansum(self.falls_in[port])) for port in ports if port in self.falls_in), default=0)

    def first_sample(self, port: int) -> int:
        """The sample of the first fall."""
        return int(np.argmax(self.falls_in[port] > 0))


@rule("LNK003", Severity.WARNING, [PortCounters], cause=CauseKind.FLAPPING_LINK)
def link_flapping(round: Round) -> Findings:
    """Links that lost carrier within the window, and devices that lost all of theirs."""
    telemetry = round.telemetry
    counted = telemetry.summed(Quantity.LINK_DOWNS)
    if not counted.samples.any():
        raise InsufficientDataError("no port reported twice how often its link fell")
    ports = np.flatnonzero(counted.gained > 0)
    counted_falls, seconds = telemetry.part(Quantity.LINK_DOWNS, None, ports)
    falls = _flapping_only(round, ports, counted_falls, seconds)
    flapping = np.nansum(falls, axis=1) > 0
    ports, falls = ports[flapping], falls[flapping]
    if len(ports):
        yield from _findings(telemetry, ports, falls, counted.samples > 0)
    report_uncounted_links(telemetry, "falls", Quantity.LINK_DOWNS)


def _findings(telemetry: Telemetry, ports: Codes, falls: Samples, counted: Mask) -> Findings:
    """One finding for each link that fell, or for the device that lost all of its links. `falls` has shape (ports,
    samples), `counted` is which planned ports count falls.
    """
    bits, seconds = telemetry.part(Quantity.RX_BITS, None, ports)
    falls_in, rates, spans = (dict(zip(ports.tolist(), rows, strict=True)) for rows in (falls, bits / seconds, seconds))
    fallen = _Fallen(telemetry, falls_in, rates, spans, other_ends(telemetry.wiring))
    links = _links(fallen)
    for device, subjects in _devices_that_fell(fallen, counted, links).items():
        yield _device_fell(fallen, device, [links.pop(subject) for subject in subjects])
    for subject, ends in links.items():
        yield _link_fell(fallen, subject, ends)


def _links(fallen: _Fallen) -> dict[int, tuple[int, ...]]:
    """The links that fell: subject to the planned ports at its ends that counted it."""
    index = fallen.telemetry.wiring.index
    links: dict[int, tuple[int, ...]] = {}
    for port in fallen.falls_in:
        subject = subject_of(index, port, int(fallen.other_end[port]))
        links[subject] = (*links.get(subject, ()), port)
    return links


def _devices_that_fell(fallen: _Fallen, counted: Mask, links: Mapping[int, tuple[int, ...]]) -> dict[int, list[int]]:
    """Devices of which every link with data fell, together; each with the subjects of these links."""
    reported = _links_reported(fallen, counted)
    links_of = grouped((device, subject) for subject in links for device in _planned_devices(fallen, subject))
    devices: dict[int, list[int]] = {}
    taken: set[int] = set()
    most_apart = 1 + TOGETHER_SECONDS / fallen.telemetry.pace
    for device, subjects in sorted(links_of.items(), key=lambda item: -len(item[1])):
        if len(subjects) == reported[device] >= LEAST_LINKS and taken.isdisjoint(subjects):
            first = [min(fallen.first_sample(port) for port in links[subject]) for subject in subjects]
            if max(first) - min(first) <= most_apart:
                devices[device] = subjects
                taken.update(subjects)
    return devices


def _links_reported(fallen: _Fallen, counted: Mask) -> Codes:
    """The number of links of each device of which either end counts falls, shape (devices,)."""
    index = fallen.telemetry.wiring.index
    other = np.where(fallen.other_end < index.planned_ports, fallen.other_end, NONE)
    either = counted | (counted[other] & (other >= 0))
    return np.bincount(index.ports.device_of(np.flatnonzero(either)), minlength=len(index.devices.names))


def _planned_devices(fallen: _Fallen, subject: int) -> list[int]:
    """The devices at the two ends of a link, where planned."""
    index = fallen.telemetry.wiring.index
    ends = [end for end in (subject, int(fallen.other_end[subject])) if 0 <= end < index.planned_ports]
    devices: list[int] = index.ports.device_of(np.array(ends)).tolist()
    return devices


def _severity(falls: int, down: float | None, window: float) -> Severity:
    """`window` is the period evaluated, in seconds."""
    often = falls * 3600 >= FALLS_AN_HOUR * max(window, 3600.0)
    return Severity.CRITICAL if often or (down or 0.0) > SECONDS_WITHOUT_LINK else Severity.WARNING


def _device_fell(fallen: _Fallen, device: int, links: Sequence[tuple[int, ...]]) -> Finding:
    name = fallen.telemetry.wiring.index.devices.names[device]
    ports = [port for ends in links for port in ends]
    falls, window = fallen.most_falls(ports), _window(fallen, ports[0])
    return link_flapping.found(
        name,
        severity=_severity(falls, None, window),
        summary=f"All {len(links)} links of {name} that are reported fell together, {_times(falls, window)}",
        action=f"Check whether {name} was restarted, switched off or lost power; it is no single cable.",
        confidence=ONE_END,
        evidence=counter_evidence(fallen.telemetry, ports[:2], Quantity.LINK_DOWNS),
        detail=(("falls", falls), ("links", len(links)), ("reason", "device")),
    )


def _link_fell(fallen: _Fallen, subject: int, ends: Sequence[int]) -> Finding:
    index = fallen.telemetry.wiring.index
    falls, window, down = fallen.most_falls(ends), _window(fallen, ends[0]), _without_link(fallen, ends)
    link = " and ".join(str(index.spell(port)) for port in (subject, int(fallen.other_end[subject])) if port >= 0)
    away = "" if down is None else f", {down:.1f} s without link in all"
    return link_flapping.found(
        index.spell(subject),
        severity=_severity(falls, down, window),
        summary=f"The link of {link} fell {_times(falls, window)}{away}",
        action="Reseat and clean both ends; if it falls again, replace the cable or the transceivers.",
        rail=rail_at(index, subject),
        confidence=BOTH_ENDS if len(ends) > 1 else ONE_END,
        evidence=counter_evidence(fallen.telemetry, ends, Quantity.LINK_DOWNS),
        detail=(("falls", falls), *(() if down is None else (("seconds_without_link", round(down, 1)),))),
    )


def _times(falls: int, window: float) -> str:
    return f"{'once' if falls == 1 else f'{falls} times'} in {window:.0f} s"


def _window(fallen: _Fallen, port: int) -> float:
    """Seconds in which this port's falls were counted."""
    return float(fallen.telemetry.summed(Quantity.LINK_DOWNS).seconds[port])


def _without_link(fallen: _Fallen, ends: Sequence[int]) -> float | None:
    """Seconds without link, from the missing bits; None where no end counts bits that could have been received."""
    longest: float | None = None
    for port in ends:
        rate, fell = fallen.bits_per_second[port], fallen.falls_in[port] > 0
        usual = rate[~fell & ~np.isnan(rate)]
        if len(usual) and np.median(usual) > 0 and not np.isnan(rate[fell]).any():
            missing = 1 - rate / np.median(usual)
            seconds = fallen.seconds[port]
            away = float(np.nansum(np.where(missing > LEAST_SHORTFALL, missing * seconds, 0.0)))
            longest = max(longest or 0.0, away)
    return longest


def _flapping_only(round: Round, ports: Codes, falls: Samples, seconds: Samples) -> Samples:
    """The falls of some ports, of shape (ports, samples), that may be flapping: no plug was moved by hand, and the link
    has come back. Each sample covers `seconds`.
    """
    left = np.where(_moved_by_hand(round, ports, seconds), np.float32(0), falls)
    for row in np.flatnonzero(_missing(round.cabling, ports)).tolist():
        last = np.flatnonzero(left[row] > 0)[-1:]  # the link has not come back: it is down (CAB003)
        left[row, last] -= 1
    return left


def _moved_by_hand(round: Round, ports: Codes, seconds: Samples) -> Mask:
    """Samples in a period in which the plug was moved, and those newer than the last reading of the port's neighbour:
    such a fall is evaluated after the next reading.
    """
    counters, index, moved = round.counters, round.cabling.index, round.replugged
    assert counters is not None  # noqa: S101 - the ports counted falls
    by_hand, end = np.zeros(seconds.shape, dtype=bool), counters.begun[counters.order]
    slack = counters.step_seconds / 2  # the readings of one round differ by this much
    for row, port in enumerate(ports.tolist()):
        begin = end - slack - np.nan_to_num(seconds[row])
        spans = moved.spans.get(str(index.spell(port)), ())
        for since, until in spans if len(spans) < TOO_OFTEN else ():
            by_hand[row] |= (end + slack > since) & (begin < until)
        by_hand[row] |= end > moved.until(port, index.plan)
    return by_hand


def _missing(wiring: Wiring, ports: Codes) -> Mask:
    """Ports whose planned cable is missing now."""
    cable = wiring.index.cables_at(ports)
    return np.asarray((cable >= 0) & (wiring.state[np.maximum(cable, 0)] == State.MISSING), dtype=bool)


PLAN = railed(4, more=" speed=400") + "\nleaf-0/swp9 spine-1/swp1"
_STEADY = {"link_downs": 0.0}
_ALL_STEADY = dict.fromkeys((*(f"gpu-{host}/nic0" for host in range(1, 5)), "spine-1/swp1"), _STEADY)
_ONCE = {"link_downs": [*(0.0,) * 8, 0.1, 0.0, 0.0, 0.0]}
_OFTEN = {"link_downs": [0.0, 0.0, 0.1, 0.0, 0.1, 0.1, 0.0, 0.2, 0.0, 0.0, 0.0, 0.0]}
_BITS, _HALF = 4.25e11, 2.125e11

EXAMPLES = {
    "A link falls once, as both ends count.": finds_nic(
        rates={"gpu-1/nic0": _ONCE, "leaf-0/swp1": _ONCE, "gpu-2/nic0": _STEADY, "leaf-0/swp2": _STEADY}
    ),
    "An uplink falls again and again; only the spine counts it.": Case(
        finds="leaf-0/swp9", rates={"spine-1/swp1": _OFTEN, "leaf-0/swp1": _STEADY}
    ),
    "One fall of fifteen seconds, measured by the bits that were not received.": finds_nic(
        rates={"gpu-1/nic0": {**_ONCE, "rx_bits": [*(_BITS,) * 8, _HALF, 0.0, _BITS, _BITS]}, "gpu-2/nic0": _STEADY}
    ),
    "All links of a leaf fall at once: the leaf restarted.": Case(
        finds="leaf-0", rates={f"gpu-{host}/nic0": _ONCE for host in (1, 2, 3, 4)}
    ),
    # Quiet:
    "No link fell.": Case(rates=_ALL_STEADY),
    "No link fell of those that are counted.": Case(unknown=True, rates={"gpu-1/nic0": _STEADY}),
    "A link fell before the window began, and polls are missing since.": Case(
        rates=_ALL_STEADY | {"gpu-1/nic0": {"link_downs": [0.0, float("nan"), 0.0, float("nan"), 0.0, 0.0]}}
    ),
}
