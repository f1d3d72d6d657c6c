"""A host's GPUs are nearest to NICs of other rails than their own.

## Why it matters
GPU N should send through the NIC of rail N, its neighbour on the same PCIe switch. Where NICs are enumerated in
another order than the plan assumes, every rail of this host carries another GPU's traffic: it crosses the CPU socket
or lands on another leaf than its peers', although no cable is wrong.

## How it is detected
`nvidia-smi topo -m` ranks the NICs of each GPU (PIX, PXB, PHB, NODE, SYS from near to far) and `rdma link` reports the
netdev of each; on InfiniBand the plan names the RDMA devices, and the matrix alone is enough. GPU g of G belongs to
rail g * R // G, unless most hosts of the fabric agree on another order. A GPU that is equally near to all NICs shows
nothing. The RDMA device of a bond (`mlx5_bond_0`) represents all members of the bond, so the order of GPUs inside a
bond cannot be evaluated. Where a host's matrix cannot be joined to the plan at all (the members of its bonds were not
read, all NICs are equally far), the answer is "unknown"; the same applies where most hosts agree with the plan on
another order and no NIC is seen at a switch port. Confidence is 0.9 where at least five hosts report their topology,
else 0.7.

## What to do
Move no cable. Look why this host differs: a card in another slot, another BIOS (PCI enumeration), another driver or
udev naming rule. Restore the order, or correct the plan's NIC names for this model; until then NCCL_IB_HCA can name the
NIC of each rail in the right order.

## Decide
- `Move no cable`: the host counts its cards in another order than its peers. Compare BIOS, driver and udev rules with a
  host that is right.
- `N GPUs affected`: the affected GPUs send over a distant NIC. Until it is mended, name the NICs in NCCL_IB_HCA in the
  right order.

## False positives
Another model of host in the same plan. All GPUs equally far from all NICs, as in many virtual machines, is unknown and
no finding.
"""

from rules._examples import alike, hears, railed, undecided
from rules._links import blind_bonds
from truerail.analysis.cabling import Wiring
from truerail.analysis.cabling.paths import GpuRails, rails_in
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, rule
from truerail.model import Evidence, GpuNicPath, NetLink, NotEvaluated, RdmaLink, Severity
from truerail.model.names import some

_HOSTS_FOR_TRUST = 5
"""detection.md section 7: a majority of hosts is worth 0.9 if at least five agree."""
_SURE, _UNSURE = 0.9, 0.7
_PORTS_SHOWN = 2
_SHOWN = 4


@rule("NIC001", Severity.WARNING, [GpuNicPath], first="where HOST")
def gpu_nic_order(round: Round) -> Findings:
    """Hosts where the NIC nearest to a GPU is on another rail in the plan than the GPU."""
    wiring = round.cabling
    paths = wiring.gpu_rails
    confidence = _SURE if len(paths.row) >= _HOSTS_FOR_TRUST else _UNSURE
    for code, gpus in sorted(paths.misordered.items()):
        host = wiring.index.devices.names[code]
        shown = [
            f"GPU{gpu} (rail {_rails(wanted)}) is nearest to {_nics(wiring, paths, code, gpu)} (rail {_rails(planned)})"
            for gpu, (wanted, planned) in sorted(gpus.items())
        ]
        yield gpu_nic_order.found(
            host,
            summary=f"{host}: {some(shown, more=', and {} GPUs more')}",
            action=f"Move no cable. Compare slots, BIOS and NIC names of {host} with a correct host, or correct the "
            "plan.",
            confidence=confidence,
            evidence=_evidence(wiring, paths, code),
            detail=(("gpus", tuple(sorted(gpus))),),
        )
    if paths.not_evaluated or not paths.row or paths.untested:
        raise InsufficientDataError(*_not_evaluated(wiring, paths))


