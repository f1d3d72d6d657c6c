"""The options that all on-call commands share: the source of the answer, and its format."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

LOCAL_SERVICE = "http://127.0.0.1:8080"


class Format(StrEnum):
    """How the answer is shown."""

    TEXT = "text"
    JSON = "json"


Service = Annotated[
    str,
    typer.Option(metavar="URL", envvar="TRUERAIL_URL", help="URL of the service."),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="File with the API token. Default: TRUERAIL_TOKEN."),
]
Capture = Annotated[
    Path | None,
    typer.Option(
        "--from", "--capture", metavar="CAPTURE", help="Without a service: evaluate this folder or tar archive."
    ),
]
OnlyCapture = Annotated[
    Path | None,
    typer.Option("--capture", metavar="CAPTURE", help="Without a service: evaluate this folder or tar archive."),
]
Inventory = Annotated[
    Path | None,
    typer.Option(metavar="INVENTORY", help="Without a service: poll the devices of this inventory now."),
]
PlanFile = Annotated[
    Path | None,
    typer.Option("--plan", "--plan-file", metavar="PLAN", help="Plan file for a capture or an inventory."),
]
OnlyPlanFile = Annotated[
    Path | None,
    typer.Option("--plan-file", metavar="PLAN", help="Plan file for a capture or an inventory."),
]
Shown = Annotated[Format, typer.Option("--format", help="Text, or the JSON of the API.")]
Details = Annotated[bool, typer.Option("--details", help="Text: show everything.")]
