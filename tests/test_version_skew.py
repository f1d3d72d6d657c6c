"""A command line and a service of different versions: one clear error, over a real service."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from email.message import Message
from urllib.error import HTTPError

import pytest

from tests.fake_tower import published
from tests.page_site import Site
from truerail import __version__
from truerail.cli import oncall_service
from truerail.cli.oncall_source import Source, ask
from truerail.errors import AnswerError, CommandError
from truerail.questions.question import Kind, Parameter
from truerail.questions.status import QUESTION as STATUS
from truerail.questions.where import QUESTION as WHERE
from truerail.web import application

OLD = "0.0.9"


@dataclass(frozen=True)
class Later:
    """An answer with a field that the service does not send."""

    invented: int


@pytest.fixture(scope="module")
def older() -> Iterator[Source]:
    """A service of an older version."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("truerail.web.application.__version__", OLD)
        application.shared_api.cache_clear()
        with Site(published()) as site:
            yield Source(site.url, None, None, None, None)
    application.shared_api.cache_clear()


LATER = Parameter("later", help="", kind=Kind.NAME, needed=False, option=True)
SKEWS = (
    (replace(WHERE, name="futures"), {"port": "gpu-001"}, "it has no `futures`"),
    (replace(WHERE, parameters=(*WHERE.parameters, LATER)), {"port": "gpu-001", "later": "x"}, "takes no `later`"),
    (
        replace(STATUS, answer=Later),
        {},
        "its answer has another form (Later: Object missing required field `invented`)",
    ),
)


@pytest.mark.parametrize(("question", "given", "why"), SKEWS)
def test_both_versions_are_named(older: Source, question: object, given: dict[str, str], why: str) -> None:
    with pytest.raises(CommandError) as raised:
        ask(question, given, older)  # type: ignore[arg-type]  # a question of another answer
    words = str(raised.value)
    assert f"runs truerail {OLD}, this command is truerail {__version__}, and " in words
    assert why in words
    assert "\n" not in words


def test_what_is_no_matter_of_versions_stays_as_it_is(older: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match="plan and snapshot have no 'nothing'"):
        ask(WHERE, {"port": "nothing"}, older)
    monkeypatch.setattr(oncall_service, "__version__", OLD)
    for question, given, why in SKEWS:
        with pytest.raises(CommandError) as raised:
            ask(question, given, older)
        assert "this command is" not in str(raised.value), why
    gone = "http://127.0.0.1:9"
    unknown = CommandError("as it was")
    unknown.__cause__ = HTTPError(gone, 404, "Not Found", Message(), None)
    reported = {
        unknown: "^as it was$",
        AnswerError("x is missing"): f"^{gone}: not an answer of truerail: x is missing$",
    }
    for error, words in reported.items():
        with pytest.raises(CommandError, match=words), oncall_service.versions_named(gone, None, "where", ("port",)):
            raise error
