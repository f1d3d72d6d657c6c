"""Names or cables: where the evidence does not decide, a swap ranks by what it may do, and says "may"."""

from functools import cache

from oncall_fabrics import RAIL_ONLY, all_hosts, published

from truerail.model import CauseKind
from truerail.model.publication import Publication
from truerail.oncall.job import job
from truerail.oncall.lines import cause_lines
from truerail.oncall.view import view_of
from truerail.oncall.where import where
from truerail.outputs.report_json import document
from truerail.simulator import Fault


@cache
def crossed(*more: Fault) -> Publication:
    """Two leaves without uplinks whose cables are all crossed: no spine tells it from two exchanged names."""
    return published(RAIL_ONLY, Fault(CauseKind.BUNDLE_SWAP), *more)


SWAP = Fault(CauseKind.CABLE_SWAP, "one-host")


def test_it_ranks_by_the_gpus_that_may_have_lost_their_rail() -> None:
    first, second = cause_lines(view_of(crossed(SWAP)))
    assert (first.kind, first.harm, first.undecided) == ("leaf-swap", 16, True)
    assert (second.kind, second.harm, second.undecided) == ("cable-swap", 2, False)
    report = document(crossed(SWAP).judgement)
    assert [cause["kind"] for cause in report["causes"]] == ["leaf-swap", "cable-swap"]


def test_it_says_may_and_moves_nothing() -> None:
    (cause,) = crossed().judgement.causes
    assert cause.undecided
    assert not cause.names_only
    assert "may be exchanged by name" in cause.says
    assert cause.do.endswith("Move no cable before it is confirmed.")
    assert [other.kind for other in cause.alternatives] == [CauseKind.BUNDLE_SWAP]
    assert not cause.moves


def test_a_job_may_be_affected_and_a_cable_is_not_said_to_be_right() -> None:
    shown = crossed()
    answer = job(shown, all_hosts(shown))
    assert answer.says.startswith("Perhaps: leaf swap at leaf-")
    assert " may put 8 of your 8 hosts on a wrong rail." in answer.says
    assert all(host.unknown and not host.lost for host in answer.worst)
    subject = next(f.subject for f in shown.judgement.findings if f.rule == "CAB001")
    assert "only names are wrong" not in where(shown, subject).says


def test_decided_names_affect_nobody() -> None:
    (line,) = cause_lines(view_of(published(RAIL_ONLY, Fault(CauseKind.LEAF_SWAP, "labels"))))
    assert (line.kind, line.harm, line.undecided) == ("leaf-swap", 0, False)
    assert "are exchanged" in line.says
