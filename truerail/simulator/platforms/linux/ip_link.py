"""`ip -j -d link` and `ip -j addr` (iproute2), on hosts and on switches that are Linux underneath."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from json import dumps

from truerail.simulator.fabric.ether import Ether
from truerail.simulator.platforms._platform import Tools

_LOOPBACK = (
    '{"ifindex":1,"ifname":"lo","flags":["LOOPBACK","UP","LOWER_UP"],"mtu":65536,"qdisc":"noqueue",'
    '"operstate":"UNKNOWN","linkmode":"DEFAULT","group":"default","txqlen":1000,"link_type":"loopback",'
    '"address":"00:00:00:00:00:00","broadcast":"00:00:00:00:00:00"%s}'
)
_UP = '["BROADCAST","MULTICAST","UP","LOWER_UP"]'
_OFF = '["BROADCAST","MULTICAST"]'
_NO_CARRIER = '["NO-CARRIER","BROADCAST","MULTICAST","UP"]'
_DETAILS = (
    ',"promiscuity":0,"allmulti":0,"min_mtu":68,"max_mtu":9978,"inet6_addr_gen_mode":"none","num_tx_queues":1008,'
    '"num_rx_queues":126,"gso_max_size":65536,"gso_max_segs":65535,"tso_max_size":524280,"tso_max_segs":65535,'
    '"gro_max_size":65536'
)


@dataclass(frozen=True, slots=True)
class Interface:
    """One interface as known to the kernel. `address` is an IPv4 address with its prefix length, if any.

    `off`: administratively down; `master`: the bond that it is a member of; `permanent`: its own MAC if it has another
    one; `bond`: whether it is a bond; `over`: its lower interface; `operstate`: its state if neither UP nor DOWN.
    """

    index: int
    name: str
    mac: str
    up: bool
    mtu: int
    pci: str = ""
    alias: str = ""
    address: str = ""
    off: bool = False
    altnames: tuple[str, ...] = ()
    master: str = ""
    permanent: str = ""
    bond: bool = False
    over: str = ""
    operstate: str = ""


def link(interfaces: Iterable[Interface]) -> str:
    """`ip -j -d link`, with details such as the PCI address."""
    return _document(interfaces, _details, _DETAILS)


def addr(interfaces: Iterable[Interface]) -> str:
    """`ip -j addr`."""
    loopback = (
        ',"addr_info":[{"family":"inet","local":"127.0.0.1","prefixlen":8,"scope":"host","label":"lo",'
        '"valid_life_time":4294967295,"preferred_life_time":4294967295}]'
    )
    return _document(interfaces, _addresses, loopback)


def _document(interfaces: Iterable[Interface], more: Callable[[Interface], str], loopback: str) -> str:
    items = [_LOOPBACK % loopback, *(_item(interface, more(interface)) for interface in interfaces)]
    return f"[{','.join(items)}]\n"


def _item(interface: Interface, more: str) -> str:
    alias = f',"ifalias":{dumps(interface.alias)}' if interface.alias else ""
    over = f'"link":"{interface.over}",' if interface.over else ""
    master = f',"master":"{interface.master}"' if interface.master else ""
    permanent = f',"permaddr":"{interface.permanent}"' if interface.permanent else ""
    altnames = f',"altnames":{dumps(interface.altnames)}' if interface.altnames else ""
    return (
        f'{{"ifindex":{interface.index},{over}"ifname":"{interface.name}","flags":{_flags(interface)},'
        f'"mtu":{interface.mtu},"qdisc":"mq"{master},"operstate":"{_state(interface)}","linkmode":"DEFAULT",'
        f'"group":"default","txqlen":1000,"link_type":"ether","address":"{interface.mac}",'
        f'"broadcast":"ff:ff:ff:ff:ff:ff"{permanent}{alias}{more}{altnames}}}'
    )


def _state(interface: Interface) -> str:
    return interface.operstate or ("UP" if interface.up and not interface.off else "DOWN")


def _flags(interface: Interface) -> str:
    flags = _OFF if interface.off else _UP if interface.up else _NO_CARRIER
    role = '"MASTER",' if interface.bond else '"SLAVE",' if interface.master else ""
    return flags.replace('"MULTICAST"', f'"MULTICAST",{role}'.rstrip(","))


def _details(interface: Interface) -> str:
    pci = f',"parentbus":"pci","parentdev":"{interface.pci}"' if interface.pci else ""
    return _DETAILS + _link_info(interface) + pci


def _link_info(interface: Interface) -> str:
    if interface.bond:
        return (
            ',"linkinfo":{"info_kind":"bond","info_data":{"mode":"802.3ad","miimon":100,"xmit_hash_policy":"layer3+4"}}'
        )
    if interface.over:
        return ',"linkinfo":{"info_kind":"vlan","info_data":{"protocol":"802.1Q","id":100,"flags":["REORDER_HDR"]}}'
    if not interface.master:
        return ""
    state = f'"state":"ACTIVE","mii_status":"{"UP" if interface.up else "DOWN"}"'
    own = f'"perm_hwaddr":"{interface.permanent or interface.mac}"'
    return f',"linkinfo":{{"info_slave_kind":"bond","info_slave_data":{{{state},"link_failure_count":0,{own}}}}}'


def _addresses(interface: Interface) -> str:
    return f',"addr_info":[{",".join(_address(interface))}]'


def _address(interface: Interface) -> Iterator[str]:
    if interface.address:
        local, _, length = interface.address.partition("/")
        yield (
            f'{{"family":"inet","local":"{local}","prefixlen":{length},"scope":"global","label":"{interface.name}",'
            '"valid_life_time":4294967295,"preferred_life_time":4294967295}'
        )


def tools(interfaces: Callable[[Ether, str], Iterable[Interface]]) -> Tools:
    """iproute2 on machines with these interfaces."""
    return {
        "ip -j -d link": lambda ether, name: link(interfaces(ether, name)),
        "ip -j addr": lambda ether, name: addr(interfaces(ether, name)),
    }
