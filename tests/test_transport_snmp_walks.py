"""Walks as commands name them and as text: what is rendered is read back by the readers of recorded walks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector import collectors
from collector.formats import mib
from truerail.transport.snmp_transport import as_text, subtrees

ENTRY = "1.3.6.1.2.1.31.1.1.1"


@pytest.mark.parametrize(
    ("command", "oids"),
    [
        ("snmpbulkwalk -On 1.0.8802.1.1.2", ("1.0.8802.1.1.2",)),
        ("snmpwalk -v2c -On .1.3.6.1 1.0.8802", ("1.3.6.1", "1.0.8802")),
        ("snmpbulkwalk -On 1.3.6.{2,31} 1.3", ("1.3.6.2", "1.3.6.31", "1.3")),
        ("snmpbulkwalk -On", ()),
        ("snmpbulkwalk -On 1", ()),
        ("snmpbulkwalk -On 1.3..6", ()),
        ("snmpbulkwalk -On 1.3 $(reboot)", ()),
        ("snmpset 1.3.6.1.2.1.1.5.0 s x", ()),
        ("device.snmprec", ()),
        ("snmpbulkwalk_-On_1.0.8802", ()),
    ],
)
def test_the_subtrees_of_a_command(command: str, oids: tuple[str, ...]) -> None:
    assert subtrees(command) == oids


def test_a_live_switch_is_asked_once_for_all_readers() -> None:
    asked = {name: [c.text for c in collectors()[name].ask if subtrees(c.text)] for name in ("lldp_snmp", "if_snmp")}
    assert asked == {"lldp_snmp": [mib.SWITCH.text], "if_snmp": [mib.SWITCH.text]}
    assert len(subtrees(mib.SWITCH.text)) == 18
    assert len(mib.SWITCH.file) < 255


@given(st.lists(st.one_of(st.binary(max_size=40), st.text(max_size=20).map(str.encode)), max_size=5))
def test_octets_come_back_whatever_they_are(values: list[bytes]) -> None:
    text = as_text((f"{ENTRY}.1.{index}", value) for index, value in enumerate(values))
    assert text.count("\n") == len(values)
    read = mib.tables(text, (ENTRY,))[ENTRY].get(1, {})
    assert [mib.octets_of(value) for value in read.values()] == values


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (b"swp1", 'STRING: "swp1"'),
        (b'a "b" \\', 'STRING: "a \\"b\\" \\\\"'),
        (b"", '""'),
        (bytes.fromhex("02fc00000001"), "Hex-STRING: 02 FC 00 00 00 01 "),
        (b'x"\n.1.3 = STRING: "y', "Hex-STRING: 78 22 0A 2E 31 2E 33 20 3D 20 53 54 52 49 4E 47 3A 20 22 79 "),
        (-7, "INTEGER: -7"),
        ("127.0.0.1", "127.0.0.1"),
    ],
)
def test_a_value_as_net_snmp_prints_it(value: bytes | int | str, line: str) -> None:
    assert as_text([("1.3.6", value)]) == f".1.3.6 = {line}\n"
