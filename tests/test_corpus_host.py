"""Real answers of real tools, kept beside the checkout: what each says, in full.

The corpus is not part of the project: where it is absent these tests are skipped, and the reason says so.
"""

from pathlib import Path

import pytest

from collector import collectors
from tests.each import each
from truerail.errors import UnreadableError
from truerail.model import Device, Fact, GpuNicPath, Neighbor, RdmaLink

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no corpus of recorded answers at {CORPUS}")


def mlx5(count: int) -> str:
    return " ".join(f"mlx5_{number}" for number in range(count))


def matrix(devices: str, *rows: str, own_names: bool = False) -> tuple[GpuNicPath, ...]:
    """The paths of a matrix: a row of levels for each GPU, in the order of `devices`."""
    return tuple(
        GpuNicPath(gpu, device if own_names else f"NIC{nic}", device, level)
        for gpu, row in enumerate(rows)
        for nic, (device, level) in enumerate(zip(devices.split(), row.split(), strict=True))
    )


def link(words: str) -> RdmaLink:
    """Device, port, state, physical state, netdev, Gb/s, link layer, PCI address, GUID, MTU; `-`: not said."""
    said = ["" if word == "-" else word for word in words.split()]
    device, port, state, physical, netdev, rate, layer, pci, guid, mtu = said + [""] * (10 - len(said))
    return RdmaLink(
        device,
        int(port),
        state,
        physical or None,
        netdev or None,
        float(rate) if rate else None,
        layer or None,
        pci or None,
        guid or None,
        int(mtu) if mtu else None,
    )


