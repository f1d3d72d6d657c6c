"""What switch answers hold that a recording per format does not show: odd cells, hostile text, wrappers, cuts."""

import json
from typing import Any

import pytest

from collector import collectors
from collector.formats import lldp_words
from truerail.errors import UnreadableError
from truerail.model import Device, Fact, Neighbor, NetLink, Role

SWITCH = Device("leaf-0", Role.LEAF)
EOS_ENTRY = {"chassisId": "b8ce.f600.0100", "neighborInterfaceInfo": {"interfaceId": '"a \\" quote"'}}
NXOS_ROW = {"chassis_id": "spine-1", "l_port_id": "Eth1/33", "hold_time": "120", "port_id": "Ethernet1/1"}
IOS_HEADER = "Device ID           Local Intf     Hold-time  Capability      Port ID\n"
REMOTE = "1.0.8802.1.1.2.1.4.1.1"
LLDP_ROW = f"{REMOTE}.4.0.10.1|2|4\n{REMOTE}.7.0.10.1|4|swp1\n{REMOTE}.12.0.10.1|4|28\n"


def switch(answer: str) -> tuple[Fact, ...]:
    return collectors()["lldp_switch"].read(answer, SWITCH)


def lldp(answer: str) -> tuple[Fact, ...]:
    return collectors()["lldp_snmp"].read(answer, SWITCH)


def interfaces(answer: str) -> tuple[Fact, ...]:
    return collectors()["if_snmp"].read(answer, SWITCH)


def ports(facts: tuple[Fact, ...]) -> list[tuple[str, str | None, str | None]]:
    return [(fact.port, fact.system_name, fact.port_id) for fact in facts if isinstance(fact, Neighbor)]


# Words


@pytest.mark.parametrize("word", ["", " ", "-", "--", "N/A", "null", "Not Advertised", "not advertised", None])
def test_the_ways_to_say_nothing(word: str | None) -> None:
    assert lldp_words.advertised(word) is None


@pytest.mark.parametrize(
    ("value", "words", "expected"),
    [
        ("b8ce.f600.0101", None, ("b8:ce:f6:00:01:01", "mac")),
        ("B8-CE-F6-00-01-01", "MAC address (4)", ("b8:ce:f6:00:01:01", "mac")),
        ("b8ce-f600-0101", "", ("b8:ce:f6:00:01:01", "mac")),
        ("b8cef6000101", None, ("b8cef6000101", None)),
        ("b8cef6000101", "macAddress", ("b8:ce:f6:00:01:01", "mac")),
        ("b8:ce:f6:00:01:01", "local", ("b8:ce:f6:00:01:01", "local")),
        ("2:0:0:0:0:3", "Mac address", ("02:00:00:00:00:03", "mac")),
        ("00c.297b.d2a8", "macAddress", ("00:0c:29:7b:d2:a8", "mac")),
        ("not a mac", "macAddress", ("not a mac", "mac")),
        ("b8:ce f6:00:01:0", "macAddress", ("b8:ce f6:00:01:0", "mac")),
        ("Ethernet1/1", "reserved (0)", ("Ethernet1/1", None)),
        (517, "Locally assigned", ("517", "local")),
    ],
)
def test_ids_and_their_types(value: Any, words: str | None, expected: tuple[str, str | None]) -> None:
    assert lldp_words.identified(value, words) == expected


def test_only_ip_addresses_are_management_addresses() -> None:
    given = (
        "10.0.0.1",
        "fe80::1",
        "2001:db8:0:0:0:0:0:1",
        "b8ce.f600.0100",
        "b8:ce:f6:00:01:00",
        "10.0.0.1",
        None,
        ":" * 60,
    )
    assert lldp_words.addresses(*given) == ("10.0.0.1", "fe80::1", "2001:db8:0:0:0:0:0:1")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (120, 120),
        ("98", 98),
        ("120 seconds", 120),
        ("0:01:11 ago", 71),
        ("2 days, 0:00:05", 172805),
        ("9" * 40, None),
        ("soon", None),
    ],
)
def test_seconds(value: Any, expected: int | None) -> None:
    assert lldp_words.seconds(value) == expected


# JSON


def test_eos_in_what_eapi_wraps_around_it_and_with_a_quote_in_a_port_id() -> None:
    wrapped = {
        "jsonrpc": "2.0",
        "id": "1",
        "result": [{"lldpNeighbors": {"Ethernet1": {"lldpNeighborInfo": [EOS_ENTRY]}}}],
    }
    assert ports(switch(json.dumps(wrapped))) == [("Ethernet1", None, 'a " quote')]


