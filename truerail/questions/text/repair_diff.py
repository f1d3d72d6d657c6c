"""`repair-diff` as text: commands to paste, each device's under its own heading."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from truerail.model.names import printable
from truerail.outputs.options import Options
from truerail.outputs.report_words import as_sentence, name, sentence
from truerail.outputs.text.blocks import Verbatim, hanging, heading
from truerail.outputs.text.style import QUIET
from truerail.questions.repair_diff import DeviceRename, HostLinks, RepairDiff, TextRepair

LONGEST_LINE = 4000


def repair_diff_text(answer: RepairDiff, options: Options) -> Iterator[RenderableType]:
    """Each repair: the devices, then what changes in inventory, plan and topology instead."""
    for repair in answer.repairs:
        yield heading(f"{repair.id}  {repair.kind}", repair.cause)
        yield hanging(" ", Text(as_sentence(repair.summary)))
        if repair.refused:
            yield hanging("-", Text(as_sentence(repair.refused)))
        if repair.confirm_first:
            yield hanging("!", Text(f"Not confirmed. First: {sentence(repair.confirm_first)}"))
        if repair.devices:
            yield _title("The names of the devices: review, then paste into each; no port goes down.")
            for device in repair.devices:
                yield from _device(device)
        if repair.links:
            yield _title(
                "The names of the NICs: review, save as a file, `patch -p0 -d /`; they count from the next boot."
            )
            for host in repair.links:
                yield from _links(host)
        if repair.inventory:
            yield from _instead(repair, options)


def _title(words: str) -> Text:
    return Text(f"\n  {words}", style="bold")


def _device(one: DeviceRename) -> Iterator[RenderableType]:
    for platform, commands in one.commands.items():
        place = f", in {name(one.place)}" if one.place else ""
        yield Text()
        yield _line(f"# {platform}: the device that announces {one.device} is {one.new_name}{place}")
        yield from map(_line, commands)


def _links(one: HostLinks) -> Iterator[RenderableType]:
    yield Text()
    if one.no_diff:
        yield hanging("-", Text(f"No diff for {name(one.host)}: {sentence(one.no_diff)}"))
        return
    names = ", ".join(f"{old} is {new}" for old, new in one.names.items())
    yield _line(f"# linux: {one.host}: {names}")
    yield from map(_line, one.diff.splitlines())


def _instead(repair: TextRepair, options: Options) -> Iterator[RenderableType]:
    """Where the devices are right, and inventory and plan have other names."""
    yield _title("Or, if the devices have their names and the plan has not: change them there.")
    yield Text("\n  NetBox, Nautobot or truerail's inventory, in this order", style=QUIET)
    yield _line("name,new_name")
    yield from (_line(f"{one.name},{one.new_name}") for one in repair.inventory)
    what = "interfaces" if repair.links else "devices"
    for number, body in enumerate(repair.bulk_updates, 1):
        yield Text(f"\n  {number}. PATCH /api/dcim/{what}/", style=QUIET)
        yield from map(_line, body.splitlines())
    if repair.topology_diff:
        yield Text("\n  Slurm's topology.conf", style=QUIET)
        yield from map(_line, repair.topology_diff.splitlines())
    lines = repair.plan_diff.splitlines()
    if not options.details:
        yield Text(f"\n  the plan: {len(lines)} lines of a diff: add --details", style=QUIET)
        return
    yield Text("\n  The plan in its CSV form (truerail plan convert)", style=QUIET)
    yield from map(_line, lines)


def _line(text: str) -> Verbatim:
    """A line to copy, without control characters."""
    return Verbatim(printable(text, LONGEST_LINE))
