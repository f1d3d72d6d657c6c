"""Planned ports that no device has, and which of its own they mean.

The cabling shows which is which: a port has its planned neighbour, but for the few cables that are wrong. A map is
used where it is clear: it keeps the numbers on the front, or the order of the GPUs, or three devices agree on it.
Another one that would explain the cabling may be a shift of cables as well: that is a question, and what depends on it
is unknown.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

import numpy as np

from truerail.analysis.cabling.claims import Claims
from truerail.analysis.cabling.fit import CLEAR, Fit, Match
from truerail.analysis.cabling.host_nics import NicOrder, hosts_say, nic_order
from truerail.analysis.cabling.local import LocalNames
from truerail.analysis.cabling.spellings import Forms, counting, form, in_order, is_counted, lines
from truerail.model.columns import NONE, Codes, Mask, distinct, distinct_pairs, grouped, tally
from truerail.model.facts import Neighbor
from truerail.model.names import natural_key
from truerail.model.plan import Port

_SOME, _HALF, _MOST = 0.25, 0.5, 0.9
"""Of the cables that a map can be tested on, those that one must explain which keeps the order of the GPUs; which keeps
the numbers on the front; and which keeps nothing.
"""
_PART = 8
_FEWEST = 2
"""Ports that one or two devices must lack for a doubt about their names."""
_MIN_DEVICES = 3
"""Devices that must agree on a map whose numbers do not."""


@dataclass(slots=True)
class _Device:
    """A device with doubtful names: its planned ports and its own, by name, each with the device at its other end.
    `places` are rail and plane of planned ports, `across` own ports by the planned port whose cable ends where they
    are heard, `planned_as` the planned names of own ports that are known, `nics` the rail NICs of a host in the order
    of its GPUs.
    """

    code: int
    name: str
    planned: dict[str, int] = field(default_factory=dict)
    own: dict[str, int] = field(default_factory=dict)
    places: dict[str, tuple[int, int]] = field(default_factory=dict)
    across: dict[str, str] = field(default_factory=dict)
    planned_as: dict[str, str] = field(default_factory=dict)
    nics: NicOrder = ()

    def votes(self) -> Iterator[tuple["_Device", str, str]]:
        """Planned and own names of ports that have the same neighbour: several of one neighbour by its ports, else in
        their order.
        """
        planned, own = (grouped((ports[name], name) for name in in_order(ports)) for ports in (self.planned, self.own))
        for peer, names in planned.items():
            mine = own.get(peer, [])
            known = [(name, self.across[name]) for name in names if len(names) > 1 and self.across.get(name) in mine]
            pairs = known or (zip(names, mine, strict=True) if len(names) == len(mine) else ())
            yield from ((self, name, other) for name, other in pairs)

    def by_gpu(self) -> Iterator[tuple[str, str]]:
        """Planned names and own ones: the NIC of rail N is that of the N-th GPU."""
        rails, planes = (sorted({place[at] for place in self.places.values()}) for at in (0, 1))
        if len(set(self.places.values())) == len(self.places) and len(rails) == len(self.nics):
            for name, (rail, plane) in self.places.items():
                functions = self.nics[rails.index(rail)]
                if len(functions) == len(planes):
                    yield name, functions[planes.index(plane)]


def fit_ports(ports: "Ports", *, hosts: bool) -> Fit:
    """Planned ports that their switches do not have, or that have other neighbours on all switches of a kind, matched
    with the switches' own; or the same of `hosts`.
    """
    found = list(_groups(ports, hosts=hosts))
    # what some kinds keep of their numbers holds for others with the same forms of names
    kept = frozenset().union(*(best.forms for group in found if (best := group.best(frozenset())) and best.natural))
    return sum((group.fit(group.best(kept)) for group in found), Fit())


@dataclass(frozen=True)
class Ports:
    """The ports of a fabric: those of the plan, the devices' own, and own ones with the planned device at their other
    ends. Each has one neighbour. `strange` are own ones with other devices there, such as storage that is in no plan.
    """

    names: LocalNames
    claims: Claims
    planned: Codes
    own: Codes
    linked: Codes
    peer: Codes
    strange: Codes

    @cached_property
    def doubtful(self) -> tuple[Codes, Mask, Mask]:
        """Per planned device: how many of its planned ports are not among its own, or lead to a device that is not in
        the plan, and so many of its own are not among the planned; whether these are an eighth or more of those whose
        neighbours are met; and whether a quarter of its planned ports have other neighbours.
        """
        index, ports = self.names.index, self.names.index.ports
        size = len(index.devices.names)

        def count(of: Codes) -> Codes:
            return np.bincount(ports.device_of(of), minlength=size)[: index.devices.planned]

        linked = self.names.as_planned(self.linked)
        here = np.isin(linked, self.planned)
        right = here & (ports.device_of(index.far_ends(linked)) == self.peer)
        known = np.concatenate([self.own, self.names.as_planned(self.own)])
        strange = self.names.as_planned(self.strange)
        lacking = self.planned[~np.isin(self.planned, known) | np.isin(self.planned, strange)]
        unmatched = np.minimum(count(lacking), count(linked[~here]))
        shown = self.planned[np.isin(ports.device_of(index.far_ends(self.planned)), self.peer)]
        all_ = count(linked[here]) + count(strange[np.isin(strange, self.planned)])
        hosts = np.array(index.devices.tier[: index.devices.planned]) == 0  # which may have one port each
        part = _PART * unmatched >= count(shown)
        return unmatched, part, (all_ > np.where(hosts, 0, _FEWEST)) & (count(linked[right]) < CLEAR * all_)

    def forms(self) -> tuple[dict[int, frozenset[int]], dict[int, frozenset[int]]]:
        """By device the forms of its planned and of its own ports' names, as numbers."""
        ports, both = self.names.index.ports, np.concatenate([self.planned, self.linked])
        rows = np.column_stack([ports.device_of(both), ports.forms(ports.name_of(both), form)]).tolist()
        sides = grouped(rows[: len(self.planned)]), grouped(rows[len(self.planned) :])
        planned, own = ({device: frozenset(forms) for device, forms in side.items()} for side in sides)
        return planned, own

    def devices(self, codes: list[int]) -> dict[int, _Device]:
        """Some of the planned devices with their ports, by code."""
        index, ports, names = self.names.index, self.names.index.ports, self.names
        devices = {code: _Device(code, index.devices.names[code]) for code in codes}
        chosen = index.devices.marked(codes)

        def of(port: Codes, *columns: Codes) -> Iterator[tuple[int, ...]]:
            device = ports.device_of(port)
            return zip(*(column[chosen[device]].tolist() for column in (port, device, *columns)), strict=True)

        cable, far = index.cables_at(self.planned), ports.device_of(index.far_ends(self.planned))
        for port, code, other, rail, plane in of(self.planned, far, index.rail[cable], index.plane[cable]):
            name = index.spell(port).name
            devices[code].planned[name], devices[code].places[name] = other, (rail, plane)
        for port, code, meant in of(self.own, names.as_planned(self.own)):
            devices[code].planned_as[ports.port(port).name] = index.spell(meant).name
        for port, code, other in of(self.linked, self.peer):
            devices[code].own[ports.port(port).name] = other
        heard = self.claims.v
        wanted = index.far_ends(self.claims.u)
        same = np.flatnonzero((heard >= 0) & (wanted >= 0) & (ports.device_of(wanted) == ports.device_of(heard)))
        for port, code, mine in of(wanted[same], names.as_own(heard[same])):
            devices[code].across[index.spell(port).name] = ports.port(mine).name
        for host, says in hosts_say(names.seen).items():
            if device := devices.get(names.filed(host)):
                device.nics = nic_order(says)
        return devices


