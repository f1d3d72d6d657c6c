"""Any plan survives being written and read again; folding never changes what a plan says."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.draws import draws
from tests.patience import grows_with
from tests.plan_helpers import bare
from truerail.files.nodesets import expand, fold
from truerail.model import Cable, Device, LoadBalancing, Plan, Port, Rail, Role, Severity, Transport
from truerail.plans import dump_csv, dump_yaml, lint, loads

names = st.from_regex(r"[a-z][a-z0-9.-]{0,6}[0-9]{1,3}", fullmatch=True)
ports = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9/_:.-]{0,10}", fullmatch=True)
words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"]), max_size=12).map(
    str.strip
)
small = st.none() | st.integers(0, 40)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    host_names = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    switch_names = [f"leaf-{number}" for number in range(draw(st.integers(1, 3)))]
    hosts = [
        Device(name, Role.HOST, draw(st.sampled_from(["", "p1", "p2"])), rack=draw(st.sampled_from(["", "r1", "01"])),
               unit=draw(small), gpus=draw(small), address=draw(st.sampled_from(["", "10.0.0.1"])),
               aliases=draw(st.sampled_from([(), ("x1",), ("x2", "y")])))
        for name in host_names
    ]  # fmt: skip
    switches = [Device(name, Role.LEAF, platform=draw(st.sampled_from(["", "sonic"]))) for name in switch_names]
    speeds = st.sampled_from([None, 200.0, 400.0])
    planes = st.none() | st.integers(0, 1)
    lengths = st.none() | st.sampled_from([1.5, 3.0])
    cables = [
        Cable(Port(host, draw(ports)), Port(draw(st.sampled_from(switch_names)), draw(ports)), draw(st.integers(0, 3)),
              draw(planes), draw(speeds), draw(words), draw(lengths))
        for host in host_names for _ in range(draw(st.integers(1, 3)))
    ]  # fmt: skip
    used = {port.device for cable in cables for port in (cable.a, cable.b)}
    rails = {cable.rail: Rail(cable.rail, vlans=(5,)) for cable in cables if cable.rail}
    devices = {device.name: device for device in (*hosts, *switches) if device.name in used}
    return Plan(devices, tuple(cables), draw(words), rails, draw(st.sampled_from(Transport)),
                draw(st.sampled_from(LoadBalancing)))  # fmt: skip


@given(plans())
@settings(deadline=None, max_examples=draws(30, 600))
def test_yaml_round_trip(plan: Plan) -> None:
    assert bare(loads(dump_yaml(plan), ".yaml")) == bare(plan)


@given(plans())
@settings(deadline=None, max_examples=draws(30, 600))
def test_csv_round_trip(plan: Plan) -> None:
    assert bare(loads(dump_csv(plan), ".csv")) == bare(plan)


@given(st.lists(names, max_size=30))
@settings(deadline=None)
def test_folding_keeps_names_and_order(listed: list[str]) -> None:
    assert not listed or expand(fold(listed)) == listed


def test_folding_is_short() -> None:
    assert fold([f"gpu-{n:03}" for n in range(1, 65)]) == "gpu-[001-064]"
    assert fold([f"Ethernet{n}" for n in range(0, 256, 4)]) == "Ethernet[0-252/4]"
    assert fold(["swp4", "swp1", "swp2"]) == "swp4,swp[1-2]"


# A plan loads in time that grows with its cables


FABRIC = """
speed: 400
hosts: {nodes: "gpu-[00001-%(hosts)05d]", pod: "p[001-%(pods)03d]", nics: "nic[0-7]", gpus: 8}
leaves: {nodes: "p[001-%(pods)03d]-leaf-[0-7]", pod: "p[001-%(pods)03d]"}
spines: {nodes: "spine-[00-15]"}
host_links: {ports: "swp[1-125]"}
uplinks: {ports: "up[1-16]", to_ports: "swp[1-800]"}
"""


def fabric(pods: int) -> str:
    """A plan of so many pods of 125 hosts and 8 leaves, up to 100."""
    return FABRIC % {"pods": pods, "hosts": 125 * pods}


@pytest.mark.parametrize("suffix", [".yaml", ".csv"])
def test_a_plan_loads_in_time_that_grows_with_its_cables(suffix: str) -> None:
    texts = {size: fabric(10 * size) for size in (1, 4)}
    if suffix == ".csv":
        texts = {size: dump_csv(loads(text, ".yaml")) for size, text in texts.items()}
    counts: dict[int, int] = {}
    grows_with(lambda size: counts.update({size: len(loads(texts[size], suffix).cables)}))
    assert counts[4] == 40 * 1128


def test_a_large_fabric_has_no_fault_but_its_oversubscription_is_reported() -> None:
    found = lint(loads(fabric(pods := draws(20, 100)), ".yaml"))
    assert {(problem.value, problem.severity) for problem in found} == {("7.81:1", Severity.INFO)}
    assert len(found) == 8 * pods
