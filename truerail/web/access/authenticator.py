"""Identifies the caller of a request and checks the permission.

bearer token    Authorization: Bearer trt_...        no CSRF defence needed: no browser sends it by itself
metrics token   the same, on /metrics and /sd        reads only these
proxy header    from the trusted networks only       X-CSRF-Token and a page of this service
session cookie  after a log-in                       X-CSRF-Token and a page of this service
none            if no log-in is configured           operator `local`; known Host, no page of another site
"""

import hmac
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from ipaddress import ip_address, ip_network
from typing import Literal, cast
from urllib.parse import urlsplit

from starlette.requests import Request

from truerail.errors import AccessError, JournalUnavailableError, RequestRefusedError, SecretMissingError
from truerail.model import Secret
from truerail.model.names import is_loopback, printable
from truerail.service.logs import logger
from truerail.service.settings import Settings, Token, TrustedProxy
from truerail.service.token_hashes import is_token, token_hash
from truerail.web.access.caller import Caller, CallerRole, needs_operator
from truerail.web.access.failures import Failures
from truerail.web.access.refusal import LOGIN, slow_down
from truerail.web.access.request import asks, bearer_token, header, peer, peer_name, writes
from truerail.web.access.sessions import Sessions

# ----------------------------------------------------------------------------------------------------------------------
# The names of this service, and whether a browser's request comes from one of its own pages.


_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?")


class Origins:
    """The configured names."""

    def __init__(self, settings: Settings) -> None:
        public = urlsplit(settings.page.url)
        self.public_https = public.scheme == "https"
        self._public = f"{public.scheme}://{public.netloc}".lower() if public.netloc else ""
        self._names = {name.lower() for name in (settings.http.host, public.hostname) if name}

    def knows(self, host: str) -> bool:
        """Whether a Host header names this machine's loopback, the configured address or the public one.

        Without log-in this prevents DNS rebinding: if `evil.example` suddenly resolves to 127.0.0.1, its page has the
        same origin as this service for its browser, but still sends its own name.
        """
        found = _HOST.fullmatch(host)
        if not found:
            return False
        name = found["name"].strip("[]").lower()
        return name in self._names or is_loopback(_plain(name))

    def own_page(self, request: Request, secure: bool) -> bool | None:
        """Whether a page of this service made the request; None if it has no such header, as from programs.

        Sec-Fetch-Site (https://www.w3.org/TR/fetch-metadata/) precedes Origin: a browser compares with the address that
        it uses, while a proxy may set another Host. Over plain HTTP browsers send only Origin.
        """
        if "sec-fetch-site" in request.headers:
            return header(request, "sec-fetch-site") == "same-origin"
        if "origin" not in request.headers:
            return None
        own = f"{'https' if secure else 'http'}://{header(request, 'host')}".lower()
        return header(request, "origin").lower() in {own, self._public} - {""}


def _plain(name: str) -> str:
    """An address without its IPv4-in-IPv6 wrapping."""
    try:
        found = ip_address(name)
    except ValueError:
        return name
    return str(getattr(found, "ipv4_mapped", None) or found)


# ----------------------------------------------------------------------------------------------------------------------
# Finds the configured token for a presented one.


SHORTEST_METRICS_TOKEN = 24
"""Characters; `openssl rand -hex 16` gives 32."""


class Tokens:
    """The configured tokens. All are compared in constant time, even after a match."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tuple(tokens)

    def find(self, presented: str) -> Token | None:
        """The token's entry; None if there is none."""
        return self.by_hash(token_hash(presented)) if is_token(presented) else None

    def by_hash(self, wanted: str) -> Token | None:
        """The entry with that hash; None if it is no longer configured."""
        found = None
        for token in self._tokens:
            if hmac.compare_digest(token.hash, wanted):
                found = token
        return found


class MetricsToken:
    """The token for the metrics only, which both the scraper and the service have in clear text."""

    def __init__(self, secret: Secret | None) -> None:
        """Raises AccessError if the secret is missing, or too short to be safe."""
        self._hash = token_hash(_long_enough(secret)) if secret else None

    def matches(self, presented: str) -> bool:
        """Whether the token matches; compared by hash, which hides even the length."""
        return self._hash is not None and hmac.compare_digest(self._hash, token_hash(presented))


