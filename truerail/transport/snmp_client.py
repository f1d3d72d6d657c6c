"""What an SNMP engine is to truerail: it walks subtrees of one agent, with a login, and says why where it cannot.

Two engines do this alike: pysnmp (Python, always there) and gufo_snmp (Rust, wherever its wheel installs).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from truerail.transport.snmp_login import Login

Row = tuple[str, bytes | int | str]
"""An OID without a leading dot, and its value: octets, a whole number, or an OID or address as text."""

REPETITIONS = 25
"""Rows asked for in one GETBULK: an answer of LLDP-MIB then mostly fits into one Ethernet frame."""
SENDS = 3
"""How often a request is sent before an agent counts as silent: UDP loses packets."""
MOST_ROWS = 100_000
"""A walk with more rows than this is broken off. A 512-port switch has 12,000."""


@dataclass(frozen=True, slots=True)
class Agent:
    """Where an SNMP agent listens: an IP address and a UDP port; `patience_seconds` is the wait for one answer."""

    ip: str
    port: int
    login: Login
    patience_seconds: float


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


def silent(agent: Agent) -> str:
    """Why a walk ended without a word."""
    return f"no answer to {SENDS} requests in {SENDS * agent.patience_seconds:g} s"


def refused(agent: Agent) -> str:
    """Why an agent that does answer tells a v3 user nothing."""
    return f"user {agent.login.user!r} is refused: unknown, a wrong password or protocol"
