"""Changes a known_hosts file (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT) in one step, and nothing else in it.

asyncssh reads such files and writes none.
"""

import base64
import hashlib
import hmac
import os
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path


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
