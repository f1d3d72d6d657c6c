"""The keys of a plan in YAML: what the reader knows, and the JSON Schema that `truerail schema plan` prints."""

from typing import Any

from truerail.files.yaml_keys import (
    NODE_SET_LISTS,
    NODE_SETS,
    TEXT,
    YES,
    Key,
    Keys,
    Schema,
    document,
    matching,
    one_of,
    whole_number,
    whole_numbers,
)
from truerail.files.yaml_values import MOST_UNITS
from truerail.model import LoadBalancing, Role, Transport
from truerail.plans import numbers

_SPEED = matching(r"^ *\d{1,6}(\.\d{1,3})? ?[GTgt]?([bB]/[sS]|[bB][pP][sS])? *$", number=True)
_PLANE = whole_number(numbers.MOST_PLANES)
_END = matching(r"^[^/]+/.+$")
_WITHIN_POD = Key(
    "within_pod",
    YES,
    "`no` joins devices of different pods. By default each pod is cabled by itself, where both sides have pods.",
)

TRUSTS = ("dscp", "pcp")
WATCHDOGS = ("drop", "forward", "alert", "disabled")


RAIL = Keys(
    "rail",
    "Rails. Their keys expand together; entries of one rail add up.",
    Key("rail", whole_numbers(numbers.MOST_RAILS), 'The rails, from 0: `"[0-7]"`.', needed=True),
    Key("name", NODE_SETS, "A name for each rail."),
    Key("vlan", whole_numbers(numbers.HIGHEST_VLAN), 'The VLAN of each rail: `"[100-107]"`.'),
    Key("subnet", NODE_SETS, 'The subnet of each rail: `"10.[0-7].0.0/16"`.'),
)

_OF_ALL = (
    Key("nodes", NODE_SETS, "The names, as a node set such as gpu-[001-064].", needed=True),
    Key("pod", NODE_SETS, "Pods, shared out in runs: 4 pods for 64 hosts are 16 hosts a pod."),
    Key("rack", NODE_SETS, "Racks, shared out in runs: 16 racks for 64 hosts are 4 hosts a rack."),
    Key("unit", whole_numbers(MOST_UNITS), "A rack unit for all, or one for each place in a rack."),
    Key("address", NODE_SETS, "Where each device is reached: one for each."),
    Key("platform", TEXT, "linux, cumulus, sonic, eos, nxos, junos or snmp."),
    Key("aliases", NODE_SET_LISTS, "Further names: one for each device, or a list of node sets."),
    Key("chassis_ids", NODE_SET_LISTS, "MACs or GUIDs: one for each device, or a list of node sets."),
    Key("serials", NODE_SET_LISTS, "Serial numbers or UUIDs of the machines: one for each, or a list of node sets."),
)
SWITCHES = Keys("switches", "Switches of one tier.", *_OF_ALL)
HOSTS = Keys(
    "hosts",
    "Hosts with the same NICs.",
    *_OF_ALL,
    Key("gpus", whole_number(numbers.MOST_GPUS), "GPUs of each host."),
    Key(
        "nics", NODE_SET_LISTS, "NICs in rail order; an item that is a list holds the ports of one NIC, plane by plane."
    ),
)

PANELS = Keys("panels", "Patch panels.", *(key for key in _OF_ALL if key.name in ("nodes", "rack", "unit")))

HOST_LINKS = Keys(
    "host_links",
    "Cables from NICs to leaves.",
    Key("hosts", NODE_SETS, "Which hosts; all by default."),
    Key("leaves", NODE_SETS, "Which leaves; all by default."),
    Key("ports", NODE_SET_LISTS, "The leaf's ports for these hosts, in the order of hosts.", needed=True),
    Key("ports_by", one_of(("rail", "host")), "Where a leaf carries several rails: in blocks, or host by host."),
    Key("rails", whole_numbers(numbers.MOST_RAILS), "Which rails; all NICs by default."),
    Key("plane", _PLANE, "Which port of each NIC, from 0."),
    Key("speed", _SPEED, "Where it differs: 400, 400G or 1.6T."),
    _WITHIN_POD,
)

UPLINKS = Keys(
    "uplinks",
    "Cables from a tier to the tier above.",
    Key("from", NODE_SETS, "The lower devices; all leaves by default."),
    Key("to", NODE_SETS, "The upper devices; all spines by default."),
    Key("ports", NODE_SETS, "Ports of each lower device; they divide evenly over the upper devices.", needed=True),
    Key("to_ports", NODE_SETS, "Ports of each upper device.", needed=True),
    Key("ports_by", one_of(("spine", "turn")), "Consecutive ports to one spine, or to one spine after the other."),
    Key("plane", _PLANE, "The plane of these cables, from 0."),
    Key("speed", _SPEED, "Where it differs: 400, 400G or 1.6T."),
    _WITHIN_POD,
    Key("by_rail", YES, "Share the upper devices out over the rails, and join a rail's leaves across pods."),
)

