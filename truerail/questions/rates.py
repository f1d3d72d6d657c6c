"""`rates DEVICE|PORT`: recent traffic, pause time and errors of its ports; on the page and in the API only."""

from truerail.questions.question import Asked, Given, Parameter, Question
from truerail.views.models import Rates


def _find(asked: Asked, given: Given) -> Rates:
    from truerail.questions.answers.rates import rates

    return rates(asked.publication, given["of"])


QUESTION = Question(
    "rates",
    10,
    Rates,
    (Parameter("of", help="A device or a port.", description="a device or a port"),),
    _find,
    "Traffic, pause time and errors of its ports, sample by sample.",
)
