"""A lossless class drops packets although it is paused.

## Why it matters
RoCE assumes that nothing is lost: a single drop makes the sender go back and send everything after it again, and a
flow's throughput falls to a fraction. Pauses that come too late, or buffers without headroom, cost both: waiting and
loss.

## How it is detected
Drops on a lossless priority, in the last samples: the NIC's discards and a switch's queue drops of that priority. The
port's own settings show which priorities are lossless; where they are not read, a priority with pauses on this port, as
either end of its link counts them. One drop is enough. Where a port counts its pauses over all priorities, and so does
the other end, the lossless priority is unknown: so are drops on any of them.

Where drops are not counted by priority, a port's total includes other drops, and many healthy NICs and switches drop a
trickle of them. The total counts where the port pauses its neighbour meanwhile and drops one packet a second or more,
ten times its own drops in samples without pauses or, where it has fewer than three of those, the median of ports of its
kind (eight or more that count): critical at a NIC, a warning at a switch. A total that is no more than usual is a
trickle. Where neither reference exists, and where neither end of a link counts drops, the rule is unknown.

A queue in which a PFC watchdog found a storm drops on purpose: a warning, see PFC001.

## What to do
Check that headroom fits the cable's length and speed, that both ends pause the same priority (CFG001), and that traffic
is classified correctly (DSCP trust). At a NIC: its receive buffer (`mlnx_qos --buffer_size`), PCIe, the host.

## Decide
- `which is lossless`, `which are lossless`: headroom or buffers are too small, or the ends differ (CFG001). Compare
  with a port beside it.
- `by no priority`: the drops may be of other traffic. Look at the drops by queue before changing anything.
- `watchdog found a storm`: dropped on purpose. The storm is the fault: PFC001.

## False positives
Drops of other classes where the device counts a total only; a cleared counter; a link that falls while it is paused.
"""

from collections.abc import Sequence

import numpy as np

from rules._examples import Facts, Rates, finds_nic, railed, undecided
from rules._links import ports_of_hosts, report_uncounted_links
from rules._pauses import LOSSLESS, LOSSY, PRIORITIES, Lossless, lossless_of
from truerail.analysis.counters import Quantity, Telemetry
from truerail.analysis.counters.hygiene import Floats
from truerail.analysis.pfc.measures import QUEUE_EVENTS, recent
from truerail.analysis.pfc.trees import PAUSES, counted
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, rule
from truerail.model import CauseKind, Finding, NotEvaluated, PortCounters, PortQos, Severity, Transport
from truerail.model.columns import Codes, Mask, distinct
from truerail.model.names import folded

DROPS = (Quantity.RX_DISCARDS, Quantity.QUEUE_DROPS)
TRICKLE_PER_SECOND, MORE_THAN_USUAL = 1.0, 10.0
"""A total that grows faster than this, and by this multiple of the usual rate, is not a trickle. Chosen by judgement.
"""
LEAST_CALM, LEAST_PEERS = 3, 8
"""Least number of samples without pauses, or of ports of its kind, that define the usual rate of a port."""
BY_PRIORITY, BY_PORT, BY_SWITCH = 0.95, 0.7, 0.5
"""Confidence: drops of the lossless priority itself; a NIC's total while it pauses; a switch's. Chosen by judgement."""


