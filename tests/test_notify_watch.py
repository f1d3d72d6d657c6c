"""A whole service with a living fabric: the message about a real cause, and outlets that fail."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tests.receiving import posts
from tests.test_service_watch import fabric_of, run, settings_for, until, watched
from truerail.analysis.published import Published
from truerail.service.notify import fault_news
from truerail.service.notify.notifier import Notifier
from truerail.service.notify_settings import Receiver, Webhook
from truerail.service.settings import Page


class _Broken:
    """An outlet with a bug."""

    def __init__(self) -> None:
        self.closed = False

    def evaluated(self, publication: Published, *, resumed: bool) -> None:
        raise ZeroDivisionError

    def figures(self) -> Mapping[str, float]:
        return {}

    def close(self) -> None:
        self.closed = True


def test_a_swap_that_the_service_finds_is_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fault_news, "minutes_of", lambda kind, severity: 0)
    broken = _Broken()

    async def visit() -> None:
        with posts() as receiver:
            settings = settings_for(tmp_path).model_copy(
                update={
                    "page": Page(url="https://truerail.example.net"),
                    "notify": (Receiver(webhook=Webhook(url=receiver.base)),),
                }
            )
            async with watched(settings, fabric_of()) as front:
                watch = front._watch
                watch.outlets += [broken, Notifier(settings, watch.journal, watch.clock)]
                body = (await asyncio.to_thread(receiver.next)).json
                await until(lambda: front.counters["evaluations_total"] > 3)
                assert front.counters["notifications_sent_total"] == 1
            assert receiver.got.empty()
        assert (body["event"], body["kind"], body["severity"]) == ("began", "cable-swap", "critical")
        assert body["affected"] == {"gpus": 2, "hosts": 1}
        assert body["page"] == f"https://truerail.example.net/causes/{body['fault']}"
        assert "swapped" in body["summary"]

    with capture_logs() as logs:
        run(visit)
    assert "an evaluation was not handed on" in {line["event"] for line in logs}
    assert broken.closed, "each outlet is closed before the journal"
