"""Devices that hang at every stage at which a device can, and good ones behind them, for tests and benchmarks.

Each stage has a server on loopback: plain sockets, or a real sshd whose session hangs. Devices that share one differ in
their file of known hosts, so that each is logged in to by itself.
"""

import asyncio
import getpass
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.patience import ENOUGH
from tests.sshd import Sshd, odd_server, sshd, stuck_after_banner
from truerail.model import Role, SshAccess, Target
from truerail.poller import Gathered, Limits, Poller
from truerail.transport.protocol import Transport

STAGES = ("SYN dropped", "no banner", "banner and silence", "after login", "mid-answer")
LINKS = "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth0\n"
LLDP = '{"lldp":[{}]}'
_BACKLOG = 4096


@contextmanager
def hung(stage: str, folder: Path) -> Iterator[int]:
    """A server that hangs at this stage. Yields its port."""
    with ExitStack() as stack:
        if stage == "SYN dropped":
            yield stack.enter_context(_full())
        elif stage == "no banner":
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG))
            yield int(listener.getsockname()[1])  # the kernel takes connections, and no one answers
        elif stage == "banner and silence":
            yield stack.enter_context(odd_server(stuck_after_banner))
        elif stage == "after login":
            yield stack.enter_context(sshd(folder, extra="ForceCommand exec sleep 600")).port
        else:
            server = stack.enter_context(sshd(folder))
            for name in ("rdma", "lldpctl"):
                server.program(name, "printf 'link mlx5_0/1 sta'; exec sleep 600")
            yield server.port


@contextmanager
def _full() -> Iterator[int]:
    """A listener whose queue is full: the kernel drops every further SYN (listen(2), `backlog`)."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        address = listener.getsockname()
        for _ in range(8):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(address)
        yield int(address[1])


@dataclass(frozen=True)
class Crowd:
    """Hung devices first, as a fleet's names may put them, and good ones behind them, real sshd each."""

    targets: tuple[Target, ...]
    good: frozenset[str]


@contextmanager
def crowd(folder: Path, stage: str, hangs: int, good: int, *, switches: bool, seconds: float) -> Iterator[Crowd]:
    """`hangs` devices that hang, for each of which `seconds` would be waited, before `good` ones that do not, and have
    time enough for any machine.
    """
    with ExitStack() as stack:
        server = stack.enter_context(sshd(folder / "good"))
        server.program("rdma", f"printf '{LINKS}'")
        server.program("lldpctl", f"echo '{LLDP}'")
        port = stack.enter_context(hung(stage, folder / "hung"))
        platform = "cumulus" if switches else "linux"
        role = Role.LEAF if switches else Role.HOST
        targets = []
        for number in range(hangs + good):
            bad = number < hangs
            known = folder / f"known_hosts_{number}"
            known.write_text("* " + _host_key(folder / ("hung" if bad else "good")) + "\n")
            ssh = SshAccess(
                getpass.getuser(), str(_client_key(folder, server, stage, bad)), None, str(known),
                port if bad else server.port, agent=False,
            )  # fmt: skip
            name = f"{'a-hung' if bad else 'b-good'}-{number:04d}"
            targets.append(
                Target(name, "127.0.0.1", role, platform, timeout_seconds=seconds if bad else ENOUGH, ssh=ssh)
            )
        yield Crowd(tuple(targets), frozenset(target.name for target in targets[hangs:]))


def _host_key(folder: Path) -> str:
    key = folder / "host_ed25519.pub"
    other = folder.parent / "good" / "host_ed25519.pub"
    return " ".join((key if key.exists() else other).read_text().split()[:2])


def _client_key(folder: Path, server: Sshd, stage: str, bad: bool) -> Path:
    return folder / "hung" / "id_ed25519" if bad and stage in ("after login", "mid-answer") else server.key


async def first_round(
    crowd: Crowd, make: Callable[[], Transport], collectors: Sequence[str], limits: Limits, *, to_the_end: bool = False
) -> Gathered:
    """One round over a crowd, ended when all good devices have answered, or at its end."""
    transport, stop, left = make(), asyncio.Event(), set(crowd.good)

    def finished(row: object, done: int, total: int) -> None:
        left.discard(row.name)  # type: ignore[attr-defined]  # a Row
        if not left and not to_the_end:
            stop.set()

    try:
        gatherer = Poller(crowd.targets, transport, limits=limits)
        return await gatherer.round(collectors=collectors, progress=finished, stop=stop)
    finally:
        await transport.close()


def lost(crowd: Crowd, seen: Gathered) -> dict[str, str]:
    """The good devices without an answer, and why."""
    return {row.name: row.error or "no fact" for row in seen.rows if row.name in crowd.good and not _answered(row)}


def _answered(row: object) -> bool:
    return any(not reading.error for reading in row.readings)  # type: ignore[attr-defined]  # a Row
