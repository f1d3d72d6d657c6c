"""Captures of several rounds of what devices count, in the words of their platforms, checked by the command itself."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from collector.nos.sonic_forms import DUMP
from tests.capture_trees import grow
from truerail.cli.app import app

AT = datetime(2026, 11, 20, 14, tzinfo=UTC)
Counted = Mapping[str, Mapping[str, int]]
"""What each port of a device has counted, by the platform's own names."""


def sonic_dump(ports: Counted) -> str:
    """SONiC's counters database with these ports; values are strings there."""
    oids = {port: f"oid:0x{0x1000000000002 + number:x}" for number, port in enumerate(ports)}
    found = {"COUNTERS_PORT_NAME_MAP": {"type": "hash", "value": oids}}
    for port, values in ports.items():
        found[f"COUNTERS:{oids[port]}"] = {"type": "hash", "value": {n: str(value) for n, value in values.items()}}
    return json.dumps(found)


def eos_interfaces(ports: Counted) -> str:
    """EOS' `show interfaces | json`, the parts that tell counters."""
    return json.dumps({"interfaces": {port: {"interfaceCounters": dict(values)} for port, values in ports.items()}})


def ethtool(values: Mapping[str, int]) -> str:
    """`ethtool -S` of one port."""
    return "NIC statistics:\n" + "".join(f"     {name}: {value}\n" for name, value in values.items())


def kept_as(command: str) -> str:
    """The file of a command in a capture."""
    return re.sub(r"[^A-Za-z0-9.-]+", "_", command)


SONIC = kept_as(DUMP.text)


def rounds(answers: Callable[[int], Mapping[str, str]], number: int = 31, step_seconds: float = 10.0) -> dict[str, str]:
    """The files of a capture: what `answers` gives for each round, by path under the round's folder."""
    files = {}
    for sample in range(number):
        at = (AT + timedelta(seconds=sample * step_seconds)).isoformat().replace("+00:00", "Z")
        files |= {f"{at}/{path}": text for path, text in answers(sample).items()}
    return files


def checked(path: Path, plan: str, files: Mapping[str, str]) -> dict[str, Any]:
    """What `truerail check --format json` says of a capture. `plan` is the lines of a plan in CSV without its head."""
    head = "a_device,a_role,a_port,b_device,b_role,b_port,rail,plane,speed_gbps\n"
    (path / "plan.csv").write_text(head + plan)
    capture = grow(path / "capture", files)
    words = ["check", "--plan", str(path / "plan.csv"), "--from", str(capture), "--format", "json"]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code in (0, 1), done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def of_rule(report: Mapping[str, Any], code: str) -> tuple[str, list[dict[str, Any]]]:
    """A rule's verdict and its findings."""
    (status,) = [verdict["status"] for verdict in report["verdicts"] if verdict["rule"] == code]
    return status, [finding for finding in report["findings"] if finding["rule"] == code]
