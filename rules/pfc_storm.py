"""A port pauses its neighbour without end, and the pause spreads through the fabric.

## Why it matters
A lossless class never drops: it stops its sender. One NIC that cannot take traffic in stops its leaf's queue, the leaf
stops the spines, and hosts that have nothing to do with it stand still. Jobs hang while every link is up.

## How it is detected
From counters of both ends of every link, on each priority by itself. Back-pressure and storm may have the same paused
share; they differ in the length of a pause: microseconds, or longer than 100 ms.

- critical: paused for at least 80 % of the time in two polls in a row, and nothing of that priority is sent meanwhile
  (where only bytes over all priorities are counted: no more than LLDP, BGP and pause frames take, see PFC003) or the
  mean pause is 100 ms or longer; or a watchdog says so (SONiC's PFC watchdog finds a storm, or goes on dropping in one
  that began before the first poll; a NIC's stall prevention).
- warning: one pause of 100 ms or longer in one poll; or no duration is counted, frames allow for 80 % in two polls and
  nothing is sent; or paused for 80 % in two polls, and neither lengths nor traffic by priority are counted.

A watchdog that is silent says nothing: it flaps, and misses pauses that software makes. The culprit is the root of the
wait-for graph: a port that pauses others and is not paused to a comparable degree (half) itself. At a host it is the
NIC, and `sub_cause` says what its counters give as the reason; at a switch it is the egress that is full or slower than
planned. `victims` are the ports that stand still because of it, with their hops from it. Where the root is not
monitored, the nearest monitored port is named; where several ports are as near and paused as much, none of them but the
switch. Where switches wait for each other in a circle that is not shown to stand still and not shown to move, it is
unknown whether it is a storm or a deadlock (PFC003): the finding names a switch of the circle and says so. Confidence:
0.95 reported by both ends, 0.8 by one, 0.6 where there are several roots or the switch's egress is
not found, 0.4 where the root is not monitored, or its port unknown.

## What to do
Take the culprit out first (drain the host, shut its switch port), then look at why: `sub_cause`, PCIe, firmware,
application. Set the PFC watchdog on all switch ports that face hosts.

## Decide
- `A PFC storm begins at`: the first port under it is the culprit. If it is a NIC, drain the host or shut its switch
  port now.
- `its switch pauses others`: the culprit is a switch's egress. Look at its speed and at what is behind it; shut it only
  if the other uplinks can carry the load.
- `begins behind`: the root is not monitored. Look at the device behind the named port.
- `What may be a PFC storm`, `or a deadlock`: durations or priorities are not counted, or a circle of switches is read
  from caches. Confirm that nothing is sent, with the switch's own counters, before shutting a port.
- `N PFC storms`: several at once. Begin with the one at the top.

## False positives
A host that reboots or dumps a crash pauses its leaf for seconds. A paused share alone is no storm: congestion pauses as
often, for microseconds (PFC002).
"""

from rules._examples import Rates, finds_nic, hears
from rules._links import report_uncounted_links
from rules._pauses import Blamed, blamed, priority_words
from truerail.analysis.pfc.edges import STORM
from truerail.analysis.pfc.measures import recent
from truerail.analysis.pfc.reasons import Reason
from truerail.analysis.pfc.trees import PAUSES, STORM_WORDS
from truerail.analysis.rule import Case, Findings, Round, rule
from truerail.model import CauseKind, NetLink, PortCounters, Severity, Transport


@rule(
    "PFC001", Severity.CRITICAL, [PortCounters], transports=[Transport.ROCE], cause=CauseKind.PFC_STORM, first="storm"
)
def pfc_storm(round: Round) -> Findings:
    """The roots of pauses without end, one finding for each."""
    pauses = round.pauses
    for culprits in blamed(pauses, round.storm_culprits):
        severity = Severity.CRITICAL if culprits.worst.level == STORM else Severity.WARNING
        yield culprits.found(pfc_storm, _says(culprits), severity)
    report_uncounted_links(pauses.reported, "pauses", *PAUSES, *STORM_WORDS, last=recent(pauses.reported))


def _says(found: Blamed) -> str:
    worst = found.worst
    on = priority_words(worst.priority, worst.totals)
    if len(found.culprits) > 1:
        on = f"priorities {', '.join(str(c.priority) for c in sorted(found.culprits, key=lambda c: c.priority or 0))}"
    circle = " or a deadlock" if worst.reason is Reason.CIRCLE else ""
    storm = ("A PFC storm" if worst.level == STORM else "What may be a PFC storm") + circle
    stopped = f"{found.victims} port{'s' * (found.victims != 1)} paused because of it"
    return f"{storm} begins {found.where}: {found.how(on)}; {stopped}"


