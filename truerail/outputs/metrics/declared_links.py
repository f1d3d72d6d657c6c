"""Metrics of planned cables, hosts and devices, and of the findings on each."""

from truerail.outputs.metrics.declaring import LINK, UPLINK, gauge

LINK_STATE = gauge(
    "link_state", "state", LINK,
    "State of a planned cable of a host: 0 right, 1 unknown, 2 missing, 3 wrong. Above 1 it is known to be bad; "
    "unknown is neither good nor bad. The maximum over links is the worst.",
    "truerail_link_state > 1",
)  # fmt: skip
LINK_INFO = gauge(
    "link_info", "1", f"{LINK} switch switch_port rack switch_rack netdev device port pci_bus_id gpu",
    "A planned cable of a host, for joins: its planned port, and the NIC's names on the host where it "
    "reported.",
    "(truerail_link_state > 1) * on(fabric, host, nic) group_left(switch, switch_port) truerail_link_info",
)  # fmt: skip
LINK_SEEN_INFO = gauge(
    "link_actual_info", "1", f"{LINK} action actual_switch actual_switch_port actual_rail",
    "Where a wrong cable actually is, named where that is a device of the plan; and what its cause says: `action`.",
    "truerail_link_actual_info * on(fabric, host, nic) group_left(switch, switch_port) truerail_link_info",
)  # fmt: skip
UPLINK_STATE = gauge(
    "uplink_state", "state", UPLINK,
    "State of a planned cable between switches, by its lower end: 0 right, 1 unknown, 2 missing, 3 wrong.",
    "truerail_uplink_state > 1",
)  # fmt: skip
UPLINK_INFO = gauge(
    "uplink_info", "1", f"{UPLINK} peer peer_port",
    "The upper end of a planned cable between switches.",
    "truerail_uplink_state * on(fabric, switch, switch_port) group_left(peer, peer_port) truerail_uplink_info",
)  # fmt: skip
LINKS = gauge(
    "links", "cables", "fabric pod rail plane state",
    "Planned cables of hosts by state. The states add up to what is planned.",
    'sum by (rail) (truerail_links{state!="right"})',
)  # fmt: skip
LINKS_VERIFIED = gauge(
    "links_verified", "cables", "fabric pod rail plane verified",
    "Planned cables of hosts by who confirms where they are plugged, in the right place or a wrong one.",
    'sum(truerail_links_verified{verified="both ends"}) / sum(truerail_links_verified)',
)  # fmt: skip
UPLINKS = gauge(
    "uplinks", "cables", "fabric pod state",
    "Planned cables between switches by state, in the pod of the lower switch.",
    'sum by (pod) (truerail_uplinks{state!="right"})',
)  # fmt: skip
RAIL_STATE = gauge(
    "rail_state", "state", "fabric pod rail",
    "The worst state among the cables of a rail in a pod: 0 right, 1 unknown, 2 missing, 3 wrong.",
    "max by (rail) (truerail_rail_state)",
)  # fmt: skip
RAIL_RIGHT = gauge(
    "rail_right_ratio", "0..1", "fabric pod rail",
    "A rail's health in a pod: the share of its planned cables that are known to be right.",
    "bottomk(5, truerail_rail_right_ratio)",
)  # fmt: skip
HOST_LINKS = gauge(
    "host_links", "cables", "fabric pod host state",
    "Planned cables of a host by state.",
    'truerail_host_links{state="right"} / on(fabric, host) sum by (fabric, host) (truerail_host_links)',
)  # fmt: skip
HOSTS = gauge(
    "hosts", "hosts", "fabric pod state",
    "Hosts by their rails: `right` where every cable is right, `broken` where one is wrong or missing, else `unknown`.",
    'sum(truerail_hosts{state="right"}) / sum(truerail_hosts)',
)  # fmt: skip
DEVICES = gauge(
    "devices", "devices", "fabric pod role", "Devices in the plan.", "sum by (role) (truerail_devices)"
)  # fmt: skip
DEVICES_READ = gauge(
    "devices_read", "devices", "fabric pod role",
    "Planned devices that gave at least one readable answer.",
    "sum by (role) (truerail_devices) - sum by (role) (truerail_devices_read)",
)  # fmt: skip
GPU_NIC_AFFINITY = gauge(
    "gpu_nic_affinity", "0 or 1", f"{LINK} gpu",
    "Whether a GPU's nearest planned NIC carries the GPU's own rail: 1 it does, 0 another GPU's. One series for each "
    "GPU and nearest NIC; none where the host did not report its topology or the GPU's rail is unknown.",
    "count by (host) (truerail_gpu_nic_affinity == 0)",
)  # fmt: skip
DEVICE_FINDINGS = gauge(
    "device_findings", "findings", "fabric pod host nic rail plane switch rule severity muted",
    "Findings on one host, port of a host or switch; `nic` and `plane` only where it is about that port alone. Only "
    "where there are some.",
    'sum by (host, nic, rule) (truerail_device_findings{severity="critical", muted="no"})',
)  # fmt: skip
