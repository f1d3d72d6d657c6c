"""The command of one question: its options, and the answer as text or JSON."""

import json
from collections.abc import Callable
from inspect import Parameter as Argument
from pathlib import Path
from typing import Annotated, Any

import typer

from truerail.cli import oncall, terminal_output
from truerail.cli.exit_codes import ExitCode, refusing, with_parameters
from truerail.cli.oncall_source import Source, ask
from truerail.files.file_text import read_text
from truerail.files.problems import FileError
from truerail.outputs.options import Options
from truerail.outputs.report_words import Tone
from truerail.questions import question_of
from truerail.questions.answer_text import answer_text, tone_of
from truerail.questions.question import Kind, Parameter, Question

_TYPES: dict[Kind, Any] = {Kind.NUMBER: int, Kind.FLAG: bool, Kind.CAPTURE: Path, Kind.TEXT: Path, Kind.LIST: list[str]}
"""All others are text."""
_MOST_TEXT_BYTES = 16 << 20
_LOCAL = ("capture", "inventory", "plan_file")


def _option(name: str, kind: Any, default: Any) -> Argument:
    return Argument(name, Argument.KEYWORD_ONLY, annotation=kind, default=default)


_AT = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="TIME",
        help="As it was then, from the service's journal or the capture's rounds: 2h, 'yesterday 14:00', ISO 8601.",
    ),
]


def command_of(question: Question[Any]) -> Any:
    """The command of a question, with the parameters of the question and those that all share."""
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command(question.name, help=question.description)(_command(question))
    return typer.main.get_command(app)


def _command(question: Question[Any]) -> Callable[..., None]:
    """A function with the parameters of the question and those that all share, as typer reads them."""

    def run(**values: Any) -> None:
        given = {one.name: _value(one, values[one.variable]) for one in question.parameters}
        named: list[Any] = [values.get(name) for name in ("service", "token_file", *_LOCAL, "at")]
        source = Source(*named)
        if misuse := question.misuse(given, source.capture is not None):
            raise typer.BadParameter(misuse)
        answer, value = ask(question, given, source)
        terminal_output.say(_shown(answer, value, values["fmt"], values["details"]))
        raise typer.Exit(_code(answer))

    arguments = [
        *map(_argument, question.parameters),
        *([_option("at", _AT, None)] if question.takes_at else ()),
        *_shared(local=not question.service_only),
    ]
    return with_parameters(run, arguments)


def _value(one: Parameter, value: Any) -> Any:
    """A parameter's value as the API takes it: a repeated option is one text, a file its content."""
    if one.kind is Kind.TEXT and value is not None:
        with refusing(FileError):
            return read_text(value, _MOST_TEXT_BYTES, FileError)
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
    return _option(one.variable, Annotated[kind, how], default)


def _shared(*, local: bool) -> list[Argument]:
    """The options of all commands. `local`: those that need no service as well."""
    options: tuple[tuple[str, Any, Any], ...] = (
        ("service", oncall.Service, oncall.LOCAL_SERVICE),
        ("token_file", oncall.TokenFile, None),
        ("capture", oncall.Capture, None),
        ("inventory", oncall.Inventory, None),
        ("plan_file", oncall.PlanFile, None),
        ("fmt", oncall.Shown, oncall.Format.TEXT),
        ("details", oncall.Details, False),
    )
    return [_option(*one) for one in options if local or one[0] not in _LOCAL]


def _shown(answer: Any, value: Any, fmt: oncall.Format, details: bool) -> str:
    """An answer as text or JSON."""
    if fmt is oncall.Format.JSON:
        return json.dumps(value, indent=2)
    options = Options(terminal_output.width(), terminal_output.colorful(), details, terminal_output.ascii_only())
    return answer_text(answer, options)


def _code(answer: Any) -> ExitCode:
    tone = tone_of(answer)
    if tone is Tone.DOUBT and question_of(answer).gate:
        return ExitCode.CANNOT_EVALUATE
    return ExitCode.GOOD if tone is Tone.GOOD else ExitCode.FOUND
