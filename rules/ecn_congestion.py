"""Much of what a NIC receives is marked as congested, or the loop that should slow its senders down is broken.

## Why it matters
Marks signal congestion to RoCE before anything is paused: a few are healthy, many show that senders share an egress
that is too small for them. Where the loop is broken (a switch does not mark, notices do not come back, senders ignore
them), no sender slows down, and PFC pauses take over, which spread.

## How it is detected
A switch counts the packets that it marks; a NIC counts the marked packets it receives (`np_ecn_marked_roce_packets`),
the notices it sends for them (`np_cnp_sent`), those it handles as a sender (`rp_cnp_handled`) and those it ignores.
Over the window, and over at least two minutes:

- Marked share of received packets: critical above 10 %; warning above 1 % in four samples of five; above 0.1 % info,
  for all NICs of a leaf together. 100,000 notices a second of one NIC are critical as well. Where that holds for
  four NICs of a leaf or more whose links are less than half in use, it is one finding for all such leaves: bursts meet
  there, or what is full is above the leaves.
- A switch marks packets that it sends to a NIC, and the NIC receives no marked packet; or the NIC receives marks and
  sends no notice; or it ignores the notices that it receives.
- The NICs of a rail send 1,000 notices or more, nearly all of them (80 %) report how many they handle, and that is
  zero.
- A link neither end of which counts marks or notices for two minutes is counted as unknown.
- A switch pauses a neighbour for 5 % of the time (100 times a second where only frames are counted), is not paused
  itself, nearly all its ports count marks, and it made none: PFC acts before ECN.

## What to do
Look which flows meet at that NIC (incast: INC001; a slow receiver: PFC001). For a broken loop compare the DSCP and
priority of RoCE and CNP packets, trust, and ECN enables along the path (CFG001), and the ECN thresholds with PFC's.

## Decide
- `marked as congested`, `congestion notices a second`: real congestion. Towards one NIC: look who sends there (INC001),
  and whether the host is a slow receiver (PFC001, PFC002). Of many, `above the leaves`: no NIC is at fault, links
  between leaves and spines are full (CAP001, LBL002), or higher up; look which job spans what they connect.
- `sent no congestion notice`, `ignored`: congestion control is off on this NIC. Switch it on as `action` says;
  until then senders are not slowed down.
- `counts none as marked`, `no NIC of their rail got any`: marks or notices are lost on the way. Compare DSCP, priority
  and trust along the path (CFG001).
- `marks no packet before that`: PFC acts before ECN. Lower the ECN threshold of the switch.
- `info ECN001`: congestion is seen and answered. Nothing to do at night.

## False positives
Checkpoints and all-to-all phases mark packets for minutes, and the loop is designed to do so: compare with the job's
phases. Cleared counters during the window.
"""

from functools import partial

import numpy as np

from rules._congestion import INFERRED, LEAST_SECONDS, LOOK, REPORTED, Said, Scene, marked, paused, reported_of
from rules._examples import finds_nic, undecided
from rules._links import blind_links, other_ends, ports_of_hosts, rail_at, with_other_ends
from truerail.analysis.counters import Quantity
from truerail.analysis.counters.evidence import counter_evidence
from truerail.analysis.counters.telemetry import LEAST_COVERAGE, Telemetry
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, report_not_evaluated, rule
from truerail.model import CauseKind, Finding, PortCounters, Severity, Transport
from truerail.model.columns import Codes, Mask, distinct

Q = Quantity

CNP_PER_SECOND = 1e5
"""Notices a second of one NIC that are critical by themselves. Chosen by judgement."""
LEAST_COUNTED = 1000.0
"""The least number of marks or notices from which a lack of the response is significant."""
PAUSED_SHARE = 0.05
"""Share of time paused from which marks are expected first: that of PFC002."""
PAUSE_FRAMES = 100.0
"""Pause frames a second from which a port counts as paused where the paused time is unknown: that of INC001."""


