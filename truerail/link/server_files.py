"""The configuration of a nats-server for one fabric, and the keys of its users.

`nats-server.conf` belongs to the site: it is written once. `users.conf`, which it includes, follows from the zones and
is written each time; `nats-server --signal reload` applies it. The server has public keys alone: a seed is in the file
of its user, and nowhere else.
"""

import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import nkeys

from truerail.agent.allowed_commands import name_token
from truerail.errors import BusError
from truerail.link.subjects import Subjects
from truerail.model.names import is_plain_name

# ----------------------------------------------------------------------------------------------------------------------
# Who may use which subjects: the rights in one fabric, and the users that have them.
#
# A publication into a stream is no right to read it, and no role but the operator may delete, purge or change a stream.
# Each role receives replies under a prefix of its own, which no other role can read.

POLLER, JUDGE, FRONT, OPERATOR = "poller", "judge", "front", "operator"
API = "$JS.API"
"""What JetStream is asked by. Source: docs.nats.io, "NATS API Reference"."""


@dataclass(frozen=True, slots=True)
class Right:
    """What `roles` may do, and no other: publish to a subject, or else receive what is published there."""

    words: str
    subject: str
    roles: tuple[str, ...]
    publishes: bool = True


@dataclass(frozen=True, slots=True)
class User:
    """A user by the name of its file, and the subjects that it may publish to and subscribe to."""

    name: str
    publish: tuple[str, ...]
    subscribe: tuple[str, ...]


def rights(subjects: Subjects, zone: str) -> Iterator[Right]:
    """All rights in a fabric; of its pollers, those of the pollers of one zone, or of all: `*`."""
    place = f"zone {zone}"
    yield Right(f"report a device of {place}", subjects.obs_of(zone), (POLLER,))
    yield Right(f"send counters of {place}", subjects.cnt(zone), (POLLER,))
    yield Right(f"report a round of {place}", subjects.round(zone), (POLLER,))
    yield Right(f"be a live poller of {place}", subjects.live(zone), (POLLER,))
    yield Right(f"ask agents in {place} for answers", f"{subjects.agent_inbox(zone)}.>", (POLLER,))
    yield Right(f"see which pollers of {place} run", subjects.live(zone), (POLLER, JUDGE), publishes=False)
    yield Right(f"receive answers of agents in {place}", subjects.raw(zone), (POLLER,), publishes=False)
    yield Right(f"receive commands to {place}", subjects.cmd(zone), (POLLER,), publishes=False)
    yield Right(f"receive replies to pollers of {place}", f"{subjects.inbox(zone)}.>", (POLLER,), publishes=False)
    yield Right("command pollers", subjects.cmd("*"), (JUDGE,))
    yield Right("take the judge's lease", subjects.judge_lease, (JUDGE,))
    yield Right("read the judge's lease", f"{API}.STREAM.MSG.GET.{subjects.live_stream}", (JUDGE,))
    for stream in streams(subjects):
        seen_by = (JUDGE, POLLER) if stream == subjects.obs_stream else (JUDGE,)
        yield Right(f"see the stream {stream}", f"{API}.STREAM.INFO.{stream}", seen_by)
        yield Right(f"make the stream {stream}", f"{API}.STREAM.CREATE.{stream}", (JUDGE,))
    for stream in (subjects.obs_stream, subjects.cnt_stream, subjects.round_stream):
        yield Right(f"read the stream {stream}", f"{API}.CONSUMER.CREATE.{stream}", (JUDGE,))
        yield Right(f"read the stream {stream} by a name", f"{API}.CONSUMER.CREATE.{stream}.>", (JUDGE,))
        yield Right(f"end a reading of the stream {stream}", f"{API}.CONSUMER.DELETE.{stream}.>", (JUDGE,))
    yield Right("report a view", subjects.view, (JUDGE,))
    yield Right("reply to fronts", f"{subjects.front_inbox}.>", (JUDGE,))
    yield Right("receive questions of fronts", subjects.ask(), (JUDGE,), publishes=False)
    yield Right("receive replies to judges", f"{subjects.inbox()}.>", (JUDGE,), publishes=False)
    yield Right("ask the judge", subjects.ask(), (FRONT,))
    yield Right("read the view", subjects.view, (FRONT,), publishes=False)
    yield Right("receive replies to fronts", f"{subjects.front_inbox}.>", (FRONT,), publishes=False)
    yield Right("look after streams", f"{API}.>", (OPERATOR,))
    yield Right("read the fabric's messages", f"{subjects.prefix}.>", (OPERATOR,), publishes=False)
    yield Right("read who is live", f"$KV.{subjects.live_bucket}.>", (OPERATOR,), publishes=False)
    yield Right("receive replies to the operator", f"{operator_inbox()}.>", (OPERATOR,), publishes=False)


def users(subjects: Subjects, zones: Iterable[str]) -> Iterator[User]:
    """The users of a fabric: the pollers of each zone, judges, fronts, and the operator. Raises BusError for a name
    that cannot stand in a subject.
    """
    for zone in zones:
        if not is_plain_name(zone):
            raise BusError(f"zone {zone!r}: expected letters, digits, _ and -, at most 64")
        yield _user(f"poller-{zone}", POLLER, rights(subjects, zone))
    for role in (JUDGE, FRONT, OPERATOR):
        yield _user(role, role, rights(subjects, "*"))


def _user(name: str, role: str, known: Iterable[Right]) -> User:
    own = [one for one in known if role in one.roles]
    publish = tuple(one.subject for one in own if one.publishes)
    return User(name, publish, tuple(one.subject for one in own if not one.publishes))


def agent(subjects: Subjects, zone: str, host: str) -> User:
    """The agent of one host, which logs in by the certificate of that name: its own answers, and what is lacking."""
    token = name_token(host)
    return User(host, (subjects.raw(zone, token),), (f"{subjects.agent_inbox(zone, token)}.>",))


def streams(subjects: Subjects) -> tuple[str, ...]:
    """All streams of a fabric."""
    return (subjects.obs_stream, subjects.cnt_stream, subjects.round_stream, subjects.live_stream)


def operator_inbox() -> str:
    """The prefix of the replies to an operator."""
    return "_INBOX.operator"


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
    entries = "\n".join(_user_text(user, public.get(user.name, "")) for user in users)
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


def _user_text(user: User, public: str) -> str:
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
