"""`repair-diff` as text: commands to paste, each device's under its own heading."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from truerail.model.names import printable
from truerail.outputs.options import Options
from truerail.outputs.report_words import as_sentence, name, sentence
from truerail.outputs.text.blocks import Verbatim, hanging, heading
from truerail.outputs.text.style import QUIET
from truerail.questions.repair_diff import NameRepair, Rename, RepairDiff

LONGEST_LINE = 4000


def repair_diff_text(answer: RepairDiff, options: Options) -> Iterator[RenderableType]:
    """Each repair: the devices, then what changes in inventory and plan instead."""
    for repair in answer.repairs:
        yield heading(f"{repair.id}  {repair.kind}", repair.cause)
        yield hanging(" ", Text(as_sentence(repair.summary)))
        if repair.refused:
            yield hanging("-", Text(as_sentence(repair.refused)))
            continue
        if repair.confirm_first:
            yield hanging("!", Text(f"Not confirmed. First: {sentence(repair.confirm_first)}"))
        yield from _devices(repair)
        yield from _instead(repair, options)


def _devices(repair: NameRepair) -> Iterator[RenderableType]:
    yield Text("\n  The names of the devices: review, then paste into each; no port goes down.", style="bold")
    for one in repair.devices:
        yield from _device(one)


def _device(one: Rename) -> Iterator[RenderableType]:
    for platform, commands in one.commands.items():
        place = f", in {name(one.place)}" if one.place else ""
        yield Text()
        yield _line(f"# {platform}: the device that announces {one.device} is {one.new_name}{place}")
        yield from map(_line, commands)


def _instead(repair: NameRepair, options: Options) -> Iterator[RenderableType]:
    """Where the devices are right, and inventory and plan have the names exchanged."""
    yield Text("\n  Or, if the devices have their names and the plan has not: exchange them there.", style="bold")
    yield Text("\n  NetBox, Nautobot or truerail's inventory, in this order", style=QUIET)
    yield _line("device,new_name")
    yield from (_line(f"{one.device},{one.new_name}") for one in repair.inventory)
    lines = repair.plan_diff.splitlines()
    if not options.details:
        yield Text(f"\n  the plan: {len(lines)} lines of a diff: add --details", style=QUIET)
        return
    yield Text("\n  The plan in its CSV form (truerail plan convert)", style=QUIET)
    yield from map(_line, lines)


def _line(text: str) -> Verbatim:
    """A line to copy, without control characters."""
    return Verbatim(printable(text, LONGEST_LINE))
