"""Which host keys are trusted, by known_hosts files, and the error for one that is not. There is no prompt.

The format is OpenSSH's (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT): plain and hashed names, patterns, `@cert-authority`,
`@revoked`. A lookup by a plain name takes 0.01 ms; each hashed entry of the file costs it 0.003 ms, because a hash can
only be tried. asyncssh reads each line by itself: over a whole file it would end at the first one with a fault.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import asyncssh

from truerail.errors import HostKeyError, TransportError
from truerail.model.names import printable


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
