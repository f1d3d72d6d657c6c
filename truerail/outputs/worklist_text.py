"""The worklist on a terminal, down to 60 columns, and as lines for a log."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from truerail.model import Plan, Port
from truerail.outputs.report_words import as_sentence, count, name, place_of
from truerail.outputs.worklist import Change, Entry, Mark, Worklist

_BOXES = {Mark.LEFT: "[ ]", Mark.NEW: "[!]", Mark.DONE: "[x]", Mark.UNSEEN: "[?]"}
_STYLES = {Mark.LEFT: "", Mark.NEW: "bold red", Mark.DONE: "green", Mark.UNSEEN: "yellow"}
_INDENT = "    "
_AROUND = 4
"""Lines of the screen that are not entries."""


def screen(
    work: Worklist, plan: Plan, used: Sequence[str] = (), *, width: int, height: int, status: str
) -> RenderableType:
    """The whole screen: the counts, the maps of names that are `used`, as many entries as fit, the number of further
    ones, and a line about the round.
    """
    maps = [line for one in used for line in _wrapped(one, width)]
    lines: list[RenderableType] = [Text(totals(work), style="bold"), *(Text(line) for line in maps), Text()]
    room = max(3, height - _AROUND - len(maps))
    shown = 0
    for entry in work.entries:
        block = [_wrapped(line, width) for line in _block(entry, plan)]
        room -= sum(len(part) for part in block)
        if room < 0 and shown:
            break
        style = _STYLES[entry.mark]
        lines += [Text(line, style=style) for part in block for line in part]
        shown += 1
    if hidden := len(work.entries) - shown:
        lines.append(Text(f"{_INDENT}and {hidden:,} more below", style="dim"))
    if not work.entries:
        done = Text("No work left.", style="bold green")
        lines.append(Text("No known work left; not every cable was read.") if work.unread else done)
    lines.append(Text(status[:width], style="dim"))
    return Group(*lines)


def totals(work: Worklist) -> str:
    """`done 2, left 3, host down 16, not read 0`."""
    return f"done {work.done:,}, left {work.left:,}, host down {work.pending:,}, not read {work.unread:,}"


def line_of(change: Change, plan: Plan) -> str:
    """A change in one line, for a log."""
    block = [part.strip() for part in _block(change.entry, plan)]
    head = block[0].partition("] ")[2]
    return f"{change.mark.value:<6} {'; '.join((head, *block[1:]))}"


def _block(entry: Entry, plan: Plan) -> Iterator[str]:
    """An entry's lines: where to walk, what to do, and the location of the other end."""
    step = entry.step
    where = place_of(step.at, plan)
    yield f"{_BOXES[entry.mark]} {f'{where}, ' if where else ''}{name(step.device)}: {step.kind}"
    if step.to:
        yield f"{_INDENT}{_short(step.at)} -> {name(str(step.to))}"
        if step.panels:
            yield f"{_INDENT}{step.panels}"
        if step.after:
            yield f"{_INDENT}not before {step.after}"
    else:
        at = f"{name(str(step.at))}: " if isinstance(step.at, Port) else ""
        yield f"{_INDENT}{at}{as_sentence(step.action)}"
    if step.far:
        far = place_of(step.far, plan)
        label = f", label {name(step.label)}" if step.label else ""
        yield f"{_INDENT}other end {name(str(step.far))}{f', {far}' if far else ''}{label}"


def _short(at: Port | str) -> str:
    return name(at.name if isinstance(at, Port) else at)


def _wrapped(line: str, width: int) -> list[str]:
    from textwrap import wrap

    return wrap(line, width, subsequent_indent=_INDENT, drop_whitespace=True, replace_whitespace=False) or [""]


def status_line(at: str, read: int, asked: int, seconds: float) -> str:
    """The line about the latest round."""
    return f"{at}  {read:,} of {count(asked, 'device')} read in {seconds:.1f} s, Ctrl-C ends"
