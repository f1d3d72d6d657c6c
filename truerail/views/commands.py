"""The command behind an answer: a capture names the answer's file after it."""

from functools import cache

from collector import collectors
from truerail.model.names import answer_file

_PORT = "{port}"
"""Stands in a command for a port's name, where a device is asked once for each."""


def command_of(collector: str, source: str) -> str:
    """The command that was answered: the source itself where it is a command, or the one for which its file is named;
    empty for another file.
    """
    known, starts = _commands(collector)
    name = answer_file(source.rpartition("/")[2])
    exact = known.get(answer_file(source)) or known.get(name)
    if exact:
        return exact
    return next((text + name.removeprefix(start) for start, text in starts if name.startswith(start)), "")


@cache
def _commands(collector: str) -> tuple[dict[str, str], tuple[tuple[str, str], ...]]:
    """Commands by the file of their answer, and those of single ports by its beginning."""
    found = collectors().get(collector)
    asked = [command.text for command in found.ask if not command.text.endswith("{job}")] if found else []
    of_ports = [text.removesuffix(_PORT) for text in asked if text.endswith(_PORT)]
    known = {answer_file(text): text for text in reversed(asked) if not text.endswith(_PORT)}
    return known, tuple((answer_file(text + "x")[:-1], text) for text in of_ports)
