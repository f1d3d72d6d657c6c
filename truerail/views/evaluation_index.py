"""The index of an evaluation and its snapshot: everything that does not depend on acknowledgements."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from truerail.analysis.cabling import State, Wiring
from truerail.analysis.cabling.named_by import verified
from truerail.analysis.explained import affected_cables, hidden_by_names
from truerail.analysis.published import EvaluatedRound
from truerail.model.cause_kinds import CAUSE_KINDS, CauseKind, Harm
from truerail.model.columns import NONE, Codes, grouped
from truerail.model.finding import Cause, Finding
from truerail.model.names import natural_key
from truerail.model.plan import Role
from truerail.model.reading import Reading
from truerail.outputs.report_words import Headline, headline
from truerail.views.findings import Findings
from truerail.views.layout import Layout
from truerail.views.nics import Nics
from truerail.views.pieces import Uplinks


class EvaluationIndex:
    """One evaluation of a round, owned by its `EvaluatedRound`. Cable columns have shape (cables,), device columns
    (planned devices,).
    """

    def __init__(self, evaluated: EvaluatedRound) -> None:
        self.evaluation = evaluated.evaluation
        self.round = evaluated.round
        self.wiring = self.round.cabling
        self.index = self.wiring.index
        self.layout = evaluated.round.plan.once(Layout)
        self.nics = Nics(self.wiring)
        self.uplinks: dict[int, tuple[Uplinks, ...]] = {}
        """The cables from a switch to each switch above it, by its code, as far as they were counted."""
        self._held: tuple[tuple[Finding, ...], Findings] | None = None

    @cached_property
    def findings(self) -> Findings:
        """The evaluation's findings."""
        return Findings(self.evaluation.findings, self.index)

    def with_held(self, held: tuple[Finding, ...]) -> Findings:
        """The evaluation's findings, followed by those pending resolution."""
        if not held:
            return self.findings
        known = self._held
        if known is None or known[0] is not held:
            known = self._held = (held, Findings((*self.evaluation.findings, *held), self.index))
        return known[1]

    @cached_property
    def causes(self) -> dict[str, Cause]:
        """Causes by key."""
        return {cause.key: cause for cause in reversed(self.evaluation.causes)}

    @cached_property
    def _keys(self) -> dict[int, str]:
        return {id(cause): key for key, cause in self.causes.items()}

    def key_of(self, cause: Cause) -> str:
        """The key of a cause: a hash, so it is computed once."""
        return self._keys.get(id(cause)) or cause.key

    @cached_property
    def cause_of(self) -> dict[str, str]:
        """Finding id to the key of the cause that explains it."""
        return {finding: key for key, cause in self.causes.items() for finding in cause.explains}

    @cached_property
    def causes_at(self) -> Mapping[str, Sequence[str]]:
        """Keys of causes by the names they contain: subjects, and the ports of their moves."""
        found: dict[str, dict[str, None]] = {}
        for key, cause in self.causes.items():
            ports = (port for move in cause.moves for port in (move.cable, move.source, move.target))
            for name in (*cause.subjects, *map(str, ports)):
                found.setdefault(name, {})[key] = None
        return {name: tuple(keys) for name, keys in found.items()}

    @cached_property
    def impact(self) -> dict[str, int]:
        """GPUs that lose their rail, by the key of the cause."""
        return {key: harm_of(self.wiring, self.layout, cause, self.affected[key]) for key, cause in self.causes.items()}

    def harm_known(self, key: str) -> bool:
        """Whether it is known which GPUs a cause affects: some, or none."""
        cause = self.causes[key]
        return bool(self.impact[key]) or cause.names_only or _on_hosts(self, cause)

    @cached_property
    def affected(self) -> dict[str, Codes]:
        """The cables affected by a cause, by its key."""
        hidden = hidden_by_names(self.evaluation.plan, self.causes.values())
        findings = dict(zip(self.findings.ids, self.findings.all, strict=True))
        return {key: affected_cables(self.wiring, findings, cause, hidden) for key, cause in self.causes.items()}

    @cached_property
    def headline(self) -> Headline:
        """The verdict as a sentence."""
        return headline(self.evaluation)

    @cached_property
    def verified(self) -> Codes:
        """What confirms a cable's actual position, as an index of `VERIFIED`; 0 if the position is unknown."""
        return verified(self.wiring)

    @cached_property
    def counts(self) -> Codes:
        """The number of cables of each device in each state: shape (planned devices, states)."""
        device = np.concatenate([self.layout.a_device, self.layout.b_device])
        return states_at(device, np.tile(self.wiring.state, 2), len(self.layout.devices))

    @cached_property
    def readings(self) -> Mapping[int, Sequence[Reading]]:
        """Readings and failures by the code of the device under whose name they are stored."""
        found = grouped((reading.device, reading) for reading in self.round.snapshot.readings)
        by_code: dict[int, list[Reading]] = {}
        for name, readings in found.items():
            by_code.setdefault(self.wiring.identity.filed(name), []).extend(readings)
        return by_code

    @cached_property
    def switch_ports(self) -> tuple[Codes, Codes]:
        """Codes of all ports of planned switches in order, and of their devices."""
        layout, index = self.layout, self.index
        every = np.arange(self.wiring.ports)
        device = index.ports.device_of(every)
        switch = np.append(layout.tier > Role.HOST.tier, np.zeros(len(index.devices.names), dtype=bool))[device]
        ports = every[switch & (device >= 0)]
        device, (names, code) = device[ports], np.unique(index.ports.name_of(ports), return_inverse=True)
        spelled = [natural_key(index.ports.spelled(name)) for name in names.tolist()]
        rank = np.argsort(sorted(range(len(names)), key=spelled.__getitem__))
        order = np.lexsort((rank[code], layout.rank[device], layout.tier[device]))
        return ports[order], device[order]

    @cached_property
    def port_words(self) -> list[str]:
        """What a search of `switch_ports` reads: the port and its planned other end."""
        index, (ports, _), planned = self.index, self.switch_ports, self.layout.cables
        cables = index.cables_at(ports).tolist()
        ends = ("" if cable < 0 else f"{planned[cable].a} {planned[cable].b}" for cable in cables)
        return [f"{index.spell(port)} {end}".lower() for port, end in zip(ports.tolist(), ends, strict=True)]

    @cached_property
    def _seen_ports(self) -> tuple[Codes, Codes]:
        ports = np.arange(self.wiring.ports)
        device = self.index.ports.device_of(ports)
        order = np.argsort(device, kind="stable")
        return order, np.searchsorted(device[order], np.arange(len(self.index.devices.names) + 1))

    def ports_of(self, device: int) -> Codes:
        """Codes of all ports of a device in plan or snapshot, planned ones first."""
        ports, starts = self._seen_ports
        return ports[starts[device] : starts[device + 1]]

    def cables_seen_on(self, port: int) -> Codes:
        """The cable whose nearer end is actually on this port but planned elsewhere; none or one."""
        partner = self.wiring.partner[[port]]
        cable = self.index.cables_at(partner)
        strange = (cable >= 0) & (self.index.a[cable] == partner) & (self.index.b[cable] != port)
        found: Codes = cable[strange]
        return found


