"""Findings by their place in the fabric: port, link, device, and time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.telemetry import Telemetry
from truerail.analysis.round import Round
from truerail.model.columns import NONE, Codes, grouped, mapped
from truerail.model.finding import Finding


@dataclass(frozen=True)
class FabricContext:
    """The fabric of the findings, in the wiring's codes."""

    round: Round

    @property
    def wiring(self) -> Wiring:
        """The actual cabling."""
        return self.round.cabling

    @cached_property
    def peer(self) -> Codes:
        """The other end of every planned port's link, actual, else planned; -1 unknown."""
        return self.wiring.peers.port

    @property
    def reported(self) -> Telemetry:
        """The counters."""
        return self.round.telemetry

    @cached_property
    def poll(self) -> float:
        """Seconds between two polls of counters."""
        return self.reported.pace

    @cached_property
    def tier(self) -> Codes:
        """The tier of every device, -1 for an unplanned one; the last entry is for no device at all."""
        return self.wiring.index.devices.tiers

    @cached_property
    def uplink(self) -> Codes:
        """The switch whose uplink a planned port is the lower end of; -1 for every other port. Shape (ports,)."""
        index = self.wiring.index
        found = np.full(index.planned_ports, NONE, dtype=np.int64)
        up = np.flatnonzero(~index.from_host & (index.a >= 0))
        found[index.a[up]] = index.a_device[up]
        return found

    @cached_property
    def owner(self) -> list[int]:
        """The device of every planned port, as a list for single look-ups."""
        return [*self.wiring.index.ports.device_of(np.arange(len(self.peer))).tolist()]

    @cached_property
    def _peer(self) -> list[int]:
        return [*self.peer.tolist()]

    @cached_property
    def _links(self) -> list[int]:
        return [*self.link_of(np.arange(len(self.peer))).tolist()]

    def at(self, port: int) -> tuple[int, int]:
        """The link at one port, as in `link_of`, and the port's device."""
        if port < len(self.owner):
            return self._links[port], self.owner[port]
        return port, int(self.wiring.index.ports.device_of(np.array([port]))[0])

    def is_host(self, device: int) -> bool:
        """Whether a device is a host in the plan."""
        return self.wiring.index.devices.is_host(device)

    def link_of(self, port: Codes) -> Codes:
        """The link at each port: one number for both of its ends; -1 for no port."""
        planned = (port >= 0) & (port < len(self.peer))
        peer = np.where(planned, self.peer[np.where(planned, port, 0)], NONE) if len(self.peer) else port * 0 - 1
        return np.where(peer >= 0, np.minimum(port, peer), port)

    def ends(self, link: int) -> list[int]:
        """The planned ports at the ends of a link."""
        planned = len(self._peer)
        return [end for end in (link, self._peer[link] if 0 <= link < planned else NONE) if 0 <= end < planned]

    def switches_of(self, links: Iterable[int]) -> list[int]:
        """The switches at the ends of some links, the lower one first."""
        owners = dict.fromkeys(self.owner[end] for link in links for end in self.ends(link))
        return [device for device in owners if device >= 0 and not self.is_host(device)]

    def places(self, names: Sequence[str]) -> tuple[Codes, Codes]:
        """Device and port codes of `device/port` or `device`; -1 for no port, or an unknown one. Shapes (n,)."""
        index = self.wiring.index
        parts = [name.partition("/") for name in names]
        code = {name: index.devices.find(name) for name in dict.fromkeys(device for device, _, _ in parts)}
        device = mapped(code.__getitem__, [device for device, _, _ in parts])
        return device, index.find(device, [port or None for _, _, port in parts])


