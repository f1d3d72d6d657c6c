"""The interface of an SNMP engine: it walks subtrees of one agent, with a login, and returns the reason if it fails.

Two engines implement it: pysnmp (Python, always available) and gufo_snmp (Rust, where its wheel installs).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from truerail.errors import TransportError, WalkError
from truerail.model import Secret, SnmpAccess
from truerail.transport.protocol import secret_text

# ----------------------------------------------------------------------------------------------------------------------
# The credentials for an agent: a community, or a user with passwords, which no repr or error shows.

AUTH_PROTOCOLS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")
PRIVACY_PROTOCOLS = ("des", "aes128", "aes192", "aes256")
_SHORTEST = 8  # RFC 3414 section 11.2: passwords have at least 8 characters


@dataclass(frozen=True, slots=True)
class Login:
    """SNMP v2c with a community; v3 with a user, whose `auth` and `privacy` are passwords, empty where not used."""

    version: str
    community: str = field(default="", repr=False)
    user: str = ""
    auth_protocol: str = ""
    auth: str = field(default="", repr=False)
    privacy_protocol: str = ""
    privacy: str = field(default="", repr=False)


def login(access: SnmpAccess) -> Login:
    """The login that an inventory refers to. Raises `TransportError` where it is incomplete or unknown.

    MD5, SHA-1 and DES are used only where the inventory names them.
    """
    if access.version == "2c":
        if access.community is None:
            raise TransportError("SNMP v2c needs a community, the inventory refers to none")
        return Login("2c", community=secret_text(access.community, "SNMP community"))
    if access.version != "3":
        raise TransportError(f"SNMP version {access.version!r} is not supported: 2c or 3")
    return _user(access)


def _user(access: SnmpAccess) -> Login:
    if not access.user:
        raise TransportError("SNMP v3 needs a user, the inventory names none")
    if access.privacy and not access.auth:
        raise TransportError("SNMP v3 has no privacy without authentication: the inventory refers to no auth password")
    auth = _password("auth", access.auth, access.auth_protocol, AUTH_PROTOCOLS)
    privacy = _password("privacy", access.privacy, access.privacy_protocol, PRIVACY_PROTOCOLS)
    return Login(
        "3",
        user=access.user,
        auth_protocol=access.auth_protocol if auth else "",
        auth=auth,
        privacy_protocol=access.privacy_protocol if privacy else "",
        privacy=privacy,
    )


def _password(use: str, secret: Secret | None, protocol: str, known: tuple[str, ...]) -> str:
    if secret is None:
        return ""
    if protocol not in known:
        raise TransportError(f"SNMP v3 {use} protocol {protocol!r} is not known: {', '.join(known)}")
    password = secret_text(secret, f"SNMP {use} password")
    if len(password) < _SHORTEST:
        raise TransportError(f"the SNMP v3 {use} password is shorter than {_SHORTEST} characters")
    return password


# ----------------------------------------------------------------------------------------------------------------------
# The interface of an engine.

Row = tuple[str, bytes | int | str]
"""An OID without a leading dot, and its value: octets, a whole number, or an OID or address as text."""

REPETITIONS = 25
"""Rows requested per GETBULK: an answer of LLDP-MIB then mostly fits into one Ethernet frame."""
SENDS = 3
"""How often a request is sent before an agent counts as silent: UDP loses packets."""
MOST_ROWS = 100_000
"""A walk with more rows than this is ended. A 512-port switch has 12,000."""


@dataclass(frozen=True, slots=True)
class Agent:
    """Where an SNMP agent listens: an IP address and a UDP port; `patience_seconds` is the wait for one answer."""

    ip: str
    port: int
    login: Login
    patience_seconds: float

    def silent(self) -> WalkError:
        """Why a walk ended without a word."""
        return WalkError(f"no answer to {SENDS} requests in {SENDS * self.patience_seconds:g} s")

    def refused(self) -> WalkError:
        """Why an agent that answers returns no data to a v3 user."""
        return WalkError(f"user {self.login.user!r} is refused: unknown, a wrong password or protocol")


class SnmpClient(Protocol):
    """An engine. One object serves all agents of a fleet."""

    async def walk(self, agent: Agent, subtrees: Sequence[str], rows: list[Row]) -> None:
        """Adds the rows of all subtrees to `rows`, one subtree after the other. Raises `WalkError`."""
        ...

    def close(self) -> None:
        """Ends what the engine holds open."""
        ...


CIRCLING = "the agent goes round in a circle: its OIDs do not increase"
ENDLESS = f"more than {MOST_ROWS:,} rows"
