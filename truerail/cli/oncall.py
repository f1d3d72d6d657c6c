"""The questions of on-call as commands, `truerail where|job|...`: their list, and the options that they share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from truerail.questions import question_named
from truerail.questions.question_index import SHORT

LOCAL_SERVICE = "http://127.0.0.1:8080"


class Format(StrEnum):
    """How the answer is shown."""

    TEXT = "text"
    JSON = "json"


Service = Annotated[str, typer.Option(metavar="URL", envvar="TRUERAIL_URL", help="URL of the service.")]
TokenFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="File with the API token. Default: TRUERAIL_TOKEN.")
]
Inventory = Annotated[
    Path | None, typer.Option(metavar="INVENTORY", help="Without a service: poll the devices of this inventory now.")
]
Shown = Annotated[Format, typer.Option("--format", help="Text, or the JSON of the API.")]
Details = Annotated[bool, typer.Option("--details", help="Text: show everything.")]


Capture = Annotated[
    Path | None,
    typer.Option("--from", metavar="CAPTURE", help="Without a service: evaluate this folder or tar archive."),
]
PlanFile = Annotated[
    Path | None, typer.Option("--plan", metavar="PLAN", help="Plan file for a capture or an inventory.")
]


class Asked(TyperCommand):
    """The command of a question, whose file is imported when it is called, not to list it."""

    def make_context(self, *words: Any, **more: Any) -> Any:
        """The context of the whole command."""
        return self.whole().make_context(*words, **more)

    def whole(self) -> Any:
        """The command with its parameters."""
        from truerail.cli.oncall_command import command_of

        return command_of(question_named(str(self.name)))


def add_commands(app: typer.Typer) -> None:
    """A command for each question that has one."""
    for name, short in SHORT.items():
        if short:
            app.command(name, cls=Asked, short_help=short)(lambda: None)
