"""Logging in to one SSH server with asyncssh: keys, agent or password, host key, and errors in plain words."""

import asyncio
import logging
import os
import socket
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import asyncssh
from asyncssh.public_key import load_identities

from truerail.errors import ConnectError, HostKeyError, TransportError
from truerail.model import SshAccess
from truerail.model.names import printable
from truerail.transport.hops import Hop
from truerail.transport.protocol import secret_text

# ----------------------------------------------------------------------------------------------------------------------
# Which host keys are trusted, by known_hosts files, and the error for one that is not. There is no prompt.
#
# The format is OpenSSH's (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT): plain and hashed names, patterns, `@cert-authority`,
# `@revoked`. A lookup by a plain name takes 0.01 ms; each hashed entry of the file costs it 0.003 ms, because a hash
# can only be tried. asyncssh reads each line by itself: over a whole file it would end at the first one with a fault.


@dataclass(frozen=True, slots=True)
class Trusted:
    """The entries of a known_hosts file for one address."""

    file: str
    address: str
    port: int
    keys: tuple[asyncssh.SSHKey, ...]
    authorities: tuple[asyncssh.SSHKey, ...]
    revoked: tuple[asyncssh.SSHKey, ...]

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Key algorithms that the trusted keys can sign with: a device with several keys must show one of these."""
        return tuple(dict.fromkeys(name.decode() for key in self.keys for name in key.sig_algorithms))

    def refusal(self, seen: asyncssh.SSHKey) -> HostKeyError | None:
        """Why the key that a device showed is not trusted, or None where it is."""
        if seen in self.keys and seen not in self.revoked:
            return None
        shown = f"{key_type(seen)} {seen.get_fingerprint()}"
        where = f"{self.address} port {self.port}"
        if seen in self.revoked:
            return HostKeyError(f"host key of {where} is revoked in {self.file}: {shown}")
        check = "compare the fingerprint at the device's console, then `truerail inventory trust`"
        if not self.keys:
            return HostKeyError(f"host key of {where} is unknown, {self.file} has none: {shown}; {check} records it")
        known = ", ".join(f"{key_type(key)} {key.get_fingerprint()}" for key in self.keys)
        return HostKeyError(
            f"host key of {where} has changed: now {shown}, {self.file} has {known}; the device was "
            "reinstalled, or "
            f"a machine in between answers; {check} --replace records it"
        )


def trusted(file: str, address: str, port: int) -> Trusted:
    """The entries of `file` for an address. A missing file trusts no key. Raises `TransportError`."""
    path = Path(file).expanduser()
    try:
        status = path.stat()
        known = _parsed(path, (status.st_mtime_ns, status.st_size))
    except FileNotFoundError:
        known = asyncssh.SSHKnownHosts()
    except OSError as error:
        raise TransportError(f"known_hosts file {file} is not readable: {error.strerror}") from None
    keys, authorities, revoked, *_ = known.match(address, "", None if port == 22 else port)
    return Trusted(file, address, port, tuple(keys), tuple(authorities), tuple(revoked))


def key_type(key: asyncssh.SSHKey) -> str:
    """A key's type as known_hosts and ssh-keygen spell it, such as `ssh-ed25519`."""
    return printable(key.get_algorithm(), 40)


@lru_cache(maxsize=64)
def _parsed(path: Path, version: tuple[int, int]) -> asyncssh.SSHKnownHosts:
    """All entries that can be read; OpenSSH passes over the others, too. `version` makes a changed file a new one."""
    known = asyncssh.SSHKnownHosts()
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        with suppress(ValueError):
            known.load(line)
    return known


# ----------------------------------------------------------------------------------------------------------------------
# The algorithms that connections may use, best first: the modern ones, and old ones for a device with
# `legacy_algorithms`.
#
# AES-128-GCM comes first: a Python client spends 40 % less on it than on ChaCha20-Poly1305, and it is no weaker.
# SHA-1 signatures and key exchanges, CBC ciphers and DSA are left out (RFC 9142, RFC 8332), but for
# `legacy_algorithms`.

CIPHERS = (
    "aes128-gcm@openssh.com",
    "aes256-gcm@openssh.com",
    "chacha20-poly1305@openssh.com",
    "aes128-ctr",
    "aes256-ctr",
)
KEY_EXCHANGES = (
    "mlkem768x25519-sha256",
    "curve25519-sha256",
    "curve25519-sha256@libssh.org",
    "ecdh-sha2-nistp256",
    "ecdh-sha2-nistp384",
    "ecdh-sha2-nistp521",
    "diffie-hellman-group16-sha512",
    "diffie-hellman-group-exchange-sha256",
    "diffie-hellman-group14-sha256",
)
MACS = ("hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com", "hmac-sha2-256", "hmac-sha2-512")
SIGNATURES = (
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "rsa-sha2-512",
    "rsa-sha2-256",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
)
CERTIFICATES = (
    "ssh-ed25519-cert-v01@openssh.com",
    "ecdsa-sha2-nistp256-cert-v01@openssh.com",
    "ecdsa-sha2-nistp384-cert-v01@openssh.com",
    "ecdsa-sha2-nistp521-cert-v01@openssh.com",
    "rsa-sha2-512-cert-v01@openssh.com",
    "rsa-sha2-256-cert-v01@openssh.com",
)


