"""The links of an InfiniBand fabric, as one device that discovers it tells of all.

Question: which port of which switch or host is linked to which, and how fast? InfiniBand has no LLDP.
Needs: rdma-core's `ibnetdiscover` or `iblinkinfo`, or NVIDIA's `ibdiagnet`; root or access to `/dev/infiniband/umad*`,
for they send management packets. An answer costs a walk over the whole fabric, and one device's is enough: only a
machine that the inventory names for it, by the platform `infiniband`, is asked. Captures of any device are read.

Formats, distinguished by their shape: `ibnetdiscover`, with `-g` and `-f`, and its ports report (`-p`); `iblinkinfo`,
with
`-l` and `--switches-only`; ibdiagnet's files `.ibnetdiscover`, `.db_csv`, `.lst`, `.net_dump`, `.net_dump_ext`, and
what it writes with `-w`; ibsim's. Sources: rdma-core `infiniband-diags`, recorded answers of 2007 to 2025.

Facts: a `Neighbor` for each end of each link, `of` the device whose port it is, and its `LinkSpeed`, as sysfs counts it
(4x NDR is 400): lane rates of the kernel's `drivers/infiniband/core/sysfs.c`. Ports without link have none.

Traps:

- Descriptions are free text that each node announces of itself: `gpu-001 mlx5_0` is split into host and device, a
  switch's is its name. Where they name nothing, as firmware's `MT4129 ConnectX7   Mellanox Technologies`, the GUID
  stands for it. Unmanaged switches all say the same: only their GUIDs tell them apart.
- `ibnetdiscover -p` and `iblinkinfo` tell the GUIDs of ports; on adapters before ConnectX-4 a node's is another.
- A map of names (`--node-name-map`) changes switches' headings and all neighbours, but not the headings of adapters.
- A switch's own aggregation node (SHARP) hangs on the port behind the last one, without a cable.
- Where each end of a link is reported by its own node, an answer in which the last of it is missing is refused. Of the
  ports report and of files of `-w` nothing shows that their end is missing.
- Without a subnet manager all LIDs are 0: `iblinkinfo` then needs `-l`. sosreport asks it once for each RDMA device,
  `iblinkinfo_-C_mlx5_0_-P_1`: where these lead into several fabrics, whose LIDs are the same, the answers are refused.
"""

import re
from collections.abc import Callable, Iterable

from collector import _ib_db_csv, _ib_ibdiagnet, _ib_linkinfo, _ib_listing, _ib_net_dump, _ib_ports, _ib_topo
from collector._answer import lines
from collector._ib_links import Fact
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import EVERYWHERE, Command, Device, LinkSpeed, Neighbor, collector, minutes

_REFUSED = re.compile(r"iberror: |can't open (?:UMAD|MAD) port|ibpanic: ")
_FORMS: tuple[tuple[Callable[[str], bool], Callable[[str], Iterable[Fact]]], ...] = (
    (_ib_listing.recognised, _ib_listing.from_listing),
    (_ib_ports.recognised, _ib_ports.from_ports),
    (_ib_db_csv.recognised, _ib_db_csv.from_db_csv),
    (_ib_ibdiagnet.recognised, _ib_ibdiagnet.from_lst),
    (_ib_net_dump.recognised, _ib_net_dump.from_net_dump),
    (_ib_topo.recognised, _ib_topo.from_topo),
    (_ib_linkinfo.recognised, _ib_linkinfo.from_linkinfo),
)
"""How each form of the answer is known, and what reads it: by the beginning of a line, which no description reaches,
but for the last.
"""


def _captured(*texts: str) -> list[Command]:
    """Commands, and names of files, that captures hold and no machine is sent."""
    return [Command(text, ("capture",)) for text in texts]


@collector(
    on=EVERYWHERE,
    ask=[
        Command("ibnetdiscover", ("infiniband",)),
        *_captured(
            "ibnetdiscover -g",
            "ibnetdiscover -f",
            "ibnetdiscover -p",
            "ibdiagnet2.ibnetdiscover",
            "ibdiagnet2.db_csv",
            "ibdiagnet2.lst",
            "ibdiagnet2.net_dump_ext",
            "ibdiagnet2.net_dump",
            "ibdiagnet2.topo",
        ),
        Command("iblinkinfo -l", ("infiniband",)),
        *_captured(
            "iblinkinfo",
            "iblinkinfo --switches-only -l",
            "iblinkinfo --switches-only",
            "ibnetdiscover -C {port}",
            "iblinkinfo -C {port}",
        ),
    ],
    every=minutes(5),
    yields=[Neighbor, LinkSpeed],
    optional=True,
)
def ib_fabric(answer: str, device: Device) -> Iterable[Fact]:
    """A `Neighbor` and a `LinkSpeed` for each end of each link. Raises `UnreadableError`."""
    for recognised, read in _FORMS:
        if recognised(answer):
            return read(answer)
    if _REFUSED.search(answer):
        raise NoAnswerError("the device refused", line=1, text=lines(answer)[0])
    raise UnreadableError("not the links of an InfiniBand fabric", line=1, text=lines(answer)[0])
