"""Readings, and a poller's outbox with a judge's inbox and nothing between them."""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime

from truerail.link.inbox import Inbox, Place
from truerail.link.poller_outbox import Outbox, Outgoing
from truerail.model import Fact, PortCounters, Reading
from truerail.model.facts import Counter
from truerail.poller.received import Latest


def reading(device: str, *facts: Fact, collector: str = "net_link", read_at: float = 100.0, error: str = "") -> Reading:
    """An answer of a device."""
    at = datetime.fromtimestamp(int(read_at), UTC)
    return Reading(device, collector, at, facts, error, 0.01, f"{device}/{collector}.txt", read_at)


def counters(device: str, value: int, read_at: float = 100.0) -> Iterator[Reading]:
    """An answer with one counter."""
    yield reading(device, PortCounters("p1", (Counter("rx"),), (value,)), collector="nic_counters", read_at=read_at)


class Pair:
    """`deliver` moves what is to be sent. `lacking` is what the judge asked for; `now` is the clock of both."""

    def __init__(self, devices: tuple[str, ...] = ("gpu-1", "gpu-2"), zone: str = "dc1") -> None:
        self.devices, self.zone, self.now = devices, zone, 100.0
        self.latest = Latest(dict.fromkeys(devices, ""))
        self.lacking: list[tuple[Place, Collection[str] | None]] = []
        self.inbox = Inbox(self.latest.put, lacking=lambda *asked: self.lacking.append(asked), now=lambda: self.now)
        self.inbox.keep(dict.fromkeys(devices, zone))
        self.outbox = self.poller("p1")

    def poller(self, name: str, epoch: int = 1, skew_seconds: float = 0.0) -> Outbox:
        """A poller of all devices, with a clock that is that far ahead."""
        outbox = Outbox(self.zone, name, epoch=epoch, now=lambda: self.now + skew_seconds)
        outbox.keep(self.devices)
        return outbox

    def deliver(self, outbox: Outbox | None = None, *, lose: bool = False) -> list[Outgoing]:
        """Sends all that is to be sent, or loses it on the way."""
        messages = list((outbox or self.outbox).messages())
        for message in messages:
            if not lose:
                self.inbox.take(message.data, zone=self.zone)
        return messages

    def held(self, device: str, collector: str = "net_link") -> Reading:
        """The newest answer that the judge has."""
        snapshot = self.latest.snapshot()
        assert snapshot is not None
        return next(one for one in snapshot.readings if (one.device, one.collector) == (device, collector))
