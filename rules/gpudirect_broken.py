"""A host's GPUs cannot reach their NICs directly, or not as its peers' can.

## Why it matters
With GPUDirect RDMA a NIC reads and writes GPU memory itself. Where something stands in between, NCCL copies through the
host's memory, or every transfer climbs to the CPU's root complex: half the bandwidth, or less, on all rails of this
host, and so for the whole job. No cable and no counter shows why.

## How it is detected
The settings that the host reports, and the distance of its GPUs to NICs (`nvidia-smi topo -m`), compared with other
hosts:

- NVIDIA's driver is loaded and nvidia-peermem is not. Nothing is wrong where DMA-BUF does its work (NVIDIA's open
  kernel module, Linux 5.12 or newer); a warning with the proprietary module, which lacks it. Where the kind of module
  is unknown: a warning where most hosts have nvidia-peermem loaded, else info.
- nvidia-fs, by which storage reaches GPU memory (GPUDirect Storage), is not loaded, and is on most hosts, three of them
  at least.
- ACS redirects traffic between devices below a PCIe bridge up to the root complex. A warning, unless all hosts that
  report it, at least three, do so: virtual machines and Grace hosts need it.
- The IOMMU translates the NICs' addresses (not `passthrough`): the same.
- A GPU's nearest NIC is further away than on most hosts with as many GPUs and NICs, three of them at least.

A host is not evaluated by a setting that it does not report; `lspci` shows ACS to root alone.

## What to do
`modprobe nvidia-peermem`, or verify DMA-BUF (`NCCL_DEBUG=INFO` shows `GPU Direct RDMA Enabled`, or `DMABUF`). Switch
ACS off in the BIOS or with `setpci`, and the IOMMU off or to `iommu=pt` on the kernel's command line. For a GPU that is
far from its NIC compare the slots with a host that is right.

## Decide
- `nvidia-peermem is not loaded`: `modprobe nvidia-peermem`; make it permanent in the image.
- `nvidia-fs is not loaded`: `modprobe nvidia-fs`; reads of storage pass through the host's memory until then.
- `ACS redirects`: a BIOS or kernel setting. Drain the host, switch ACS off, reboot.
- `IOMMU translates`: set `iommu=pt`, at the next reboot.

## False positives
A distribution may have brought DMA-BUF into a kernel before 5.12: then NCCL needs no nvidia-peermem either, and
`NCCL_DEBUG=INFO` shows `GPU Direct RDMA Enabled` or `DMABUF`. Virtual machines need ACS and the IOMMU.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial

from rules._examples import alike, railed
from rules._links import majority
from truerail.analysis.cabling import ONE_END, Wiring
from truerail.analysis.cabling.paths import CLOSENESS
from truerail.analysis.rule import Case, Findings, Round, rule
from truerail.model import CauseKind, Evidence, Fact, GpuNicPath, HostSetting, Reading, Severity, Transport
from truerail.model.names import printable, some

LEAST_PEERS = 3
"""Hosts of which more than half must agree to be a majority, as for MTUs (LNK002)."""
_SHOWN = 4
_WORDS = {level: word for word, level in reversed(CLOSENESS.items())}

Settings = Mapping[str, list[HostSetting]]
"""By name of the setting, the facts that show it is in the way: none where it is known and right."""


@dataclass(frozen=True, slots=True)
class _Paths:
    """How many GPUs and NICs a topology shows, and the closeness of each GPU's nearest NIC. Equal hosts share one."""

    model: tuple[int, int]
    nearest: Mapping[int, int]


@dataclass(slots=True)
class _Host:
    """The facts of a host, and its faults."""

    settings: Settings = field(default_factory=dict)
    answer: Reading | None = None
    """The reading with the settings."""
    paths: _Paths | None = None
    topology: Reading | None = None
    """The reading with the paths."""
    faults: list[tuple[str, str, Severity]] = field(default_factory=list)
    """Each as summary, action and severity."""
    evidence: list[Evidence] = field(default_factory=list)


_IN_THE_WAY = {
    "nvidia_peermem": "not loaded",
    "dma_buf": "not supported",
    "acs": "enabled",
    "iommu": "on",
    "nvidia_fs": "not loaded",
}
_NEITHER = "neither"
"""Key of a host that has neither nvidia-peermem nor DMA-BUF."""
_SAYS = {
    _NEITHER: ("nvidia-peermem is not loaded, and NVIDIA's proprietary module has no DMA-BUF", "load nvidia-peermem"),
    "nvidia_peermem": ("nvidia-peermem is not loaded", "load nvidia-peermem, or make sure that NCCL uses DMA-BUF"),
    "acs": ("ACS redirects traffic between devices", "switch ACS off"),
    "iommu": ("the IOMMU translates the NICs' addresses", "set `iommu=pt`"),
    "nvidia_fs": ("nvidia-fs is not loaded: storage does not reach GPU memory directly", "load nvidia-fs"),
}


