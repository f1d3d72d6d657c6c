"""`where PORT`: the full path of a cable from GPU to uplinks, by the name of any part."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from truerail.analysis.published import Published
from truerail.model.history import History, NoHistory
from truerail.model.names import printable
from truerail.outputs.report_words import count, name, sentence, sure
from truerail.outputs.text.blocks import PORT, QUIET
from truerail.questions.answer_text import cause, end, finding, rows, section, state_word, when
from truerail.questions.question import Form, Journal, Parameter, Question, all_good
from truerail.questions.resolve import ResolvedTarget, recognise
from truerail.views.lines import cable_paths
from truerail.views.pieces import AsOf, CablePath, Nic
from truerail.views.view import View, view_of

_BY = {"both ends": "both ends", "one end": "one end", "device only": "one end, without the port's name"}
MOST_PATHS = 4


@dataclass(frozen=True, slots=True)
class Where:
    """`where PORT`. `matched_type` is the type of the name: `host port`, `switch port`, `gpu`, `rdma device`, `mac
    address`, `host`, `switch`. A name that fits several things gives all their paths.
    """

    query: str
    matched_type: str
    paths: tuple[CablePath, ...]
    summary: str
    as_of: AsOf | None = None


def where(publication: Published, text: str, history: History | None = None) -> Where:
    """The paths of what `text` names: a host's NIC or a leaf's port in any spelling (`gpu-012/enp26s0f0np0`,
    `gpu-012:mlx5_3`, `leaf-3/swp12`), a GPU (`gpu-012:gpu3`, `gpu-012 GPU 3`), a MAC address, a cable's label, a host
    or a switch (all its cables).

    For a switch port with another cable than planned, the planned path comes first, then that of the actual cable.
    Raises `NotFoundError`.
    """
    view = view_of(publication)
    meant = recognise(view, text)
    paths = cable_paths(view, meant.cables, history or NoHistory())
    return Where(printable(text.strip()), meant.matched_type, paths, _says(meant, paths) + _names_alone(view, paths))


def _names_alone(view: View, paths: tuple[CablePath, ...]) -> str:
    """A warning for a cable where only a name is wrong, to read before moving it."""
    names = {cause.key for cause in view.evaluated.evaluation.causes if cause.names_only}
    causes = {cause.key for path in paths for cause in path.causes}
    return "; only names are wrong, no cable to move" if len(paths) == 1 and causes and causes <= names else ""


def _says(meant: ResolvedTarget, paths: tuple[CablePath, ...]) -> str:
    """One sentence for one cable, or one with counts for several."""
    note = f"; {meant.note}" if meant.note else ""
    if not paths:
        return f"{meant.name}: {meant.note or 'the plan has no cable there'}"
    if len(paths) == 1:
        return f"{meant.name}: {_one(paths[0])}{note}"
    states = Counter(path.state for path in paths)
    reported = ", ".join(f"{states[word]} {word}" for word in ("right", "wrong", "missing", "unknown") if states[word])
    return f"{meant.name}: {count(len(paths), 'cable')}, {reported}{note}"


def _one(path: CablePath) -> str:
    rail = "no rail" if path.rail is None else f"rail {path.rail}"
    plane = "" if path.plane is None else f" plane {path.plane}"
    confirmed = f", confirmed by {_BY[path.verified]}" if path.verified in _BY else ""
    if path.verified == "other sources":
        confirmed = f", confirmed by {' and '.join(path.witnesses)}"
    return f"{rail}{plane}, {path.a.name} to {path.planned.name}, is {path.state}: {path.why}{confirmed}"


def where_text(answer: Where) -> Iterator[RenderableType]:
    """One cable in full; more than a few as one line each."""
    if len(answer.paths) > MOST_PATHS:
        yield from _lines(answer.paths)
    else:
        for path in answer.paths:
            yield Text()
            yield from path_block(path)
    seen: set[str] = set()
    for one in (one for path in answer.paths for one in path.causes):
        if one.key not in seen:
            seen.add(one.key)
            yield from cause(one)


def path_block(path: CablePath) -> Iterator[RenderableType]:
    """One cable, from GPU to uplinks."""
    yield rows(_facts(path))
    yield from section(path.findings, finding, "findings", most=4)


def _facts(path: CablePath) -> Iterator[tuple[str, RenderableType | str]]:
    if path.gpus:
        yield "GPU", ", ".join(f"{link.gpu} ({name(link.level)})" for link in path.gpus)
    if path.nic:
        yield "NIC", _nic(path.nic)
    rail = "no rail" if path.rail is None else f"rail {path.rail}"
    plane = "" if path.plane is None else f", plane {path.plane}"
    label = f", label {name(path.label)}" if path.label else ""
    yield "cable", end(path.a).append(f"  {rail}{plane}{label}", style=QUIET)
    for number, port in enumerate(path.via):
        yield "" if number else "via", end(port)
    yield "planned", end(path.planned)
    yield ("actual", end(path.actual).append(_confirmed(path), QUIET))
    yield "state", state_word(path.state).append(f": {sentence(path.why)}", style="not bold")
    if path.since:
        yield "since", when(path.since)
    if path.uplinks:
        yield "uplinks", ", ".join(f"{name(one.switch)} {one.right} of {one.planned}" for one in path.uplinks)


def _confirmed(path: CablePath) -> str:
    if path.actual is None:
        return ""
    plain = path.verified != "other sources" and len(path.witnesses) < 2  # LLDP alone, whose ends the word names
    by = name(path.verified) if plain else ", ".join(map(name, path.witnesses))
    return "" if path.verified == "unknown" else f"  {by}, {sure(path.confidence)} sure"


def _nic(nic: Nic) -> str:
    speed = f"{nic.speed_gbps:g} Gb/s" if nic.speed_gbps else None
    words = (nic.rdma, nic.netdev, nic.pci, nic.mac, speed, f"link {nic.link}" if nic.link else "link not reported")
    return ", ".join(name(word) for word in words if word)


def _lines(paths: tuple[CablePath, ...]) -> Iterator[RenderableType]:
    """One line for each cable; if there are many, the right ones are only counted."""
    bad = [path for path in paths if path.state != "right"]
    shown = paths if len(paths) <= 16 else bad[:40]
    grid = Table.grid(padding=(0, 2, 0, 0))
    for path in shown:
        rail = "-" if path.rail is None else f"rail {path.rail}"
        seen = name(path.actual.name) if path.actual else "no link"
        there = "" if path.state == "right" else f"actual: {seen}"
        port, planned = Text(name(path.a.name), style=PORT), Text(name(path.planned.name), style=PORT)
        grid.add_row(Text(f"  {rail}", style=QUIET), port, planned, state_word(path.state), there)
    yield Text()
    yield grid
    if len(shown) < len(paths):
        hidden = len(bad) - len(shown)
        more = f"; {hidden:,} more not shown" if hidden else ""
        yield Text(f"  {count(len(paths) - len(bad), 'cable')} right{more}", QUIET)


QUESTION = Question(
    "where",
    Where,
    (
        Parameter(
            "port",
            help="gpu-012/enp26s0f0np0, 'gpu-012 GPU 3', leaf-3/swp12, a MAC, a host.",
            label="Port, MAC, GPU or RDMA device",
            example="gpu-012/mlx5_3",
        ),
    ),
    lambda asked, given: where(asked.publication, given["port"], asked.history),
    "The full path of a cable: GPU, NIC, leaf port, rail, uplinks; planned and actual, and its findings.",
    good=lambda answer: all_good({"right": True, "unknown": None}.get(path.state, False) for path in answer.paths),
    text=lambda answer, options: where_text(answer),
    journal=lambda given: Journal.USED,
    operation="the_place",
    form=Form("Where is this port?", "Find"),
)
