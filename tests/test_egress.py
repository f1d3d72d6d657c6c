"""The egress at which a switch's congestion begins: full, degraded, or by the marks that it makes."""

from typing import Any

import numpy as np
import pytest

from truerail.analysis.pfc.culprits import egress_of
from truerail.analysis.pfc.reasons import Reason
from truerail.analysis.rule import Case
from truerail.testing.cases import scene

PLAN = "\n".join(f"h{n}/nic0 leaf-0/p{n} rail=0 speed=400" for n in range(4))
FULL, HALF, IDLE = ({"tx_bytes": share * 5e10} for share in (0.95, 0.6, 0.2))
MANY, FEW = {"ecn_marked_packets:3": 1e5}, {"ecn_marked_packets:3": 2e4}
Rates = dict[str, dict[str, Any]]


def egress(rates: Rates, pausing: str = "leaf-0/p3") -> tuple[str, Reason]:
    """The name of the egress, empty where none shows, and why."""
    reported = scene(Case(plan=PLAN, rates=rates)).telemetry
    index = reported.wiring.index
    by_name = {str(index.spell(port)): port for port in range(reported.ports)}
    device = int(index.ports.device_of(np.array([by_name[pausing]]))[0])
    port, reason = egress_of(reported, device, np.array([by_name[pausing]]), 6)
    return (str(index.spell(port)) if port >= 0 else ""), reason


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ({"leaf-0/p0": FULL, "leaf-0/p1": HALF | MANY}, ("leaf-0/p0", Reason.INCAST)),
        ({"leaf-0/p0": HALF, "leaf-0/p1": HALF | MANY}, ("leaf-0/p1", Reason.INCAST)),
        ({"leaf-0/p0": HALF | FEW, "leaf-0/p1": HALF | MANY}, ("leaf-0/p1", Reason.INCAST)),
        ({"leaf-0/p0": HALF | FEW, "leaf-0/p1": IDLE | MANY}, ("", Reason.EGRESS_UNREPORTED)),
        ({f"leaf-0/p{n}": HALF | MANY for n in range(3)}, ("", Reason.EGRESS_UNREPORTED)),
        ({f"leaf-0/p{n}": HALF for n in range(3)}, ("", Reason.EGRESS_UNREPORTED)),
    ],
    ids=["full", "alone marks", "marks most", "marks and is idle", "all mark alike", "nobody marks"],
)
def test_the_egress_is_full_or_makes_most_of_the_marks(rates: Rates, expected: tuple[str, Reason]) -> None:
    assert egress(rates) == expected


def test_marks_that_are_not_by_priority_count_as_well() -> None:
    assert egress({"leaf-0/p1": HALF | {"ecn_marked_packets": 1e5}}) == ("leaf-0/p1", Reason.INCAST)
