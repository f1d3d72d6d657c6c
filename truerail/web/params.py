"""Filters that several lists share."""

import re
from typing import Annotated

from fastapi import Query
from pydantic import AfterValidator

from truerail.views.view import LONGEST_NODESET

LONGEST_NAME = 255
Nodes = Annotated[str | None, Query(max_length=LONGEST_NODESET, description="a node set: gpu-[001-064],leaf-3")]
Words = Annotated[str | None, Query(max_length=1000, description="one word, or several with commas between")]
Rail = Annotated[int | None, Query(ge=0, le=10_000)]


def _zoned(text: str) -> str:
    """An unquoted `+` in a URL means a blank: `14:00:00 02:00` was `14:00:00+02:00`."""
    return re.sub(r" (\d{2}:?\d{2})$", r"+\1", text)


Time = Annotated[
    str | None,
    AfterValidator(lambda text: None if text is None else _zoned(text)),
    Query(max_length=60, description="2026-11-20T14:00Z, 14:00, yesterday, or 2h for two hours ago"),
]
