"""Refuses unknown query parameters of an endpoint: a typing error in a filter must not return everything.

FastAPI's parameter models with `extra="forbid"` would need 18 models, one of them empty for 21 endpoints, take the last
value of a parameter that is given twice, and suggest no name.
"""

from collections import Counter
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError

from truerail.files.problems import nearest


async def only_known(request: Request) -> None:
    """Dependency of every endpoint of the API. Raises RequestValidationError that names the parameters."""
    given = Counter(name for name, _ in request.query_params.multi_items())
    known: frozenset[str] = request.app.state.parameters[request.scope["route"].name]
    faults = [_fault(name, request.query_params[name], _hint(name, known)) for name in given if name not in known]
    faults += [
        _fault(name, request.query_params[name], "given more than once") for name, times in given.items() if times > 1
    ]
    if faults:
        raise RequestValidationError(faults)


def _hint(name: str, known: frozenset[str]) -> str:
    return "no such parameter" + (nearest(name, sorted(known)) if known else "; there are none here")


def _fault(name: str, value: str, summary: str) -> dict[str, Any]:
    return {"type": "extra_forbidden", "loc": ("query", name), "msg": summary, "input": value}


def parameters_of(document: dict[str, Any]) -> dict[str, frozenset[str]]:
    """The names of the query parameters of every endpoint by its name, as in an OpenAPI document."""
    operations = [reported for methods in document["paths"].values() for reported in methods.values()]
    return {
        reported["operationId"]: frozenset(
            one["name"] for one in reported.get("parameters", ()) if one["in"] == "query"
        )
        for reported in operations
    }