@rule("PFC004", Severity.CRITICAL, [PortCounters], transports=[Transport.ROCE], cause=CauseKind.CONFIGURATION)
def lossless_drops(round: Round) -> Findings:
    """Ports whose lossless priorities lose packets."""
    reported = round.telemetry
    counted(reported, "drops", *DROPS)
    last = recent(reported)
    lossless = lossless_of(reported, last)
    if not reported.counts(*PAUSES) and not (lossless.reported >= LOSSY).any():
        raise InsufficientDataError("which priorities are lossless: neither settings nor pauses are read")
    dropped, by_priority, unclear = _by_priority(reported, lossless, last)
    for port in np.flatnonzero(dropped.any(axis=1)).tolist():
        yield _found(reported, port, np.flatnonzero(dropped[port]).tolist(), last)
    hosts = ports_of_hosts(reported)
    ports = np.flatnonzero(_by_port(reported, lossless, by_priority, last) & ~dropped.any(axis=1))
    more, unreported = _more_than_usual(reported, ports, hosts, last)
    for port in ports[more].tolist():
        yield _found_in_total(reported, port, last, at_host=bool(hosts[port]))
    if unclear.any():
        why = "ports drop packets of a priority and count pauses over all priorities: it is unknown whether it is "
        why += "lossless"
        raise InsufficientDataError(_of_ports(reported, np.flatnonzero(unclear), why))
    if unreported.any():
        why = "ports pause and drop packets that no priority counts: a trickle, or a loss of the lossless one"
        raise InsufficientDataError(_of_ports(reported, ports[unreported], why))
    report_uncounted_links(reported, "drops", *DROPS, last=last)


def _more_than_usual(telemetry: Telemetry, ports: Codes, hosts: Mask, last: int) -> tuple[Mask, Mask]:
    """Of ports that pause and drop, by totals: those that drop far more than usual, and those where the usual rate is
    unknown. Shapes (len(ports),).
    """
    gained, span = telemetry.part(Quantity.RX_DISCARDS, None, ports)
    calm = ~_pausing(telemetry, ports) & ~np.isnan(gained)
    usual = np.where(calm.sum(axis=1) >= LEAST_CALM, _rate(gained, span, calm), _of_peers(telemetry, hosts)[ports])
    recent_ones = np.zeros(gained.shape, dtype=bool)
    recent_ones[:, -last:] = True
    lately = _rate(gained, span, recent_ones & ~np.isnan(gained))
    fast, many = lately >= TRICKLE_PER_SECOND, lately >= MORE_THAN_USUAL * usual
    return np.asarray(fast & many), np.asarray((many & ~fast) | np.isnan(usual))


def _pausing(telemetry: Telemetry, ports: Codes) -> Mask:
    """Samples in which ports pause, or may pause: shape (len(ports), samples)."""
    found = np.zeros((len(ports), telemetry.samples), dtype=bool)
    for quantity in (Quantity.TX_PAUSE_FRAMES, Quantity.TX_PAUSE_US):
        for priority in telemetry.priorities(quantity):
            found |= telemetry.part(quantity, priority, ports)[0] > 0
    return found


def _of_peers(telemetry: Telemetry, hosts: Mask) -> "np.typing.NDArray[np.float64]":
    """Median drops a second of the ports of each port's kind, shape (planned ports,); NaN where few count."""
    rate, found = telemetry.summed(Quantity.RX_DISCARDS).rate, np.full(telemetry.ports, np.nan)
    for kind in (hosts, ~hosts):
        peers = rate[kind & ~np.isnan(rate)]
        if len(peers) >= LEAST_PEERS:
            found[kind] = np.median(peers)
    return found


