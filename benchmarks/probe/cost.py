"""What a path sweep costs: packets and CPU of a host, ICMP answers asked of a switch in any second, time, by size.

Run by `make bench`. The switches' choices are drawn; times are those of the hosts' own tasks.
"""

import argparse
import json
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

import msgspec
import numpy as np
import numpy.typing as npt
from rich.console import Console

from truerail.analysis.sweep.plan_graph import PlanGraph
from truerail.model.index import PlanIndex
from truerail.model.plan import Plan
from truerail.probe import host_script
from truerail.probe.flow_columns import Flow, Flows
from truerail.probe.host_tasks import ProbePlan, Settings, plan_run
from truerail.probe.path_sweep import USUAL, sweep_of
from truerail.probe.pinglists import Nic, Pair
from truerail.simulator import Shape
from truerail.simulator.fabric.builder import build

SHAPES = (
    Shape(hosts=64, pods=1, spines=8, uplinks=16),
    Shape(hosts=1_000, pods=16, spines=8, uplinks=16, superspines=16),
    Shape(hosts=12_500, pods=196, spines=8, uplinks=16, superspines=64),
)
"""Hosts with 8 rails; a pod of 64 has a leaf for each rail, with 16 uplinks to 8 spines, each to all superspines."""
AT = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)
RENDERED = 200
"""Hosts whose tasks are made to measure that."""
FASTER = 20
"""The host's CPU is measured in a run that is so many times as fast."""
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Cost:
    """What one sweep costs. `planning`, `rendering` and `cpu` are seconds of CPU: of the planning, of making one host's
    tasks, and of the busiest host. `memory` is the most that the process has held when it was planned, in MB.
    """

    hosts: int
    planning: float
    rendering: float
    memory: int
    packets: int
    rate: int
    task_bytes: int
    cpu: float
    seconds: float
    asked: int
    most: int
    of_one_nic: float


def nics_of(plan: Plan) -> list[Nic]:
    """The NICs of a plan, with addresses."""
    found = []
    for number, cable in enumerate(plan.cables):
        if cable.rail is not None:
            address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
            found.append(Nic(cable.a.device, cable.a.name, address, cable.b.device, (cable.rail, 0), number))
    return found


def planned(plan: Plan) -> ProbePlan:
    """The sweep of a plan with all that it has."""
    settings = Settings(what=("mtu", "dscp", "paths", "loss"))
    sweep = sweep_of(plan, nics_of(plan), (), USUAL, across_rails=True)
    return plan_run((), settings, AT, {}, sweep)


def rendered(flows: Flows) -> Iterator[tuple[Pair, Flow]]:
    """Each flow with its pair: as its sender knows it, and what is planned."""
    for place, pair in enumerate(flows.pairs):
        paced = flows.paced.of(np.array([place]))
        row, ttl, first = paced.by_ttl()
        columns = (paced.source_port[row], ttl, paced.size[row], paced.count[row], first, paced.every[row])
        yield (
            pair,
            {
                **flows.about(place),
                "source_port": int(flows.source_port[place]),
                "source_ports": int(flows.source_ports[place]),
                "rounds": flows.rounds[flows.kind[place]],
                "paced": list(zip(*(column.tolist() for column in columns), strict=True)),
            },
        )


def asked(plan: Plan, probes: ProbePlan, seed: int) -> tuple[Codes, npt.NDArray[np.float64], Codes]:
    """Every probe that ends at a switch: the switch, when, and the NIC. Each flow takes a way by chance."""
    rng = np.random.default_rng(seed)
    graph = PlanGraph(PlanIndex(plan))
    device = {name: code for code, name in enumerate(graph.index.devices.names)}
    hosts, spread = probes.hosts, probes.spread_seconds
    start = {host: number / len(hosts) * spread for number, host in enumerate(hosts)}
    towards: dict[int, list[tuple[int, int, float, list[list[float]]]]] = defaultdict(list)
    for pair, flow in rendered(probes.flows):
        of_port: dict[int, list[list[float]]] = defaultdict(list)
        for row in flow["paced"]:
            of_port[row[0]].append(row)
        for rows in of_port.values():
            towards[device[pair.to.leaf]].append(
                (device[pair.source.leaf], pair.source.cable, start[pair.source.host], rows)
            )
    tail, head, _ = graph.edges
    order = np.argsort(tail, kind="stable")
    places: list[int] = []
    times: list[float] = []
    sources: list[int] = []
    for leaf, ports in towards.items():
        onward = order[graph.onward(leaf)[order]]
        first = np.searchsorted(tail[onward], np.arange(len(device) + 1))
        at = np.array([port[0] for port in ports], dtype=np.int64)
        way = [at]
        while (at != leaf).any():
            degree = first[at + 1] - first[at]
            chosen = first[at] + (rng.random(len(at)) * degree).astype(np.int64)
            at = np.where(degree > 0, head[onward[np.minimum(chosen, len(onward) - 1)]], at) if len(onward) else at
            way.append(at)
        for number, (_, nic, begin, rows) in enumerate(ports):
            for _, ttl, _, count, after, every in rows:
                for again in range(int(count)):
                    places.append(int(way[min(int(ttl), len(way)) - 1][number]))
                    times.append(begin + after + again * every)
                    sources.append(nic)
    return np.array(places), np.array(times), np.array(sources)


