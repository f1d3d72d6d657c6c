"""Whether a finding that is no longer present is gone, or only unseen."""

from functools import cached_property

import numpy as np

from collector import collectors
from rules import rules
from truerail.analysis.cabling import State, Wiring
from truerail.model.columns import NONE
from truerail.model.facts import Fact, Neighbor
from truerail.model.finding import Evaluation, Finding, Status


class Witness:
    """What one round could report. Everything is computed on first use."""

    def __init__(self, evaluation: Evaluation, wiring: Wiring) -> None:
        self._wiring = wiring
        self._verdict = {verdict.rule: verdict for verdict in evaluation.verdicts}

    def could_say(self, finding: Finding) -> bool:
        """Whether this round would have had the finding if it were still true: its rule ran and had its facts, its
        device answered, and the state of its cable is known.

        True for a device that is no longer in the plan: it is not polled and can have no finding.
        """
        if not self._evaluated(finding):
            return False
        index = self._wiring.index
        device = index.devices.find(finding.device)
        if device != NONE and device < index.devices.planned and not self._wiring.read[device]:
            return False
        state = self._cable_state(finding, device)
        return state is not State.UNKNOWN and self._heard(finding, cable_known=state is not None)

    def _evaluated(self, finding: Finding) -> bool:
        """Whether the rule evaluated the finding's subject, according to its verdict. The part that it could not
        evaluate may be the finding's; an unknown part does not affect the rest.
        """
        verdict = self._verdict.get(finding.rule)
        if verdict is None or verdict.status is Status.ERROR:
            return False
        if verdict.status is Status.UNKNOWN and not (
            verdict.not_evaluated and all(p.rest_evaluated for p in verdict.not_evaluated)
        ):
            return False
        return all({finding.subject, finding.device}.isdisjoint(part.subjects) for part in verdict.not_evaluated)

    def _cable_state(self, finding: Finding, device: int) -> State | None:
        """The state of the cable planned at the finding's port; None if there is none."""
        port = finding.subject.partition("/")[2]
        if not port or device == NONE:
            return None
        index = self._wiring.index
        cable = index.cable_at(int(index.find(np.array([device]), [port])[0]))
        return None if cable == NONE else State(int(self._wiring.state[cable]))

    def _heard(self, finding: Finding, *, cable_known: bool) -> bool:
        """Whether the facts that the rule needs were read on the devices of the finding's evidence. For a cable of
        known state it does not matter which end reports it: the state combines both ends.
        """
        rule = rules().get(finding.rule)
        needs = set(rule.needs) if rule else set()
        if cable_known:
            needs.discard(Neighbor)
        if needs & self._failed.get(finding.device, set()):
            return False
        used = needs.union(rule.instead if rule else ())
        sources = {(one.device, type(one.fact)) for one in finding.evidence if type(one.fact) in used}
        return all(kind in self._answered.get(device, set()) for device, kind in sources if self._planned(device))

    def _planned(self, device: str) -> bool:
        return NONE < self._wiring.index.devices.find(device) < self._wiring.index.devices.planned

    @cached_property
    def _answered(self) -> dict[str, set[type[Fact]]]:
        """Kinds of facts that each device reported."""
        return self._kinds(failed=False)

    @cached_property
    def _failed(self) -> dict[str, set[type[Fact]]]:
        """Kinds of facts for which each device was polled without a readable answer."""
        failed = self._kinds(failed=True)
        return {device: kinds - self._answered.get(device, set()) for device, kinds in failed.items()}

    def _kinds(self, *, failed: bool) -> dict[str, set[type[Fact]]]:
        known = collectors()
        found: dict[str, set[type[Fact]]] = {}
        for reading in self._wiring.seen.readings:
            if bool(reading.error) is failed:
                kinds = known[reading.collector].yields if reading.collector in known else ()
                found.setdefault(reading.device, set()).update(kinds)
        return found
