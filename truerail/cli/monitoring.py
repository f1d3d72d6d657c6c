"""`truerail monitoring`: dashboards, rules, routes and runbooks for a site's Prometheus, Alertmanager and Grafana."""

from pathlib import Path
from typing import Annotated

import typer

from truerail.cli import terminal_output
from truerail.cli.exit_codes import refused_by_system
from truerail.errors import CommandError

app = typer.Typer(help="Export dashboards, alert rules and runbooks.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keeps `export` a subcommand while it is the only one."""


@app.command("export", short_help="Write dashboards, alert rules and runbooks.")
def export(
    folder: Annotated[Path, typer.Argument(help="Folder to write to; files of the same name are replaced.")],
    runbooks: Annotated[str, typer.Option(help="URL of runbooks/; alerts link to it.")] = "",
    truerail: Annotated[str, typer.Option(help="URL of truerail's page; alerts and dashboards link to it.")] = "",
    grafana: Annotated[str, typer.Option(help="URL of Grafana; alerts link to their dashboard there.")] = "",
) -> None:
    """Write dashboards, alert rules, Alertmanager routes and runbooks.

    Below the folder: grafana/, prometheus/, alertmanager/ and runbooks/; the rules again for the Prometheus operator
    (kubernetes/) and as Grafana-managed alerts (grafana-alerting/, prometheus-records/).
    """
    from truerail.outputs.monitoring import GRAFANA, RUNBOOKS, TRUERAIL, monitoring_files, write

    texts = monitoring_files(
        _address("--runbooks", runbooks) or RUNBOOKS,
        _address("--truerail", truerail) or TRUERAIL,
        _address("--grafana", grafana) or GRAFANA,
    )
    with refused_by_system(folder, by_file=True):
        write(folder, texts)
    terminal_output.remark(f"{folder}: {len(texts)} files written")


def _address(option: str, value: str) -> str:
    """An address that needs no escapes in YAML and JSON."""
    if value and (not value.startswith(("http://", "https://")) or set(value) & set(" \t\r\n\"'\\#")):
        raise CommandError(f"{option}: expected a URL such as https://wiki.example.com/truerail, not {value!r}")
    return value
