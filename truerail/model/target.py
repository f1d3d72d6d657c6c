"""How a device is reached: its address, how to log in, and secrets that are only ever referred to.

What an inventory file says of each device. Reading inventory files is `truerail.inventory`; using a target is
`truerail.transport`.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path

from truerail.errors import SecretMissingError
from truerail.model.plan import Role


@dataclass(frozen=True, slots=True)
class Secret:
    """A reference to a secret: an environment variable, a file, or a systemd credential. Never the value itself."""

    source: str
    """`env`, `file` or `credential`."""
    name: str

    def read(self) -> str:
        """The secret, without the newline behind it. Raises `SecretMissingError`."""
        if self.source == "env":
            value = os.environ.get(self.name)
            if value is None:
                raise SecretMissingError(f"environment variable {self.name} is not set")
            return value
        path = Path(self.name)
        if self.source == "credential":
            folder = os.environ.get("CREDENTIALS_DIRECTORY")
            if folder is None:
                raise SecretMissingError(f"credential {self.name}: the service manager passed no CREDENTIALS_DIRECTORY")
            path = Path(folder) / self.name
        try:
            return path.read_text(encoding="utf-8").rstrip("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise SecretMissingError(f"{self.source} {self.name}: {type(error).__name__}") from None


@dataclass(frozen=True, slots=True)
class SnmpAccess:
    """SNMP v2c with a community, or v3 with a user. `engine` is `gufo`, `pysnmp` or `auto` (gufo where it is
    installed).
    """

    version: str = "2c"
    community: Secret | None = None
    user: str = ""
    auth_protocol: str = "sha256"
    auth: Secret | None = None
    privacy_protocol: str = "aes128"
    privacy: Secret | None = None
    port: int = 161
    engine: str = "auto"


@dataclass(frozen=True, slots=True)
class SshAccess:
    """How to log in by SSH. `jump` is a ProxyJump chain such as `ops@bastion:22`, the first hop first."""

    user: str = ""
    key: str = ""
    password: Secret | None = None
    known_hosts: str = "~/.ssh/known_hosts"
    port: int = 22
    jump: tuple[str, ...] = ()
    agent: bool = True
    keyboard_interactive: bool = False
    legacy_algorithms: bool = False
    """Allows old key exchanges and host keys for this device only; never a default."""


@dataclass(frozen=True, slots=True)
class Target:
    """One device of an inventory. `platform` is one of `PLATFORMS`; empty means: ask."""

    name: str
    address: str
    role: Role | None = None
    platform: str = ""
    pod: str = ""
    rack: str = ""
    unit: int | None = None
    timeout_seconds: float = 10.0
    ssh: SshAccess = field(default_factory=SshAccess)
    snmp: SnmpAccess | None = None
    file: str = ""
    line: int = 0

    @property
    def tells_fabric(self) -> bool:
        """Whether it is asked for the links of an InfiniBand fabric, and for nothing else."""
        return self.platform == INFINIBAND

    @property
    def answer_seconds(self) -> float:
        """How long one answer may take: as long as a login, but for a walk over a fabric."""
        return max(self.timeout_seconds, _WALK_SECONDS if self.tells_fabric else 0.0)


INFINIBAND = "infiniband"
"""A Linux machine that walks the InfiniBand fabric when it is asked. It is no device of the plan, and has no role."""
PLATFORMS = ("linux", "cumulus", "sonic", "eos", "nxos", "junos", "snmp", INFINIBAND)
_WALK_SECONDS = 50.0
"""A walk asks each node of the fabric, and takes seconds for each thousand. Less than the 60 s of a round."""
