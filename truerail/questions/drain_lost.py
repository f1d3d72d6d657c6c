"""What hosts, switches and running jobs lose while something is out of service; other faults and work there."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

import numpy as np

from truerail.model.bonds import bond_members
from truerail.model.columns import NONE, Codes, Mask, distinct
from truerail.model.facts import NetLink
from truerail.outputs.report_words import count
from truerail.questions.blast import Target, weights_of
from truerail.questions.drain_answer import (
    ENDS,
    SLOWER,
    UNKNOWN,
    DrainFault,
    DrainHost,
    DrainJob,
    DrainSwitch,
    OtherWork,
)
from truerail.questions.rail_status import RailStatus, Stand, carrying
from truerail.questions.resolve import gpus_of, rail_words
from truerail.questions.working_time import GivenJob, Window, folded, jobs_on
from truerail.views.view import View


class Fate(IntEnum):
    """What becomes of a host's rail: the first three stay as they are."""

    LEFT = 0
    ALREADY_LOST = 1
    ALREADY_UNKNOWN = 2
    ENDS = 3
    KEPT = 4
    """The cables left are in one bond with those that go."""
    REDUCED = 5
    """Another plane is left."""
    UNKNOWN = 6


@dataclass(frozen=True)
class Cells:
    """Rails of the affected hosts, one row each: shapes (cells,). `rail` is -1 without a rail, `fate` a `Fate`."""

    host: Codes
    rail: Codes
    fate: Codes

    @property
    def hit(self) -> Mask:
        """Which lose a cable that works, or may work."""
        return np.asarray(self.fate >= Fate.ENDS, dtype=bool)

    def number(self, *fates: Fate) -> int:
        """Connections with one of these fates. Those that are reduced or unknown depend on what is not known."""
        return int(np.count_nonzero(np.isin(self.fate, fates)))


def cells_of(view: View, standing: RailStatus, target: Target) -> Cells:
    """The rails of all hosts with a cable that goes. One on the wrong leaf carries traffic too, across the spine."""
    index = standing.index
    hosts = distinct(index.a_device[target.host_cables])
    cables = standing.below.of_all(hosts.tolist())
    key, group = np.unique(index.a_device[cables] << 16 | (index.rail[cables] + 1), return_inverse=True)
    goes, stand = np.isin(cables, target.host_cables), standing.stand[cables]

    def number(which: Mask) -> Codes:
        return np.bincount(group[which], minlength=len(key))

    carries = goes & carrying(standing)[cables]
    lost, unsure = number(carries & (stand != Stand.UNKNOWN)), number(carries & (stand == Stand.UNKNOWN))
    left, perhaps = number(~goes & (stand == Stand.ON)), number(~goes & (stand == Stand.UNKNOWN))
    hit = lost + unsure > 0
    fate = np.select(
        [~hit & (left > 0), ~hit & (perhaps > 0), ~hit, left > 0, (perhaps > 0) | (lost == 0)],
        [Fate.LEFT, Fate.ALREADY_UNKNOWN, Fate.ALREADY_LOST, Fate.REDUCED, Fate.UNKNOWN],
        Fate.ENDS,
    ).astype(np.int64)
    bonded = _bonded(view, key >> 16, cables, group, fate)
    return Cells(key >> 16, (key & 0xFFFF) - 1, np.where(bonded, Fate.KEPT, fate))


def _bonded(view: View, host: Codes, cables: Codes, group: Codes, fate: Codes) -> Mask:
    """Which of the reduced rails have all of their cables in one bond, as their hosts report it. Shape (cells,)."""
    reduced = fate == Fate.REDUCED
    bond = _bond_of(view, distinct(host[reduced]).tolist())
    if not bond:
        return np.zeros(len(fate), dtype=bool)
    of_cable = np.array([bond.get(port, NONE) for port in view.index.a[cables].tolist()], dtype=np.int64)
    low, high = np.full(len(fate), np.iinfo(np.int64).max), np.full(len(fate), NONE)
    np.minimum.at(low, group, of_cable)
    np.maximum.at(high, group, of_cable)
    return np.asarray(reduced & (low == high) & (low >= 0), dtype=bool)


