"""What Arista EOS prints, as JSON."""

from json import dumps

from truerail.simulator.flows.cli_output.counter_table import CounterTable
from truerail.simulator.flows.ledger import Q

_COUNTERS = {
    "inOctets": Q.RX_BYTES,
    "inUcastPkts": Q.RX_PACKETS,
    "outOctets": Q.TX_BYTES,
    "outUcastPkts": Q.TX_PACKETS,
    "inDiscards": Q.RX_DISCARDS,
    "outDiscards": Q.TX_DISCARDS,
}


def counters(sheet: CounterTable) -> str:
    """`show interfaces counters | json`."""
    columns = {name: sheet.of(quantity) for name, quantity in _COUNTERS.items()}
    ports = {
        port: {"inMulticastPkts": 0, "inBroadcastPkts": 0, "outMulticastPkts": 0, "outBroadcastPkts": 0}
        | {name: values[number] for name, values in columns.items()}
        for number, port in enumerate(sheet.ports)
    }
    return dumps({"interfaces": ports}, indent=2) + "\n"


def interfaces(sheet: CounterTable) -> str:
    """`show interfaces | json`, its counters: a fall of the link and its return are two changes."""
    columns = {name: sheet.of(quantity) for name, quantity in _COUNTERS.items()}
    falls = sheet.of(Q.LINK_DOWNS)
    ports = {
        port: {
            "interfaceCounters": {name: values[number] for name, values in columns.items()}
            | {"linkStatusChanges": 1 + 2 * falls[number]}
        }
        for number, port in enumerate(sheet.ports)
    }
    return dumps({"interfaces": ports}, indent=2) + "\n"


def pfc(sheet: CounterTable) -> str:
    """`show priority-flow-control counters detail | json`."""
    received, sent = sheet.of(Q.RX_PAUSE_FRAMES, rdma=True), sheet.of(Q.TX_PAUSE_FRAMES, rdma=True)
    ports = {
        port: {"priorities": {str(sheet.priority): {"rxFrames": received[number], "txFrames": sent[number]}}}
        for number, port in enumerate(sheet.ports)
    }
    return dumps({"interfaces": ports}, indent=2) + "\n"


def ecn(sheet: CounterTable) -> str:
    """`show qos interfaces ecn counters queue | json`: numbers as strings, `-` where a queue does not count."""
    ports = {
        port: {"queueCounters": {"0": "-", str(sheet.priority): str(value)}}
        for port, value in zip(sheet.ports, sheet.of(Q.ECN_MARKED_PACKETS, rdma=True), strict=True)
    }
    return dumps({"intfQueueCounters": ports}, indent=2) + "\n"
