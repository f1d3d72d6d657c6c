"""The NCCL log of a large job: what it costs to read it, and to join it with the fabric."""

import time
from collections.abc import Callable, Iterator
from typing import Any

from collector import collectors
from truerail.analysis.round import Round
from truerail.model import Device, Reading, Snapshot
from truerail.questions.nccl import nccl_answer
from truerail.questions.nccl_answer import nccl_text
from truerail.rounds import evaluate
from truerail.simulator import Shape, Simulation, simulate
from truerail.simulator.fabric.servers import device_number

CHANNELS = 16
PEERS = 40
"""Hosts with which each rank has connections of its own, as experts have."""


def job_log(simulation: Simulation) -> str:
    """The log of a job on all hosts of a fabric, in the form of NCCL 2.27: connections within hosts and between them,
    by rings, trees and point to point.
    """
    hosts = sorted(simulation.world.fabric.models)
    return "".join(f"{line}\n" for at in range(len(hosts)) for line in _of_host(simulation, hosts, at))


def _of_host(simulation: Simulation, hosts: list[str], at: int) -> Iterator[str]:
    names = [slot.rdma for slot in simulation.world.fabric.models[hosts[at]].names]
    listed = sorted(names, key=device_number)
    using = " ".join(f"[{index}]{name}:1/RoCE" for index, name in enumerate(listed))
    index = [listed.index(name) for name in names]
    size = len(names)
    for gpu in range(size):
        rank, ranks = at * size + gpu, len(hosts) * size
        head = f"{hosts[at]}:{3000 + gpu}:{4000 + gpu} [{gpu}] NCCL INFO "
        known = f"rank {rank} nranks {ranks} cudaDev {gpu} nvmlDev {gpu} busId {16 + 8 * gpu:x}000 commId 0x45a3d1"
        yield f"{head}NET/IB : Using {using} [RO]; OOB eth0:10.0.{at // 256}.{at % 256}<0>"
        yield f"{head}Using network IB"
        yield f"{head}ncclCommInitRankConfig comm 0x5581a86a1830 {known} - Init START"
        trees = (f"[{channel}] {rank + 1}/-1/-1->{rank}->{rank - 1}" for channel in range(CHANNELS))
        yield f"{head}Trees {' '.join(trees)}"
        yield f"{head}ncclCommInitRankConfig comm 0x5581a86a1830 {known} - Init COMPLETE"
        for channel, connection, other, sends in _connections(len(hosts), size, at, gpu):
            ends = (rank, other) if sends else (other, rank)
            where = " -> ".join(f"{one}[{one % size}]" for one in ends)
            way = f"[{'send' if sends else 'receive'}] via NET/IB/{index[gpu]}/GDRDMA{'/Shared' if connection else ''}"
            within = other // size == at
            yield f"{head}Channel {channel:02}/{connection} : {where} {'via P2P/CUMEM/read' if within else way}"


def _connections(hosts: int, gpus: int, at: int, gpu: int) -> Iterator[tuple[int, int, int, bool]]:
    """Channel, connection, the other rank, and whether this one sends."""
    for channel in range(CHANNELS):
        if gpu != channel % gpus:
            yield channel, 0, at * gpus + (gpu + 1) % gpus, True
            continue
        for away in (1, 2):
            yield channel, 0, (at + away) % hosts * gpus + gpu, True
            yield channel, 0, (at - away) % hosts * gpus + gpu, False
    for away in range(1, PEERS + 1):
        yield away % CHANNELS, 1, (at + away) % hosts * gpus + gpu, True
        yield away % CHANNELS, 1, (at - away) % hosts * gpus + gpu, False


def log_cost(megabytes: int) -> tuple[str, list[tuple[str, float]]]:
    """What such a log is, and what each step costs, in seconds of processor time."""
    simulation = simulate(Shape(hosts=12 * megabytes, rails=8, pods=4, spines=4, uplinks=8), seed=1)
    text = job_log(simulation)
    taken: list[tuple[str, float]] = []

    def timed(name: str, work: Callable[[], Any]) -> Any:
        began = time.process_time()
        result = work()
        taken.append((name, time.process_time() - began))
        return result

    facts = timed("the facts of the log", lambda: collectors()["nccl_log"].read(text, Device("log")))
    seen = simulation.snapshot()
    snapshot = Snapshot(seen.at, [*seen.readings, Reading("log", "nccl_log", seen.at, facts)])
    round = Round(simulation.plan, snapshot)
    evaluation = evaluate(Round(simulation.plan, seen))
    job = timed("each connection on its NIC, cable and rail", lambda: round.nccl)
    timed("the rules, beyond those without a log", lambda: evaluate(round))
    timed("the answer", lambda: nccl_text(nccl_answer(round, evaluation, job, hops=False), details=False))
    made = f"{len(text) / 1e6:,.0f} MB: {len(job.ends):,} ends of connections of {len(job.ranks):,} ranks"
    return made, taken
