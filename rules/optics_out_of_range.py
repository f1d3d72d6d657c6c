"""A module receives too little or too much light, sends none, or is too hot.

## Why it matters
FEC corrects the errors of weak light for a while, then frames are lost, then the link falls. The module's own readings
show it before any of that, and point to the reason: a dirty connector, a bent or broken strand, a dying laser.

## How it is detected
Each lane's power as the module measures it (`ethtool -m`, the switch's transceiver table), against the module's own
alarm limits; where it has none, against -10.3 and 4.5 dBm. Below -30 dBm is no light: critical. Above 70 degrees is
too hot. Info, where a lane is within limits and more than 3 dB, and 3.5 robust deviations, below the same parts on the
same leaf. What the other end sends shows whether its laser or the fibre is to blame. Modules measure to within 3 dB.
Ports that are switched off, or whose host is down, are left out; copper cables have no light. A port with link that
reports nothing of its module is counted as unknown.

## What to do
Clean both connectors and look at the cable's bends. Where the other end sends too little itself, replace its module.
One dark lane of several is a strand or a lane's laser: replace the cable, then the module that sends.

## Decide
- `receives too little light`, `receives no light`: clean both connectors, look for a bend, then replace the module
  that sends.
- `sends no light`: its laser is off or broken. Replace this module.
- `too much light`: modules of two kinds, or an attenuator is missing.
- `degrees hot`: airflow or a fan. Look at the modules beside it.

## False positives
Modules measure to within 3 dB; without errors (LNK004) a warning can wait for the day. Some modules report no limits,
then general ones are used.
"""

import numpy as np

from rules._examples import finds_nic, railed, switched_off, undecided
from rules._links import blind_ports, other_ends, rail_at
from truerail.analysis.cabling import ONE_END, Why, Wiring, evidence_of
from truerail.analysis.optics_lanes import Lanes, lanes_of, leaf_of
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, report_not_evaluated, rule
from truerail.model import CauseKind, Finding, NetLink, Optic, Severity
from truerail.model.columns import grouped

LOWEST_DBM, HIGHEST_DBM = -10.3, 4.5
"""Where a module has no limits of its own. -10.3 dBm is the least average power that 100GBASE-SR4 receives on a lane
(IEEE 802.3bm), less than later short-reach standards allow; 4.5 dBm the most that 100G-FR and -LR take (100G Lambda
MSA).
"""
DARK_DBM = -30.0
"""Less is no light: modules show -40 dBm or -inf; QSFP modules tell loss of signal from -30 dBm (SFF-8636 modules' data
sheets).
"""
WEAK_LASER_DBM = -8.4
"""A sender below this is to blame itself: the least average launch power of 100GBASE-SR4 on a lane (IEEE 802.3bm)."""
HOTTEST_CELSIUS = 70.0
"""The upper end of the commercial range of a module's case, 0 to 70 degrees."""
PEERS = 8
"""Lanes beside its own with which a lane is compared, as for rails (eight peers)."""
DROP_DB, DROP_SIGMAS = 3.0, 3.5
"""How far below its peers' median a lane must be: the accuracy of the modules' meters (SFF-8636: 3 dB), and Iglewicz
and Hoaglin's 3.5 robust deviations.
"""
UNLIKE_PEERS = 0.7
"""Confidence in a comparison alone."""


