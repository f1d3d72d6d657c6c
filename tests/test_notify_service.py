"""Notifications of a service: the queue over restarts, receivers that are down, and `truerail notify test`."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.fault_scenes import CRITICAL, WARNING, fault, seen
from tests.live_site import runner
from tests.patience import ENOUGH, soon
from tests.ports import refusing_port
from tests.real_postgres import each_journal, one_postgres
from tests.receiving import Posts, posts
from truerail.errors import JournalUnavailableError
from truerail.journal import Journal
from truerail.model import Severity
from truerail.service.notify import outbox
from truerail.service.notify.fault_news import news_of
from truerail.service.notify.notifier import Notifier
from truerail.service.settings import Settings

QUICKLY = 0.01
NOW = datetime(2026, 11, 20, 15, tzinfo=UTC)


def settings(*receivers: dict[str, Any]) -> Settings:
    return Settings(inventory=Path("inventory.yaml"), notify=receivers)


def hooked(receiver: Posts) -> Settings:
    return settings({"webhook": {"url": receiver.base}})


@contextmanager
def notifier(configured: Settings, journal: Journal | None = None) -> Iterator[Notifier]:
    found = Notifier(configured, journal, lambda: NOW, QUICKLY)
    try:
        yield found
    finally:
        found.close()


server = one_postgres
journal = each_journal


def events(bodies: list[Any]) -> list[tuple[str, str]]:
    return [(body["event"], body["fault"]) for body in bodies]


def test_each_receiver_gets_each_message_in_order() -> None:
    with posts() as first, posts() as second:
        to = settings({"webhook": {"url": first.base}}, {"name": "second", "webhook": {"url": second.base}})
        with notifier(to) as service:
            service.evaluated(seen(fault(1), fault(2)), resumed=True)
            service.evaluated(seen(fault(2)), resumed=True)
            for receiver in (first, second):
                bodies = receiver.take(3)
                assert events(bodies) == [("began", fault(1).key), ("began", fault(2).key), ("ended", fault(1).key)]
            soon(lambda: service.figures()["notifications_sent_total"] == 6)


def test_an_end_and_a_beginning_of_one_evaluation_both_arrive() -> None:
    with posts() as receiver, notifier(hooked(receiver)) as service:
        service.evaluated(seen(fault(1)), resumed=True)
        service.evaluated(seen(fault(2)), resumed=True)
        bodies = receiver.take(3)
    assert events(bodies) == [("began", fault(1).key), ("ended", fault(1).key), ("began", fault(2).key)]
    assert len({body["id"] for body in bodies}) == 3


def test_a_receiver_that_is_down_holds_nobody_and_gets_all_of_it_later() -> None:
    """It answers 500, and then not at all for a while: no evaluation waits, and the other receiver has everything."""
    with posts([500, 503]) as down, posts() as up:
        down.hold.clear()
        to = settings({"name": "down", "webhook": {"url": down.base}}, {"name": "up", "webhook": {"url": up.base}})
        with capture_logs() as logs, notifier(to) as service:
            service.evaluated(seen(fault(1)), resumed=True)
            service.evaluated(seen(), resumed=True)
            assert events(up.take(2)) == [("began", fault(1).key), ("ended", fault(1).key)]
            assert service.figures()["notifications_queue_length"] == 2
            down.hold.set()
            assert [event for event, _ in events(down.take(4))] == ["began", "began", "began", "ended"]
            soon(lambda: service.figures()["notifications_queue_length"] == 0)
            assert service.figures()["notifications_failed_total"] == 2
    said = [(line["event"], line.get("error", "")) for line in logs]
    assert [event for event, _ in said] == [
        "notifications are not delivered: retrying",
        "notifications are delivered again",
    ]
    assert "answers HTTP 500" in said[0][1]


def test_what_is_refused_for_good_is_lost_aloud_and_holds_nothing_up() -> None:
    with posts([422]) as receiver, capture_logs() as logs, notifier(hooked(receiver)) as service:
        service.evaluated(seen(fault(1), fault(2)), resumed=True)
        assert events(receiver.take(2))[1] == ("began", fault(2).key)
        soon(lambda: service.figures()["notifications_sent_total"] == 1)
        assert service.figures()["notifications_lost_total"] == 1
    assert [line["event"] for line in logs] == ["a notification was refused"]


def test_a_receiver_takes_what_is_as_severe_as_it_wants() -> None:
    with (
        posts() as receiver,
        notifier(settings({"severity": "critical", "webhook": {"url": receiver.base}})) as service,
    ):
        service.evaluated(seen(fault(1, WARNING), fault(2, WARNING)), resumed=True)
        service.evaluated(seen(fault(1, CRITICAL), fault(2, WARNING)), resumed=True)
        service.evaluated(seen(), resumed=True)
        assert events(receiver.take(2)) == [("worsened", fault(1).key), ("ended", fault(1).key)]
        soon(lambda: service.figures()["notifications_queue_length"] == 0)
    assert receiver.got.empty()


def test_a_restart_sends_what_was_not_delivered_and_nothing_twice(journal: Journal) -> None:
    with posts() as receiver:
        to = hooked(receiver)
        with notifier(to, journal) as service:
            service.evaluated(seen(fault(1)), resumed=True)
            assert events(receiver.take(1)) == [("began", fault(1).key)]
            soon(lambda: service.figures()["notifications_queue_length"] == 0)
    with (
        refusing_port() as port,
        notifier(settings({"webhook": {"url": f"http://127.0.0.1:{port}"}}), journal) as service,
    ):
        service.evaluated(seen(fault(1), fault(2)), resumed=True)
        soon(lambda: service.figures()["notifications_failed_total"])
    with posts() as receiver:
        to = hooked(receiver)
        with notifier(to, journal) as service:
            service.evaluated(seen(fault(1), fault(2), fault(3)), resumed=True)
            service.evaluated(seen(), resumed=True)
            expected = [("began", 2), ("began", 3), ("ended", 1), ("ended", 2), ("ended", 3)]
            assert events(receiver.take(5)) == [(event, fault(number).key) for event, number in expected]
            soon(lambda: service.figures()["notifications_queue_length"] == 0)
        with notifier(to, journal) as service:
            service.evaluated(seen(), resumed=True)
            service.evaluated(seen(fault(4)), resumed=True)
            assert events(receiver.take(1)) == [("began", fault(4).key)]


def test_what_a_receiver_takes_while_the_service_ends_is_not_sent_again(journal: Journal) -> None:
    """The answer to the last message comes after the queue is closed."""
    least = {"hook": Severity.WARNING}
    first = outbox.Outbox(least, journal, lambda: NOW)
    first.load()
    use = {"2026-11-20": {"p1": 1.0}}
    first.put(*news_of(seen(fault(1)), first.announced, ("", "p1")), use)
    message = first.next("hook")
    assert message
    first.close()
    assert first.next("hook") is None
    first.took("hook", message)
    first.write(ENOUGH)
    second = outbox.Outbox(least, journal, lambda: NOW)
    second.load()
    assert (second.waiting, set(second.announced), second.use) == (0, {fault(1).key}, use)
    second.close()
    second.write(ENOUGH)


def test_before_the_journal_is_read_beginnings_are_sent_and_what_it_has_comes_after(journal: Journal) -> None:
    with (
        refusing_port() as port,
        notifier(settings({"webhook": {"url": f"http://127.0.0.1:{port}"}}), journal) as service,
    ):
        service.evaluated(seen(fault(1)), resumed=True)
        soon(lambda: service.figures()["notifications_failed_total"])
    with posts() as receiver, notifier(hooked(receiver), journal) as service:
        service.evaluated(seen(fault(2)), resumed=False)
        assert events(receiver.take(1)) == [("began", fault(2).key)]
        soon(lambda: service.figures()["notifications_queue_length"] == 0)
        service.evaluated(seen(fault(1), fault(2)), resumed=True)
        assert events(receiver.take(1)) == [("began", fault(1).key)]


class _Gone:
    """A journal whose database does not answer."""

    def __init__(self) -> None:
        self.asked = threading.Event()

    def blob(self, name: str) -> bytes | None:
        self.asked.set()
        raise JournalUnavailableError("gone")

    def keep_blob(self, name: str, body: bytes, at: datetime) -> None:
        self.asked.set()
        raise JournalUnavailableError("gone")


def test_a_journal_that_goes_while_the_service_runs_holds_no_message_back(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = _Gone()
    with posts() as receiver, notifier(hooked(receiver), journal) as service:
        service.evaluated(seen(), resumed=True)
        monkeypatch.setattr(journal, "keep_blob", gone.keep_blob)
        service.evaluated(seen(fault(1)), resumed=True)
        assert events(receiver.take(1)) == [("began", fault(1).key)]
        assert gone.asked.wait(60)


def test_too_many_that_wait_are_dropped_from_the_oldest_on_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "MOST_QUEUED", 3)
    with posts() as receiver:
        receiver.hold.clear()
        with notifier(hooked(receiver)) as service:
            for number in range(1, 6):
                service.evaluated(seen(*map(fault, range(1, number + 1))), resumed=True)
            assert service.figures()["notifications_lost_total"] == 2
            receiver.hold.set()
            last = receiver.take(3)[-1]
    assert last["fault"] in {fault(4).key, fault(5).key}


def test_a_queue_that_another_version_wrote_begins_again(journal: Journal) -> None:
    journal.keep_blob("notifications", b'{"announced": 7}', NOW)
    with posts() as receiver, notifier(hooked(receiver), journal) as service:
        service.evaluated(seen(fault(1)), resumed=True)
        assert events(receiver.take(1)) == [("began", fault(1).key)]


def test_the_journal_does_not_forget_the_state(journal: Journal) -> None:
    service = Notifier(settings({"webhook": {"url": "http://127.0.0.1:1"}}), journal, lambda: NOW, QUICKLY)
    try:
        service.evaluated(seen(fault(1)), resumed=True)
        soon(lambda: journal.blob("notifications"))
        journal.retain(NOW + timedelta(days=40))
        assert journal.blob("notifications")
    finally:
        service.close()


Written = Callable[[str], Path]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    def writing(text: str) -> Path:
        file = tmp_path / "truerail.yaml"
        file.write_text(f"inventory: inventory.yaml\npage: {{url: https://truerail.example.net}}\n{text}\n")
        return file

    return writing


def test_each_receiver_can_be_tried(
    written: Written, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = runner(monkeypatch, capsys)
    with posts() as receiver, refusing_port() as port:
        config = written(
            f"notify:\n  - webhook: {{url: '{receiver.base}'}}\n  - {{name: siem, webhook: {{url: 'http://127.0.0.1:{port}'}}}}"
        )
        code, out, err = run("notify", "test", "--config", config)
        assert (code, out) == (2, "webhook: delivered\n")
        assert f"siem: not delivered: 127.0.0.1:{port}: Connection refused" in err
        assert receiver.next().json["event"] == "test"
        assert run("notify", "test", "--config", config, "--receiver", "webhook")[:2] == (0, "webhook: delivered\n")
        code, _, err = run("notify", "test", "--config", config, "--receiver", "webhok")
        assert code == 2
        assert "no receiver is called 'webhok', did you mean 'webhook'?" in err
    assert "has no receivers: add notify" in run("notify", "test", "--config", written(""))[2]
