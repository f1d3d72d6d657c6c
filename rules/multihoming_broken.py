"""Two switches do not share a host's bond as they should (MLAG, vPC, EVPN Ethernet segment).

## Why it matters
A bond to two switches is one link only while both treat it as one: the same id on either, and a working connection
between them. Otherwise LACP leaves a member out, traffic for the host takes the wrong switch, or, when the peer link is
lost, one switch of the pair shuts all of its shared ports: half of a rail at once.

## How it is detected
For each host whose bond the plan has on two switches, what both report of their shared lags:

- Both share the lag, under different ids: they are two lags.
- One shares it, and the other one, which reports shared lags, does not share this one.
- It is shared, and a switch sees no working member at the other one, although both cables have link.

And of every planned switch: its pair is not formed (the peer link is down, or the other switch does not answer over
it), which is critical; or the keepalive beside the peer link is down.

Unknown instead of passed: bonds on two switches of which one reports no shared lag, or neither reports this
one. Where no bond is on two switches and no switch has a pair, the rule does not apply.

## What to do
Different ids: give the lag one MLAG id, vPC number or ESI on both switches. Peer link down: repair its cables first;
they are no host cables, and the hosts' own cables are right. No working member: compare the port channel of both.

## Decide
- `under different ids`: a configuration fault. Compare the two port channels, correct the newer one.
- `does not share`: the port channel of that switch lacks its MLAG id, vPC number or ESI.
- `The pair of`: repair the peer link before anything else: the second switch's shared ports are down meanwhile.
- `sees no working member`: the other switch's member is not in its port channel. LAG001 says why, where it is read.
- `The keepalive`: traffic flows. Restore it before the peer link fails too.

## False positives
A switch that reloads: its pair is not formed until it is back. Announce the work.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rules._examples import TWO_PLANES, alike, no_carrier, undecided, up
from rules._lags import Lags, lags
from rules._places import places, some_cables
from truerail.analysis.cabling import BOTH_ENDS, ONE_END, Wiring, evidence_of
from truerail.analysis.rule import Case, Findings, NotApplicableError, Round, report_not_evaluated, rule
from truerail.model import CauseKind, Evidence, Fact, Finding, NetLink, NotEvaluated, Severity
from truerail.model.columns import grouped
from truerail.model.names import printable
from truerail.model.witness_facts import LagMember, MlagPeer, SharedLag

_WORKING = (None, "dual")


@rule("LAG002", Severity.CRITICAL, [SharedLag], instead=[MlagPeer, LagMember, NetLink], cause=CauseKind.CONFIGURATION)
def multihoming_broken(round: Round) -> Findings:
    """Bonds that their switches do not share, and pairs of switches that are not formed."""
    shared, peers = _Shared(round), round.snapshot.table(MlagPeer)
    bonds = tuple(_bonds(round.cabling, round.once(lags)))
    if not bonds and not len(peers):
        raise NotApplicableError("no bond is on two switches, and no switch has a pair")
    yield from _pairs(round, bonds)
    blind: list[tuple[int, ...]] = []
    for bond in bonds:
        found = [shared.at(cable) for cable in bond]
        if not all(one.reports for one in found) or not any(one.fact for one in found):
            blind.append(bond)
        elif fault := _fault(round, bond, found):
            yield fault
    report_not_evaluated(_unknown(round.cabling, blind, len(bonds)))


@dataclass(frozen=True, slots=True)
class _Half:
    """What one switch reports of a bond: the row of its shared lag, if it shares it."""

    switch: str
    reports: bool
    lag: str = ""
    fact: SharedLag | None = None
    evidence: tuple[Evidence, ...] = ()


class _Shared:
    """The shared lags of all switches, by the planned cable at their members."""

    def __init__(self, round: Round) -> None:
        self._round, self._table = round, round.snapshot.table(SharedLag)
        wiring = round.cabling
        device = wiring.identity.devices_of(self._table)
        names = wiring.index.ports.name_codes(self._table.column("lag"))
        self._rows = {key: row for row, key in enumerate(zip(device.tolist(), names.tolist(), strict=True))}
        self._switches = set(device.tolist())
        self._lags = {(lag.device, member.cable): lag.name for lag in round.once(lags).of for member in lag.members}

    def at(self, cable: int) -> _Half:
        """What the switch at a cable's upper end reports of the lag there."""
        index = self._round.cabling.index
        code = int(index.b_device[cable])
        name = self._lags.get((code, cable), index.b_port(cable).name)
        row = self._rows.get((code, int(index.ports.name_codes([name])[0])))
        switch, reports = index.devices.names[code], code in self._switches
        if row is None:
            return _Half(switch, reports and (code, cable) in self._lags, name)
        evidence = (evidence_of(self._round.snapshot, SharedLag, row),)
        return _Half(switch, True, name, self._table.rows[row], evidence)


def _bonds(wiring: Wiring, found: Lags) -> Iterator[tuple[int, ...]]:
    """The cables of each host's bond that the plan has on two or more switches: by its lag, else by its rail."""
    index, named = wiring.index, dict[int, str]()
    for lag in found.of:
        named |= {one.cable: lag.name for one in lag.members if index.a_device[one.cable] == lag.device}
    groups = grouped(
        ((int(index.a_device[cable]), named.get(cable, int(index.rail[cable]))), cable)
        for cable in np.flatnonzero(found.bonded & index.from_host).tolist()
    )
    yield from (tuple(of) for of in groups.values() if len(set(index.b_device[of].tolist())) > 1)


