"""A message as one line of syslog: RFC 5424, with its fields as structured data (section 6.3)."""

import socket
from datetime import UTC

from truerail.model.finding import Severity
from truerail.model.names import printable
from truerail.service.notify.notification import Event, Notification
from truerail.service.notify_settings import FACILITIES, Syslog

MOST_BYTES = 2048
"""Receivers of UDP should take that many (RFC 5424 section 6.1)."""
_SEVERITIES = {Severity.CRITICAL: 2, Severity.WARNING: 4, Severity.INFO: 6}
_NOTICE = 5
_LONGEST = 200


def syslog_line(message: Notification, settings: Syslog, host: str = "") -> bytes:
    """The line, without framing. `host` is this machine's name."""
    number = _NOTICE if message.event in (Event.ENDED, Event.TEST) else _SEVERITIES[message.severity]
    priority = 8 * FACILITIES.index(settings.facility) + number
    at = message.at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    header = f"<{priority}>1 {at} {_name(host or socket.gethostname())} truerail - {message.event.value}"
    start = f"{header} {_structured(message, settings.enterprise)} ".encode()
    return start + _cut(message.line, MOST_BYTES - len(start))


def _structured(message: Notification, enterprise: int) -> str:
    affected = message.affected
    fields = {
        "id": message.id,
        "event": message.event.value,
        "fabric": message.fabric,
        "severity": message.severity.value,
        "kind": message.kind,
        "rule": message.rule,
        "fault": message.fault,
        "subject": message.subject,
        "pod": message.pod,
        "rack": message.rack,
        "unit": message.unit,
        "gpus": affected.gpus,
        "hosts": affected.hosts,
        "since": message.since.isoformat() if message.since else None,
        "findings": message.findings_total or None,
        "folded": sum(one.count for one in message.folded) or None,
        "page": message.page,
    }
    written = "".join(f' {name}="{_value(str(value))}"' for name, value in fields.items() if value not in (None, ""))
    return f"[truerail@{enterprise}{written}]"


def _value(text: str) -> str:
    """A parameter's value: `"`, `\\` and `]` are escaped (section 6.3.3)."""
    clean = printable(text, _LONGEST)
    return clean.replace("\\", r"\\").replace('"', r"\"").replace("]", r"\]")


def _name(host: str) -> str:
    """A HOSTNAME: printable ASCII, at most 255 characters."""
    return "".join(letter for letter in host if "!" <= letter <= "~")[:255] or "-"


def _cut(text: str, most: int) -> bytes:
    """As much of a text as fits into so many bytes, no character in part."""
    whole = text.encode()
    return whole if len(whole) <= most else whole[: most - 3].decode(errors="ignore").encode() + "…".encode()
