"""A look at a bus with the login of one role: the server, its streams, and what it refuses."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

from nats.aio.client import Client
from nats.errors import Error
from nats.js.errors import APIError, NotFoundError, ServiceUnavailableError

from truerail.errors import BusError
from truerail.link.nats_link import ANSWER_SECONDS, CUT_OFF, CUT_OFF_BY, Bus, BusAddress, BusClient
from truerail.link.server_files import API, FRONT, POLLER, Right, operator_inbox, rights, streams
from truerail.link.streams import REPLICAS, Timing, ensure, missing_copies, require_leader
from truerail.link.subjects import Subjects

# ----------------------------------------------------------------------------------------------------------------------
# Whether the bus refuses what it must refuse, and accepts what a role needs: by trying it.
#
# No attempt has an effect, also where the server accepts it: publications into streams expect another stream, and
# orders to JetStream have a body that it cannot read.

_NAME, _OTHER = "truerail-bus-check", "truerail-bus-check-other-zone"
_HARMLESS = {"Nats-Expected-Stream": _NAME}
"""JetStream stores a message with this header in a stream of this name alone, which does not exist."""
_UNREADABLE = b"this is no request"


@dataclass(frozen=True, slots=True)
class Tried:
    """An attempt, whether the role needs it, and whether the server refused it."""

    attempt: Right
    needed: bool
    refused: bool

    @property
    def good(self) -> bool:
        """Whether the server did what it must."""
        return self.refused is not self.needed

    @property
    def verdict(self) -> str:
        """In words."""
        if self.needed:
            return "REFUSED, but needed" if self.refused else "accepted as it must be"
        return "refused as it must be" if self.refused else "NOT refused"


def attempts(subjects: Subjects, role: str, zone: str) -> Iterator[Right]:
    """Those of a role; of a poller those of `zone`. What another role alone may do is tried as well."""
    yield from rights(subjects, zone or _OTHER)
    if role == POLLER:
        for one in rights(subjects, _OTHER):
            if _OTHER in one.words:
                yield Right(one.words.replace(f"zone {_OTHER}", "another zone"), one.subject, (), one.publishes)
    yield Right("send answers as an agent", subjects.raw(zone or _OTHER), ())
    for verb, stream in (
        ("delete", subjects.obs_stream),
        ("purge", subjects.obs_stream),
        ("change", subjects.obs_stream),
        ("delete", subjects.live_stream),
    ):
        order = "UPDATE" if verb == "change" else verb.upper()
        yield Right(f"{verb} the stream {stream}", f"{API}.STREAM.{order}.{stream}", ())
    yield Right("read replies to others", "_INBOX.>", (), publishes=False)


class Refusals:
    """What the server has refused on a connection: `take` is its `error_cb`."""

    def __init__(self) -> None:
        self.last = ""

    async def take(self, error: Exception) -> None:
        """Takes an error of the connection."""
        self.last = str(error)


async def tried(client: Client, refusals: Refusals, attempt: Right, needed: bool) -> Tried:
    """Makes one attempt: to publish to one of the subjects, or to receive all of them. The server reports a refusal
    before it answers the flush. Raises nats.errors.Error.
    """
    refusals.last = ""
    if attempt.publishes:
        subject = attempt.subject.replace("*", _NAME).replace(">", _NAME)
        order = subject.startswith(f"{API}.")
        headers, body = (None, _UNREADABLE) if order else (_HARMLESS, b"")
        await client.publish(subject, body, headers=headers)
        await answered(client)
    else:
        subscription = await client.subscribe(attempt.subject)
        await answered(client)
        if not refusals.last:
            await subscription.unsubscribe()
    return Tried(attempt, needed, "permissions violation" in refusals.last.lower())


async def answered(client: Client) -> None:
    """Returns when the server has read all that was sent. nats-py's flush may overtake what still waits in memory."""
    while client.pending_data_size:
        await asyncio.sleep(0)
    await client.flush()


# ----------------------------------------------------------------------------------------------------------------------
# Whether a login is one of a front: asked once, before a front begins.


async def front_login(address: BusAddress, subjects: Subjects) -> None:
    """Raises BusError if the bus cannot be reached, refuses the login, or gives it no right to the fabric's view."""
    bus = Bus(address, "truerail front", subjects.front_inbox)
    await bus.open()
    try:
        await bus.client.subscribe(subjects.view)
        await bus.asked(asyncio.wait_for(answered(bus.client), ANSWER_SECONDS))
        if bus.problem:
            key = f"{address.creds} is" if address.creds else "a connection without --creds is"
            raise BusError(
                f"bus {address.url}: {key} no front's login of the fabric {subjects.fabric!r}: {bus.problem}; "
                "`truerail bus init` makes front.nk"
            )
    finally:
        await bus.close()