def most_in_a_second(group: Codes, times: npt.NDArray[np.float64]) -> int:
    """The most events of one group in any window of a second."""
    order = np.lexsort((times, group))
    key = group[order] * 1e5 + times[order]
    return int((np.searchsorted(key, key + 1 - 1e-9) - np.arange(len(key))).max(initial=0))


def cpu_of(probes: ProbePlan, host: str) -> float:
    """Seconds of CPU of the host's script that sends all that a host sends, and hears it."""
    tasks, start = probes.tasks(host, 0.0), time.time() + 2
    sends = [
        {**flow, "address": "127.0.0.1", "peer_address": "127.0.0.1", "port": "lo", "flow": number}
        for number, flow in enumerate(tasks["sends"])
    ]
    port = 49152
    for flow in sends:  # addresses of their own became one: so do their ports
        taken: dict[int, int] = {}
        for source_port, *_ in flow["packets"]:
            if source_port not in taken:
                taken[source_port] = port
                port += 1
        flow["packets"] = [
            (taken[source_port], *what, first / FASTER, every / FASTER)
            for source_port, *what, first, every in flow["packets"]
        ]
    tasks |= {"sends": sends, "hears": sends, "listen": [["127.0.0.1", tasks["port"]]]}
    tasks |= {"start_at": start, "stop_at": start + probes.seconds / FASTER + 2, "wait": 0.3 / FASTER}
    tasks["packets_per_second"] *= FASTER
    limits = probes.limits(host) | {"networks": ["127.0.0.0/8"], "packets_per_second": 10_000}
    given = json.dumps({**tasks, "limits": limits}).encode() + b"\n"
    command = ["/usr/bin/python3", "-I", host_script.__file__]
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-3) as process:  # noqa: S603 - the shipped script
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("no pipes")
        process.stdin.write(given)
        process.stdin.flush()
        counted = json.loads(process.stdout.read())
    return float(counted["cpu_seconds"])


def cost_of(shape: Shape) -> Cost:
    """Measures one size."""
    plan = build(shape).plan
    begin = time.process_time()
    probes = planned(plan)
    packets = probes.packets()
    probes.seconds  # noqa: B018 - computed once, before the first host's tasks
    planning = time.process_time() - begin
    host, most = packets.most_common(1)[0]
    task, begin = json.dumps(probes.tasks(host, 0.0)), time.process_time()
    some = probes.hosts[:: max(1, len(probes.hosts) // RENDERED)]
    for one in some:
        msgspec.json.encode(probes.tasks(one, 0.0))
    rendering = (time.process_time() - begin) / len(some)
    memory = getrusage(RUSAGE_SELF).ru_maxrss // 1024
    place, when, nic = asked(plan, probes, 1)
    by_nic = most_in_a_second(place * (int(nic.max()) + 1) + nic, when)
    return Cost(
        shape.hosts,
        planning,
        rendering,
        memory,
        most,
        probes.settings.packets_per_second,
        len(task),
        cpu_of(probes, host),
        probes.seconds,
        int(np.bincount(place).max()),
        most_in_a_second(place, when),
        by_nic,
    )


def report(costs: list[Cost]) -> Iterator[str]:
    """The section of the page."""
    yield "## Cost"
    yield ""
    yield "Hosts with 8 rails, 64 under a leaf of 16 uplinks to 8 spines; 0, 16 and 64 superspines above each spine."
    yield "The sweep's first round, `--what mtu,dscp,paths,loss` with list E, within its usual budget: 50 ICMP answers"
    yield "of one switch in a second, 1 by one NIC. Switches choose by chance, times are those of the hosts' tasks;"
    yield "the CPU is that of the host's script, which sends as much and hears it. `python -m benchmarks.probe.cost`"
    yield "measures this."
    yield ""
    yield "| hosts | packets of a host | its CPU | time | answers of one switch | in any second at most | by one NIC |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for one in costs:
        yield (
            f"| {one.hosts:,} | {one.packets:,} at {one.rate}/s | {one.cpu:.1f} s | {one.seconds:,.0f} s | "
            f"{one.asked:,} | {one.most:,} | {one.of_one_nic:.0f} |"
        )
    yield ""
    planning = ", ".join(f"{one.planning:.1f} s" for one in costs)
    memory = ", ".join(f"{one.memory:,}" for one in costs)
    rendering = max(one.rendering for one in costs) * 1000
    yield f"Planning takes {planning} of CPU for these sizes, and the process has {memory} MB then, the fabric's plan"
    yield f"included. A host's tasks are made when they are sent, in {rendering:.1f} ms."
    yield f"The tasks of a host are at most {max(one.task_bytes for one in costs):,} bytes."
    yield ""


def main() -> None:
    """Measures, prints, writes into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="put the section into this page")
    parser.add_argument("--most", type=int, default=SHAPES[-1].hosts, help="leave out larger fabrics")
    options = parser.parse_args()
    costs = []
    for shape in SHAPES:
        if shape.hosts <= options.most:
            costs.append(cost_of(shape))
            Console(stderr=True).print(costs[-1])
    text = "\n".join(report(costs))
    Console().print(text, markup=False, highlight=False, soft_wrap=True)
    if options.write:
        page = options.write.read_text(encoding="utf-8")
        before, _, rest = page.partition("## Cost\n")
        after = rest[rest.index("\n## ") + 1 :] if "\n## " in rest else ""
        options.write.write_text(before.rstrip() + "\n\n" + text + ("\n" + after if after else ""), encoding="utf-8")


if __name__ == "__main__":
    main()
