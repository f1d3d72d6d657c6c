"""NVIDIA Cumulus Linux: lldpd and NVUE (`nv show interface lldp -o json`: neighbours by interface and by system name),
`ethtool -S` of its ports in a loop, and NVUE's counters.
"""

from collections.abc import Iterable
from json import dumps
from typing import Any

from truerail.model import Port
from truerail.simulator.fabric.ether import Ether
from truerail.simulator.fabric.lldp_frames import Heard
from truerail.simulator.platforms._platform import Platform, prints_text
from truerail.simulator.platforms._switches import as_pasted, by_name, is_asked_otherwise, sends
from truerail.simulator.platforms.linux import cable_modules, ethtool_counters, ip_link, lldpctl, sysfs_files
from truerail.simulator.platforms.linux.switch import OS_RELEASE, interfaces, speeds
from truerail.simulator.traffic.ledger import Columns, CounterTable, Q

DESCRIPTION = "Cumulus Linux version 5.9.1 running on Mellanox Technologies Ltd. MSN4700"
_NVUE_LLDP = "nv show interface lldp -o json"
_PORT_COUNTERS = (
    "type ethtool >&2 || exit 127; cd /sys/class/net; for n in *; do [ -e $n/device ] || case $n in swp*) ;; *) "
    'continue;; esac; echo "# ethtool -S $n"; ethtool -S $n; echo carrier_down_count: $(cat $n/*down_count); done; :'
)
_HW: Columns = {
    "HwIfInOctets": Q.RX_BYTES,
    "HwIfInUcastPkts": Q.RX_PACKETS,
    "HwIfOutOctets": Q.TX_BYTES,
    "HwIfOutUcastPkts": Q.TX_PACKETS,
    "HwIfInDiscards": Q.RX_DISCARDS,
    "HwIfInErrors": Q.RX_ERRORS,
    "HwIfOutDiscards": Q.TX_DISCARDS,
    "HwIfInPfc{}Pkt": (Q.RX_PAUSE_FRAMES, True),
    "HwIfOutPfc{}Pkt": (Q.TX_PAUSE_FRAMES, True),
}
_CHANGES = "carrier-transitions"
_NVUE: Columns = {
    _CHANGES: Q.LINK_DOWNS,
    "in-bytes": Q.RX_BYTES,
    "in-drops": Q.RX_DISCARDS,
    "in-errors": Q.RX_ERRORS,
    "in-pkts": Q.RX_PACKETS,
    "out-bytes": Q.TX_BYTES,
    "out-drops": Q.TX_DISCARDS,
    "out-pkts": Q.TX_PACKETS,
}


def answers(ether: Ether, switch: str) -> dict[str, str]:
    """Command to answer."""
    world, heard = ether.world, ether.neighbors(switch)
    by_nvue = is_asked_otherwise(world, switch)
    found = {
        **({_NVUE_LLDP: lldp_json(heard)} if by_nvue else {"lldpctl -f json0": lldpctl.json0(heard)}),
        "ip -j -d link": ip_link.link(interfaces(ether, switch)),
        sysfs_files.SPEEDS: speeds(ether, switch),
    }
    if world.serials or world.behaviours.hits("dac_serial", switch):
        jacks = (Port(switch, name) for name in world.fabric.ports[switch])
        found[cable_modules.ON_SWITCH] = cable_modules.memory(world, ((jack.name, jack) for jack in jacks))
    return as_pasted(ether, switch, found)


def lldp_json(neighbors: Iterable[Heard]) -> str:
    """The answer. The object has one entry per name: of two NICs of one host on a port it shows the newer."""
    found: dict[str, Any] = {}
    for heard in neighbors:
        lldp = found.setdefault(heard.local, {"lldp": {"neighbor": {}}})["lldp"]
        lldp["neighbor"].setdefault(heard.speaker.name or heard.speaker.chassis, _neighbor(heard))
    return dumps(found, indent=2) + "\n"


def _neighbor(heard: Heard) -> dict[str, Any]:
    speaker, port = heard.speaker, heard.port
    return {
        "age": str(heard.age_seconds),
        "chassis": {
            "capability": {"is-bridge": False, "is-router": speaker.router},
            "chassis-id": speaker.chassis,
            **({"management-address-ipv4": speaker.address} if speaker.address else {}),
            **({"system-description": speaker.description} if speaker.description else {}),
            **({"system-name": speaker.name} if speaker.name else {}),
        },
        "port": {
            **({"description": port.description} if port.description else {}),
            "name": port.id,
            "ttl": heard.ttl_seconds,
            "type": port.id_type,
        },
    }


def port_counters(sheet: CounterTable) -> str:
    """`ethtool -S` of every port."""
    return ethtool_counters.ethtool(sheet, _HW)


def interface_json(sheet: CounterTable) -> str:
    """`nv show interface -o json`: the link's counters of every port."""
    rows = sheet.rows(_NVUE)
    ports = {port: row | {_CHANGES: 2 * row[_CHANGES]} for port, row in rows}
    return dumps({port: {"link": {"stats": row}, "type": "swp"} for port, row in ports.items()}, indent=2) + "\n"


PLATFORM = Platform(
    description=DESCRIPTION,
    default_name="cumulus",
    runs_lldpd=True,
    frames=sends(by_name),
    answers=answers,
    steady={
        **ip_link.tools(interfaces),
        OS_RELEASE: prints_text('NAME="Cumulus Linux"\nVERSION_ID=5.9.1\nID=cumulus-linux\n'),
        sysfs_files.SPEEDS: speeds,
    },
    fleeting=lldpctl.tools(),
    counters={_PORT_COUNTERS: port_counters, "nv show interface -o json": interface_json},
)