@dataclass(frozen=True, slots=True)
class Algorithms:
    """What a client offers, best first."""

    ciphers: tuple[str, ...] = CIPHERS
    key_exchanges: tuple[str, ...] = KEY_EXCHANGES
    macs: tuple[str, ...] = MACS
    signatures: tuple[str, ...] = SIGNATURES

    def host_keys(self, known: tuple[str, ...], *, certificates: bool = False) -> tuple[str, ...]:
        """Host key algorithms: first those of the known keys, so that a device sends a key that can be compared; then
        the others, so that a changed one is detected and reported. Certificates where an authority is known.
        """
        first = (CERTIFICATES if certificates else ()) + tuple(name for name in known if name in self.signatures)
        return first + tuple(name for name in self.signatures if name not in first)


MODERN = Algorithms()
LEGACY = Algorithms(
    (*CIPHERS, "aes256-cbc", "aes128-cbc", "3des-cbc"),
    (*KEY_EXCHANGES, "diffie-hellman-group-exchange-sha1", "diffie-hellman-group14-sha1", "diffie-hellman-group1-sha1"),
    (*MACS, "hmac-sha1"),
    (*SIGNATURES, "ssh-rsa", "ssh-dss"),
)


# ----------------------------------------------------------------------------------------------------------------------
# Which keys a login offers: the key file that the inventory names, an ssh-agent's, or the user's own.

DEFAULT_FILES = ("~/.ssh/id_ed25519", "~/.ssh/id_ecdsa", "~/.ssh/id_rsa")
_KeyAndCertificate = tuple[asyncssh.SSHKey, asyncssh.SSHCertificate | None]


def identities(access: SshAccess) -> dict[str, Any]:
    """The keys of a login, as the options of asyncssh. Raises `TransportError` for an unusable key file.

    Where the inventory names a key, that key alone is offered: a server counts each key as a try and refuses after six
    (sshd_config(5), MaxAuthTries). A key with a passphrase, or named by its public half, is left to the agent.
    """
    agent = os.environ.get("SSH_AUTH_SOCK", "") if access.agent else ""
    if not access.key:
        return {"client_keys": _default_keys() or (), "agent_path": agent}
    path = Path(access.key).expanduser()
    try:
        key = None if path.suffix == ".pub" else _key(path, path.stat().st_mtime_ns)
        named = () if key else load_identities(_public_half(path, agent))
    except (OSError, asyncssh.KeyImportError) as error:
        raise TransportError(f"key {access.key}: {getattr(error, 'strerror', None) or error}") from None
    if key:
        return {"client_keys": [key], "agent_path": ""}
    return {"client_keys": (), "agent_path": agent, "agent_identities": named}


def _public_half(path: Path, agent: str) -> Path:
    """The file that identifies one of the agent's keys."""
    public = path if path.suffix == ".pub" else Path(f"{path}.pub")
    if not agent:
        raise TransportError(f"key {path}: has a passphrase or is the public half, and there is no ssh-agent to ask")
    if not public.is_file():
        raise TransportError(f"key {path}: has a passphrase; the agent is asked for it by {public}, which is not there")
    return public


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
        with suppress(OSError, asyncssh.KeyImportError):
            keys.append(_key(path, path.stat().st_mtime_ns))
    return [key for key in keys if key]


# ----------------------------------------------------------------------------------------------------------------------
# Logging in to one SSH server with asyncssh: keys, agent or password, host key, and errors in plain words.

warnings.filterwarnings("ignore", "Diffie-Hellman over finite fields", category=UserWarning)
"""cryptography warns of the key exchange that some switches insist on; an operator can do nothing about it here."""

asyncssh.set_log_level(logging.ERROR)
"""Below that level, asyncssh logs what a device sends, even if it repeats the password."""


@dataclass
class _Owner(asyncssh.SSHClient):
    """Hears what happens on a connection that is being made. Trusts no key that known_hosts does not name."""

    trusted: Trusted
    refused: HostKeyError | None = field(default=None)
    authenticated: bool = False

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        """Called for a key that is not among the trusted ones."""
        self.refused = self.trusted.refusal(key)
        return False

    def auth_completed(self) -> None:
        """Called once the server let us in."""
        self.authenticated = True


