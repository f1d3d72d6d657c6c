"""What a host prints of its NICs: `ethtool -S` of mlx5 in a loop, the files of sysfs, `rdma statistic`."""

from collections.abc import Iterator
from json import dumps

from truerail.simulator.flows.cli_output.counter_table import CounterTable
from truerail.simulator.flows.forms import NARROW, NIC_COUNTERS, RDMA_COUNTERS
from truerail.simulator.flows.ledger import Key, Q

_WIDTH = (1 << 32) - 1


def ethtool(sheet: CounterTable) -> str:
    """Every port's answer below the command that asks for it, and how often the kernel saw the link go."""
    columns = [(name.format(sheet.priority), sheet.of(key[0], rdma=key[1])) for name, key in NIC_COUNTERS]
    downs = sheet.of(Q.LINK_DOWNS)
    lines: list[str] = []
    for number, port in enumerate(sheet.ports):
        lines += [f"# ethtool -S {port}", "NIC statistics:"]
        lines += [f"     {name}: {values[number]}" for name, values in columns]
        lines.append(f"carrier_down_count: {downs[number]}")
    return "\n".join(lines) + "\n"


def _counted(sheet: CounterTable) -> Iterator[tuple[str, dict[str, int]]]:
    """Each RDMA device and its counters, as wide as they are in the device."""
    columns = [(name, key, sheet.of(key[0], rdma=key[1])) for name, key in RDMA_COUNTERS]
    for number, device in enumerate(sheet.rdma):
        yield device, {name: _wide(key, values[number]) for name, key, values in columns}


def _wide(key: Key, value: int) -> int:
    return value & _WIDTH if key[0] in NARROW else value


def sysfs(sheet: CounterTable) -> str:
    """`grep -H .` over the files of `hw_counters`, in the order of their names."""
    return "".join(
        f"/sys/class/infiniband/{device}/ports/1/hw_counters/{name}:{value}\n"
        for device, counted in _counted(sheet)
        for name, value in sorted({**counted, "lifespan": 10}.items())
    )


def statistic(sheet: CounterTable) -> str:
    """`rdma statistic` (iproute2 `rdma/stat.c`): one line a link."""
    return "".join(
        f"link {device}/1 {' '.join(f'{name} {value}' for name, value in counted.items())} \n"
        for device, counted in _counted(sheet)
    )


def statistic_json(sheet: CounterTable) -> str:
    """`rdma -j statistic`."""
    return dumps([{"ifname": device, "port": 1, **counted} for device, counted in _counted(sheet)]) + "\n"
