"""SNMP by gufo_snmp: a Rust core under asyncio, some 30 times cheaper than pysnmp.

A session, and with it a socket, lives for one walk. Keys are derived from passwords once for each login, because that
hashes a megabyte; a session localises them to the agent.

gufo_snmp drops an answer's error status: an agent that fails in the middle of a table, or denies access, looks like the
end of its MIB; so does tooBig, which v3 agents report if an answer exceeds the 1,500 octets that gufo_snmp accepts. So
a subtree is complete only if a row beyond it was received. `SnmpSession.getbulk` does not show that, so packets are
read here as its iterator reads them. Without such a row, the subtree is walked again in smaller steps, then by pysnmp,
which distinguishes an error from an end.
"""

from collections.abc import Sequence

from gufo.snmp import SnmpAuthError, SnmpDecodeError, SnmpError, User, ValueType, user
from gufo.snmp._fast import GetIter
from gufo.snmp.aio import SnmpSession

from truerail.errors import WalkError
from truerail.transport.snmp_client import CIRCLING, ENDLESS, MOST_ROWS, REPETITIONS, SENDS, Agent, Login, Row
from truerail.transport.snmp_pysnmp import PysnmpClient

_FEW = 5
"""Rows in one GETBULK that fit into 1,500 octets however long: no LLDP string has more than 255."""
_AUTH: dict[str, type[user.BaseAuthKey]] = {
    "md5": user.Md5Key,
    "sha1": user.Sha1Key,
    "sha224": user.Sha224Key,
    "sha256": user.Sha256Key,
    "sha384": user.Sha384Key,
    "sha512": user.Sha512Key,
}
_PRIVACY: dict[str, type[user.BasePrivKey]] = {
    "des": user.DesKey,
    "aes128": user.Aes128Key,
    "aes192": user.Aes192Key,
    "aes256": user.Aes256Key,
}


class GufoClient:
    """The engine `gufo`."""

    def __init__(self) -> None:
        self._users: dict[Login, User] = {}
        self._doubtful = PysnmpClient()

    async def walk(self, agent: Agent, subtrees: Sequence[str], rows: list[Row]) -> None:
        """Adds the rows of all subtrees to `rows`, one subtree after the other. Raises `WalkError`."""
        try:
            session = self._session(agent)
            if agent.login.version == "3":
                await _discover(session)
            for oid in subtrees:
                await self._subtree(session, agent, oid, rows)
        except TimeoutError:
            raise agent.silent() from None
        except SnmpAuthError:
            raise agent.refused() from None
        except (SnmpError, OSError) as error:
            raise WalkError(f"{type(error).__name__} from gufo_snmp") from None

    def close(self) -> None:
        """Forgets the keys. Sessions end with their walks."""
        self._users.clear()
        self._doubtful.close()

    async def _subtree(self, session: SnmpSession, agent: Agent, oid: str, rows: list[Row]) -> None:
        before = len(rows)
        for repetitions in (REPETITIONS, _FEW):
            if await _walk(session, GetIter(oid, repetitions), rows):
                return
            del rows[before:]
        await self._doubtful.walk(agent, (oid,), rows)

    def _session(self, agent: Agent) -> SnmpSession:
        login = agent.login
        if login.version == "2c":
            return SnmpSession(agent.ip, agent.port, community=login.community, timeout=agent.patience_seconds)
        if login not in self._users:
            self._users[login] = _user(login)
        return SnmpSession(agent.ip, agent.port, user=self._users[login], timeout=agent.patience_seconds)


async def _discover(session: SnmpSession) -> None:
    """Learns a v3 agent's engine id and clock. Raises TimeoutError where the last request stays unanswered too."""
    for _ in range(SENDS - 1):
        try:
            return await session.refresh()
        except TimeoutError:
            continue
    return await session.refresh()


async def _walk(session: SnmpSession, place: GetIter, rows: list[Row]) -> bool:
    """Adds the rows of a subtree; a request that stays unanswered is sent again. True if the walk reached a row beyond
    the subtree, and so is complete.
    """
    reached: tuple[int, ...] = ()
    while True:
        found = await _next(session, place)
        for row in found:
            if row is None:
                return True
            name, value = row
            rows.append((name, value if isinstance(value, (bytes, int)) else str(value)))
        if not found:
            return False
        before, reached = reached, tuple(map(int, rows[-1][0].split(".")))
        if reached <= before:
            raise WalkError(CIRCLING)
        if len(rows) > MOST_ROWS:
            raise WalkError(ENDLESS)


async def _next(session: SnmpSession, place: GetIter) -> list[tuple[str, ValueType] | None]:
    """The next rows, None behind the last of the subtree. Empty at the end of the MIB, on an error that gufo_snmp
    drops, or if an answer exceeds its buffer.
    """
    for send in range(1, SENDS + 1):
        try:
            await session._send(lambda: session._sock.send_get_bulk(place))
            return await session._recv(lambda: session._sock.recv_get_bulk(place))
        except TimeoutError:
            if send == SENDS:
                raise
        except (StopAsyncIteration, SnmpDecodeError):
            break
    return []


def _user(login: Login) -> User:
    """A user whose passwords are already hashed to master keys (RFC 3414 section 2.6)."""
    if not login.auth:
        return User(login.user)
    hashed = _AUTH[login.auth_protocol]
    auth = hashed(hashed.get_master_key(login.auth.encode()), key_type=user.KeyType.Master)
    if not login.privacy:
        return User(login.user, auth_key=auth)
    key = hashed.get_master_key(login.privacy.encode())
    return User(login.user, auth_key=auth, priv_key=_PRIVACY[login.privacy_protocol](key, key_type=user.KeyType.Master))
