"""`truerail bus`: sets up the bus between pollers, judges and fronts, and checks what it refuses."""

from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import O_CREAT, O_EXCL, O_WRONLY
from os import open as os_open
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from truerail.cli import terminal_output
from truerail.cli.exit_codes import ExitCode, refusing, with_options_of
from truerail.errors import BusError, CommandError
from truerail.extras import require

if TYPE_CHECKING:
    from truerail.link.inspection import Inspection, StreamState
    from truerail.link.nats_link import BusAddress
    from truerail.link.server_files import ClusterServer, ServerOptions, User
    from truerail.link.subjects import Subjects

_T = TypeVar("_T")
app = typer.Typer(no_args_is_help=True, help="The bus between pollers, judges and fronts: set it up, check its rights.")
Fabric = Annotated[str, typer.Option("--fabric", metavar="NAME", help="The fabric, as the settings name it.")]
Ca = Annotated[Path | None, typer.Option("--ca", metavar="FILE", help="Certificate of the bus's authority.")]
Cert = Annotated[
    Path | None, typer.Option("--cert", metavar="FILE", help="Certificate of this role, where the bus asks for one.")
]
Key = Annotated[Path | None, typer.Option("--key", metavar="FILE", help="Its key.")]


_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True, kw_only=True)
class InitOptions:
    """The options of `truerail bus init`."""

    zones: Annotated[str, typer.Option("--zones", metavar="A,B", help="The zones of the inventory.")] = "default"
    fabric: Fabric = "fabric"
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the files.")] = Path("truerail-bus")
    listen: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="Where the server listens; of a cluster each, or one after another."),
    ] = "127.0.0.1:4222"
    routes: Annotated[
        str, typer.Option(metavar="A:PORT,B:PORT,C:PORT", help="A cluster: where its servers reach each other.")
    ] = ""
    store: Annotated[Path, typer.Option(metavar="DIR", help="Where the server stores the streams.")] = Path(
        "/var/lib/nats"
    )
    tls_cert: Annotated[Path | None, typer.Option(metavar="FILE", help="The server's certificate.")] = None
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its key.")] = None
    tls_ca: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Of a cluster: the authority of its servers' certificates.")
    ] = None
    clients_ca: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Authority of client certificates: all clients need one then.")
    ] = None
    agents: Annotated[
        Path | None, typer.Option(metavar="INVENTORY", help="Let the agents of its hosts log in, by certificate.")
    ] = None
    bus: Annotated[str, typer.Option("--bus", metavar="URL", help="A running bus: make its streams too.")] = ""
    ca: Ca = None
    cert: Cert = None
    key: Key = None

    @property
    def servers(self) -> "list[ClusterServer]":
        """Those of a cluster; none without one. Raises CommandError."""
        from truerail.link.server_files import cluster_servers

        with refusing(BusError):
            return cluster_servers(self.routes) if self.routes else []

    def server_options(self) -> "list[ServerOptions]":
        """Of each server. Raises CommandError."""
        from truerail.link.server_files import ServerOptions

        servers = self.servers
        listens = self.listen.split(",")
        if len(listens) not in (1, len(servers) or 1):
            raise CommandError(f"--listen {self.listen}: expected one HOST:PORT, or as many as --routes has")
        places = [_place(listen.strip()) for listen in listens]
        self._check([host for host, _ in places], [server.host for server in servers])
        places *= len(servers) if servers and len(places) == 1 else 1
        files = [
            file.absolute() if file else None for file in (self.tls_cert, self.tls_key, self.tls_ca, self.clients_ca)
        ]
        return [ServerOptions(*place, self.store.absolute(), *files) for place in places]

    def _check(self, hosts: list[str], others: list[str]) -> None:
        """Raises CommandError for files that are missing, or that this configuration needs."""
        certificate, key = self.tls_cert, self.tls_key
        if (certificate is None) is not (key is None):
            raise CommandError(f"--tls-{'key' if certificate else 'cert'}: give certificate and key together")
        for words, reached in (("--listen", hosts), ("--routes", others)):
            if certificate is None and (open_to := [host for host in reached if host not in _LOOPBACK]):
                given = self.listen if words == "--listen" else open_to[0]
                raise CommandError(f"{words} {given}: others can reach it, so it needs --tls-cert and --tls-key")
        if bool(self.tls_ca) is not bool(certificate and others):
            raise CommandError("--tls-ca: servers of a cluster with certificates need it, and they alone")
        if self.clients_ca and certificate is None:
            raise CommandError("--clients-ca needs --tls-cert and --tls-key: certificates are part of the encryption")
        for file in (certificate, key, self.clients_ca):
            if file and not others and not file.is_file():
                raise CommandError(f"{file}: there is no such file")


