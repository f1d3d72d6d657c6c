"""`truerail bus`: sets up the bus between pollers, judges and fronts, and checks what it refuses."""

from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from truerail.cli.exit_codes import refusing
from truerail.errors import BusError, CommandError
from truerail.extras import require

if TYPE_CHECKING:
    from truerail.link.inspection import Inspection, StreamState
    from truerail.link.nats_link import BusAddress
    from truerail.link.subjects import Subjects

_T = TypeVar("_T")
app = typer.Typer(no_args_is_help=True, help="The bus between pollers, judges and fronts: set it up, check its rights.")
Fabric = Annotated[str, typer.Option("--fabric", metavar="NAME", help="The fabric, as the settings name it.")]
Ca = Annotated[Path | None, typer.Option("--ca", metavar="FILE", help="Certificate of the bus's authority.")]
Cert = Annotated[
    Path | None, typer.Option("--cert", metavar="FILE", help="Certificate of this role, where the bus asks for one.")
]
Key = Annotated[Path | None, typer.Option("--key", metavar="FILE", help="Its key.")]


@app.command("init", short_help="Write the server's configuration, users and keys; make the streams.")
def init(
    zones: Annotated[str, typer.Option("--zones", metavar="A,B", help="The zones of the inventory.")] = "default",
    fabric: Fabric = "fabric",
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the files.")] = Path("truerail-bus"),
    listen: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="Where the server listens; of a cluster each, or one after another."),
    ] = "127.0.0.1:4222",
    routes: Annotated[
        str, typer.Option(metavar="A:PORT,B:PORT,C:PORT", help="A cluster: where its servers reach each other.")
    ] = "",
    store: Annotated[Path, typer.Option(metavar="DIR", help="Where the server stores the streams.")] = Path(
        "/var/lib/nats"
    ),
    tls_cert: Annotated[Path | None, typer.Option(metavar="FILE", help="The server's certificate.")] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its key.")] = None,
    tls_ca: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Of a cluster: the authority of its servers' certificates.")
    ] = None,
    clients_ca: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Authority of client certificates: all clients need one then.")
    ] = None,
    agents: Annotated[
        Path | None, typer.Option(metavar="INVENTORY", help="Let the agents of its hosts log in, by certificate.")
    ] = None,
    bus: Annotated[str, typer.Option("--bus", metavar="URL", help="A running bus: make its streams too.")] = "",
    ca: Ca = None,
    cert: Cert = None,
    key: Key = None,
) -> None:
    """Write nats-server.conf (once), users.conf, and a key file for each role. Existing keys are kept. With --routes
    a configuration for each server of a cluster, and cluster.conf, which has their password (once).
    """
    from truerail.cli import terminal_output
    from truerail.cli.bus_files import ServerWords, agents_of, next_step, write_files
    from truerail.link.server_files import OPERATOR, SEED

    subjects, known = _subjects(fabric), [zone.strip() for zone in zones.split(",")]
    words = ServerWords(listen, routes, store, tls_cert, tls_key, tls_ca, clients_ca)
    write_files(out, subjects, known, words, agents_of(agents, known, subjects))
    if not bus:
        terminal_output.remark(next_step(out, words))
        return
    from truerail.link.inspection import make_streams

    made = _run(make_streams(_address(bus, out / f"{OPERATOR}{SEED}", ca, cert, key), subjects))
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
    from truerail.cli import terminal_output
    from truerail.cli.exit_codes import ExitCode

    role = _role(role, zone)
    address = _address(bus, creds, ca, cert, key)
    from truerail.link.inspection import inspect

    found = _run(inspect(address, _subjects(fabric), role, zone))
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


def _address(bus: str, creds: Path | None, ca: Path | None, certificate: Path | None, key: Path | None) -> "BusAddress":
    """Raises CommandError."""
    require("bus", "truerail bus")
    from truerail.link.nats_link import BusAddress

    with refusing(BusError):
        return BusAddress(bus, creds, ca, certificate, key)


def _subjects(fabric: str) -> "Subjects":
    require("bus", "truerail bus")
    from truerail.link.subjects import Subjects

    return Subjects(fabric)


def _text(found: "Inspection", role: str, zone: str) -> str:
    from truerail.cli.terminal_output import aligned

    whose = f"a poller of zone {zone}" if zone else f"a {role}"
    head = f"{found.server}, {'TLS' if found.encrypted else 'not encrypted'}, as {whose}"
    servers = [(one.url, one.problem or "answers") for one in found.servers]
    states = [(one.name, one.problem or _stored(one)) for one in found.streams]
    rows = [(one.verdict, one.attempt.words) for one in found.tried]
    bad = sum(not one.good for one in found.tried) + len(found.problems)
    end = f"{bad} to put right." if bad else "All rights are as they must be."
    blocks = [aligned(block) for block in (servers, states, rows) if block]
    return "\n\n".join((head, *("\n".join(block) for block in blocks), end))


def _stored(stream: "StreamState") -> str:
    copies = f", on {stream.replicas} servers" if stream.replicas > 1 else ""
    return f"{stream.messages:,} messages, {stream.bytes / 1e6:,.1f} MB{copies}"
