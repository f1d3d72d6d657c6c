"""The recipes of CONTRIBUTING.md, followed in a copy of the tree: every block is written as it stands there, what `make
docs` generates is generated, and the checks that concern what is new pass. All but mypy, which takes minutes on a tree
without its cache.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_shape import ROOT, committed

BLOCK = re.compile(r"^`([\w./-]+)`:\n\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
GENERATORS = (["docs/catalogues.py"], ["-m", "dashboards.generate"], ["deploy/restricted.py"])
CONCERNED = " or ".join(
    (
        *("CAP002", "PowerSupply", "power_suppl", "planned_cables", "racks", "acme", "test_metrics_reference"),
        *("a_file_is_small", "left_undone", "stands_alone_behind"),
        *("a_rule", "a_collector", "happy_and", "has_its_sections", "every_platform_and_format"),
        *("layers_hold", "catalogues_are_current", "the_type_of_facts", "every_recording"),
    )
)
"""Tests whose name, or parameter, has one of these words."""
FABRIC = "import pathlib; from truerail.simulator import Shape, simulate; fabric = simulate(Shape(hosts=4, rails=4))"
ASKED = """
from tests.api_client import Api
with Api() as client:
    rack = next(device.rack for device in client.tower.publication.plan.devices.values())
    print(client.json("rack", name=rack)["summary"])
    print(client.ask("GET", "//ask").text)
"""
"""What API and page answer, of the fabric that their own tests have."""
PROBED = """
from truerail.model import PLATFORMS
from truerail.transport.command_gate import declared
from truerail.transport.probe import platform_of
from truerail.transport.protocol import Answer
name = platform_of([Answer("show version", "ACME OS, version 1.0")])
print(name, name in PLATFORMS, "lldpctl -f json0" in declared(name)[0])
"""
FILES = (
    "tests/test_shape.py",
    "tests/test_rules_cases.py",
    "tests/test_recordings.py",
    "tests/test_runbooks.py",
    "tests/test_alerts.py",
    "tests/test_metrics_reference.py",
    "tests/test_simulator.py",
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree in which the recipes were followed."""
    copy = tmp_path_factory.mktemp("recipes") / "truerail"
    for path in committed():
        for file in (path, *path.parent.glob(f"__pycache__/{path.stem}.*.pyc")):  # compiled once is enough
            target = copy / file.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)
    for name, language, text in BLOCKS:
        path = copy / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(changed(path.read_text(encoding="utf-8"), text) if language == "diff" else text)
    read = "tests/test_recordings.py::test_recording[power_supplies]"
    python(copy, "-m", "pytest", "--basetemp=read", read, TRUERAIL_REFRESH="1")
    for generator in GENERATORS:
        python(copy, *generator)
    return copy


def changed(text: str, difference: str) -> str:
    """A text after a change: each part behind `@@` is found once, by its lines with a blank or `-`. `...` at the end of
    such a line is any rest of it.
    """
    for part in difference.split("@@\n")[1:]:
        lines = [line or " " for line in part.splitlines()]
        wanted = [line[1:] for line in lines if line[0] in " -"]
        pattern = "".join(f"({re.escape(w.removesuffix('...'))}{'.*' * w.endswith('...')}\n)" for w in wanted)
        found = list(re.finditer(pattern, text))
        assert len(found) == 1, f"found {len(found)} times:\n{part}"
        rest = iter(found[0].groups())
        after = [f"{line[1:]}\n" if line[0] == "+" else next(rest) * (line[0] == " ") for line in lines]
        text = text[: found[0].start()] + "".join(after) + text[found[0].end() :]
    return text


def python(tree: Path, *words: str, **environment: str) -> str:
    """What Python prints in the copy. Fails where it ends with an error."""
    given = {**os.environ, "PYTHONPATH": str(tree), **environment}
    done = subprocess.run([sys.executable, *words], cwd=tree, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(words)}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


def test_what_is_written_is_formatted_and_checked(tree: Path) -> None:
    written = [name for name, _, _ in BLOCKS if name.endswith(".py")]
    python(tree, "-m", "ruff", "format", "--check", *written)
    python(tree, "-m", "ruff", "check", *written)


def test_the_generated_files_have_what_is_new(tree: Path) -> None:
    assert "power_supplies" in (tree / "collector/README.md").read_text(encoding="utf-8")
    assert "power_supply_failed" in (tree / "rules/README.md").read_text(encoding="utf-8")
    assert "`TruerailFindingWithoutCause`" in (tree / "docs/runbooks/CAP002.md").read_text(encoding="utf-8")
    assert "truerail_planned_cables" in (tree / "docs/metrics.md").read_text(encoding="utf-8")
    restricted = tree / "deploy/ansible/roles/truerail_device/files/truerail-only.sonic"
    assert "show platform psustatus" in restricted.read_text(encoding="utf-8")


def test_the_checks_pass(tree: Path) -> None:
    python(tree, "-m", "pytest", "-p", "no:cacheprovider", "--basetemp=checks", *FILES, "-k", CONCERNED)


def test_the_command_counts_racks(tree: Path) -> None:
    plan = tree / "tests/fabrics/rail_optimized.yaml"
    assert re.search(r"^\S+  \d+$", python(tree, "-m", "truerail", "racks", str(plan)), re.MULTILINE)


def test_the_question_is_answered_on_the_command_line_by_the_api_and_on_the_page(tree: Path, tmp_path: Path) -> None:
    python(tree, "-c", f"{FABRIC}; fabric.write(pathlib.Path({str(tmp_path)!r}))")
    files = ("--from", str(tmp_path / "capture"), "--plan", str(tmp_path / "plan.csv"))
    assert "4 devices in r01" in python(tree, "-m", "truerail", "rack", "r01", *files)
    asked = python(tree, "-c", ASKED)
    assert "without an answer" in asked
    assert re.search(r'data-question="rack">.*?A rack of the plan <input name="name"', asked, re.DOTALL)


def test_the_platform_is_recognised_and_queried(tree: Path) -> None:
    assert python(tree, "-c", PROBED).split() == ["acme", "True", "True"]