# ----------------------------------------------------------------------------------------------------------------------
# A look at a bus.

ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class StreamState:
    """One stream; `problem` where it is missing, stands still, has no copy on some server, or may not be seen."""

    name: str
    messages: int = 0
    bytes: int = 0
    replicas: int = 1
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ServerState:
    """One server of several; `problem` where it does not answer."""

    url: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was found. `servers` are those of a cluster, by their addresses."""

    server: str
    encrypted: bool
    servers: Sequence[ServerState]
    streams: Sequence[StreamState]
    tried: Sequence[Tried]

    @property
    def good(self) -> bool:
        """Whether nothing has to be put right."""
        return not self.problems and all(one.good for one in self.tried)

    @property
    def problems(self) -> list[str]:
        """Those of servers and streams."""
        found = [*(one.problem for one in self.servers), *(one.problem for one in self.streams)]
        return list(filter(None, found))


async def inspect(address: BusAddress, subjects: Subjects, role: str, zone: str) -> Inspection:
    """Looks with the login of a role, of a poller with that of `zone`. Raises BusError with what is wrong."""
    refusals = Refusals()
    inbox = subjects.front_inbox if role == FRONT else subjects.inbox(zone)
    servers = [await _server(replace(address, url=url), inbox) for url in address.servers]
    async with _connected(address, inbox, refusals) as client:
        seen = () if role == FRONT else (subjects.obs_stream,) if zone else streams(subjects)
        states = [await _state(client, name, refusals, address) for name in seen]
        found = [await tried(client, refusals, one, role in one.roles) for one in attempts(subjects, role, zone)]
        version = client.connected_server_version
        server = f"nats-server {version.major}.{version.minor}.{version.patch}"
        several = servers if len(servers) > 1 else ()
        return Inspection(server, address.url.startswith("tls:"), several, states, found)


async def make_streams(address: BusAddress, subjects: Subjects) -> list[str]:
    """Makes the streams and the bucket that are missing, with the login of an operator. Returns their names. Raises
    BusError.
    """
    refusals = Refusals()
    async with _connected(address, operator_inbox(), refusals) as client:
        try:
            streams = client.jetstream(timeout=ANSWER_SECONDS)
            return await ensure(streams, subjects, Timing(), in_cluster=client.in_cluster)
        except (BusError, Error, OSError, TimeoutError) as error:
            raise BusError(f"bus {address.url}: {refusals.last or _reason(error)}") from None


async def _server(address: BusAddress, inbox: str) -> ServerState:
    """Whether one server lets the role in."""
    try:
        await (await _connection(address, inbox, Refusals())).close()
    except BusError as error:
        return ServerState(address.url, str(error).removeprefix(f"bus {address.url}: "))
    return ServerState(address.url)


@asynccontextmanager
async def _connected(address: BusAddress, inbox: str, refusals: Refusals) -> AsyncIterator[BusClient]:
    *others, last = (replace(address, url=url) for url in address.servers)
    client = None
    for one in others:
        with suppress(BusError):
            client = await _connection(one, inbox, refusals)
            break
    client = client or await _connection(last, inbox, refusals)
    refusals.last = ""
    try:
        yield client
    except (Error, OSError, TimeoutError) as error:
        raise BusError(f"bus {address.url}: {refusals.last or _reason(error)}") from None
    finally:
        await client.close()


async def _connection(address: BusAddress, inbox: str, refusals: Refusals) -> BusClient:
    """A connection. Where it is cut off, another attempt may bring the server's reason. Raises BusError."""
    for attempts_left in reversed(range(ATTEMPTS)):
        client = BusClient()
        try:
            await asyncio.wait_for(
                client.connect(
                    address.url,
                    name="truerail bus",
                    inbox_prefix=inbox,
                    error_cb=refusals.take,
                    allow_reconnect=False,
                    connect_timeout=int(ANSWER_SECONDS),
                    **address.options(),
                ),
                ANSWER_SECONDS,
            )
            break
        except (Error, OSError, TimeoutError) as error:
            client.abandon()
            await asyncio.sleep(0)
            if not (attempts_left and isinstance(error, CUT_OFF_BY)):
                raise BusError(f"bus {address.url}: {_why_not(address, error, refusals.last)}") from None
    return client


def _why_not(address: BusAddress, error: Exception, reported: str) -> str:
    """Why there is no connection, and what to look at."""
    reason = CUT_OFF if isinstance(error, CUT_OFF_BY) else reported or _reason(error)
    if isinstance(error, ssl.SSLCertVerificationError) or "certificate verify failed" in reason.lower():
        return f"its certificate is not trusted: {reason}; name the file of its authority by --ca"
    if "authorization" in reason.lower():
        login = f"the login by {address.creds}" if address.creds else "a connection without --creds"
        return f"it refuses {login}: no user of its configuration has this key"
    return reason


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


async def _state(client: BusClient, name: str, refusals: Refusals, address: BusAddress) -> StreamState:
    """Raises BusError for a server without JetStream."""
    refusals.last = ""
    try:
        found = await client.jetstream(timeout=ANSWER_SECONDS).stream_info(name)
        require_leader(found)
    except NotFoundError:
        return StreamState(name, problem="missing: truerail bus init --bus makes it, and so does a judge")
    except (ServiceUnavailableError, APIError) as error:
        why = error.description if isinstance(error, APIError) and error.description else "it does not answer"
        raise BusError(f"bus {address.url}: JetStream is not enabled: {why}") from None
    except TimeoutError:
        return StreamState(name, problem="its state is refused: the key is one of another role")
    except BusError as error:
        return StreamState(name, problem=str(error))
    replicas = 1 + len(found.cluster.replicas or ()) if found.cluster else 1
    behind = missing_copies(found)
    problem = f"no current copy on {', '.join(behind)}: does this server run?" if behind else ""
    if client.in_cluster and replicas < REPLICAS:
        problem = f"one copy alone: remove it as the operator, truerail makes it again with {REPLICAS}"
    return StreamState(name, found.state.messages, found.state.bytes, replicas, problem)
