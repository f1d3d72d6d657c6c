"""`counters` as text: one port with every counter, or one line for each port."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from truerail.outputs.options import Options
from truerail.outputs.report_words import count, name
from truerail.outputs.text.blocks import heading
from truerail.outputs.text.style import PORT, QUIET
from truerail.questions.counters import CounterLine, Counters, PortCounts
from truerail.questions.text.pieces import finding, more, when

MOST_PORTS = 40
WORDS = {"fec": "FEC"}
"""Groups whose word is not their name."""


def counters_text(answer: Counters, options: Options) -> Iterator[RenderableType]:
    """The time, the ports, and the findings on them."""
    if answer.start and answer.end:
        yield Text(f"  {when(answer.start)} to {answer.end:%H:%M:%S %Z}", QUIET)
    if len(answer.ports) == 1 or options.details:
        for port in answer.ports:
            yield from _port(port, options)
    else:
        yield _table(answer.ports[:MOST_PORTS])
        yield from more(len(answer.ports) - MOST_PORTS, "ports", "--details shows all, with every counter")
    if answer.findings:
        yield heading("Findings")
    for line in answer.findings[:MOST_PORTS]:
        yield finding(line)
    yield from more(len(answer.findings) - MOST_PORTS, "findings")


def _port(port: PortCounts, options: Options) -> Iterator[RenderableType]:
    rail = "" if port.rail is None else f"rail {port.rail}, "
    speed = "speed unknown" if port.speed_gbps is None else f"{port.speed_gbps:g} Gb/s"
    peer = f", planned to {name(port.peer)}" if port.peer else ""
    yield heading(name(port.port), f"{rail}{speed}{peer}")
    shown = [line for line in port.counters if options.details or line.total or line.group == "traffic"]
    if shown:
        yield _lines(shown)
    if port.fec_ber is not None:
        yield Text(f"  FEC corrected {port.fec_ber:.1e} of the received bits", QUIET)
    if zero := len(port.counters) - len(shown):
        yield Text(f"  {count(zero, 'counter')} at zero", QUIET)
    if port.without:
        yield Text(f"  unknown, since it reports none: {', '.join(map(_word, port.without))}", "bold magenta")


def _word(group: str) -> str:
    return WORDS.get(group, name(group))


def _lines(lines: list[CounterLine]) -> RenderableType:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for justify in ("left", "left", "right", "right"):
        grid.add_column(justify=justify, no_wrap=True)
    before = ""
    for line in lines:
        priority = "" if line.priority is None else f" priority {line.priority}"
        group = "" if line.group == before else _word(line.group)
        before = line.group
        grid.add_row(Text(f"  {group}", style=QUIET), f"{name(line.counter)}{priority}", rate(line), total(line))
    return grid


def rate(line: CounterLine) -> str:
    """A counter's rate with its unit; `level` for one that has none."""
    if line.rate is None:
        return "level"
    if line.rate_unit == "share of time":
        return f"{line.rate:.1%} of the time"
    return (
        f"{line.rate:,.4g} {name(line.rate_unit)}" if line.rate < 1000 else f"{line.rate:,.0f} {name(line.rate_unit)}"
    )


def total(line: CounterLine) -> str:
    """A counter's total with its unit."""
    return f"{line.total:,.0f} {name(line.unit)}" if line.unit != "s" else f"{line.total:,.3f} s"


def _table(ports: tuple[PortCounts, ...]) -> RenderableType:
    grid = Table.grid(padding=(0, 2, 0, 0))
    heads = ("  port", "rail", "sent", "received", "pause received", "pause sent", "errors", "FEC uncorrected")
    for number, _ in enumerate(heads):
        grid.add_column(justify="left" if number < 2 else "right", no_wrap=number > 0)
    grid.add_row(*(Text(head, style=QUIET) for head in heads))
    for port in ports:
        grid.add_row(
            Text(f"  {name(port.port.partition('/')[2])}", style=PORT),
            "-" if port.rail is None else str(port.rail),
            *_cells(port),
        )
    return grid


def _cells(port: PortCounts) -> Iterator[str]:
    """Rates of traffic in Gb/s, the longest pause as a share of time, sums of errors; `?` where there is no counter."""
    for wanted in ("tx_bytes", "rx_bytes"):
        rates = [line.rate for line in port.counters if line.counter == wanted and line.rate is not None]
        yield f"{max(rates):.1f} Gb/s" if rates else "?"
    for wanted in ("rx_pause", "tx_pause"):
        yield _pause(port, wanted)
    for lines in (
        [line for line in port.counters if line.group == "errors"],
        [line for line in port.counters if line.counter == "fec_uncorrected"],
    ):
        yield f"{sum(line.total for line in lines):,.0f}" if lines else "?"


def _pause(port: PortCounts, direction: str) -> str:
    shares = [line.rate for line in port.counters if line.counter == f"{direction}_us" and line.rate is not None]
    if shares:
        return f"{max(shares):.1%}"
    frames = [line.rate for line in port.counters if line.counter == f"{direction}_frames" and line.rate is not None]
    return f"{max(frames):,.0f} frames/s" if frames else "?"