def states_at(place: Codes, state: Codes, size: int) -> Codes:
    """How many of each state are at each of `size` places, of shape (size, states); -1 is no place."""
    width, packed = len(State), (place * len(State) + state)[place >= 0]
    return np.bincount(packed, minlength=size * width).reshape(size, width)


def _on_hosts(index: "EvaluationIndex", cause: Cause) -> bool:
    """Whether a cause is of cables at hosts alone: where these end is their effect. That of uplinks is not known."""
    names = [move.cable.device for move in cause.moves] or [name.partition("/")[0] for name in cause.subjects]
    ends = map(index.index.devices.find, names)
    # of other kinds no affected GPU is known, which is not none
    placed = CAUSE_KINDS[cause.kind].harm in (Harm.CABLES, Harm.UNREAD)
    return placed and all(end >= 0 and index.index.devices.is_host(end) for end in ends)


def harm_of(wiring: Wiring, layout: Layout, cause: Cause, affected: Codes) -> int:
    """The number of GPUs with a cable affected by a cause. Each GPU counts once.

    A cause where only names are wrong affects no GPU. For hosts whose NICs are in another order than planned, the GPUs
    that are nearest to another rail's NIC count.
    """
    if cause.names_only:
        return 0
    harmed = layout.gpus_on(affected)
    return max(harmed, _misordered(wiring, layout, cause)) if cause.kind is CauseKind.GPU_NIC_ORDER else harmed


def _misordered(wiring: Wiring, layout: Layout, cause: Cause) -> int:
    misordered = wiring.gpu_rails.misordered
    return sum(len(misordered.get(layout.code.get(subject, NONE), ())) for subject in dict.fromkeys(cause.subjects))
