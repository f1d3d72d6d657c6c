"""The options that all on-call commands share: the source of the answer, and its format."""

from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

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
Inventory = Annotated[
    Path | None,
    typer.Option(metavar="INVENTORY", help="Without a service: poll the devices of this inventory now."),
]
Shown = Annotated[Format, typer.Option("--format", help="Text, or the JSON of the API.")]
Details = Annotated[bool, typer.Option("--details", help="Text: show everything.")]

Watch = Annotated[bool, typer.Option("--watch", help="Ask again and again, and redraw the answer, until Ctrl-C.")]
Interval = Annotated[float, typer.Option(min=1.0, metavar="SECONDS", help="With --watch: seconds between two answers.")]


def capture(taken: Collection[str]) -> Any:
    """`--capture`, and `--from` where the command has no other use for it."""
    names = [name for name in ("--from", "--capture") if name not in taken]
    return Annotated[
        Path | None,
        typer.Option(*names, metavar="CAPTURE", help="Without a service: evaluate this folder or tar archive."),
    ]


def plan_file(taken: Collection[str]) -> Any:
    """`--plan-file`, and `--plan` where the command has no other use for it."""
    names = [name for name in ("--plan", "--plan-file") if name not in taken]
    return Annotated[Path | None, typer.Option(*names, metavar="PLAN", help="Plan file for a capture or an inventory.")]
