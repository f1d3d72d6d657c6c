"""What a rule raises where it has its facts and cannot evaluate them, or has nothing to evaluate."""

from collections.abc import Iterable

from truerail.errors import TruerailError
from truerail.model.finding import NotEvaluated


class InsufficientDataError(TruerailError):
    """Raised by a rule that has its facts but insufficient data: too few samples, no eligible switch. Gives the reason.

    A rule that raises it after its last finding keeps its findings: the parts are then what else it could not evaluate.
    `parts` are sentences, or parts with their number and examples.
    """

    def __init__(self, *parts: NotEvaluated | str) -> None:
        self.parts = tuple(NotEvaluated(part) if isinstance(part, str) else part for part in parts)
        super().__init__("; ".join(part.why for part in self.parts))


class NotApplicableError(TruerailError):
    """Raised by a rule when the facts show that the fabric has nothing that it evaluates: no NIC is in a bond."""


def report_not_evaluated(parts: Iterable[NotEvaluated]) -> None:
    """The last step of a rule: raises InsufficientDataError if there are parts that it could not evaluate."""
    if not_evaluated := tuple(parts):
        raise InsufficientDataError(*not_evaluated)
