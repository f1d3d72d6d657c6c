"""A link runs at another speed than planned, its two ends report different speeds, or both could run faster.

## Why it matters
One NIC at 200 Gb/s among others at 400 halves the whole ring: a collective goes as fast as its slowest link. The
usual reasons are a wrong breakout mode, a wrong cable or transceiver, or lanes that were lost in training.

## How it is detected
The speed that each end reports (sysfs, ibstat's rate, ifHighSpeed, a switch's `show interfaces status`) is compared
with the plan's and with the other end's. The other end is the one seen over LLDP, else the planned one. Ports without
link have no speed: what a switch prints for them is configured. More than 1 % apart counts: notations of one speed are
rounded differently. A link without a reported speed at either end is unknown. An RDMA device of Ethernet reports 400
for whatever is faster: where nothing else reports the speed, 400 contradicts a plan below 400, and none above.

A link without a planned speed is compared with the other links of its rail and tiers: more than two thirds of them, and
two or more, show the usual one. Where there is no such majority, or most links of a device are slower, it is unknown.

InfiniBand's discovery also says what both ends of a link support (`iblinkinfo`: `Could be 4X`, `Could be 106.25 Gbps`;
the enabled widths and speeds in ibdiagnet's `PORTS`): a link with fewer lanes or a slower rate has lost them, in a
cable, a module, or training. Where the plan has the speed, the plan counts: cables may be slower than ports. Where
no discovery says what the ends support, this stays unknown. Where more than half of all links, and eight or more, run
at one speed below what their ends support, the fabric is limited to it (the subnet manager's `force_link_speed`, its
kind of cables) or has one fault that no single link shows: unknown, with their number.

## What to do
`ethtool <nic>` shows speed and lanes; on the switch look at the breakout and at forced speed. Replace the cable or
the transceiver for one of the planned speed; if it is right, reseat it and look at FEC and lane errors.

## Decide
- `planned are`: one end reports another speed than planned. Compare breakout and forced speed on the switch with a port
  beside it, then the module's type.
- `Gb/s and`: the two ends report different speeds. One of them shows what is configured; believe the host's `ethtool`.
- `degraded-link`: the job's ring is as slow as this link. Keep new jobs off the host until it is mended.

## False positives
A plan with the NIC's speed where the switch has a slower port by design. RDMA devices of Ethernet report 400 for
everything faster; the rule leaves these out.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

from rules._examples import alike, finds_nic, railed, rdma, undecided
from rules._links import blind_links
from truerail.analysis.cabling import ONE_END, Wiring, evidence_of
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, report_not_evaluated, rule
from truerail.model import CauseKind, Evidence, LinkSpeed, NetLink, NotEvaluated, Severity
from truerail.model.columns import NONE, Codes, Mask

Speeds = npt.NDArray[np.float64]

_TOLERANCE = 0.01
_MOST = 8
"""Links below one limit that are not each a fault of their own: a host's rails. Where they are most links, too."""


