"""Inventory files: the devices and how to reach them."""

from truerail.inventory.inventory_files import load_inventory
from truerail.inventory.inventory_yaml_write import dump_yaml
from truerail.inventory.value import Inventory, InventoryError

__all__ = ["Inventory", "InventoryError", "dump_yaml", "load_inventory"]