@app.command("init", short_help="Write the server's configuration, users and keys; make the streams.")
@with_options_of(InitOptions)
def init(options: InitOptions) -> None:
    """Write nats-server.conf (once), users.conf, and a key file for each role. Existing keys are kept. With --routes
    a configuration for each server of a cluster, and cluster.conf, which has their password (once).
    """
    from truerail.link.server_files import OPERATOR, SEED

    subjects, zones = subjects_of(options.fabric), [zone.strip() for zone in options.zones.split(",")]
    _write_files(options, subjects, zones, _agents_of(options.agents, zones, subjects))
    if not options.bus:
        terminal_output.remark(_next_step(options))
        return
    from truerail.link.inspection import make_streams

    login = options.out / f"{OPERATOR}{SEED}"
    address = bus_address(options.bus, login, options.ca, options.cert, options.key)
    made = _run(make_streams(address, subjects))
    terminal_output.say("\n".join(f"made    stream {name}" for name in made) or "all streams are there")


@app.command("check", short_help="Look at a bus, and try what it must refuse.")
def check(
    bus: Annotated[str, typer.Option("--bus", metavar="URL", help="tls://HOST:PORT, or nats://127.0.0.1:PORT.")],
    creds: Annotated[Path | None, typer.Option("--creds", metavar="FILE", help="The key file of the role.")] = None,
    zone: Annotated[str, typer.Option("--zone", metavar="NAME", help="Zone of a poller's key; none: a judge's.")] = "",
    role: Annotated[
        str, typer.Option("--role", metavar="ROLE", help="poller, judge or front; default: as --zone says.")
    ] = "",
    fabric: Fabric = "fabric",
    ca: Ca = None,
    cert: Cert = None,
    key: Key = None,
) -> None:
    """Try with one role's key what the bus must accept and refuse; nothing changes. Exit code 1 if it does not."""
    role = _role(role, zone)
    address = bus_address(bus, creds, ca, cert, key)
    from truerail.link.inspection import inspect

    found = _run(inspect(address, subjects_of(fabric), role, zone))
    terminal_output.say(_text(found, role, zone))
    if not found.good:
        raise typer.Exit(ExitCode.FOUND)


def _role(role: str, zone: str) -> str:
    """Raises CommandError."""
    found = role or ("poller" if zone else "judge")
    if found not in ("poller", "judge", "front"):
        raise CommandError(f"--role {role}: expected one of poller, judge, front")
    if (found == "poller") is not bool(zone):
        raise CommandError("--role poller needs --zone" if not zone else f"--zone is for a poller, not for a {found}")
    return found


def _run(work: Coroutine[Any, Any, _T]) -> _T:
    """Raises CommandError."""
    import asyncio
    import logging

    logging.getLogger("asyncio").setLevel(logging.ERROR)  # it warns of each TLS connection that a server closes first
    with refusing(BusError):
        return asyncio.run(work)


def bus_address(
    bus: str, creds: Path | None, ca: Path | None, certificate: Path | None, key: Path | None
) -> "BusAddress":
    """Where a bus is, and the login there. Raises CommandError."""
    require("bus", "truerail bus")
    from truerail.link.nats_link import BusAddress

    with refusing(BusError):
        return BusAddress(bus, creds, ca, certificate, key)


def subjects_of(fabric: str) -> "Subjects":
    """The names of a fabric on its bus. Raises MissingExtraError."""
    require("bus", "truerail bus")
    from truerail.link.subjects import Subjects

    return Subjects(fabric)


def _text(found: "Inspection", role: str, zone: str) -> str:
    whose = f"a poller of zone {zone}" if zone else f"a {role}"
    head = f"{found.server}, {'TLS' if found.encrypted else 'not encrypted'}, as {whose}"
    servers = [(one.url, one.problem or "answers") for one in found.servers]
    states = [(one.name, one.problem or _stored(one)) for one in found.streams]
    rows = [(one.verdict, one.attempt.words) for one in found.tried]
    bad = sum(not one.good for one in found.tried) + len(found.problems)
    end = f"{bad} to put right." if bad else "All rights are as they must be."
    blocks = [terminal_output.aligned(block) for block in (servers, states, rows) if block]
    return "\n\n".join((head, *("\n".join(block) for block in blocks), end))


