"""Findings as columns and by subject: read by every view, computed once for each evaluation."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from truerail.model.columns import NONE, Codes, grouped
from truerail.model.finding import Finding, Severity
from truerail.model.index import PlanIndex

SEVERITIES = [severity.value for severity in Severity]


def severity_of(rank: int) -> str | None:
    """The word of a `Severity.rank`; None for -1."""
    return None if rank == NONE else SEVERITIES[rank]


def highest_at(place: Codes, rank: Codes, size: int) -> Codes:
    """The highest rank at each of `size` places, -1 where there is none; -1 is no place."""
    found = np.full(size, NONE, dtype=np.int64)
    np.maximum.at(found, place[place >= 0], rank[place >= 0])
    return found


class Findings:
    """Findings in their order. Columns have shape (findings,)."""

    def __init__(self, findings: Sequence[Finding], index: PlanIndex) -> None:
        self.all = tuple(findings)
        self._index = index

    def __len__(self) -> int:
        return len(self.all)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Each finding's id: a hash, so it is computed once."""
        return tuple(finding.id for finding in self.all)

    @cached_property
    def number(self) -> dict[str, int]:
        """Index by id."""
        return {one: number for number, one in enumerate(self.ids)}

    @cached_property
    def by_subject(self) -> dict[str, list[int]]:
        """Indices by subject."""
        return grouped((finding.subject, number) for number, finding in enumerate(self.all))

    @cached_property
    def rank(self) -> Codes:
        """`Severity.rank`."""
        return np.array([finding.severity.rank for finding in self.all], dtype=np.int64)

    @cached_property
    def rail(self) -> Codes:
        """The rail; -1 without one."""
        return np.array([NONE if one.rail is None else one.rail for one in self.all], dtype=np.int64)

    @cached_property
    def rule(self) -> npt.NDArray[np.str_]:
        """The code of the rule."""
        return np.array([finding.rule for finding in self.all], dtype=np.str_)

    @cached_property
    def device(self) -> Codes:
        """The device that the subject is or belongs to, as a code; -1 if it is not in the plan."""
        names = [finding.subject if self._is_device(finding) else finding.device for finding in self.all]
        code = {name: self._index.devices.find(name) for name in set(names)}
        found = np.array([code[name] for name in names], dtype=np.int64)
        return np.where(found < self._index.devices.planned, found, NONE)

    @cached_property
    def port(self) -> Codes:
        """The port that the subject is, as a code; -1 for a device."""
        names = [None if self._is_device(one) else one.subject.partition("/")[2] or None for one in self.all]
        return self._index.find(self.device, names)

    @cached_property
    def cable(self) -> Codes:
        """The cable planned at the subject; -1 for a device or a free port."""
        return self._index.cables_at(self.port)

    @cached_property
    def words(self) -> list[str]:
        """What a search of findings reads."""
        return [f"{one.subject} {one.rule} {one.name} {one.summary} {one.observed or ''}".lower() for one in self.all]

    @cached_property
    def by_device(self) -> dict[int, list[int]]:
        """Indices by device code, without findings on unplanned devices."""
        return grouped((device, place) for place, device in enumerate(self.device.tolist()) if device >= 0)

    def _is_device(self, finding: Finding) -> bool:
        return finding.subject in self._index.plan.devices
