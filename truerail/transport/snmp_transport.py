"""SNMP v2c and v3: walks subtrees of a switch's agent, read-only, and answers as `snmpbulkwalk -On` would.

One walk at a time for each agent (200 at once on one agent lose a fifth to timeouts) and a bounded number overall. Each
device has its own deadline, `Target.timeout_seconds`, which starts when its turn comes.
"""

import asyncio
import re
import socket
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from ipaddress import ip_address

from truerail.errors import TransportError, WalkError
from truerail.extras import needs
from truerail.model import Target
from truerail.transport.protocol import Answer
from truerail.transport.snmp_client import SENDS, Agent, Login, Row, SnmpClient, login
from truerail.transport.turns import Turns

# ----------------------------------------------------------------------------------------------------------------------
# A walk as a command, and its answer as text: both in the format of net-snmp's `snmpbulkwalk -On`.
#
# A command holds the subtrees to walk: `snmpbulkwalk -On 1.0.8802.1.1.2.1.4.1.1 1.3.6.1.2.1.2.2.1.{2,6}`. Several
# subtrees make one answer, so that related rows are read together; columns of one table are in braces, as in a shell.

_WALK = re.compile(r"snmp(?:bulk)?walk((?: -\w+)*)((?: [\d.]+(?:\{\d+(?:,\d+)*\})?)+)")
_OID = re.compile(r"\.?(\d+(?:\.\d+)+)")


def subtrees(command: str) -> tuple[str, ...]:
    """The OIDs that a command asks to walk, without a leading dot; empty where the command is no walk."""
    walk = _WALK.fullmatch(command)
    if not walk:
        return ()
    oids = [_OID.fullmatch(oid) for word in walk.group(2).split() for oid in _expanded(word)]
    return tuple(oid.group(1) for oid in oids if oid) if all(oids) else ()


def _expanded(word: str) -> list[str]:
    start, brace, columns = word.rstrip("}").partition("{")
    return [start + column for column in columns.split(",")] if brace else [word]


def as_text(rows: Iterable[Row]) -> str:
    """Rows as the numeric text of a walk, one line each. All integers are `INTEGER`: engines do not distinguish their
    types. Strings that are not plain ASCII are hex, so no foreign string can begin a line or end a quote.
    """
    return "".join([f".{oid} = {_value(value)}\n" for oid, value in rows])


def _value(value: bytes | int | str) -> str:
    if isinstance(value, int):
        return f"INTEGER: {value}"
    if isinstance(value, str):
        return value
    text = value.decode("latin-1")
    if not text:
        return '""'
    if text.isascii() and text.isprintable():
        if '"' in text or "\\" in text:
            text = text.replace("\\", "\\\\").replace('"', '\\"')
        return f'STRING: "{text}"'
    return f"Hex-STRING: {value.hex(' ').upper()} "


# ----------------------------------------------------------------------------------------------------------------------
# Queries agents.

AT_ONCE = {"gufo": 256, "pysnmp": 32}
"""Walks at work at once, by engine: 32 walks of 64-port switches keep pysnmp busy for 4 s, which must stay well within
a deadline. A silent agent gives up its turn (`truerail.transport.turns`).
"""
_LONGEST_PATIENCE = 2.0
"""Seconds to wait for one answer, where the deadline leaves room to send a request again."""


