"""Who is asked for an InfiniBand fabric, what with, when and for how long; devices in memory."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from collector import collectors
from tests.fake_fleet import NOW, FakeFleet, ambient, targets
from tests.live_site import Run, Site
from tests.virtual_time import timeless
from truerail.analysis.round import Round
from truerail.errors import UndeclaredCommandError
from truerail.model import CauseKind, Reading, Role, Snapshot, SshAccess, Target
from truerail.model.platforms import PROBES
from truerail.poller import Gathered, Limits, Poller
from truerail.poller.fleet import Work
from truerail.poller.polling import PollScheduler, intervals
from truerail.poller.questions import applicable
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, Simulation, simulate
from truerail.transport.command_gate import declared, refuse_undeclared
from truerail.transport.fleet_transport import LOCAL, Routes, kind_of

SHAPE = Shape(hosts=8, rails=4, spines=0, platforms=("infiniband",), host_ports="rdma")
SWAP = (Fault(CauseKind.CABLE_SWAP, "one-host"),)
UFM = Target("ufm-1", "192.0.2.99", platform="infiniband")
WALKS = ("ibnetdiscover", "iblinkinfo -l")


class Fabric(FakeFleet):
    """Hosts that answer for themselves alone, and the machine that tells the fabric."""

    def __init__(self, simulation: Simulation, troubles: dict[str, str] | None = None) -> None:
        super().__init__(simulation, troubles)
        self.hosts = [target for target in targets(simulation) if target.role is Role.HOST]
        listings = [of.pop("ibnetdiscover") for of in self.answers.values() if "ibnetdiscover" in of]
        self.answers["ufm-1"] = {"ibnetdiscover": listings[0]}

    def gatherer(self, simulation: Simulation, *more: Target, limits: Limits | None = None) -> Poller:
        devices = simulation.plan.devices
        return Poller([*self.hosts, *more], self, devices=devices, limits=limits, ambient=ambient())


@pytest.fixture
def simulation() -> Simulation:
    return simulate(SHAPE, SWAP, seed=2)


def of(found: Gathered, device: str) -> dict[str, str]:
    """Collector to error of a device's readings."""
    return {reading.collector: reading.error for reading in found.readings if reading.device == device}


def test_it_is_sent_the_walk_and_hosts_are_not(simulation: Simulation) -> None:
    fleet = Fabric(simulation)
    found = timeless(fleet.gatherer(simulation, UFM).round())
    sent = {name: {text for asked, texts in fleet.asked if asked == name for text in texts} for name in fleet.asks}
    assert sent.pop("ufm-1") == {"ibnetdiscover"}
    assert len(sent) == 8
    assert not set().union(*sent.values()) & set(WALKS)
    assert of(found, "ufm-1") == {"ib_fabric": ""}


def test_no_other_platform_may_be_sent_the_walk_and_this_one_nothing_else() -> None:
    assert declared("infiniband") == (frozenset(WALKS), ())
    assert applicable(Role.HOST, "infiniband") == applicable(Role.LEAF, "infiniband") == {"ib_fabric": WALKS}
    for text in ("ip -j addr", "cat /etc/os-release", "ibnetdiscover -p", "ibnetdiscover -C mlx5_0", "perfquery -x"):
        with pytest.raises(UndeclaredCommandError, match="for infiniband"):
            refuse_undeclared(UFM, [text])
    for platform in ("", "linux", "cumulus", "snmp"):
        with pytest.raises(UndeclaredCommandError):
            refuse_undeclared(replace(UFM, platform=platform), ["ibnetdiscover"])


def test_it_is_reached_as_a_host_whatever_its_role_and_has_a_long_answer_and_time_for_it() -> None:
    assert [kind_of(replace(UFM, role=role)) for role in (None, Role.HOST, Role.LEAF)] == ["fabric"] * 3
    assert kind_of(replace(UFM, address=LOCAL)) == "local"
    assert (UFM.timeout_seconds, UFM.answer_seconds) == (10.0, 50.0)
    assert replace(UFM, timeout_seconds=90.0).answer_seconds == 90.0
    assert replace(UFM, platform="linux").answer_seconds == 10.0


def test_the_route_that_it_takes_sends_nothing_undeclared() -> None:
    async def asks() -> None:
        routes = Routes()
        try:
            await routes.ask(UFM, ["rdma link"])
        finally:
            await routes.close()

    with pytest.raises(UndeclaredCommandError):
        asyncio.run(asks())


def test_a_round_of_other_questions_leaves_it_alone(simulation: Simulation) -> None:
    fleet = Fabric(simulation)
    gatherer = fleet.gatherer(simulation, UFM)
    other = timeless(gatherer.round(collectors={"rdma_link", "nic_counters"}))
    asks = dict(fleet.asks)
    assert set(asks) == set(other.devices_seen) == {target.name for target in fleet.hosts}
    found = timeless(gatherer.round(collectors={"ib_fabric"}))
    assert fleet.asks == {**asks, "ufm-1": 1}
    assert of(found, "ufm-1") == {"ib_fabric": ""}


