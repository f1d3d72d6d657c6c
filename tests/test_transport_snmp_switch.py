"""A switch of real daemons, walked: snmpd with lldpd as its AgentX sub-agent, ports that hear a host's rails."""

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from collector import collectors
from collector.formats.mib import SWITCH
from tests.patience import soon
from tests.real import give_up, require
from tests.snmpd import COMMUNITY, Relay, Snmpd, snmpd, switch
from truerail.errors import UnreadableError
from truerail.model import Device, Neighbor, NetLink, Role, Secret, SnmpAccess, Target
from truerail.transport.protocol import Answer
from truerail.transport.snmp_transport import SnmpTransport, subtrees

LEAF = Device("leaf-0", Role.LEAF)
PORTS = 4


@pytest.fixture(scope="module")
def leaf() -> Iterator[Snmpd]:
    require("snmpd", "lldpd", "lldpcli", "ip", "unshare", root=True)
    with TemporaryDirectory(prefix="truerail-switch-") as folder:
        Path(folder).chmod(0o755)  # lldpcli gives up root for its own user, who must reach the socket
        with ExitStack() as stack:
            try:
                running = stack.enter_context(switch(Path(folder), PORTS))
            except OSError as error:
                give_up(f"no switch of namespaces here: {error}")
            yield running


async def asked(leaf: Snmpd, engine: str) -> Answer:
    transport = SnmpTransport()
    async with Relay(leaf) as relay:
        access = SnmpAccess(community=Secret("env", "TRUERAIL_TEST_COMMUNITY"), port=relay.port, engine=engine)
        (answer,) = await transport.ask(Target("leaf-0", "127.0.0.1", snmp=access), (SWITCH.text,))
        await transport.close()
    return answer


@pytest.fixture(params=["gufo", "pysnmp"])
def answer(leaf: Snmpd, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Answer:
    monkeypatch.setenv("TRUERAIL_TEST_COMMUNITY", COMMUNITY)
    return asyncio.run(asked(leaf, request.param))


def test_the_neighbours_of_the_switch(answer: Answer) -> None:
    assert answer.error == ""
    seen = [fact for fact in collectors()["lldp_snmp"].read(answer.text, LEAF) if isinstance(fact, Neighbor)]
    assert {(one.port, one.system_name, one.port_id) for one in seen} == {
        (f"swp{number}", "gpu-1", f"rail{number - 1}") for number in range(1, PORTS + 1)
    }
    assert {one.chassis_id_type for one in seen} == {"mac"}


def test_the_ports_of_the_switch(answer: Answer) -> None:
    links = [fact for fact in collectors()["if_snmp"].read(answer.text, LEAF) if isinstance(fact, NetLink)]
    assert {(link.netdev, link.operstate, link.speed_gbps, link.mtu) for link in links if link.netdev != "lo"} == {
        (f"swp{number}", "UP", 10.0, 1500) for number in range(1, PORTS + 1)
    }
    assert all(link.mac for link in links if link.netdev != "lo")


def facts(text: str) -> list[object]:
    return [fact for name in ("lldp_snmp", "if_snmp") for fact in collectors()[name].read(text, LEAF)]


def theirs(leaf: Snmpd) -> str:
    """What `snmpbulkwalk -On` prints in the switch's namespace."""
    inside = ["ip", "netns", "exec", leaf.namespace, "snmpbulkwalk", "-v2c", "-c", COMMUNITY, "-On"]
    walks = [
        subprocess.run([*inside, f"127.0.0.1:{leaf.port}", oid], capture_output=True, text=True, timeout=60, check=True)
        for oid in subtrees(SWITCH.text)
    ]
    return "".join(walk.stdout for walk in walks)


@pytest.mark.parametrize("engine", ["gufo", "pysnmp"])
def test_net_snmps_own_walk_is_the_same(leaf: Snmpd, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts from net-snmp's walk are the facts from our own, once neighbours tell the same before it and after it: at
    first they have no address yet.
    """
    require("snmpbulkwalk")
    monkeypatch.setenv("TRUERAIL_TEST_COMMUNITY", COMMUNITY)
    walks: list[list[object]] = []

    def unchanged() -> bool:
        walks[:] = [facts(text) for text in (ours(), theirs(leaf), ours())]
        return walks[0] == walks[2]

    def ours() -> str:
        return asyncio.run(asked(leaf, engine)).text

    soon(unchanged, "two walks that tell the same")
    assert walks[0] == walks[1] != []


@pytest.mark.parametrize("engine", ["gufo", "pysnmp"])
def test_an_agent_without_lldp_is_not_a_switch_without_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """So answers a switch whose lldpd is dead: its ports are reported, its neighbours are unknown, not none."""
    require("snmpd")
    monkeypatch.setenv("TRUERAIL_TEST_COMMUNITY", COMMUNITY)
    with snmpd(tmp_path) as alone:
        answer = asyncio.run(asked(alone, engine))
    assert answer.error == ""
    assert any(isinstance(link, NetLink) for link in collectors()["if_snmp"].read(answer.text, LEAF))
    with pytest.raises(UnreadableError, match="no row of LLDP-MIB"):
        collectors()["lldp_snmp"].read(answer.text, LEAF)
