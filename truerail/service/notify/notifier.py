"""Notifications of a running service: from evaluations to the queue, and a courier for each receiver."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial

from truerail.analysis.published import Published
from truerail.errors import JournalUnavailableError
from truerail.journal import Journal
from truerail.model.finding import Severity
from truerail.service.notify.courier import FIRST_WAIT_SECONDS, Channel, Courier
from truerail.service.notify.fault_news import news_of
from truerail.service.notify.outbox import Outbox
from truerail.service.notify.pod_use import pods_in_use, use_after
from truerail.service.notify_settings import OTLP, Otlp, Webhook
from truerail.service.settings import Settings

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
            courier.join(CLOSE_SECONDS / len(self._couriers))
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
