"""`truerail rules`: the catalogue in the terminal."""

from typing import Annotated

import typer

from truerail.errors import CommandError

app = typer.Typer(help="List and explain the rules.", no_args_is_help=True)


@app.command("list")
def list_rules() -> None:
    """List every rule: code, severity, name and title."""
    from rules import rules
    from truerail.cli import terminal_output
    from truerail.cli.terminal_output import aligned

    rows = [(rule.code, rule.severity.value, rule.name, rule.title) for rule in rules().values()]
    terminal_output.say("\n".join(aligned(rows)))


@app.command("explain", short_help="Show one rule in full, with its examples.")
def explain(
    code: Annotated[str, typer.Argument(help="Code or name of a rule: CAB001, nic_on_wrong_rail.")],
    examples: Annotated[
        bool, typer.Option("--examples", help="Show each example in full: plan, answers, findings.")
    ] = False,
) -> None:
    """One rule in full: why it matters, how it is detected, what to do, and its examples."""
    import sys

    from rules import rules
    from truerail.cli import terminal_output
    from truerail.cli.evaluating import codes
    from truerail.cli.rule_page import page

    chosen = codes([code])
    if not chosen:
        raise CommandError("give a rule: `truerail rules list` shows all")
    text = page(rules()[chosen.pop()], examples=examples)
    if not sys.stdout.isatty():
        terminal_output.say(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(no_color=not terminal_output.colorful()).print(Markdown(text))
