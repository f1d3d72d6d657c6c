"""Counters printed as each platform does are read back by the real collectors to what the fast path gives."""

from collections.abc import Iterable
from json import dumps
from typing import Any

import pytest

from collector import collectors
from tests.each import each
from truerail.analysis.counters import Quantity, columns_of
from truerail.model import Fact, PortCounters, Role
from truerail.model.names import port_key
from truerail.simulator import Shape, simulate
from truerail.simulator.fabric.ether import Ether
from truerail.simulator.platforms import platforms
from truerail.simulator.traffic import FlowFault, FlowFaultKind, FlowSimulation, Polls, flows
from truerail.simulator.traffic.ledger import CounterTable, sheet_of

Reported = dict[tuple[str, Quantity, int | None], int]
PFC = {(Quantity.RX_PAUSE_FRAMES, 3), (Quantity.TX_PAUSE_FRAMES, 3)}
TIMES = {(Quantity.RX_PAUSE_US, 3), (Quantity.RX_PAUSE_TRANSITIONS, 3)}
BYTES = {(Quantity.TX_BYTES, None), (Quantity.RX_BYTES, None), (Quantity.TX_PACKETS, None), (Quantity.RX_PACKETS, None)}
PACKETS = {(Quantity.TX_PACKETS, None), (Quantity.RX_PACKETS, None)}
ECN = {(Quantity.ECN_MARKED_PACKETS, 3)}
QUEUE = ECN | {(Quantity.QUEUE_PACKETS, 3), (Quantity.QUEUE_BYTES, 3), (Quantity.QUEUE_DROPS, 3)}


def stormy(platform: str) -> FlowSimulation:
    site = simulate(Shape(hosts=8, rails=4, spines=2, uplinks=4, platforms=(platform,)), seed=1)
    made = flows(site, None, [FlowFault(FlowFaultKind.STORM), FlowFault(FlowFaultKind.INCAST)], polls=Polls(jitter=0.0))
    for _ in range(2):
        made.step(10.0)
    return made


def by_quantity(facts: Iterable[Fact]) -> Reported:
    """Port, as names are compared, quantity and priority to value, of everything that a rule uses."""
    found: Reported = {}
    for fact in facts:
        assert isinstance(fact, PortCounters)
        for column, value in zip(columns_of(fact.counters), fact.values, strict=True):
            if column is not None:
                found[port_key(fact.port), column.quantity, column.priority] = value // column.divisor
    return found


def fast(made: FlowSimulation, machine: str) -> Reported:
    readings = [reading for reading in made.readings() if reading.device == machine]
    found: Reported = {}
    for reading in readings:
        found |= by_quantity(reading.facts)
    return found


def compare(made: FlowSimulation, machine: str, collector: str, text: str) -> set[tuple[Quantity, int | None]]:
    """The quantities that the printed answer tells, every value of which is that of the fast path."""
    device = made.world.fabric.plan.devices[machine]
    read = by_quantity(collectors()[collector].read(text, device))
    known = fast(made, machine)
    ports = {port for port, _, _ in read}
    assert read
    reported = {(quantity, priority) for _, quantity, priority in known}
    assert all(known.get(key, 0) == value for key, value in read.items())  # of other priorities nothing was counted
    assert {key[1] for key, value in read.items() if value} <= {quantity for quantity, _ in reported}
    if collector == "rdma_counters":
        assert ports == {port_key(f"{device}/1") for device in sheet_of(made.net, made.ledger, machine, 0.0, 3).rdma}
    return {key[1:] for key in read}


@each(
    "platform, command, collector, tells",
    [
        ("cumulus", "ethtool -S", "port_counters", BYTES | {(Quantity.LINK_DOWNS, None)}),
        ("cumulus", "ethtool -S", "pfc_counters", PFC),
        ("cumulus", "nv show interface -o json", "port_counters", BYTES | {(Quantity.LINK_DOWNS, None)}),
        ("sonic", "sonic-db-dump", "port_counters", BYTES | {(Quantity.FEC_UNCORRECTED, None)}),
        ("sonic", "sonic-db-dump", "pfc_counters", PFC | TIMES | {(Quantity.TX_PAUSE_US, 3)}),
        ("sonic", "show interfaces counters -j", "port_counters", PACKETS),
        ("sonic", "show pfc counters", "pfc_counters", PFC),
        ("sonic", "show queue counters", "queue_counters", QUEUE),
        ("sonic", "show pfcwd stats -e", "pfc_watchdog", {(Quantity.WATCHDOG_STORMS, 3)}),
        ("eos", "show interfaces counters | json", "port_counters", BYTES),
        ("eos", "show interfaces | json", "port_counters", BYTES | {(Quantity.LINK_DOWNS, None)}),
        ("eos", "show priority-flow-control counters detail | json", "pfc_counters", PFC),
        ("eos", "show qos interfaces ecn counters queue | json", "queue_counters", ECN),
        ("nxos", "show interface counters | json", "port_counters", BYTES),
        ("nxos", "show interface priority-flow-control detail", "pfc_counters", PFC),
        ("nxos", "show queuing interface | json", "queue_counters", QUEUE),
        ("junos", "show interfaces extensive | display json", "port_counters", BYTES | {(Quantity.LINK_DOWNS, None)}),
        ("junos", "show interfaces extensive | display json", "pfc_counters", PFC),
        ("junos", "show interfaces extensive | display json", "queue_counters", QUEUE - ECN),
    ],
)
def test_switches(platform: str, command: str, collector: str, tells: set[tuple[Quantity, int | None]]) -> None:
    made = stormy(platform)
    asked = platforms()[platform].counters
    text = asked.get(command) or next(asked[known] for known in asked if command in known)
    for machine in ("leaf-0", "leaf-2", "spine-1"):
        assert made.world.fabric.plan.role_of(machine) in (Role.LEAF, Role.SPINE)
        printed = text(sheet_of(made.net, made.ledger, machine, 0.0, 3))
        assert compare(made, machine, collector, printed) >= tells


