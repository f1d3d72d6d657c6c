"""RDMA between two NICs of a rail carries less than 90 % of its planned speed, or nothing.

## Why it matters
A collective runs at the pace of its slowest pair. Cables, addresses and UDP probes can all be right while queue pairs
are slow: a PCIe link with fewer lanes, a NIC in the wrong slot, an IOMMU, a switch that drops the class of RoCE.

## How it is detected
`truerail probe --heavy` lets each NIC write to the next one of its rail with `ib_write_bw`, while both hosts are idle,
and compares the average with the lower planned speed of the two cables; where the plan has none, with the median of
the rail. 90 % is below what headers and an RDMA MTU of 1024 bytes leave (about 94 %), and above what one lost lane
does. A NIC both of whose tests are slow is named alone. `does not pass` is `IBV_WC_RETRY_EXC_ERR` of the sender: it
sent again until it gave up. Tests that did not run or did not end are unknown, with the reason.

## What to do
Compare the NIC's PCIe width and speed with that of its neighbours (NIC005), then its link (LNK001, LNK005), then its
settings: RDMA MTU, PCIe relaxed ordering, IOMMU, NUMA node. Repeat the test of this pair.

## Decide
- `RDMA from`: one direction between two NICs; either may be the reason, or what is between them.
- `RDMA of`: all tests of this NIC are slow and those of its peers with others are not: it is this NIC or its slot.
- `does not pass`: the queue pair was made and no packet was acknowledged: look at the class, PFC and access lists for
  UDP 4791 on the way.

## False positives
A host that became busy after the check; CPUs that save energy during a short test.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from rules._examples import undecided
from rules._probes import Probed, explaining_all, probed
from truerail.analysis.cabling import ONE_END, evidence_of
from truerail.analysis.probes.upper_links import probed_ends
from truerail.analysis.rule import Case, Findings, Round, report_not_evaluated, rule
from truerail.model import CauseKind, Finding, RdmaTest, Severity, Transport
from truerail.model.columns import NONE, Codes, distinct
from truerail.model.names import some

ENOUGH = 0.9
"""Of the planned speed: probe.md, day-1 matrix, check 8."""
LEAST_OF_RAIL = 4
"""Tests of a rail of which the median is a measure for each: with fewer, one slow pair moves it."""


@dataclass(frozen=True)
class _Tests:
    """Tests with a result between planned NICs of one rail, as columns of shape (tests,): rows of their senders."""

    row: Codes
    cable: Codes
    peer: Codes
    gbps: np.ndarray
    lost: np.ndarray
    expected: np.ndarray
    """Gbit/s; NaN where neither the plan nor the rail says it."""

    @property
    def slow(self) -> np.ndarray:
        """Which are below what is expected."""
        return self.lost | (self.gbps < ENOUGH * self.expected)


@rule("PRB010", Severity.WARNING, [RdmaTest], transports=[Transport.ROCE], cause=CauseKind.SLOW_HOST)
def rdma_slow(round: Round) -> Findings:
    """NICs and pairs of NICs between which RDMA is slow, or does not pass."""
    found, tests = probed(round, rdma_slow), _tests(round)
    left = tests.slow.copy()
    every_test = np.ones(len(left), dtype=bool)
    for cable in explaining_all(tests.cable, tests.peer, every_test, tests.slow):
        which = left & ((tests.cable == cable) | (tests.peer == cable))
        yield _of_nic(found, tests, cable, np.flatnonzero(which))
        left &= ~which
    for test in np.flatnonzero(left).tolist():
        yield _of_pair(found, tests, test)
    known = tests.lost | ~np.isnan(tests.expected)
    seen = np.zeros(len(round.cabling.index.rail), dtype=bool)
    seen[tests.cable[known]] = seen[tests.peer[known]] = True
    report_not_evaluated(found.unseen(seen, _reasons(round, bool(len(tests.row) and not known.all()))))


def _tests(round: Round) -> _Tests:
    table, wiring = round.snapshot.table(RdmaTest), round.cabling
    with_result = [
        row
        for row, one in enumerate(table.rows)
        if one.program == "ib_write_bw" and one.role == "client" and one.outcome in ("measured", "lost")
    ]
    row = np.array(with_result, dtype=np.int64)
    _, _, cable, peer = probed_ends(wiring, table, row)
    rail, plane = (np.append(column, NONE) for column in (wiring.index.rail, wiring.index.plane))
    railed = (rail[cable] >= 0) & (rail[cable] == rail[peer]) & (plane[cable] == plane[peer])
    row, cable, peer = row[railed], cable[railed], peer[railed]
    gbps = np.array([table.rows[one].gbps or 0.0 for one in row.tolist()], dtype=float)
    lost = np.array([table.rows[one].outcome == "lost" for one in row.tolist()], dtype=bool)
    planned = np.array([one.speed_gbps or np.nan for one in round.plan.cables], dtype=float)
    expected = np.minimum(planned[cable], planned[peer])
    for number in distinct(rail[cable]).tolist():
        here = rail[cable] == number
        if np.count_nonzero(here & ~lost) >= LEAST_OF_RAIL:
            expected = np.where(here & np.isnan(expected), np.median(gbps[here & ~lost]), expected)
    return _Tests(row, cable, peer, gbps, lost, expected)


def _of_nic(found: Probed, tests: _Tests, cable: int, which: Codes) -> Finding:
    nic = found.nic(cable)
    peers = np.where(tests.cable[which] == cable, tests.peer[which], tests.cable[which])
    return rdma_slow.found(
        nic,
        summary=f"RDMA of {nic} with {found.peers(peers)}: {_speeds(tests, which)}",
        action=f"Compare the PCIe width, the link and the RDMA settings of {nic} with those of its peers.",
        rail=found.rail(cable),
        confidence=0.95,
        evidence=tuple(evidence_of(found.round.snapshot, RdmaTest, int(row)) for row in tests.row[which]),
        detail=(("because", "nic"), ("gbps", tuple(tests.gbps[which].tolist())), ("cable", found.cable_state(cable))),
    )


def _of_pair(found: Probed, tests: _Tests, test: int) -> Finding:
    nic, peer = found.nic(int(tests.cable[test])), found.nic(int(tests.peer[test]))
    which = np.array([test])
    return rdma_slow.found(
        nic,
        summary=f"RDMA from {nic} to {peer}: {_speeds(tests, which)}",
        action=f"Compare the PCIe width, the link and the RDMA settings of {nic} and {peer}, and repeat the test.",
        rail=found.rail(int(tests.cable[test])),
        confidence=ONE_END,
        evidence=(evidence_of(found.round.snapshot, RdmaTest, int(tests.row[test])),),
        detail=(("because", "pair"), ("peer", peer), ("gbps", (float(tests.gbps[test]),))),
    )


def _speeds(tests: _Tests, which: Codes) -> str:
    """What was measured, and what is expected."""
    parts = []
    if tests.lost[which].any():
        parts.append("it does not pass")
    measured = which[~tests.lost[which]]
    if len(measured):
        speeds = sorted({f"{gbps:.1f}" for gbps in tests.gbps[measured]})
        parts.append(f"{some(speeds)} Gbit/s of {tests.expected[measured].min():.0f}")
    return ", ".join(parts)


def _reasons(round: Round, without_speed: bool) -> str:
    """Why there is no result, by how often."""
    rows = round.snapshot.table(RdmaTest).rows
    words: Mapping[str, str] = {"not installed": "ib_write_bw is not installed", "left out": "a host took no part"}
    why = Counter(
        words.get(one.outcome, one.outcome)
        for one in rows
        if one.program == "ib_write_bw" and one.outcome not in ("measured", "passed", "lost")
    )
    reasons = [f"{reason} ({count:,})" for reason, count in why.most_common()]
    if without_speed:
        reasons.append("the plan has no speed of them, and their rail has too few tests")
    return f"no result of a test: {some(reasons)}" if reasons else "they had no test"


PLAN = "\n".join(f"h{host}/nic0 leaf-0/p{host} rail=0 speed=400" for host in range(1, 6))


def _ring(*results: float | Literal["lost", "not installed"]) -> dict[str, list[RdmaTest]]:
    """Each of five hosts writes to the next: Gbit/s, or another outcome."""
    facts: dict[str, list[RdmaTest]] = {}
    for number, result in enumerate(results):
        own, peer = f"h{number + 1}", f"h{(number + 1) % len(results) + 1}"
        row = RdmaTest("nic0", peer, "nic0", "r", number, "client", "ib_write_bw", "measured")
        row = row._replace(outcome=result) if isinstance(result, str) else row._replace(gbps=result)
        facts.setdefault(own, []).append(row)
    return facts


_ABSENT: Final = "not installed"

EXAMPLES = {
    "One pair is slow.": Case(_ring(391.0, 196.4, 391.2, 390.8, 391.1), "h2/nic0"),
    "Both tests of one NIC are slow.": Case(_ring(391.0, 196.4, 197.0, 390.8, 391.1), "h3/nic0"),
    "Nothing passes from one NIC to the next.": Case(_ring(391.0, 391.1, "lost", 391.2, 391.3), "h3/nic0"),
    "Below the median of its rail, of which the plan has no speed.": Case(
        _ring(97.1, 97.0, 50.1, 97.2, 97.1), "h3/nic0", plan=PLAN.replace(" speed=400", "")
    ),
    # Quiet:
    "All at speed.": Case(_ring(391.0, 391.1, 390.2, 391.2, 367.3)),
    "perftest is not installed.": undecided(_ring(_ABSENT, _ABSENT, _ABSENT, _ABSENT, _ABSENT)),
    "Too few tests of a rail without a speed.": undecided(
        _ring(97.1, 50.1), plan="\n".join(f"h{host}/nic0 leaf-0/p{host} rail=0" for host in (1, 2))
    ),
}
