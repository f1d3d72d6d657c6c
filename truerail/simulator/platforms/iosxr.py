"""Cisco IOS-XR: `show lldp neighbors detail` and `show interfaces`, both text under a line with the time.

Written from answers recorded in ntc-templates and genieparser (cisco_xr, iosxr). Without a configured description the
TLV is absent, and the line of a neighbour without one reads `not advertised`.
"""

from collections.abc import Iterable

from truerail.simulator.fabric.ether import Ether
from truerail.simulator.fabric.lldp_frames import Heard
from truerail.simulator.platforms._platform import VERSION, Link, Platform, prints_neighbors, prints_text
from truerail.simulator.platforms._switches import answered, by_name_alone, cisco_mac, counted, links, sends
from truerail.simulator.traffic.ledger import CounterTable, Counts, Q

_LLDP = "show lldp neighbors detail"
_INTERFACES = "show interfaces"
_CLOCK = "Fri Nov 20 14:00:00.000 UTC\n"
_RULE = "-" * 48
_NONE = "not advertised"
_HEAD = f"""{_CLOCK}Capability codes:
        (R) Router, (B) Bridge, (T) Telephone, (C) DOCSIS Cable Device
        (W) WLAN Access Point, (P) Repeater, (S) Station, (O) Other

"""


def lldp_text(neighbors: Iterable[Heard]) -> str:
    """All neighbours, and their number."""
    blocks = [_block(heard) for heard in neighbors]
    return f"{_HEAD}{''.join(blocks)}\nTotal entries displayed: {len(blocks)}\n"


def _block(heard: Heard) -> str:
    speaker, port = heard.speaker, heard.port
    addresses = "".join(f"  IPv{6 if ':' in address else 4} address: {address}\n" for address in speaker.addresses)
    return f"""{_RULE}
Local Interface: {heard.local}
Parent Interface: - NOT PRESENT -
Chassis id: {cisco_mac(speaker.chassis, speaker.chassis_type)}
Port id: {cisco_mac(port.id, port.id_type)}
Port Description: {port.description or _NONE}
System Name: {speaker.name or _NONE}

System Description:
{speaker.description or _NONE}

Time remaining: {heard.ttl_seconds - heard.age_seconds % max(1, heard.ttl_seconds // 4)} seconds
Hold Time: {heard.ttl_seconds} seconds
System Capabilities: {"B,R" if speaker.router else "S"}
Enabled Capabilities: {"R" if speaker.router else "S"}
Management Addresses:
{addresses or "  not advertised" + chr(10)}
"""


def interfaces_text(ether: Ether, switch: str, sheet: CounterTable | None = None) -> str:
    """The state, the speed and the counters of every port; a port without link keeps its speed."""
    of = counted(sheet)
    return _CLOCK + "\n".join(_interface(link, of(link.name)) for link in links(ether, switch))


def _interface(link: Link, n: Counts) -> str:
    state = "up" if link.up else "administratively down" if link.off else "down"
    described = f"  Description: {link.label}\n" if link.label else ""
    kilobits = round(link.gbps * 1e6)
    return f"""{link.name} is {state}, line protocol is {state}
  Interface state transitions: 1
  Hardware is FourHundredGigE, address is 0200.0000.0001 (bia 0200.0000.0001)
{described}  MTU 9216 bytes, BW {kilobits} Kbit (Max: {kilobits} Kbit)
     reliability 255/255, txload 0/255, rxload 0/255
  Encapsulation ARPA,
  Full-duplex, {round(link.gbps * 1000)}Mb/s, link type is force-up
  output flow control is off, input flow control is off
  loopback not set,
  Last clearing of "show interface" counters never
  30 second input rate 0 bits/sec, 0 packets/sec
  30 second output rate 0 bits/sec, 0 packets/sec
     {n[Q.RX_PACKETS]} packets input, {n[Q.RX_BYTES]} bytes, {n[Q.RX_DISCARDS]} total input drops
     0 drops for unrecognized upper-level protocol
     Received 0 broadcast packets, 0 multicast packets
              0 runts, 0 giants, 0 throttles, 0 parity
     {n[Q.RX_ERRORS]} input errors, 0 CRC, 0 frame, 0 overrun, 0 ignored, 0 abort
     {n[Q.TX_PACKETS]} packets output, {n[Q.TX_BYTES]} bytes, {n[Q.TX_DISCARDS]} total output drops
     Output 0 broadcast packets, 0 multicast packets
     0 output errors, 0 underruns, 0 applique, 0 resets
     0 output buffer failures, 0 output buffers swapped out
     {2 * n[Q.LINK_DOWNS]} carrier transitions
"""


PLATFORM = Platform(
    description="Cisco IOS XR Software, Version 7.9.2 LNT",
    default_name="ios",
    maker="Cisco, 8000 Series",
    management="MgmtEth0/RP0/CPU0/0",
    port_name=lambda number, shape: f"FourHundredGigE0/0/0/{number - 1}",
    frames=sends(by_name_alone),
    answers=answered({_LLDP: prints_neighbors(lldp_text), _INTERFACES: interfaces_text}),
    steady={
        VERSION: prints_text(
            "Cisco IOS XR Software, Version 7.9.2 LNT\nCopyright (c) 2013-2023 by Cisco Systems, Inc.\n"
        )
    },
    fleeting={_LLDP: prints_neighbors(lldp_text)},
    ports={_INTERFACES: interfaces_text},
)
