"""A member of a link aggregation carries nothing, or brings no second switch.

## Why it matters
Two ports of a NIC in one bond share its traffic, and either switch may fail. A member that LACP leaves out has link,
LLDP and light, and yet the host has half of its bandwidth on this rail; the bond's RDMA device stays `ACTIVE`. Where
both members end on one switch the bond works, until that switch fails.

## How it is detected
The LACP state of every member at a planned cable, at both ends (IEEE 802.1AX): it does not collect and distribute, or
it is in another aggregator than the one in use. The reason follows from the same answer: no LACP is received; its
partner is another system than that of the other members; its partner does not take it. Where the plan has the members
of a bond on different switches, and they are seen on one, this is found too. A member without link is CAB003.

Unknown instead of passed: members of bonds whose LACP state no end reports. Where no planned cable is in a bond, the
rule does not apply.

## What to do
Another partner: the cable ends on a switch that is not of the pair (CAB001, CAB008), or the two switches send different
system ids; LAG002 says more. No LACP: the switch's port is not in a port channel, or LACP is off there. Compare the
port channel of both switches.

## Decide
- `another system`: look at the cable first (CAB001, CAB008), then at the system id of both switches.
- `receives no LACP`: the other end's port is not in a port channel. Compare its configuration with its pair's.
- `does not take it`: speeds or keys differ. Compare the port channel with that of a working member.
- `does not collect`: both partners took it; a driver or a switch holds it back. Compare its state at both ends.
- `both on`: move the cable that is wrong; the bond itself is healthy.

## False positives
A bond that is just being formed: LACP takes up to 90 s at the slow rate. Bonds in modes without LACP have no state, and
stay unknown.
"""

from collections import Counter
from collections.abc import Iterator
from functools import partial

from rules._examples import TWO_PLANES, carrier, hears, no_carrier, undecided
from rules._lags import SYNCHRONIZED, Lag, Lags, Member, lags, stands_at
from rules._places import places, some_cables
from truerail.analysis.cabling import BOTH_ENDS, ONE_END, Wiring, evidence_of
from truerail.analysis.rule import Case, Findings, NotApplicableError, Round, report_not_evaluated, rule
from truerail.model import CauseKind, LagMember, NetLink, NotEvaluated, Severity
from truerail.model.columns import grouped


@rule("LAG001", Severity.WARNING, [LagMember], instead=[NetLink], cause=CauseKind.CONFIGURATION)
def lag_member_out(round: Round) -> Findings:
    """Planned cables that a bond has and does not use."""
    wiring, found = round.cabling, round.once(lags)
    if not found.bonded.any():
        raise NotApplicableError("no planned cable is in a link aggregation")
    out = grouped((member.cable, (lag, member)) for lag, member in found.members() if member.carries is False)
    for cable, reports in sorted(out.items()):
        lag, member = reports[0]
        device = wiring.index.devices.names[lag.device]
        why, action = _reason(lag, member)
        yield lag_member_out.found(
            wiring.index.a_port(cable),
            summary=f"{places(round).subject(cable)} is a member of {lag.name} of {device} and carries nothing: {why}",
            action=action,
            rail=round.plan.cables[cable].rail,
            confidence=BOTH_ENDS if len(reports) > 1 else ONE_END,
            evidence=tuple(evidence_of(round.snapshot, LagMember, one.row) for _, one in reports),
            detail=(("lag", lag.name), ("because", why)),
        )
    yield from _on_one_switch(round, found, out)
    report_not_evaluated(_unknown(wiring, found))


def _reason(lag: Lag, member: Member) -> tuple[str, str]:
    """Why a member carries nothing, and what to do."""
    if member.hears_none:
        return "it receives no LACP", "Put the switch's port at the other end into the port channel, with LACP active."
    partner = member.fact.partner_system
    others = Counter(one.fact.partner_system for one in lag.members if one.carries and one.fact.partner_system)
    usual = others.most_common(1)[0][0] if others else partner
    if partner != usual:
        return (
            f"its LACP partner {partner} is another system than that of the other members, {usual}",
            "Check where this cable ends, then whether both switches of the pair send one LACP system id.",
        )
    if member.fact.partner_state is not None and not member.fact.partner_state & SYNCHRONIZED:
        return "its LACP partner does not take it", "Compare speed and LACP key of this port channel at both ends."
    return "it does not collect and distribute", "Compare the LACP state of both ends of this member."