async def login(hop: Hop, via: asyncssh.SSHClientConnection | socket.socket) -> asyncssh.SSHClientConnection:
    """A connection to a server, `via` an open connection to a jump host or to the server itself. Raises
    `TransportError`, within the hop's time; `ConnectError` where another try may help.
    """
    owner = _Owner(trusted(hop.access.known_hosts, hop.address, hop.access.port))
    secret = secret_text(hop.access.password, "password") if hop.access.password else None
    options = _options(hop.access, owner, secret)
    try:
        async with asyncio.timeout(hop.seconds):
            if isinstance(via, socket.socket):
                return await asyncssh.connect(hop.address, hop.access.port, sock=via, **options)
            return await asyncssh.connect(hop.address, hop.access.port, tunnel=via, **options)
    except TimeoutError:
        raise TransportError(f"{hop.where}: no login within {hop.seconds:g} s") from None
    except asyncssh.ChannelOpenError as error:
        raise ConnectError(f"{hop.where}: not reached by the jump host: {_said(error.reason, secret)}") from None
    except asyncssh.Error as error:
        raise owner.refused or _reported(error, hop, secret, owner) from None
    except (ConnectionResetError, ConnectionAbortedError, BrokenPipeError):
        raise ConnectError(f"{hop.where}: connection reset during the login") from None
    except OSError as error:
        raise ConnectError(f"{hop.where}: {system_words(error)}") from None
    except (asyncssh.KeyImportError, ValueError) as error:
        raise TransportError(f"{hop.where}: {_said(str(error), secret)}") from None


def _reported(error: asyncssh.Error, hop: Hop, secret: str | None, owner: _Owner) -> TransportError:
    """The library's errors in plain words."""
    said = _said(error.reason, secret)
    match error:
        case asyncssh.HostKeyNotVerifiable():
            return HostKeyError(f"host key of {hop.where}: {said}")
        case asyncssh.PermissionDenied():
            return TransportError(f"{hop.where}: {refused_login(hop.access)}")
        case asyncssh.KeyExchangeFailed():
            return TransportError(f"{hop.where}: no algorithm in common: {said}{old_device(hop.access)}")
        case asyncssh.ConnectionLost() if not owner.authenticated:
            return ConnectError(f"{hop.where}: connection closed during the login: {said}")
        case _:
            return TransportError(f"{hop.where}: {said}")


def refused_login(access: SshAccess) -> str:
    """The message that a login was refused, and which methods were tried."""
    tried = [f"key {access.key}" if access.key else "default keys"]
    if access.agent:
        tried.append("ssh-agent")
    if access.password:
        tried.append("keyboard-interactive password" if access.keyboard_interactive else "password")
    user = f"user {printable(access.user, 40)}" if access.user else "this user"
    return f"login of {user} refused (tried {', '.join(tried)})"


def old_device(access: SshAccess) -> str:
    """A hint for a device that shares no algorithm with us."""
    return "" if access.legacy_algorithms else "; legacy_algorithms: true allows old ones for this device"


def _said(reason: str, secret: str | None) -> str:
    """The peer's message, safe to show. One that repeats the password is not quoted at all."""
    return "(not shown)" if secret and secret in reason else printable(reason, 160)


def system_words(error: OSError) -> str:
    """The system's words for an error; several addresses that failed give one message."""
    if error.errno and error.errno > 0:
        return os.strerror(error.errno)
    return printable(error.strerror or str(error), 160)


def _options(access: SshAccess, owner: _Owner, secret: str | None) -> dict[str, Any]:
    """The options for asyncssh. ~/.ssh/config is not read: all options come from the inventory."""
    offered = LEGACY if access.legacy_algorithms else MODERN
    return {
        "config": None,
        "client_factory": lambda: owner,
        "known_hosts": (owner.trusted.keys, owner.trusted.authorities, owner.trusted.revoked),
        "server_host_key_algs": offered.host_keys(
            owner.trusted.algorithms, certificates=bool(owner.trusted.authorities)
        ),
        "encryption_algs": offered.ciphers,
        "kex_algs": offered.key_exchanges,
        "mac_algs": offered.macs,
        "signature_algs": offered.signatures,
        "compression_algs": ("none",),
        "password": secret,
        "password_auth": secret is not None and not access.keyboard_interactive,
        "kbdint_auth": secret is not None and access.keyboard_interactive,
        "host_based_auth": False,
        "gss_auth": False,
        "gss_kex": False,
        "gss_host": None,
        "x509_trusted_certs": None,
        "login_timeout": 0,
        "connect_timeout": None,
        **({"username": access.user} if access.user else {}),
        **identities(access),
    }
