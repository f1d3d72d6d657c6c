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


Time = Annotated[
    str | None,
    AfterValidator(lambda text: text and re.sub(r" (\d{2}:?\d{2})$", r"+\1", text)),  # a `+` in a URL means a blank
    Query(max_length=60, description="2026-11-20T14:00Z, 14:00, yesterday, or 2h for two hours ago"),
]
