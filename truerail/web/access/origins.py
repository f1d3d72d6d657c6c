"""The names of this service, and whether a browser's request comes from one of its own pages."""

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.requests import Request

from truerail.model.names import is_loopback
from truerail.service.settings import Settings
from truerail.web.access.request import header

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
