"""Counters as the devices of each platform print them, by the command that asks for them."""

from collections.abc import Callable, Mapping
from functools import cache

from collector import collectors
from truerail.simulator.flows.cli_output import cumulus, eos, hosts, junos, nxos, sonic
from truerail.simulator.flows.cli_output.counter_table import CounterTable, sheet_of

Print = Callable[[CounterTable], str]

__all__ = ["CounterTable", "Print", "prints", "sheet_of"]


def _asked(collector: str, platform: str) -> str:
    """What a collector asks a platform first: loops of a shell have no name of their own."""
    known = collectors()[collector].ask
    return next(command.text for command in known if not command.platforms or platform in command.platforms)


@cache
def prints(platform: str) -> Mapping[str, Print]:
    """Every command about counters that a platform knows. `linux` is a host."""
    match platform:
        case "linux":
            return {
                _asked("nic_counters", platform): hosts.ethtool,
                _asked("rdma_counters", platform): hosts.sysfs,
                "rdma statistic": hosts.statistic,
                "rdma statistic show": hosts.statistic,
                "rdma -j statistic": hosts.statistic_json,
                "rdma -j statistic show": hosts.statistic_json,
            }
        case "cumulus":
            return {_asked("port_counters", platform): cumulus.ethtool, "nv show interface -o json": cumulus.nvue}
        case "sonic":
            return {
                _asked("port_counters", platform): sonic.database,
                _asked("queue_counters", platform): sonic.queues,
                "show interfaces counters -j": sonic.counters_json,
                "show pfc counters": sonic.pfc,
                "show pfc counters --history": sonic.history,
                "show pfcwd stats -e": sonic.watchdog,
                "show pfcwd stats": sonic.watchdog,
            }
        case "eos":
            return {
                "show interfaces counters | json": eos.counters,
                "show interfaces | json": eos.interfaces,
                "show priority-flow-control counters detail | json": eos.pfc,
                "show qos interfaces ecn counters queue | json": eos.ecn,
            }
        case "nxos":
            return {
                "show interface counters | json": nxos.counters,
                "show interface priority-flow-control detail": nxos.pfc,
                "show queuing interface | json": nxos.queues,
            }
        case "junos":
            return {"show interfaces extensive | display json": junos.extensive}
    return {}
