"""Names or cables: where the evidence does not decide, a swap ranks by what it may do, and says "may"."""

from functools import cache

import pytest

from rules._examples import hears
from tests.oncall_fabrics import RAIL_ONLY, all_hosts, published
from tests.small_fabric import AT
from truerail.analysis.published import Published
from truerail.analysis.round import Round
from truerail.model import CauseKind, Fact, Neighbor, NetLink, Reading, Snapshot
from truerail.outputs.report_json import document
from truerail.questions.job import job
from truerail.questions.where import where
from truerail.rounds import evaluate
from truerail.simulator import Fault
from truerail.testing.cases import Case, plan_of, scene
from truerail.views.lines import cause_lines
from truerail.views.view import view_of


@cache
def crossed(*more: Fault) -> Published:
    """Two leaves without uplinks whose cables are all crossed: no spine tells it from two swapped names."""
    return published(RAIL_ONLY, Fault(CauseKind.BUNDLE_SWAP), *more)


SWAP = Fault(CauseKind.CABLE_SWAP, "one-host")


def test_it_ranks_by_the_gpus_that_may_have_lost_their_rail() -> None:
    first, second = cause_lines(view_of(crossed(SWAP)))
    assert (first.kind, first.impact, first.undecided) == ("leaf-swap", 16, True)
    assert (second.kind, second.impact, second.undecided) == ("cable-swap", 2, False)
    report = document(crossed(SWAP).evaluation)
    assert [cause["kind"] for cause in report["causes"]] == ["leaf-swap", "cable-swap"]


def test_it_says_may_and_moves_nothing() -> None:
    (cause,) = crossed().evaluation.causes
    assert cause.undecided
    assert not cause.names_only
    assert "may be swapped by name" in cause.summary
    assert cause.action.endswith("Move no cable before it is confirmed.")
    assert [other.kind for other in cause.alternatives] == [CauseKind.BUNDLE_SWAP, CauseKind.LEAF_SWAP]
    assert not cause.moves


def test_a_job_may_be_affected_and_a_cable_is_not_said_to_be_right() -> None:
    shown = crossed()
    answer = job(shown, all_hosts(shown))
    assert answer.summary.startswith("Perhaps: leaf swap at leaf-")
    assert " may put 8 of your 8 hosts on a wrong rail." in answer.summary
    assert all(host.unknown and not host.lost for host in answer.worst)
    subject = next(f.subject for f in shown.evaluation.findings if f.rule == "CAB001")
    assert "only names are wrong" not in where(shown, subject).summary


def test_decided_names_affect_nobody() -> None:
    (line,) = cause_lines(view_of(published(RAIL_ONLY, Fault(CauseKind.LEAF_SWAP, "labels"))))
    assert (line.kind, line.impact, line.undecided) == ("leaf-swap", 0, False)
    assert "are swapped" in line.summary


@pytest.mark.parametrize("leaves", [1, 3])
@pytest.mark.parametrize("storage", [True, False])
def test_right_cables_of_storage_show_that_bundles_are_crossed_and_not_names(leaves: int, storage: bool) -> None:
    def place(host: int, rail: int) -> str:
        return f"leaf-{rail % leaves}/swp{(host - 1) * 3 + rail + 1}"

    cables = {f"gpu-{h}/nic{r}": place(h, r) for h in range(1, 5) for r in range(3)}
    other = {f"gpu-{h}/stor": f"leaf-9/swp{h}" for h in range(1, 5)} if storage else {}
    lines = [f"{a} {b} rail={a[-1]}\n" for a, b in cables.items()] + [f"{a} {b}\n" for a, b in other.items()]
    plan = plan_of(Case(plan="".join(lines)))
    actual = {a: place({1: 2, 2: 1}.get(int(a[4]), int(a[4])), int(a[-1])) for a in cables} | other
    heard: dict[str, list[Neighbor]] = {}
    for (host, nic), (leaf, port) in ((a.split("/"), b.split("/")) for a, b in actual.items()):
        heard.setdefault(host, []).append(hears(nic, f"{leaf}/{port}"))
        heard.setdefault(leaf, []).append(hears(port, f"{host}/{nic}"))
    readings = [Reading(device, "lldp_host", AT, tuple(rows)) for device, rows in heard.items()]
    (cause,) = evaluate(Round(plan, Snapshot(AT, readings))).causes
    assert (cause.kind, cause.subjects) == (CauseKind.HOST_SWAP, ("gpu-1", "gpu-2"))
    assert len(cause.moves) == (6 if storage else 0)
    assert bool(cause.alternatives) is not storage


@pytest.mark.parametrize("slip", ["leaf-0/swpl", "leaf-9/swp1"])
@pytest.mark.parametrize("exists", [True, False])
def test_no_cable_is_moved_into_what_only_the_plan_knows(slip: str, exists: bool) -> None:
    """One line of the plan names another port, or another switch, than all that is reported."""
    planned = {f"gpu-{n}/nic0": f"leaf-0/swp{n}" for n in range(1, 5)} | {"gpu-1/nic0": slip}
    ports = [f"swp{n}" for n in range(1, 6)]
    heard = [hears(f"swp{n}", f"gpu-{n}/nic0") for n in range(1, 5)]
    answers: dict[str, list[Fact]] = {"leaf-0": [*heard, *(NetLink(port, operstate="UP") for port in ports)]}
    if exists:
        leaf, port = slip.split("/")
        answers.setdefault(leaf, []).append(NetLink(port, operstate="UP"))
    lines = "".join(f"{a} {b} rail=0\n" for a, b in planned.items())
    causes = evaluate(scene(Case(answers, plan=lines))).causes
    (cause,) = (one for one in causes if one.kind is CauseKind.CABLE_MOVE)
    assert len(cause.moves) == exists
    assert ("Correct the plan" in cause.action) is not exists
