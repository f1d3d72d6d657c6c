"""Settings of what leaves the service on its own: notifications by webhook, and OpenTelemetry."""

import re
from collections.abc import Mapping
from datetime import timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, field_validator

from truerail.files.problems import nearest
from truerail.files.yaml_keys import SECRET
from truerail.model import Secret
from truerail.outputs.metrics.declared import CATALOGUE
from truerail.service.setting_values import Duration, Part, SecretRef, WebAddress, YesNo, at_least, secret

_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
OTLP = "otlp"
"""The name of the receiver of log records."""


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


class Receiver(Part):
    """One receiver of messages."""

    name: str = Field(default="", max_length=64, pattern=r"^[A-Za-z0-9._-]*$")
    """Its name in the log and for `truerail notify test`; by default `webhook`."""
    severity: Literal["warning", "critical"] = "warning"
    """The least severity that is sent to it."""
    webhook: Webhook
    """Where they are sent."""

    @property
    def called(self) -> str:
        """Its name, or `webhook`."""
        return self.name or "webhook"


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
    interval: Annotated[Duration, at_least(timedelta(seconds=1), "an interval is at least 1s")] = timedelta(seconds=60)
    """How often metrics are exported."""
    only: tuple[str, ...] = ()
    """Names of metrics, with `*` for any part. Empty: all but those that have a series for each link, uplink, host or
    switch.
    """
    logs: YesNo = True
    """Beginnings and ends of causes as log records."""
    ca: Path | None = None
    """Certificates of authorities to trust instead of the public ones, a PEM file."""

    @field_validator("only")
    @classmethod
    def _of_the_catalogue(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if not any(fnmatchcase(known, name) for known in CATALOGUE):
                raise ValueError(f"no metric is called {name!r}{nearest(name, list(CATALOGUE))}")
        return value
