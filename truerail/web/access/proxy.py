"""What a proxy in front says, believed from the configured networks alone: by the direct peer's address, never by
`X-Forwarded-For`, which anybody can send.
"""

from ipaddress import ip_network

from truerail.model.names import printable
from truerail.service.settings import TrustedProxy
from truerail.web.access.request import RequestInfo

LONGEST_NAME = 128


class Proxy:
    """The trusted proxy of the settings; without one nothing is believed."""

    def __init__(self, settings: TrustedProxy | None) -> None:
        self._header = settings.header if settings else ""
        self._networks = tuple(ip_network(text, strict=False) for text in settings.addresses) if settings else ()
        self._role = settings.role if settings else "reader"
        self._operators = frozenset(settings.operators) if settings else frozenset()

    def trusts(self, asked: RequestInfo) -> bool:
        """Whether the direct peer is the proxy."""
        return asked.peer is not None and any(asked.peer in network for network in self._networks)

    def name(self, asked: RequestInfo) -> str:
        """Who the proxy says it is; empty where it says nothing, nothing usable, or is not the proxy."""
        if not self.trusts(asked):
            return ""
        try:
            name = asked.one(self._header).encode("latin-1").decode("utf-8")
        except UnicodeDecodeError:
            return ""
        return name if len(name) <= LONGEST_NAME and printable(name) == name else ""

    def role(self, name: str) -> str:
        """The role of somebody whom the proxy logged in."""
        return "operator" if name in self._operators else self._role

    def says_https(self, asked: RequestInfo) -> bool:
        """Whether the browser talks TLS to the proxy."""
        first = asked.one("x-forwarded-proto").partition(",")[0].strip()
        return first.lower() == "https" and self.trusts(asked)