def _long_enough(secret: Secret) -> str:
    try:
        value = secret.read()
    except SecretMissingError as missing:
        raise AccessError(f"access.metrics_token: {missing}") from missing
    if len(value) < SHORTEST_METRICS_TOKEN:
        raise AccessError(
            f"access.metrics_token ({secret.source} {secret.name}) is shorter than {SHORTEST_METRICS_TOKEN} characters"
        )
    return value


# ----------------------------------------------------------------------------------------------------------------------
# A front proxy's headers, trusted from the configured networks only: by the direct peer's address, never by
# `X-Forwarded-For`, which anyone can send.


LONGEST_NAME = 128


class Proxy:
    """The configured proxy; without one no header is trusted."""

    def __init__(self, settings: TrustedProxy | None) -> None:
        self._header = settings.header if settings else ""
        self._networks = tuple(ip_network(text, strict=False) for text in settings.addresses) if settings else ()
        self._role = settings.role if settings else "reader"
        self._operators = frozenset(settings.operators) if settings else frozenset()

    def trusts(self, request: Request) -> bool:
        """Whether the direct peer is the proxy."""
        direct = peer(request)
        return direct is not None and any(direct in network for network in self._networks)

    def name(self, request: Request) -> str:
        """The user named by the proxy; empty without a usable name, or if the peer is not the proxy."""
        if not self.trusts(request):
            return ""
        try:
            name = header(request, self._header).encode("latin-1").decode("utf-8")
        except UnicodeDecodeError:
            return ""
        return name if len(name) <= LONGEST_NAME and printable(name) == name else ""

    def role(self, name: str) -> str:
        """The role of a user authenticated by the proxy."""
        return "operator" if name in self._operators else self._role

    def says_https(self, request: Request) -> bool:
        """Whether the browser talks TLS to the proxy."""
        first = header(request, "x-forwarded-proto").partition(",")[0].strip()
        return first.lower() == "https" and self.trusts(request)


# ----------------------------------------------------------------------------------------------------------------------
# Identifies the caller of a request and checks the permission.


