"""A Starlette request's data for the log-in, as received, without any trust in its headers.

The path comes from the ASGI scope: `request.url` is built with the Host header, and fails if the query is not UTF-8.
"""

import ipaddress
from urllib.parse import quote

from starlette.requests import Request

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_READ_BY_POST = frozenset({"/api/v1/lint-topology", "/api/v1/nccl"})
"""Questions with a body: they change nothing."""
_FOR_PROGRAMS = ("/api/", "/metrics", "/sd", "/openapi.json")


def header(request: Request, name: str) -> str:
    """The value of a header; empty if it is missing, or occurs twice and is ambiguous."""
    found = request.headers.getlist(name)
    return found[0].strip() if len(found) == 1 else ""


def bearer_token(request: Request) -> str | None:
    """The bearer token of the Authorization header; None without one."""
    scheme, _, token = header(request, "authorization").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def writes(request: Request) -> bool:
    """Whether the method may change something."""
    return request.method not in _SAFE_METHODS


def asks(request: Request) -> bool:
    """Whether a request with a body changes nothing: readers may make it."""
    return request.method == "POST" and request["path"] in _READ_BY_POST


def has_body(request: Request) -> bool:
    """Whether a body follows the headers (RFC 9112 section 6)."""
    return "content-length" in request.headers or "transfer-encoding" in request.headers


def wants_page(request: Request) -> bool:
    """Whether a person waits for a page."""
    return (
        request.method in ("GET", "HEAD")
        and "text/html" in header(request, "accept")
        and not request["path"].startswith(_FOR_PROGRAMS)
    )


def came_from_elsewhere(request: Request) -> bool:
    """Whether a browser followed a link of another site (https://www.w3.org/TR/fetch-metadata/)."""
    site = header(request, "sec-fetch-site")
    return header(request, "sec-fetch-mode") == "navigate" and site in ("cross-site", "same-site")


def quoted_address(request: Request) -> str:
    """Path and query, quoted as in a URL."""
    query = request["query_string"].decode("latin-1")
    return quote(request["path"], safe="/:@!$&'()*+,;=~-._") + (f"?{query}" if query else "")


def peer(request: Request) -> Address | None:
    """The address of the direct peer, None for a local socket; IPv4 for an IPv4 peer of an IPv6 socket."""
    client = request.get("client")
    if not client:
        return None
    try:
        found = ipaddress.ip_address(str(client[0]).partition("%")[0])
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, ipaddress.IPv6Address) else found


def peer_name(request: Request) -> str:
    """The address of the direct peer, for logs."""
    return str(peer(request) or "a local socket")
