"""The links of an InfiniBand fabric, as one device discovers them.

Question: which port of which switch or host is linked to which, and how fast? InfiniBand has no LLDP.
Needs: rdma-core's `ibnetdiscover` or `iblinkinfo`, or NVIDIA's `ibdiagnet`; root or access to `/dev/infiniband/umad*`,
since they send management packets. An answer costs a walk over the whole fabric, and one device's is enough: only a
machine to which the inventory gives the platform `infiniband` is polled. Captures of any device are read.

Formats, recognised by their shape: `ibnetdiscover`, with `-g` and `-f`, and its ports report (`-p`); `iblinkinfo`, with
`-l` and `--switches-only`; ibdiagnet's files `.ibnetdiscover`, `.db_csv`, `.lst`, `.net_dump`, `.net_dump_ext`, and the
file of `-w`; ibsim's. Sources: rdma-core `infiniband-diags`, recorded answers of 2007 to 2025.

Facts: a `Neighbor` for each end of each link, `of` the device that has the port, and its `LinkSpeed`, as sysfs counts
it (4x NDR is 400): lane rates of the kernel's `drivers/infiniband/core/sysfs.c`. Ports without link have none.

Traps:

- Descriptions are free text that each node announces: `gpu-001 mlx5_0` is split into host and device, a switch's is
  its name. The GUID replaces a description without a name, such as firmware's
  `MT4129 ConnectX7   Mellanox Technologies`. Unmanaged switches all announce the same: only their GUIDs differ.
- `ibnetdiscover -p` and `iblinkinfo` report the GUIDs of ports; on adapters before ConnectX-4 the node's is different.
- A node name map (`--node-name-map`) changes switches' headings and all neighbours, but not the headings of adapters.
- A switch's own aggregation node (SHARP) is on the port after the last one, without a cable.
- Where each node reports its own end of a link, an answer without its end is refused. For the ports report and files
  of `-w` nothing shows that the end is missing.
- Without a subnet manager all LIDs are 0: `iblinkinfo` then needs `-l`. sosreport runs it once for each RDMA device,
  `iblinkinfo_-C_mlx5_0_-P_1`: if these lead into several fabrics with the same LIDs, the answers are refused.
"""

import re
from collections.abc import Callable, Iterable

from collector.formats import ib_listings, ibdiagnet
from collector.formats.ib_words import Fact
from collector.formats.text import lines
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import EVERYWHERE, Command, Device, LinkSpeed, Neighbor, collector, minutes, saved_as

_REFUSED = re.compile(r"iberror: |can't open (?:UMAD|MAD) port|ibpanic: ")
_FORMS: tuple[tuple[Callable[[str], object], Callable[[str], Iterable[Fact]]], ...] = (
    (ib_listings.listing_recognised, ib_listings.from_listing),
    (ib_listings.ports_recognised, ib_listings.from_ports),
    (ibdiagnet.csv_recognised, ibdiagnet.from_db_csv),
    (ibdiagnet.ibdiagnet_recognised, ibdiagnet.from_lst),
    (ibdiagnet.dump_recognised, ibdiagnet.from_net_dump),
    (ib_listings.topo_recognised, ib_listings.from_topo),
    (ib_listings.linkinfo_recognised, ib_listings.from_linkinfo),
)
"""Test and parser of each form of the answer: all but the last match the beginning of a line, which no description
reaches.
"""


ASK = (
    Command("ibnetdiscover", ("infiniband",)),
    Command("iblinkinfo -l", ("infiniband",)),
    *saved_as("ibnetdiscover -g", "ibnetdiscover -f", "ibnetdiscover -p", "ibdiagnet2.ibnetdiscover"),
    *saved_as("ibdiagnet2.db_csv", "ibdiagnet2.lst", "ibdiagnet2.net_dump_ext", "ibdiagnet2.net_dump"),
    *saved_as("ibdiagnet2.topo", "iblinkinfo", "iblinkinfo --switches-only -l", "iblinkinfo --switches-only"),
    *saved_as("ibnetdiscover -C {port}", "iblinkinfo -C {port}"),
)


@collector(on=EVERYWHERE, ask=ASK, every=minutes(5), yields=[Neighbor, LinkSpeed], megabytes=16, optional=True)
def ib_fabric(answer: str, device: Device) -> Iterable[Fact]:
    """A `Neighbor` and a `LinkSpeed` for each end of each link. Raises `UnreadableError`."""
    for recognised, read in _FORMS:
        if recognised(answer):
            return read(answer)
    if _REFUSED.search(answer):
        raise NoAnswerError("the device refused", line=1, text=lines(answer)[0])
    raise UnreadableError("not the links of an InfiniBand fabric", line=1, text=lines(answer)[0])
