"""The commands, in the order that `truerail --help` shows them."""

from typing import Annotated

import typer

from truerail.cli import (
    capture,
    check,
    demo,
    inventory,
    monitoring,
    oncall,
    parse,
    plan,
    rules,
    schema,
    serve,
    token,
    watch,
)

app = typer.Typer(
    name="truerail",
    help="Which cable, label or host is wrong in a rail-optimized GPU fabric, why, and the fewest moves to mend it.",
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


app.command("check", short_help="Say what is wrong, why, and the fewest moves.")(check.check)
app.command("capture", short_help="Ask all devices, keep the answers in files.")(capture.capture)
app.command("watch", short_help="Show what is left to do, live.")(watch.watch)
app.command("where", short_help="On call: a port's whole path, GPU to uplinks.")(oncall.where)
app.command("job", short_help="On call: which rails of a job's hosts are whole.")(oncall.job)
app.command("blast", short_help="On call: who is hurt while something is down.")(oncall.blast)
app.command("path", short_help="On call: the hops from host to host.")(oncall.path)
app.command("diff", short_help="On call: what changed in links and findings.")(oncall.diff)
app.command("why", short_help="On call: what a finding rests on.")(oncall.why)
app.command("storm", short_help="On call: PFC storms, their culprit, who waits for it.")(oncall.storm)
app.command("timeline", short_help="On call: what happened to a port or device.")(oncall.timeline)
app.command("serve", short_help="Watch a fabric always: journal, page, API and metrics.")(serve.serve)
app.command("demo", short_help="Serve a simulated fabric that lives.")(demo.demo)
app.command("parse", short_help="Read one recorded answer, print JSON facts.")(parse.parse)
app.command("schema", short_help="Print the JSON Schema of a file, for editors.")(schema.schema)
app.command("token", short_help="Make a token that lets somebody into the service.")(token.token)
app.add_typer(inventory.app, name="inventory")
app.add_typer(plan.app, name="plan")
app.add_typer(monitoring.app, name="monitoring")
app.add_typer(rules.app, name="rules")