@rule(
    "NIC004",
    Severity.WARNING,
    [HostSetting],
    transports=[Transport.ROCE, Transport.INFINIBAND],
    cause=CauseKind.SLOW_HOST,
    first="where HOST",
)
def gpudirect_broken(round: Round) -> Findings:
    """Planned hosts on which something stands between GPUs and NICs."""
    hosts = _reported(round.cabling)
    for setting in _SAYS:
        _evaluate_setting(setting, hosts)
    _evaluate_paths(hosts)
    for name, host in hosts.items():
        if host.faults:
            loudest = max((severity for _, _, severity in host.faults), key=lambda severity: severity.rank)
            yield gpudirect_broken.found(
                name,
                severity=loudest,
                summary=f"On {name} {'; '.join(summary for summary, _, _ in host.faults)}",
                action=f"On {name} {'; '.join(dict.fromkeys(does for _, does, _ in host.faults))}.",
                confidence=ONE_END,
                evidence=tuple(host.evidence),
            )


def _reported(wiring: Wiring) -> dict[str, _Host]:
    """The planned hosts that reported a setting or their topology."""
    hosts: dict[str, _Host] = {}
    paths: dict[int, _Paths] = {}  # by id: equal topologies of thousands of hosts are one tuple
    settings = cache(_settings)
    for reading in wiring.seen.readings:
        first = type(reading.facts[0]) if reading.facts else None  # facts of one kind are adjacent, settings first
        if first is not HostSetting and first is not GpuNicPath:
            continue
        code = wiring.identity.filed(reading.device)
        if code < wiring.index.devices.planned and wiring.index.devices.is_host(code):
            host = hosts.setdefault(wiring.index.devices.names[code], _Host())
            if first is GpuNicPath:
                key = id(reading.facts)
                if key not in paths:
                    paths[key] = _nearest(reading.facts)
                host.topology, host.paths = reading, paths[key]
            else:
                host.answer, host.settings = reading, settings(reading.facts)
    return hosts


def _settings(facts: tuple[Fact, ...]) -> Settings:
    """By name, the settings that are in the way; none where it is set right. A setting of each device beats what the
    kernel was asked for as a whole.
    """
    reported = [fact for fact in facts if isinstance(fact, HostSetting) and fact.name in _IN_THE_WAY]
    of_device = {fact.name for fact in reported if fact.device}
    found: dict[str, list[HostSetting]] = {}
    for fact in reported:
        if fact.device or fact.name not in of_device:
            bad = found.setdefault(fact.name, [])
            if fact.value == _IN_THE_WAY[fact.name]:
                bad.append(fact)
    if "dma_buf" in found and "nvidia_peermem" in found:  # one of the two is enough
        without, missing = found.pop("dma_buf"), found["nvidia_peermem"]
        found[_NEITHER] = [*missing, *without] if missing and without else []
        found["nvidia_peermem"] = []
    return found


def _nearest(facts: tuple[Fact, ...]) -> _Paths:
    paths = [fact for fact in facts if isinstance(fact, GpuNicPath)]
    found: dict[int, int] = {}
    for path in paths:
        level = CLOSENESS.get(path.level)
        if level is not None:
            found[path.gpu] = min(level, found.get(path.gpu, level))
    return _Paths((len({path.gpu for path in paths}), len({path.nic for path in paths})), found)


def _evaluate_setting(name: str, hosts: Mapping[str, _Host]) -> None:
    """Adds the fault of a setting to the hosts that have it. A setting that all hosts have may be intended."""
    reported = [host for host in hosts.values() if name in host.settings]
    bad = [host for host in reported if host.settings[name]]
    common = 2 * len(bad) > len(reported) >= LEAST_PEERS
    meant = _is_meant(name, len(bad), len(reported))
    summary, does = _SAYS[name]
    for host in bad if not meant else ():
        facts = host.settings[name]
        at = [printable(fact.device, 20) for fact in facts if fact.device]
        where = f" at {some(at)}" if at else ""
        peers = f" ({len(reported) - len(bad)} of {len(reported)} hosts are set right)" if len(reported) > 1 else ""
        quiet = name == "nvidia_peermem" and (common or len(reported) < LEAST_PEERS)
        host.faults.append((f"{summary}{where}{peers}", does, Severity.INFO if quiet else Severity.WARNING))
        host.evidence += _evidence(host.answer, facts[:_SHOWN])


def _is_meant(name: str, bad: int, reported: int) -> bool:
    """Whether a setting may be intended, because all hosts have it, or of storage, because not most are without it."""
    if name == "nvidia_fs":
        return reported < LEAST_PEERS or 2 * (reported - bad) <= reported
    return name in ("acs", "iommu") and bad == reported >= LEAST_PEERS


