"""`repair-diff`: the repairs by text alone: which device, and which NIC of a host, gets which name."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from rich.console import RenderableType
from rich.text import Text

from truerail.analysis.published import Published
from truerail.errors import NotFoundError
from truerail.model.facts import NetLink
from truerail.model.finding import Cause, Finding, Rename
from truerail.model.names import printable
from truerail.model.plan import Plan
from truerail.outputs.options import Options
from truerail.outputs.renaming import inventory_changes, is_name, link_files, plan_diff, unfit_name, why_unsafe
from truerail.outputs.report_words import as_sentence, count, name, sentence
from truerail.outputs.text.blocks import QUIET, Verbatim, hanging, heading
from truerail.questions.find import causes_named
from truerail.questions.question import Form, Parameter, Question
from truerail.questions.resolve import cause_words
from truerail.views.view import View, view_of

LONGEST_LINE = 4000


@dataclass(frozen=True, slots=True)
class DeviceRename:
    """One device: `device` is the name that it announces now, `place` where the plan has the new name."""

    device: str
    new_name: str
    place: str


@dataclass(frozen=True, slots=True)
class HostLinks:
    """The names of one host's network interfaces, by the present ones, and the patch of its systemd `.link` files that
    gives them these names; `no_diff` says why there is none.
    """

    host: str
    names: Mapping[str, str]
    diff: str
    no_diff: str


@dataclass(frozen=True, slots=True)
class InventoryChange:
    """A device or a port (`device/port`) in NetBox or Nautobot, and its new name."""

    name: str
    new_name: str


@dataclass(frozen=True, slots=True)
class TextRepair:
    """The repair of one cause, or of one finding that has none: `cause` is its key or the finding's id, `kind` the kind
    or the rule. `devices` and `links` give devices their planned names; `inventory` and `plan_diff` change
    the names there instead. `refused` says why there is no diff.
    """

    cause: str
    id: str
    kind: str
    summary: str
    confirm_first: str
    devices: tuple[DeviceRename, ...]
    links: tuple[HostLinks, ...]
    inventory: tuple[InventoryChange, ...]
    plan_diff: str
    """A unified diff of the plan in its CSV form."""
    refused: str


@dataclass(frozen=True, slots=True)
class RepairDiff:
    """`repair-diff`: the names to change, as text to review."""

    query: str
    repairs: tuple[TextRepair, ...]
    summary: str


def renames_of(finding: Finding, plan: Plan) -> tuple[Rename, ...]:
    """The new name of the only planned device that announces a name without a device of the plan."""
    if finding.rule != "CAB007" or finding.subject in plan.devices:
        return ()
    owners = [one for one in dict(finding.detail).get("announced_by", ()) if one in plan.devices]
    return (Rename(finding.subject, owners[0]),) if len(owners) == 1 else ()


def refused_names(renames: Sequence[Rename], plan: Plan) -> str:
    """Why there are no new names; empty if there are."""
    for one in renames:
        if one.planned.partition("/")[0] not in plan.devices:
            return f"no diff: {printable(one.planned, 80)!r} is not in the plan"
        strange = [] if "/" in one.planned else [name for name in (one.actual, one.planned) if not is_name(name)]
        if strange:
            return f"no diff: {why_unsafe(strange[0])}"
    return ""


def device_renames(plan: Plan, renames: Sequence[Rename]) -> tuple[DeviceRename, ...]:
    """The devices that get their planned names."""
    return tuple(_rename(plan, one) for one in renames if "/" not in one.planned)


def _rename(plan: Plan, one: Rename) -> DeviceRename:
    there = plan.devices[one.planned]
    parts = (f"rack {there.rack}" if there.rack else "", "" if there.unit is None else f"unit {there.unit}")
    return DeviceRename(one.actual, one.planned, " ".join(filter(None, parts)))


def host_links(view: View, renames: Sequence[Rename]) -> tuple[HostLinks, ...]:
    """The hosts whose NICs get their planned names."""
    hosts: dict[str, dict[str, str]] = {}
    for one in renames:
        host, _, planned = one.planned.partition("/")
        if planned:
            hosts.setdefault(host, {})[one.actual.partition("/")[2]] = planned
    return tuple(_links(view, host, names) for host, names in hosts.items())


def _links(view: View, host: str, names: dict[str, str]) -> HostLinks:
    macs = _macs(view, host)
    unknown = next((name for name in names if name not in macs), "")
    unfit = next(filter(None, map(unfit_name, names.values())), "")
    why = f"{host} reports no network interface {printable(unknown, 80)!r} with a MAC address" if unknown else unfit
    return HostLinks(host, names, "" if why else link_files({new: macs[old] for old, new in names.items()}), why)


def _macs(view: View, host: str) -> dict[str, str]:
    """The MAC addresses of a host's interfaces, by name."""
    readings = view.sight.readings.get(view.index.devices.find(host), ())
    links = (fact for reading in readings for fact in reading.facts if isinstance(fact, NetLink))
    return {link.netdev: link.mac for link in links if link.mac}


def repair_diff(publication: Published, wanted: str) -> RepairDiff:
    """The repairs of one cause, by its key or id, or of one finding by its id; else of all that text repairs. Raises
    NotFoundError.
    """
    view = view_of(publication)
    causes, alone = _chosen(view, wanted.strip())
    repairs = [_of_cause(view, key, cause) for key, cause in causes.items()]
    for one in alone:
        made = _made(view, renames_of(one, view.plan))
        repairs.append(made(cause=one.id, id=one.rule, kind=one.name, summary=one.summary, confirm_first=""))
    return RepairDiff(wanted, tuple(repairs), _summary(repairs))


