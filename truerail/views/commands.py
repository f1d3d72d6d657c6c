"""The command behind an answer: a capture names the answer's file after it."""

from functools import cache

from collector import collectors
from truerail.model.names import answer_file

_ENDS = ("{port}", "{job}")
"""In a command that is sent once for each port or job, in the place of its name."""


def command_of(collector: str, source: str) -> str:
    """The command that was answered: the source itself where it is a command, or the one for which its file is named;
    empty for another file.
    """
    known, starts = _commands(collector)
    whole, name = answer_file(source), answer_file(source.rpartition("/")[2])
    exact = known.get(whole) or known.get(name)
    if exact:
        return exact
    found = ((text, start, one) for one in (name, whole) for start, text in starts if one.startswith(start))
    return next((text + one.removeprefix(start) for text, start, one in found), "")


@cache
def _commands(collector: str) -> tuple[dict[str, str], tuple[tuple[str, str], ...]]:
    """Commands by the file of their answer, and those of single ports and jobs by its beginning."""
    found = collectors().get(collector)
    asked = [command.text for command in found.ask] if found else []
    of_names = [text[: text.rindex("{")] for text in asked if text.endswith(_ENDS)]
    known = {answer_file(text): text for text in reversed(asked) if not text.endswith(_ENDS)}
    return known, tuple((answer_file(text + "x")[:-1], text) for text in of_names)