def ports_of(names: LocalNames, claims: Claims, discovered: Codes) -> Ports:
    """The ports of a fabric, with those in the discovery of an InfiniBand one. One that hears several devices is left
    out.
    """
    index, of = names.index, names.index.ports.device_of
    mine = names.as_own(claims.u)
    reported = np.concatenate([mine, names.own_links, names.own_rdma, names.as_own(discovered)])
    described, theirs = _described(names, claims), names.as_own(claims.v)
    theirs = np.where((claims.v >= 0) & ((described < 0) | np.isin(theirs, reported)), theirs, described)
    far = (theirs >= 0) & (np.isin(theirs, reported) | ~np.isin(of(theirs), of(reported)))
    port = np.concatenate([mine, theirs[far]])
    peer = np.concatenate([claims.w, of(claims.u[far])])
    use = (peer >= 0) & (peer < index.devices.planned)
    strange = np.setdiff1d(port[peer >= index.devices.planned], port[use])
    port, peer = distinct_pairs(port[use], peer[use])
    _, inverse, times = np.unique(port, return_inverse=True, return_counts=True)
    planned = np.flatnonzero(index.cables_at(np.arange(index.planned_ports)) >= 0)
    own = distinct(np.concatenate([port, reported]))
    return Ports(names, claims, planned, own[own >= 0], port[times[inverse] == 1], peer[times[inverse] == 1], strange)


def _described(names: LocalNames, claims: Claims) -> Codes:
    """The ports of hosts that are heard with a MAC and an interface's name in the description; -1 elsewhere."""
    index = names.index
    heard = names.seen.table(Neighbor)
    by_mac = heard.column("port_id_type")[claims.row] == "mac"  # its far port may follow from the plan
    rows = np.flatnonzero(((claims.v < 0) | by_mac) & (index.devices.tiers[claims.w] == 0))
    texts = heard.column("port_description")[claims.row[rows]]
    called = index.ports.name_codes(text if text and " " not in text else None for text in texts)
    found = np.full(len(claims.v), NONE, dtype=np.int64)
    found[rows] = index.ports.find_or_add(claims.w[rows], called)
    return found


