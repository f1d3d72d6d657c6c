"""`truerail.yaml`: what the service monitors, how often, what it stores and who has access.

An environment variable may override any value: `TRUERAIL_HTTP__PORT=9000` sets `http: {port: 9000}`. Paths
are relative to the file that names them. A secret is `{env: NAME}`, `{file: PATH}` or `{credential: NAME}`, never a
bare value.
"""

from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, field_validator, model_validator
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from collector import collectors
from truerail.files.problems import nearest
from truerail.files.yaml_keys import DIALECT
from truerail.model.names import is_loopback
from truerail.service.durations import as_written
from truerail.service.job_settings import JobSettings
from truerail.service.notify_settings import Otlp, Receiver, one_name_each
from truerail.service.setting_values import Duration, Part, SecretRef, WebAddress, YesNo, at_least
from truerail.service.token_hashes import is_token_hash

# ----------------------------------------------------------------------------------------------------------------------
# Whether the service probes in the background, how often, and with which account.

_PACE = at_least(timedelta(minutes=1), "is shorter than 1m: hosts are never probed more often")
_PACE_OF_PATHS = at_least(timedelta(hours=1), "is shorter than 1h: switches are never asked for paths more often")


class ProbeSettings(Part):
    """Packets between idle hosts, at a low rate: docs/probe.md. Off until it is set."""

    every: Annotated[Duration, _PACE] = timedelta(minutes=10)
    """How often; at least 1m. A run takes at most a quarter of it, and what is more comes in later runs."""
    user: str = Field(default="truerail-probe", pattern=r"^[A-Za-z0-9._-]+$")
    """The account on the hosts, whose forced command is the probe."""
    key: Path | None = None
    """Its private key; without one that of the inventory."""
    paths_every: Annotated[Duration, _PACE_OF_PATHS] | None = None
    """How often the paths of a rail are swept too, one rail after the other; at least 1h. Off until it is set."""
    answers_per_second: int = Field(default=10, ge=1, le=50)
    """ICMP answers that a path sweep asks of one switch, at most."""
    packets_per_second: int = Field(default=20, ge=1, le=100)
    """From each host."""
    ipv6: YesNo = False
    """Whether IPv6 addresses are probed in place of IPv4."""
    assume_idle: YesNo = False
    """Whether hosts are probed that do not show whether they carry a job."""


# ----------------------------------------------------------------------------------------------------------------------
# `truerail.yaml`: what the service monitors, how often, what it stores and who has access.

Role = Literal["reader", "operator"]


class Token(Part):
    """A user with a bearer token. `hash` is the output of `truerail token`; the token itself is stored nowhere."""

    name: str = Field(min_length=1, max_length=64)
    """The name in the audit log."""
    hash: str
    """The output of `truerail token NAME`: sha256: and 64 hex digits."""
    role: Role = "reader"
    """An operator may also acknowledge, mute and reload."""

    @model_validator(mode="after")
    def _well_formed(self) -> "Token":
        if not is_token_hash(self.hash):
            raise ValueError(f"token {self.name!r}: its hash is not sha256: and 64 hex digits (truerail token NAME)")
        return self


class TrustedProxy(Part):
    """A proxy in front that authenticates people and names them in a header."""

    header: str = Field(default="X-Forwarded-User", pattern=r"^[A-Za-z0-9-]+$")
    """The header that names the person."""
    addresses: tuple[str, ...] = Field(min_length=1)
    """Networks from which the header is trusted."""
    role: Role = "reader"
    """Role of the names that are not in `operators`."""
    operators: tuple[str, ...] = ()
    """Names that are operators."""

    @field_validator("addresses")
    @classmethod
    def _networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for text in value:
            if not ip_network(text, strict=False).prefixlen:
                raise ValueError(f"{text} is every address: the header would be trusted from any client")
        return value


class Tls(Part):
    """Certificate chain and key in PEM files."""

    certificate: Path
    """Certificate chain, a PEM file."""
    key: Path
    """Its private key, a PEM file."""


