"""`truerail bus`: sets up the bus between pollers and judges, and checks what it refuses."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truerail.errors import CommandError

if TYPE_CHECKING:
    from truerail.bus.inspection import Inspection
    from truerail.bus.nats_link import BusAddress
    from truerail.bus.server_files import ServerOptions
    from truerail.bus.subjects import Subjects

app = typer.Typer(no_args_is_help=True, help="The bus between pollers and judges: set it up, check its rights.")
Fabric = Annotated[str, typer.Option("--fabric", metavar="NAME", help="The fabric, as the settings name it.")]
Ca = Annotated[Path | None, typer.Option("--ca", metavar="FILE", help="Certificate of the bus's authority.")]


@app.command("init", short_help="Write the server's configuration, users and keys; make the streams.")
def init(
    zones: Annotated[str, typer.Option("--zones", metavar="A,B", help="The zones of the inventory.")] = "default",
    fabric: Fabric = "fabric",
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the files.")] = Path("truerail-bus"),
    listen: Annotated[str, typer.Option(metavar="HOST:PORT", help="Where the server listens.")] = "127.0.0.1:4222",
    store: Annotated[Path, typer.Option(metavar="DIR", help="Where the server stores the streams.")] = Path(
        "/var/lib/nats"
    ),
    tls_cert: Annotated[Path | None, typer.Option(metavar="FILE", help="The server's certificate.")] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its key.")] = None,
    bus: Annotated[str, typer.Option("--bus", metavar="URL", help="A running bus: make its streams too.")] = "",
    ca: Ca = None,
) -> None:
    """Write nats-server.conf (once), users.conf, and a key file for each role. Existing keys are kept."""
    from truerail.bus.rights import OPERATOR
    from truerail.bus.server_files import SEED
    from truerail.cli import terminal_output

    subjects = _subjects(fabric)
    _write(out, subjects, [zone.strip() for zone in zones.split(",")], _options(listen, store, tls_cert, tls_key))
    if not bus:
        terminal_output.remark(
            f"Start it: nats-server -c {out}/nats-server.conf; after other zones: nats-server --signal reload. "
            "Then make its streams: the same command with --bus."
        )
        return
    made = _make_streams(_address(bus, out / f"{OPERATOR}{SEED}", ca), subjects)
    terminal_output.say("\n".join(f"made    stream {name}" for name in made) or "all streams are there")


@app.command("check", short_help="Look at a bus, and try what it must refuse.")
def check(
    bus: Annotated[str, typer.Option("--bus", metavar="URL", help="tls://HOST:PORT, or nats://127.0.0.1:PORT.")],
    creds: Annotated[Path | None, typer.Option("--creds", metavar="FILE", help="The key file of the role.")] = None,
    zone: Annotated[str, typer.Option("--zone", metavar="NAME", help="Zone of a poller's key; none: a judge's.")] = "",
    fabric: Fabric = "fabric",
    ca: Ca = None,
) -> None:
    """Try with one role's key what the bus must accept and refuse; nothing changes. Exit code 1 if it does not."""
    from truerail.cli import terminal_output
    from truerail.cli.exit_codes import ExitCode

    found = _inspect(_address(bus, creds, ca), _subjects(fabric), zone)
    terminal_output.say(_text(found, zone))
    if not found.good:
        raise typer.Exit(ExitCode.FOUND)


def _options(listen: str, store: Path, certificate: Path | None, key: Path | None) -> "ServerOptions":
    """Raises CommandError."""
    from truerail.bus.server_files import ServerOptions

    host, _, port = listen.rpartition(":")
    host = host.strip("[]")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise CommandError(f"--listen {listen}: expected HOST:PORT, such as 10.0.0.5:4222")
    if (certificate is None) is not (key is None):
        raise CommandError(f"--tls-{'key' if certificate else 'cert'}: give certificate and key together")
    if certificate is None and host not in ("127.0.0.1", "::1", "localhost"):
        raise CommandError(f"--listen {listen}: others can reach it, so it needs --tls-cert and --tls-key")
    for file in (certificate, key):
        if file and not file.is_file():
            raise CommandError(f"{file}: there is no such file")
    absolute = [file.absolute() if file else None for file in (certificate, key)]
    return ServerOptions(host, int(port), store.absolute(), *absolute)


