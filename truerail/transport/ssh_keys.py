"""Which keys a login offers: the key file that the inventory names, an ssh-agent's, or the user's own."""

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import asyncssh

from truerail.errors import TransportError
from truerail.model import SshAccess

DEFAULT_FILES = ("~/.ssh/id_ed25519", "~/.ssh/id_ecdsa", "~/.ssh/id_rsa")
_KeyAndCertificate = tuple[asyncssh.SSHKey, asyncssh.SSHCertificate | None]


def identities(access: SshAccess) -> dict[str, Any]:
    """The key options for asyncssh. Raises `TransportError` for an unusable key file.

    Where the inventory names a key, that key alone is offered: a server counts each key as a try and refuses after six
    (sshd_config(5), MaxAuthTries). A key with a passphrase, or named by its public half, is left to the agent.
    """
    agent = os.environ.get("SSH_AUTH_SOCK", "") if access.agent else ""
    if not access.key:
        return {"client_keys": _default_keys() or (), "agent_path": agent}
    path = Path(access.key).expanduser()
    try:
        key = None if path.suffix == ".pub" else _key(path, path.stat().st_mtime_ns)
    except (OSError, asyncssh.KeyImportError) as error:
        raise TransportError(f"key {access.key}: {getattr(error, 'strerror', None) or error}") from None
    if key:
        return {"client_keys": [key], "agent_path": ""}
    return {"client_keys": (), "agent_path": agent, "agent_identities": [_public_half(path, agent)]}


def _public_half(path: Path, agent: str) -> str:
    """The file that identifies one of the agent's keys."""
    public = path if path.suffix == ".pub" else Path(f"{path}.pub")
    if not agent:
        raise TransportError(f"key {path}: has a passphrase or is the public half, and there is no ssh-agent to ask")
    if not public.is_file():
        raise TransportError(f"key {path}: has a passphrase; the agent is asked for it by {public}, which is not there")
    return str(public)


@lru_cache(maxsize=64)
def _key(path: Path, modified: int) -> _KeyAndCertificate | None:
    """A private key and its certificate, if one lies beside it; None where it has a passphrase. `modified` makes a
    changed file a new one.
    """
    try:
        key = asyncssh.read_private_key(path)
    except asyncssh.KeyImportError as error:
        if isinstance(error, asyncssh.KeyEncryptionError) or str(error).startswith("Passphrase"):
            return None
        raise
    certificate = Path(f"{path}-cert.pub")
    return key, asyncssh.read_certificate(certificate) if certificate.is_file() else None


def _default_keys() -> list[_KeyAndCertificate]:
    """The user's own keys that need no passphrase."""
    keys = []
    for name in DEFAULT_FILES:
        path = Path(name).expanduser()
        try:
            key = _key(path, path.stat().st_mtime_ns)
        except (OSError, asyncssh.KeyImportError):
            continue
        if key:
            keys.append(key)
    return keys
