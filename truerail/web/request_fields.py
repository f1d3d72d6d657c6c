"""What several endpoints take and answer: filters of lists, the caller and the fields of writes, created things."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Depends, Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, StringConstraints
from starlette.responses import Response

from truerail.views.view import LONGEST_NODESET
from truerail.web.access import Caller, operator
from truerail.web.etag import JSON, to_bytes

# ----------------------------------------------------------------------------------------------------------------------
# Filters that several lists share.

LONGEST_NAME = 255
Nodes = Annotated[str | None, Query(max_length=LONGEST_NODESET, description="a node set: gpu-[001-064],leaf-3")]
Words = Annotated[str | None, Query(max_length=1000, description="one word, or several with commas between")]
Rail = Annotated[int | None, Query(ge=0, le=10_000)]
Time = Annotated[
    str | None,
    AfterValidator(lambda text: text and re.sub(r" (\d{2}:?\d{2})$", r"+\1", text)),  # a `+` in a URL means a blank
    Query(max_length=60, description="2026-11-20T14:00Z, 14:00, yesterday, or 2h for two hours ago"),
]


# ----------------------------------------------------------------------------------------------------------------------
# Common parts of writes: the caller, the fields, and the response for a created thing.

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