def _not_evaluated(wiring: Wiring, paths: GpuRails) -> tuple[NotEvaluated | str, ...]:
    """The reasons why some hosts' topologies cannot be evaluated."""
    if blind := blind_bonds(wiring):
        return blind
    if paths.untested:
        gpus = some([f"GPU{gpu}" for gpu in paths.untested], more=", ...")
        why = (
            f"on most hosts {gpus} are nearest to NICs of other rails than their own, and no NIC is seen "
            "at a switch port: the plan may follow the vendor's order, or these hosts name their NICs in another one"
        )
        return (why,)
    if not paths.row and not len(wiring.seen.table(RdmaLink).rows):
        return ("no answer has RDMA links (RdmaLink), and the plan's names are not those of RDMA devices",)
    if not paths.not_evaluated:
        return ("no host's matrix shows its NICs (in a container, and under some drivers, it shows GPUs alone)",)
    names = tuple(wiring.index.devices.names[code] for code in paths.not_evaluated)
    hosts = len(names) + len(paths.row)
    of = f"{len(names)} of {hosts} hosts ({some(names, more=', ...')})"
    why = f"the matrix of {of} shows no planned NIC that is nearer to a GPU than the others are"
    return (NotEvaluated(why, what="host", count=len(names), of=hosts, subjects=names, rest_evaluated=True),)


def _rails(bits: int) -> str:
    return "/".join(map(str, rails_in(bits))) or "none"


def _nics(wiring: Wiring, paths: GpuRails, host: int, gpu: int) -> str:
    names = [wiring.index.spell(port).name for port in sorted(paths.nearest[host][gpu])]
    return "/".join(names) if len(names) <= _PORTS_SHOWN else f"{names[0]} and its {len(names) - 1} other ports"


def _evidence(wiring: Wiring, paths: GpuRails, host: int) -> tuple[Evidence, ...]:
    """The paths of the GPUs shown to their nearest NICs."""
    reading = wiring.seen.readings[paths.row[host]]
    links = wiring.seen.table(RdmaLink).rows
    gpus = sorted(paths.misordered[host])[:_SHOWN]
    row = wiring.states.rdma_row
    near = {
        (gpu, links[int(row[port])].device if row[port] >= 0 else wiring.index.spell(port).name)
        for gpu in gpus
        for port in paths.nearest[host][gpu]
    }
    return tuple(
        Evidence(reading.device, reading.collector, reading.at, fact)
        for fact in reading.facts
        if isinstance(fact, GpuNicPath) and (fact.gpu, fact.device or fact.nic) in near
    )


PLAN = railed(5, rails=6)


def _host(order: tuple[int, ...]) -> list[GpuNicPath | RdmaLink | NetLink]:
    """Six GPUs and NICs; GPU g is nearest to NIC `order[g]`."""
    links = [RdmaLink(f"mlx5_{nic}", 1, "ACTIVE", "LINK_UP", f"nic{nic}") for nic in range(6)]
    paths = [
        GpuNicPath(gpu, f"NIC{nic}", f"mlx5_{nic}", "PIX" if order[gpu] == nic else "NODE")
        for gpu in range(6)
        for nic in range(6)
    ]
    return [*links, *paths]


_REVERSED = "\n".join(
    f"gpu-{host}/nic{5 - rail} leaf-{rail}/swp{host} rail={rail}" for host in (1, 2, 3) for rail in range(6)
)
_THREE = "gpu-1 gpu-2 gpu-3"
_RIGHT = (0, 1, 2, 3, 4, 5)

EXAMPLES = {
    "On one host of five the NICs are enumerated backwards.": Case(
        alike(f"{_THREE} gpu-4", _host(_RIGHT)) | {"gpu-5": _host((5, 4, 3, 2, 1, 0))}, "gpu-5"
    ),
    "Two NICs of one host of three are swapped: fewer hosts to compare with, less sure.": Case(
        alike("gpu-1 gpu-2", _host(_RIGHT)) | {"gpu-3": _host((1, 0, 2, 3, 4, 5))}, "gpu-3"
    ),
    # Quiet:
    "Each GPU is nearest to the NIC of its rail.": Case(alike(_THREE, _host(_RIGHT))),
    "All hosts agree on another order, and so do the plan and the cables: that is the vendor's.": Case(
        {
            **alike(_THREE, _host(_RIGHT)),
            **{
                f"leaf-{rail}": [hears(f"swp{host}", f"gpu-{host}/nic{5 - rail}") for host in (1, 2, 3)]
                for rail in range(6)
            },
        },
        plan=_REVERSED,
    ),
    "All hosts agree on another order, and so does the plan; of cables nothing is seen.": undecided(
        alike(_THREE, _host(_RIGHT)), plan=_REVERSED
    ),
}
