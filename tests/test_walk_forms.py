"""Walks of net-snmp in the forms that its options give, each with the same facts as the numeric form with types.

The forms are those of public answers: a page on H3C's MIBs, tests of tools that parse walks, profinet's manual. Names
and addresses are changed.
"""

import re

import pytest

from collector import collectors
from tests.each import each
from truerail.errors import UnreadableError
from truerail.model import Device, Fact, Neighbor, NetLink

ANY = Device("any")
LLDP = """\
LLDP-MIB::lldpMessageTxInterval.0 = INTEGER: 30 seconds
LLDP-MIB::lldpLocPortIdSubtype.12774 = INTEGER: interfaceName(5)
LLDP-MIB::lldpLocPortId.12774 = STRING: "Ten-GigabitEthernet1/0/1"
LLDP-MIB::lldpLocPortDesc.12774 = STRING: To spine
LLDP-MIB::lldpRemChassisIdSubtype.26.12774.1 = INTEGER: macAddress(4)
LLDP-MIB::lldpRemChassisId.26.12774.1 = Hex-STRING: 02 00 00 00 00 01 
LLDP-MIB::lldpRemPortIdSubtype.26.12774.1 = INTEGER: interfaceName(5)
LLDP-MIB::lldpRemPortId.26.12774.1 = STRING: "Ten-GigabitEthernet2/7/1/1"
LLDP-MIB::lldpRemPortDesc.26.12774.1 = STRING: To_leaf
LLDP-MIB::lldpRemSysName.26.12774.1 = STRING: spine-1
LLDP-MIB::lldpRemSysDesc.26.12774.1 = STRING: Comware, Version 7.1
Compiled: on a Tuesday
LLDP-MIB::lldpRemSysCapSupported.26.12774.1 = BITS: 28 bridge(2) router(4) 
LLDP-MIB::lldpRemManAddrIfSubtype.26.12774.1.ipV4."...d" = INTEGER: ifIndex(2)
LLDP-MIB::lldpRemManAddrIfSubtype.26.12774.1.1.4.10.0.0.1 = INTEGER: ifIndex(2)
LLDP-EXT-DOT1-MIB::lldpXdot1RemPortVlanId.26.12774.1 = INTEGER: 1
LLDP-V2-MIB::lldpV2MessageTxInterval.0 = Gauge32: 30
"""  # noqa: W291 - net-snmp ends octets with a blank
NEIGHBOR = Neighbor(
    "Ten-GigabitEthernet1/0/1",
    "02:00:00:00:00:01",
    "mac",
    "spine-1",
    "Ten-GigabitEthernet2/7/1/1",
    "ifname",
    "To_leaf",
    management_addresses=("10.0.0.1",),
)
INTERFACES = """\
IF-MIB::ifIndex.2 = INTEGER: 2
IF-MIB::ifDescr.1 = STRING: lo
IF-MIB::ifDescr.2 = STRING: swp1
IF-MIB::ifMtu.2 = INTEGER: 9216
IF-MIB::ifSpeed.2 = Gauge32: 4294967295
IF-MIB::ifPhysAddress.1 = STRING:
IF-MIB::ifPhysAddress.2 = STRING: 2:0:0:0:0:3
IF-MIB::ifAdminStatus.2 = INTEGER: up(1)
IF-MIB::ifOperStatus.2 = INTEGER: down(2)
IF-MIB::ifName.2 = STRING: swp1
IF-MIB::ifHighSpeed.2 = Gauge32: 100000
IF-MIB::ifAlias.2 = STRING: to gpu-1
SNMPv2-MIB::sysContact.0 = No Such Object available on this agent at this OID
"""
LINKS = [
    NetLink(
        "swp1",
        mac="02:00:00:00:00:03",
        mtu=9216,
        operstate="DOWN",
        flags=("UP",),
        speed_gbps=100.0,
        aliases=("to gpu-1",),
    ),
    NetLink("lo"),
]


def untyped(text: str, sign: str) -> str:
    """The text as `-OQ` and `-Oq` print it."""
    text = re.sub(r"= Hex-STRING: (.*)", rf'{sign}"\1"', text)
    text = re.sub(r"(?m)= [\w-]+:(?: |$)(.*)", lambda row: sign + (row[1] or '""'), text).replace("= No", f"{sign}No")
    return re.sub(r"\b(macAddress|interfaceName|up|down)\(\d\)", r"\1", text)


def unprefixed(text: str, path: str = "") -> str:
    return re.sub(r"(?m)^[\w-]+::", path, text)


def bracketed(row: re.Match[str]) -> str:
    return row[1] + "".join(f"[{part}]" for part in re.split(r'\.(?![^"]*"$)', row[2])[1:])


