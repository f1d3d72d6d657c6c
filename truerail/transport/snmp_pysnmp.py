"""SNMP by pysnmp: pure Python, so it is available everywhere. Without MIB files and MIB look-ups, which halve its
speed.

An engine costs 80 ms to make and is shared: one for all communities, one for each user, because pysnmp distinguishes
users by name only and would mix up two passwords. It remembers an agent's engine id for five minutes: a switch that was
replaced by one with another id does not answer a v3 user for that time.
"""

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any, cast

from pyasn1.type import univ
from pysnmp.carrier.asyncio.dgram import udp, udp6
from pysnmp.hlapi.v3arch import asyncio as hlapi
from pysnmp.proto import errind
from pysnmp.proto.rfc1902 import IpAddress
from pysnmp.proto.rfc1905 import EndOfMibView

from truerail.errors import WalkError
from truerail.transport.snmp_client import CIRCLING, ENDLESS, MOST_ROWS, REPETITIONS, SENDS, Agent, Login, Row

_AUTH = {
    "": hlapi.USM_AUTH_NONE,
    "md5": hlapi.USM_AUTH_HMAC96_MD5,
    "sha1": hlapi.USM_AUTH_HMAC96_SHA,
    "sha224": hlapi.USM_AUTH_HMAC128_SHA224,
    "sha256": hlapi.USM_AUTH_HMAC192_SHA256,
    "sha384": hlapi.USM_AUTH_HMAC256_SHA384,
    "sha512": hlapi.USM_AUTH_HMAC384_SHA512,
}
_PRIVACY = {
    "": hlapi.USM_PRIV_NONE,
    "des": hlapi.USM_PRIV_CBC56_DES,
    "aes128": hlapi.USM_PRIV_CFB128_AES,
    "aes192": hlapi.USM_PRIV_CFB192_AES_BLUMENTHAL,
    "aes256": hlapi.USM_PRIV_CFB256_AES_BLUMENTHAL,
}
_REFUSALS = (
    errind.AuthenticationError,
    errind.AuthenticationFailure,
    errind.DecryptionError,
    errind.UnknownSecurityName,
    errind.UnknownUserName,
    errind.UnsupportedSecurityLevel,
    errind.WrongDigest,
)


class _Heard:
    """Accepts datagrams only from addresses to which a request was sent: other senders are no agents of ours."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._peers: set[tuple[str, int]] = set()

    def send_message(self, message: bytes, address: Any) -> None:
        """Sends, and records the address."""
        self._peers.add(_peer(address))
        super().send_message(message, address)  # type: ignore[misc]  # pysnmp's transport, see below

    def datagram_received(self, datagram: bytes, address: Any) -> None:
        """Takes an answer, or drops it."""
        if _peer(address) in self._peers:
            super().datagram_received(datagram, address)  # type: ignore[misc]  # pysnmp's transport, see below


def _peer(address: Any) -> tuple[str, int]:
    return str(address[0]).partition("%")[0], int(address[1])


class _Udp(_Heard, udp.UdpAsyncioTransport):  # type: ignore[misc]  # pysnmp has no types
    """Over IPv4."""


class _Udp6(_Heard, udp6.Udp6AsyncioTransport):  # type: ignore[misc]  # pysnmp has no types
    """Over IPv6."""


class _Target(hlapi.UdpTransportTarget):  # type: ignore[misc]  # pysnmp has no types
    PROTO_TRANSPORT = _Udp


class _Target6(hlapi.Udp6TransportTarget):  # type: ignore[misc]  # pysnmp has no types
    PROTO_TRANSPORT = _Udp6


class PysnmpClient:
    """The engine `pysnmp`."""

    def __init__(self) -> None:
        self._engines: dict[Login | None, hlapi.SnmpEngine] = {}

    async def walk(self, agent: Agent, subtrees: Sequence[str], rows: list[Row]) -> None:
        """Adds the rows of all subtrees to `rows`, one subtree after the other. Raises `WalkError`."""
        login = agent.login
        key = login if login.version == "3" else None
        if key not in self._engines:
            self._engines[key] = hlapi.SnmpEngine()
        kind = _Target if ip_address(agent.ip).version == 4 else _Target6
        place = await kind.create((agent.ip, agent.port), timeout=agent.patience_seconds, retries=SENDS - 1)
        asked = _Asked(self._engines[key], agent, _auth(login), place)
        for oid in subtrees:
            await asked.walk(oid, rows)

    def close(self) -> None:
        """Closes the sockets, one for each engine and address family."""
        for engine in self._engines.values():
            engine.close_dispatcher()
        self._engines.clear()


class _Asked:
    """One agent, being walked."""

    def __init__(self, engine: hlapi.SnmpEngine, agent: Agent, auth: Any, place: Any) -> None:
        self._agent = agent
        self._fixed = (engine, auth, place, hlapi.ContextData(), 0, REPETITIONS)

    async def walk(self, oid: str, rows: list[Row]) -> None:
        """Adds the rows of a subtree. Raises `WalkError`."""
        root = tuple(map(int, oid.split(".")))
        last = root
        while True:
            found = await self._next(last)
            if not found:
                return
            for name, value in found:
                here = tuple(name)
                if here[: len(root)] != root or isinstance(value, EndOfMibView):
                    return
                if here <= last:
                    raise WalkError(CIRCLING)
                last = here
                if not isinstance(value, univ.Null):
                    rows.append((".".join(map(str, here)), _plain(value)))
            if len(rows) > MOST_ROWS:
                raise WalkError(ENDLESS)

    async def _next(self, after: tuple[int, ...]) -> Sequence[tuple[Any, Any]]:
        request = hlapi.ObjectType(hlapi.ObjectIdentity(after), univ.Null(""))
        why, status, _, found = await hlapi.bulk_cmd(*self._fixed, request, lookupMib=False)
        if isinstance(why, errind.RequestTimedOut):
            raise self._agent.silent()
        if isinstance(why, _REFUSALS):
            raise self._agent.refused()
        if why or status:
            reason = type(why).__name__ if why else f"error status {status.prettyPrint()}"
            raise WalkError(f"{reason} from the agent")
        return cast(Sequence[tuple[Any, Any]], found)


def _plain(value: Any) -> bytes | int | str:
    if isinstance(value, univ.Integer):
        return int(value)
    if isinstance(value, univ.OctetString) and not isinstance(value, IpAddress):
        return bytes(value.asOctets())
    return str(value.prettyPrint())


def _auth(login: Login) -> Any:
    if login.version == "2c":
        return hlapi.CommunityData(login.community)
    return hlapi.UsmUserData(
        login.user,
        login.auth or None,
        login.privacy or None,
        authProtocol=_AUTH[login.auth_protocol],
        privProtocol=_PRIVACY[login.privacy_protocol],
    )
