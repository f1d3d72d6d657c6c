"""What is said about a cable contradicts itself, so it is called neither right nor wrong.

## Why it matters
After a cable was moved without its link going down for more than a second, the old neighbour stays listed beside the
new one until its time to live (TTL) has run out: up to 120 seconds with lldpd's defaults (30 s x 4). Its age does not
tell which of them is true: after a swap back the older one is. A verdict now would send somebody to a cable that is
right.

## How it is seen
A port names two neighbours, two ports name one, or the two ends name different neighbours, and no pair of ports is
named by both of its ends.

## What to do
Wait until the TTL has run out and check again. If it stays, a device in between forwards LLDP frames (a bridge or a
media converter), or two devices carry one name (CAB007). It is only noted where the planned neighbour is among those
named, and a warning where it is not.
"""

from collections.abc import Iterator

import numpy as np

from rules._places import places
from truerail.model import Finding, Neighbor, Plan, Severity, Snapshot
from truerail.model.rule import Case, rule
from truerail.model.wiring import ONE_END, State, Why, Wiring

_TTL_SECONDS = 120
"""IEEE 802.1AB: msgTxHold 4 x msgTxInterval 30 s; taken where a neighbour does not tell its own."""


@rule("CAB005", severity=Severity.WARNING, needs=[Neighbor])
def ends_disagree(plan: Plan, seen: Snapshot) -> Iterator[Finding]:
    """Cables whose ends cannot be told, because what is said about them contradicts itself."""
    sorted_ = places(plan, seen)
    wiring = sorted_.wiring
    torn = (wiring.state == State.UNKNOWN) & (wiring.why == Why.AMBIGUOUS)
    for cable in np.flatnonzero(torn).tolist():
        a, b = int(wiring.index.a[cable]), int(wiring.index.b[cable])
        wait = _longest_ttl(wiring, a, b)
        yield ends_disagree.found(
            wiring.index.a_port(cable),
            severity=Severity.INFO if _planned_is_named(wiring, a, b) else None,
            says=f"{sorted_.subject(cable)} cannot be judged: {'; '.join(_said(wiring, a, b))}",
            do=f"Check again in {wait} s, when the older entry has expired; if it stays, look for a bridge in between.",
            expected=str(wiring.index.b_port(cable)),
            rail=plan.cables[cable].rail,
            confidence=ONE_END,
            evidence=wiring.evidence(a, b),
        )


def _planned_is_named(w: Wiring, a: int, b: int) -> bool:
    """Whether one end names the other, as planned, among its neighbours: then nothing speaks against the plan yet."""
    claims = w.identity.claims
    return bool((((claims.u == a) & (claims.v == b)) | ((claims.u == b) & (claims.v == a))).any())


def _claims(w: Wiring, column: str, port: int) -> list[int]:
    """The claims that are made by a port (`u`) or about it (`v`)."""
    found: list[int] = np.flatnonzero(getattr(w.identity.claims, column) == port).tolist()
    return found


def _said(w: Wiring, a: int, b: int) -> Iterator[str]:
    """What each end names, and who else names it."""
    claims, spell = w.identity.claims, w.index.spell
    for end in (a, b):
        names = [_heard(w, claim) for claim in _claims(w, "u", end)]
        if names:
            yield f"{spell(end)} names {' and '.join(dict.fromkeys(names))}"
        others = {int(claims.u[claim]) for claim in _claims(w, "v", end)} - {a, b}
        if others:
            yield f"{' and '.join(str(spell(port)) for port in sorted(others))} names {spell(end)}"


def _heard(w: Wiring, claim: int) -> str:
    port, device = int(w.identity.claims.v[claim]), int(w.identity.claims.w[claim])
    return str(w.index.spell(port)) if port >= 0 else w.index.devices.names[device] if device >= 0 else "somebody"


def _longest_ttl(w: Wiring, a: int, b: int) -> int:
    rows = w.identity.seen.table(Neighbor).rows
    claims = w.identity.claims
    told = [rows[int(claims.row[claim])].ttl_seconds for end in (a, b) for claim in _claims(w, "u", end)]
    return max((ttl for ttl in told if ttl), default=_TTL_SECONDS)


_PLAN = """
    gpu-1/nic0 leaf-0/swp1 rail=0
    gpu-1/nic1 leaf-1/swp1 rail=1
    gpu-2/nic0 leaf-0/swp2 rail=0
"""

FIRES = (
    Case(
        "The leaf lists the old and the new neighbour; neither host is heard to confirm one.",
        _PLAN,
        {
            "leaf-0": [
                Neighbor("swp1", system_name="gpu-1", port_id="nic0", port_id_type="ifname", ttl_seconds=20),
                Neighbor("swp1", system_name="gpu-2", port_id="nic0", port_id_type="ifname", ttl_seconds=120),
            ]
        },
        ("gpu-1/nic0", "gpu-2/nic0"),
    ),
    Case(
        "The host names one leaf, and another leaf names the host.",
        _PLAN,
        {
            "gpu-1": [Neighbor("nic0", system_name="leaf-0", port_id="swp1", port_id_type="ifname")],
            "leaf-1": [Neighbor("swp1", system_name="gpu-1", port_id="nic0", port_id_type="ifname")],
        },
        ("gpu-1/nic0", "gpu-1/nic1"),
    ),
)

QUIET = (
    Case(
        "Two neighbours on one port, and one of them confirms: that one is true.",
        _PLAN,
        {
            "leaf-0": [
                Neighbor("swp1", system_name="gpu-1", port_id="nic0", port_id_type="ifname"),
                Neighbor("swp1", system_name="gpu-2", port_id="nic0", port_id_type="ifname"),
                Neighbor("swp2", system_name="gpu-2", port_id="nic0", port_id_type="ifname"),
            ],
            "gpu-1": [Neighbor("nic0", system_name="leaf-0", port_id="swp1", port_id_type="ifname")],
            "gpu-2": [Neighbor("nic0", system_name="leaf-0", port_id="swp2", port_id_type="ifname")],
        },
    ),
    Case(
        "Both ends agree on a wrong pair: that is CAB002 and no contradiction.",
        _PLAN,
        {
            "leaf-0": [Neighbor("swp2", system_name="gpu-1", port_id="nic0", port_id_type="ifname")],
            "gpu-1": [Neighbor("nic0", system_name="leaf-0", port_id="swp2", port_id_type="ifname")],
        },
    ),
)
