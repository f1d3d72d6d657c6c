"""Messages as HTTP POSTs with a JSON body.

Only the configured host is contacted: no proxy of the environment, no redirect. TLS certificates are checked.
"""

import hmac
import ssl
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import orjson
import requests

from truerail.errors import DeliveryError, DeliveryRefusedError, SecretMissingError
from truerail.model import Secret
from truerail.service.notify.notification import Notification
from truerail.service.notify_settings import Webhook, checked_webhook_url

# ----------------------------------------------------------------------------------------------------------------------
# Why a request failed, without the URL.


def in_short(error: BaseException) -> str:
    """The reason of a failure: that of the certificate or of the system; messages of requests repeat the URL."""
    if isinstance(error, requests.Timeout):
        return "does not answer in time"
    for cause in _chain(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted: {cause.verify_message}"
        if isinstance(cause, OSError) and cause.strerror and not isinstance(cause, requests.RequestException):
            return cause.strerror
    return type(error).__name__


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and those that it carries, as `reason`, as argument or as context."""
    pending, met = [error], set[int]()
    while pending:
        one = pending.pop()
        if id(one) in met:
            continue
        met.add(id(one))
        yield one
        inner = (getattr(one, "reason", None), one.__cause__, one.__context__, *one.args)
        pending += [found for found in inner if isinstance(found, BaseException)]


# ----------------------------------------------------------------------------------------------------------------------
# Messages as HTTP POSTs with a JSON body.

TIMEOUT_SECONDS = (5.0, 10.0)
"""To connect, and between two pieces of the answer."""
_AGAIN = frozenset((401, 403, 404, 407, 408, 409, 425, 429))
"""Answers below 500 that may change without another message: credentials, a route, a limit."""
SIGNATURE = "X-Truerail-Signature"


class WebhookChannel:
    """One webhook. Secrets are read for each message: a changed file needs no restart."""

    def __init__(self, settings: Webhook) -> None:
        self._settings = settings

    def send(self, message: Notification) -> None:
        """Sends one message. Raises DeliveryError."""
        body = orjson.dumps(message.body())
        try:
            url, headers = self._url(), self._headers(body)
        except SecretMissingError as error:
            raise DeliveryError(str(error)) from error
        host = urlsplit(url).netloc
        try:
            status = _posted(self._settings.ca, url, body, headers)
        except requests.RequestException as error:
            raise DeliveryError(f"{host}: {in_short(error)}") from None
        if not 200 <= status < 300:
            temporary = status >= 500 or status in _AGAIN
            raise (DeliveryError if temporary else DeliveryRefusedError)(f"{host} answers HTTP {status}")

    def _url(self) -> str:
        if not isinstance(self._settings.url, Secret):
            return self._settings.url
        try:
            return checked_webhook_url(self._settings.url.read())
        except ValueError as error:
            source = self._settings.url
            raise DeliveryError(f"the URL in {source.source} {source.name} {error}") from None

    def _headers(self, body: bytes) -> dict[str, str]:
        found = {name: secret.read() for name, secret in self._settings.headers.items()}
        found |= {"Content-Type": "application/json", "User-Agent": "truerail"}
        if self._settings.secret:
            digest = hmac.new(self._settings.secret.read().encode(), body, "sha256").hexdigest()
            found[SIGNATURE] = f"sha256={digest}"
        return found


def _posted(ca: Path | None, url: str, body: bytes, headers: dict[str, str]) -> int:
    """The status of the answer, whose body is not read. Nothing is taken from the environment: no proxies, credentials
    or authorities. `ca`: authorities to trust, else the public ones. Raises DeliveryError if their file is missing.
    """
    if ca and not ca.is_file():
        raise DeliveryError(f"ca {ca}: is not a file")
    with requests.Session() as session:
        session.trust_env = False
        session.verify = str(ca) if ca else True
        with session.post(
            url, data=body, headers=headers, timeout=TIMEOUT_SECONDS, allow_redirects=False, stream=True
        ) as response:
            return response.status_code