def _bond_of(view: View, hosts: Collection[int]) -> dict[int, int]:
    """The number of the bond of each port that is a member of one, by the port's code."""
    found: dict[int, int] = {}
    bonds: dict[tuple[int, str], int] = {}
    for host, name, member in _members(view, set(hosts)):
        index = view.index
        port = int(index.ports.find(np.array([host]), index.ports.name_codes([member]))[0])
        found[port] = bonds.setdefault((host, name), len(bonds))
    return found


def _members(view: View, hosts: Collection[int]) -> Iterator[tuple[int, str, str]]:
    """Host, bond and member, as hosts report them."""
    for host in hosts:
        links = [one for reading in view.sight.readings.get(host, ()) for one in reading.facts]
        bonds = bond_members(one for one in links if isinstance(one, NetLink))
        yield from ((host, bond, member) for bond, members in bonds.items() for member in members)


def drain_hosts(view: View, standing: RailStatus, target: Target, cells: Cells) -> tuple[DrainHost, ...]:
    """The hosts that lose something, those that keep least first."""
    codes = distinct(cells.host[cells.hit])
    starts = np.searchsorted(cells.host, np.append(codes, len(standing.index.devices.names)))
    shares = _shares(standing, target)
    found = []
    for host, start in zip(codes.tolist(), starts.tolist(), strict=False):
        end = int(np.searchsorted(cells.host, host, side="right"))
        rails, fate = cells.rail[start:end], cells.fate[start:end]
        share = float(shares[host])
        found.append((share, int(view.layout.rank[host]), _host(view, target, host, rails, fate, share)))
    return tuple(one for _, _, one in sorted(found, key=lambda row: row[:2]))


def _host(view: View, target: Target, host: int, rails: Codes, fate: Codes, share: float) -> DrainHost:
    def which(*fates: Fate) -> tuple[int, ...]:
        return tuple(rail for rail in rails[np.isin(fate, fates)].tolist() if rail >= 0)

    lost = which(Fate.ENDS)
    return DrainHost(
        host=view.index.devices.names[host],
        gpus=gpus_of(view, host, None if target.device == host else lost),
        lost=lost,
        reduced=which(Fate.KEPT, Fate.REDUCED),
        unknown=which(Fate.UNKNOWN, Fate.ALREADY_UNKNOWN),
        already_lost=which(Fate.ALREADY_LOST),
        left=which(Fate.LEFT),
        share_left=share,
    )


def _shares(standing: RailStatus, target: Target) -> "np.typing.NDArray[np.float64]":
    """The share of each host's planned bandwidth that is known to work afterwards. Shape (devices,)."""
    index, size = standing.index, len(standing.index.devices.names)
    cables = np.flatnonzero(index.from_host)
    goes = np.zeros(len(standing.stand), dtype=bool)
    goes[target.host_cables] = True
    weight = weights_of(standing, cables) * 1.0
    left = weight * ((standing.stand[cables] == Stand.ON) & ~goes[cables])
    planned = np.bincount(index.a_device[cables], weights=weight, minlength=size)
    known = np.bincount(index.a_device[cables], weights=left, minlength=size)
    return np.asarray(known / np.maximum(planned, np.finfo(np.float64).tiny), dtype=np.float64)


def switches_of(view: View, standing: RailStatus, target: Target, drained: Collection[int]) -> tuple[DrainSwitch, ...]:
    """The switches below that lose uplinks and stay in service, those that keep least first."""
    lower = np.setdiff1d(distinct(standing.index.a_device[target.uplinks]), list(drained))
    rows = [_switch(view, standing, target, switch) for switch in lower.tolist()]
    return tuple(sorted(rows, key=lambda r: (r.left / max(1, r.planned), view.layout.rank[view.device(r.switch)])))


def _switch(view: View, standing: RailStatus, target: Target, switch: int) -> DrainSwitch:
    planned = standing.below.of(switch)
    stays = ~np.isin(planned, target.uplinks)
    stand = standing.stand[planned]
    return DrainSwitch(
        switch=view.index.devices.names[switch],
        planned=len(planned),
        now=int(np.count_nonzero(stand == Stand.ON)),
        left=int(np.count_nonzero(stays & (stand == Stand.ON))),
        unknown=int(np.count_nonzero(stays & (stand == Stand.UNKNOWN))),
    )


