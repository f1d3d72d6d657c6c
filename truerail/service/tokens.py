"""Bearer tokens: `trt_` and 256 random bits in base64url. Only their SHA-256 is written down: `sha256:<64 hex digits>`.

A plain fast hash is right here, where it would be wrong for passwords. Slow, salted hashes (argon2, scrypt) make it
costly to try likely passwords; nothing about 256 random bits is likely, so neither a table nor any number of tries
finds one from its hash, and no salt is needed to keep two alike apart. A slow hash would only add work to each request.
Nothing else than such a token is ever accepted, so that nobody can put the hash of a password of their own there.
"""

import re
import secrets
from hashlib import sha256

_TOKEN = re.compile(r"trt_[A-Za-z0-9_-]{43}")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")


def new_token() -> str:
    """A token nobody had before."""
    return f"trt_{secrets.token_urlsafe(32)}"


def token_hash(token: str) -> str:
    """What stands for a token in `truerail.yaml`."""
    return f"sha256:{sha256(token.encode()).hexdigest()}"


def is_token(text: str) -> bool:
    """Whether text has the shape of a token."""
    return _TOKEN.fullmatch(text) is not None


def is_token_hash(text: str) -> bool:
    """Whether text has the shape of what `token_hash` gives."""
    return _HASH.fullmatch(text) is not None
