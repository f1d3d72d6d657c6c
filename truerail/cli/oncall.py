"""The questions of on-call as commands: `truerail where|job|...`, of the service or of a capture."""

from collections.abc import Callable
from functools import partial
from inspect import Parameter as Argument
from inspect import Signature
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand

from truerail.cli.exit_codes import ExitCode
from truerail.cli.oncall_options import (
    LOCAL_SERVICE,
    Details,
    Format,
    Interval,
    Inventory,
    Service,
    Shown,
    TokenFile,
    Watch,
)
from truerail.cli.oncall_options import capture as capture_option
from truerail.cli.oncall_options import plan_file as plan_file_option
from truerail.errors import CommandError
from truerail.questions import question_named, question_of
from truerail.questions.index import SHORT
from truerail.questions.question import Journal, Kind, Parameter, Question

if TYPE_CHECKING:
    from truerail.cli.oncall_source import Source

_TYPES: dict[Kind, Any] = {Kind.NUMBER: int, Kind.FLAG: bool, Kind.CAPTURE: Path, Kind.TEXT: Path, Kind.LIST: list[str]}
"""All others are text."""
_MOST_TEXT_BYTES = 16 << 20
_LOCAL = ("capture", "inventory", "plan_file")
_FOLLOWED = (
    Argument("watch", Argument.KEYWORD_ONLY, annotation=Watch, default=False),
    Argument("interval", Argument.KEYWORD_ONLY, annotation=Interval, default=5.0),
)
"""Options of a question whose answer depends on the time."""


_AT = Argument(
    "at",
    Argument.KEYWORD_ONLY,
    annotation=Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="TIME",
            help="As it was then, from the service's journal or the capture's rounds: 2h, 'yesterday 14:00', ISO 8601.",
        ),
    ],
    default=None,
)
"""A question of the past."""


class Asked(TyperCommand):
    """The command of a question, whose file is imported when it is called, not to list it."""

    def make_context(self, *words: Any, **more: Any) -> Any:
        """The context of the whole command."""
        return self.whole().make_context(*words, **more)

    def whole(self) -> Any:
        """The command with its parameters."""
        question = question_named(str(self.name))
        app = typer.Typer(rich_markup_mode=None, add_completion=False)
        app.command(question.name, help=question.help)(_command(question))
        return typer.main.get_command(app)


def add_commands(app: typer.Typer) -> None:
    """A command for each question that has one."""
    for name, short in SHORT.items():
        if short:
            app.command(name, cls=Asked, short_help=short)(lambda: None)


def _command(question: Question[Any]) -> Callable[..., None]:
    """A function with the parameters of the question and those that all share, as typer reads them."""

    def run(**values: Any) -> None:
        from truerail.cli.oncall_source import Source

        given = {one.name: _value(one, values[_variable(one)]) for one in question.parameters}
        local = {name: values.get(name) for name in _LOCAL}
        source = Source(
            values["service"],
            values["token_file"],
            local["capture"],
            local["inventory"],
            local["plan_file"],
            values.get("at"),
        )
        if misuse := question.misuse(given, source.capture is not None):
            raise typer.BadParameter(misuse)
        if values.get("watch"):
            from truerail.cli.oncall_follow import follow

            shown = partial(_shown, fmt=values["fmt"], details=values["details"])
            follow(source, lambda: _answered(question, given, source), shown, _code, values["interval"])
        _show(*_answered(question, given, source), values["fmt"], values["details"])

    arguments = [
        *map(_argument, question.parameters),
        *(_FOLLOWED if question.timed else ()),
        *([_AT] if question.takes_at else ()),
        *_shared({f"--{one.name}" for one in question.parameters if one.option}, local=not question.service_only),
    ]
    setattr(run, "__signature__", Signature(arguments))  # noqa: B010 - mypy knows no such attribute of a function
    run.__annotations__ = {one.name: one.annotation for one in arguments}
    return run


def _value(one: Parameter, value: Any) -> Any:
    """A parameter's value as the API takes it: a repeated option is one text, a file its content."""
    if one.kind is Kind.TEXT and value is not None:
        from truerail.files.file_text import read_text
        from truerail.files.problems import FileError

        try:
            return read_text(value, _MOST_TEXT_BYTES, FileError)
        except FileError as error:
            raise CommandError(str(error)) from error
    return "; ".join(value or ()) or None if one.kind is Kind.LIST else value


def _argument(one: Parameter) -> Argument:
    kind: Any = _TYPES.get(one.kind, str)
    if not one.needed and one.default is None:
        kind = kind | None
    if one.option:
        how = typer.Option(f"--{one.name}", metavar=one.metavar, help=one.help, min=one.least, max=one.most)
    else:
        how = typer.Argument(metavar=one.metavar, help=one.help)
    default = Argument.empty if one.needed else one.default
    return Argument(_variable(one), Argument.KEYWORD_ONLY, annotation=Annotated[kind, how], default=default)


def _shared(taken: set[str], *, local: bool) -> list[Argument]:
    """What all commands share; an option that the question itself has is left to it. `local`: those that need no
    service as well.
    """
    options: tuple[tuple[str, Any, Any], ...] = (
        ("service", Service, LOCAL_SERVICE),
        ("token_file", TokenFile, None),
        ("capture", capture_option(taken), None),
        ("inventory", Inventory, None),
        ("plan_file", plan_file_option(taken), None),
        ("fmt", Shown, Format.TEXT),
        ("details", Details, False),
    )
    return [
        Argument(name, Argument.KEYWORD_ONLY, annotation=kind, default=default)
        for name, kind, default in options
        if local or name not in _LOCAL
    ]


def _variable(one: Parameter) -> str:
    """The name of a variable: `from` is none."""
    return f"{one.name}_" if iskeyword(one.name) else one.name


def _answered(question: Question[Any], given: dict[str, Any], source: "Source") -> tuple[Any, Any]:
    """The answer and its JSON: of two rounds of a capture, of one round, or of a service."""
    from truerail.cli.oncall_source import ask

    journal = question.journal(given)
    if question.between_rounds and source.capture and not source.inventory and journal is Journal.NEEDED:
        from truerail.cli.oncall_rounds import Wanted, diff_rounds
        from truerail.views.plain import as_json

        wanted = Wanted(source.capture, source.plan, given["before"], given["since"], given["from"], given["to"])
        found = diff_rounds(wanted)
        return found, as_json(found)
    return ask(question, given, source)


def _show(answer: Any, value: Any, fmt: Format, details: bool) -> NoReturn:
    """Shows an answer, of which `value` is the JSON, and ends with the exit code of its tone."""
    from truerail.cli import terminal_output

    terminal_output.say(_shown(answer, value, fmt, details))
    raise typer.Exit(_code(answer))


def _shown(answer: Any, value: Any, fmt: Format, details: bool) -> str:
    """An answer as text or JSON."""
    if fmt is Format.JSON:
        import json

        return json.dumps(value, indent=2)
    from truerail.cli import terminal_output
    from truerail.outputs.options import Options
    from truerail.questions.text import answer_text

    options = Options(terminal_output.width(), terminal_output.colorful(), details, terminal_output.ascii_only())
    return answer_text(answer, options)


def _code(answer: Any) -> ExitCode:
    from truerail.outputs.report_words import Tone
    from truerail.questions.text import tone_of

    tone = tone_of(answer)
    if tone is Tone.DOUBT and question_of(answer).gate:
        return ExitCode.CANNOT_EVALUATE
    return ExitCode.GOOD if tone is Tone.GOOD else ExitCode.FOUND
