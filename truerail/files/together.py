"""Values that expand together with the names of devices: pods, racks, units, addresses."""

from truerail.files.yaml_values import Values
from truerail.model.yaml_tree import Node

MOST_UNITS = 200


def spread(node: Node | None, count: int, values: Values) -> list[str]:
    """Pods or racks over the devices: consecutive devices share one, 16 racks for 64 hosts are 4 hosts a rack."""
    groups = values.names(node)
    if not groups or node is None or not count:
        return [""] * count
    each = -(-count // len(groups))
    if -(-count // each) != len(groups):
        values.wrong(node, f"{len(groups)} names for {count} devices leave some without a device")
        return [""] * count
    return [groups[i // each] for i in range(count)]


def units(node: Node | None, racks: list[str], values: Values) -> list[int | None]:
    """Rack units: one number, or one for each place in a rack, used again in every rack."""
    numbers = values.numbers(node, MOST_UNITS)
    if not numbers or node is None:
        return [None] * len(racks)
    if len(numbers) == 1:
        return [numbers[0] for _ in racks]
    places: list[int | None] = []
    filled: dict[str, int] = {}
    for rack in racks:
        place = filled.get(rack, 0)
        filled[rack] = place + 1
        places.append(numbers[place] if place < len(numbers) else None)
    if None in places:
        values.wrong(node, f"{len(numbers)} units for {max(filled.values())} devices in one rack")
    return places


def one_each(node: Node | None, count: int, values: Values, what: str = "devices") -> list[str]:
    """One name for each device, or other thing; empty ones where the key is absent."""
    names = values.names(node)
    if node is None:
        return [""] * count
    if len(names) != count:
        values.wrong(node, f"expected one for each of {count} {what}, found {len(names)}")
        return [""] * count
    return names


def several_each(node: Node | None, count: int, values: Values) -> list[tuple[str, ...]]:
    """Node sets that each expand together with the devices: a list of two gives every device two."""
    if node is None:
        return [()] * count
    columns = [one_each(one, count, values) for one in ([node] if node.items is None else node.items)]
    return list(zip(*columns, strict=True)) if columns else [()] * count
