"""Many senders meet at one host port (incast).

## Why it matters
The leaf's port to the host is the bottleneck, its queue fills within microseconds, and the switch marks, pauses or
drops the traffic of all ports that share its buffer. The traffic pattern is the reason, not the link: parameter
servers, checkpoints, unbalanced all-to-all.

## How it is detected
A port to a host sends at half its speed or more and three times as much as it receives, the host does not pause it, and
the switch is congested: one packet in a thousand is ECN-marked at that port, or the switch pauses four or more of its
other ports. Ports that it pauses without end do not count: incast pauses for microseconds and traffic flows, while a
storm's or a deadlock's pauses let nothing through (PFC001, PFC003). Bursts last tens of microseconds, so averages over
polls show the heavy cases only. Where a switch has several such ports, the counters do not show which of them causes
the pauses: then each is named with less confidence. Unknown instead of passed: such a port with a tenth of these marks,
or two other ports paused, as a few senders cause; and one beside which only a storm's pauses are seen.

## What to do
Look which job receives there. Spread the receivers, stagger checkpoints, or let congestion control react earlier (ECN
thresholds below PFC's). If the host pauses the switch instead, it is a slow receiver: PFC001.

## Decide
- `other ports`: the switch pauses its senders: other jobs on this leaf are affected. Spread or stagger the senders.
- `marks packets here`: ECN already slows the senders down. Look which job receives there; often nothing has to be done
  at night.

## False positives
Checkpoints and data loading from few storage hosts are incast by design. If the host itself pauses the switch it is a
slow receiver: PFC001, PFC002.
"""

from functools import partial

import numpy as np
import numpy.typing as npt

from rules._examples import undecided
from rules._links import devices_counting
from truerail.analysis.counters import Quantity, Telemetry
from truerail.analysis.counters.carried import TOO_FEW, Carried, overall
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, report_not_evaluated, rule
from truerail.model import CauseKind, Finding, NotEvaluated, PortCounters, Severity
from truerail.model.columns import Codes, Mask

USE = 0.5
"""Share of its speed from which the egress is busy (detection.md 4b)."""
ONE_SIDED = 3.0
"""Least ratio of bytes sent to bytes received (detection.md 4b)."""
PAUSED_PORTS = 4
"""Ports that the switch pauses (detection.md 4b)."""
MARKED = 0.001
"""Share of marked packets from which congestion is reported (detection.md 4b), for packets of `PACKET` bytes."""
PACKET = 4096
"""RoCE's largest MTU: smaller packets only make marks more frequent."""
FAINT_MARKS, FAINT_PORTS = MARKED / 10, 2
"""Signs from which a few senders may meet: fewer are noise. Chosen by judgement."""
_BESIDE_A_STORM = "and their switches pass on a storm's pauses, beside which incast would not show"
_SIGNS = (Quantity.ECN_MARKED_PACKETS, Quantity.TX_PAUSE_FRAMES)
PAUSED_US = 10_000.0
"""Microseconds a second for which the host may pause the port: a hundredth of the time."""
PAUSE_FRAMES = 100.0
"""Pause frames a second from which a port counts as paused."""


@rule("INC001", Severity.WARNING, [PortCounters], cause=CauseKind.OVERLOAD)
def incast(round: Round) -> Findings:
    """Ports to hosts where many senders meet."""
    telemetry = round.telemetry
    carried = round.carried
    if not carried.enough:
        raise InsufficientDataError(TOO_FEW)
    if not telemetry.counts(*_SIGNS):
        raise InsufficientDataError("no switch reports ECN marks or pauses sent")
    egress = _one_sided(telemetry, carried)
    marks = _rate(telemetry, Quantity.ECN_MARKED_PACKETS)[egress] * PACKET / overall(carried.tx[egress])
    marked = marks >= MARKED
    pauses = _pauses(telemetry)
    endless = pauses & _without_end(round)
    pausing, hidden = _others(telemetry, egress, pauses & ~endless), _others(telemetry, egress, endless)
    switch = telemetry.wiring.index.ports.device_of(egress)
    several = np.unique(switch, return_inverse=True, return_counts=True)
    met = np.flatnonzero(marked | (pausing >= PAUSED_PORTS)).tolist()
    for n in met:
        sure = bool(marked[n]) or several[2][several[1][n]] == 1
        yield _finding(telemetry, carried, int(egress[n]), bool(marked[n]), int(pausing[n]), 0.8 if sure else 0.5)
    unmet = ~np.isin(np.arange(len(egress)), met)
    faint = ((marks >= FAINT_MARKS) | (pausing >= FAINT_PORTS)) & unmet
    hidden_by_storm = (hidden >= FAINT_PORTS) & unmet & ~faint
    blind = ~np.isin(switch, devices_counting(telemetry, *_SIGNS))
    report_not_evaluated(
        _full(telemetry, ports, why)
        for ports, why in (
            (egress[blind], "and their switches report no marks or pauses"),
            (egress[faint], "with fewer marks and pauses than incast makes"),
            (egress[hidden_by_storm], _BESIDE_A_STORM),
        )
        if len(ports)
    )


def _full(telemetry: Telemetry, ports: Codes, why: str) -> NotEvaluated:
    many = "1 port to a host is" if len(ports) == 1 else f"{len(ports):,} ports to hosts are"
    subjects = tuple(str(telemetry.wiring.index.spell(port)) for port in ports.tolist())
    return NotEvaluated(f"{many} full in one direction, {why}", "port", len(ports), subjects=subjects)


