"""The inventories of `tests/inventories/` are read as the file beside each says: `<file>.json`.

It has each target without what is as it is by default, and the notes. `TRUERAIL_REFRESH=1 pytest
tests/test_inventories_recorded.py` writes them again, to be reviewed as a diff.
"""

import json
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from tests.each import each
from tests.test_recordings import REFRESH
from truerail.inventory import load_inventory

FOLDER = Path(__file__).parent / "inventories"


def said(value: Any) -> Any:
    """A value as JSON has it; of an object the fields that are not as they are by default."""
    if is_dataclass(value):
        pairs = ((one, getattr(value, one.name)) for one in fields(value))
        return {one.name: said(has) for one, has in pairs if one.default is MISSING or has != one.default}
    if isinstance(value, tuple):
        return [said(one) for one in value]
    return value.value if isinstance(value, Enum) else value


@each("file", [path.with_suffix("") for path in FOLDER.glob("*.json")], ids=lambda file: file.name)
def test_an_inventory_is_read_as_the_file_beside_it_says(file: Path) -> None:
    inventory = load_inventory(file)
    rows = ",\n".join(f"  {json.dumps(said(target))}" for target in inventory.targets)
    content = f'{{"notes": {json.dumps(inventory.notes, indent=2)},\n"targets": [\n{rows}\n]}}\n'.replace(
        f"{FOLDER}/", ""
    )
    expected = file.with_name(f"{file.name}.json")
    if REFRESH:
        expected.write_text(content)
    assert expected.read_text() == content
    assert inventory.plan is None
    assert "hunter2" not in repr(inventory)
