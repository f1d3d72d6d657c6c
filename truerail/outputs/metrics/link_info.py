"""The properties of each link (`truerail_link_info`), the actual position of wrong ones and what to do about
them, and the nearest NIC of each GPU.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from truerail.analysis.cabling import State, Wiring
from truerail.analysis.published import Published
from truerail.model.columns import NONE, Codes, either
from truerail.model.facts import NetLink, RdmaLink
from truerail.model.finding import Evaluation
from truerail.model.snapshot import Table
from truerail.outputs.metrics.declared import declared
from truerail.outputs.metrics.metric_series import Rows, Series
from truerail.outputs.metrics.plan_rows import Cables, Layout


@dataclass(frozen=True)
class Gpus:
    """GPUs and their nearest planned NICs, by link row, ascending: the GPU's index, and whether the NIC suits it (1
    yes, 0 no, -1 unknown). Shapes (pairs,).
    """

    link: Codes
    gpu: Codes
    suits: Codes

    def alone(self, links: int) -> list[str]:
        """For each link the GPU that is nearest to its NIC; empty if there is none, or more than one."""
        only = np.full(links, NONE, dtype=np.int64)
        only[self.link] = self.gpu
        only[np.bincount(self.link, minlength=links) != 1] = NONE
        return ["" if gpu < 0 else str(gpu) for gpu in only.tolist()]


def gpus(layout: Layout, wiring: Wiring) -> Gpus:
    """Reads the hosts' topologies; equal hosts are read together."""
    found: list[Codes] = [np.empty((3, 0), dtype=np.int64)]
    for alike in wiring.gpu_rails.alike():
        row = layout.links.row[wiring.index.cables_at(alike.ports)]
        pairs = [(nic, gpu, alike.suits.get(gpu, NONE)) for gpu, nics in alike.nearest.items() for nic in nics]
        for nic, gpu, suits in pairs:
            link = row[:, nic]
            found.append(np.stack([link, np.full_like(link, gpu), np.full_like(link, suits)]))
    columns = np.concatenate(found, axis=1)
    columns = columns[:, columns[0] >= 0]
    link, gpu, suits = columns[:, np.lexsort((columns[1], columns[0]))]
    return Gpus(link, gpu, suits)


class LinkInfo:
    """`truerail_link_info`. Hosts usually report the same names in every round: then the last series is reused."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._planned = _planned(layout)
        self._last: tuple[_Reported, Series] | None = None

    def series(self, wiring: Wiring, near: Gpus) -> Series:
        """One series for each link."""
        reported, last = _reported(wiring, self._layout.links, near), self._last  # other threads may replace it
        if last is None or reported != last[0]:
            rows, labels = self._layout.links.rows, {**self._planned, **_labels(reported)}
            last = self._last = reported, Series(declared("link_info"), rows, [1] * len(rows.pod), labels)
        return last[1]


class Affinity:
    """`truerail_gpu_nic_affinity`: one series for each GPU and nearest NIC with known affinity. The rows are reused as
    long as the same pairs are known.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._last: tuple[Codes, Rows] | None = None

    def series(self, near: Gpus) -> Series:
        """The series."""
        reported = near.suits >= 0
        pairs, last = np.stack([near.link[reported], near.gpu[reported]]), self._last  # other threads may replace it
        if last is None or not np.array_equal(pairs, last[0]):
            link, gpu = pairs
            rows = self._layout.links.rows.take(link).beside("gpu", [str(number) for number in gpu.tolist()])
            last = self._last = pairs, rows
        return Series(declared("gpu_nic_affinity"), last[1], near.suits[reported].tolist())


def _planned(layout: Layout) -> dict[str, list[str]]:
    cables = [layout.plan.cables[cable] for cable in layout.links.number.tolist()]
    rack = {device.name: device.rack for device in layout.plan.devices.values()}
    return {
        "switch": [cable.b.device for cable in cables],
        "switch_port": [cable.b.name for cable in cables],
        "rack": [rack.get(cable.a.device, "") for cable in cables],
        "switch_rack": [rack.get(cable.b.device, "") for cable in cables],
    }


_Reported = dict[str, list[Any]]
"""What hosts report of their NICs, by link, as reported; None without data."""