@rule("ECN001", Severity.WARNING, [PortCounters], transports=[Transport.ROCE], cause=CauseKind.OVERLOAD)
def ecn_congestion(round: Round) -> Findings:
    """NICs whose traffic is marked as congested, and broken loops. One finding for each NIC, leaf or switch."""
    t = round.telemetry
    signs = (Q.ECN_RECEIVED_PACKETS, Q.CNP_SENT, Q.CNP_IGNORED, Q.ECN_MARKED_PACKETS)
    seen = np.logical_or.reduce([reported_of(t, sign).seconds >= LEAST_SECONDS for sign in signs])
    if not seen.any():
        raise InsufficientDataError(f"no port reported ECN or CNP for {LEAST_SECONDS:.0f} seconds")
    scene = Scene(t, other_ends(t.wiring), ports_of_hosts(t))
    for look in (marked, _flooding, _lost_marks, _no_notices, _ignored, _unanswered, _unmarked):
        look(scene)
    for subject, said in scene.said.items():
        yield _finding(t, subject, said)
    does = f"counts ECN or CNP for {LEAST_SECONDS:.0f} seconds"
    report_not_evaluated(blind_links(t.wiring, with_other_ends(t.wiring, seen), does))


def _flooding(scene: Scene) -> None:
    """NICs that send very many notices, and are not taken together."""
    sent = reported_of(scene.t, Q.CNP_SENT)
    rate = sent.rate
    flooding = (rate > CNP_PER_SECOND) & (sent.seconds >= LEAST_SECONDS) & ~scene.together
    for port in np.flatnonzero(flooding).tolist():
        summary = f"it sends {rate[port]:,.0f} congestion notices a second"
        scene.at(port).add(Severity.CRITICAL, "flood", summary, LOOK, REPORTED)


def _lost_marks(scene: Scene) -> None:
    """NICs that receive no marked packet although their switch marks what it sends them."""
    marks = reported_of(scene.t, Q.ECN_MARKED_PACKETS).gained
    there = np.where(scene.other < scene.t.ports, scene.other, -1)
    made = np.where(there >= 0, marks[there], np.nan)
    deaf = scene.nic & (made >= LEAST_COUNTED) & reported_of(scene.t, Q.ECN_RECEIVED_PACKETS).nothing(LEAST_SECONDS)
    for port in np.flatnonzero(deaf).tolist():
        switch = scene.t.wiring.index.spell(int(there[port]))
        summary = f"{switch} marked {made[port]:,.0f} packets to it, and it counts none as marked"
        action = "Compare DSCP and ECN bits of RoCE packets: another class is marked, or ECN is off on the NIC"
        scene.at(port).add(Severity.WARNING, "lost marks", summary, action, INFERRED)


def _no_notices(scene: Scene) -> None:
    """NICs that receive marks and send no notices."""
    marked = reported_of(scene.t, Q.ECN_RECEIVED_PACKETS).gained
    mute = (marked >= LEAST_COUNTED) & reported_of(scene.t, Q.CNP_SENT).nothing(LEAST_SECONDS)
    for port in np.flatnonzero(mute).tolist():
        summary = f"it received {marked[port]:,.0f} marked packets and sent no congestion notice"
        action = "Enable notices for the lossless priority (`/sys/class/net/<nic>/ecn/roce_np/enable`)"
        scene.at(port).add(Severity.WARNING, "no notices", summary, action, REPORTED)


def _ignored(scene: Scene) -> None:
    """NICs that receive congestion notices and ignore them."""
    ignored = reported_of(scene.t, Q.CNP_IGNORED).gained
    for port in np.flatnonzero(ignored > 0).tolist():
        summary = f"it ignored {ignored[port]:,.0f} congestion notices: its congestion control is off for that priority"
        action = "Enable it for the lossless priority (`/sys/class/net/<nic>/ecn/roce_rp/enable`)"
        scene.at(port).add(Severity.WARNING, "ignored", summary, action, REPORTED)


