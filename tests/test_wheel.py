"""What is shipped: the wheel, installed into an environment of its own, evaluates a fabric there."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from urllib.request import urlopen
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import truerail
from tests.patience import ENOUGH
from tests.real import require
from truerail.extras import EXTRAS
from truerail.outputs.monitoring import monitoring_files

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("truerail", "collector", "rules")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OWNERS = """
import json, importlib.metadata as m
owners = m.packages_distributions()
print(json.dumps({name: sorted(set(owners.get(name, []))) for name in %r}))
"""


SEVERAL = """
import contextlib, io, json, sys
from truerail.cli.run import main
done = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["truerail", *words]
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(said):
        try:
            main()
        except SystemExit as ended:
            done.append((ended.code or 0, said.getvalue()))
print(json.dumps(done))
"""
"""What runs commands one after the other, and prints how each ended."""


def distribution(line: str) -> str:
    """The name of a requirement's distribution."""
    return canonicalize_name(Requirement(line).name)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this checkout with the tools that are installed."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with nothing but the wheel, which pip installed."""
    folder = tmp_path_factory.mktemp("environment") / "bare"
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel)
    return folder


@pytest.fixture(scope="module")
def core(bare: Path) -> Path:
    """The `bin` of a copy without extras: it is lent the packages that the wheel itself asks for, and theirs, and no
    other.
    """
    folder = copied(bare, "core")
    lent = distributions(PROJECT["dependencies"])
    assert len(lent) <= 40
    for name in {file.parts[0] for one in lent.values() for file in one.files or ()} - {"..", "__pycache__"}:
        (packages(folder) / name).symlink_to(Path(sysconfig.get_path("purelib")) / name)
    return folder / "bin"


@pytest.fixture(scope="module")
def installed(bare: Path) -> Path:
    """The `bin` of a copy with everything: what the wheel depends on is lent by the environment of the tests."""
    folder = copied(bare, "whole")
    (packages(folder) / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")  # not the .pth files in it
    return folder / "bin"


def copied(environment: Path, name: str) -> Path:
    """A copy of an environment beside it, whose command runs its own Python."""
    folder = environment.with_name(name)
    shutil.copytree(environment, folder, symlinks=True)
    command = folder / "bin" / "truerail"
    command.write_text(command.read_text().replace(str(environment), str(folder)))
    return folder


def packages(environment: Path) -> Path:
    """Where an environment has its packages."""
    return Path(sysconfig.get_path("purelib", vars={"base": str(environment)}))


def distributions(lines: Iterable[str]) -> dict[str, metadata.Distribution]:
    """The distributions that requirements name, and all that these ask for, by name."""
    found: dict[str, metadata.Distribution] = {}
    waiting = list(map(Requirement, lines))
    while waiting:
        asked = waiting.pop()
        name = canonicalize_name(asked.name)
        if name in found and not asked.extras:
            continue
        found[name] = metadata.distribution(name)
        extras = ("", *asked.extras)
        needed = map(Requirement, found[name].requires or ())
        waiting += [one for one in needed if not one.marker or any(one.marker.evaluate({"extra": e}) for e in extras)]
    return found


def run(*command: object, code: int = 0, cwd: Path | None = None) -> str:
    """Standard output of a command that ends with `code`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_"))}
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, f"{command[0]} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def several(environment: Path, commands: Iterable[Sequence[str]], cwd: Path) -> list[tuple[int, str]]:
    """Codes and outputs of commands that one process of an environment runs, one after the other."""
    return [
        (code, said)
        for code, said in json.loads(run(environment / "python", "-c", SEVERAL, json.dumps(list(commands)), cwd=cwd))
    ]


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


def test_without_extras_a_fabric_is_checked_and_the_rest_names_its_extra(core: Path, tmp_path: Path) -> None:
    made = ["demo", "--once", "--hosts", "8", "--rails", "4", "--fault", "cable-swap", "--output", "fabric"]
    here = ("--plan", "fabric/plan.csv", "--from", "fabric/capture")
    done = {
        (*made,): 0,
        ("check", *here, "--format", "xlsx", "--output", "report.xlsx"): 1,
        ("check", "--from", "fabric/capture"): 1,
        ("plan", "lint", "fabric/plan.csv"): 0,
        ("plan", "convert", "fabric/plan.csv", "--output", "plan.xlsx"): 0,
        ("plan", "infer", "--from", "fabric/capture", "--output", "found.yaml"): 0,
        ("where", "gpu-1", *here): 1,
        ("export", "topology", *here): 0,
        ("rules", "list"): 0,
    }
    refused = {
        ("serve", "--config", "truerail.yaml"): "serve",
        ("query", "SELECT 1", "--store", "fabric"): "history",
        ("mcp",): "mcp",
        ("plan", "pack", "fabric/plan.csv", "--output", "pack"): "pack",
        ("bus", "check", "--bus", "nats://127.0.0.1:4222"): "bus",
    }
    (tmp_path / "truerail.yaml").write_text("inventory: inventory.yaml\n")
    ended = dict(zip((*done, *refused), several(core, (*done, *refused), tmp_path), strict=True))
    assert {words: ended[words][0] for words in done} == done, ended
    for words, extra in refused.items():
        code, said = ended[words]
        assert code == 2, (words, said)
        assert f"pip install 'truerail[{extra}]'" in said, words


def test_every_import_is_of_a_package_that_the_wheel_or_an_extra_asks_for() -> None:
    owners = metadata.packages_distributions()
    assert len(PROJECT["dependencies"]) <= 12
    brought = distributions(PROJECT["dependencies"])
    for extra, modules in EXTRAS.items():
        lent = distributions(PROJECT["optional-dependencies"][extra])
        missing = [one for one in modules if not {*map(canonicalize_name, owners[one.split(".")[0]])} & lent.keys()]
        assert not missing, (extra, missing)
        brought |= lent
    text = "\n".join(
        path.read_text(encoding="utf-8") for package in PACKAGES for path in (ROOT / package).rglob("*.py")
    )
    imported = set(re.findall(r"^ *(?:from|import) ([a-z_A-Z]\w*)", text, re.MULTILINE)) - sys.stdlib_module_names
    ours = imported & owners.keys() - set(PACKAGES)
    strange = {name for name in ours if not {*map(canonicalize_name, owners[name])} & brought.keys()}
    assert strange == set()


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
    words = ("--hosts", "8", "--rails", "4", "--port", "0", "--quiet", "--output", "fabric")
    with subprocess.Popen(
        [str(installed / "truerail"), "demo", *words],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
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
