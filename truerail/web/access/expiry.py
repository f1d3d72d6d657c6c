"""When a certificate ends: reported in the log while it is still time, and as a metric always."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509

SOON = timedelta(days=30)
"""A third of the 90 days that ACME certificates are commonly good for: by then a renewal that works has happened
(https://letsencrypt.org/docs/faq/).
"""
_DAY_SECONDS = 86400.0


def end_of(chain: Path) -> datetime | None:
    """When the first certificate of a chain in PEM ends; None where that cannot be read. Raises OSError."""
    try:
        found = x509.load_pem_x509_certificates(chain.read_bytes())
    except ValueError:  # OpenSSL took it; what cryptography refuses, such as a negative serial number, has no date here
        return None
    return min(one.not_valid_after_utc for one in found)


def warning(chain: Path, ends: datetime | None, now: datetime | None = None) -> str:
    """What an operator should know of it; empty while there is time, and where nobody can tell."""
    if ends is None:
        return ""
    left = ends - (now or datetime.now(UTC))
    if left <= timedelta(0):
        return f"{chain}: ended at {ends:%Y-%m-%d %H:%M UTC}: clients refuse it. Renew it, then send SIGHUP"
    if left <= SOON:
        return f"{chain}: ends at {ends:%Y-%m-%d %H:%M UTC}, in {left.days} d. Renew it, then send SIGHUP"
    return ""


async def every_day(tell: Callable[[], None], seconds: float = _DAY_SECONDS) -> None:
    """Tells now, and each day again, until cancelled."""
    while True:
        tell()
        await asyncio.sleep(seconds)