CABLE = Keys(
    "cable",
    "One cable. It replaces a generated cable that starts at the same port.",
    Key("a", _END, "One end, as device/port.", needed=True),
    Key("b", _END, "The other end, as device/port.", needed=True),
    Key("rail", whole_number(numbers.MOST_RAILS), "Its rail, from 0."),
    Key("plane", _PLANE, "Its plane, from 0."),
    Key("speed", _SPEED, "400, 400G or 1.6T."),
    Key("label", TEXT, "The label at its ends."),
    Key("length_m", matching(r"^ *[\d.]+ *$", number=True), "Its length in metres."),
    Key("via", TEXT, "The ports of patch panels from a to b: `pp-1/3 > pp-2/3`."),
)
CABLE_WORDS = CABLE.names[2:]
"""What may follow the two ends of a cable that is written in one line."""
_LINE = matching(rf"^\s*[^\s/]+/\S+\s+[^\s/]+/\S+(\s+({'|'.join(CABLE_WORDS)})(=\S*)?)*\s*$")
_CABLES: Schema = {"type": "array", "items": {"anyOf": [_LINE, CABLE.one]}}

QOS_CLASS = Keys(
    "qos_class",
    "DSCPs that have one priority.",
    Key("values", whole_numbers(numbers.HIGHEST_DSCP), 'The DSCPs: 26, or `"[24-31]"`.', needed=True),
    Key("priority", whole_number(numbers.HIGHEST_PRIORITY), "Their priority, 0 to 7.", needed=True),
)
QOS_BUFFER = Keys(
    "qos_buffer",
    "Buffers of switch ports of one speed; of all others without `speed`.",
    Key("speed", _SPEED, "400, 400G or 1.6T."),
    Key("ecn_min_bytes", whole_number(numbers.MOST_BYTES), "The queue from which on packets are marked."),
    Key("ecn_max_bytes", whole_number(numbers.MOST_BYTES), "The queue at which `ecn_probability` of them are marked."),
    Key("ecn_probability", matching(r"^ *(0(\.\d+)?|\.\d+|1(\.0*)?) *$", number=True), "Above 0, up to 1."),
    Key("headroom_bytes", whole_number(numbers.MOST_BYTES), "Headroom of a lossless priority, at least."),
)
QOS = Keys(
    "qos",
    "The QoS of all ports that carry RDMA. What is left out is not compared with the plan.",
    Key("trust", one_of(TRUSTS), "The field that gives a packet's priority."),
    Key("pfc_priorities", whole_numbers(numbers.HIGHEST_PRIORITY), "Priorities that are paused; `[]` for none."),
    Key("ecn_priorities", whole_numbers(numbers.HIGHEST_PRIORITY), "Priorities on which congestion is marked."),
    Key("dscp", QOS_CLASS.some, "DSCPs and their priorities."),
    Key("global_pause", YES, "Whether global pause (IEEE 802.3x) is on."),
    Key("watchdog", one_of(WATCHDOGS), "What the PFC watchdog of switch ports does."),
    Key("mtu", whole_number(numbers.MOST_MTU), "The MTU of NICs in bytes; switch ports take at least as much."),
    Key("buffers", QOS_BUFFER.some, "Thresholds and headroom of switch ports, by speed."),
    Key("roles", NODE_SETS, "Devices of these roles only: `[host, leaf]`."),
)

SECTIONS = {"hosts": Role.HOST, "leaves": Role.LEAF, "spines": Role.SPINE, "superspines": Role.SUPERSPINE}
"""The sections that declare devices, and the role of these."""

PLAN = Keys(
    "plan",
    "The devices, rails and cables that a fabric should have.",
    Key("name", TEXT, "The fabric."),
    Key("transport", one_of([*Transport]), "What carries RDMA; determines which rules apply. roce by default."),
    Key("load_balancing", one_of([*LoadBalancing]), "How switches spread flows. ecmp by default."),
    Key("speed", _SPEED, "Of every cable without its own: 400, 400G or 1.6T."),
    Key("qos", QOS.one, "The QoS that all ports with RDMA should have."),
    Key("rails", RAIL.some, "Names, VLANs and subnets of the rails."),
    *(
        Key(name, (HOSTS if name == "hosts" else SWITCHES).some, f"The {name}: one group, or a list of groups.")
        for name in SECTIONS
    ),
    Key("panels", PANELS.some, "Racks and units of the patch panels that cables pass."),
    Key("host_links", HOST_LINKS.some, "Cables from NICs to leaves."),
    Key("uplinks", UPLINKS.some, "Cables from leaves to spines, from spines to superspines."),
    Key("cables", _CABLES, "Exceptions, cable by cable: `gpu-004/nic1 leaf-1/swp9 rail=1 speed=200`, or a mapping."),
)


def plan_schema() -> dict[str, Any]:
    """The JSON Schema of a plan in YAML."""
    return document(
        "truerail plan", PLAN, (RAIL, QOS, QOS_CLASS, QOS_BUFFER, HOSTS, SWITCHES, PANELS, HOST_LINKS, UPLINKS, CABLE)
    )
