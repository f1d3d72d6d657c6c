"""Templates: each is a plan without faults, drawn, and right where everything is cabled as it says."""

from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

from tests.small_fabric import World
from truerail.analysis.round import Round
from truerail.cli.app import app
from truerail.model import CableState, Role
from truerail.plans import draw_svg, lint, loads
from truerail.plans.starting import TEMPLATES, from_template, summary
from truerail.rounds import evaluate

SIZES = {
    "superpod-h100": (128, 32, 16, 2048, 400),
    "gb200-nvl72": (144, 32, 9, 1152, 400),
    "hpn-dual-plane": (256, 32, 120, 4096 + 1920, 200),
    "mrc-8-plane": (256, 32, 64, 16_384, 100),
    "spectrum-x": (64, 8, 4, 1024, 400),
    "rail-only": (64, 8, 0, 512, 400),
}
"""Hosts, leaves, spines, cables and Gb/s of a host's port, as the sources in the docstrings have them."""
SMALLER = {"mrc-8-plane": {"spines": 16, "uplinks": 8}}
"""Numbers that the cabling as planned is tested with, besides fewer hosts."""


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_has_the_numbers_of_its_source(name: str) -> None:
    plan = loads(from_template(name, {}), ".yaml")
    counted = [len(plan.of_role(role)) for role in (Role.HOST, Role.LEAF, Role.SPINE)]
    assert (*counted, len(plan.cables), plan.cables[0].speed_gbps) == SIZES[name]
    assert "Source: " in (TEMPLATES[name].__doc__ or "")
    assert not [problem for problem in lint(plan) if problem.severity.value != "info"]


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_fabric_that_is_cabled_as_a_template_says_has_no_findings(name: str) -> None:
    pods = 2 if "pods" in TEMPLATES[name]() else 1
    plan = loads(from_template(name, {"hosts": 4 * pods, "pods": pods, **SMALLER.get(name, {})}), ".yaml")
    evaluation = evaluate(Round(plan, World(plan).snapshot()))
    assert not evaluation.findings
    assert {*evaluation.cable_states.values()} == {CableState.RIGHT}
    assert ET.fromstring(draw_svg(plan)).tag.endswith("svg")


def test_numbers_of_a_template_can_be_changed() -> None:
    plan = loads(from_template("superpod-h100", {"pods": 2, "platform": "cumulus"}), ".yaml")
    assert len(plan.of_role(Role.HOST)) == 64
    assert plan.cables[0].b.name == "swp1"


def test_ports_of_a_breakout_are_counted_in_whole_ports() -> None:
    text = from_template(None, {"hosts": 3, "rails": 1, "spines": 1, "uplinks": 3, "split": 2})
    plan = loads(text, ".yaml")
    assert [cable.b.name for cable in plan.host_cables] == ["swp1s0", "swp1s1", "swp2s0"]
    assert [cable.a.name for cable in plan.uplinks_of("leaf-0")] == ["swp3s0", "swp3s1", "swp4s0"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"split": 9}, "split is 9"),
        ({"split": 2, "platform": "eos"}, "ports of Cumulus"),
        ({"hosts_per_rack": 99}, "hosts_per_rack is 99, expected 0 to 40"),
    ],
)
def test_numbers_that_no_fabric_has(changes: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        from_template(None, changes)


def test_the_command_lists_templates_and_suggests_the_nearest() -> None:
    listed = CliRunner().invoke(app, ["plan", "new", "--list"]).stdout
    assert all(f"{name}  " in listed and summary(name) in listed for name in TEMPLATES)
    done = CliRunner().invoke(app, ["plan", "new", "--template", "spectrumx"])
    assert str(done.exception) == "no template 'spectrumx', did you mean 'spectrum-x'?"
