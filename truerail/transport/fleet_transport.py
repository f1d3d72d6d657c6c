"""Which transport queries which device: one object for a whole fleet, which opens only the transports it needs."""

from collections.abc import Sequence

from truerail.model import Role, Target
from truerail.model.own_process import raise_open_files
from truerail.transport.folders import MAX_ANSWER_BYTES
from truerail.transport.framing import LIMITS, Limits
from truerail.transport.protocol import Answer, Transport

LOCAL = "local"
"""The address of the machine that truerail runs on: its commands are run, not sent."""
_FABRIC = Limits(MAX_ANSWER_BYTES, 2 * MAX_ANSWER_BYTES)
"""A listing has some 700 bytes per link. One machine reports all links: the limit is that of an answer in a capture."""


def kind_of(target: Target) -> str:
    """`local`, `rest`, `gnmi`, `fabric`, `snmp`, `switches` or `hosts`. A device of unknown platform is queried like a
    host: by SSH.
    """
    if target.address == LOCAL:
        return "local"
    if target.rest is not None:
        return "rest"
    if target.by_gnmi:
        return "gnmi"
    if target.apart:
        return "fabric"
    if target.platform == "snmp":
        return "snmp"
    switch = target.platform not in ("", "linux") or (target.platform and target.role not in (None, Role.HOST))
    return "switches" if switch else "hosts"


class Routes:
    """A `Transport` made of all others."""

    def __init__(self) -> None:
        raise_open_files()
        self._open: dict[str, Transport] = {}

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        """Asks through the transport that fits. Raises `TransportError`."""
        kind = kind_of(target)
        if kind not in self._open:
            self._open[kind] = _made(kind)
        return await self._open[kind].ask(target, commands)

    async def close(self) -> None:
        """Ends all connections of all transports."""
        for transport in self._open.values():
            await transport.close()
        self._open.clear()


def _made(kind: str) -> Transport:
    """The transport of a kind. What it needs is imported with the first device that it asks."""
    match kind:
        case "local":
            from truerail.transport.shell_sessions import Local

            return Local(limits=_FABRIC)
        case "rest":
            from truerail.transport.rest_api import RestApi

            return RestApi()
        case "gnmi":
            from truerail.transport.gnmi_transport import GnmiTransport

            return GnmiTransport()
        case "snmp":
            from truerail.transport.snmp_transport import SnmpTransport

            return SnmpTransport()
        case "switches":
            from truerail.transport.ssh_transports import SwitchCli

            return SwitchCli()
    from truerail.transport.ssh_transports import SshHosts

    return SshHosts(limits=_FABRIC if kind == "fabric" else LIMITS)
