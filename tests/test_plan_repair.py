"""`plan-repair`: what is repaired now, what in which window, what waits, and what is not done together."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise

import pytest
from typer.testing import CliRunner

from benchmarks.accuracy.orders import heard, ring
from tests.oncall_fabrics import PLANES, RAIL_ONLY, SPINES, published, shown
from tests.test_drain import Announced
from truerail.analysis.published import EvaluatedRound, Published
from truerail.analysis.round import Round
from truerail.cli.app import app
from truerail.errors import NotFoundError, QueryError
from truerail.model import NOTHING_YET, CableState, CauseKind, Port
from truerail.model.history import History, NoHistory
from truerail.outputs.options import Options
from truerail.questions.answer_text import answer_text
from truerail.questions.plan_repair import QUESTION, plan_repair
from truerail.questions.plan_repair_answer import Repair, RepairPlan
from truerail.questions.question import Asked
from truerail.rounds import publication_of
from truerail.simulator import Fault, Shape, simulate
from truerail.verify import both_ways
from truerail.views.plain import answer_from_json, as_json

NOW = datetime(2026, 11, 20, 14, 5, tzinfo=UTC)
NONE = NoHistory()
LIVE = Fault(CauseKind.DEGRADED_LINK, "host")
DOWN = Fault(CauseKind.LINK_DOWN, "host")
SWAP = Fault(CauseKind.CABLE_SWAP, "one-host")


@cache
def both() -> Published:
    return published(SPINES, DOWN, LIVE)


@cache
def many() -> Published:
    return shown(simulate(Shape(hosts=16, pods=2, rails=4, spines=2, uplinks=4), 7, seed=7, folders="inventory"))


def asked(
    publication: Published, job: str | None = None, window: str | None = None, people: int = 1, history: History = NONE
) -> RepairPlan:
    """The answer, whose JSON and text are made too: no line is wider than 80 columns."""
    answer = plan_repair(Asked(publication, history, NOW), job, window, people)
    assert answer_from_json(RepairPlan, as_json(answer)) == answer
    for details in (True, False):
        assert max(map(len, answer_text(answer, Options(80, details=details)).splitlines())) <= 80
    return answer


def of_kind(answer: RepairPlan, kind: CauseKind) -> Repair:
    return next(one for one in answer.repairs if one.kind == kind.value)


def test_a_link_that_is_down_is_repaired_under_a_job_and_a_live_one_is_not() -> None:
    everywhere = asked(both(), "llama=gpu-[001-008]")
    down, live = (of_kind(everywhere, kind) for kind in (CauseKind.LINK_DOWN, CauseKind.DEGRADED_LINK))
    assert (down.when, down.gpus_back, down.interrupts) == ("now", 1, "")
    assert (live.when, live.starts, live.jobs) == ("", None, ("llama",))
    assert "where llama runs: it needs a window" in live.waits_for
    host = live.interrupts
    idle = ",".join(f"gpu-00{number}" for number in range(1, 9) if f"gpu-00{number}" != host)
    assert of_kind(asked(both(), f"llama={idle}"), CauseKind.DEGRADED_LINK).when == "now"


def test_a_cable_between_hosts_waits_for_the_jobs_at_both_ends() -> None:
    plan = ring(5)
    far = {cable.a: cable.b for cable in plan.cables}
    far |= {Port("h0", "p1"): Port("h4", "p0"), Port("h3", "p1"): Port("h1", "p0")}
    hall = heard(plan, both_ways(far), "exchanged at h1 and h4")
    publication = publication_of(Round(plan, hall.snapshot))
    (cause,) = publication.evaluation.causes
    ends = {end.device for move in cause.moves for end in (move.cable, move.source, move.target)}
    assert {"h1", "h4"} <= ends
    for host in plan.devices:
        assert (asked(publication, f"llama={host}").repairs[0].when == "now") is (host not in ends), (host, ends)


def test_without_jobs_only_what_interrupts_nothing_is_done_now() -> None:
    answer = asked(both())
    assert not answer.jobs_known
    assert [one.kind for one in answer.repairs if one.when] == ["link-down"]
    assert "which jobs run there is unknown" in of_kind(answer, CauseKind.DEGRADED_LINK).waits_for
    assert "Jobs unknown" in answer.summary
    assert QUESTION.good(answer) is False


def test_a_window_allows_what_it_covers() -> None:
    live = of_kind(asked(both()), CauseKind.DEGRADED_LINK)
    host = live.interrupts
    for window in ("18:00/1h", f"{host}=18:00/19:00", "gpu-[001-008]=18:00/1h"):
        placed = of_kind(asked(both(), window=window), CauseKind.DEGRADED_LINK)
        assert placed.starts == NOW.replace(hour=18, minute=0), window
        assert placed.when.endswith("from 2026-11-20 18:00")
    other = next(f"gpu-00{number}" for number in range(1, 9) if f"gpu-00{number}" != host)
    assert not of_kind(asked(both(), window=f"{other}=18:00/1h"), CauseKind.DEGRADED_LINK).when
    short = of_kind(asked(both(), window="18:00/15m"), CauseKind.DEGRADED_LINK)
    assert "no window that allows it is that long" in short.waits_for
    ahead = asked(both(), history=Announced("device", host))
    assert of_kind(ahead, CauseKind.DEGRADED_LINK).starts == NOW.replace(hour=15, minute=0)
    assert [(one.announced, one.repairs) for one in ahead.windows] == [(True, (live.key,))]
    assert not asked(both(), history=Announced()).windows_known


def test_a_window_that_is_full_says_so() -> None:
    answer = asked(many(), "all=gpu-[001-016]", "18:00/3h")
    full = [one for one in answer.repairs if "is taken" in one.waits_for]
    assert full
    assert sum(bool(one.when) for one in asked(many(), "all=gpu-[001-016]", "18:00/3h", 4).repairs) > sum(
        bool(one.when) for one in answer.repairs
    )


def test_nothing_is_moved_before_an_undecided_cause_is_confirmed() -> None:
    undecided = published(RAIL_ONLY, Fault(CauseKind.BUNDLE_SWAP))
    assert undecided.evaluation.causes[0].undecided
    one = asked(undecided).repairs[0]
    assert (one.work, one.steps, one.gpus_back, one.bisection_share_back) == ("confirm", (), None, None)
    assert one.when == "now"
    assert one.action.endswith("Move no cable before it is confirmed.")
    assert "effect unknown" in answer_text(asked(undecided), Options(80))


def test_no_right_cable_is_moved() -> None:
    swapped = published(SPINES, SWAP)
    cause = swapped.evaluation.causes[0]
    right = next(port for port, state in swapped.evaluation.cable_states.items() if state is CableState.RIGHT)
    wrong = replace(cause, moves=(replace(cause.moves[0], cable=Port(*right)),))
    evaluation = replace(swapped.evaluation, causes=(wrong,))
    one = asked(replace(swapped, evaluated=EvaluatedRound(swapped.round, evaluation))).repairs[0]
    assert (one.work, one.steps) == ("confirm", ())
    assert one.action.startswith("Confirm which explanation is right")


def test_a_move_comes_after_the_repair_that_it_waits_for() -> None:
    swapped = published(SPINES, SWAP, DOWN)
    move = next(one for one in swapped.evaluation.causes if one.moves)
    first = next(one for one in swapped.evaluation.causes if not one.moves)
    late = replace(move, moves=tuple(replace(one, after_causes=(first.key,)) for one in move.moves))
    evaluation = replace(swapped.evaluation, causes=(late, first))
    waiting = replace(swapped, evaluated=EvaluatedRound(swapped.round, evaluation))
    before, after = asked(waiting, "x=gpu-001", "18:00/2h").repairs
    assert (before.kind, after.kind, after.after) == ("link-down", "cable-swap", (before.key,))
    assert before.ends is not None
    assert after.starts is not None
    assert before.ends <= after.starts


def test_planes_of_a_host_are_not_interrupted_together() -> None:
    names = [cable.a for cable in PLANES_OF_ONE.plan.host_cables][:2]
    causes = PLANES_OF_ONE.evaluation.causes
    answer = asked(PLANES_OF_ONE, "none=gpu-008", people=3)
    assert len(causes) == 2, names
    assert [one.why for one in answer.not_together] == [
        f"{names[0].device} on rail 0: all cables there (planes, bond members) would be down together"
    ]
    assert all(one.not_with for one in answer.repairs)
    one, two = sorted(answer.repairs, key=lambda repair: repair.starts or NOW)
    assert (one.ends or NOW) <= (two.starts or NOW)


def planes_of_one() -> Published:
    """Both planes of one host's rail run degraded, as two causes."""
    made = published(PLANES, LIVE)
    cause = made.evaluation.causes[0]
    pair = [str(cable.a) for cable in list(made.plan.host_cables)[:2]]
    causes = tuple(replace(cause, id=f"C{number}", subjects=(port,)) for number, port in enumerate(pair, 1))
    return replace(made, evaluated=EvaluatedRound(made.round, replace(made.evaluation, causes=causes)))


