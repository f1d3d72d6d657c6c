"""The platforms that truerail polls: a row for each. Inventories, the probe of unnamed devices, shells, the gate of
commands and forced commands follow from it.

The patterns are those of the answers themselves: os-release(5) of Debian, Ubuntu and Cumulus Linux; `show version` of
SONiC, Arista EOS, Cisco NX-OS and IOS-XR, Junos OS and Junos OS Evolved, Nokia SR Linux, Dell OS10 and AOS-CX. Comware
and VRP have no `show version`, and SONiC's `sonic-cli` reports itself as SONiC: an inventory names these three.
"""

from dataclasses import dataclass

OS_RELEASE = "cat /etc/os-release"
SHOW_VERSION = "show version"
PROBES = (SHOW_VERSION, OS_RELEASE)
"""SONiC is a Debian by its os-release, so its `show version` is looked at first."""


@dataclass(frozen=True, slots=True)
class Platform:
    """One platform. `shows` and `pattern` identify a device whose platform the inventory does not set: one of the
    `PROBES`, and what is found in its answer, in lower case. Each answer matches one pattern at most.
    """

    name: str
    shows: str = ""
    pattern: str = ""
    shell: str = ""
    """netmiko's name, where its interactive shell can be driven: for switches that refuse exec channels."""
    is_host: bool = False
    """Whether a device without a role in inventory and plan is a host; otherwise it is a switch."""
    named_commands_only: bool = False
    """It runs only commands that name it: an agent has no command line, a host does not walk a fabric."""
    takes_forced_command: bool = False
    """Whether its sshd takes a ForceCommand. Other switches have roles of their own for this."""


INFINIBAND = "infiniband"
"""The platform of a Linux machine that walks the InfiniBand fabric. It is no device of the plan, and has no role."""
SLURM = "slurm"
KUBERNETES = "kubernetes"
"""The platforms of a machine with the clients of a scheduler. It is polled for jobs only, and is no device of the
plan.
"""
OTHER_JOBS = "jobs"
"""The platform of a machine whose command `truerail-jobs` prints the jobs of any other scheduler."""
SLURM_API, KUBERNETES_API = "slurm_api", "kubernetes_api"
"""What a scheduler is asked by HTTP: slurmrestd, and the API of Kubernetes."""
PROMETHEUS_API = "prometheus_api"
"""A Prometheus that is asked for what NCCL's Inspector wrote."""
NCCL = "nccl"
"""The platform of a host in its second role, as one on which a job of NCCL runs: it is polled for NCCL's RAS only."""
SNMP = "snmp"
GNMI = "gnmi"
"""What a device is asked by `transport: gnmi`: OpenConfig's paths, whatever its network operating system."""

TABLE = (
    Platform("linux", OS_RELEASE, r'^id=(?!"?cumulus)', is_host=True, takes_forced_command=True),
    Platform("cumulus", OS_RELEASE, r'^id="?cumulus', takes_forced_command=True),
    Platform("sonic", SHOW_VERSION, r"sonic software version", takes_forced_command=True),
    Platform("eos", SHOW_VERSION, r"^\s*arista ", "arista_eos"),
    Platform("nxos", SHOW_VERSION, r"nexus operating system", "cisco_nxos"),
    Platform("junos", SHOW_VERSION, r"^junos[: ]|juniper networks", "juniper_junos"),
    Platform("srlinux", SHOW_VERSION, r"^chassis type +: 7\d{3} \w", "nokia_srl"),
    Platform("iosxr", SHOW_VERSION, r"^cisco ios xr software", "cisco_xr"),
    Platform("os10", SHOW_VERSION, r"^dell .*\bos10\b", "dell_os10"),
    Platform("aoscx", SHOW_VERSION, r"^(?:aruba)?(?:aos|os)-cx\b", "aruba_aoscx"),
    Platform("comware", "", "", "hp_comware"),
    Platform("vrp", "", "", "huawei_vrp"),
    Platform("sonic_cli", "", "", "dell_sonic"),
    Platform(SNMP, named_commands_only=True),
    Platform(GNMI, named_commands_only=True),
    Platform(INFINIBAND, is_host=True, named_commands_only=True, takes_forced_command=True),
    Platform(SLURM, is_host=True, named_commands_only=True, takes_forced_command=True),
    Platform(KUBERNETES, is_host=True, named_commands_only=True, takes_forced_command=True),
    Platform(OTHER_JOBS, is_host=True, named_commands_only=True, takes_forced_command=True),
    Platform(SLURM_API, is_host=True, named_commands_only=True),
    Platform(KUBERNETES_API, is_host=True, named_commands_only=True),
    Platform(PROMETHEUS_API, is_host=True, named_commands_only=True),
    Platform(NCCL, is_host=True, named_commands_only=True),
)
APART = (INFINIBAND, SLURM, KUBERNETES, OTHER_JOBS, SLURM_API, KUBERNETES_API, PROMETHEUS_API, NCCL)
"""The platforms of machines that are polled for what they know of others, not for their own cables."""
PLATFORMS = tuple(one.name for one in TABLE if one.name not in (GNMI, SLURM_API, KUBERNETES_API, PROMETHEUS_API))
"""What an inventory or a plan may name."""
