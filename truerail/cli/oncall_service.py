"""Queries the running service over HTTP, with only the standard library. An error that is due to a service of another
version names both versions.
"""

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from truerail import __version__
from truerail.cli.terminal_output import remark
from truerail.errors import AnswerError, CommandError
from truerail.model.names import printable

TIMEOUT_SECONDS = 30.0
_API = "/api/v1/"
_MOST_BYTES = 64 << 20
_MOST_BODY = 1 << 20
"""The default of http.body_bytes: the service closes the connection before it has read a longer one."""
_UNKNOWN = (404, 405, 422)
"""Answers of a service that may not know the command or one of its parameters."""
_HERE = ("127.0.0.1", "::1", "localhost")
Say = Callable[[str], None]


class _Stays(HTTPRedirectHandler):
    """Follows no redirect: a token is only for the named service."""

    def redirect_request(self, *args: Any, **more: Any) -> None:
        """No request."""
        return


def fetched(
    service: str, route: str, query: Mapping[str, str | None], token_file: Path | None, warn: Say = remark
) -> Any:
    """The JSON at `/api/v1/ROUTE`; `warn` is called where it may be old. Raises CommandError with one sentence for any
    error.
    """
    given = urlencode({key: value for key, value in query.items() if value is not None})
    way = "Set its URL with --service, or use a capture with --from"
    return _answer(
        _Asked("GET", service, f"{_API}{route}{'?' if given else ''}{given}", None, token_file, warn), {}, way
    )


def document(service: str, token_file: Path | None) -> Any:
    """The OpenAPI document of the service. Raises CommandError."""
    return _answer(_Asked("GET", service, "/openapi.json", None, token_file), {}, "")


def sent(
    method: str,
    service: str,
    route: str,
    body: Mapping[str, Any] | None,
    token_file: Path | None,
    options: Mapping[str, str],
) -> Any:
    """The JSON of the answer to a write or a read; None for an empty one. `options` are the command's words for fields.
    Raises CommandError.
    """
    return _answer(_Asked(method, service, f"{_API}{route}", body, token_file), options, "Set its URL with --service")


class _Asked(NamedTuple):
    """One request."""

    method: str
    service: str
    path: str
    body: Mapping[str, Any] | None
    token_file: Path | None
    warn: Say = remark


def _answer(asked: _Asked, options: Mapping[str, str], way: str) -> Any:
    service = asked.service
    parts = urlsplit(service)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CommandError(f"--service {service}: not the URL of a service, such as http://127.0.0.1:8080")
    url = f"{service.rstrip('/')}{asked.path}"
    headers = {"Accept": "application/json"}
    if token := _token(asked.token_file):
        headers["Authorization"] = f"Bearer {token}"
    data = None
    if asked.body is not None:
        data, headers["Content-Type"] = json.dumps(asked.body).encode(), "application/json"
    request = Request(url, data, headers, method=asked.method)  # noqa: S310 - the scheme is http or https, see above
    try:
        with _opener(parts.hostname).open(request, timeout=TIMEOUT_SECONDS) as answer:
            if since := answer.headers.get("Truerail-Stale-Since"):
                asked.warn(f"{service}: not evaluated since {since}; this is the last that is known")
            found = answer.read(_MOST_BYTES + 1)
            return _read(found, service) if found else None
    except HTTPError as error:
        if error.headers.get_content_type() == "application/json":  # an answer; a refusal is application/problem+json
            return _read(error.read(_MOST_BYTES + 1), service)
        raise CommandError(_refused(error, service, options, given=bool(token))) from error
    except (OSError, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        if data and len(data) > _MOST_BODY and isinstance(reason, BrokenPipeError | ConnectionResetError):
            raise CommandError(f"{service}: refuses a body of {len(data):,} bytes: see http.body_bytes") from error
        reason = getattr(reason, "strerror", None) or reason
        raise CommandError(f"{service}: no service answers ({reason}). {way}") from error


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


_MAKE = "`truerail token NAME{}` makes one, and prints its line for access: tokens in the service's truerail.yaml"


def _refused(error: HTTPError, service: str, options: Mapping[str, str], *, given: bool) -> str:
    """A problem (RFC 9457) as a sentence. `given`: a token was sent."""
    try:
        reported = json.loads(error.read(1 << 20))
    except (OSError, ValueError):
        reported = None
    problem = reported if isinstance(reported, dict) else {}
    detail = printable(str(problem.get("detail") or problem.get("title") or ""), 1000)
    if error.code == 401 and given:
        return f"{service}: the token was refused ({detail or error.reason}). {_MAKE.format('')}"
    if error.code == 401:
        return f"{service}: a token is needed: give --token-file FILE or set TRUERAIL_TOKEN. {_MAKE.format('')}"
    if error.code == 403:
        return f"{service}: {detail or error.reason}. {_MAKE.format(' --role operator')}"
    faults = problem.get("errors") or []
    if error.code == 422 and options and all(isinstance(fault, dict) for fault in faults):
        detail = "; ".join(_fault(fault, options) for fault in faults) or detail
    return detail or f"{service}: the service answers {error.code} {error.reason}"


def _fault(fault: Mapping[str, Any], options: Mapping[str, str]) -> str:
    """A fault of a field by its option: `--because: says nothing`."""
    field = str(fault.get("where", "")).removeprefix("body ")
    summary = str(fault.get("summary", "")).removeprefix("Value error, ")
    return printable(f"{options.get(field, field)}: {summary}", 500)


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


@contextmanager
def versions_named(service: str, token_file: Path | None, name: str, given: Collection[str] = ()) -> Iterator[None]:
    """An error about the command `name` with the parameters `given` names both versions, if they are why it fails."""
    try:
        yield
    except CommandError as error:
        if getattr(error.__cause__, "code", None) not in _UNKNOWN:
            raise
        raise CommandError(
            _explained(service, token_file, str(error), lambda described: _lacking(described, name, given))
        ) from error
    except AnswerError as error:
        same, form = f"{service}: not an answer of truerail: {error}", f"its answer has another form ({error})"
        raise CommandError(_explained(service, token_file, same, lambda described: form)) from error


def _explained(service: str, token_file: Path | None, error: str, lacking: Callable[[Any], str]) -> str:
    """An error with both versions, if they are why. It stays as it is if the versions are equal, if the service lacks
    nothing, or if it does not say its version.
    """
    try:
        described = document(service, token_file)
        theirs, why = printable(str(described["info"]["version"]), 40), lacking(described)
    except (CommandError, LookupError, TypeError):
        return error
    if theirs == __version__ or not why:
        return error
    ours = f"this command is truerail {__version__}"
    return f"{service}: runs truerail {theirs}, {ours}, and {why}. Use one version of both"


def _lacking(described: Any, name: str, given: Collection[str]) -> str:
    """What the service does not have of a command; empty if it has all of it."""
    endpoint = described["paths"].get(f"/api/v1/{name}")
    if endpoint is None:
        return f"it has no `{name}`"
    known = {one["name"] for one in endpoint["get"]["parameters"]}
    missing = ", ".join(f"`{one}`" for one in given if one not in known)
    return f"its `{name}` takes no {missing}" if missing else ""
