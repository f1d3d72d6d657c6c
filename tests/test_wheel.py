"""What is shipped: the wheel, installed into an environment of its own, evaluates a fabric there."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from urllib.request import urlopen
from zipfile import ZipFile

import pytest

import truerail
from tests.patience import ENOUGH
from tests.real import require
from truerail.outputs.monitoring import monitoring_files

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("truerail", "collector", "rules")
OWNERS = """
import json, importlib.metadata as m
owners = m.packages_distributions()
print(json.dumps({name: sorted(set(owners.get(name, []))) for name in %r}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this checkout with the tools that are installed."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of an environment that holds the wheel; what it depends on is lent by the environment of the tests."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")  # adds the path, not the .pth files in it
    return folder / "bin"


def run(*command: object, code: int = 0, cwd: Path | None = None) -> str:
    """Standard output of a command that ends with `code`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_"))}
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, f"{command[0]} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_wheel_holds_the_packages_and_nothing_else(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == {*PACKAGES, f"truerail-{truerail.__version__}.dist-info"}
    assert not [name for name in names if "__pycache__" in name or name.startswith("tests")]
    code = {str(path.relative_to(ROOT)) for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    assert code <= set(names)


def test_no_other_distribution_owns_our_names(installed: Path) -> None:
    owners = json.loads(run(installed / "python", "-c", OWNERS % (PACKAGES,)))
    assert owners == {name: ["truerail"] for name in PACKAGES}


def test_the_installed_command_is_the_wheels(installed: Path, tmp_path: Path) -> None:
    assert run(installed / "truerail", "--version", cwd=tmp_path).split()[-1] == truerail.__version__
    where = run(installed / "python", "-c", "import truerail, rules, collector; print(rules.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(installed.parent)


def test_the_installed_command_evaluates_a_recorded_fabric(installed: Path, tmp_path: Path) -> None:
    made = ["demo", "--once", "--hosts", "8", "--rails", "4", "--fault", "cable-swap", "--output", "fabric"]
    run(installed / "truerail", *made, cwd=tmp_path)
    assert "<html" in (tmp_path / "fabric" / "report.html").read_text(encoding="utf-8")
    check = ["check", "--plan", "fabric/plan.csv", "--from", "fabric/capture", "--format", "json"]
    evaluated = json.loads(run(installed / "truerail", *check, code=1, cwd=tmp_path))
    assert [cause["kind"] for cause in evaluated["causes"]] == ["cable-swap"]
    assert evaluated["summary"]["cables_wrong"] == 2


def test_the_installed_command_writes_what_monitoring_loads(installed: Path, tmp_path: Path) -> None:
    require("promtool")
    wiki = "https://wiki.example.com/rails"
    run(installed / "truerail", "monitoring", "export", "site", "--runbooks", wiki, cwd=tmp_path)
    site = tmp_path / "site"
    said = run("promtool", "check", "rules", "--lint=all", "--lint-fatal", site / "prometheus/truerail.rules.yaml")
    assert "SUCCESS" in said
    assert {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()} == set(monitoring_files())
    rules = (site / "prometheus/truerail.rules.yaml").read_text(encoding="utf-8")
    pages = set(re.findall(rf"runbook_url: {wiki}/(\w+\.md)", rules))
    assert pages
    assert pages <= {path.name for path in (site / "runbooks").iterdir()}


def test_the_installed_command_serves_the_page_with_everything_that_it_needs(installed: Path, tmp_path: Path) -> None:
    command = [
        installed / "truerail",
        "demo",
        "--hosts",
        "8",
        "--rails",
        "4",
        "--port",
        "0",
        "--quiet",
        "--output",
        "fabric",
    ]
    with subprocess.Popen(
        list(map(str, command)), cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout
            opened = next((line for line in iter(process.stdout.readline, "") if line.startswith("  Open ")), "")
            url = opened.split()[1].rstrip("/")
            page = urlopen(f"{url}/", timeout=ENOUGH).read().decode()
            files = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', page))
            assert {Path(file).suffix for file in files} >= {".css", ".js"}
            for file in files:
                with urlopen(f"{url}{file}", timeout=ENOUGH) as answer:
                    assert answer.read(), file
        finally:
            process.terminate()
        assert process.wait(timeout=ENOUGH) == 0
