"""How to reach a device: its address, its login, and references to secrets, never their values.

An entry of an inventory file. `truerail.inventory` reads inventory files; `truerail.transport` uses targets.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path

from truerail.errors import SecretMissingError
from truerail.model.plan import Role
from truerail.model.platforms import APART, GNMI, INFINIBAND


@dataclass(frozen=True, slots=True)
class Secret:
    """A reference to a secret: an environment variable, a file, or a systemd credential. Never the value itself."""

    source: str
    """`env`, `file` or `credential`."""
    name: str

    def read(self) -> str:
        """The secret, without its trailing newline. Raises `SecretMissingError`."""
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
    """SNMP v2c with a community, or v3 with a user. `engine` is `gufo`, `pysnmp` or `auto` (gufo if installed)."""

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
class GnmiAccess:
    """gNMI over TLS. The device's certificate must be signed by `ca`, a PEM file, and name the device's address, or
    `server_name` where that is set. `certificate` and `key` are PEM files of a client certificate.
    """

    ca: str = ""
    user: str = ""
    password: Secret | None = None
    port: int = 9339
    server_name: str = ""
    certificate: str = ""
    key: str = ""
    target: str = ""
    """The `target` of the requests' prefix: `OC-YANG` on SONiC."""


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


DEFAULT_ZONE = "default"


@dataclass(frozen=True, slots=True)
class RestAccess:
    """An API over HTTP: `https://host:6820`, or `unix:/run/slurmrestd.sock`. `token` is read with each request, since
    it may be renewed; `user` is the one that it is for, where the API asks for it. `ca` is a PEM file. `namespaces` are
    those whose pods are read; empty: all.
    """

    url: str
    token: Secret | None = None
    user: str = ""
    ca: str = ""
    namespaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """One device of an inventory. `platform` is one of `PLATFORMS`; empty: query the device."""

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
    transport: str = ""
    """`gnmi`: it is asked by gNMI with `gnmi`. Empty: by SSH, or by SNMP where that is the platform."""
    gnmi: GnmiAccess | None = None
    rest: RestAccess | None = None
    """Where it is asked by HTTP."""
    zone: str = DEFAULT_ZONE
    """The pollers of this zone can reach it."""
    file: str = ""
    line: int = 0

    @property
    def tells_fabric(self) -> bool:
        """Whether it is polled only for the links of an InfiniBand fabric."""
        return self.platform == INFINIBAND

    @property
    def apart(self) -> bool:
        """Whether it is polled for what it knows of others, a fabric's links or a scheduler's jobs, and is no device of
        the plan.
        """
        return self.platform in APART

    @property
    def by_gnmi(self) -> bool:
        """Whether it is asked by gNMI."""
        return self.transport == GNMI

    @property
    def answer_seconds(self) -> float:
        """Time limit of one answer: that of a login, except for a walk over a fabric."""
        return max(self.timeout_seconds, _WALK_SECONDS if self.tells_fabric else 0.0)


_WALK_SECONDS = 50.0
"""A walk queries each node of the fabric, and takes seconds per thousand nodes. Less than the 60 s of a round."""
