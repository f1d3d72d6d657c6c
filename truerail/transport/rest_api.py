"""Schedulers and Prometheus by HTTP: slurmrestd, the API of Kubernetes. GET alone, over TLS, loopback or a Unix socket.

The token is read anew for each request, since Kubernetes renews it, and is sent to the given address only: redirects
are refused. No error shows it.
"""

import asyncio
import http.client
import json
import re
import socket
import ssl
import time
from collections.abc import Sequence
from contextlib import closing
from typing import Any
from urllib.parse import quote, urlsplit

from truerail.errors import TransportError
from truerail.model import Target
from truerail.model.names import is_loopback, printable
from truerail.model.platforms import KUBERNETES_API, PROMETHEUS_API
from truerail.model.target import RestAccess
from truerail.transport.command_gate import refuse_undeclared
from truerail.transport.folders import MAX_ANSWER_BYTES
from truerail.transport.protocol import Answer, secret_text

UNIX = "unix:"
SLURM_VERSIONS = tuple(f"v0.0.{number}" for number in range(45, 35, -1))
"""Versions of slurmrestd's API, the newest first. Each release has three or four of them (Slurm's REST API guide)."""
PAGE_ITEMS = 500
"""As many as kubectl asks for at once."""
_MOST_PAGES = 1000
_PODS = "/api/v1/pods"
_OK, _GONE = 200, 410
_NO_SUCH = (404, 405)
_TOKEN = re.compile(r"[\x21-\x7e]{1,16384}")


class _StatusError(Exception):
    """An answer with another status than 200."""

    def __init__(self, status: int, reason: str) -> None:
        self.status = status
        super().__init__(f"the API answers {status} {printable(reason, 60)}".rstrip())


class RestApi:
    """The transport for schedulers with an API."""

    def __init__(self) -> None:
        self._versions: dict[tuple[str, str], str] = {}
        """The version that a slurmrestd answered, by its address and part: without slurmdbd it has no `slurmdb`."""

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        """One answer for each command, in order, each within `target.answer_seconds`. Raises `TransportError`."""
        refuse_undeclared(target, commands)
        access = target.rest
        if access is None:
            raise TransportError(f"{target.name} has no address of an API")
        return [await asyncio.to_thread(self._answer, target, access, command) for command in commands]

    async def close(self) -> None:
        """No connection is kept between rounds."""

    def _answer(self, target: Target, access: RestAccess, command: str) -> Answer:
        began = time.monotonic()
        path = command.partition(" ")[2]
        try:
            with closing(_Api(target.platform, access, target.answer_seconds, began)) as api:
                text = self._text(api, target.platform, access, path)
        except _StatusError as refused:
            return Answer(command, error=str(refused), took_seconds=time.monotonic() - began, refused=True)
        except (OSError, http.client.HTTPException, ValueError) as error:
            why = printable(str(error), 160) or type(error).__name__
            raise TransportError(f"{_shown(access.url)}: {why}") from None
        return Answer(command, text, took_seconds=time.monotonic() - began)

    def _text(self, api: "_Api", platform: str, access: RestAccess, path: str) -> str:
        if platform == KUBERNETES_API:
            return api.listed(path, access.namespaces)
        return api.get(path) if platform == PROMETHEUS_API else self._slurm(api, access.url, path)

    def _slurm(self, api: "_Api", url: str, path: str) -> str:
        """The jobs, in the newest version that this slurmrestd has."""
        part = (url, path.split("/")[1])
        known = self._versions.get(part)
        for version in (known,) if known else SLURM_VERSIONS:
            try:
                text = api.get(re.sub(r"^/(slurm|slurmdb)/", rf"/\1/{version}/", path))
            except _StatusError as refused:
                if refused.status not in _NO_SUCH:
                    raise
                self._versions.pop(part, None)
                continue
            self._versions[part] = str(version)
            return text
        raise _StatusError(_NO_SUCH[0], "for each known version of slurmrestd")


