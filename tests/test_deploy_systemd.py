"""The systemd units: what systemd itself says of them, and that their examples fit them."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.deploying import DEPLOY, document, passes, run
from tests.real import require

FOLDER = DEPLOY / "systemd"
UNIT = FOLDER / "truerail.service"
ROLES = {"truerail-judge.service": "judge", "truerail-poller@.service": "poller", "truerail-front.service": "front"}
UNITS = [UNIT, *(FOLDER / name for name in ROLES)]
NATS = Path("/lib/systemd/system/nats-server.service")
HARDENING = re.compile(
    r"^(?:NoNew|Capability|Ambient|Protect|Private|ProcSubset|Restrict|Lock|MemoryDeny|Remove|Keyring|SystemCall)"
)
AGENT = FOLDER / "truerail-agent.service"
TRUERAIL = Path(sys.executable).with_name("truerail")
AT_MOST = 20
"""Tenths of systemd's exposure level: 2.0 of 10."""


def settings(unit: Path = UNIT) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in unit.read_text(encoding="utf-8").splitlines():
        if "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_finds_no_fault_in_the_unit(unit: Path, tmp_path: Path) -> None:
    require("systemd-analyze")
    here = tmp_path / unit.name
    here.write_text(unit.read_text().replace("/opt/truerail/bin/truerail", str(TRUERAIL)))
    done = run("systemd-analyze", "verify", "--man=no", here)
    assert (done.returncode, done.stderr) == (0, "")
    here.write_text(here.read_text().replace("RestartSec=2s", "RestartSec=soon"))
    assert "soon" in run("systemd-analyze", "verify", "--man=no", here).stderr


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_the_unit_is_exposed_by_at_most_two_of_ten(unit: Path, tmp_path: Path) -> None:
    require("systemd-analyze")
    score = ("systemd-analyze", "security", "--offline=true", f"--threshold={AT_MOST}")
    passes(run(*score, unit))
    bare = tmp_path / unit.name
    bare.write_text(f"[Service]\nExecStart={settings(unit)['ExecStart'][0]}\n")
    assert run(*score, bare).returncode == 1


def test_the_unit_of_the_agent_is_good_and_starts_what_is_built(tmp_path: Path) -> None:
    require("systemd-analyze")
    done = run("systemd-analyze", "verify", "--man=no", AGENT)
    assert (done.returncode, done.stderr) == (0, "")
    passes(run("systemd-analyze", "security", "--offline=true", f"--threshold={AT_MOST}", AGENT))
    program = tmp_path / "truerail-agent.pyz"
    passes(run(TRUERAIL, "agent", "build", "--out", program))
    words = next(line for line in AGENT.read_text().splitlines() if line.startswith("ExecStart="))
    words = words.replace("/usr/local/lib/truerail-agent.pyz", str(program)).replace(
        "$TRUERAIL_AGENT", "--bus tls://h:1"
    )
    _, isolated, *given = words.split()
    done = run(sys.executable, isolated, *given)
    assert done.returncode == 2
    assert "truerail-agent: --ca, --cert or --key: No such file" in done.stderr


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_process_that_ends_is_replaced_within_seconds(unit: Path) -> None:
    """By the unit where it is the service's first one, which ends with 0 only when it is told to; else by that one."""
    found = settings(unit)
    assert (found["Restart"], found["RestartSec"]) == (["on-failure"], ["2s"])
    assert found.get("OOMPolicy") == (None if "poller" in unit.name else ["continue"])


def test_the_unit_reloads_by_the_signal_that_serve_takes() -> None:
    reported = settings()
    assert reported["ExecReload"] == ["/bin/kill -HUP $MAINPID"]
    assert reported["DynamicUser"] == ["yes"]
    assert reported["StateDirectory"] == ["truerail"]


def test_the_example_fits_the_unit() -> None:
    reported, example = settings(), document(FOLDER / "truerail.yaml")
    config = reported["ExecStart"][0].split()[-1]
    assert config == "/etc/truerail/truerail.yaml"
    assert example["journal"]["url"].startswith(f"sqlite:////var/lib/{reported['StateDirectory'][0]}/")
    prefix, _, folder = reported["LoadCredential"][0].partition(":")
    assert folder == "/etc/truerail/credentials"
    assert example["access"]["metrics_token"]["credential"].startswith(f"{prefix}_")
    key = document(FOLDER / "inventory.yaml")["defaults"]["key"]
    assert re.fullmatch(rf"/run/credentials/{UNIT.name}/{prefix}_\w+", key)


def test_the_example_is_good(tmp_path: Path) -> None:
    tmp_path.joinpath("secret_metrics_token").write_text("x" * 32)
    done = run(TRUERAIL, "serve", "--check", "-c", FOLDER / "truerail.yaml", CREDENTIALS_DIRECTORY=str(tmp_path))
    passes(done)
    assert "OK. 80 devices" in done.stdout + done.stderr


@pytest.mark.parametrize(("name", "role"), ROLES.items())
def test_a_role_is_as_locked_down_as_the_service_and_logs_in_with_its_own_key(name: str, role: str) -> None:
    reported, service = settings(FOLDER / name), settings()
    assert {key: reported.get(key) for key in service if HARDENING.match(key)} == {
        key: values for key, values in service.items() if HARDENING.match(key)
    }
    words = reported["ExecStart"][0].split()
    assert words[words.index("--role") + 1] == role
    key = f"{role}-%i" if "@" in name else role
    assert words[words.index("--creds") + 1] == f"%d/secret_{key}.nk"
    assert ("--zone" in words) is ("@" in name)
    assert reported["EnvironmentFile"] == ["/etc/truerail/bus.env"]
    assert [*settings(FOLDER / "bus.env")] == [words[words.index("--bus") + 1].strip("${}")]


def test_the_bus_is_as_locked_down_as_the_service(tmp_path: Path) -> None:
    """Debian's unit with the drop-in."""
    require("systemd-analyze", "nats-server")
    dropped = tmp_path / "nats-server.service.d"
    dropped.mkdir()
    shutil.copy(NATS, tmp_path)
    shutil.copy(FOLDER / "nats-server.service.d" / "truerail.conf", dropped)
    done = run("systemd-analyze", "verify", "--man=no", tmp_path / NATS.name)
    assert (done.returncode, done.stderr) == (0, "")
    passes(run("systemd-analyze", "security", "--offline=true", f"--threshold={AT_MOST}", tmp_path / NATS.name))
    reported = settings(dropped / "truerail.conf")
    assert reported["StateDirectory"] == ["nats"]
    assert reported["ExecStart"][0] == ""