@dataclass(frozen=True)
class Found:
    """Findings with their places. Columns have shape (findings,). `port` is -1 if the subject is a whole device; `link`
    is then that of the port that the finding names, if any, else -1.
    """

    ground: FabricContext
    findings: Sequence[Finding]
    device: Codes
    port: Codes
    link: Codes

    @cached_property
    def details(self) -> list[Mapping[str, Any]]:
        """The details of each finding by name."""
        return [dict(finding.detail) for finding in self.findings]

    @cached_property
    def rules(self) -> list[str]:
        """The rule of each finding."""
        return [finding.rule for finding in self.findings]

    @cached_property
    def spans(self) -> list[tuple[float, float]]:
        """Start and end of each finding's condition, as far as its rule reports them."""
        return [
            (_seconds(d["since"], -inf) if "since" in d else -inf, _seconds(d["until"], inf) if "until" in d else inf)
            for d in self.details
        ]

    @cached_property
    def pointing_at(self) -> Mapping[int, list[int]]:
        """Numbers of the findings that name another link's NIC as a possible reason, by that link."""
        named = [(number, str(port)) for number, d in enumerate(self.details) for port in d.get("or", ())]
        _, ports = self.ground.places([port for _, port in named])
        links = self.ground.link_of(ports).tolist()
        return grouped((link, number) for link, (number, _) in zip(links, named, strict=True) if link >= 0)

    def subjects_of(self, number: int) -> tuple[str, ...]:
        """Subjects of a cause that starts with a finding: the cycle of a deadlock, the NIC that a host's finding names,
        and the one at the other end if either may be the reason.
        """
        finding, detail = self.findings[number], self.details[number]
        singled = [detail["port"]] if finding.rule == "RAL001" and "port" in detail else []
        cycle = [str(port) for port in detail.get("cycle", ())] or [finding.subject]
        return tuple(dict.fromkeys([*cycle, *map(str, (*singled, *detail.get("or", ())))]))

    @cached_property
    def by_rule(self) -> Mapping[str, list[int]]:
        """Numbers of the findings of each rule."""
        return grouped((rule, number) for number, rule in enumerate(self.rules))

    @cached_property
    def links(self) -> list[int]:
        """The link of each finding, as a list for single look-ups."""
        return [*self.link.tolist()]

    @cached_property
    def on_link(self) -> Mapping[int, list[int]]:
        """Numbers of the findings at either end of a link."""
        return grouped((link, number) for number, link in enumerate(self.links) if link >= 0)

    @cached_property
    def of_device(self) -> Mapping[int, list[int]]:
        """Numbers of the findings about a device as a whole."""
        whole = np.flatnonzero((self.port < 0) & (self.device >= 0))
        return grouped(zip(self.device[whole].tolist(), whole.tolist(), strict=True))

    @cached_property
    def in_device(self) -> Mapping[int, list[int]]:
        """Numbers of the findings about a device or any port of it."""
        return grouped((device, number) for number, device in enumerate(self.device.tolist()) if device >= 0)

    @cached_property
    def on_uplinks(self) -> Mapping[int, list[int]]:
        """Numbers of the findings at the lower ends of a switch's uplinks."""
        uplink, port = self.ground.uplink, self.port
        planned = np.flatnonzero((port >= 0) & (port < len(uplink)))
        own = planned[uplink[port[planned]] >= 0]
        return grouped(zip(uplink[port[own]].tolist(), own.tolist(), strict=True))

    @cached_property
    def paused(self) -> Mapping[int, list[tuple[int, int]]]:
        """The ports that findings name as their victims: port codes and distances, by the finding's number."""
        telling = [number for number, detail in enumerate(self.details) if detail.get("victims")]
        names = list(dict.fromkeys(port for number in telling for port, _ in victims(self.details[number])))
        code = dict(zip(names, self.ground.places(names)[1].tolist(), strict=True))
        by_finding = {n: [(code[port], hops) for port, hops in victims(self.details[n])] for n in telling}
        return {
            number: sorted(((port, hops) for port, hops in ports if port >= 0), key=lambda one: one[1])
            for number, ports in by_finding.items()
        }

    @cached_property
    def pausing_uplinks(self) -> Mapping[int, list[int]]:
        """Numbers of the findings whose root itself pauses an uplink of a switch."""
        uplink = self.ground.uplink
        pairs = {
            (int(uplink[port]), number)
            for number, ports in self.paused.items()
            for port, hops in ports
            if hops == 1 and port < len(uplink) and uplink[port] >= 0
        }
        return grouped(sorted(pairs))

    def paused_share(self, number: int, priorities: Sequence[int]) -> float:
        """The share of time for which a finding's NIC was paused, by its own counters or its switch's; NaN if neither
        counts it.
        """
        link = int(self.link[number])
        reported, ports = self.ground.reported, np.array(self.ground.ends(link), dtype=np.int64)
        nic = np.array([self.ground.is_host(self.ground.owner[port]) for port in ports.tolist()], dtype=bool)
        shares = [np.nan]
        for priority in (*priorities, *(() if priorities else (None,))):
            for which, quantity in ((nic, Quantity.RX_PAUSE_US), (~nic, Quantity.TX_PAUSE_US)):
                gained, span = reported.part(quantity, priority, ports[which])
                known = ~np.isnan(gained) & (span > 0)
                if known.any():
                    shares.append(float(gained[known].sum(dtype=np.float64) / span[known].sum(dtype=np.float64) / 1e6))
        return float(np.nanmax(shares)) if len(shares) > 1 else float("nan")

    def at_host(self, number: int) -> bool:
        """Whether a finding is about a host or a port of one."""
        return self.ground.is_host(int(self.device[number]))

    def together(self, one: int, other: int) -> bool:
        """Whether two findings overlap in time, within one poll."""
        (since, until), (begun, ended) = self.spans[one], self.spans[other]
        slack = self.ground.poll
        return since <= ended + slack and begun <= until + slack


def found_in(ground: FabricContext, findings: Sequence[Finding]) -> Found:
    """Findings with the places of their subjects."""
    device, port = ground.places([finding.subject for finding in findings])
    _, inside = ground.places([str(dict(finding.detail).get("port", "")) for finding in findings])
    return Found(ground, findings, device, port, ground.link_of(np.where(port >= 0, port, inside)))


def _seconds(reported: object, otherwise: float) -> float:
    """A time in a finding's detail as Unix seconds: from ISO text, a time, or seconds."""
    match reported:
        case datetime():
            return reported.timestamp()
        case str():
            return datetime.fromisoformat(reported).timestamp()
        case int() | float():
            return float(reported)
    return otherwise


def victims(detail: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """The ports that a finding names as its victims, with their distance in links."""
    for victim in detail.get("victims", ()):
        yield str(victim["port"]), int(victim["hops"])