def _stored(stream: "StreamState") -> str:
    copies = f", on {stream.replicas} servers" if stream.replicas > 1 else ""
    return f"{stream.messages:,} messages, {stream.bytes / 1e6:,.1f} MB{copies}"


# ----------------------------------------------------------------------------------------------------------------------
# The files that `truerail bus init` writes: of one server, or of each server of a cluster.


def _place(listen: str) -> tuple[str, int]:
    host, _, port = listen.rpartition(":")
    host = host.strip("[]")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise CommandError(f"--listen {listen}: expected HOST:PORT, such as 10.0.0.5:4222")
    return host, int(port)


def _agents_of(inventory: Path | None, zones: list[str], subjects: "Subjects") -> "list[User]":
    """The agents of the hosts of an inventory. Raises CommandError."""
    if inventory is None:
        return []
    from truerail.cli.live import load_fleet
    from truerail.link.server_files import agent
    from truerail.transport.fleet_transport import kind_of

    hosts = [one for one in load_fleet(inventory, None).targets if kind_of(one) == "hosts"]
    if lacking := sorted({one.zone for one in hosts} - set(zones)):
        raise CommandError(f"--zones lacks {', '.join(lacking)}: {inventory} has hosts there")
    return [agent(subjects, one.zone, one.name) for one in hosts]


def _write_files(options: InitOptions, subjects: "Subjects", zones: list[str], agents: "Sequence[User]") -> None:
    """Writes the files and says which. Raises CommandError."""
    from truerail.link.server_files import SEED, USERS, public_key, users, users_text

    out, texts = options.out, dict(_texts(subjects, options))
    with refusing(BusError, OSError):
        wanted = list(users(subjects, dict.fromkeys(zones)))
        out.mkdir(parents=True, exist_ok=True, mode=0o700)
        there = {file.name for file in out.iterdir()}
        if agents:
            known = {name: (out / name).read_text() if name in there else text for name, text in texts.items()}
            _require_certificates(out, known)
        public = {user.name: public_key(out / f"{user.name}{SEED}") for user in wanted}
    seeds = [f"{user.name}{SEED}" for user in wanted]
    for name in seeds:
        _report(out / name, kept=name in there)
    for name, text in texts.items():
        _report(out / name, kept=name in there)
        if name not in there:
            _write_once(out / name, text)
    terminal_output.write(out / USERS, users_text(subjects, [*wanted, *agents], public))
    _report(out / USERS, kept=False)
    for name in sorted(there - {USERS, *texts, *seeds}):
        terminal_output.say(f"unused  {out / name}")


def _require_certificates(out: Path, texts: Mapping[str, str]) -> None:
    """Users without a key would be open to everybody on a server that asks for no certificate. Raises CommandError."""
    from truerail.link.server_files import CLUSTER, maps_certificates

    for name, text in texts.items():
        if name != CLUSTER and not maps_certificates(text):
            raise CommandError(
                f"{out / name}: agents log in by certificate, and its tls has no `verify_and_map: true`: give "
                "--clients-ca, --tls-cert and --tls-key; in a file that exists, add it with `ca_file`"
            )


def _texts(subjects: "Subjects", options: InitOptions) -> Iterator[tuple[str, str]]:
    """Name and content of each file that is written once."""
    from truerail.link.server_files import CLUSTER, SERVER, cluster_text, file_of, server_text

    places, servers = options.server_options(), options.servers
    if not servers:
        yield SERVER, server_text(places[0])
        return
    for server, one in zip(servers, places, strict=True):
        yield file_of(server), server_text(one, subjects.fabric, server)
    yield CLUSTER, cluster_text(servers)


def _write_once(file: Path, text: str) -> None:
    """For its owner alone where it has a password. Raises CommandError."""
    from truerail.link.server_files import CLUSTER

    if file.name == CLUSTER:
        with suppress(OSError), open(os_open(file, O_CREAT | O_EXCL | O_WRONLY, 0o600), "wb"):
            pass
    terminal_output.write(file, text)


def _report(file: Path, kept: bool) -> None:
    terminal_output.say(f"{'kept' if kept else 'written':<7} {file}")


def _next_step(options: InitOptions) -> str:
    """What to do with the files."""
    out = options.out
    if options.servers:
        each = f"its nats-server-NAME.conf, {out}/cluster.conf and {out}/users.conf"
        start = f"Copy to each server {each}, and start it: nats-server -c nats-server-NAME.conf"
    else:
        start = f"Start it: nats-server -c {out}/nats-server.conf"
    return (
        f"{start}; after other zones: nats-server --signal reload. Then make its streams: the same command with --bus."
    )
