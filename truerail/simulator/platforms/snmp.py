"""A whole numeric walk as `snmpbulkwalk -On` prints it: LLDP-MIB (IEEE 802.1AB), ifTable and ifXTable (RFC 2863), and
the pause frames of CISCO-PFC-EXT-MIB.
"""

from collections.abc import Iterator, Mapping, Sequence

from truerail.model import Port
from truerail.simulator.fabric.ether import Ether
from truerail.simulator.fabric.lldp_frames import Heard
from truerail.simulator.platforms._platform import Platform
from truerail.simulator.platforms._switches import by_name, sends
from truerail.simulator.platforms.cumulus import DESCRIPTION
from truerail.simulator.traffic.ledger import CounterTable, Key, Q

WALK = "snmpbulkwalk -On 1"
_LOCAL = ".1.0.8802.1.1.2.1.3.7.1"
_REMOTE = ".1.0.8802.1.1.2.1.4.1.1"
_IF = ".1.3.6.1.2.1.2.2.1"
_IF_X = ".1.3.6.1.2.1.31.1.1.1"
_SUBTYPES = {"mac": 3, "ifname": 5, "local": 7}
_BRIDGE_ROUTER, _STATION = "28 00", "01 00"
_PAUSES = ".1.3.6.1.4.1.9.9.813.1.2.1"
_MTU = 9216
_PRIORITY = 3
_NARROW = {13: (Q.RX_DISCARDS, False), 14: (Q.RX_ERRORS, False), 19: (Q.TX_DISCARDS, False)}
"""Columns of ifTable, 32 bits wide; those of the others have 64."""
_WIDE = {6: (Q.RX_BYTES, False), 7: (Q.RX_PACKETS, False), 10: (Q.TX_BYTES, False), 11: (Q.TX_PACKETS, False)}
_FRAMES = {2: (Q.TX_PAUSE_FRAMES, True), 3: (Q.RX_PAUSE_FRAMES, True)}
_MASK = (1 << 64) - 1


def walk(ether: Ether, switch: str, heard: Sequence[Heard], counted: CounterTable | None = None) -> str:
    """The walk of one switch. The local port number of LLDP-MIB is the interface index, as in lldpd and SONiC.

    Without `counted`, the switch has had no traffic yet.
    """
    world = ether.world
    ports = world.fabric.ports[switch].items()
    jacks = [(world.port_index(switch, number), Port(switch, name)) for name, number in ports]
    interfaces = _interfaces(ether, jacks, counted)
    pauses = _counters(counted, jacks, f"{_PAUSES}.{{}}.{{}}.{_PRIORITY} = Counter64: {{}}", _FRAMES)
    rows = [*_local(ether, switch, jacks), *_remote(ether, switch, heard), *interfaces, *pauses]
    return "".join(f"{row}\n" for row in rows)


def _hex(octets: str) -> str:
    return f"Hex-STRING: {octets.replace(':', ' ').upper()} "


def _local_number(ether: Ether, switch: str, number: int) -> int:
    """The local port number of LLDP-MIB: on some agents no interface index (VOSS counts in fours)."""
    if ether.world.behaviours.hits("snmp_text_mac", switch):
        return 192 + 4 * number
    return ether.world.port_index(switch, number)


def _local(ether: Ether, switch: str, jacks: list[tuple[int, Port]]) -> Iterator[str]:
    ports = [(_local_number(ether, switch, number), jack) for number, (_, jack) in enumerate(jacks, 1)]
    yield from (f"{_LOCAL}.2.{index} = INTEGER: 5" for index, _ in ports)
    yield from (f'{_LOCAL}.3.{index} = STRING: "{jack.name}"' for index, jack in ports)
    yield from (f'{_LOCAL}.4.{index} = STRING: "{ether.label(jack) or jack.name}"' for index, jack in ports)


