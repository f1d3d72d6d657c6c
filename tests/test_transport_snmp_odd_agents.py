"""Agents of SNMP v2c that break the rules: they go round in circles, never end, fail inside a table."""

import asyncio
from collections.abc import Callable
from typing import cast

import pytest
from pyasn1.codec.ber import decoder, encoder
from pysnmp.proto import api
from pysnmp.proto.rfc1902 import Integer32, ObjectName, OctetString
from pysnmp.proto.rfc1905 import EndOfMibView

from tests.patience import ENOUGH
from truerail.errors import TransportError
from truerail.model import Secret, SnmpAccess, Target
from truerail.transport import snmp_gufo, snmp_pysnmp
from truerail.transport.protocol import Answer
from truerail.transport.snmp_transport import SnmpTransport

COLUMN = (1, 3, 6, 1, 2, 1, 2, 2, 1, 1)
WALK = "snmpbulkwalk -On 1.3.6.1.2.1.2.2.1.1"
V2C = api.PROTOCOL_MODULES[api.SNMP_VERSION_2C]
TOO_BIG, GENERAL_ERROR = 1, 5
ONE = Integer32(1)

Oid = tuple[int, ...]
Rows = Callable[[Oid, int], list[Oid] | int]
"""What an agent has behind an OID, at most so many: OIDs, of which () is the end of its MIB, or an error status."""


class OddAgent(asyncio.DatagramProtocol):
    """Answers every GETBULK with what `rows` says."""

    def __init__(self, rows: Rows, value: Integer32 | OctetString) -> None:
        self._rows = rows
        self._value = value

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        request, _ = decoder.decode(data, asn1Spec=V2C.Message())
        asked = V2C.apiMessage.get_pdu(request)
        after = tuple(asked[3][0][0])
        found = self._rows(after, int(V2C.apiBulkPDU.get_max_repetitions(asked)))
        answer = V2C.apiMessage.get_response(request)
        pdu = V2C.apiMessage.get_pdu(answer)
        if isinstance(found, int):
            V2C.apiPDU.set_error_status(pdu, found)
            V2C.apiPDU.set_error_index(pdu, 1)
            V2C.apiPDU.set_varbinds(pdu, [(ObjectName(after), V2C.null)])
        else:
            V2C.apiPDU.set_varbinds(
                pdu, [(ObjectName(oid), self._value) if oid else (ObjectName(after), EndOfMibView("")) for oid in found]
            )
        self._transport.sendto(encoder.encode(answer), addr)


def table(size: int) -> Rows:
    """A column with so many rows, with a row of another column behind it."""
    return lambda after, most: [
        (*COLUMN, number) if number <= size else (*COLUMN[:-1], 2, 1)
        for number in range(last(after) + 1, last(after) + 1 + most)
    ]


def last(after: Oid) -> int:
    return after[-1] if len(after) > len(COLUMN) else 0


def fails_after(rows: int) -> Rows:
    return lambda after, most: GENERAL_ERROR if last(after) >= rows else table(1000)(after, min(most, 5))


def ends_after(rows: int) -> Rows:
    return lambda after, _: [() if last(after) >= rows else (*COLUMN, last(after) + 1)]


@pytest.fixture(autouse=True)
def community(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUERAIL_TEST_COMMUNITY", "public")


async def walked(engine: str, rows: Rows, value: Integer32 | OctetString = ONE) -> Answer:
    """The answer of an agent that is always quick: no one comes near the deadline."""
    loop = asyncio.get_running_loop()
    server, _ = await loop.create_datagram_endpoint(lambda: OddAgent(rows, value), local_addr=("127.0.0.1", 0))
    port = server.get_extra_info("sockname")[1]
    access = SnmpAccess(community=Secret("env", "TRUERAIL_TEST_COMMUNITY"), port=port, engine=engine)
    transport = SnmpTransport()
    try:
        (answer,) = await transport.ask(Target("leaf-0", "127.0.0.1", snmp=access, timeout_seconds=ENOUGH), (WALK,))
        return answer
    finally:
        await transport.close()
        server.close()
        await asyncio.sleep(0)


@pytest.mark.parametrize("rows", [table(12), ends_after(12)])
def test_a_column_that_ends_as_it_should(engine: str, rows: Rows) -> None:
    answer = asyncio.run(walked(engine, rows))
    assert answer.error == ""
    assert answer.text.splitlines() == [f".1.3.6.1.2.1.2.2.1.1.{number} = INTEGER: 1" for number in range(1, 13)]


def test_an_agent_whose_answers_would_be_too_big_is_asked_for_less() -> None:
    """So do v3 agents where the client accepts 1,500 octets, as gufo_snmp does; pysnmp accepts all that UDP carries."""
    answer = asyncio.run(walked("gufo", lambda after, most: TOO_BIG if most > 5 else table(12)(after, most)))
    assert answer.error == ""
    assert answer.text.count("\n") == 12


def test_the_longest_values(engine: str) -> None:
    answer = asyncio.run(walked(engine, table(60), value=OctetString(b"x" * 255)))
    assert answer.error == ""
    assert answer.text.count("x" * 255) == 60


def test_an_error_inside_a_table_is_not_its_end(engine: str) -> None:
    answer = asyncio.run(walked(engine, fails_after(10)))
    assert answer.text == ""
    assert answer.error.endswith("the walk broke off after 10 rows: error status genErr from the agent")


def test_an_error_at_once_is_the_agents(engine: str) -> None:
    with pytest.raises(TransportError, match=r"error status genErr from the agent$"):
        asyncio.run(walked(engine, fails_after(0)))


def test_oids_that_go_round_in_a_circle(engine: str) -> None:
    answer = asyncio.run(walked(engine, lambda after, _: table(9)((*COLUMN, last(after) % 5), 5)))
    assert answer.text == ""
    assert "do not increase" in answer.error


def test_a_table_without_end(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (snmp_gufo, snmp_pysnmp):
        monkeypatch.setattr(module, "MOST_ROWS", 200)
    answer = asyncio.run(walked(engine, table(10**9)))
    assert answer.text == ""
    assert answer.error.endswith("rows: more than 100,000 rows")
