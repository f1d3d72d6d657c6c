"""A publication from a capture: the same answers as from the service, without a history."""

from truerail.analysis.published import EvaluatedRound, Published
from truerail.analysis.round import Round
from truerail.model.finding import Evaluation
from truerail.rounds import evaluate


def publication_of(round: Round, evaluation: Evaluation | None = None, fabric: str = "") -> Published:
    """The publication of a round. Evaluates it if no evaluation is given."""
    return Published(0, fabric, EvaluatedRound(round, evaluation or evaluate(round)))
