"""Response headers for browsers: run only our own scripts, allow no frames, cache nothing personal."""

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import Message, Send

from truerail.web.access.authenticator import is_open
from truerail.web.access.request import header

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
STRICT_TRANSPORT_SECURITY = "max-age=31536000"
_ALWAYS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    # `no-referrer` would make browsers send `Origin: null` with the log-in form (Fetch standard, Origin header)
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "X-Frame-Options": "DENY",
}
_SHARED = ("public", "private", "no-store")
_PERSONAL = frozenset({"/login", "/logout", "/api/v1/me", "/api/v1/audit"})


def with_headers(send: Send, request: Request) -> Send:
    """Adds the headers to an outgoing response; headers set by the application stay."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _ALWAYS.items():
                headers.setdefault(name, value)
            _transport(headers, request)
            _keeping(headers, request)
        await send(message)

    return sending


def _transport(headers: MutableHeaders, request: Request) -> None:
    """HSTS applies to a host name with all its ports (RFC 6797 section 8.3): on another port than 443 it would cut
    browsers off from everything else that the machine serves over plain HTTP.
    """
    host = header(request, "host")
    if request.get("scheme") == "https" and not host.rpartition("]")[2].partition(":")[2]:
        headers.setdefault("Strict-Transport-Security", STRICT_TRANSPORT_SECURITY)


def _keeping(headers: MutableHeaders, request: Request) -> None:
    """No shared cache may store responses that need a log-in, and no cache those about the caller."""
    if request["path"] in _PERSONAL or "set-cookie" in headers:
        headers["Cache-Control"] = "no-store"
    elif not is_open(request["path"]):
        reported = headers.get("cache-control", "no-cache")
        headers["Cache-Control"] = reported if any(word in reported for word in _SHARED) else f"private, {reported}"
        headers.add_vary_header("Authorization, Cookie")
