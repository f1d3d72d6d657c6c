"""The application against its own OpenAPI document: whatever schemathesis makes up, right or wrong.

All of its checks are made but one: no document can say which names, times and node sets a fabric has, so that
well-formed questions about what is not there are rightly refused.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck
from hypothesis import settings as pace
from schemathesis import Case
from schemathesis.python import asgi
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import positive_data_acceptance

from tests.draws import draws
from tests.fake_tower import FakeTower, published, settings, step
from truerail.web.application import create_app

EXAMPLES = draws(1, 50)
LONGEST_WITH_PATTERN = draws(1024, 1 << 20)
"""Characters of a text beyond which its pattern is left out: it takes a regular expression of that size to compile,
hundreds of times. Shorter texts have the same patterns.
"""


def _app() -> object:
    tower = FakeTower(published())
    tower.remember(links=20, rounds=20)
    tower.steps = [step(1, "gpu-001")]
    app = create_app(tower, settings(page={"url": "http://testserver"}))
    document = _without_long_patterns(app.openapi())
    app.openapi = lambda: document  # type: ignore[method-assign]  # as the application does
    return app


def _without_long_patterns(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_long_patterns(one) for one in value]
    if not isinstance(value, dict):
        return value
    limit = value.get("maxLength")
    long = isinstance(limit, int) and limit > LONGEST_WITH_PATTERN
    return {key: _without_long_patterns(one) for key, one in value.items() if not (long and key == "pattern")}


APART = ["/api/v1/events", "/api/v1/gate"]
"""A stream, and the gate, whose status 503 says that it is not known: test_gate.py."""
REFUSED = [400, 401, 403, 404, 405, 413, 414, 422, 431]
"""What a request that the document does not allow is answered with; 413 and 414 where body or path is too long, too."""

METHODS = {} if draws(0, 1) else {"unexpected-methods": ["delete", "trace"]}
"""Those that an address does not have: all of them in a soak, here two, of which some addresses have one."""
config = schemathesis.Config.from_dict(
    {"checks": {"negative_data_rejection": {"expected-statuses": REFUSED}}, "phases": {"coverage": METHODS}}
)


@pytest.fixture(scope="module")
def document() -> Iterator[BaseSchema]:
    """Loaded by the worker that runs this, and by no other that collects it: it takes longer than the requests. The
    event loop of all its requests would end with Python.
    """
    with pytest.MonkeyPatch.context() as patched:  # for each request it would look for proxies, twice
        patched.setattr("requests.sessions.get_environ_proxies", lambda *_, **__: {})
        yield schemathesis.openapi.from_asgi("/openapi.json", _app(), config=config)
    asgi._STACK.close()
    asgi._PORTAL = None


@pytest.fixture(autouse=True)
def renamable(request: pytest.FixtureRequest) -> None:
    """schemathesis renames the test for each endpoint, by an attribute that pytest had before 9.1."""
    request.node._nodeid = request.node.nodeid


@pytest.mark.timeout(180)  # all endpoints are one test
@schemathesis.pytest.from_fixture("document").exclude(path=APART).parametrize()
@pace(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_every_endpoint_is_as_the_document_says(case: Case) -> None:
    case.call_and_validate(excluded_checks=[positive_data_acceptance])