@rule("LNK001", Severity.WARNING, [], cause=CauseKind.DEGRADED_LINK)
def speed_mismatch(round: Round) -> Findings:
    """Cables whose planned speed and reported speeds are not one, or that could be faster."""
    wiring = round.cabling
    index = wiring.index
    other = np.where(wiring.place >= 0, wiring.place, index.b)
    here, there = _reported(wiring, index.a), _reported(wiring, other)
    capped = wiring.states.speed_is_capped
    here[capped[index.a] & _above(here, index.speed_gbps, there)] = np.nan
    there[capped[other] & _above(there, index.speed_gbps, here)] = np.nan
    silent = np.isnan(here) & np.isnan(there)
    if silent.all():
        raise InsufficientDataError("no port reported the speed of its link")
    able = np.fmax(wiring.states.able_gbps[index.a], wiring.states.able_gbps[other])
    able[~np.isnan(index.speed_gbps)] = np.nan
    limited, compared = _limited(here, there, able), ~np.isnan(able)
    able[limited] = np.nan
    dark = wiring.states.down(index.a) | wiring.states.down(other)
    usual, alone = _of_peers(wiring, np.where(dark, np.nan, np.fmin(here, there)))
    for cable in _bad(wiring, here, there, other, np.fmax(able, usual)).tolist():
        ends = ((index.a_port(cable), float(here[cable])), (index.spell(int(other[cable])), float(there[cable])))
        reported = [(port, speed) for port, speed in ends if not np.isnan(speed)]
        planned = float(index.speed_gbps[cable])
        wanted = "" if np.isnan(planned) else f", planned are {planned:g} Gb/s"
        wanted += "" if np.isnan(able[cable]) else f", both ends support {able[cable]:g} Gb/s"
        wanted += "" if np.isnan(usual[cable]) else f", most such links run at {usual[cable]:g} Gb/s"
        yield speed_mismatch.found(
            index.a_port(cable),
            summary=f"{' and '.join(f'{port} runs at {speed:g} Gb/s' for port, speed in reported)}{wanted}",
            action=f"Check breakout, forced speed, cable and transceiver at {ends[0][0]} and {ends[1][0]}.",
            rail=round.plan.cables[cable].rail,
            confidence=ONE_END,
            evidence=(*wiring.evidence(*(both := (int(index.a[cable]), int(other[cable])))), *_speeds(wiring, both)),
            detail=(*((f"{port} gbps", speed) for port, speed in reported),),
        )
    nothing = _without_peers(wiring, np.flatnonzero(alone & ~compared))
    report_not_evaluated([*_fabric_wide(wiring, limited, np.fmin(here, there)), *_silent(wiring, silent), *nothing])


def _speeds(wiring: Wiring, ports: tuple[int, int]) -> Iterator[Evidence]:
    """What the system's files and discoveries report of these ports' speed."""
    for row in wiring.states.speed_row[list(ports)].tolist():
        if row >= 0:
            yield evidence_of(wiring.seen, LinkSpeed, row)


def _silent(wiring: Wiring, silent: Mask) -> Iterator[NotEvaluated]:
    """The links neither end of which reports a speed that says anything. `silent` has shape (cables,)."""
    seen = np.zeros(wiring.index.planned_ports, dtype=bool)
    for end in (wiring.index.a[~silent], wiring.index.b[~silent]):
        seen[end[end >= 0]] = True
    yield from blind_links(wiring, seen, "reports the speed of its link")


def _limited(here: Speeds, there: Speeds, able: Speeds) -> Codes:
    """The cables at the one speed, below what their ends support, that most links of the fabric run at."""
    speed = np.fmin(here, there)
    slower = _differ(speed, able) & (speed < able)
    speeds, links = np.unique(speed[slower], return_counts=True)
    if not links.size or links.max() < _MOST or 2 * links.max() <= np.count_nonzero(~np.isnan(speed)):
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(slower & (speed == speeds[links.argmax()]))


def _of_peers(wiring: Wiring, speed: Speeds) -> tuple[Speeds, Mask]:
    """The speed that links without a planned one should have, as most links of the same rail and tiers, NaN where that
    is unknown: too few links, no majority, or a device of which most such links are slower (it may be of another kind).
    And which of these are slower than another such link, or the only one. Shapes (cables,).
    """
    index = wiring.index
    known, open_ = ~np.isnan(speed), np.isnan(index.speed_gbps)
    if not open_.any():
        return np.full(len(speed), np.nan), open_
    tier = np.array([*index.devices.tier, NONE])
    _, kind = np.unique(np.stack([tier[index.a_device], tier[index.b_device], index.rail]), axis=1, return_inverse=True)
    (of, value), count = np.unique(np.stack([kind[known], speed[known]]), axis=1, return_counts=True)
    links, most = np.bincount(kind[known], minlength=len(kind)), np.full(len(kind), np.nan)
    clear = (count > 1) & (3 * count > 2 * links[of.astype(np.int64)])
    most[of[clear].astype(np.int64)] = value[clear]
    usual, own = most[kind], index.a_device + 1  # 0: not in the plan
    slower = _differ(speed, usual) & (speed < usual)
    whole = 2 * np.bincount(own[slower], minlength=len(tier)) > np.bincount(own[known], minlength=len(tier))
    usual[~open_ | (whole[own] & slower)] = np.nan
    top = np.full(len(kind), -np.inf)
    np.maximum.at(top, kind[known], speed[known])
    alone = _differ(speed, top[kind]) | (links[kind] == 1)
    return usual, known & alone & open_ & np.isnan(usual)


