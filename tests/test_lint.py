"""Each fault of a plan is found where it stands, and nothing else is."""

from collections.abc import Callable

import pytest

from truerail.model import Plan, Severity
from truerail.plans import Problem, lint, loads, new_plan

HEADER = "a_device,a_role,a_port,b_device,b_role,b_port,rail,plane,speed_gbps"
CRITICAL, WARNING, INFO = Severity.CRITICAL, Severity.WARNING, Severity.INFO


def lines(hosts: int = 4, rails: int = 2) -> list[str]:
    return [
        f"gpu-{host},host,nic{rail},leaf-{rail},leaf,swp{host},{rail},,400"
        for host in range(1, hosts + 1)
        for rail in range(rails)
    ]


def problems(*rows: str) -> list[Problem]:
    return lint(loads("\n".join((HEADER, *rows)), ".csv", "plan.csv"))


def one(*rows: str) -> Problem:
    found = problems(*rows)
    assert len(found) == 1, [str(problem) for problem in found]
    return found[0]


def test_right_plan_has_no_problem() -> None:
    assert problems(*lines()) == []


def test_port_used_twice() -> None:
    problem = one(*lines(), "gpu-9,host,nic7,leaf-0,leaf,swp2,0,,400", "gpu-9,host,nic1,leaf-1,leaf,swp9,1,,400")
    assert str(problem) == (
        "plan.csv:10: the port is used twice, for gpu-9/nic7 here and for gpu-2/nic0 on line 4 (value 'leaf-0/swp2')"
    )


def test_missing_rail_names_the_host_and_the_rail() -> None:
    problem = one(*lines()[:-1])
    assert problem.summary == "rail 1 is missing on gpu-4; 3 of 4 hosts like it have it"
    assert (problem.line, problem.value, problem.severity) == (8, "gpu-4", WARNING)


def test_duplicate_cable_also_reversed() -> None:
    for again in ("gpu-1,host,nic0,leaf-0,leaf,swp1,0,,400", "leaf-0,leaf,swp1,gpu-1,host,nic0,0,,400"):
        problem = one(*lines(), again)
        assert (problem.line, problem.summary) == (10, "a duplicate cable, first on line 2")


def test_self_link() -> None:
    problem = one(*lines(), "leaf-0,leaf,swp60,leaf-0,leaf,swp61,,,400")
    assert (problem.line, problem.value, problem.severity) == (10, "leaf-0/swp60 - leaf-0/swp61", CRITICAL)


def test_unknown_device() -> None:
    text = "hosts: {nodes: 'gpu-[1-2]', nics: [a]}\nleaves: {nodes: leaf-0}\nhost_links: {ports: 'p[1-2]'}\n"
    found = lint(loads(text + "cables:\n  - leaf-0/p9 spine-7/p1\n", ".yaml", "p.yaml"))
    assert ("p.yaml", 5, "spine-7/p1", CRITICAL) in [(p.file, p.line, p.value, p.severity) for p in found]


def test_rail_on_two_leaves_of_one_pod() -> None:
    rows = lines()
    rows[-1] = rows[-1].replace("leaf-1", "leaf-9")
    problem = one(*rows)
    assert problem.summary == "rail 1 lands on 2 leaves of one pod: leaf-1 (3 hosts), leaf-9 (1 hosts)"
    assert (problem.line, problem.value) == (9, "leaf-9")


def test_two_planes_on_two_leaves_are_no_fault() -> None:
    rows = [row.replace("leaf-", f"leaf-{side}-").replace("nic", f"nic{side}").replace(",,400", f",{plane},400")
            for plane, side in enumerate("ab") for row in lines()]  # fmt: skip
    assert problems(*rows) == []


def test_leaf_with_two_planes() -> None:
    rows = [row.replace("nic", f"nic{p}").replace("swp", f"swp{p}0").replace(",,400", f",{p},400")
            for p in (0, 1) for row in lines()]  # fmt: skip
    assert [p.summary for p in problems(*rows)] == [
        "leaf-0 carries planes 0, 1; each plane needs its own switches",
        "leaf-1 carries planes 0, 1; each plane needs its own switches",
    ]


def test_both_ports_of_a_nic_in_one_plane() -> None:
    rows = [row.replace(",,400", ",0,400") for row in lines()]
    problem = one(*rows, "gpu-1,host,nic0b,leaf-0,leaf,swp40,0,0,400")
    assert problem.summary == "gpu-1 has two cables in rail 0 plane 0: nic0 and nic0b"
    assert problem.severity is CRITICAL


def test_speed_that_differs_within_a_rail() -> None:
    rows = lines()
    rows[3] = rows[3].replace("400", "200")
    problem = one(*rows)
    assert problem.summary == "gpu-2/nic1: 200 Gb/s in rail 1, which has 400 Gb/s"
    assert (problem.line, problem.value) == (5, "200")


def test_speed_that_differs_between_two_devices() -> None:
    up = [f"leaf-{leaf},leaf,up{n},spine-0,spine,p{leaf}{n},,,{400 if n else 100}" for leaf in (0, 1) for n in range(3)]
    pairs = [p for p in problems(*lines(), *up) if "differ in speed" in p.summary]
    assert [p.line for p in pairs] == [10, 13]
    assert pairs[0].summary == "cables between leaf-0 and spine-0 differ in speed: 1 of 100 Gb/s, 2 of 400 Gb/s"


