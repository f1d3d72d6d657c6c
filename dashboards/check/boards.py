"""A dashboard as Grafana reads it: its panels, queries and variables, and queries with values in place of variables."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent.parent
BOARDS: Final = ROOT / "dashboards/generated/grafana"
BUILT_IN: Final = {
    "__rate_interval": "2m",
    "__interval": "30s",
    "__interval_ms": "30000",
    "__range": "1h",
    "__range_s": "3600",
    "__range_ms": "3600000",
}
"""Grafana's own variables, as for an hour of data that is scraped every 30 s."""
_VARIABLE: Final = re.compile(r"\$\{(\w+)(?::\w+)?\}|\$(\w+)")
_LABELS: Final = re.compile(r"label_values\((?P<expr>.+),\s*(?P<label>\w+)\s*\)", re.DOTALL)
_RESULT: Final = re.compile(r"query_result\((?P<expr>.+)\)", re.DOTALL)
_REGEX: Final = re.compile(r'/(?P<label>\w+)="\(\[\^"\]\+\)"/')


@dataclass(frozen=True)
class Query:
    """A query of a panel; `at_once` where only the end of the time range is asked for."""

    ref: str
    expr: str
    at_once: bool
    json: Mapping[str, Any]


@dataclass(frozen=True)
class Panel:
    """A panel that is no row. Those within a collapsed row count too."""

    json: Mapping[str, Any]

    @property
    def title(self) -> str:
        """Its title, or what it is."""
        return str(self.json.get("title") or f"{self.type} without a title")

    @property
    def type(self) -> str:
        """Grafana's name of the visualization: `timeseries`, `stat`, `table`, ..."""
        return str(self.json["type"])

    @property
    def queries(self) -> list[Query]:
        """Its queries."""
        return [
            Query(str(one.get("refId", "")), str(one.get("expr", "")), bool(one.get("instant")), one)
            for one in self.json.get("targets", ())
        ]


@dataclass(frozen=True)
class Variable:
    """A variable of a dashboard, and what it asks Prometheus for."""

    json: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Without the `$`."""
        return str(self.json["name"])

    @property
    def type(self) -> str:
        """`datasource`, `query`, `custom`, ..."""
        return str(self.json["type"])

    @property
    def query(self) -> str:
        """What is asked: `label_values(SERIES, LABEL)`; empty for a variable that asks nothing."""
        asked = self.json.get("query", "")
        return str(asked.get("query", "")) if isinstance(asked, Mapping) else str(asked)

    @property
    def values_of(self) -> tuple[str, str] | None:
        """The expression and the label whose values are listed; None where the variable asks otherwise.

        `label_values(SERIES, LABEL)`, or `query_result(EXPR)` with a regex that takes one label of what it gives.
        """
        asked = self.query.strip()
        if found := _LABELS.fullmatch(asked):
            return found["expr"].strip(), found["label"]
        taken = _REGEX.fullmatch(str(self.json.get("regex", "")))
        found = _RESULT.fullmatch(asked)
        return (found["expr"].strip(), taken["label"]) if found and taken else None


@dataclass(frozen=True)
class Board:
    """A dashboard; `file` names it in messages."""

    file: str
    json: Mapping[str, Any]

    @cached_property
    def panels(self) -> list[Panel]:
        """Every panel but rows."""
        return [Panel(one) for one in _flat(self.json["panels"]) if one["type"] != "row"]

    @cached_property
    def annotations(self) -> list[Panel]:
        """Its queries for marks over time, as panels of one query each."""
        return [
            Panel({"title": f"annotation {one['name']}", "type": "annotation", "targets": [{**one, "refId": "A"}]})
            for one in self.json.get("annotations", {}).get("list", ())
        ]

    @cached_property
    def variables(self) -> list[Variable]:
        """Its variables, in the order in which they depend on each other."""
        return [Variable(one) for one in self.json.get("templating", {}).get("list", ())]

    @property
    def uid(self) -> str:
        """Its address: `/d/UID`."""
        return str(self.json["uid"])


def load(folder: Path = BOARDS) -> list[Board]:
    """Every dashboard of a folder, by file name."""
    return [Board(path.name, json.loads(path.read_text(encoding="utf-8"))) for path in sorted(folder.glob("*.json"))]


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with values in place of its variables. Raises LookupError with the name of one that has none."""
    return _VARIABLE.sub(lambda found: values[found[1] or found[2]], text)


def variables_in(text: str) -> set[str]:
    """The names of all variables in a text."""
    return {found[1] or found[2] for found in _VARIABLE.finditer(text)}


def _flat(panels: list[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for panel in panels:
        yield panel
        yield from _flat(panel.get("panels", []))
