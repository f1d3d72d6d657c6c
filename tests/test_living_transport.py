"""The devices of a living fabric answer as real ones do: in time, each by its own tools, and some not at all."""

import asyncio
import json
from dataclasses import replace

import pytest

from tests.living_site import POD, Site
from truerail.analysis.round import Round
from truerail.errors import ConnectError, TransportError, UndeclaredCommandError
from truerail.model import CauseKind, Neighbor, Port, Reading, Target
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape
from truerail.simulator.live import Daemons
from truerail.simulator.live.living_world import UP_AGAIN_SECONDS
from truerail.simulator.platforms import switch_platforms
from truerail.transport.protocol import Answer

LLDP = "lldpctl -f json0"
TTL = 20.0


@pytest.fixture
def site() -> Site:
    """A fabric that is as planned, long since."""
    made = Site([Fault(CauseKind.LINK_DOWN)])
    made.director.fix(1)
    made.settle()
    return made


def target(site: Site, name: str) -> Target:
    return next(one for one in site.fabric.targets if one.name == name)


def ask(site: Site, name: str, *commands: str) -> list[Answer]:
    return asyncio.run(site.fabric.transport.ask(target(site, name), commands))


def heard(site: Site, port: Port) -> list[tuple[str, float | None]]:
    """Who is heard on a port, and for how long, as its own device's answer is read."""
    facts = (fact for reading in _lldp(site, port.device) for fact in reading.facts)
    return [
        (f"{fact.system_name}/{fact.port_description}", fact.age_seconds)
        for fact in facts
        if isinstance(fact, Neighbor) and fact.port == port.name
    ]


def _lldp(site: Site, device: str) -> list[Reading]:
    row = asyncio.run(site.gatherer.round(only={device})).rows[0]
    return [reading for reading in row.readings if reading.collector.startswith("lldp")]


def swap(site: Site) -> tuple[Port, Port, Port]:
    """Swaps two cables of one host: a host port, where it belongs, where it is now."""
    port = site.director.plant(Fault(CauseKind.CABLE_SWAP, "one-host")).cause.cables[0]
    planned = site.fabric.plan.peer_of(port)
    assert planned
    return port, planned, site.fabric.living.world.far[port]


def test_everything_is_asked_in_one_ask_and_understood(site: Site) -> None:
    gathered = site.round()
    assert not gathered.unreached
    assert [reading.error for reading in gathered.readings if reading.error] == []
    assert {row.platform for row in gathered.rows} == {"linux", "cumulus"}


@pytest.mark.parametrize("platform", switch_platforms())
def test_switches_of_every_platform_are_understood_and_asked_for_it_where_nobody_says(platform: str) -> None:
    site = Site([Fault(CauseKind.LINK_DOWN)], shape=replace(POD, platforms=(platform,)))
    evaluation = site.evaluated()
    assert [reading.error for reading in evaluation.collection_errors] == []
    assert [cause.kind for cause in evaluation.causes] == [CauseKind.LINK_DOWN]
    if platform != "snmp":
        unknown = replace(target(site, "leaf-0"), platform="")
        answers = asyncio.run(site.fabric.transport.ask(unknown, ["show version", "cat /etc/os-release"]))
        assert any(not answer.error for answer in answers)


def test_a_command_that_the_device_does_not_know_is_refused(site: Site) -> None:
    answer, good = ask(site, "gpu-001", "networkctl lldp --full", LLDP)
    assert (answer.text, answer.refused, answer.error) == ("", True, "exit status 127: networkctl: not found")
    assert json.loads(good.text)["lldp"]
    assert good.took_seconds > 0
    eos = Site([Fault(CauseKind.LINK_DOWN)], shape=Shape(hosts=4, rails=4, spines=0, platforms=("eos",)))
    (refused,) = ask(eos, "leaf-0", "show lldp neighbors detail")
    assert (refused.error, refused.refused) == ("% Invalid input", True)


def test_a_command_that_no_collector_declares_is_not_sent(site: Site) -> None:
    with pytest.raises(UndeclaredCommandError, match="reboot"):
        ask(site, "gpu-001", "reboot")
    assert site.slept == []