def jobs_of(
    view: View, jobs: Iterable[GivenJob], cells: Cells, below: Codes, switches: Iterable[DrainSwitch], matched_type: str
) -> tuple[DrainJob, ...]:
    """The jobs on affected hosts, those that end first, then by the number of hosts."""
    cut = not len(cells.host) and any(one.left + one.unknown == 0 for one in switches)
    found = [_job(view, job, hit, cells, cut, matched_type) for job, hit in jobs_on(jobs, below)]
    order = (ENDS, UNKNOWN, SLOWER)
    return tuple(sorted(found, key=lambda one: (order.index(one.effect), -one.hosts_affected, one.name)))


def _job(view: View, job: GivenJob, hit: Codes, cells: Cells, cut: bool, matched_type: str) -> DrainJob:
    effect, why = _effect(job, hit, cells, cut, matched_type)
    hosts = folded(view, hit)
    summary = f"{count(len(hit), 'host')} of {len(job.hosts):,}: {why}"
    return DrainJob(job.name, hosts, len(hit), len(job.hosts), effect, summary)


def _effect(job: GivenJob, hit: Codes, cells: Cells, cut: bool, matched_type: str) -> tuple[str, str]:
    mine = np.isin(cells.host, hit) & cells.hit
    ends = mine & (cells.fate == Fate.ENDS)
    if matched_type == "host":
        return ENDS, "its host is out of service"
    if ends.any() and len(job.hosts) == 1:
        return UNKNOWN, "it runs on one host, and whether it uses the network is unknown"
    if ends.any():
        rails = rail_words({rail for rail in cells.rail[ends].tolist() if rail >= 0})
        return ENDS, f"its connections on {rails or 'these hosts'} end"
    if (mine & np.isin(cells.fate, (Fate.REDUCED, Fate.UNKNOWN))).any():
        return UNKNOWN, "whether its connections end depends on what is not known"
    if cut:
        return (UNKNOWN, "its hosts may use several leaves") if len(job.hosts) > 1 else (SLOWER, "it runs on one host")
    return SLOWER, "no connection ends, less bandwidth is left"


def faults_of(view: View, target: Target, below: Codes, switches: Iterable[DrainSwitch]) -> tuple[DrainFault, ...]:
    """Open causes that affect what would remain, those with most hosts and switches first."""
    rest = _remaining(view, target, below, switches)
    found = []
    for key, cables in view.sight.affected.items():
        here = cables[rest[cables]]
        if len(here):
            cause = view.sight.causes[key]
            hosts, ups = _ends(view, here)
            row = DrainFault(key, cause.kind.value, cause.summary, folded(view, hosts), folded(view, ups))
            found.append(((-len(hosts) - len(ups), -view.sight.impact[key], key), row))
    return tuple(row for _, row in sorted(found, key=lambda one: one[0]))


def other_work(
    view: View,
    windows: Iterable[Window],
    target: Target,
    below: Codes,
    switches: Iterable[DrainSwitch],
    span: tuple[datetime, datetime],
) -> Iterator[OtherWork]:
    """Announced maintenance in this time on what would remain. One that covers all that is drained is its own."""
    own, rest = np.concatenate([target.host_cables, target.uplinks]), _remaining(view, target, below, switches)
    for one in windows:
        here = np.flatnonzero(one.cables & rest)
        if one.starts >= span[1] or one.ends <= span[0] or not len(here) or (len(own) and one.cables[own].all()):
            continue
        hosts, ups = _ends(view, here)
        yield OtherWork(one.target, one.starts, one.ends, one.reason, folded(view, hosts), folded(view, ups))


def _remaining(view: View, target: Target, below: Codes, switches: Iterable[DrainSwitch]) -> Mask:
    """Which cables would remain to those who lose some: the other NICs of hosts, the other uplinks of switches."""
    index = view.index
    lower = np.zeros(len(index.devices.names) + 1, dtype=bool)
    lower[[view.device(one.switch) for one in switches]] = True
    if len(target.host_cables):
        lower[below] = True
    rest = lower[index.a_device]
    rest[target.host_cables] = rest[target.uplinks] = False
    return np.asarray(rest, dtype=bool)


def _ends(view: View, cables: Codes) -> tuple[Codes, Codes]:
    """The hosts and the switches at the lower ends."""
    lower = distinct(view.index.a_device[cables])
    host = np.array([view.index.devices.is_host(code) for code in lower.tolist()], dtype=bool)
    return lower[host], lower[~host]
