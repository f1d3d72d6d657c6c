"""Notifications of a running service: from evaluations to the queue, and a courier for each receiver."""

import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Protocol

from truerail.analysis.published import Published
from truerail.errors import DeliveryError, DeliveryRefusedError, JournalUnavailableError
from truerail.journal import Journal
from truerail.model.finding import Severity
from truerail.service.logs import logger
from truerail.service.notify.fault_news import news_of
from truerail.service.notify.notification import Notification
from truerail.service.notify.outbox import Outbox
from truerail.service.notify.pod_use import pods_in_use, use_after
from truerail.service.notify_settings import OTLP, Otlp, Webhook
from truerail.service.settings import Settings

# ----------------------------------------------------------------------------------------------------------------------
# Sends the messages of the queue to one receiver, in order, in a thread of its own.


FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 300.0
"""Between attempts, doubled each time."""


class Channel(Protocol):
    """How a receiver gets messages."""

    def send(self, message: Notification) -> None:
        """Sends one. Raises DeliveryError to try again, DeliveryRefusedError where that is of no use."""


class Courier:
    """One receiver's thread. A message that it does not take is sent again until it does: the next ones wait."""

    def __init__(self, name: str, channel: Callable[[], Channel], outbox: Outbox, first_wait: float) -> None:
        self._name, self._make, self._outbox, self._first_wait = name, channel, outbox, first_wait
        self.sent = self.failed = self.refused = 0
        self._failing = False
        self.thread = threading.Thread(target=self._run, name=f"notify {name}", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        wait = self._first_wait
        while (message := self._outbox.next(self._name)) is not None:
            try:
                self._make().send(message)
            except DeliveryRefusedError as error:
                self._refuse(message, str(error))
            except DeliveryError as error:
                self._failed(str(error))
                self._outbox.pause(wait)
                wait = min(2 * wait, LONGEST_WAIT_SECONDS)
                continue
            except Exception as error:  # noqa: BLE001 - a bug with one message must not end the sending of all others
                self._refuse(message, type(error).__name__)
            else:
                self._took()
            self._outbox.took(self._name, message)
            wait = self._first_wait

    def _took(self) -> None:
        self.sent += 1
        if self._failing:
            self._failing = False
            logger().info("notifications are delivered again", receiver=self._name)

    def _failed(self, error: str) -> None:
        self.failed += 1
        if not self._failing:
            self._failing = True
            logger().warning("notifications are not delivered: retrying", receiver=self._name, error=error)

    def _refuse(self, message: Notification, error: str) -> None:
        self.refused += 1
        logger().error("a notification was refused", receiver=self._name, notification=message.id, error=error)


# ----------------------------------------------------------------------------------------------------------------------
# From evaluations to the queue, and a courier for each receiver.


CLOSE_SECONDS = 2.5
"""For all receivers to end what they are sending, and again for the journal to take the queue."""


class Notifier:
    """An `Outlet`: sends what began, got more severe or ended since the last evaluation."""

    def __init__(
        self,
        settings: Settings,
        journal: Journal | None,
        clock: Callable[[], datetime],
        first_wait: float = FIRST_WAIT_SECONDS,
    ) -> None:
        self._outbox = Outbox(least_severities(settings), journal, clock)
        self._couriers = [
            Courier(name, channel, self._outbox, first_wait) for name, channel in channels(settings).items()
        ]

    def evaluated(self, publication: Published, *, resumed: bool) -> None:
        """Queues the messages of an evaluation. What ended is known only once lives are whole."""
        if resumed:
            try:
                self._outbox.load()
            except JournalUnavailableError:
                return  # the next evaluation sends the same
        use = use_after(self._outbox.use, publication.wiring, publication.at)
        self._outbox.put(*news_of(publication, self._outbox.announced, pods_in_use(use)), use)

    def figures(self) -> Mapping[str, float]:
        """The metrics of all receivers together."""
        return {
            "notifications_sent_total": sum(one.sent for one in self._couriers),
            "notifications_failed_total": sum(one.failed for one in self._couriers),
            "notifications_lost_total": self._outbox.dropped + sum(one.refused for one in self._couriers),
            "notifications_queue_length": self._outbox.waiting,
        }

    def close(self) -> None:
        """Ends the couriers, then writes the queue. What a receiver has not answered by then is sent again by the next
        start.
        """
        self._outbox.close()
        for courier in self._couriers:
            courier.thread.join(CLOSE_SECONDS / len(self._couriers))
        self._outbox.write(CLOSE_SECONDS)


def least_severities(settings: Settings) -> dict[str, Severity]:
    """The receivers by name, and the least severity that each takes."""
    found = {receiver.called: Severity(receiver.severity) for receiver in settings.notify}
    return found | ({OTLP: Severity.WARNING} if settings.otlp and settings.otlp.logs else {})


def channels(settings: Settings) -> dict[str, Callable[[], Channel]]:
    """What makes each receiver's channel, by its name. What a channel needs is imported with its first message."""
    found = {receiver.called: partial(_channel, receiver.webhook) for receiver in settings.notify}
    if settings.otlp and settings.otlp.logs:
        found[OTLP] = partial(_channel, settings.otlp, settings.fabric)
    return dict(found)


def _channel(to: Webhook | Otlp, fabric: str = "") -> Channel:
    if isinstance(to, Webhook):
        from truerail.service.notify.webhook import WebhookChannel

        return WebhookChannel(to)
    from truerail.service.notify.otlp_logs import OtlpLogChannel

    return OtlpLogChannel(to, fabric)
