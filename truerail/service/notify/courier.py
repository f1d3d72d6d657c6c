"""Sends the messages of the queue to one receiver, in order, in a thread of its own."""

import threading
from collections.abc import Callable
from typing import Protocol

from truerail.errors import DeliveryError, DeliveryRefusedError
from truerail.service.logs import logger
from truerail.service.notify.notification import Notification
from truerail.service.notify.outbox import Outbox

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
        self._thread = threading.Thread(target=self._run, name=f"notify {name}", daemon=True)
        self._thread.start()

    def join(self, seconds: float) -> None:
        """Waits for the end, after the queue is closed."""
        self._thread.join(seconds)

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