TOPO: dict[str, tuple[Fact, ...]] = {
    "f01_h200class_x8_ansi_tabs.txt": matrix(
        mlx5(10),
        "NODE NODE NODE PIX NODE NODE SYS SYS SYS SYS",
        "NODE NODE NODE NODE NODE PIX SYS SYS SYS SYS",
        "NODE NODE NODE NODE PIX NODE SYS SYS SYS SYS",
        "PIX PIX PIX NODE NODE NODE SYS SYS SYS SYS",
        "SYS SYS SYS SYS SYS SYS NODE PIX NODE NODE",
        "SYS SYS SYS SYS SYS SYS NODE NODE NODE PIX",
        "SYS SYS SYS SYS SYS SYS NODE NODE PIX NODE",
        "SYS SYS SYS SYS SYS SYS PIX NODE NODE NODE",
    ),
    "f02_dgx1_ucxpy_indented.rst.txt": matrix(
        mlx5(4),
        "PIX PHB SYS SYS",
        "PIX PHB SYS SYS",
        "PHB PIX SYS SYS",
        "PHB PIX SYS SYS",
        "SYS SYS PIX PHB",
        "SYS SYS PIX PHB",
        "SYS SYS PHB PIX",
        "SYS SYS PHB PIX",
        own_names=True,
    ),
    "f03_rtx6000ada_x4.txt": matrix(
        mlx5(4), "NODE NODE SYS SYS", "NODE NODE SYS SYS", "SYS SYS NODE NODE", "SYS SYS NODE NODE"
    ),
    "f04_puget_x2.txt": matrix(mlx5(2), "NODE NODE", "NODE NODE"),
    "f07_a10x4_allsys.txt": matrix(mlx5(2), "SYS SYS", "SYS SYS", "SYS SYS", "SYS SYS"),
    "f08_della_h200_empty_cpuaffinity.txt": matrix(
        mlx5(6),
        "PIX PIX NODE NODE NODE NODE",
        "NODE NODE NODE NODE NODE NODE",
        "NODE NODE NODE NODE NODE NODE",
        "NODE NODE PIX NODE NODE NODE",
        "NODE NODE NODE PIX PIX NODE",
        "NODE NODE NODE NODE NODE NODE",
        "NODE NODE NODE NODE NODE PIX",
        "NODE NODE NODE NODE NODE NODE",
    ),
    "f09_delta_a100x4_commented.txt": matrix(mlx5(1), "SYS", "SYS", "SYS", "PHB", own_names=True),
    "f13_stas_h100x8_nonic.txt": (),
    "f14_stas_a100x8_narrow.txt": (),
    "t02_a800x8_mlx5bond8_d580.txt": matrix(
        " ".join(f"mlx5_bond_{n}" for n in range(8)),
        "PIX PIX NODE NODE SYS SYS SYS SYS",
        "PIX PIX NODE NODE SYS SYS SYS SYS",
        "NODE NODE PIX PIX SYS SYS SYS SYS",
        "NODE NODE PIX PIX SYS SYS SYS SYS",
        "SYS SYS SYS SYS PIX PIX NODE NODE",
        "SYS SYS SYS SYS PIX PIX NODE NODE",
        "SYS SYS SYS SYS NODE NODE PIX PIX",
        "SYS SYS SYS SYS NODE NODE PIX PIX",
    ),
    "t04_epyc_roceo_names.txt": matrix(
        "roceo12399 roceo12409 rocep13s0f0 rocep55s0f0 rocep181s0f0",
        "NODE NODE NODE NODE SYS",
        "NODE NODE NODE NODE SYS",
        "SYS SYS SYS SYS NODE",
        "SYS SYS SYS SYS NODE",
    ),
    "t05_v100x2_mergedheader_d570.txt": matrix(
        "rocep4s0f0 rocep4s0f1 rocep137s0f0 rocep137s0f1", "PHB PHB SYS SYS", "SYS SYS PHB PHB"
    ),
    "t08_4090x8_ibp2_d595.txt": matrix(
        "ibp177s0f0 ibp177s0f1",
        "NODE NODE",
        "NODE NODE",
        "NODE NODE",
        "NODE NODE",
        "NODE NODE",
        "NODE NODE",
        "NODE NODE",
        "NODE NODE",
    ),
    "t10_a6000x3_nonic.txt": (),
    "t13_a100x8_mlx5x11_commented.txt": matrix(
        mlx5(11),
        "PXB PXB SYS SYS SYS SYS SYS SYS SYS SYS SYS",
        "PXB PXB SYS SYS SYS SYS SYS SYS SYS SYS SYS",
        "SYS SYS PXB PXB SYS SYS SYS SYS SYS SYS SYS",
        "SYS SYS PXB PXB SYS SYS SYS SYS SYS SYS SYS",
        "SYS SYS SYS SYS SYS PXB PXB SYS SYS SYS SYS",
        "SYS SYS SYS SYS SYS PXB PXB SYS SYS SYS SYS",
        "SYS SYS SYS SYS SYS SYS SYS PXB PXB SYS SYS",
        "SYS SYS SYS SYS SYS SYS SYS PXB PXB SYS SYS",
        own_names=True,
    ),
    "t14_ac922_v100x4_nv3.txt": matrix(
        mlx5(6),
        "NODE NODE SYS SYS SYS SYS",
        "NODE NODE SYS SYS SYS SYS",
        "SYS SYS NODE NODE NODE NODE",
        "SYS SYS NODE NODE NODE NODE",
        own_names=True,
    ),
    "t15_dgxa100_mlx5x12_cols.txt": matrix(
        mlx5(12),
        "PXB PXB SYS SYS SYS SYS SYS SYS SYS SYS SYS SYS",
        "PXB PXB SYS SYS SYS SYS SYS SYS SYS SYS SYS SYS",
        "SYS SYS PXB PXB SYS SYS SYS SYS SYS SYS SYS SYS",
        "SYS SYS PXB PXB SYS SYS SYS SYS SYS SYS SYS SYS",
        "SYS SYS SYS SYS SYS SYS PXB PXB SYS SYS SYS SYS",
        "SYS SYS SYS SYS SYS SYS PXB PXB SYS SYS SYS SYS",
        "SYS SYS SYS SYS SYS SYS SYS SYS PXB PXB SYS SYS",
        "SYS SYS SYS SYS SYS SYS SYS SYS PXB PXB SYS SYS",
        own_names=True,
    ),
    "t16_gb200_numalist_gpunumaid.txt": matrix(
        mlx5(8),
        "SYS SYS SYS SYS SYS SYS SYS SYS",
        "SYS SYS SYS SYS SYS SYS SYS SYS",
        "SYS SYS SYS SYS SYS SYS SYS SYS",
        "SYS SYS SYS SYS SYS SYS SYS SYS",
    ),
    "t17_a100x8_nic18.txt": matrix(
        mlx5(18),
        "SYS SYS SYS SYS SYS PXB PXB PXB PXB SYS SYS SYS SYS SYS SYS SYS SYS SYS",
        "SYS SYS SYS SYS SYS PXB PXB PXB PXB SYS SYS SYS SYS SYS SYS SYS SYS SYS",
        "SYS PXB PXB PXB PXB SYS SYS SYS SYS SYS SYS SYS SYS SYS SYS SYS SYS SYS",
        "SYS PXB PXB PXB PXB SYS SYS SYS SYS SYS SYS SYS SYS SYS SYS SYS SYS SYS",
        "SYS SYS SYS SYS SYS SYS SYS SYS SYS SYS SYS SYS SYS SYS PXB PXB PXB PXB",
        "SYS SYS SYS SYS SYS SYS SYS SYS SYS SYS SYS SYS SYS SYS PXB PXB PXB PXB",
        "SYS SYS SYS SYS SYS SYS SYS SYS SYS PXB PXB PXB PXB SYS SYS SYS SYS SYS",
        "SYS SYS SYS SYS SYS SYS SYS SYS SYS PXB PXB PXB PXB SYS SYS SYS SYS SYS",
    ),
    "t23_vllm_collectenv_gpu2_nic2.txt": matrix(mlx5(2), "SYS SYS", "SYS SYS"),
    "t26_k80_mlx4_pathlegend.txt": matrix("mlx4_0", "PHB", "PHB", "PHB", "PHB", own_names=True),
    "t28_club3090_46_gpu5_d580.txt": (),
    "t30_p40x8_SOC_mlx5.txt": matrix(mlx5(1), "SOC", "SOC", "SOC", "SOC", "SOC", "SOC", "SOC", "SOC", own_names=True),
    "t32_sglang30401_h100x8_d570.txt": matrix(
        mlx5(8),
        "PIX NODE NODE NODE SYS SYS SYS SYS",
        "NODE PIX NODE NODE SYS SYS SYS SYS",
        "NODE NODE PIX NODE SYS SYS SYS SYS",
        "NODE NODE NODE PIX SYS SYS SYS SYS",
        "SYS SYS SYS SYS PIX NODE NODE NODE",
        "SYS SYS SYS SYS NODE PIX NODE NODE",
        "SYS SYS SYS SYS NODE NODE PIX NODE",
        "SYS SYS SYS SYS NODE NODE NODE PIX",
    ),
    "t34_x6_nv12_mlx5_0_indented.txt": matrix(mlx5(1), "NODE", "NODE", "NODE", "SYS", "SYS", "SYS", own_names=True),
    "t35_gb200_gpuonly_narrow.txt": (),
}

