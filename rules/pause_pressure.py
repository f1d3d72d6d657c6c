"""A port pauses its neighbors for minutes, while traffic still flows.

## Why it matters
Pauses are meant for moments. A sender that stands still for a twentieth of its time and more loses as much of its
bandwidth, and hands the pause on to flows that never go to the slow port. It is where storms begin.

## How it is detected
By duration counters, paused for at least 5 % of the time in nearly all (80 %) of five minutes, weighted by the seconds
between polls, not less in both of the last two polls, and no storm (PFC001); a shorter window counts in full, from 100
seconds on. Where only frames are counted, they give an upper bound, which must be 20 %: `is_upper_bound` is then true,
and a storm is not ruled out. The finding is about the root of the wait-for graph, as with PFC001: the NIC that takes
traffic too slowly, or the switch's egress that is full or slower than planned. `victims` are the ports that wait for
it. Where more than 200 ports are roots, the worst 200 are reported and the number of the others.

## What to do
At a host: PCIe width and speed, memory, the job. At a switch's egress: who sends there (incast), whether ECN slows the
senders down before PFC stops them, whether the link has its speed.

## Decide
- `takes traffic too slowly`: the host is the bottleneck: PCIe (NIC005), memory, CPU frequency. Take it out of jobs if
  it stays.
- `more traffic arrives for it than it can send`: many senders to one port. Check which job receives there (INC001,
  ECN001).
- `its own counters are not read`: the host does not answer `ethtool -S`. Restore that first, or read it by hand.

## False positives
Checkpoints and collective phases pause for minutes. Where only frames are counted the share is an upper bound.
"""

import numpy as np

from rules._examples import finds_nic, railed
from rules._pauses import Blamed, blamed, priority_words
from truerail.analysis.pfc.culprits import pressure_culprits
from truerail.analysis.pfc.edges import LEAST_SUSTAINED_SECONDS
from truerail.analysis.pfc.trees import Pauses
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, rule
from truerail.model import PortCounters, Severity, Transport


@rule("PFC002", Severity.WARNING, [PortCounters], transports=[Transport.ROCE])
def pause_pressure(round: Round) -> Findings:
    """The roots of back-pressure that lasts, one finding for each."""
    pauses = round.pauses
    pressed = blamed(pauses, pressure_culprits(pauses))
    if not pressed and (seconds := _watched(pauses)) < LEAST_SUSTAINED_SECONDS:
        why = f"{LEAST_SUSTAINED_SECONDS:.0f} seconds of counters: there are {seconds:.0f} so far"
        raise InsufficientDataError(why)
    for culprits in pressed:
        yield culprits.found(pause_pressure, _says(culprits), Severity.WARNING)


def _watched(pauses: Pauses) -> float:
    """Seconds from the first poll of the window to the last."""
    counters = pauses.reported.counters
    begun = counters.begun[counters.order] if counters else np.zeros(1)
    return float(begun[-1] - begun[0])


def _says(found: Blamed) -> str:
    worst, victims = found.worst, found.victims
    waits = f"{victims} port{'s wait' if victims != 1 else ' waits'} for it"
    waits += f"; {worst.others:,} more ports are under such pressure, the worst are reported" * bool(worst.others)
    how = found.how(priority_words(worst.priority, worst.totals))
    return f"Traffic is paused {found.where}: {how}; {waits}"


PLAN = railed(2, more=" speed=400") + "\nleaf-0/swp9 spine-1/swp1 speed=400"
_PRESSED = {"rx_pause_us:3": 300_000.0, "rx_pause_transitions:3": 40_000.0, "tx_bytes:3": 3e10}

EXAMPLES = {
    "A NIC that takes traffic too slowly pauses its leaf for a third of the time.": finds_nic(
        rates={"leaf-0/swp1": _PRESSED, "gpu-1/nic0": {"tx_pause_us:3": 300_000, "rx_bytes": 3e10, "rx_discards": 0}}
    ),
    "A full egress holds up the other ports of its leaf, and the spine.": Case(
        finds="leaf-0/swp1",
        rates={"gpu-2/nic0": _PRESSED, "spine-1/swp1": _PRESSED, "leaf-0/swp1": {"tx_bytes": 4.9e10}},
    ),
    "Counted in frames only, over all priorities (SNMP).": finds_nic(
        rates={"leaf-0/swp1": {"rx_pause_frames": 6_000, "tx_bytes": 4e10}}
    ),
    "One poll failed; what is there lasts.": finds_nic(
        rates={"leaf-0/swp1": {"rx_pause_us:3": [*[2e5] * 6, float("nan"), *[2e5] * 5]}}
    ),
    # Quiet:
    "Pauses for a moment.": Case(rates={"leaf-0/swp1": {"rx_pause_us:3": [*[0] * 9, 3e5, 3e5, 3e5]}}),
    "It paused until two polls ago.": Case(rates={"leaf-0/swp1": {**_PRESSED, "rx_pause_us:3": [*[5e5] * 10, 0, 0]}}),
    "Pauses for 2 % of the time.": Case(rates={"leaf-0/swp1": {"rx_pause_us:3": 20_000}}),
    "A storm is PFC001, and so is the pressure that it causes.": Case(
        rates={"leaf-0/swp1": {"rx_pause_us:3": 1e6, "tx_bytes:3": 0}, "gpu-2/nic0": _PRESSED}
    ),
    "Frames that allow for 10 % of the time at most.": Case(rates={"leaf-0/swp1": {"rx_pause_frames:3": 1_200}}),
}
