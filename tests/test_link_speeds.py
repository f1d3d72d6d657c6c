"""Link speeds from every kind of switch: what each format means, what it must never be read as, and the evaluation of
a simulated fabric.

What the formats look like is in `recordings/link_speed` and `recordings/port_state`, shortened by hand from public
recordings: EOS and NX-OS tables from ntc-templates and genieparser, NX-OS JSON from napalm, SONiC from the tests of
sonic-utilities and of Cisco's and Edgecore's tools, Junos from suzieq (JSON) and Juniper's ACX articles (text), EOS
JSON and NVUE from answers quoted in public scripts.
"""

import json
from typing import Any

import pytest

from collector import collectors
from collector.formats.port_words import gbps
from rules import rules
from tests.each import each
from tests.living_site import Site
from truerail.analysis.round import Round
from truerail.analysis.rule import Case, InsufficientDataError
from truerail.errors import UnreadableError
from truerail.model import CauseKind, Device, LinkSpeed, NetLink, Role
from truerail.poller.questions import applicable
from truerail.rounds import evaluate
from truerail.simulator import Fault, Noise, Shape, Simulation, simulate
from truerail.simulator.platforms import switch_platforms
from truerail.simulator.traffic import FlowFault, FlowFaultKind
from truerail.testing.cases import scene

LEAF = Device("leaf-0", Role.LEAF)
EOS = "Port       Name                   Status       Vlan        Duplex  Speed Type\n"
SONIC = (
    "  Interface  Lanes      Speed    MTU    Alias    Vlan    Oper    Admin    Type    Oper Speed\n"
    "-----------  -------  -------  -----  -------  ------  ------  -------  ------  ------------\n"
)


def speeds(answer: str) -> dict[str, float]:
    facts = collectors()["link_speed"].read(answer, LEAF)
    return {fact.port: fact.gbps for fact in facts if isinstance(fact, LinkSpeed)}


def states(answer: str) -> dict[str, tuple[str | None, tuple[str, ...]]]:
    facts = collectors()["port_state"].read(answer, LEAF)
    return {fact.netdev: (fact.operstate, fact.flags) for fact in facts if isinstance(fact, NetLink)}


@each(
    "word, speed",
    [
        ("400G", 400.0), ("a-100G", 100.0), ("400G-8", 400.0), ("2.5G", 2.5), ("1.6T", 1600.0), ("400Gbps", 400.0),
        ("400gbps", 400.0), ("800mbps", 0.8), ("10 Gb/s", 10.0), ("100Mb/s", 0.1), ("100000", 100.0), ("a-1000", 1.0),
        (" 400G ", 400.0), ("auto", None), ("unconf", None), ("Unlimited", None), ("N/A", None), ("--", None),
        ("0", None), ("0G", None), ("auto-speed", None), ("400X", None), ("-400G", None), ("4000000000000", None),
        ("", None), ("400G 400G", None), (None, None), ("\u0664\u0660\u0660G", None),
    ],
)  # fmt: skip
def test_words_for_speeds(word: Any, speed: float | None) -> None:
    assert gbps(word) == speed


@pytest.mark.parametrize(
    "row",
    [
        "Et1   connected trunk full 100G  notconnect trunk full 400G 400GBASE-DR4",
        "Et1   connected 1 full 100G      disabled   1 unknown unknown N/A",
        "Et1                              connected  trunk",
        "Et1                              connected  trunk full",
        "Et1                              connected  trunk full auto 400GBASE-DR4",
        "Et1                              suspended  trunk full 400G 400GBASE-DR4",
        "Et1 in Po4 full 400G",
        "Et1 full 400G",
        f"Et1 {'x' * 2000} connected trunk full 400G 400GBASE-DR4",
    ],
)
def test_a_row_that_does_not_say_that_the_link_is_up_tells_no_speed(row: str) -> None:
    assert speeds(f"{EOS}{row}\nEt9  connected trunk full 10G 10GBASE-SR\n") == {"Et9": 10.0}


def test_a_description_that_looks_like_a_row_is_none() -> None:
    row = "Et1        connected trunk full 100G connected  trunk       full    400G  400GBASE-DR4\n"
    assert speeds(EOS + row) == {"Et1": 400.0}


def test_a_last_row_that_is_cut_inside_its_speed_is_left_out() -> None:
    rows = "Et1  connected trunk full 400G 400GBASE-DR4\nEt2  connected trunk full 400G"
    assert speeds(EOS + rows) == {"Et1": 400.0}
    assert speeds(EOS + rows + "\n") == {"Et1": 400.0, "Et2": 400.0}
    assert speeds(EOS + rows + " 400GBASE") == {"Et1": 400.0, "Et2": 400.0}


