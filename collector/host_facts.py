"""How a host is set up for GPUs to reach NICs directly, and how its PCIe links came up.

Question: can NICs and storage reach GPU memory (nvidia-peermem, DMA-BUF, nvidia-fs), do IOMMU and ACS let peers talk
directly, is any NIC or GPU on a slow PCIe link?
Needs: sysfs (any user); ACS is in the part of the configuration space that `lspci` shows only to root.

Formats: `path:value` lines of `grep -H .` over sysfs, followed by the lines of `lspci -vv`; `lspci -vv` alone, as
sosreport keeps it; `lsmod`. Sources: the kernel's `Documentation/ABI/testing/sysfs-bus-pci` and
`sysfs-kernel-iommu_groups`, pciutils `ls-caps.c`, `ls-ecaps.c`.

Facts: `PcieLink` of each RDMA device and GPU, and as `HostSetting`

- `nvidia_peermem`: `loaded`, or `not loaded` if NVIDIA's driver is loaded without it (`nv_peer_mem` counts as it).
- `nvidia_fs`, the module of GPUDirect Storage: the same.
- `dma_buf`: `supported` by NVIDIA's open kernel module with Linux 5.12 or newer, where nvidia-peermem is not needed;
  `not supported` by the proprietary one. Unknown with an older kernel, into which a distribution may have brought it.
  Source: NVIDIA GPU Operator, "GPUDirect RDMA and GPUDirect Storage"; `/proc/driver/nvidia/version` names the module
  (`NVIDIA UNIX Open Kernel Module`, `NVIDIA UNIX x86_64 Kernel Module`; driver README, "Open Linux Kernel Modules").
- `iommu` of a device: `on` (its addresses are translated) or `passthrough` (its group's type is `identity`). Unknown
  for a device without a group, and with a kernel before 5.11.
- `acs` of a bridge: `enabled` if any of SrcValid, ReqRedir, CmpltRedir, UpstreamFwd is on, so that traffic between
  two devices below it goes up to the root; else `disabled`.

Traps:

- A GPU lowers its link's speed while idle: a slow link means something only on a busy GPU.
- A device that has dropped off the bus shows `Unknown` speed and the widths 0, 63 and 255: not reported.
- The maximum is the device's; the slot may support less. `lspci` without `-D` omits the domain, which then is 0000.
- Text after the list of modules shows that it is complete; `lsmod` lists a module above those that it needs. Only then
  is `not loaded` reported.
- The last line counts only if a line feed ends it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from collector.formats.sysfs import files
from collector.formats.text import lines
from truerail.errors import NoAnswerError
from truerail.model import Command, Device, HostSetting, PcieLink, Role, collector, minutes, saved_as

_LIVE = (
    "cd /sys; i=class/infiniband/*/device; d=bus/pci/dr*; grep -sH . module/nv*/inits* $i/uevent "
    "$i/*_link_* $i/iommu_group/type $d/nvidia/*:*/*_link_* $d/amdgpu/*:*/*_link_* /proc/d*/nvidia/v* /proc/version; "
    'lspci -Dvv | grep -E "^[0-9a-f]|ACSCtl"; :'
)
Reported: TypeAlias = HostSetting | PcieLink
_DRIVER = "nvidia"
_GPUDIRECT = {"nvidia_peermem": ("nvidia_peermem", "nv_peer_mem"), "nvidia_fs": ("nvidia_fs",)}
"""Settings, and the modules that make them."""
_PROC, _DRIVER_VERSION, _KERNEL_VERSION = "/proc/", "driver/nvidia/version", "version"
_OPEN, _PROPRIETARY = "NVIDIA UNIX Open Kernel ", re.compile(r"NVIDIA UNIX \S+ Kernel Module ")
_KERNEL = re.compile(r"Linux version (\d{1,3})\.(\d{1,3})\.")
_WITH_DMA_BUF = (5, 12)
_MODULE = re.compile(r"(?:.*/)?module/([^/]+)/initstate")
_OF_DEVICE = re.compile(
    r"(?:.*/)?(?:infiniband/(?P<rdma>[^/]+)/device|(?P<pci>[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]))/(?P<what>.+)"
)
_SPEED = re.compile(r"(\d+(?:\.\d+)?) GT/s.*")
_UNKNOWN_WIDTHS = (0, 63, 255)
_IOMMU = {"identity": "passthrough", "DMA": "on", "DMA-FQ": "on"}
_LSMOD = re.compile(r"[ \t]*Module +Size +Used by")
_ABOVE_LSMOD = 5
"""The title of `lsmod` is within these first lines: a prompt or a fence may be above it."""


ASK = (Command(_LIVE), *saved_as("lspci -nnvv", "lspci -vv", "lspci -vvv", "lspci -Dvv", "lspci -nnvvv", "lsmod"))


@collector(on=[Role.HOST], ask=ASK, every=minutes(10), yields=[HostSetting, PcieLink], optional=True)
def host_facts(answer: str, device: Device) -> Iterable[Reported]:
    """Settings and PCIe links. Raises `UnreadableError` if the answer reports none."""
    text = lines(answer)
    found: list[Reported]
    listed = next((at for at, line in enumerate(text[:_ABOVE_LSMOD]) if _LSMOD.match(line)), None)
    if listed is not None:
        found = list(_modules({line.split()[0]: "live" for line in text[listed + 1 : -1] if line.strip()}))
    else:
        found = [*_from_sysfs(list(files(answer))), *from_lspci(text[:-1])]
    if not found:
        raise NoAnswerError("no setting and no PCIe link in it", line=1, text=text[0])
    return found


def _from_sysfs(reported: Sequence[tuple[str, str]]) -> Iterator[Reported]:
    modules: dict[str, str] = {}
    said: dict[str, str] = {}
    devices: dict[str, dict[str, str]] = {}
    for path, value in reported:
        module, of_device = _MODULE.fullmatch(path), _OF_DEVICE.fullmatch(path)
        if module:
            modules[module[1]] = value
        elif of_device:
            kept = devices.setdefault(of_device["rdma"] or of_device["pci"], {})
            key, _, content = value.partition("=") if of_device["what"] == "uevent" else (of_device["what"], "", value)
            kept[key] = content
        else:
            said.setdefault(path.rpartition(_PROC)[2], value)
    if reported and not _MODULE.fullmatch(reported[-1][0]):
        yield from _modules(modules)
    yield from _dma_buf(said.get(_DRIVER_VERSION, ""), said.get(_KERNEL_VERSION, ""))
    for name, kept in devices.items():
        yield from _device(name, kept)


def _modules(modules: dict[str, str]) -> Iterator[HostSetting]:
    for setting, names in _GPUDIRECT.items():
        loaded = any(modules.get(name) == "live" for name in names)
        if loaded or _DRIVER in modules:
            yield HostSetting(setting, "loaded" if loaded else "not loaded")


def _dma_buf(driver: str, linux: str) -> Iterator[HostSetting]:
    """By the first line of the driver's version and the release of the kernel; none where these do not decide."""
    kernel = _KERNEL.match(linux)
    if _OPEN in driver:
        if kernel and (int(kernel[1]), int(kernel[2])) >= _WITH_DMA_BUF:
            yield HostSetting("dma_buf", "supported")
    elif _PROPRIETARY.search(driver):
        yield HostSetting("dma_buf", "not supported")


