"""The parts of the OpenAPI document besides the endpoints themselves."""

from typing import Any

from pydantic import TypeAdapter

from truerail.web.access.authenticator import METRICS, PROBES
from truerail.web.problem_json import MEDIA_TYPE, Problem

DESCRIPTION = """\
Wrong cables, labels and hosts in a rail-optimized GPU fabric, their causes, and the fewest moves.

`null` means no data: it is never a zero, and never "fine". Ports print as `device/port`, times are UTC.
Every
`GET` has an `ETag` and honours `If-None-Match`. Every error is `application/problem+json`."""

TAGS: list[dict[str, Any]] = [
    {"name": "fabric", "description": "The fabric at a glance."},
    {"name": "lists", "description": "Devices, ports, cables, findings, causes, steps: filtered, in parts."},
    {"name": "on-call", "description": "The questions of 03:00."},
    {"name": "past", "description": "The history in the journal."},
    {"name": "writes", "description": "What an operator may change."},
    {"name": "service", "description": "The service itself: events, metrics, health."},
]


def _problem(summary: str) -> dict[str, Any]:
    return {"description": summary, "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}


PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: _problem("The question cannot be understood; the detail names the value."),
    401: _problem("The request is not authenticated."),
    403: _problem("The role does not allow this."),
    404: _problem("Nothing is called that; the detail names the nearest name."),
    409: _problem("Somebody else changed it since the caller looked; the detail names who, `now` what is there."),
    410: _problem("The list has moved on: read it from its begin."),
    413: _problem("The body is too large."),
    414: _problem("The path or the query is too long."),
    421: _problem("The Host header names no name of this service."),
    422: _problem("A parameter or a field is wrong; `errors` names each."),
    429: _problem("Too many wrong tokens."),
    431: _problem("The headers are too long."),
    500: _problem("Something broke inside."),
    503: _problem("No evaluation yet, or the journal is not available; `Retry-After` says when to retry."),
}
"""Responses that any endpoint may return."""


SCHEMES: dict[str, Any] = {
    "token": {"type": "http", "scheme": "bearer", "description": "A token of `truerail token`."},
    "metricsToken": {"type": "http", "scheme": "bearer", "description": "`access.metrics_token`."},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "__Host-truerail",
        "description": "The session of the page, after `POST /login`; over plain HTTP its name is `truerail`.",
    },
    "csrf": {"type": "apiKey", "in": "header", "name": "X-CSRF-Token", "description": "The value from `/api/v1/me`."},
}
"""The authentication schemes. A trusted proxy (`access.trusted_proxy`) authenticates its users instead."""


def completed(document: dict[str, Any], *, open_to_all: bool) -> dict[str, Any]:
    """The document with what FastAPI cannot know: the schema of problems, which no endpoint returns by itself, the CSV
    of the lists that have one, and each endpoint's authentication; `open_to_all`: a service without log-in needs none.
    """
    components = document["components"]
    shape = TypeAdapter(Problem).json_schema(ref_template="#/components/schemas/{model}")
    schemas = components["schemas"] | shape.pop("$defs", {}) | {"Problem": shape}
    paths = {
        path: {
            method: {**_with_csv(operation), "security": _security(path, method, open_to_all=open_to_all)}
            for method, operation in methods.items()
        }
        for path, methods in document["paths"].items()
    }
    return {**document, "paths": paths, "components": {**components, "schemas": schemas, "securitySchemes": SCHEMES}}


def _with_csv(operation: dict[str, Any]) -> dict[str, Any]:
    """The operation with the media type of what it returns for `format=csv`, if it has that parameter."""
    forms = (part["schema"].get("enum", ()) for part in operation.get("parameters", ()) if part["name"] == "format")
    if not any("csv" in form for form in forms):
        return operation
    responses = operation["responses"]
    content = responses["200"]["content"] | {"text/csv": {"schema": {"type": "string"}}}
    return {**operation, "responses": responses | {"200": {**responses["200"], "content": content}}}


def _security(path: str, method: str, *, open_to_all: bool) -> list[dict[str, list[str]]]:
    """The alternative authentication schemes; an empty one means none is needed."""
    if path in PROBES:
        return []
    ways: list[dict[str, list[str]]] = [
        {"token": []},
        {"session": []} if method == "get" else {"session": [], "csrf": []},
    ]
    if path in METRICS:
        ways.append({"metricsToken": []})
    return [*ways, {}] if open_to_all else ways
