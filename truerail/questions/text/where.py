"""`where` as text: GPU, NIC, cable, leaf, uplinks, in one glance."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from truerail.outputs.report_words import count, name, sentence, sure
from truerail.outputs.text.style import PORT, QUIET
from truerail.questions.text.pieces import cause, end, finding, more, rows, state_word, when
from truerail.questions.where import Where
from truerail.views.pieces import CablePath, Nic, Uplinks

MOST_PATHS = 4


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
    for line in path.findings[:4]:
        yield finding(line)
    yield from more(len(path.findings) - 4, "findings")


def _facts(path: CablePath) -> Iterator[tuple[str, RenderableType | str]]:
    if path.gpus:
        yield "GPU", ", ".join(f"{link.gpu} ({name(link.level)})" for link in path.gpus)
    if path.nic:
        yield "NIC", _nic(path.nic)
    rail = "no rail" if path.rail is None else f"rail {path.rail}"
    plane = "" if path.plane is None else f", plane {path.plane}"
    label = f", label {name(path.label)}" if path.label else ""
    yield "cable", end(path.a).append(f"  {rail}{plane}{label}", style=QUIET)
    yield "planned", end(path.planned)
    yield (
        "actual",
        end(path.actual).append(_confirmed(path), QUIET),
    )
    yield "state", state_word(path.state).append(f": {sentence(path.why)}", style="not bold")
    if path.since:
        yield "since", when(path.since)
    if path.uplinks:
        yield "uplinks", ", ".join(map(_uplinks, path.uplinks))


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


def _uplinks(one: Uplinks) -> str:
    return f"{name(one.switch)} {one.right} of {one.planned}"


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