def _one_sided(telemetry: Telemetry, carried: Carried) -> Codes:
    """Switch ports to hosts that send much more than they receive and are not paused by the host."""
    index = telemetry.wiring.index
    port = index.b[index.from_host & (index.b >= 0)]
    sent, back = overall(carried.tx[port]), overall(carried.rx[port])
    port = port[(sent >= USE * telemetry.speed()[port]) & (sent >= ONE_SIDED * back)]
    paused = np.nan_to_num(_rate(telemetry, Quantity.RX_PAUSE_US)[port]) > PAUSED_US
    paused |= np.nan_to_num(_rate(telemetry, Quantity.RX_PAUSE_FRAMES)[port]) > PAUSE_FRAMES
    return np.asarray(port[~paused], dtype=np.int64)


def _pauses(telemetry: Telemetry) -> Mask:
    """Ports that pause the other end. Shape (ports,)."""
    return np.asarray(_rate(telemetry, Quantity.TX_PAUSE_FRAMES) > PAUSE_FRAMES, dtype=bool)


def _without_end(round: Round) -> Mask:
    """Ports that pause the other end without end, as a storm or a deadlock makes them. Shape (ports,)."""
    try:
        return round.pauses.without_end
    except InsufficientDataError:
        return np.zeros(round.telemetry.ports, dtype=bool)


def _others(telemetry: Telemetry, egress: Codes, which: Mask) -> Codes:
    """How many of these ports the switch of each egress has beside it."""
    ports = telemetry.wiring.index.ports
    owner = ports.device_of(np.flatnonzero(which))
    count = np.bincount(owner, minlength=int(ports.device_of(egress).max(initial=0)) + 1)
    return np.asarray(count[ports.device_of(egress)] - which[egress], dtype=np.int64)


def _rate(telemetry: Telemetry, quantity: Quantity) -> npt.NDArray[np.float64]:
    """Counts per second over all priorities; NaN where there is no data."""
    rates = [telemetry.summed(quantity, priority).rate for priority in telemetry.priorities(quantity)]
    total = np.full(telemetry.ports, np.nan)
    for rate in rates:
        total = np.where(np.isnan(total), rate, total + np.nan_to_num(rate))
    return total


def _finding(telemetry: Telemetry, carried: Carried, port: int, marked: bool, pausing: int, sure: float) -> Finding:
    spelled, host = telemetry.wiring.index.spell(port), telemetry.wiring.index.spell(int(carried.peer[port]))
    sent = float(overall(carried.tx[[port]])[0])
    signs = (["marks packets here"] if marked else []) + ([f"pauses {pausing} other ports"] if pausing else [])
    return incast.found(
        spelled,
        summary=f"sends {sent * 8e-9:.3g} Gb/s to {host}, over {ONE_SIDED:.0f} times what comes back, and the switch "
        f"{' and '.join(signs)}",
        action=f"Check which job receives at {host}; spread or stagger its senders.",
        confidence=sure,
        detail=(("sends_gbps", round(sent * 8e-9, 3)), ("marked", marked), ("pauses_ports", pausing)),
    )


PLAN = "\n".join(f"h{n}/nic0 leaf-0/p{n} rail=0 speed=400" for n in range(8))
_SENDERS = {f"leaf-0/p{n}": {"rx_bytes": 6e9, "tx_bytes": 1e9, "tx_pause_frames:3": 5e3} for n in range(1, 8)}
_ENDLESS = {"rx_bytes": 0.0, "tx_bytes": 1e9, "tx_pause_frames:3": 15e3, "tx_pause_us:3": 1e6, "rx_bytes:3": 0.0}
_EGRESS = {"tx_bytes": 4.2e10, "rx_bytes": 1e9, "tx_pause_frames:3": 0.0, "rx_pause_us:3": 0.0}
_finds_port = partial(Case, finds="leaf-0/p0")

EXAMPLES = {
    "Seven hosts send to one, and the leaf pauses them.": _finds_port(rates=_SENDERS | {"leaf-0/p0": _EGRESS}),
    "The port to one host marks packets.": _finds_port(
        rates={"leaf-0/p0": {"tx_bytes": 4.2e10, "rx_bytes": 1e9, "ecn_marked_packets": 1e5}}
    ),
    "Four hosts send to one, beside three ports that a storm pauses without end.": _finds_port(
        rates={port: _ENDLESS if port[-1] in "567" else rates for port, rates in _SENDERS.items()}
        | {"leaf-0/p0": _EGRESS}
    ),
    # Quiet:
    "It gets back as much as it sends.": Case(rates=_SENDERS | {"leaf-0/p0": _EGRESS | {"rx_bytes": 4e10}}),
    "The host pauses the port: a slow receiver.": Case(
        rates=_SENDERS | {"leaf-0/p0": _EGRESS | {"rx_pause_us:3": 5e5}}
    ),
    "No sign of congestion.": Case(rates={"leaf-0/p0": _EGRESS}),
    "A storm makes the leaf pause its other ports, and nothing gets through: PFC001.": undecided(
        rates={f"leaf-0/p{n}": _ENDLESS for n in range(1, 8)} | {"leaf-0/p0": _EGRESS}
    ),
    "Three senders: fewer ports are paused than many senders make.": undecided(
        rates={f"leaf-0/p{n}": _SENDERS[f"leaf-0/p{n}"] for n in range(1, 4)} | {"leaf-0/p0": _EGRESS}
    ),
    "A switch whose port to a host is full reports neither marks nor pauses; another one does.": undecided(
        plan=f"{PLAN}\nh9/nic0 leaf-1/p9 rail=0 speed=400",
        rates={
            "leaf-0/p0": {"tx_bytes": 4.2e10, "rx_bytes": 1e9},
            "leaf-1/p9": {"tx_bytes": 1e9, "rx_bytes": 1e9, "ecn_marked_packets": 0.0},
        },
    ),
}