PLANES_OF_ONE = planes_of_one()


def test_switches_of_one_pod_wait_for_each_other() -> None:
    answer = asked(many(), "far=gpu-001", people=4)
    for group in answer.not_together:
        placed = sorted((one.starts, one.ends) for one in answer.repairs if one.key in group.causes and one.starts)
        assert all(one[1] <= two[0] for one, two in pairwise(placed)), group.why  # type: ignore[operator]  # all begin
    assert any("of pod" in group.why for group in answer.not_together)


def test_uplinks_give_back_bisection_and_interrupt_nobody() -> None:
    uplink = asked(published(SPINES, Fault(CauseKind.LINK_DOWN, "uplink"))).repairs[0]
    assert (uplink.gpus_back, uplink.bisection_share_back, uplink.interrupts) == (0, 0.0625, "")
    assert uplink.when == "now"


def test_a_fabric_without_causes_has_nothing_to_repair() -> None:
    answer = asked(published(SPINES))
    assert (answer.repairs, answer.gpu_hours_back, QUESTION.good(answer)) == ((), 0.0, True)
    assert answer.summary == "No open cause needs a repair now."


def test_a_cause_to_look_at_again_later_is_no_repair() -> None:
    causes = tuple(replace(one, action=f"{NOTHING_YET}: check again.") for one in both().evaluation.causes)
    waiting = EvaluatedRound(both().round, replace(both().evaluation, causes=causes))
    assert asked(replace(both(), evaluated=waiting)).repairs == ()


