"""Exports the metrics of the newest evaluation by OpenTelemetry, in a thread, at the configured interval."""

import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Any

from truerail import __version__
from truerail.analysis.published import Published
from truerail.errors import SecretMissingError
from truerail.outputs.metrics import Exposition
from truerail.outputs.metrics.declared import Declared
from truerail.service.logs import logger
from truerail.service.notify_settings import Otlp

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

# ----------------------------------------------------------------------------------------------------------------------
# What the exports by OpenTelemetry share: whether the packages are there, who exports, how to reach the collector.

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


# ----------------------------------------------------------------------------------------------------------------------
# Exports the metrics of the newest evaluation by OpenTelemetry, in a thread, at the configured interval.

_OF_EACH = frozenset(("nic", "switch_port", "host", "switch"))
"""Labels of metrics with a series for each link, uplink, host or switch. At 12,500 hosts they are 99 % of all."""
_ONLY_FAULTY = "truerail_device_findings"
"""Has these labels too, but only where something is wrong."""
CLOSE_SECONDS = 5.0


def is_wanted(only: tuple[str, ...], metric: Declared) -> bool:
    """Whether `otlp.only` chooses a metric; an empty one leaves out those with a series for each device or link."""
    if only:
        return any(fnmatchcase(metric.name, name) for name in only)
    return metric.name == _ONLY_FAULTY or _OF_EACH.isdisjoint(metric.labels)


class OtlpMetrics:
    """An `Outlet`. A collector that is down delays nothing but the next export."""

    def __init__(
        self,
        settings: Otlp,
        fabric: str,
        exposition: Exposition,
        counters: Callable[[], Mapping[str, float]],
        clock: Callable[[], datetime],
    ) -> None:
        self._settings, self._fabric, self._exposition = settings, fabric, exposition
        self._counters, self._clock = counters, clock
        self._began = time.time_ns()
        self._publication: Published | None = None
        self._news = threading.Condition()
        self._closed = self._failing = False
        self.exported = self.failed = self.points = 0
        self.seconds = 0.0
        self._thread = threading.Thread(target=self._run, name="otlp metrics", daemon=True)
        self._thread.start()

    def evaluated(self, publication: Published, *, resumed: bool) -> None:
        """Takes an evaluation; the first is exported at once."""
        with self._news:
            self._publication = publication
            self._news.notify_all()

    def figures(self) -> Mapping[str, float]:
        """The metrics of the export itself."""
        return {
            "otlp_exports_total": self.exported,
            "otlp_exports_failed_total": self.failed,
            "otlp_export_points": self.points,
            "otlp_export_duration_seconds": self.seconds,
        }

    def close(self) -> None:
        """Ends the export."""
        with self._news:
            self._closed = True
            self._news.notify_all()
        self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        with self._news:
            self._news.wait_for(lambda: self._closed or self._publication is not None)
        while not self._closed:
            began = time.monotonic()
            self._export_once()
            self.seconds = time.monotonic() - began
            rest = self._settings.interval.total_seconds() - self.seconds
            with self._news:
                self._news.wait_for(lambda: self._closed, max(rest, 0.0))

    def _export_once(self) -> None:
        try:
            failure = self._export()
        except SecretMissingError as error:
            failure = str(error)
        except Exception as error:  # noqa: BLE001 - a bug in one export must not end the next ones
            failure = type(error).__name__
        if self._closed:
            return  # it was cut short
        self.exported, self.failed = self.exported + (not failure), self.failed + bool(failure)
        if bool(failure) is not self._failing:
            self._failing = bool(failure)
            at = self._settings.endpoint
            if failure:
                logger().warning("metrics are not exported: retrying", endpoint=at, error=failure)
            else:
                logger().info("metrics are exported again", endpoint=at)

    def _export(self) -> str:
        """Why the newest evaluation could not be exported; empty if it was."""
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.sdk.metrics.export import MetricExportResult

        from truerail.service.otlp_points import portions

        publication = self._publication
        if publication is None:
            return ""
        exporter, points = OTLPMetricExporter(**exporter_options(self._settings, "/v1/metrics")), 0
        wanted = partial(is_wanted, self._settings.only)
        chosen = self._exposition.series(publication, self._counters(), self._clock(), wanted)
        try:
            for data, size in portions(chosen, self._fabric, self._began, time.time_ns()):
                if self._closed or exporter.export(data) is not MetricExportResult.SUCCESS:
                    return "the collector did not take it"
                points += size
        finally:
            exporter.shutdown()
        self.points = points
        return ""