@rule("LNK005", Severity.WARNING, [Optic], cause=CauseKind.DEGRADED_LINK)
def optics_out_of_range(round: Round) -> Findings:
    """Planned ports of whose modules a lane is dark, out of its limits, hot, or far weaker than its peers."""
    wiring = round.cabling
    lanes = lanes_of(wiring)
    if np.isnan(lanes.rx).all() and np.isnan(lanes.tx).all() and np.isnan(lanes.celsius).all():
        raise InsufficientDataError("no module of a planned port reports its light or temperature")
    other = other_ends(wiring)
    weak = lanes.drop(leaf_of(wiring.index, other), least_peers=PEERS, least_db=DROP_DB, sigmas=DROP_SIGMAS)
    low = lanes.rx < np.where(np.isnan(lanes.low), LOWEST_DBM, lanes.low)
    high = lanes.rx > np.where(np.isnan(lanes.high), HIGHEST_DBM, lanes.high)
    hot, unlit = lanes.celsius > HOTTEST_CELSIUS, lanes.tx <= DARK_DBM
    odd = np.flatnonzero(low | high | hot | unlit | weak)
    lane_of = grouped(zip(lanes.port[odd].tolist(), odd.tolist(), strict=True))
    for port, of_port in lane_of.items():
        if not _off(wiring, port):
            dark = [n for n in of_port if lanes.rx[n] <= DARK_DBM]
            faults = {
                "receives no light": dark,
                "receives too little light": [n for n in of_port if low[n] and n not in dark],
                "receives too much light": [n for n in of_port if high[n]],
                "sends no light": [n for n in of_port if unlit[n]],
                "receives far less light than its peers": [n for n in of_port if weak[n] and not low[n]],
            }
            celsius = max((float(lanes.celsius[n]) for n in of_port if hot[n]), default=None)
            yield _finding(wiring, lanes, port, int(other[port]), {k: v for k, v in faults.items() if v}, celsius)

    seen = np.zeros(wiring.index.planned_ports, dtype=bool)
    seen[lanes.port] = True
    report_not_evaluated(blind_ports(wiring, seen, "report nothing of their modules"))


def _off(wiring: Wiring, port: int) -> bool:
    """Whether a port's cable is switched off or its host is down: then no light is no fault."""
    cable = wiring.index.cable_at(port)
    return cable >= 0 and wiring.why[cable] in (Why.DISABLED, Why.PENDING)


def _finding(
    wiring: Wiring, lanes: Lanes, port: int, other: int, faults: dict[str, list[int]], celsius: float | None
) -> Finding:
    name = wiring.index.spell(port)
    summary = [f"{fault} ({_powers(lanes, at, sends='sends' in fault)})" for fault, at in faults.items()]
    summary += [f"is {celsius:g} degrees hot"] if celsius is not None else []
    receives = any("receives" in fault and "much" not in fault for fault in faults)
    way = _way(wiring, lanes, port, other) if receives else ""
    shown = sorted({n for at in faults.values() for n in at})[:4] or np.flatnonzero(lanes.port == port)[:1].tolist()
    only_peers = list(faults) == ["receives far less light than its peers"] and celsius is None
    return optics_out_of_range.found(
        name,
        severity=_severity(faults, celsius),
        summary=f"The module in {name} {' and '.join(summary)}{way}",
        action=_do(wiring, port, other, faults, celsius),
        rail=rail_at(wiring.index, port),
        confidence=UNLIKE_PEERS if only_peers else ONE_END,
        evidence=tuple(evidence_of(lanes.seen, Optic, int(lanes.row[n])) for n in shown),
        detail=_module(lanes.fact(shown[0])),
    )


def _severity(faults: dict[str, list[int]], celsius: float | None) -> Severity:
    if any("no light" in fault for fault in faults):
        return Severity.CRITICAL
    only_peers = celsius is None and list(faults) == ["receives far less light than its peers"]
    return Severity.INFO if only_peers else Severity.WARNING


def _powers(lanes: Lanes, at: list[int], *, sends: bool) -> str:
    reported = []
    for lane in at:
        number, power = lanes.fact(lane).lane, float((lanes.tx if sends else lanes.rx)[lane])
        reported.append(f"{power:g} dBm" if number is None else f"lane {number}: {power:g} dBm")
    return ", ".join(reported)