RDMA: dict[str, tuple[Fact, ...]] = {
    "ibdev2netdev_4port_down.txt": (
        link("mlx5_0 1 ACTIVE - eth01"),
        link("mlx5_1 1 DOWN - eth02"),
        link("mlx5_2 1 ACTIVE - eth03"),
        link("mlx5_3 1 ACTIVE - eth04"),
    ),
    "ibdev2netdev_azure_an.txt": (link("mlx5_an0 1 ACTIVE - enP45424s1"),),
    "ibdev2netdev_bond.txt": (
        link("mlx5_4 1 DOWN - eth4"),
        link("mlx5_5 1 DOWN - eth5"),
        link("mlx5_bond_0 1 ACTIVE - bond0"),
        link("mlx5_bond_1 1 ACTIVE - bond1"),
    ),
    "ibdev2netdev_dashes_header.txt": (link("mlx5_0 1 DOWN - enp94s0f0np0"), link("mlx5_1 1 ACTIVE - enp94s0f1np1")),
    "ibdev2netdev_dgx1_ib.txt": (
        link("mlx5_0 1 ACTIVE - ib0"),
        link("mlx5_1 1 ACTIVE - ib1"),
        link("mlx5_2 1 ACTIVE - ib2"),
        link("mlx5_3 1 ACTIVE - ib3"),
    ),
    "ibdev2netdev_hrn3_bond.txt": (link("hrn3_bond_0 1 ACTIVE - bond0"), link("mlx5_bond_0 1 ACTIVE - bond1")),
    "ibdev2netdev_spark1.txt": (
        link("roceP2p1s0f0 1 DOWN - enP2p1s0f0np0"),
        link("roceP2p1s0f1 1 ACTIVE - enP2p1s0f1np1"),
        link("rocep1s0f0 1 DOWN - enp1s0f0np0"),
        link("rocep1s0f1 1 ACTIVE - enp1s0f1np1"),
    ),
    "ibdev2netdev_spark2.txt": (
        link("rocep1s0f0 1 ACTIVE - enp1s0f0np0"),
        link("rocep1s0f1 1 DOWN - enp1s0f1np1"),
        link("roceP2p1s0f0 1 ACTIVE - enP2p1s0f0np0"),
        link("roceP2p1s0f1 1 DOWN - enP2p1s0f1np1"),
    ),
    "ibdev2netdev_v_hdr.txt": (
        link("mlx5_0 1 ACTIVE - p5p1 - - 0000:01:00.0"),
        link("mlx5_1 1 ACTIVE - p4p1 - - 0000:41:00.0"),
        link("mlx5_2 1 ACTIVE - p2p1 - - 0000:8f:00.0"),
        link("mlx5_3 1 ACTIVE - p3p1 - - 0000:c4:00.0"),
    ),
    "ibdev2netdev_v_sriov_down.txt": (
        link("mlx5_0 1 ACTIVE - ib0 - - 0000:02:00.0"),
        link("mlx5_1 1 ACTIVE - ib1 - - 0000:81:00.0"),
        link("mlx5_2 1 DOWN - ib2 - - 0000:02:00.1"),
        link("mlx5_3 1 DOWN - ib3 - - 0000:02:00.2"),
        link("mlx5_4 1 DOWN - ib4 - - 0000:02:00.3"),
    ),
    "ibstat.47.0.a100.all.active.0.txt": (
        link("mlx5_0 1 ACTIVE LINK_UP - 200 Ethernet - 0x1e918efffe7a03a0"),
        link("mlx5_1 1 ACTIVE LINK_UP - 200 InfiniBand - 0x6b9d7f2c99902a63"),
        link("mlx5_2 1 ACTIVE LINK_UP - 200 InfiniBand - 0xb6f5686b2a0384d3"),
        link("mlx5_3 1 ACTIVE LINK_UP - 200 InfiniBand - 0xbcaf66ff1fb84de3"),
        link("mlx5_4 1 ACTIVE LINK_UP - 200 InfiniBand - 0xff764023a4d54d1f"),
        link("mlx5_5 1 ACTIVE LINK_UP - 200 InfiniBand - 0x85b89152a49a6c7f"),
        link("mlx5_6 1 ACTIVE LINK_UP - 200 InfiniBand - 0xf405e6a5caf90755"),
        link("mlx5_7 1 ACTIVE LINK_UP - 200 InfiniBand - 0x8127c63ef9e8fc5f"),
        link("mlx5_8 1 ACTIVE LINK_UP - 200 InfiniBand - 0x4c1037318e9cd20a"),
    ),
    "ibstat.47.0.h100.all.active.2.txt": (
        link("mlx5_0 1 ACTIVE LINK_UP - 400 InfiniBand - 0x58a2e10300a7820e"),
        link("mlx5_1 1 ACTIVE LINK_UP - 400 InfiniBand - 0xa088c20300da6342"),
        link("mlx5_4 1 ACTIVE LINK_UP - 400 InfiniBand - 0xa088c20300da656a"),
        link("mlx5_5 1 ACTIVE LINK_UP - 400 InfiniBand - 0xa088c20300da62aa"),
        link("mlx5_6 1 ACTIVE LINK_UP - 400 InfiniBand - 0x58a2e10300a78796"),
        link("mlx5_7 1 ACTIVE LINK_UP - 400 InfiniBand - 0x58a2e10300a78756"),
        link("mlx5_8 1 ACTIVE LINK_UP - 400 InfiniBand - 0x58a2e10300a78b5e"),
        link("mlx5_9 1 ACTIVE LINK_UP - 400 InfiniBand - 0xa088c20300da62c2"),
        link("mlx5_bond_0 1 ACTIVE LINK_UP - 200 Ethernet - 0x58a2e10300760398"),
    ),
    "ibstat.47.0.h100.some.down.0.txt": (
        link("mlx5_0 1 ACTIVE LINK_UP - 400 InfiniBand - 0x946dae0300cde72c"),
        link("mlx5_1 1 ACTIVE LINK_UP - 100 Ethernet - 0x946dae0300c2b690"),
        link("mlx5_10 1 ACTIVE LINK_UP - 400 InfiniBand - 0x946dae0300cde884"),
        link("mlx5_11 1 ACTIVE LINK_UP - 400 InfiniBand - 0x946dae0300cdea00"),
        link("mlx5_2 1 DOWN DISABLED - 40 Ethernet - 0x946dae0300c2b691"),
        link("mlx5_3 1 ACTIVE LINK_UP - 400 InfiniBand - 0x946dae0300cde728"),
        link("mlx5_4 1 ACTIVE LINK_UP - 400 InfiniBand - 0x946dae0300cde78c"),
        link("mlx5_5 1 ACTIVE LINK_UP - 400 InfiniBand - 0x946dae0300cde780"),
        link("mlx5_6 1 ACTIVE LINK_UP - 400 InfiniBand - 0x946dae0300cde8ac"),
        link("mlx5_7 1 DOWN DISABLED - 40 Ethernet - 0x946dae0300c2b648"),
        link("mlx5_8 1 DOWN DISABLED - 40 Ethernet - 0x946dae0300c2b649"),
        link("mlx5_9 1 ACTIVE LINK_UP - 400 InfiniBand - 0x946dae0300cde9c8"),
    ),
    "ibstat_mlx4_debug_ibwarn.txt": (
        link("mlx4_0 1 DOWN DISABLED - 10 InfiniBand - 0xf4521403007be0e0"),
        link("mlx4_0 2 ACTIVE LINK_UP - 56 - - 0xf4521403007be0e0"),
    ),
    "ibstatus.39.0.a100.all.active.0.txt": (
        link("mlx5_0 1 ACTIVE LINK_UP - 200 InfiniBand"),
        link("mlx5_1 1 ACTIVE LINK_UP - 200 InfiniBand"),
        link("mlx5_2 1 ACTIVE LINK_UP - 200 InfiniBand"),
        link("mlx5_3 1 ACTIVE LINK_UP - 200 InfiniBand"),
        link("mlx5_4 1 ACTIVE LINK_UP - 200 InfiniBand"),
        link("mlx5_5 1 ACTIVE LINK_UP - 200 InfiniBand"),
        link("mlx5_6 1 ACTIVE LINK_UP - 200 InfiniBand"),
        link("mlx5_7 1 ACTIVE LINK_UP - 200 InfiniBand"),
        link("mlx5_8 1 ACTIVE LINK_UP - 40 Ethernet"),
    ),
    "ibv_devinfo_cx3_vpi_ib_eth.txt": (
        link("mlx4_0 1 ACTIVE - - - InfiniBand - 0xf45214030091ba20 4096"),
        link("mlx4_0 2 DOWN - - - Ethernet - 0xf45214030091ba20 1024"),
    ),
    "ibv_devinfo_h100_deepep397.txt": (
        link("mlx5_0 1 ACTIVE - - - InfiniBand - 0x58a2e103001a677e 4096"),
        link("mlx5_3 1 ACTIVE - - - InfiniBand - 0x58a2e103001b2416 4096"),
        link("mlx5_4 1 ACTIVE - - - InfiniBand - 0x58a2e103001a2c6a 4096"),
        link("mlx5_5 1 ACTIVE - - - InfiniBand - 0x58a2e103001a6766 4096"),
        link("mlx5_6 1 ACTIVE - - - InfiniBand - 0x58a2e103001a2dfa 4096"),
        link("mlx5_9 1 ACTIVE - - - InfiniBand - 0x58a2e103001b22c6 4096"),
        link("mlx5_10 1 ACTIVE - - - InfiniBand - 0x58a2e103001b242e 4096"),
        link("mlx5_11 1 ACTIVE - - - InfiniBand - 0x58a2e103001b2136 4096"),
    ),
    "ibv_devinfo_irdma0.txt": (link("irdma0 1 ACTIVE - - - Ethernet - 0x6efe54fffe3dba88 1024"),),
    "ibv_devinfo_stelline_cx7.txt": (
        link("mlx5_0 1 DOWN - - - Ethernet - 0x9c63c00300d420f0 1024"),
        link("mlx5_1 1 DOWN - - - Ethernet - 0x9c63c00300d420f1 1024"),
        link("mlx5_2 1 DOWN - - - Ethernet - 0xb8e92403004edeb0 4096"),
        link("mlx5_3 1 DOWN - - - Ethernet - 0xb8e92403004edeb1 4096"),
    ),
    "rdma_link_cloudlab_blanklines.txt": (
        link("mlx5_0 1 ACTIVE LINK_UP eno33"),
        link("mlx5_1 1 DOWN DISABLED eno34"),
        link("mlx5_2 1 ACTIVE LINK_UP enp65s0f0"),
        link("mlx5_3 1 DOWN DISABLED enp65s0f1"),
    ),
    "rdma_link_flap_sequence.txt": (link("mlx5_7 1 DOWN POLLING"),),
    "rdma_link_ib_wrapped_netdev.txt": (link("mlx5_0 1 ACTIVE LINK_UP ibp196s0f0"),),
}

