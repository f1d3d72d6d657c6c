"""Bearer tokens: `trt_` and 256 random bits in base64url. Only their SHA-256 is written down: `sha256:<64 hex digits>`.

A plain fast hash is right here, where it would be wrong for passwords. Slow, salted hashes (argon2, scrypt) make it
costly to try likely passwords; no 256 random bits are likely, so neither a table nor any number of tries
finds one from its hash, and no salt is needed to distinguish equal ones. A slow hash would only add work per request.
Only such a token is ever accepted, so that the hash of a chosen password is useless there.
"""

import re
import secrets
from hashlib import sha256

_TOKEN = re.compile(r"trt_[A-Za-z0-9_-]{43}")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")


def new_token() -> str:
    """A new random token."""
    return f"trt_{secrets.token_urlsafe(32)}"


def token_hash(token: str) -> str:
    """A token's hash for `truerail.yaml`."""
    return f"sha256:{sha256(token.encode()).hexdigest()}"


def is_token(text: str) -> bool:
    """Whether text has the shape of a token."""
    return _TOKEN.fullmatch(text) is not None


def is_token_hash(text: str) -> bool:
    """Whether text has the shape of a `token_hash`."""
    return _HASH.fullmatch(text) is not None