PLAN = (
    "gpu-1/nic0 leaf-0/swp1 rail=0 speed=400\ngpu-2/nic0 leaf-0/swp2 rail=0 speed=400\n"
    "leaf-0/swp9 spine-1/swp1 speed=400\ngpu-3/nic0 leaf-1/swp1 rail=0 speed=400\nleaf-1/swp9 spine-1/swp2 speed=400"
)
_STOPPED: Rates = {"rx_pause_us:3": 990_000, "rx_pause_transitions:3": 0.1, "tx_bytes:3": 0}
_STOPS: Rates = {"tx_pause_us:3": 990_000}
_WAY = "leaf-0/swp1 leaf-0/swp2 gpu-2/nic0 leaf-0/swp9 spine-1/swp1 spine-1/swp2 leaf-1/swp9 leaf-1/swp1 gpu-3/nic0"
_STORM: dict[str, Rates] = {"gpu-1/nic0": {**_STOPS, "rx_bytes": 0}}
_STORM |= {port: _STOPS if number % 2 else _STOPPED for number, port in enumerate(_WAY.split())}
_STILL: dict[str, Rates] = {
    port: {"rx_pause_us:3": 0.0} for port in ("gpu-1/nic0", "gpu-2/nic0", "gpu-3/nic0", "spine-1/swp1", "spine-1/swp2")
}
_PRESSED: Rates = {"rx_pause_us:3": 850_000, "rx_pause_transitions:3": 40_000, "tx_bytes:3": 5e9}

EXAMPLES = {
    "A NIC that takes nothing in stops its leaf, the spine, and a host two switches away.": finds_nic(rates=_STORM),
    "The host is not read: only its leaf reports.": finds_nic(
        rates={"leaf-0/swp1": _STOPPED, "leaf-0/swp2": {"tx_bytes": 1e9}}
    ),
    "A SONiC switch's watchdog says so; durations are not counted.": finds_nic(
        rates={"leaf-0/swp1": {"rx_pause_frames:3": 20_000, "watchdog_storms:3": [*[0] * 11, 0.1]}}
    ),
    "A NIC's own watchdog says so, and names no priority.": finds_nic(
        rates={"gpu-1/nic0": {"nic_storm_errors": [*[0] * 11, 0.1], "tx_bytes": 1e9}}
    ),
    "Frames alone: they allow for a pause without end, and nothing is sent.": finds_nic(
        rates={"leaf-0/swp1": {"rx_pause_frames:3": 12_000, "tx_packets:3": 0, "tx_bytes": 0}}
    ),
    "Neither lengths nor traffic by priority are counted.": finds_nic(
        rates={"leaf-0/swp1": {"rx_pause_us:3": 900_000}}
    ),
    "A spine's egress at half speed holds up a leaf.": Case(
        {"spine-1": [hears("swp1", "leaf-0/swp9"), NetLink("swp2", operstate="UP", speed_gbps=200.0)]},
        "spine-1/swp2",
        rates={"leaf-0/swp9": _STOPPED, "spine-1/swp1": _STOPS, "spine-1/swp2": {"tx_bytes": 2.4e10}},
    ),
    "The spine behind the paused uplink is not monitored: the uplink is named.": Case(
        finds="leaf-0/swp9", rates={"leaf-0/swp9": _STOPPED}
    ),
    "Two storms at once on two priorities.": Case(
        finds="gpu-1/nic0 gpu-3/nic0",
        rates={
            "leaf-0/swp1": _STOPPED,
            "gpu-1/nic0": _STOPS,
            "leaf-1/swp1": {"rx_pause_us:4": 1e6, "rx_pause_transitions:4": 0, "tx_bytes:4": 0},
        },
    ),
    "A leaf and a spine wait for each other; bytes are unknown.": Case(
        finds="spine-1",
        plan=f"{PLAN}\nleaf-0/swp8 spine-1/swp8 speed=400",
        rates={"leaf-0/swp9": {"rx_pause_us:3": 9e5}, "spine-1/swp8": {"rx_pause_us:3": 9e5}},
    ),
    "The storm began before the first poll: what the watchdog drops grows.": finds_nic(
        rates={"leaf-0/swp1": {"rx_pause_frames:3": 20_000, "watchdog_storms:3": 0, "watchdog_tx_drops:3": 41_000}}
    ),
    # Quiet:
    "Heavy incast: paused most of the time, for microseconds, and traffic flows.": Case(
        rates=_STILL
        | {
            "leaf-0/swp9": _PRESSED,
            "leaf-1/swp9": _PRESSED,
            "spine-1/swp1": {"tx_pause_us:3": 850_000},
            "leaf-0/swp1": {"tx_bytes": 4.9e10},
        }
    ),
    "Pauses now and then.": Case(
        rates=_STILL | {"leaf-0/swp1": {"rx_pause_us:3": 2_000, "rx_pause_transitions:3": 400, "tx_bytes:3": 4e10}}
    ),
    "Many frames prove nothing while traffic flows.": Case(
        rates=_STILL | {"leaf-0/swp1": {"rx_pause_frames:3": 15_000, "tx_bytes:3": 3e10}}
    ),
    "Neither end of some links counts pauses: a storm may be there.": Case(
        unknown=True, rates={"gpu-1/nic0": {"rx_pause_us:3": 0.0}, "leaf-1/swp9": {"rx_pause_us:3": 0.0}}
    ),
}