def _rate(gained: Floats, span: Floats, of: Mask) -> "np.typing.NDArray[np.float64]":
    """Counts a second over some of the samples of each row; NaN where there is none."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(of, gained, 0).sum(axis=1, dtype=np.float64) / np.where(of, span, 0).sum(axis=1))


def _of_ports(telemetry: Telemetry, ports: Codes, why: str) -> NotEvaluated:
    index = telemetry.wiring.index
    devices = folded(index.devices.names[code] for code in distinct(index.ports.device_of(ports)).tolist())
    subjects = tuple(str(index.spell(port)) for port in ports.tolist())
    return NotEvaluated(f"{len(ports)} {why}: {devices}", "port", len(ports), subjects=subjects)


def _by_priority(telemetry: Telemetry, lossless: Lossless, last: int) -> tuple[Mask, Mask, Mask]:
    """Where lossless priorities drop, and where their drops are counted at all, shapes (planned ports, 8); and ports
    where a priority that may be lossless drops, shape (planned ports,).
    """
    dropped, reported_of = (np.zeros((telemetry.ports, PRIORITIES), dtype=bool) for _ in range(2))
    peer = telemetry.wiring.peers.port[: telemetry.ports]
    near = (peer >= 0) & (peer < telemetry.ports)
    moved = lossless.moved | (lossless.moved[np.where(near, peer, 0)] & near[:, None])
    paused = (lossless.reported == LOSSLESS) | ((lossless.reported != LOSSY) & moved)
    for quantity in DROPS:
        for priority in telemetry.priorities(quantity):
            if priority is not None and priority < PRIORITIES:
                dropped[:, priority] |= telemetry.reaches(quantity, priority, 0.0, last)
                reported_of[:, priority] |= telemetry.tells(quantity, priority, last)
    in_total = np.zeros(telemetry.ports, dtype=bool)
    for quantity in PAUSES:
        in_total |= telemetry.reaches(quantity, None, 0.0, last)
    unclear = (dropped & (lossless.reported < LOSSY)).any(axis=1) & in_total & ~moved.any(axis=1)
    return dropped & paused, reported_of & paused, unclear


def _by_port(telemetry: Telemetry, lossless: Lossless, by_priority: Mask, last: int) -> Mask:
    """Ports that drop and pause their neighbour meanwhile, without drop counters for the priorities that they pause."""
    pauses = lossless.sent.any(axis=1)
    for quantity in (Quantity.TX_PAUSE_FRAMES, Quantity.TX_PAUSE_US):
        pauses |= telemetry.reaches(quantity, None, 0.0, last)
    return telemetry.reaches(Quantity.RX_DISCARDS, None, 0.0, last) & pauses & ~by_priority.any(axis=1)


def _found(telemetry: Telemetry, port: int, priorities: Sequence[int], last: int) -> Finding:
    drops = {q: sum(_sum(telemetry, q, p, port, last) for p in priorities) for q in DROPS}
    number = int(max(drops.values()))
    watched = any(_sum(telemetry, events, p, port, last) > 0 for p in priorities for events in QUEUE_EVENTS)
    subject = telemetry.wiring.index.spell(port)
    on = f"priorit{'ies' if len(priorities) > 1 else 'y'} {', '.join(map(str, priorities))}"
    why = ", where its PFC watchdog found a storm" if watched else ""
    return lossless_drops.found(
        subject,
        severity=Severity.WARNING if watched else Severity.CRITICAL,
        summary=f"{subject} drops packets of {on}, which {'are' if len(priorities) > 1 else 'is'} lossless: "
        f"{number:,} lately{why}",
        action="End the storm first (PFC001)." if watched else
        f"Check headroom and buffers of {subject}, and that both ends of its cable pause the same priorities.",
        rail=telemetry.wiring.index.plan.rail_of(subject),
        confidence=BY_PRIORITY,
        detail=(("priorities", list(priorities)), ("drops", number), ("watchdog", watched)),
    )  # fmt: skip


def _found_in_total(telemetry: Telemetry, port: int, last: int, *, at_host: bool) -> Finding:
    subject = telemetry.wiring.index.spell(port)
    number = int(_sum(telemetry, Quantity.RX_DISCARDS, None, port, last))
    return lossless_drops.found(
        subject,
        severity=Severity.CRITICAL if at_host else Severity.WARNING,
        summary=f"{subject} pauses its neighbor and still drops packets: {number:,} lately, by no priority",
        action=f"Check headroom and buffers of {subject}, and whether the drops are those of the lossless priority.",
        rail=telemetry.wiring.index.plan.rail_of(subject),
        confidence=BY_PORT if at_host else BY_SWITCH,
        detail=(("priorities", []), ("drops", number), ("watchdog", False)),
    )


def _sum(telemetry: Telemetry, quantity: Quantity, priority: int | None, port: int, last: int) -> float:
    return float(np.nansum(telemetry.part(quantity, priority, np.array([port]), last)[0]))


PLAN = "gpu-1/nic0 leaf-0/swp1 rail=0 speed=400\nleaf-0/swp9 spine-1/swp1 speed=400"

_TEN = railed(10, more=" speed=400")
_ALL = {f"gpu-{n}/nic0": {"tx_pause_us:3": 9_000.0, "rx_discards": 0.1} for n in range(1, 11)}
_UPLINK: dict[str, Rates] = {"spine-1/swp1": {"rx_discards": 0}}
"""The uplink's drops are counted, too: without that the rule cannot evaluate all links."""


