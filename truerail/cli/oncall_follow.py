"""`--watch` of an on-call command: asks again and again, and redraws the answer; elsewhere than on a terminal it prints
what changed.
"""

from collections.abc import Callable
from contextlib import ExitStack
from time import sleep
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from truerail.cli import terminal_output
from truerail.cli.exit_codes import ExitCode
from truerail.errors import CommandError

if TYPE_CHECKING:
    from rich.live import Live

    from truerail.cli.oncall_source import Source

_CHANGES_ALWAYS = ("at", "age_seconds", "evaluation")
"""Fields of an answer that differ in each round: alone they are no change."""


def follow(
    source: "Source",
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


def _draw(screen: "Live | None", text: str) -> None:
    if screen is None:
        terminal_output.say(text)
        return
    from rich.text import Text

    screen.update(Text.from_ansi(text), refresh=True)


def _away(screen: "Live | None", text: str, error: str) -> None:
    """Reports that there is no newer answer, above the last one."""
    if screen is None:
        terminal_output.remark(error)
    else:
        _draw(screen, f"No newer answer: {error}\n\n{text}")
