"""Queries the running service over HTTP, with only the standard library."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from truerail.errors import CommandError

TIMEOUT_SECONDS = 30.0
_MOST_BYTES = 64 << 20
_HERE = ("127.0.0.1", "::1", "localhost")


class _Stays(HTTPRedirectHandler):
    """Follows no redirect: a token is only for the named service."""

    def redirect_request(self, *args: Any, **more: Any) -> None:
        """No request."""
        return


def fetched(service: str, route: str, query: Mapping[str, str | None], token_file: Path | None) -> Any:
    """The JSON at `/api/v1/ROUTE`. Raises CommandError with one sentence for any error."""
    parts = urlsplit(service)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CommandError(f"--service {service}: not the URL of a service, such as http://127.0.0.1:8080")
    given = urlencode({key: value for key, value in query.items() if value is not None})
    url = f"{service.rstrip('/')}/api/v1/{route}{'?' if given else ''}{given}"
    headers = {"Accept": "application/json"}
    if token := _token(token_file):
        headers["Authorization"] = f"Bearer {token}"
    request = Request(url, headers=headers)  # noqa: S310 - the scheme is http or https, see above
    try:
        with _opener(parts.hostname).open(request, timeout=TIMEOUT_SECONDS) as answer:
            return _read(answer.read(_MOST_BYTES + 1), service)
    except HTTPError as error:
        raise CommandError(_refused(error, service)) from error
    except (OSError, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise CommandError(
            f"{service}: no service answers ({reason}). Set its URL with --service, or use a capture with --from"
        ) from error


def _opener(host: str) -> OpenerDirector:
    """An opener without proxy for this machine."""
    return build_opener(_Stays, ProxyHandler({})) if host in _HERE else build_opener(_Stays)


def _read(body: bytes, service: str) -> Any:
    if len(body) > _MOST_BYTES:
        raise CommandError(f"{service}: the answer is larger than {_MOST_BYTES >> 20} MiB: give fewer hosts")
    try:
        return json.loads(body)
    except ValueError as error:
        raise CommandError(f"{service}: the answer is not JSON: is this truerail's service?") from error


def _refused(error: HTTPError, service: str) -> str:
    """A problem (RFC 9457) as a sentence."""
    try:
        reported = json.loads(error.read(1 << 20))
        detail = str(reported.get("detail") or reported.get("title") or "") if isinstance(reported, dict) else ""
    except (OSError, ValueError):
        detail = ""
    if error.code == 401:
        return f"{service}: a token is needed: give --token-file FILE or set TRUERAIL_TOKEN"
    return detail or f"{service}: the service answers {error.code} {error.reason}"


def _token(token_file: Path | None) -> str:
    """The token from the file, else from the environment; empty if there is none."""
    if token_file is None:
        return os.environ.get("TRUERAIL_TOKEN", "").strip()
    try:
        token = token_file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"--token-file {token_file}: {getattr(error, 'strerror', None) or 'no text'}") from error
    if not token.isprintable() or not token:
        raise CommandError(f"--token-file {token_file}: has no token")
    return token
