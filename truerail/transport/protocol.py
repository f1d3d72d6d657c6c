"""What every transport is: it sends declared commands to one device and returns the answers, or the reason why there is
none."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from truerail.errors import SecretMissingError, TransportError
from truerail.model import Secret, Target


@dataclass(frozen=True, slots=True)
class Answer:
    """One command's answer. `error` is why there is none, or why it is incomplete (too long, too slow, exit status)."""

    command: str
    text: str = ""
    error: str = ""
    took_seconds: float = 0.0
    refused: bool = field(default=False, compare=False)
    """Whether the device itself rejected the command (exit status, not found): another command may work."""
    read_at: float = field(default=0.0, compare=False)
    """When the answer was created, in Unix seconds, where that was before it was asked for; else 0."""


class Transport(Protocol):
    """Asks devices of one kind. One object serves all devices of a fleet and keeps its connections between rounds."""

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        """One answer for each command, in order. Raises `TransportError` if the device cannot be queried at all."""
        ...

    async def close(self) -> None:
        """Ends all connections. No session is left open."""
        ...


def secret_text(secret: Secret, use: str) -> str:
    """The secret that an inventory refers to. Raises `TransportError` that names the reference, never the content."""
    try:
        return secret.read()
    except SecretMissingError as missing:
        raise TransportError(f"{use}: {missing}") from None
