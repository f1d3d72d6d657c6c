"""A deadlock stands until somebody breaks it: it is found after a minute, and after every window there is, although
the ports that stand still go on sending LLDP, BGP and pause frames.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.telemetry.polled_rounds import seen_now
from rules import rules
from tests.switch_rounds import SONIC, checked, of_rule, rounds, sonic_dump
from truerail.analysis.counters import Window
from truerail.analysis.counters.window import SAMPLES
from truerail.analysis.round import Round
from truerail.model import Finding
from truerail.simulator import Shape, simulate
from truerail.simulator.traffic import FlowFault, FlowFaultKind, Job, Pattern, Polls, flows

PLAN = (
    "gpu-1,host,eth0,leaf-0,leaf,Ethernet0,0,,400\n"
    "gpu-2,host,eth0,leaf-1,leaf,Ethernet0,1,,400\n"
    "leaf-0,leaf,Ethernet8,spine-1,spine,Ethernet0,,,400\n"
    "leaf-0,leaf,Ethernet16,spine-2,spine,Ethernet0,,,400\n"
    "leaf-1,leaf,Ethernet8,spine-1,spine,Ethernet8,,,400\n"
    "leaf-1,leaf,Ethernet16,spine-2,spine,Ethernet8,,,400\n"
)
WAITS = {"leaf-0": "Ethernet8", "spine-1": "Ethernet8", "leaf-1": "Ethernet16", "spine-2": "Ethernet0"}
"""The port of each switch that is paused, in the order in which the switches wait."""
PAUSES = {"leaf-0": "Ethernet16", "spine-1": "Ethernet0", "leaf-1": "Ethernet8", "spine-2": "Ethernet8"}
"""The port by which each of them pauses the one that waits for it."""
FRAMES = 14_500
"""Pause frames a second that hold a port of 400 Gb/s."""
CONTROL = 480
"""Bytes a second of LLDP, BGP and BFD."""


def switches(sample: int, *, began: int, working: float, step: float = 10.0) -> dict[str, str]:
    """Each switch's database after a sample: no queue counters, bytes over all priorities only. The circle closes with
    sample `began`; before, each port carries `working` bytes a second.
    """
    stuck, free = step * max(0, sample - began), step * min(sample, began)
    answers = {}
    for switch, paused in WAITS.items():
        ports = {}
        for port in ("Ethernet0", "Ethernet8", "Ethernet16"):
            frames = FRAMES * stuck
            sent = working * free + CONTROL * (free + stuck) + 64 * frames * (port == PAUSES[switch])
            heard = working * free + CONTROL * (free + stuck) + 64 * frames * (port == paused)
            ports[port] = {
                "SAI_PORT_STAT_IF_OUT_OCTETS": int(9e14 + sent),
                "SAI_PORT_STAT_IF_IN_OCTETS": int(9e14 + heard),
                "SAI_PORT_STAT_PFC_3_RX_PKTS": int(77 + frames * (port == paused)),
                "SAI_PORT_STAT_PFC_3_TX_PKTS": int(77 + frames * (port == PAUSES[switch])),
            }
        answers[f"{switch}/{SONIC}"] = sonic_dump(ports)
    return answers


@pytest.mark.parametrize(
    ("began", "number", "step"), [(8, 31, 10.0), (0, 31, 10.0), (4, 12, 60.0)], ids=["begins", "stands", "slow-polls"]
)
def test_switches_that_count_bytes_in_total_only_show_a_deadlock(
    tmp_path: Path, began: int, number: int, step: float
) -> None:
    def answers(sample: int) -> Mapping[str, str]:
        return switches(sample, began=began, working=2e10, step=step)

    report = checked(tmp_path, PLAN, rounds(answers, number, step))
    status, (finding,) = of_rule(report, "PFC003")
    assert status == "fail"
    assert finding["subject"] == "leaf-0"
    assert of_rule(report, "PFC001")[1] == []
    (cause,) = [cause for cause in report["causes"] if cause["kind"] == "pfc-deadlock"]
    assert set(cause["subjects"]) == set(WAITS)


def test_the_same_pauses_while_traffic_flows_are_no_deadlock(tmp_path: Path) -> None:
    def answers(sample: int) -> Mapping[str, str]:
        ports: dict[str, dict[str, int]] = {}
        found = {}
        for switch, paused in WAITS.items():
            ports = {
                port: {
                    "SAI_PORT_STAT_IF_OUT_OCTETS": int(9e14 + 2e10 * 10 * sample),
                    "SAI_PORT_STAT_IF_IN_OCTETS": int(9e14 + 2e10 * 10 * sample),
                    "SAI_PORT_STAT_PFC_3_RX_PKTS": FRAMES * 10 * sample * (port == paused),
                }
                for port in ("Ethernet0", "Ethernet8", "Ethernet16")
            }
            found[f"{switch}/{SONIC}"] = sonic_dump(ports)
        return found

    assert of_rule(checked(tmp_path, PLAN, rounds(answers)), "PFC003") == ("pass", [])


@pytest.mark.parametrize("priorities", [True, False])
@pytest.mark.parametrize("durations", [True, False])
def test_a_deadlock_is_found_for_as_long_as_it_stands(priorities: bool, durations: bool) -> None:
    fabric = simulate(Shape(hosts=8, rails=2, pods=2, spines=4, uplinks=4), [], seed=3)
    hosts = tuple(list(fabric.plan.devices)[:8])
    jobs = (Job("experts", hosts, Pattern.ALL_TO_ALL, (0, 1), qps=4, gigabytes=2.0, coupling=0.5),)
    traffic = flows(fabric, jobs, (), 3, polls=Polls(priorities=priorities, durations=durations))
    window, still = Window(), fabric.snapshot()
    window.put(traffic.readings())
    traffic.plant(FlowFault(FlowFaultKind.DEADLOCK, since=60.0))
    for rounds_more in (12, SAMPLES - 2):  # then all that the window holds is of a standing deadlock
        for _ in range(rounds_more):
            traffic.step(10.0)
            last = traffic.readings()
            window.put(last)
        made = Round(fabric.plan, seen_now(still, traffic, last), window.view())
        (finding,) = _found("PFC003", made)
        (truth,) = traffic.truth
        cycle = {port.partition("/")[0] for port in truth.ports}
        assert set(dict(finding.detail)["cycle"]) <= cycle  # type: ignore[call-overload]
        assert _found("PFC001", made) == []


def _found(code: str, made: Round) -> list[Finding]:
    return list(rules()[code].findings(made))
