"""A NIC does not reach its rail: packets that were sent to it or from it never arrive.

## Why it matters
A collective needs every NIC of a rail to reach every other one. One NIC that does not stops the whole job, with a
timeout that names neither host nor NIC, although its link is up and LLDP sees its neighbour.

## How it is detected
`truerail probe` sends three UDP packets for each pair, by the source address, and the host at the other end says what
it heard. A NIC of which no packet arrived, over all tried pairs, in one direction or in both, is unreachable. Where
two NICs were tried with each other alone, it is one of the two. What is left are pairs: of two leaves, where nothing
arrives between them, else of NICs. Pairs whose packets met a silent link, as a path sweep shows, are left to PRB005.
Pairs that were not tried, or whose listener dropped packets itself, are unknown.

## What to do
Where LLDP shows the cable at its place, no cable is moved: look at the address, the policy rule (`ip rule`), the
`rp_filter` and the VLAN of the port. Where the packets arrive once they are bound to the NIC itself, it is the host's
routing. Where LLDP shows another cable, or none, repair that first and probe again.

## Decide
- `arrive when they are bound to the NIC`: the network is fine. The host sends them elsewhere: give the address its
  own rule and table, and set `rp_filter` to 0 or 2.
- `its kernel refused`: the host has no route for this address.
- `its cable is right`: address, VLAN, or filter of the NIC and its switch port.
- `its cable is`, `it is one of them`: see what is plugged in where, repair that first, and probe again.
- `nothing arrives between`, `does not reach`: routes and filters between the two leaves.

## False positives
A host firewall that drops the probes' UDP port. Two NICs under one leaf and no other on the rail: it may be either.
"""

import numpy as np

from rules._examples import BETWEEN_LEAVES, TWO_HOSTS, TWO_LEAVES, Facts, each_to_each, heard, hears, sent, undecided
from rules._probes import Probed, probed
from truerail.analysis.rule import Case, Findings, Round, report_not_evaluated, rule
from truerail.analysis.sweep.swept import swept
from truerail.model import CauseKind, Finding, NetAddress, ProbeReach, ProbeTrouble, Severity
from truerail.model.columns import Mask, distinct
from truerail.model.names import some

_FEW = 2
"""Flows from which on losing all of them is more than one lost pair."""


@rule("PRB001", Severity.CRITICAL, [ProbeReach], cause=CauseKind.CONFIGURATION)
def rail_unreachable(round: Round) -> Findings:
    """NICs that no packet reaches or leaves, then pairs of leaves, then pairs of NICs."""
    found = probed(round, rail_unreachable)
    flows = found.flows
    use = found.judged & found.railed & ~flows.wired
    lost = use & flows.lost
    alone, either = _isolated(found, use, lost)
    for cable in alone:
        yield _of_nic(found, cable, (use & ((flows.cable == cable) | (flows.peer_cable == cable))), "")
    for cable, peer in either:
        yield _of_two(found, cable, peer)
    gone = np.isin(flows.cable, [*alone, *map(int, np.ravel(either))])
    gone |= np.isin(flows.peer_cable, [*alone, *map(int, np.ravel(either))])
    use, lost = use & ~gone, lost & ~gone
    for ends, direction in ((flows.cable, "sends"), (flows.peer_cable, "receives")):
        all_lost = (found.counted(lost, ends) == found.counted(use, ends)) & (found.counted(lost, ends) >= _FEW)
        for cable in np.flatnonzero(all_lost).tolist():
            yield _of_nic(found, cable, use & (ends == cable), direction)
        lost &= ~all_lost[ends]
    yield from _pairs(found, use, lost & ~_on_silent_links(found))
    seen = found.counted(found.judged, flows.cable) + found.counted(found.judged, flows.peer_cable) > 0
    report_not_evaluated(found.unseen(seen, "no probe of them was tried, or no listener can say what arrived"))


def _on_silent_links(found: Probed) -> Mask:
    """Flows that a silent link explains (PRB005), as a sweep shows: their pairs reach each other by other links."""
    sweep, flows = swept(found.round), found.flows
    seats = sweep.losses.silent_seats if sweep.over_paths else ()
    rows = [row for seat in seats for row in sweep.rows[sweep.losses.flows_of(seat)].tolist()]
    reach = found.round.snapshot.table(ProbeReach).rows
    known = {(reach[row].run, reach[row].flow) for row in rows}
    of = [flows.fact(flow) for flow in range(len(flows.row))]
    return np.array([(one.run, one.flow) in known for one in of], dtype=bool)


