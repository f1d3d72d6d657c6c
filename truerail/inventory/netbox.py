"""An inventory and a plan from NetBox."""

from truerail.inventory.inventory_error import InventoryFaults
from truerail.inventory.netbox_api import Api
from truerail.inventory.netbox_cables import read_cables
from truerail.inventory.netbox_devices import read_devices
from truerail.inventory.netbox_file import NetBox
from truerail.inventory.value import Inventory, shared_addresses


def read_netbox(netbox: NetBox, faults: InventoryFaults) -> Inventory:
    """Queries NetBox for devices, cabled interfaces and cables. Raises InventoryError if the query fails."""
    api = Api(netbox, faults)
    rows = api.devices()
    targets, notes = read_devices(rows, netbox, faults.file)
    if not targets:
        faults.add(
            netbox.line,
            "",
            f"NetBox has no device for this filter that is a host or a switch of the fabric{_why(notes)}",
        )
    ids = [device for device, target in targets.items() if not target.apart]
    plan, left_out = read_cables(
        {device: targets[device] for device in ids}, rows, api.interfaces(ids), api.cables(ids), netbox.url
    )
    reported = (*notes, *left_out, *shared_addresses([*targets.values()]))
    return Inventory(tuple(targets.values()), plan if plan.cables else None, reported, netbox.url)


def _why(notes: list[str]) -> str:
    return f": {'; '.join(notes)}" if notes else ""