LLDP: dict[str, tuple[Fact, ...]] = {
    "json_puppet_nosysname.json": (
        Neighbor(
            "enp3s0",
            chassis_id="44:94:fc:9d:55:0a",
            chassis_id_type="mac",
            port_id="g17",
            port_id_type="local",
            ttl_seconds=120,
            age_seconds=3712,
            management_addresses=("192.168.178.21",),
            via="LLDP",
        ),
    ),
    "json_sichek_bjg45.json": (
        Neighbor(
            "ens11f0",
            chassis_id="0c:4f:9b:c4:18:61",
            chassis_id_type="mac",
            system_name="bj08-m1-a10-40-swl017",
            port_id="25GE1/0/39",
            port_id_type="ifname",
            ttl_seconds=120,
            age_seconds=263522,
            management_addresses=("214.30.0.21",),
            via="LLDP",
        ),
    ),
    "keyvalue_mozilla_eth0_eth1.txt": (
        Neighbor(
            "eth0",
            chassis_id="AA:AA:AA:AA:AA:AA",
            chassis_id_type="mac",
            system_name="switch1.vlan.dc.mozilla.com",
            port_id="Gi3/0/9",
            port_id_type="ifname",
            port_description="GigabitEthernet3/0/9",
            age_seconds=1503411,
            management_addresses=("10.99.99.1",),
            via="LLDP",
        ),
        Neighbor(
            "eth1",
            chassis_id="AA:AA:AA:AA:AA:AA",
            chassis_id_type="mac",
            system_name="switch1.vlan.dc.mozilla.com",
            port_id="Gi4/0/9",
            port_id_type="ifname",
            port_description="GigabitEthernet4/0/9",
            age_seconds=1503409,
            management_addresses=("10.99.99.1",),
            via="LLDP",
        ),
    ),
    "keyvalue_qfx_breakout_maskedmac.txt": (
        Neighbor(
            "ens1f0",
            chassis_id="xx:xx:xx:xx:xx:xx",
            chassis_id_type="mac",
            system_name="tor-sw-413-1.infra.xxxx.lab",
            port_id="et-0/0/1:3",
            port_id_type="ifname",
            port_description="et-0/0/1:3",
            ttl_seconds=120,
            age_seconds=13,
            via="LLDP",
        ),
    ),
    "lldpctl_cumulus379_text.txt": (
        Neighbor(
            "swp1",
            chassis_id="52:54:00:2d:fa:de",
            chassis_id_type="mac",
            system_name="spine01",
            port_id="swp1",
            port_id_type="ifname",
            port_description="swp1",
            ttl_seconds=120,
            age_seconds=50851,
            management_addresses=("10.0.0.21", "fe80::5054:ff:fe2d:fade"),
            via="LLDP",
        ),
        Neighbor(
            "swp2",
            chassis_id="52:54:00:6f:f2:17",
            chassis_id_type="mac",
            system_name="spine02",
            port_id="swp1",
            port_id_type="ifname",
            port_description="swp1",
            ttl_seconds=120,
            age_seconds=50851,
            management_addresses=("10.0.0.22", "fe80::5054:ff:fe6f:f217"),
            via="LLDP",
        ),
        Neighbor(
            "swp3",
            chassis_id="52:54:00:18:56:dd",
            chassis_id_type="mac",
            system_name="leaf02",
            port_id="swp3",
            port_id_type="ifname",
            port_description="swp3",
            ttl_seconds=120,
            age_seconds=50765,
            management_addresses=("10.0.0.12", "fe80::5054:ff:fe18:56dd"),
            via="LLDP",
        ),
    ),
    "lldptool_huawei_multiline_truncated.txt": (
        Neighbor(
            "",
            chassis_id="18:cf:24:3c:72:c1",
            chassis_id_type="mac",
            system_name="HB.LF-RZ.M1.102-HW-CE6855-U1-A2-In-254.79-DPVS-Test",
            port_id="10GE1/0/15",
            port_id_type="ifname",
            ttl_seconds=120,
            management_addresses=("10.44.2.79",),
        ),
    ),
    "lldptool_ovirt_junos_local.txt": (
        Neighbor(
            "",
            chassis_id="30:7c:5e:84:e1:a0",
            chassis_id_type="mac",
            system_name="rack11-sw02-lab4.tlv",
            port_id="510",
            port_id_type="local",
            port_description="ge-0/0/2",
            ttl_seconds=120,
        ),
    ),
    "lldptool_tin.txt": (
        Neighbor(
            "",
            chassis_id="f8:b1:56:15:e6:c6",
            chassis_id_type="mac",
            system_name="Switch POD",
            port_id="gi1/1",
            port_id_type="ifname",
            port_description="gigabitethernet1/1",
            ttl_seconds=120,
        ),
    ),
    "lldptool_tin2.txt": (
        Neighbor(
            "",
            chassis_id="58:f3:9c:81:ad:95",
            chassis_id_type="mac",
            system_name="AC3K-51D4-05.local.odcnoord.nl",
            port_id="Ethernet1/14",
            port_id_type="ifname",
            port_description="SRV-51D4-14",
            ttl_seconds=120,
            management_addresses=("10.100.5.24",),
        ),
    ),
    "networkctl_lldp_aruba_ellipsis.txt": (
        Neighbor("eno1", chassis_id="10:4f:58:e7:d5:60", chassis_id_type="mac", port_id="10", port_description="10"),
        Neighbor("eno2", chassis_id="10:4f:58:e7:d5:60", chassis_id_type="mac", port_id="1", port_description="1"),
    ),
    "sz_lldpctl_edge01_ospf.txt": (
        Neighbor(
            "eth1",
            chassis_id="52:54:00:a5:b8:1e",
            chassis_id_type="mac",
            system_name="exit01",
            port_id="swp5",
            port_id_type="ifname",
            port_description="swp5",
            age_seconds=532,
            management_addresses=("10.0.0.101", "fe80::5054:ff:fea5:b81e"),
            via="LLDP",
        ),
        Neighbor(
            "eth2",
            chassis_id="52:54:00:83:b0:c4",
            chassis_id_type="mac",
            system_name="exit02",
            port_id="swp5",
            port_id_type="ifname",
            port_description="swp5",
            age_seconds=533,
            management_addresses=("10.0.0.102", "fe80::5054:ff:fe83:b0c4"),
            via="LLDP",
        ),
    ),
}