def test_sonic_tells_the_running_speed_where_it_has_a_column_for_it() -> None:
    rows = (
        "  Ethernet0  0,1         400G   9100     etp1  routed      up       up     N/A          200G\n"
        "  Ethernet4  2,3         400G    N/A     etp2  routed      up       up     N/A           N/A\n"
        "  Ethernet8  4,5         400G   9100     etp3  routed      up       up\n"
        " Ethernet12  6,7         400G   9100     etp4  routed      up\n"
        " Ethernet16  8,9         400G   9100     etp5  routed    down       up     N/A          400G\n"
        " Ethernet20  1,2         400G   9100     etp6  routed      up       up     N/A          20"
    )
    assert speeds(SONIC + rows) == {"Ethernet0": 200.0, "Ethernet4": 400.0, "Ethernet8": 400.0}


def test_a_sonic_ports_mtu_comes_with_its_state() -> None:
    row = "  Ethernet0  0,1         400G   9100     etp1  routed    down       up     N/A          400G\n"
    (link,) = collectors()["port_state"].read(SONIC + row, LEAF)
    assert link == NetLink(
        "Ethernet0", mtu=9100, operstate="DOWN", flags=("NO-CARRIER", "UP"), aliases=("etp1",), down_reason="no module"
    )


def test_prose_that_is_cut_inside_a_speed_tells_none() -> None:
    text = (
        "Ethernet1 is up, line protocol is up (connected)\n  Full-duplex, 400Gb/s\nEthernet2 is up\n  Full-duplex, 40"
    )
    assert speeds(text) == {"Ethernet1": 400.0}
    assert speeds(text + "\n") == {"Ethernet1": 400.0, "Ethernet2": 0.04}
    assert speeds(text + "Gb/s, auto") == {"Ethernet1": 400.0, "Ethernet2": 40.0}


def test_prose_tells_who_is_switched_off() -> None:
    text = (
        "  Full-duplex, 9Gb/s\n"
        "Ethernet1 is administratively down, line protocol is notpresent (disabled)\n"
        "Ethernet1/2 is down (Administratively down)\n"
        "Ethernet1/3 is down (Link not connected)\n"
        "Physical interface: et-0/0/0 , Administratively down, Physical link is Down\n"
        "Physical interface: et-0/0/1, Enabled, Physical link is Up\n"
    )
    off, down = ("DOWN", ("NO-CARRIER",)), ("DOWN", ("NO-CARRIER", "UP"))
    up = ("UP", ("UP", "LOWER_UP"))
    assert states(text) == {
        "Ethernet1": off, "Ethernet1/2": off, "Ethernet1/3": down, "et-0/0/0": off, "et-0/0/1": up
    }  # fmt: skip


def test_a_state_that_says_nothing_of_light_is_not_reported() -> None:
    rows = {
        "Ethernet1": {"linkStatus": "inactive", "bandwidth": 400000000000},
        "Ethernet2": {"interfaceStatus": "connected", "bandwidth": 400000000000},
        "Ethernet3": {"linkStatus": "connected"},
    }
    answer = json.dumps({"interfaceStatuses": rows})
    assert states(answer).keys() == {"Ethernet2", "Ethernet3"}
    assert speeds(answer) == {"Ethernet2": 400.0}


@pytest.mark.parametrize("bits", [1215752192, 568041472, 2431504384, 0, -400000000000, 4e11, True, "400G", None])
def test_a_bandwidth_that_lost_its_high_bits_is_not_believed(bits: object) -> None:
    ports = {"Ethernet1": {"linkStatus": "connected", "bandwidth": bits}}
    ports["Ethernet2"] = {"linkStatus": "connected", "bandwidth": 200000000000}
    assert speeds(json.dumps({"interfaceStatuses": ports})) == {"Ethernet2": 200.0}


def test_nxos_prints_one_port_as_an_object_and_the_configured_bandwidth_is_not_read() -> None:
    row = {"interface": "Ethernet1/1", "state": "up", "admin_state": "up", "eth_bw": 1000000, "eth_speed": "400 Gb/s"}
    assert speeds(json.dumps({"TABLE_interface": {"ROW_interface": row}})) == {"Ethernet1/1": 400.0}


@pytest.mark.parametrize(
    ("link", "state"),
    [
        ({"state": {"up": {}}}, ("UP", ("UP", "LOWER_UP"))),
        ({"state": "down"}, ("DOWN", ())),
        ({"oper-status": "down", "admin-status": "down", "state": "up"}, ("DOWN", ("NO-CARRIER",))),
        ({"state": {}}, None),
        ({"speed": "400G"}, None),
    ],
)
def test_nvue_states(link: dict[str, Any], state: object) -> None:
    answer = json.dumps(
        {"lo": {"type": "loopback"}, "swp1": {"link": {**link, "mtu": "?"}}, "swp2": {"link": {"oper-status": "up"}}}
    )
    assert states(answer).get("swp1") == state
    assert states(answer)["swp2"] == ("UP", ("UP", "LOWER_UP"))