@pytest.mark.parametrize(
    ("error", "words", "given"),
    [
        (QueryError, "'18:00': it has no end", {"window": "18:00"}),
        (QueryError, "ends before it starts", {"window": "tomorrow 18:00/2026-11-20T15:00Z"}),
        (NotFoundError, "window 'pod px=18:00/1h'", {"window": "pod px=18:00/1h"}),
        (QueryError, "more than 28 days ahead", {"window": "40d/1h"}),
        (QueryError, "201 windows", {"window": "18:00/1h;" * 201}),
        (QueryError, "maintenance covers devices", {"window": "gpu-001 GPU 1=18:00/1h"}),
    ],
)
def test_what_is_wrong_with_a_window_is_named(error: type[Exception], words: str, given: dict[str, str]) -> None:
    with pytest.raises(error, match=words):
        plan_repair(Asked(both(), NONE, NOW), **given)


def test_the_command_takes_several_jobs_and_windows() -> None:
    shown = CliRunner().invoke(app, ["plan-repair", "--help"])
    assert "or the option again" in shown.stdout
    several = asked(both(), "a=gpu-001; b=gpu-002", "18:00/1h; tomorrow/1h")
    assert (several.jobs, len(several.windows)) == (2, 2)
    assert several.ends - several.starts >= timedelta(hours=10)
