"""Linux: GPU hosts, and the Linux tools of other platforms."""

from truerail.simulator.platforms._platform import Platform, prints_text
from truerail.simulator.platforms.linux import ethtool_counters, host, ip_link, lldp_agents, lldpctl, sysfs_files
from truerail.simulator.platforms.linux.switch import OS_RELEASE

PLATFORM = Platform(
    description="Ubuntu 22.04.5 LTS Linux 5.15.0-122-generic #132-Ubuntu SMP Thu Aug 29 13:45:52 UTC 2024 x86_64",
    default_name="ubuntu",
    runs_lldpd=True,
    frames=lldp_agents.frames,
    neighbors=host.neighbors,
    answers=host.answers,
    steady={
        "nvidia-smi topo -m": lambda ether, name: host.matrix(ether.world, name),
        "rdma link": lambda ether, name: host.rdma_answer(ether.world, name),
        sysfs_files.SPEEDS: lambda ether, name: host.speeds(ether.world, name),
        OS_RELEASE: prints_text('NAME="Ubuntu"\nVERSION_ID="22.04"\nID=ubuntu\nID_LIKE=debian\n'),
        **ip_link.tools(host.interfaces),
    },
    fleeting=lldpctl.tools(),
    counters={ethtool_counters.NIC_LOOP: ethtool_counters.ethtool, sysfs_files.RDMA_COUNTERS: ethtool_counters.sysfs},
)
