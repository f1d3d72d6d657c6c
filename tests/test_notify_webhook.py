"""Webhooks against a real HTTP server: what arrives, over TLS too, and how each failure is reported."""

import hmac
from pathlib import Path
from typing import Any

import pytest

from tests.fault_scenes import fault, seen
from tests.ports import refusing_port
from tests.receiving import posts
from tests.test_access_serve import certificate
from truerail.errors import DeliveryError, DeliveryRefusedError
from truerail.model.target import Secret
from truerail.service.notify.fault_news import news_of
from truerail.service.notify.notification import Notification
from truerail.service.notify.webhook import WebhookChannel
from truerail.service.notify_settings import Webhook


def message() -> Notification:
    return news_of(seen(fault()), {}, ("", "p1"))[0][0]


def webhook(url: str, **more: Any) -> WebhookChannel:
    return WebhookChannel(Webhook(url=url, **more))


def test_the_body_is_the_message_with_its_headers_and_signature(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("Bearer hunter2\n")
    (tmp_path / "key").write_text("s3cret\n")
    headers = {"Authorization": Secret("file", str(tmp_path / "token"))}
    with posts() as receiver:
        webhook(f"{receiver.base}/hook?room=1", headers=headers, secret=Secret("file", str(tmp_path / "key"))).send(
            message()
        )
        request = receiver.next()
    assert request.path == "/hook?room=1"
    assert request.json == message().body()
    assert request.headers["authorization"] == "Bearer hunter2"
    assert request.headers["content-type"] == "application/json"
    digest = hmac.new(b"s3cret", request.body, "sha256").hexdigest()
    assert request.headers["x-truerail-signature"] == f"sha256={digest}"


def test_a_url_may_be_a_secret_and_is_in_no_error(tmp_path: Path) -> None:
    file = tmp_path / "url"
    with posts() as receiver:
        file.write_text(f"{receiver.base}/services/hunter2\n")
        WebhookChannel(Webhook(url=Secret("file", str(file)))).send(message())  # type: ignore[arg-type] # as the settings read it
        assert receiver.next().path == "/services/hunter2"
    with pytest.raises(DeliveryError) as caught:
        WebhookChannel(Webhook(url=Secret("file", str(file)))).send(message())  # type: ignore[arg-type] # as above
    assert "hunter2" not in str(caught.value)
    file.write_text("hunter2")
    with pytest.raises(DeliveryError, match="is not a URL") as caught:
        WebhookChannel(Webhook(url=Secret("file", str(file)))).send(message())  # type: ignore[arg-type] # as above
    assert "hunter2" not in str(caught.value)


def test_over_tls_the_certificate_is_checked(tmp_path: Path) -> None:
    tls = certificate(tmp_path)
    with posts(tls=tls) as receiver:
        webhook(f"{receiver.base}/hook", ca=tls["certificate"]).send(message())
        assert receiver.next().json["fault"] == fault().key
        with pytest.raises(DeliveryError, match="certificate is not trusted: self-signed certificate"):
            webhook(f"{receiver.base}/hook").send(message())
        wrong = receiver.base.replace("127.0.0.1", "localhost")
        with pytest.raises(DeliveryError, match="certificate is not trusted: Hostname mismatch"):
            webhook(f"{wrong}/hook", ca=tls["certificate"]).send(message())
        assert receiver.got.empty()


@pytest.mark.parametrize(
    ("status", "again"), [(500, True), (503, True), (429, True), (401, True), (404, True), (400, False), (422, False)]
)
def test_what_may_be_taken_later_is_sent_again_and_what_never_will_is_not(status: int, again: bool) -> None:
    answers = pytest.raises(DeliveryError, match=f"127.0.0.1:[0-9]+ answers HTTP {status}")
    with posts([status]) as receiver, answers as caught:
        webhook(f"{receiver.base}/hunter2").send(message())
    assert isinstance(caught.value, DeliveryRefusedError) is not again
    assert "hunter2" not in str(caught.value)


def test_nothing_goes_to_a_host_that_the_settings_do_not_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with posts() as other, posts([302], location=f"{other.base}/elsewhere") as receiver:
        with pytest.raises(DeliveryRefusedError, match="answers HTTP 302"):
            webhook(receiver.base).send(message())
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, other.base)
        webhook(receiver.base).send(message())
        assert other.got.empty()
        assert receiver.got.qsize() == 2


def test_a_receiver_that_is_down_or_a_secret_that_is_missing_is_a_reason(tmp_path: Path) -> None:
    with refusing_port() as port, pytest.raises(DeliveryError, match=f"127.0.0.1:{port}: Connection refused"):
        webhook(f"http://127.0.0.1:{port}/hunter2").send(message())
    headers = {"Authorization": Secret("env", "TRUERAIL_NOT_SET")}
    with pytest.raises(DeliveryError, match="environment variable TRUERAIL_NOT_SET is not set"):
        webhook("http://127.0.0.1:1/", headers=headers).send(message())
    with pytest.raises(DeliveryError, match=r"none\.pem: is not a file"):
        webhook("https://127.0.0.1:1/", ca=tmp_path / "none.pem").send(message())
