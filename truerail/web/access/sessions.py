"""Sessions of the page: opaque random numbers in a cookie, their hashes in memory. A restart ends them all."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from truerail.service.settings import Token

MOST_PER_TOKEN = 256
"""Most open sessions of one token; a new one ends the token's oldest, never another token's."""


@dataclass(frozen=True, slots=True)
class Session:
    """One log-in. It lasts no longer than the token with `token_hash` is configured, and has its current role."""

    name: str
    token_hash: str
    csrf: str
    ends: float
    """By the monotonic clock, in seconds."""


class Sessions:
    """All open sessions. Found by hash, so that the time of a look-up reveals nothing about the stored numbers."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._open: dict[bytes, Session] = {}

    def begin(self, token: Token, seconds: float) -> tuple[str, Session]:
        """A new session and the number for its cookie."""
        self._forget_ended()
        self._make_room(token.hash)
        number = secrets.token_urlsafe(32)
        session = Session(token.name, token.hash, secrets.token_urlsafe(32), self._clock() + seconds)
        self._open[_key(number)] = session
        return number, session

    def find(self, number: str) -> Session | None:
        """The session with that number; None if it ended or never existed."""
        session = self._open.get(_key(number)) if number else None
        return session if session and session.ends > self._clock() else None

    def end(self, number: str) -> None:
        """Ends a session, if it is still open."""
        self._open.pop(_key(number), None)

    def _forget_ended(self) -> None:
        now = self._clock()
        self._open = {key: session for key, session in self._open.items() if session.ends > now}

    def _make_room(self, token_hash: str) -> None:
        own = [key for key, session in self._open.items() if session.token_hash == token_hash]
        for key in own[: max(0, len(own) - MOST_PER_TOKEN + 1)]:
            del self._open[key]


def _key(number: str) -> bytes:
    return sha256(number.encode("utf-8", "surrogatepass")).digest()
