"""Small fabrics and sweeps as columns, for tests of the path sweep's analysis."""

from collections.abc import Callable, Sequence

import numpy as np

from truerail.analysis.rule import Case
from truerail.analysis.sweep.flow_paths import FlowPaths, paths_of
from truerail.analysis.sweep.flow_tables import Flows, Hops
from truerail.analysis.sweep.plan_graph import PlanGraph
from truerail.model.columns import NONE
from truerail.model.index import PlanIndex
from truerail.testing.cases import plan_of

TWO_TIERS = "\n".join(
    [f"h{leaf}/nic0 leaf-{leaf}/p0 rail=0" for leaf in range(3)]
    + [f"leaf-{leaf}/up{spine} spine-{spine}/d{leaf}" for leaf in range(3) for spine in range(4)]
)
PARALLEL = "\n".join(
    [f"h{leaf}/nic0 leaf-{leaf}/p0 rail=0" for leaf in range(2)]
    + [f"leaf-{leaf}/up{n} spine-{n // 2}/d{leaf}{n % 2}" for leaf in range(2) for n in range(4)]
)


def graph_of(plan: str) -> PlanGraph:
    """The graph of a plan in the words of a rule's example."""
    return PlanGraph(PlanIndex(plan_of(Case(plan=plan))))


def port(graph: PlanGraph, name: str) -> int:
    """The code of a port."""
    index = graph.index
    device, _, own = name.partition("/")
    return int(index.ports.find(np.array([index.devices.find(device)]), index.ports.name_codes([own]))[0])


def swept_paths(
    graph: PlanGraph,
    flows: Sequence[tuple[str, str]],
    way: Callable[[int], Sequence[str]],
    *,
    packets: int = 100,
    lost: Callable[[int], int] = lambda flow: 0,
    large: Callable[[int], int] = lambda flow: 0,
    answers: Callable[[int, int], int] = lambda flow, ttl: 2,
    large_answers: Callable[[int, int], int] = lambda flow, ttl: 0,
    asked: int = 2,
) -> FlowPaths:
    """The paths of flows between hosts. `way` names for each flow the switches, or the ports where it comes in; an
    empty name is a switch whose address is not known. `large` are the large packets heard, of 3.
    """
    index, size = graph.index, len(flows)
    ends = [[port(graph, f"{flow[side]}/nic0") for flow in flows] for side in (0, 1)]
    count = np.full(size, packets)
    gone = np.array([lost(flow) for flow in range(size)])
    heard = np.array([large(flow) for flow in range(size)])
    table = Flows(
        np.array(ends[0]),
        np.array(ends[1]),
        np.arange(size),
        count,
        count - gone,
        np.full(size, 3),
        heard,
        np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=bool),
    )
    rows = []
    for flow in range(size):
        for ttl, name in enumerate(way(flow), 1):
            device = index.devices.find(name.partition("/")[0]) if name else NONE
            at = port(graph, name) if "/" in name else NONE
            for is_large, back in ((False, answers(flow, ttl)), (True, large_answers(flow, ttl))):
                rows.append((flow, ttl, is_large, asked, back, device if back else NONE, at if back else NONE, NONE))
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return paths_of(graph, table, Hops(*columns))


def names(graph: PlanGraph, segments: Sequence[int]) -> list[str]:
    """Segments in words."""
    return [graph.name(int(one)) for one in segments]


def spelled(graph: PlanGraph, codes: Sequence[int]) -> list[str]:
    """Devices by name; empty where unknown."""
    return [graph.index.devices.names[int(code)] if code >= 0 else "" for code in codes]