def _chosen(view: View, wanted: str) -> tuple[Mapping[str, Cause], Sequence[Finding]]:
    """Causes by key, and findings without one."""
    causes, explained = view.sight.causes, view.sight.cause_of
    findings = (one for one in view.evaluated.evaluation.findings if one.id not in explained)
    alone = [one for one in findings if renames_of(one, view.plan)]
    if not wanted:
        return {key: cause for key, cause in causes.items() if _by_names(cause)}, alone
    found = {key: causes[key] for key in causes_named(view, wanted) if key in causes}
    single = [one for one in alone if one.id == wanted.lower()]
    if not found and not single:
        known = ", ".join(cause_words(cause) for cause in causes.values() if _by_names(cause)) or "none"
        shown = printable(wanted, 80)
        raise NotFoundError(f"no open cause or finding has the key or id {shown!r}; causes repaired by text: {known}")
    return found, single


def _by_names(cause: Cause) -> bool:
    """Whether names alone may repair a cause."""
    return bool(cause.renames) and not cause.moves


def _of_cause(view: View, key: str, cause: Cause) -> TextRepair:
    renames = cause.renames if _by_names(cause) else ()
    made = _made(view, renames, "" if renames else f"no diff: {cause.action}")
    return made(cause=key, id=cause.id, kind=cause.kind.value, summary=cause.summary, confirm_first=cause.to_confirm)


def _made(view: View, renames: Sequence[Rename], refused: str = "") -> Callable[..., TextRepair]:
    """A repair by these names, without what it repairs."""
    refused = refused or refused_names(renames, view.plan)
    renames = () if refused else renames
    changed = {one.planned: one.actual for one in renames}
    return partial(
        TextRepair,
        devices=device_renames(view.plan, renames),
        links=host_links(view, renames),
        inventory=tuple(InventoryChange(*pair) for pair in inventory_changes(changed)),
        plan_diff=plan_diff(view.plan, changed) if changed else "",
        refused=refused,
    )


def _summary(repairs: Sequence[TextRepair]) -> str:
    made = [one for one in repairs if not one.refused]
    if not repairs:
        return "no open cause or finding is repaired by text alone"
    if not made:
        return repairs[0].refused
    devices = _number(made, "devices", "device to rename", "devices to rename")
    links = _number(made, "links", "host with NICs to rename", "hosts with NICs to rename")
    parts = ", ".join(filter(None, (devices, links)))
    return f"{count(len(made), 'repair')} by text alone: {parts}; review, nothing is applied"


def _number(made: Sequence[TextRepair], field: str, one: str, more: str) -> str:
    number = sum(len(getattr(repair, field)) for repair in made)
    return f"{number} {one if number == 1 else more}" if number else ""


def repair_diff_text(answer: RepairDiff, options: Options) -> Iterator[RenderableType]:
    """Each repair: the devices, then what changes in inventory and plan instead."""
    for repair in answer.repairs:
        yield heading(f"{repair.id}  {repair.kind}", repair.cause)
        yield hanging(" ", Text(as_sentence(repair.summary)))
        if repair.refused:
            yield hanging("-", Text(as_sentence(repair.refused)))
        if repair.confirm_first:
            yield hanging("!", Text(f"Not confirmed. First: {sentence(repair.confirm_first)}"))
        if repair.devices:
            yield _title("The names of the devices: set each; no port goes down.")
            yield Text()
            for device in repair.devices:
                place = f", in {name(device.place)}" if device.place else ""
                yield _line(f"the device that announces {device.device} is {device.new_name}{place}")
        if repair.links:
            yield _title(
                "The names of the NICs: review, save as a file, `patch -p0 -d /`; they count from the next boot."
            )
            for host in repair.links:
                yield from _link_lines(host)
        if repair.inventory:
            yield from _instead(repair, options)


def _title(words: str) -> Text:
    return Text(f"\n  {words}", style="bold")


def _link_lines(one: HostLinks) -> Iterator[RenderableType]:
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
    lines = repair.plan_diff.splitlines()
    if not options.details:
        yield Text(f"\n  the plan: {len(lines)} lines of a diff: add --details", style=QUIET)
        return
    yield Text("\n  The plan in its CSV form (truerail plan convert)", style=QUIET)
    yield from map(_line, lines)


def _line(text: str) -> Verbatim:
    """A line to copy, without control characters."""
    return Verbatim(printable(text, LONGEST_LINE))


QUESTION = Question(
    "repair-diff",
    RepairDiff,
    (
        Parameter(
            "cause",
            help="A cause (6f4dbffbab52, or its words) or the id of a finding. Without it: all that text repairs.",
            needed=False,
            label="Cause or finding",
            example="6f4dbffbab52",
        ),
    ),
    lambda asked, given: repair_diff(asked.publication, given["cause"] or ""),
    "Names to change where no cable has to move: of each device; or, if the names in the plan are wrong, in "
    "NetBox or Nautobot and the plan. Nothing is applied.",
    good=lambda answer: not answer.repairs,
    text=repair_diff_text,
    form=Form("Which names are wrong?", "Show changes"),
)
