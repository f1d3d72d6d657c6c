"""Bonds on planes: which findings become one cause, and when the rules do not apply."""

from rules import rules
from rules._examples import hears
from truerail.analysis.rule import Case
from truerail.model import CauseKind, Evaluation, LagMember, NetLink, SharedLag, Status
from truerail.rounds import evaluate
from truerail.testing.cases import scene

PLANES = """
    gpu-1/nic0p0 leaf-1/swp1 rail=0 plane=0
    gpu-1/nic0p1 leaf-2/swp1 rail=0 plane=1
    gpu-2/nic0p0 leaf-1/swp2 rail=0 plane=0
    gpu-2/nic0p1 leaf-2/swp2 rail=0 plane=1
"""
PAIR = "44:38:39:00:00:01"


def evaluated(facts: dict[str, list[object]], plan: str = PLANES) -> Evaluation:
    return evaluate(scene(Case(facts, plan=plan)))  # type: ignore[arg-type]


def statuses(evaluation: Evaluation) -> dict[str, Status]:
    return {one.rule: one.status for one in evaluation.verdicts if one.rule.startswith("LAG")}


def test_a_bond_whose_cable_is_on_the_wrong_switch_has_one_cause() -> None:
    """The two cables of one NIC are swapped with another host's: LACP sees it, and the cables explain it."""
    swapped = evaluated(
        {
            "gpu-1": [
                hears("nic0p0", "leaf-1/swp1"),
                hears("nic0p1", "leaf-1/swp2"),
                LagMember("nic0p0", "bond0", PAIR, 1, 1, 61, 61, True),
                LagMember("nic0p1", "bond0", PAIR, 2, 2, 13, 13, False),
            ],
            "gpu-2": [hears("nic0p0", "leaf-2/swp1"), hears("nic0p1", "leaf-2/swp2")],
        }
    )
    found = {finding.rule: finding for finding in swapped.findings}
    assert {"CAB008", "LAG001"} <= found.keys()
    assert found["LAG001"].subject == "gpu-1/nic0p1"
    (cause,) = swapped.causes
    assert cause.kind is CauseKind.CABLE_SWAP
    assert found["LAG001"].id in cause.explains


def test_a_member_that_lacp_leaves_out_is_a_cause_of_its_own_where_the_cable_is_right() -> None:
    right = evaluated(
        {
            "gpu-1": [
                hears("nic0p0", "leaf-1/swp1"),
                hears("nic0p1", "leaf-2/swp1"),
                LagMember("nic0p0", "bond0", PAIR, 1, 1, 61, 61, True),
                LagMember("nic0p1", "bond0", None, None, 2, 69, 69, False),
            ],
            "leaf-1": [LagMember("swp1", "bond1"), SharedLag("bond1", "1", None, "dual")],
            "leaf-2": [LagMember("swp1", "bond1"), SharedLag("bond1", "2", None, "dual")],
        }
    )
    causes = [cause for cause in right.causes if cause.kind is CauseKind.CONFIGURATION]
    assert [cause.moves for cause in causes] == [(), ()]
    assert {finding.rule for finding in right.findings} >= {"LAG001", "LAG002"}


def test_without_bonds_the_rules_do_not_apply_and_without_data_they_are_unknown() -> None:
    routed = evaluated({"gpu-1": [NetLink("nic0p0", operstate="UP", flags=("UP", "LOWER_UP"))]})
    assert statuses(routed) == {"LAG001": Status.NOT_APPLICABLE, "LAG002": Status.NOT_APPLICABLE}
    unread = evaluated({"gpu-1": [hears("nic0p0", "leaf-1/swp1")]})
    assert statuses(unread) == {"LAG001": Status.UNKNOWN, "LAG002": Status.UNKNOWN}
    assert not rules()["LAG001"].look(scene(Case(plan=PLANES))).applies