def test_nxos_in_what_nxapi_wraps_around_it() -> None:
    wrapped = {"ins_api": {"outputs": {"output": {"body": {"TABLE_nbor": [{"ROW_nbor": NXOS_ROW}]}, "code": "200"}}}}
    assert ports(switch(json.dumps(wrapped))) == [("Eth1/33", "spine-1", "Ethernet1/1")]


def test_nxos_neighbour_without_a_system_name_is_not_named_for_its_chassis() -> None:
    row = {**NXOS_ROW, "chassis_id": "a-serial", "sys_name": "not advertised"}
    assert ports(switch(json.dumps({"TABLE_nbor_detail": {"ROW_nbor_detail": row}}))) == [
        ("Eth1/33", None, "Ethernet1/1")
    ]


def test_nxos_without_neighbours() -> None:
    assert switch('{"neigh_hdr": "neigh_hdr", "neigh_count": "0"}') == ()


def test_lldpd_json_below_a_prompt_that_hides_its_beginning() -> None:
    assert switch('leaf-0# net show lldp json\n{"lldp": {}}\n') == ()


def test_nvue_interface_that_carries_neighbours_directly() -> None:
    answer = {"swp16": {"neighbor": {"gw": {"port": {"name": "60:22:32:00:00:46"}}}}, "swp17": {"neighbor": None}}
    assert ports(switch(json.dumps(answer))) == [("swp16", "gw", "60:22:32:00:00:46")]


@pytest.mark.parametrize(
    "answer",
    [
        "{}",
        "[]",
        '{"swp1": 1}',
        '"text"',
        '{"errors": ["no"]}',
        '{"lldpNeighbors": {"Ethernet1": {}}}',
        '{"lldpNeighbors": [{"port": "", "neighborDevice": "x", "neighborPort": "y"}]}',
        '{"lldpNeighbors": 7}',
        '{"lldpNeighbors": [{"port": "Ethernet1", "neighborDevice": {}, "neighborPort": "y"}]}',
        '{"lldp-neighbors-information": [{"lldp-neighbor-information": [{}]}]}',
        '{"lldp-neighbors-information": [{"lldp-neighbor-information": [{"lldp-local-port-id": []}]}]}',
        "{master:0}\nadmin@leaf-0>\n",
    ],
)
def test_json_that_is_no_list_of_neighbours(answer: str) -> None:
    with pytest.raises(UnreadableError):
        switch(answer)


def test_junos_leaves_that_are_plain_text() -> None:
    answer = {"lldp-neighbors-information": [{"lldp-neighbor-information": [{"lldp-local-port-id": ["et-0/0/1"]}]}]}
    assert ports(switch(json.dumps(answer))) == [("et-0/0/1", None, None)]


