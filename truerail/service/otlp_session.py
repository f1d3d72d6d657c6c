"""What the exports by OpenTelemetry share: whether the packages are there, who exports, how to reach the collector."""

from typing import TYPE_CHECKING, Any

from truerail import __version__
from truerail.service.notify_settings import Otlp

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

TIMEOUT_SECONDS = 10.0


def exporter_options(settings: Otlp, path: str) -> dict[str, Any]:
    """The arguments of an exporter: address, headers, authorities, gzip. Nothing is taken from the environment.

    Raises SecretMissingError.
    """
    import requests
    from opentelemetry.exporter.otlp.proto.http import Compression

    session = requests.Session()
    session.trust_env = False
    return {
        "endpoint": f"{settings.endpoint}{path}",
        "headers": {name: secret.read() for name, secret in settings.headers.items()},
        "certificate_file": str(settings.ca) if settings.ca else None,
        "compression": Compression.Gzip,
        "timeout": TIMEOUT_SECONDS,
        "session": session,
    }


def resource_of(fabric: str) -> "Resource":
    """Who exports: this service, once for each fabric. The environment adds nothing."""
    from opentelemetry.sdk.resources import Resource

    return Resource({"service.name": "truerail", "service.namespace": fabric, "service.version": __version__})


def scope() -> "InstrumentationScope":
    """The instrumentation scope of all that is exported."""
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

    return InstrumentationScope("truerail", __version__)