def _isolated(found: Probed, use: Mask, lost: Mask) -> tuple[list[int], list[tuple[int, int]]]:
    """The cables of NICs that lost all flows, in both directions; and pairs of them that have no other peer, so that
    either may be the reason.
    """
    flows = found.flows
    tried = found.counted(use, flows.cable) + found.counted(use, flows.peer_cable)
    missed = found.counted(lost, flows.cable) + found.counted(lost, flows.peer_cable)
    dead = (tried > 0) & (tried == missed)
    alone, either = [], set()
    for cable in np.flatnonzero(dead).tolist():
        peers = set(flows.peer_cable[use & (flows.cable == cable)].tolist())
        peers |= set(flows.cable[use & (flows.peer_cable == cable)].tolist())
        if len(peers) == 1 and dead[next(iter(peers))]:
            either.add((min(cable, *peers), max(cable, *peers)))
        else:
            alone.append(cable)
    paired = {cable for pair in either for cable in pair}
    return [cable for cable in alone if cable not in paired], sorted(either)


def _of_nic(found: Probed, cable: int, which: Mask, direction: str) -> Finding:
    flows, nic, state = found.flows, found.nic(cable), found.cable_state(cable)
    own, wired = which & (flows.cable == cable), flows.wired & found.judged & (flows.cable == cable)
    refused = own & flows.refused & (flows.sent.sum(axis=1) == 0)
    carries = bool((wired & flows.arrived).any())
    peers = found.peers(np.where(flows.cable == cable, flows.peer_cable, flows.cable)[which])
    words = {"sends": f"nothing that {nic} sends arrives at", "receives": f"{nic} receives nothing from"}
    summary = f"{words.get(direction, f'{nic} reaches none of')} {peers} ({int(which.sum())} probed flows, all lost)"
    if carries:
        summary += "; its packets arrive when they are bound to the NIC"
        action = f"Mend the host's routing: `ip rule`, the table of the address of {nic}, and rp_filter."
    elif refused.any() and refused.sum() == own.sum():
        summary += "; its kernel refused to send"
        action = f"Give {nic} a route: `ip route get` with its address as the source has none."
    elif state == "right":
        summary += "; its cable is right"
        action = f"Check the address of {nic}, and VLAN and filters of its switch port. No cable has to move."
    else:
        summary += f"; its cable is {state}"
        action = f"See what the cable of {nic} is plugged into; repair that, and probe again."
    return found.found(
        cable,
        which,
        summary=summary,
        action=action,
        confidence=0.95,
        detail=(
            ("direction", direction or "both"),
            ("lost", int(which.sum())),
            ("cable", state),
            ("bound_arrives", carries),
        ),
    )


def _of_two(found: Probed, cable: int, peer: int) -> Finding:
    nic, other, flows = found.nic(cable), found.nic(peer), found.flows
    which = found.judged & (np.minimum(flows.cable, flows.peer_cable) == cable)
    which &= np.maximum(flows.cable, flows.peer_cable) == peer
    return found.found(
        cable,
        which,
        summary=f"{nic} and {other} do not reach each other, and were tried with no other NIC: it is one of them",
        action=f"Check address and routes of {nic} and {other}; probe them with more peers.",
        detail=(("direction", "both"), ("or", [other]), ("cable", found.cable_state(cable))),
    )