def _groups(ports: "Ports", *, hosts: bool) -> Iterator["_Group"]:
    """Devices of one kind, if half of them or more have doubtful names. A kind has the same forms of names."""
    index = ports.names.index
    here = (np.array(index.devices.tier[: index.devices.planned]) == 0) == hosts
    lacks, part, elsewhere = (column * here for column in ports.doubtful)
    if not lacks.any() and not elsewhere.any():
        return
    heard = index.devices.marked(index.ports.device_of(ports.linked))

    forms, own_forms = ports.forms()

    def doubted(codes: list[int], *, lack: bool = False) -> bool:
        """Whether half of the devices that are heard have doubtful names, or `lack` ports: one or two devices two."""
        several = heard[codes].sum()
        others = forms[codes[0]].isdisjoint(chain.from_iterable(own_forms.get(code, ()) for code in codes))
        least = _FEWEST if several < _MIN_DEVICES and not others else 1
        doubt = (lacks[codes] >= least) & part[codes] if lack else (lacks[codes] > 0) | elsewhere[codes]
        return bool(2 * doubt.sum() >= several > 0)

    kinds = list(grouped(((index.devices.tier[code], forms[code]), code) for code in forms if here[code]).values())
    if hosts and not any(map(doubted, kinds)):
        return
    devices = ports.devices(np.flatnonzero(here).tolist())
    if hosts:
        _as_others(ports.names, ports.claims, devices.values())
    else:
        counted = {code: counting(device.own) for code, device in devices.items()}
        known = {of: at for one in counted.values() for of, at in one.items() if at is not None}  # for one such port

        def own(code: int) -> frozenset[tuple[str, int | None]]:
            return frozenset((of, known.get(of) if at is None else at) for of, at in counted[code].items())

        kinds = [some for codes in kinds for some in grouped((own(code), code) for code in codes).values()]
    list_ = {name for device in devices.values() for name in device.planned}
    for codes in filter(doubted, kinds):
        yield _Group([devices[code] for code in codes], list_, lacking=doubted(codes, lack=True))


def _as_others(names: LocalNames, claims: Claims, hosts: Iterable[_Device]) -> None:
    """Gives hosts that do not answer the names of those that do: of the ones that have all names by which the silent
    host's ports are heard, if these have one set of names.
    """
    table = names.seen.table(Neighbor)
    said = (table.column(name)[claims.row] for name in ("port_description", "port_id"))
    columns = zip(claims.w.tolist(), *said, strict=True)
    heard = tally((code, text) for code, *texts in columns for text in texts if text)
    sets = {frozenset(host.planned_as) for host in hosts if host.nics}
    every = frozenset().union(*sets)
    for host in hosts:
        fits = [one for one in sets if one >= heard[host.code].keys() & every]
        if not host.nics and len(fits) == 1:
            host.planned_as = {name: host.planned_as.get(name, name) for name in fits[0]}


@dataclass(frozen=True, slots=True)
class _Map:
    """A map of planned to own names: of several own ones the first that a device has is meant, or the only one where
    devices have names `of` their own. `least` is the part of the cables that it must explain; `natural` if it keeps the
    numbers on the front, in names of these forms.
    """

    names: Mapping[str, Sequence[str]]
    least: float
    clear: bool = True
    natural: bool = False
    forms: frozenset[Forms] = frozenset()
    of: Mapping[tuple[int, str], str] = field(default_factory=dict)

    def own(self, device: _Device, name: str) -> str:
        """The own name of a device's planned port; empty if unknown."""
        mine = self.of.get((device.code, name))
        found = [own for own in ([mine] if mine else self.names.get(name, ())) if own in device.planned_as]
        return found[0] if found and not (self.of and len(found) > 1) else ""