Audit = Callable[[str, str, str], Awaitable[None]]
"""`(who, action, detail)`, as in `ServiceAPI.audit`."""
PROBES = frozenset({"/healthz", "/readyz"})
METRICS = frozenset({"/metrics", "/sd"})
LOGOUT = "/logout"
_OPEN = PROBES | {LOGIN}
_STATIC = "/static/"


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller, and the proof that its writes need: none, that no other site sent it, or that our page did."""

    caller: Caller
    proof: Literal["none", "origin", "csrf"]


class Authenticator:
    """Keeps state over requests: sessions, failures. `clock` counts seconds and never goes back."""

    def __init__(self, settings: Settings, audit: Audit, clock: Callable[[], float] = time.monotonic) -> None:
        self.sessions = Sessions(clock)
        self._audit = audit
        self._failures = Failures(settings.access.failed_logins_per_minute, clock)
        self._key = secrets.token_bytes(32)
        self.renew(settings)

    def renew(self, settings: Settings) -> None:
        """Applies changed settings; sessions of removed tokens end. If it raises AccessError, nothing changes."""
        metrics = MetricsToken(settings.access.metrics_token)
        self.access = settings.access
        self._metrics = metrics
        self._tokens = Tokens(settings.access.tokens)
        self._proxy = Proxy(settings.access.trusted_proxy)
        self._origins = Origins(settings)
        self._failures.limit(settings.access.failed_logins_per_minute)

    async def identify(self, request: Request) -> Principal | None:
        """The caller; None on public paths. Raises RequestRefusedError (401, 421, 429)."""
        if request["path"] in PROBES and not writes(request):
            return None
        if not self.access.required and not self._origins.knows(header(request, "host")):
            raise RequestRefusedError(
                421, f"{header(request, 'host') or 'no host'} is not a name of this service: see page.url"
            )
        if is_open(request["path"]):
            return None
        known = await self._known(request)
        if known is None:
            raise RequestRefusedError(401, "log in, or send a token: Authorization: Bearer trt_...")
        return known

    def allow(self, request: Request, known: Principal | None) -> None:
        """Checks the caller's permission. Raises RequestRefusedError (403)."""
        if not writes(request):
            return
        if known is None or known.proof != "none":
            self._no_other_site(request)
        if known is None:
            return
        if known.proof == "csrf":
            self._own_page(request)
            self._has_csrf_token(request, known.caller)
        if known.caller.role != "operator" and request["path"] != LOGOUT and not asks(request):
            raise RequestRefusedError(403, needs_operator(known.caller))

    def secure(self, request: Request) -> bool:
        """Whether the browser's connection is encrypted, as far as known."""
        return request.get("scheme") == "https" or self._proxy.says_https(request) or self._origins.public_https

    def cookie_name(self, request: Request) -> str:
        """`__Host-` keeps other hosts of the domain from setting it (RFC 6265bis); only for encrypted connections."""
        return "__Host-truerail" if self.secure(request) else "truerail"

    def local(self) -> Caller:
        """The caller without configured log-in."""
        return Caller("local", "operator", self._csrf_of("local"))

    async def token(self, request: Request, presented: str) -> Token:
        """The token's entry. Raises RequestRefusedError (401, 429) for a wrong one, after counting, logging and
        auditing.
        """
        found = self._tokens.find(presented)
        if found is None:
            raise await self._wrong(request)
        return found

    async def tell(self, who: str, action: str, detail: str) -> None:
        """Records a log-in or log-out; a journal that is gone does not prevent them."""
        logger().info(action, who=who, detail=detail)
        try:
            await self._audit(who, action, detail)
        except JournalUnavailableError as gone:
            logger().warning("not audited", action=action, who=who, why=str(gone))

    async def _known(self, request: Request) -> Principal | None:
        if not self.access.required:
            return Principal(self.local(), "origin")
        name = self._proxy.name(request)
        bearer = bearer_token(request)
        if bearer is not None and (not name or bearer.startswith("trt_")):
            return await self._by_token(request, bearer)
        return self._by_proxy(name) if name else self._by_cookie(request)

    async def _by_token(self, request: Request, bearer: str) -> Principal:
        if request["path"] in METRICS and self._metrics.matches(bearer):
            return Principal(Caller("metrics", "metrics"), "none")
        token = await self.token(request, bearer)
        return Principal(Caller(token.name, token.role), "none")

    def _by_proxy(self, name: str) -> Principal:
        return Principal(Caller(name, cast("CallerRole", self._proxy.role(name)), self._csrf_of(name)), "csrf")

    def _by_cookie(self, request: Request) -> Principal | None:
        session = self.sessions.find(request.cookies.get(self.cookie_name(request), ""))
        token = self._tokens.by_hash(session.token_hash) if session else None
        if session is None or token is None:
            return None
        return Principal(Caller(token.name, token.role, session.csrf), "csrf")

    def _no_other_site(self, request: Request) -> None:
        if self._origins.own_page(request, self.secure(request)) is False:
            raise RequestRefusedError(403, "a page of another site made this request: see page.url")

    def _own_page(self, request: Request) -> None:
        if self._origins.own_page(request, self.secure(request)) is None:
            raise RequestRefusedError(
                403, "the request says neither Origin nor Sec-Fetch-Site: programs send a bearer token"
            )

    def _has_csrf_token(self, request: Request, caller: Caller) -> None:
        """A log-out is a plain form, which sends no header; there it is enough that a page of this service sent it."""
        shown = header(request, "x-csrf-token").encode()
        if request["path"] != LOGOUT and not hmac.compare_digest(shown, caller.csrf.encode()):
            raise RequestRefusedError(403, "X-CSRF-Token is missing or old: load the page again")

    async def _wrong(self, request: Request) -> RequestRefusedError:
        wait = self._failures.add(peer(request))
        if wait:
            return slow_down(wait)
        await self.tell("unknown", "wrong token", f"from {peer_name(request)}")
        return RequestRefusedError(401, "this token is not known")

    def _csrf_of(self, name: str) -> str:
        """The CSRF token of callers without a session: one per name for the life of the process."""
        return hmac.new(self._key, name.encode(), sha256).hexdigest()


def is_open(path: str) -> bool:
    """Whether a path is available without log-in."""
    return path in _OPEN or path.startswith(_STATIC)
