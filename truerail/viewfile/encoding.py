"""Parts to bytes and back. Only the processes of one service read each other's parts: see `view_file`."""

import io
import pickle
from hashlib import blake2b
from typing import Any


def encoded(value: Any) -> bytes:
    """A part as bytes."""
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def decoded(body: bytes) -> Any:
    """A part that `encoded` wrote."""
    return pickle.load(io.BytesIO(body))  # noqa: S301 - written by this service, in a folder of its own user


def digest_of(*parts: bytes | memoryview) -> bytes:
    """What two bodies share only if they are equal."""
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.digest()
