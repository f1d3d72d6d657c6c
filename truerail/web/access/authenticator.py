"""Identifies the caller of a request and checks the permission.

bearer token    Authorization: Bearer trt_...        no CSRF defence needed: no browser sends it by itself
metrics token   the same, on /metrics and /sd        reads only these
proxy header    from the trusted networks only       X-CSRF-Token and a page of this service
session cookie  after a log-in                       X-CSRF-Token and a page of this service
none            if no log-in is configured           operator `local`; known Host, no page of another site
"""

import hmac
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, cast

from starlette.requests import Request

from truerail.errors import JournalUnavailableError, RequestRefusedError
from truerail.service.logs import logger
from truerail.service.settings import Settings, Token
from truerail.web.access.caller import Caller, CallerRole, needs_operator
from truerail.web.access.failures import Failures
from truerail.web.access.origins import Origins
from truerail.web.access.proxy import Proxy
from truerail.web.access.refusal import LOGIN, slow_down
from truerail.web.access.request import asks, bearer_token, header, peer, peer_name, writes
from truerail.web.access.sessions import Sessions
from truerail.web.access.token_check import MetricsToken, Tokens

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
