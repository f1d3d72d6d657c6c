"""`truerail rules`: the catalogue in the terminal."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from truerail.cli import terminal_output
from truerail.errors import CommandError

if TYPE_CHECKING:
    from truerail.analysis.rule import Case, Rule
    from truerail.model import Fact

app = typer.Typer(help="List and explain the rules.", no_args_is_help=True)


@app.command("list")
def list_rules() -> None:
    """List every rule: code, severity, name and title."""
    from rules import rules

    rows = [(rule.code, rule.severity.value, rule.name, rule.title) for rule in rules().values()]
    terminal_output.say_rows(rows)


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
    from truerail.cli.evaluating import codes

    chosen = codes([code])
    if not chosen:
        raise CommandError("give a rule: `truerail rules list` shows all")
    text = _page(rules()[chosen.pop()], examples=examples)
    if not sys.stdout.isatty():
        terminal_output.say(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(no_color=not terminal_output.colorful()).print(Markdown(text))


# ----------------------------------------------------------------------------------------------------------------------
# One rule as a page of Markdown: its explanation, and the examples that are its tests.


def _page(rule: "Rule", *, examples: bool = False) -> str:
    """The page in Markdown: a line for each example, or with `examples` its plan, answers and findings."""
    needs = ", ".join(kind.__name__ for kind in rule.needs) or "nothing"
    needs += "".join(f" or {kind.__name__}" for kind in rule.instead)
    lines = [f"# {rule.code} {rule.name}", "", f"Severity {rule.severity.value}. Needs {needs}.", ""]
    lines += [rule.explanation.strip(), "", "## Examples", ""]
    cases = (("Fires", rule.fires), ("Quiet", rule.quiet))
    if not examples:
        return "\n".join([*lines, *(f"- **{word}**: {case.summary}" for word, found in cases for case in found)])
    return "\n".join([*lines, *(line for word, found in cases for line in _cases(word, found))])


def _cases(word: str, cases: "Sequence[Case]") -> Iterator[str]:
    for case in cases:
        yield f"**{word}**: {case.summary}"
        yield ""
        yield "```text"
        yield from _body(case)
        yield "```"
        yield ""


def _body(case: "Case") -> Iterator[str]:
    """The plan, the devices' answers, and the findings, each under its heading."""
    yield from _under("plan", [line.strip() for line in case.plan.strip().splitlines()])
    if case.rails:
        yield from _under("rails", case.rails.split())
    answers = [f"{device}: {_fact(fact)}" for device, facts in case.facts.items() for fact in facts]
    yield from _under("answers", answers)
    yield from _under("errors", [f"{device}: {why}" for device, why in case.errors.items()])
    yield from _under("finds", case.finds.split() or ["nothing"])


def _under(word: str, lines: Sequence[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"{'' if number else word:<8} {line}"


def _fact(fact: "Fact") -> str:
    """A fact with its set fields."""
    reported = fact._asdict()
    fields = (f"{key}={value!r}" for key, value in reported.items() if value not in (None, ()))
    return f"{type(fact).__name__}({', '.join(fields)})"
