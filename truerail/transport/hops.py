"""One SSH server on the way to a device: the device itself, or a jump host before it."""

import re
from dataclasses import dataclass, field, replace

from truerail.errors import TransportError
from truerail.model import SshAccess, Target
from truerail.model.names import printable

_JUMP = re.compile(
    r"(?:(?P<user>[^@\s]+)@)?(?:\[(?P<v6>[0-9A-Fa-f:.%\w]+)\]|(?P<host>[^:\s@\[\]]+))(?::(?P<port>\d{1,5}))?"
)
"""`[user@]host[:port]` as ssh(1) -J takes it; an IPv6 address is in brackets."""


@dataclass(frozen=True, slots=True)
class Hop:
    """A server to log in to. Two targets with one address and one access are one hop and share a connection."""

    address: str
    access: SshAccess
    seconds: float = field(compare=False)
    """How long a login may take."""

    @property
    def where(self) -> str:
        """The address as messages show it."""
        return f"{printable(self.address, 80)} port {self.access.port}"


def device_hop(target: Target) -> Hop:
    """The last hop: the device."""
    return Hop(target.address, target.ssh, target.timeout_seconds)


def hop_before(hop: Hop) -> Hop | None:
    """The jump host that leads to `hop`, or None where there is none. Raises `TransportError` for a bad name.

    The login on a jump host uses the device's key and agent, never its password, and never old algorithms: those are
    allowed for one device only.
    """
    if not hop.access.jump:
        return None
    *before, last = hop.access.jump
    found = _JUMP.fullmatch(last)
    port = int(found["port"] or 22) if found else 0
    if not found or not 0 < port < 65536:
        raise TransportError(f"jump host {printable(last, 80)!r} is not of the form user@host:port")
    access = replace(
        hop.access,
        user=found["user"] or hop.access.user,
        port=port,
        jump=tuple(before),
        password=None,
        keyboard_interactive=False,
        legacy_algorithms=False,
    )
    return Hop(found["v6"] or found["host"], access, hop.seconds)
