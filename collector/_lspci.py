"""The blocks of `lspci -vv`: each device's PCIe link, and whether a bridge isolates its devices (ACS)."""

import re
from collections.abc import Iterator, Sequence

from truerail.model import HostSetting, PcieLink

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
