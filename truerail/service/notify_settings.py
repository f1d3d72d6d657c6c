"""Settings of what leaves the service on its own: notifications by webhook and syslog, and OpenTelemetry."""

import re
from collections.abc import Mapping
from datetime import timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal, cast
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from truerail.files.problems import nearest
from truerail.files.yaml_keys import SECRET
from truerail.model import Secret
from truerail.outputs.metrics.declared import CATALOGUE
from truerail.service.setting_values import Duration, Part, SecretRef, WebAddress, YesNo, secret

FACILITIES = (
    *("kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp", "ntp"),
    *("audit", "alert", "clock", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7"),
)
"""In the order of their numbers (RFC 5424 section 6.2.1)."""
_PORTS = {"udp": 514, "tcp": 514, "tls": 6514}
"""RFC 5426, RFC 6587 (what is in use), RFC 5425."""
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
OTLP = "otlp"
"""The name of the receiver of log records."""
EXAMPLE_ENTERPRISE = 32473
"""The number for documentation (RFC 5612): the project has none of its own."""


def _webhook_url(value: object) -> object:
    """A URL, or a reference to a file or variable that holds it. Raises ValueError, which does not repeat it."""
    return checked_webhook_url(value) if isinstance(value, str) else secret(value)


def checked_webhook_url(value: str) -> str:
    """The URL. Raises ValueError, which does not repeat it: its path or query may be a secret."""
    try:
        url = urlsplit(value)
        usable = url.scheme in ("http", "https") and url.hostname and url.port != 0
    except ValueError:
        usable = False
    if not usable or any(letter.isspace() or not letter.isprintable() for letter in value):
        raise ValueError("is not a URL such as https://hooks.example.net/truerail")
    if "@" in urlsplit(value).netloc:
        raise ValueError("has a user or password: put them into a header, as {Authorization: {file: PATH}}")
    return value


def _headers(value: Mapping[str, Secret]) -> Mapping[str, Secret]:
    for name in value:
        if not _HEADER.fullmatch(name):
            raise ValueError(f"{name!r} is not the name of a header")
    return value


_URL_SCHEMA = {"anyOf": [{"type": "string", "format": "uri", "pattern": "^https?://"}, SECRET]}
Headers = Annotated[Mapping[str, SecretRef], AfterValidator(_headers)]


class Webhook(Part):
    """An HTTP receiver: each message is one POST with a JSON body (`truerail schema notification`)."""

    url: Annotated[str | Secret, BeforeValidator(_webhook_url), WithJsonSchema(_URL_SCHEMA)]
    """Where messages go; `{file: PATH}` if the URL itself is a secret."""
    headers: Headers = Field(default_factory=dict)
    """Headers by name, each with the secret that is its whole value."""
    secret: SecretRef | None = None
    """Signs the body: `X-Truerail-Signature: sha256=` and the HMAC in hex."""
    ca: Path | None = None
    """Certificates of authorities to trust instead of the public ones, a PEM file."""


class Syslog(Part):
    """A syslog server: RFC 5424 with structured data."""

    address: str
    """udp://HOST, tcp://HOST or tls://HOST, with a port if it is not 514 (tls: 6514)."""
    facility: Literal[FACILITIES] = "daemon"  # type: ignore[valid-type] # the table above, not a second list
    """The facility of the messages."""
    enterprise: int = Field(default=EXAMPLE_ENTERPRISE, ge=1, le=0xFFFFFFFF)
    """The private enterprise number in the name of the structured data, `truerail@32473`."""
    ca: Path | None = None
    """With tls: certificates of authorities to trust instead of the system's, a PEM file."""

    @field_validator("address")
    @classmethod
    def _of_a_server(cls, value: str) -> str:
        syslog_server(value)
        return value

    @property
    def server(self) -> tuple[str, str, int]:
        """Transport, host and port."""
        return syslog_server(self.address)


def syslog_server(address: str) -> tuple[str, str, int]:
    """Transport (udp, tcp, tls), host and port of an address. Raises ValueError."""
    try:
        url = urlsplit(address)
        port = url.port
    except ValueError:
        url, port = urlsplit(""), None
    more = url.path.strip("/") or url.query or url.fragment or "@" in url.netloc
    if url.scheme not in _PORTS or not url.hostname or more or port == 0:
        raise ValueError(f"{address!r} is not an address such as udp://loghost.example.net:514, tcp://... or tls://...")
    return url.scheme, url.hostname, port or _PORTS[url.scheme]


class Receiver(Part):
    """One receiver of messages: a webhook or a syslog server."""

    name: str = Field(default="", max_length=64, pattern=r"^[A-Za-z0-9._-]*$")
    """Its name in the log and for `truerail notify test`; by default `webhook` or `syslog`."""
    severity: Literal["warning", "critical"] = "warning"
    """The least severity that is sent to it."""
    webhook: Webhook | None = None
    """An HTTP receiver."""
    syslog: Syslog | None = None
    """A syslog server."""

    @model_validator(mode="after")
    def _one_kind(self) -> "Receiver":
        if (self.webhook is None) is (self.syslog is None):
            raise ValueError("a receiver is either a webhook or a syslog")
        return self

    @property
    def to(self) -> Webhook | Syslog:
        """What it is."""
        return cast("Webhook | Syslog", self.webhook or self.syslog)

    @property
    def called(self) -> str:
        """Its name, or that of its kind."""
        return self.name or ("webhook" if self.webhook else "syslog")


def one_name_each(receivers: tuple[Receiver, ...]) -> tuple[Receiver, ...]:
    """The receivers. Raises ValueError if two have one name: each has its own place in the queue."""
    names = [receiver.called for receiver in receivers]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two receivers are named {twice[0]!r}: give each a name")
    if OTLP in names:
        raise ValueError(f"{OTLP!r} is the name of the log records of the setting otlp: give the receiver another")
    return receivers


class Otlp(Part):
    """Export by OpenTelemetry (OTLP over HTTP, protobuf). Needs truerail's extra `otlp`."""

    endpoint: WebAddress = Field(min_length=1)
    """The collector, without `/v1/metrics`: http://otel-collector.example.net:4318."""
    headers: Headers = Field(default_factory=dict)
    """Headers by name, each with the secret that is its whole value."""
    interval: Duration = timedelta(seconds=60)
    """How often metrics are exported."""
    only: tuple[str, ...] = ()
    """Names of metrics, with `*` for any part. Empty: all but those that have a series for each link, uplink, host or
    switch.
    """
    logs: YesNo = True
    """Beginnings and ends of causes as log records."""
    ca: Path | None = None
    """Certificates of authorities to trust instead of the public ones, a PEM file."""

    @field_validator("interval")
    @classmethod
    def _a_pause(cls, value: timedelta) -> timedelta:
        if value < timedelta(seconds=1):
            raise ValueError("an interval is at least 1s")
        return value

    @field_validator("only")
    @classmethod
    def _of_the_catalogue(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if not any(fnmatchcase(known, name) for known in CATALOGUE):
                raise ValueError(f"no metric is called {name!r}{nearest(name, list(CATALOGUE))}")
        return value
