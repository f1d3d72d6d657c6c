"""The configuration of a nats-server for one fabric, and the keys of its users.

`nats-server.conf` belongs to the site: it is written once. `users.conf`, which it includes, follows from the zones and
is written each time; `nats-server --signal reload` applies it. The server has public keys alone: a seed is in the file
of its user, and nowhere else.
"""

import json
import os
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import nkeys

from truerail.agent.allowed_commands import name_token
from truerail.errors import BusError
from truerail.link.rights import User
from truerail.link.subjects import Subjects
from truerail.model.names import is_plain_name

# ----------------------------------------------------------------------------------------------------------------------
# What the servers of a cluster have beside the configuration of one: their names, and `cluster.conf`, alike on each.
#
# A server of the cluster reads and writes everything of all users. So servers know each other by certificates of
# one authority and, because a site's authority signs others too, by a password. It is made here, is in `cluster.conf`
# alone, and is written once.
#
# Source of the traps handled here: measured with nats-server 2.9.10. A route sends the password of its own address, not
# that of `authorization`. Servers that announce each other name addresses that stand in no certificate.

CLUSTER = "cluster.conf"
USER = "truerail"
SIZES = (3, 5)
"""Servers of a cluster: more than half must run, so an even number outlasts no more than one less."""


@dataclass(frozen=True, slots=True)
class ClusterServer:
    """One server: its name, and where the others reach it."""

    name: str
    host: str
    port: int


def cluster_servers(routes: str) -> list[ClusterServer]:
    """The servers that `HOST:PORT,HOST:PORT,HOST:PORT` names. Raises BusError."""
    places = []
    for route in routes.split(","):
        host, _, port = route.strip().rpartition(":")
        if not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise BusError(f"--routes {route.strip()}: expected HOST:PORT, such as bus-1.example:6222")
        places.append((host, int(port)))
    if len(places) not in SIZES or len(set(places)) < len(places):
        raise BusError(f"--routes {routes}: expected {' or '.join(map(str, SIZES))} servers, each of them once")
    return [ClusterServer(name, *place) for name, place in zip(_names(places), places, strict=True)]


def _names(places: Sequence[tuple[str, int]]) -> list[str]:
    """The first part of each host's name, where that tells them apart."""
    names = [host.partition(".")[0] for host, _ in places if not _is_address(host)]
    if len(set(names)) == len(places) and all(map(is_plain_name, names)):
        return names
    return [f"bus-{number}" for number in range(1, len(places) + 1)]


def _is_address(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def file_of(server: ClusterServer) -> str:
    """The name of the configuration of one server."""
    return f"nats-server-{server.name}.conf"


def cluster_block(cluster: str, server: ClusterServer, host: str, tls: str) -> str:
    """The part of a server's configuration on its cluster. It listens for the others where it does for clients."""
    listen = f"[{host}]" if ":" in host else host
    lines = (
        f"name: {quoted(cluster)}",
        f"listen: {quoted(f'{listen}:{server.port}')}",
        "no_advertise: true",
        *([tls] if tls else []),
        f"include {quoted(CLUSTER)}",
    )
    inside = "".join(f"\n  {line}" for line in lines)
    return f"server_name: {quoted(server.name)}\ncluster {{{inside}\n}}\n"


def cluster_text(servers: Sequence[ClusterServer]) -> str:
    """`cluster.conf`, with a new password."""
    password = secrets.token_hex(24)
    routes = "".join(f"\n  {quoted(f'nats://{USER}:{password}@{one.host}:{one.port}')}" for one in servers)
    return f"""# The servers of the cluster. Written once by `truerail bus init`, the same on each; with their password.
authorization {{user: {USER}, password: {quoted(password)}, timeout: 5}}
routes: [{routes}
]
"""


def quoted(text: str | Path) -> str:
    """A string of the server's configuration. Quoted, `$` begins no variable."""
    return json.dumps(str(text), ensure_ascii=False)


# ----------------------------------------------------------------------------------------------------------------------
# The configuration of one server, and the keys of its users.

_MAPS = re.compile(r"^\s*verify_and_map\s*[:=]\s*true\b", re.MULTILINE)
SERVER, USERS, SEED = "nats-server.conf", "users.conf", ".nk"


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Where the server listens and stores; certificate and key where it encrypts; the certification authority of the
    certificates of a cluster's servers.
    """

    host: str
    port: int
    store: Path
    certificate: Path | None = None
    key: Path | None = None
    authority: Path | None = None
    clients: Path | None = None
    """The authority of client certificates: each client must show one, and is known by its name if it has no key."""


def server_text(options: ServerOptions, fabric: str = "", server: ClusterServer | None = None) -> str:
    """`nats-server.conf`; that of one server of a cluster."""
    tls = cluster = ""
    if options.certificate and options.key:
        names = f"cert_file: {quoted(options.certificate)}\n  key_file: {quoted(options.key)}"
        mapped = f"\n  ca_file: {quoted(options.clients)}\n  verify_and_map: true" if options.clients else ""
        tls = f"tls {{\n  {names}{mapped}\n  timeout: 5\n}}\n"
        names += f"\n  ca_file: {quoted(options.authority)}\n  verify: true" if options.authority else ""
    if server:
        between = f"tls {{\n  {names}\n  timeout: 5\n}}".replace("\n", "\n  ") if tls else ""
        cluster = cluster_block(f"truerail-{name_token(fabric)}", server, options.host, between)
    return f"""# The bus of truerail. Written once by `truerail bus init`: change it as needed.
host: {quoted(options.host)}
port: {options.port}
max_payload: 8MB
{tls}{cluster}jetstream {{
  store_dir: {quoted(options.store)}
  max_mem: 256MB
  max_file: 8GB
}}
include {quoted(USERS)}
"""


def maps_certificates(configuration: str) -> bool:
    """Whether a server knows clients by their certificates. Without that a user without a key needs no login at all."""
    return _MAPS.search(configuration) is not None


def users_text(subjects: Subjects, users: Iterable[User], public: dict[str, str]) -> str:
    """`users.conf`: one account for the fabric, with each user's public key, or the name in its certificate, and its
    rights.
    """
    entries = "\n".join(_user(user, public.get(user.name, "")) for user in users)
    return f"""# Written by `truerail bus init` at each call: call it again with other zones, then reload the server.
accounts {{
  {quoted(f"truerail-{name_token(subjects.fabric)}")}: {{
    jetstream: enabled
    users: [
{entries}
    ]
  }}
}}
"""


def _user(user: User, public: str) -> str:
    login = f"nkey: {public}" if public else f"user: {quoted(user.name)}"
    return f"""      {{ # {quoted(user.name)}
        {login}
        permissions: {{
          publish: {{allow: [{_list(user.publish)}]}}
          subscribe: {{allow: [{_list(user.subscribe)}]}}
        }}
      }}"""


def _list(subjects: Sequence[str]) -> str:
    return "".join(f"\n            {quoted(subject)}" for subject in subjects)


def public_key(file: Path) -> str:
    """The public key of the seed in a file, which is made where there is none, for its owner alone. Raises BusError."""
    try:
        if not file.exists():
            seed = nkeys.encode_seed(secrets.token_bytes(32), nkeys.PREFIX_BYTE_USER)
            with open(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as out:
                out.write(bytes(seed) + b"\n")
        key: bytes = nkeys.from_seed(bytearray(file.read_bytes().strip())).public_key
    except OSError as error:
        raise BusError(f"{file}: {error.strerror or error}") from None
    except (nkeys.NkeysError, ValueError) as error:
        raise BusError(f"{file}: no seed of an nkey ({type(error).__name__})") from None
    return key.decode()
