"""Link speeds from every kind of switch: their words, and the evaluation of a simulated fabric.

What the formats look like is in `recordings/link_speed` and `recordings/port_state`, shortened by hand from public
recordings: EOS and NX-OS tables from ntc-templates and genieparser, NX-OS JSON from napalm, SONiC from the tests of
sonic-utilities and of Cisco's and Edgecore's tools, Junos from suzieq (JSON) and Juniper's ACX articles (text), EOS
JSON and NVUE from answers quoted in public scripts.
"""

from typing import Any

import pytest

from collector.formats.port_words import gbps
from rules import rules
from tests.each import each
from tests.living_site import Site
from truerail.analysis.round import Round
from truerail.analysis.rule import Case, InsufficientDataError
from truerail.model import CauseKind, NetLink, Role
from truerail.poller.questions import applicable
from truerail.rounds import evaluate
from truerail.simulator import Fault, Noise, Shape, Simulation, simulate
from truerail.simulator.platforms import switch_platforms
from truerail.simulator.traffic import FlowFault, FlowFaultKind
from truerail.testing.cases import scene


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