def _reported(wiring: Wiring, links: Cables, near: Gpus) -> _Reported:
    port, states = wiring.index.a[links.number], wiring.states
    net, rdma = wiring.seen.table(NetLink), wiring.seen.table(RdmaLink)
    net_row, rdma_row = states.link_row[port], states.rdma_row[port]
    return {
        "netdev": _field(net, "netdev", net_row),
        "rdma_netdev": _field(rdma, "netdev", rdma_row),
        "device": _field(rdma, "device", rdma_row),
        "port": _field(rdma, "port", rdma_row),
        "pci_address": _field(net, "pci_address", net_row),
        "rdma_pci_address": _field(rdma, "pci_address", rdma_row),
        "gpu": near.alone(len(port)),
    }


def _field(table: Table[Any], field: str, row: Codes) -> list[Any]:
    """A field of a table in these rows, -1 without a row; None without data."""
    if not len(table):
        return [None] * len(row)
    values: list[Any] = either(row >= 0, table.column(field)[row], None).tolist()
    return values


def _labels(reported: _Reported) -> dict[str, list[str]]:
    """The same as label values, empty without data."""
    return {
        "netdev": _either(reported["netdev"], reported["rdma_netdev"]),
        "device": [device or "" for device in reported["device"]],
        "port": ["" if port is None else str(port) for port in reported["port"]],
        "pci_bus_id": list(map(_dcgm, _either(reported["rdma_pci_address"], reported["pci_address"]))),
        "gpu": reported["gpu"],
    }


def _either(first: list[str | None], second: list[str | None]) -> list[str]:
    return [one or other or "" for one, other in zip(first, second, strict=True)]


def _dcgm(address: str) -> str:
    """`0000:1a:00.0` in the format of dcgm-exporter: `00000000:1A:00.0`."""
    domain, colon, rest = address.partition(":")
    return f"{domain:0>8}:{rest}".upper() if colon else address


class Action(StrEnum):
    """The action of the causes for the cable of a wrong link."""

    MOVE = "move"
    NONE = "none"
    """Only names are wrong."""
    DECIDE = "decide"
    """No cause moves it, as the evidence is ambiguous; or another repair comes first."""


def seen_instead(layout: Layout, publication: Published) -> Series:
    """The actual position of wrong links, and what to do about them. The place is named if it is a device of the plan:
    the name of an unknown device is its own choice, and would create an unlimited number of series.
    """
    wiring = publication.wiring
    index, links = wiring.index, layout.links.number
    row = np.flatnonzero(wiring.state[links] == State.WRONG)
    place = wiring.place[links[row]]
    at = np.where(place >= 0, index.ports.device_of(place), wiring.heard[index.a[links[row]]])
    known = (at >= 0) & (at < index.devices.planned)
    at, place = np.where(known, at, NONE), np.where(known, place, NONE)
    cable = index.cables_at(place)
    rail = np.where(cable >= 0, index.rail[cable], NONE).tolist()
    actions = _actions(publication.evaluation)
    labels: dict[str, list[str]] = {
        "action": [actions.get(str(index.a_port(cable)), Action.DECIDE) for cable in links[row].tolist()],
        "actual_switch": ["" if code < 0 else index.devices.names[code] for code in at.tolist()],
        "actual_switch_port": [index.spell(port).name if port >= 0 else "" for port in place.tolist()],
        "actual_rail": ["" if number < 0 else str(number) for number in rail],
    }
    return Series(declared("link_actual_info"), layout.links.rows.take(row), [1] * len(row), labels)


def _actions(evaluation: Evaluation) -> dict[str, Action]:
    """The causes' actions, by the port at the cable's end nearer to the GPUs."""
    named = {one for cause in evaluation.causes if cause.names_only for one in cause.explains}
    actions = {finding.subject: Action.NONE for finding in evaluation.findings if finding.id in named}
    moved = (str(move.cable) for cause in evaluation.causes for move in cause.moves if not move.after)
    return {**actions, **dict.fromkeys(moved, Action.MOVE)}


def uplink_info(layout: Layout) -> Series:
    """The upper end of each uplink."""
    ends = [layout.plan.cables[cable].b for cable in layout.uplinks.number.tolist()]
    labels = {"peer": [end.device for end in ends], "peer_port": [end.name for end in ends]}
    return Series(declared("uplink_info"), layout.uplinks.rows, [1] * len(ends), labels)