def _remote(ether: Ether, switch: str, heard: Sequence[Heard]) -> Iterator[str]:
    """lldpRemTable, column by column; its index is TimeMark (centiseconds), LocalPortNum, RemIndex."""
    behaviours = ether.world.behaviours
    as_text = behaviours.hits("snmp_text_mac", switch)
    marks = [134 if as_text else 8640000 + 100 * (ether.elapsed_seconds - one.age_seconds) for one in heard]
    rows = [
        (mark, _local_number(ether, switch, one.number), number, _columns(one, as_text=as_text))
        for number, (mark, one) in enumerate(zip(marks, heard, strict=True), 1)
    ]
    rows.sort(key=lambda row: row[:3])
    left_out = {4, 5} if behaviours.hits("snmp_no_chassis", switch) else set()
    for column in range(4, 13):
        if column not in left_out:
            for mark, port, number, columns in rows:
                yield f"{_REMOTE}.{column}.{mark}.{port}.{number} = {columns[column - 4]}"


def _columns(one: Heard, *, as_text: bool) -> tuple[str, ...]:
    """Columns 4 to 12: chassis and port with their subtypes, description, system, its description and capabilities.

    `as_text` prints MACs as text, as Dell's agent does (dell-sonic.snmprec).
    """
    port, speaker = one.port, one.speaker
    capability = _hex(_BRIDGE_ROUTER if speaker.router else _STATION)
    text_ids = {"chassis": as_text or speaker.chassis_type != "mac", "port": as_text or port.id_type != "mac"}
    return (
        "INTEGER: 4" if speaker.chassis_type == "mac" else "INTEGER: 7",
        f'STRING: "{speaker.chassis}"' if text_ids["chassis"] else _hex(speaker.chassis),
        f"INTEGER: {_SUBTYPES[port.id_type]}",
        f'STRING: "{port.id}"' if text_ids["port"] else _hex(port.id),
        f'STRING: "{port.description}"',
        f'STRING: "{speaker.name}"',
        f'STRING: "{speaker.description}"',
        capability,
        capability,
    )


def _counters(
    counted: CounterTable | None,
    jacks: list[tuple[int, Port]],
    form: str,
    columns: Mapping[int, Key],
    mask: int = _MASK,
) -> Iterator[str]:
    """Columns of counters, each with what it counts: 32 bits in ifTable, 64 in the others. `form` takes the column, the
    index and the value.
    """
    for column, (quantity, rdma) in columns.items():
        values = counted.of(quantity, rdma=rdma) if counted else [0] * len(jacks)
        for (index, _), value in zip(jacks, values, strict=True):
            yield form.format(column, index, value & mask)


def _interfaces(ether: Ether, jacks: list[tuple[int, Port]], counted: CounterTable | None) -> Iterator[str]:
    world = ether.world
    up = {index: world.carrier(jack) for index, jack in jacks}
    nominal = world.behaviours.value("down_speed") == "nominal"
    yield from (f'{_IF}.2.{index} = STRING: "{jack.name}"' for index, jack in jacks)
    yield from (f"{_IF}.4.{index} = INTEGER: {_MTU}" for index, _ in jacks)
    yield from (f"{_IF}.6.{index} = {_hex(world.switch_mac(jack.device, ether.number(jack)))}" for index, jack in jacks)
    yield from (f"{_IF}.7.{index} = INTEGER: {2 if jack in world.switched_off else 1}" for index, jack in jacks)
    yield from (f"{_IF}.8.{index} = INTEGER: {1 if up[index] else 2}" for index, _ in jacks)
    yield from _counters(counted, jacks, _IF + ".{}.{} = Counter32: {}", _NARROW, 0xFFFFFFFF)
    yield from (f'{_IF_X}.1.{index} = STRING: "{jack.name}"' for index, jack in jacks)
    yield from _counters(counted, jacks, _IF_X + ".{}.{} = Counter64: {}", _WIDE)
    yield from (
        f"{_IF_X}.15.{index} = Gauge32: {round(world.speed_gbps(jack) * 1000) if up[index] or nominal else 0}"
        for index, jack in jacks
    )
    yield from (f'{_IF_X}.18.{index} = STRING: "{ether.label(jack)}"' for index, jack in jacks)


def _answers(ether: Ether, switch: str) -> dict[str, str]:
    return {WALK: walk(ether, switch, ether.neighbors(switch))}


PLATFORM = Platform(description=DESCRIPTION, runs_lldpd=True, frames=sends(by_name), answers=_answers)
