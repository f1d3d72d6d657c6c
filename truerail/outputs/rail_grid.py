"""The host-by-rail picture as data: hosts with and without faults, and the actual port of a wrong cable."""

from dataclasses import dataclass
from functools import cached_property

from truerail.model import Cable, CableState, Evaluation, Role
from truerail.model.columns import grouped
from truerail.outputs.report_words import order, port_of


@dataclass(frozen=True, slots=True)
class Cell:
    """One planned host cable: its state, and for a wrong one its actual port and rail (if known)."""

    cable: Cable
    state: CableState
    observed: str | None = None
    lands_on: int | None = None

    @property
    def key(self) -> tuple[str, int | None]:
        """The look of the cell: cells with equal keys are drawn alike."""
        return self.state.value, self.lands_on


@dataclass(frozen=True, slots=True)
class HostRow:
    """One host: for each rail of the view its cables in order of planes, an empty tuple without planned cables."""

    host: str
    cells: tuple[tuple[Cell, ...], ...]

    @property
    def key(self) -> tuple[tuple[tuple[str, int | None], ...], ...]:
        """The look of the row: hosts with equal keys share a line."""
        return tuple(tuple(cell.key for cell in cells) for cells in self.cells)


@dataclass(frozen=True, slots=True)
class UplinkGroup:
    """Uplinks of one switch in the same state, explained by the same causes."""

    device: str
    state: CableState
    cells: list[Cell]
    causes: tuple[str, ...]


class Picture:
    """The fabric's host cables by host and rail. Rows are made only for the requested hosts: fabrics are large.

    A cable without a state was not evaluated (see `narrow`) and is left out.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        self.plan = evaluation.plan
        self._observed = {f.subject: f.observed for f in evaluation.findings if f.observed}

    @cached_property
    def _causes_at(self) -> dict[str, dict[str, None]]:
        """Causes by subject and by device of the findings that they explain."""
        cause_of = self.evaluation.cause_of
        at: dict[str, dict[str, None]] = {}
        for finding in self.evaluation.findings:
            if cause := cause_of.get(finding.id):
                for place in {finding.subject, finding.device}:
                    at.setdefault(place, {})[cause] = None
        return at

    def causes_at(self, *places: str) -> tuple[str, ...]:
        """Ids of the causes that explain findings at these ports or devices, in natural order."""
        found = {cause: None for place in places for cause in self._causes_at.get(place, ())}
        return tuple(sorted(found, key=order))

    @cached_property
    def _host_cables(self) -> list[Cable]:
        return [cable for cable in self.plan.host_cables if cable.a in self.evaluation.cable_states]

    @cached_property
    def _of_host(self) -> dict[str, list[Cable]]:
        return grouped((cable.a.device, cable) for cable in self._host_cables)

    @cached_property
    def rails(self) -> tuple[int | None, ...]:
        """The columns: every rail of a host cable in order; None last, for cables without a rail."""
        found = {cable.rail for cable in self._host_cables}
        return tuple(sorted(found, key=lambda rail: (rail is None, rail or 0)))

    @cached_property
    def broken_hosts(self) -> tuple[str, ...]:
        """Hosts with a cable that is not known to be right, in natural order."""
        states = self.evaluation.cable_states
        right = CableState.RIGHT
        broken = (host for host, of in self._of_host.items() if any(states.get(one.a) is not right for one in of))
        return tuple(sorted(broken, key=order))

    @cached_property
    def whole_hosts(self) -> tuple[str, ...]:
        """Hosts whose cables are all known to be right, in natural order."""
        broken = set(self.broken_hosts)
        return tuple(sorted((host for host in self._of_host if host not in broken), key=order))

    def row(self, host: str) -> HostRow:
        """One host's cells, by rail. Raises KeyError for a host without planned cables."""
        cables = sorted(self._of_host[host], key=lambda c: (c.plane or 0, order(c.a.name)))
        of_rail = grouped((cable.rail, self._cell(cable)) for cable in cables)
        return HostRow(host, tuple(tuple(of_rail.get(rail, ())) for rail in self.rails))

    def _cell(self, cable: Cable) -> Cell:
        state = self.evaluation.cable_states[cable.a]
        if state is not CableState.WRONG:
            return Cell(cable, state)
        observed = self._observed.get(str(cable.a))
        seen_at = port_of(observed, self.plan) if observed else None
        return Cell(cable, state, observed, self.plan.rail_of(seen_at) if seen_at else None)

    def groups(self) -> list[tuple[list[str], HostRow]]:
        """Hosts with faults, equal ones together, in order of their first host."""
        rows = ((self.row(host), host) for host in self.broken_hosts)
        alike = grouped((row.key, (host, row)) for row, host in rows)
        return [([host for host, _ in found], found[0][1]) for found in alike.values()]

    def by_rail(self) -> list[tuple[int | None, dict[CableState, int]]]:
        """Each rail, and its cables by their states, in the order of `rails`: None has the cables without a rail."""
        counts = {rail: dict.fromkeys(CableState, 0) for rail in self.rails}
        states = self.evaluation.cable_states
        for cable in self._host_cables:
            counts[cable.rail][states[cable.a]] += 1
        return list(counts.items())

    def uplinks_not_right(self) -> list[Cell]:
        """Cables between switches that are not known to be right."""
        states = self.evaluation.cable_states
        return [
            Cell(cable, state, self._observed.get(str(cable.a)))
            for cable in self.plan.cables
            if (state := states.get(cable.a, CableState.RIGHT)) is not CableState.RIGHT
            and self.plan.role_of(cable.a.device) is not Role.HOST
        ]

    def uplink_groups(self) -> list[UplinkGroup]:
        """The same by switch, state and causes, in natural order."""
        alike = grouped(
            ((cell.cable.a.device, cell.state, self.causes_at(str(cell.cable.a))), cell)
            for cell in self.uplinks_not_right()
        )
        made = [UplinkGroup(device, state, cells, causes) for (device, state, causes), cells in alike.items()]
        return sorted(
            made, key=lambda group: (order(group.device), order(group.cells[0].cable.a.name), group.state.value)
        )
