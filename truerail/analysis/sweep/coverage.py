"""What a sweep covered: links with enough packets, paths seen of those planned, hops known by name."""

from dataclasses import dataclass

import numpy as np

from truerail.analysis.sweep.flow_paths import FlowPaths
from truerail.model.columns import NONE, Codes, Mask, distinct


@dataclass(frozen=True)
class Coverage:
    """Packets that passed each directed link between switches, and counts of paths and hops.

    `segment` are the links as paths name them, each once; `packets` those of flows whose path is known.
    """

    segment: Codes
    packets: Codes
    paths_seen: int
    paths_planned: int
    """Shortest ways between the leaves that flows were sent between."""
    hops_asked: int
    hops_named: int
    """Answered by a planned switch."""

    def short_of(self, packets: int) -> Mask:
        """The links that fewer packets have passed."""
        return np.asarray(self.packets < packets, dtype=bool)

    @property
    def words(self) -> str:
        """In words, as the end of a sentence."""
        return (
            f"{self.paths_seen:,} of {self.paths_planned:,} planned paths were seen, "
            f"{self.hops_named:,} of {self.hops_asked:,} hops are known by name"
        )


def coverage_of(paths: FlowPaths) -> Coverage:
    """The coverage of a sweep."""
    segment = distinct(paths.edge_segments())
    whole = np.flatnonzero(paths.whole)
    inner = paths.segment[whole]
    row, place = np.nonzero(inner >= 0)
    size = int(max(segment.max(initial=0), inner.max(initial=0))) + 1
    packets = np.bincount(inner[row, place], weights=paths.flows.sent[whole][row], minlength=size).astype(np.int64)
    own = inner.copy()
    own[:, 0] = NONE
    own[np.arange(len(own)), paths.length[whole]] = NONE
    seen = len(np.unique(np.concatenate([paths.leaf[0][whole][:, None], own], axis=1), axis=0))
    hops = paths.hops
    key = hops.flow << 8 | hops.ttl
    small = ~hops.large
    asked = distinct(key[small])
    named = distinct(key[small & hops.expired & (hops.device >= 0)])
    return Coverage(segment, packets[segment], seen, _planned(paths), len(asked), len(named))


def _planned(paths: FlowPaths) -> int:
    """The number of shortest ways between the leaves of flows."""
    graph = paths.graph
    tail, head, _ = graph.edges
    sources, targets = paths.leaf
    total = 0.0
    size = len(graph.index.devices.names)
    for leaf in distinct(targets[targets >= 0]).tolist():
        onward, hops = graph.onward(leaf), graph.hops_to(leaf)
        ways = np.zeros(size)
        ways[leaf] = 1
        for far in range(1, int(hops.max()) + 1):
            step = onward & (hops[tail] == far)
            ways[hops == far] = np.bincount(tail[step], weights=ways[head[step]], minlength=size)[hops == far]
        total += ways[distinct(sources[(targets == leaf) & (sources >= 0)])].sum()
    return int(total)
