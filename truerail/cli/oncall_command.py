"""The command of one question: its options, the answer as text or JSON, and `--watch`."""

import json
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from inspect import Parameter as Argument
from inspect import Signature
from keyword import iskeyword
from pathlib import Path
from time import sleep
from typing import Annotated, Any, NoReturn

import typer
from rich.live import Live
from rich.text import Text

from truerail.cli import oncall, terminal_output
from truerail.cli.exit_codes import ExitCode, refusing
from truerail.cli.oncall_source import Source, ask
from truerail.errors import CommandError
from truerail.files.file_text import read_text
from truerail.files.problems import FileError
from truerail.outputs.options import Options
from truerail.outputs.report_words import Tone
from truerail.questions import question_of
from truerail.questions.question import Kind, Parameter, Question
from truerail.questions.text import answer_text, tone_of

_TYPES: dict[Kind, Any] = {Kind.NUMBER: int, Kind.FLAG: bool, Kind.CAPTURE: Path, Kind.TEXT: Path, Kind.LIST: list[str]}
"""All others are text."""
_MOST_TEXT_BYTES = 16 << 20
_CHANGES_ALWAYS = ("at", "age_seconds", "evaluation")
"""Fields of an answer that differ in each round: alone they are no change."""
_LOCAL = ("capture", "inventory", "plan_file")


def _option(name: str, kind: Any, default: Any) -> Argument:
    return Argument(name, Argument.KEYWORD_ONLY, annotation=kind, default=default)


_FOLLOWED = (_option("watch", oncall.Watch, False), _option("interval", oncall.Interval, 5.0))
"""Options of a question whose answer depends on the time."""
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
    app.command(question.name, help=question.help)(_command(question))
    return typer.main.get_command(app)


def _command(question: Question[Any]) -> Callable[..., None]:
    """A function with the parameters of the question and those that all share, as typer reads them."""

    def run(**values: Any) -> None:
        given = {one.name: _value(one, values[_variable(one)]) for one in question.parameters}
        named: list[Any] = [values.get(name) for name in ("service", "token_file", *_LOCAL, "at")]
        source = Source(*named)
        if misuse := question.misuse(given, source.capture is not None):
            raise typer.BadParameter(misuse)
        answers = partial(ask, question, given, source)
        shown = partial(_shown, fmt=values["fmt"], details=values["details"])
        if values.get("watch"):
            follow(source, answers, shown, _code, values["interval"])
        answer, value = answers()
        terminal_output.say(shown(answer, value))
        raise typer.Exit(_code(answer))

    arguments = [
        *map(_argument, question.parameters),
        *(_FOLLOWED if question.timed else ()),
        *([_option("at", _AT, None)] if question.takes_at else ()),
        *_shared(local=not question.service_only),
    ]
    setattr(run, "__signature__", Signature(arguments))  # noqa: B010 - mypy knows no such attribute of a function
    run.__annotations__ = {one.name: one.annotation for one in arguments}
    return run


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
    return _option(_variable(one), Annotated[kind, how], default)


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


def _variable(one: Parameter) -> str:
    """The name of a variable: `from` is none."""
    return f"{one.name}_" if iskeyword(one.name) else one.name


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


def follow(
    source: Source,
    ask: Callable[[], tuple[Any, Any]],
    shown: Callable[[Any, Any], str],
    code: Callable[[Any], ExitCode],
    seconds: float,
) -> NoReturn:
    """Asks every `seconds` until Ctrl-C, then ends with the exit code of the last answer. The first answer has to come;
    later a service may be away for a while. Raises CommandError.
    """
    if source.capture is not None:
        raise CommandError("--watch follows a service or an inventory: a capture does not change")
    answer, value = ask()
    try:
        with ExitStack() as stack:
            screen = terminal_output.redrawn(stack, whole=True)
            _draw(screen, shown(answer, value))
            while True:
                sleep(seconds)
                before = _lasting(value)
                try:
                    answer, value = ask()
                except CommandError as error:
                    _away(screen, shown(answer, value), str(error))
                    continue
                if screen is not None or _lasting(value) != before:
                    _draw(screen, shown(answer, value))
    except KeyboardInterrupt:
        raise typer.Exit(code(answer)) from None


def _lasting(value: Any) -> Any:
    return {key: one for key, one in value.items() if key not in _CHANGES_ALWAYS}


def _draw(screen: Live | None, text: str) -> None:
    if screen is None:
        terminal_output.say(text)
    else:
        screen.update(Text.from_ansi(text), refresh=True)


def _away(screen: Live | None, text: str, error: str) -> None:
    """Reports that there is no newer answer, above the last one."""
    if screen is None:
        terminal_output.remark(error)
    else:
        _draw(screen, f"No newer answer: {error}\n\n{text}")
