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

    name: str
    summary: str
    values: tuple[str, ...] = ()
    platform: str = ""
    planes: int = 1
    share: float = 1.0
    expected: tuple[str, ...] = ()
    implies: tuple[str, ...] = ()
    later: bool = False


_NAMES = ("CAB004", "CAB005", "CAB007", "TEL003")
"""Rules that rightly report a device with another's name, or an unknown one."""
_IDENTITY = (
    Behaviour(
        "sonic_alias",
        "SONiC announces the port's alias as a local id",
        ("etp", "ethn_n", "gige", "number", "ethernet_n", "ethernet_n_1", "eth_port", "centec"),
        "sonic",
    ),
    Behaviour("sonic_breakout", "two sub-ports a cage: aliases `etp1a`, `etp1b`", platform="sonic"),
    Behaviour(
        "descr",
        "what the description of a switch port says",
        ("peer_of_plan", "peer_of_old_plan", "alias", "vendor_default"),
        "sonic",
    ),
    Behaviour("sonic_mac_portid", "ports announce the chassis MAC as their id", platform="sonic"),
    Behaviour(
        "lldp_lost_rows",
        "the last neighbours of a switch are missing",
        platform="sonic",
        share=0.2,
        expected=("CAB003",),
    ),
    Behaviour("junos_portid", "Junos announces the interface index, or the name", ("ifindex", "ifname"), "junos"),
    Behaviour("junos_no_portid", "the brief answer has a remote description and no remote port id", platform="junos"),
    Behaviour("chassis_per_port", "NX-OS announces the port's MAC as the chassis id", platform="nxos"),
    Behaviour("nxos_brief_name_as_chassis", "the brief JSON prints the system name as the chassis id", platform="nxos"),
    Behaviour("nxos_short_portid", "NX-OS announces `Eth1/5` instead of `Ethernet1/5`", platform="nxos"),
    Behaviour("eos_quoted_id", "port ids are quoted inside the string, MACs lack leading zeros", platform="eos"),
    Behaviour(
        "host_alias", "a NIC has an alias: lldpd sends name and alias", ("peer", "stale_peer", "none"), "cumulus"
    ),
    Behaviour("host_rename", "NICs have other names than in the plan; the planned ones are altnames"),
    Behaviour("mgmt_anycast", "leaves announce a shared management address beside their own"),
    Behaviour(
        "name_form", "system names as FQDN, upper case, with serial", ("fqdn", "upper", "serial", "other_domain")
    ),
    Behaviour(
        "default_name", "devices without a configured name: `localhost`, `ubuntu`, `sonic`", share=0.25, expected=_NAMES
    ),
    Behaviour("second_speaker", "a second neighbour on host ports", ("fw", "dpu", "vlan", "bmc", "bridge"), "cumulus"),
    Behaviour("bond", "the NIC's two ports are one bond", planes=2),
    Behaviour("bond_lldp_smeared", "each member of a bond reports the neighbours of all", planes=2),
    Behaviour("dpu", "the ARM of a BlueField speaks, the host hears nothing", share=1.0),
    Behaviour("dpu_offset", "what the ARM's MAC is more than the host's", ("0x10", "0x25", "none"), implies=("dpu",)),
    Behaviour("fw_lldp", "NIC firmware speaks LLDP", ("tx", "all", "only")),
    Behaviour("hpe_fw", "an HPE server's NIC firmware: UUID, slot text with blanks", ("local", "mac")),
    Behaviour("networkd", "systemd-networkd sends: machine id, interface name"),
    Behaviour("switch_mac_shared", "all ports of a switch have one MAC", platform="sonic"),
    Behaviour("snmp_text_mac", "SNMP agents: MACs as text, local port numbers that are no ifIndex", platform="snmp"),
    Behaviour("snmp_no_chassis", "SNMP agents: rows without chassis id", platform="snmp"),
    Behaviour("cdp_beside", "CDP rows stand beside LLDP rows", platform="cumulus"),
)
_TIME = (
    Behaviour("flush_on_down", "neighbours vanish with the carrier (lldpd)"),
    Behaviour("stale_ttl", "a port lists a neighbour that has gone, beside the present one", share=0.2),
    Behaviour("swap_two_neighbors", "after a swap both ends list the old neighbour with the larger age"),
    Behaviour("msap_change", "a port is listed under its old and its new id"),
    Behaviour("rename", "a host renamed at run time announces a name that no plan has", share=0.25, expected=_NAMES),
    Behaviour("boot_phase", "hosts that boot: bare MACs, no login", share=0.25),
    Behaviour("age_semantics", "ages far above the time to live on live links"),
    Behaviour("young_link", "links so young that no frame has arrived", share=0.1, expected=("CAB003",)),
    Behaviour("ttl0", "a host whose daemon was stopped: no switch hears it", share=0.25, expected=("TEL003",)),
)
_OFF = ("admin_down", "ports_off")
_STATES = (
    Behaviour("rdma_down", "what the RDMA driver reports of a port without carrier", ("mlx5", "bnxt", "ionic")),
    Behaviour("bond_hides_member", "the RDMA device of a bond is ACTIVE while a member is down", planes=2),
    Behaviour("ib_down", "an InfiniBand port without light is POLLING", platform="infiniband"),
    Behaviour("efa", "RDMA devices that are always ACTIVE, without netdev and LLDP", expected=("TEL003",)),
    Behaviour("rate_capped_400", "an 800G port reports 400 Gb/s as its RDMA rate"),
    Behaviour("rdma_text_forms", "blank lines between the links"),
    Behaviour("vfs", "virtual functions with netdevs and RDMA devices of their own"),
    Behaviour("admin_down", "ports that the operator switched off", share=0.05),
    Behaviour("operstate_words", "operational states UNKNOWN, LOWERLAYERDOWN and DORMANT beside the ports"),
    Behaviour("keep_link_up", "the switch sees carrier of a host port that is switched off", share=0.05),
    Behaviour(
        "nxos_word", "NX-OS text: `is down (XCVR not inserted)`, `(Link not connected)`", platform="nxos", implies=_OFF
    ),
    Behaviour(
        "nxos_two_lines", "NX-OS text: `XCVR not inserted` with `admin state is down`", platform="nxos", implies=_OFF
    ),
    Behaviour("eos_word", "EOS words: disabled, notconnect, errdisabled", platform="eos", implies=_OFF),
    Behaviour("sonic_speed_configured", "a SONiC port that is down shows its configured speed", platform="sonic"),
    Behaviour("down_speed", "the speed of a port that is down", ("zero", "nominal"), "snmp"),
)
_MATRICES = tuple(
    Behaviour(f"topo_{name}", summary)
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
)
_TOPO = (
    *_MATRICES,
    Behaviour("rdma_renumber", "a missing storage NIC shifts the later `mlx5_N`", share=0.3),
    Behaviour("gpu_lost", "a GPU has fallen off the bus", share=0.25),
)
_INFINIBAND = tuple(
    Behaviour(name, summary, values, "infiniband", expected=("NIC002",) if name == "ib_init" else ())
    for name, summary, values in (
        ("ib_desc", "what an adapter calls itself", ("host_dev", "hca_n", "netdev", "default", "localhost")),
        ("ib_renumber", "the same slot has another device number on other hosts", ()),
        ("ib_unmanaged", "all switches have one default name", ()),
        ("ib_director", "leaf boards of one director share its name", ()),
        ("ib_split", "port labels `[1](1/1/1)`", ()),
        ("ib_sharp", "aggregation nodes on the last port of each switch", ()),
        ("ib_guid_equal", "node GUID and port GUID are equal", ()),
        ("ib_guid_differs", "the port GUID is the node GUID plus the port's number", ()),
        ("ib_two_ca", "two-port cards: two adapters of one system image", ()),
        ("mixed_fabric", "Ethernet adapters beside the InfiniBand ones", ()),
        ("ib_others", "routers, gateways and UFM servers in the fabric", ()),
        ("ib_init", "ports that are Initializing: no subnet manager yet", ()),
        ("ib_cut", "a discovery without tabs", ()),
    )
)
_LIES = (
    Behaviour(
        "clone_chassis", "two hosts with one chassis id: lldpd shows one name for both", share=0.3, expected=_NAMES
    ),
    Behaviour("clone_name", "two hosts with one name and MACs of their own", share=0.3, expected=_NAMES),
    Behaviour("clock_skew", "device clocks that are hours off", platform="eos"),
    Behaviour("cli_noise", "prompts, banners and carriage returns round the answers", platform="nxos"),
)
_OTHERS = (
    Behaviour("management_servers", "management and storage servers on free leaf ports"),
    Behaviour("unplanned_links", "links between free ports that the plan does not have"),
    Behaviour("ports_off", "free ports that the operator switched off"),
)
_LATER = tuple(
    replace(one, later=True)
    for one in (
        Behaviour(
            "sonic_split",
            "four or eight ports a cage: aliases `etp1a` to `etp1h`, two lanes or one a port",
            ("4x200G", "8x100G"),
            "sonic",
        ),
        Behaviour(
            "stack", "a switch of several boxes: `et-0/0/3` and `et-1/0/3` behind one chassis id", platform="junos"
        ),
        Behaviour(
            "mlag",
            "pairs of leaves with a peer link and a shared address; on some also one chassis id",
            ("own", "shared"),
            planes=2,
        ),
        Behaviour(
            "ttl0_chassis",
            "old lldpd forgets every port of a chassis as one of them is shut",
            share=0.2,
            expected=("CAB003",),
        ),
        Behaviour(
            "dac_serial",
            "serials of copper cables: one at both ends, one an end, none, the maker's default",
            ("same", "ends", "blank", "default"),
        ),
        Behaviour("azure_an", "accelerated networking, `mlx5_an0`, beside `mlx5_ib0`", platform="infiniband"),
        Behaviour("ib_multi_asic", "boxes of two switch chips, each a node that counts from 1", platform="infiniband"),
        Behaviour("ib_saturate", "counters that stand still at all ones", platform="infiniband", expected=("TEL004",)),
        Behaviour(
            "fec_rates",
            "SONiC prints bit error rates, by its release up to more columns",
            ("202411", "202505"),
            "sonic",
        ),
        Behaviour(
            "first_ber",
            "SONiC's first rate after its start: all errors since boot over one second",
            platform="sonic",
            implies=("fec_rates",),
        ),
        Behaviour(
            "post_ber_formula",
            "SONiC's rate after FEC is a formula: frames lost at link-up make 1e-19",
            platform="sonic",
            implies=("fec_rates",),
        ),
        Behaviour("mlxlink_rates", "bit error rates of the NICs since their counters were cleared", ("since", "new")),
    )
)
"""Sources: sonic-buildimage x86_64-nvidia_sn5600-r0/platform.json (`sonic_split`); ntc-templates juniper_junos ae7
(`stack`); LACP's and LLDP's identities of MLAG, vPC and VSX, of which a shared LLDP chassis id is not confirmed
(`mlag`); lldpd#221 and its NEWS for 0.9.7 (`ttl0_chassis`); azurehpc AccelNet_tuning (`azure_an`); rdma-core perfquery
(`ib_saturate`); sonic-swss port_rates.lua, sonic-utilities portstat.py (`fec_rates`, `first_ber`, `post_ber_formula`);
mstflint mlxlink_commander.cpp (`mlxlink_rates`). How a box of several chips numbers its ports is not confirmed
(`ib_multi_asic`).
"""
CATALOGUE: Mapping[str, Behaviour] = {
    one.name: one for one in (*_IDENTITY, *_TIME, *_STATES, *_TOPO, *_INFINIBAND, *_LIES, *_OTHERS, *_LATER)
}
