"""`truerail serve --role`: options that do not fit together are named, with the exit code of bad input."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from tests.live_site import Run, runner


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    yield runner(monkeypatch, capsys)
    structlog.reset_defaults()
    root = logging.getLogger()
    for handler in [one for one in root.handlers if type(one) is logging.StreamHandler]:
        root.removeHandler(handler)  # it writes to this test's captured stream


BUS = "nats://127.0.0.1:1"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--bus", BUS), "--bus needs --role poller, judge or front"),
        (("--zone", "dc1"), "--zone needs --role poller, judge or front"),
        (("--role", "fron", "--bus", BUS), "--role fron: expected one of poller, judge, front"),
        (("--role", "front"), "--role front needs --bus"),
        (("--role", "front", "--bus", BUS, "--name", "a"), "--name is for --role poller: a front has all zones"),
        (("--role", "front", "--bus", BUS), f"bus {BUS}: "),
        (("--role", "poller"), "--role poller needs --bus, such as tls://bus.example:4222"),
        (("--role", "judge", "--bus", BUS, "--zone", "dc1"), "--zone is for --role poller"),
        (("--role", "judge", "--bus", BUS, "--pollers", "2"), "--pollers is for a service without --role"),
        (("--role", "poller", "--bus", BUS, "--name", "a.b"), "--name a.b: expected letters, digits, _ and -"),
        (("--role", "poller", "--bus", BUS, "--zone", "dc1"), "--zone dc1: the inventory has no device of this zone, only of default"),  # noqa: E501 - one case a line
        (("--role", "poller", "--bus", "nats://10.0.0.1:4222"), "nats:// is not encrypted and for this machine alone; use tls://"),  # noqa: E501 - one case a line
        (("--role", "poller", "--bus", "http://bus"), "--bus http://bus: expected tls://HOST:PORT"),
        (("--role", "poller", "--bus", "tls://bus:x"), "--bus: not an address: "),
        (("--role", "judge", "--bus", "tls://u:hunter2@bus"), "an address holds no secret, give a file by --creds"),
        (("--role", "judge", "--bus", BUS, "--creds", "none.nk"), "none.nk: there is no such file"),
        (("--role", "poller", "--bus", BUS), f"bus {BUS}: "),
        (("--role", "judge", "--bus", BUS), f"bus {BUS}: "),
    ],
)  # fmt: skip
def test_a_mistake_is_named(run: Run, tmp_path: Path, options: tuple[str, ...], expected: str) -> None:
    (tmp_path / "inventory.yaml").write_text("devices:\n  - {name: h1, role: host, address: 127.0.0.1}\n")
    (tmp_path / "truerail.yaml").write_text("inventory: inventory.yaml\n")
    code, _, err = run("serve", "--config", tmp_path / "truerail.yaml", *options)
    assert code == 2
    assert expected in err
    assert "hunter2" not in err


def test_a_judge_does_not_probe_because_it_logs_in_nowhere(run: Run, tmp_path: Path) -> None:
    (tmp_path / "inventory.yaml").write_text("devices: [{name: h1}]\n")
    config = tmp_path / "truerail.yaml"
    config.write_text("inventory: inventory.yaml\njournal: {url: ''}\nprobe: {every: 10m}\n")
    code, _, err = run("serve", "--config", config, "--role", "judge", "--bus", BUS)
    assert code == 2
    assert "probe: only a service without --role logs in to hosts" in err
