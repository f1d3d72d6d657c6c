"""`ip -j -d link`, `ip -j link` and `ip -j addr` (iproute2), on hosts and on switches that are Linux underneath."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

_LOOPBACK = (
    '{"ifindex":1,"ifname":"lo","flags":["LOOPBACK","UP","LOWER_UP"],"mtu":65536,"qdisc":"noqueue",'
    '"operstate":"UNKNOWN","linkmode":"DEFAULT","group":"default","txqlen":1000,"link_type":"loopback",'
    '"address":"00:00:00:00:00:00","broadcast":"00:00:00:00:00:00"%s}'
)
_UP = '["BROADCAST","MULTICAST","UP","LOWER_UP"]'
_NO_CARRIER = '["NO-CARRIER","BROADCAST","MULTICAST","UP"]'
_DETAILS = (
    ',"promiscuity":0,"allmulti":0,"min_mtu":68,"max_mtu":9978,"inet6_addr_gen_mode":"none","num_tx_queues":1008,'
    '"num_rx_queues":126,"gso_max_size":65536,"gso_max_segs":65535,"tso_max_size":524280,"tso_max_segs":65535,'
    '"gro_max_size":65536'
)


@dataclass(frozen=True, slots=True)
class Interface:
    """One interface as the kernel knows it. `address` is an IPv4 address with its prefix length, where it has one."""

    index: int
    name: str
    mac: str
    up: bool
    mtu: int
    pci: str = ""
    alias: str = ""
    address: str = ""


def link(interfaces: Iterable[Interface], *, details: bool) -> str:
    """`ip -j link`, or `ip -j -d link` with details such as the PCI address."""
    return _document(interfaces, _details if details else _nothing, _DETAILS if details else "")


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
    flags, state = (_UP, "UP") if interface.up else (_NO_CARRIER, "DOWN")
    alias = f',"ifalias":"{interface.alias}"' if interface.alias else ""
    return (
        f'{{"ifindex":{interface.index},"ifname":"{interface.name}","flags":{flags},"mtu":{interface.mtu},'
        f'"qdisc":"mq","operstate":"{state}","linkmode":"DEFAULT","group":"default","txqlen":1000,'
        f'"link_type":"ether","address":"{interface.mac}","broadcast":"ff:ff:ff:ff:ff:ff"{alias}{more}}}'
    )


def _nothing(_: Interface) -> str:
    return ""


def _details(interface: Interface) -> str:
    return _DETAILS + (f',"parentbus":"pci","parentdev":"{interface.pci}"' if interface.pci else "")


def _addresses(interface: Interface) -> str:
    return f',"addr_info":[{",".join(_address(interface))}]'


def _address(interface: Interface) -> Iterator[str]:
    if interface.address:
        local, _, length = interface.address.partition("/")
        yield (
            f'{{"family":"inet","local":"{local}","prefixlen":{length},"scope":"global","label":"{interface.name}",'
            '"valid_life_time":4294967295,"preferred_life_time":4294967295}'
        )
