"""A NIC's packets leave by another NIC, arrive on another one, or enter the network at another leaf.

## Why it matters
Every rail's traffic then shares one NIC and one leaf, while ping and LLDP look fine: a host with several NICs in one
subnet answers for any address on any NIC (ARP flux), and without a rule for each source address the first route wins.
RDMA takes the MAC of its peer from the same tables.

## How it is detected
Three witnesses of `truerail probe`. Departure: the host's own `ip route get` for the source address names another
interface. Arrival: the listener received packets on another interface than that of the address. First hop: a packet
that is bound to the NIC and may make one hop is answered by another switch than the planned leaf, as the addresses of
the switches show; where these are not known, the first hop is unknown. A NIC whose packets all arrive on another one
may as well have that one's cable, unless LLDP shows its own in its place. One clean run does not prove that the ARP
settings are right: which NIC answers first is a race.

## What to do
For departure, give each address its own table (`ip rule add from ADDRESS table N`). For arrival, set
`net.ipv4.conf.all.arp_ignore=1` and `arp_announce=2` and clear the neighbours of the peers. For the first hop, the
cable or the address is in the wrong place: LLDP, or a look, decides which; nothing is moved before that.

## Decide
- `leave by`: the host has no rule for this source address, or it names the wrong table.
- `arrive on`: another NIC answers ARP for this address. If none arrive on the NIC itself and LLDP does not show its
  cable right, the two cables may be swapped: Linux answers for any of its addresses on any NIC. Look before a change.
- `first hop`: the cable leads to another leaf. Where LLDP says so too, repair the cable; where LLDP shows it right, the
  address of the switch is known under a wrong name.

## False positives
Switches that answer with an address that another switch also has (anycast gateways) are left out of the first hop.
"""

from typing import Any

import numpy as np

from rules._examples import heard, sent
from rules._probes import Probed, probed
from truerail.analysis.cabling import ONE_END, evidence_of
from truerail.analysis.probes.upper_links import first_hops
from truerail.analysis.rule import Case, Findings, Round, report_not_evaluated, rule
from truerail.model import CauseKind, Finding, NetAddress, ProbeHop, ProbeReach, Severity
from truerail.model.columns import NONE, Codes, distinct
from truerail.model.names import some


@rule("PRB002", Severity.CRITICAL, [ProbeReach], cause=CauseKind.CONFIGURATION)
def wrong_source_nic(round: Round) -> Findings:
    """NICs whose probes took another way than theirs: by first hop, by departure, by arrival."""
    found = probed(round, wrong_source_nic)
    flows = found.flows
    reported: set[int] = set()
    for cable, (leaf, row) in sorted(first_hops(round).items()):
        if leaf != int(round.cabling.index.b_device[cable]):
            reported.add(cable)
            yield _at_leaf(found, cable, leaf, row)
    routed = found.planned & ~flows.wired & flows.tried
    left_by = flows.table.column("left_by")[flows.row]
    port = flows.table.column("port")[flows.row]
    away = np.array([by is not None and by != own for by, own in zip(left_by, port, strict=True)], dtype=bool) & routed
    for cable in distinct(flows.cable[away]).tolist():
        if cable not in reported:
            reported.add(cable)
            which = np.flatnonzero(away & (flows.cable == cable))
            yield _departing(found, cable, sorted({left_by[i] for i in which.tolist()}), which)
    stray = found.planned & (flows.stray_row != NONE)
    for cable in distinct(flows.peer_cable[stray]).tolist():
        if cable not in reported:
            reported.add(cable)
            yield _arriving(found, cable, np.flatnonzero(stray & (flows.peer_cable == cable)))
    known = np.array([by is not None for by in left_by], dtype=bool) & routed
    seen = found.counted(known, flows.cable) > 0
    seen &= found.counted(found.judged & flows.arrived, flows.peer_cable) > 0
    seen[list(reported)] = True
    report_not_evaluated(found.unseen(seen, "no route of them is reported, or nothing was heard on them"))


def _at_leaf(found: Probed, cable: int, leaf: int, row: int) -> Finding:
    nic, planned, actual = found.nic(cable), found.round.plan.cables[cable].b, found.device(leaf)
    state = found.cable_state(cable)
    decide = {
        "right": f"LLDP shows its cable right: check to which switch the address of {actual} belongs. No cable moves.",
        "wrong": "LLDP shows the cable there too: repair the cable.",
    }.get(state, f"See what the cable of {nic} is plugged into before anything is moved: LLDP does not show it.")
    return wrong_source_nic.found(
        nic,
        summary=f"the first hop of {nic} is {actual}, planned is {planned.device}",
        action=decide,
        expected=str(planned),
        rail=found.rail(cable),
        confidence=ONE_END,
        evidence=(evidence_of(found.round.snapshot, ProbeHop, row),),
        detail=(("because", "first hop"), ("leaf", actual), ("planned_leaf", planned.device), ("cable", state)),
    )