def test_oversubscription_tells_the_ratio_of_each_leaf() -> None:
    found = lint(loads(new_plan(uplinks=32), ".yaml"))
    assert [(p.value, p.severity) for p in found] == [("2:1", INFO)] * 8


def test_a_leaf_with_fewer_uplinks_than_others_is_a_fault() -> None:
    up = [f"leaf-{leaf},leaf,up{n},spine-0,spine,p{leaf}{n},,,400" for leaf in (0, 1, 2) for n in range(4)]
    problem = one(*lines(rails=3), *up[:-2])
    assert problem.summary == "leaf-2 is oversubscribed 2:1, most leaves have 1:1 (4 ports down, 2 up)"
    assert (problem.value, problem.severity) == ("2:1", WARNING)
    assert one(*lines(rails=3), *up[:-4]).summary == "leaf-2 has no uplinks, other leaves have"


def gpus(*counts: int) -> Plan:
    hosts = "\n".join(f"  - {{nodes: gpu-{i}, gpus: {count}, nics: 'nic[0-1]'}}" for i, count in enumerate(counts))
    ports = f"swp[1-{len(counts)}]"
    return loads(f"hosts:\n{hosts}\nleaves: {{nodes: 'leaf-[0-1]'}}\nhost_links: {{ports: '{ports}'}}\n", ".yaml")


def test_fewer_rails_than_gpus() -> None:
    found = lint(gpus(2, 3, 2))
    assert [(p.summary, p.severity) for p in found] == [("fewer rails than GPUs: 2 for 3 on gpu-1", WARNING)]
    assert [(p.value, p.severity) for p in lint(gpus(8, 8))] == [("2", INFO)]


@pytest.mark.parametrize(
    ("subnets", "value"),
    [
        (("10.0.0.0/16", "10.0.4.0/24"), "10.0.4.0/24"),
        (("10.0.4.0/24", "10.0.0.0/16"), "10.0.4.0/24"),
        (("fd00::/64", "fd00::/64"), "fd00::/64"),
    ],
)
def test_overlapping_subnets(subnets: tuple[str, str], value: str) -> None:
    rails = "\n".join(f"  - {{rail: {rail}, subnet: '{subnet}'}}" for rail, subnet in enumerate(subnets))
    found = lint(loads(f"rails:\n{rails}\n", ".yaml"))
    assert [(p.value, p.line, p.severity) for p in found] == [(value, 3, CRITICAL)]


def test_subnets_side_by_side_do_not_overlap() -> None:
    rails = "rails: {rail: '[0-3]', subnet: '10.0.[0-3].0/24'}\n"
    assert lint(loads(rails, ".yaml")) == []


def test_one_host_with_all_rails_on_one_leaf() -> None:
    rows = lines(rails=2)
    rows[1] = "gpu-1,host,nic1,leaf-0,leaf,swp50,1,,400"
    assert "all rails of gpu-1 land on leaf-0" in [p.summary for p in problems(*rows)]


def test_host_without_rails() -> None:
    text = "hosts: {nodes: 'gpu-[1-2]', nics: [a]}\nleaves: {nodes: leaf-0}\n"
    found = lint(loads(text + "host_links: {hosts: gpu-1, ports: p1}\n", ".yaml"))
    assert [(p.value, p.line) for p in found] == [("gpu-2", 1)]


@pytest.mark.parametrize(
    ("qos", "values"),
    [
        ("{pfc_priorities: 3, dscp: {values: 26, priority: 3}, mtu: 9000, buffers: {speed: 400}}", []),
        ("{pfc_priorities: [3, 4], dscp: {values: 26, priority: 3}}", ["pfc_priorities: 4"]),
        ("{pfc_priorities: 3, trust: dscp}", []),
        ("{pfc_priorities: 3, trust: pcp, dscp: {values: 26, priority: 4}}", ["trust: pcp"]),
        ("{pfc_priorities: [], global_pause: yes}", []),
        ("{pfc_priorities: 3, global_pause: yes, mtu: 0}", ["global_pause: yes", "mtu: 0"]),
        ("{buffers: [{speed: 800, headroom_bytes: 9}, {headroom_bytes: 9}]}", ["speed: 800"]),
    ],
)
def test_lossless_settings_that_exclude_each_other(qos: str, values: list[str]) -> None:
    text = (
        "hosts: {nodes: 'gpu-[1-2]', nics: [a]}\nleaves: {nodes: leaf-0}\nhost_links: {ports: 'p[1-2]', speed: 400}\n"
    )
    assert [problem.value for problem in lint(loads(f"{text}qos: {qos}\n", ".yaml"))] == values


SHAPES: list[Callable[[], str]] = [
    lambda: new_plan(),
    lambda: new_plan(1000),
    lambda: new_plan(spines=0),
    lambda: new_plan(1, 1, spines=1),
    lambda: new_plan(rails_per_leaf=8),
    lambda: new_plan(130, 8, pods=4, planes=2, rails_per_leaf=2, platform="sonic"),
    lambda: new_plan(platform="infiniband"),
    lambda: new_plan(platform="eos", speed_gbps=800),
    lambda: new_plan(platform="nxos"),
    lambda: new_plan(platform="junos"),
]


@pytest.mark.parametrize("text", SHAPES)
def test_starting_plans_lint_clean(text: Callable[[], str]) -> None:
    assert lint(loads(text(), ".yaml")) == []
