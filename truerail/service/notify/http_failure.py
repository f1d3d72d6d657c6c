"""HTTP sessions that take nothing from the environment, and why a request failed, without the URL."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import requests

from truerail.errors import DeliveryError


@contextmanager
def private_session(ca: Path | None) -> Iterator[requests.Session]:
    """A session without the environment's proxies, credentials and authorities. `ca`: authorities to trust, else the
    public ones. Raises DeliveryError if their file is missing.
    """
    if ca and not ca.is_file():
        raise DeliveryError(f"ca {ca}: is not a file")
    with requests.Session() as session:
        session.trust_env = False
        session.verify = str(ca) if ca else True
        yield session


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
