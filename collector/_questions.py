"""One device's answer to the command that a collector asks; other commands' answers are refused by name."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache, wraps
from itertools import chain, groupby
from operator import itemgetter

from collector.formats.mib import SWITCH
from collector.formats.text import begins_json, is_json
from truerail.errors import UnreadableError
from truerail.model import Collector, Device, Fact, MacEntry
from truerail.model.names import answer_file, printable
from truerail.model.session_log import Part, part_of, parts, session, without_pager

# ----------------------------------------------------------------------------------------------------------------------
# What of an answer's text is read: one device's answer, to the command that a collector asks.
#
# A paste or a log has prompts that name devices, and commands with other answers. Where it has no prompts, ports that
# begin again are those of another device, or of the same at another time.

_OTHER_SHAPE = (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError)
"""What reading a document raises where it has something else than the format has: a number for an object, a key less, a
depth that no device has.
"""
_NO_NUMBER = re.compile("invalid literal for int|could not convert string to float|Exceeds the limit")
"""What `int` and `float` say of a text that is no number, or one of thousands of digits: of any answer's."""


def of_device(found: Collector, answer: str, device: Device) -> str:
    """The text without other devices' lines. Raises `UnreadableError` if several answer, and none is `device`."""
    if begins_json(answer):
        return answer
    return part_of(answer, lambda typed: _asks(found, typed), device.name, *device.aliases)


def read(found: Collector, text: str, device: Device) -> Sequence[Fact]:
    """The facts in a device's answer, or in the answer that is asked for where there are others beside it."""
    try:
        return _whole(found, text, device)
    except UnreadableError:
        for asked in _answers(found, text, device):
            try:
                return _whole(found, asked, device)
            except UnreadableError:
                continue
        raise


def _asks(found: Collector, typed: str) -> bool:
    """Whether a command, of which each word may be abbreviated, asks what the collector asks."""
    words = typed.partition("|")[0].split()
    asked = (command.text.partition("{")[0].split() for command in found.ask)
    return any(len(words) >= min(2, len(of)) and all(map(str.startswith, of, words)) for of in asked)


def _answers(found: Collector, log: str, device: Device) -> list[str]:
    """The answers in a log to commands of the collector, in their order; none if another answer stands above."""
    if not any(command.text in log for command in found.ask) or _reads(found, parts(log)[0], device):
        return []
    files = dict.fromkeys(command.file for command in found.ask)
    answers = session(log, lambda typed: file if (file := answer_file(without_pager(typed))) in files else "")
    return [answers[file] for file in files if file in answers]


def _reads(found: Collector, above: Part, device: Device) -> bool:
    try:
        return not above.device and bool(_whole(found, above.text, device))
    except UnreadableError:
        return False


def _whole(found: Collector, text: str, device: Device) -> Sequence[Fact]:
    try:
        return _of_one(found, tuple(found.parse(text, device)))
    except UnreadableError:
        raise
    except _OTHER_SHAPE as error:
        if not is_json(text) and "</" not in text and not _NO_NUMBER.match(str(error)):
            raise
        raise UnreadableError(f"not understood ({type(error).__name__}: {printable(str(error), 80)})") from error


def _of_one(found: Collector, facts: Sequence[Fact]) -> Sequence[Fact]:
    """The facts; refused if more than one port begins again, behind others, with something else."""
    of_port = found.yields[0]._fields[0] in ("port", "netdev") and found.yields[0] is not MacEntry
    of_port &= found.ask[0] != SWITCH  # a walk has the neighbours of all ports in the order of their times
    if not of_port or len(found.yields) > 1 or len({fact[0] for fact in facts}) == len(facts):
        return facts
    said: dict[object, list[set[Fact]]] = {}
    for port, run in groupby(facts, itemgetter(0)):
        said.setdefault(port, []).append(set(run))
    again = [str(port) for port, (first, *runs) in said.items() if not first.issuperset(chain(*runs))]
    if len(again) > 1:
        raise UnreadableError(f"the answers of two devices: ports begin again ({', '.join(again[:3])})")
    return facts


# ----------------------------------------------------------------------------------------------------------------------
# Identifies the command of an answer by text that only that command prints: an answer to another command is refused
# with that command's name, and never taken for an empty answer.
#
# The signs are headings, legends and keys of the recorded answers of each system; none is text that a neighbour could
# send.

