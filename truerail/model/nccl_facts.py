"""Facts of NCCL and RCCL: what the log of a job, its RAS service and its Inspector report.

`row` is the object that `truerail parse` prints of one. A fact of a log names the host that printed the line;
None where the line does not, as in logs of NCCL 2.5 and in excerpts.
"""

from typing import Any, NamedTuple, TypeAlias, get_args

from truerail.model.fact_kinds import ANY_NUMBER, GBPS, Bounds, fact

_RANK: Bounds = (0, 2**31)
_INDEX: Bounds = (0, 2**16)


@fact("versions of NCCL")
class NcclVersion(NamedTuple):
    """The library that a job uses."""

    library: str
    """`NCCL` or `RCCL`."""
    version: str


@fact("ranks of NCCL", rank=_RANK, ranks=_RANK, gpu=ANY_NUMBER)
class NcclRank(NamedTuple):
    """A rank of one communicator (`Init START`, `Init COMPLETE`)."""

    host: str | None
    rank: int
    ranks: int
    gpu: int | None = None
    """Its number for NVML and nvidia-smi; for CUDA where the line has no other, as up to NCCL 2.17."""
    bus_id: str | None = None
    """Of the GPU, as printed: `9a000` is 0000:9a:00.0."""
    comm: str | None = None
    """The communicator's id, equal on all of its ranks; None up to NCCL 2.15."""
    process: str | None = None


@fact("network devices of NCCL", index=_INDEX)
class NcclNic(NamedTuple):
    """A network device by the index that a process gave it (`NET/IB : Using`, `Made virtual device`)."""

    host: str | None
    index: int  # type: ignore[assignment]  # the contract's name; tuple.index is not used
    devices: tuple[str, ...]
    """`mlx5_0`, or `mlx5_0:2` for another port than the first; several where NICs are fused into one."""
    layer: str | None = None
    """`RoCE`, `IB` or `Socket`."""
    process: str | None = None
    """Processes of one host may see other devices, in another order."""


@fact("hops of NCCL", channel=_INDEX, connection=_INDEX, from_rank=_RANK, to_rank=_RANK, nic=_INDEX, proxy_rank=_RANK)
class NcclHop(NamedTuple):
    """One end of a connection of two ranks over the network (`Channel 05/0 : 6[6] -> 13[5] [send] via NET/IB/6`)."""

    host: str | None
    channel: int
    connection: int | None
    from_rank: int
    to_rank: int
    direction: str
    """`send` or `receive`: the end that printed the line."""
    net: str
    """The transport: `IB`, `Socket`, `AWS Libfabric`."""
    nic: int
    """The index of the network device at this end."""
    proxy_rank: int | None = None
    """The rank that sends in this one's place (PXN); the device is that rank's."""
    gdr: bool = False
    """GPUDirect RDMA."""
    shared: bool = False
    from_gpu: str | None = None
    """As printed in brackets: the PCI bus id up to NCCL 2.17, later the GPU's number for NVML."""
    to_gpu: str | None = None
    process: str | None = None
    comm: str | None = None
    """Its communicator's id; None where the log does not show it, or up to NCCL 2.15."""


@fact("rings of NCCL", channel=_INDEX)
class NcclRing(NamedTuple):
    """The order of ranks in the ring of one channel (`Channel 00/16 : 0 7 6 ...`)."""

    host: str | None
    channel: int
    ranks: tuple[int, ...]
    process: str | None = None
    comm: str | None = None
    """Its communicator's id; None where the log does not show it."""


@fact("trees of NCCL", channel=_INDEX, rank=_RANK, parent=_RANK)
class NcclTree(NamedTuple):
    """The place of one rank in the tree of one channel (`Trees [0] 1/8/-1->0->-1`)."""

    host: str | None
    channel: int
    rank: int
    parent: int | None = None
    """None for the root."""
    children: tuple[int, ...] = ()
    comm: str | None = None
    """Its communicator's id; None where the log does not show it."""


@fact("networks of NCCL")
class NcclNetwork(NamedTuple):
    """The transport that a process chose (`Using network IB`)."""

    host: str | None
    network: str


@fact("settings of NCCL")
class NcclSetting(NamedTuple):
    """An environment variable that changed NCCL's behaviour (`NCCL_X set by environment to V`), or what its log has."""

    host: str | None
    name: str
    value: str


