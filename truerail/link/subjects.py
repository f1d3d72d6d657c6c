"""Names on the bus: subjects, streams and buckets of one fabric. Who may use which follows from them.

A zone stands in a subject, a poller does not where a device does: the last value of a device has one subject, whichever
poller asks.
"""

from dataclasses import dataclass

from truerail.agent.allowed_commands import name_token
from truerail.link.shards import token

VERSION = "v1"


@dataclass(frozen=True, slots=True)
class Subjects:
    """The names of one fabric. Zones and pollers are names that `is_plain_name` accepts; `*` stands for all of them."""

    fabric: str

    @property
    def prefix(self) -> str:
        """All subjects of the fabric begin with it."""
        return f"tr.{VERSION}.{name_token(self.fabric)}"

    # --- subjects -----------------------------------------------------------------------------------------------------

    def obs(self, zone: str, device: str) -> str:
        """The last answers of one device, without counters."""
        return f"{self.prefix}.obs.{zone}.{token(device)}"

    def obs_of(self, zone: str = "*") -> str:
        """Those of all devices of a zone."""
        return f"{self.prefix}.obs.{zone}.*"

    def cnt(self, zone: str, poller: str = "*") -> str:
        """Batches of counters."""
        return f"{self.prefix}.cnt.{zone}.{poller}"

    def round(self, zone: str, poller: str = "*") -> str:
        """The last round of a poller."""
        return f"{self.prefix}.round.{zone}.{poller}"

    def raw(self, zone: str, host: str = "*") -> str:
        """What the agent of one host has answered. `host` is its `name_token`. Not stored."""
        return f"{self.prefix}.raw.{zone}.{host}"

    def cmd(self, zone: str, poller: str = "*") -> str:
        """Commands to a poller: poll now, send again. Not stored."""
        return f"{self.prefix}.cmd.{zone}.{poller}"

    def live(self, zone: str, poller: str = "*") -> str:
        """The sign of life of a poller: a key of the bucket `live_bucket`, as the subject that a put publishes to."""
        return f"$KV.{self.live_bucket}.poller.{zone}.{poller}"

    @property
    def judge_lease(self) -> str:
        """The judge's lease: a key of the same bucket."""
        return f"$KV.{self.live_bucket}.judge"

    @property
    def view(self) -> str:
        """What the judge that leads reports of its view, each second and at each change. Not stored."""
        return f"{self.prefix}.view"

    def ask(self, run: str = "*") -> str:
        """Questions and commands of fronts to one run of a judge: request and reply."""
        return f"{self.prefix}.ask.{run}"

    @property
    def front_inbox(self) -> str:
        """The prefix of the replies to fronts."""
        return "_INBOX.front"

    def inbox(self, zone: str = "") -> str:
        """The prefix of the replies to the pollers of a zone; without one, to a judge."""
        return f"_INBOX.poller.{zone}" if zone else "_INBOX.judge"

    def agent_inbox(self, zone: str, host: str = "") -> str:
        """The prefix of what an agent receives: that answers of it are lacking. Without a host: of all of a zone."""
        return f"_INBOX.agent.{zone}.{host}" if host else f"_INBOX.agent.{zone}"

    # --- streams and buckets ------------------------------------------------------------------------------------------

    @property
    def obs_stream(self) -> str:
        """Last observation of each subject, on file."""
        return f"tr-obs-{name_token(self.fabric)}"

    @property
    def cnt_stream(self) -> str:
        """Counters, bounded by age and bytes, on file."""
        return f"tr-cnt-{name_token(self.fabric)}"

    @property
    def round_stream(self) -> str:
        """Last round of each poller, in memory."""
        return f"tr-round-{name_token(self.fabric)}"

    @property
    def live_bucket(self) -> str:
        """Key-value bucket of leases and signs of life, in memory, with a time to live."""
        return f"tr-live-{name_token(self.fabric)}"

    @property
    def live_stream(self) -> str:
        """The stream behind the bucket."""
        return f"KV_{self.live_bucket}"


def fields(subject: str) -> tuple[str, str]:
    """Zone and last part of a subject of `obs`, `cnt`, `round`, `cmd` or `live`: the device's token or the poller."""
    parts = subject.split(".")
    return (parts[-2], parts[-1]) if len(parts) > 2 else ("", "")
