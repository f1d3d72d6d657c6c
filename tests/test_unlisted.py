"""Planned devices that the inventory does not have were never asked: reported once, with the names that may be
meant."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.live_site import Run, Site
from truerail.analysis.coverage import unlisted
from truerail.files.nodesets import expand
from truerail.model.names import folded
from truerail.plans import load
from truerail.simulator import Shape, simulate

SHAPE = Shape(hosts=8, rails=4, spines=2, uplinks=2)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    return Site(tmp_path, simulate(SHAPE, folders="inventory"), monkeypatch)


def relist(site: Site, name: Callable[[str], str | None]) -> None:
    """Writes the inventory with other names; None leaves a device out."""
    document = yaml.safe_load(Path(site.inventory).read_text())
    rows = [{**row, "name": one} for row in document["devices"] for one in expand(row["name"])]
    document["devices"] = [{**row, "name": given} for row in rows if (given := name(row["name"])) is not None]
    Path(site.inventory).write_text(yaml.safe_dump(document))


def test_a_host_that_nobody_could_ask_is_one_finding_and_no_cause(site: Site, run: Run) -> None:
    relist(site, lambda name: None if name in ("gpu-003", "gpu-004", "gpu-005", "gpu-008") else name)
    code, out, _ = run("check", "--inventory", site.inventory, "--plan", site.plan, "--format", "json")
    found = json.loads(out)
    summary = "4 devices of the plan are not in the inventory: gpu-[003-005], gpu-008"
    (finding,) = [one for one in found["findings"] if one["rule"] == "TEL001"]
    assert finding["summary"].startswith(summary)
    assert "Add them to the inventory" in finding["action"]
    assert finding["cause"] is None
    assert found["causes"] == []
    assert summary in found["notes"]
    assert code == (1 if finding["severity"] == "warning" else 0)
    text = run("check", "--inventory", site.inventory, "--plan", site.plan)[1]
    assert " ".join(text.split()).count("4 devices of the plan are not in the inventory") == 1
    assert "does not answer" not in text


def test_names_that_differ_in_zeros_case_or_domain_are_suggested_or_are_the_same(site: Site, run: Run) -> None:
    plan = load(Path(site.plan))
    names = {"gpu-003": "gpu-3", "gpu-004": "GPU-004", "gpu-005": "gpu-005.example.net", "gpu-006": "node-17"}
    found = unlisted(plan, [names.get(name, name) for name in plan.devices])
    assert found.devices == ("gpu-003", "gpu-006")
    assert dict(found.near) == {"gpu-003": "gpu-3"}
    assert found.summary.endswith("gpu-003, gpu-006 (perhaps under other names: gpu-3 for gpu-003)")


def test_serve_check_says_it_too(site: Site, run: Run, tmp_path: Path) -> None:
    relist(site, lambda name: None if name == "gpu-007" else name)
    config = tmp_path / "truerail.yaml"
    config.write_text(f"fabric: lab\ninventory: {site.inventory}\nplan: {site.plan}\n")
    code, _, err = run("serve", "--config", config, "--check")
    assert (code, "1 device of the plan is not in the inventory: gpu-007." in err) == (0, True)


@pytest.mark.parametrize("options", [[], ["--tar"], ["--scrub"]], ids=["folder", "archive", "scrubbed"])
def test_a_capture_knows_which_devices_the_inventory_has(
    site: Site, run: Run, tmp_path: Path, options: list[str]
) -> None:
    relist(site, lambda name: None if name in ("gpu-003", "gpu-004") else name)
    made = run("capture", "--inventory", site.inventory, "--plan", site.plan, "--out", tmp_path / "c", *options)[1]
    done, *beside = made.split()
    plan = beside[0] if beside else site.plan
    found = json.loads(run("check", "--from", done, "--plan", plan, "--format", "json")[1])
    assert found["causes"] == []
    assert [note.partition(" not in ")[0] for note in found["notes"]] == ["2 devices of the plan are"]


def test_an_inventory_file_that_is_broken_costs_itself(site: Site, run: Run, tmp_path: Path) -> None:
    relist(site, lambda name: None if name == "gpu-003" else name)
    done = Path(run("capture", "--inventory", site.inventory, "--out", tmp_path / "c")[1].strip())
    for content, why in ((b"{", "not JSON"), (b"[1]", "not an array of names")):
        (done / "inventory.json").write_bytes(content)
        found = json.loads(run("check", "--from", done, "--plan", site.plan, "--format", "json")[1])
        assert [cause["subjects"] for cause in found["causes"]] == [["gpu-003"]]
        assert any(f"refused, {why}" in note and "inventory.json" in note for note in found["notes"])


def test_a_device_of_the_inventory_that_does_not_answer_is_still_a_cause(site: Site, run: Run) -> None:
    relist(site, lambda name: None if name == "gpu-007" else name)
    site.fleet.troubles = {"gpu-008": "locked"}
    found = json.loads(run("check", "--inventory", site.inventory, "--plan", site.plan, "--format", "json")[1])
    assert [(cause["kind"], cause["subjects"]) for cause in found["causes"]] == [("unreachable", ["gpu-008"])]


@pytest.mark.parametrize(
    ("names", "summary"),
    [
        (["gpu-1"], "gpu-1"),
        (["gpu-9", "gpu-10", "gpu-11"], "gpu-[9-11]"),
        (["b2a", "b3a", "a", "a0", "b5"], "a, a0, b[2-3]a, b5"),
        ([f"h{n}" for n in range(0, 20, 2)], "h0, h2, h4, h6, h8, h10, h12, h14 and 2 more"),
        ([], ""),
    ],
)
def test_names_are_folded(names: list[str], summary: str) -> None:
    assert folded(names) == summary
