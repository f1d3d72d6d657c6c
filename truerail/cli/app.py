"""The commands, and the groups in which `truerail --help` shows them."""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from truerail.cli import (
    agent_commands,
    assistant,
    bus_commands,
    capture,
    check,
    demo,
    export,
    inventory,
    licenses,
    monitoring,
    nccl_command,
    notify,
    oncall,
    oncall_mutes,
    parse,
    plan_commands,
    probe,
    query,
    rules,
    schema,
    serve,
    token,
    verify_command,
    watch,
)

GROUPS = {
    "Check": "check capture probe watch",
    "On call": "status where why path storm rails counters timeline diff blast drain ack maintenance",
    "Jobs": "job jobs gate nccl lint-topology export",
    "Repair": "plan-repair repair-diff verify",
    "Plan": "plan inventory",
    "Serve": "serve demo token bus agent notify monitoring query mcp",
}
"""What each group has; a command in none of them is a tool."""


class CommandMap(TyperGroup):
    """The help of `truerail`: a map of the commands by what they are for."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """A section for each group, one line a command, in columns that are aligned over all groups."""
        grouped = {name for names in GROUPS.values() for name in names.split()}
        tools = [name for name in self.list_commands(ctx) if name not in grouped]
        width = max(map(len, self.commands))
        for group, names in {**GROUPS, "Tools": " ".join(tools)}.items():
            with formatter.section(group):
                shown = {
                    name: self.commands[name].get_short_help_str(formatter.width - width - 4) for name in names.split()
                }
                formatter.write_dl([(name.ljust(width), text) for name, text in shown.items()])


app = typer.Typer(
    name="truerail",
    cls=CommandMap,
    help="Find wrong cables, labels and hosts in a rail-optimized GPU fabric, their causes, and the fewest moves.",
    epilog="Exit codes: 0 nothing at or above --fail-on, 1 findings, 2 could not evaluate, 3 a bug.",
    no_args_is_help=True,
    rich_markup_mode=None,  # importing the code that draws boxes around help takes longer than all the rest of --help
    pretty_exceptions_enable=False,
    add_completion=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        import truerail

        typer.echo(f"truerail {truerail.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Holds the options of `truerail` itself."""


app.command("check", short_help="Check a fabric: what is wrong, why, the fewest moves.")(check.check)
app.command("capture", short_help="Poll all devices, write the answers to files.")(capture.capture)
app.command("probe", short_help="Send packets between hosts: does every rail carry them?")(probe.probe)
app.command("watch", short_help="Show the remaining work, live.")(watch.watch)
oncall.add_commands(app)
app.command("nccl", short_help="A job's NCCL log, on the rails of the fabric.")(nccl_command.nccl)
app.command("mcp", short_help="Answer an assistant's questions about the fabric.")(assistant.mcp)
app.command("query", short_help="Ask the history: SQL, or a ready-made question.")(query.query)
app.command("ack", short_help="Acknowledge a finding or a cause.")(oncall_mutes.ack)
app.command("maintenance", short_help="Announce maintenance.")(oncall_mutes.maintenance)
app.command("serve", short_help="Run the service: journal, page, API and metrics.")(serve.serve)
app.command("demo", short_help="Run the service on a simulated, changing fabric.")(demo.demo)
app.command("parse", short_help="Read one recorded answer, print JSON facts.")(parse.parse)
app.command("schema", short_help="Print the JSON Schema of a file, for editors.")(schema.schema)
app.command("verify", short_help="Replay the orders of moves of a report.")(verify_command.verify)
app.command("licenses", short_help="Print the licenses of truerail and its packages.")(licenses.licenses)
app.command("token", short_help="Create an API token.")(token.token)
app.add_typer(inventory.app, name="inventory")
app.add_typer(export.app, name="export")
app.add_typer(plan_commands.app, name="plan")
app.add_typer(monitoring.app, name="monitoring")
app.add_typer(notify.app, name="notify")
app.add_typer(bus_commands.app, name="bus")
app.add_typer(agent_commands.app, name="agent")
app.add_typer(rules.app, name="rules")
