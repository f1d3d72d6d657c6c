"""NCCL's RAS is asked over a shell, with nothing but its read commands; one that is away is unknown, never fine."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from collector import collectors
from tests.fake_tower import settings as made
from tests.ras_server import COMMAND, MODES
from tests.real import require
from truerail.errors import SettingsError, UndeclaredCommandError
from truerail.model import Device, SshAccess, Target
from truerail.model.platforms import NCCL
from truerail.service.polled_work import work_of
from truerail.transport.command_gate import refuse_undeclared

ROOT = Path(__file__).resolve().parent.parent
RECORDED = ROOT / "tests" / "recordings" / "nccl_ras"
SENT = ["CLIENT PROTOCOL 2", "TIMEOUT 5", "SET FORMAT json", "STATUS"]


@pytest.fixture(scope="module")
def answers() -> dict[str, dict[str, Any]]:
    """What a RAS of each mode leads to, in a network that is this test's own: RAS has one port."""
    require("unshare", "ip", "bash", "timeout", root=True)
    run = 'ip link set lo up && exec "$0" -m tests.ras_server tests/recordings/nccl_ras'
    done = subprocess.run(  # the interpreter, and a command without variables
        ["unshare", "-n", "sh", "-c", run, sys.executable], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["mode"] for one in found] == list(MODES)
    return {one["mode"]: one for one in found}


@pytest.mark.parametrize(("mode", "recording"), [("json", "json-counts"), ("text", "text-mismatch")])
def test_every_version_is_read(answers: dict[str, dict[str, Any]], mode: str, recording: str) -> None:
    text = (RECORDED / recording / "answer.txt").read_text(encoding="utf-8")
    facts = collectors()["nccl_ras"].read(text, Device("gpu-001"))
    assert answers[mode]["facts"] == list(map(repr, facts))
    assert answers[mode]["error"] == ""
    assert any("behind=True" in fact for fact in answers[mode]["facts"])


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("away", "Connection refused"),
        ("silent", "no answer within 2 s"),
        ("cut", "cut short"),
        ("closes", ""),  # the shell notices it, or there is an empty answer
    ],
)
def test_one_that_does_not_answer_is_unknown(answers: dict[str, dict[str, Any]], mode: str, why: str) -> None:
    assert answers[mode]["facts"] == []
    assert answers[mode]["error"]
    assert why in answers[mode]["error"]


def test_nothing_is_sent_but_what_reads(answers: dict[str, dict[str, Any]]) -> None:
    assert {mode: one["commands"] for mode, one in answers.items() if mode not in ("away", "closes")} == dict.fromkeys(
        ("json", "text", "cut", "silent"), SENT
    )
    assert answers["closes"]["commands"] == SENT[:1]


def test_hosts_are_not_asked_for_it_unless_they_are_named() -> None:
    with pytest.raises(UndeclaredCommandError):
        refuse_undeclared(Target("gpu-001", "10.0.0.1", platform="linux"), [COMMAND])
    refuse_undeclared(Target("nccl-gpu-001", "10.0.0.1", platform=NCCL), [COMMAND])


def test_the_setting_names_one_host_of_each_job() -> None:
    host = Target("gpu-001", "10.0.0.1", ssh=SshAccess(user="truerail"), timeout_seconds=7.0, zone="z")
    work = work_of(made(jobs={"ras": {"hosts": ["GPU-001"], "every": "1m"}}), [host], None)
    (listed, ras) = work.targets
    assert listed is host
    assert (ras.name, ras.platform, ras.address, ras.ssh, ras.zone) == (
        "nccl-gpu-001", NCCL, "10.0.0.1", host.ssh, "z"
    )  # fmt: skip
    assert work.every_seconds["nccl_ras"] == 60.0
    assert work_of(made(), [host], None).targets == (host,)
    with pytest.raises(SettingsError, match=r"jobs\.ras\.hosts: the inventory has no host 'gpu-9'"):
        work_of(made(jobs={"ras": {"hosts": ["gpu-9"]}}), [host], None)