def _without_peers(wiring: Wiring, links: Codes) -> Iterator[NotEvaluated]:
    if links.size:
        why = "links run at a speed that neither the plan nor most links of their rail and tier confirm"
        names = tuple(str(wiring.index.a_port(cable)) for cable in links.tolist())
        yield NotEvaluated(f"{links.size} {why}", "link", links.size, len(wiring.index.a), names, rest_evaluated=True)


def _fabric_wide(wiring: Wiring, limited: Codes, speed: Speeds) -> Iterator[NotEvaluated]:
    if limited.size:
        of = f"{limited.size} links, most of the fabric, run at {speed[limited[0]]:g} Gb/s"
        why = f"{of} and their ends support more: a limit of the subnet manager or the cables, or one fault of all"
        ports = tuple(wiring.index.a_port(cable) for cable in limited.tolist())
        yield NotEvaluated(why, "link", limited.size, len(speed), tuple(map(str, ports)), rest_evaluated=True)


def _bad(wiring: Wiring, here: Speeds, there: Speeds, other: Codes, able: Speeds) -> Codes:
    """The cables whose speeds differ, or are less than both ends support (`able`). What a port without link reports is
    struck out of `here` and `there`, and what the port at its other end reports, unless that one says that it has link:
    a switch prints the configured speed.
    """
    planned = wiring.index.speed_gbps

    def differing() -> Codes:
        slow = (_differ(here, able) & (here < able)) | (_differ(there, able) & (there < able))
        return np.flatnonzero(_differ(here, planned) | _differ(there, planned) | _differ(here, there) | slow)

    cables = differing()
    near, far = wiring.index.a[cables], other[cables]
    dark = wiring.states.down(near), wiring.states.down(far)
    here[cables[dark[0] | (dark[1] & ~wiring.states.up(near))]] = np.nan
    there[cables[dark[1] | (dark[0] & ~wiring.states.up(far))]] = np.nan
    return differing()


def _reported(wiring: Wiring, port: Codes) -> Speeds:
    """The speed that each port reports, shape (ports,); NaN where none is reported."""
    speed = wiring.states.speed_gbps[port]
    return np.where(speed > 0, speed, np.nan)


def _above(capped: Speeds, *others: Speeds) -> Mask:
    """Whether any of these is more than a capped speed: then the cap says nothing against it. False where NaN."""
    return np.asarray(np.logical_or.reduce([other > capped for other in others]), dtype=bool)


def _differ(a: Speeds, b: Speeds) -> Mask:
    """Whether both are reported and apart. False where either is NaN."""
    return np.asarray(np.abs(a - b) > _TOLERANCE * np.maximum(a, b), dtype=bool)


PLAN = "gpu-1/nic0 leaf-0/swp1 rail=0 speed=400\ngpu-2/nic0 leaf-0/swp2 rail=0"

_PLAN_800 = "gpu-1/nic0 leaf-0/swp1 rail=0 speed=800\ngpu-2/nic0 leaf-0/swp2 rail=0 speed=200"


def _runs(port: str, gbps: float) -> NetLink:
    return NetLink(port, speed_gbps=gbps)


_UNPLANNED = railed(4, rails=2)
_SECOND_RAIL = {"leaf-1": [_runs(f"swp{n}", 400.0) for n in range(1, 5)]}
_ONE_SLOW = [_runs(f"swp{n}", 200.0 if n == 2 else 400.0) for n in range(1, 5)]
_RATE_400 = rdma(rate_gbps=400.0)
_SECOND = [_runs("swp2", 400.0)]
_finds_second = partial(Case, finds="gpu-2/nic0")

