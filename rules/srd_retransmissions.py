"""An EFA device sends far more packets again than its peers.

## Why it matters
SRD, the transport of EFA, spreads packets over many paths and sends again what is lost. A little of that is normal.
Where one device repeats much more than the others, its transfers are late, and the collective waits for them; there
are no pauses, no marks and no cables to look at.

## How it is detected
Packets sent again (`retrans_pkts`) as a share of those sent, in the newest polls: at least 0.5 %, and ten times the
median of the other devices, of which eight or more must count. Devices that send next to nothing are not compared. Both
thresholds are chosen by judgement; source of the counters: linux drivers/infiniband/hw/efa/efa_verbs.c.

Unknown instead of passed: fewer devices than that to compare with, and devices that do not count.

## What to do
Compare `unresponsive_remote_events` and `impaired_remote_conn_events` of the device: they show that one remote is the
reason. Drain the instance and replace it where it stays; where all devices of one remote's peers show it, that one.

## Decide
- `of its packets again`: one device is far above its peers. Look at the instance's health and at its remotes.
- `and its remotes`: its counters of remotes (above) show which of the two it is.

## False positives
An incast at one receiver, whose senders all repeat: then several devices are named at once, for as long as the job does
that.
"""

from functools import partial

import numpy as np

from rules._links import report_uncounted_links
from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.pfc.measures import recent
from truerail.analysis.pfc.trees import counted
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, rule
from truerail.model import CauseKind, PortCounters, Severity, Transport

LEAST_SHARE, TIMES_PEERS, LEAST_PEERS = 0.005, 10.0, 8
LEAST_PACKETS_PER_SECOND = 1000.0
"""A device that sends less carries no job. Chosen by judgement."""
BY_COUNTERS = 0.8
"""Confidence: the device repeats; whether it or its remotes lose is not known."""
AGAIN = Quantity.RETRANSMITTED_PACKETS


@rule("EFA001", Severity.WARNING, [PortCounters], transports=[Transport.EFA], cause=CauseKind.DEGRADED_LINK)
def srd_retransmissions(round: Round) -> Findings:
    """EFA devices whose share of repeated packets is far above their peers'."""
    telemetry, index = round.telemetry, round.cabling.index
    counted(telemetry, "packets sent again", AGAIN)
    last = recent(telemetry)
    nics = index.a[index.from_host]
    sent, again = (telemetry.mean_rate(quantity, last=last)[nics] for quantity in (Quantity.TX_PACKETS, AGAIN))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(sent >= LEAST_PACKETS_PER_SECOND, again / sent, np.nan)
    known = np.flatnonzero(~np.isnan(share))
    if len(known) <= LEAST_PEERS:
        raise InsufficientDataError(f"{len(known)} EFA devices send enough to compare: {LEAST_PEERS + 1} are needed")
    for at in known[share[known] >= LEAST_SHARE].tolist():
        usual = float(np.median(share[known[known != at]]))
        if share[at] < TIMES_PEERS * usual:
            continue
        cable = int(np.flatnonzero(index.from_host)[at])
        yield srd_retransmissions.found(
            index.a_port(cable),
            summary=f"{index.a_port(cable)} sends {share[at]:.1%} of its packets again: its peers' usual share is "
            f"{usual:.2%} (median)",
            action=f"Check the instance {index.a_port(cable).device} and its remotes; replace it where this stays.",
            rail=round.plan.cables[cable].rail,
            confidence=BY_COUNTERS,
            detail=(("share", round_share(float(share[at]))), ("usual", round_share(usual))),
        )
    report_uncounted_links(telemetry, "packets sent again", AGAIN, last=last)


def round_share(share: float) -> float:
    """A share with as many digits as it is worth."""
    return float(f"{share:.3g}")


_HOSTS = range(1, 11)
PLAN = "\n".join(f"gpu-{host}/rdmap0 leaf-0/p{host} rail=0 speed=200" for host in _HOSTS)


def _rates(again: float, hosts: range = _HOSTS) -> dict[str, dict[str, float]]:
    """All send a million packets a second and repeats a few; gpu-3 so many."""
    return {
        f"gpu-{host}/rdmap0": {"tx_packets": 1e6, "retransmitted_packets": again if host == 3 else 100.0}
        for host in hosts
    }


_efa = partial(Case, transport=Transport.EFA)

EXAMPLES = {
    "One device repeats two of a hundred packets.": _efa(finds="gpu-3/rdmap0", rates=_rates(2e4)),
    # Quiet:
    "All repeat a little.": _efa(rates=_rates(150.0)),
    "All repeat much: it is the job, or the network as a whole.": _efa(
        rates={port: {"tx_packets": 1e6, "retransmitted_packets": 2e4} for port in _rates(0.0)}
    ),
    "Too few devices to compare.": _efa(rates=_rates(2e4, range(1, 5)), unknown=True),
    "No device sends enough to compare.": _efa(
        rates={port: {"tx_packets": 1.0, "retransmitted_packets": 1.0} for port in _rates(0.0)}, unknown=True
    ),
}