def _on_one_switch(round: Round, found: Lags, out: dict[int, list[tuple[Lag, Member]]]) -> Findings:
    """Members of a host's bond that the plan has on different switches, and that are seen on one."""
    wiring = round.cabling
    index = wiring.index
    for lag in found.of:
        cables = [one.cable for one in lag.members if index.a_device[one.cable] == lag.device]
        stands = {cable: stands_at(wiring, cable) for cable in cables}
        for cable in cables:
            away = stands[cable] not in (-1, int(index.b_device[cable]))
            same = [other for other in cables if other != cable and stands[other] == stands[cable]]
            if away and same and cable not in out:
                switch = index.devices.names[stands[cable]]
                yield places(round).found(
                    lag_member_out,
                    cable,
                    summary=f"{places(round).subject(cable)} and {index.a_port(same[0])}, members of {lag.name}, are "
                    f"both on {switch}: without it this rail of the host is down",
                    action=f"Move the cable to {index.b_port(cable)}, as its other finding says.",
                    evidence=tuple(evidence_of(round.snapshot, LagMember, one.row) for one in lag.members),
                    detail=(("lag", lag.name), ("because", "one switch")),
                )


def _unknown(wiring: Wiring, found: Lags) -> Iterator[NotEvaluated]:
    """Members of bonds whose LACP state no end reports."""
    known = {member.cable for lag in found.of for member in lag.members if member.carries is not None}
    bonded = [cable for cable in found.bonded.nonzero()[0].tolist() if not found.down[cable]]
    blind = [cable for cable in bonded if cable not in known]
    if blind:
        why = f"no end reports the LACP state of {len(blind):,} of {len(bonded):,} members"
        yield some_cables(wiring, blind, len(bonded), why)


PLAN = TWO_PLANES
_PAIR, _OTHER, _HOST = "44:38:39:00:00:01", "44:38:39:00:00:09", "b8:ce:f6:00:00:01"
_GOOD = LagMember("nic0p0", "bond0", _PAIR, 1, 1, 61, 61, True)
_second = partial(LagMember, "nic0p1", "bond0")
_ON_ONE_SWITCH = [hears("nic0p0", "leaf-1/swp1"), hears("nic0p1", "leaf-1/swp9")]
_SILENT = _second(None, None, 2, 69, 69, False)
_bonded = partial(NetLink, operstate="UP", flags=("UP", "LOWER_UP", "SLAVE"), master="bond0")
_finds_second = partial(Case, finds="gpu-1/nic0p1")

EXAMPLES = {
    "The second switch sends another system id: its member is in an aggregator of its own.": _finds_second(
        {"gpu-1": [_GOOD, _second(_OTHER, 1, 2, 13, 13, False)]}
    ),
    "The second switch's port is not in a port channel: it sends no LACP; that end says the same.": _finds_second(
        {"gpu-1": [_GOOD, _SILENT], "leaf-2": [LagMember("swp1", "bond1", None, actor_state=69)]}
    ),
    "Only the switch is read: its partner does not take the member.": _finds_second(
        {"leaf-2": [LagMember("swp1", "Po1", _HOST, 2, partner_state=5)]}
    ),
    "The member is in sync, and does not distribute.": _finds_second(
        {"gpu-1": [_GOOD, _second(_PAIR, 2, 1, 29, 61, True)]}
    ),
    "Both members end on one switch, in one port channel: LACP is content.": _finds_second(
        {"gpu-1": [_GOOD, _second(_PAIR, 9, 1, 61, 61, True), *_ON_ONE_SWITCH]},
        plan=PLAN + "\ngpu-2/nic0p0 leaf-1/swp2 rail=0 plane=0\ngpu-2/nic0p1 leaf-2/swp2 rail=0 plane=1",
    ),
    # Quiet:
    "Both members carry traffic.": Case({"gpu-1": [_GOOD, _second(_PAIR, 2, 1, 61, 61, True)]}),
    "A member without link is CAB003.": Case({"gpu-1": [_GOOD, _SILENT, no_carrier("nic0p1")]}),
    "A bond whose members' LACP state was not read.": undecided({"gpu-1": [_bonded("nic0p0"), _bonded("nic0p1")]}),
    "The members are known, and no state of them: a bond without LACP, or an old answer.": undecided(
        {"gpu-1": [LagMember("nic0p0", "bond0"), LagMember("nic0p1", "bond0")]}
    ),
    "Planes without bonds, as in a routed multi-plane fabric: not applicable.": Case({"gpu-1": [carrier("nic0p0")]}),
}
