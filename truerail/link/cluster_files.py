"""What the servers of a cluster have beside the configuration of one: their names, and `cluster.conf`, alike on each.

A server of the cluster reads and writes everything of all users. So servers know each other by certificates of
one authority and, because a site's authority signs others too, by a password. It is made here, is in `cluster.conf`
alone, and is written once.

Source of the traps handled here: measured with nats-server 2.9.10. A route sends the password of its own address, not
that of `authorization`. Servers that announce each other name addresses that stand in no certificate.
"""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from truerail.errors import BusError
from truerail.model.names import is_plain_name

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