EXAMPLES = {
    "The switch's port runs at half the planned 800 Gb/s, and the RDMA device agrees.": finds_nic(
        {"gpu-1": [_RATE_400], "leaf-0": [_runs("swp1", 400.0)]}, plan=_PLAN_800
    ),
    "The RDMA device reports more than the planned 200 Gb/s.": _finds_second({"gpu-2": [_RATE_400]}, plan=_PLAN_800),
    "The netdev reports 400 itself where 800 Gb/s are planned.": finds_nic(
        {"gpu-1": [_RATE_400, LinkSpeed("nic0", 400.0)]}, plan=_PLAN_800
    ),
    "The NIC runs at half the planned speed.": finds_nic({"gpu-1": [_runs("nic0", 200.0)]}),
    "The switch port runs at half the planned speed.": finds_nic({"leaf-0": [_runs("swp1", 200.0)]}),
    "The plan has no speed, and the ends differ.": _finds_second(
        {"gpu-2": [_RATE_400], "leaf-0": [_runs("swp2", 100.0)]}
    ),
    "Sysfs reports half the planned speed, and the interface itself none.": finds_nic(
        {"gpu-1": [NetLink("nic0"), LinkSpeed("nic0", 200.0)]}
    ),
    "A link of InfiniBand has one of four lanes: the discovery says what both ends support, "
    "the plan nothing.": _finds_second({"gpu-2": [LinkSpeed("nic0", 100.0, able_gbps=400.0)]}),
    "No speed is planned: one link of the rail runs at half the others' speed, "
    "and so does its host's only there.": _finds_second({"leaf-0": _ONE_SLOW, **_SECOND_RAIL}, plan=_UNPLANNED),
    "Only the switch answered, in its command line.": finds_nic(
        {"leaf-0": [LinkSpeed("swp1", 200.0), LinkSpeed("swp2", 400.0)]}
    ),
    # Quiet:
    "An RDMA device reports 400 for 800 Gb/s: alone it contradicts nothing, and confirms nothing.": undecided(
        {"gpu-1": [_RATE_400], "leaf-0": [_runs("swp2", 200.0)]}, plan=_PLAN_800
    ),
    "An RDMA device reports 400, the switch's port 800.": Case(
        {"gpu-1": [_RATE_400], "leaf-0": [_runs("swp1", 800.0), _runs("swp2", 200.0)]}, plan=_PLAN_800
    ),
    "All report 400 Gb/s.": Case({"gpu-1": [_runs("nic0", 400.0)], "leaf-0": [_runs("swp1", 400.0), *_SECOND]}),
    "No speed is planned, and all links of one host are slower: it may be of another kind.": undecided(
        alike("leaf-0 leaf-1", _ONE_SLOW), plan=_UNPLANNED
    ),
    "Neither end of one link reports its speed.": undecided({"leaf-0": _SECOND}),
    "Both ends support more than the plan wants: the cable may be a slower one.": Case(
        {
            "gpu-1": [LinkSpeed("nic0", 400.0, able_gbps=800.0)],
            "leaf-0": [LinkSpeed("swp1", 400.0, able_gbps=800.0), *_SECOND],
        }
    ),
    "The interface runs at what both ends support, or at more.": Case(
        {"gpu-1": [_runs("nic0", 400.0)], "gpu-2": [_runs("nic0", 800.0), LinkSpeed("nic0", 200.0, able_gbps=400.0)]}
    ),
    "The speed of a port without link does not count.": undecided(
        {"gpu-1": [NetLink("nic0", operstate="DOWN", speed_gbps=10.0)], "leaf-0": [_runs("swp1", 0.0), *_SECOND]}
    ),
    "A cable without link: the host's RDMA port reports the driver's default, "
    "the switch the speed of its module.": undecided(
        {"gpu-1": [rdma("DOWN", "DISABLED", rate_gbps=40.0)], "leaf-0": [_runs("swp1", 100.0), *_SECOND]}
    ),
    "The RDMA device below the netdev reports another speed: the netdev's counts.": Case(
        {"gpu-1": [NetLink("nic0"), LinkSpeed("nic0", 100.0), LinkSpeed("nic0", 400.0)], "leaf-0": _SECOND}
    ),
}
