"""A front proxy's headers, trusted from the configured networks only: by the direct peer's address, never by
`X-Forwarded-For`, which anyone can send.
"""

from ipaddress import ip_network

from starlette.requests import Request

from truerail.model.names import printable
from truerail.service.settings import TrustedProxy
from truerail.web.access.request import header, peer

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
