"""`storm` as text: each storm as a tree, with the root on top and its victims below."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.text import Text

from truerail.files.nodesets import fold
from truerail.outputs.options import Options
from truerail.outputs.report_words import count, name, sure
from truerail.outputs.text.blocks import heading
from truerail.outputs.text.style import PORT, QUIET
from truerail.questions.storm import Storm, StormEdge, StormTree
from truerail.questions.text.pieces import finding, more, rows, to_do, when

MOST_STORMS = 6
FOLDED = 4
"""More hosts than this that are paused at one switch and pause no other device share one line."""
Under = Mapping[tuple[str, int], Sequence[StormEdge]]


def storm_text(answer: Storm, options: Options) -> Iterator[RenderableType]:
    """What to do, then every storm with its tree, then deadlocks."""
    yield from to_do(answer.action)
    shown = answer.storms if options.details else answer.storms[:MOST_STORMS]
    for tree in shown:
        yield heading(name(tree.culprit), _aside(tree))
        yield rows(_facts(tree))
        yield from _drawn(tree, options)
    yield from more(len(answer.storms) - len(shown), "storms")
    if answer.deadlocks:
        yield heading("Deadlocks")
    for line in answer.deadlocks:
        yield finding(line)


def _aside(tree: StormTree) -> str:
    rail = "" if tree.rail is None else f"rail {tree.rail}, "
    priority = "priority not reported" if tree.priority is None else f"priority {tree.priority}"
    return f"{name(tree.level)}, {rail}{priority}, {sure(tree.confidence)} sure"


def _facts(tree: StormTree) -> Iterator[tuple[str, RenderableType | str]]:
    yield "cause", name(tree.sub_cause)
    yield "since", when(tree.since)
    if tree.hosts:
        yield "suffer", f"{count(len(tree.hosts), 'host')}: {name(fold(tree.hosts))}"


def _drawn(tree: StormTree, options: Options) -> Iterator[Text]:
    """The tree, one paused port on a line, below the device that pauses it."""
    under: dict[tuple[str, int], list[StormEdge]] = defaultdict(list)
    for edge in tree.edges:
        under[_device(edge.on), edge.hops].append(edge)
    roots = {_device(edge.on) for edge in tree.edges if edge.hops == 1}
    yield Text("  ").append(name(tree.culprit), style="bold red").append("  the culprit", style=QUIET)
    for root in sorted(roots):
        yield from _branch(under, root, 1, "  ", options, set())


def _branch(under: Under, device: str, hops: int, indent: str, options: Options, drawn: set[str]) -> Iterator[Text]:
    edges = under.get((device, hops), ())
    ends = [edge for edge in edges if (_device(edge.waiting), hops + 1) not in under]
    folds = len(ends) > FOLDED and not options.details
    lines = [edge for edge in edges if not (folds and edge in ends)]
    for number, edge in enumerate(lines, 1):
        last = number == len(lines) and not folds
        yield Text(indent + _corner(last, options), style=QUIET).append_text(_line(edge))
        below = _device(edge.waiting)
        if below not in drawn:
            drawn.add(below)
            yield from _branch(under, below, hops + 1, indent + _stem(last, options), options, drawn)
    if folds:
        yield Text(indent + _corner(True, options), style=QUIET).append_text(_folded(ends))


def _line(edge: StormEdge) -> Text:
    line = Text().append(name(edge.waiting) or "an unknown port", style=PORT)
    planned = ", cable as planned" if edge.link == "planned" else ""
    on = f" waits for {name(edge.on) or 'an unknown port'}"
    return line.append(on, style="not dim").append(f"  {_share(edge)}, {name(edge.source)}{planned}", style=QUIET)


def _folded(ends: Sequence[StormEdge]) -> Text:
    devices = fold(list(dict.fromkeys(_device(edge.waiting) for edge in ends if edge.waiting)))
    least, most = min(ends, key=lambda e: e.share), max(ends, key=lambda e: e.share)
    between = _share(most) if least.share == most.share else f"{_share(least)} to {_share(most)}"
    return Text().append(name(devices), style=PORT).append(f"  {len(ends)} ports wait, {between}", style=QUIET)


def _share(edge: StormEdge) -> str:
    return f"{'' if edge.exact else 'at most '}{edge.share:.0%}"


def _device(port: str) -> str:
    return port.partition("/")[0]


def _corner(last: bool, options: Options) -> str:
    return ("`- " if last else "|- ") if options.ascii else ("└─ " if last else "├─ ")


def _stem(last: bool, options: Options) -> str:
    return "   " if last else "|  " if options.ascii else "│  "