# XML


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "not an answer"),
        ('<rpc-reply><!DOCTYPE a [<!ENTITY b "c">]>&b;</rpc-reply>', "document type"),
        ("<rpc-reply><cli/></rpc-reply>", "XML without"),
        ("<lldp-neighbors-information>", "not whole XML"),
    ],
)
def test_xml_that_is_refused(answer: str, why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        switch(answer)


def test_junos_xml_without_neighbours_below_a_comment_and_above_a_prompt() -> None:
    assert switch("<!-- r1 -->\n<lldp-neighbors-information>\n</lldp-neighbors-information>\n\nadmin@leaf-0> \n") == ()


# Tables


def test_sonic_cell_that_holds_a_blank_and_one_that_overflows() -> None:
    answer = """LocalPort    RemoteDevice    RemotePortID    Capability    RemotePortDescr
-----------  --------------  --------------  ------------  -----------------
Ethernet0    gpu 1           b8:ce:f6:00:01:01  O          enp26s0f0np0
Ethernet4    gpu-002         Te 0/1             O
Total entries displayed:  2
"""
    assert ports(switch(answer)) == [("Ethernet0", "gpu 1", "b8:ce:f6:00:01:01"), ("Ethernet4", "gpu-002", "Te 0/1")]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ("gpu-001             Te1/0/1        soon       S               b8ce.f600.0101\n", "does not fit"),
        ("gpu-001             Te1/0/1        120        S               b8ce.f600.0101", "no total"),
        ("gpu-001             Te1/0/1        120        S               ens1\nTotal entries displayed: 2\n", "1 of 2"),
        (
            "gpu-001             Te1/0/1        120        S               ens1\ngpu-002             Te1/0/2\n",
            "line 3: a row that does not fit",
        ),
        ("gpu-001-with-a-name-that-is-too-long\n   Te1\n", "line 3: a row that does not fit"),
        ("gpu-001-with-a-name-that-is-too-long\n", "last row is cut"),
        ("                                   120\n", "without a local port"),
    ],
)
def test_tables_that_are_cut_or_mangled(rows: str, why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        switch(IOS_HEADER + rows)


@pytest.mark.parametrize(
    "rows", ["Ma1\n", "Et1           spine-1                  Ethernet1           120\nMa1           nobody\n"]
)
def test_a_table_whose_rows_end_without_a_time_to_live_is_cut(rows: str) -> None:
    header = "Port          Neighbor Device ID       Neighbor Port ID    TTL\n"
    with pytest.raises(UnreadableError, match="a row that does not fit"):
        switch(header + rows)


def test_a_port_first_row_that_ends_after_its_port_is_cut() -> None:
    header = "Interface  Speed  Type  Remote Host  Remote Port\n---------  -----  ----  -----------  -----------\n"
    row = "swp1       400G   swp   gpu-001      eth1\n"
    with pytest.raises(UnreadableError, match="last row is cut"):
        switch(f"{header}{row}swp2\n")
    assert ports(switch(f"{header}swp2       400G   swp\n{row}")) == [("swp1", "gpu-001", "eth1")]


TABLES = {
    "EOS of old, without a ruler": (
        """Number of table age-outs : 0

Port       Neighbor Device ID               Neighbor Port ID           TTL
Et1        spine-1                          Ethernet1/1                120
Et2        a-spine-whose-name-is-longer-than-its-column Ethernet1/1    120
""",
        [("Et1", "spine-1", "Ethernet1/1"), ("Et2", "a-spine-whose-name-is-longer-than-its-column", "Ethernet1/1")],
    ),
    "AOS-CX": (
        """Total Neighbor Entries          : 2
Total Neighbor Entries Deleted  : 0

LOCAL-PORT  CHASSIS-ID         PORT-ID                      PORT-DESC                    TTL      SYS-NAME
-------------------------------------------------------------------------------------------------------------
1/1/1       b8:ce:f6:00:01:00  b8:ce:f6:00:01:01            enp26s0f0np0                 120      gpu-001
1/1/33      1c:34:da:00:00:01  1/1/1                        to leaf-0                    120
""",
        [("1/1/1", "gpu-001", "b8:ce:f6:00:01:01"), ("1/1/33", None, "1/1/1")],
    ),
    "NCLU": (
        """LocalPort  Speed  Mode           RemoteHost          RemotePort
---------  -----  -------------  ------------------  -----------------
eth0       1G     Mgmt           mgmt-1              swp2
swp1       400G   Interface/L3   gpu-001             b8:ce:f6:00:01:01
""",
        [("eth0", "mgmt-1", "swp2"), ("swp1", "gpu-001", "b8:ce:f6:00:01:01")],
    ),
    "Dell OS9": (
        """ Loc PortID  Rem Host Name         Rem Port Id                        Rem Chassis Id
 -------------------------------------------------------------------------------------
 Te 0/2      -                     00:00:c9:bb:15:9b                  00:00:c9:bb:15:9b
 Fo 0/60     spine-1               fortyGigE 0/4                      00:01:e8:8b:15:9b
""",
        [("Te 0/2", None, "00:00:c9:bb:15:9b"), ("Fo 0/60", "spine-1", "fortyGigE 0/4")],
    ),
    "Comware 7": (
        """Chassis ID : * -- -- Nearest nontpmr bridge neighbor
             # -- -- Nearest customer bridge neighbor
             Default -- -- Nearest bridge neighbor
Local Interface Chassis ID      Port ID                    System Name
FGE1/0/49       1c34-da00-0001  FourHundredGigE1/0/33      spine-1.cluster.l
                                                           ocal
FGE1/0/50       1c34-da00-0002  FourHundredGigE1/0/33      spine-2
""",
        [
            ("FGE1/0/49", "spine-1.cluster.local", "FourHundredGigE1/0/33"),
            ("FGE1/0/50", "spine-2", "FourHundredGigE1/0/33"),
        ],
    ),
    "a ruler with a run for what two words label": (
        """Interface  Link Mode  Remote Host  Remote Port
---------  ---------  -----------  -----------
swp1       Default    spine-1      swp3
swp2                  gpu 7        swp4
""",
        [("swp1", "spine-1", "swp3"), ("swp2", "gpu 7", "swp4")],
    ),
    "IOS XR": (
        """RP/0/RP0/CPU0:leaf-0#show lldp neighbors
Device ID       Local Intf                      Hold-time  Capability      Port ID
spine-1.cluster HundredGigE0/0/0/0    120        R               Hu0/0/0/1
spine-2         HundredGigE0/0/0/1              120        R               Hu0/0/0/1

Total entries displayed: 2
""",
        [("HundredGigE0/0/0/0", "spine-1.cluster", "Hu0/0/0/1"), ("HundredGigE0/0/0/1", "spine-2", "Hu0/0/0/1")],
    ),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables_of_other_systems(kind: str) -> None:
    answer, expected = TABLES[kind]
    assert ports(switch(answer)) == expected
    assert ports(switch(answer.replace("\n", "\r\n"))) == expected


def test_a_ruler_that_is_shorter_than_its_header_is_cut() -> None:
    with pytest.raises(UnreadableError, match="ruler"):
        switch("Interface  Speed  Type  Remote Host  Remote Port\n---------  -----  ----\n")


def test_a_header_alone_is_cut_and_one_with_its_total_a_list_without_neighbours() -> None:
    with pytest.raises(UnreadableError, match="no total below the table"):
        switch(IOS_HEADER)
    assert switch(IOS_HEADER.rstrip("\n") + "\nTotal entries displayed: 0") == ()


# Blocks


def test_two_neighbours_on_one_port_where_the_port_comes_first() -> None:
    answer = """Port                           : 1/1/1
Neighbor Chassis-ID            : b8:ce:f6:00:01:00
Neighbor Port-ID               : b8:ce:f6:00:01:01
Neighbor System-Name           : gpu-001
Neighbor Chassis-ID            : b8:ce:f6:00:02:00
Neighbor Port-ID               : b8:ce:f6:00:02:01
"""
    assert ports(switch(answer)) == [("1/1/1", "gpu-001", "b8:ce:f6:00:01:01"), ("1/1/1", None, "b8:ce:f6:00:02:01")]


def test_an_ios_block_with_a_blank_line_and_indented_addresses() -> None:
    answer = """------------------------------------------------
Local Intf: Te1/0/1
Chassis id: b8ce.f600.0100
Port id: b8ce.f600.0101
Port Description: enp26s0f0np0
System Name: gpu-001

System Description:
Ubuntu 22.04.4 LTS: the long term one, whose line of prose runs on until no one takes it for a key any more: no
   Port id: not this one

Time remaining: 110 seconds
Management Addresses:
    IP: 10.0.1.1
    IPV6: fe80::1

Total entries displayed: 1
"""
    (fact,) = switch(answer)
    assert fact == Neighbor(
        "Te1/0/1",
        "b8:ce:f6:00:01:00",
        "mac",
        "gpu-001",
        "b8:ce:f6:00:01:01",
        "mac",
        "enp26s0f0np0",
        management_addresses=("10.0.1.1", "fe80::1"),
    )


def test_ios_xr_blocks_with_a_hold_time() -> None:
    answer = """------------------------------------------------
Local Interface: HundredGigE0/0/0/0
Chassis id: 1c34.da00.0001
Port id: Hu0/0/0/1
Port Description: to leaf-0
System Name: spine-1
Time remaining: 117 seconds
Hold Time: 120 seconds
Management Addresses:
  IPv4 address: 10.0.3.1

------------------------------------------------
Local Interface: HundredGigE0/0/0/1
Chassis id: 1c34.da00.0002
Port id: Hu0/0/0/1
System Name: spine-2
Hold Time: 120 seconds

Total entries displayed: 2
"""
    first, second = switch(answer)
    assert first == Neighbor(
        "HundredGigE0/0/0/0",
        "1c:34:da:00:00:01",
        "mac",
        "spine-1",
        "Hu0/0/0/1",
        None,
        "to leaf-0",
        120,
        management_addresses=("10.0.3.1",),
    )
    assert ports((second,)) == [("HundredGigE0/0/0/1", "spine-2", "Hu0/0/0/1")]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("Chassis id: spine-1\nPort id: Eth1/1\n", "without a local port"),
        ("Local Intf: Te1/0/1\nSystem Name: gpu-001\nPort id:\n", "without chassis id and port id"),
        ("Local Intf: Te1/0/1\nChassis id:\nSystem Name: gpu-001\nTotal entries displayed: 2\n", "1 of 2"),
        (" Port id : 7\n", "without a local port"),
        ("TTL: 120\n  Port id: of something else\n", "neither a neighbour nor a total"),
        ("Port id\nChassis id:\n", "without a local port"),
        ("         Chassis ID : deep\nSystem name : x\nLocal Interface: y\n", "without a local port"),
    ],
)
def test_blocks_that_are_cut_or_mangled(answer: str, why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        switch(answer)


def test_blocks_that_tell_of_nobody() -> None:
    assert switch("TTL: 120\n  Port id: of something else\nTotal entries displayed: 0\n") == ()


def test_a_neighbour_that_tells_its_name_alone_is_half_a_neighbour() -> None:
    whole = "Local Intf: Te1/0/1\nChassis id: a\nPort id: b\n" + "-" * 20 + "\n"
    half = "Local Intf: Te1/0/2\nSystem Name: gpu-001\n"
    with pytest.raises(UnreadableError, match="without chassis id: cut, or indentation lost"):
        switch(whole + half)
    with pytest.raises(UnreadableError, match="without chassis id and port id"):
        switch(whole.replace("Chassis id: a\n", "") + half)


def test_blocks_that_end_in_half_a_key() -> None:
    with pytest.raises(UnreadableError, match="cut"):
        switch("Local Intf: Te1/0/1\nChassis id: a\nPort id: b\nTime remaining: 1\n" + "-" * 20 + "\nLocal In")


def test_eos_text_that_ends_in_half_a_heading() -> None:
    with pytest.raises(UnreadableError, match="cut"):
        switch("Interface Ethernet1 detected 0 LLDP neighbors:\n\nInterface Ethernet2 dete")


def test_eos_text_whose_last_neighbour_is_cut() -> None:
    answer = "Interface Ethernet1 detected 1 LLDP neighbors:\n\n  Neighbor a/b, age 1 seconds\n  - Chassis ID type: Loc"
    with pytest.raises(UnreadableError, match="neighbour of Ethernet1 without"):
        switch(answer)


def test_hostile_names_are_read_as_they_are() -> None:
    name = "\x1b[2J<script>=1+1\u202e,\x85 x" + "n" * 511  # the longest that LLDP carries (802.1AB, 9 bits of length)
    entry = {**EOS_ENTRY, "systemName": name}
    (fact,) = switch(json.dumps({"lldpNeighbors": {"Ethernet1": {"lldpNeighborInfo": [entry]}}}))
    assert isinstance(fact, Neighbor)
    assert fact.system_name == name


@pytest.mark.parametrize("answer", ["nonsense", "Total entries displayed: 3\n", "show lldp neighbors\n"])
def test_text_that_is_no_list_of_neighbours(answer: str) -> None:
    with pytest.raises(UnreadableError, match="not an answer"):
        switch(answer)


# SNMP


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (f"{REMOTE}.4.0.10.1|2|4\n{REMOTE}.5.0.10.1|4|x\n", "ends in column 5"),
        (f"{REMOTE}.7.0.10.1|4|swp1\n{REMOTE}.8.0.10.1|4|x\n", "ends in column 8"),
        (f"{REMOTE}.4.0.10.1|2|4\n{REMOTE}.7.0.10.1|4|swp1\n{REMOTE}.9.0.10.1|4|spi", "ends in column 7"),
        (f"{REMOTE}.4.0.10.1|2|4\n{REMOTE}.7.0\n", "not oid"),
        (f'.{REMOTE}.9.0.10.1 = STRING: "half', "string without its end"),
        (f".{REMOTE}.9.0.10.1 = Hex-STRING: 1C 3G\n", "not a hex string"),
        (f"{REMOTE}.9.0.10.1|4x|1C3\n", "not a hex string"),
        (f'.{REMOTE}.9.0.10.1 = STRING: "a"\nError in packet\n', "walk failed"),
        (f'.{REMOTE}.9.0.10.1 = STRING: "a"\n.1.0.88', "half a row"),
        ("no walk at all\n", "no row of LLDP-MIB"),
    ],
)
def test_walks_that_are_cut_or_mangled(answer: str, why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        lldp(answer)


def test_walk_of_the_remote_table_up_to_its_names() -> None:
    assert ports(lldp(f"{REMOTE}.4.0.10.1|2|4\n{REMOTE}.7.0.10.1|4|swp1\n{REMOTE}.9.0.10.1|4|spine-1\n")) == [
        ("10", "spine-1", "swp1")
    ]


@pytest.mark.parametrize(
    ("local", "name"),
    [
        ("1.0.8802.1.1.2.1.3.7.1.3.10|4|Ethernet1\n", "Ethernet1"),
        ("1.0.8802.1.1.2.1.3.7.1.3.10|4|10\n1.0.8802.1.1.2.1.3.7.1.4.10|4|port ten\n", "port ten"),
        ("1.0.8802.1.1.2.1.3.7.1.3.10|4|10\n", "10"),
        ("1.0.8802.1.1.2.1.3.7.1.2.10|2|3\n1.0.8802.1.1.2.1.3.7.1.3.10|4x|1C34DA000701\n", "1c:34:da:00:07:01"),
        ("1.3.6.1.2.1.2.2.1.2.10|4|swp9\n", "swp9"),
        (
            """1.0.8802.1.1.2.1.3.7.1.2.10|2|3
1.0.8802.1.1.2.1.3.7.1.3.10|4x|1C34DA000701
1.3.6.1.2.1.2.2.1.2.10|4|swp9
1.3.6.1.2.1.2.2.1.6.10|4x|1C34DA000701
1.3.6.1.2.1.2.2.1.2.11|4|swp10
1.3.6.1.2.1.2.2.1.6.11|4x|1C34DA000701
""",
            "swp9",
        ),
    ],
)
def test_names_of_local_ports(local: str, name: str) -> None:
    assert ports(lldp(local + LLDP_ROW)) == [(name, None, "swp1")]


def test_walk_below_its_command_with_odd_types_and_a_string_without_quotes() -> None:
    answer = f"""$ snmpwalk -v2c -c x -On leaf-0 1.0.8802
iso{REMOTE[1:]}.4.0.10.1 = INTEGER: 7
iso{REMOTE[1:]}.5.0.10.1 = ""
iso{REMOTE[1:]}.7.0.10.1 = Wrong Type (should be OCTET STRING): STRING: "etp1"
iso{REMOTE[1:]}.9.0.10.1 = STRING: spine
 one
iso{REMOTE[1:]}.11.0.10.1 = BITS: 80 00
iso{REMOTE[1:]}.12.0.10.1 = No Such Instance currently exists at this OID
iso.3.6.1.2.1.1.5.0 = STRING: "leaf-0"
stray
"""
    (fact,) = lldp(answer)
    assert fact == Neighbor("10", system_name="spine\n one", port_id="etp1")


def test_addresses_in_the_index_that_do_not_add_up_are_left_out() -> None:
    managed = "".join(
        f"1.0.8802.1.1.2.1.4.2.1.3.{index}|2|2\n" for index in ("0.10.1", "0.10.1.1.4.10.0.0", "0.10.1.1.4.10.0.0.7")
    )
    (fact,) = lldp(LLDP_ROW + managed)
    assert isinstance(fact, Neighbor)
    assert fact.management_addresses == ("10.0.0.7",)


def test_interface_without_any_name_is_left_out() -> None:
    facts = interfaces(
        "1.3.6.1.2.1.31.1.1.1.1.1|4|\n1.3.6.1.2.1.31.1.1.1.1.2|4x|6574683000\n1.3.6.1.2.1.2.2.1.5.2|66|2500000000\n"
    )
    assert facts == (NetLink("eth0", speed_gbps=2.5),)


@pytest.mark.parametrize("shape", ["lldpd", "eos"])
def test_a_description_that_names_an_openconfig_path_changes_nobodys_format(shape: str) -> None:
    path = "see openconfig lldp/interfaces/interface"
    of = {"id": {"type": "ifname", "value": "eth0"}, "descr": path, "ttl": "120"}
    lldpd = {"rid": "1", "chassis": {"gpu-1": {"id": {"type": "mac", "value": "00:00:5e:00:53:01"}}}, "port": of}
    heard = {
        "chassisId": "0000.5e00.5301",
        "chassisIdType": "macAddress",
        "systemName": "gpu-1",
        "neighborInterfaceInfo": {
            "interfaceId": '"eth0"', "interfaceIdType": "interfaceName", "interfaceDescription": path
        },
    }  # fmt: skip
    answers = {
        "lldpd": {"lldp": {"interface": {"swp1": lldpd}}},
        "eos": {"lldpNeighbors": {"Ethernet1/1": {"lldpNeighborInfo": [heard]}}},
    }
    facts = collectors()["lldp_switch"].read(json.dumps(answers[shape]), Device("leaf-1", Role.LEAF))
    assert [(fact.system_name, fact.port_description) for fact in facts if isinstance(fact, Neighbor)] == [
        ("gpu-1", path)
    ]
