"""The files that `truerail bus init` writes: of one server, or of each server of a cluster."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import O_CREAT, O_EXCL, O_WRONLY
from os import open as os_open
from pathlib import Path
from typing import TYPE_CHECKING

from truerail.cli.exit_codes import refusing
from truerail.errors import BusError, CommandError

if TYPE_CHECKING:
    from truerail.link.server_files import ClusterServer, ServerOptions, User
    from truerail.link.subjects import Subjects

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class ServerWords:
    """The options of the command on servers."""

    listen: str
    routes: str
    store: Path
    certificate: Path | None
    key: Path | None
    authority: Path | None
    clients: Path | None = None

    @property
    def servers(self) -> "list[ClusterServer]":
        """Those of a cluster; none without one. Raises CommandError."""
        from truerail.link.server_files import cluster_servers

        with refusing(BusError):
            return cluster_servers(self.routes) if self.routes else []

    def options(self) -> "list[ServerOptions]":
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
            file.absolute() if file else None for file in (self.certificate, self.key, self.authority, self.clients)
        ]
        return [ServerOptions(*place, self.store.absolute(), *files) for place in places]

    def _check(self, hosts: list[str], others: list[str]) -> None:
        """Raises CommandError for files that are missing, or that this configuration needs."""
        certificate, key = self.certificate, self.key
        if (certificate is None) is not (key is None):
            raise CommandError(f"--tls-{'key' if certificate else 'cert'}: give certificate and key together")
        for words, reached in (("--listen", hosts), ("--routes", others)):
            if certificate is None and (open_to := [host for host in reached if host not in _LOOPBACK]):
                given = self.listen if words == "--listen" else open_to[0]
                raise CommandError(f"{words} {given}: others can reach it, so it needs --tls-cert and --tls-key")
        if bool(self.authority) is not bool(certificate and others):
            raise CommandError("--tls-ca: servers of a cluster with certificates need it, and they alone")
        if self.clients and certificate is None:
            raise CommandError("--clients-ca needs --tls-cert and --tls-key: certificates are part of the encryption")
        for file in (certificate, key, self.clients):
            if file and not others and not file.is_file():
                raise CommandError(f"{file}: there is no such file")


def _place(listen: str) -> tuple[str, int]:
    host, _, port = listen.rpartition(":")
    host = host.strip("[]")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise CommandError(f"--listen {listen}: expected HOST:PORT, such as 10.0.0.5:4222")
    return host, int(port)


def agents_of(inventory: Path | None, zones: list[str], subjects: "Subjects") -> "list[User]":
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


def write_files(
    out: Path, subjects: "Subjects", zones: list[str], words: ServerWords, agents: "Sequence[User]" = ()
) -> None:
    """Writes the files and says which. Raises CommandError."""
    from truerail.cli import terminal_output
    from truerail.link.server_files import SEED, USERS, public_key, users, users_text

    texts = dict(_texts(subjects, words))
    with refusing(BusError, OSError):
        wanted = list(users(subjects, dict.fromkeys(zones)))
        out.mkdir(parents=True, exist_ok=True, mode=0o700)
        there = {file.name for file in out.iterdir()}
        if agents:
            known = {name: (out / name).read_text() if name in there else text for name, text in texts.items()}
            _require_certificates(out, known)
        public = {user.name: public_key(out / f"{user.name}{SEED}") for user in wanted}
    for name in _seeds(wanted):
        _report(out / name, kept=name in there)
    for name, text in texts.items():
        _report(out / name, kept=name in there)
        if name not in there:
            _write_once(out / name, text)
    terminal_output.write(out / USERS, users_text(subjects, [*wanted, *agents], public))
    _report(out / USERS, kept=False)
    for name in sorted(there - {USERS, *texts, *_seeds(wanted)}):
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


def _texts(subjects: "Subjects", words: ServerWords) -> Iterator[tuple[str, str]]:
    """Name and content of each file that is written once."""
    from truerail.link.server_files import CLUSTER, SERVER, cluster_text, file_of, server_text

    options, servers = words.options(), words.servers
    if not servers:
        yield SERVER, server_text(options[0])
        return
    for server, one in zip(servers, options, strict=True):
        yield file_of(server), server_text(one, subjects.fabric, server)
    yield CLUSTER, cluster_text(servers)


def _seeds(wanted: "list[User]") -> list[str]:
    from truerail.link.server_files import SEED

    return [f"{user.name}{SEED}" for user in wanted]


def _write_once(file: Path, text: str) -> None:
    """For its owner alone where it has a password. Raises CommandError."""
    from truerail.cli import terminal_output
    from truerail.link.server_files import CLUSTER

    if file.name == CLUSTER:
        with suppress(OSError), open(os_open(file, O_CREAT | O_EXCL | O_WRONLY, 0o600), "wb"):
            pass
    terminal_output.write(file, text)


def _report(file: Path, kept: bool) -> None:
    from truerail.cli import terminal_output

    terminal_output.say(f"{'kept' if kept else 'written':<7} {file}")


def next_step(out: Path, words: ServerWords) -> str:
    """What to do with the files."""
    if words.servers:
        each = f"its nats-server-NAME.conf, {out}/cluster.conf and {out}/users.conf"
        start = f"Copy to each server {each}, and start it: nats-server -c nats-server-NAME.conf"
    else:
        start = f"Start it: nats-server -c {out}/nats-server.conf"
    return (
        f"{start}; after other zones: nats-server --signal reload. Then make its streams: the same command with --bus."
    )
