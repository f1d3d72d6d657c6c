"""Every behaviour of real devices that a simulated fabric can show, under the short name that the benchmark prints."""

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One behaviour. `values` are its variants, the first the usual one; empty if it is only on or off.

    `platform` and `planes` describe its fabric when it is measured alone (empty: any platform). `share` is the share of
    devices or ports that show it then: 1 unless a fabric that shows it everywhere would report nothing. `expected` are
    the rules that rightly report it at warning or above on a faultless fabric. `implies` are behaviours without which
    it cannot be seen; they are enabled with it. A `later` behaviour is drawn after all others, from its own random
    numbers: a seed keeps its former draws.
    """

    summary: str
    values: tuple[str, ...] = ()
    platform: str = ""
    planes: int = 1
    share: float = 1.0
    expected: tuple[str, ...] = ()
    implies: tuple[str, ...] = ()
    later: bool = False
    name: str = ""


_NAMES = ("CAB004", "CAB005", "CAB007", "TEL003")
"""Rules that rightly report a device with another's name, or an unknown one."""
_IDENTITY = {
    "sonic_alias": Behaviour(
        "SONiC announces the port's alias as a local id",
        ("etp", "ethn_n", "gige", "number", "ethernet_n", "ethernet_n_1", "eth_port", "centec"),
        "sonic",
    ),
    "sonic_breakout": Behaviour("two sub-ports a cage: aliases `etp1a`, `etp1b`", platform="sonic"),
    "descr": Behaviour(
        "what the description of a switch port says",
        ("peer_of_plan", "peer_of_old_plan", "alias", "vendor_default"),
        "sonic",
    ),
    "sonic_mac_portid": Behaviour("ports announce the chassis MAC as their id", platform="sonic"),
    "lldp_lost_rows": Behaviour(
        "the last neighbours of a switch are missing", platform="sonic", share=0.2, expected=("CAB003",)
    ),
    "junos_portid": Behaviour("Junos announces the interface index, or the name", ("ifindex", "ifname"), "junos"),
    "junos_no_portid": Behaviour("the brief answer has a remote description and no remote port id", platform="junos"),
    "chassis_per_port": Behaviour("NX-OS announces the port's MAC as the chassis id", platform="nxos"),
    "nxos_brief_name_as_chassis": Behaviour("the brief JSON prints the system name as the chassis id", platform="nxos"),
    "nxos_short_portid": Behaviour("NX-OS announces `Eth1/5` instead of `Ethernet1/5`", platform="nxos"),
    "eos_quoted_id": Behaviour("port ids are quoted inside the string, MACs lack leading zeros", platform="eos"),
    "host_alias": Behaviour(
        "a NIC has an alias: lldpd sends name and alias", ("peer", "stale_peer", "none"), "cumulus"
    ),
    "host_rename": Behaviour("NICs have other names than in the plan; the planned ones are altnames"),
    "mgmt_anycast": Behaviour("leaves announce a shared management address beside their own"),
    "name_form": Behaviour(
        "system names as FQDN, upper case, with serial", ("fqdn", "upper", "serial", "other_domain")
    ),
    "default_name": Behaviour(
        "devices without a configured name: `localhost`, `ubuntu`, `sonic`", share=0.25, expected=_NAMES
    ),
    "second_speaker": Behaviour("a second neighbour on host ports", ("fw", "dpu", "vlan", "bmc", "bridge"), "cumulus"),
    "bond": Behaviour("the NIC's two ports are one bond", planes=2),
    "bond_lldp_smeared": Behaviour("each member of a bond reports the neighbours of all", planes=2),
    "dpu": Behaviour("the ARM of a BlueField speaks, the host hears nothing", share=1.0),
    "dpu_offset": Behaviour("what the ARM's MAC is more than the host's", ("0x10", "0x25", "none"), implies=("dpu",)),
    "fw_lldp": Behaviour("NIC firmware speaks LLDP", ("tx", "all", "only")),
    "hpe_fw": Behaviour("an HPE server's NIC firmware: UUID, slot text with blanks", ("local", "mac")),
    "networkd": Behaviour("systemd-networkd sends: machine id, interface name"),
    "switch_mac_shared": Behaviour("all ports of a switch have one MAC", platform="sonic"),
    "snmp_text_mac": Behaviour("SNMP agents: MACs as text, local port numbers that are no ifIndex", platform="snmp"),
    "snmp_no_chassis": Behaviour("SNMP agents: rows without chassis id", platform="snmp"),
    "cdp_beside": Behaviour("CDP rows stand beside LLDP rows", platform="cumulus"),
}
_TIME = {
    "flush_on_down": Behaviour("neighbours vanish with the carrier (lldpd)"),
    "stale_ttl": Behaviour("a port lists a neighbour that has gone, beside the present one", share=0.2),
    "swap_two_neighbors": Behaviour("after a swap both ends list the old neighbour with the larger age"),
    "msap_change": Behaviour("a port is listed under its old and its new id"),
    "rename": Behaviour("a host renamed at run time announces a name that no plan has", share=0.25, expected=_NAMES),
    "boot_phase": Behaviour("hosts that boot: bare MACs, no login", share=0.25),
    "age_semantics": Behaviour("ages far above the time to live on live links"),
    "young_link": Behaviour("links so young that no frame has arrived", share=0.1, expected=("CAB003",)),
    "ttl0": Behaviour("a host whose daemon was stopped: no switch hears it", share=0.25, expected=("TEL003",)),
}
_OFF = ("admin_down", "ports_off")
_STATES = {
    "rdma_down": Behaviour("what the RDMA driver reports of a port without carrier", ("mlx5", "bnxt", "ionic")),
    "bond_hides_member": Behaviour("the RDMA device of a bond is ACTIVE while a member is down", planes=2),
    "ib_down": Behaviour("an InfiniBand port without light is POLLING", platform="infiniband"),
    "efa": Behaviour("RDMA devices that are always ACTIVE, without netdev and LLDP", expected=("TEL003",)),
    "rate_capped_400": Behaviour("an 800G port reports 400 Gb/s as its RDMA rate"),
    "rdma_text_forms": Behaviour("blank lines between the links"),
    "vfs": Behaviour("virtual functions with netdevs and RDMA devices of their own"),
    "admin_down": Behaviour("ports that the operator switched off", share=0.05),
    "operstate_words": Behaviour("operational states UNKNOWN, LOWERLAYERDOWN and DORMANT beside the ports"),
    "keep_link_up": Behaviour("the switch sees carrier of a host port that is switched off", share=0.05),
    "nxos_word": Behaviour(
        "NX-OS text: `is down (XCVR not inserted)`, `(Link not connected)`", platform="nxos", implies=_OFF
    ),
    "nxos_two_lines": Behaviour(
        "NX-OS text: `XCVR not inserted` with `admin state is down`", platform="nxos", implies=_OFF
    ),
    "eos_word": Behaviour("EOS words: disabled, notconnect, errdisabled", platform="eos", implies=_OFF),
    "sonic_speed_configured": Behaviour("a SONiC port that is down shows its configured speed", platform="sonic"),
    "down_speed": Behaviour("the speed of a port that is down", ("zero", "nominal"), "snmp"),
}
_MATRICES = {
    f"topo_{name}": Behaviour(summary)
    for name, summary in {
        "empty_cell": "empty CPU affinity cells",
        "sparse": "half of the GPUs have no NIC nearby",
        "bond": "`mlx5_bond_N` in the NIC legend",
        "gb200": "every GPU-NIC pair is SYS",
        "cx8": "NICs are the PCIe switch: PIX for the own NIC, NODE and SYS else",
        "flat": "NODE and PHB everywhere, as on clouds",
        "no_nic": "no NIC columns",
        "other_nic": "`bnxt_re0`, `ionic_0` in the NIC legend",
        "old": "device names as columns, SOC, no NUMA columns",
    }.items()
}
_TOPO = {
    **_MATRICES,
    "rdma_renumber": Behaviour("a missing storage NIC shifts the later `mlx5_N`", share=0.3),
    "gpu_lost": Behaviour("a GPU has fallen off the bus", share=0.25),
}
_INFINIBAND = {
    "ib_desc": Behaviour(
        "what an adapter calls itself", ("host_dev", "hca_n", "netdev", "default", "localhost"), "infiniband"
    ),
    "ib_renumber": Behaviour("the same slot has another device number on other hosts", platform="infiniband"),
    "ib_unmanaged": Behaviour("all switches have one default name", platform="infiniband"),
    "ib_director": Behaviour("leaf boards of one director share its name", platform="infiniband"),
    "ib_split": Behaviour("port labels `[1](1/1/1)`", platform="infiniband"),
    "ib_sharp": Behaviour("aggregation nodes on the last port of each switch", platform="infiniband"),
    "ib_guid_equal": Behaviour("node GUID and port GUID are equal", platform="infiniband"),
    "ib_guid_differs": Behaviour("the port GUID is the node GUID plus the port's number", platform="infiniband"),
    "ib_two_ca": Behaviour("two-port cards: two adapters of one system image", platform="infiniband"),
    "mixed_fabric": Behaviour("Ethernet adapters beside the InfiniBand ones", platform="infiniband"),
    "ib_others": Behaviour("routers, gateways and UFM servers in the fabric", platform="infiniband"),
    "ib_init": Behaviour(
        "ports that are Initializing: no subnet manager yet", platform="infiniband", expected=("NIC002",)
    ),
    "ib_cut": Behaviour("a discovery without tabs", platform="infiniband"),
}
_LIES = {
    "clone_chassis": Behaviour(
        "two hosts with one chassis id: lldpd shows one name for both", share=0.3, expected=_NAMES
    ),
    "clone_name": Behaviour("two hosts with one name and MACs of their own", share=0.3, expected=_NAMES),
    "clock_skew": Behaviour("device clocks that are hours off", platform="eos"),
    "cli_noise": Behaviour("prompts, banners and carriage returns round the answers", platform="nxos"),
}
_OTHERS = {
    "management_servers": Behaviour("management and storage servers on free leaf ports"),
    "unplanned_links": Behaviour("links between free ports that the plan does not have"),
    "ports_off": Behaviour("free ports that the operator switched off"),
}
_LATER = {
    "sonic_split": Behaviour(
        "four or eight ports a cage: aliases `etp1a` to `etp1h`, two lanes or one a port", ("4x200G", "8x100G"), "sonic"
    ),
    "stack": Behaviour("a switch of several boxes: `et-0/0/3` and `et-1/0/3` behind one chassis id", platform="junos"),
    "mlag": Behaviour(
        "pairs of leaves with a peer link and a shared address; on some also one chassis id",
        ("own", "shared"),
        planes=2,
    ),
    "ttl0_chassis": Behaviour(
        "old lldpd forgets every port of a chassis as one of them is shut", share=0.2, expected=("CAB003",)
    ),
    "dac_serial": Behaviour(
        "serials of copper cables: one at both ends, one an end, none, the maker's default",
        ("same", "ends", "blank", "default"),
    ),
    "azure_an": Behaviour("accelerated networking, `mlx5_an0`, beside `mlx5_ib0`", platform="infiniband"),
    "ib_multi_asic": Behaviour("boxes of two switch chips, each a node that counts from 1", platform="infiniband"),
    "ib_saturate": Behaviour("counters that stand still at all ones", platform="infiniband", expected=("TEL004",)),
    "fec_rates": Behaviour(
        "SONiC prints bit error rates, by its release up to more columns", ("202411", "202505"), "sonic"
    ),
    "first_ber": Behaviour(
        "SONiC's first rate after its start: all errors since boot over one second",
        platform="sonic",
        implies=("fec_rates",),
    ),
    "post_ber_formula": Behaviour(
        "SONiC's rate after FEC is a formula: frames lost at link-up make 1e-19",
        platform="sonic",
        implies=("fec_rates",),
    ),
    "mlxlink_rates": Behaviour("bit error rates of the NICs since their counters were cleared", ("since", "new")),
}
"""Sources: sonic-buildimage x86_64-nvidia_sn5600-r0/platform.json (`sonic_split`); ntc-templates juniper_junos ae7
(`stack`); LACP's and LLDP's identities of MLAG, vPC and VSX, of which a shared LLDP chassis id is not confirmed
(`mlag`); lldpd#221 and its NEWS for 0.9.7 (`ttl0_chassis`); azurehpc AccelNet_tuning (`azure_an`); rdma-core perfquery
(`ib_saturate`); sonic-swss port_rates.lua, sonic-utilities portstat.py (`fec_rates`, `first_ber`, `post_ber_formula`);
mstflint mlxlink_commander.cpp (`mlxlink_rates`). How a box of several chips numbers its ports is not confirmed
(`ib_multi_asic`).
"""
CATALOGUE: Mapping[str, Behaviour] = {
    name: replace(one, name=name, later=group is _LATER)
    for group in (_IDENTITY, _TIME, _STATES, _TOPO, _INFINIBAND, _LIES, _OTHERS, _LATER)
    for name, one in group.items()
}
