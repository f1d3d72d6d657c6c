"""Pauses are sent on a priority that is not lossless, or stop a whole link (global pause).

## Why it matters
A pause on the wrong priority does nothing for the lossless traffic, which overflows instead, and stops traffic that
should be dropped. Global pause (IEEE 802.3x) stops everything on a link, control traffic too, and spreads like a storm.

## How it is detected
- pauses counted on a priority that the port's own settings do not have as lossless;
- where settings are read of other ports only: on a priority that most of them do not have as lossless;
- where no settings are read: on a priority on which at most a tenth of all ports that pause do so, with ten of those
  at least (a guess, with confidence 0.6);
- any frame of global pause.

The subject is the port that sends the pauses; where the other end of its cable is not known, the one that receives
them.

## What to do
Set the same lossless priorities on both ends (`mlnx_qos --pfc`, `dcb pfc`, the switch's QoS profile; CFG001 says what
differs) and switch global pause off (`ethtool -A IFACE rx off tx off`).

## Decide
- `which should not be paused`: the two ends have different lossless priorities. `mlnx_qos` on the host and the switch's
  profile show which (CFG001).
- `global pause`: 802.3x pause is on: one slow receiver stops all classes. Switch it off at both ends.

## False positives
A new lossless class in a rollout. Ports of storage with a priority of their own: mute them.
"""

import numpy as np

from rules._examples import finds_nic, railed
from rules._links import report_uncounted_links
from rules._pauses import LOSSLESS, LOSSY, Lossless, lossless_of
from truerail.analysis.counters import Quantity, Telemetry
from truerail.analysis.pfc.measures import recent
from truerail.analysis.pfc.trees import PAUSES, counted
from truerail.analysis.rule import Case, Findings, Round, rule
from truerail.model import CauseKind, Finding, PortCounters, PortQos, Severity, Transport
from truerail.model.columns import Codes, Mask

Q = Quantity
SIGNS = (*PAUSES, Q.RX_GLOBAL_PAUSE_FRAMES, Q.TX_GLOBAL_PAUSE_FRAMES)
BY_PORT, BY_MOST, BY_HABIT = 0.95, 0.8, 0.6
"""Confidence: the port's own settings say so; those of most others; where pauses usually go. Chosen by judgement."""
RARE, LEAST_PORTS = 0.1, 10
"""A priority is unusual where at most this share of all ports that pause do so on it, of so many ports at least. Chosen
by judgement.
"""


@rule("PFC005", Severity.WARNING, [PortCounters], transports=[Transport.ROCE], cause=CauseKind.CONFIGURATION)
def pause_on_wrong_priority(round: Round) -> Findings:
    """Ports that send pauses where none should be, one finding for each."""
    reported = round.telemetry
    counted(reported, "pauses", *SIGNS)
    last = recent(reported)
    lossless = lossless_of(reported, last)
    wrong, sure = _wrong(lossless)
    sent, received = np.nonzero(wrong & lossless.sent), np.nonzero(wrong & lossless.received)
    at = np.concatenate([sent[0], received[0]])
    senders = np.concatenate([sent[0], _senders(reported, received[0])])
    priorities: dict[int, set[int]] = {}
    certain: dict[int, float] = {}
    reported_by = zip(senders.tolist(), np.concatenate([sent[1], received[1]]).tolist(), sure[at].tolist(), strict=True)
    for port, priority, confidence in reported_by:
        priorities.setdefault(port, set()).add(priority)
        certain[port] = max(confidence, certain.get(port, 0.0))
    stopping = _stopping(reported, last)
    for port in sorted(priorities.keys() | stopping):
        yield _found(
            reported, port, sorted(priorities.get(port, ())), certain.get(port, BY_PORT), stops=port in stopping
        )
    report_uncounted_links(reported, "pauses", *SIGNS, last=last)


def _stopping(telemetry: Telemetry, last: int) -> set[int]:
    """Ports that send global pause."""
    sent = telemetry.reaches(Q.TX_GLOBAL_PAUSE_FRAMES, None, 0.0, last)
    received = telemetry.reaches(Q.RX_GLOBAL_PAUSE_FRAMES, None, 0.0, last)
    return {*np.flatnonzero(sent).tolist(), *_senders(telemetry, np.flatnonzero(received)).tolist()}


