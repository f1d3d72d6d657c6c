"""`truerail agent`: makes the optional agent for hosts."""

from pathlib import Path
from typing import Annotated

import typer

from truerail.cli import terminal_output
from truerail.cli.exit_codes import refused_by_system

app = typer.Typer(no_args_is_help=True, help="The optional agent on hosts: make its file.")


@app.callback()
def _group() -> None:
    """Keeps `build` a command of its own, though it is the only one."""


@app.command("build", short_help="Write the agent: one file that runs with Python 3.8 or newer.")
def build(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write.")] = Path("truerail-agent.pyz"),
) -> None:
    """Write the agent with the commands of this version: build it again after each upgrade."""
    from truerail.poller.agent_package import agent_file, questions

    data = agent_file()
    with refused_by_system(out, ""):
        out.write_bytes(data)
        out.chmod(0o755)
    commands = sum(len(one.commands) for one in questions())
    terminal_output.say(f"written {out}: {len(data):,} bytes, {commands} commands; `{out.name} --list` prints them")
