"""Names or cables: where the evidence does not decide, a swap ranks by what it may do, and says "may"."""

from functools import cache

from oncall_fabrics import RAIL_ONLY, all_hosts, published

from truerail.analysis.published import Published
from truerail.model import CauseKind
from truerail.outputs.report_json import document
from truerail.questions.answers.job import job
from truerail.questions.answers.where import where
from truerail.simulator import Fault
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
    assert [other.kind for other in cause.alternatives] == [CauseKind.BUNDLE_SWAP]
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