def _wrong(lossless: Lossless) -> tuple[Mask, "np.typing.NDArray[np.float64]"]:
    """Where a priority is not lossless, shape (planned ports, 8), and how sure that is, shape (planned ports,)."""
    read = np.logical_or.reduce(lossless.reported >= LOSSY, axis=1)
    if read.any():
        most: Mask = (lossless.reported[read] == LOSSLESS).mean(axis=0) > 0.5
        wrong = np.where(read[:, None], lossless.reported == LOSSY, ~most)
        return wrong, np.where(read, BY_PORT, BY_MOST)
    ports, pausing = lossless.moved.sum(axis=0), np.count_nonzero(lossless.moved.any(axis=1))
    rare = (ports <= RARE * pausing) & (pausing >= LEAST_PORTS)
    return np.broadcast_to(rare, lossless.moved.shape), np.full(len(read), BY_HABIT)


def _senders(telemetry: Telemetry, received: Codes) -> Codes:
    """The ports at the other ends; where one is not known, the port that receives."""
    peer = telemetry.wiring.peers.port[received]
    return np.where(peer >= 0, peer, received)


def _found(telemetry: Telemetry, port: int, priorities: list[int], sure: float, *, stops: bool) -> Finding:
    subject = telemetry.wiring.index.spell(port)
    named = f"priorit{'ies' if len(priorities) > 1 else 'y'} {', '.join(map(str, priorities))}"
    parts = [f"pauses its neighbor on {named}, which should not be paused"] if priorities else []
    parts += ["sends global pause, which stops the whole link"] * stops
    return pause_on_wrong_priority.found(
        subject,
        summary=f"{subject} {' and '.join(parts)}",
        action=f"Switch global pause off at both ends of the cable of {subject}." if stops and not priorities
        else f"Give both ends of the cable of {subject} the same lossless priorities.",
        rail=telemetry.wiring.index.plan.rail_of(subject),
        confidence=sure,
        detail=(("priorities", priorities), ("global_pause", stops)),
    )  # fmt: skip


PLAN = railed(2, more=" speed=400")
_MANY = railed(12, more=" speed=400")

EXAMPLES = {
    "A NIC pauses on a priority that its leaf drops.": finds_nic(
        {"leaf-0": [PortQos("swp1", pfc_priorities=(3,)), PortQos("swp2", pfc_priorities=(3,))]},
        rates={"leaf-0/swp1": {"rx_pause_frames:0": 50}, "leaf-0/swp2": {"rx_pause_frames:3": 50}},
    ),
    "It counts itself what it should not send.": finds_nic(
        {"gpu-1": [PortQos("nic0", pfc_priorities=(3,))]}, rates={"gpu-1/nic0": {"tx_pause_us:4": 500}}
    ),
    "The settings of other ports say that priority 3 is the lossless one.": finds_nic(
        {"leaf-0": [PortQos("swp2", pfc_priorities=(3,))]},
        rates={"leaf-0/swp1": {"rx_pause_frames:5": 50}, "leaf-0/swp2": {"rx_pause_frames:3": 50}},
    ),
    "One of twelve NICs pauses on another priority than all others.": Case(
        finds="gpu-12/nic0",
        plan=_MANY,
        rates={f"leaf-0/swp{n}": {f"rx_pause_frames:{3 if n < 12 else 4}": 50} for n in range(1, 13)},
    ),
    "Global pause stops a whole link.": Case(
        finds="gpu-2/nic0",
        rates={"leaf-0/swp2": {"rx_global_pause_frames": 900}, "gpu-2/nic0": {"tx_global_pause_frames": 900}},
    ),
    # Quiet:
    "Pauses on the lossless priority.": Case(
        {"leaf-0": [PortQos("swp1", pfc_priorities=(3,))]},
        rates={"leaf-0/swp1": {"rx_pause_frames:3": 50, "rx_pause_frames:0": 0}, "gpu-2/nic0": {"tx_pause_us:3": 0}},
    ),
    "Neither end of a link counts pauses.": Case(unknown=True, rates={"leaf-0/swp1": {"rx_pause_frames:3": 0}}),
    "Two priorities in use, no settings read, too few ports to guess.": Case(
        rates={"leaf-0/swp1": {"rx_pause_frames:3": 50}, "leaf-0/swp2": {"rx_pause_frames:4": 50}}
    ),
}
