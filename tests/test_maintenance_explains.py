"""Work that is announced explains what it does to its neighbours: nothing else says that it goes on."""

from datetime import datetime, timedelta

from rules import rules
from tests.api_client import Api
from tests.fake_tower import FakeTower
from truerail.analysis.published import JournalState, Published
from truerail.analysis.rule import Case
from truerail.journal import Lives
from truerail.model import CauseKind, NetLink
from truerail.model.history import MaintenanceWindow
from truerail.rounds import evaluate
from truerail.service.evaluator import Evaluator
from truerail.service.mutes import work_now
from truerail.testing.cases import AT, scene

HOUR = timedelta(hours=1)


def window(what: str, scope: str = "device", starts: datetime = AT - HOUR) -> MaintenanceWindow:
    return MaintenanceWindow(7, scope, what, starts, starts + 2 * HOUR, "ada", "new firmware", starts)


def causes(case: Case, *windows: MaintenanceWindow) -> dict[tuple[str, tuple[str, ...]], int]:
    """Kind and subjects of each cause to how many findings it explains, of an evaluation at a time of the windows."""
    made = scene(case)
    plan = made.plan
    found = evaluate(made, work=work_now(plan, windows, AT)).causes
    return {(cause.kind.value, cause.subjects): len(cause.explains) for cause in found}


DEAD = rules()["LBL003"].fires[0]
SPINE = ("maintenance", ("spine-3",))


def test_a_drained_spine_explains_the_uplink_that_nothing_is_sent_over() -> None:
    assert causes(DEAD) == {("dead-member", ("leaf-0/up3",)): 1}
    assert causes(DEAD, window("spine-3")) == {SPINE: 1}
    assert causes(DEAD, window("spine-[3-4]", "nodes")) == {("maintenance", ("spine-3", "spine-4")): 1}


def test_work_elsewhere_or_at_another_time_explains_nothing() -> None:
    dead = {("dead-member", ("leaf-0/up3",)): 1}
    assert causes(DEAD, window("spine-5")) == dead
    assert causes(DEAD, window("spine-3", starts=AT - 3 * HOUR)) == dead
    assert causes(DEAD, window("0", "rail")) == dead


def test_a_fabric_without_findings_has_no_cause() -> None:
    assert causes(rules()["LBL003"].quiet[0], window("spine-3")) == {}


IMBALANCE = rules()["LBL002"].fires[0]


def test_a_spine_that_is_not_drained_yet_explains_no_uneven_load() -> None:
    ((kind, subjects),) = causes(IMBALANCE)
    assert kind == "overload"
    carrying = [port for port, of in IMBALANCE.rates.items() if "/up" in port and of["tx_bytes"]]
    assert carrying
    for port in carrying:
        assert causes(IMBALANCE, window(f"spine-{port[-1]}")) == {(kind, subjects): 1}


def _slow() -> Case:
    """A host that works for no one: the NICs that swap with it get less."""
    return next(case for case in rules()["RAL001"].fires if "idle" in case.summary)


def test_a_drained_host_explains_its_own_idle_nics() -> None:
    assert causes(_slow(), window("h2")) == {("maintenance", ("h2",)): 1}


CABLES = "\n".join(
    [f"h{n}/nic0 leaf-0/p{n} rail=0 speed=400" for n in range(4)]
    + [f"leaf-0/up{s} spine-{s}/p0 speed=400" for s in range(2)]
)
OFF = NetLink("up1", operstate="DOWN", flags=("BROADCAST",))
ON = [NetLink(name, operstate="UP", flags=("UP", "LOWER_UP")) for name in ("up0", "p0", "p1", "p2", "p3")]


def shown(*windows: MaintenanceWindow) -> Published:
    """One round of the service: an uplink is switched off, and a window is open."""
    made = scene(Case({"leaf-0": [OFF, *ON]}, plan=CABLES))
    plan, seen = made.plan, made.snapshot
    one = Evaluator("test", Lives(timedelta(0), 2, timedelta(0)), 1)
    return one.evaluate(plan, seen, (), (), {}, JournalState(), (), windows, AT).publication


def test_the_service_evaluates_with_its_windows_and_the_api_has_the_cause() -> None:
    assert {cause.kind for cause in shown().evaluation.causes} == {CauseKind.OVERLOAD}
    published = shown(window("spine-1"))
    with Api(FakeTower(published)) as api:
        (cause,) = api.json("causes")["items"]
        (finding,) = api.json("findings", rule="CAP001")["items"]
    assert (cause["kind"], cause["subjects"]) == ("maintenance", ["spine-1"])
    assert cause["summary"].startswith("spine-1 is in maintenance until 2026-11-20 15:00 UTC (ada): new firmware.")
    assert "It explains oversubscribed at leaf-0" in cause["summary"]
    assert cause["explains"] == [finding["id"]]
    assert finding["muted"] is None, "the neighbour's finding stays in view"
