"""Whether a stream has lost what it had stored.

Its last place alone does not say so: in a cluster, a server that has just begun to lead a stream may for a moment be
behind the one that ended.
"""

from datetime import datetime

from nats.js.api import StreamInfo


class StoreWatch:
    """Of one stream, from one look to the next."""

    def __init__(self) -> None:
        self._created: datetime | None = None
        self._behind = False

    def lost(self, found: StreamInfo, seen: int) -> bool:
        """Whether it was made again since the last look, or ends for two looks before `seen`, which was there."""
        made_again = self._created is not None and found.created != self._created
        behind = found.state.last_seq < seen
        lost = made_again or (behind and self._behind)
        self._created, self._behind = found.created, behind and not lost
        return lost