FORMS = {
    "names": lambda text: text,
    "-Os": unprefixed,
    "-OX": lambda text: re.sub(r"(?m)^(\S+::\w+)(\S+)", bracketed, text),
    "-Of": lambda text: unprefixed(text, ".iso.org.dod.internet.mgmt.mib-2.table.entry."),
    "-OQ": lambda text: untyped(text, "= "),
    "-Oq": lambda text: untyped(text, ""),
    "-Oqs": lambda text: unprefixed(untyped(text, "")),
    "below a prompt": lambda text: f"$ snmpwalk -v2c -c public leaf-1 LLDP-MIB::lldpMIB\n{text}",
}
NUMERIC = """\
.1.0.8802.1.1.2.1.1.1.0 = INTEGER: 30
.1.0.8802.1.1.2.1.3.7.1.2.1 = INTEGER: 5
.1.0.8802.1.1.2.1.3.7.1.3.1 = STRING: "swp1"
.1.0.8802.1.1.2.1.4.1.1.4.0.1.1 = INTEGER: 4
.1.0.8802.1.1.2.1.4.1.1.5.0.1.1 = Hex-STRING: 02 00 00 00 00 01 
.1.0.8802.1.1.2.1.4.1.1.6.0.1.1 = INTEGER: 5
.1.0.8802.1.1.2.1.4.1.1.7.0.1.1 = STRING: "12 34"
.1.0.8802.1.1.2.1.4.1.1.8.0.1.1 = STRING: "a \\"b\\""
.1.0.8802.1.1.2.1.4.1.1.9.0.1.1 = STRING: "spine-1"
.1.0.8802.1.1.2.1.4.1.1.10.0.1.1 = STRING: "Linux: one
.1.0.8802.1.1.2.1.4.1.1.9.0.1.1 other
three"
.1.0.8802.1.1.2.1.4.1.1.11.0.1.1 = Hex-STRING: 28 
"""  # noqa: W291 - net-snmp ends octets with a blank
UNQUOTED = """\
.1.0.8802.1.1.2.1.3.7.1.3.1 swp1
.1.0.8802.1.1.2.1.4.1.1.4.0.1.1 4
.1.0.8802.1.1.2.1.4.1.1.5.0.1.1 02 00 00 00 00 01
.1.0.8802.1.1.2.1.4.1.1.6.0.1.1 5
.1.0.8802.1.1.2.1.4.1.1.7.0.1.1 12 34
.1.0.8802.1.1.2.1.4.1.1.8.0.1.1 a "b"
.1.0.8802.1.1.2.1.4.1.1.9.0.1.1 spine-1
.1.0.8802.1.1.2.1.4.1.1.11.0.1.1 28 00
"""


@each("form", FORMS)
@each("name, text, facts", [("lldp_snmp", LLDP, [NEIGHBOR]), ("if_snmp", INTERFACES, LINKS)])
def test_names(form: str, name: str, text: str, facts: list[Fact]) -> None:
    assert list(collectors()[name].read(FORMS[form](text), ANY)) == facts


@pytest.mark.parametrize(
    "text",
    [
        NUMERIC,
        re.sub(r"= Hex-STRING: (.*)", r'= "\1"', NUMERIC).replace("INTEGER: ", "").replace("STRING: ", ""),
        re.sub(r"= Hex-STRING: (.*)", r'"\1"', NUMERIC).replace("= INTEGER: ", "").replace("= STRING: ", ""),
        UNQUOTED,
    ],
    ids=["-On, from the first object of the MIB on", "-OQn", "-Oqn", "-Oqn without quotes"],
)
def test_numbers(text: str) -> None:
    neighbor = Neighbor("swp1", "02:00:00:00:00:01", "mac", "spine-1", "12 34", "ifname", 'a "b"')
    assert list(collectors()["lldp_snmp"].read(text, ANY)) == [neighbor]


def test_a_mib_that_is_not_loaded() -> None:
    text = 'SNMPv2-SMI::mib-2.31.1.1.1.1.2 = STRING: "swp1"\nSNMPv2-SMI::mib-2.31.1.1.1.15.2 = Gauge32: 100000\n'
    assert list(collectors()["if_snmp"].read(text, ANY)) == [NetLink("swp1", speed_gbps=100.0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LLDP[: LLDP.index("lldpRemSysName") + 7], "line 10: half a row: the walk is cut: 'LLDP-MIB::lldpRem'"),
        (LLDP[: LLDP.index("LLDP-MIB::lldpRemSysName")], "lldpRemTable ends in column 8: the walk is cut, or"),
        ('.1.0.8802.1.1.2.1.4.1.1.9.0.1.1 "spine', "a string without its end: the walk is cut"),
        ("IF-MIB::ifDescr\nIF-MIB::ifDescr", "neither ifName nor ifDescr"),
    ],
)
def test_cut(text: str, message: str) -> None:
    with pytest.raises(UnreadableError, match=re.escape(message)):
        list(collectors()["if_snmp" if text.startswith("IF") else "lldp_snmp"].read(text, ANY))
