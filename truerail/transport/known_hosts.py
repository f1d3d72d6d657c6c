"""Deliberate trust: asks devices for their host keys and writes these into a known_hosts file, with fingerprints shown.

Names are written plainly, not hashed: a plain name is found at once among thousands, a hashed one only by trying all.
"""

import asyncio
import base64
import hashlib
import hmac
import os
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import asyncssh

from truerail.errors import TransportError
from truerail.model import Target
from truerail.model.names import printable
from truerail.transport.hops import Hop, device_hop, hop_before
from truerail.transport.ssh_connections import Connections
from truerail.transport.ssh_login import LEGACY, MODERN, key_type, system_words, trusted

# ----------------------------------------------------------------------------------------------------------------------
# Changes a known_hosts file (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT) in one step, and nothing else in it.
#
# asyncssh reads such files and writes none.


def rewrite(file: Path, new: Mapping[str, str]) -> None:
    """Adds a line for each name, in place of the file's entries for that name. A reader sees the old file or the new
    one. Raises OSError.
    """
    file = file.resolve()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    old = file.read_text(encoding="utf-8", errors="surrogateescape").splitlines() if file.exists() else []
    kept = [line for line in (_without(line, new.keys()) for line in old) if line is not None]
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape") as out:
            out.write("\n".join((*kept, *new.values())) + "\n")
        temporary.chmod(file.stat().st_mode & 0o777 if file.exists() else 0o600)
        temporary.replace(file)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _without(line: str, names: Collection[str]) -> str | None:
    """A line without these names; None where it has no other. Markers, patterns and comments stay as they are."""
    pattern, _, key = line.partition(" ")
    if not key or line.startswith(("#", "@")):
        return line
    every = pattern.split(",")
    left = [name for name in every if name not in names and not _hashes_one_of(name, names)]
    if len(left) == len(every):
        return line
    return f"{','.join(left)} {key}" if left else None


def _hashes_one_of(name: str, names: Collection[str]) -> bool:
    """Whether a hashed name, `|1|salt|hash` with HMAC-SHA1, is one of these."""
    if not name.startswith("|1|") or name.count("|") != 3:
        return False
    try:
        salt, digest = (base64.b64decode(part, validate=True) for part in name.split("|")[2:])
    except ValueError:
        return False
    return any(hmac.compare_digest(hmac.digest(salt, one.encode(), hashlib.sha1), digest) for one in names)


# ----------------------------------------------------------------------------------------------------------------------
# Deliberate trust: asks devices for their host keys and writes these into a known_hosts file, with fingerprints shown.

_AT_ONCE = 64


class Trust(NamedTuple):
    """What became of one device's host key. Without `error` the key is in the file now."""

    target: Target
    key_type: str
    fingerprint: str
    error: str = ""
    added: bool = False
    """Whether the file did not have it before."""


async def trust(targets: Sequence[Target], known_hosts: Path, *, replace: bool = False) -> list[Trust]:
    """Records the host keys that devices show, in the order of targets. The caller trusts the network.

    A key that differs from the recorded one is an error, unless `replace` is set. Jump hosts must be trusted already.
    Raises OSError where the file cannot be written.
    """
    connections = Connections(_AT_ONCE)
    slots = asyncio.Semaphore(_AT_ONCE)
    try:
        shown = await asyncio.gather(*(_shown(target, connections, slots) for target in targets))
    finally:
        await connections.close()
    return _record(targets, shown, known_hosts.expanduser(), replace=replace)


async def _shown(
    target: Target, connections: Connections, slots: asyncio.Semaphore
) -> asyncssh.SSHKey | TransportError:
    """The key that a device shows, or why it shows none."""
    hop = device_hop(target)
    try:
        before = hop_before(hop)
        via = await connections.to(before) if before else None
        async with slots:
            return await _ask_for_key(hop, via)
    except TransportError as error:
        return error


async def _ask_for_key(hop: Hop, via: asyncssh.SSHClientConnection | None) -> asyncssh.SSHKey:
    offered = LEGACY if hop.access.legacy_algorithms else MODERN
    try:
        async with asyncio.timeout(hop.seconds):
            key = await asyncssh.get_server_host_key(
                hop.address,
                hop.access.port,
                tunnel=via or (),
                config=None,
                kex_algs=offered.key_exchanges,
                server_host_key_algs=offered.signatures,
            )
    except TimeoutError:
        raise TransportError(f"{hop.where}: shows no host key within {hop.seconds:g} s") from None
    except asyncssh.Error as error:
        raise TransportError(f"{hop.where}: {printable(error.reason, 160)}") from None
    except OSError as error:
        raise TransportError(f"{hop.where}: {system_words(error)}") from None
    if key is None:
        raise TransportError(f"{hop.where}: shows no host key")
    return key


def _record(
    targets: Sequence[Target], shown: Sequence[asyncssh.SSHKey | TransportError], file: Path, *, replace: bool
) -> list[Trust]:
    results: list[Trust] = []
    new: dict[str, str] = {}
    for target, key in zip(targets, shown, strict=True):
        if isinstance(key, TransportError):
            results.append(Trust(target, "", "", str(key)))
            continue
        known = trusted(str(file), target.address, target.ssh.port)
        refused = known.refusal(key)
        kept_out = key in known.revoked or (known.keys and not replace)
        error = str(refused) if refused and kept_out else ""
        if refused and not error:
            new[_name(target)] = f"{_name(target)} {key.export_public_key().decode().strip()}"
        results.append(Trust(target, key_type(key), key.get_fingerprint(), error, bool(refused and not error)))
    if new:
        rewrite(file, new)
    return results


def _name(target: Target) -> str:
    """A target as known_hosts names it."""
    return target.address if target.ssh.port == 22 else f"[{target.address}]:{target.ssh.port}"
