"""What the warnings of NCCL say of network devices: one that cannot be opened, work that failed, events of a port."""

import re
from collections.abc import Iterator

from collector.formats.nccl_lines import process_of
from truerail.model.nccl_facts import NcclTrouble

_WARNS = re.compile("NCCL WARN ")
_TROUBLE = re.compile(
    r"(?:NET/[^:\n]{1,100}?: ?)?(?:(?P<own>[^\s:]{1,100}):(?P<port>\d{1,4}) )?(?:"
    r"Unable to open device (?P<lacks>[^\s:,]{1,100})"
    r"|Got completion from peer (?P<peer>[^\s<]{1,100})(?:<\d{1,5}>)? with status=(?P<status>\d{1,3})\b"
    r"(?:[^\n]{0,400}? hca (?P<hca>[^\s:]{1,100}))?"
    r"|Got (?P<event>(?:non-fatal )?async(?: fatal)? event ?: [^\n(]{1,100}))"
)
"""`src/transport/net_ib.cc`, `net_ib/p2p.cc`: warnings of 2.4 to 2.30."""
_LONGEST_WARNING = 1000


def troubles(part: str) -> Iterator[NcclTrouble]:
    """What the warnings of a part of a log say of network devices."""
    for one in _WARNS.finditer(part):
        found = _TROUBLE.match(part, one.end(), one.end() + _LONGEST_WARNING)
        if found is None:
            continue
        begin = max(part.rfind("\n", 0, one.start()) + 1, one.start() - _LONGEST_WARNING)
        host = process_of(part[begin : one.start()].rstrip().rpartition(" ")[0]).host
        if found["lacks"]:
            yield NcclTrouble(host, "no device", found["lacks"])
        elif found["peer"]:
            yield NcclTrouble(host, "completion", found["hca"] or found["own"], int(found["status"]), found["peer"])
        else:
            yield NcclTrouble(host, "event", found["own"], None, found["event"].partition(": ")[2].strip())
