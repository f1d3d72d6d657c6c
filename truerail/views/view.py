"""The index of one publication that every view and answer reads.

`EvaluationIndex` contains what depends on the evaluation alone and is shared by all its publications; `Layout`
contains what depends on the plan alone. `View` contains what changes with acknowledgements: lives, mutes, and
what follows from them. Each is owned by what it follows from, and refers to it nowhere.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from truerail.analysis.cabling import State, Wiring
from truerail.analysis.cabling.named_by import verified
from truerail.analysis.explained import affected_cables, hidden_by_names
from truerail.analysis.published import EvaluatedRound, Published
from truerail.errors import NodeSetError, NotFoundError, QueryError
from truerail.files.nodesets import Budget, expand
from truerail.model.cause_kinds import CAUSE_KINDS, CauseKind, Harm
from truerail.model.columns import NONE, Codes, Mask, distinct, grouped
from truerail.model.finding import Cause, Finding
from truerail.model.index import PlanIndex
from truerail.model.names import natural_key, printable
from truerail.model.owner import Owner
from truerail.model.plan import Plan, Role
from truerail.model.reading import Reading
from truerail.outputs.report_words import Headline, Tone, headline
from truerail.views.findings import Findings, highest_at
from truerail.views.layout import Layout, Nearest, loose
from truerail.views.nics import Nics, topologies_of
from truerail.views.pieces import CauseLine, Uplinks

LONGEST_NODESET = 4096
_MOST_LISTED = 8
_NUMBERS = re.compile(r"\d+")


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
        return np.asarray(cable[strange], dtype=np.int64)


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
    if cause.kind is not CauseKind.GPU_NIC_ORDER:
        return harmed
    hosts = {layout.code.get(subject, NONE) for subject in cause.subjects}
    return max(harmed, sum(len(wiring.gpu_rails.misordered.get(host, ())) for host in hosts))


class View(Owner):
    """The index of one publication. Devices are codes of `index.devices`, cables numbers of the plan's."""

    def __init__(self, publication: Published) -> None:
        super().__init__()
        self.evaluated, self.round = publication.evaluated, publication.round
        self.at = publication.at
        self.mutes, self.pending_resolution = publication.mutes, publication.pending_resolution
        self.lives, self.cause_lives = publication.lives, publication.cause_lives
        self.hindsight = publication.hindsight
        self.sight: EvaluationIndex = publication.evaluated.once(EvaluationIndex)
        self.plan: Plan = publication.plan
        self.wiring: Wiring = self.sight.wiring
        self.layout: Layout = self.sight.layout
        self.nics: Nics = self.sight.nics
        self.cause_lines: dict[str, CauseLine] = {}
        """Causes as rows of a list, by their keys, as far as they were read."""

    @property
    def index(self) -> PlanIndex:
        """The plan's names as numbers."""
        return self.sight.index

    @property
    def findings(self) -> Findings:
        """The evaluation's findings, followed by those pending resolution."""
        return self.sight.with_held(self.pending_resolution)

    @cached_property
    def headline(self) -> Headline:
        """The verdict. While a finding is pending resolution, it says so instead of reporting that there is nothing to
        do.
        """
        reported, held = self.sight.headline, len(self.pending_resolution)
        if reported.tone is not Tone.GOOD or not held:
            return reported
        still = "1 finding is" if held == 1 else f"{held:,} findings are"
        return Headline(Tone.DOUBT, reported.cables, f"{still} not over yet.")

    def finding(self, finding: str) -> Finding | None:
        """A finding by id."""
        number = self.findings.number.get(finding)
        return None if number is None else self.findings.all[number]

    def cause(self, key: str) -> Cause | None:
        """A cause by key."""
        return self.sight.causes.get(key)

    def cause_of(self, finding: str) -> Cause | None:
        """The cause that explains a finding."""
        key = self.sight.cause_of.get(finding)
        return None if key is None else self.sight.causes[key]

    @cached_property
    def muted(self) -> Mask:
        """Which findings are muted. Shape (findings,)."""
        if not self.mutes:
            return np.zeros(len(self.findings), dtype=bool)
        return np.array([one in self.mutes for one in self.findings.ids], dtype=bool)

    @cached_property
    def loudest(self) -> tuple[Codes, Codes]:
        """Per planned device: the number of unmuted findings, and the highest `Severity.rank` (-1: none)."""
        findings, size = self.findings, len(self.layout.devices)
        device = np.where(self.muted, NONE, findings.device)
        return np.bincount(device[device >= 0], minlength=size), highest_at(device, findings.rank, size)

    def findings_on(self, subjects: Iterable[str]) -> list[Finding]:
        """Findings whose subject is one of these ports or devices, highest severity first as in the evaluation."""
        findings = self.findings
        places = {place for subject in subjects for place in findings.by_subject.get(subject, ())}
        return [findings.all[place] for place in sorted(places)]

    def findings_of(self, device: int) -> list[Finding]:
        """Findings on a device, its ports, and the cables at it."""
        findings = self.findings
        ends = (str(end) for cable in self.layout.cables_of(device).tolist() for end in self.plan.cables[cable][:2])
        places = {place for end in ends for place in findings.by_subject.get(end, ())}
        return [findings.all[place] for place in sorted(places.union(findings.by_device.get(device, ())))]

    def causes_of(self, findings: Iterable[Finding], names: Iterable[str] = ()) -> list[Cause]:
        """The causes that explain these findings or name these ports and devices, each once."""
        keys = {self.sight.cause_of.get(finding.id): None for finding in findings}
        keys |= {key: None for name in names for key in self.sight.causes_at.get(name, ())}
        return [self.sight.causes[key] for key in keys if key is not None]

    def device(self, name: str) -> int:
        """The code of a device by any spelling of its name; -1 if it is neither in the plan nor in the snapshot."""
        return self.index.devices.find(name)

    def named(self, name: str) -> int:
        """The same for a name as people write it: also without domain, marks and leading zeros, `gpu-3` for
        `gpu-003.dc.example`. Raises `NotFoundError` that lists the devices if several fit.
        """
        code = self.device(name)
        if code != NONE:
            return code
        fits = [one for one in self.layout.by_loose_name.get(loose(name.strip()), ()) if self._shortens(name, one)]
        if len(fits) > 1:
            known = listed([self.layout.devices[one].name for one in fits])
            raise NotFoundError(f"{printable(name, 80)!r} fits {known}")
        return fits[0] if fits else NONE

    def _shortens(self, name: str, device: int) -> bool:
        """Whether no number in a name has more digits than in the device's: `gpu-0013` is a mistyped `gpu-013`."""
        digits = zip(_NUMBERS.findall(name), _NUMBERS.findall(self.layout.devices[device].name), strict=False)
        return all(len(one) <= len(own) for one, own in digits)

    def is_planned(self, device: int) -> bool:
        """Whether the plan has this device."""
        return 0 <= device < self.index.devices.planned

    def nodes(self, nodeset: str) -> Codes:
        """The planned devices of a node set, ascending. Raises `QueryError` that names the invalid part."""
        names = self.expand(nodeset)
        codes = [self.named(name) for name in names]
        for name, code in zip(names, codes, strict=True):
            if not self.is_planned(code):
                raise QueryError(f"the plan has no device {printable(name, 80)!r}{self.nearest.hint(name)}")
        return distinct(np.array(codes, dtype=np.int64))

    def expand(self, nodeset: str) -> Sequence[str]:
        """The names of a node set. Raises `QueryError` if it is invalid or larger than any real one."""
        shown = printable(nodeset, 80)
        if len(nodeset) > LONGEST_NODESET:
            raise QueryError(f"node set {shown!r} is longer than {LONGEST_NODESET} characters")
        try:
            return expand(nodeset, Budget(2 * len(self.layout.devices) + 1000))
        except NodeSetError as error:
            raise QueryError(f"node set {shown!r}: {error}") from None

    @property
    def nearest(self) -> Nearest:
        """The index for suggestions of planned names."""
        return self.layout.nearest


def listed(names: Sequence[str]) -> str:
    """`2 things: a, b`: what an ambiguous name fits, the first few."""
    more = ", ..." if len(names) > _MOST_LISTED else ""
    return f"{len(names):,} things: {', '.join(names[:_MOST_LISTED])}{more}"


def view_of(publication: Published) -> View:
    """The index of a publication, which owns it."""
    return publication.once(View)


def warm(publication: Published) -> View:
    """Computes in advance what most requests need, so that the first request after an evaluation is fast."""
    view = view_of(publication)
    for part, names in (
        (view.layout, ("ordered_devices", "hosts", "place", "nearest", "by_label")),
        (view.sight, ("cause_of", "causes_at", "impact", "counts", "verified", "readings", "headline")),
        (view.findings, ("number", "by_subject", "by_device", "cable")),
        (view, ("muted", "loudest")),
        (view.wiring.identity.names, ("macs",)),
    ):
        for name in names:
            getattr(part, name)
    view.wiring.once(topologies_of)
    view.layout.cables_of(0)
    view.sight.ports_of(0)
    return view
