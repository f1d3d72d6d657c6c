"""Inventory files: the devices and how to reach them. Which reader a file gets, by its suffix and its content."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from truerail.files.file_text import read_text
from truerail.files.problems import hint
from truerail.inventory.ansible import Groups, targets_of
from truerail.inventory.ansible_read import GROUP_KEYS, OPAQUE_TAGS, read_groups, read_ini
from truerail.inventory.inventory_yaml_read import read_native, read_netbox_file
from truerail.inventory.inventory_yaml_write import dump_yaml
from truerail.inventory.ssh_config import read_ssh_config
from truerail.inventory.value import Inventory, InventoryError, InventoryFaults
from truerail.model.yaml_tree import Node, read_tree

__all__ = ["Inventory", "InventoryError", "dump_yaml", "load_inventory"]

MOST_BYTES = 64 << 20
_YAML = (".yaml", ".yml")
_SECTION = re.compile(r"^\s*\[", re.MULTILINE)
_SSH_KEYWORD = re.compile(r"^\s*(?:Host|Match|Include)(?:\s*=\s*|\s+)\S", re.MULTILINE | re.IGNORECASE)


def load_inventory(path: Path, names: Sequence[str] = ()) -> Inventory:
    """The inventory in a file: native YAML, a `netbox:` file, an Ansible inventory (INI or YAML), or an OpenSSH client
    configuration. With `names`, only these devices, in this order; an OpenSSH pattern such as `Host gpu-*` needs them.

    A `netbox:` file queries NetBox over the network; all others read files. Raises `InventoryError` with all problems.
    """
    faults = InventoryFaults(str(path))
    text = read_text(path, MOST_BYTES, InventoryError)
    if path.suffix.lower() in _YAML:
        inventory = _from_yaml(text, path, faults)
    elif _SSH_KEYWORD.search(text) and not _SECTION.search(text):
        inventory = read_ssh_config(text, path, names, faults)
    else:
        inventory = _from_ansible(read_ini(text, faults), path)
    faults.raise_any()
    return _chosen(inventory, names, faults)


def _from_yaml(text: str, path: Path, faults: InventoryFaults) -> Inventory:
    tree = read_tree(text, faults, OPAQUE_TAGS)
    if tree is None:
        return Inventory(())  # a file without a tree has a fault
    keys = {key.text for key, _ in tree.pairs or ()}
    if "netbox" in keys:
        from truerail.inventory.netbox import read_netbox

        return read_netbox(read_netbox_file(tree, faults), faults)
    if not {"devices", "defaults"} & keys and any(_is_group(value) for _, value in tree.pairs or ()):
        return _from_ansible(read_groups(tree, faults), path)
    return read_native(tree, faults)


def _from_ansible(groups: Groups, path: Path) -> Inventory:
    inventory = targets_of(groups, str(path))
    unread = [folder for folder in ("group_vars", "host_vars") if (path.parent / folder).is_dir()]
    return replace(inventory, notes=(*inventory.notes, *(f"{folder} beside the file is not read" for folder in unread)))


def _is_group(node: Node) -> bool:
    """Whether this is a group of an Ansible inventory."""
    return any(key.text in GROUP_KEYS for key, _ in node.pairs or ())


def _chosen(inventory: Inventory, names: Sequence[str], faults: InventoryFaults) -> Inventory:
    """The named devices only. A name that the inventory lacks is a fault."""
    if not names:
        return inventory
    known = {target.name: target for target in inventory.targets}
    for name in names:
        if name not in known:
            faults.add(0, name, f"no such device{hint(name, known)}")
    faults.raise_any()
    return replace(inventory, targets=tuple(known[name] for name in dict.fromkeys(names)))
