"""The interface of an SNMP engine: it walks subtrees of one agent, with a login, and returns the reason if it fails.

Two engines implement it: pysnmp (Python, always available) and gufo_snmp (Rust, where its wheel installs).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from truerail.transport.snmp_login import Login

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
    """Why an agent that answers returns no data to a v3 user."""
    return f"user {agent.login.user!r} is refused: unknown, a wrong password or protocol"
