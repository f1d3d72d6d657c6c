"""The traffic of a living fabric: its devices tell what they count, troubles break out and end, as the story says."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from tests.living_site import NEVER, POD, Site
from truerail.analysis.counters import Quantity, Window
from truerail.errors import NoRoomError
from truerail.model import CauseKind, Port, PortCounters, Reading
from truerail.simulator import Fault, Shape
from truerail.simulator.live import Pace
from truerail.simulator.traffic import FlowFault, FlowFaultKind

Q, K = Quantity, FlowFaultKind
SMALL = Shape(hosts=8, rails=4, spines=2, uplinks=4)
COUNTED = ("nic_counters", "rdma_counters", "port_counters", "pfc_counters")


def watched(site: Site, rounds: int = 6, window: Window | None = None) -> Window:
    """What a service has of the counters after some rounds."""
    window = window or Window()
    for _ in range(rounds):
        site.wait(10.0)
        window.put(counted(site))
    return window


def counted(site: Site) -> list[Reading]:
    return list(site.round(COUNTED).readings)


def rate(window: Window, collector: str, port: str, quantity: Quantity, priority: int | None = None) -> float:
    """Counted per second in the last sample."""
    source = window.sources[collector]
    device, _, name = port.partition("/")
    row = source.ports.index((device, name))
    at = window.order[-1]
    return float(source.series[quantity, priority].gained[at][row] / source.span[at][row])


def quiet(shape: Shape = SMALL) -> Site:
    site = Site([Fault(CauseKind.LINK_DOWN)], shape=shape)
    site.director.fix(1)
    site.settle()
    return site


def test_hosts_and_switches_tell_what_they_count_and_agree() -> None:
    site = quiet()
    window = watched(site)
    assert not [reading for reading in counted(site) if reading.error]
    plan = site.fabric.plan
    cables = [cable for cable in plan.cables if cable.rail is not None]
    sent = np.array([rate(window, "nic_counters", str(cable.a), Q.TX_BYTES) for cable in cables])
    heard = np.array([rate(window, "port_counters", str(cable.b), Q.RX_BYTES) for cable in cables])
    assert sent.max() > 1e10
    assert heard == pytest.approx(sent, rel=0.3, abs=1e4)


def test_what_is_asked_at_one_moment_is_the_same_however_often() -> None:
    site = quiet()
    site.wait(33.0)
    reported = [[r.facts for r in counted(site) if r.collector == "nic_counters"] for _ in range(2)]
    assert reported[0] == reported[1]
    site.wait(0.5)
    later = [r.facts for r in counted(site) if r.collector == "nic_counters"]
    values = [next(_values(facts)) for facts in (reported[0][0], later[0])]
    assert values[1][9] > values[0][9]  # bits on the wire go on all the time


def _values(facts: tuple[object, ...]) -> Iterator[tuple[int, ...]]:
    yield from (fact.values for fact in facts if isinstance(fact, PortCounters))


def test_a_storm_breaks_out_and_ends() -> None:
    site = quiet()
    trouble = site.director.disturb(FlowFault(K.STORM))
    nic = trouble.cause.subjects[0]
    leaf = str(site.fabric.living.world.far[_jack(site, nic)])
    window = watched(site)
    assert rate(window, "nic_counters", nic, Q.TX_PAUSE_US, 3) > 9e5
    assert rate(window, "pfc_counters", leaf, Q.RX_PAUSE_FRAMES, 3) > 1e3
    assert "a PFC storm broke out" in site.director.log[-1].summary
    assert nic in site.director.log[-1].summary
    assert site.director.standing == (trouble,)
    assert site.director.fix(nic) is trouble
    assert site.director.log[-1].summary == f"the operator ended storm of {nic}"
    window = watched(site, window=window)
    assert rate(window, "nic_counters", nic, Q.TX_PAUSE_US, 3) == 0
    assert rate(window, "port_counters", leaf, Q.TX_BYTES) > 1e9


def _jack(site: Site, name: str) -> Port:
    return next(cable.a for cable in site.fabric.plan.cables if str(cable.a) == name)


def test_a_link_at_half_speed_and_a_slow_host_show_in_their_own_counters() -> None:
    site = quiet()
    slow = site.director.disturb(FlowFault(K.SLOW_RECEIVER, variant="pcie")).cause.subjects[0]
    site.director.disturb(FlowFault(K.HALF_SPEED, variant="host"))
    window = watched(site)
    assert rate(window, "nic_counters", slow, Q.PCI_STALLED_EVENTS) == pytest.approx(1.0, rel=0.1)
    assert 5e4 < rate(window, "nic_counters", slow, Q.TX_PAUSE_US, 3) < 9e5
    summary = [entry.summary for entry in site.director.log[-2:]]
    assert summary[0].endswith("its PCIe stalls")
    assert "half its speed" in summary[1]


def test_a_swapped_cable_sends_its_traffic_over_the_spines() -> None:
    site = quiet(POD)
    before = _spine_bytes(site, watched(site))
    site.director.plant(Fault(CauseKind.CABLE_SWAP, "one-host"))
    assert _spine_bytes(site, watched(site)) > before + 2e10


def _spine_bytes(site: Site, window: Window) -> float:
    cables = [cable for cable in site.fabric.plan.cables if cable.rail is None]
    return sum(rate(window, "port_counters", str(cable.a), Q.TX_BYTES) for cable in cables)


def test_the_script_brings_troubles_one_at_a_time_and_ends_them() -> None:
    pace = Pace(NEVER.fault_seconds, NEVER.repair_seconds, (60.0, 90.0), (30.0, 60.0))
    site = Site([Fault(CauseKind.LINK_DOWN)], shape=SMALL, pace=pace)
    most = 0
    for _ in range(200):
        site.wait(10.0)
        most = max(most, len(site.director.standing) - 1)
    assert most == 1
    kinds = [entry.standing.kind for entry in site.director.log]
    assert kinds[0] is K.STORM
    assert {K.STORM, K.SLOW_RECEIVER, K.HALF_SPEED} <= set(kinds)
    assert [entry.repaired for entry in site.director.log][:6] == [False, True, False, True, False, True]
    places = {entry.standing.cause.subjects for entry in site.director.log}
    assert len(places) > 4
    numbers = [entry.standing.number for entry in site.director.log if not entry.repaired]
    assert numbers == sorted(set(numbers))


def test_a_trouble_without_room_leaves_everything_as_it_was() -> None:
    site = Site([Fault(CauseKind.LINK_DOWN)], shape=Shape(hosts=4, rails=2, spines=0))
    with pytest.raises(NoRoomError, match="uplinks"):
        site.director.disturb(FlowFault(K.POLARIZATION))
    assert len(site.director.standing) == 1


@pytest.mark.parametrize("platform", ["cumulus", "sonic", "eos", "nxos", "junos", "snmp"])
def test_switches_of_every_platform_tell_who_is_paused(platform: str) -> None:
    site = Site([Fault(CauseKind.LINK_DOWN)], shape=replace(SMALL, platforms=(platform,)))
    nic = site.director.disturb(FlowFault(K.STORM)).cause.subjects[0]
    leaf = site.fabric.living.world.far[_jack(site, nic)]
    window = Window()
    for _ in range(4):
        site.wait(10.0)
        window.put(site.round((*COUNTED, "if_counters_snmp", "pfc_snmp")).readings)
    traffic, pauses = ("if_counters_snmp", "pfc_snmp") if platform == "snmp" else ("port_counters", "pfc_counters")
    assert rate(window, pauses, str(leaf), Q.RX_PAUSE_FRAMES, 3) > 1e3
    assert rate(window, traffic, str(leaf), Q.TX_BYTES) < 1e4
    assert max(rate(window, traffic, str(cable.b), Q.TX_BYTES) for cable in site.fabric.plan.host_cables) > 1e9