def _pairs(found: Probed, use: Mask, lost: Mask) -> Findings:
    """Pairs of leaves between which everything is lost, by their first leaf; then NICs that lost some pairs."""
    flows, size = found.flows, len(found.round.cabling.index.devices.names)
    between = found.leaf * size + found.peer_leaf
    apart = lost & (found.leaf != found.peer_leaf)
    routes = [
        code
        for code in distinct(between[apart]).tolist()
        if np.count_nonzero(use & (between == code)) == np.count_nonzero(lost & (between == code)) >= _FEW
    ]
    for leaf in sorted({code // size for code in routes}):
        of = [code for code in routes if code // size == leaf]
        which = np.flatnonzero(lost & np.isin(between, of))
        names = some([found.device(code % size) for code in of])
        yield found.found(
            int(flows.cable[which[0]]),
            which,
            found.device(leaf),
            summary=f"nothing arrives between {found.device(leaf)} and {names}: {len(which)} probed flows, all lost",
            action=f"Check the routes of {found.device(leaf)} to {names}, and the links between them.",
            severity=Severity.WARNING,
            detail=(("lost", len(which)), ("to", [found.device(code % size) for code in of])),
        )
    lost = lost & ~np.isin(between, routes)
    for cable in distinct(flows.cable[lost]).tolist():
        which = lost & (flows.cable == cable)
        peers = found.peers(flows.peer_cable[which])
        yield found.found(
            cable,
            which,
            summary=f"{found.nic(cable)} does not reach {peers}, and it reaches other NICs",
            action=f"Check the routes between {found.nic(cable)} and {peers}, and filters on the way.",
            severity=Severity.WARNING,
            detail=(("direction", "pair"), ("lost", int(which.sum())), ("cable", found.cable_state(cable))),
        )


PLAN = "\n".join(f"h{host}/nic0 leaf-0/p{host} rail=0" for host in (1, 2, 3))


def _ring(dead: str = "", *, only: str = "both") -> dict[str, list[ProbeReach]]:
    """Three hosts; what `dead` sends or receives is lost."""

    def heard_of(here: str, there: str) -> dict[str, int]:
        lost = (here == dead and only != "receives") or (there == dead and only != "sends")
        return {"packets": 0 if lost else 3}

    return each_to_each(3, heard_of)


def _mesh(*lost: tuple[str, str]) -> dict[str, list[ProbeReach]]:
    """Four hosts; some pairs are lost."""
    return each_to_each(4, lambda here, there: {"packets": 0 if (here, there) in lost else 3})


_NO_ROUTE = _ring("h1", only="sends")
_NO_ROUTE["h1"] = [fact if fact.sent is None else fact._replace(sent=0, size=None) for fact in _NO_ROUTE["h1"]]
_REFUSED = [ProbeTrouble("nic0", "ENETUNREACH", 3, "r", flow) for flow in (0, 1)]
_BOUND = _ring("h1", only="sends")
_BOUND["h1"] += [sent(90, "nic0", "h2", "nic0", mode="wired")]
_BOUND["h2"] += [heard(90, "nic0", "h1", "nic0", mode="wired")]

_SEEN: Facts = {"h1": [hears("nic0", "leaf-0/p1"), *_ring("h1")["h1"]], "leaf-0": [hears("p1", "h1/nic0")]}

EXAMPLES = {
    "The same while LLDP shows its cable in its place.": Case({**_ring("h1"), **_SEEN}, "h1/nic0"),
    "One NIC of three reaches no other one.": Case(_ring("h1"), "h1/nic0"),
    "Nothing that it sends arrives; it hears the others.": Case(_ring("h1", only="sends"), "h1/nic0"),
    "It hears nothing; what it sends arrives.": Case(_ring("h1", only="receives"), "h1/nic0"),
    "What is bound to the NIC arrives.": Case(_BOUND, "h1/nic0"),
    "Its kernel has no route.": Case({**_NO_ROUTE, "h1": [*_NO_ROUTE["h1"], *_REFUSED]}, "h1/nic0"),
    "Two NICs and no other: it is one of the two.": Case(
        {
            "h1": [sent(0, "nic0", "h2", "nic0"), heard(1, "nic0", "h2", "nic0", 0)],
            "h2": [sent(1, "nic0", "h1", "nic0"), heard(0, "nic0", "h1", "nic0", 0)],
        },
        "h1/nic0",
        plan=TWO_HOSTS,
    ),
    "A leaf has no route to another one.": Case(_mesh(*BETWEEN_LEAVES), "leaf-0", plan=TWO_LEAVES),
    "One pair of many is lost.": Case(_mesh(("h1", "h3")), "h1/nic0", plan=TWO_LEAVES),
    # Quiet:
    "All arrive.": Case(_ring()),
    "Its listener dropped packets itself: what arrived is unknown.": undecided(
        {
            "h1": [sent(0, "nic0", "h2", "nic0")],
            "h2": [heard(0, "nic0", "h1", "nic0", 0), ProbeTrouble("", "buffer full", 9, "r")],
        },
        plan=TWO_HOSTS,
    ),
    "The host at the other end took no part: untried.": undecided(
        {"h1": [sent(0, "nic0", "h2", "nic0", 0), ProbeTrouble("nic0", "peer left out", 1, "r", 0)]}, plan=TWO_HOSTS
    ),
    "No probe ran; addresses alone show nothing.": undecided({"h1": [NetAddress("nic0", "10.0.0.1", 24)]}),
}
