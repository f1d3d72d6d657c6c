"""Sessions that are down: symptoms of their cable's cause, or a cause of their own."""

import pytest

from rules import rules
from truerail.model import CauseKind
from truerail.rounds import evaluate
from truerail.testing.cases import scene

KINDS = (
    CauseKind.CONFIGURATION,
    CauseKind.LINK_DOWN,
    CauseKind.CONFIGURATION,
    CauseKind.CABLE_SWAP,
    CauseKind.CABLE_MOVE,
)


@pytest.mark.parametrize(("case", "kind"), [*zip(rules()["BGP001"].fires, KINDS, strict=True)])
def test_a_session_has_the_cause_of_its_cable(case: object, kind: CauseKind) -> None:
    evaluation = evaluate(scene(case))  # type: ignore[arg-type]
    sessions = {one.id for one in evaluation.findings if one.rule == "BGP001"}
    (cause,) = [one for one in evaluation.causes if sessions & set(one.explains)]
    assert cause.kind is kind
    assert sessions <= set(cause.explains)
