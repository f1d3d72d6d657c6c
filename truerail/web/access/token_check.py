"""Finds the configured token for a presented one."""

import hmac
from collections.abc import Sequence

from truerail.errors import AccessError, SecretMissingError
from truerail.model import Secret
from truerail.service.settings import Token
from truerail.service.token_hashes import is_token, token_hash

SHORTEST_METRICS_TOKEN = 24
"""Characters; `openssl rand -hex 16` gives 32."""


class Tokens:
    """The configured tokens. All are compared in constant time, even after a match."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tuple(tokens)

    def find(self, presented: str) -> Token | None:
        """The token's entry; None if there is none."""
        return self.by_hash(token_hash(presented)) if is_token(presented) else None

    def by_hash(self, wanted: str) -> Token | None:
        """The entry with that hash; None if it is no longer configured."""
        found = None
        for token in self._tokens:
            if hmac.compare_digest(token.hash, wanted):
                found = token
        return found


class MetricsToken:
    """The token for the metrics only, which both the scraper and the service have in clear text."""

    def __init__(self, secret: Secret | None) -> None:
        """Raises AccessError if the secret is missing, or too short to be safe."""
        self._hash = token_hash(_long_enough(secret)) if secret else None

    def matches(self, presented: str) -> bool:
        """Whether the token matches; compared by hash, which hides even the length."""
        return self._hash is not None and hmac.compare_digest(self._hash, token_hash(presented))


def _long_enough(secret: Secret) -> str:
    try:
        value = secret.read()
    except SecretMissingError as missing:
        raise AccessError(f"access.metrics_token: {missing}") from missing
    if len(value) < SHORTEST_METRICS_TOKEN:
        raise AccessError(
            f"access.metrics_token ({secret.source} {secret.name}) is shorter than {SHORTEST_METRICS_TOKEN} characters"
        )
    return value
