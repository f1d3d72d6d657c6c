"""A capture whose rounds go back over days has a past: LNK006 on its files, as a user runs it."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.capture_trees import grow, lldp, pack
from truerail.cli.app import app
from truerail.cli.evaluating import past_before
from truerail.errors import CommandError
from truerail.model import Cable, Device, Plan, Port, Role
from truerail.plans import dump_csv
from truerail.transport.replay import read_capture

AT = datetime(2026, 11, 20, 14, tzinfo=UTC)
DEVICES = {"gpu-1": Device("gpu-1"), "leaf-0": Device("leaf-0", Role.LEAF)}
PLAN = Plan(DEVICES, (Cable(Port("gpu-1", "eth0"), Port("leaf-0", "swp1"), rail=0, speed_gbps=400.0),))
MODULE = """\tIdentifier                                : 0x18 (QSFP-DD)
\tVendor name                               : ACME
\tVendor PN                                 : A1
\tVendor SN                                 : S1
\tModule temperature                        : 45.00 degrees C / 113.00 degrees F
\tReceiver signal average optical power     : {milliwatts:.4f} mW / {dbm:.2f} dBm
"""
BITS = 425_000_000_000


def files(days: float, apart_hours: float = 2, counters: bool = False) -> dict[str, str]:
    """Rounds of one host that receives 0.2 dB less each day; with counters, two rounds ten seconds apart each."""
    found = {}
    for hour in range(0, int(days * 24) + 1, int(apart_hours)):
        for seconds in (0, 10) if counters else (0,):
            at = AT - timedelta(hours=days * 24 - hour) + timedelta(seconds=seconds)
            folder, dbm, now = f"{at:%Y-%m-%dT%H:%M:%SZ}/gpu-1", -2 - hour / 120, 3600 * hour + seconds
            found[f"{folder}/ethtool_-m_eth0"] = MODULE.format(milliwatts=10 ** (dbm / 10), dbm=dbm)
            found[f"{folder}/lldpctl_-f_json0"] = lldp("eth0", "leaf-0", "swp1")
            if counters:
                words = {"rx_bits_phy": BITS * now, "rx_corrected_bits_phy": 400 * now}
                lines = "".join(f"     {name}: {value}\n" for name, value in words.items())
                found[f"{folder}/ethtool_-S_eth0"] = f"NIC statistics:\n{lines}"
    return found


def checked(path: Path, tmp_path: Path) -> tuple[list[dict[str, str]], dict[str, str]]:
    plan = tmp_path / "plan.csv"
    plan.write_text(dump_csv(PLAN))
    words = ["check", "--from", str(path), "--plan", str(plan), "--format", "json", "--rule", "LNK006"]
    report = json.loads(CliRunner().invoke(app, words).stdout)
    return report["findings"], report["verdicts"][0]


@pytest.mark.parametrize("packed", [False, True])
def test_light_that_falls_over_a_weeks_rounds_is_found(tmp_path: Path, packed: bool) -> None:
    tree = files(8)
    path = pack(tmp_path / "c.tgz", tree) if packed else grow(tmp_path, tree)
    (finding,), _ = checked(path, tmp_path)
    assert finding["subject"] == "gpu-1/eth0"
    assert "dB less light" in finding["summary"]
    assert "its limit of light is reached in" in finding["summary"]


def test_two_rounds_close_together_count_bit_errors(tmp_path: Path) -> None:
    past = past_before(PLAN, read_capture(grow(tmp_path, files(6, counters=True)), devices=DEVICES))
    assert past is not None
    rates = [float(one.values[3, 0, 0]) for one in past.links.samples]
    assert rates == pytest.approx([-9.03] * len(rates), abs=0.02)


def test_a_few_hours_are_no_past(tmp_path: Path) -> None:
    findings, rule = checked(grow(tmp_path, files(0.5)), tmp_path)
    assert not findings
    assert "it needs the past of 5 days" in rule["why"]


def test_a_capture_that_is_gone_is_an_error(tmp_path: Path) -> None:
    path = pack(tmp_path / "c.tgz", files(6))
    capture = read_capture(path, devices=DEVICES)
    path.unlink()
    with pytest.raises(CommandError, match=r"c\.tgz"):
        past_before(PLAN, capture)