def _unanswered(scene: Scene) -> None:
    """Rails on which notices are sent, nearly all NICs report how many they handle, and none handles any."""
    t = scene.t
    sent, handled, ignored = (reported_of(t, q) for q in (Q.CNP_SENT, Q.CNP_HANDLED, Q.CNP_IGNORED))
    index = t.wiring.index
    rail = index.rail[index.cables_at(np.arange(t.ports))]
    leaf = scene.leaf
    for number in distinct(rail[scene.nic & (sent.gained > 0)]).tolist():
        nics = scene.nic & (rail == number)
        arrived = np.nansum(handled.gained[nics]) + np.nansum(ignored.gained[nics])
        reported = handled.seconds[nics] >= LEAST_SECONDS
        few = np.nansum(sent.gained[nics]) < LEAST_COUNTED
        if arrived or few or reported.mean() < LEAST_COVERAGE or reported.sum() < 2:
            continue
        senders = nics & (sent.gained > 0) & (leaf >= 0)
        for code in distinct(leaf[senders]).tolist():
            count = sent.gained[senders & (leaf == code)].sum()
            whose = f"no NIC of their rail got any ({reported.sum()} report them)"
            summary = f"NICs on it sent {count:,.0f} congestion notices, and {whose}"
            action = "Compare priority and DSCP of CNP packets along the path: they are dropped, or senders ignore them"
            scene.of(code // 2).add(Severity.WARNING, "unanswered", summary, action, INFERRED)


def _unmarked(scene: Scene) -> None:
    """Switches that pause their neighbours, are not paused themselves, and never mark a packet."""
    t, index = scene.t, scene.t.wiring.index
    limits = {"share": PAUSED_SHARE, "frames_per_second": PAUSE_FRAMES}
    pauses = paused(t, Q.TX_PAUSE_US, Q.TX_PAUSE_FRAMES, **limits)
    stopped = paused(t, Q.RX_PAUSE_US, Q.RX_PAUSE_FRAMES, **limits)
    marks = reported_of(t, Q.ECN_MARKED_PACKETS)
    device = index.ports.device_of(np.arange(t.ports))

    def count(ports: Mask) -> Codes:
        return np.bincount(device[ports & ~scene.nic], minlength=len(index.devices.names))

    clean = count(marks.nothing(LEAST_SECONDS)) >= LEAST_COVERAGE * np.maximum(count(~scene.nic), 1)
    guilty = clean & (count(marks.gained > 0) == 0) & (count(stopped) == 0) & (count(pauses) > 0)
    for code in np.flatnonzero(guilty).tolist():
        port = int(np.flatnonzero(pauses & (device == code))[0])
        summary = f"it pauses the neighbor of {index.spell(port)}, and marks no packet before that"
        action = "Lower its ECN threshold below the level at which it pauses, on the lossless priority"
        scene.of(code).add(Severity.WARNING, "unmarked", summary, action, INFERRED)
        scene.of(code).port = port


def _finding(telemetry: Telemetry, subject: str, said: Said) -> Finding:
    quantities = (Q.ECN_RECEIVED_PACKETS, Q.CNP_SENT, Q.CNP_HANDLED, Q.CNP_IGNORED, Q.ECN_MARKED_PACKETS, Q.TX_PAUSE_US)
    of_port = said.port >= 0 and "/" in subject
    return ecn_congestion.found(
        subject,
        severity=said.severity,
        summary=f"{subject}: {'; '.join(said.summary)}",
        action=f"{'. '.join(dict.fromkeys(said.does))}.",
        rail=rail_at(telemetry.wiring.index, said.port) if of_port else None,
        confidence=said.sure,
        evidence=counter_evidence(telemetry, [said.port], *quantities),
        detail=(("symptoms", tuple(said.symptoms)), *said.detail),
    )


PLAN = "gpu-1/nic0 leaf-0/p1 rail=0 speed=400\ngpu-2/nic0 leaf-0/p2 rail=0 speed=400"
_LEAVES = "\n".join(f"gpu-{n + 1}/nic0 leaf-{n // 4}/p{n % 4 + 1} rail=0 speed=400" for n in range(8))
_MARKED = {"rx_packets:3": 1e6, "rx_bytes": 4e9, "ecn_received_packets": 3e5, "cnp_sent": 3e5}
_BUSY = {"rx_packets:3": 1e7, "rx_bytes": 4e10, "ecn_received_packets": 1e3, "cnp_sent": 100.0, "cnp_handled": 90.0}
_DEAF = {**_BUSY, "cnp_handled": 0.0, "cnp_ignored": 0.0}
_PAUSING = {"ecn_marked_packets:3": 0.0, "tx_pause_us:3": 2e5, "rx_pause_us:3": 0.0}
_finds_leaf = partial(Case, finds="leaf-0")

EXAMPLES = {
    "A tenth and more of what a NIC receives is marked.": finds_nic(
        rates={"gpu-1/nic0": {**_BUSY, "ecn_received_packets": 2e6}, "gpu-2/nic0": _BUSY}
    ),
    "Some percent are marked, counted without priorities, on a link that is hardly used.": finds_nic(
        rates={"gpu-1/nic0": {"rx_packets": 1e6, "rx_bytes": 4e9, "ecn_received_packets": 3e4}}
    ),
    "A few in a thousand: one finding for the leaf.": _finds_leaf(
        rates={f"gpu-{host}/nic0": {"rx_packets:3": 1e6, "ecn_received_packets": 2e3} for host in (1, 2)}
    ),
    "All NICs of two leaves are marked on links that are hardly used: what is full is above them.": _finds_leaf(
        plan=_LEAVES, rates={f"gpu-{host}/nic0": _MARKED for host in range(1, 9)}
    ),
    "All NICs of a leaf are marked, and their links are full: each is named, with one of another leaf.": Case(
        finds="gpu-1/nic0 gpu-2/nic0 gpu-3/nic0 gpu-4/nic0 gpu-5/nic0",
        plan=_LEAVES,
        rates={f"gpu-{host}/nic0": _MARKED | ({"rx_bytes": 4e10} if host < 5 else {}) for host in range(1, 6)},
    ),
    "A flood of notices, of a NIC that does not count what it receives.": finds_nic(
        rates={"gpu-1/nic0": {"cnp_sent": 2e5, "cnp_handled": 1.0}}
    ),
    "A NIC ignores the notices that it gets; another receives marks and sends no notice.": Case(
        finds="gpu-1/nic0 gpu-2/nic0",
        rates={"gpu-1/nic0": {**_BUSY, "cnp_sent": 0.0}, "gpu-2/nic0": {**_BUSY, "cnp_ignored": 5.0}},
    ),
    "The leaf marks what it sends to a NIC, and the NIC sees no mark.": finds_nic(
        rates={"gpu-1/nic0": {**_BUSY, "ecn_received_packets": 0.0}, "leaf-0/p1": {"ecn_marked_packets:3": 500.0}}
    ),
    "Notices are sent, all NICs of the rail report what they handle, and none handles any.": _finds_leaf(
        rates={"gpu-1/nic0": _DEAF, "gpu-2/nic0": _DEAF}
    ),
    "A leaf pauses a host for a fifth of the time and has never marked a packet.": _finds_leaf(
        rates={"leaf-0/p1": _PAUSING, "leaf-0/p2": {**_PAUSING, "tx_pause_us:3": 0.0}}
    ),
    # Quiet:
    "A few marks are normal.": Case(rates={"gpu-1/nic0": _BUSY, "gpu-2/nic0": _BUSY}),
    "A leaf marks before it pauses.": Case(
        rates={"leaf-0/p1": {**_PAUSING, "ecn_marked_packets:3": 50.0}, "leaf-0/p2": _PAUSING}
    ),
    "A leaf that is paused itself passes the pauses on: what stands still is not marked.": Case(
        rates={"leaf-0/p1": _PAUSING, "leaf-0/p2": {**_PAUSING, "rx_pause_us:3": 9e5}}
    ),
    "Only one NIC reports notices, and it sends them: whether any NIC handles them is unknown.": undecided(
        rates={"gpu-1/nic0": _DEAF}
    ),
}