def _evaluate_paths(hosts: Mapping[str, _Host]) -> None:
    """Adds GPUs whose nearest NIC is further away than that of the same GPU on most hosts of the same model."""
    patterns = {id(host.paths): host.paths for host in hosts.values() if host.paths}
    usual = _usual(patterns, Counter(id(host.paths) for host in hosts.values()))
    far = {
        key: [gpu for gpu, level in sorted(paths.nearest.items()) if level > usual.get((paths.model, gpu), level)]
        for key, paths in patterns.items()
    }
    for host in hosts.values():
        if host.paths and far[id(host.paths)]:
            _add_far(host, host.paths, far[id(host.paths)], usual)


Usual = Mapping[tuple[tuple[int, int], int], int]
"""Model and GPU to the closeness on most hosts."""


def _usual(patterns: Mapping[int, _Paths], hosts: Mapping[int, int]) -> Usual:
    votes: dict[tuple[tuple[int, int], int], Counter[int]] = {}
    for key, paths in patterns.items():
        for gpu, level in paths.nearest.items():
            votes.setdefault((paths.model, gpu), Counter())[level] += hosts[key]
    most = {key: majority(of, LEAST_PEERS) for key, of in votes.items()}
    return {key: level for key, level in most.items() if level is not None}


def _add_far(host: _Host, paths: _Paths, far: list[int], usual: Usual) -> None:
    words = {gpu: (_WORDS[paths.nearest[gpu]], _WORDS[usual[paths.model, gpu]]) for gpu in far}
    shown = [f"GPU{gpu} is {is_} from its NIC, elsewhere {was}" for gpu, (is_, was) in words.items()]
    host.faults.append(
        (some(shown, more=", and {} GPUs more"), "compare slots and BIOS with a correct host", Severity.WARNING)
    )
    reported = host.topology.facts if host.topology else ()
    of_gpu = [fact for fact in reported if isinstance(fact, GpuNicPath) and fact.gpu == far[0]]
    nearest = [fact for fact in of_gpu if CLOSENESS.get(fact.level) == paths.nearest[far[0]]]
    host.evidence += _evidence(host.topology, nearest[:1])


def _evidence(reading: Reading | None, facts: Iterable[Fact]) -> list[Evidence]:
    return [Evidence(reading.device, reading.collector, reading.at, fact) for fact in facts if reading]


PLAN = railed(4)
_THREE = "gpu-1 gpu-2 gpu-3"
_NO_PEERMEM = HostSetting("nvidia_peermem", "not loaded")
_FS, _NO_FS = HostSetting("nvidia_fs", "loaded"), HostSetting("nvidia_fs", "not loaded")
_RIGHT = [
    HostSetting("nvidia_peermem", "loaded"),
    HostSetting("acs", "disabled", "0000:15:01.0"),
    HostSetting("iommu", "passthrough", "0000:18:00.0"),
]


def _paths(level: str) -> list[GpuNicPath]:
    return [GpuNicPath(0, "NIC0", "mlx5_0", level), GpuNicPath(0, "NIC1", "mlx5_1", "SYS")]


_finds_last = partial(Case, finds="gpu-4")

EXAMPLES = {
    "Neither nvidia-peermem nor DMA-BUF, on every host.": Case(
        alike(_THREE, [_NO_PEERMEM, HostSetting("dma_buf", "not supported")]), "gpu-1 gpu-2 gpu-3"
    ),
    "Storage reaches GPU memory on three of four hosts.": _finds_last(alike(_THREE, [_FS]) | {"gpu-4": [_NO_FS]}),
    "nvidia-peermem is loaded on three of four hosts.": _finds_last(alike(_THREE, _RIGHT) | {"gpu-4": [_NO_PEERMEM]}),
    "ACS and the IOMMU are on; there is no other host to compare with.": Case(
        {"gpu-1": [_NO_PEERMEM, HostSetting("acs", "enabled", "0000:15:01.0"), HostSetting("iommu", "on")]}, "gpu-1"
    ),
    "A GPU reaches its NIC over the CPU, on the other hosts over one PCIe switch.": _finds_last(
        alike(_THREE, _paths("PXB")) | {"gpu-4": _paths("NODE")}
    ),
    # Quiet:
    "The open kernel module does the work of nvidia-peermem by DMA-BUF.": Case(
        alike(_THREE, _RIGHT) | {"gpu-4": [_NO_PEERMEM, HostSetting("dma_buf", "supported")]}
    ),
    "Two hosts of four are without nvidia-fs: not all use GPUDirect Storage.": Case(
        alike("gpu-1 gpu-2", [_FS]) | alike("gpu-3 gpu-4", [_NO_FS])
    ),
    "All is set right on every host.": Case(alike(f"{_THREE} gpu-4", _RIGHT)),
    "Every host has the IOMMU on: it is intended, as for virtual machines.": Case(
        alike(_THREE, [HostSetting("iommu", "on", "0000:18:00.0")])
    ),
    "The kernel was asked for translation, and the NICs' own group is passed through.": Case(
        {"gpu-1": [HostSetting("iommu", "on"), HostSetting("iommu", "passthrough", "0000:18:00.0")]}
    ),
}
