"""A look at a bus with the login of one role: the server, its streams, and what it refuses."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

from nats.errors import Error
from nats.js.errors import APIError, NotFoundError, ServiceUnavailableError

from truerail.errors import BusError
from truerail.link.nats_link import CUT_OFF, CUT_OFF_BY, BusAddress, BusClient
from truerail.link.rights import FRONT, operator_inbox, streams
from truerail.link.rights_check import Refusals, Tried, attempts, tried
from truerail.link.streams import REPLICAS, Timing, ensure, missing_copies, require_leader
from truerail.link.subjects import Subjects

ANSWER_SECONDS, ATTEMPTS = 5.0, 5


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
