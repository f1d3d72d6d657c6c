"""A BGP or BFD session over a planned cable is down.

## Why it matters
Without its session a cable carries no routed traffic, although it has link and light: the switch spreads its load over
the cables that are left. A session is also the first to fall where a cable fails, so it shows since when.

## How it is detected
Sessions over interfaces without addresses (BGP unnumbered) belong to one port, and so to one cable. An end reports a
state other than `Established`, or a BFD session that is not `Up`, and the other end does not report the session as
established. A session that its operator shut, or over a port that is switched off, is meant to be down.

Sessions between addresses are not read: they may cross other devices. Where no session runs over a planned port, the
rule does not apply.

## What to do
Where the cable has a cause (link down, wrong place, errors), repair that: the session comes back by itself. Else
compare both ends' configuration: AS numbers, unnumbered on both, the VRF, passwords, BFD timers.

## Decide
- `reports BGP`: where the cable has a cause too (link down, swapped, moved), repair that. Else compare both ends'
  configuration.
- `reports BFD`: BGP still holds, and falls after its hold time. Look at the cable's errors first, then at BFD timers.

## False positives
A switch that reloads or is drained by other means than the session itself. Announce the work.
"""

import numpy as np

from rules._examples import hears, no_carrier, switched_off
from rules._places import places
from truerail.analysis.cabling import BOTH_ENDS, ONE_END, State, Why, evidence_of
from truerail.analysis.rule import Case, Findings, NotApplicableError, Round, report_not_evaluated, rule
from truerail.model import BgpPeer, CauseKind, Fact, NotEvaluated, Severity, Transport
from truerail.model.columns import grouped
from truerail.model.names import printable

_UP = "Established"
_SHUT = "Idle (Admin)"


@rule("BGP001", Severity.WARNING, [BgpPeer], transports=[Transport.ROCE], cause=CauseKind.CONFIGURATION)
def session_down(round: Round) -> Findings:
    """Planned cables over which a session is not established, or without BFD."""
    wiring, table = round.cabling, round.snapshot.table(BgpPeer)
    index, device = wiring.index, wiring.identity.devices_of(table)
    ports = wiring.identity.local_ports(device, index.ports.name_codes(table.column("interface")))
    cables = index.cables_at(ports)
    sessions = grouped((int(cables[row]), row) for row in np.flatnonzero(cables >= 0).tolist())
    if not sessions:
        raise NotApplicableError("no BGP session runs over a planned port")
    silent: list[str] = []
    for cable, rows in sorted(sessions.items()):
        states = [table.rows[row].state for row in rows]
        if not any(states):
            silent.append(str(index.a_port(cable)))
        down = [row for row in rows if _is_down(table.rows[row])]
        if not down or _SHUT in states or wiring.why[cable] in (Why.DISABLED, Why.PENDING):
            continue
        if _UP in states and all(table.rows[row].bfd in (None, "Up") for row in down):
            continue  # the ends were read at different moments: one of them reports it up
        peer = table.rows[down[0]]
        reporter = index.devices.names[int(device[down[0]])]
        state = printable(f"BGP {peer.state}" if peer.state != _UP else f"BFD {peer.bfd}", 60)
        missing = wiring.state[cable] == State.MISSING
        yield session_down.found(
            index.a_port(cable),
            summary=f"The session over {places(round).subject(cable)} to {index.b_port(cable)} is down: {reporter} "
            f"reports {state}",
            action="Repair the cable: the session follows."
            if missing
            else f"Compare the BGP and BFD configuration of {index.a_port(cable)} and {index.b_port(cable)}.",
            rail=round.plan.cables[cable].rail,
            confidence=BOTH_ENDS if len(down) > 1 else ONE_END,
            evidence=tuple(evidence_of(round.snapshot, BgpPeer, row) for row in down),
            detail=(("state", state),),
        )
    if silent:
        why = f"the state of {len(silent):,} of {len(sessions):,} sessions was not reported ({', '.join(silent[:4])})"
        part = NotEvaluated(why, "cable", len(silent), len(sessions), tuple(silent), rest_evaluated=True)
        report_not_evaluated([part])


def _is_down(peer: BgpPeer) -> bool:
    return peer.state not in (None, _UP) or peer.bfd not in (None, "Up")


PLAN = "leaf-1/swp51 spine-1/swp1\nleaf-1/swp52 spine-2/swp1\nleaf-2/swp51 spine-1/swp2"
_IDLE, _ACTIVE = BgpPeer("swp51", state="Idle"), BgpPeer("swp51", state="Active")
_UPLINKS: list[Fact] = [hears("swp51", "spine-1/swp1"), hears("swp52", "spine-2/swp1")]
_SWAPPED: list[Fact] = [hears("swp51", "spine-2/swp1"), hears("swp52", "spine-1/swp1")]

EXAMPLES = {
    "The cable is right and up, the session is not established.": Case(
        {"leaf-1": [*_UPLINKS, BgpPeer("swp51", "spine-1", None, "Active"), BgpPeer("swp52", None, None, _UP, "Up")]},
        "leaf-1/swp51",
    ),
    "Both ends report it: one finding; the uplink has no link.": Case(
        {
            "leaf-1": [_IDLE, no_carrier("swp51")],
            "spine-1": [BgpPeer("swp1", state="Idle"), BgpPeer("swp2", state=_UP)],
        },
        "leaf-1/swp51",
    ),
    "BGP still holds, BFD is down already.": Case(
        {"leaf-1": [*_UPLINKS, BgpPeer("swp52", "spine-2", None, _UP, "Down")]}, "leaf-1/swp52"
    ),
    "The cables of two uplinks are swapped: both of their sessions are down.": Case(
        {"leaf-1": [*_SWAPPED, _ACTIVE, _ACTIVE._replace(interface="swp52")]}, "leaf-1/swp51 leaf-1/swp52"
    ),
    "A cable was moved to a free port, and its session with it.": Case(
        {"leaf-1": [_UPLINKS[0], hears("swp52", "spine-2/swp9"), _ACTIVE._replace(interface="swp52")]}, "leaf-1/swp52"
    ),
    # Quiet:
    "Every session is established.": Case({"leaf-1": [BgpPeer("swp51", "spine-1", None, _UP, "Up")]}),
    "Its operator shut the session.": Case({"leaf-1": [BgpPeer("swp51", None, None, _SHUT)]}),
    "One end was read before it came up.": Case({"leaf-1": [_IDLE], "spine-1": [BgpPeer("swp1", state=_UP)]}),
    "Its port is switched off.": Case({"leaf-1": [_IDLE, switched_off("swp51")]}),
    "An answer without states.": Case({"leaf-1": [BgpPeer("swp51", "spine-1")]}, unknown=True),
    "A session over a port that is not planned: not applicable.": Case({"leaf-1": [BgpPeer("swp9", state="Idle")]}),
}