class _Api:
    """The requests of one round, over one connection."""

    def __init__(self, platform: str, access: RestAccess, seconds: float, began: float) -> None:
        self._access, self._until = access, began + seconds
        self._headers = {"Accept": "application/json", "User-Agent": "truerail", **_credentials(platform, access)}
        self._connection = _connection(access, seconds)
        self._left = MAX_ANSWER_BYTES

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()

    def get(self, path: str) -> str:
        """The body of a 200. Raises _StatusError, OSError, HTTPException, ValueError."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("no answer in time")
        self._connection.timeout = left
        if self._connection.sock is not None:
            self._connection.sock.settimeout(left)
        self._connection.request("GET", path, headers=self._headers)
        with self._connection.getresponse() as response:
            body = response.read(self._left + 1)
            if response.status != _OK:
                raise _StatusError(response.status, response.reason)
        self._left -= len(body)
        if self._left < 0:
            raise ValueError(f"an answer of more than {MAX_ANSWER_BYTES:,} bytes")
        return body.decode("utf-8")

    def listed(self, path: str, namespaces: Sequence[str]) -> str:
        """All pages as one list, pods of these namespaces alone. Where a page is no longer there (410), the list begins
        again, once.
        """
        pods = path.startswith(_PODS)
        spaces = namespaces if pods else ()
        paths = [path.replace(_PODS, f"/api/v1/namespaces/{one}/pods") for one in spaces] or [path]
        items: list[Any] = []
        for one in paths:
            try:
                items += self._pages(one)
            except _StatusError as refused:
                if refused.status != _GONE:
                    raise
                items += self._pages(one)
        return json.dumps({"kind": "PodList" if pods else "NodeList", "items": items})

    def _pages(self, path: str) -> list[Any]:
        what = path.partition("?")[0].rpartition("/")[2]
        items: list[Any] = []
        more = ""
        for _ in range(_MOST_PAGES):
            page = json.loads(self.get(f"{path}{'&' if '?' in path else '?'}limit={PAGE_ITEMS}{more}"))
            if not isinstance(page, dict) or not isinstance(page.get("items") or [], list):
                raise ValueError(f"not a list of {what}")
            items += page.get("items") or []
            following = (page.get("metadata") or {}).get("continue")
            if not following:
                return items
            more = f"&continue={quote(str(following), safe='')}"
        raise ValueError(f"more than {_MOST_PAGES:,} pages of {what}")


def _credentials(platform: str, access: RestAccess) -> dict[str, str]:
    """The headers of slurmrestd (rest_auth/jwt), Kubernetes, Prometheus. Raises `TransportError` without the token."""
    if access.token is None:
        return {}
    token = secret_text(access.token, "token").strip()
    if not _TOKEN.fullmatch(token):
        raise TransportError("token: empty, or not one word of printable ASCII")
    if platform in (KUBERNETES_API, PROMETHEUS_API):
        return {"Authorization": f"Bearer {token}"}
    return {"X-SLURM-USER-TOKEN": token} | ({"X-SLURM-USER-NAME": access.user} if access.user else {})


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str, seconds: float) -> None:
        super().__init__("localhost", timeout=seconds)
        self._path = path

    def connect(self) -> None:
        """Connects to the socket."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _connection(access: RestAccess, seconds: float) -> http.client.HTTPConnection:
    if access.url.startswith(UNIX):
        return _UnixConnection(access.url.removeprefix(UNIX), seconds)
    parts = urlsplit(access.url)
    host = parts.hostname or ""
    if parts.scheme == "https":
        try:
            context = ssl.create_default_context(cafile=access.ca or None)
        except OSError as error:
            raise TransportError(f"CA {access.ca}: {error.strerror or type(error).__name__}") from None
        return http.client.HTTPSConnection(host, parts.port, timeout=seconds, context=context)
    if access.token is not None and not is_loopback(host):
        raise TransportError(f"{_shown(access.url)}: a token is sent over https, to loopback, or to a Unix socket only")
    return http.client.HTTPConnection(host, parts.port, timeout=seconds)


def _shown(url: str) -> str:
    """An address without what may stand before its host."""
    parts = urlsplit(url)
    return url if url.startswith(UNIX) else f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
