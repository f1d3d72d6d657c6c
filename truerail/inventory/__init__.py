"""Inventory files: the devices and how to reach them."""

from truerail.inventory.files import load_inventory
from truerail.inventory.problems import InventoryError
from truerail.inventory.value import Inventory
from truerail.inventory.yaml_write import dump_yaml

__all__ = ["Inventory", "InventoryError", "dump_yaml", "load_inventory"]