_HEAD = 20_000
"""Characters searched: a heading is at the top, a legend below a matrix."""
_SIGNS: tuple[tuple[str, str], ...] = (
    ("nvidia-smi topo -p2p", r"^[#> \t]*(?:OK[ \t]+= Status Ok|[CGT]NS[ \t]+= )"),
    ("nvidia-smi topo -m", r"^[#> \t]*GPU0[ \t]"),
    ("show queue counters --trim", r"^[ \t]*Port[ \t]+TxQ\b.*\bTrim"),
    ("show queue wredcounters", r"^[ \t]*Port[ \t]+TxQ[ \t]+WredDrp/pkts"),
    ("show queue counters --voq", r"^[ \t]*Port[ \t]+Voq[ \t]"),
    ("show queue counters", r"^[ \t]*Port[ \t]+TxQ[ \t]"),
    ("show priority-group watermark", r"^[ \t]*Ingress (?:headroom|shared pool occupancy) per PG:"),
    ("show priority-group drop counters", r"^[ \t]*Port[ \t]+PG0[ \t]"),
    ("show pfc counters", r"^[ \t]*Port (?:Rx|Tx)[ \t]+PFC0"),
    ("show pfc priority", r"^[ \t]*Interface[ \t]+Lossless priorities"),
    ("show pfcwd config", r"^[ \t]*PORT[ \t]+ACTION[ \t]+DETECTION TIME"),
    ("show pfcwd stats", r"^[ \t]*QUEUE[ \t]+STATUS[ \t]+STORM DETECTED/RESTORED"),
    ("show interfaces alias", r"^[ \t]*Name[ \t]{2,}Alias[ \t]*$"),
    ("show lldp local-information", r'"lldp-local-info"[ \t]*:|<lldp-local-info\b'),
    ("show lldp local-information", r"^[ \t]*LLDP Local Information details"),
    ("show lldp local-info", r"^[ \t]*Local System:[ \t]*$"),
    ("show lldp all", r"^[ \t]*Interface Information: \S+ Enable \(tx/rx"),
    ("show interfaces counters", r"^[ \t]*IFACE[ \t]+STATE[ \t]"),
    ("show interfaces status", r"^[ \t]*Interface[ \t]+Lanes[ \t]+Speed[ \t]"),
    ("show interfaces transceiver eeprom", r"^[A-Z]\w*\d: SFP EEPROM "),
    ("show interfaces transceiver presence", r"^[ \t]*Port[ \t]+Presence[ \t]*$"),
    ("show lldp table", r"^[ \t]*LocalPort[ \t]+RemoteDevice[ \t]+RemotePortID"),
    ("sonic-db-dump -n COUNTERS_DB", r'"COUNTERS_PORT_NAME_MAP"'),
    ("sonic-db-dump -n STATE_DB", r'"TRANSCEIVER_(?:INFO|DOM_\w+)\|'),
    ("display interface brief", r"^[ \t]*Interface[ \t]+(?:PHY[ \t]+Protocol|Link[ \t]+(?:Speed|Protocol))\b"),
    ("display interface", r"^ ?\S+ current state ?: |^[ \t]*Current state: (?:UP|DOWN|Administratively)"),
    ("show interface", r"^Interface \S+ is (?:up|down)\b.*\n[ \t]+Admin state is "),
    ("show interface", r"^[ \t]*LineSpeed \d"),
    ("show interface", r"^\S+ is [a-z ]{2,25}, line protocol is .*\n  Interface state transitions:"),
    ("show interface physical", r"^[ \t]*Port[ \t]+Type[ \t]+Status[ \t]+Config[ \t]+Status[ \t]+\|"),
    ("show interface brief", r"^[ \t]*Port[ \t]+Native[ \t]+Mode[ \t]+Type[ \t]+Enabled\b"),
    ("show interfaces brief", r"^[ \t]*Name[ \t]+State[ \t]+State[ \t]+Type[ \t]+\(byte\)"),
    ("info from state interface", r'"(?:hw-mac-address|port-speed|vendor-serial-number)"[ \t]*:'),
    ("openconfig-interfaces", r'"openconfig-interfaces:'),
    ("show qos priority-flow-control statistics", r"^[ \t]*Flow Control frames (?:received|transmitted)[ \t]*$"),
    ("show system lldp neighbor", r"^[ \t]*\|[ \t]+Name[ \t]+\|[ \t]+Neighbor\b"),
    ("display lldp neighbor", r"^[A-Za-z]\S*\d has \d+ neighbors?\(s\)"),
    ("openconfig-lldp", r'"openconfig-lldp:'),
    ("show interface status", r"^[ \t]*Port[ \t]+Description[ \t]+Status[ \t]+Speed[ \t]"),
    ("show interface status", r"^[ \t]*Name[ \t]+Description[ \t]+Oper[ \t]"),
    ("show lldp neighbors", r'"(?:lldpNeighbors|TABLE_nbor(?:_detail)?|lldp-neighbors-information)"[ \t]*:'),
    ("show lldp neighbors detail", r"^[ \t]*Interface \S+ detected \d+ LLDP neighbors?:"),
    ("show interfaces counters errors", r'"interfaceErrorCounters"[ \t]*:'),
    ("show interfaces status", r'"interfaceStatuses"[ \t]*:'),
    ("show interfaces transceiver", r'"(?:rxPower|txBias)"[ \t]*:|"TABLE_lane"[ \t]*:'),
    ("show interfaces counters", r'"(?:inOctets|inUcastPkts)"[ \t]*:'),
    ("show priority-flow-control counters", r'"rxFrames"[ \t]*:'),
    ("show priority-flow-control", r"^E: PFC Enabled, D: PFC Disabled"),
    ("show qos interfaces ecn counters queue", r'"intfQueueCounters"[ \t]*:'),
    ("show interface counters errors", r"^[ \t]*Port[ \t]+(?:Align-Err|InDiscards|Stomped-CRC|Runts)\b"),
    ("show interface counters", r'"TABLE_[rt]x_counters"[ \t]*:|^[ \t]*Port[ \t]+(?:In|Out)Octets\b'),
    ("show interface priority-flow-control", r'"TABLE_pfc_interface"[ \t]*:|^[ \t]*Port[ \t]+Mode[ \t]+Oper\b'),
    ("show queuing interface", r'"TABLE_queuing_interface"[ \t]*:'),
    ("show interface transceiver", r"^[ \t]+transceiver is (?:not )?present"),
    ("show interfaces diagnostics optics", r'"optics-diagnostics"[ \t]*:|<optics-diagnostics\b'),
    ("show interfaces", r'"physical-interface"[ \t]*:|^Physical interface: '),
    ("ethtool -S", r"^[#> \t]*NIC statistics:"),
    ("ethtool -m", r"^[ \t]*Identifier[ \t]+: 0x[0-9a-f]{2} \("),
    ("rdma resource show qp", r'"lqpn"[ \t]*:|^[#> \t]*link \S+/\S+ lqpn '),
    ("rdma link", r'"physical_state"[ \t]*:|^[#> \t]*link \S+/\d+ .{0,200}\bstate [A-Z]'),
    ("rdma statistic", r'"rx_write_requests"[ \t]*:|^[#> \t]*link \S+/\d+ \w+ \d'),
    ("ibdev2netdev", r"^.{0,200} port \d+.{0,20} <?={2,3}> "),
    ("ibstat", r"^[#> \t]*CA '[^'\n]+'$"),
    ("lldptool -t -n", r"^Chassis ID TLV$"),
    ("tcpdump -v", r"^[#> \t]*Chassis ID TLV \(1\), length \d"),
    ("lldpcli -f json show interfaces", r'"(?:status|value)"[ \t]*:[ \t]*"(?:RX and TX|RX only|TX only|disabled)"'),
    ("lldpcli show neighbors", r'^[ \t]*\{[ \t\r\n]*"lldp"[ \t]*:|^LLDP neighbors:[ \t]*$|^lldp\.\S+\.via='),
    ("bridge -j fdb", r'"mac"[ \t]*:[ \t]*"[0-9a-f:]{17}",[ \t\r\n]{0,40}"ifname"'),
    ("ip -j addr", r'"addr_info"[ \t]*:'),
    ("ip -s -j link", r'"stats64"[ \t]*:'),
    ("amd-smi topology", r'"num_hops"[ \t]*:'),
    ("ip -j link", r'"link_type"[ \t]*:'),
    ("perfquery", r"^[#> \t]*(?:# )?(?:\w+ )*counters: .{0,40}\bLid \d"),
    ("ibqueryerrors", r"^[#> \t]*GUID 0x[0-9a-fA-F]+ port "),
    ("ibnetdiscover", r'^[#> \t]*(?:Switch|Ca)[ \t]+\d+[ \t]+"'),
    ("snmpwalk", r"^(?:\.1|1|iso)\.\d[\d.]+(?: = |\|)"),
    ("scontrol show job", r"^JobId=\d"),
    ("scontrol show node", r"^NodeName=\S+ Arch="),
    ("scontrol show topology", r"^(?:Switch|Block)Name=\S+ "),
    ("squeue --json", r'"job_id"[ \t]*:|"accrue_time"[ \t]*:'),
    ("sinfo -R", r"^REASON[ \t]+USER[ \t]+TIMESTAMP"),
    ("ncclras", r'"nccl_version"[ \t]*:|^NCCL version \S+ compiled with'),
    ("kubectl get nodes -o json", r'"kind"[ \t]*:[ \t]*"Node(?:List)?"'),
    ("kubectl get pods -o json", r'"apiVersion"[ \t]*:'),
    ("NCCL_DEBUG=INFO", r"NCCL INFO "),
    ("bridge fdb show", r"^[0-9a-f:]{17} dev \S+ (?:vlan|master|self|dst)\b"),
    ("ip neigh show", r"^[0-9a-fA-F.:]+ dev \S+ lladdr "),
    ("ip -j neigh", r'"dst"[ \t]*:[^}\n]{1,80}"lladdr"[ \t]*:'),
    ("show mac address-table", r'"(?:unicastTable|TABLE_mac_address|l2ng-l2ald-rtb-macdb)"[ \t]*:'),
    ("show mac address-table", r"^Ethernet switching table : \d|^[ \t]*show mac address-table"),
    ("show mac address-table", r"^[ \t]*(?:Vlan[ \t]+mac Address|MAC ADDR[ \t]+VLAN ID|No\.[ \t]+Vlan[ \t]+Mac)"),
    ("display mac-address", r"^MAC Address[ \t]+VLAN/VSI"),
    ("show arp", r'"(?:ipV4Neighbors|arp-table-information|TABLE_adj)"[ \t]*:'),
    ("show arp", r"^MAC Address[ \t]+Address[ \t]+Interface|^Address[ \t]+Age[ \t]+Hardware Addr"),
    ("show ipv6 neighbors", r"^IPv6 Address[ \t]+Age[ \t]+Link-layer"),
    ("show bgp", r'"(?:bgpNeighborAddr|peerMemory|vrf-router-id)"[ \t]*:'),
    ("show lacp", r"^port-channel\d+ neighbors$|^[ \t]+LACP state:[ \t]+Role\b"),
    ("show vpc", r'"vpc-domain-id"[ \t]*:'),
    ("show nve ethernet-segment", r"^ESI: [0-9a-f.]+"),
    ("net show clag", r'"clagIntfs"[ \t]*:'),
    ("cat /proc/net/bonding", r"^Ethernet Channel Bonding Driver: "),
    ("show inventory", r'^NAME: "|^System has \d+ power supply slots|"xcvrSlots"[ \t]*:'),
    ("show chassis hardware", r'^[ \t]*Item[ \t]+Version[ \t]+Part number|"chassis-inventory"|<chassis-inventory\b'),
    ("nv show platform transceiver", r'"vendor-sn"[ \t]*:'),
    ("show_gids", r"^DEV[ \t]+PORT[ \t]+INDEX[ \t]+GID"),
    ("nvidia-smi --query-compute-apps", r"^gpu_uuid, pid$"),
    ("ibswinfo", r"^PSID[ \t]+\| "),
    ("ibdiagnet", r"^(?:# )?Running version[ \t]*: "),
    ("NVIDIA NetQ", r'"(?:compounded_links|GpuIDList)"[ \t]*:'),
)
"""Commands and the text that only they print, the most specific first."""


