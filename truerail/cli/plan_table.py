"""A plan in numbers, as text: the fabric, then a line for each switch."""

from collections.abc import Iterator, Sequence

from truerail.cli.terminal_output import aligned
from truerail.model import Plan
from truerail.outputs.report_words import count, name, title
from truerail.plans.shape import Shape, SwitchShape

_COLUMNS = ("switch", "role", "pod", "rails", "planes", "down", "up", "oversubscribed")


def table(plan: Plan, shape: Shape) -> str:
    """The whole table."""
    return "\n".join([*_fabric(plan, shape), "", *aligned([_COLUMNS, *map(_switch, shape.switches)])])


def _fabric(plan: Plan, shape: Shape) -> Iterator[str]:
    yield f"{title(plan)}: {plan.transport.value}, {plan.load_balancing.value}"
    parts = [count(shape.hosts, "host"), count(len(shape.rails), "rail"), count(len(shape.leaves), "leaf", "leaves")]
    parts += [count(len(shape.switches) - len(shape.leaves), "switch above", "switches above")]
    yield ", ".join([*([count(shape.gpus, "GPU")] if shape.gpus is not None else []), *parts])
    yield f"{count(shape.host_cables, 'host cable')}, {count(shape.uplinks, 'uplink')}"
    yield f"bisection bandwidth: {_bisection(shape)}"


def _bisection(shape: Shape) -> str:
    gbytes = shape.bisection_gbytes_per_second
    if gbytes is None:
        return "unknown, not every uplink has a speed"
    if not gbytes:
        return "none, leaves have no uplinks (rail-only)"
    return f"{gbytes / 1000:g} TB/s ({shape.bisection_gbps:,.0f} Gb/s)"


def _switch(switch: SwitchShape) -> tuple[str, ...]:
    ratio = switch.oversubscription
    numbers = (_numbers(switch.rails), _numbers(switch.planes), str(switch.down_ports), str(switch.up_ports))
    oversubscribed = "-" if ratio is None else f"{ratio:.2f}:1"
    return (name(switch.name), switch.role.value, name(switch.pod), *numbers, oversubscribed)


def _numbers(numbers: Sequence[int]) -> str:
    """`0-7`, `0,4`, or `-` for none."""
    if len(numbers) > 2 and list(numbers) == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]}-{numbers[-1]}"
    return ",".join(map(str, numbers)) or "-"
