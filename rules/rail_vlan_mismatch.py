"""A NIC's leaf port is in another VLAN than its rail's.

## Why it matters
The cable is right, the link is up, and the NIC reaches no other NIC of its rail: it is in another rail's broadcast
domain, or in none. RDMA connections on this rail time out, and nothing in the cabling shows why.

## How it is detected
The leaf's MAC table: the VLANs in which it learned a planned NIC's own MAC on the NIC's planned port, against the VLANs
that the plan gives the rail. One right VLAN is enough: a port may carry others, tagged. A NIC that is learned elsewhere
is a matter of its cable (CAB001 and others), not of this rule.

Unknown instead of passed: NICs of such rails whose MAC no leaf has learned on their port, and rows without a VLAN.
Where the plan gives no rail a VLAN, the rule does not apply.

## What to do
Put the leaf's port into the rail's VLAN, or correct the plan.

## Decide
- `, its rail in`: compare the port's configuration with that of its neighbours on the leaf, which are in the rail's.
- `in VLAN 1,`: the default VLAN: the port was never configured.

## False positives
A VLAN that was added to the fabric and not to the plan: all NICs of the rail then report it.
"""

from functools import partial

import numpy as np

from rules._examples import hears
from rules._places import places
from truerail.analysis.cabling import ONE_END, State, evidence_of
from truerail.analysis.rule import Case, Findings, NotApplicableError, Round, report_not_evaluated, rule
from truerail.model import MacEntry, NetLink, NotEvaluated, Severity
from truerail.model.finding import MOST_EXAMPLES


@rule("CFG003", Severity.WARNING, [MacEntry])
def rail_vlan_mismatch(round: Round) -> Findings:
    """Planned NICs whose port is in none of their rail's VLANs."""
    vlans = {rail.index: rail.vlans for rail in round.plan.rails.values() if rail.vlans}
    if not vlans:
        raise NotApplicableError("the plan gives no rail a VLAN")
    wiring, seen = round.cabling, _seen(round)
    index = wiring.index
    wanted = np.flatnonzero(index.from_host & np.isin(index.rail, list(vlans)) & (wiring.state != State.WRONG)).tolist()
    for cable in wanted:
        rail, rows = int(index.rail[cable]), seen.get(cable, [])
        found = sorted({vlan for vlan, _ in rows})
        if not rows or not set(found).isdisjoint(vlans[rail]):
            continue
        words, mine = ", ".join(map(str, found)), ", ".join(map(str, vlans[rail]))
        yield rail_vlan_mismatch.found(
            index.a_port(cable),
            summary=f"{places(round).subject(cable)} is at {index.b_port(cable)} in VLAN {words}, its rail in {mine}",
            action=f"Put {index.b_port(cable)} into VLAN {mine}.",
            rail=rail,
            expected=mine,
            observed=words,
            confidence=ONE_END,
            evidence=tuple(evidence_of(round.snapshot, MacEntry, row) for _, row in rows),
            detail=(("vlans", words),),
        )
    blind = tuple(str(index.a_port(cable)) for cable in wanted if cable not in seen)
    if blind:
        why = f"no leaf shows the VLAN of {len(blind):,} of {len(wanted):,} NICs ({', '.join(blind[:4])})"
        examples = blind[:MOST_EXAMPLES]
        report_not_evaluated([NotEvaluated(why, "cable", len(blind), len(wanted), examples, rest_evaluated=True)])


def _seen(round: Round) -> dict[int, list[tuple[int, int]]]:
    """By planned cable, the VLANs in which its leaf learned its NIC's MAC on its port, with the rows of the table."""
    wiring, table = round.cabling, round.snapshot.table(MacEntry)
    index, names = wiring.index, wiring.identity.names
    device = wiring.identity.devices_of(table)
    ports = wiring.identity.local_ports(device, index.ports.name_codes(table.column("port")))
    cables, nics = index.cables_at(ports), names.macs.owners(table.column("mac"))[0]
    found: dict[int, list[tuple[int, int]]] = {}
    for row in np.flatnonzero((cables >= 0) & (nics >= 0)).tolist():
        entry, cable = table.rows[row], int(cables[row])
        if entry.vlan is not None and entry.kind == "dynamic" and not entry.by_peer and index.a[cable] == nics[row]:
            found.setdefault(cable, []).append((entry.vlan, row))
    return found


PLAN = "gpu-1/nic0 leaf-0/swp1 rail=0\ngpu-1/nic1 leaf-1/swp1 rail=1"
_MAC_0, _MAC_1 = "b8:ce:f6:00:00:01", "b8:ce:f6:00:00:02"
_HOST = [NetLink("nic0", _MAC_0), NetLink("nic1", _MAC_1)]
_vlans = partial(Case, rails="0=vlan100 1=vlan101")
_LEAF_1 = [MacEntry("swp1", _MAC_1, 101)]

EXAMPLES = {
    "The leaf's port was left in the default VLAN.": _vlans(
        {"gpu-1": _HOST, "leaf-0": [MacEntry("swp1", _MAC_0, 1)], "leaf-1": _LEAF_1}, "gpu-1/nic0"
    ),
    # Quiet:
    "Each port is in its rail's VLAN, one in a second one as well.": _vlans(
        {"gpu-1": _HOST, "leaf-0": [MacEntry("swp1", _MAC_0, vlan) for vlan in (100, 7)], "leaf-1": _LEAF_1}
    ),
    "The cables are swapped: the VLANs follow them.": _vlans(
        {
            "gpu-1": [*_HOST, hears("nic0", "leaf-1/swp1"), hears("nic1", "leaf-0/swp1")],
            "leaf-0": [MacEntry("swp1", _MAC_1, 100)],
        }
    ),
    "A static row and one without a VLAN show nothing.": _vlans(
        {"gpu-1": _HOST, "leaf-0": [MacEntry("swp1", _MAC_0, 1, "static"), MacEntry("swp1", _MAC_0)]}, unknown=True
    ),
    "The plan gives no rail a VLAN: not applicable.": Case({"leaf-0": [MacEntry("swp1", _MAC_0, 1)]}),
}
