"""Output of a host on its NICs: `ethtool -S` of mlx5 in a loop, the files of sysfs, `rdma statistic`."""

from truerail.simulator.traffic.ledger import NARROW, NIC_COUNTERS, RDMA_COUNTERS, Columns, CounterTable, Q

NIC_LOOP = (
    "type ethtool >&2 || exit 127; cd /sys/class/net; for n in */device; do n=${n%/*}; [ -e $n/device/physfn ] || { "
    'echo "# ethtool -S $n"; ethtool -S $n | grep -Ev "^ *(\\[|ch|[rt]x-?|([rt]x_)?queue_)[0-9]"; '
    "echo carrier_down_count: $(cat $n/*down_count); }; done; :"
)
_WIDTH = (1 << 32) - 1
_MLX5 = dict(NIC_COUNTERS)


def ethtool(sheet: CounterTable, counters: Columns = _MLX5) -> str:
    """Every port's answer below its command, and the kernel's count of link losses."""
    lines: list[str] = []
    for (port, row), downs in zip(sheet.rows(counters), sheet.of(Q.LINK_DOWNS), strict=True):
        lines += [f"# ethtool -S {port}", "NIC statistics:", *(f"     {name}: {value}" for name, value in row.items())]
        lines.append(f"carrier_down_count: {downs}")
    return "\n".join(lines) + "\n"


def sysfs(sheet: CounterTable) -> str:
    """`grep -H .` over the files of `hw_counters`, in the order of their names, each as wide as in the device."""
    narrow = {name for name, (quantity, _) in RDMA_COUNTERS if quantity in NARROW}
    lines: list[str] = []
    for device, (_, row) in zip(sheet.rdma, sheet.rows(dict(RDMA_COUNTERS)), strict=True):
        counted = {name: value & _WIDTH if name in narrow else value for name, value in row.items()}
        files = sorted({**counted, "lifespan": 10}.items())
        lines += [f"/sys/class/infiniband/{device}/ports/1/hw_counters/{name}:{value}\n" for name, value in files]
    return "".join(lines)
