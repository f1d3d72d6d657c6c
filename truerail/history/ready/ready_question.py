"""What a ready-made question of the history declares. Command line, API and page loop over `ready_questions()`."""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from truerail.errors import NotFoundError, QueryError
from truerail.files.problems import nearest
from truerail.history.history_tables import Field, Type
from truerail.history.query.query_request import Form, Limits, QueryRequest
from truerail.model.names import printable

LONGEST_VALUE = 300
"""Characters of a parameter."""
_STEP = re.compile(r"(\d{1,5})([mhd])")
_STEP_SECONDS = {"m": 60, "h": 3600, "d": 86400}
_YES = {"true": True, "1": True, "false": False, "0": False}


class ParameterType(StrEnum):
    """What a parameter is."""

    TIME = "time"
    """A moment: `7d`, `yesterday 14:00`, ISO 8601."""
    NAME = "name"
    """A device, a port, an LLDP name."""
    WHOLE = "whole"
    STEP = "step"
    """The length of the intervals of the answer: `1m`, `1h`, `1d`."""
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class ReadyParameter:
    """A parameter, bound as one of SQL. `default` is its value if it is not given; None: no restriction."""

    name: str
    type: ParameterType
    meaning: str
    default: str | None = None
    needed: bool = False
    least: int = 0
    example: str = ""

    @property
    def label(self) -> str:
        """What stands over its field on the page."""
        return "LLDP name" if self.name == "lldp_name" else self.name.capitalize()


COMMON = {
    "since": ReadyParameter("since", ParameterType.TIME, "from this time on", "7d", example="7d"),
    "until": ReadyParameter("until", ParameterType.TIME, "up to this time", "now", example="now"),
    "device": ReadyParameter("device", ParameterType.NAME, "one device", example="gpu-012"),
    "rail": ReadyParameter("rail", ParameterType.WHOLE, "one rail", example="3"),
}
"""Parameters that several questions have: a file writes what differs."""
_COVERAGE = "\n-- coverage\n"
"""Above the second statement of a file, if it has one."""


@dataclass(frozen=True, slots=True)
class ReadyQuestion:
    """A question: SQL over the store's tables with `$parameters`, and the columns of its answer.

    `no_data` says what an answer without rows means, and what is left out of one with rows. `coverage` is SQL for one
    row, `known` and `total`: of how many things of `coverage_of` the answer knows anything.
    """

    name: str
    title: str
    parameters: tuple[ReadyParameter, ...]
    sql: str
    columns: tuple[Field, ...]
    no_data: str
    coverage: str = ""
    coverage_of: str = ""

    @classmethod
    def read(cls, name: str, text: str) -> "ReadyQuestion":
        """The question in a file of SQL: a comment in TOML with the fields of this class, the statement, and the one of
        its coverage. A column is `[type, meaning, unit]`. Raises ValueError, KeyError.
        """
        head, _, body = text.removeprefix("/*").partition("*/")
        sql, _, coverage = body.partition(_COVERAGE)
        declared = tomllib.loads(head)
        parameters = tuple(_parameter(*one) for one in declared.pop("parameters").items())
        columns = tuple(_column(*one) for one in declared.pop("columns").items())
        return cls(name, parameters=parameters, columns=columns, sql=sql.strip(), coverage=coverage.strip(), **declared)

    def values(self, given: Mapping[str, str | None], moment: Callable[[str], datetime]) -> dict[str, Any]:
        """The value of each parameter. `moment` reads a time. Raises QueryError that names parameter and value."""
        known = {one.name: one for one in self.parameters}
        for name in given:
            if name not in known:
                raise QueryError(f"{self.name} has no parameter {printable(name, 80)!r}{nearest(name, list(known))}")
        found: dict[str, Any] = {one.name: _value(self, one, given.get(one.name), moment) for one in self.parameters}
        if "since" in found and found["since"] >= found["until"]:
            raise QueryError(f"since ({found['since']}) is not before until ({found['until']})")
        return found

    def request(
        self,
        store: str,
        given: Mapping[str, str | None],
        moment: Callable[[str], datetime],
        form: Form = Form.TABLE,
        limits: Limits = Limits(),  # noqa: B008 - a frozen value
    ) -> QueryRequest:
        """The request to a store. Raises QueryError."""
        values = self.values(given, moment)
        since, until = values.get("since", ""), values.get("until", "")
        return QueryRequest(store, self.sql, values, form, limits, since, until, self.coverage)


@dataclass(frozen=True, slots=True)
class HistoryAnswer:
    """The answer to a ready-made question: `items` by column. `parameters` are the values that were used.

    `notes` say what the answer lacks: things without data, days before the store began, files that cannot be read.
    """

    question: str
    title: str
    parameters: dict[str, Any]
    columns: tuple[Field, ...]
    items: list[dict[str, Any]]
    next: str | None
    no_data: str
    notes: tuple[str, ...]


def _parameter(name: str, declared: dict[str, Any]) -> ReadyParameter:
    if "type" in declared:
        return ReadyParameter(name, ParameterType(declared.pop("type")), **declared)
    return replace(COMMON[name], **declared)


def _column(name: str, declared: list[str]) -> Field:
    kind, meaning, *unit = declared
    return Field(Type(kind), name, meaning, *unit or ["UTC" if kind == Type.TIME else ""])


def _value(
    question: ReadyQuestion, one: ReadyParameter, given: str | None, moment: Callable[[str], datetime]
) -> str | int | bool | None:
    text = one.default if given is None or not given.strip() else given.strip()
    if text is None:
        if one.needed:
            raise QueryError(f"{question.name} needs {one.name}: {one.meaning}, as {one.name}={one.example}")
        return None
    if len(text) > LONGEST_VALUE:
        raise QueryError(f"{one.name} has {len(text):,} characters, at most {LONGEST_VALUE} are read")
    if one.type is ParameterType.TIME:
        return moment(text).isoformat()
    return text if one.type is ParameterType.NAME else _number(one, text)


def _number(one: ReadyParameter, text: str) -> int | bool:
    step = _STEP.fullmatch(text)
    if one.type is ParameterType.STEP and step and int(step[1]):
        return int(step[1]) * _STEP_SECONDS[step[2]]
    if one.type is ParameterType.FLAG and text.lower() in _YES:
        return _YES[text.lower()]
    if one.type is ParameterType.WHOLE and text.isascii() and text.isdecimal() and one.least <= int(text) < 1 << 31:
        return int(text)
    wanted = {ParameterType.STEP: "1m, 1h or 1d", ParameterType.FLAG: "true or false"}
    raise QueryError(f"{one.name}: {printable(text, 80)!r} is not {wanted.get(one.type, f'a number from {one.least}')}")


@cache
def ready_questions() -> dict[str, ReadyQuestion]:
    """All questions by name, in the order of their names."""
    files = sorted(Path(__file__).parent.glob("*.sql"), key=lambda path: path.stem)
    return {path.stem: ReadyQuestion.read(path.stem, path.read_text(encoding="utf-8")) for path in files}


def ready_question(name: str) -> ReadyQuestion:
    """The question of this name. Raises NotFoundError with the nearest name."""
    known = ready_questions()
    if name not in known:
        raise NotFoundError(f"question {printable(name, 80)!r} is not known{nearest(name, list(known))}")
    return known[name]
