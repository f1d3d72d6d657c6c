"""The index of one publication that every view and answer reads.

`EvaluationIndex` contains what depends on the evaluation alone and is shared by all its publications; `Layout`
contains what depends on the plan alone. This module contains what changes with acknowledgements: lives, mutes, and
what follows from them. Each is owned by what it follows from, and refers to it nowhere.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.analysis.published import Published
from truerail.errors import NodeSetError, NotFoundError, QueryError
from truerail.files.nodesets import Budget, expand
from truerail.model.columns import NONE, Codes, Mask, distinct
from truerail.model.finding import Cause, Finding
from truerail.model.index import PlanIndex
from truerail.model.names import printable
from truerail.model.owner import Owner
from truerail.model.plan import Plan
from truerail.outputs.report_words import Headline, Tone
from truerail.views.evaluation_index import EvaluationIndex
from truerail.views.findings import Findings, highest_at
from truerail.views.layout import Layout, loose
from truerail.views.nearest import Nearest
from truerail.views.nics import Nics
from truerail.views.pieces import CauseLine

LONGEST_NODESET = 4096
_MOST_LISTED = 8
_NUMBERS = re.compile(r"\d+")


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
        (view.nics, ("topologies", "macs")),
    ):
        for name in names:
            getattr(part, name)
    view.layout.cables_of(0)
    view.sight.ports_of(0)
    return view
