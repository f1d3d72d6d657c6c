"""Common parts of writes: the caller, the fields, and the response for a created thing."""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Depends
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, StringConstraints
from starlette.responses import Response

from truerail.web.access import Caller, operator
from truerail.web.etag import JSON, to_bytes

Operator = Annotated[Caller, Depends(operator)]
LINE = r"^[^\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]*$"
"""One line: no control characters, and nothing that changes the direction of writing."""


def _says_something(text: str) -> str:
    if not text.strip():
        raise ValueError("says nothing")
    return text.strip()


says_something = AfterValidator(_says_something)
"""Refuses text of blanks only."""
Reason = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=LINE), says_something]
Name = Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=LINE), says_something]
"""The target of a write: an id, a device, a node set."""
FIRST_MOMENT = datetime(2000, 1, 1, tzinfo=UTC)
LAST_MOMENT = datetime(2200, 1, 1, tzinfo=UTC)
"""Times outside of these are a mistake, and near the limits of dates other time zones cannot represent them."""


def _in_the_calendar(at: datetime) -> datetime:
    if not FIRST_MOMENT <= at < LAST_MOMENT:
        raise ValueError(f"is not between {FIRST_MOMENT:%Y-%m-%d} and {LAST_MOMENT:%Y-%m-%d}")
    return at.astimezone(UTC)


Moment = Annotated[AwareDatetime, AfterValidator(_in_the_calendar)]


class Written(BaseModel):
    """The body of a write: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def created(thing: Any, location: str) -> Response:
    """201, the created thing, and where it is."""
    return Response(to_bytes(thing), 201, {"Location": location, "Cache-Control": "no-store"}, media_type=JSON)


def done(thing: Any, status: int = 200) -> Response:
    """The result of a write that created nothing with an address."""
    return Response(to_bytes(thing), status, {"Cache-Control": "no-store"}, media_type=JSON)


def gone() -> Response:
    """204: ended."""
    return Response(status_code=204, headers={"Cache-Control": "no-store"})