@lru_cache(maxsize=16)
def command_of(head: str) -> str | None:
    """The command whose answer begins with this; None if unknown. Many devices refuse a command with the same words,
    and one text is offered to several collectors.
    """
    lines = f"\n{head}"
    return next((command for command, sign in _signs() if sign.search(lines)), None)


@cache
def _signs() -> Sequence[tuple[str, re.Pattern[str]]]:
    """Compiled where the first answer needs them: a hundred expressions cost 50 ms. A line begins after a line feed,
    for which `re` looks several times faster than for `^`.
    """
    return [(command, re.compile(re.sub(r"(?<!\[)\^", r"\\n", sign), re.MULTILINE)) for command, sign in _SIGNS]


def naming(found: Collector) -> Collector:
    """The collector with errors that name the command of an answer that is not one of its own.

    It also refuses such an answer if it finds nothing in it, since that does not show that there is nothing.
    """

    @wraps(found.parse)
    def parse(answer: str, device: Device) -> Sequence[Fact]:
        answer = of_device(found, answer, device)
        try:
            facts = read(found, answer, device)
        except UnreadableError as error:
            command = _other(found, answer)
            if command is None:
                raise
            why = f"the answer of `{command}`: {error.why}"
            raise type(error)(why, line=error.line, text=error.text) from error
        command = None if facts else _other(found, answer)
        if command is not None:
            raise UnreadableError(f"the answer of `{command}`, which does not say this")
        return facts

    return replace(found, parse=parse)


def _other(found: Collector, answer: str) -> str | None:
    """The command whose answer this is, if it is not one of the collector's."""
    command = command_of(answer[:_HEAD])
    return None if command is None or any(command in asked.text for asked in found.ask) else command
