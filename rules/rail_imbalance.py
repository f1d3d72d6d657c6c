"""A host loads its rails unevenly.

## Why it matters
Each GPU has its own NIC, and a collective waits for the slowest of them. One rail at half the rate halves the job, and
averages over eight rails hardly move.

## How it is detected
The least loaded NIC of a host against the median of its NICs, by what they send and receive on the wire (phy and
priority counters, or the switch ports they are cabled to; never netdev statistics, which RDMA bypasses), in every
window of a minute: below 0.85 is a warning, below 0.6 critical. A NIC with link and next to nothing, while the median
runs at a fifth of the line rate or more, is critical. Hosts under a tenth of the line rate are not evaluated, nor hosts
with two or more idle NICs (a job on fewer GPUs): unknown, where nothing else is found. Where the hosts of one level of
load share the same low rails, it is the work (pipeline or expert parallelism, PXN, storage on one NIC) and no finding.
Where congestion holds the NIC up (notices and marks, as in RAL002), the NIC is not to blame, and the finding is an
information that says so. So it is where another NIC of the rail has no link: those that exchanged data with it lack
that, in a ring the one before it all that it sends and the one behind it all that it receives. So it is where a whole
host is idle (drained, hung, at the end of its job) and NICs on at least half of its rails lack nearly all. In
synchronous collectives one slow NIC drags its peers to its own rate: then all look alike and low, and nothing is seen
here; look at pauses and retransmissions.

## What to do
Look at the low NIC: PCIe width, link speed and errors, pauses towards it, its GPU and the mapping of GPU to NIC, and at
its leaf port. If the job is designed to load its rails like this, mute the host.

## Decide
- `is idle`: one NIC carries next to nothing. Look whether its link and its RDMA port are up, and whether the job uses
  it at all.
- `of the median NIC`: one NIC is slow. PCIe (NIC005), speed (LNK001), errors (LNK004), pauses (PFC002), in that order.
- `congestion slows it`: the NIC obeys the network. Check the flows on its path (ECN001, LBL002), not at the host.

## False positives
Jobs that use fewer rails by design (pipeline parallelism, storage on one NIC). If all hosts of the job show the same
low rail, it is the job.
"""

import numpy as np

from rules._examples import down
from rules._held_up import Directions, Why, directions
from rules._links import hosts_not_evaluated
from truerail.analysis.counters.carried import LEAST_WINDOWS, TOO_FEW
from truerail.analysis.counters.rail_balance import ACTIVE, IDLE, LOW
from truerail.analysis.counters.telemetry import Telemetry
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, report_not_evaluated, rule
from truerail.model import CauseKind, Finding, Port, PortCounters, Severity

VERY_LOW = 0.6
"""Share of the median below which the imbalance is critical (detection.md 3)."""
_BECAUSE = {
    Why.ITSELF: "",
    Why.EITHER: "; what it lacks {} lacks in the other direction, and either may be slow",
    Why.OTHER_END: "; what it lacks {} lacks in the other direction, and this NIC carries more in its other one",
    Why.CONGESTION: "; congestion slows it",
    Why.GONE: "; {} has no link, so its traffic with that NIC is missing",
    Why.LEFT: "; the host of {} is idle on all its NICs, so its traffic with that host is missing",
}
_NOTE = "a slow NIC in a synchronous collective drags its peers to its own rate and is then not found here"
_LOOK = "Check {}: PCIe width, link speed, errors, pauses and its leaf port."
_GONE = "Bring back the link of {}; nothing to do on this host."
_LEFT = "Nothing to do on this host. If the host of {} should be working, check its job and its GPUs."
_CONGESTED = "Check which flows meet on the path of {} (ECN001, LBL002): the NIC is asked to slow down."