def _fault(round: Round, bond: tuple[int, ...], found: list[_Half]) -> Finding | None:
    """What is wrong with a bond whose switches all report their shared lags."""
    have = [half for half in found if half.fact]
    lacking = [half for half in found if not half.fact]
    ids = {half.fact.id for half in have if half.fact}
    alone = [half for half in have if half.fact and half.fact.state not in _WORKING]
    if lacking:
        one, other = have[0], lacking[0]
        why = f"{one.switch} shares {printable(one.lag, 64)}, and {other.switch} does not share {other.lag}"
        action = f"Give {other.lag} of {other.switch} the id that {one.switch} has."
    elif len(ids) > 1:
        words = [f"{half.switch} has {half.lag} as {printable(half.fact.id, 64)}" for half in have if half.fact]
        why = f"its switches share it under different ids: {', '.join(words)}"
        action = f"Give it one id on {' and '.join(half.switch for half in have)}."
    elif alone and not round.once(lags).down[list(bond)].any():
        half = alone[0]
        state = printable(str(half.fact and half.fact.state), 40)
        why = f"{half.switch} sees no working member of {half.lag} at its pair ({state}), though both cables have link"
        action = f"Compare this port channel on {' and '.join(half.switch for half in have)}."
    else:
        return None
    cable = bond[0]
    return multihoming_broken.found(
        round.cabling.index.a_port(cable),
        severity=Severity.WARNING,
        summary=f"The bond of {places(round).subject(cable)}: {why}",
        action=action,
        rail=round.plan.cables[cable].rail,
        confidence=BOTH_ENDS if len(have) > 1 else ONE_END,
        evidence=tuple(one for half in have for one in half.evidence),
    )


def _pairs(round: Round, bonds: tuple[tuple[int, ...], ...]) -> Findings:
    """Pairs of switches that are not formed, once for both, and those without a keepalive."""
    wiring, table = round.cabling, round.snapshot.table(MlagPeer)
    index, device = wiring.index, wiring.identity.devices_of(table)
    mates: dict[int, set[int]] = {}
    for bond in bonds:
        switches = set(index.b_device[list(bond)].tolist())
        for one in switches:
            mates.setdefault(one, set()).update(switches)
    done: set[int] = set()
    for row in np.argsort(device, kind="stable").tolist():
        code, peer = int(device[row]), table.rows[row]
        lost = peer.up is False
        if not 0 <= code < index.devices.planned or code in done or not (lost or peer.backup is False):
            continue
        if lost:
            done |= mates.get(code, {code})
        name, link = index.devices.names[code], printable(peer.peer_link or "its peer link", 64)
        yield multihoming_broken.found(
            name,
            severity=Severity.CRITICAL if lost else Severity.WARNING,
            summary=f"The pair of {name} is not formed: {link} is down, or the other switch does not answer over it"
            if lost
            else f"The keepalive of {name} to its pair is down: the loss of {link} would split the pair",
            action=f"Repair {link} of {name}; move no host cable." if lost else f"Restore the keepalive of {name}.",
            confidence=ONE_END,
            evidence=(evidence_of(round.snapshot, MlagPeer, row),),
        )


def _unknown(wiring: Wiring, blind: list[tuple[int, ...]], of: int) -> Iterator[NotEvaluated]:
    if blind:
        why = f"a switch does not report whether it shares {len(blind):,} of {of:,} bonds"
        yield some_cables(wiring, [bond[0] for bond in blind], of, why, "bond")


PLAN = TWO_PLANES
_HOST: list[Fact] = [LagMember("nic0p0", "bond0"), LagMember("nic0p1", "bond0")]
_AT_ONE: list[Fact] = [LagMember("swp1", "bond1"), SharedLag("bond1", "1", "bond1", "dual")]
_ALONE: list[Fact] = [LagMember("swp1", "bond1"), SharedLag("bond1", "1", None, "single")]
_BOTH = "leaf-1 leaf-2"
_OTHER_ID: list[Fact] = [LagMember("swp1", "bond1"), SharedLag("bond1", "2", None, "single")]

EXAMPLES = {
    "The two switches have the bond under different ids.": Case(
        {"gpu-1": _HOST, "leaf-1": _AT_ONE, "leaf-2": _OTHER_ID}, "gpu-1/nic0p0"
    ),
    "The second switch shares other bonds, and not this one.": Case(
        {"leaf-1": _AT_ONE, "leaf-2": [LagMember("swp1", "bond1"), SharedLag("bond7", "7", "bond7", "dual")]},
        "gpu-1/nic0p0",
    ),
    "One switch sees no working member at the other one.": Case(alike(_BOTH, _ALONE), "gpu-1/nic0p0"),
    "The peer link is down: both switches report it, and it is one finding.": Case(
        {"gpu-1": _HOST, **alike(_BOTH, [*_AT_ONE, MlagPeer("peerlink", False, True)])}, "leaf-1"
    ),
    "The keepalive is down.": Case({"leaf-2": [MlagPeer("Po1", True, False)]}, "leaf-2"),
    # Quiet:
    "Both switches share the bond.": Case({"gpu-1": _HOST, "leaf-1": _AT_ONE, "leaf-2": _AT_ONE}),
    "Only one switch reports its shared lags.": undecided({"gpu-1": _HOST, "leaf-1": _AT_ONE}),
    "Both switches share other bonds: this one is shared by other means, or not meant to be.": undecided(
        alike(_BOTH, [LagMember("swp1", "Po1"), SharedLag("Po7", "7", "Po7", "dual")])
    ),
    "A member without link is CAB003, and no fault of the pair.": Case(
        {"leaf-1": _ALONE, "leaf-2": [*_AT_ONE, no_carrier("swp1")]}
    ),
    "A switch that the plan does not have.": Case({"leaf-9": [MlagPeer("peerlink", False)]}),
    "No bond, no pair: not applicable.": Case({"gpu-1": [up("nic0p0")]}),
}
