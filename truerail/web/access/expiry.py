"""When a certificate expires: logged in time, and always a metric."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509

SOON = timedelta(days=30)
"""A third of the 90 days for which ACME certificates are commonly valid: a working renewal has happened by then
(https://letsencrypt.org/docs/faq/).
"""
_DAY_SECONDS = 86400.0


def end_of(chain: Path) -> datetime | None:
    """Expiry of the first certificate of a PEM chain; None if unreadable. Raises OSError."""
    try:
        found = x509.load_pem_x509_certificates(chain.read_bytes())
    except ValueError:
        # OpenSSL accepted it; if cryptography refuses it (a negative serial number), it has no date here
        return None
    return min(one.not_valid_after_utc for one in found)


def warning(chain: Path, ends: datetime | None, now: datetime | None = None) -> str:
    """The warning about its expiry; empty while there is time, and if the expiry is unknown."""
    if ends is None:
        return ""
    left = ends - (now or datetime.now(UTC))
    if left <= timedelta(0):
        return f"{chain}: ended at {ends:%Y-%m-%d %H:%M UTC}: clients refuse it. Renew it, then send SIGHUP"
    if left <= SOON:
        return f"{chain}: ends at {ends:%Y-%m-%d %H:%M UTC}, in {left.days} d. Renew it, then send SIGHUP"
    return ""


async def every_day(tell: Callable[[], None], seconds: float = _DAY_SECONDS) -> None:
    """Calls `tell` now and every day, until cancelled."""
    while True:
        tell()
        await asyncio.sleep(seconds)
