"""`truerail nccl`: a job's NCCL log on the rails of the fabric, and whether the network slows the job."""

from pathlib import Path
from typing import Annotated

import typer

from truerail.cli import terminal_output
from truerail.cli.exit_codes import ExitCode
from truerail.cli.oncall import LOCAL_SERVICE, Details, Format, Inventory, Service, Shown, TokenFile
from truerail.errors import CommandError

Capture = Annotated[
    Path | None, typer.Option("--from", metavar="CAPTURE", help="The fabric's state: a folder or tar archive.")
]
PlanFile = Annotated[Path | None, typer.Option("--plan", metavar="PLAN", help="The plan. Without one it is inferred.")]


def nccl(
    logs: Annotated[list[Path], typer.Argument(metavar="LOG...", help="Logs of the job, with NCCL_DEBUG=INFO.")],
    plan: PlanFile = None,
    capture: Capture = None,
    inventory: Inventory = None,
    service: Service = LOCAL_SERVICE,
    token_file: TokenFile = None,
    fmt: Shown = Format.TEXT,
    details: Details = False,
) -> None:
    """Show which cable and rail each connection of a job uses, and the findings on its path.

    Logs with the subsystems INIT, NET, GRAPH and ENV of all hosts show both ends of each connection. The cabling is
    that of the running service, unless a capture, an inventory or a plan is given; without any of them the logs alone
    are shown. Ends with 0 if the path is known to be good, 1 if it has findings or is not known.
    """
    import json

    from truerail.cli.nccl_logs import nccl_of
    from truerail.cli.oncall_source import Source
    from truerail.questions.nccl_answer import nccl_text
    from truerail.views.plain import as_json

    if capture is not None and inventory is not None:
        raise CommandError("give a capture or an inventory, not both")
    source = Source(service, token_file, capture, inventory, plan)
    answer = nccl_of(logs, source, hops=details or fmt is Format.JSON)
    text = json.dumps(as_json(answer), indent=2) if fmt is Format.JSON else nccl_text(answer, details=details)
    terminal_output.say(text)
    raise typer.Exit(ExitCode.GOOD if answer.network == "good" else ExitCode.FOUND)
