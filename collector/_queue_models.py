"""Queues of ports in the JSON of `openconfig-qos`, by gNMI or RESTCONF.

`{"qos": {"interfaces": {"interface": [{"interface-id", "output": {"queues": {"queue": [{"name", "state":
{"transmit-octets", "transmit-pkts", "dropped-pkts", "ecn-marked-pkts"}}]}}}]}}}`. Rests on documentation:
openconfig/public, openconfig-qos-interfaces.yang. Traps:

- A queue's name is configuration. Only a name that is a number, or ends in one after the port (`Ethernet0:3`,
  `Ethernet1/1-3`) or after `UC` or `queue`, gives the traffic class; `NC1` or `AF4` does not, and is skipped.
"""

import re
from collections.abc import Mapping
from typing import Any

from collector._documents import listed
from collector._gnmi import requests
from collector._port_models import inside, plain
from collector._tally import Tally, count
from truerail.model import Counter, PortCounters

REQUESTS = (*requests("/qos/interfaces/interface[interface-id=*]/output/queues"), *requests("/qos/interfaces"))
_CLASS = re.compile(r"(?:uc|queue|q|[a-z][\w./-]*\d[:-])?[ _-]?([0-7])", re.IGNORECASE)
_COUNTERS = {
    "transmit-octets": "queue_bytes",
    "transmit-pkts": "queue_packets",
    "dropped-pkts": "queue_drops",
    "ecn-marked-pkts": "ecn_marked_packets",
}


def is_model(found: Any) -> bool:
    """Whether a document is of this model."""
    return isinstance(found, Mapping) and "interfaces" in inside(plain(found), "qos")


def port_counters(found: Mapping[str, Any]) -> list[PortCounters]:
    """The counters of the queues whose class is known. Raises `UnreadableError` where there is none."""
    tally = Tally()
    for port in map(plain, listed(inside(inside(plain(found), "qos"), "interfaces").get("interface"))):
        for queue in map(plain, listed(inside(inside(port, "output"), "queues").get("queue"))):
            named = _CLASS.fullmatch(str(queue.get("name", "")))
            if named and "interface-id" in port:
                state = inside(queue, "state")
                for leaf, counter in _COUNTERS.items():
                    tally.note(str(port["interface-id"]), Counter(counter, int(named[1])), count(state.get(leaf)))
    return tally.some()