def _way(wiring: Wiring, lanes: Lanes, port: int, other: int) -> str:
    """What is lost between the two ends, in words; empty where the other end's module is not known."""
    sent = lanes.tx[lanes.port == other]
    sent = sent[~np.isnan(sent)]
    if not len(sent):
        return ""
    power, received = float(np.median(sent)), float(np.nanmin(lanes.rx[lanes.port == port]))
    sender = wiring.index.spell(other)
    if power < WEAK_LASER_DBM:
        return f"; {sender} sends only {power:g} dBm"
    return f"; {sender} sends {power:g} dBm, so {power - received:.1f} dB are lost on the way"


def _do(wiring: Wiring, port: int, other: int, faults: dict[str, list[int]], celsius: float | None) -> str:
    name = wiring.index.spell(port)
    far = f"the one at {wiring.index.spell(other)}" if other >= 0 else "the one at the other end"
    if "sends no light" in faults:
        return f"Replace the module in {name}, unless its laser is switched off on purpose."
    if "receives too much light" in faults:
        return f"Check that the module in {name} and {far} are of one kind, or put an attenuator in between."
    if faults:
        return f"Clean the connector at {name} and {far}; then replace the module that sends, then the cable."
    return f"Check the airflow and the fans of {name.device}."


def _module(fact: Optic) -> tuple[tuple[str, str], ...]:
    reported = (("vendor", fact.vendor), ("part", fact.part), ("serial", fact.serial))
    return tuple((key, value) for key, value in reported if value)


PLAN = railed(2)
_MANY = railed(12)
_WELL = Optic("nic0", 1, -2.0, -1.0, 7.0, 45.0, -8.0, 5.0)

EXAMPLES = {
    "Light below the module's own limit; the leaf sends well, so it is lost on the way.": finds_nic(
        {
            "gpu-1": [Optic("nic0", 1, -9.2, rx_power_low_dbm=-8.0, rx_power_high_dbm=5.0, part="A")],
            "leaf-0": [Optic("swp1", 1, -1.0, -0.5)],
        }
    ),
    "No limits of its own: a dark lane; and a laser that sends nothing.": Case(
        {
            "gpu-1": [Optic("nic0", 1, -1.0, 0.0), Optic("nic0", 2, -40.0, 0.0)],
            "leaf-0": [Optic("swp2", None, -1.0, -40.0)],
        },
        "gpu-1/nic0 leaf-0/swp2",
    ),
    "Too much light, and a hot module.": Case(
        {"gpu-1": [Optic("nic0", 1, 6.0)], "gpu-2": [Optic("nic0", temperature_celsius=78.0)]}, "gpu-1/nic0 gpu-2/nic0"
    ),
    "One of twelve NICs on a leaf receives 5 dB less than the others with the same part.": Case(
        {f"gpu-{host}": [Optic("nic0", 1, -6.0 if host == 7 else -1.0 - host / 20, part="A")] for host in range(1, 13)},
        "gpu-7/nic0",
        plan=_MANY,
    ),
    # Quiet:
    "Light within limits at both ends of each link.": Case(
        {"gpu-1": [_WELL], "gpu-2": [_WELL], "leaf-0": [Optic(f"swp{port}", 1, -2.0, -1.0) for port in (1, 2)]}
    ),
    "Light within limits, of one module of four.": undecided({"gpu-1": [_WELL]}),
    "The host's port is switched off: the leaf receives no light, as it should.": Case(
        {
            "gpu-1": [switched_off("nic0")],
            "gpu-2": [Optic("nic0", 1, -2.0, -1.0)],
            "leaf-0": [
                *(Optic("swp1", 1, -40.0, -1.0), Optic("swp2", 1, -2.0, -1.0)),
                NetLink("swp1", operstate="DOWN", flags=("UP",)),
            ],
        }
    ),
    "Another part has another reach: there are no peers to compare it with.": undecided(
        {
            f"gpu-{host}": [Optic("nic0", 1, -6.0 if host == 7 else -1.0, part="B" if host == 7 else "A")]
            for host in range(1, 13)
        },
        plan=_MANY,
    ),
}