def test_a_machine_without_power_and_one_that_is_not_there_refuse_the_connection(site: Site) -> None:
    off = site.director.plant(Fault(CauseKind.UNREACHABLE, "off")).cause.subjects[0]
    with pytest.raises(ConnectError, match="no route to host"):
        ask(site, off, LLDP)
    stranger = replace(target(site, off), name="gpu-999")
    with pytest.raises(ConnectError, match="no route to host"):
        asyncio.run(site.fabric.transport.ask(stranger, [LLDP]))


def test_a_hung_machine_takes_its_time_and_costs_itself_alone(site: Site) -> None:
    hung = site.director.plant(Fault(CauseKind.UNREACHABLE, "hung")).cause.subjects[0]
    with pytest.raises(TransportError, match="no login within 3 s"):
        ask(site, hung, LLDP)
    assert site.slept[-1] == target(site, hung).timeout_seconds
    site.settle()
    gathered = site.round()
    assert [row.name for row in gathered.unreached] == [hung]
    evaluation = evaluate(Round(site.fabric.plan, gathered.snapshot()))
    assert {finding.device for finding in evaluation.findings} == {hung}


def test_ages_grow_with_time(site: Site) -> None:
    port = Port("gpu-001", site.fabric.living.world.fabric.models["gpu-001"].names[0].netdev)
    ((name, age),) = heard(site, port)
    site.wait(100)
    ((same, later),) = heard(site, port)
    assert name == same
    assert age is not None
    assert later == age + 100


def test_a_swapped_cable_shows_both_neighbours_until_the_old_one_expires(site: Site) -> None:
    port, planned, now = swap(site)
    assert [name for name, _ in heard(site, port)] == [str(planned)]
    site.wait(5)
    seen = heard(site, port)
    assert [name for name, _ in seen] == [str(now), str(planned)]
    assert seen[0][1] is not None
    assert seen[0][1] <= 5
    site.wait(TTL - 5)
    assert [name for name, _ in heard(site, port)] == [str(now)]


def test_a_cable_put_back_in_time_has_its_old_age(site: Site) -> None:
    port, planned, now = swap(site)
    site.wait(6)
    (_, old) = heard(site, port)[1]
    site.director.fix(port.device)
    site.wait(6)
    assert old is not None
    assert heard(site, port) == [(str(planned), old + 6), (str(now), heard(site, port)[1][1])]
    site.wait(TTL)
    assert heard(site, port) == [(str(planned), old + 6 + TTL)]


def test_a_lost_link_is_forgotten_at_once_and_heard_again_a_second_after_it_is_back(site: Site) -> None:
    port = site.director.plant(Fault(CauseKind.LINK_DOWN, "host")).cause.cables[0]
    assert heard(site, port) == []
    (links,) = ask(site, port.device, "ip -j -d link")
    (state,) = [one["operstate"] for one in json.loads(links.text) if one["ifname"] == port.name]
    assert state == "DOWN"
    site.director.fix(str(port))
    assert heard(site, port) == []
    site.wait(UP_AGAIN_SECONDS)
    assert [age for _, age in heard(site, port)] == [0]


def test_neighbours_of_a_hung_machine_expire_those_of_one_without_power_are_gone(site: Site) -> None:
    for variant, left in (("hung", 1), ("off", 0)):
        cable = site.director.plant(Fault(CauseKind.UNREACHABLE, variant)).cause.cables[0]
        leaf = site.fabric.living.world.far[cable]
        assert len(heard(site, leaf)) == left
        site.wait(TTL)
        assert heard(site, leaf) == []
        site.director.fix(cable.device)
        site.wait(5)
        assert [name for name, _ in heard(site, leaf)] == [str(cable)]


def test_answers_are_made_once_until_the_world_around_a_device_changes(site: Site) -> None:
    (first,), (again,) = ask(site, "gpu-001", "ip -j -d link"), ask(site, "gpu-001", "ip -j -d link")
    assert first.text is again.text
    port = site.director.plant(Fault(CauseKind.LINK_DOWN, "host")).cause.cables[0]
    (other,) = ask(site, "gpu-001" if port.device != "gpu-001" else "gpu-002", "ip -j -d link")
    (changed,) = ask(site, port.device, "ip -j -d link")
    assert "NO-CARRIER" in changed.text
    assert "NO-CARRIER" not in other.text


def test_daemons_keep_a_frame_for_as_many_intervals_as_they_are_reported() -> None:
    assert Daemons().ttl_seconds == 120
    assert Daemons(tx_seconds=5, hold=4).ttl_seconds == TTL
