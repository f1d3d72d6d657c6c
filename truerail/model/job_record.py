"""A run of a job, as the journal has it. Times are aware, in UTC."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A run of a job. It was reported from `first_seen` to `last_seen`, and was gone at `ended_at`; both are None while
    it runs. `nodes` are those of its scheduler, as a node set. Without a name or a user the settings keep them secret.
    """

    id: int
    source: str
    """The machine that reported it."""
    scheduler: str
    key: str
    name: str
    user: str
    nodes: str
    gpus: int | None
    started_at: datetime | None
    """As the scheduler reports it."""
    first_seen: datetime
    last_seen: datetime | None = None
    ended_at: datetime | None = None

    @property
    def begun_at(self) -> datetime:
        """When it started, or was first seen if the scheduler does not say."""
        return self.started_at or self.first_seen