@pytest.mark.parametrize(
    "answer",
    [
        '[{"a": 1}, {"b": 2}]',
        '{"interfaceStatuses": {"Ethernet1": 5}}',
        '{"a": {"link": 1}}',
        '{"lldp": {"interface": {}}}',
        EOS,
        "x\n",
    ],
)
def test_what_is_no_answer_about_ports_is_refused(answer: str) -> None:
    for name in ("link_speed", "port_state"):
        with pytest.raises(UnreadableError):
            collectors()[name].read(answer, LEAF)


@pytest.mark.parametrize("platform", [platform for platform in switch_platforms() if platform != "snmp"])
def test_every_platform_is_asked_for_speeds_and_states_in_one_command(platform: str) -> None:
    asked = applicable(Role.LEAF, platform)
    assert "link_speed" in asked
    if platform != "cumulus":  # a Linux, whose interfaces `ip link` lists
        assert asked["link_speed"][0] == asked["port_state"][0]


def _evaluated(simulation: Simulation) -> tuple[str, list[str]]:
    evaluation = evaluate(Round(simulation.plan, simulation.snapshot()))
    assert not evaluation.collection_errors
    status = next(str(verdict.status) for verdict in evaluation.verdicts if verdict.rule == "LNK001")
    return status, [finding.subject for finding in evaluation.findings if finding.rule == "LNK001"]


def _shape(platform: str) -> Shape:
    return Shape(hosts=4, rails=4, spines=2, uplinks=4, platforms=(platform,))


@each("mixed", [False, True])
@each("variant", ["host", "uplink"])
@pytest.mark.parametrize("platform", switch_platforms())
def test_a_simulated_link_at_half_speed_is_found_whoever_tells_it(platform: str, variant: str, mixed: bool) -> None:
    noise = Noise(mixed=mixed, labels=True)
    slow = simulate(_shape(platform), [Fault(CauseKind.DEGRADED_LINK, variant)], noise=noise)
    assert _evaluated(slow) == ("fail", list(slow.truth.causes[0].subjects))


@each("mixed", [False, True])
@pytest.mark.parametrize("platform", switch_platforms())
def test_simulated_links_at_full_speed_pass(platform: str, mixed: bool) -> None:
    assert _evaluated(simulate(_shape(platform), noise=Noise(mixed=mixed, labels=True))) == ("pass", [])


def test_of_a_host_that_nobody_could_read_its_switch_tells() -> None:
    slow = simulate(Shape(hosts=8, rails=4, platforms=("eos",)), [Fault(CauseKind.DEGRADED_LINK, "host")])
    slow.world.absent.update(slow.world.fabric.models)
    assert _evaluated(slow) == ("fail", list(slow.truth.causes[0].subjects))


@pytest.mark.parametrize("platform", switch_platforms())
def test_an_uplink_without_link_is_reported_by_every_platform_and_has_no_speed(platform: str) -> None:
    down = simulate(_shape(platform), [Fault(CauseKind.LINK_DOWN, "uplink")])
    evaluation = evaluate(Round(down.plan, down.snapshot()))
    (cause,) = evaluation.causes
    assert (cause.kind, cause.subjects) == (CauseKind.LINK_DOWN, down.truth.causes[0].subjects)
    assert not [finding for finding in evaluation.findings if finding.rule == "LNK001"]


def test_in_a_living_fabric_a_link_that_came_up_at_half_its_speed_is_reported_until_it_is_mended() -> None:
    site = Site([Fault(CauseKind.LINK_DOWN)])
    site.director.fix(1)
    site.settle()
    slow = site.director.disturb(FlowFault(FlowFaultKind.HALF_SPEED, variant="host")).cause.subjects[0]
    (finding,) = site.evaluated().findings
    assert (finding.rule, finding.subject) == ("LNK001", slow)
    assert "200 Gb/s" in finding.summary
    site.director.fix(slow)
    assert site.evaluated().findings == ()


def test_states_of_ports_alone_leave_the_mtu_open() -> None:
    case = Case({"leaf-0": [NetLink("swp1", operstate="UP", mtu=9216)]}, plan="gpu-1/nic0 leaf-0/swp1 rail=0")
    with pytest.raises(InsufficientDataError, match="MTU of a planned NIC"):
        list(rules()["LNK002"].findings(scene(case)))
