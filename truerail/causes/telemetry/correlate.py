"""From findings about traffic, links and hosts to few causes: each is explained by what outranks it, or is one itself."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from truerail.causes.draft import Draft
from truerail.causes.telemetry.crossing import Crossing, crossing_of
from truerail.causes.telemetry.found import Found, Ground, found_in
from truerail.causes.telemetry.roots import DOWN, MOVED, Root, reached, root_of_draft, root_of_finding
from truerail.causes.telemetry.table import PHYSICAL, ROWS
from truerail.causes.telemetry.words import behind, impact, kind_of
from truerail.model.counters.telemetry import telemetry_of
from truerail.model.finding import Alternative, Finding
from truerail.model.wiring import ONE_END, State, Wiring

COMPETING = 0.6
"""Of a cause's confidence what is left where another root would explain the same findings. Judgement."""


@dataclass
class _Board:
    """Who explains what. `owner[finding]` is the draft that does, `symptoms[draft]` what it explains beside itself."""

    found: Found
    owner: dict[int, Draft] = field(default_factory=dict)
    symptoms: dict[int, list[int]] = field(default_factory=dict)
    rivals: dict[int, list[Draft]] = field(default_factory=dict)

    def expand(self, roots: Iterable[tuple[Draft, Root]]) -> None:
        """Gives these roots, which are of one rank, what they explain and nobody above them does."""
        claims: dict[int, dict[int, tuple[int, Draft]]] = {}
        for draft, root in roots:
            for number, far, row in reached(self.found, root):
                if number in self.owner or not self._fits(row.fits, root.number, number):
                    continue
                mine = claims.setdefault(number, {})
                if id(draft) not in mine or far < mine[id(draft)][0]:
                    mine[id(draft)] = (far, draft)
        for number, by_draft in claims.items():
            self._give(number, sorted(by_draft.values(), key=lambda claim: claim[0]))

    def _fits(self, fits: object, root: int, number: int) -> bool:
        if root >= 0 and not self.found.together(root, number):
            return False
        return bool(callable(fits) and fits(self.found, root, number))

    def _give(self, number: int, claims: Sequence[tuple[int, Draft]]) -> None:
        """The nearest root takes it; others as near are rivals."""
        nearest, draft = claims[0]
        self.owner[number] = draft
        draft.explains.append(self.found.findings[number].id)
        self.symptoms.setdefault(id(draft), []).append(number)
        self.rivals.setdefault(id(draft), []).extend(other for far, other in claims[1:] if far == nearest)


def correlate(wiring: Wiring, drafts: Sequence[Draft], findings: Sequence[Finding]) -> list[Draft]:
    """The causes that are left to be named once `drafts`, those of the cabling, have explained what they can.

    `findings` are those that no draft explains yet; drafts get the ids of what they explain, and say so. Linear in
    findings and victims but for sorting. Every finding of a rule in the table is then explained by exactly one cause.
    """
    mine = [finding for finding in findings if finding.rule in ROWS]
    ground = Ground(wiring)
    crossings = dict(_crossings(ground, drafts))
    board = _Board(found_in(ground, mine))
    made: list[Draft] = []
    if mine:
        board.expand(_drafts(ground, [draft for draft in drafts if draft.kind in DOWN], crossings))
        for rule in ROWS:
            if rule not in PHYSICAL and not made_wiring(board):
                pass
            made += _of_rule(board, rule)
    _say(board, [*drafts, *made], ground, crossings)
    return made