class SnmpTransport:
    """Queries agents by SNMP. A command is a walk; nothing else is sent."""

    def __init__(self, *, at_once: Mapping[str, int] = AT_ONCE) -> None:
        self._turns = {engine: Turns(most) for engine, most in at_once.items()}
        self._agents: defaultdict[tuple[str, int], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._clients: dict[str, SnmpClient] = {}

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        """One answer for each walk, in order. Raises `TransportError` if the agent cannot be queried at all."""
        access = target.snmp
        if access is None:
            raise TransportError("the inventory says nothing of SNMP for this device")
        known = login(access)
        engine = _engine(access.engine)
        if engine not in self._clients:
            self._clients[engine] = _made(engine)
        async with self._agents[target.address, access.port], self._turns[engine].turn():
            return await _Asking(self._clients[engine], target, access.port, known).answers(commands)

    async def close(self) -> None:
        """Ends the engines and their sockets."""
        for client in self._clients.values():
            client.close()
        self._clients.clear()
        await asyncio.sleep(0)  # asyncio closes a socket one turn after the call


def _engine(wanted: str) -> str:
    """The engine to use: `auto` is gufo where it is installed."""
    if wanted not in ("auto", "gufo", "pysnmp"):
        raise TransportError(f"SNMP engine {wanted!r} is not known: auto, gufo, pysnmp")
    installed = find_spec("gufo") is not None and find_spec("gufo.snmp") is not None
    if wanted == "gufo" and not installed:
        raise TransportError("SNMP engine gufo is wanted, but gufo_snmp is not installed here")
    return "gufo" if installed and wanted != "pysnmp" else "pysnmp"


def _made(engine: str) -> SnmpClient:
    if engine == "gufo":
        from truerail.transport.snmp_gufo import GufoClient

        return GufoClient()
    needs("snmp", "SNMP")
    from truerail.transport.snmp_pysnmp import PysnmpClient

    return PysnmpClient()


class _Asking:
    """One device in one round. Its deadline starts now."""

    def __init__(self, client: SnmpClient, target: Target, port: int, known: Login) -> None:
        self._client = client
        self._target = target
        self._port = port
        self._login = known
        self._where = f"{target.address} port {port}"
        self._deadline = asyncio.get_running_loop().time() + target.timeout_seconds

    async def answers(self, commands: Sequence[str]) -> list[Answer]:
        """One answer for each command. Once a walk has failed, no other is tried: each would wait for the agent again.

        Raises `TransportError` where the first walk gets no row.
        """
        agent = await self._agent()
        answers: list[Answer] = []
        broken = ""
        for command in commands:
            oids = subtrees(command)
            if not oids:
                answers.append(Answer(command, error="not a walk, and SNMP can ask nothing else"))
            elif broken:
                answers.append(Answer(command, error=f"not asked, because an earlier walk failed: {broken}"))
            else:
                answers.append(await self._answer(agent, command, oids, first=not any(one.text for one in answers)))
                broken = answers[-1].error
        return answers

    async def _agent(self) -> Agent:
        patience = min(_LONGEST_PATIENCE, self._target.timeout_seconds / (SENDS + 1))
        try:
            async with asyncio.timeout_at(self._deadline):
                ip = await _resolved(self._target.address, self._port)
        except TimeoutError:
            raise TransportError(f"{self._where}: the name was not resolved in time") from None
        except OSError as error:
            raise TransportError(f"{self._where}: the name is not known ({error.strerror})") from None
        return Agent(ip, self._port, self._login, patience)

    async def _answer(self, agent: Agent, command: str, oids: Sequence[str], *, first: bool) -> Answer:
        started = time.monotonic()
        rows: list[Row] = []
        text, error = "", ""
        try:
            async with asyncio.timeout_at(self._deadline):
                await self._client.walk(agent, oids, rows)
            text = as_text(rows)
        except TimeoutError:
            error = f"not done within {self._target.timeout_seconds:g} s"
        except WalkError as failed:
            error = str(failed)
        if error and first and not rows:
            raise TransportError(f"{self._where}: {error}{_perhaps(self._login, error)}")
        if error:
            error = f"{self._where}: the walk broke off after {len(rows)} rows: {error}"
        return Answer(command, text, error, time.monotonic() - started)


def _perhaps(known: Login, error: str) -> str:
    """What silence may mean: agents do not answer who gives a wrong secret."""
    if not error.startswith(("no answer", "not done")):
        return ""
    secret = "community" if known.version == "2c" else "privacy password"
    return f": no SNMP agent there, filtered, or a wrong {secret}"


async def _resolved(address: str, port: int) -> str:
    """The IP address of a device: gufo takes no names. Raises OSError."""
    try:
        return str(ip_address(address))
    except ValueError:
        found = await asyncio.get_running_loop().getaddrinfo(address, port, type=socket.SOCK_DGRAM)
        return str(found[0][4][0])