class Access(Part):
    """Read and write access. Empty: everyone who reaches the (loopback) address is an operator."""

    tokens: tuple[Token, ...] = ()
    """Users with a bearer token."""
    trusted_proxy: TrustedProxy | None = None
    """A proxy in front that logs people in."""
    metrics_token: SecretRef | None = None
    """A bearer token for `/metrics` and `/sd` alone."""
    session: Duration = timedelta(hours=12)
    """How long a login on the page lasts."""
    failed_logins_per_minute: int = Field(default=10, ge=1)
    """More from one address are refused."""

    @field_validator("tokens")
    @classmethod
    def _one_name_each(cls, value: tuple[Token, ...]) -> tuple[Token, ...]:
        names = [token.name for token in value]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two tokens are named {twice[0]!r}: the audit log could not distinguish them")
        return value

    @property
    def required(self) -> bool:
        """Whether authentication is required."""
        return bool(self.tokens or self.trusted_proxy)


class Http(Part):
    """Where the service listens."""

    host: str = "127.0.0.1"
    """Another than a loopback address needs access.tokens or access.trusted_proxy."""
    port: int = Field(default=8080, ge=0, le=65535)
    """The TCP port; 0 takes a free one."""
    tls: Tls | None = None
    """Certificate and key: https where they are given."""
    body_bytes: int = Field(default=1 << 20, ge=1024)
    """The largest body of a request."""


class Journal(Part):
    """What is stored, where and for how long. An empty `url` stores nothing."""

    url: str = "sqlite:///truerail.db"
    """sqlite:///PATH or postgresql://USER@HOST/DATABASE; empty: no history."""
    password: SecretRef | None = None
    """The database's password, so that no URL contains it."""
    retention: Duration = timedelta(days=400)
    """For resolved findings, link changes, audit records, acknowledgements."""
    round_retention: Duration = timedelta(days=35)
    """Rounds, to look at the fabric as it was."""
    max_queued_rounds: int = Field(default=5000, ge=1)
    """Rounds kept in memory while the database is gone."""


class HistoryStore(Part):
    """A folder of Parquet files for questions in SQL and Python: docs/history.md. Needs truerail[history]."""

    path: Path
    """The folder; made if it is missing."""
    counters_minutes: Duration = timedelta(days=7)
    """Counters of every port and minute: the largest part, see docs/sizing.md."""
    counters_hours: Duration = timedelta(days=90)
    """Counters and light of every port and hour."""
    retention: Duration = timedelta(days=400)
    """Cables, findings, causes, devices, modules and rounds."""


def _collectors_only(schema: dict[str, Any]) -> None:
    schema["propertyNames"] = {"enum": list(collectors())}


class Schedule(Part):
    """How often each collector runs. A collector that `every` does not name has its own interval."""

    every: dict[str, Duration] = Field(default_factory=dict, json_schema_extra=_collectors_only)
    """Interval by collector; a collector's own holds where this does not name it."""
    jitter: Duration = timedelta(seconds=2)
    """Rounds start by chance up to this much later."""
    poll_timeout: Duration = timedelta(seconds=5)
    """A round that still waits for slow devices after this is evaluated without them, and again when it ends."""
    device_timeout: Duration = timedelta(seconds=30)
    """The longest that one device may take in a round."""
    round_timeout: Duration = timedelta(seconds=60)
    """The longest that a round may take."""
    max_concurrency: int = Field(default=1000, ge=1)
    """Devices that are polled at the same time."""

    @field_validator("every")
    @classmethod
    def _known(cls, value: dict[str, timedelta]) -> dict[str, timedelta]:
        for name, interval in value.items():
            if name not in collectors():
                raise ValueError(f"no collector {name!r}{nearest(name, list(collectors()))}")
            if not interval:
                raise ValueError(f"{name}: an interval of 0 polls continuously")
        return value


_EXPIRY = at_least(timedelta(seconds=10), "is shorter than 10 s: each file would expire before it is written again")


class GateFolder(Part):
    """A folder with a file for each host that says whether it is fit for a job: docs/jobs.md."""

    directory: Path
    """The folder, such as /run/truerail/gate; made if it is missing."""
    valid: Annotated[Duration, _EXPIRY] = timedelta(minutes=5)
    """How long a file holds: after that it says nothing."""


