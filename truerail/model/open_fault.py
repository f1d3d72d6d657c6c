"""Open faults, as alerts and their metrics name them: a cause, or a finding that no cause explains."""

from dataclasses import dataclass
from datetime import datetime

from truerail.model.cause_kinds import CauseKind
from truerail.model.finding import Severity


@dataclass(frozen=True, slots=True)
class OpenFault:
    """One open fault. `key` is `Cause.key`, or the id of a finding without a cause; then `kind` is None.

    `pod` is empty where its subjects are in none or in several; `subject` names the first ones, `rack` and `unit` where
    they are. `findings` are the ids of those that it explains, or its own.
    """

    key: str
    kind: CauseKind | None
    rule: str
    """The code of a finding's rule; empty for a cause."""
    severity: Severity
    pod: str
    subject: str
    summary: str
    action: str
    findings: tuple[str, ...]
    rack: str = ""
    unit: str = ""
    since: datetime | None = None
    """The start of this episode; None where lives are not tracked."""
    affected_gpus: int | None = None
    """None if the effect on GPUs is unknown."""
    affected_hosts: int | None = None

    @property
    def path(self) -> str:
        """The path of its page."""
        return f"/causes/{self.key}" if self.kind else f"/findings/{self.key}"