class _Group:
    """Devices of one kind with doubtful names, half of which lack planned ports, or have other neighbours there."""

    def __init__(self, devices: Sequence[_Device], list_: Collection[str], *, lacking: bool) -> None:
        self.devices, self.list, self.lacking = devices, list_, lacking
        self.votes = [vote for device in devices for vote in device.votes()]
        self.planned = {name for device in devices for name in device.planned}
        self.own = {name for device in devices for name in (*device.planned_as, *device.own)}
        self.literal = sum(device.planned_as.get(own) == planned for device, planned, own in self.votes)
        self.agreed = sum(bool(device.own) for device in devices) >= _MIN_DEVICES
        known = sum(len(device.planned.keys() & {*device.planned_as.values()}) for device in devices)
        alike = len(self.votes) < _FEWEST and {*map(form, self.planned)} <= {*map(form, self.own)}
        self.faults = not self.agreed and (alike or 2 * known > sum(len(device.planned) for device in devices))
        """Whether one or two devices call their ports as the plan does: then other ports are faults of cables."""

    def explained(self, by: _Map) -> int:
        """How many cables are where they are planned, by a map."""
        return sum(by.own(device, planned) == own for device, planned, own in self.votes)

    def best(self, kept: frozenset[Forms]) -> _Map | None:
        """The most natural map that explains enough. Names that devices have keep their meaning, unless the list counts
        and all devices count otherwise.
        """
        doubted = not self.faults and (self.lacking or self.agreed)
        for one in self._maps(kept):
            explained = self.explained(one)
            enough = explained >= max(1, one.least * len(self.votes)) or (one.natural and one.forms <= kept)
            if enough and (one.natural or doubted) and (self.lacking or explained > self.literal):
                return one
        return None

    def _maps(self, kept: frozenset[Forms]) -> Iterator[_Map]:
        pairs = [(name, own) for _, name, own in self.votes]
        if self.lacking:
            by_gpu = {device.code: dict(device.by_gpu()) for device in self.devices}
            usual = _Map(_counted(pair for pairs in by_gpu.values() for pair in pairs.items()), _SOME)
            of: defaultdict[int, int] = defaultdict(int)  # a host of another model has its own order
            for device, name, own in self.votes:
                of[device.code] += (by_gpu[device.code].get(name) == own) - (usual.own(device, name) == own)
            more = {(code, name): own for code in of if of[code] > 0 for name, own in by_gpu[code].items()}
            yield replace(usual, of=more)
        kept_numbers, shifted, most = list[_Map](), list[_Map](), _counted(pairs)
        for names, forms, natural in lines(self.planned, self.own, pairs, kept, self.list):
            owns = [names[name] for name in in_order(names)]
            clear = natural or (self.agreed and owns == in_order(owns))
            least = _HALF if natural and self.lacking else CLEAR
            one = _Map({name: (own,) for name, own in names.items()}, least, clear, natural, forms)
            (kept_numbers if natural else shifted).append(one)
        yield from sorted(kept_numbers, key=self.explained, reverse=True)
        first = in_order({found[0] for found in most.values()})
        in_line = {name: (own,) for name, own in zip(in_order(most), first, strict=False)}
        if self.lacking:
            yield from (*shifted, _Map(in_line, CLEAR, self.agreed))
            yield _Map(most, _MOST, clear=False)  # it keeps no order: swapped hosts or leaves would be names
        elif all(map(is_counted, self.planned)):
            yield _Map(in_line, _MOST)

    def fit(self, best: _Map | None) -> Fit:
        """What these devices' ports are called; nothing if they have the planned ones and no map is better. What a
        clear map leaves open is a question.
        """
        if best is None and (self.faults or not self.lacking):
            return Fit()
        ports = [(device, Port(device.name, name)) for device in self.devices for name in device.planned]
        meant = {port: own for device, port in ports if best and (own := best.own(device, port.name))}
        found = self._match(meant, self.explained(best) if best else 0)
        if best is None or not best.clear:
            return Fit(open=frozenset(port for _, port in ports), proposed=meant, matches=(replace(found, open=True),))
        ends = Counter((port.device, own) for port, own in meant.items())
        unknown = [port for port, own in meant.items() if ends[port.device, own] > 1]  # two names of one port
        meant = {port: own for port, own in meant.items() if port not in unknown}
        forms, voted = {form(port.name) for port in meant}, {name for _, name, _ in self.votes if not best.natural}
        left = (port for device, port in ports if port not in {*meant, *unknown} and port.name not in device.planned_as)
        unknown += [port for port in left if form(port.name) not in forms or port.name in voted]
        asked = [self._match(dict.fromkeys(unknown, ""), 0, open_=True)] if unknown else []
        return Fit(ports=meant, open=frozenset(unknown), matches=(*([found] if found.names else []), *asked))

    def _match(self, meant: Mapping[Port, str], explained: int, *, open_: bool = False) -> Match:
        devices, names = {port.device for port in meant}, {(port.name, own) for port, own in meant.items()}
        whose = tuple(device.name for device in self.devices if device.name in devices or not meant)
        in_words = sorted((pair for pair in names if pair[0] != pair[1]), key=lambda pair: natural_key(pair[0]))
        return Match(whose, tuple(in_words), explained, len(self.votes), open_)


def _counted(pairs: Iterable[tuple[str, str]]) -> Mapping[str, Sequence[str]]:
    """For each planned name the own ones, the most frequent first."""
    return {name: [own for own, _ in found.most_common()] for name, found in tally(pairs).items()}