@pytest.mark.parametrize(
    ("platform", "command", "tells"),
    [
        ("srlinux", "info from state interface * | as json", BYTES),
        ("iosxr", "show interfaces", BYTES),
        ("os10", "show interface", BYTES),
        ("aoscx", "show interface", BYTES),
    ],
)
def test_switches_that_print_state_and_counters_together(
    platform: str, command: str, tells: set[tuple[Quantity, int | None]]
) -> None:
    made = stormy(platform)
    printed = platforms()[platform].ports[command](
        Ether(made.world), "leaf-0", sheet_of(made.net, made.ledger, "leaf-0", 0.0, 3)
    )
    assert compare(made, "leaf-0", "port_counters", printed) >= tells
    states = collectors()["port_state"].read(printed, made.world.fabric.plan.devices["leaf-0"])
    assert len(states) == len(made.world.fabric.ports["leaf-0"])


@pytest.mark.parametrize(("command", "collector"), [("ethtool -S", "nic_counters"), ("hw_counters", "rdma_counters")])
def test_hosts(command: str, collector: str) -> None:
    made = stormy("cumulus")
    asked = platforms()["linux"].counters
    text = asked.get(command) or next(asked[known] for known in asked if command in known)
    for machine in made.net.devices[: made.net.hosts]:
        printed = text(sheet_of(made.net, made.ledger, machine, 0.0, 3))
        wanted = PFC | TIMES | BYTES if collector == "nic_counters" else {(Quantity.CNP_SENT, None)}
        assert compare(made, machine, collector, printed) >= wanted


def qos_json(sheet: CounterTable, port: str) -> str:
    """`nv show interface swp1 counters qos -o json`."""
    at = sheet.ports.index(port)
    frames = {
        "rx-pause-frames": Quantity.RX_PAUSE_FRAMES,
        "tx-pause-frames": Quantity.TX_PAUSE_FRAMES,
        "rx-pause-duration": Quantity.RX_PAUSE_US,
        "tx-pause-duration": Quantity.TX_PAUSE_US,
    }
    queue = {
        "ecn-marked-frames": Quantity.ECN_MARKED_PACKETS,
        "tx-frames": Quantity.TX_PACKETS,
        "tx-bytes": Quantity.TX_BYTES,
        "tx-uc-buffer-discards": Quantity.QUEUE_DROPS,
    }
    groups: dict[str, Any] = {
        group: {str(sheet.priority): {name: sheet.of(quantity, rdma=True)[at] for name, quantity in names.items()}}
        for group, names in (("egress-queue-stats", queue), ("pfc-stats", frames))
    }
    return dumps(groups, indent=2) + "\n"


def test_nvue_tells_the_queues_of_one_port() -> None:
    made = stormy("cumulus")
    text = "# nv show interface swp3 counters qos -o json\n"
    text += qos_json(sheet_of(made.net, made.ledger, "leaf-1", 0.0, 3), "swp3")
    assert compare(made, "leaf-1", "pfc_counters", text) >= PFC
    assert compare(made, "leaf-1", "queue_counters", text) >= QUEUE


@pytest.mark.parametrize("platform", ["cumulus", "sonic", "eos", "nxos", "junos"])
def test_every_collector_of_counters_that_asks_a_platform_has_an_answer(platform: str) -> None:
    for name in ("port_counters", "pfc_counters"):
        asked = [one.text for one in collectors()[name].ask if not one.platforms or platform in one.platforms]
        assert platforms()[platform].counters.keys() & set(asked), name
    assert platforms()["snmp"].counters == {}
