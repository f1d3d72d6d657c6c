"""A request as its bytes have it: facts only, nothing of it believed."""

import ipaddress
from urllib.parse import quote

from starlette.types import Scope

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_FOR_PROGRAMS = ("/api/", "/metrics", "/sd", "/openapi.json")


class RequestInfo:
    """One HTTP request, from its ASGI scope."""

    def __init__(self, scope: Scope) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query: bytes = scope.get("query_string", b"")
        self.scheme: str = scope.get("scheme", "http")
        self.headers: list[tuple[bytes, bytes]] = list(scope["headers"])
        self.peer = _address(scope.get("client"))

    def all(self, name: str) -> list[str]:
        """The values of a header, one for each time it stands there."""
        wanted = name.lower().encode("latin-1")
        return [value.decode("latin-1") for key, value in self.headers if key.lower() == wanted]

    def one(self, name: str) -> str:
        """The value of a header; empty where it is missing, or stands there twice and so means nothing."""
        found = self.all(name)
        return found[0].strip() if len(found) == 1 else ""

    def cookie(self, name: str) -> str:
        """The value of a cookie; empty where there is none."""
        for pair in "; ".join(self.all("cookie")).split(";"):
            key, _, value = pair.strip().partition("=")
            if key == name:
                return value
        return ""

    @property
    def bearer(self) -> str | None:
        """The bearer token of the Authorization header; None without one."""
        scheme, _, token = self.one("authorization").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else None

    @property
    def writes(self) -> bool:
        """Whether the method may change something."""
        return self.method not in _SAFE_METHODS

    @property
    def has_body(self) -> bool:
        """Whether a body follows the headers (RFC 9112 section 6)."""
        return bool(self.all("content-length") or self.all("transfer-encoding"))

    @property
    def wants_page(self) -> bool:
        """Whether a person waits for a page."""
        return (
            self.method in ("GET", "HEAD")
            and "text/html" in self.one("accept")
            and not self.path.startswith(_FOR_PROGRAMS)
        )

    @property
    def came_from_elsewhere(self) -> bool:
        """Whether a browser followed a link of another site (https://www.w3.org/TR/fetch-metadata/)."""
        return self.one("sec-fetch-mode") == "navigate" and self.one("sec-fetch-site") in ("cross-site", "same-site")

    @property
    def address(self) -> str:
        """Path and query, quoted as they stand in a URL."""
        query = self.query.decode("latin-1")
        return quote(self.path, safe="/:@!$&'()*+,;=~-._") + (f"?{query}" if query else "")

    @property
    def peer_name(self) -> str:
        """The address of the direct peer, for logs."""
        return str(self.peer) if self.peer else "a local socket"


def _address(client: object) -> Address | None:
    """Of the direct peer; an IPv4 peer of an IPv6 socket counts by its IPv4 address."""
    if not isinstance(client, tuple | list) or not client:
        return None
    try:
        found = ipaddress.ip_address(str(client[0]).partition("%")[0])
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, ipaddress.IPv6Address) else found
