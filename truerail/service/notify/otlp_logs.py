"""Messages as log records of OpenTelemetry (https://opentelemetry.io/docs/specs/otel/logs/data-model/)."""

from typing import TYPE_CHECKING, Any

from truerail.errors import DeliveryError, SecretMissingError
from truerail.model.finding import Severity
from truerail.service.notify.notification import Event, Notification
from truerail.service.notify_settings import Otlp
from truerail.service.otlp_metrics import exporter_options, resource_of, scope

if TYPE_CHECKING:
    from opentelemetry._logs import LogRecord

_NANO = 1_000
_FIELDS = ("id", "fault", "kind", "rule", "summary", "action", "subject", "pod", "rack", "unit")
"""Those that are attributes as they are."""


class OtlpLogChannel:
    """The logs of one collector."""

    def __init__(self, settings: Otlp, fabric: str) -> None:
        self._settings, self._fabric = settings, fabric

    def send(self, message: Notification) -> None:
        """Exports one record. Raises DeliveryError."""
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
        from opentelemetry.sdk._logs import ReadableLogRecord
        from opentelemetry.sdk._logs.export import LogRecordExportResult

        try:
            exporter = OTLPLogExporter(**exporter_options(self._settings, "/v1/logs"))
        except SecretMissingError as error:
            raise DeliveryError(str(error)) from error
        try:
            record = ReadableLogRecord(_record(message), resource_of(self._fabric), scope())
            if exporter.export([record]) is not LogRecordExportResult.SUCCESS:
                raise DeliveryError(f"{self._settings.endpoint} did not take it")
        finally:
            exporter.shutdown()  # type: ignore[no-untyped-call] # of the library: it has no annotations


def _record(message: Notification) -> "LogRecord":
    from opentelemetry._logs import LogRecord, SeverityNumber

    numbers = {Severity.CRITICAL: SeverityNumber.FATAL, Severity.WARNING: SeverityNumber.WARN}
    quiet = message.event in (Event.ENDED, Event.TEST)
    number = SeverityNumber.INFO if quiet else numbers.get(message.severity, SeverityNumber.INFO)
    happened = {Event.BEGAN: message.since, Event.ENDED: message.ended}.get(message.event) or message.at
    return LogRecord(
        timestamp=_nanoseconds(happened.timestamp()),
        observed_timestamp=_nanoseconds(message.at.timestamp()),
        severity_number=number,
        severity_text=message.severity.value,
        body=message.line,
        attributes=_attributes(message),
        event_name=f"truerail.fault.{message.event.value}",
    )


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e6) * _NANO


def _attributes(message: Notification) -> dict[str, Any]:
    """The fields as attributes: what is unknown or empty has none."""
    found = {name: getattr(message, name) for name in _FIELDS} | {
        "affected.gpus": message.affected.gpus,
        "affected.hosts": message.affected.hosts,
        "since": message.since.isoformat() if message.since else None,
        "page": message.page,
        "findings": list(message.findings) or None,
        "folded": sum(one.count for one in message.folded) or None,
    }
    return {f"truerail.{name}": value for name, value in found.items() if value not in (None, "")}