class Recovery(Part):
    """When a finding that is gone is resolved, and when one that comes and goes is reported as flapping."""

    resolve_after: Duration = timedelta(seconds=120)
    """Longer than a port takes to expire LLDP's time to live and hear the neighbour again."""
    flapping_episodes: int = Field(default=4, ge=2)
    """A finding that returns this often within `flapping_within` is flapping."""
    flapping_within: Duration = timedelta(hours=1)
    """The time in which its returns are counted."""


class Page(Part):
    """The page's own address, and its links."""

    url: WebAddress = ""
    """Its public address: for links in alerts, notifications and `/sd`; writes are accepted from this origin."""
    grafana: WebAddress = ""
    """URL of Grafana: hosts and switches link to their dashboards there. Empty: no link."""
    runbooks: WebAddress = ""
    """URL of your copy of the runbooks: alerts on the page of a cause link to theirs. Empty: no link."""

    @field_validator("url")
    @classmethod
    def _of_a_host(cls, value: str) -> str:
        if urlsplit(value).path:
            raise ValueError(f"{value!r} has a path: the page is at / of its host")
        return value


class Metrics(Part):
    """What `/metrics` shows."""

    traffic: YesNo = True
    """Traffic of every link and uplink: seven series for each."""


class Log(Part):
    """Structured logs on stderr."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """The least level that is logged."""
    format: Literal["json", "text"] = "text"
    """json for machines, text for people."""


class Settings(BaseSettings):
    """The whole file."""

    model_config = SettingsConfigDict(
        extra="forbid",
        frozen=True,
        env_prefix="TRUERAIL_",
        env_nested_delimiter="__",
        arbitrary_types_allowed=True,
        use_attribute_docstrings=True,
    )

    fabric: str = Field(default="fabric", min_length=1, max_length=64)
    """Its name: on the page, and a label of every metric."""
    inventory: Path
    """The inventory file; see docs/inventory.md."""
    plan: Path | None = None
    """Without one the rails are inferred from the first full round, and kept until a reload."""
    http: Http = Http()
    """Where the service listens."""
    access: Access = Access()
    """Read and write access."""
    journal: Journal = Journal()
    """What is stored, where and for how long."""
    history: HistoryStore | None = None
    """A store of history beside the journal; none by default."""
    schedule: Schedule = Schedule()
    """How often each collector runs."""
    jobs: JobSettings = JobSettings()
    """Schedulers whose running jobs are joined with causes; none by default."""
    gate: GateFolder | None = None
    """A file for each host that says whether it is fit for a job; none by default."""
    probe: ProbeSettings | None = None
    """The probe in the background; off by default."""
    recovery: Recovery = Recovery()
    """When a finding counts as resolved."""
    page: Page = Page()
    """The page's own address, and its links."""
    metrics: Metrics = Metrics()
    """What /metrics shows."""
    notify: Annotated[tuple[Receiver, ...], AfterValidator(one_name_each)] = ()
    """Receivers of a message for each fault that begins, gets more severe or ends: for sites without Alertmanager."""
    otlp: Otlp | None = None
    """Export of metrics and log records by OpenTelemetry."""
    log: Log = Log()
    """Structured logs on stderr."""

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: Any, init_settings: Any, env_settings: Any, *_: Any, **__: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment overrides the file; nothing else is read."""
        return env_settings, init_settings

    @model_validator(mode="after")
    def _loopback_or_login(self) -> "Settings":
        if not self.access.required and not is_loopback(self.http.host):
            raise ValueError(
                f"http.host {self.http.host} is reachable from outside, and access has no tokens and no proxy: "
                "add access.tokens (truerail token NAME), or listen on 127.0.0.1"
            )
        return self


# ----------------------------------------------------------------------------------------------------------------------
# The JSON Schema of `truerail.yaml`, from the models that read it.


class _ForEditors(GenerateJsonSchema):
    """Without generated titles; defaults as the file writes them."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """A property's name and description are enough."""
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """A default that is a single value; those of a section are shown at its own properties."""
        inner = self.generate_inner(schema["schema"])
        default = as_written(schema.get("default"))
        return {**inner, "default": default} if isinstance(default, str | int | bool) else inner


def settings_schema() -> dict[str, Any]:
    """The JSON Schema of the settings. What a model checks over several values, only `serve --check` finds."""
    schema = Settings.model_json_schema(schema_generator=_ForEditors)
    return {"$schema": DIALECT, **schema, "title": "truerail settings"}
