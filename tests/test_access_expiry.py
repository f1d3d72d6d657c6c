"""A certificate that ends soon is reported in the log, by `serve --check`, and always as a metric."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.live_site import runner
from tests.test_access_serve import certificate, during
from truerail.service.settings import Tls
from truerail.web.access.expiry import end_of, every_day, warning
from truerail.web.access.tls import Certificates
from truerail.web.context import RequestContext
from truerail.web.http_server import Listening

ENDS = datetime(2026, 12, 20, 12, 0, tzinfo=UTC)
CHAIN = Path("chain.pem")


@pytest.mark.parametrize(
    ("left", "summary"),
    [
        (timedelta(days=30, seconds=1), ""),
        (timedelta(days=30), "chain.pem: ends at 2026-12-20 12:00 UTC, in 30 d. Renew it, then send SIGHUP"),
        (timedelta(hours=1), "chain.pem: ends at 2026-12-20 12:00 UTC, in 0 d. Renew it, then send SIGHUP"),
        (timedelta(0), "chain.pem: ended at 2026-12-20 12:00 UTC: clients refuse it. Renew it, then send SIGHUP"),
        (-timedelta(days=3), "chain.pem: ended at 2026-12-20 12:00 UTC: clients refuse it. Renew it, then send SIGHUP"),
    ],
)
def test_what_is_said_of_the_end(left: timedelta, summary: str) -> None:
    assert warning(CHAIN, ENDS, ENDS - left) == summary


def test_of_an_end_that_nobody_can_read_nothing_is_said(tmp_path: Path) -> None:
    odd = tmp_path / "odd.pem"
    odd.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    assert end_of(odd) is None
    assert warning(odd, None) == ""


def test_a_chain_ends_with_the_first_of_its_certificates(tmp_path: Path) -> None:
    first = Path(certificate(tmp_path, lasts=timedelta(days=90))["certificate"]).read_bytes()
    second = Path(certificate(tmp_path, lasts=timedelta(days=2))["certificate"]).read_bytes()
    chain = tmp_path / "chain.pem"
    chain.write_bytes(first + second)
    ends = end_of(chain)
    assert ends is not None
    assert timedelta(days=1) < ends - datetime.now(UTC) < timedelta(days=3)


def test_a_reload_takes_over_the_end(tmp_path: Path) -> None:
    certificates = Certificates(Tls.model_validate(certificate(tmp_path, lasts=timedelta(days=2))))
    with capture_logs() as logged:
        certificates.warn()
        certificate(tmp_path, lasts=timedelta(days=90))
        certificates.reload()
        certificates.warn()
    assert [(one["log_level"], one["event"]) for one in logged] == [("warning", "certificate ends")]
    assert "cert.pem: ends at " in logged[0]["certificate"]
    assert certificates.warning == ""


def test_the_service_warns_as_it_starts(tmp_path: Path) -> None:
    async def visit(listening: Listening) -> None:
        assert listening.certificates is not None

    with capture_logs() as logged:
        during(visit, tls=certificate(tmp_path))
    assert [one["event"] for one in logged if one["log_level"] == "warning"] == ["certificate ends"]


async def test_it_is_reported_again_and_again() -> None:
    reported: list[int] = []
    task = asyncio.create_task(every_day(lambda: reported.append(1), seconds=0.0))
    while len(reported) < 3:
        await asyncio.sleep(0)
    task.cancel()
    assert len(reported) == 3


def test_the_metric_is_there_with_tls_alone(tmp_path: Path) -> None:
    class OnlyEnds:
        ends = ENDS

    desk: Any = RequestContext.__new__(RequestContext)
    desk.streams, desk.certificates = 2, None
    assert desk.figures == {"event_streams": 2.0}
    desk.certificates = OnlyEnds()
    assert desk.figures["tls_certificate_not_after_timestamp_seconds"] == ENDS.timestamp()


@pytest.mark.parametrize(("days", "summary"), [(2, "cert.pem: ends at "), (90, "")])
def test_serve_check_says_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], days: int, summary: str
) -> None:
    files = certificate(tmp_path, lasts=timedelta(days=days))
    (tmp_path / "inventory.yaml").write_text("devices: [{name: a, role: host, platform: linux, address: 192.0.2.1}]\n")
    settings = tmp_path / "truerail.yaml"
    settings.write_text("fabric: lab\ninventory: inventory.yaml\nhttp: {tls: {certificate: cert.pem, key: key.pem}}\n")
    run = runner(monkeypatch, capsys)
    code, out, err = run("serve", "--check", "--config", settings)
    assert code == 0
    assert "OK. 1 device, no plan" in out
    assert summary in err
    assert bool(err) == bool(summary)
    Path(files["key"]).write_text("no key")
    code, out, err = run("serve", "--check", "--config", settings)
    assert (code, out) == (2, "")
    assert "key.pem: holds no private key" in err