def _device(name: str, kept: dict[str, str]) -> Iterator[Reported]:
    """One device in sysfs, named by its PCI address, or by its RDMA name if that contains the address."""
    address = kept.get("PCI_SLOT_NAME", name)
    if ":" not in address:
        return
    speeds = _speed(kept.get("current_link_speed")), _speed(kept.get("max_link_speed"))
    widths = _width(kept.get("current_link_width")), _width(kept.get("max_link_width"))
    if any((*speeds, *widths)):
        yield PcieLink(address, speeds[0], widths[0], speeds[1], widths[1], name if name != address else None)
    if "iommu_group/type" in kept:
        kind = kept["iommu_group/type"]
        yield HostSetting("iommu", _IOMMU.get(kind, kind), address)


def _speed(text: str | None) -> float | None:
    found = _SPEED.fullmatch(text or "")
    return float(found[1]) if found else None


def _width(text: str | None) -> int | None:
    width = int(text) if text and text.isdecimal() and len(text) < 4 else 0
    return None if width in _UNKNOWN_WIDTHS else width


# ----------------------------------------------------------------------------------------------------------------------
# The blocks of `lspci -vv`: each device's PCIe link, and whether a bridge isolates its devices (ACS).

_HEAD = re.compile(r"\s*((?:[0-9a-f]{4,}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) ([^:]+): ")
_LINK = re.compile(r"\s*Lnk(Cap|Sta):\s.*?Speed ([\d.]+)GT/s.*?Width x(\d+)")
_ACS = re.compile(r"\s*ACSCtl:\s+(.*)")
_CLASSES = (
    *("Ethernet controller", "Infiniband controller", "Network controller"),
    *("3D controller", "VGA compatible", "Display controller", "Processing accelerators"),
)
"""The devices whose links are reported: NICs and GPUs. lspci names the class in these words; AMD's MI200 are display
controllers, its MI300 processing accelerators.
"""
_REDIRECTS = ("SrcValid+", "ReqRedir+", "CmpltRedir+", "UpstreamFwd+")


def from_lspci(text: Sequence[str]) -> Iterator[PcieLink | HostSetting]:
    """Links of NICs and GPUs, and `acs` of bridges, in the order of the devices."""
    address, kind = "", ""
    able: tuple[float, int] | None = None
    for line in text:
        head, link, acs = _HEAD.match(line), _LINK.match(line), _ACS.match(line)
        if head:
            address, kind, able = domain_and(head[1]), head[2], None
        elif link and kind.startswith(_CLASSES):
            speed, width = float(link[2]), int(link[3])
            if link[1] == "Cap":
                able = speed, width
            else:
                yield PcieLink(address, speed, width or None, *(able or (None, None)))
        elif acs and "bridge" in kind:
            redirects = any(word in acs[1].split() for word in _REDIRECTS)
            yield HostSetting("acs", "enabled" if redirects else "disabled", address)


def domain_and(address: str) -> str:
    """A PCI address with its domain, which lspci omits if it is 0000."""
    return address if address.count(":") == 2 else f"0000:{address}"