def _drops(port: str, rates: Rates, facts: Facts | None = None, *, unknown: bool = False) -> Case:
    """One port's counters, and those of the uplink."""
    return Case(facts or {}, rates=_UPLINK | {port: rates}, unknown=unknown)


EXAMPLES = {
    "A NIC drops what it pauses.": finds_nic(rates={"gpu-1/nic0": {"tx_pause_frames:3": 900, "rx_discards:3": 20}}),
    "A leaf's queue drops, in a priority that is lossless by its settings.": Case(
        {"leaf-0": [PortQos("swp9", pfc_priorities=(3, 4))]},
        "leaf-0/swp9",
        rates={"leaf-0/swp9": {"rx_pause_frames:0": 0, "queue_drops:3": 5, "queue_drops:4": 1}},
    ),
    "A NIC counts drops in total only, and drops where it pauses.": finds_nic(
        rates={"gpu-1/nic0": {"tx_pause_us:3": [*[0] * 8, *[9_000] * 4], "rx_discards": [*[0] * 8, *[4] * 4]}}
    ),
    "A switch counts both in total (SNMP), and drops twenty times as much as before.": Case(
        finds="leaf-0/swp1",
        rates={"leaf-0/swp1": {"tx_pause_frames": [*[0] * 8, *[800] * 4], "rx_discards": [*[0.2] * 8, *[4] * 4]}},
    ),
    "One of ten NICs drops, and has paused all the time.": finds_nic(
        plan=_TEN, rates=_ALL | {"gpu-1/nic0": {"tx_pause_us:3": 9_000, "rx_discards": 4}}
    ),
    "A leaf counts pauses over all priorities; its neighbour says of which they are.": Case(
        finds="leaf-0/swp1",
        rates={"leaf-0/swp1": {"rx_pause_frames": 900, "queue_drops:3": 5}, "gpu-1/nic0": {"tx_pause_frames:3": 900}},
    ),
    "The watchdog drops what is stuck in a storm.": Case(
        finds="leaf-0/swp1",
        rates={"leaf-0/swp1": {"rx_pause_us:3": 1e6, "queue_drops:3": 500, "watchdog_storms:3": [*[0] * 11, 0.1]}},
    ),
    # Quiet:
    "Another priority drops.": _drops(
        "gpu-1/nic0",
        {"tx_pause_frames:3": 900, "rx_discards:3": 0, "rx_discards:0": 20, "rx_discards": 20},
        {"gpu-1": [PortQos("nic0", pfc_priorities=(3,))]},
    ),
    "Drops in total, and nothing is paused.": _drops("gpu-1/nic0", {"tx_pause_frames:3": 0, "rx_discards": 20}),
    "Drops of an hour ago.": _drops("gpu-1/nic0", {"tx_pause_frames:3": 9, "rx_discards:3": [*[50] * 3, *[0] * 9]}),
    "A trickle that all NICs drop, whether they pause or not.": Case(plan=_TEN, rates=_ALL),
    "A trickle in a port's total, no more than without pauses.": _drops(
        "leaf-0/swp1", {"tx_pause_frames": [*[0] * 8, *[800] * 4], "rx_discards": 4}
    ),
    "A port that always paused drops by no priority, and has no peers.": _drops(
        "leaf-0/swp1", {"tx_pause_frames": 800, "rx_discards": 4}, unknown=True
    ),
    "Both ends count pauses over all priorities: whether priority 3 is lossless is unknown.": undecided(
        rates=_UPLINK
        | {"leaf-0/swp1": {"rx_pause_frames": 900, "queue_drops:3": 5}, "gpu-1/nic0": {"tx_pause_frames": 900}}
    ),
    "Neither end of a link counts drops.": Case(
        unknown=True, rates={"leaf-0/swp1": {"tx_pause_frames": 800, "rx_discards": 0}}
    ),
}
