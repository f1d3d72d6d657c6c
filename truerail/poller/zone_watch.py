"""Zones as a judge sees them: whether their pollers run, why a device is unknown, and when all have reported."""

from collections.abc import Callable
from datetime import UTC, datetime

from truerail.link.inbox import Place
from truerail.link.live_pollers import LivePollers
from truerail.poller.received import Received


class ZoneWatch:
    """`away` has the reason why no message can come, empty while the bus answers."""

    def __init__(self, received: Received, live: LivePollers, away: Callable[[], str]) -> None:
        self._received, self._live, self._away = received, live, away
        self._begun_at = datetime.now(UTC)

    @property
    def zones(self) -> set[str]:
        """All zones of the inventory."""
        return {target.zone for target, _ in self._received.named.values()}

    @property
    def without_poller(self) -> set[str]:
        """Zones in which none runs."""
        return self.zones.difference(zone for zone, _ in self._live.running)

    def all_reported(self) -> bool:
        """Whether a poller runs, all that run have reported a round, and each device of their zones is described."""
        running, inbox = self._live.running, self._received.inbox
        zones = {zone for zone, _ in running}
        return (
            bool(running)
            and all(one.reported or not one.beat.devices for one in self._received.senders(running))
            and all(inbox.described(name) for zone in self.zones & zones for name in self._of(zone))
        )

    def expire(self) -> None:
        """Makes unknown what no poller keeps up to date."""
        away, running = self._away(), set(self._live.running)
        silent = {place: self._why(place) for place in self._received.inbox.senders if away or place not in running}
        self._received.expire(silent)
        for zone in self.zones:
            if why := self._why_zone(zone):
                self._received.never_polled(self._of(zone), why)

    def give_up(self) -> None:
        """Makes unknown what no poller has described by now."""
        for zone in self.zones:
            why = self._why_zone(zone) or f"no answer yet from the pollers of zone {zone}"
            self._received.never_polled(self._of(zone), why)

    def _why(self, place: Place) -> str:
        since = self._live.since.get(place, self._begun_at)
        return self._why_zone(place[0]) or f"poller {place[1]} of zone {place[0]} has not run since {_clock(since)}"

    def _why_zone(self, zone: str) -> str:
        """Why no device of a zone is polled; empty if one of its pollers runs."""
        if away := self._away():
            return away
        if self._live.of_zone(zone):
            return ""
        ended = [since for (of, _), since in self._live.since.items() if of == zone]
        return f"no poller in zone {zone} since {_clock(max(ended, default=self._begun_at))}"

    def _of(self, zone: str) -> list[str]:
        return [name for name, (target, _) in self._received.named.items() if target.zone == zone]


def _clock(at: datetime) -> str:
    return f"{at:%H:%M} UTC"