@pytest.mark.parametrize(
    ("trouble", "summary"), [("locked", "permission denied"), ("hangs", "no answer within 50 s"), ("half", "line ")]
)
def test_what_goes_wrong_with_it_is_one_unread_question(simulation: Simulation, trouble: str, summary: str) -> None:
    fleet = Fabric(simulation, {"ufm-1": trouble})
    limits = Limits(device_seconds=5.0, cancel_seconds=1.0)
    found = timeless(fleet.gatherer(simulation, UFM, limits=limits).round())
    assert list(of(found, "ufm-1")) == ["ib_fabric"]
    assert summary in of(found, "ufm-1")["ib_fabric"]


def test_the_end_of_a_round_that_it_waits_for_is_one_unread_question(simulation: Simulation) -> None:
    fleet = Fabric(simulation, {"gpu-001": "hangs"})
    limits = Limits(at_once=1, device_seconds=9.0, deadline_seconds=2.0, cancel_seconds=1.0)
    found = timeless(fleet.gatherer(simulation, UFM, limits=limits).round())
    assert list(of(found, "ufm-1")) == ["ib_fabric"]
    assert "deadline of 2 s" in of(found, "ufm-1")["ib_fabric"]


def test_a_tool_that_is_missing_is_reported_each_time(simulation: Simulation) -> None:
    """A host's optional tool that is missing is not; this machine is there for its tool."""
    fleet = Fabric(simulation)
    fleet.answers["ufm-1"] = {}
    gatherer = fleet.gatherer(simulation, UFM)
    for _ in range(2):
        assert "not found" in of(timeless(gatherer.round()), "ufm-1")["ib_fabric"]


def test_a_switch_that_the_plan_calls_infiniband_is_not_taken_for_it(simulation: Simulation) -> None:
    assert simulation.plan.devices["leaf-0"].platform == "infiniband"
    fleet = Fabric(simulation, {"leaf-0": "locked"})
    gatherer = fleet.gatherer(simulation, Target("leaf-0", "192.0.2.50"), replace(UFM, name="leaf-1"))
    assert gatherer.tellers == ("leaf-1",)
    found = timeless(gatherer.round())
    assert ("leaf-0", PROBES) in fleet.asked
    assert set(of(found, "leaf-0").values()) == {"permission denied for user truerail"}
    assert "ib_fabric" not in of(found, "leaf-0")
    assert "in the plan it is a leaf" in of(found, "leaf-1")["ib_fabric"]


def test_only_some_devices_are_asked_and_who_tells_their_fabric(
    simulation: Simulation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    site = Site(tmp_path, simulation, monkeypatch)
    fleet = site.fleet = Fabric(simulation)
    rows = [f"  - {{name: {t.name}, role: host, platform: linux}}" for t in fleet.hosts]
    site.inventory.write_text("\n".join(["devices:", *rows, "  - {name: ufm-1, platform: infiniband}", ""]))
    words = ("--inventory", site.inventory, "--plan", site.plan, "--only", "gpu-005", "--format", "json")
    code, out, _ = run("check", *words)
    assert code == 1
    assert set(fleet.asks) == {"gpu-005", "ufm-1"}
    assert [cause["kind"] for cause in json.loads(out)["causes"]] == ["cable-swap"]


def test_the_service_asks_it_every_five_minutes_and_with_whatever_is_rechecked(simulation: Simulation) -> None:
    assert intervals({})["ib_fabric"] == 300.0
    fleet = Fabric(simulation)

    async def body() -> None:
        work = Work((), {}, intervals({}), jitter_seconds=0.0)
        asking = PollScheduler(fleet.gatherer(simulation, UFM), work, heard=lambda: None)
        assert await asking.everything({"gpu-005"}) == 2
        assert set(fleet.asks) == {"gpu-005", "ufm-1"}
        assert asking.runs["ib_fabric"].devices_asked == asking.runs["ib_fabric"].devices_answered == 1
        await asking.stop()

    timeless(body())


def test_captures_made_by_hand_are_read_whatever_may_be_sent() -> None:
    files = {command.file for name in ("ib_fabric", "ib_counters") for command in collectors()[name].ask}
    assert {"ibnetdiscover_-p", "ibdiagnet2.db_csv", "iblinkinfo", "perfquery_-x", "ibqueryerrors"} <= files


def test_the_account_of_the_walk_may_be_another(simulation: Simulation) -> None:
    own = replace(UFM, name="gpu-001-fabric", address="192.0.2.1", ssh=SshAccess(user="truerail-fabric"))
    fleet = Fabric(simulation)
    fleet.answers[own.name] = fleet.answers["ufm-1"]
    found = timeless(fleet.gatherer(simulation, own).round())
    assert of(found, own.name) == {"ib_fabric": ""}
    assert "ib_fabric" not in of(found, "gpu-001")


def test_a_device_that_answers_nothing_is_not_said_to_tell_no_fabric(simulation: Simulation) -> None:
    """It has an error for every question that a capture could answer, the one for the fabric among them."""
    at = NOW.replace(microsecond=0)
    nothing = [Reading("spare-1", name, at, error="permission denied") for name in ("ib_fabric", "rdma_link")]
    teller = Reading("ufm-1", "ib_fabric", at, error="no login within 10 s")
    found = evaluate(Round(simulation.plan, Snapshot(at, [*nothing, teller]))).findings
    assert {finding.subject for finding in found if "did not report the InfiniBand fabric" in finding.summary} == {
        "ufm-1"
    }