READ = {
    **{("gpu_nic_topology", "topo", file): facts for file, facts in TOPO.items()},
    **{("rdma_link", "rdma", file): facts for file, facts in RDMA.items()},
    **{("lldp_host", "lldp_host", file): facts for file, facts in LLDP.items()},
}

REFUSED = {
    ("gpu_nic_topology", "topo", "f11_a100_commented_partial.txt"): "the header promises GPU1, but its row is missing",
    ("gpu_nic_topology", "topo", "f12_polaris_markdown_table.md"): "no header of GPUs",
    ("gpu_nic_topology", "topo", "t36_vllm16336_b200_headless_truncated.txt"): "a row before any header",
    ("rdma_link", "rdma", "show_gids_bond.txt"): "not an answer about RDMA links",
}


def read(collector: str, folder: str, file: str) -> tuple[Fact, ...]:
    return collectors()[collector].read((CORPUS / folder / file).read_bytes().decode(), Device("host"))


@each("case", READ, ids="/".join)
def test_is_read_in_full(case: tuple[str, str, str]) -> None:
    assert read(*case) == READ[case]


@pytest.mark.parametrize("case", REFUSED, ids="/".join)
def test_is_refused_for_what_is_wrong_with_it(case: tuple[str, str, str]) -> None:
    with pytest.raises(UnreadableError, match=REFUSED[case]):
        read(*case)


def test_no_file_of_the_corpus_is_left_out() -> None:
    covered = {(folder, file) for _, folder, file in (*READ, *REFUSED)}
    assert covered == {
        (folder, path.name) for folder in ("topo", "rdma", "lldp_host") for path in (CORPUS / folder).iterdir()
    }