@rule("RAL001", Severity.WARNING, [PortCounters], cause=CauseKind.SLOW_HOST, first="where HOST")
def rail_imbalance(round: Round) -> Findings:
    """Hosts of which one NIC carries clearly less than the others."""
    telemetry = round.telemetry
    rails = round.rails
    if not rails.carried.enough:
        raise InsufficientDataError(TOO_FEW)
    if not rails.busy.any():
        raise InsufficientDataError("no host whose NICs are reported and carry a tenth of their line rate")
    low = (rails.share < LOW) | np.isnan(rails.share)
    always = low.all(axis=2) & ((~np.isnan(rails.share)).sum(axis=2) >= LEAST_WINDOWS)
    rows = np.flatnonzero(rails.evaluated & always.any(axis=1)).tolist()
    ways = round.once(directions) if rows else None
    for row in rows:
        nics = np.flatnonzero(always[row])
        nic = int(nics[np.argmin(rails.typical[row, nics])])
        port = rails.port[row, [nic]]
        if ways and not telemetry.wiring.states.down(port)[0]:
            yield _finding(telemetry, ways, row, nic)
    report_not_evaluated(hosts_not_evaluated(round))


def _finding(telemetry: Telemetry, ways: Directions, row: int, nic: int) -> Finding:
    index, rails = telemetry.wiring.index, ways.rails
    code = int(rails.port[row, nic])
    port, share = index.spell(code), float(rails.typical[row, nic])
    middle = float(np.nanmedian(rails.use[row]))
    idle = float(rails.use[row, nic]) < IDLE and middle >= ACTIVE
    rail = int(index.rail[index.cable_at(code)])
    what = "is idle" if idle else f"carries {share:.0%} of the median NIC"
    why, others = ways.why(row, nic)
    ends = tuple(str(index.spell(other)) for other in others)
    return rail_imbalance.found(
        port.device,
        summary=f"rail {rail} ({port.name}) {what}; that one runs at "
        f"{middle:.0%} of the line rate (averages of both directions){_BECAUSE[why].format(' or '.join(ends))}",
        action=_do(why, port, ends),
        severity=_severity(share, why, idle=idle),
        rail=rail,
        confidence=0.8,
        detail=(
            ("port", str(port)),
            ("share_of_median", round(share, 3)),
            ("idle", idle),
            ("because", why.value),
            *((("or", ends),) if ends else ()),
            ("note", _NOTE),
        ),
    )


def _do(why: Why, port: Port, ends: tuple[str, ...]) -> str:
    match why:
        case Why.CONGESTION:
            return _CONGESTED.format(port)
        case Why.GONE:
            return _GONE.format(" and of ".join(ends))
        case Why.LEFT:
            return _LEFT.format(" or of ".join(ends))
    return _LOOK.format(" and at ".join([str(port), *ends]))


def _severity(share: float, why: Why, *, idle: bool) -> Severity:
    """Congestion is load, of which its own rules warn; a link that is down is a finding of its own; an idle host is
    none.
    """
    if why in (Why.GONE, Why.LEFT):
        return Severity.INFO
    if idle or (share < VERY_LOW and why is Why.ITSELF):
        return Severity.CRITICAL
    return Severity.INFO if why is Why.CONGESTION else Severity.WARNING


PLAN = "\n".join(f"h{h}/nic{r} leaf-{r}/p{h} rail={r} speed=400" for h in range(4) for r in range(8))


def _rates(slow: dict[int, dict[int, float]]) -> dict[str, dict[str, float]]:
    return {
        f"h{h}/nic{r}": {"tx_bytes": 2e10 * slow.get(h, {}).get(r, 1.0), "rx_bytes": 2e10 * slow.get(h, {}).get(r, 1.0)}
        for h in range(4)
        for r in range(8)
    }


EXAMPLES = {
    "One rail of a host runs at three quarters.": Case(finds="h1", rates=_rates({1: {3: 0.75}})),
    "One rail of a host is idle.": Case(finds="h2", rates=_rates({2: {5: 0.0}})),
    "Congestion slows one rail of a host.": Case(
        finds="h1",
        rates={
            port: of | ({"cnp_handled": 5e3, "ecn_received_packets": 5e3} if port == "h1/nic3" else {})
            for port, of in _rates({1: {3: 0.5}}).items()
        },
    ),
    # Quiet:
    "All rails are loaded alike.": Case(rates=_rates({})),
    "A job uses four of eight GPUs.": Case(unknown=True, rates=_rates({0: dict.fromkeys(range(4), 0.0)})),
    "All hosts of the job load the same rail less.": Case(rates=_rates({h: {3: 0.5} for h in range(4)})),
    "The NIC has no link.": Case({"h2": [down("nic5")]}, rates=_rates({2: {5: 0.0}})),
}