def _departing(found: Probed, cable: int, others: list[str], which: Codes) -> Finding:
    nic = found.nic(cable)
    return found.found(
        cable,
        which,
        summary=f"packets from the address of {nic} leave by {some(others)}",
        action=f"Give the address of {nic} its own rule and table (`ip rule add from ADDRESS table N`).",
        confidence=0.99,
        detail=(("because", "departure"), ("left_by", others), ("cable", found.cable_state(cable))),
    )


def _arriving(found: Probed, cable: int, which: Codes) -> Finding:
    nic, flows = found.nic(cable), found.flows
    rows = flows.stray_row[which]
    others = sorted({str(flows.table.rows[row].arrived_on) for row in rows.tolist()})
    to_it = found.planned & (flows.peer_cable == cable)
    alone = int(flows.heard[to_it].sum()) == int(flows.stray[to_it].sum()) and found.cable_state(cable) != "right"
    summary = f"packets to the address of {nic} arrive on {some(others)}"
    action = f"Set arp_ignore=1 and arp_announce=2 on {nic.partition('/')[0]}, and clear its peers' neighbours."
    if alone:
        summary += " and none on itself: ARP, or swapped cables"
        action = f"See where the cables of {nic} and {some(others)} lead before anything is changed. If right: {action}"
    return found.found(
        cable,
        which,
        summary=summary,
        action=action,
        confidence=ONE_END if alone else 0.99,
        evidence=found.evidence(which, rows),
        detail=(
            ("because", "exchanged" if alone else "arrival"),
            ("arrived_on", others),
            ("cable", found.cable_state(cable)),
        ),
    )


PLAN = "\n".join(f"h{host}/nic{rail} leaf-{rail}/p{host} rail={rail}" for host in (1, 2) for rail in (0, 1))


def _both(**of_first: Any) -> dict[str, list[ProbeReach]]:
    """Each NIC to the other host's on its rail; the sender's row of the first flow is changed."""
    facts: dict[str, list[ProbeReach]] = {"h1": [], "h2": []}
    flow = 0
    for nic in ("nic0", "nic1"):
        for a, b in (("h1", "h2"), ("h2", "h1")):
            facts[a].append(sent(flow, nic, b, nic, **(of_first if flow == 0 else {})))
            facts[b].append(heard(flow, nic, a, nic))
            flow += 1
    return facts


_STRAY = _both()
_STRAY["h2"][0] = heard(0, "nic0", "h1", "nic0", arrived_on="nic1")
_WIRED = sent(9, "nic0", "h2", "nic0", mode="wired")
_HOP = ProbeHop("nic0", "h2", "nic0", "r", 9, 50000, 1, 64, 1, "10.9.1.1", 1, "time exceeded")
_MIXED = _both()
_MIXED["h2"] += [heard(0, "nic0", "h1", "nic0", arrived_on="nic1")]
_SWITCHES = {"leaf-0": [NetAddress("p1", "10.9.0.1", 31)], "leaf-1": [NetAddress("p1", "10.9.1.1", 31)]}

EXAMPLES = {
    "Its packets leave by the other NIC.": Case(_both(left_by="nic1"), "h1/nic0"),
    "All packets to its address arrive on the other NIC.": Case(_STRAY, "h2/nic0"),
    "Some packets to its address arrive on the other NIC.": Case(_MIXED, "h2/nic0"),
    "Its first hop is the other rail's leaf.": Case(
        {**_both(), **_SWITCHES, "h1": [_HOP, _WIRED, *_both()["h1"]]}, "h1/nic0"
    ),
    "First hop, departure and arrival of one NIC: one finding.": Case(
        {
            "h1": [_HOP, _WIRED, *_both(left_by="nic1")["h1"], heard(1, "nic0", "h2", "nic0", arrived_on="nic1")],
            "h2": _both()["h2"],
            **_SWITCHES,
        },
        "h1/nic0",
    ),
    # Quiet:
    "All go their way, and the first hop is the planned leaf.": Case(
        {**_both(), **_SWITCHES, "h1": [_HOP._replace(address="10.9.0.1"), _WIRED, *_both()["h1"]]}
    ),
    "The first hop's address belongs to two switches, or to none.": Case(
        {
            **_both(),
            "leaf-0": [NetAddress("vlan1", "10.9.1.1", 24)],
            "leaf-1": [NetAddress("vlan1", "10.9.1.1", 24)],
            "h1": [_HOP, _HOP._replace(address="192.0.2.1"), _WIRED, *_both()["h1"]],
        }
    ),
    "No host reports its routes.": Case({"h1": [sent(0, "nic0", "h2", "nic0", left_by=None)]}, unknown=True),
}
