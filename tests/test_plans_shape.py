"""What a plan amounts to, and how it is drawn."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from truerail.analysis.rule import Case
from truerail.model import QosProfile, Role
from truerail.plans import describe, draw_svg, load, loads, new_plan
from truerail.testing.cases import plan_of

FABRICS = Path(__file__).parent / "fabrics"


def test_bisection_and_oversubscription_of_the_main_case() -> None:
    shape = describe(load(FABRICS / "rail_optimized.yaml"))
    assert shape.bisection_gbps == 8 * 32 * 400
    assert shape.bisection_gbytes_per_second == 12_800
    assert {leaf.oversubscription for leaf in shape.leaves} == {2.0}
    assert (shape.hosts, shape.gpus, len(shape.rails), shape.host_cables, shape.uplinks) == (64, 512, 8, 512, 256)
    assert [leaf.rails for leaf in shape.leaves] == [(rail,) for rail in range(8)]


def test_the_narrowest_tier_decides() -> None:
    shape = describe(load(FABRICS / "multi_pod.yaml"))
    assert shape.tiers == {Role.LEAF: 32 * 32 * 400.0, Role.SPINE: 16 * 64 * 400.0}
    assert shape.bisection_gbps == 409_600


def test_without_speeds_ports_are_counted_and_capacity_is_not_known() -> None:
    text = new_plan(uplinks=32).replace("speed: 400", "name: x").replace("name: fabric\n", "")
    shape = describe(loads(text, ".yaml"))
    assert (shape.leaves[0].oversubscription, shape.leaves[0].up_gbps, shape.bisection_gbps) == (2.0, None, None)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"hosts": 0}, "hosts is 0"),
        ({"rails": 8, "rails_per_leaf": 3}, "8 rails do not divide"),
        ({"spines": 3, "planes": 2}, "3 spines do not divide"),
        ({"spines": 8, "uplinks": 30}, "30 uplinks do not divide"),
        ({"platform": "ios"}, "platform is 'ios'"),
        ({"pods": 65}, "pods is 65"),
        ({"hosts": 9, "pods": 6}, "9 hosts do not fill 6 pods"),
        ({"speed_gbps": 0}, "speed_gbps is 0"),
        ({"planes": 0}, "planes is 0"),
    ],
)
def test_numbers_that_make_no_fabric(change: dict[str, int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        new_plan(**change)  # type: ignore[arg-type] # wrong values are the point


def test_new_plan_names_ports_as_the_platform_does() -> None:
    plan = loads(new_plan(4, 2, spines=2, platform="sonic"), ".yaml")
    assert [c.b.name for c in plan.cables if c.a.device == "gpu-002"] == ["Ethernet4", "Ethernet4"]


def test_drawing_says_what_the_fabric_amounts_to() -> None:
    svg = draw_svg(load(FABRICS / "rail_optimized.yaml"))
    texts = [element.text for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert "64 hosts · 8 rails · 8 leaves · 8 spines · 400 Gb/s · oversubscription 2:1 · bisection 12.8 TB/s" in texts
    assert {"leaf-0", "leaf-7", "spine-0", "gpu-064", "r7"} <= set(texts)


def test_drawing_of_a_thousand_hosts_stays_small() -> None:
    svg = draw_svg(loads(new_plan(1000), ".yaml"))
    assert len(svg) < 200_000
    assert "gpu-[001-016]" in svg or "gpu-[0001-0016]" in svg


def test_drawing_escapes_names() -> None:
    header = "a_device,a_role,a_port,b_device,b_role,b_port,rail\n"
    svg = draw_svg(loads(header + '<script>&,host,n,"l""x\'",leaf,p,0\n', ".csv"))
    ET.fromstring(svg)
    assert "<script>" not in svg


def test_drawing_of_an_empty_plan() -> None:
    ET.fromstring(draw_svg(loads("name: nothing\n", ".yaml")))


# The digest of a plan: what makes it another version


def test_the_digest_of_a_plan_covers_serials_and_qos() -> None:
    plan = plan_of(Case(plan="gpu-1/nic0 leaf-0/p1 rail=0"))
    known = {**plan.devices, "gpu-1": replace(plan.devices["gpu-1"], serials=("SN1",))}
    changed = (replace(plan, devices=known), replace(plan, qos=QosProfile(trust="dscp")))
    assert len({plan.digest, *(one.digest for one in changed)}) == 3
