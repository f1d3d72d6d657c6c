"""The recipes of CONTRIBUTING.md, followed in a copy of the tree: every block is written as it stands there, what `make
docs` generates is generated, and the checks that concern what is new pass. All but mypy, which takes minutes on a tree
without its cache.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.test_shape import ROOT, committed, lost_texts

BLOCK = re.compile(r"^`([\w./-]+)`:\n\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
CONCERNED = " or ".join(
    (
        *("CAP002", "PowerSupply", "power_suppl", "planned_cables", "racks", "acme", "test_metrics_reference"),
        *("a_file_is_small", "left_undone"),
        *("a_rule", "a_collector", "happy_and", "has_its_sections", "every_platform_and_format"),
        *("layers_hold", "the_type_of_facts", "every_recording"),
    )
)
"""Tests whose name, or parameter, has one of these words."""
FOLLOWED = """
import contextlib, gc, io, json, os, pathlib, runpy, sys
gc.set_threshold(200_000)  # what is imported is no garbage
_, folder, *checks = sys.argv
os.environ["TRUERAIL_REFRESH"] = "1"
from tests import test_recordings
test_recordings.test_recording(name="power_supplies")
del os.environ["TRUERAIL_REFRESH"], sys.modules["tests.test_recordings"], test_recordings
for generator in ("docs/catalogues.py", "dashboards/generate.py", "deploy/restricted.py"):
    sys.argv = [generator]
    try:
        runpy.run_path(generator, run_name="__main__")
    except SystemExit as ended:
        assert not ended.code, generator

import pytest
from typer.testing import CliRunner
from tests.api_client import Api
from truerail.cli.app import app
from truerail.model import PLATFORMS
from truerail.simulator import Shape, simulate
from truerail.transport.command_gate import declared
from truerail.transport.command_gate import platform_of
from truerail.transport.protocol import Answer

simulate(Shape(hosts=4, rails=4)).write(pathlib.Path(folder))
files = ["--from", f"{folder}/capture", "--plan", f"{folder}/plan.csv"]
racks = CliRunner().invoke(app, ["racks", "tests/fabrics/rail_optimized.yaml"])
rack = CliRunner().invoke(app, ["rack", "r01", *files])
with Api() as client:
    name = next(device.rack for device in client.tower.publication.plan.devices.values())
    summary, page = client.json("rack", name=name)["summary"], client.ask("GET", "//ask").text
platform = platform_of([Answer("show version", "ACME OS, version 1.0")])
from tests import test_runbooks
test_runbooks.FABRICS = ()  # the new rule fires on none of them
with contextlib.redirect_stdout(io.StringIO()) as said:
    code = pytest.main(checks)
print(json.dumps({
    "racks": [racks.exit_code, racks.output], "rack": [rack.exit_code, rack.output], "summary": summary, "page": page,
    "platform": [platform, platform in PLATFORMS, "lldpctl -f json0" in declared(platform)[0]],
    "checks": [code, said.getvalue()[-4000:]],
}))
"""
"""In one process: the recording is read, `make docs`, then what commands, the API, the page and the table of platforms
answer, and the checks; API and page of the fabric that their own tests have.
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
    copy.mkdir()
    files = [path.relative_to(ROOT) for path in committed()]
    compiled = [file.parent / "__pycache__" / f"{file.stem}.{sys.implementation.cache_tag}.pyc" for file in files]
    files += [file for file in compiled if (ROOT / file).exists()]  # once is enough
    subprocess.run(["cp", "--preserve", "--parents", *files, copy], cwd=ROOT, check=True)
    for name, language, text in BLOCKS:
        path = copy / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(changed(path.read_text(encoding="utf-8"), text) if language == "diff" else text)
    return copy


@pytest.fixture(scope="module")
def answers(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the tree answers by itself, once its files were generated."""
    checks = ("-W", "ignore:Module already imported", "-p", "no:cacheprovider", "--basetemp=checks", *FILES)
    said = python(tree, "-c", FOLLOWED, str(tmp_path_factory.mktemp("fabric")), *checks, "-k", CONCERNED)
    answered: dict[str, Any] = json.loads(said.splitlines()[-1])
    return answered


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


def python(tree: Path, *words: str) -> str:
    """What Python prints in the copy. Fails where it ends with an error."""
    given = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run([sys.executable, *words], cwd=tree, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(words)}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


def test_what_is_written_is_formatted_and_checked(tree: Path) -> None:
    written = [name for name, _, _ in BLOCKS if name.endswith(".py")]
    python(tree, "-m", "ruff", "format", "--check", *written)
    python(tree, "-m", "ruff", "check", *written)
    assert not [name for name in written for _ in lost_texts(tree / name)]


@pytest.mark.usefixtures("answers")
def test_the_generated_files_have_what_is_new(tree: Path) -> None:
    assert "power_supplies" in (tree / "collector/README.md").read_text(encoding="utf-8")
    assert "power_supply_failed" in (tree / "rules/README.md").read_text(encoding="utf-8")
    assert "`TruerailFindingWithoutCause`" in (tree / "docs/runbooks/CAP002.md").read_text(encoding="utf-8")
    assert "truerail_planned_cables" in (tree / "docs/metrics.md").read_text(encoding="utf-8")
    restricted = tree / "deploy/ansible/roles/truerail_device/files/truerail-only.sonic"
    assert "show platform psustatus" in restricted.read_text(encoding="utf-8")


def test_the_checks_pass(answers: dict[str, Any]) -> None:
    code, printed = answers["checks"]
    assert code == 0, printed


def test_the_command_counts_racks(answers: dict[str, Any]) -> None:
    code, printed = answers["racks"]
    assert code == 0
    assert re.search(r"^\S+  \d+$", printed, re.MULTILINE)


def test_the_question_is_answered_on_the_command_line_by_the_api_and_on_the_page(answers: dict[str, Any]) -> None:
    code, printed = answers["rack"]
    assert code == 0
    assert "4 devices in r01" in printed
    assert "without an answer" in answers["summary"]
    assert re.search(r'data-question="rack">.*?A rack of the plan <input name="name"', answers["page"], re.DOTALL)


def test_the_platform_is_recognised_and_queried(answers: dict[str, Any]) -> None:
    assert answers["platform"] == ["acme", True, True]
