"""A NIC is slower than the NICs of its rail in other hosts.

## Why it matters
It sets the pace of every ring that passes it. The reason is behind this one port: a narrowed PCIe link, lost lanes, a
bad cable, a NIC that throttles by heat, a GPU that lags.

## How it is seen
What the NIC carries on the wire, as a share of its host's median NIC (so that jobs of different load can be compared),
against the same share of eight or more hosts on that rail: 15 % below their median and further than 3.5 robust standard
deviations, in three windows of a minute. Hosts are left out as in RAL001: too little load, jobs on fewer GPUs, the same
pattern on most hosts of one level of load. In synchronous collectives a slow NIC drags its peers to its own rate: then
no rate tells which it is; pauses, retransmissions, width and speed do.

## What to do
Compare PCIe width and speed, link speed, temperature, pauses sent and out-of-sequence packets of this NIC with its
peers, then the cable and its leaf port.
"""

from collections.abc import Iterator

import numpy as np

from truerail.model import Finding, NetLink, Plan, PortCounters, Severity, Snapshot
from truerail.model.counters.carried import TOO_FEW
from truerail.model.counters.rails import LEAST_PEERS, Rails, rails_of, straggling
from truerail.model.counters.telemetry import Telemetry, telemetry_of
from truerail.model.rule import Case, Undecided, rule


@rule("RAL002", severity=Severity.WARNING, needs=[PortCounters])
def straggler_nic(plan: Plan, seen: Snapshot) -> Iterator[Finding]:
    """NICs below their peers on the rail."""
    telemetry = telemetry_of(plan, seen)
    rails = rails_of(telemetry)
    if not rails.carried.enough:
        raise Undecided(TOO_FEW)
    found, told = straggling(rails)
    if not told:
        raise Undecided(f"no rail with {LEAST_PEERS} NICs that carry enough to be compared")
    for row, nic in np.argwhere(found).tolist():
        if not telemetry.wiring.states.down(rails.port[row, [nic]])[0]:
            yield _finding(telemetry, rails, row, nic)


def _finding(telemetry: Telemetry, rails: Rails, row: int, nic: int) -> Finding:
    index = telemetry.wiring.index
    code = int(rails.port[row, nic])
    port, share = index.spell(code), float(rails.typical[row, nic])
    peers = (rails.rail == rails.rail[row, nic]) & rails.judged[:, None]
    rail = int(index.rail[index.cables_at(np.array([code]))][0])
    return straggler_nic.found(
        port,
        says=f"carries {share:.0%} of its host's median NIC, where the {np.count_nonzero(peers)} NICs of rail {rail} "
        f"carry {np.nanmedian(rails.typical[peers]):.0%} in the middle (unless a synchronous job hides slower ones)",
        do=f"Compare PCIe width, link speed, pauses and errors of {port} with its peers on rail {rail}.",
        rail=rail,
        confidence=0.8,
        detail=(("share_of_median", round(share, 3)), ("peers", int(np.count_nonzero(peers)))),
    )


_PLAN = "\n".join(f"h{h}/nic{r} leaf-{r}/p{h} rail={r} speed=400" for h in range(10) for r in range(4))


def _rates(slow: dict[str, float], level: float = 3e10) -> dict[str, dict[str, float]]:
    ports = [f"h{h}/nic{r}" for h in range(10) for r in range(4)]
    return {port: dict.fromkeys(("tx_bytes", "rx_bytes"), level * slow.get(port, 1.0)) for port in ports}


FIRES = Case("One NIC at three quarters.", _PLAN, {}, ("h4/nic2",), rates=_rates({"h4/nic2": 0.75}))

QUIET = (
    Case("All carry alike.", _PLAN, {}, rates=_rates({})),
    Case("A tenth less is noise.", _PLAN, {}, rates=_rates({"h4/nic2": 0.9})),
    Case("Rail 2 is loaded less on all hosts.", _PLAN, {}, rates=_rates({f"h{h}/nic2": 0.5 for h in range(10)})),
    Case(
        "The NIC has no link.",
        _PLAN,
        {"h4": [NetLink("nic2", operstate="DOWN")]},
        rates=_rates({"h4/nic2": 0.0}),
    ),
)