def _write(out: Path, subjects: "Subjects", zones: list[str], options: "ServerOptions") -> None:
    """Writes the files and says which. Raises CommandError."""
    from truerail.bus.rights import users
    from truerail.bus.server_files import SEED, SERVER, USERS, public_key, server_text, users_text
    from truerail.cli import terminal_output
    from truerail.errors import BusError

    try:
        wanted = list(users(subjects, dict.fromkeys(zones)))
        out.mkdir(parents=True, exist_ok=True, mode=0o700)
        there = {file.name for file in out.iterdir()}
        public = {user.name: public_key(out / f"{user.name}{SEED}") for user in wanted}
    except (BusError, OSError) as error:
        raise CommandError(str(error)) from error
    for user in wanted:
        _report(out / f"{user.name}{SEED}", f"{user.name}{SEED}" in there)
    _report(out / SERVER, SERVER in there)
    if SERVER not in there:
        terminal_output.write(out / SERVER, server_text(options))
    terminal_output.write(out / USERS, users_text(subjects, wanted, public))
    _report(out / USERS, kept=False)
    for name in sorted(there - {SERVER, USERS} - {f"{user.name}{SEED}" for user in wanted}):
        terminal_output.say(f"unused  {out / name}")


def _report(file: Path, kept: bool) -> None:
    from truerail.cli import terminal_output

    terminal_output.say(f"{'kept' if kept else 'written':<7} {file}")


def _make_streams(address: "BusAddress", subjects: "Subjects") -> list[str]:
    import asyncio

    from truerail.bus.inspection import make_streams
    from truerail.errors import BusError

    try:
        return asyncio.run(make_streams(address, subjects))
    except BusError as error:
        raise CommandError(str(error)) from error


def _inspect(address: "BusAddress", subjects: "Subjects", zone: str) -> "Inspection":
    import asyncio

    from truerail.bus.inspection import inspect
    from truerail.errors import BusError

    try:
        return asyncio.run(inspect(address, subjects, zone))
    except BusError as error:
        raise CommandError(str(error)) from error


def _address(bus: str, creds: Path | None, ca: Path | None) -> "BusAddress":
    """Raises CommandError."""
    _require()
    from truerail.bus.nats_link import BusAddress
    from truerail.errors import BusError

    try:
        return BusAddress(bus, creds, ca)
    except BusError as error:
        raise CommandError(str(error)) from error


def _subjects(fabric: str) -> "Subjects":
    _require()
    from truerail.bus.subjects import Subjects

    return Subjects(fabric)


def _require() -> None:
    """Raises CommandError without the packages of the bus."""
    from importlib.util import find_spec

    from truerail.errors import MissingExtraError

    if find_spec("nats") is None or find_spec("nkeys") is None:
        raise CommandError(str(MissingExtraError("bus", "truerail bus")))


def _text(found: "Inspection", zone: str) -> str:
    from truerail.cli.text_table import aligned

    role = f"a poller of zone {zone}" if zone else "a judge"
    head = f"{found.server}, {'TLS' if found.encrypted else 'not encrypted'}, as {role}"
    states = [
        (one.name, one.problem or f"{one.messages:,} messages, {one.bytes / 1e6:,.1f} MB") for one in found.streams
    ]
    rows = [(one.verdict, one.attempt.words) for one in found.tried]
    bad = sum(not one.good for one in found.tried) + sum(bool(one.problem) for one in found.streams)
    end = f"{bad} to put right." if bad else "All rights are as they must be."
    return "\n".join((head, "", *aligned(states), "", *aligned(rows), "", end))