@fact("replaced network devices of NCCL", nic=_INDEX, used=_INDEX)
class NcclOverride(NamedTuple):
    """A device that routing by subnets replaced by another one (`overriding dev 2 with dev 0`)."""

    host: str | None
    nic: int
    used: int
    process: str | None = None


@fact("torn lines of NCCL", lines=(0, 2**40), first=(0, 2**40))
class NcclTorn(NamedTuple):
    """Lines that look like hops and are none: something else was written into them."""

    log: str
    lines: int
    first: int
    """The number of the first one."""


@fact("troubles of NCCL", status=(0, 255))
class NcclTrouble(NamedTuple):
    """What NCCL warns of on a network device of a host."""

    host: str | None
    kind: str
    """`no device`: it cannot be opened. `completion`: work ended with `status` (`enum ibv_wc_status`). `event`: the
    device reported one."""
    device: str | None = None
    """None where the line has none: completions name it since NCCL 2.21."""
    status: int | None = None
    words: str = ""
    """The peer's address, or the event."""


@fact("communicators of NCCL RAS", size=_RANK)
class RasComm(NamedTuple):
    """A communicator, as NCCL's RAS reports it."""

    comm: str | None
    """`0x` and 16 hexadecimal digits; None where the text form has no finding on it, and does not name it."""
    size: int


@fact("ranks of NCCL RAS", rank=_RANK, gpu=ANY_NUMBER, operations=(0, 2**63), most=(0, 2**63))
class RasRank(NamedTuple):
    """A rank, as NCCL's RAS reports it; the text form names outliers alone."""

    comm: str
    rank: int
    host: str | None
    """An address."""
    gpu: int | None
    state: str | None
    """`running`, `init`, `finalize`, `abort`, `missing`, `dead`."""
    behind: bool | None
    """Whether others have launched more operations of one kind at this moment, which is normal while they move."""
    operations: int | None = None
    """The number of operations of all kinds that it has launched."""
    most: int | None = None
    """The largest such number of its communicator."""


@fact("bandwidths of NCCL Inspector", gpu=ANY_NUMBER, ranks=_RANK, busbw_gbs=GBPS, at=(0.0, 1e12))
class NcclBandwidth(NamedTuple):
    """The bus bandwidth of one GPU's collectives (`nccl_bus_bandwidth_gbs` of NCCL's Inspector)."""

    job: str | None
    node: str
    gpu: int | None
    comm: str
    ranks: int | None
    collective: str
    bytes: str
    """A range as printed: `4-5GB`."""
    busbw_gbs: float
    at: float | None = None
    """When Prometheus has it, in seconds since 1970; None in a file."""


NcclFact: TypeAlias = (
    NcclVersion
    | NcclRank
    | NcclNic
    | NcclHop
    | NcclRing
    | NcclTree
    | NcclNetwork
    | NcclSetting
    | NcclOverride
    | NcclTorn
    | NcclTrouble
    | RasComm
    | RasRank
    | NcclBandwidth
)
NCCL_FACTS = get_args(NcclFact)
"""All of them: what jobs report, and not the device on which they run."""
_NOT_SHOWN = frozenset(("log", "process", "from_gpu", "to_gpu", "operations", "most"))
"""Fields that `truerail parse` leaves out."""
JOB_COLLECTORS = frozenset(("nccl_log", "nccl_ras", "nccl_inspector"))
"""Those that yield them. That a file of a job is there does not show that its host answers."""


def row(fact: NcclFact) -> dict[str, Any]:
    """The object of `truerail parse`. Hops, rings and trees are without their communicator; a bandwidth has no word for
    its kind, and its time only where Prometheus has it.
    """
    shown = {name: value for name, value in fact._asdict().items() if name not in _NOT_SHOWN}
    if isinstance(fact, NcclBandwidth):
        return {name: value for name, value in shown.items() if name != "at" or value is not None}
    if isinstance(fact, NcclHop | NcclRing | NcclTree):
        del shown["comm"]
    word = type(fact).__name__.removeprefix("Nccl").removeprefix("Ras").lower()
    return {"fact": word, **{name: list(value) if isinstance(value, tuple) else value for name, value in shown.items()}}
