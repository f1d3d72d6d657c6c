"""The systemd unit: what systemd itself says of it, and that its example fits it."""

import re
import sys
from pathlib import Path

from deploying import DEPLOY, document, passes, run
from real import require

FOLDER = DEPLOY / "systemd"
UNIT = FOLDER / "truerail.service"
TRUERAIL = Path(sys.executable).with_name("truerail")
AT_MOST = 20
"""Tenths of systemd's exposure level: 2.0 of 10."""


def settings() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in UNIT.read_text(encoding="utf-8").splitlines():
        if "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


def test_systemd_finds_no_fault_in_the_unit(tmp_path: Path) -> None:
    require("systemd-analyze")
    here = tmp_path / UNIT.name
    here.write_text(UNIT.read_text().replace("/opt/truerail/bin/truerail", str(TRUERAIL)))
    done = run("systemd-analyze", "verify", "--man=no", here)
    assert (done.returncode, done.stderr) == (0, "")
    here.write_text(here.read_text().replace("RestartSec=10s", "RestartSec=soon"))
    assert "soon" in run("systemd-analyze", "verify", "--man=no", here).stderr


def test_the_unit_is_exposed_by_at_most_two_of_ten(tmp_path: Path) -> None:
    require("systemd-analyze")
    score = ("systemd-analyze", "security", "--offline=true", f"--threshold={AT_MOST}")
    passes(run(*score, UNIT))
    bare = tmp_path / UNIT.name
    bare.write_text(f"[Service]\nExecStart={settings()['ExecStart'][0]}\n")
    assert run(*score, bare).returncode == 1


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
